"""How often a step of descent on data goes below the lower bound of the magnitude, and why.

Theorems A.1 and A.3 bound |w(T)| from below by a curve that starts along the flow's tangent. So a
first step lies above it by the curvature of the path, of order eta^2, and off it by the sample, of
order eta / sqrt(n): where eta sqrt(n) is small, as with D.3's numbers, a coin decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import simpson
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from reluflow.falsify import survey
from reluflow.flows import half_angles
from reluflow.flows.population import coordinates
from reluflow.ledger import Evidence, bound, note
from reluflow.papers.lee2023magnitude.compliance import PRINTED
from reluflow.papers.lee2023magnitude.settings import DATA, NORMS, Setting, experiment
from reluflow.papers.lee2023magnitude.starts import Start
from reluflow.statistics import wilson

SURE = 5
"""Standard deviations of an interval that luck does not leave: once in a million seeds."""
SURE_LEVEL = 1.0 - 2.0 * norm.sf(SURE)


def tangency(m: int, psi0: float, rho0: float) -> float:
    """How the flow leaves the lower bound of Theorem 3.3 (m = 0) or 3.8 (m = 1), with |w*| = 1.

    The power p of |w(t)| - lower ~ t^p at the start, from two early times; 2 along a tangent.
    """
    t = np.array([1e-3, 2e-3])
    start = Start(psi0, rho0, m)
    lower, _ = PRINTED[m](t, start.phi, start.v, 1.0)
    early, late = start.flow(t).length - lower
    return math.log2(late / early)


def below_probability(n: int, step: float) -> float:
    """Phi(-eta sqrt(n) tau^2 / (2 sigma)) for |w_0| = |w*| = 1, phi_0 = pi/2, where the flow turns
    at the speed tau = phi_0 sin(phi_0) / (2 pi) and sigma^2 is the variance of one datum's force
    along w_0: the step across w_0 adds eta^2 tau^2 / 2 to |w|, the sample eta sigma / sqrt(n)."""
    tau = 0.25
    angle = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 20_001)
    force = (np.cos(angle) - np.maximum(np.sin(angle), 0.0)) * np.cos(angle)
    mean, square = (k * simpson(force**p, x=angle) / (2.0 * math.pi) for p, k in ((1, 2), (2, 8)))
    return float(norm.cdf(-step * math.sqrt(n) * tau**2 / 2.0 / math.sqrt(square - mean**2)))


def first_steps(seed: int, draws: int, n: int = DATA) -> NDArray:
    """Whether |w(1)| is below the lower bound of A.1 or A.3, for one step at D.3's settings of one
    and two layers, from new starts on n new data in every draw: (draws, panels)."""
    panels = experiment(layers=(1, 2), n=n, seed=seed).settings

    def drawn(seed: int) -> list[bool]:
        X = replace(panels[0], seed=seed).data()
        return [breaks_at_once(replace(panel, seed=seed), X) for panel in panels]

    with threadpool_limits(1):
        return np.array([drawn(seed + k) for k in range(draws)])


def breaks_at_once(panel: Setting, X: NDArray) -> bool:
    """Whether |w(1)| is below the lower bound, for one step on the data X."""
    w, best, m = panel.start(), panel.target(), panel.m
    v0, target = float(np.linalg.norm(w)), float(np.linalg.norm(best))
    psi, _ = coordinates(w, best)
    phi0 = float(half_angles.angle(psi))
    h = X @ w
    residual = np.where(h > 0.0, v0**m * h - target**m * np.maximum(X @ best, 0.0), 0.0)
    after = w - panel.rate / len(X) * v0**m * (residual @ X)
    lower, _ = PRINTED[m]([1.0], phi0, v0, target, panel.rate)
    return bool(np.linalg.norm(after) < lower[0])


def far_steps(
    seed: int, draws: int, n: Sequence[int] = (1000, 10_000, 100_000), step: float = 0.1
) -> pd.DataFrame:
    """First steps of size 1/10 of one layer, |w_0| = |w*|, phi_0 = pi/2, on n data of the plane.

    For every n the number of samples with |w(1)| below the lower bound of A.1; of all `draws`; and
    the probability by the central limit theorem, `below_probability`.
    """
    rng = np.random.default_rng(seed)
    lower = float(PRINTED[0]([1.0], 0.5 * math.pi, 1.0, 1.0, step)[0][0])

    def length(size: int) -> float:
        x, y = rng.standard_normal((2, size))  # along w_0 and along w*
        residual = np.where(x > 0.0, x - np.maximum(y, 0.0), 0.0)
        along, across = (step * float(residual @ part) / size for part in (x, y))
        return math.hypot(1.0 - along, across)

    def measure(size: int) -> dict[str, float]:
        below = sum(length(size) < lower for _ in range(draws))
        return {"n": size, "below": below, "draws": draws,
                "expected": below_probability(size, step)}  # fmt: skip

    return survey(n, measure)


def tangent_bounds(printed: NDArray, far: pd.DataFrame) -> list[Evidence]:
    """ma.ours.run.tangent: the lower bounds start along the flow's tangent, so data decide by
    chance at once where eta sqrt(n) is small: with D.3's step and sample as `printed`. Where it is
    not, with `far`, the curvature of the path decides."""
    starts = [(m, psi0, math.log(k)) for m in (0, 1) for psi0 in (-1.0, 0.0, 1.0) for k in NORMS]
    off = max(abs(tangency(*start) - 2.0) for start in starts)
    says = "D.3's step and sample: share of first steps below the bound"
    evidence = [
        bound("power of t in |w(t)| − lower: largest distance from 2", off, "<", 0.05, ""),
        *_share(says, f", lower end of an interval of {SURE} standard deviations",
                int(printed.sum()), printed.size, 0.5),
        note(f"{says}, of {printed.size}", float(printed.mean()), digits=2),
    ]  # fmt: skip
    for row in far.itertuples():
        says = f"η = 1/10, n = {row.n}: the share"
        evidence += [
            *_share(says, ", lower end", row.below, row.draws, row.expected),
            note(f"{says}, and as expected", (row.below / row.draws, row.expected), digits=2),
        ]
    high = float(wilson(row.below, row.draws, SURE_LEVEL)[1])
    return [
        *evidence,
        bound("η = 1/10, largest n: the share, upper end", high, "<", 0.5, ""),
        note("samples for each n", row.draws),
    ]


def _share(says: str, low_end: str, hits: int, trials: int, expected: float) -> list[Evidence]:
    """That the expected share lies in Wilson's interval of SURE standard deviations."""
    low, high = (float(end) for end in wilson(hits, trials, SURE_LEVEL))
    return [
        bound(f"{says}{low_end}", low, "<", expected, ""),
        bound(f"{says}, upper end", high, ">", expected, ""),
    ]
