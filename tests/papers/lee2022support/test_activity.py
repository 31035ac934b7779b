"""Crossings, visited cells and data that come back, on paths of hand-made and real events."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from reluflow import datasets
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Event, Trajectory
from reluflow.papers.lee2022support.setting import (
    crossings,
    deactivated,
    reactivations,
    visited_cells,
)

RETURNS = datasets.load("example-5.3")


def given_events(*events: tuple[str, int]) -> Trajectory:
    some = (Event(float(t), datum, kind) for t, (kind, datum) in enumerate(events))
    return replace(affine_flow([[1.0]], [1.0], [1.0]), events=tuple(some))


def test_reactivations_of_given_events() -> None:
    on, off = "activate", "deactivate"
    assert reactivations(given_events()) == 0
    assert reactivations(given_events((on, 0), (off, 0))) == 0
    assert reactivations(given_events((off, 0), (on, 1))) == 0
    assert reactivations(given_events((off, 0), (on, 0))) == 1
    often = given_events((off, 0), (off, 2), (on, 0), (off, 0), (on, 0))
    assert reactivations(often) == 2
    assert deactivated(often) == [0, 2, 0]
    assert deactivated(given_events((on, 1))) == []


def test_crossings_and_cells_of_a_flow_that_returns() -> None:
    path = affine_flow(RETURNS.X, RETURNS.y, np.full(3, 1e-4))
    off, on = crossings(RETURNS.X, path)
    assert (off.datum, off.activates, on.datum, on.activates) == (3, False, 3, True)
    for step in (off, on):
        assert np.array_equal(step.before != step.after, np.arange(4) == step.datum)
        assert abs(RETURNS.X[step.datum] @ step.w) < 1e-12
        for t, cell in ((step.t * (1 - 1e-6), step.before), (step.t * (1 + 1e-6), step.after)):
            assert np.array_equal(RETURNS.X @ path.at(t) > 0, cell)
    cells = visited_cells(RETURNS.X, path)
    assert [cell.tolist() for cell in cells] == [[True] * 4, [True] * 3 + [False], [True] * 4]


def test_parallel_data_change_cell_at_once() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 2.0]])
    path = affine_flow(X, [9.0, 1.0, 1.0, 1.0], [1e-3, 1e-3])
    assert sorted(deactivated(path)) == [1, 3]
    steps = crossings(X, path)
    assert sorted(step.datum for step in steps) == [1, 3]
    for step in steps:
        assert (step.before.tolist(), step.after.tolist()) == ([True] * 4, [True, False] * 2)
    assert [cell.sum() for cell in visited_cells(X, path)] == [4, 2]
