"""Descents on data: in lock-step against the loops over all data that they stand for; the runs,
checks and shapes of Figures 1 and 2; the deep network of Figure 4 and its record."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude import chains, experiments, population, runs
from reluflow.papers.lee2023magnitude import deep_network as deep
from reluflow.papers.lee2023magnitude.setting import Start

FEW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def loop(X, y, w, step: float, n_steps: int, m: int = 0):
    """Every w (k + 1, d) and v_1 (k + 1,) of plain descent in float64, from a balanced start with
    all v_k by themselves, and the number of data (k,) that each step flips."""
    X, y, w = (np.asarray(a, float) for a in (X, y, w))
    v = np.full(m, np.linalg.norm(w))
    states, layers, flips = [w], [np.linalg.norm(w)], []
    for _ in range(n_steps):
        h = X @ w
        residual = np.prod(v) * np.maximum(h, 0.0) - y
        pull = residual @ np.maximum(h, 0.0)
        rests = np.array([np.prod(np.delete(v, i)) for i in range(m)])
        w = w - step * np.prod(v) * ((residual * (h > 0.0)) @ X)
        v = v - step * pull * rests
        flips.append(int(((X @ w > 0.0) != (h > 0.0)).sum()))
        states.append(w)
        layers.append(v[0] if m else layers[0])
    return np.array(states), np.array(layers), np.array(flips)


def agree(X, y, w0, step, n_steps, m=(0,), tolerance=1e-12):
    """The loops' flips (r, k), after all runs have been found equal to their loops."""
    X, y, w0 = np.asarray(X, float), np.atleast_2d(y).astype(float), np.atleast_2d(w0).astype(float)
    step, m = np.broadcast_to(step, len(m)).astype(float), np.array(m)
    parts = chains.lockstep_descent(X, y, w0, step, n_steps, m)
    found = [np.concatenate(part) for part in zip(*parts, strict=True)]
    flips = []
    for k in range(len(m)):
        states, layers, flipped = loop(X, y[k], w0[k], step[k], n_steps, int(m[k]))
        scale = np.maximum.accumulate(np.abs(states).max(axis=1))[:, None]
        assert np.abs((found[0][:, k] - states) / scale).max() <= tolerance
        np.testing.assert_allclose(found[1][:, k], layers, rtol=tolerance)
        flips.append(flipped)
    return np.array(flips)


def test_exactly_on_the_boundary_is_inactive() -> None:
    X, y, w0 = [[1.0, 0.0], [0.5, 1.0], [0.0, 0.0]], [1.0, 2.0, 5.0], [0.0, 1.0]
    assert agree(X, y, w0, 0.1, 50)[0, 0] == 1
    assert agree([[1.0, 0.0]], [1.0], [-1.0, 1.0], 0.1, 5).sum() == 0  # silent: it rests


def test_more_data_on_the_boundary_than_are_asked() -> None:
    rng = np.random.default_rng(0)
    X = np.eye(5)[rng.integers(0, 5, 600)] * rng.choice([-1.0, 1.0], 600)[:, None]
    X = np.vstack([X, rng.normal(size=(200, 5)), np.zeros((100, 5))])
    agree(X, rng.uniform(0.0, 2.0, 900), np.eye(5)[0], 1e-5, 200)


@FEW
@given(st.integers(0, 10**6), st.sampled_from([0.003, 0.03, 0.3]), st.integers(1, 9))
def test_any_data(seed, pace, near) -> None:
    """Lengths over two decades, labels of both signs, few data asked, and two runs."""
    rng = np.random.default_rng(seed)
    n, d, m = int(rng.integers(1, 200)), int(rng.integers(1, 8)), rng.integers(0, 4, 2)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1, (n, 1))
    y, w0 = rng.uniform(-0.2, 2.0, (2, n)), rng.normal(size=(2, d))
    step = pace / (np.linalg.norm(X, 2) ** 2 * np.maximum(np.linalg.norm(w0, axis=1), 2) ** (2 * m))
    sizes = np.linalg.norm(X, axis=1)
    for k in range(2):
        states, layers, _ = loop(X, y[k], w0[k], step[k], 150, int(m[k]))
        away = np.abs(states @ X.T) > 1e-11 * sizes * np.linalg.norm(states, axis=1)[:, None]
        if not (away.all() and (layers > 1e-3).all()):
            return  # rounding decides an activation
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chains, "_NEAR", near)
        agree(X, y, w0, step, 150, m, tolerance=1e-9)


