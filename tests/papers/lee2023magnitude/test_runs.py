"""Settings, runs, checks and shapes of Figures 1 and 2 and Section 5.2 of Lee, Sim & Ye 2022b."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from papers.lee2023magnitude.test_layered_descent import loop
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude import experiments, population, runs
from reluflow.papers.lee2023magnitude.setting import Start


def test_constants_are_those_of_d3() -> None:
    """Of a small norm, of middle ones below and above the target's, and of a large one."""
    found = [runs.constants(v0, 10.0) for v0 in (1.0, 9.0, 11.0, 21.0)]
    assert found == [(1.0, 10.0), (5.0, 10.0), (5.0, 11.0), (5.0, 21.0)]


def test_runs_on_data_are_the_plain_loop() -> None:
    """Of other depths, norms, targets and rates on the same data."""
    panels = [runs.Setting(4, 0.7, 0.4, 0.05, 6, 150, 60, 11)]
    panels.append(replace(panels[0], layers=1, norm=1.5, rate=0.1))
    for setting, run in zip(panels, runs.train(panels), strict=True):
        X, w, best = setting.data(), setting.start(), setting.target()
        y = np.linalg.norm(best) ** setting.m * np.maximum(X @ best, 0.0)
        states, layers, _ = loop(X, y, w, setting.rate / len(X), setting.steps, setting.m)
        length = np.linalg.norm(states, axis=1)
        phi = np.pi - np.arccos(states @ best / length / np.linalg.norm(best))
        np.testing.assert_allclose(run.empirical.length, length, rtol=1e-11)
        np.testing.assert_allclose(run.empirical.v, layers, rtol=1e-11)
        np.testing.assert_allclose(run.empirical.phi, phi, rtol=0, atol=1e-10)
        assert (run.empirical.target, run.empirical.t[-1]) == (run.start.target, 60.0)
        for path in (run.population, run.flow):
            assert (path.phi[0], path.length[0]) == pytest.approx((phi[0], length[0]))


@pytest.mark.parametrize("data", [True, False])
def test_a_panel_that_diverges_is_named(data) -> None:
    panels = [runs.experiment([1], [0.5], 4, 50, 300, rate)[0] for rate in (0.1, 5.0)]
    with pytest.raises(InputError, match=r"1L-0.5k\* diverges at learning rate 5: choose"):
        runs.train(panels, data)
    with pytest.raises(InputError, match="learning rate 5: choose"):  # also without a population
        runs.descents_on_data(panels)


def test_the_theorem_is_silent_where_the_magnitude_leaves_its_interval() -> None:
    """And a path that is no number breaks its bounds, from the step on at which it is none."""
    setting = runs.Setting(2, 1.0, 1.0, 0.1, 4, 10, 3, 0)
    T = np.arange(4.0)
    rho = np.log([0.8, 0.9, 0.95, 1.001])
    path = population.PopulationPath(T, 0.3 * T, rho, np.ones(4), 2.0, "steps")
    flow = replace(path, t=0.1 * T, rho=np.minimum(rho, -0.01), clock="time")
    run = runs.Run(setting, Start(0.0, math.log(0.8), 1, 2.0), path, path, flow)
    check = runs.angle_checks([run])[0]
    assert check.applies == {"empirical": False, "population": False, "flow": True}
    lost = replace(flow, rho=np.where(T < 2.0, rho, np.nan))
    for check in runs.magnitude_checks([replace(run, flow=lost)]):
        assert check.broken("flow")[-2:].all()
        assert check.most("flow") == np.inf


# --- Shapes of |w(T)| -----------------------------------------------------------------------------


def plain_shape(values, least):
    """By all pairs: a fall is a pair with a drop above `least`, likewise a rise."""
    v, pairs = np.asarray(values), [(i, j) for i in range(len(values)) for j in range(i)]
    rises = [i for i, j in pairs if v[i] - v[j] > least]
    falls = [(i, j) for i, j in pairs if v[j] - v[i] > least]
    if not rises and not falls:
        return population.RISING if v[-1] > v[0] else population.FALLING
    if not falls or not rises:
        return population.FALLING if falls else population.RISING
    after = any(j >= min(rises) for _, j in falls)
    early = not any(i < min(rises) for i, _ in falls)
    return population.OTHER if after or early else population.TURNING


def test_shapes_of_random_curves():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(400):
        values = np.cumsum(rng.standard_normal(8) + rng.choice([-1.0, 0.0, 1.0]))
        if rng.random() < 0.4:
            values = np.abs(values - rng.uniform(-3, 3))
        least = float(rng.choice([0.0, 0.3, 1.0]))
        found = population.shape_of(values, least)[0]
        assert found == plain_shape(values, least)
        seen.add(found)
    assert seen == set(population.SHAPES)


def test_a_flow_cut_short_is_a_stray():
    setting = replace(runs.experiment(layers=(1,), norms=(2.0,))[0], steps=10)
    found = experiments.flow_shapes([setting], 3, 2, follow=1)
    assert found["stray"].tolist() == [True, False]  # it falls, and has not risen yet
    assert (found["shape"] == population.TURNING).all()
