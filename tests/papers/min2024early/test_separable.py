"""Orthogonally separable data: the measure, the cones, and draws with a given separation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.geometry.separability import separation, serves, signed, silent, violations
from reluflow.papers.min2024early.setting import separable, separable_draws

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(2, 12), st.integers(2, 30), st.floats(-6, -0.01))
def test_drawn_data_have_the_separation_asked_for(seed: int, n: int, d: int, decade: float) -> None:
    X, y = separable(n, d, 10.0**decade, np.random.default_rng(seed))
    assert separation(X, y) == pytest.approx(10.0**decade, rel=1e-6)
    assert set(y) == {-1.0, 1.0}


@pytest.mark.parametrize("kind", separable_draws())
def test_every_kind_is_orthogonally_separable(kind: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        item = separable_draws()[kind](rng)
        Z = signed(item["X"], item["y"])
        slow = min(a @ b / np.sqrt((a @ a) * (b @ b)) for a in Z for b in Z)
        assert 0.0 < separation(item["X"], item["y"]) == pytest.approx(slow, rel=1e-9)
        assert set(item["y"]) == {-1.0, 1.0}


def test_the_cones_by_hand() -> None:
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    W = np.array([[2.0, 1.0], [-1.0, 5.0], [0.0, 1.0], [0.0, 0.0]])
    assert serves(X, y, W).tolist() == [True, False, False, False]
    assert serves(X, y, W, -1.0).tolist() == [False, True, False, False]
    assert silent(X, W).tolist() == [False, False, True, True]


def test_a_neuron_at_rest_on_a_boundary_is_silent_up_to_rounding() -> None:
    X, off = np.array([[3.0, 1.0]]), np.array([1e-15, -1e-15, 1e-6])
    W = np.array([-1.0, 3.0]) + off[:, None] * [0.0, 1.0]
    assert silent(X, W).tolist() == [False, True, False]
    assert silent(X, W, 1e-9).tolist() == [True, True, False]
    assert silent(X, W[0], 1e-9)


def test_violations_are_listed_worst_first() -> None:
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, 0.1]]), np.ones(3)
    assert violations(X, y).tolist() == [[0, 2], [0, 1]]
    assert violations(X, y, strict=False).tolist() == [[0, 2]]


def test_bad_rows_are_named() -> None:
    with pytest.raises(InputError, match="row 2 has the label 3"):
        signed(np.eye(2), np.array([1.0, 3.0]))
    with pytest.raises(InputError, match="row 1 is 0"):
        signed(np.array([[0.0, 0.0], [1.0, 2.0]]), np.ones(2))


def test_lengths_of_any_size_leave_the_angles() -> None:
    X = np.array([[1e-200, 0.0], [1e200, 1e200]])
    assert separation(X, np.ones(2)) == pytest.approx(np.sqrt(0.5))
