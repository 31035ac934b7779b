"""How far sample and step take descent from the population's flow, and what that does to bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import simpson
from scipy.stats import norm, sem
from scipy.stats import t as student
from threadpoolctl import threadpool_limits

from reluflow.approx import approx
from reluflow.flows.population import (
    PopulationPath,
    coordinates,
    population_descent,
    population_flow,
    recorded_path,
)
from reluflow.papers.lee2023magnitude.bounds import magnitude_bounds, two_layer_magnitude_bounds
from reluflow.papers.lee2023magnitude.runs import Run
from reluflow.papers.lee2023magnitude.settings import DATA, Setting, experiment

FEWEST = 200
"""Draws for a fitted power of n, and for a share of first steps."""


def distance(one: PopulationPath, other: PopulationPath) -> tuple[float, float]:
    """The largest difference over all steps: of the angle, in radians, and of |w|, in |w*|."""
    angle = np.abs(one.theta - other.theta).max()
    return float(angle), float(np.abs(one.length - other.length).max() / one.target)


def gap_table(runs: Sequence[Run]) -> pd.DataFrame:
    """By panel: descent on data against the population's, and that against the flow."""
    rows = []
    for run in runs:
        row: dict[str, object] = {"panel": run.setting.name}
        step = distance(run.population, run.flow)
        sample = (math.nan, math.nan)
        if run.empirical is not None:
            sample = distance(run.empirical, run.population)
        for name, values in (("sample", sample), ("step", step)):
            for what, value in zip(("angle", "|w|/|w*|"), values, strict=True):
                row[f"{name}: {what}"] = "–" if math.isnan(value) else approx(value, 2)
        rows.append(row)
    return pd.DataFrame(rows).set_index("panel")


@dataclass(frozen=True)
class GapLaw:
    """Finite-sample gaps by the number of data.

    n     (k,) numbers of data
    gaps  (layers, k, draws, 2) the largest difference of angle and of |w| for each draw of data
    """

    n: NDArray
    gaps: NDArray

    @property
    def draws(self) -> int:
        """Draws of data for each n and depth."""
        return self.gaps.shape[2]

    @property
    def slopes(self) -> NDArray:
        """Each draw's power of n, by least squares in logarithms, mean of depths: (draws, 2)."""
        x = np.log(self.n) - np.log(self.n).mean()
        return np.einsum("k,lkbq->bq", x, np.log(self.gaps)) / (x @ x) / len(self.gaps)

    def interval(self, which: int, level: float = 0.999) -> tuple[float, float]:
        """Student's interval of the mean power, of the angle (0) or of |w| (1)."""
        found = self.slopes[:, which]
        low, high = student.interval(level, len(found) - 1, found.mean(), sem(found))
        return float(low), float(high)


def gap_law(
    seed: int,
    draws: int,
    layers: Sequence[int] = (1, 2, 3),
    n: Sequence[int] = (125, 1000, 8000),
    d: int = 5,
    steps: int = 30,
    fewest: int = FEWEST,
) -> GapLaw:
    """Descend at several numbers of data and compare with the population, from |w_0| = |w*|.

    The rate makes eta T |w*|^(2m) = 20 with |w*| = 1, as far as D.3's runs go. Target and start of
    a draw are the same for all n and depths. The descents are plain loops over all the data. Fewer
    draws than `fewest` are made so many: they would not tell a power from its neighbours.
    """
    draws = max(draws, fewest)
    gaps = np.empty((len(layers), len(n), draws, 2))
    for i, size in enumerate(n):
        rng = np.random.default_rng([seed, size])
        X = rng.standard_normal((draws, size, d))
        for k, depth in enumerate(layers):
            starts = np.random.default_rng(seed).standard_normal((draws, 2, d))
            best, w = (starts / np.linalg.norm(starts, axis=2)[..., None]).transpose(1, 0, 2)
            gaps[k, i] = _plain_gaps(X, w, best, depth - 1, 20.0 / steps, steps)
    return GapLaw(np.array(n), gaps)


