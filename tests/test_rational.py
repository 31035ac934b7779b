"""The second route in rational arithmetic, against hand calculation, NumPy and the landscape."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction as F
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reluflow import rational
from reluflow.geometry import local_minima
from reluflow.networks import loss

# The smallest data on which fewer support vectors have the smaller loss.
THREE = ([[1, 0], [0, 1], [1, 1]], [2, 1, 1])

integers = st.integers(0, 4)


@st.composite
def integer_data(draw: st.DrawFn, d: int = 2, most: int = 5) -> tuple[list, list]:
    """Inputs (n, d) of small non-negative integers, none of them 0, and positive labels (n,)."""
    n = draw(st.integers(d, most))
    X = draw(
        st.lists(st.lists(integers, min_size=d, max_size=d).filter(any), min_size=n, max_size=n)
    )
    y = draw(st.lists(st.integers(1, 6), min_size=n, max_size=n))
    return X, y


def test_rationals_are_the_printed_decimals() -> None:
    assert rational.rationals([0.1, 0.8858, 1e-7, 3, F(2, 7)]) == (
        F(1, 10),
        F(8858, 10_000),
        F(1, 10_000_000),
        F(3),
        F(2, 7),
    )
    # The nearest double of 0.1 is another number.
    assert rational.rationals([0.1]) != (F(0.1),)


def test_rationals_keep_the_shape() -> None:
    nested = ((F(1, 2), F(1)), (F(1, 4), F(-2)))
    assert rational.rationals([[0.5, 1], [0.25, -2]]) == nested
    assert rational.rationals(np.array([[0.5, 1.0], [0.25, -2.0]])) == nested
    assert rational.rationals([np.array([0.5, 1.0]), (0.25, -2)]) == nested
    assert rational.rationals(0.3) == F(3, 10)


@given(st.floats(-1e6, 1e6))
def test_rationals_lose_no_digit(value: float) -> None:
    (exact,) = rational.rationals(np.array([value]))
    assert isinstance(exact, F)
    assert float(exact) == value


def test_rationals_of_numpy_scalars() -> None:
    exact = rational.rationals([np.float64(0.1), np.int64(2)])
    assert exact == (F(1, 10), F(2))
    assert all(isinstance(v, F) for v in exact)


def test_preactivations_by_hand() -> None:
    w = (F(1, 3), F(-1, 2))
    assert rational.preactivations([[1, 0], [0.5, 2], [3, 2]], w) == (F(1, 3), F(-5, 6), F(0))
    with pytest.raises(ValueError, match="argument"):
        rational.preactivations([[1, 0, 0]], w)


def test_neuron_loss_by_hand() -> None:
    X, y = THREE
    # h = (2, -1, 1): the second datum is inactive and costs its label, not its linear residual.
    assert rational.neuron_loss(X, y, (F(2), F(-1))) == F(1, 2)
    assert rational.neuron_loss(X, y, (F(4, 3), F(1, 3))) == F(2, 3)
    assert rational.neuron_loss(X, y, (F(-1), F(-1))) == F(4 + 1 + 1, 2)
    assert rational.neuron_loss(X, [0.1, 0.2, 0.3], (F(0), F(0))) == F(7, 100)


@settings(max_examples=40)
@given(integer_data(), st.lists(st.fractions(-3, 3, max_denominator=9), min_size=2, max_size=2))
def test_neuron_loss_is_the_loss(data: tuple[list, list], w: list[F]) -> None:
    X, y = data
    expected = loss(X, y, [float(v) for v in w])
    assert float(rational.neuron_loss(X, y, w)) == pytest.approx(float(expected), rel=1e-12)


def test_fits_by_hand() -> None:
    X, y = THREE
    every, fewer = rational.fit(X, y, (0, 1, 2)), rational.fit(X, y, (0, 2))
    assert every.w == (F(4, 3), F(1, 3))
    assert every.loss == F(2, 3)
    assert every.preactivations == (F(4, 3), F(1, 3), F(5, 3))
    assert fewer.w == (F(2), F(-1))
    assert fewer.loss == F(1, 2)
    assert fewer.preactivations == (F(2), F(-1), F(1))
    assert rational.fit(X, y, (1, 0)).w == (F(2), F(1))


def test_a_fit_takes_decimals_as_printed() -> None:
    # w = (0.1 * 0.3 + 0.2 * 0.1) / (0.1^2 + 0.2^2) = 1, with no rounding error.
    found = rational.fit([[0.1], [0.2]], np.array([0.3, 0.1]), (0, 1))
    assert found.w == (F(1),)
    assert found.preactivations == (F(1, 10), F(1, 5))
    assert found.loss == (F(1, 5) ** 2 + F(1, 10) ** 2) / 2


@settings(max_examples=40)
@given(integer_data(d=3, most=6))
def test_a_fit_solves_the_normal_equations(data: tuple[list, list]) -> None:
    X, y = data
    n = len(y)
    support = tuple(range(n - 1)) if n > 3 else tuple(range(n))
    A, b = np.array(X, float)[list(support)], np.array(y, float)[list(support)]
    assume(np.linalg.matrix_rank(A) == 3)
    found = rational.fit(X, y, support)
    for k in range(3):  # exactly zero, and not only to rounding
        pull = (X[i][k] * (sum(a * v for a, v in zip(X[i], found.w, strict=True)) - y[i])
                for i in support)  # fmt: skip
        assert sum(pull) == 0
    w = np.linalg.lstsq(A, b, rcond=None)[0]
    assert np.allclose([float(v) for v in found.w], w, rtol=1e-9, atol=1e-9)
    assert float(found.loss) == pytest.approx(float(loss(X, y, w)), rel=1e-9, abs=1e-9)
    assert len(found.preactivations) == n


def test_data_that_do_not_determine_a_fit() -> None:
    X, y = [[1, 0], [2, 0], [0, 1]], [1, 2, 3]
    for support, named in (((0,), r"\[1\]"), ((0, 1), r"\[1, 2\]"), ((2,), r"\[3\]")):
        with pytest.raises(ValueError, match=f"data {named} do not determine a unique fit"):
            rational.fit(X, y, support)
    assert rational.fit(X, y, (0, 2)).w == (F(1), F(3))


def test_no_data_do_not_determine_a_fit() -> None:
    with pytest.raises(ValueError, match=r"data \[\] do not determine a unique fit"):
        rational.fit([[1, 0], [0, 1]], [1, 1], ())


def test_a_local_minimum_lies_strictly_inside_its_cell() -> None:
    X, y = THREE
    for support in ((0, 1, 2), (0, 2)):
        assert rational.is_local_minimum(rational.fit(X, y, support), support)
    # The fit (2, 1) of data 1 and 2 has x_3.w = 3 > 0, outside the cell where datum 3 is inactive.
    assert not rational.is_local_minimum(rational.fit(X, y, (0, 1)), (0, 1))
    # (1, 2, 3) is no cell of (2, -1): datum 2 would have to be active there.
    assert not rational.is_local_minimum(rational.fit(X, y, (0, 2)), (0, 1, 2))


def test_a_boundary_is_not_inside() -> None:
    # The fit (2, 0) has x_3.w = 0.
    X, y = [[1, 1], [1, 0], [0, 1]], [2, 2, 1]
    assert rational.fit(X, y, (0, 1)).preactivations == (2, 2, 0)
    assert not rational.is_local_minimum(rational.fit(X, y, (0, 1)), (0, 1))
    assert not rational.is_local_minimum(rational.fit(X, y, (0, 1)), (0, 1, 2))


@settings(max_examples=25)
@given(integer_data())
def test_both_routes_find_the_same_local_minima(data: tuple[list, list]) -> None:
    """All supports of rank d whose exact fit lies in its cell are the isolated minima."""
    X, y = data
    exact = {}
    for size in range(2, len(y) + 1):
        for support in combinations(range(len(y)), size):
            if np.linalg.matrix_rank(np.array(X, float)[list(support)]) == 2:
                found = rational.fit(X, y, support)
                if rational.is_local_minimum(found, support):
                    exact[support] = float(found.loss)
    isolated = {m.support: float(m.loss) for m in local_minima(X, y) if m.dimension == 0}
    assert isolated == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_a_fit_cannot_be_changed() -> None:
    found = rational.fit(*THREE, (0, 2))
    with pytest.raises(FrozenInstanceError):
        found.loss = F(0)
