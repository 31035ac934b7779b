"""Instances on which a short cut in the exact flow shows: each such mutation survived once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from reluflow.flows.affine import affine_flow

FAST, SLOW = 1e6, 1e-6
ACROSS, ALONG = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
TIMES = np.array([1e-8, 1e-7, 1e-6, 1e-5])


def two_rates(start: float) -> np.ndarray:
    """The flow of data 1e3 ACROSS and 1e-3 ALONG, fitted at 1e-6 and 1e6, from (start, start)."""
    fast = start + (start - 1e-6) * np.expm1(-FAST * TIMES)
    slow = start + (start - 1e6) * np.expm1(-SLOW * TIMES)
    return fast[:, None] * ACROSS + slow[:, None] * ALONG


@pytest.mark.parametrize(("activation", "start"), [("linear", 0.0), ("relu", 1e-9)])
def test_a_near_fit_keeps_its_digits_beside_a_far_one(activation: str, start: float) -> None:
    """The difference to the limit, a million away, knows 1e-10; the force knows the near fit."""
    X, y = np.array([1e3 * ACROSS, 1e-3 * ALONG]), np.array([1e-3, 1e3])
    path = affine_flow(X, y, start * (ACROSS + ALONG), activation=activation)
    exact = two_rates(start)
    error = np.linalg.norm(path.at(TIMES) - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert error.max() < 1e-12


def test_the_amplitude_of_a_far_start_comes_from_its_limit() -> None:
    """The other way round: a start far along the slow direction leaves the force without digits."""
    X, y = np.array([1e3 * ACROSS, 1e-3 * ALONG]), np.array([1e3, 1e-3])
    path = affine_flow(X, y, 1e6 * ACROSS + 2.0 * ALONG)
    # The slow part goes from 2 to 1; at t = 1e6 a share of 1/e is left.
    late = float(path.at(np.array([1e6]))[0] @ ALONG)
    assert late == pytest.approx(1.0 + np.exp(-1.0), rel=1e-9)


def test_a_start_near_a_boundary_is_on_its_side_of_it() -> None:
    """Twenty roundings off: one side flows to the fit, the other is inactive and stays."""
    x, off = np.array([[1.0, -1.0]]), 20 * np.finfo(float).eps
    assert np.allclose(affine_flow(x, [1.0], [1.0, 1.0 - off]).end, [1.5, 0.5])
    silent = affine_flow(x, [1.0], [1.0, 1.0 + off])
    assert np.array_equal(silent.end, [1.0, 1.0 + off])


def test_a_datum_that_rests_on_its_boundary_does_not_slide() -> None:
    """The first datum's boundary is followed without a jump, as an inactive datum allows."""
    path = affine_flow(np.eye(2), [-1.0, 2.0], [0.0, 1.0])
    assert np.allclose(path.end, [0.0, 2.0])
    assert path.status == "converged"


def names(path) -> list[tuple[int, str]]:
    return [(e.datum, e.kind) for e in path.events]


def test_a_datum_that_leaves_its_boundary_starts_from_zero() -> None:
    """After the second datum has slid and let go, rounding puts it on the side that it left."""
    X = np.array([[-1.0, -0.3], [-0.1, -0.2], [-0.9, -0.5], [0.9, 0.8]])
    y = np.array([-0.6, -0.9, 1.1, -0.5])
    path = affine_flow(X, y, [0.9, 2.3])
    assert path.status == "converged"
    assert names(path)[-2:] == [(1, "slide"), (1, "activate")]
    assert path.events[-1].t == pytest.approx(4.683115772408673)
    # The second and third data are fitted in the limit, and nothing jumps there.
    active = X @ path.end > 0
    force = X[active].T @ (y[active] - X[active] @ path.end)
    assert np.linalg.norm(force) < 1e-9


def test_a_datum_that_lets_go_in_space_does_not_stall() -> None:
    X = np.array([[0.77, 0.98, 1.98], [-0.41, 0.77, 1.04], [0.24, 1.62, 0.44]])
    path = affine_flow(X, np.array([-0.2, 0.5, 1.8]), 0.3 * np.array([-0.98, 0.77, 0.0]))
    assert path.status == "converged"
    assert names(path) == [(0, "activate"), (0, "slide"), (0, "deactivate")]


def test_many_data_on_one_boundary_are_counted() -> None:
    """Eight equal data, on whose boundary the flow may stay or leave: six are named."""
    path = affine_flow(np.tile([1.0, 0.0], (8, 1)), np.ones(8), [0.0, 1.0])
    assert path.status == "non-unique"
    assert "x_1, x_2, x_3, x_4, x_5, x_6 and 2 more" in path.detail


@pytest.mark.parametrize("seed", [51, 307, 607, 907, 1407])
def test_data_that_are_parallel_to_rounding_are_not_left_behind(seed: int) -> None:
    """A rounded multiple may be on its boundary, or past it, before its twin is said to be."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 11))
    X, _, w0 = rng.normal(size=(n, d)), rng.uniform(0.2, 2.0, n), rng.normal(size=d)
    X = np.vstack([X, X[: n // 2] * rng.uniform(0.5, 2.0), -X[: n // 3]])
    path = affine_flow(X, rng.uniform(0.2, 2.0, len(X)), w0)
    active, events = X @ w0 > 0, list(path.events)
    for start, stop in pairwise([*path.t, path.settled]):
        while events and events[0].t <= start:
            event = events.pop(0)
            active[event.datum] = event.kind == "activate"
        if stop > start * (1 + 1e-12):  # twins may be a few roundings apart
            np.testing.assert_array_equal(X @ path.at(0.5 * (start + stop)) > 0, active)
