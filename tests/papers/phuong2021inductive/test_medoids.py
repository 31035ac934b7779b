"""Three medoids against all triples, one at a time."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.phuong2021inductive.cnn import three_medoids


def cost(P, rows):
    return sum(min(np.hypot(*(p - P[m])) for m in rows) for p in P)


@given(st.integers(3, 8), st.integers(0, 10**6), st.sampled_from([1e-9, 1.0, 1e6]))
def test_no_triple_is_better(n, seed, scale):
    P = scale * np.random.default_rng(seed).integers(-4, 5, (n, 2)).astype(float)
    rows, labels = three_medoids(P)
    best = min(cost(P, triple) for triple in combinations(range(n), 3))
    assert cost(P, rows) == pytest.approx(best)
    for p, label in zip(P, labels, strict=True):
        assert np.hypot(*(p - P[rows[label]])) <= min(np.hypot(*(p - P[m])) for m in rows)


def test_strays_get_no_cluster_of_their_own():
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    P = np.vstack([centres + 0.05 * rng.standard_normal((60, 2)), [[5.0, 5.0]]])
    assert sorted(np.bincount(three_medoids(P)[1])) == [20, 20, 21]


def test_two_points_are_too_few():
    with pytest.raises(InputError, match="at least three points, not 2"):
        three_medoids(np.zeros((2, 2)))
