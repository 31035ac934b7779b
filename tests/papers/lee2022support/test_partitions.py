"""Cells and minima: Figure 1, Lemmas F.2, 4.5, Proposition F.3, Lemma 3.2, Theorem 3.4."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from flows import best_of_many
from reluflow import rational
from reluflow.falsify import falsify
from reluflow.geometry import cell_bound, enumerate_cells
from reluflow.networks import loss
from reluflow.papers.lee2022support import geometry, minima

THREE = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
ALL_HOLD = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
FOUR = np.array([[6.0, 1.0], [3.0, 2.0], [2.0, 3.0], [1.0, 6.0]])


def holding(evidence) -> list[bool]:
    return [item.holds for item in evidence if item.decides]


def test_a_tighter_bound_and_another_count_are_found(monkeypatch):
    with monkeypatch.context() as m:
        m.setattr(geometry, "cell_bound", lambda n, d: cell_bound(n, d) - 1)
        assert falsify(geometry.few_cells(), 1, 40, 0).violations
    with monkeypatch.context() as m:
        m.setattr(geometry, "count_by_ranks", lambda X: len(enumerate_cells(X)) + 1)
        assert falsify(geometry.few_cells(), 1, 10, 0).violations


@pytest.mark.parametrize("X", [FOUR, [[1, 0]], [[0, 2], [0, 1]], [[1, 1], [2, 2], [1, 3], [1, 0]]])
def test_cells_of_a_quadrant_agree_with_a_walk_through_it(X):
    X = np.array(X, float)
    for quadrant, (u, v) in {2: (-1, 1), 4: (1, -1)}.items():
        t = np.deg2rad(np.arange(0.05, 90.0, 0.1))
        W = np.column_stack([u * np.cos(t), v * np.sin(t)])
        walked = {frozenset(np.flatnonzero(X @ w > 0).tolist()) for w in W}
        assert geometry.quadrant_cells(X, quadrant) == walked
        assert geometry.quadrant_cells_by_angle(X, quadrant) == walked


def test_minima_on_a_line_are_counted_in_closed_form():
    """d = 1, A1: the half-line w <= 0 holds minima unless it falls into w > 0, which holds one if
    sum x_i y_i > 0."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(1, 5))
        X, y = rng.integers(1, 4, (n, 1)).astype(float), rng.integers(-3, 4, n).astype(float)
        rising = float(X[:, 0] @ y) > 0
        assert geometry.cells_with_minima(X, y) == 1 + rising


def test_the_plus_one_is_for_no_positive_label():
    report = falsify(geometry.few_minima(extra=0), 1, 28, 0)
    assert report.violations
    assert (report.worst["y"] <= 0).all()


def test_only_positive_labels_make_room_for_minima():
    item = {"X": np.eye(2), "y": np.array([1.0, 0.0])}  # minima in the cells {1} and {} alone
    assert geometry.minima_in_positive_cells().slack(item) == 0
    assert geometry.few_minima().slack(item) == 1


def test_a_minimum_on_a_boundary_lies_in_one_partition():
    """All w <= 0 are minima of data x = 1, 1, y = 1, -2; the boundary counts as inactive."""
    X, y = np.ones((2, 1)), np.array([1.0, -2.0])
    assert geometry.cells_with_minima(X, y) == 1


def test_other_labels_leave_cells_without_a_minimum():
    few = geometry.all_cells_hold_minima(ALL_HOLD, np.array([1.0, 3.0, 1.0]))
    assert [e.value < 6 for e in few if "data below" in e.what] == [True, True]


def test_the_fall_is_the_difference_of_losses():
    rng = np.random.default_rng(5)
    for _ in range(40):
        X, y = rng.uniform(0, 1, (4, 2)), rng.uniform(0.1, 2, 4)
        w = rng.normal() * np.array([-X[0, 1], X[0, 0]])
        eps = rng.uniform(0.01, 1.0)
        fall, promise, size = minima.fall_from_boundary(X, y, w, 0, eps)
        plain = loss(X, y, w) - min(loss(X, y, w + eps * X[0]), loss(X, y, w - eps * X[0]))
        assert fall == pytest.approx(plain, abs=1e-12)
        kappa = sum(float(x @ X[0]) ** 2 for x in X)
        assert promise == pytest.approx(0.5 * eps * (y[0] * X[0] @ X[0] - eps * kappa))
        assert fall >= promise - 1e-12
        assert size > 0


def test_restricted_minima_are_all_of_them():
    """Against a fine walk along each boundary line of three data in the plane, and the origin."""
    X, y = THREE, np.array([2.0, 1.0, 1.0])
    found = list(minima.restricted_minima(X, y))
    assert sum(on.all() for _, on in found) == 1
    for j in range(3):
        along = np.array([-X[j, 1], X[j, 0]]) / np.linalg.norm(X[j])
        s = np.linspace(-4, 4, 80001)
        values = loss(X, y, s[:, None] * along)
        walked = s[1:-1][(values[1:-1] < values[:-2]) & (values[1:-1] < values[2:])]
        points = sorted(float(w @ along) for w, on in found if on[j] and not on.all())
        isolated = [p for p in points if any(abs(p - v) < 2e-4 for v in walked)]
        assert len(isolated) == len(walked)
    mine = [w for w, on in found if on[1] and not on.all()]
    assert any(np.allclose(w, [1.5, 0.0]) for w in mine)


def test_without_A2_a_boundary_holds_minima():
    X, y = np.ones((1, 1)), np.array([-1.0])
    assert minima.fall_from_boundary(X, y, [0.0], 0, 0.1)[0] <= 0.0


def test_exact_steps_leave_every_boundary_point(monkeypatch):
    tried, wrong = minima.exact_falls(0, 4)
    assert tried >= 40
    assert wrong == 0
    monkeypatch.setattr(rational, "neuron_loss", lambda X, y, w: F(1))
    assert minima.exact_falls(0, 4) == (tried, tried)


def test_the_least_relu_loss_agrees_with_many_descents():
    rng = np.random.default_rng(6)
    for _ in range(4):
        X, y = rng.uniform(0.2, 1.0, (4, 2)), rng.uniform(0.1, 2.0, 4)
        starts = rng.normal(size=(60, 2)) * 5
        _, least = best_of_many(X, y, starts, 0.3, 4000)
        assert minima.least_relu_loss(X, y) == pytest.approx(least, abs=1e-4)


def test_draws_of_unfit_data_are_unfit_even_where_few():
    """As few as a low effort makes; without labels made for it seed 16 drew none of 30."""
    report = falsify(minima.relu_below_linear_where_unfit(), 16, 30, 0)
    assert report.tried >= 5
    assert report.survives


def test_a_fit_that_is_not_zero_does_not_pass():
    assert all(holding(minima.fit_zero_on_second(THREE, np.array([3.0, 1.0, 1.0]))))
    assert not all(holding(minima.fit_zero_on_second(THREE, np.array([1.0, 1.0, 2.0]))))


def test_three_data_have_six_cells_and_no_eight():
    (cells,) = (e for e in geometry.cells_of_the_figure(THREE) if e.decides)
    assert (cells.value, cells.holds) == (6, False)
