"""Cells and minima: Lemmas 3.2 and 4.5, Propositions 3.3 and F.3, Theorem 3.4."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.falsify import falsify
from reluflow.instances import Instance, draw_many
from reluflow.networks import loss
from reluflow.papers.lee2022support import geometry

FOUR = np.array([[6.0, 1.0], [3.0, 2.0], [2.0, 3.0], [1.0, 6.0]])


def instance(X, y) -> Instance:
    return Instance(np.array(X, float), np.array(y, float), "by hand")


@pytest.mark.parametrize("X", [FOUR, [[1, 0]], [[0, 2], [0, 1]], [[1, 1], [2, 2], [1, 3], [1, 0]]])
def test_cells_of_a_quadrant_agree_with_a_walk_through_it(X):
    X = np.array(X, float)
    for quadrant, (u, v) in {2: (-1, 1), 4: (1, -1)}.items():
        t = np.deg2rad(np.arange(0.05, 90.0, 0.1))
        W = np.column_stack([u * np.cos(t), v * np.sin(t)])
        walked = {frozenset(np.flatnonzero(X @ w > 0).tolist()) for w in W}
        assert geometry.quadrant_cells(X, quadrant) == walked


def test_minima_on_a_line_are_counted_in_closed_form():
    """d = 1, A1: the half-line w <= 0 holds minima unless it falls into w > 0, which holds one if
    sum x_i y_i > 0. All w <= 0 are minima of x = 1, 1, y = 1, -2: the boundary is inactive."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(1, 5))
        X, y = rng.integers(1, 4, (n, 1)).astype(float), rng.integers(-3, 4, n).astype(float)
        assert geometry.cells_with_minima(X, y) == 1 + (float(X[:, 0] @ y) > 0)
    assert geometry.cells_with_minima(np.ones((2, 1)), np.array([1.0, -2.0])) == 1


def test_the_fall_is_the_difference_of_losses():
    rng = np.random.default_rng(5)
    for _ in range(40):
        X, y = rng.uniform(0, 1, (4, 2)), rng.uniform(0.1, 2, 4)
        w, eps = rng.normal() * np.array([-X[0, 1], X[0, 0]]), rng.uniform(0.01, 1.0)
        fall, promise, size = geometry.fall_from_boundary(X, y, w, 0, eps)
        plain = loss(X, y, w) - min(loss(X, y, w + eps * X[0]), loss(X, y, w - eps * X[0]))
        assert fall == pytest.approx(plain, abs=1e-12)
        kappa = sum(float(x @ X[0]) ** 2 for x in X)
        assert promise == pytest.approx(0.5 * eps * (y[0] * X[0] @ X[0] - eps * kappa))
        assert fall >= promise - 1e-12
        assert size > 0
    assert geometry.fall_from_boundary([[1.0]], [-1.0], [0.0], 0, 0.1)[0] <= 0.0  # without A2


def test_draws_of_unfit_data_are_unfit_even_where_few():
    """As few as a low effort makes; without labels made for it seed 16 drew none of 30."""
    report = falsify(geometry.relu_below_linear_where_unfit(), 16, 30, 0)
    assert report.tried >= 5
    assert report.survives


def test_cells_that_doubles_do_not_decide_are_no_violations() -> None:
    """One is within rounding of equality; or lengths go over twelve orders of magnitude, and L_P
    hardly feels where the short data lie."""
    X = [[1, 1], [1, 0], [0, 1]]
    edges = [geometry.survey_cells([instance(X, [2, b, 1])]) for b in (2.1, 2)]
    assert len(edges[0]) - len(edges[1]) == 1
    found = geometry.survey_cells(list(draw_many(30, 2, 6))[26:27]).query("not deficient")
    assert (found.agree.all(), len(found)) == (True, 8)
