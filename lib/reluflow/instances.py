"""Random data sets on which universally quantified claims are tried: ordinary and adversarial."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from reluflow.geometry import rank

ORDINARY = ("uniform", "directions", "integers", "near-parallel", "extreme")
"""Kinds of moderate aspect."""

KINDS = (*ORDINARY, "units", "decades", "parallel", "near-axes", "degenerate")
"""The kinds drawn by default: those, data of extreme aspect, and data in special position."""


@dataclass(frozen=True)
class Instance:
    """A data set X (n, d), y (n,) that satisfies A1, A2 and A3, and the `kind` that drew it."""

    X: NDArray
    y: NDArray
    kind: str


def draw(kind: str, n: int, d: int, rng: np.random.Generator) -> Instance:
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
            return Instance(X, y, kind)


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
) -> Iterator[Instance]:
    """`count` data sets, the kinds in turn, of random size n in `sizes` (both ends, n >= d)."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        n = int(rng.integers(max(sizes[0], d), sizes[1] + 1))
        yield draw(kinds[k % len(kinds)], n, d, rng)


Arrays = Mapping[str, Any]
Draws = dict[str, Callable[[np.random.Generator], Arrays]]


def data_draws(d: int, sizes: tuple[int, int] = (2, 8), kinds: tuple[str, ...] = KINDS) -> Draws:
    """Draws of {"X": (n, d), "y": (n,)} for `falsify`, one a kind, of random n in `sizes`."""

    def one(rng: np.random.Generator, kind: str) -> Arrays:
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


def extended(draws: Draws, more: Callable[[Arrays, np.random.Generator], Arrays]) -> Draws:
    """The draws, each instance with the arrays that `more(instance, rng)` adds or replaces."""

    def one(rng: np.random.Generator, base: Callable[[np.random.Generator], Arrays]) -> Arrays:
        item = base(rng)
        return {**item, **more(item, rng)}

    return {kind: partial(one, base=base) for kind, base in draws.items()}


def any_start(item: Arrays, rng: np.random.Generator) -> Arrays:
    """For `extended`: {"w0": (d,)} of any direction, its norm 1e-12 to 1e6 of the linear fit's."""
    size = fit_size(item) * 10.0 ** rng.uniform(-12.0, 6.0)
    direction = rng.normal(size=item["X"].shape[1])
    return {"w0": size * (direction / np.linalg.norm(direction))}


def fit_size(item: Arrays) -> float:
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
