"""The result type of every integrator."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from reluflow.flows.trajectory import Event, Trajectory


def line(status: str = "converged", clock: str = "time", settled: float = 4.0) -> Trajectory:
    """w(t) = (t, 2t) with knots 0, 1, 3; not an integrator's, to have every number in hand."""
    return Trajectory(
        t=np.array([0.0, 1.0, 3.0]),
        states=np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 6.0]]),
        events=(Event(1.0, 0, "activate"), Event(3.0, 1, "deactivate")),
        status=status,
        clock=clock,
        end=np.array([9.0, 9.0]),
        detail="made up",
        interpolant=lambda t: np.stack([t, 2 * t], axis=1),
        settled=settled,
    )


def test_states_between_knots_and_clock_values_off_the_path() -> None:
    np.testing.assert_array_equal(line().at(0.5), [0.5, 1.0])
    many = line().at([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    assert many.shape == (2, 3, 2)
    np.testing.assert_array_equal(many[1, 0], [3.0, 6.0])
    for early in (-1e-9, [1.0, np.nan]):
        with pytest.raises(ValueError, match="at least 0"):
            line().at(early)
    assert line().has_limit == line("sliding").has_limit is True
    for status in ("horizon", "non-unique", "diverged"):
        with pytest.raises(ValueError, match=rf"at most 3: the path ended \({status}\)"):
            line(status).at([1.0, 3.0001])


def test_the_first_time_of_an_event() -> None:
    kinds = [(1, "activate"), (0, "deactivate"), (0, "activate"), (0, "deactivate")]
    path = replace(line(), events=tuple(Event(float(t), *e) for t, e in enumerate(kinds)))
    asked = product(range(3), ("activate", "deactivate"))
    found = [path.first_time(*each) for each in asked]
    np.testing.assert_array_equal(found, [2.0, 1.0, 0.0, np.nan, np.nan, np.nan])
