"""Balanced chains under Gaussian data: quadrature's gradient and flow, phases, passage times."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude.population import (
    FALLING,
    RISING,
    TURNING,
    dip_from_teacher_norm,
    imbalance,
    log_tan,
    orbits,
    parameter_flow,
    phases,
    population_flow,
    quadrature_gradient,
    relative_loss,
    threshold_norm,
    time_to_angle,
    time_to_loss,
)

FEW = settings(max_examples=20, deadline=None)


# --- Quadrature -----------------------------------------------------------------------------------


def test_quadrature_against_samples() -> None:
    rng = np.random.default_rng(1)
    w, target, v, best = np.array([0.3, -0.8, 0.5]), np.array([0.9, 0.4, -0.1]), [0.6, 1.5], [0.7]
    batches = []
    for _ in range(30):
        X = rng.normal(size=(20_000, 3))
        h = np.maximum(X @ w, 0.0)
        residual = np.prod(v) * h - best[0] * np.maximum(X @ target, 0.0)
        slope = np.prod(v) * (residual * (h > 0.0)) @ X / len(X)
        batches.append([*slope, v[1] * np.mean(residual * h), v[0] * np.mean(residual * h)])
    mean, bar = np.mean(batches, axis=0), np.std(batches, axis=0) / math.sqrt(30)
    exact = np.concatenate(quadrature_gradient(w, target, v, best))
    assert (np.abs(mean - exact) < 5 * bar).all()
    assert (bar < 0.02 * np.linalg.norm(exact)).all()


def test_parameters_out_of_balance_stay_so() -> None:
    w0, target = np.array([0.7, 0.0, 0.4]), np.array([0.0, 1.0, 0.0])
    w, v = parameter_flow(w0, target, [0.5, 1.5], [1.0, 1.0], [0.0, 2.0, 3.0])
    assert imbalance(w, v) < 1e-9
    moved = np.sum(w**2, axis=1) @ [-1.0, 0.0, 1.0]
    assert abs(moved) > 1e-3  # far more than the balance did
    off = v * [[1.0, 1.0], [1.0, 1.1], [1.0, 1.0]]
    assert imbalance(w, off) == pytest.approx(0.21 * v[1, 1] ** 2, rel=1e-6)
    assert imbalance(w, v[:, :0]) == 0.0
    with pytest.raises(InputError, match="positive"):
        parameter_flow(w0, target, [0.0], [1.0], [0.0, 1.0])


# --- Phases ---------------------------------------------------------------------------------------


def test_dip_with_forty_digits() -> None:
    with mp.workdps(40):
        # The orbit's integral from pi/2, v0 = v*, m = 2: where does it meet the nullcline?
        def odd(phi):
            g = (phi / mp.sin(phi)) ** 3
            start = (mp.pi / 2) ** 3
            rest = mp.quad(lambda a: a**2 / mp.sin(a) ** 4, [mp.pi / 2, phi])
            return (start + 3 * mp.pi * rest) / g

        def gap(phi):
            return odd(phi) * (mp.sin(phi) - phi * mp.cos(phi)) / mp.pi - 1

        turn = mp.findroot(gap, (1.9, 2.1), solver="anderson")
        least = float(odd(turn) ** (-mp.mpf(1) / 3))
    found = dip_from_teacher_norm(math.pi / 2, 2)
    assert found.least == pytest.approx(least, rel=1e-12)
    assert 2 * math.atan(math.exp(found.psi)) == pytest.approx(float(turn), rel=1e-10)


@pytest.mark.parametrize("phi", [1.95, 2.4, 3.0])
def test_threshold_of_one_layer(phi) -> None:
    limit = float(threshold_norm(phi))
    above, below = (phases(log_tan(phi), math.log(limit * k), 0) for k in (1.0001, 0.9999))
    assert (above.kind, below.kind) == (FALLING, TURNING)


def test_no_threshold_far_from_the_teacher() -> None:
    edge = math.pi - math.atan(math.pi)
    assert np.isinf(threshold_norm([0.1, math.pi / 2, edge - 1e-3])).all()
    assert threshold_norm(edge + 1e-3) > 100
    assert phases(0.0, math.log(1e6), 0).kind == TURNING


def test_too_late_a_turn_is_refused() -> None:
    with pytest.raises(InputError, match="too late"):
        phases(6.0, 3.0, 1)


# --- Orbits ---------------------------------------------------------------------------------------


def test_an_orbit_is_known_between_its_points() -> None:
    psi0, rho0, m = [-1.0, 0.5, 0.0], [0.3, -2.0, 1.0], [0, 3, 1]
    path, psi = orbits(psi0, rho0, m), np.array([0.2, 2.0, 7.0])
    s, rho = path.at(psi)
    for k in range(3):
        flow = population_flow(psi0[k], rho0[k], m[k], [s[k]])
        assert flow.psi[0] == pytest.approx(psi[k], abs=1e-9)
        assert flow.rho[0] == pytest.approx(rho[k], abs=1e-9)
    for k in (0, 9, path.psi.shape[1] - 1):
        s, rho = path.at(path.psi[:, k])
        np.testing.assert_allclose(s, path.s[:, k], rtol=1e-14)
        np.testing.assert_allclose(rho, path.rho[:, k], atol=1e-14)


# --- Times ----------------------------------------------------------------------------------------


def test_loss_against_quadrature() -> None:
    # L = 1/2 E (f - f*)^2 over the angles of a plane, v* = 1.
    phi, v, m = 2.0, 1.3, 2
    a = np.linspace(0.0, 2 * math.pi, 200_001)[:-1]
    student = v ** (m + 1) * np.maximum(np.cos(a - (math.pi - phi)), 0.0)
    mean = np.mean((student - np.maximum(np.cos(a), 0.0)) ** 2) * 2.0
    assert relative_loss(log_tan(phi), math.log(v), m) == pytest.approx(0.5 * mean, rel=1e-8)


@FEW
@given(st.floats(-3.0, 3.0), st.floats(-3.0, 2.0), st.integers(0, 4), st.floats(0.01, 5.0))
def test_times_bring_the_flow_there(psi0, rho0, m, further) -> None:
    s = time_to_angle(psi0, rho0, m, psi0 + further)
    pace = float(s[0]) * math.exp(max(0.0, (m - 1) * rho0))
    reached = population_flow(psi0, rho0, m, s).psi[0]
    assert reached == pytest.approx(psi0 + further, abs=1e-9 * (1 + pace))


def test_times_of_several_starts_and_of_late_losses() -> None:
    rho0 = np.log([1e-5, 0.1, 1.0, 50.0])
    times = time_to_loss(0.0, rho0, 0, 1e-10)
    for rho, s in zip(rho0, times, strict=True):
        path = population_flow(0.0, rho, 0, [s])
        assert relative_loss(path.psi, path.rho, 0)[0] == pytest.approx(1e-10, rel=1e-6)
    assert time_to_loss(0.0, 0.0, 1, 10.0)[0] == 0.0
    with pytest.raises(InputError, match="level"):
        time_to_loss(0.0, 0.0, 1, 0.0)
    with pytest.raises(InputError, match="psi1"):
        time_to_angle(1.0, 0.0, 1, 0.5)


def euler(phi: float, v: float, m: int, until: float, step: float = 1e-3) -> np.ndarray:
    """phi and v of (9)-(10), |w*| = 1, by the plainest loop with the paper's formulas."""
    rows = [(phi, v)]
    for _ in range(round(until / step)):
        target = (math.sin(phi) - phi * math.cos(phi)) / math.pi
        dv = -0.5 * v**m * (v ** (m + 1) - target)
        dphi = v ** (m - 1) * phi * math.sin(phi) / (2 * math.pi)
        phi, v = phi + step * dphi, v + step * dv
        rows.append((phi, v))
    return np.array(rows)


