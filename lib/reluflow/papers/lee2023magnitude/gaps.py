"""How far sample and step take descent from the population's flow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.approx import approx
from reluflow.flows.population import PopulationPath, coordinates, recorded_path
from reluflow.ledger import Evidence, bound, note
from reluflow.papers.lee2023magnitude.runs import Run
from reluflow.papers.lee2023magnitude.starts import Start
from reluflow.statistics import student_interval

SLOPE = 0.1
"""How near to -1/2 the interval of a fitted power has to stay."""


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
    def slopes(self) -> NDArray:
        """Each draw's power of n, by least squares in logarithms, mean of depths: (draws, 2)."""
        x = np.log(self.n) - np.log(self.n).mean()
        return np.einsum("k,lkbq->bq", x, np.log(self.gaps)) / (x @ x) / len(self.gaps)


def gap_law(
    seed: int,
    draws: int,
    layers: Sequence[int] = (1, 2, 3),
    n: Sequence[int] = (125, 1000, 8000),
    d: int = 5,
    steps: int = 30,
) -> GapLaw:
    """Descend at several numbers of data and compare with the population, from |w_0| = |w*|.

    The rate makes eta T |w*|^(2m) = 20 with |w*| = 1, as far as D.3's runs go. Target and start of
    a draw are the same for all n and depths. The descents are plain loops over all the data.
    """
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
    pairs = [coordinates(a, b) for a, b in zip(w, best, strict=True)]
    starts = [Start(float(psi), float(rho), m) for psi, rho in pairs]
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
        found.append(distance(mine, starts[k].descent(step, steps)))
    return np.array(found)


def step_orders(layers: int) -> tuple[float, float]:
    """The order in eta at which population descent comes to the flow from phi_0 = pi/2,
    |w_0| = |w*|: of the angle, of |w|.

    The logarithm to base 2 of the ratio of their largest differences at steps 0.02 and 0.01.
    """
    start, found = Start(0.0, 0.0, layers - 1), []
    for step in (0.02, 0.01):
        T = round(30.0 / step)
        descent, flow = start.descent(step, T), start.flow(step * np.arange(T + 1.0))
        found.append(distance(descent, flow))
    (a, b), (c, d) = found
    return math.log2(a / c), math.log2(b / d)


def sample_gap(law: GapLaw) -> list[Evidence]:
    """ma.ours.run.sample: the finite-sample gap falls like n^(-1/2), to what the draws can tell."""
    evidence: list[Evidence] = []
    for power, name in zip(law.slopes.T, ("angle", "|w|"), strict=True):
        low, high = student_interval(power, 0.999)
        evidence += [
            bound(f"{name}: power of n, lower end of a 99.9 % interval", low, ">", -0.5 - SLOPE,
                  ""),
            bound(f"{name}: power of n, upper end", high, "<", -0.5 + SLOPE, ""),
            note(f"{name}: power of n", float(power.mean()), digits=2),
        ]  # fmt: skip
    return [
        *evidence,
        note("numbers of data", tuple(int(k) for k in law.n)),
        note("draws for each", law.gaps.shape[2]),
    ]


def step_gap(runs: Sequence[Run]) -> list[Evidence]:
    """ma.ours.run.step: descent is O(eta) from the flow, and in the panels nearer to it than to the
    run on data."""
    orders = np.array([step_orders(layers) for layers in (1, 2, 3)])
    pairs = [
        (distance(run.population, run.flow), distance(run.empirical, run.population))
        for run in runs
        if run.empirical is not None
    ]
    angle, magnitude = (max(step[k] / sample[k] for step, sample in pairs) for k in range(2))
    off = float(np.abs(orders - 1.0).max())
    return [
        bound("orders in η: largest distance from 1", off, "<", 0.05, ""),
        bound("angle: step gap over sample gap, worst panel", angle, "<", 0.1, ""),
        bound("|w|: step gap over sample gap, worst panel", magnitude, "<", 1.0, ""),
        note("panels", len(pairs)),
    ]
