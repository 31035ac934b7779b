"""What the sections of chapter 1 share: data and their assumptions, small starts, boundaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from itertools import product
from math import lcm
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from reluflow.datasets import data_row
from reluflow.errors import InputError
from reluflow.falsify import Draws, Instance, extended
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import enumerate_cells, rank
from reluflow.geometry.exact import matrix, nearest, normal, read
from reluflow.papers.lee2022support import landscape as minima
from reluflow.papers.lee2022support.landscape import gradient, unit_vectors, without
from reluflow.parameters import SECTION, Parameter, between

Made = TypeVar("Made")

# --- Data that satisfy A1 to A3: ordinary, and in special position --------------------------------

ORDINARY = ("uniform", "directions", "integers", "near-parallel", "extreme")
"""Kinds of moderate aspect."""

KINDS = (*ORDINARY, "units", "decades", "parallel", "near-axes", "degenerate")
"""The kinds drawn by default: those, data of extreme aspect, and data in special position."""


@dataclass(frozen=True)
class DataSet:
    """A data set X (n, d), y (n,) that satisfies A1, A2 and A3, and the `kind` that drew it."""

    X: NDArray
    y: NDArray
    kind: str


def draw(kind: str, n: int, d: int, rng: np.random.Generator) -> DataSet:
    """One random data set of this kind, drawn again until A1-A3 of Lee et al. 2022a hold.

    "uniform" inputs and labels in (0, 1); "directions" of random angle and length; "integers" from
    0 to 4, ties and axis-parallel data included; "near-parallel" inputs a few 1e-3 apart;
    "extreme" lengths and labels over six orders of magnitude; "units" coordinates, each in a unit
    of its own, and "decades" lengths and labels, over twelve; "parallel" inputs 1e-9 to 1e-3 beside
    one of d directions, "near-axes" the same beside the axes; "degenerate" whole numbers
    in special position: parallel, equal, along the axes, orthogonal or fitted without residual.
    Raises ValueError for n < d.
    """
    if n < d:
        raise ValueError(f"n = {n} data cannot span d = {d} dimensions")
    while True:
        X, y = _DRAWS[kind](n, d, rng)
        if X.any(axis=1).all() and (y > 0).all() and _spans(X):
            return DataSet(X, y, kind)


def _spans(X: NDArray) -> bool:
    """Whether the rank of X (n, d), nonzero rows, is d; exactly where floats may not tell."""
    if X.shape[1] == 2:  # enough that one datum is clearly not along the first
        one, two = X[0, 0] * X[1:, 1], X[0, 1] * X[1:, 0]
        if np.any(np.abs(one - two) > 1e-9 * (np.abs(one) + np.abs(two))):
            return True
    size = np.abs(X).max(axis=0)
    if not size.all():
        return False
    scaled = X * 2.0 ** -np.round(np.log2(size))  # powers of two round nothing, and keep the rank
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    return bool(np.linalg.svd(scaled, compute_uv=False)[-1] > 1e-6) or rank(X) == X.shape[1]


def draw_many(
    count: int, d: int, seed: int, kinds: tuple[str, ...] = KINDS, sizes: tuple[int, int] = (2, 8)
) -> Iterator[DataSet]:
    """`count` data sets, the kinds in turn, of random size n in `sizes` (both ends, n >= d)."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        n = int(rng.integers(max(sizes[0], d), sizes[1] + 1))
        yield draw(kinds[k % len(kinds)], n, d, rng)


def data_draws(d: int, sizes: tuple[int, int] = (2, 8), kinds: tuple[str, ...] = KINDS) -> Draws:
    """Draws of {"X": (n, d), "y": (n,)} for `falsify`, one a kind, of random n in `sizes`."""

    def one(rng: np.random.Generator, kind: str) -> Instance:
        item = draw(kind, int(rng.integers(max(sizes[0], d), sizes[1] + 1)), d, rng)
        return {"X": item.X, "y": item.y}

    return {kind: partial(one, kind=kind) for kind in kinds}


