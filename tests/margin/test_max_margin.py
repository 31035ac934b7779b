"""The linear max-margin vector: its bound from below, which proves it, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.losses import EXPONENTIAL
from reluflow.margin.limits import limit
from reluflow.margin.max_margin import _proved, max_margin
from reluflow.networks.indexed import fully_connected


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), d=st.integers(1, 5))
def test_it_is_certified_by_its_bound(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    spread, unit = rng.choice([1.0, 3.0]), 10.0 ** rng.uniform(-6, 6)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-spread, spread, (n, 1)) * unit
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


@pytest.mark.parametrize("X", [np.zeros((0, 2)), *([[c, 0.0]] for c in (1e160, 1e-160, np.nan))])
def test_no_data_and_those_beyond_floats_are_refused(X) -> None:
    """SciPy's least squares end the process on a matrix without columns; squares of sizes beyond
    1e153 are no floats."""
    net, theta, y = fully_connected([2, 1]), np.ones(3), np.ones(len(X))
    for ask in (lambda: max_margin(X, y), lambda: limit(net, EXPONENTIAL, X, y, theta)):
        with pytest.raises(InputError, match=r"no data|another unit"):
            ask()


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