# --- Runs of Figures 1 and 2 ---


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
    check = runs.angle_checks((run,))[0]
    assert check.applies == {"empirical": False, "population": False, "flow": True}
    lost = replace(flow, rho=np.where(T < 2.0, rho, np.nan))
    for check in runs.magnitude_checks((replace(run, flow=lost),)):
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


TINY = deep.DeepSetting(start=0.5, teacher=0.7, step=0.01, n_steps=300, n=37, d=4, width=5, depth=4)


# --- The deep network of Figure 4 ---


@pytest.mark.parametrize("n", [37, 1000, 2050])
@pytest.mark.parametrize(("dtype", "rel"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_the_gradient_is_torchs_own(n, dtype, rel):
    """By automatic differentiation on all the data at once; sums of single precision are double."""
    problem = deep.DeepProblem(replace(TINY, n=n), 3, dtype)
    loss, direction = problem.loss_and_direction(problem.start)
    at = problem.start.clone().requires_grad_()
    h, W = problem.X, problem.layers(at)
    for layer in W[:-1]:
        h = torch.relu(h @ layer.T)
    expected = 0.5 * ((h @ W[-1].T)[:, 0] - problem.y).square().mean()
    (gradient,) = torch.autograd.grad(expected, at)
    expected = float(expected.detach())
    assert direction.dtype == torch.float64
    assert loss == pytest.approx(expected, rel=rel)
    assert dtype == torch.float64 or loss != pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(direction, -gradient, rtol=100 * rel, atol=rel)


def test_the_curvature_is_the_hessians():
    problem = deep.DeepProblem(TINY, 1)
    w = problem.start
    columns = [problem.descent_direction(w - e) - problem.descent_direction(w + e)
               for e in 1e-6 * torch.eye(len(w), dtype=w.dtype)]  # fmt: skip
    largest = float(np.abs(np.linalg.eigvalsh(torch.stack(columns).numpy())).max()) / 2e-6
    assert problem.curvature(w) == pytest.approx(largest, rel=0.1)
    found = deep.overshoots(TINY, 1, 1, n=TINY.n)
    assert found.unstable[0] == pytest.approx(0.01 * largest, rel=0.1)


def test_a_first_fall_is_the_flows():
    setting = replace(TINY, start=0.05, n_steps=5)
    found = deep.falls_first(setting, 3, 30, n=40)
    problems = [deep.DeepProblem(replace(setting, n=40), 3 + k) for k in range(30)]
    plain = [deep.deep_descent(problem, 1).norms[:, 0] for problem in problems]
    assert found.tolist() == [bool(v[1] < v[0]) for v in plain]
    assert 5 < found.sum() < 25


# --- Its record at full scale ---


@pytest.mark.parametrize("panel", deep.PANELS)
def test_the_record_is_of_the_papers_setting_and_its_data_are_drawn_again(panel):
    """And its steps from both ends come out again, which the page says of two panels."""
    record = deep.load(panel)
    assert record.setting == deep.PANELS[panel]
    problem = deep.DeepProblem(record.setting, 0)
    assert record.losses[0] == pytest.approx(problem.loss_and_direction(problem.start)[0], rel=1e-5)
    assert deep.again(record, 5) < 1e-3


def test_a_record_is_the_descent_in_one_piece(monkeypatch, tmp_path):
    monkeypatch.setattr(deep, "PANELS", {"tiny": TINY})
    monkeypatch.setattr(deep, "CHUNK", 70)
    record = deep.load("tiny", deep.SHELF.at("tiny", 0, root=tmp_path))
    plain = deep.deep_descent(deep.DeepProblem(TINY, 0), TINY.n_steps)
    shown = record.steps.astype(int).tolist()
    assert shown == [*range(51), 100, *range(150, 201), 300]
    np.testing.assert_allclose(record.norms, plain.norms[shown], rtol=1e-4)
    np.testing.assert_allclose(record.losses, plain.losses[shown], rtol=1e-3)
    assert deep.again(record, 50) < 1e-4
    signs, pieces = np.sign(np.diff(plain.norms[:, 0])), []
    for k, sign in enumerate(signs):  # monotone pieces one step at a time
        if k and signs[k - 1] == sign:
            pieces[-1][1] = k + 1
        else:
            pieces.append([k, k + 1])
    said = record.facts["monotone"][deep.FIRST]
    assert [piece[:2] for piece in said["first"]] == pieces