def in_dimensions(dimensions: Iterable[int], largest: int, kinds: tuple[str, ...] = KINDS) -> Draws:
    """The `data_draws` of every d of `dimensions`, n up to `largest`."""
    return {
        f"{kind}, d = {d}": one
        for d in dimensions
        for kind, one in data_draws(d, (1, largest), kinds).items()
    }


def any_start(item: Instance, rng: np.random.Generator) -> Instance:
    """For `extended`: {"w0": (d,)} of any direction, its norm 1e-12 to 1e6 of the linear fit's."""
    size = fit_size(item) * 10.0 ** rng.uniform(-12.0, 6.0)
    direction = rng.normal(size=item["X"].shape[1])
    return {"w0": size * (direction / np.linalg.norm(direction))}


def fit_size(item: Instance) -> float:
    """|w| of the linear fit of {"X", "y"}; 1 where that is 0."""
    return float(np.linalg.norm(np.linalg.lstsq(item["X"], item["y"], rcond=None)[0])) or 1.0


@st.composite
def readable_data(draw_value, d: int, sizes: tuple[int, int]):
    """Hypothesis strategy of {"X", "y"}: n in `sizes` inputs of whole numbers 0 to 4, not zero, and
    labels 1 to 6. Shrinks to few data and small numbers; A3 is not demanded."""
    n = draw_value(st.integers(*sizes))
    row = st.lists(st.integers(0, 4), min_size=d, max_size=d).filter(any)
    X = draw_value(st.lists(row, min_size=n, max_size=n))
    y = draw_value(st.lists(st.integers(1, 6), min_size=n, max_size=n))
    return {"X": np.array(X, float).reshape(n, d), "y": np.array(y, float)}


def readable_start(data: st.SearchStrategy, d: int) -> st.SearchStrategy:
    """Hypothesis strategy of the `data` with {"w0": (d,)} of whole numbers up to 3."""
    w0 = st.lists(st.integers(-3, 3), min_size=d, max_size=d)
    return st.builds(lambda item, w: {**item, "w0": np.array(w, float)}, data, w0)


