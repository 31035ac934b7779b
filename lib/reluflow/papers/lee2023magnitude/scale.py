"""Two things that D.3 leaves open: what k in N(0, k I) is, and how the loss is normalised.

Both are decided from the paper's own numbers, at typical starts of its nine panels: |w*| and |w_0|
at their typical size and phi_0 = pi/2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import f as f_law

from reluflow.approx import approx
from reluflow.falsify import survey
from reluflow.flows.population import PopulationPath
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
from reluflow.papers.lee2023magnitude.starts import Start
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


def ratios(seed: int, draws: int, reading: str) -> NDArray:
    """Drawn |w_0|/|w*| of D.3's norms, shape (draws, 3), small norm first."""
    rng = np.random.default_rng(seed)
    lengths = np.linalg.norm(rng.standard_normal((2, draws, len(NORMS), DIMENSION)), axis=-1)
    factors = [sizes(reading, 1, norm)[1] / sizes(reading, 1, norm)[0] for norm in NORMS]
    return lengths[0] / lengths[1] * np.array(factors)


def norm_table() -> pd.DataFrame:
    """By reading of k: the typical |w_0|/|w*| of the three norms, how often it is above 2, and the
    progress eta T |w*|^(2m) that D.3's three depths make."""

    def of(reading: str) -> dict[str, str]:
        typical = {name: sizes(reading, 1, norm) for norm, name in NORMS.items()}
        paces = {layers: progress(reading, "half the mean", layers) for layers in RATES}
        return {
            "k is the": reading,
            **{name: approx(length / target, 3) for name, (target, length) in typical.items()},
            "LN above 2: probability": approx(exceeds(reading, max(NORMS), 2.0), 1),
            **{f"ηT|w*|²ᵐ, {layers} layers": approx(pace, 3) for layers, pace in paces.items()},
        }

    return survey((DEVIATION, VARIANCE), of).set_index("k is the")


def progress(reading: str, loss: str, layers: int) -> float:
    """eta T |w*|^(2m), the population's own time that the paper's steps take."""
    target, _ = sizes(reading, layers, 1.0)
    return LOSSES[loss] * RATES[layers] * STEPS * target ** (2 * layers - 2)


def loss_readings() -> pd.DataFrame:
    """All readings of k and of the loss, tried with D.3's printed rates: the panels, of nine, in
    which the population's descent comes to the target or follows the flow, and in which Figure 1's
    lower and upper bound are respected."""

    def panel(at: tuple[str, str, int, float]) -> dict[str, object]:
        lower, upper = respects(*at)
        return {
            "k is the": at[0],
            "loss": at[1],
            "arrives": arrives(*at),
            "lower bound holds": lower,
            "upper bound holds": upper,
        }

    found = survey(product((DEVIATION, VARIANCE), LOSSES, RATES, NORMS), panel)
    return found.groupby(["k is the", "loss"], sort=False).sum()


def _typical(reading: str, layers: int, norm: float) -> Start:
    """The typical start of a panel: at a right angle to w*."""
    target, length = sizes(reading, layers, norm)
    return Start.at(0.5 * math.pi, length, layers - 1, target)


def _descent(start: Start, loss: str) -> PopulationPath | None:
    """PROBE steps of descent at D.3's rate on the loss, None where they overflow."""
    try:
        with np.errstate(all="ignore"):
            return start.descent(LOSSES[loss] * RATES[start.m + 1], PROBE)
    except OverflowError:
        return None


def arrives(reading: str, loss: str, layers: int, norm: float) -> bool:
    """Whether descent at D.3's rate comes to the target, and does not diverge or jump about.

    A mean takes steps so small that it follows the flow; a sum is tried.
    """
    start = _typical(reading, layers, norm)
    # The largest curvature of a balanced chain, at the start or at the target.
    curvature = 0.5 * layers * max(start.target, start.v) ** (2 * start.m)
    if LOSSES[loss] * RATES[layers] * curvature < 0.1:
        return True
    path = _descent(start, loss)
    # A path that ends at NaN has not come.
    return path is not None and bool(abs(path.rho[-1]) < 1e-3 and path.theta[-1] < 1e-3)


def respects(reading: str, loss: str, layers: int, norm: float) -> tuple[bool, bool]:
    """Whether the population's angle respects the lower and the upper bound drawn in Figure 1.

    The bounds are those of Theorems A.2 and 4.2 at D.3's rate; the angle is the flow's at the times
    that the steps of the loss take, or the descent's where the steps are large.
    """
    start, rate = _typical(reading, layers, norm), RATES[layers]
    if LOSSES[loss] > 2.0:
        T = np.arange(1.0, PROBE + 1.0)
        path = _descent(start, loss)
        if path is None:
            return False, False
        theta = path.theta[1:]
    else:
        T = np.unique(np.round(np.geomspace(1.0, STEPS, 120)))
        theta = start.flow(LOSSES[loss] * rate * T).theta
    ranges = (*constants(start.v, start.target), start.target)
    below, above = gap_bounds(T, start.psi, *ranges, start.m, rate)
    return bool((theta < above).all()), bool((theta > below).all())


# --- The claims -----------------------------------------------------------------------------------


def norm_scale(seed: int, draws: int) -> list[Evidence]:
    """ma.text.scaleconv.1: k = 0.1 k*, k*, 2 k* as standard deviations give small, middle and large
    norm (D.3)."""
    drawn = ratios(seed, draws, DEVIATION)
    ordered = int((np.diff(drawn) > 0.0).all(axis=1).sum())
    likelier = exceeds(DEVIATION, max(NORMS), 2.0) / exceeds(VARIANCE, max(NORMS), 2.0)
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


DEVIATION_READING = Reading(
    "k is a standard deviation: |w₀|/|w*| is about 0.1, 1 and 2",
    "k a variance: |w₀|/|w*| is about 0.32, 1 and 1.41. The bounds of Figure 1 hold all the same.",
)


def large_norm(seed: int, draws: int) -> tuple[list[Evidence], list[Evidence]]:
    """ma.text.scaleconv.2: a large norm exceeds 2 |w*| (Section 5.1). And how often it does."""
    above = int((ratios(seed, draws, DEVIATION)[:, 2] > 2.0).sum())
    measured = [
        fact(f"draws of a large norm with |w₀| > 2|w*|, of {draws}", above, draws),
        note("seed", seed),
    ]
    return measured, [
        note("share of the draws, its 95 % interval", share_interval(above, draws)),
        *(note(f"probability, if k is a {reading}", exceeds(reading, max(NORMS), 2.0),
               digits=digits)
          for reading, digits in ((DEVIATION, 3), (VARIANCE, 1))),
    ]  # fmt: skip
