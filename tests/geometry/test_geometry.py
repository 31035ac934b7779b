"""Cells and minima, against sampling, linear programmes and descents from many starts."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from reluflow import geometry
from reluflow.errors import InputError
from reluflow.geometry import (
    CELL_LIMIT,
    StationarySet,
    cell_bound,
    enumerate_cells,
    local_minima,
    rank,
    virtual_minimum,
)
from reluflow.networks import gradient, loss
from scipy.optimize import linprog, minimize

FEW = settings(
    derandomize=True, deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)


def integer_data(most_n: int, most_d: int, largest: int = 2):
    """Small integer rows: zero, duplicate, parallel, antiparallel and coplanar ones are common."""
    entry = st.integers(-largest, largest)
    return st.integers(1, most_d).flatmap(
        lambda d: st.lists(st.lists(entry, min_size=d, max_size=d), min_size=1, max_size=most_n)
    )


# --- Cells ----------------------------------------------------------------------------------------


def feasible(X, pattern) -> bool:
    """Whether some w has x_j.w >= 1 on the pattern and <= -1 off it, zero rows left out."""
    live = X.any(axis=1)
    signs = np.where(pattern, 1.0, -1.0)[live, None]
    d = X.shape[1]
    if not live.any():
        return True
    result = linprog(
        np.zeros(d), A_ub=-signs * X[live], b_ub=-np.ones(live.sum()), bounds=(None, None)
    )
    return result.status == 0


@FEW
@given(integer_data(6, 4))
def test_cells_are_the_feasible_patterns(rows) -> None:
    X = np.array(rows, float)
    cells = enumerate_cells(X)
    live = X.any(axis=1)
    expected = [
        pattern
        for pattern in product([False, True], repeat=len(X))
        if not any(np.array(pattern)[~live]) and feasible(X, np.array(pattern))
    ]
    assert [tuple(map(bool, p)) for p in sorted(cells.patterns.tolist())] == sorted(expected)
    assert len(cells) == len(expected)
    signs = cells.witnesses @ X.T
    assert ((signs > 0) == cells.patterns).all()
    assert (signs[:, live] != 0).all()


@pytest.mark.parametrize(("n", "d"), [(1, 1), (4, 1), (1, 3), (5, 2), (60, 2), (8, 3), (25, 3)])
def test_data_in_general_position_have_as_many_cells_as_there_can_be(n, d) -> None:
    X = np.random.default_rng(n).normal(size=(n, d))
    if d == 1:
        assert len(enumerate_cells(X)) == 2
        return
    cells = enumerate_cells(X)
    assert len(cells) == len(np.unique(cells.patterns, axis=0)) == cell_bound(n, d)
    assert ((cells.witnesses @ X.T > 0) == cells.patterns).all()


@pytest.mark.parametrize(("n", "d"), [(7, 4), (8, 5), (6, 6), (9, 7)])
def test_few_data_in_many_dimensions(n, d) -> None:
    X = np.random.default_rng(n).normal(size=(n, d))
    cells = enumerate_cells(X)
    assert len(cells) == len(np.unique(cells.patterns, axis=0)) == cell_bound(n, d)
    assert ((cells.witnesses @ X.T > 0) == cells.patterns).all()


@pytest.mark.parametrize("seed", range(4))
def test_every_sampled_pattern_is_a_cell(seed) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (9, 3)).astype(float)
    found = {tuple(p) for p in enumerate_cells(X).patterns.tolist()}
    met = {tuple(p) for p in (rng.normal(size=(20000, 3)) @ X.T > 0).tolist()}
    assert met <= found
    assert len(found) - len(met) <= 2  # a thin one may be missed by samples


@pytest.mark.parametrize(("off", "count"), [(0.0, 6), (2.0**-45, 8), (-(2.0**-300), 8)])
def test_degeneracy_is_decided_exactly(off, count) -> None:
    # Three coplanar normals have 6 cells, three independent ones 8: however close they are.
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, off]])
    assert len(enumerate_cells(X)) == count
    assert rank(X) == (2 if off == 0 else 3)


def test_parallel_only_if_exactly() -> None:
    assert len(enumerate_cells([[0.1, 0.3], [0.2, 0.6], [-0.1, -0.3]])) == 2
    # 3 * 0.1 is not 0.3 in doubles, so these are not parallel.
    assert len(enumerate_cells([[0.1, 0.3], [3 * 0.1, 3 * 0.3]])) == 4


def test_nothing_but_zeros() -> None:
    cells = enumerate_cells(np.zeros((3, 2)))
    np.testing.assert_array_equal(cells.patterns, [[False] * 3])
    assert cells.witnesses.shape == (1, 2)


def test_a_rotation_changes_no_pattern() -> None:
    rng = np.random.default_rng(5)
    X, Q = rng.normal(size=(10, 3)), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    np.testing.assert_array_equal(enumerate_cells(X).patterns, enumerate_cells(X @ Q).patterns)


def test_too_many_cells_are_refused() -> None:
    assert cell_bound(449, 3) > CELL_LIMIT >= cell_bound(447, 3)
    X = np.random.default_rng(0).normal(size=(60, 6))
    words = f"n = 60 data in d = 6 dimensions can have {cell_bound(60, 6)} activation cells"
    with pytest.raises(InputError, match=words):
        enumerate_cells(X)
    with pytest.raises(InputError, match="too many to enumerate"):
        local_minima(X, np.ones(60))
    enumerate_cells(np.vstack([X[:6], np.zeros((54, 6))]))  # zero rows do not count


def test_the_bound_counts_cells() -> None:
    assert [cell_bound(n, 2) for n in range(5)] == [1, 2, 4, 6, 8]
    assert [cell_bound(n, 3) for n in range(5)] == [1, 2, 4, 8, 14]
    assert cell_bound(5, 9) == 32


# --- The loss and virtual minima ------------------------------------------------------------------


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
    assert loss(X, y, w[0, 0]) == pytest.approx(one, rel=1e-14)
    np.testing.assert_array_equal(gradient(X, y, np.zeros(3)), 0.0)  # relu'(0) = 0


@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 2), (5, 3), (2, 5)])
def test_a_virtual_minimum_is_the_least_squares_fit(n, d) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n + 2, d)), rng.normal(size=n + 2)
    X[n - 1] = X[0] * 2  # rank n - 1 or less, if there is room
    active = np.arange(n + 2) < n
    w, N = virtual_minimum(X, y, active)
    expected, _, r, _ = np.linalg.lstsq(X[:n], y[:n], rcond=1e-10)
    np.testing.assert_allclose(w, expected, atol=1e-12)
    assert N.shape == (d, d - r)
    np.testing.assert_allclose(X[:n] @ N, 0.0, atol=1e-13)
    np.testing.assert_allclose(N.T @ N, np.eye(d - r), atol=1e-13)
    w, N = virtual_minimum(X, y, np.zeros(n + 2, bool))
    assert not w.any()
    assert N.shape == (d, d)


# --- Minima ---------------------------------------------------------------------------------------


def contains(item: StationarySet, X, w, tolerance: float) -> bool:
    """Whether w is within tolerance of the closure of the set."""
    N = item.directions
    nearest = item.w + N @ (N.T @ (w - item.w))
    size = np.linalg.norm(X, axis=1)
    off = np.setdiff1d(np.arange(len(X)), [*item.support, *item.boundary])
    return bool(
        np.linalg.norm(w - nearest) <= tolerance
        and (X[off] @ nearest <= tolerance * size[off]).all()
    )


def check_each_set(X, y, minima) -> None:
    """What one set claims: where it lies, that its points are minima, and its dimension."""
    rng = np.random.default_rng(0)
    d, size = X.shape[1], np.linalg.norm(X, axis=1)
    for item in minima:
        w, N = item.w, item.directions
        scale = 1.0 + np.linalg.norm(w)
        h = X @ w
        assert item.support == tuple(np.nonzero(h > 1e-9 * scale * size)[0])
        assert item.loss == pytest.approx(float(loss(X, y, w)), rel=1e-12)
        held = np.zeros(len(y), bool)
        held[list(item.boundary)] = True
        assert (np.abs(h[held]) <= 1e-9 * scale * size[held]).all()
        assert (h[~held & (size > 0)] != 0).all()
        assert N.shape == (d, item.dimension)
        np.testing.assert_allclose(N.T @ N, np.eye(item.dimension), atol=1e-10)
        if not item.boundary:
            np.testing.assert_allclose(gradient(X, y, w), 0.0, atol=1e-9 * (1 + np.abs(y).sum()))
        reach = 1e-4 * min([scale, *np.abs(h[~held & (size > 0)] / size[~held & (size > 0)])])
        v = rng.normal(size=(400, d))
        v *= reach / np.linalg.norm(v, axis=1, keepdims=True)
        assert (loss(X, y, w + v) >= item.loss - 1e-13 * (1 + item.loss)).all()
        # The family is flat, and nothing next to it is as low.
        np.testing.assert_allclose(loss(X, y, w + v @ N @ N.T), item.loss, rtol=1e-9, atol=1e-12)
        across = v - v @ N @ N.T
        far = np.linalg.norm(across, axis=1) > 0.3 * reach
        if item.dimension < d:
            assert (loss(X, y, w + across[far]) > item.loss).all()


def check_ranks(y, minima) -> None:
    losses = np.array([m.loss for m in minima])
    assert (np.diff(losses) >= -1e-10 * y @ y).all()
    assert minima[0].rank == 1
    for a, b in pairwise(minima):
        tie = b.loss - a.loss <= 1e-10 * 0.5 * y @ y
        assert b.rank == (a.rank if tie else a.rank + 1)


def minima_by_descent(X, y, seed: int, starts: int) -> list[np.ndarray]:
    """Points that no search nearby improves on, from random starts; shares no code."""
    rng = np.random.default_rng(seed)
    d, found = X.shape[1], []
    reach = 3.0 * np.abs(y).max() / np.linalg.norm(X, axis=1)[X.any(axis=1)].min()
    for _ in range(starts):
        w = reach * rng.normal(size=d)
        for size in (0.3 * reach, 1e-2 * reach, 1e-4 * reach):
            simplex = w + size * np.vstack([np.zeros(d), np.linalg.qr(rng.normal(size=(d, d)))[0]])
            options = {"initial_simplex": simplex, "xatol": 1e-11, "fatol": 1e-15, "maxfev": 600}
            w = minimize(lambda v: float(loss(X, y, v)), w, method="Nelder-Mead", options=options).x
        v = rng.normal(size=(2000, d))
        v /= np.linalg.norm(v, axis=1, keepdims=True)
        near = loss(X, y, w + 1e-5 * reach * v).min()
        if near >= loss(X, y, w) - 1e-14 * (1 + y @ y):
            found.append(w)
    return found


def check_completeness(X, y, minima, seed: int, starts: int) -> int:
    found = minima_by_descent(X, y, seed, starts)
    for w in found:
        tolerance = 1e-3 * (1 + np.linalg.norm(w))
        assert any(
            contains(item, X, w, tolerance)
            and abs(item.loss - loss(X, y, w)) <= 1e-6 * (1 + item.loss)
            for item in minima
        ), (w, loss(X, y, w))
    return len(found)


@FEW
@given(st.integers(0, 10**6), st.sampled_from(["positive", "mixed"]))
def test_minima_in_general_position(seed, signs) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    X, y = rng.normal(size=(n, d)), rng.uniform(0.2, 2.0, n)
    if signs == "mixed":
        y *= rng.choice([-1.0, 1.0], n)
    minima = local_minima(X, y)
    check_each_set(X, y, minima)
    check_ranks(y, minima)
    check_completeness(X, y, minima, seed, 4)
    if signs == "positive":
        assert all(item.boundary == () for item in minima)
    samples = rng.normal(size=(2000, d)) * 10.0 ** rng.uniform(-2, 2, (2000, 1))
    assert minima[0].loss <= loss(X, y, samples).min() + 1e-12


@settings(FEW, max_examples=60)
@given(
    integer_data(6, 2), st.lists(st.sampled_from([-3.0, -1.0, 1.0, 2.0]), min_size=6, max_size=6)
)
def test_minima_of_degenerate_data(rows, labels) -> None:
    X, y = np.array(rows, float), np.array(labels[: len(rows)])
    assume(X.any())
    minima = local_minima(X, y)
    check_each_set(X, y, minima)
    check_ranks(y, minima)
    check_completeness(X, y, minima, len(rows), 4)


@settings(FEW, max_examples=15)
@given(integer_data(7, 3, 1), st.lists(st.sampled_from([-2.0, -1.0, 1.0]), min_size=7, max_size=7))
def test_minima_of_degenerate_data_in_space(rows, labels) -> None:
    X, y = np.array(rows, float), np.array(labels[: len(rows)])
    assume(X.any())
    minima = local_minima(X, y)
    check_each_set(X, y, minima)
    check_ranks(y, minima)
    check_completeness(X, y, minima, len(rows), 2)


@FEW
@given(st.integers(0, 10**6))
def test_minima_turn_with_the_data(seed) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(6, 3)), rng.uniform(0.2, 2.0, 6) * rng.choice([-1.0, 1.0, 1.0], 6)
    Q, order = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.permutation(6)
    one, other = local_minima(X, y), local_minima((X @ Q)[order], y[order])
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert a.support == tuple(sorted(int(order[j]) for j in b.support))
        assert a.boundary == tuple(sorted(int(order[j]) for j in b.boundary))
        assert (a.rank, a.dimension) == (b.rank, b.dimension)
        assert a.loss == pytest.approx(b.loss, rel=1e-9)
        if a.dimension == 0:
            np.testing.assert_allclose(a.w @ Q, b.w, atol=1e-9)


def only(X, y) -> list[tuple]:
    found = local_minima(np.array(X, float), np.array(y, float))
    return [(m.rank, m.loss, m.support, m.boundary, m.dimension) for m in found]


def test_minima_by_hand() -> None:
    # Each of two orthogonal data can be fitted or not: four cells, one minimum each.
    assert only([[1, 0], [0, 2]], [1, 4]) == [
        (1, 0.0, (0, 1), (), 0),
        (2, 0.5, (1,), (), 1),
        (3, 8.0, (0,), (), 1),
        (4, 8.5, (), (), 2),
    ]


@pytest.mark.parametrize(
    ("X", "y", "expected"),
    [
        # A kink that holds from both sides, on a line and in the plane.
        ([[1], [-1]], [-1, -1], [(1, 1.0, (), (0, 1), 0)]),
        ([[1, 0], [-1, 0]], [-1, -1], [(1, 1.0, (), (0, 1), 1)]),
        # All directions held: the origin alone, though a label is positive.
        (
            [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1]],
            [-1, -1, -1, -1, 0.5],
            [(1, 2.125, (), (0, 1, 2, 3, 4), 0)],
        ),
        # Duplicate data, of which one label is positive: together they hold.
        (
            [[1, 0], [1, 0], [-1, 1], [0, 1]],
            [1, -3, 1, 1],
            [(1, 5.0, (2, 3), (0, 1), 0)],
        ),
        # Labels of zero: the loss is smooth there, and least on the boundary.
        ([[1], [-1]], [0, 0], [(1, 0.0, (), (0, 1), 0)]),
        ([[1, 0]], [0], [(1, 0.0, (), (), 2)]),
        # Zero data only add a constant.
        ([[0, 0]], [2], [(1, 2.0, (), (), 2)]),
        ([[0], [2]], [3, 4], [(1, 4.5, (1,), (), 0), (2, 12.5, (), (), 1)]),
        # Two equal losses share a rank.
        ([[1], [-1]], [1, 1], [(1, 0.5, (0,), (), 0), (1, 0.5, (1,), (), 0)]),
    ],
)
def test_degenerate_minima_by_hand(X, y, expected) -> None:
    assert only(X, y)[: len(expected)] == expected
    if len(expected) == 1:
        assert all(m[0] > 1 for m in only(X, y)[1:])


def test_ranks_count_distinct_losses() -> None:
    # Orthogonal data with labels 1, 1, 2: the losses are those of the subsets that are not fitted.
    found = only(np.eye(3), [1, 1, 2])
    assert [(r, v) for r, v, *_ in found] == [
        (1, 0.0),
        (2, 0.5),
        (2, 0.5),
        (3, 1.0),
        (4, 2.0),
        (5, 2.5),
        (5, 2.5),
        (6, 3.0),
    ]


def test_the_quick_look_at_cells_drops_none() -> None:
    # Most cells are dismissed by a batch of normal equations; hold it against one by one.
    rng = np.random.default_rng(2)
    X, y = np.abs(rng.normal(size=(25, 3))), rng.uniform(0.5, 2.0, 25)
    patterns = enumerate_cells(X).patterns
    plausible = geometry.minima.plausible(X, y, patterns)
    inside = []
    for on in patterns:
        w, _ = virtual_minimum(X, y, on)
        inside.append(np.linalg.matrix_rank(X[on]) < 3 or (((X @ w) > 0) == on).all())
    assert (plausible >= np.array(inside)).all()
    assert plausible.sum() < len(patterns) / 4
