"""Cells and minima are exact: against brute force in fractions, in other units and orders."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import reference_minima
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reluflow import geometry
from reluflow.errors import InputError
from reluflow.geometry import CELL_LIMIT, cell_bound, enumerate_cells, exact
from reluflow.papers.lee2022support.landscape import deepest, local_minima, loss
from scipy.optimize import linprog

FEW = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])

KINDS = ("general", "whole", "decimal", "parallel", "units", "near", "flat", "mixed", "far apart")


def odd_data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Data of a kind in turn, up to five in up to three dimensions; the last two kinds have labels
    of either sign."""
    rng, kind = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
    d = int(rng.integers(1, 4))
    n = int(rng.integers(1, 6 if d < 3 or kind not in KINDS[-2:] else 5))
    X, y = rng.normal(size=(n, d)), np.round(rng.uniform(0.2, 5.0, n), 1)
    tenths = np.round(rng.uniform(-0.4, 1.0, (n, d)), 1)
    if kind == "whole":
        X = rng.integers(-2, 4, (n, d)).astype(float)
    elif kind == "decimal":
        X = tenths
    elif kind == "parallel":
        X = np.round(tenths[rng.integers(n, size=n)] * rng.choice([-1.0, 1.0, 3.0], (n, 1)), 1)
    elif kind == "units":
        X = tenths * 10.0 ** rng.integers(-12, 13, d)
    elif kind == "near":
        X = rng.uniform(0.2, 1.0, d) * (1.0 + rng.integers(-3, 4, (n, d)) * 2.0**-50)
    elif kind == "flat":
        X = (rng.integers(-2, 3, (n, 2)) @ rng.integers(-2, 3, (2, d))).astype(float)
    elif kind == "mixed":
        X, y = rng.integers(-2, 3, (n, d)).astype(float), rng.integers(-3, 3, n).astype(float)
    elif kind == "far apart":
        X, y = tenths * 10.0 ** rng.integers(-9, 10, d), np.round(rng.normal(size=n), 1)
    return X, y


def as_read(X, y) -> tuple[list, list]:
    return [exact.read(row) for row in X], exact.read(y)


@pytest.mark.parametrize("seed", range(135))
def test_cells_and_minima_are_those_of_brute_force(seed) -> None:
    X, y = odd_data(seed)
    rows, labels = as_read(X, y)
    found = {tuple(np.nonzero(p)[0].tolist()) for p in enumerate_cells(X).patterns}
    assert found == reference_minima.cells(rows)
    minima = local_minima(X, y)
    assert {(m.support, m.boundary): (m.loss, m.dimension) for m in minima} == {
        key: (float(value), k)
        for key, (value, k) in reference_minima.local_minima(rows, labels).items()
    }
    assert len({(m.support, m.boundary) for m in minima}) == len(minima)
    assert [m.loss for m in minima] == sorted(m.loss for m in minima)
    for m in minima:
        h, N = X @ m.w, m.directions
        size = np.linalg.norm(X, axis=1) * np.linalg.norm(m.w)
        assert (np.abs(h[list(m.boundary)]) <= 1e-9 * size[list(m.boundary)]).all()
        assert N.shape == (X.shape[1], m.dimension)
        np.testing.assert_allclose(N.T @ N, np.eye(m.dimension), atol=1e-9)
        if KINDS[seed % len(KINDS)] in ("general", "whole", "decimal", "mixed"):
            assert m.support == tuple(np.nonzero(h > 1e-9 * size)[0])
            assert m.loss == pytest.approx(float(loss(X, y, m.w)), rel=1e-9, abs=1e-12)
            on = [*m.support, *m.boundary]  # the family is flat
            np.testing.assert_allclose(X[on] @ N, 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (0.1, Fraction(1, 10)),
        (-0.8858, Fraction(-8858, 10_000)),
        (1 / 3, Fraction(1, 3)),
        (2.4e-9, Fraction(24, 10**10)),
        (-1.23456e-17 * 2.0**40, Fraction(-123456 * 2**40, 10**22)),
        (7e24, Fraction(7 * 10**24)),
        (0.1 * 2.0**-70, Fraction(1, 10 * 2**70)),
        (2.0**-1074, Fraction(1, 2**1074)),
        (123456789.0, Fraction(123456789)),
        # One unit in the last place away from 0.3, and a number with no simple fraction near.
        (0.1 + 0.2, Fraction(0.1 + 0.2)),
        (np.pi, Fraction(np.pi)),
        (0.123456789, Fraction(0.123456789)),
    ],
)
def test_numbers_are_read_as_simple_fractions(value, meant) -> None:
    assert exact.read([value, 0.0]) == [meant, 0]
    assert float(meant) == value