@pytest.mark.parametrize(
    ("phi", "v", "m"), [(1.2, 0.9, 0), (1.6, 1.0, 1), (2.5, 3.0, 2), (0.6, 0.5, 3), (2.0, 0.3, 2)]
)
def test_phases_against_euler(phi, v, m) -> None:
    found, loop = phases(log_tan(phi), math.log(v), m), euler(phi, v, m, 25.0, 5e-4)
    k = int(np.argmin(loop[:, 1]))
    assert found.kind == (RISING if k == 0 else TURNING)
    assert found.least == pytest.approx(loop[k, 1], abs=2e-3)
    if k:
        assert 2 * math.atan(math.exp(found.psi)) == pytest.approx(loop[k, 0], abs=5e-3)
        assert found.flips == 1
        assert found.dip == pytest.approx(1.0 - loop[k, 1], abs=2e-3)
    else:
        assert found.flips == 0
        assert found.dip == 0.0


@pytest.mark.parametrize(("m", "v"), [(0, 0.3), (1, 2.0), (2, 0.4), (3, 1.5)])
def test_times_against_euler(m, v) -> None:
    loop = euler(1.2, v, m, 30.0, 1e-3)
    psi, rho = np.log(np.tan(0.5 * loop[:, 0])), np.log(loop[:, 1])
    losses = relative_loss(psi, rho, m)
    angle = float(time_to_angle(log_tan(1.2), math.log(v), m, log_tan(2.3))[0])
    loss = float(time_to_loss(log_tan(1.2), math.log(v), m, 1e-2)[0])
    assert angle == pytest.approx(1e-3 * np.argmax(loop[:, 0] >= 2.3), rel=3e-3)
    assert loss == pytest.approx(1e-3 * np.argmax(losses <= 1e-2), rel=3e-3)
