"""The linear max-margin vector: its bound from below, which proves it, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.margin.max_margin import _proved, max_margin
from reluflow.papers.phuong2021inductive.setting import supported


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), d=st.integers(1, 5))
def test_it_is_certified_by_its_bound(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1, (n, 1)) * 10.0 ** rng.uniform(-6, 6)
    y = np.where(X @ rng.normal(size=d) > 0, 1.0, -1.0)
    found = max_margin(X, y)
    Z = y[:, None] * X
    np.testing.assert_allclose((Z @ found.u).min(), 1.0, rtol=1e-9)
    assert np.all(found.multipliers >= 0)
    bound = found.multipliers.sum() / np.linalg.norm(found.multipliers @ Z)
    assert bound == pytest.approx(found.length, rel=1e-7)
    np.testing.assert_allclose(found.multipliers @ Z, found.u, rtol=1e-5, atol=1e-6 * found.length)


@pytest.mark.parametrize(
    ("X", "y"), [([[1, 0], [1, 0]], [1, -1]), ([[1.0], [-1.0]], [1, 1]), ([[0.0, 0.0]], [1])]
)
def test_data_that_nothing_separates_are_refused(X, y) -> None:
    with pytest.raises(InputError, match="separates"):
        max_margin(X, y)


def test_no_data_are_refused() -> None:
    """SciPy's least squares end the process on a matrix without columns."""
    with pytest.raises(InputError, match="no data"):
        max_margin(np.zeros((0, 2)), [])


def test_a_small_margin_is_found_to_rounding() -> None:
    """Multipliers of 0 that rounding makes negative cost no accuracy, long data no hyperplane."""
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    X = np.random.default_rng(2).normal(size=(12, 3))
    flat = np.hstack([np.vstack([X, -X]), np.full((24, 1), 1e-6)])
    found = max_margin(flat @ turn, np.ones(24))
    assert found.length == pytest.approx(1e6, rel=1e-8)
    assert found.gap < 1e-8
    far = max_margin([[1e9, 1.0], [1.0, 0.0], [-1e9, 1e3]], np.ones(3))
    assert far.length == pytest.approx(1e6, rel=1e-5)


def test_the_gap_is_told_by_length_and_dual_bound() -> None:
    """Z = I: the shortest u is (1, 1), proved by lambda = (1, 1); (6, 3) costs sqrt 5 for margin 1,
    and lambda = (1, 0) bounds |u| by 1."""
    best = _proved(np.array([3.0, 3.0]), np.ones(2), np.eye(2))
    np.testing.assert_allclose(best.u, [1, 1])
    assert best.gap == pytest.approx(0.0, abs=1e-15)
    longer = _proved(np.array([6.0, 3.0]), np.ones(2), np.eye(2))
    np.testing.assert_allclose(longer.u, [2, 1])
    assert longer.gap == pytest.approx(np.sqrt(2.5) - 1.0)
    weaker = _proved(np.array([1.0, 1.0]), np.array([1.0, 0.0]), np.eye(2))
    assert weaker.gap == pytest.approx(np.sqrt(2.0) - 1.0)
    assert _proved(np.array([1.0, -1.0]), np.ones(2), np.eye(2)) is None
    assert _proved(np.ones(2), np.array([1.0, -1.0]), np.eye(2)) is None


@pytest.mark.parametrize("seed", range(40))
def test_lengths_that_differ_by_a_million(seed: int) -> None:
    """Separable by construction; each vector is certified by its multipliers."""
    rng = np.random.default_rng(seed)
    item = supported(int(rng.integers(2, 5)), (2, 2), rng)
    X = item["X"] / np.linalg.norm(item["X"], axis=1, keepdims=True)
    X *= 10.0 ** rng.uniform(-3.0, 3.0, (len(X), 1))
    for own, y in ((X, item["y"]), (X[item["y"] > 0.0], np.ones(int(np.sum(item["y"] > 0.0))))):
        found = max_margin(own, y)
        assert found.gap < 1e-6
        assert (y * (own @ found.u)).min() == pytest.approx(1.0)


def test_a_short_datum_has_a_vector() -> None:
    found = max_margin([[900.0, 300.0], [-1e-3, 0.0]], [1.0, -1.0])
    assert found.length == pytest.approx(1000.0)
