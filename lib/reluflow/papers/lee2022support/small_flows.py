"""Small starts in the plane: where they end (Theorem 4.7); paths piece by piece, in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from reluflow.falsify import Draws, Instance, Statement, extended
from reluflow.flows.segment import Data, Segment, segment
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import rank
from reluflow.papers.lee2022support.setting import (
    NORMS,
    data_draws,
    deactivated,
    directed,
    meets,
    reactivations,
    small_flows,
    visited_cells,
)

# --- Small starts in the plane: where they end, from the data alone (Lemma 4.6, Theorem 4.7) ------
#
# Under A1-A3 every cell of the plane with active data keeps the first k or the last k of the data
# in the order of their angles (Lemma 4.5). A flow from |w0| < delta_0 with q(w0) > 0 keeps all
# data, or gives up the steepest ones, or the flattest ones, class by class, until a cell holds its
# own virtual minimum, boundary included; there it ends. The chapter proves it.

NEAR = 1e-6
"""Limits count as equal up to this share of their norm."""


class PlanarData(NamedTuple):
    """What B data sets of the plane tell of the flows from small starts; B rows each."""

    limit: NDArray  # where small starts end, (B, 2)
    kept: NDArray  # whether a datum is active there, (B, n); one on its boundary is
    loss: NDArray  # the loss there
    least: NDArray  # the least loss of all
    most: NDArray  # the largest number of data active at any local minimum


def planar_data(X: NDArray, y: NDArray) -> PlanarData:
    """`PlanarData` of X (B, n, 2) and y (B, n), under A1-A3, taken as the rationals that they are:
    all signs are told in whole numbers. A datum on its boundary counts as active at the limit, for
    no event has switched it off."""
    (X, long), (y, unit) = _whole(X), _whole(y)
    total = X.sum(axis=2)
    # Fine enough that only parallel data have one slope.
    slopes = (X[..., 1] << 2 * int(total.max()).bit_length()) // total
    order = np.argsort(slopes, axis=1, kind="stable")
    p, q, y, slopes = (np.take_along_axis(v, order, 1) for v in (X[..., 0], X[..., 1], y, slopes))
    n, rows, back = y.shape[1], np.arange(len(y)), np.argsort(order, axis=1)
    # Patterns 0 .. n-1 keep the flattest k+1 data, patterns n .. 2n-1 the data from k on.
    flatter = slopes[:, None] <= slopes[..., None]
    on = np.concatenate([flatter, slopes[:, None] >= slopes[..., None]], axis=1)
    terms = np.stack([p * p, p * q, q * q, y * p, y * q], axis=2)
    a, b, c, f, g = np.moveaxis(on.astype(object) @ terms, 2, 0)
    det = a * c - b * b
    line = det == 0  # data of one direction: the shortest fit
    u, v = np.where(line, f, c * f - b * g), np.where(line, g, a * g - b * f)
    det = np.where(line, a + c, det)
    h = p[:, None] * u[..., None] + q[:, None] * v[..., None]
    outer = h[:, np.arange(2 * n), np.tile(np.arange(n), 2)] < 0  # of the datum given up next
    k = np.where(outer[:, n], n, n - 1)
    while (moves := outer[rows, k]).any():
        k = k + moves * np.where(k < n, -1, 1)
    holds = np.where(on, h > 0, h <= 0).all(axis=2) | line
    y, h = (y / unit).astype(float), (h / (det * unit)[..., None]).astype(float)
    losses = 0.5 * ((np.maximum(h, 0.0) - y[:, None]) ** 2).sum(axis=2)
    w = (np.stack([u, v], axis=2)[rows, k] * long / (det * unit)[rows, k, None]).astype(float)
    return PlanarData(
        limit=w,
        kept=np.take_along_axis(on[rows, k], back, 1),
        loss=losses[rows, k],
        least=np.minimum(losses.min(axis=1), 0.5 * (y**2).sum(axis=1)),
        most=np.where(holds, on.sum(axis=2), 0).max(axis=1),
    )  # fmt: skip


def _whole(values: NDArray) -> tuple[NDArray, int]:
    """Whole numbers, and the power of two of which they are so many times the values."""
    ratios = [v.as_integer_ratio() for v in np.ravel(values).astype(float).tolist()]
    unit = max(below for _, below in ratios)
    whole = np.array([over * (unit // below) for over, below in ratios], object)
    return whole.reshape(np.shape(values)), unit


def resting_point(item: Instance) -> tuple[NDArray, NDArray]:
    """The data (n,) of an instance active where small starts end, and that point (2,)."""
    told = planar_data(item["X"][None], item["y"][None])
    return told.kept[0], told.limit[0]


# --- Theorem 4.7 and Lemma F.8: where small starts end, and whether that is global ----------------
#
# An instance is a data set "X" (n, d), "y" (n,) and a direction "u" (d,) of the start.

MISSED = 1e-9
"""A limit whose loss is above the least loss by more than this share of L(0) is not global."""


def nontrivial_draws(d: int, sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Data sets, each with a direction u for which q > 0, random or near a boundary."""
    return extended(data_draws(d, sizes), directed)


