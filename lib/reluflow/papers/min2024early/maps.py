"""How much room Theorem 1 leaves: its time and its eps against what data and flows need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import DOP853

from reluflow.falsify import survey
from reluflow.flows.alignment import Beside, align
from reluflow.ledger import Evidence, fact
from reluflow.papers.min2024early.constants import (
    DataConstants,
    alignment_time,
    data_constants,
    log_eps_allowed,
    needed_zeta,
    start_constants,
)
from reluflow.papers.min2024early.excluded_direction import X as EXAMPLE
from reluflow.papers.min2024early.excluded_direction import Y as LABELS
from reluflow.papers.min2024early.flows import flow
from reluflow.papers.min2024early.limit_time import path, slowest, stay, uniform_time
from reluflow.papers.min2024early.small_scale import enough_log_eps, enough_time
from reluflow.separable import separable

LARGEST = 0.0
"""The largest ln eps that is tried."""
_EDGE = 1e-9
"""A neuron that has died lies on a boundary, up to this."""


def printed_time(n: int, mu: float) -> float:
    """t_1 X_min for neurons outside the cone of the other label: min(zeta, xi) = mu^2 at best."""
    data = DataConstants(n, 1, n - 1, mu, 1.0, 1.0, mu**2, mu**2)
    return alignment_time(data, mu**2)


def slowest_start(X: NDArray, y: NDArray, rng: np.random.Generator, tries: int) -> float:
    """The longest way home, in 1 / X_min, of `tries` neurons of V_+ that begin outside S_-."""
    times = [0.0]
    for w in rng.standard_normal((tries, X.shape[1])):
        if not np.array_equal(X @ w > 0.0, y == -1.0):
            times.append(align(X, y, w).time)
    return max(times) * float(np.linalg.norm(X, axis=1).min())


def needed_times(
    seed: int, ns: Sequence[int], ds: Sequence[int], mus: Sequence[float], tries: int
) -> pd.DataFrame:
    """For each n, d and mu the time of the slowest of `tries` neurons, each on data of its own.

    Columns: n, d, mu, needed, and the bounds `printed` and `ours`, all in units of 1 / X_min. Data
    of unit length, as `separable` draws them.
    """
    rng = np.random.default_rng(seed)

    def one(place: tuple[int, int, float]) -> Mapping[str, Any]:
        n, d, mu = place
        needed = max(
            slowest_start(*separable(n, d, mu, rng, 0.0), rng, 4) for _ in range(max(tries // 4, 1))
        )
        return {"n": n, "d": d, "mu": mu, "needed": needed, "printed": printed_time(n, mu),
                "ours": uniform_time(mu)}  # fmt: skip

    return survey([(n, d, mu) for n in ns for d in ds for mu in mus], one)


def slowest_times(mus: Sequence[float], gap: float = 1e-6) -> NDArray:
    """The times of the data that come nearest to t_*."""
    return np.array([path(slowest(mu, gap)).time for mu in mus])


@dataclass(frozen=True)
class BesideTimes:
    """Two data with mu = 12/13, and a neuron of V_+ at the angle 10^-k from x_-.

    decades  (m,) the k
    needed   (m,) its time as eps -> 0
    ours     (m,) t_* + log(cot(theta/2)) / |x_-|
    least    (m,) t_1 with min(zeta_1, zeta_2)
    printed  t_1 with max(zeta_1, zeta_2)
    """

    decades: NDArray
    needed: NDArray
    ours: NDArray
    least: NDArray
    printed: float


def beside_times(decades: NDArray) -> BesideTimes:
    """The times of `BesideTimes` for angles 10^-decades."""
    data = data_constants(EXAMPLE, LABELS)
    logs = -np.log(10.0) * decades
    needed = [align(EXAMPLE, LABELS, Beside(np.array([1.0, 0.0]), log)).time for log in logs]
    ours = [uniform_time(data.mu) + stay(EXAMPLE, LABELS, log, 1.0) for log in logs]
    squared = np.sin(np.exp(logs)) ** 2
    least = [alignment_time(data, min(data.zeta_1, float(each))) for each in squared]
    return BesideTimes(
        decades, np.array(needed), np.array(ours), np.array(least), alignment_time(data, data.xi)
    )


def late_at_printed_time(found: BesideTimes) -> Evidence:
    """At how many of the angles the neuron is not home at the printed t_1; the theorem has none."""
    late = int(np.sum(found.needed > found.printed))
    return fact(
        "angles 10⁻ᵏ from x₋ of the figure at which the neuron is not home at the printed t₁",
        late, 0, tried=len(found.needed),
    )  # fmt: skip


def largest_log_eps(
    X: NDArray, y: NDArray, W: NDArray, signs: NDArray, least: float, precision: float = 0.5
) -> float:
    """The largest ln eps, up to `precision`, at which all neurons are home at T_*; by bisection
    between LARGEST and `least`, where they are."""
    until = enough_time(X, y, W, signs)

    def away(_: float, z: NDArray) -> float:
        active = X @ z[: W.size].reshape(W.shape).T > _EDGE
        home = np.all(active == (y[:, None] == signs), axis=0) | ~active.any(axis=0)
        return -1.0 if home.all() else 1.0

    def home(log_eps: float) -> bool:
        if away(0.0, (W / np.linalg.norm(W, axis=1, keepdims=True)).ravel()) < 0.0:
            return True
        path = flow(X, y, W, signs, log_eps, until, stop=away, method=DOP853, rtol=1e-7)
        return path.status == "stopped"

    low, high = LARGEST, LARGEST
    while low > least and not home(low):
        low, high = max(2.0 * low - 1.0, least), low
    while high - low > precision:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if home(middle) else (low, middle)
    return low


def scales_along(seed: int) -> dict[str, pd.DataFrame]:
    """`needed_scales` along each of SLICES; where two of them meet they have the same row."""
    cells = list(dict.fromkeys(cell for line in SLICES.values() for cell in line))
    rows = dict(zip(cells, needed_scales(seed, cells).to_dict("records"), strict=True))
    return {name: pd.DataFrame([rows[cell] for cell in line]) for name, line in SLICES.items()}


def needed_scales(
    seed: int, cells: Sequence[tuple[int, float, int]], d: int = 5, draws: int = 5
) -> pd.DataFrame:
    """ln eps for each (n, mu, h): that of (Small), ours, and the largest that does; the least of
    `draws` instances. Columns n, mu, h, small, ours, needed."""
    rng = np.random.default_rng(seed)

    def one(cell: tuple[int, float, int]) -> Mapping[str, Any]:
        n, mu, h = cell
        rows = []
        for _ in range(draws):
            X, y = separable(n, d, mu, rng, 0.0)
            W, signs = rng.standard_normal((h, d)), rng.choice([-1.0, 1.0], h)
            W /= np.linalg.norm(W, axis=1, keepdims=True)
            data, begin = data_constants(X, y), start_constants(X, y, W, signs)
            ours = enough_log_eps(X, y, W, signs)
            small = log_eps_allowed(data, begin, needed_zeta(data, begin))
            rows.append((small, ours, largest_log_eps(X, y, W, signs, ours)))
        small, ours, needed = np.min(rows, axis=0)
        return {"n": n, "mu": mu, "h": h, "small": small, "ours": ours, "needed": needed}

    return survey(cells, one)


SLICES: Mapping[str, Sequence[tuple[int, float, int]]] = {
    "mu": [(4, mu, 8) for mu in (0.001, 0.01, 0.1, 0.5)],
    "n": [(n, 0.1, 8) for n in (2, 4, 8)],
    "h": [(4, 0.1, h) for h in (2, 8, 32)],
}
"""Three lines through (n, mu, h) = (4, 0.1, 8)."""
