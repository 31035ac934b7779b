"""Section 5.2: shapes of |w(T)| on curves, flows, descents and runs, and the claim on them."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from reluflow.papers.lee2023magnitude import experiments
from reluflow.papers.lee2023magnitude.population import (
    FALLING,
    OTHER,
    RISING,
    SHAPES,
    TURNING,
    pull,
    shape_of,
)
from reluflow.papers.lee2023magnitude.runs import Setting, descent_on_data, experiment


@pytest.mark.parametrize(
    ("values", "shape", "turn"),
    [
        ([0, 1, 2, 3], RISING, 0),
        ([3, 2, 1, 0], FALLING, 0),
        ([3, 2, 1, 0, 2, 5], TURNING, 3),
        ([0, 2, 1, 0], OTHER, 0),
        ([3, 0, 2, 1], OTHER, 0),
        ([3, 0, 2, 1.95, 4], TURNING, 1),
        ([0, -0.05, 3], RISING, 0),
        ([3, 3.05, 2, 0.95, 1, 2], TURNING, 3),
        ([0, 0.01], RISING, 0),
        ([0, 0.05, -0.01], FALLING, 0),
        ([0, 0.06, 0.0, 1], RISING, 0),
        ([1, 0.5, 0.55, 0.45, 0.52, 0.3], FALLING, 0),
    ],
)
def test_shapes_of_curves(values, shape, turn):
    assert shape_of(np.array(values, float), 0.1) == (shape, turn)


def plain_shape(values, least):
    """The same by all pairs: a fall is a pair with a drop above `least`, likewise a rise."""
    v = np.asarray(values)
    rises = [(i, j) for i in range(len(v)) for j in range(i) if v[i] - v[j] > least]
    falls = [(i, j) for i in range(len(v)) for j in range(i) if v[j] - v[i] > least]
    if not rises and not falls:
        return RISING if v[-1] > v[0] else FALLING
    if not falls:
        return RISING
    if not rises:
        return FALLING
    first_rise = min(i for i, _ in rises)
    late = v[first_rise:]
    after = any(late[j] - late[i] > least for i in range(len(late)) for j in range(i))
    early = not any(i < first_rise for i, _ in falls)
    return OTHER if after or early else TURNING


def test_shapes_of_random_curves():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(400):
        values = np.cumsum(rng.standard_normal(8) + rng.choice([-1.0, 0.0, 1.0]))
        if rng.random() < 0.4:
            values = np.abs(values - rng.uniform(-3, 3))
        least = float(rng.choice([0.0, 0.3, 1.0]))
        found = shape_of(values, least)[0]
        assert found == plain_shape(values, least)
        seen.add(found)
    assert seen == set(SHAPES)


def shapes_of(found, panel):
    return found[found["panel"] == panel]


def test_flows_have_the_shape_of_their_equations():
    panels = experiment(layers=(1, 2), norms=(0.1, 2.0)).settings
    found = experiments.flow_shapes(panels, 3, 4, follow=2)
    assert len(found) == 16
    assert not found["stray"].any()
    for panel in panels:
        start = experiments.start_of(replace(panel, seed=3))
        falls = np.exp((panel.m + 1) * start.rho) > pull(start.phi)
        assert bool(falls) == (panel.norm == 2.0)
        mine = shapes_of(found, panel)
        assert (mine["shape"] == (TURNING if falls else RISING)).all()
        assert mine["turn"].notna().tolist() == [bool(falls)] * 2 + [False] * 2
        steps = np.arange(0.0, panel.steps, 500.0)
        for seed, turn in zip((3, 4), mine["turn"], strict=False):
            path = experiments.start_of(replace(panel, seed=seed)).flow(panel.rate * steps)
            if falls:
                assert turn == pytest.approx(steps[np.argmin(path.rho)], abs=600)


def test_a_flow_cut_short_is_a_stray():
    setting = replace(experiment(layers=(1,), norms=(2.0,)).settings[0], steps=10)
    found = experiments.flow_shapes([setting], 3, 2, follow=1)
    assert found["stray"].tolist() == [True, False]  # it falls, and has not risen yet
    assert (found["shape"] == TURNING).all()


def test_a_variance_gives_the_roots_of_the_ratios():
    setting = experiment(layers=(1,), norms=(0.1,)).settings[0]
    start, wide = experiments.start_of(setting), experiments.start_of(setting, variance=True)
    assert wide.psi == pytest.approx(start.psi)
    assert wide.rho - start.rho == pytest.approx(-0.5 * math.log(0.1))
    edge = experiments.flow_shapes([setting], 0, 40, variance=True)
    assert 5 < (edge["shape"] == TURNING).sum() < 35


def test_descent_on_data_is_a_plain_loop():
    setting = Setting(2, 1.0, 0.5, 1.6e-4, 6, 40, 3000, 2)
    path = descent_on_data(replace(setting, rate=8e-3, steps=60))
    X, target, w = setting.data(), setting.target(), setting.start()
    size = np.linalg.norm(target)
    assert path.target == pytest.approx(size)
    y = size * np.maximum(X @ target, 0.0)
    v, lengths = np.linalg.norm(w), [np.linalg.norm(w)]
    for _ in range(60):
        error = np.where(X @ w > 0.0, v * (X @ w) - y, 0.0) / 40
        w, v = w - 8e-3 * v * (error @ X), v - 8e-3 * float(error @ np.maximum(X @ w, 0.0))
        lengths.append(np.linalg.norm(w))
    np.testing.assert_allclose(path.length, lengths, rtol=1e-10)
    found = experiments.descent_shapes([setting], 2, 1, n=40).iloc[0]
    shape, turn = shape_of(np.array(lengths), 1e-3 * size)
    assert found["shape"] == shape
    assert found["panel"].n == 40
    if shape == TURNING:
        assert found["turn"] == 50.0 * turn


def test_runs_are_read_like_any_curve():
    trained = SimpleNamespace(length=np.array([1.0, 0.5, 0.8]))
    run = SimpleNamespace(setting=experiment().settings[1], target=1.0, trained=trained)
    found = experiments.run_shapes([run])
    assert found["shape"].tolist() == [TURNING]
    assert found["turn"].tolist() == [1.0]


def test_steps_on_a_sum_are_stable_where_curvature_says_so() -> None:
    # One layer: w -> (1 - step/2) w + ..., which comes to rest for a step below 4 only.
    assert experiments.arrives(experiments.DEVIATION, "half the sum", 1, 1.0)  # step 3
    assert not experiments.arrives(experiments.DEVIATION, "sum", 1, 1.0)  # step 6