def test_a_sliver_between_computed_data_is_a_cell_and_its_minimum_says_so() -> None:
    # 3 * 0.1 is not 0.3: both labels can be fitted, but only by a weight of 1e16.
    X, y = np.array([[0.1, 0.3], [3 * 0.1, 3 * 0.3]]), np.array([1.0, 1.0])
    assert len(enumerate_cells(X)) == 4
    best = local_minima(X, y)[0]
    assert best.loss == 0.0
    assert np.abs(best.w).max() > 1e15
    assert best.margin < 1e-14
    # As decimals they are parallel, and no weight is so far away.
    one, *others = local_minima([[0.1, 0.3], [0.3, 0.9]], y)
    assert (one.dimension, one.support, [m.support for m in others]) == (1, (0, 1), [()])
    assert one.margin > 0.1


@settings(FEW, max_examples=60)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(-60, 60), min_size=3, max_size=3),
    st.integers(-60, 60),
)
def test_units_of_columns_and_labels_change_nothing(seed, powers, power) -> None:
    """Columns of X times powers of two, labels times another: the same cells, supports, ranks;
    losses and weights are exactly those in the new units."""
    X, y = odd_data(seed)
    units, unit = 2.0 ** np.array(powers[: X.shape[1]]), 2.0**power
    np.testing.assert_array_equal(enumerate_cells(X).patterns, enumerate_cells(X * units).patterns)
    one, other = local_minima(X, y), local_minima(X * units, y * unit)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert (a.support, a.boundary, a.rank) == (b.support, b.boundary, b.rank)
        assert (a.dimension, a.margin) == (b.dimension, b.margin)
        assert a.loss * unit**2 == b.loss
        np.testing.assert_array_equal(a.w * unit, b.w * units)


def test_a_global_minimum_with_columns_of_different_size_is_found() -> None:
    # Its weights, 2.9e5 and 1.6e8, fit two data whose sizes differ by 1e7.
    X = [[0.00011474272738093622, 3.5733571468127535e-08], [339.1428681803809, 0.14224756921407544]]
    minima = local_minima(X, [33.12779337905909, 0.10644498783564696])
    assert [m.dimension for m in minima] == [0, 1, 1, 2]
    assert minima[0].loss == 0.0


def test_the_limit_counts_what_must_fit_in_memory() -> None:
    assert geometry.enumerable(5000, 2)
    assert not geometry.enumerable(20_000, 2)
    assert cell_bound(20_000, 2) <= CELL_LIMIT
    with pytest.raises(InputError, match="cells times data"):
        local_minima(np.random.default_rng(0).uniform(size=(20_000, 2)), np.ones(20_000))


# Of more than fifty half-spaces some are taken first.
@pytest.mark.parametrize("most", [8, 90])
@FEW
@given(seed=st.integers(0, 10**6))
def test_deepest_point_is_that_of_a_linear_programme(most, seed) -> None:
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(most // 8, most + 1)), int(rng.integers(1, 4))
    a, b = rng.integers(-3, 4, (m, k)), rng.integers(-4, 5, m)
    size = rng.integers(1, 4, m)
    t, v = deepest(a.tolist(), b.tolist(), size.tolist(), 7)
    found = linprog(
        np.append(np.zeros(k), -1.0), np.column_stack([a, size]), -b,
        bounds=[(None, None)] * k + [(None, 7)],
    )  # fmt: skip
    assert float(t) == pytest.approx(-found.fun, abs=1e-9)
    v = [exact.fraction(x) for x in v]
    for row, c, s in zip(a.tolist(), b.tolist(), size.tolist(), strict=True):
        assert sum(x * z for x, z in zip(row, v, strict=True)) + c + s * exact.fraction(t) <= 0
