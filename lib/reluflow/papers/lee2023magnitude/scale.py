"""Two things that D.3 leaves open: what k in N(0, k I) is, and how the loss is normalised.

Both are decided from the paper's own numbers, at typical starts of its nine panels: |w*| and |w_0|
at their typical size and phi_0 = pi/2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import f as f_law

from reluflow.approx import approx
from reluflow.flows.population import population_descent, population_flow
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude.bounds import gap_bounds
from reluflow.papers.lee2023magnitude.settings import (
    DATA,
    DIMENSION,
    NORMS,
    RATES,
    SCALES,
    STEPS,
    constants,
)
from reluflow.statistics import share_interval

DEVIATION, VARIANCE = "standard deviation", "variance"
"""What k in N(0, k I) may be."""
LOSSES: Mapping[str, float] = {
    "half the mean": 1.0,
    "mean": 2.0,
    "half the sum": float(DATA),
    "sum": 2.0 * DATA,
}
"""How often the usual half mean each loss holds, at D.3's n: a step is as many times larger."""
PROBE = 150
"""Steps in which a descent on a sum must have arrived: each makes the progress of thousands."""


def sizes(reading: str, layers: int, norm: float) -> tuple[float, float]:
    """Typical |w*| and |w_0|: sqrt(d) times the standard deviation of an entry."""
    root = (lambda k: k) if reading == DEVIATION else math.sqrt
    unit = math.sqrt(DIMENSION)
    return unit * root(SCALES[layers]), unit * root(SCALES[layers] * norm)


def exceeds(reading: str, norm: float, factor: float, d: int = DIMENSION) -> float:
    """The probability that |w_0| > factor |w*|, where |w_0|^2/|w*|^2 is a multiple of F(d, d)."""
    ratio = norm if reading == DEVIATION else math.sqrt(norm)
    return float(f_law.sf((factor / ratio) ** 2, d, d))


def ratios(seed: int, draws: int, reading: str) -> np.ndarray:
    """Drawn |w_0|/|w*| of D.3's norms, shape (draws, 3), small norm first."""
    rng = np.random.default_rng(seed)
    lengths = np.linalg.norm(rng.standard_normal((2, draws, len(NORMS), DIMENSION)), axis=-1)
    factors = [sizes(reading, 1, norm)[1] / sizes(reading, 1, norm)[0] for norm in NORMS]
    return lengths[0] / lengths[1] * np.array(factors)


def norm_table() -> pd.DataFrame:
    """By reading of k: the typical |w_0|/|w*| of the three norms, how often it is above 2, and the
    progress eta T |w*|^(2m) that D.3's three depths make."""
    rows = []
    for reading in (DEVIATION, VARIANCE):
        row: dict[str, object] = {"k is the": reading}
        for norm, name in NORMS.items():
            target, length = sizes(reading, 1, norm)
            row[name] = approx(length / target, 3)
        row["LN above 2: probability"] = approx(exceeds(reading, max(NORMS), 2.0), 1)
        for layers in RATES:
            row[f"ηT|w*|²ᵐ, {layers} layers"] = approx(
                progress(reading, "half the mean", layers), 3
            )
        rows.append(row)
    return pd.DataFrame(rows).set_index("k is the")


@dataclass(frozen=True)
class LossReading:
    """One reading of k and of the loss, tried on D.3's nine panels with the printed rates.

    arrive        panels in which the population's descent comes to the target or follows the flow
    lower, upper  panels in which Figure 1's lower and upper bound are respected
    """

    reading: str
    loss: str
    arrive: int
    lower: int
    upper: int

    @property
    def fits(self) -> bool:
        """Whether nothing in any of the nine panels speaks against it."""
        return self.arrive == self.lower == self.upper == len(RATES) * len(NORMS)


def loss_readings() -> tuple[LossReading, ...]:
    """All readings of k and of the loss."""
    found = []
    for reading in (DEVIATION, VARIANCE):
        for loss in LOSSES:
            panels = [(reading, loss, layers, norm) for layers in RATES for norm in NORMS]
            kept = [respects(*panel) for panel in panels]
            found.append(
                LossReading(
                    reading,
                    loss,
                    sum(arrives(*panel) for panel in panels),
                    sum(lower for lower, _ in kept),
                    sum(upper for _, upper in kept),
                )
            )
    return tuple(found)


def loss_table(readings: Sequence[LossReading]) -> pd.DataFrame:
    """The readings as a table, panels of nine."""
    rows = [
        {
            "k is the": item.reading,
            "loss": item.loss,
            "arrives": item.arrive,
            "lower bound holds": item.lower,
            "upper bound holds": item.upper,
        }
        for item in readings
    ]
    return pd.DataFrame(rows).set_index(["k is the", "loss"])


def progress(reading: str, loss: str, layers: int) -> float:
    """eta T |w*|^(2m), the population's own time that the paper's steps take."""
    target, _ = sizes(reading, layers, 1.0)
    return LOSSES[loss] * RATES[layers] * STEPS * target ** (2 * layers - 2)


