"""Cells and minima, against sampling, linear programmes and descents from many starts."""

from fractions import Fraction

import numpy as np
import pytest
import reference_minima
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reluflow import geometry
from reluflow.errors import InputError
from reluflow.geometry import CELL_LIMIT, cell_bound, enumerate_cells, exact, rank
from reluflow.papers.lee2022support import landscape
from reluflow.papers.lee2022support.landscape import deepest, gradient, local_minima, loss
from scipy.optimize import linprog

SHAPES = [(1, 3), (5, 2), (60, 2), (25, 3), (7, 4), (6, 6), (9, 7)]


@pytest.mark.parametrize(
    ("n", "d", "apart"), [*((*s, 1.0) for s in SHAPES), *((20, 5, 10.0**-k) for k in (3, 9, 15))]
)
def test_data_in_general_position_have_as_many_cells_as_there_can_be(n, d, apart) -> None:
    rng = np.random.default_rng(n)
    X = (apart < 1.0) * rng.uniform(size=d) + apart * rng.normal(size=(n, d))
    cells = enumerate_cells(X)
    assert len(cells) == len(np.unique(cells.patterns, axis=0)) == cell_bound(n, d)
    if apart == 1.0:  # the others are narrower than the rounding of a point in them
        assert ((cells.witnesses @ X.T > 0) == cells.patterns).all()


@pytest.mark.parametrize(("off", "count"), [(0.0, 6), (2.0**-45, 8), (-(2.0**-300), 8)])
def test_degeneracy_is_decided_exactly(off, count) -> None:
    # Three coplanar normals have 6 cells, three independent ones 8: however close they are.
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, off]])
    assert len(enumerate_cells(X)) == count
    assert rank(X) == (2 if off == 0 else 3)


def test_too_many_cells_are_refused() -> None:
    assert cell_bound(449, 3) > CELL_LIMIT >= cell_bound(447, 3)
    X = np.random.default_rng(0).normal(size=(60, 6))
    words = f"n = 60 data in d = 6 dimensions can have {cell_bound(60, 6)} activation cells"
    with pytest.raises(InputError, match=words):
        enumerate_cells(X)
    with pytest.raises(InputError, match="too many to enumerate"):
        local_minima(X, np.ones(60))
    enumerate_cells(np.vstack([X[:6], np.zeros((54, 6))]))  # zero rows do not count


@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_the_gradient_is_that_of_the_loss(activation) -> None:
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(7, 3)), rng.normal(size=7), rng.normal(size=(5, 2, 3))
    assert loss(X, y, w, activation).shape == (5, 2)
    assert gradient(X, y, w, activation).shape == w.shape
    for k, e in enumerate(np.eye(3)):
        slope = loss(X, y, w + 1e-6 * e, activation) - loss(X, y, w - 1e-6 * e, activation)
        np.testing.assert_allclose(slope / 2e-6, gradient(X, y, w, activation)[..., k], atol=1e-8)
    one = 0.5 * sum((max(x @ w[0, 0], 0.0) - t) ** 2 for x, t in zip(X, y, strict=True))
    assert loss(X, y, w[0, 0]) == pytest.approx(one, rel=1e-14, abs=0)
    np.testing.assert_array_equal(gradient(X, y, np.zeros(3)), 0.0)  # relu'(0) = 0


def test_ranks_count_distinct_losses() -> None:
    """Orthogonal data with labels 1, 1, 2: the losses are those of the subsets that are not fitted;
    what differs by rounding is one loss."""
    found = local_minima(np.eye(3), [1, 1, 2])
    assert [m.loss for m in found] == [0.0, 0.5, 0.5, 1.0, 2.0, 2.5, 2.5, 3.0]
    assert [m.rank for m in found] == [1, 2, 2, 3, 4, 5, 5, 6]
    assert [m.rank for m in local_minima(np.eye(2), [1.0, 1.0 + 1e-13])] == [1, 2, 2, 3]
    assert [m.rank for m in local_minima(np.eye(2), [1.0, 1.0 + 1e-7])] == [1, 2, 3, 4]


def test_the_quick_look_at_cells_dismisses_most() -> None:
    """That it dismisses no minimum is asked by brute force."""
    rng = np.random.default_rng(2)
    X, y = np.abs(rng.normal(size=(25, 3))), rng.uniform(0.5, 2.0, 25)
    patterns = enumerate_cells(X).patterns
    assert landscape.plausible(X, y, patterns).sum() < len(patterns) / 4


# --- Exact: against brute force in fractions, in other units and orders ---------------------------


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


@pytest.mark.parametrize("seed", range(90))
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


@FEW
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
