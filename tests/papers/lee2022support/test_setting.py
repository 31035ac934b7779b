"""Assumptions on data, the plain second methods, and what is active along a path."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow import datasets
from reluflow.errors import InputError
from reluflow.flows.affine import affine_flow
from reluflow.instances import draw_many
from reluflow.networks import gradient, loss
from reluflow.papers.lee2022support import dynamics, norm, setting
from reluflow.papers.lee2022support.setting import plain_descent

X2, Y2 = np.array([[1, 1], [1, 0]]), np.array([1, 1])
X3 = np.array([[1, 0], [0, 1], [1, 1]])
RETURNS = datasets.load("example-5.3")


@pytest.mark.parametrize(
    ("X", "y", "broken"),
    [
        ([[1, 0], [1, 1]], [1, 2], set()),
        ([[1, 0], [1, -1]], [1, 2], {"A1"}),
        ([[1, 0], [0, 1], [0, 0]], [1, 2, 1], {"A1"}),
        ([[1, 0], [1, 1]], [1, 0], {"A2"}),
        ([[1, 2], [2, 4]], [1, 2], {"A3"}),
        ([[0.1, 0.3], [0.2, 0.6]], [1, 2], {"A3"}),
        ([[1, 1 + 1e-15], [1, 1]], [1, 2], set()),
        ([[0, 1], [0, 0]], [0, 1], {"A1", "A2", "A3"}),
    ],
)
def test_assumptions(X: list, y: list, broken: set[str]) -> None:
    """A3 is a choice of coordinates (Corollary E.2): data that break it alone are let pass."""
    assert {name for name, holds in setting.assumptions(X, y).items() if not holds} == broken
    if broken <= {"A3"}:
        setting.check_assumptions(np.array(X), np.array(y))
    else:
        with pytest.raises(InputError, match=f"{max(broken - {'A3'})} .* data row"):
            setting.check_assumptions(np.array(X), np.array(y))


def test_a_step_follows_the_slope_of_the_loss() -> None:
    rng, small = np.random.default_rng(0), 1e-4
    X, y, w = rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=3)
    assert np.abs(X @ w).min() > 0.05  # off the boundaries, where the loss is smooth
    slope = [loss(X, y, w + small * e) - loss(X, y, w - small * e) for e in np.eye(3)]
    path = plain_descent(X, y, w, 0.01, 2)
    assert path[1] - w == pytest.approx(-0.005 / small * np.array(slope), abs=1e-8)
    assert np.array_equal(path[1:], plain_descent(X, y, path[1], 0.01, 1))


def test_on_its_boundary_a_datum_does_not_pull() -> None:
    """The derivative of ReLU at 0 is taken as 0."""
    assert np.all(plain_descent([[2]], [3], [0.0], 0.1, 5) == 0.0)


def test_crossings_and_cells_of_a_flow_that_returns() -> None:
    path = affine_flow(RETURNS.X, RETURNS.y, np.full(3, 1e-4))
    steps = setting.crossings(RETURNS.X, path)
    assert [(step.datum, step.activates) for step in steps] == [(3, False), (3, True)]
    for step in steps:
        assert abs(RETURNS.X[step.datum] @ step.w) < 1e-12
        for t, cell in ((step.t * (1 - 1e-6), step.before), (step.t * (1 + 1e-6), step.after)):
            assert np.array_equal(RETURNS.X @ path.at(t) > 0, cell)
    cells = setting.visited_cells(RETURNS.X, path)
    assert [cell.tolist() for cell in cells] == [[True] * 4, [True] * 3 + [False], [True] * 4]


def test_parallel_data_change_cell_at_once() -> None:
    X = np.vstack([X3, [0.0, 2.0]])
    path = affine_flow(X, [9.0, 1.0, 1.0, 1.0], [1e-3, 1e-3])
    steps = setting.crossings(X, path)
    assert sorted(step.datum for step in steps) == [1, 3]
    for step in steps:
        assert (step.before.tolist(), step.after.tolist()) == ([True] * 4, [True, False] * 2)
    assert [cell.sum() for cell in setting.visited_cells(X, path)] == [4, 2]


def test_where_the_active_side_only_touches_all_three_continue():
    """At s = y|x|^2 a path of the active side turns back at the boundary."""
    assert dynamics.normal_rates(X2, Y2, (3, -3), 0) == (2.0, 2.0)
    assert setting.continuation_sides(X2, Y2, (3, -3), 0) == (-1, 0, 1)


def test_first_continuations_at_zero_and_where_a_flow_would_slide():
    found = setting.first_continuations(X3, [4, 1, 1], np.zeros(2))
    assert [active.tolist() for active, _ in found] == [[True] * 3]
    slide = {"X": np.array([[1.0, 0.0], [1.0, 1.0]]), "y": np.array([-2.0, 2.0]),
             "some": np.array([0]), "z": np.array([0.0, 1.0])}  # fmt: skip
    assert setting.first_continuations(slide["X"], slide["y"], [0, 1]) == []
    assert dynamics.some_flow_leaves().broken_by(slide)


def test_radii_of_small_starts() -> None:
    """delta_0 takes the worst cell and datum; below rho every x_j.w increases."""
    X, y = np.array([[1.0, 0.1], [0.1, 1.0]]), np.array([1.0, 2.0])
    a = min(X[j] @ q / np.linalg.norm(X[j]) for q in (X[0], 2 * X[1], y @ X) for j in (0, 1))
    Q, top = np.linalg.norm(y @ X), np.linalg.norm(X, 2) ** 2
    expected = (a + Q - np.sqrt(Q**2 + 2 * a * Q)) / top
    assert setting.guaranteed_radius(X, y) == pytest.approx(expected)
    assert setting.gentle_radius([[2.0]], [3.0]) == pytest.approx(1.5)  # the fit itself
    for item in draw_many(20, 2, 5):
        radius = setting.gentle_radius(item.X, item.y)
        assert radius >= setting.guaranteed_radius(item.X, item.y)
        w = 0.999 * radius * norm.all_active_direction(item.X, np.random.default_rng(3))
        assert (item.X @ -gradient(item.X, item.y, w)).min() > 0


def test_a_datum_within_rounding_of_its_boundary_counts_as_inactive() -> None:
    assert [setting.forced(np.eye(2), np.ones(2), [1.0, h]) for h in (1e-9, 1e-14, 0.0)] == [
        True, False, False,
    ]  # fmt: skip
