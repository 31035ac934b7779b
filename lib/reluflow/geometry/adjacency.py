"""Neighbouring cells, and how many cells there are, without a look at a weight."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.geometry.cells import enumerate_cells, extreme_rays
from reluflow.geometry.exact import integer_columns, integer_rows, matrix, normal


def parallel_classes(X: ArrayLike) -> list[frozenset[int]]:
    """The data X (n, d), not zero, grouped by boundary: x_i and x_j together if parallel."""
    classes: dict[tuple[int, ...], set[int]] = {}
    for i, row in enumerate(integer_rows(X)):
        classes.setdefault(normal(row), set()).add(i)
    return [frozenset(c) for c in classes.values()]


def adjacent_pairs(X: ArrayLike) -> list[tuple[NDArray, NDArray]]:
    """All pairs of cells whose closures share a face of dimension r - 1, as two patterns (n,).

    The closure of a cell is spanned by the extreme rays of the arrangement on it, so two closures
    meet in the span of their common rays; only its dimension is asked, whatever the patterns are.
    Exact, in integers, for data X (n, d) of any rank r. Raises InputError where the cells are not
    `enumerable`.
    """
    X = np.asarray(X, float)
    d, live, patterns = X.shape[1], X.any(axis=1), enumerate_cells(X).patterns
    rows = [row for row in integer_columns(X)[0] if any(row)]
    rays = [
        ([turn * v for v in ray], np.array([turn * ((h > 0) - (h < 0)) for h in products]))
        for ray, products in extreme_rays(rows)
        for turn in (1, -1)
    ]
    around = [
        {k for k, (_, signs) in enumerate(rays) if np.all(side * signs >= 0)}
        for side in np.where(patterns[:, live], 1, -1)
    ]
    face = matrix(rows, d).rank() - 1
    return [
        (patterns[a], patterns[b])
        for a, b in combinations(range(len(patterns)), 2)
        if matrix([rays[k][0] for k in around[a] & around[b]], d).rank() == face
    ]


def count_by_ranks(X: ArrayLike) -> int:
    """The number of cells of the data X (n, d), not zero, by Winder's formula (1966).

    sum over all subsets B of the data of (-1)^(|B| - rank B): no weight is ever looked at.
    """
    X = np.asarray(X, float)
    chosen = (np.arange(2 ** len(X))[:, None] >> np.arange(len(X))) & 1
    ranks = np.linalg.matrix_rank(chosen[:, :, None] * X)
    return int(np.sum((-1) ** (chosen.sum(axis=1) - ranks)))