def arrives(reading: str, loss: str, layers: int, norm: float) -> bool:
    """Whether descent at D.3's rate comes to the target, and does not diverge or jump about.

    A mean takes steps so small that it follows the flow; a sum is tried.
    """
    target, length = sizes(reading, layers, norm)
    step = LOSSES[loss] * RATES[layers]
    # The largest curvature of a balanced chain, at the start or at the target.
    curvature = 0.5 * layers * max(target, length) ** (2 * layers - 2)
    if step * curvature < 0.1:
        return True
    try:
        with np.errstate(all="ignore"):
            path = population_descent(
                0.0, math.log(length / target), layers - 1, step, PROBE, target
            )
    except OverflowError:
        return False
    return bool(np.isfinite(path.rho[-1]) and abs(path.rho[-1]) < 1e-3 and path.theta[-1] < 1e-3)


def respects(reading: str, loss: str, layers: int, norm: float) -> tuple[bool, bool]:
    """Whether the population's angle respects the lower and the upper bound drawn in Figure 1.

    The bounds are those of Theorems A.2 and 4.2 at D.3's rate; the angle is the flow's at the times
    that the steps of the loss take, or the descent's where the steps are large.
    """
    target, length = sizes(reading, layers, norm)
    m, rate = layers - 1, RATES[layers]
    given = (0.0, *constants(length, target), target, m)
    if LOSSES[loss] > 2.0:
        T = np.arange(1.0, PROBE + 1.0)
        try:
            with np.errstate(all="ignore"):
                path = population_descent(
                    0.0, math.log(length / target), m, LOSSES[loss] * rate, PROBE, target
                )
        except OverflowError:
            return False, False
        theta = path.theta[1:]
    else:
        T = np.unique(np.round(np.geomspace(1.0, STEPS, 120)))
        theta = population_flow(
            0.0, math.log(length / target), m, LOSSES[loss] * rate * T, target
        ).theta
    below, above = gap_bounds(T, *given, rate)
    return bool((theta < above).all()), bool((theta > below).all())


DEVIATION_READING = Reading(
    "k is a standard deviation: |w₀|/|w*| is about 0.1, 1 and 2",
    "k a variance: |w₀|/|w*| is about 0.32, 1 and 1.41. The bounds of Figure 1 hold all the same.",
)


def norm_scale(seed: int, draws: int) -> list[Evidence]:
    """ma.text.scaleconv.1: D.3's k = 0.1 k*, k*, 2 k* as standard deviations give small, middle and
    large norm."""
    drawn = ratios(seed, draws, DEVIATION)
    ordered = int(((drawn[:, 0] < drawn[:, 1]) & (drawn[:, 1] < drawn[:, 2])).sum())
    large = max(NORMS)
    likelier = exceeds(DEVIATION, large, 2.0) / exceeds(VARIANCE, large, 2.0)
    paces = {r: [progress(r, "half the mean", k) for k in RATES] for r in (DEVIATION, VARIANCE)}
    spread = {r: max(values) / min(values) for r, values in paces.items()}
    middle = np.exp(np.abs(np.log(drawn[:, 1])).max())
    return [
        fact(f"draws with small < middle < large, of {draws}", ordered, draws),
        bound("small norm: largest |w₀|/|w*| drawn", float(drawn[:, 0].max()), "<", 0.2, ""),
        bound("middle norm: largest of |w₀|/|w*| and its inverse drawn", float(middle), "<",
              2.0, ""),
        bound("|w₀| > 2|w*| for large norm: how much likelier than under a variance",
              likelier, ">", 20.0, ""),
        bound("ηT|w*|²ᵐ of the three depths: largest over smallest", spread[DEVIATION], "<",
              spread[VARIANCE], ""),
        note("seed", seed),
    ]  # fmt: skip


def large_norm(seed: int, draws: int) -> tuple[list[Evidence], list[Evidence]]:
    """ma.text.scaleconv.2: a large norm exceeds 2 |w*| (Section 5.1). Returns what it needs, and
    what appeared instead."""
    large = max(NORMS)
    above = int((ratios(seed, draws, DEVIATION)[:, 2] > 2.0).sum())
    says = f"draws of a large norm with |w₀| > 2|w*|, of {draws}"
    return [fact(says, above, draws), note("seed", seed)], [
        note("share of the draws, its 95 % interval", share_interval(above, draws)),
        *(note(f"probability, if k is a {reading}", exceeds(reading, large, 2.0), digits=digits)
          for reading, digits in ((DEVIATION, 3), (VARIANCE, 1))),
    ]  # fmt: skip


def loss_scale(readings: Sequence[LossReading]) -> list[Evidence]:
    """ma.ours.run.loss: D.3's rates belong to half the mean of squares, whatever k is."""
    half = [item for item in readings if item.loss == "half the mean"]
    means = [item for item in readings if item.loss == "mean"]
    sums = [item for item in readings if item.loss in ("half the sum", "sum")]
    nine = len(RATES) * len(NORMS)
    return [
        fact("half the mean: all nine panels arrive and respect both bounds",
             all(item.fits for item in half), True),
        bound("mean: most panels that respect the upper bound, of 9",
              max(item.upper for item in means), "<", nine, ""),
        bound("sums: most panels in which descent arrives, of 9",
              max(item.arrive for item in sums), "<", nine, ""),
        fact("sums: panels that respect the upper bound", sum(item.upper for item in sums), 0),
    ]  # fmt: skip
