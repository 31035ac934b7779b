"""Invariants that every flow has, in any chart; those of the exact flow are in `test_affine`."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from flows import FLOWS, assert_consistent
from reluflow.flows.integrate import FlowPath, integrate


@pytest.fixture(scope="module", params=[(name, k) for name in FLOWS for k in range(3)], ids=str)
def path(request: pytest.FixtureRequest) -> FlowPath:
    return made(*request.param)


@cache
def made(name: str, seed: int) -> FlowPath:
    return FLOWS[name](seed)


def test_every_path_is_a_consistent_trajectory(path) -> None:
    assert_consistent(path, 1e-6)
    assert path.status in ("converged", "horizon", "sliding", "stalled")


def test_the_list_is_not_idle() -> None:
    """Paths that move, and among them some with events on every kind of surface."""
    paths = {name: [made(name, seed) for seed in range(3)] for name in FLOWS}
    assert all(any(len(p.t) > 1 for p in three) for three in paths.values())
    assert {len(p.legs) for p in paths["two legs"]} == {2}
    assert {name for name, three in paths.items() if not any(p.events for p in three)} == {
        "filters"
    }


def test_no_loss_rises(path) -> None:
    values = [path.field.log_loss(z) for z in path.at(np.linspace(path.t[0], path.t[-1], 13))]
    assert (np.diff(values) <= 1e-9 * np.abs(values).max() + 1e-15).all()


def test_no_flow_has_a_memory(path) -> None:
    """Its last quarter, which is of its last leg, is as from a start there."""
    begin, last = path.t[-1] - 0.25 * (path.t[-1] - path.t[0]), path.t[-1]
    if begin < last:
        rest = integrate(path.field, z := path.at(begin), path.field.begin(z) + last - begin)
        end = rest.at(min(rest.t[0] + last - begin, rest.t[-1]))
        np.testing.assert_allclose(end, path.at(last), rtol=1e-5, atol=1e-5)


def test_activity_changes_at_events_only_and_there_on_its_surface(path) -> None:
    def surfaces(t):
        return np.array([path.field.surfaces(z) for z in path.at(t)])

    for event in path.events:
        if event.kind != "slide":  # which stays on the surface
            near = 1e-5 * (1.0 + event.t)
            around = surfaces([event.t - near, min(event.t + near, path.t[-1])])
            before, after = around[:, event.datum, event.neuron]
            assert before * after <= 1e-7  # a unit that rests there has 0 behind it
    for left, right in pairwise(np.unique([path.t[0], *(e.t for e in path.events), path.t[-1]])):
        if right - left > 1e-6 * (1.0 + right):
            h = surfaces(left + np.array([0.2, 0.5, 0.8]) * (right - left))
            clear = (np.abs(h) > 1e-7).all(axis=0)
            assert (((h > 0) == (h[:1] > 0)) | ~clear).all()
