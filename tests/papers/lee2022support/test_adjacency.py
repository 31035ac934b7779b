"""Neighbouring cells, against linear programs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from reluflow.geometry import enumerate_cells
from reluflow.papers.lee2022support.geometry import adjacent_pairs
from reluflow.papers.lee2022support.setting import parallel_classes
from scipy.optimize import linprog


def slow_adjacent(X) -> int:
    """Pairs of closures with a common face of dimension d - 1, by linear programs: such a face
    holds d - 1 independent points, found one after another in directions not spanned yet."""
    X = np.asarray(X, float)
    d, count = X.shape[1], 0
    rng = np.random.default_rng(0)
    for a, b in combinations(2 * enumerate_cells(X).patterns.astype(int) - 1, 2):
        G = -np.vstack([a[:, None] * X, b[:, None] * X])
        found = []
        for _ in range(4 * d):
            c = rng.normal(size=d)
            result = linprog(c, A_ub=G, b_ub=np.zeros(len(G)), bounds=[(-1, 1)] * d)
            found.append(result.x)
        count += np.linalg.matrix_rank(np.array(found), tol=1e-7) == d - 1
    return count


@pytest.mark.parametrize("X", [[[1, 0], [0, 1], [1, 1]], [[1, 0], [2, 0], [0, 1]], np.eye(3)])
def test_adjacent_pairs_agree_with_linear_programs(X):
    assert slow_adjacent(X) == len(adjacent_pairs(np.array(X, float)))


def test_parallel_classes_join_both_directions():
    X = [[1, 2], [-2, -4], [1, 0], [3, 6]]
    assert set(parallel_classes(X)) == {frozenset({0, 1, 3}), frozenset({2})}
