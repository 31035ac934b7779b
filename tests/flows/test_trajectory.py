"""The result type of every integrator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Event, Trajectory, largest_norm_drop


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


def test_the_grid_resolves_every_stretch() -> None:
    grid = line().grid(10)
    assert (np.diff(grid) > 0).all()
    assert (grid[0], grid[-1]) == (0.0, 4.0)
    assert np.isin([0.0, 1.0, 3.0, 4.0], grid).all()
    for a, b in ((0.0, 1.0), (1.0, 3.0), (3.0, 4.0)):
        inside = grid[(grid > a) & (grid < b)]
        assert 8 <= len(inside) <= 12
        assert inside[0] - a < 1e-4 * (b - a)  # dense at both ends
        assert b - inside[-1] < 1e-4 * (b - a)
    assert line(settled=0.0).grid(10)[-1] == 3.0
    whole = line(clock="steps", settled=300.0).grid(50)
    assert (whole == np.round(whole)).all()
    assert (np.diff(whole) > 0).all()
    assert (whole[0], whole[-1]) == (0.0, 300.0)


def test_the_first_time_of_an_event() -> None:
    kinds = [(1, "activate"), (0, "deactivate"), (0, "activate"), (0, "deactivate")]
    path = replace(line(), events=tuple(Event(float(t), *e) for t, e in enumerate(kinds)))
    assert path.first_time(0, "deactivate") == 1
    assert path.first_time(0, "activate") == 2
    assert path.first_time(1, "activate") == 0
    assert np.isnan(path.first_time(1, "deactivate"))
    assert np.isnan(path.first_time(2, "activate"))


def test_the_largest_drop_of_the_norm() -> None:
    """From 10 down to 1 along w = 1 + 9 e^(-t), measured against |w(inf)| = 1."""
    shrinking = affine_flow([[1]], [1], [10])
    norms = 1 + 9 * np.exp(-shrinking.grid(60))
    assert largest_norm_drop(shrinking) == pytest.approx((norms[:-1] - norms[1:]).max())
    assert largest_norm_drop(shrinking) > 0.5
    # Relative to the limit: the same flow in other units.
    scaled = affine_flow([[0.1]], [1], [100])
    assert largest_norm_drop(scaled) == pytest.approx(largest_norm_drop(shrinking))
    assert largest_norm_drop(affine_flow([[1]], [1], [1e-4])) == 0.0
