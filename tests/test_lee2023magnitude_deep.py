"""Section 5.2, Figures 3 and 4 of Lee et al. 2023: runs against slow and plain ones, shapes of
curves, restarted bounds, and evidence that can fail."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import sympy
import torch
from numpy.polynomial.chebyshev import Chebyshev
from reluflow.figures import fingerprint_of
from reluflow.flows.population import PopulationPath, population_flow, pull
from reluflow.papers.lee2023magnitude import deep_evidence as evidence
from reluflow.papers.lee2023magnitude import deep_networks as deep
from reluflow.papers.lee2023magnitude import turning
from reluflow.papers.lee2023magnitude.bounds import magnitude_bounds, two_layer_magnitude_bounds
from reluflow.papers.lee2023magnitude.deep_flow import (
    chebyshev_step,
    spectral_radius,
    stabilised_flow,
)
from reluflow.papers.lee2023magnitude.pictures import deep as pictures
from reluflow.papers.lee2023magnitude.settings import Setting, experiment
from scipy.integrate import solve_ivp

# The module, even where the package exports a function of the same name.
restarts = import_module("reluflow.papers.lee2023magnitude.restarts")

TINY = deep.DeepSetting(
    start=0.5, teacher=0.7, step=0.01, n_steps=400, plain=10, n=37, d=4, width=5, depth=4
)


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


# The stabilised method


@pytest.mark.parametrize("stages", [2, 3, 7, 30])
def test_a_step_is_its_stability_polynomial(stages):
    z, h = np.array([0.0, 0.3, 2.0, 11.0, 100.0]), 0.1
    w = tensor(np.ones(5))
    found = chebyshev_step(lambda u: -tensor(z) * u, w, -tensor(z), h, stages)
    T, w0 = Chebyshev.basis(stages), 1.0 + 2.0 / 13.0 / stages**2
    w1 = T.deriv()(w0) / T.deriv(2)(w0)
    b = T.deriv(2)(w0) / T.deriv()(w0) ** 2
    np.testing.assert_allclose(found, 1.0 + b * (T(w0 - w1 * h * z) - T(w0)), rtol=1e-9, atol=1e-9)


def test_a_step_is_stable_as_far_as_said_and_of_second_order():
    for stages in (5, 20, 60):
        z = np.linspace(0.0, 0.65 * stages**2, 400)
        end = chebyshev_step(
            lambda u, z=z: -tensor(z) * u, tensor(np.ones(400)), -tensor(z), 1.0, stages
        )
        assert float(end.abs().max()) <= 1.0 + 1e-9
    errors = [
        float(chebyshev_step(lambda u: -u, tensor([1.0]), tensor([-1.0]), h, 4)[0]) - math.exp(-h)
        for h in (0.1, 0.05)
    ]
    assert 6.5 < errors[0] / errors[1] < 9.5  # h^3 in one step


def test_the_flow_of_a_stiff_equation():
    rates = np.geomspace(0.01, 2000.0, 12)

    def f(t, w):
        return -rates * w + np.sin(w[::-1])

    exact = solve_ivp(f, (0.0, 3.0), np.ones(12), method="Radau", rtol=1e-10, atol=1e-12).y[:, -1]
    errors = []
    for tolerance in (1e-2, 1e-4):
        path = stabilised_flow(
            lambda w: tensor(f(0.0, w.numpy())), tensor(np.ones(12)), 3.0, tolerance
        )
        errors.append(float(np.abs(path.states[-1].numpy() - exact).max()))
        assert path.t[-1] == 3.0
        assert path.evaluations < 1500  # Euler's method needs 3000
    assert errors[0] < 0.1
    assert errors[1] < 1e-3


def test_a_step_too_long_is_refused():
    path = stabilised_flow(lambda w: -(w**3), tensor([1.0]), 10.0, 1e-5, first=10.0)
    assert path.refused > 0
    assert float(path.states[-1][0]) == pytest.approx(21.0**-0.5, rel=1e-3)


def test_the_spectral_radius_has_its_margin():
    A = np.diag([-50.0, -3.0, -0.1])
    ones = tensor(np.ones(3))
    radius, lead = spectral_radius(lambda w: tensor(A) @ w, ones, tensor(A) @ ones, ones)
    assert radius == pytest.approx(60.0, rel=0.02)
    assert abs(float(lead[0])) == pytest.approx(1.0, abs=1e-3)


# Deep networks


def plain_gradient(weights, X, y):
    weights = [W.clone().requires_grad_() for W in weights]
    h = X
    for W in weights[:-1]:
        h = torch.relu(h @ W.T)
    loss = 0.5 * ((h @ weights[-1].T)[:, 0] - y).square().mean()
    return float(loss.detach()), torch.autograd.grad(loss, weights)


@pytest.mark.parametrize("n", [37, 1000, 2050])
def test_the_gradient_is_torchs_own(n):
    problem = deep.DeepProblem(replace(TINY, n=n), 3)
    loss, expected = plain_gradient(problem.layers(problem.start), problem.X, problem.y)
    found = problem.layers(problem.descent_direction(problem.start))
    assert problem.loss(problem.start) == pytest.approx(loss, rel=1e-12)
    for G, E in zip(found, expected, strict=True):
        np.testing.assert_allclose(G, -E, rtol=1e-10, atol=1e-13)


def test_the_setting_is_the_papers():
    assert deep.SMALL.shapes == [(50, 100), (50, 50), (50, 50), (50, 50), (1, 50)]
    small, large = deep.SMALL, deep.LARGE
    assert (small.start, small.step, small.n_steps) == (0.04, 0.0008, 100000)
    assert (large.start, large.step, large.n_steps) == (0.44, 0.0001, 30000)
    assert (small.n, small.d, small.width, small.depth) == (10000, 100, 50, 5)
    assert deep.with_data(small, 10**6).n == 10000
    assert deep.with_data(small, 10).n == 10


def test_problems_of_one_seed_share_directions_and_scale():
    a, b = deep.DeepProblem(TINY, 5), deep.DeepProblem(replace(TINY, start=1.0, teacher=1.4), 5)
    np.testing.assert_allclose(2.0 * a.start, b.start)
    np.testing.assert_allclose(a.X, b.X)
    np.testing.assert_allclose(2.0**TINY.depth * a.y, b.y)
    assert not np.allclose(deep.DeepProblem(TINY, 6).start, a.start)


def slow_descent(setting, seed, steps):
    """Norms after every step of a plain loop with automatic gradients."""
    problem = deep.DeepProblem(setting, seed)
    W, norms, losses = problem.layers(problem.start), [], []
    for _ in range(steps + 1):
        loss, G = plain_gradient(W, problem.X, problem.y)
        norms.append([float(M.norm()) for M in W])
        losses.append(loss)
        W = [M - setting.step * g for M, g in zip(W, G, strict=True)]
    return np.array(norms), np.array(losses)


def test_descent_is_a_plain_loop():
    run = deep.deep_descent(TINY, 1, 60)
    norms, losses = slow_descent(TINY, 1, 60)
    np.testing.assert_allclose(run.norms, norms, rtol=1e-10)
    np.testing.assert_allclose(run.losses, losses, rtol=1e-10)
    np.testing.assert_array_equal(run.steps, np.arange(61.0))
    magnitudes = run.magnitudes
    np.testing.assert_allclose(magnitudes["all weights"], np.linalg.norm(norms, axis=1))
    np.testing.assert_allclose(magnitudes["product of all |W_k|"], norms.prod(axis=1))
    np.testing.assert_allclose(magnitudes["first layer |W_1|"], norms[:, 0])


def test_a_run_ends_where_the_plain_descent_ends():
    fine = replace(TINY, step=0.002, n_steps=800)
    norms, losses = slow_descent(fine, 1, 800)
    run = deep.deep_run(fine, 1, tolerance=1e-5)
    assert run.steps[-1] == pytest.approx(800)
    np.testing.assert_allclose(run.norms[-1], norms[-1], rtol=2e-3)
    assert run.losses[-1] == pytest.approx(losses[-1], rel=0.02)
    np.testing.assert_allclose(run.norms[:11], norms[:11], rtol=1e-10)  # the plain steps
    middle = int(np.argmin(np.abs(run.steps - 300.0)))
    at = round(float(run.steps[middle]))
    np.testing.assert_allclose(run.norms[middle], norms[at], rtol=5e-3)


def test_the_flow_nears_descent_as_the_step_falls():
    gaps = []
    for step in (0.02, 0.01, 0.005):
        setting = replace(TINY, step=step, n_steps=round(2.0 / step), plain=0)
        flow = deep.deep_run(setting, 1, 1e-7).states[-1]
        plain = deep.deep_descent(setting, 1, setting.n_steps).states[-1]
        gaps.append(float((flow - plain).norm()))
    assert gaps[0] > 1.5 * gaps[1] > 2.25 * gaps[2] > 0.0


def test_the_curvature_is_the_hessians():
    problem = deep.DeepProblem(TINY, 1)
    w = problem.start
    columns = []
    for k in range(problem.size):
        e = torch.zeros_like(w)
        e[k] = 1e-6
        columns.append((problem.descent_direction(w - e) - problem.descent_direction(w + e)) / 2e-6)
    largest = float(np.abs(np.linalg.eigvalsh(torch.stack(columns).numpy())).max())
    assert problem.curvature(w) == pytest.approx(largest, rel=0.1)
    run = deep.deep_descent(TINY, 1, 3)
    assert deep.curvature_against_step(run, 1, [0])[0] == pytest.approx(0.01 * largest, rel=0.1)


def test_threads_are_given_back():
    before = torch.get_num_threads()
    with deep.one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
    with pytest.raises(RuntimeError, match="inside"), deep.one_thread():
        raise RuntimeError("inside")
    assert torch.get_num_threads() == before


def run_with(norms, steps=None, losses=None, setting=TINY):
    norms = np.array([[v] * setting.depth for v in norms], float)
    steps = np.arange(len(norms), dtype=float) if steps is None else np.array(steps, float)
    losses = np.ones(len(norms)) if losses is None else np.array(losses, float)
    problem = deep.DeepProblem(setting, 0)
    return deep.DeepRun(setting, steps, losses, norms, 1.0, (problem.start,) * 4, 0)


def test_arrivals():
    assert run_with([0, 5, 8.9, 9.1, 10], [0, 10, 20, 30, 40]).arrived(0.9) == 30
    assert run_with([0, 9.5, 8.0, 9.6, 10], [0, 10, 20, 30, 40]).arrived(0.9) == 30


def test_fates():
    assert deep.fate(run_with([1, 1], losses=[2, 1])) == "loss falls"
    assert deep.fate(run_with([1, 1, 1], losses=[2, 3, 1])) == "loss rises"
    assert deep.fate(run_with([1, 1e9], losses=[2, 1])) == "diverges"
    assert deep.fate(run_with([1, 1], losses=[2, math.nan])) == "diverges"
    table = deep.fates(0, n=60)
    assert table.loc["(b) k a variance", "descent"] == "diverges"
    assert table.loc["(b) loss a sum over the data", "descent"] == "diverges"


def test_overshoots_tell_stable_steps_from_unstable_ones():
    calm = deep.overshoots(replace(TINY, step=1e-4), 0, 3, n=30)
    assert (calm.unstable < 2.0).all()
    assert not calm.jumped.any()
    wild = deep.overshoots(deep.LARGE, 0, 2, n=100)
    assert (wild.unstable > 2.0).all()
    assert wild.jumped.all()


# Shapes


@pytest.mark.parametrize(
    ("values", "shape", "turn"),
    [
        ([0, 1, 2, 3], turning.RISING, 0),
        ([3, 2, 1, 0], turning.FALLING, 0),
        ([3, 2, 1, 0, 2, 5], turning.TURNING, 3),
        ([0, 2, 1, 0], turning.OTHER, 0),
        ([3, 0, 2, 1], turning.OTHER, 0),
        ([3, 0, 2, 1.95, 4], turning.TURNING, 1),
        ([0, -0.05, 3], turning.RISING, 0),
        ([3, 3.05, 2, 0.95, 1, 2], turning.TURNING, 3),
        ([0, 0.01], turning.RISING, 0),
        ([0, 0.05, -0.01], turning.FALLING, 0),
        ([0, 0.06, 0.0, 1], turning.RISING, 0),
        ([1, 0.5, 0.55, 0.45, 0.52, 0.3], turning.FALLING, 0),
    ],
)
def test_shapes_of_curves(values, shape, turn):
    assert turning.shape_of(np.array(values, float), 0.1) == (shape, turn)


def plain_shape(values, least):
    """The same by all pairs: a fall is a pair with a drop above `least`, likewise a rise."""
    v = np.asarray(values)
    rises = [(i, j) for i in range(len(v)) for j in range(i) if v[i] - v[j] > least]
    falls = [(i, j) for i in range(len(v)) for j in range(i) if v[j] - v[i] > least]
    if not rises and not falls:
        return turning.RISING if v[-1] > v[0] else turning.FALLING
    if not falls:
        return turning.RISING
    if not rises:
        return turning.FALLING
    first_rise = min(i for i, _ in rises)
    late = v[first_rise:]
    after = any(late[j] - late[i] > least for i in range(len(late)) for j in range(i))
    early = not any(i < first_rise for i, _ in falls)
    return turning.OTHER if after or early else turning.TURNING


def test_shapes_of_random_curves():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(400):
        values = np.cumsum(rng.standard_normal(8) + rng.choice([-1.0, 0.0, 1.0]))
        if rng.random() < 0.4:
            values = np.abs(values - rng.uniform(-3, 3))
        least = float(rng.choice([0.0, 0.3, 1.0]))
        found = turning.shape_of(values, least)[0]
        assert found == plain_shape(values, least)
        seen.add(found)
    assert seen == set(turning.SHAPES)


def test_flows_have_the_shape_of_their_equations():
    panels = experiment(layers=(1, 2), norms=(0.1, 2.0)).settings
    survey = turning.flow_shapes(panels, 3, 4, follow=2)
    assert (survey.trials, survey.followed, survey.strays) == (4, 2, 0)
    for row, panel in enumerate(panels):
        setting = replace(panel, seed=3)
        psi, rho = turning.start_of(setting)
        falls = np.exp((panel.m + 1) * rho) > pull(2.0 * np.arctan(np.exp(psi)))
        assert bool(falls) == (panel.norm == 2.0)
        assert survey.counts[row].sum() == 4
        size = panel.scale * math.sqrt(panel.d)
        steps = np.arange(0.0, panel.steps, 500.0)
        path = population_flow(psi, rho, panel.m, panel.rate * steps, size)
        least = steps[np.argmin(path.rho)]
        if falls:
            other = replace(panel, seed=4)
            again = population_flow(*turning.start_of(other), panel.m, panel.rate * steps, size)
            mean = 0.5 * (least + steps[np.argmin(again.rho)])
            assert survey.turns[row] == pytest.approx(mean, abs=600)
        else:
            assert np.isnan(survey.turns[row])


def test_a_variance_gives_the_roots_of_the_ratios():
    setting = experiment(layers=(1,), norms=(0.1,)).settings[0]
    (psi, rho), (same, larger) = turning.start_of(setting), turning.start_of(setting, variance=True)
    assert same == pytest.approx(psi)
    assert larger - rho == pytest.approx(-0.5 * math.log(0.1))
    edge = turning.flow_shapes([setting], 0, 40, variance=True)
    assert 5 < edge.count(1, 0.1, turning.TURNING) < 35


def test_descent_on_data_is_a_plain_loop():
    setting = Setting(2, 1.0, 0.5, 8e-4, 6, 40, 600, 2)
    length, size = turning._lengths(setting, 10)
    X, target, w = setting.data(), setting.target(), setting.start()
    assert size == pytest.approx(np.linalg.norm(target))
    y = size * np.maximum(X @ target, 0.0)
    v, lengths = np.linalg.norm(w), [np.linalg.norm(w)]
    for _ in range(60):
        error = np.where(X @ w > 0.0, v * (X @ w) - y, 0.0) / 40
        w, v = w - 8e-3 * v * (error @ X), v - 8e-3 * float(error @ np.maximum(X @ w, 0.0))
        lengths.append(np.linalg.norm(w))
    np.testing.assert_allclose(length, lengths, rtol=1e-10)
    survey = turning.descent_shapes([setting], 2, 1, n=40, hurry=10)
    shape, turn = turning.shape_of(np.array(lengths), 1e-3 * size)
    assert survey.count(2, 1.0, shape) == 1
    assert survey.panels[0].n == 40
    if shape == turning.TURNING:
        assert survey.turns[0] == 10.0 * turn


# Restarts


def test_restarted_bounds_start_at_the_path():
    setting = restarts.restart_setting(2, 1.0, 0, n=60, d=8)
    panel = restarts.restart_run(setting)
    for at, v, phi, (low, high) in zip(
        panel.points, panel.v_at, panel.phi_at, panel.bounds, strict=True
    ):
        assert low[0] == pytest.approx(v)
        assert high[0] == pytest.approx(v)
        assert len(low) == len(panel.T) - at
        eta, a = setting.rate, float(pull(phi)) * panel.target**2  # the level, squared
        after = np.sqrt(a / (1.0 - (1.0 - a / v**2) * (1.0 - a * eta) ** 300))
        assert low[300] == pytest.approx(after)
    np.testing.assert_allclose(panel.levels, panel.target * np.sqrt(pull(panel.phi_at)))


def test_population_restarts_have_a_rising_least_and_nested_bounds():
    for layers in (1, 2):
        panel = restarts.tightening(layers, 1.0, 0, 1)[0]
        v, points = panel.v, panel.points
        assert panel.turn == int(np.argmin(v))
        assert points[0] < panel.turn < points[-1]
        assert (np.diff(panel.gaps) < 0.0).all()
        last = points[-1]
        means = [
            np.mean([high[T - at] - low[T - at] for T in range(last + 1, setting_steps(panel))])
            for at, (low, high) in zip(points, panel.bounds, strict=True)
        ]
        np.testing.assert_allclose(panel.gaps, np.array(means) / panel.target)
        assert panel.inside <= 1e-9
        outside = max(
            max(low[T] - v[at + T], v[at + T] - high[T], 0.0)
            for at, (low, high) in zip(points, panel.bounds, strict=True)
            for T in range(1, len(low))
        )
        assert panel.breaches.max() == pytest.approx(outside / panel.target)


def setting_steps(panel):
    return len(panel.T)


def made_path(v, phi, target=1.0):
    k = len(v)
    return PopulationPath(
        np.arange(float(k)), np.log(np.tan(0.5 * np.asarray(phi))), np.log(np.asarray(v) / target),
        np.zeros((k, 0)), target, "steps",
    )  # fmt: skip


def test_a_path_that_is_no_descent_leaves_its_bounds():
    setting = replace(restarts.restart_setting(1, 1.0, 0), rate=0.1)
    v = np.linspace(1.0, 3.0, 30)
    panel = restarts.restarted(setting, made_path(v, np.full(30, 2.0)), (0, 10))
    assert panel.breaches.max() > 1.0
    assert panel.inside > 0.1
    assert not panel.falls_and_rises
    dip = np.concatenate([np.linspace(1.0, 0.5, 15), np.linspace(0.5, 1.0, 15)])
    assert restarts.restarted(setting, made_path(dip, np.full(30, 2.0)), (0,)).falls_and_rises


def test_the_published_settings_of_figure_3():
    for layers, steps, rate in ((1, 30000, 0.0006), (2, 2000, 0.0001)):
        setting = restarts.restart_setting(layers, 1.0, 7)
        assert (setting.steps, setting.rate, setting.scale) == (steps, rate, 1.2)
        assert (setting.n, setting.d, setting.seed) == (10000, 100, 7)
    assert restarts.POINTS == {1: (0, 2500, 5000, 7500), 2: (0, 120, 250, 500)}


def test_the_bend_by_symbols():
    u, level = sympy.symbols("u level", positive=True)
    for m in range(4):
        f = -(u**m) * (u ** (m + 1) - level ** (m + 1)) / 2
        at = {level: 1.3, u: max(restarts.inflection(1.3, m), 1e-12)}
        slope = float(sympy.diff(f, u).subs(at))
        assert slope == pytest.approx(-0.5 if m == 0 else 0.0, abs=1e-9)


def test_the_bend_by_the_printed_bounds():
    t = np.linspace(0.0, 30.0, 3001)
    for phi, v0 in ((2.0, 0.05), (2.6, 0.2), (2.0, 3.0)):
        low = two_layer_magnitude_bounds(t, phi, v0, 1.0)[0]
        level = math.sqrt(pull(phi))
        bend = np.sign(np.diff(low, 2))
        convex = (low[1:-1] < level / math.sqrt(3.0)) | (v0 > level)
        clear = np.abs(low[1:-1] - level / math.sqrt(3.0)) > 1e-2
        clear &= np.abs(np.diff(low, 2)) > 1e-12
        assert (bend == np.where(convex, 1.0, -1.0))[clear].all()
    assert (np.diff(magnitude_bounds(t[:500], 2.0, 0.1, 1.0)[0], 2) < 0.0).all()


def test_a_wrong_bend_is_found(monkeypatch):
    good = restarts.survey_bounds(0, 30)
    assert (good.bent, good.looked > 100) == (0, True)
    assert good.nested.max() <= 1e-9
    assert 0 < good.between <= good.convex < 30
    monkeypatch.setattr(restarts, "inflection", lambda level, m: 0.9 * level)
    assert restarts.survey_bounds(0, 30).bent > 0


# Evidence and figures


def fails(settlement):
    return [item.what for item in settlement["evidence"] if item.decides and not item.holds]


def surveys():
    panels = experiment(layers=(1, 2)).settings
    counts = np.zeros((6, 4), int)
    for row, panel in enumerate(panels):
        counts[row, turning.SHAPES.index(turning.said_of(panel))] = 40
    return turning.ShapeSurvey(panels, counts, np.full(6, 9000.0), 40, 0)


def test_two_phases_can_fail():
    good = surveys()
    assert not fails(evidence.two_phases(good, good, good, good))
    stray = replace(good, counts=np.full((6, 4), 10))
    for k in range(3):
        args = [good] * 3
        args[k] = stray
        settled = evidence.two_phases(*args, good)
        assert len(fails(settled)) == (2 if k == 0 else 1)
        assert "otherwise" in settled["instead"]
    # One start in forty of another shape is luck, and no reason to judge otherwise.
    lucky = good.counts.copy()
    lucky[0, :2] = [39, 1]
    assert not fails(evidence.two_phases(good, replace(good, counts=lucky), good, good))
    assert fails(evidence.two_phases(good, replace(good, strays=1), good, good))
    late = replace(good, turns=np.full(6, 2e5))
    assert fails(evidence.two_phases(good, late, good, good))
    assert good.table().loc["1L-SN", "rising"] == 40
    assert good.least_share(0.1, turning.RISING) < 1.0


@pytest.fixture(scope="module")
def third():
    drawn = [restarts.tightening(layers, 1.0, 0, 1)[0] for layers in (1, 2)]
    small = [restarts.tightening(layers, 0.1, 0, 1)[0] for layers in (1, 2)]
    return drawn, small


def test_figure_3_can_fail(third):
    drawn, small = third
    assert not fails(evidence.bounds_restarted(drawn, drawn, small))
    assert fails(evidence.bounds_restarted([small[0], drawn[1]], drawn, small))
    assert fails(evidence.bounds_restarted(drawn, small, small))
    swapped = replace(drawn[0], bounds=drawn[0].bounds[:1] * 1 + drawn[0].bounds[1:][::-1])
    with pytest.raises(ValueError, match="broadcast"):
        _ = swapped.inside
    loose = tuple((low - 0.1 * j, high) for j, (low, high) in enumerate(drawn[1].bounds))
    looser = replace(drawn[1], bounds=loose)
    assert fails(evidence.bounds_restarted([drawn[0], looser], drawn, small))


def test_sides(third):
    panel = third[0][1]
    assert evidence.sides(panel) == (4, 4)
    mirrored = tuple(
        (2 * panel.v[at:] - high, 2 * panel.v[at:] - low)
        for at, (low, high) in zip(panel.points, panel.bounds, strict=True)
    )
    turned = replace(panel, bounds=mirrored)
    assert evidence.sides(turned)[0] == 0


def test_bounds_surveys_can_fail():
    good = restarts.BoundSurvey(np.full((3, 2), -1e-3), 0, 10, 4, 1)
    assert not fails(evidence.nested_bounds(good)) + fails(evidence.bent_bounds(good))
    assert fails(evidence.nested_bounds(replace(good, nested=np.array([[1e-3, -1.0]]))))
    assert fails(evidence.nested_bounds(replace(good, nested=np.array([[-1.0, 1e-3]]))))
    assert fails(evidence.bent_bounds(replace(good, bent=1)))


def starts(fell=(True, True, False), unstable=(5.0, 3.0, 1.0), survived=(True, True, True)):
    fell = np.array(fell)
    return deep.Overshoots(np.array(unstable), fell, ~fell, fell, np.array(survived))


def test_a_run_that_diverges_says_so():
    run = deep.deep_run(replace(TINY, start=3.0, step=10.0), 1)
    assert run.diverged
    assert run.gradients == len(run.steps) - 1 < TINY.plain
    pictures.deep_magnitudes([run] * 2, [run] * 2)


def test_a_first_fall_is_the_flows():
    setting = replace(TINY, start=0.05, n_steps=5, plain=0)
    found = deep.falls_first(setting, 3, 30, n=40)
    plain = [deep.deep_descent(replace(setting, n=40), 3 + k, 1).norms[:, 0] for k in range(30)]
    assert found.tolist() == [bool(v[1] < v[0]) for v in plain]
    assert 5 < found.sum() < 25


def test_the_unstable_start_can_fail():
    table = pd.DataFrame(
        {"descent": ["diverges", "diverges", "loss rises"]},
        index=["(b) k a variance", "(b) loss a sum over the data", "(b) as taken"],
    )
    assert not fails(evidence.unstable_start(starts(), table))
    assert fails(evidence.unstable_start(starts(unstable=(1.0, 1.5, 3.0)), table))
    assert fails(evidence.unstable_start(starts((False, False, True)), table))
    assert fails(evidence.unstable_start(starts(survived=(True, False, False)), table))
    for row, other in ((0, "loss falls"), (1, "loss rises")):
        bad = table.copy()
        bad.iloc[row, 0] = other
        assert fails(evidence.unstable_start(starts(), bad))


def test_runs_are_read_like_any_curve():
    class Made:
        setting, target = experiment().settings[1], 1.0
        trained = made_path([1.0, 0.5, 0.8], [2.0, 2.1, 2.2])

    survey = turning.run_shapes([Made])
    assert survey.count(1, 1.0, turning.TURNING) == 1
    assert survey.turns[0] == 1


def test_figures_fit_the_page(third):
    runs = deep.deep_run(TINY, 1), deep.deep_run(replace(TINY, n_steps=800), 1)
    for figure in (pictures.restarted_bounds(third[0]), pictures.deep_magnitudes(runs, runs)):
        assert "cut off" not in fingerprint_of(figure)
