"""Figure 3 and Appendix D.1: bounds of the magnitude that start again at later points of a run.

A bound restarted at step T_j takes w(T_j) for its start; Theorems A.1 (one layer) and A.3 (two)
then bound |w(T)| for T > T_j, with eps_j = 1 - (sin phi(T_j) - phi(T_j) cos phi(T_j)) / pi in the
place of eps_0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.approx import approx
from reluflow.flows.layered_descent import neuron_descent
from reluflow.flows.population import (
    PopulationPath,
    coordinates,
    population_descent,
    population_flow,
    pull,
    recorded_path,
)
from reluflow.papers.lee2023magnitude.bounds import (
    layered_magnitude_bounds,
    magnitude_bounds,
    two_layer_magnitude_bounds,
)
from reluflow.papers.lee2023magnitude.settings import DATA, DIMENSION, NORMS, Setting

SCALE = 1.2
"""D.3's k* for Figure 3."""
RATES = {1: 0.0006, 2: 0.0001}
STEPS = {1: 30_000, 2: 2_000}
POINTS = {1: (0, 2500, 5000, 7500), 2: (0, 120, 250, 500)}
"""D.3's learning rates, steps and points of restart by the number of layers."""


@dataclass(frozen=True)
class Restarts:
    """A panel of Figure 3 for one start.

    setting  the panel
    T, v     (k,) every step and |w| there
    target   |w*|
    points   the steps T_j of restart, in order; phi and v there in `phi_at`, `v_at`
    bounds   of each restart j the lower and the upper bound at the steps T_j, ..., of length
             k - T_j each
    """

    setting: Setting
    T: NDArray
    v: NDArray
    target: float
    points: tuple[int, ...]
    phi_at: NDArray
    v_at: NDArray
    bounds: tuple[tuple[NDArray, NDArray], ...]

    @property
    def levels(self) -> NDArray:
        """Where the lower bounds end, |w*| (1 - eps_j)^(1/(m+1)), shape (points,)."""
        return self.target * pull(self.phi_at) ** (1.0 / (self.setting.m + 1))

    @property
    def gaps(self) -> NDArray:
        """The mean distance of upper and lower bound after the last restart, over |w*|."""
        last = self.points[-1] + 1
        return np.array(
            [
                np.mean((high - low)[last - at :]) / self.target
                for at, (low, high) in zip(self.points, self.bounds, strict=True)
            ]
        )

    @property
    def breaches(self) -> NDArray:
        """Of every restart, how far |w| goes outside of its bounds, over |w*|; 0 if it does not."""
        return np.array(
            [
                max(0.0, float(np.max(np.maximum(low - self.v[at:], self.v[at:] - high)[1:])))
                / self.target
                for at, (low, high) in zip(self.points, self.bounds, strict=True)
            ]
        )

    @property
    def inside(self) -> float:
        """How far a restarted bound is outside of the one before it, at worst, over |w*|; <= 0
        where the bounds lie one inside the other at every step."""
        worst = -np.inf
        for j in range(1, len(self.points)):
            skip = self.points[j] - self.points[j - 1]
            (low, high), (low0, high0) = self.bounds[j], self.bounds[j - 1]
            worst = max(worst, np.max((low0[skip:] - low)[1:]), np.max((high - high0[skip:])[1:]))
        return float(worst) / self.target

    @property
    def falls_and_rises(self) -> bool:
        """Whether |w| falls and then rises by at least a hundredth of |w*| each."""
        least = float(self.v.min())
        way = 0.01 * self.target
        return bool(self.v[0] - least > way and self.v[-1] - least > way)

    @property
    def turn(self) -> int:
        """The step at which |w| is least."""
        return int(np.argmin(self.v))


def restart_setting(
    layers: int, norm: float, seed: int, n: int = DATA, d: int = DIMENSION
) -> Setting:
    """D.3's setting of a panel of Figure 3; it does not say which norm k/k* the start has."""
    return Setting(layers, norm, SCALE, RATES[layers], d, n, STEPS[layers], seed)


def restart_run(setting: Setting, data: str = "empirical") -> Restarts:
    """Train a panel of Figure 3 and restart the bounds of its magnitude at D.3's four points.

    Parameters: the setting, `data` "empirical" or "population".
    """
    w0, target = setting.start(), setting.target()
    psi0, rho0 = (float(c) for c in coordinates(w0, target))
    size = float(np.linalg.norm(target))
    if data == "population":
        path = population_descent(psi0, rho0, setting.m, setting.rate, setting.steps, size)
    else:
        path = _on_data(setting, w0, target)
    return restarted(setting, path, POINTS[setting.layers])


def restarted(setting: Setting, path: PopulationPath, points: Sequence[int]) -> Restarts:
    """The bounds of a trained path, restarted at the steps `points`."""
    v, phi, T = path.length, path.phi, path.t
    law = magnitude_bounds if setting.m == 0 else two_layer_magnitude_bounds
    bounds = tuple(
        law(T[at:] - at, float(phi[at]), float(v[at]), path.target, setting.rate) for at in points
    )
    at = list(points)
    return Restarts(setting, T, v, path.target, tuple(points), phi[at], v[at], bounds)


