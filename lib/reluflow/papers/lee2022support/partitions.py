"""Cells of weight space: Lemmas F.1 and F.2 as statements to falsify.

The paper's partition is the set of all weights with one activation pattern, a datum on its boundary
counting as inactive. Under A1 each is an open cell with a part of its boundary, so that the paper's
partitions and the open cells are as many, and have the same patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import gcd, lcm

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement
from reluflow.geometry import cell_bound, enumerate_cells, rank
from reluflow.geometry.exact import read
from reluflow.instances import Draws, data_draws, extended, readable_data

Vector = tuple[int, ...]
Pair = tuple[NDArray, NDArray]


def in_dimensions(dimensions: Iterable[int], largest: int, kinds: Sequence[str] = ()) -> Draws:
    """Draws of X (n, d), y (n,) with A1-A3, for every d of `dimensions` and n up to `largest`."""
    return {
        f"{kind}, d = {d}": one
        for d in dimensions
        for kind, one in data_draws(d, (1, largest), *([tuple(kinds)] if kinds else [])).items()
    }


def degenerate_draws(dimensions: Sequence[int] = (1, 2, 3, 4), largest: int = 6) -> Draws:
    """Draws of X (n, d) with A1 alone: n may be below d, data parallel, equal, or in a subspace."""

    def size(rng: np.random.Generator) -> tuple[int, int]:
        return int(rng.integers(1, largest + 1)), int(rng.choice(list(dimensions)))

    def generic(rng: np.random.Generator) -> dict[str, NDArray]:
        return {"X": rng.uniform(0.0, 1.0, size(rng))}

    def integers(rng: np.random.Generator) -> dict[str, NDArray]:
        return {"X": _nonzero(rng.integers(0, 3, size(rng)), rng)}

    def parallel(rng: np.random.Generator) -> dict[str, NDArray]:
        n, d = size(rng)
        few = _nonzero(rng.integers(0, 4, (max(n // 2, 1), d)), rng)
        return {"X": few[rng.integers(0, len(few), n)] * rng.integers(1, 3, (n, 1))}

    def flat(rng: np.random.Generator) -> dict[str, NDArray]:
        n, d = size(rng)
        basis = _nonzero(rng.integers(0, 3, (max(d - 1, 1), d)), rng)
        return {"X": _nonzero(rng.integers(0, 3, (n, len(basis))), rng) @ basis}

    return {"uniform": generic, "integers": integers, "parallel": parallel, "subspace": flat}


def _nonzero(X: NDArray, rng: np.random.Generator) -> NDArray:
    """The rows of X (n, d) as floats, a one in place of a zero row."""
    X = np.array(X, float)
    zero = np.flatnonzero(~X.any(axis=1))
    X[zero, rng.integers(X.shape[1], size=len(zero))] = 1.0
    return X


# --- Lemma F.1: adjacent cells --------------------------------------------------------------------


def integer_rows(X: ArrayLike) -> list[Vector]:
    """The data X (n, d) as directions: each row the coprime integers of which it is a multiple."""
    rows = []
    for x in np.asarray(X, float):
        exact = read(x)
        scale = lcm(*(v.denominator for v in exact))
        whole = [int(v * scale) for v in exact]
        common = gcd(*whole) or 1
        rows.append(tuple(v // common for v in whole))
    return rows


def parallel_classes(X: ArrayLike) -> list[frozenset[int]]:
    """The data X (n, d), not zero, grouped by boundary: x_i and x_j together if parallel."""
    classes: dict[Vector, set[int]] = {}
    for i, row in enumerate(integer_rows(X)):
        turned = tuple(-v for v in row)
        classes.setdefault(max(row, turned), set()).add(i)
    return [frozenset(c) for c in classes.values()]


def adjacent_pairs(X: ArrayLike) -> list[Pair]:
    """All pairs of cells whose closures share a face of dimension d - 1, as two patterns (n,).

    The closure of a cell is spanned by the extreme rays of the arrangement on it, so two closures
    meet in the span of their common rays; only its dimension is asked, whatever the patterns are.
    Exact, in integers. Raises ValueError where the data X (n, d) span more than three dimensions.
    """
    X = np.asarray(X, float)
    patterns = enumerate_cells(X).patterns
    X = X[:, _independent_columns(X)]
    if X.shape[1] > 3:
        raise ValueError(f"data of rank {X.shape[1]}: adjacency is told up to rank 3")
    rays = _signed_rays(integer_rows(X))
    sides = 2 * patterns.astype(int) - 1
    around = [
        frozenset(k for k, (_, signs) in enumerate(rays) if np.all(side * signs >= 0))
        for side in sides
    ]
    return [
        (patterns[a], patterns[b])
        for a, b in combinations(range(len(patterns)), 2)
        if _dimension([rays[k][0] for k in around[a] & around[b]]) == X.shape[1] - 1
    ]


def _independent_columns(X: NDArray) -> list[int]:
    """Columns of X (n, d) that determine the others, so that they give the same sign patterns."""
    chosen: list[int] = []
    for c in range(X.shape[1]):
        if rank(X[:, [*chosen, c]]) > len(chosen):
            chosen.append(c)
    return chosen


def _signed_rays(rows: Sequence[Vector]) -> list[tuple[Vector, NDArray]]:
    """Extreme rays of the arrangement of full rank r <= 3, each with the signs of all data."""
    r, found = len(rows[0]), {}
    for chosen in combinations(rows, r - 1):
        normal = _normal(chosen)
        for ray in (normal, tuple(-v for v in normal)):
            values = [sum(a * b for a, b in zip(x, ray, strict=True)) for x in rows]
            if any(ray):
                found[tuple((v > 0) - (v < 0) for v in values)] = ray
    return [(ray, np.array(signs)) for signs, ray in found.items()]


def _normal(chosen: Sequence[Vector]) -> Vector:
    """The vector orthogonal to r - 1 vectors of r <= 3 entries, zero if they are dependent."""
    if len(chosen) == 0:
        return (1,)
    if len(chosen) == 1:
        return (-chosen[0][1], chosen[0][0])
    (a, b, c), (e, f, g) = chosen
    return (b * g - c * f, c * e - a * g, a * f - b * e)


def _dimension(rays: Sequence[Vector]) -> int:
    """Dimension of the span of nonzero rays, at most 2."""
    if not rays:
        return 0
    first = rays[0]
    turned = any(
        first[i] * ray[j] != first[j] * ray[i]
        for ray in rays
        for i, j in combinations(range(len(first)), 2)
    )
    return 1 + turned


def _distinct(item: Instance) -> bool:
    return len({tuple(x) for x in np.asarray(item["X"]).tolist()}) == len(item["X"])


def one_datum_between_cells(largest: int = 5) -> Statement:
    """Lemma F.1: adjacent cells differ in exactly one datum.

    The lemma speaks of the set of active data, so equal data are left out. Slack: one less the
    largest number of data in which two adjacent cells differ.
    """

    def slack(item: Instance) -> float:
        return 1.0 - max((int(np.sum(a != b)) for a, b in adjacent_pairs(item["X"])), default=1)

    return Statement(
        says="adjacent cells differ in one datum",
        draws=in_dimensions((1, 2, 3), largest, ("uniform", "directions", "integers")),
        hypotheses={"no two data are equal": _distinct},
        slack=slack,
        readable=readable_data(1, (1, 3)),
        fixed=("X", "y"),
    )


def one_class_between_cells(largest: int = 5) -> Statement:
    """Ours, in place of Lemma F.1: two cells are adjacent if and only if the data in which they
    differ are one class of mutually parallel data. Entries of either sign; the rank may be below d.
    """

    def slack(item: Instance) -> float:
        X = item["X"]
        patterns = enumerate_cells(X).patterns
        classes = set(parallel_classes(X))
        differing = sum(
            frozenset(np.flatnonzero(a != b).tolist()) in classes
            for a, b in combinations(patterns, 2)
        )
        pairs = adjacent_pairs(X)
        wrong = sum(frozenset(np.flatnonzero(a != b).tolist()) not in classes for a, b in pairs)
        return 0.0 - wrong - abs(differing - len(pairs))

    def signed(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        return {"X": item["X"] * rng.choice([-1.0, 1.0], item["X"].shape)}

    plain = in_dimensions((1, 2, 3), largest, ("directions", "integers"))
    return Statement(
        says="cells are adjacent exactly if they differ in one class of parallel data",
        draws={**extended(plain, signed), **degenerate_draws((1, 2, 3), largest)},
        slack=slack,
        fixed=("X", "y"),
    )


# --- Lemma F.2: how many cells --------------------------------------------------------------------


def count_by_ranks(X: ArrayLike) -> int:
    """The number of cells of the data X (n, d), not zero, by Winder's formula (1966).

    sum over all subsets B of the data of (-1)^(|B| - rank B): no weight is ever looked at.
    """
    X = np.asarray(X, float)
    chosen = (np.arange(2 ** len(X))[:, None] >> np.arange(len(X))) & 1
    ranks = np.linalg.matrix_rank(chosen[:, :, None] * X)
    return int(np.sum((-1) ** (chosen.sum(axis=1) - ranks)))


def in_general_position(X: ArrayLike) -> bool:
    """Whether any min(n, d) of the data X (n, d) are independent."""
    X = np.asarray(X, float)
    k = min(X.shape)
    chosen = np.array(list(combinations(range(len(X)), k)))
    return bool(np.all(np.linalg.matrix_rank(X[chosen]) == k))


def few_cells() -> Statement:
    """Lemma F.2: at most 2 sum_{k<d} C(n-1, k) cells under A1, A3 not assumed (eq. 16).

    Slack: the bound less the cells enumerated; minus one where Winder's formula counts otherwise.
    """

    def slack(item: Instance) -> float:
        count = len(enumerate_cells(item["X"]))
        return cell_bound(*item["X"].shape) - count if count == count_by_ranks(item["X"]) else -1.0

    return Statement(
        says="no more cells than the bound, by enumeration and by Winder's formula",
        draws=degenerate_draws(),
        slack=slack,
        fixed=("X",),
    )


def bound_attained() -> Statement:
    """Ours, with Lemma F.2: the bound is attained if and only if any min(n, d) data are
    independent."""

    def slack(item: Instance) -> float:
        X = item["X"]
        attained = len(enumerate_cells(X)) == cell_bound(*X.shape)
        return 0.0 if attained == in_general_position(X) else -1.0

    return Statement(
        says="as many cells as the bound exactly in general position",
        draws=degenerate_draws(),
        slack=slack,
        fixed=("X",),
    )
