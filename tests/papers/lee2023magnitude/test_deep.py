"""Section 5.2, Figures 3 and 4 of Lee et al. 2022b: runs against slow and plain ones, shapes of
curves, restarted bounds, and evidence that can fail."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from reluflow.papers.lee2023magnitude import figures
from reluflow.papers.lee2023magnitude import figures_3_and_4 as page
from reluflow.papers.lee2023magnitude.population import pull

TINY = page.DeepSetting(
    start=0.5, teacher=0.7, step=0.01, n_steps=400, plain=10, n=37, d=4, width=5, depth=4
)


# Deep networks


def plain_gradient(weights, X, y):
    weights = [W.clone().requires_grad_() for W in weights]
    h = X
    for W in weights[:-1]:
        h = torch.relu(h @ W.T)
    loss = 0.5 * ((h @ weights[-1].T)[:, 0] - y).square().mean()
    return float(loss.detach()), torch.autograd.grad(loss, weights)


def test_problems_of_one_seed_share_directions_and_scale():
    a, b = (page.DeepProblem(s, 5) for s in (TINY, replace(TINY, start=1.0, teacher=1.4)))
    np.testing.assert_allclose(2.0 * a.start, b.start)
    np.testing.assert_allclose(a.X, b.X)
    np.testing.assert_allclose(2.0**TINY.depth * a.y, b.y)
    assert not np.allclose(page.DeepProblem(TINY, 6).start, a.start)


def slow_descent(setting, seed, steps):
    """Norms after every step of a plain loop with automatic gradients."""
    problem = page.DeepProblem(setting, seed)
    W, norms, losses = problem.layers(problem.start), [], []
    for _ in range(steps + 1):
        loss, G = plain_gradient(W, problem.X, problem.y)
        norms.append([float(M.norm()) for M in W])
        losses.append(loss)
        W = [M - setting.step * g for M, g in zip(W, G, strict=True)]
    return np.array(norms), np.array(losses)


def test_descent_is_a_plain_loop():
    run, _ = page.deep_descent(page.DeepProblem(TINY, 1), 60)
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
    run = page.deep_run(fine, 1, tolerance=1e-5)
    assert run.steps[-1] == pytest.approx(800)
    np.testing.assert_allclose(run.norms[-1], norms[-1], rtol=2e-3)
    assert run.losses[-1] == pytest.approx(losses[-1], rel=0.02)
    np.testing.assert_allclose(run.norms[:11], norms[:11], rtol=1e-10)  # the plain steps
    middle = int(np.argmin(np.abs(run.steps - 300.0)))
    at = round(float(run.steps[middle]))
    np.testing.assert_allclose(run.norms[middle], norms[at], rtol=5e-3)


def test_the_curvature_is_the_hessians():
    problem = page.DeepProblem(TINY, 1)
    w = problem.start
    columns = []
    for k in range(len(w)):
        e = torch.zeros_like(w)
        e[k] = 1e-6
        columns.append((problem.descent_direction(w - e) - problem.descent_direction(w + e)) / 2e-6)
    largest = float(np.abs(np.linalg.eigvalsh(torch.stack(columns).numpy())).max())
    assert problem.curvature(w) == pytest.approx(largest, rel=0.1)
    found = page.overshoots(TINY, 1, 1, n=TINY.n)
    assert found.unstable[0] == pytest.approx(0.01 * largest, rel=0.1)


def run_with(norms, steps=None, losses=None, setting=TINY):
    norms = np.array([[v] * setting.depth for v in norms], float)
    steps = np.arange(len(norms), dtype=float) if steps is None else np.array(steps, float)
    losses = np.ones(len(norms)) if losses is None else np.array(losses, float)
    return page.DeepRun(setting, steps, losses, norms, 1.0)


def test_arrivals():
    assert run_with([0, 5, 8.9, 9.1, 10], [0, 10, 20, 30, 40]).arrived == 30
    assert run_with([0, 9.5, 8.0, 9.6, 10], [0, 10, 20, 30, 40]).arrived == 30


def test_fates():
    assert page.fate(run_with([1, 1], losses=[2, 1])) == "loss falls"
    assert page.fate(run_with([1, 1, 1], losses=[2, 3, 1])) == "loss rises"
    assert page.fate(run_with([1, 1e9], losses=[2, 1])) == "diverges"
    assert page.fate(run_with([1, 1], losses=[2, math.nan])) == "diverges"
    table = page.fates(0, n=60)
    assert table.loc["(b) k a variance", "descent"] == "diverges"
    assert table.loc["(b) loss a sum over the data", "descent"] == "diverges"


def test_overshoots_tell_stable_steps_from_unstable_ones():
    calm = page.overshoots(replace(TINY, step=1e-4), 0, 3, n=30)
    assert (calm.unstable < 2.0).all()
    assert not calm.jumped.any()
    wild = page.overshoots(page.LARGE, 0, 2, n=100)
    assert (wild.unstable > 2.0).all()
    assert wild.jumped.all()


# Restarts


def test_restarted_bounds_start_at_the_path():
    setting = replace(page.restart_setting(2, 1.0, 0), n=60, d=8)
    panel = page.restart_run(setting)
    for at, (low, high) in zip(panel.points, panel.bounds, strict=True):
        v, phi = panel.v[at], panel.path.phi[at]
        assert low[0] == pytest.approx(v)
        assert high[0] == pytest.approx(v)
        assert len(low) == len(panel.v) - at
        eta, a = setting.rate, float(pull(phi)) * panel.target**2  # the level, squared
        after = np.sqrt(a / (1.0 - (1.0 - a / v**2) * (1.0 - a * eta) ** 300))
        assert low[300] == pytest.approx(after)


def test_population_restarts_turn_between_nested_bounds():
    for layers in (1, 2):
        panel = page.tightening(layers, 1.0, 0, 1)[0]
        v, points = panel.v, panel.points
        assert points[0] < int(np.argmin(v)) < points[-1]
        assert (np.diff(panel.gaps) < 0.0).all()
        pairs = list(zip(points, panel.bounds, strict=True))
        after = range(points[-1] + 1, len(v))
        means = [np.mean([high[T - at] - low[T - at] for T in after]) for at, (low, high) in pairs]
        np.testing.assert_allclose(panel.gaps, np.array(means) / panel.target)
        assert panel.inside <= 1e-9
        outside = max(
            max(low[T] - v[at + T], v[at + T] - high[T], 0.0)
            for at, (low, high) in pairs
            for T in range(1, len(low))
        )
        assert panel.breaches.max() == pytest.approx(outside / panel.target)


def test_a_run_that_diverges_says_so():
    run = page.deep_run(replace(TINY, start=3.0, step=10.0), 1)
    assert run.diverged
    assert len(run.steps) - 1 < TINY.plain
    figures.deep_magnitudes([run] * 2, [run] * 2)


def test_a_first_fall_is_the_flows():
    setting = replace(TINY, start=0.05, n_steps=5, plain=0)
    found = page.falls_first(setting, 3, 30, n=40)
    problems = [page.DeepProblem(replace(setting, n=40), 3 + k) for k in range(30)]
    plain = [page.deep_descent(problem, 1)[0].norms[:, 0] for problem in problems]
    assert found.tolist() == [bool(v[1] < v[0]) for v in plain]
    assert 5 < found.sum() < 25
