"""Lemma 2 and Remark 4: gaps of slopes, the end of the exponential bound, the square loss."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.falsify import falsify
from reluflow.ledger import Evidence
from reluflow.papers.min2024early import cones


@given(st.floats(-20, 20))
def test_gaps_are_differences_of_slopes(q: float) -> None:
    assert cones.exponential_gap(q) == pytest.approx(abs(math.exp(-q) - 1), rel=1e-9, abs=1e-15)
    logistic = abs(2 / (1 + math.exp(q)) - 1)
    assert cones.logistic_gap(q) == pytest.approx(logistic, rel=1e-9, abs=1e-15)
    assert cones.square_gap(q) == abs(q)
    assert cones.same_slopes(3, 50).holds


def test_the_end_of_the_exponential_bound() -> None:
    low, high = cones.enclosed_end()
    assert high - low == Fraction(1, 10**40)
    assert float(low) == pytest.approx(1.2564312086261697, rel=1e-15)
    assert math.expm1(float(low)) == pytest.approx(2 * float(low), rel=1e-14)
    assert cones.largest_ratio() > 1.7182
    assert cones.largest_ratio() < 1.7183
    assert _all_hold(cones.end_of_the_exponential_bound())
    # The lemma fails just beyond.
    q = -1.26
    assert cones.exponential_gap(q) > 2 * abs(q)


def test_lemma_4_with_the_square_loss() -> None:
    held = cones.directions_near()
    assert falsify(held, 2, 120, 60).survives
    # One datum at a right angle to the neuron's own plane: the bound is nearly met.
    item = {"X": np.array([[1.0, 0.0]]), "y": np.ones(1), "W": np.array([[1e-4, 1.0]]),
            "signs": np.ones(1)}  # fmt: skip
    assert held.slack(item) == pytest.approx(0.0, abs=1e-7)
    along = {**item, "W": np.array([[0.5, 0.0]])}
    assert held.slack(along) == pytest.approx(1.0)
    silent = {**item, "W": np.array([[-1.0, 0.0]])}
    assert held.slack(silent) == np.inf


def _all_hold(items: list[Evidence]) -> bool:
    return bool(items) and all(item.holds for item in items if item.decides)