def _on_data(setting: Setting, w0: NDArray, target: NDArray) -> PopulationPath:
    X, size = setting.data(), float(np.linalg.norm(target))
    y = size**setting.m * np.maximum(X @ target, 0.0)
    factors = [float(np.linalg.norm(w0))] * setting.m
    path = neuron_descent(X, y, w0, setting.rate / setting.n, setting.steps, factors)
    psi, rho = coordinates(path.states, target)
    return recorded_path(path.t, psi, rho, path.layers, size, "steps")


def restart_table(panels: Sequence[Restarts]) -> pd.DataFrame:
    """Per panel: where |w| turns, mean gap of the four bounds, how far |w| leaves them."""
    rows = []
    for panel in panels:
        gaps = ", ".join(f"{approx(100 * g, 3)} %" for g in panel.gaps)
        rows.append(
            {
                "panel": f"{panel.setting.layers}L-{NORMS.get(panel.setting.norm, '?')}",
                "|w0|/|w*|": approx(panel.v[0] / panel.target, 3),
                "least |w|/|w*|": approx(panel.v.min() / panel.target, 3),
                "at step": panel.turn,
                "mean gap of the bounds, over |w*|": gaps,
                "|w| outside, at most": f"{approx(100 * panel.breaches.max(), 2)} %",
            }
        )
    return pd.DataFrame(rows).set_index("panel")


def tightening(layers: int, norm: float, seed: int, count: int) -> list[Restarts]:
    """The population's descent of a panel from `count` starts."""
    setting = restart_setting(layers, norm, seed)
    return [restart_run(replace(setting, seed=seed + k), "population") for k in range(count)]


@dataclass(frozen=True)
class BoundSurvey:
    """The flow's bounds (Theorems 3.3 and 3.8) from random starts; counts and worst cases.

    nested    (starts, 2) how far the lower and the upper bound, restarted at a random time, are
              outside of those from the start, over |w*|; <= 0 inside
    bent      how often u'' had another sign than `inflection` says, of `looked`
    convex    starts of the lower bound below its end, where it is said to be convex, and is not
    between   of those the starts with v_0 > (1 - eps_0) v* all the same
    """

    nested: NDArray
    bent: int
    looked: int
    convex: int
    between: int


def inflection(level: float, m: int) -> float:
    """The value at which a solution of u' = -1/2 u^m (u^(m+1) - level^(m+1)) below `level` turns
    from convex to concave: level (m/(2m+1))^(1/(m+1)). Above `level` it is convex.

    Since u'' = f'(u) f(u) with f(u) the right side, and f' = -1/2 u^(m-1) ((2m+1) u^(m+1) - m
    level^(m+1)).
    """
    return level * (m / (2 * m + 1)) ** (1.0 / (m + 1))


def survey_bounds(seed: int, count: int) -> BoundSurvey:
    """Random starts with phi_0 in (0, pi), |w_0|/|w*| in (0.01, 10), m = 0, ..., 3."""
    rng = np.random.default_rng(seed)
    nested, bent, looked, convex, between = [], 0, 0, 0, 0
    for _ in range(count):
        m, phi0 = int(rng.integers(4)), float(rng.uniform(0.02, np.pi - 0.02))
        v0, at = float(10.0 ** rng.uniform(-2, 1)), float(10.0 ** rng.uniform(-2, 1))
        t = np.linspace(0.0, 12.0, 25)
        old = layered_magnitude_bounds(at + t, phi0, v0, 1.0, m)
        path = population_flow(float(np.log(np.tan(0.5 * phi0))), float(np.log(v0)), m, [at])
        new = layered_magnitude_bounds(t, float(path.phi[0]), float(path.length[0]), 1.0, m)
        nested.append((np.max(old[0] - new[0]), np.max(new[1] - old[1])))
        level = float(pull(phi0)) ** (1.0 / (m + 1))
        wrong, seen = _bends(v0, phi0, level, m)
        bent, looked = bent + wrong, looked + seen
        if v0 < level:
            convex += 1
            between += v0 > level ** (m + 1)
    return BoundSurvey(np.array(nested), bent, looked, convex, between)


def _bends(v0: float, phi0: float, level: float, m: int) -> tuple[int, int]:
    """How often second differences of the lower bound have another sign than `inflection` says,
    and how often they were looked at; near the inflection and near the level they are not."""
    h = 1e-3 / max(1.0, v0, level) ** (2 * m)
    t = np.linspace(0.0, 8.0, 40)[:, None] + h * np.arange(3)
    u = layered_magnitude_bounds(t.ravel(), phi0, v0, 1.0, m)[0].reshape(t.shape)
    bend = u[:, 0] - 2.0 * u[:, 1] + u[:, 2]
    said = np.where(u[:, 1] > level, 1.0, np.sign(inflection(level, m) - u[:, 1]))
    clear = np.abs(bend) > 1e-12 * u[:, 1]
    clear &= np.abs(u[:, 1] / max(inflection(level, m), 1e-300) - 1.0) > 1e-2
    return int(np.sum(clear & (np.sign(bend) != said))), int(clear.sum())