def _plain_gaps(X: NDArray, w: NDArray, best: NDArray, m: int, step: float, steps: int) -> NDArray:
    """`distance` (b, 2) from the population's descent for b data sets X (b, n, d) with |w*| = 1."""
    y = np.maximum(np.matmul(X, best[..., None])[..., 0], 0.0)
    v = np.linalg.norm(w, axis=1)
    theirs = [coordinates(a, b) for a, b in zip(w, best, strict=True)]
    psi0, rho0 = np.array(theirs).T
    path = [w]
    for _ in range(steps):  # the m factors are equal at the start, and stay so
        h = np.matmul(X, w[..., None])[..., 0]
        residual = np.where(h > 0.0, v[:, None] ** m * h - y, 0.0)
        pull = (residual * h).mean(axis=1)
        force = np.matmul(residual[:, None], X)[:, 0] / X.shape[1]
        w, v = w - step * v[:, None] ** m * force, v - step * v ** max(m - 1, 0) * pull * (m > 0)
        path.append(w)
    found = []
    for k, states in enumerate(np.stack(path, axis=1)):
        psi, rho = coordinates(states, best[k])
        t, none = np.arange(steps + 1.0), np.empty((steps + 1, 0))
        mine = recorded_path(t, psi, rho, none, 1.0, "steps")
        found.append(distance(mine, population_descent(psi0[k], rho0[k], m, step, steps)))
    return np.array(found)


def step_orders(layers: int, psi0: float = 0.0, rho0: float = 0.0) -> tuple[float, float]:
    """The order in eta at which population descent comes to the flow: of the angle, of |w|.

    The logarithm to base 2 of the ratio of their largest differences at steps 0.02 and 0.01.
    """
    found = []
    for step in (0.02, 0.01):
        T = round(30.0 / step)
        descent = population_descent(psi0, rho0, layers - 1, step, T)
        flow = population_flow(psi0, rho0, layers - 1, step * np.arange(T + 1.0))
        found.append(distance(descent, flow))
    (a, b), (c, d) = found
    return math.log2(a / c), math.log2(b / d)


@dataclass(frozen=True)
class FirstSteps:
    """How often the first step on data goes below the lower bound of A.1 or A.3.

    broken  by panel, the number of samples that do
    draws   samples of each panel
    """

    broken: dict[str, int]
    draws: int

    @property
    def total(self) -> int:
        """First steps taken in all."""
        return self.draws * len(self.broken)


def first_steps(seed: int, draws: int, n: int = DATA, share: float = 1.0) -> FirstSteps:
    """Take one step at D.3's settings of one and two layers, from new starts on n new data.

    The step is `share` of D.3's.
    """
    panels = experiment(layers=(1, 2), n=n, seed=seed).settings
    broken = dict.fromkeys((panel.name for panel in panels), 0)
    with threadpool_limits(1):
        for draw in range(draws):
            drawn = [replace(q, seed=seed + draw, rate=share * q.rate) for q in panels]
            X = drawn[0].data()
            for panel in drawn:
                broken[panel.name] += _breaks_at_once(panel, X)
    return FirstSteps(broken, draws)


def _breaks_at_once(panel: Setting, X: NDArray) -> bool:
    """Whether |w(1)| is below the lower bound, for one step on the data X."""
    w, best, m = panel.start(), panel.target(), panel.m
    v0, target = float(np.linalg.norm(w)), float(np.linalg.norm(best))
    psi, _ = coordinates(w, best)
    phi0 = 2.0 * math.atan(math.exp(float(psi)))
    h = X @ w
    residual = np.where(h > 0.0, v0**m * h - target**m * np.maximum(X @ best, 0.0), 0.0)
    after = w - panel.rate / len(X) * v0**m * (residual @ X)
    bounds = magnitude_bounds if m == 0 else two_layer_magnitude_bounds
    lower, _ = bounds([1.0], phi0, v0, target, panel.rate)
    return bool(np.linalg.norm(after) < lower[0])


@dataclass(frozen=True)
class FarSteps:
    """First steps of size 1/10 of one layer, |w_0| = |w*|, phi_0 = pi/2, on n data of the plane.

    n         (k,) numbers of data
    below     (k,) samples on which |w(1)| is below the lower bound of A.1
    draws     samples for each n
    expected  (k,) the probability of it by the central limit theorem, `below_probability`
    """

    n: NDArray
    below: NDArray
    draws: int
    expected: NDArray


