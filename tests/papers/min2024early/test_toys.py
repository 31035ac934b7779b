"""The toy experiments of chapter 3: places, readings, the law of those left behind, falls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reluflow.papers.min2024early import toys
from reluflow.papers.min2024early.toys import (
    Ensemble,
    chance_astray,
    chance_astray_after,
    normal_starts,
)
from scipy.integrate import quad


def test_places_one_neuron_at_a_time() -> None:
    X, y = toys.FIGURE_6["two and two"]
    W, v = normal_starts(0, 3, 40, 2, 1.0)
    found = toys.places((X, y), W, v)
    plus, minus = X[:2].sum(axis=0), X[2:].sum(axis=0)
    for s in range(3):
        for j in range(40):
            on = [float(x @ W[s, j]) > 0.0 for x in X]
            home = [True, True, False, False] if v[s, j] > 0 else [False, False, True, True]
            assert found.live[s, j] == any(on)
            assert found.arrived[s, j] == (on == home)
            assert found.astray[s, j] == (any(on) and on != home)
            goal = plus if v[s, j] > 0 else minus
            cosine = goal @ W[s, j] / np.linalg.norm(goal) / np.linalg.norm(W[s, j])
            assert found.aligned[s, j] == pytest.approx(cosine)


def test_data_of_one_label_have_no_other_goal_than_death() -> None:
    W, v = normal_starts(1, 2, 50, 2, 1.0)
    found = toys.places(toys.FIGURE_7, W, -np.abs(v))
    assert not found.arrived.any()
    assert np.isnan(found.aligned).all()


def test_the_beginning_of_the_fall() -> None:
    loss = np.array([[1.0, 1.0], [0.999, 0.995], [0.995, 0.5], [0.5, 0.1]])
    knots = np.array([0.0, 100.0, 200.0, 300.0])
    W = np.arange(4.0)[:, None, None, None] * np.ones((1, 2, 3, 2))
    run = Ensemble(knots, W, W[..., 0], np.array([0.0, 100.0, 200.0, 300.0]), loss)
    at, _ = toys.as_the_loss_begins_to_fall(run)
    assert at[0, 0, 0] == 2.0
    assert at[1, 0, 0] == 1.0


def test_a_picture_of_half_the_starts_is_not_typical() -> None:
    assert not toys.typical("so", np.arange(100) < 50)[0].holds
    assert not toys.typical("so", np.arange(100) < 58)[0].holds
    assert toys.typical("so", np.arange(100) < 65)[0].holds


def test_flow_on_the_clock_of_descent() -> None:
    grid = [0, 1000, 4000]
    flow = toys.flow(toys.FIGURE_7, 3, 4, grid)
    run = toys.descent(toys.FIGURE_7, 3, 4, grid)
    assert np.array_equal(flow.knots, run.knots)
    np.testing.assert_allclose(flow.at(4000)[1], run.at(4000)[1], rtol=0.05, atol=1e-7)


@pytest.mark.parametrize(("tau", "angle"), [(0.5, 1.0), (3.0, 0.1), (7.0, 0.001), (2.0, 0.0)])
def test_the_law_by_quadrature(tau: float, angle: float) -> None:
    C, S = math.cosh(tau), math.sinh(tau)

    def density(t: float) -> float:
        a = math.tan(angle) * (C * math.cos(t) + S * math.sin(t))
        return (1.0 - a / math.hypot(1.0, a)) / (2.0 * math.pi)

    value, _ = quad(density, -math.atan(S / C), math.pi / 2, limit=500, points=[0.0])
    assert chance_astray(tau, angle) == pytest.approx(value, rel=1e-6)


def test_the_law_far_out() -> None:
    for tau, angle in ((14.0, 1e-3), (12.0, 0.1), (17.0, 1e-4)):
        near = math.exp(-tau) / (2.0**0.5 * math.pi * math.tan(angle))
        assert chance_astray(tau, angle) == pytest.approx(near, rel=0.01)
    assert chance_astray(30.0, 0.0) == pytest.approx(3.0 / 8.0)
    steps = chance_astray_after(7000, 1e-3, 1e-3)
    assert steps == pytest.approx(chance_astray(7.0, 1e-3), rel=0.01)
    assert steps > chance_astray(7.0, 1e-3)  # descent is a little slower than the flow


def curve(falls: list[tuple[float, float]], width: float) -> np.ndarray:
    t = np.arange(0.0, 1000.0)
    return sum(size / (1.0 + np.exp((t - at) / width)) for at, size in falls)


def test_falls_are_counted_by_the_rule() -> None:
    assert toys.falls(curve([(300, 1.0)], 20.0)).tolist() == pytest.approx([300], abs=1)
    assert len(toys.falls(curve([(300, 1.0), (700, 1.0)], 20.0))) == 2
    assert len(toys.falls(curve([(200, 1.0), (500, 0.5), (800, 1.0)], 20.0))) == 3
    assert len(toys.falls(curve([(300, 1.0), (700, 0.05)], 20.0))) == 1  # too low
    assert len(toys.falls(curve([(300, 1.0), (380, 1.0)], 20.0))) == 1  # a shallow valley
    assert len(toys.falls(curve([(300, 1.0), (460, 1.0)], 20.0))) == 2


def test_spread_of_large_neurons() -> None:
    turn = np.radians([10.0, 12.0, 190.0, 50.0])
    W = np.stack([np.cos(turn), np.sin(turn)], axis=1) * np.array([[1.0], [1.0], [1.0], [0.05]])
    assert toys.spread(W, np.array([1.0, 1.0, -1.0, 1.0])) == pytest.approx(2.0)
    assert toys.spread(W, np.array([1.0, 1.0, 1.0, 1.0])) == pytest.approx(180.0)


def test_ratio_of_sums() -> None:
    assert toys.ratio_of_sums(toys.FIGURE_6["mirrored"]) == pytest.approx(1.0)
    assert toys.ratio_of_sums(toys.FIGURE_6["unequal sums"]) == pytest.approx(5.0**0.5)