def keeps_all(item: Instance) -> bool:
    """Whether the all-active cell holds its virtual minimum."""
    return bool(resting_point(item)[0].all())


ASSUMED: Mapping[str, Callable[[Instance], bool]] = {
    "A2: y > 0": lambda item: bool(np.all(item["y"] > 0.0)),
    "A3: rank X = d": lambda item: rank(item["X"]) == item["X"].shape[1],
}
"""What the draws guarantee and the search could lose; A1 it keeps, for it keeps signs."""


def planar(item: Instance) -> bool:
    """Whether A1, A2 and A3 hold in the plane."""
    return meets(item, "A1", "A2", "A3", d=2)


def at_rest(says: str, draws: Draws, hypotheses: Mapping, gone: bool) -> Statement:
    """Flows from `NORMS` of delta_0 along u end in the resting point, and take no datum back; where
    `gone`, they do not even give one up."""

    def slack(item: Instance) -> float:
        paths = small_flows(item, NORMS)
        if not all(path.has_limit for path in paths):
            return np.nan  # rounding could not tell a state from a boundary
        if any(deactivated(path) if gone else reactivations(path) for path in paths):
            return -1.0
        w = resting_point(item)[1]
        return min(float(NEAR - np.linalg.norm(p.end - w) / np.linalg.norm(w)) for p in paths)

    return Statement(says, draws, slack, hypotheses, fixed=("u",))


def leaving_draws(sizes: tuple[int, int] = (3, 8)) -> Draws:
    """Planar data sets drawn again until the all-active cell does not hold its minimum."""

    base = data_draws(2, sizes)

    def outside(kind: str, rng: np.random.Generator) -> Instance:
        drawn = (base[kind](rng) for _ in range(40))
        return next((item for item in drawn if not keeps_all(item)), base[kind](rng))

    return {kind: partial(outside, kind) for kind in base}


# --- A path between its events, in closed form: the zeros of sums of exponentials -----------------


def pieces(X: ArrayLike, y: ArrayLike, path: Trajectory) -> Iterator[tuple[Segment, float]]:
    """A flow that slides along no boundary, from event to event, and when each piece ends."""
    data = Data(np.asarray(X, float), np.asarray(y, float))
    times = list(dict.fromkeys([0.0, *(event.t for event in path.events)]))
    starts = path.states[np.searchsorted(path.t, times)]
    ends = [*times[1:], np.inf if path.has_limit else path.t[-1]]
    for on, w, t, end in zip(visited_cells(data.X, path), starts, times, ends, strict=True):
        yield segment(data, w, on, t), end


def sign_changes(c: NDArray, rates: NDArray) -> list[float]:
    """Where sum_k c_k e^(-rates_k s), rates ascending, changes its sign in s > 0, in order. Times
    e^(rates_0 s) it has a derivative of one term less, and one zero at most between two of that.

    `exponential_sums` has the form for early times: what is left late would be rounding in it."""
    c, rates = c[c != 0.0], rates[c != 0.0]
    if len(c) < 2:
        return []
    rates = rates - rates[0]
    # From `far` on the first term, now a constant, outweighs the others.
    far = max(0.0, *np.log(len(c) * np.abs(c[1:] / c[0])) / rates[1:])
    inner = [s for s in sign_changes(-c[1:] * rates[1:], rates[1:]) if s < far]

    def value(s: float) -> float:
        return float(c @ np.exp(-rates * s))

    return [
        float(brentq(value, lo, hi, xtol=1e-12 / rates[-1]))
        for lo, hi in pairwise([0.0, *inner, far])
        if np.sign(value(lo)) * np.sign(value(hi)) < 0.0
    ]
