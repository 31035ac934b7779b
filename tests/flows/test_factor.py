"""The eigenvectors that follow the active set, against a decomposition of the active rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from reluflow.flows.segment import Factor


def walk(rng: np.random.Generator, n: int, steps: int):
    """Active sets (n,) that differ by one datum each, about half of the data in them."""
    on = rng.random(n) < 0.5
    for _ in range(steps):
        on = on.copy()
        on[rng.integers(n)] ^= True
        yield on


def assert_decomposes(factor: Factor, A: np.ndarray, tolerance: float) -> None:
    """The factor's singular values are those of A, each to `tolerance` of itself, and A^T A its."""
    s = np.linalg.svd(A, compute_uv=False)[: len(factor.s)]
    np.testing.assert_allclose(factor.s, s, rtol=tolerance)
    V = factor.V
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-13)
    np.testing.assert_allclose((V * factor.s**2) @ V.T, A.T @ A, atol=1e-13 * s[0] ** 2)


def walked(X: np.ndarray, sets: Iterable[np.ndarray], tolerance: float) -> None:
    factor = Factor(X)
    for on in sets:
        factor.follow(on)
        assert_decomposes(factor, X[on], tolerance)


@pytest.mark.parametrize("d", [1, 2, 7, 20])
def test_it_follows_data_that_come_and_go(d) -> None:
    rng = np.random.default_rng(d)
    X = rng.normal(size=(15 * d, d))
    walked(X, walk(rng, len(X), 200), 1e-12)
    walked(X, (rng.random(len(X)) < 0.6 for _ in range(20)), 1e-12)  # many at once


def test_small_singular_values_keep_their_digits() -> None:
    # cond(H) = 1e12: H itself, in doubles, knows four digits of its smallest eigenvalue.
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    walked(rng.normal(size=(200, 6)) * np.geomspace(1.0, 1e-6, 6) @ turn, walk(rng, 200, 150), 1e-8)


def test_data_that_come_and_go_cost_no_decomposition_of_all_rows(monkeypatch) -> None:
    rng = np.random.default_rng(1)
    X, counted, qr = rng.normal(size=(300, 8)), [], np.linalg.qr
    monkeypatch.setattr(np.linalg, "qr", lambda *a, **k: (counted.append(1), qr(*a, **k))[1])
    factor = Factor(X)
    for on in walk(rng, 300, 320):
        factor.follow(on)
    assert len(counted) == 5


def test_the_rank_follows_too() -> None:
    X = np.array([[1.0, 0, 0], [2.0, 0, 0], [0, 1.0, 0], [0, 1.0, 1.0], [0, 0, 0], [1.0, 1.0, 0]])
    factor = Factor(X)
    sets = [[], [0], [0, 1], [0, 1, 4], [0, 1, 2], [0, 1, 2, 5], [1, 2, 5], [1, 2, 3, 5], [1], [4]]
    for data in [*sets, *sets[::-1], [0, 1, 2, 3, 4, 5], [0], [0, 2]]:
        on = np.isin(np.arange(6), data)
        factor.follow(on)
        rank = np.linalg.matrix_rank(X[on]) if data else 0
        assert (factor.s.shape, factor.V.shape) == ((rank,), (3, rank))
        if rank:
            assert_decomposes(factor, X[on], 1e-13)


def test_large_data_that_go_leave_no_rounding_behind() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3)) * np.where(np.arange(60) < 30, 1e8, 1.0)[:, None]
    factor = Factor(X)
    for j in range(31):
        factor.follow(np.arange(60) >= j)
    assert_decomposes(factor, X[30:], 1e-12)


def test_largest_values_that_fade_leave_no_rounding_behind() -> None:
    """Each datum has less than three quarters of the leverage, and all of them 1e9 times the last
    one's length: without a fresh start the small values would keep seven digits."""
    X = np.zeros((47, 2))
    X[:45, 0], X[45:, 1] = 0.6 ** np.arange(45), 0.6**45
    walked(X, (np.arange(47) >= j for j in range(42)), 1e-12)


def test_data_that_are_dependent_but_for_rounding_have_no_small_value() -> None:
    X = np.outer(np.arange(1.0, 8.0), [0.1, 0.3, 0.7])
    factor = Factor(X)
    for k in range(2, 8):
        factor.follow(np.arange(7) < k)
        assert factor.s.shape == (1,)
