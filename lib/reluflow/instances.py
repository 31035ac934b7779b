"""Random data sets on which universally quantified claims are tried: ordinary and adversarial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.geometry import rank

KINDS = ("uniform", "directions", "integers", "near-parallel", "extreme")


@dataclass(frozen=True)
class Instance:
    """A data set X (n, d), y (n,) that satisfies A1, A2 and A3, and the `kind` that drew it."""

    X: NDArray
    y: NDArray
    kind: str


def draw(kind: str, n: int, d: int, rng: np.random.Generator) -> Instance:
    """One random data set of this kind, drawn again until A1-A3 of Lee et al. 2022 hold.

    "uniform" inputs and labels in (0, 1); "directions" of random angle and length; "integers" from
    0 to 4, ties and axis-parallel data included; "near-parallel" inputs a few 1e-3 apart;
    "extreme" lengths and labels over six orders of magnitude. Raises ValueError for n < d.
    """
    if n < d:
        raise ValueError(f"n = {n} data cannot span d = {d} dimensions")
    while True:
        X, y = _DRAWS[kind](n, d, rng)
        if X.any(axis=1).all() and (y > 0).all() and rank(X) == d:
            return Instance(X, y, kind)


def draw_many(
    count: int, d: int, seed: int, kinds: tuple[str, ...] = KINDS, sizes: tuple[int, int] = (2, 8)
) -> Iterator[Instance]:
    """`count` data sets, the kinds in turn, of random size n in `sizes` (both ends, n >= d)."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        n = int(rng.integers(max(sizes[0], d), sizes[1] + 1))
        yield draw(kinds[k % len(kinds)], n, d, rng)


def _uniform(n, d, rng):
    return rng.uniform(0.0, 1.0, (n, d)), rng.uniform(0.0, 1.0, n)


def _directions(n, d, rng):
    X = np.abs(rng.normal(size=(n, d)))
    X *= 10.0 ** rng.uniform(-1.0, 1.0, (n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    return X, 10.0 ** rng.uniform(-1.0, 1.0, n)


def _integers(n, d, rng):
    return rng.integers(0, 5, (n, d)).astype(float), rng.integers(1, 7, n).astype(float)


def _near_parallel(n, d, rng):
    middle = rng.uniform(0.2, 1.0, d)
    return np.abs(middle + 1e-3 * rng.normal(size=(n, d))), rng.uniform(0.1, 2.0, n)


def _extreme(n, d, rng):
    X = rng.uniform(0.0, 1.0, (n, d)) ** 3 * 10.0 ** rng.uniform(-3.0, 3.0, (n, 1))
    return X, 10.0 ** rng.uniform(-3.0, 3.0, n)


_DRAWS = {
    "uniform": _uniform,
    "directions": _directions,
    "integers": _integers,
    "near-parallel": _near_parallel,
    "extreme": _extreme,
}
