"""Exact linear algebra and exact counts of zeros, against NumPy and against cases done by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.papers.lee2022support import rational
from reluflow.papers.lee2022support.rational import ExponentialEquation

U = sympy.Symbol("u")
squares = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=n, max_size=n)
)


@given(squares)
def test_determinants_and_solutions(rows: list[list[int]]) -> None:
    det = rational.determinant(rows)
    assert det == round(np.linalg.det(np.array(rows, float)))
    b = list(range(1, len(rows) + 1))
    if det == 0:
        with pytest.raises(ValueError, match="singular"):
            rational.solve(rows, b)
    else:
        w = rational.solve(rows, b)
        assert [sum(a * v for a, v in zip(row, w, strict=True)) for row in rows] == b


numbers = st.fractions(-4, 4, max_denominator=3)


@settings(max_examples=50)
@given(
    st.lists(numbers, max_size=4), st.sampled_from([1, -2, U**2 + 1, U**2 - 2]), numbers,
    st.fractions(Fraction(1, 2), 5, max_denominator=2), st.booleans(),
)  # fmt: skip
def test_zeros_strictly_between(roots, factor, low, length, ends) -> None:
    p = sympy.Poly(factor * sympy.prod([U - sympy.Rational(r) for r in roots]), U)
    terms = {power: Fraction(str(value)) for (power,), value in p.terms()}
    high = low + length if ends else None
    on_ends = sum(end is not None and p.eval(sympy.Rational(end)) == 0 for end in (low, high))
    top = None if high is None else sympy.Rational(high)
    wanted = p.count_roots(sympy.Rational(low), top) - on_ends
    assert rational.zeros_between(terms, low, high) == wanted


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
        equation = rational.fitted(b, points)
        assert equation.crosses(points)
        assert equation.zeros() == 3
        assert equation.zeros(Fraction(1, 3), Fraction(5, 2)) == 1
    with pytest.raises(ValueError, match="singular"):
        rational.fitted((1, 1), [1, 2])
