"""Orthogonally separable data: the measure, the cones, and draws with a given separation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.geometry.separability import separation, serves, signed, silent, violations
from reluflow.papers.min2024early.setting import separable

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(2, 12), st.integers(2, 30), st.floats(-6, -0.01))
def test_drawn_data_have_the_separation_asked_for(seed: int, n: int, d: int, decade: float) -> None:
    X, y = separable(n, d, 10.0**decade, np.random.default_rng(seed))
    assert separation(X, y) == pytest.approx(10.0**decade, rel=1e-6)
    assert set(y) == {-1.0, 1.0}


def test_a_neuron_at_rest_on_a_boundary_is_silent_up_to_rounding() -> None:
    X, off = np.array([[3.0, 1.0]]), np.array([1e-15, -1e-15, 1e-6])
    W = np.array([-1.0, 3.0]) + off[:, None] * [0.0, 1.0]
    assert silent(X, W).tolist() == [False, True, False]
    assert silent(X, W, 1e-9).tolist() == [True, True, False]
    assert silent(X, W[0], 1e-9)


def test_the_cones_by_hand() -> None:
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    W = np.array([[2.0, 1.0], [-1.0, 5.0], [0.0, 1.0], [0.0, 0.0]])
    assert serves(X, y, W).tolist() == [True, False, False, False]
    assert serves(X, y, W, -1.0).tolist() == [False, True, False, False]
    assert silent(X, W).tolist() == [False, False, True, True]


def test_violations_are_listed_worst_first() -> None:
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, 0.1]]), np.ones(3)
    assert violations(X, y).tolist() == [[0, 2], [0, 1]]
    assert violations(X, y, strict=False).tolist() == [[0, 2]]


@pytest.mark.parametrize(("X", "y", "told"), [(np.eye(2), [1.0, 3.0], "row 2 has the label 3"),
    (np.diag([0.0, 1.0]), [1.0, 1.0], "row 1 is 0")])  # fmt: skip
def test_bad_rows_are_named(X, y, told) -> None:
    with pytest.raises(InputError, match=told):
        signed(X, np.array(y))
