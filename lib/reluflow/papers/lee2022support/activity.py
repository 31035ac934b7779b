"""Theorem 4.2 and the role of the start's norm: which data stay active, which a flow ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.flows.affine import affine_flow
from reluflow.geometry import local_minima
from reluflow.instances import draw


def protected(X: ArrayLike, y: ArrayLike, w0: ArrayLike, w_gm: ArrayLike) -> NDArray:
    """Which data (n,) Theorem 4.2 promises to keep active: eq. (6) and x_j.w0 > 0.

    Parameters: X (n, d), y (n,), start w0 (d,), an interpolating w_gm (d,), X w_gm = y.
    """
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    radius = np.linalg.norm(w0 - np.asarray(w_gm, float))
    return (y / np.linalg.norm(X, axis=1) > radius) & (X @ w0 > 0)


@dataclass(frozen=True)
class ProtectionSurvey:
    """Theorem 4.2 on random interpolated data.

    flows        exact flows followed; `with_protected` of them have a protected datum
    protected    protected data in all of them
    deactivated  protected data that an event deactivates
    smallest     the smallest (x_j.w(t) - (y_j - |x_j| |w0 - w_GM|)) / y_j met: the proof says >= 0
    all_active   flows with every datum protected
    gap          the largest distance of such a ReLU flow from the linear flow, relative to |w_GM|
    final_loss   the largest loss in their limits, relative to 1/2 |y|^2
    """

    flows: int
    with_protected: int
    protected: int
    deactivated: int
    smallest: float
    all_active: int
    gap: float
    final_loss: float


def survey_protection(count: int, seed: int) -> ProtectionSurvey:
    """Starts at distances up to the edge of eq. (6), half of them straight towards a boundary."""
    rng = np.random.default_rng(seed)
    flows = some = total = deactivated = everything = 0
    smallest, gap, final_loss = np.inf, 0.0, 0.0
    for k in range(count):
        d = int(rng.integers(1, 6))
        n = int(rng.integers(d, d + 5))
        X = rng.uniform(0.0, 1.0, (n, d)) ** 2 * 10.0 ** rng.uniform(-1.0, 1.0, (n, 1))
        w_gm = rng.normal(size=d)
        if np.any(X @ w_gm <= 0):
            w_gm = np.abs(w_gm)
        y = X @ w_gm
        radii = y / np.linalg.norm(X, axis=1)
        step = rng.normal(size=d) if k % 2 else -X[rng.integers(n)]
        radius = rng.choice(radii) * rng.choice([0.3, 0.9, 0.999999])
        w0 = w_gm + radius * step / np.linalg.norm(step)
        safe = protected(X, y, w0, w_gm)
        flows += 1
        if not safe.any():
            continue
        some += 1
        total += int(safe.sum())
        path = affine_flow(X, y, w0)
        deactivated += sum(e.kind == "deactivate" and safe[e.datum] for e in path.events)
        times = path.grid(60)
        floor = y - np.linalg.norm(X, axis=1) * np.linalg.norm(w0 - w_gm)
        room = (path.at(times) @ X.T - floor) / y
        smallest = min(smallest, float(room[:, safe].min()))
        if safe.all():
            everything += 1
            linear = affine_flow(X, y, w0, activation="linear")
            apart = np.linalg.norm(path.at(times) - linear.at(times), axis=1).max()
            gap = max(gap, float(apart / np.linalg.norm(w_gm)))
            rest = 0.5 * np.sum((np.maximum(X @ path.end, 0.0) - y) ** 2) / (0.5 * y @ y)
            final_loss = max(final_loss, float(rest))
    return ProtectionSurvey(flows, some, total, deactivated, smallest, everything, gap, final_loss)


@dataclass(frozen=True)
class LossOfDataSurvey:
    """The converse question to Theorem 4.2: how near to w_GM can a flow start and lose a datum?

    flows     exact flows followed
    lost      data active at the start that an event deactivates; a few are decided by rounding
    smallest  the smallest |x_j| |w0 - w_GM| / y_j among them, at least 1 by the theorem; infinite
              where none is lost, which says nothing
    """

    flows: int
    lost: int
    smallest: float


def survey_lost_data(count: int, seed: int) -> LossOfDataSurvey:
    """Starts built to lose a datum from as near as they can.

    The shortest datum x starts just active, and the linear flow carries x.w just below zero by a
    time t between the fast and the slow scale: with p = exp(-H t) x, w0 - w_GM is the shortest z
    with p.z = -1.001 y and x.z = -0.999 y. The interval of losing starts so shrinks onto (6).
    """
    rng = np.random.default_rng(seed)
    lost, smallest = 0, np.inf
    for _ in range(count):
        d = int(rng.integers(2, 6))
        n = int(rng.integers(d, d + 5))
        X = rng.uniform(0.0, 1.0, (n, d)) ** 2 * 10.0 ** rng.uniform(-2.0, 2.0, (n, 1))
        w_gm = np.abs(rng.normal(size=d))
        y = X @ w_gm
        j = int(np.argmin(np.linalg.norm(X, axis=1)))
        rates, E = np.linalg.eigh(X.T @ X)
        t = 10.0 ** rng.uniform(-np.log10(rates.sum()), -np.log10(X[j] @ X[j]))
        p = E @ (np.exp(-rates * t) * (E.T @ X[j]))
        z = np.linalg.lstsq(np.array([p, X[j]]), -y[j] * np.array([1.001, 0.999]), rcond=None)[0]
        path = affine_flow(X, y, w_gm + z)
        active = X @ (w_gm + z) > 0
        for e in path.events:
            if e.kind == "deactivate" and active[e.datum]:
                lost += 1
                share = np.linalg.norm(X[e.datum]) * np.linalg.norm(z) / y[e.datum]
                smallest = min(smallest, float(share))
    return LossOfDataSurvey(count, lost, smallest)


@dataclass(frozen=True)
class NormSurvey:
    """What the norm of the start does to the limit, over random data and directions.

    norms        (k,) norms of the starts, in units of |w*| of the linear fit
    start        (k, m) share of the data active at each of the m starts
    share        (k, m) share of the data active in the limit
    excess       (k, m) (L(limit) - L(global)) / L(0), nan where cells were not enumerated
    """

    norms: NDArray
    start: NDArray
    share: NDArray
    excess: NDArray

    def interval(self, values: NDArray) -> tuple[float, float, float]:
        """Mean of `values` (m,) with its 95 % normal interval: (mean, low, high)."""
        mean, width = values.mean(), 1.96 * values.std(ddof=1) / np.sqrt(len(values))
        return float(mean), float(mean - width), float(mean + width)


def survey_norms(
    count: int, seed: int, n: int, d: int, norms: Sequence[float] = (0.01, 0.1, 0.3, 1, 3, 10, 100)
) -> NormSurvey:
    """Flows of `count` random data sets of n data in d dimensions from starts of all norms.

    Each data set has one random direction, uniform over those with an active datum, shared by all
    its norms, so the columns are paired.
    """
    rng = np.random.default_rng(seed)
    shape = (len(norms), count)
    start, share, excess = np.empty(shape), np.empty(shape), np.full(shape, np.nan)
    for k in range(count):
        item = draw("uniform", n, d, rng)
        unit = np.linalg.norm(np.linalg.lstsq(item.X, item.y, rcond=None)[0])
        u = rng.normal(size=d)
        while not np.any(item.X @ u > 0):
            u = rng.normal(size=d)
        u /= np.linalg.norm(u)
        best = local_minima(item.X, item.y)[0].loss
        for row, norm in enumerate(norms):
            end = affine_flow(item.X, item.y, norm * unit * u).end
            h = item.X @ end
            start[row, k], share[row, k] = np.mean(item.X @ u > 0), np.mean(h > 0)
            value = 0.5 * np.sum((np.maximum(h, 0.0) - item.y) ** 2)
            excess[row, k] = (value - best) / (0.5 * item.y @ item.y)
    return NormSurvey(np.asarray(norms, float), start, share, excess)
