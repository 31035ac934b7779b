"""Theorem 4.1: descent beside a flow g(e^(-ct)), where it is near and where it escapes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude import descent


def test_bent_profiles():
    for beta, power in ((-0.6, 2.0), (3.0, -0.5), (0.5, 3.0)):
        g = descent.bent(beta, power)
        x = np.linspace(0, 1, 2001)
        value, slope = (np.array([f(a) for a in x]) for f in (g.value, g.slope))
        assert np.gradient(value, x)[1:-1] == pytest.approx(slope[1:-1], rel=1e-4)
        assert [g.inverse(w) for w in value[::200]] == pytest.approx(x[::200], abs=1e-12)
        assert g.steepness[:2] == pytest.approx((slope.min(), slope.max()))
        curvature = np.abs(np.gradient(slope, x)).max()
        assert g.steepness[2] == pytest.approx(curvature, rel=1e-2)
    with pytest.raises(InputError):
        descent.bent(-1.0, 2.0)


def test_descent_in_the_plane_escapes_from_its_flow():
    for step in (0.1, 0.01):
        path, flow = descent.plane_descent(step, round(1 / step))
        assert np.linalg.norm(flow, axis=1) == pytest.approx(1.0)
        assert np.linalg.norm(path[1:] - flow[1:], axis=1).max() < 2 * step
        at = descent.escapes(step)
        assert 3.0 < at * step < 9.0
    # One step against differences of the loss.
    path, _ = descent.plane_descent(0.01, 40)
    w = path[30]

    def loss(x, y):
        return -x / math.hypot(x, y) - (math.hypot(x, y) - 1) ** 2 / 2

    slope = [(loss(w[0] + 1e-6, w[1]) - loss(w[0] - 1e-6, w[1])) / 2e-6,
             (loss(w[0], w[1] + 1e-6) - loss(w[0], w[1] - 1e-6)) / 2e-6]  # fmt: skip
    assert path[31] == pytest.approx(w - 0.01 * np.array(slope), abs=1e-9)


def test_flat_profiles():
    for g in (descent.flat_inside(), descent.flat_start()):
        x = np.linspace(0.001, 0.999, 4001)
        value, slope = (np.array([f(a) for a in x]) for f in (g.value, g.slope))
        assert np.gradient(value, x)[1:-1] == pytest.approx(slope[1:-1], abs=2e-4)
        away = np.abs(x - 0.5) > 0.01
        assert [g.inverse(w) for w in value[away]] == pytest.approx(x[away], abs=1e-9)
        assert np.all(np.diff(value) * np.sign(value[-1] - value[0]) >= 0)
        assert g.steepness[0] == 0.0
        assert np.abs(np.gradient(slope, x)).max() <= 1.01 * g.steepness[2]


def test_descent_path_is_a_plain_loop():
    g, w = descent.bent(-0.5, 2.0), 0.75  # g = x - x^2/4
    path = descent.descent_path(g, 0.1, 4)
    for k in range(5):
        assert path[k] == pytest.approx(w, rel=1e-13)
        x = 2.0 - math.sqrt(4.0 - 4.0 * w)
        w -= 0.1 * x * (1.0 - x / 2.0)
    assert descent.approximation_errors(descent.bent(1.0, 1.0), 0.1, 30).max() < 1e-14
    assert np.all(descent.descent_path(descent.flat_start(), 0.01, 500) == 0.0)
    assert descent.order([1.0, 10.0, 100.0], [3.0, 300.0, 30000.0]) == pytest.approx(2.0)


def test_flat_error_by_two_loops():
    errors = descent.approximation_errors(descent.flat_inside(), 0.01, 120)
    assert float(descent.flat_error("0.01", 120)) == pytest.approx(errors[-1], rel=1e-9)
    assert descent.exact_quotient(Fraction(1, 4)) == Fraction(175, 256) ** 2 * 4
