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