def far_steps(seed: int, draws: int, n: Sequence[int] = (1000, 10_000, 100_000)) -> FarSteps:
    """Count them on new samples; fewer than FEWEST draws are made so many."""
    rng, step, draws = np.random.default_rng(seed), 0.1, max(draws, FEWEST)
    lower = float(magnitude_bounds([1.0], 0.5 * math.pi, 1.0, 1.0, step)[0][0])
    below = np.zeros(len(n), int)
    for k, size in enumerate(n):
        for _ in range(draws):
            x, y = rng.standard_normal((2, size))  # along w_0 and along w*
            residual = np.where(x > 0.0, x - np.maximum(y, 0.0), 0.0)
            after = math.hypot(1.0 - step * float(residual @ x) / size,
                               step * float(residual @ y) / size)  # fmt: skip
            below[k] += after < lower
    return FarSteps(np.array(n), below, draws, np.array([below_probability(k, step) for k in n]))


def below_probability(n: int, step: float) -> float:
    """Phi(-eta sqrt(n) tau^2 / (2 sigma)) for |w_0| = |w*| = 1, phi_0 = pi/2, where the flow turns
    at the speed tau = phi_0 sin(phi_0) / (2 pi) and sigma^2 is the variance of one datum's force
    along w_0: the step across w_0 adds eta^2 tau^2 / 2 to |w|, the sample eta sigma / sqrt(n)."""
    tau = 0.25
    angle = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 20_001)
    force = (np.cos(angle) - np.maximum(np.sin(angle), 0.0)) * np.cos(angle)
    mean, square = (k * simpson(force**p, x=angle) / (2.0 * math.pi) for p, k in ((1, 2), (2, 8)))
    return float(norm.cdf(-step * math.sqrt(n) * tau**2 / 2.0 / math.sqrt(square - mean**2)))


def tangency(m: int, psi0: float, rho0: float) -> float:
    """How the flow leaves the lower bound of Theorem 3.3 (m = 0) or 3.8 (m = 1), with |w*| = 1.

    The power p of |w(t)| - lower ~ t^p at the start, from two early times; 2 along a tangent.
    """
    t = np.array([1e-3, 2e-3])
    path = population_flow(psi0, rho0, m, t)
    bounds = magnitude_bounds if m == 0 else two_layer_magnitude_bounds
    lower, _ = bounds(t, 2.0 * math.atan(math.exp(psi0)), math.exp(rho0), 1.0)
    early, late = path.length - lower
    return math.log2(late / early)


@dataclass(frozen=True)
class Imbalance:
    """What descent does to |w|^2 - v_1^2, which the flow keeps at 0; in units of |w*|.

    m, psi0, rho0  the balanced start
    steps          (k,) step sizes
    final          (k,) |w|^2 - v_1^2 at the end
    length         (k,) |w| / |w*| - 1 at the end
    integral       of |w|^2 (dphi/dt)^2 over the flow
    """

    m: int
    psi0: float
    rho0: float
    steps: NDArray
    final: NDArray
    length: NDArray
    integral: float

    @property
    def error(self) -> NDArray:
        """The relative distance of final from step times integral, shape (k,)."""
        return np.abs(self.final / (self.steps * self.integral) - 1.0)


def imbalance(m: int, psi0: float, rho0: float, fractions: Sequence[float]) -> Imbalance:
    """Descend on the population from a balanced start, at fractions of the largest stable step.

    Each descent goes on until the flow is within 1e-7 of the target.
    """
    end = 50.0
    while population_flow(psi0, rho0, m, [end]).theta[0] > 1e-7:
        end *= 1.3
    curvature = 0.5 * (m + 1) * math.exp(2 * m * max(rho0, 0.0))
    steps = 2.0 / curvature * np.array(fractions)
    final, length = [], []
    for step in steps:
        path = population_descent(psi0, rho0, m, float(step), math.ceil(end / step))
        final.append(math.exp(2.0 * path.rho[-1]) - path.layers[-1, 0] ** 2)
        length.append(math.expm1(path.rho[-1]))
    t = np.linspace(0.0, end, 4001)
    path = population_flow(psi0, rho0, m, t)
    turning = np.exp((m - 1) * path.rho) * path.phi * np.sin(path.phi) / (2.0 * math.pi)
    integral = float(simpson(np.exp(2.0 * path.rho) * turning**2, x=t))
    return Imbalance(m, psi0, rho0, steps, np.array(final), np.array(length), integral)


def imbalances(seed: int, draws: int, fractions: Sequence[float]) -> list[Imbalance]:
    """`imbalance` from random starts of two to four layers in turn."""
    rng = np.random.default_rng(seed)
    return [
        imbalance(1 + k % 3, rng.uniform(-1.0, 1.0), rng.uniform(-0.5, 0.3), fractions)
        for k in range(draws)
    ]
