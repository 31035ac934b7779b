"""Invariants that every flow and every descent has, by any integrator and in any chart."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from flows import FLOWS, Flow
from numpy.typing import NDArray


@pytest.fixture(
    scope="module", params=[(name, seed) for name in FLOWS for seed in range(3)], ids=str
)
def flow(request: pytest.FixtureRequest) -> Flow:
    return made(*request.param)


@cache
def made(name: str, seed: int) -> Flow:
    return FLOWS[name](seed)


def moments(path, count: int = 13) -> NDArray:
    """Clock values from the start to the end, or to where a path with a limit is settled."""
    last = max(path.t[-1], path.settled) if path.has_limit else path.t[-1]
    t = np.linspace(path.t[0], last, count)
    return np.unique(np.round(t)) if path.clock == "steps" else t


def test_every_path_is_a_consistent_trajectory(flow):
    path = flow.path
    assert (np.diff(path.t) > 0).all()
    assert path.states.shape[0] == len(path.t)
    np.testing.assert_allclose(path.at(path.t), path.states, rtol=0, atol=flow.accuracy)
    assert [e.t for e in path.events] == sorted(e.t for e in path.events)
    assert all(isinstance(e.t, float) and isinstance(e.datum, int) for e in path.events)
    assert {e.kind for e in path.events} <= {"activate", "deactivate", "slide"}
    assert all(path.t[0] <= e.t <= path.t[-1] for e in path.events)
    assert path.status in ("converged", "horizon", "sliding", "stalled")
    assert path.detail
    if path.has_limit:
        np.testing.assert_allclose(path.at(np.inf), path.end, rtol=1e-14)
    else:
        np.testing.assert_array_equal(path.states[-1], path.end)
        with pytest.raises(ValueError, match="at most"):
            path.at(path.t[-1] + 1.0)
    with pytest.raises(ValueError, match="at least"):
        path.at(path.t[0] - 1.0)
    with pytest.raises(FrozenInstanceError):
        path.status = "diverged"


def test_the_list_is_not_idle():
    """Paths that move, and among them some with events on every kind of surface."""
    paths = {name: [made(name, seed).path for seed in range(3)] for name in FLOWS}
    assert all(any(len(p.t) > 1 for p in three) for three in paths.values())
    assert {len(p.legs) for p in paths["two legs"]} == {2}
    idle = [name for name, three in paths.items() if not any(p.events for p in three)]
    assert set(idle) <= {"filters", "descent"}


def test_no_loss_rises(flow):
    values = flow.value(flow.path.at(moments(flow.path)))
    scale = np.abs(values).max()
    assert (np.diff(values) <= 1e-9 * scale + 1e-15).all()


def test_no_flow_has_a_memory(flow):
    """From half-way on it goes the same way."""
    path = flow.path
    if flow.again is None or len(path.t) == 1:
        pytest.skip("it cannot be started again, or rests where it starts")
    half, last = moments(path)[[len(moments(path)) // 2, -1]]
    rest = flow.again(path.at(half), last - half)
    end = rest.at(min(rest.t[0] + last - half, np.inf if rest.has_limit else rest.t[-1]))
    np.testing.assert_allclose(end, path.at(last), rtol=1e-5, atol=10 * flow.accuracy)


def test_activity_changes_at_events_only_and_there_on_its_surface(flow):
    path = flow.path
    if flow.surfaces is None:
        pytest.skip("its events are the first steps after a change, or there are none")
    for event in path.events:
        if event.kind == "slide":
            continue  # it stays on the surface
        near = 1e-5 * (1.0 + event.t)
        before, after = flow.surfaces(path.at([event.t - near, min(event.t + near, path.t[-1])]))[
            :, event.datum, event.neuron
        ]
        assert before * after <= 1e-7  # a unit that rests there has 0 behind it
    changes = np.unique([path.t[0], *(e.t for e in path.events), moments(path)[-1]])
    for left, right in pairwise(changes):
        if right - left > 1e-6 * (1.0 + right):
            h = flow.surfaces(path.at(left + np.array([0.2, 0.5, 0.8]) * (right - left)))
            clear = (np.abs(h) > 1e-7).all(axis=0)
            assert (((h > 0) == (h[:1] > 0)) | ~clear).all()


def test_states_come_in_the_shape_of_their_clock_values_and_nan_is_none() -> None:
    path = made("exact", 0).path
    t = path.t[0] + np.arange(6.0).reshape(2, 3)
    assert path.at(t).shape == (2, 3, path.states.shape[1])
    np.testing.assert_array_equal(path.at(t)[1, 0], path.at(t[1, 0]))
    with pytest.raises(ValueError, match="at least"):
        path.at([path.t[0], np.nan])
