"""Flows in the plane, many at a time: those of `affine_flow`, honest refusals, digits kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.flows.affine import affine_flow
from reluflow.instances import KINDS, ORDINARY, draw_many
from reluflow.papers.lee2022support.planar import planar_flows, planar_flows_of
from reluflow.papers.lee2022support.setting import deactivated, reactivations

SHARES = {"uniform": 0.99, "directions": 0.98, "integers": 0.97, "near-parallel": 0.97}


def instances(kind: str, scale: float, count: int, seed: int = 0) -> list[dict]:
    """Data of this kind, each with a start of this size relative to labels over inputs."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    items = []
    for item in draw_many(count, 2, seed, kinds=(kind,)):
        unit = item.y.max() / np.linalg.norm(item.X, axis=1).max()
        items.append({"X": item.X, "y": item.y, "w0": scale * unit * rng.normal(size=2)})
    return items


def same_as_affine(flows, k: int, problem: dict) -> None:
    """Row k against `affine_flow`: the same end, and as many events of each sort."""
    path = affine_flow(**problem)
    assert path.status == "converged"
    assert np.linalg.norm(flows.ends[k] - path.end) <= 1e-9 * np.linalg.norm(path.end)
    told = flows.count[k], flows.deactivations[k], flows.reactivations[k]
    assert told == (len(path.events), len(deactivated(path)), reactivations(path))


@pytest.mark.parametrize("scale", [1e-10, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("kind", [*ORDINARY, "degenerate"])
def test_decided_flows_are_those_of_affine_flow(kind, scale):
    problems = instances(kind, scale, 40)
    flows = planar_flows_of(problems)
    assert flows.decided.mean() >= SHARES.get(kind, 0.85) - 0.02
    for k in np.nonzero(flows.decided)[0]:
        same_as_affine(flows, k, problems[k])


@given(st.integers(0, 10**6))
@settings(derandomize=True, max_examples=12, deadline=None)
def test_inputs_of_either_sign_and_the_company_of_other_rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    X, y = rng.normal(size=(10, n, 2)), rng.uniform(0.1, 1.5, (10, n))
    w0 = 10.0 ** rng.uniform(-6, 2, (10, 1)) * rng.normal(size=(10, 2))
    if seed % 2:  # parallel and opposite data, which change together
        X[:, -1] = rng.choice([-2.0, -1.0, 0.5, 1.0], (len(X), 1)) * X[:, 0]
    items = [{"X": X[k, : 1 + k % n], "y": y[k, : 1 + k % n], "w0": w0[k]} for k in range(10)]
    for flows, problems in (
        (planar_flows(X, y, w0), [{"X": X[k], "y": y[k], "w0": w0[k]} for k in range(10)]),
        (planar_flows_of(items), items),  # padded
    ):  # fmt: skip
        assert flows.decided.mean() >= 0.8
        for k in np.nonzero(flows.decided)[0]:
            same_as_affine(flows, k, problems[k])


CHOICES = {
    "a start on a boundary": ([[1, 0], [0, 1]], [1, 1], [0.0, 1.0]),
    "a start at the origin": ([[1, 0], [0, 1]], [1, 1], [0.0, 0.0]),
    "a minimum on a boundary": ([[1, 0], [0, 1], [1, -1]], [1, 1, 1], [0.1, 0.5]),
    "a line of limits that reaches a boundary": ([[1, 0], [1, 1]], [1, 1], [0.5, -1.0]),
    "a touch": ([[2, 0], [0, 1], [1, -1]], [36, 21, 1], [2.0, 13.0]),
    "a touch just missed": ([[2, 0], [0, 1], [1, -1]], [36, 21, 1], [2.0, 13.0 + 1e-12]),
    "a touch just too deep": ([[2, 0], [0, 1], [1, -1]], [36, 21, 1], [2.0, 13.0 - 1e-12]),
    "boundaries as good as one": ([[1, 0], [1, 1], [1, 1 + 1e-12]], [3, 1, 1], [0.5, -1.0]),
    "a valley of slope 1e-15": ([[1, 1], [1, 1 + 1e-7]], [1, 2], [1.0, 1.0]),
    "a rank that rounding hides": ([[1, 1], [1, 1 + 1e-12]], [1, 2], [1.0, 1.0]),
}


@pytest.mark.parametrize(("X", "y", "w0"), CHOICES.values(), ids=CHOICES)
def test_what_arithmetic_leaves_open_is_not_decided(X, y, w0):
    flows = planar_flows([X], [y], [w0])
    assert not flows.decided[0]
    assert flows.count[0] == 0
    assert np.isnan(flows.ends[0]).all()


@pytest.mark.parametrize("shift", [1e-6, -1e-3])
def test_beside_a_touch(shift):
    # With x = exp(-t), h_3 = -3 - 16 x^4 + 8 x touches zero from below at x = 1/2.
    w0 = np.array([2.0, 13.0 + shift])
    flows = planar_flows([[[2, 0], [0, 1], [1, -1]]], [[36, 21, 1]], [w0])
    assert flows.decided[0]
    same_as_affine(flows, 0, {"X": flows.X[0], "y": flows.y[0], "w0": w0})


def test_no_data_no_motion_no_rows():
    still = planar_flows([[[1.0, 0.0], [0.0, 0.0]]], [[1.0, 1.0]], [[-1.0, 2.0]])
    assert (still.ends.tolist(), still.count.tolist()) == ([[-1.0, 2.0]], [0])
    assert planar_flows_of([]).ends.shape == (0, 2)


def test_labels_outside_of_A2_are_refused():
    with pytest.raises(InputError, match="y must be positive"):
        planar_flows(np.ones((1, 2, 2)), [[1.0, 0.0]], [[1.0, 2.0]])
