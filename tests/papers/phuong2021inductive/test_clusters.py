"""Adam's clusters and descent's rays; the data of Section 5.1 of Phuong & Lampert 2021."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.falsify import falsify
from reluflow.images import digits
from reluflow.papers.phuong2021inductive.cnn import (
    OPTIMISERS,
    Neurons,
    adam_makes_clusters,
    sign_descent,
    three_medoids,
)
from reluflow.papers.phuong2021inductive.setting import filtered_gaussian, pair_products
from scipy.stats import ks_2samp


def test_a_step_of_sign_descent_by_differences():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((8, 3)), rng.choice([-1.0, 1.0], 8)
    W, a = rng.standard_normal((4, 3)), rng.standard_normal(4)

    def loss(V):
        return np.mean(np.log1p(np.exp(-y * (np.maximum(X @ V.T, 0.0) @ a))))

    slopes = np.zeros_like(W)
    for index in np.ndindex(W.shape):
        shift = np.zeros_like(W)
        shift[index] = 1e-6
        slopes[index] = (loss(W + shift) - loss(W - shift)) / 2e-6
    moved = sign_descent(X, y, W, a, 0.25, 1)
    np.testing.assert_allclose(moved, W - 0.25 * np.sign(np.round(slopes, 8)))
    twice = sign_descent(X, y, moved, a, 0.25, 1)
    np.testing.assert_array_equal(twice, sign_descent(X, y, W, a, 0.25, 2))


def test_clusters_are_asked_of_trained_networks_on_all_images():
    found = digits()
    rows = found.digit <= 1
    X, y = found.levels[rows] / 16.0, np.where(found.digit[rows] == 1, 1.0, -1.0)
    for skipped, loss, tried in ((0, 0.0, 1), (0, 0.02, 0), (1, 0.0, 0)):
        some = Neurons(np.eye(4), np.array([1.0, 1.0, -1.0, -1.0]), loss)
        runs = [(0, dict.fromkeys(OPTIMISERS, some))]
        claim = adam_makes_clusters(X[skipped:], y[skipped:], runs)
        assert falsify(claim, 0, 1, 0).tried == tried


def test_filtered_gaussians_are_normal_vectors_that_passed_the_filter():
    rng = np.random.default_rng(0)
    X, y = filtered_gaussian(4, 4000, rng)
    z = np.array([1.0, -1.0, 1.0, -1.0])
    assert pair_products(X, y).violated == 0.0
    assert np.all(X * y[:, None] > 0)
    assert np.all(X @ z >= 0)
    drawn = rng.standard_normal((200_000, 4))
    signs = np.sign(drawn[:, 0])
    kept = (np.all(np.sign(drawn) == signs[:, None], axis=1)) & (drawn @ z >= 0)
    slow, labels = drawn[kept], signs[kept]
    assert y.mean() == pytest.approx(0.0, abs=4 / 4000**0.5)
    for sign in (1.0, -1.0):
        ours, theirs = X[y == sign], slow[labels == sign]
        for k in range(4):
            assert ks_2samp(ours[:, k], theirs[:, k]).pvalue > 1e-4
        assert ks_2samp(ours @ z, theirs @ z).pvalue > 1e-4
    odd = filtered_gaussian(3, 500, rng)[1]
    assert odd.mean() > 0.2


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


def test_two_points_are_too_few():
    with pytest.raises(InputError, match="at least three points, not 2"):
        three_medoids(np.zeros((2, 2)))
