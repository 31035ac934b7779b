"""Exact linear algebra and exact counts of zeros, against NumPy and against cases done by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow import exact
from reluflow.exact import ExponentialEquation

squares = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=n, max_size=n)
)


@given(squares)
def test_determinants_and_solutions(rows: list[list[int]]) -> None:
    det = exact.determinant(rows)
    assert det == round(np.linalg.det(np.array(rows, float)))
    b = list(range(1, len(rows) + 1))
    if det == 0:
        with pytest.raises(ValueError, match="singular"):
            exact.solve(rows, b)
    else:
        w = exact.solve(rows, b)
        assert [sum(a * v for a, v in zip(row, w, strict=True)) for row in rows] == b


def test_zeros_strictly_between() -> None:
    p = exact.polynomial({2: 1, 1: -3, 0: 2})  # (u - 1)(u - 2)
    assert exact.zeros_between(p, 0) == 2
    assert exact.zeros_between(p, 1) == 1
    assert exact.zeros_between(p, 1, 2) == 0
    assert exact.zeros_between(p, Fraction(1, 2), Fraction(3, 2)) == 1


def test_zeros_of_known_exponential_equations() -> None:
    both = ExponentialEquation((1, 1), (1, -1), Fraction(5, 2))  # u + 1/u = 5/2 at u = 1/2 and 2
    assert both.zeros() == 2
    assert both.zeros(Fraction(1, 2), Fraction(3)) == 1
    assert both.zeros(Fraction(1, 3), Fraction(2)) == 1
    assert both.slope(2) == Fraction(3, 2)
    assert both.crosses([2, Fraction(1, 2)])
    assert not both.crosses([3])
    assert not ExponentialEquation((1, -4), (2, 1), -4).crosses([2])  # it touches: (u - 2)^2
    assert ExponentialEquation((1,), (1,), -1).zeros() == 0
    identity = ExponentialEquation((1,), (0,), 1)
    assert identity.is_identity
    with pytest.raises(ValueError, match="identity"):
        identity.zeros()


def test_fitted_equations_have_the_zeros_they_were_fitted_to() -> None:
    points = [Fraction(1, 3), Fraction(1), Fraction(5, 2)]
    for b in ((1, 2, 3), (-2, 4, 1), (-1, -2, -3)):
        equation = exact.fitted(b, points)
        assert equation.crosses(points)
        assert equation.zeros() == 3
        assert equation.zeros(Fraction(1, 3), Fraction(5, 2)) == 1
    with pytest.raises(ValueError, match="singular"):
        exact.fitted((1, 1), [1, 2])