def _directions(n, d, rng):
    X = np.abs(rng.normal(size=(n, d)))
    X *= 10.0 ** rng.uniform(-1.0, 1.0, (n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    return X, 10.0 ** rng.uniform(-1.0, 1.0, n)


def _units(n, d, rng):
    X, y = _DRAWS["uniform" if rng.integers(2) else "integers"](n, d, rng)
    # Powers of two round nothing: parallel data stay parallel.
    return X * 2.0 ** rng.integers(-20, 21, d), y * 2.0 ** rng.integers(-10, 11)


def _which(n, d, rng):
    """One of d directions for each datum, each direction at least once, for the rank."""
    return np.append(np.arange(d), rng.integers(0, d, n - d))


def _parallel(n, d, rng):
    which = _which(n, d, rng)
    beside = 1.0 + 10.0 ** rng.uniform(-9.0, -3.0, (n, 1)) * rng.normal(size=(n, d))
    X = rng.uniform(0.2, 1.0, (d, d))[which] * beside * 10.0 ** rng.uniform(-1.0, 1.0, (n, 1))
    return np.abs(X), rng.uniform(0.1, 2.0, n)


def _near_axes(n, d, rng):
    which = _which(n, d, rng)
    X = 10.0 ** rng.uniform(-9.0, -3.0, (n, 1)) * np.abs(rng.normal(size=(n, d)))
    X[np.arange(n), which] = 1.0
    return X * 10.0 ** rng.uniform(-1.0, 1.0, (n, 1)), rng.uniform(0.1, 2.0, n)


def _degenerate(n, d, rng):
    some = rng.integers(0, 4, (d, d)) if rng.integers(2) else np.eye(d, dtype=int)
    which = _which(n, d, rng)
    lengths = rng.integers(1, 4, n) if rng.integers(2) else np.ones(n, int)
    X = (some[which] * lengths[:, None]).astype(float)
    y = rng.integers(1, 7, n).astype(float)
    if rng.integers(2):
        y = X @ rng.integers(1, 4, d)
    order = rng.permutation(n)
    return X[order], y[order]


_DRAWS = {
    "uniform": lambda n, d, rng: (rng.uniform(0.0, 1.0, (n, d)), rng.uniform(0.0, 1.0, n)),
    "directions": _directions,
    "integers": lambda n, d, rng: (
        rng.integers(0, 5, (n, d)).astype(float),
        rng.integers(1, 7, n).astype(float),
    ),
    "near-parallel": lambda n, d, rng: (
        np.abs(rng.uniform(0.2, 1.0, d) + 1e-3 * rng.normal(size=(n, d))),
        rng.uniform(0.1, 2.0, n),
    ),
    "extreme": lambda n, d, rng: (
        rng.uniform(0.0, 1.0, (n, d)) ** 3 * 10.0 ** rng.uniform(-3.0, 3.0, (n, 1)),
        10.0 ** rng.uniform(-3.0, 3.0, n),
    ),
    "units": _units,
    "decades": lambda n, d, rng: (
        np.abs(rng.normal(size=(n, d))) * 10.0 ** rng.uniform(-6.0, 6.0, (n, 1)),
        10.0 ** rng.uniform(-6.0, 6.0, n),
    ),
    "parallel": _parallel,
    "near-axes": _near_axes,
    "degenerate": _degenerate,
}


# --- A second method in the plainest arithmetic: descent as a loop --------------------------------
#
# It shares no code with the exact flow and descent, and is slow on purpose.


def plain_descent(X: ArrayLike, y: ArrayLike, w0: ArrayLike, step: Any, n_steps: int) -> NDArray:
    """All weights (n_steps + 1, d) of w <- w - step * gradient, for X (n, d), y (n,), w0 (d,):
    floats, or fractions."""
    X, y, path = np.asarray(X), np.asarray(y), [np.asarray(w0)]
    for _ in range(n_steps):
        h = X @ path[-1]
        path.append(path[-1] - step * (((h - y) * (h > 0)) @ X))
    return np.array(path)


def data_on(X: NDArray, w: NDArray) -> NDArray:
    """The data (n,) on whose boundary the point w (d,) is, up to a cosine of 1e-9."""
    return np.abs(X @ w) <= 1e-9 * np.linalg.norm(X, axis=1) * np.linalg.norm(w)


def first_continuations(
    X: ArrayLike, y: ArrayLike, w: ArrayLike, sure: float = 1e-9
) -> list[tuple[NDArray, NDArray]]:
    """The flows that leave w (d,), to first order: the data (n,) active after it, and the velocity.

    A flow that leaves w with velocity v activates exactly those data of J, the data on whose
    boundary w lies, for which x_j.v > 0; so v = v_0 + sum_{j in J, x_j.v > 0} y_j x_j, where v_0 is
    -grad L(w), ReLU's derivative at 0 taken as 0. All 2^|J| subsets of J are tried. Left out are
    those with a rate x_j.v that is zero to rounding: below `sure` of |x_j| times all forces. With
    sure = -1e-9 those are in that may be a flow, as far as rounding lets one tell.
    """
    X, y, w = (np.asarray(v, float) for v in (X, y, w))
    h, length, on = X @ w, np.linalg.norm(X, axis=1), data_on(X, w)
    before = ~on & (h > 0.0)
    v0 = (y - h)[before] @ X[before]
    unit = length * (np.linalg.norm(v0) + length[on] @ np.abs(y[on]))
    found = []
    for chosen in product((False, True), repeat=int(on.sum())):
        active = before.copy()
        active[on] = chosen
        v = v0 + y[on & active] @ X[on & active]
        rates = np.where(active, 1.0, -1.0)[on] * (X[on] @ v)
        if np.all(rates > sure * unit[on]):
            found.append((active, v))
    return found


# --- Which data are active along a path of one ReLU neuron: its crossings, cells and returns ------


@dataclass(frozen=True)
class Crossing:
    """The flow meets the boundary of `datum` (from 0) at time t in w (d,); the cells `before` and
    `after` are given by their active data (n,). They differ in `datum` and in all data that change
    with it, as parallel ones do."""

    t: float
    datum: int
    w: NDArray
    before: NDArray
    after: NDArray

    @property
    def activates(self) -> bool:
        """Whether the datum becomes active."""
        return bool(self.after[self.datum])


def _steps(X: ArrayLike, path: Trajectory) -> dict[float, tuple[NDArray, NDArray]]:
    """The cells before and after each time at which data change; those of one time together."""
    on = np.asarray(X, float) @ path.states[0] > 0.0
    found: dict[float, tuple[NDArray, NDArray]] = {}
    for event in path.events:
        before, after = found.get(event.t, (on, on))
        on = after.copy()
        on[event.datum] = event.kind == "activate"
        found[event.t] = before, on
    return found


def crossings(X: ArrayLike, path: Trajectory) -> tuple[Crossing, ...]:
    """The boundary crossings of a ReLU path that starts inside a cell, one a datum, in order."""
    steps = _steps(X, path)
    return tuple(Crossing(e.t, e.datum, path.at(e.t), *steps[e.t]) for e in path.events)


def visited_cells(X: ArrayLike, path: Trajectory) -> list[NDArray]:
    """The cells that a ReLU path passes, by their active data (n,), in order."""
    cells = {t: after for t, (_, after) in _steps(X, path).items()}
    return list(({0.0: np.asarray(X, float) @ path.states[0] > 0.0} | cells).values())


def deactivated(path: Trajectory) -> list[int]:
    """The data that events deactivate, one entry an event, in their order."""
    return [event.datum for event in path.events if event.kind == "deactivate"]


def reactivations(path: Trajectory) -> int:
    """How many events activate a datum that an earlier event had deactivated."""
    told = [(event.datum, event.kind) for event in path.events]
    return sum(
        kind == "activate" and (datum, "deactivate") in told[:k]
        for k, (datum, kind) in enumerate(told)
    )


# --- What the parameters cell of chapter 1 may hold -----------------------------------------------

PARAMETERS: Mapping[str, Parameter] = {
    "dataset": Parameter(str, '"paper" for the printed data sets, the name of one of them, or the '
                         "path of a CSV file", bool, "a name or a path, not empty"),
    "initial_points": Parameter(list, "points w_0 where the flows start, each a list of d numbers; "
                                "None for the chapter's own", bool, "a list of at least one point",
                                optional=True),
    "step": Parameter(float, "step of the gradient descent", *between(1e-12, 1e12)),
    **SECTION,
}  # fmt: skip


# --- The paper's assumptions on data (Section 2): A1, A2 and A3 -----------------------------------


def assumptions(X: ArrayLike, y: ArrayLike) -> dict[str, bool]:
    """Which of A1 (x_i >= 0, not 0), A2 (y_i > 0) and A3 (rank X = d) hold for X (n, d), y (n,)."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    broken = {name for name, _ in _faults(X, y)}
    return {"A1": "A1" not in broken, "A2": "A2" not in broken, "A3": rank(X) == X.shape[1]}


def meets(item: Mapping[str, Any], *names: str, d: int | None = None) -> bool:
    """Whether the data "X", "y" of an instance meet the assumptions named, in d dimensions."""
    found = assumptions(item["X"], item["y"])
    return all(found[name] for name in names) and d in (None, np.shape(item["X"])[1])


def check_assumptions(X: NDArray, y: NDArray) -> None:
    """Refuse data X (n, d), y (n,) outside A1 or A2. A3 is a choice of coordinates: data that span
    less are followed in their span, by the reduction principle, Corollary E.2. Raises InputError
    naming the first assumption that fails and the row where it does."""
    for _, fault in _faults(X, y):
        raise InputError(fault)


def _faults(X: NDArray, y: NDArray) -> Iterator[tuple[str, str]]:
    """Every assumption on rows that a row breaks, and a sentence that says so."""
    for i, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        a1 = f"assumption A1 (x_i >= 0, x_i != 0) fails in {data_row(i)}: "
        if not np.all(x >= 0):
            k = int(np.argmin(x >= 0))
            yield "A1", f"{a1}feature {k + 1} is {x[k]:g}, below zero."
        elif not np.any(x):
            yield "A1", f"{a1}every feature is zero."
        if not label > 0:
            yield "A2", f"assumption A2 (y_i > 0) fails in {data_row(i)}: the label is {label:g}."


# --- Small starts: how small they have to be, their directions, and the flows from them -----------
#
# Lemma F.5 has an explicit radius, delta_0, and what this book says of small starts in the plane
# holds at that radius. A statement that names no radius is tried at shrinking shares of delta_0,
# and counts as broken by a data set only if it is broken at every one of them.

NORMS = (0.9, 1e-2, 1e-4)
"""Norms of the starts, in units of `guaranteed_radius`."""


def unit_of_norm(X: ArrayLike, y: ArrayLike) -> float:
    """The smallest distance y_i / |x_i| of a solution hyperplane from the origin."""
    return float(np.min(np.asarray(y) / np.linalg.norm(X, axis=1)))


def forced(X: ArrayLike, y: ArrayLike, w: ArrayLike) -> bool:
    """Whether q(w) > 0 componentwise; data within rounding of their boundary count as inactive.
    Near the origin -grad L = q, so this is the hypothesis of Proposition 4.4 and Theorem 4.7."""
    X, w = np.asarray(X, float), np.asarray(w, float)
    on = X @ w > 1e-13 * np.linalg.norm(X, axis=1) * np.linalg.norm(w)
    return bool(np.all(np.where(on, y, 0.0) @ X > 0.0))


_TRIES = 100


def random_direction(X: ArrayLike, y: ArrayLike, rng: np.random.Generator) -> NDArray:
    """A random unit vector (d,) with q > 0; that of X^T y where _TRIES draws gave none."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    drawn = (rng.normal(size=(X.shape[1],)) for _ in range(_TRIES))
    u: NDArray = next((u for u in drawn if forced(X, y, u)), y @ X)
    return u / np.linalg.norm(u)


def near_boundary_start(item: Instance, rng: np.random.Generator) -> Instance:
    """For `extended`: {"w0": (d,)} of any norm on the boundary of a datum, or 1e-12 to 1e-3 off it.

    A third of the starts has x_j.w0 = 0, exactly so for whole numbers and else to rounding; the
    others are equally often on either side. In one dimension the boundary is the origin.
    """
    X = item["X"]
    d = X.shape[1]
    x = X[rng.integers(len(X))]
    w = np.where(x == 0.0, rng.normal(size=d), 0.0)
    if d > 1:
        a = int(rng.choice(np.nonzero(x)[0]))
        b = int(rng.choice(np.delete(np.arange(d), a)))
        # x_a x_b - x_b x_a = 0, and the other entries of w stand where x is zero. The scale is a
        # power of two, here and below, for it rounds nothing.
        scale = rng.choice([-1.0, 1.0]) * 2.0 ** -np.round(np.log2(np.abs(x).max()))
        w[[a, b]] = scale * np.array([-x[b], x[a]])
    side = rng.integers(-1, 2) * 10.0 ** rng.uniform(-12.0, -3.0)
    w += side * max(float(np.linalg.norm(w)), float(d == 1)) * x / np.linalg.norm(x)
    return {"w0": w * 2.0 ** np.round(np.log2(fit_size(item)) + rng.uniform(-40.0, 20.0))}


def start_direction(X: ArrayLike, y: ArrayLike, rng: np.random.Generator) -> NDArray:
    """A unit vector (d,) with q > 0: of random direction, or as often near a datum's boundary."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    if rng.integers(2):
        drawn = (near_boundary_start({"X": X, "y": y}, rng)["w0"] for _ in range(_TRIES))
        w = next((w for w in drawn if forced(X, y, w)), None)
        if w is not None:
            return w / np.linalg.norm(w)
    return random_direction(X, y, rng)


def directed(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """For `extended`: the `start_direction` "u"."""
    return {"u": start_direction(item["X"], item["y"], rng)}


def nontrivial(item: Instance) -> bool:
    """Whether q(u) > 0 at the instance's direction "u"."""
    return forced(item["X"], item["y"], item["u"])


def within(item: Instance, radius: Radius) -> bool:
    """Whether the starts of `NORMS` along the instance's "u" are shorter than the radius."""
    least = radius(item["X"], item["y"])
    starts = starts_of(item, NORMS, lambda X, y: least)
    return all(float(np.linalg.norm(w0)) < least for w0 in starts)


def small(item: Instance) -> bool:
    """Whether q(w0) > 0 and |w0| < delta_0 for the starts of `NORMS`."""
    return nontrivial(item) and within(item, guaranteed_radius)


def remembered(function: Callable[..., Made]) -> Callable[..., Made]:
    """A function of arrays of numbers that is not computed twice: of many data `falsify` asks all
    hypotheses, and then the slacks."""

    @lru_cache(maxsize=512)
    def known(*given: tuple[bytes, tuple[int, ...]]) -> Made:
        return function(*(np.frombuffer(data).reshape(shape) for data, shape in given))

    @wraps(function)
    def asked(*arrays: ArrayLike) -> Made:
        given = [np.ascontiguousarray(each, float) for each in arrays]
        return known(*((each.tobytes(), each.shape) for each in given))

    return asked


def also(
    word: str, draws: Draws, more: Callable[[Instance, np.random.Generator], Instance]
) -> Draws:
    """The draws, and again `extended` by `more`, under names that begin with the word."""
    return {**draws, **{f"{word}, {kind}": one for kind, one in extended(draws, more).items()}}


def signed(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """For `extended`: inputs of either sign."""
    return {"X": item["X"] * rng.choice([-1.0, 1.0], item["X"].shape)}


def few(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """For `extended`: the first data alone, of any number and rank."""
    n = int(rng.integers(1, len(item["y"]) + 1))
    return {"X": item["X"][:n], "y": item["y"][:n]}


@remembered
def guaranteed_radius(X: NDArray, y: NDArray) -> float:
    """delta_0 = (a + Q - sqrt(Q^2 + 2 a Q)) / Lambda: smaller starts with q > 0 activate all data.
    a is the least x_j.q_P / |x_j| over all j and all cells P with q_P > 0, Q = |q| of all data, and
    Lambda the largest eigenvalue of sum x_i x_i^T. Under A1-A3 (A3 makes the cells exist)."""
    q = np.where(enumerate_cells(X).patterns, y, 0.0) @ X
    q = q[(q > 0).all(axis=1)]
    a = float((q @ (X / np.linalg.norm(X, axis=1, keepdims=True)).T).min())
    top = float(np.linalg.svd(X, compute_uv=False)[0]) ** 2
    Q = float(np.linalg.norm(y @ X))  # and without cancellation:
    return a / top * (a / (a + Q + np.sqrt(Q) * np.sqrt(Q + 2.0 * a)))


def gentle_radius(X: ArrayLike, y: ArrayLike) -> float:
    """rho = min_j x_j.q / |x_j| / Lambda, q and Lambda of all data: at all-active points of smaller
    norm every x_j.w increases, for x_j.(q - H w) / |x_j| >= x_j.q / |x_j| - Lambda |w|."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    top = float(np.linalg.svd(X, compute_uv=False)[0]) ** 2
    return float((X @ (y @ X) / np.linalg.norm(X, axis=1)).min()) / top


def smallest_force(X: ArrayLike, y: ArrayLike, starts: ArrayLike) -> float:
    """The smallest component of -grad L over all starts (k, d): positive under the hypothesis."""
    return float(-gradient(X, y, starts).max())


Radius = Callable[[ArrayLike, ArrayLike], float]


def starts_of(
    item: Instance, norms: Sequence[float], radius: Radius = guaranteed_radius
) -> list[NDArray]:
    """The starts (d,) of these norms, in units of the radius, along the instance's "u" or X^T y."""
    X, y = item["X"], item["y"]
    u, unit = np.asarray(item.get("u", X.T @ y), float), radius(X, y)
    u = u / np.abs(u).max()  # its square must not underflow
    return [norm * unit * u / np.linalg.norm(u) for norm in norms]


def small_flows(
    item: Instance, norms: Sequence[float], radius: Radius = guaranteed_radius
) -> list[Trajectory]:
    """The exact flows of an instance from `starts_of`."""
    return [_flow(item["X"], item["y"], w0) for w0 in starts_of(item, norms, radius)]


_flow = remembered(affine_flow)


# --- Points on activation boundaries: random ones, and the sides to which flows leave them --------
#
# A point on the boundary of x_1 is an array "w" (d,) of an instance; one on several boundaries at
# once is given by the data "some" and a direction "z" (d,).

MIXED = in_dimensions((2, 3), 8)
"""Draws of data that satisfy A1-A3, in the plane and in space."""


def continuation_sides(X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int) -> tuple[int, ...]:
    """Sides of the boundary of x_j to which flows leave its point w (d,): 1 active, -1 inactive."""
    flows = first_continuations(X, y, w)
    return tuple(sorted({1 if active[j] else -1 for active, _ in flows}))


def parallel_classes(X: ArrayLike) -> list[frozenset[int]]:
    """The data X (n, d), not zero, grouped by boundary: x_i and x_j together if parallel."""
    classes: dict[tuple[int, ...], set[int]] = {}
    for i, x in enumerate(np.asarray(X, float)):
        exact = read(x)
        scale = lcm(*(v.denominator for v in exact))
        classes.setdefault(normal([int(v * scale) for v in exact]), set()).add(i)
    return [frozenset(c) for c in classes.values()]


def on_boundary(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """For `extended`: a point w on the boundary of x_1, of random direction, near and far."""
    x = item["X"][0] / np.linalg.norm(item["X"][0])
    w = rng.normal(size=len(x))
    w -= (w @ x) * x
    length = unit_of_norm(item["X"], item["y"]) * 10.0 ** rng.uniform(-1.0, 1.5)
    return {"w": length * w / np.linalg.norm(w)}


def foot(item: Instance) -> NDArray:
    """The point of x_1's boundary nearest to w, for a search moves data and point."""
    x, w = item["X"][0], item["w"]
    return w - (w @ x) / (x @ x) * x


def others_off(item: Instance) -> bool:
    """Whether all data but x_1 are off their boundaries there."""
    X, w = item["X"][1:], foot(item)
    return bool(np.all(np.abs(X @ w) > 1e-3 * np.linalg.norm(X, axis=1) * np.linalg.norm(w)))


def on_several(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """For `extended`: a direction z and up to d data "some", whose boundaries a point is on."""
    n, d = item["X"].shape
    return {"some": rng.permutation(n)[: rng.integers(1, d + 1)], "z": rng.normal(size=d)}


def common_point(item: Instance) -> NDArray:
    """The point on the boundaries of the data "some" nearest to z: 0 if they span space."""
    X, z = item["X"][item["some"]], item["z"]
    left = z - X.T @ np.linalg.lstsq(X.T, z, rcond=None)[0]
    return np.where(np.linalg.norm(left) > 1e-9 * np.linalg.norm(z), left, 0.0)


# --- Virtual minima of cells, and whether these hold one (eq. 4 and 5) ----------------------------


def virtual_minimum(X: ArrayLike, y: ArrayLike, active: ArrayLike) -> tuple[NDArray, NDArray]:
    """Virtual minimiser of a cell (eq. 4): the least-squares fit of its active data.

    Parameters: X (n, d), y (n,), active (n,) bool. Returns the fit of least norm (d,) and an
    orthonormal basis (d, d - rank) of the directions along which it is free. Both are exact but for
    the last rounding.
    """
    exact, own, d = _read(X, y), np.flatnonzero(active).tolist(), np.shape(X)[1]
    rows, labels = [exact.rows[i] for i in own], [exact.labels[i] for i in own]
    W, N = minima.fit(matrix(rows, d), labels)
    basis = exact.span(N)
    w = without(exact.weight(W.entries()), basis)
    return np.array([nearest(v) for v in w]), unit_vectors(basis, d)


def meets_cell(X: ArrayLike, y: ArrayLike, active: ArrayLike) -> bool:
    """Whether some virtual minimum of the cell lies in it, boundary as in conditions (5).

    There is a least-squares fit w of the active data with x_i.w > 0 on them (the fitted values are
    the same for all fits) and x_i.w <= 0 on the others: exactly, for the data as they are read.
    """
    exact, active = _read(X, y), np.asarray(active, bool)
    return (
        minima.placed(exact.rows, exact.labels, len(exact.scale), active, closed=True) is not None
    )


_read = remembered(minima.problem)
