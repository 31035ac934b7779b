"""The second route in rational arithmetic, against hand calculation, SymPy and the flow."""

from fractions import Fraction as F

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.exact import fraction, rationals, row
from reluflow.flows.affine import affine_flow
from reluflow.papers.lee2022support import rational

U = sympy.Symbol("u")


def test_rationals_are_the_printed_decimals() -> None:
    printed = (F(1, 10), F(8858, 10_000), F(1, 10_000_000), F(3), F(2, 7))
    assert rationals([0.1, 0.8858, 1e-7, 3, F(2, 7)]) == printed
    # The nearest double of 0.1 is another number.
    assert rationals([0.1]) != (F(0.1),)


def test_data_that_do_not_determine_a_fit() -> None:
    X, y = [[1, 0], [2, 0], [0, 1]], [1, 2, 3]
    for support in ((0,), (0, 1), (2,)):
        with pytest.raises(ValueError, match="singular"):
            rational.fit(X, y, support)
    assert rational.fit(X, y, (0, 2)).w == (F(1), F(3))


def test_two_fits_by_hand() -> None:
    X, y = [[1, 0], [0, 1], [1, 1]], [2, 1, 1]
    two, three = (rational.fit(X, y, support) for support in ((0, 2), (0, 1, 2)))
    assert (two.w, two.preactivations, two.loss) == ((2, -1), (2, -1, 1), F(1, 2))
    assert (three.w, three.loss) == ((F(4, 3), F(1, 3)), F(2, 3))
    assert two.is_local_minimum
    assert three.is_local_minimum


def test_a_local_minimum_lies_strictly_inside_its_cell() -> None:
    # The fit (2, 0) has x_3.w = 0: a boundary is not inside, be x_3 to be inactive or active.
    X, y = [[1, 1], [1, 0], [0, 1]], [2, 2, 0]
    assert not any(rational.fit(X, y, on).is_local_minimum for on in ((0, 1), (0, 1, 2)))


numbers = st.fractions(-4, 4, max_denominator=3)


@settings(max_examples=50)
@given(
    st.lists(numbers, max_size=4), st.sampled_from([1, -2, U**2 + 1, U**2 - 2]), numbers,
    st.fractions(F(1, 2), 5, max_denominator=2), st.booleans(),
)  # fmt: skip
def test_zeros_strictly_between(roots, factor, low, length, ends) -> None:
    p = sympy.Poly(factor * sympy.prod([U - sympy.Rational(r) for r in roots]), U)
    terms = {power: F(str(value)) for (power,), value in p.terms()}
    high = low + length if ends else None
    on_ends = sum(end is not None and p.eval(sympy.Rational(end)) == 0 for end in (low, high))
    top = None if high is None else sympy.Rational(high)
    wanted = p.count_roots(sympy.Rational(low), top) - on_ends
    assert rational.zeros_between(rational.polynomial(terms), low, high) == wanted


@pytest.mark.parametrize(
    ("X", "y", "rate"),
    [
        ([[0, 0, 3], [0, 3, 0], [1, 2, 2], [2, 1, 1]], [179, 1795, 716, 536], F(3)),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 2]], [1, 3, 2], F(1)),  # a repeated eigenvalue
        ([[0.5, 0], [0, 0.1]], [1, 6], F(1, 100)),  # 1/4 and 1/100
        ([[0.5, 0], [0, 1.5]], [1, 6], F(1, 4)),  # 1/4 and 9/4
    ],
)
@pytest.mark.parametrize("eps", [0, 1, -1e-3])
def test_the_polynomial_is_the_flow(X: list, y: list, rate: F, eps: float) -> None:
    w0 = [F(str(eps)) * v for v in (F(1, 2), F(1), F(3))[: len(X[0])]]
    linear = affine_flow(X, y, np.array(w0, float), activation="linear")
    for j, x in enumerate(X):
        found = rational.preactivation_polynomial(X, y, j, w0)
        for t in (0.0, 0.3, 2.0):
            u = F(float(np.exp(-float(rate) * t)))
            exact = float(fraction(found(*row([u]))))
            assert float(np.array(x) @ linear.at(t)) == pytest.approx(exact, rel=1e-9, abs=1e-9)


# H has the eigenvalues (3 +- sqrt 5) / 2, then 10 and 0, then those of an irreducible cubic.
CUBIC = [[1, 0, 0], [0, 1, 0], [0, 1, 1], [1, 1, 1], [3, 2, 1]]


@pytest.mark.parametrize("X", [[[1, 1], [0, 1]], [[1, 1], [2, 2]], CUBIC])
def test_spectra_that_are_refused(X: list) -> None:
    with pytest.raises(ValueError, match="eigenvalues of H are not all rational and positive"):
        rational.preactivation_polynomial(X, [1] * len(X), 0, [F(1)] * len(X[0]))
