"""The stabilised Runge-Kutta-Chebyshev method: its stability, its order and its error control."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.polynomial.chebyshev import Chebyshev
from reluflow.flows.stabilised import chebyshev_step, stabilised_flow
from scipy.integrate import solve_ivp


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("stages", [2, 3, 7, 30])
def test_a_step_is_its_stability_polynomial(stages):
    z, h = np.array([0.0, 0.3, 2.0, 11.0, 100.0]), 0.1
    w = tensor(np.ones(5))
    found = chebyshev_step(lambda u: -tensor(z) * u, w, -tensor(z), h, stages)
    T, w0 = Chebyshev.basis(stages), 1.0 + 2.0 / 13.0 / stages**2
    w1 = T.deriv()(w0) / T.deriv(2)(w0)
    b = T.deriv(2)(w0) / T.deriv()(w0) ** 2
    np.testing.assert_allclose(found, 1.0 + b * (T(w0 - w1 * h * z) - T(w0)), rtol=1e-9, atol=1e-9)


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
        errors.append(float(np.abs(path.end - exact).max()))
        assert path.t[-1] == 3.0
        assert path.evaluations < 1500  # Euler's method needs 3000
    assert errors[0] < 0.1
    assert errors[1] < 1e-3


def test_the_path_between_its_steps():
    """w' = -w^3 from 1 is (1 + 2t)^(-1/2); the cubic between two steps is as good as they are."""
    path = stabilised_flow(lambda w: -(w**3), tensor([1.0]), 4.0, 1e-6)
    t = np.linspace(0.0, 4.0, 101)
    np.testing.assert_allclose(path.at(t)[:, 0], (1.0 + 2.0 * t) ** -0.5, rtol=1e-4)
    np.testing.assert_allclose(path.at(path.t), path.states, rtol=1e-14)
    assert (path.status, path.clock, path.t[-1]) == ("horizon", "time", 4.0)
