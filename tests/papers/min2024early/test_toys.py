"""The toy experiments of chapter 3: places, readings, the law of those left behind, falls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reluflow.papers.min2024early import toys
from reluflow.papers.min2024early.toys import chance_astray, normal_starts
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


@pytest.mark.parametrize(("tau", "angle"), [(0.5, 1.0), (3.0, 0.1), (7.0, 0.001), (2.0, 0.0)])
def test_the_law_by_quadrature(tau: float, angle: float) -> None:
    C, S = math.cosh(tau), math.sinh(tau)

    def density(t: float) -> float:
        a = math.tan(angle) * (C * math.cos(t) + S * math.sin(t))
        return (1.0 - a / math.hypot(1.0, a)) / (2.0 * math.pi)

    value, _ = quad(density, -math.atan(S / C), math.pi / 2, limit=500, points=[0.0])
    assert chance_astray(tau, angle) == pytest.approx(value, rel=1e-6)


def curve(falls: list[tuple[float, float]], width: float) -> np.ndarray:
    t = np.arange(0.0, 1000.0)
    return sum(size / (1.0 + np.exp((t - at) / width)) for at, size in falls)


@pytest.mark.parametrize(
    ("falls", "count"),
    [
        ([(300, 1.0)], 1),
        ([(300, 1.0), (700, 1.0)], 2),
        ([(200, 1.0), (500, 0.5), (800, 1.0)], 3),
        ([(300, 1.0), (700, 0.05)], 1),  # too low
        ([(300, 1.0), (380, 1.0)], 1),  # a shallow valley
        ([(300, 1.0), (460, 1.0)], 2),
    ],
)
def test_falls_are_counted_by_the_rule(falls: list[tuple[float, float]], count: int) -> None:
    found = toys.falls(curve(falls, 20.0))
    assert len(found) == count
    assert len(falls) > 1 or abs(found[0] - falls[0][0]) <= 1
