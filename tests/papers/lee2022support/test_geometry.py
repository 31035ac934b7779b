"""Cells, their neighbours and minima: Lemmas 3.2, 4.5 and F.1, Propositions 3.3 and F.3."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.falsify import falsify
from reluflow.papers.lee2022support import geometry
from reluflow.papers.lee2022support.landscape import loss
from reluflow.papers.lee2022support.setting import DataSet, draw_many, parallel_classes

FOUR = np.array([[6.0, 1.0], [3.0, 2.0], [2.0, 3.0], [1.0, 6.0]])


def instance(X, y) -> DataSet:
    return DataSet(np.array(X, float), np.array(y, float), "by hand")


@pytest.mark.parametrize("X", [FOUR, [[1, 0]], [[0, 2], [0, 1]], [[1, 1], [2, 2], [1, 3], [1, 0]]])
def test_cells_of_a_quadrant_agree_with_a_walk_through_it(X):
    X = np.array(X, float)
    for quadrant, (u, v) in {2: (-1, 1), 4: (1, -1)}.items():
        t = np.deg2rad(np.arange(0.05, 90.0, 0.1))
        W = np.column_stack([u * np.cos(t), v * np.sin(t)])
        walked = {frozenset(np.flatnonzero(X @ w > 0).tolist()) for w in W}
        assert geometry.quadrant_cells(X, quadrant) == walked


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


def test_half_of_the_bend_beside_a_boundary_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A promise of 1/2 eps (y_j |x_j|^2 - 1/2 eps kappa_j): only nearly equal sides deny it."""
    right = geometry.fall_from_boundary

    def half(X, y, w, j, eps):
        fall, promise, size = right(X, y, w, j, eps)
        return fall, promise + 0.25 * eps**2 * float(np.sum((X @ X[j]) ** 2)), size

    monkeypatch.setattr(geometry, "fall_from_boundary", half)
    assert falsify(geometry.lower_beside_boundaries(), 0, 150, 0).violations


def test_cells_that_doubles_do_not_decide_are_no_violations() -> None:
    """One is within rounding of equality; or lengths go over twelve orders of magnitude, and L_P
    hardly feels where the short data lie."""
    X = [[1, 1], [1, 0], [0, 1]]
    edges = [geometry.survey_cells([instance(X, [2, b, 1])]) for b in (2.1, 2)]
    assert len(edges[0]) - len(edges[1]) == 1
    found = geometry.survey_cells(list(draw_many(30, 2, 6))[26:27]).query("not deficient")
    assert (found.agree.all(), len(found)) == (True, 8)


def test_parallel_classes_join_both_directions():
    X = [[1, 2], [-2, -4], [1, 0], [3, 6]]
    assert set(parallel_classes(X)) == {frozenset({0, 1, 3}), frozenset({2})}
