"""Dynamics of single ReLU neurons: derivations, convergence, phases, times, and the evidence."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings
from reluflow.papers.lee2023magnitude import rates
from reluflow.papers.lee2023magnitude.population import (
    FALLING,
    RISING,
    SHAPES,
    TURNING,
    Phases,
    nullcline,
    phases,
    quadrature_gradient,
    threshold_norm,
)
from reluflow.papers.lee2023magnitude.rates import best_norm, late_error
from reluflow.papers.lee2023magnitude.setting import Start

TOLERANCE = 1e-8  # that of the inventory
FEW = settings(max_examples=20, deadline=None)


def test_late_error_and_best_norm() -> None:
    assert late_error(2.0, 0.0) == 1.0
    [(phi, v)] = rates.euler(2.5, 0.4, 0, [12.0], 1e-4)
    error = math.hypot(-v * math.cos(phi) - 1.0, v * math.sin(phi))
    assert error * math.exp(6.0) == pytest.approx(float(late_error(2.5, 0.4)), rel=5e-3)
    edge = math.pi - math.atan(math.pi)
    assert best_norm(edge - 0.01) == 0.0
    assert 0.0 < best_norm(edge + 0.01) < 0.02
    assert best_norm(math.pi - 1e-6) == pytest.approx(1.0, abs=1e-3)
    at = best_norm(2.6)
    assert late_error(2.6, at) < min(late_error(2.6, 0.9 * at), late_error(2.6, 1.1 * at))


# --- Statements and evidence ----------------------------------------------------------------------


@pytest.mark.parametrize("turned", [(-1.0, 1.0), (1.0, -1.0)])
def test_the_signs_of_all_factors_are_asked(turned, monkeypatch) -> None:
    start = Start.at(2.0, 1.5, 2)  # above the nullcline: w and both factors fall
    item = {"psi": np.array(start.psi), "rho": np.array(start.rho), "m": np.array(2)}
    statement = rates.falls_above_nullcline()
    assert statement.slack(item) == 1.0

    def other(*given):
        return tuple(s * g for s, g in zip(turned, quadrature_gradient(*given), strict=True))

    monkeypatch.setattr(rates, "quadrature_gradient", other)
    assert statement.slack(item) == -1.0


@pytest.mark.parametrize("found", SHAPES)
@pytest.mark.parametrize(
    ("statement", "m", "size", "expected"),
    [
        (rates.threshold(), 0, 0.01, RISING),
        (rates.threshold(), 0, 0.99, TURNING),
        (rates.threshold(), 0, 1.01, FALLING),
        (rates.two_phases([1]), 1, 0.01, RISING),
        (rates.two_phases([1]), 1, 1.01, TURNING),
    ],
)
def test_a_magnitude_that_moves_otherwise_is_found(
    statement, m, size, expected, found, monkeypatch
) -> None:
    """Starts far and near, in units of the threshold norm, followed rightly and wrongly."""
    start = Start.at(2.5, size * float(threshold_norm(2.5)), m)
    item = {"psi": np.array(start.psi), "rho": np.array(start.rho), "m": np.array(m)}
    moves = replace(phases(start.psi, start.rho, m), kind=found)
    monkeypatch.setattr(rates, "phases", lambda *_: moves)
    assert statement.fails(statement.slack(item)) == (found != expected)


@pytest.mark.parametrize(("size", "expected"), [(0.9999, RISING), (1.0001, TURNING)])
def test_the_nullcline_divides_those_that_rise(size, expected, monkeypatch) -> None:
    start = Start.at(2.5, size * float(nullcline(2.5, 1)), 1)
    item = {"psi": np.array(start.psi), "rho": np.array(start.rho), "m": np.array(1)}
    moves = replace(phases(start.psi, start.rho, 1), kind=expected)
    monkeypatch.setattr(rates, "phases", lambda *_: moves)
    assert not rates.two_phases([1]).fails(rates.two_phases([1]).slack(item))


def test_convergence_sees_a_wrong_flow(monkeypatch) -> None:
    def found(flow) -> str:
        monkeypatch.setattr(Start, "flow", flow)
        evidence = rates.global_convergence(0, 2, [1])
        return "; ".join(failing(evidence, TOLERANCE))

    right = Start.flow
    assert found(right) == ""
    assert "against the orbit" in found(lambda start, t: right(start, 0.999 * np.asarray(t)))
    stuck = found(lambda start, t: right(start, np.minimum(np.asarray(t), 20.0)))
    assert "instances that break it" in stuck

    def elsewhere(start, t):
        path = right(start, t)
        return SimpleNamespace(psi=path.psi, rho=path.rho + 1e-5, theta=path.theta)

    assert "instances that break it" in found(elsewhere)


def failing(evidence, limit: float | None = None) -> list[str]:
    """What is measured and does not hold, deviations against the limit."""
    return [
        item.what
        for item in evidence
        if item.decides and not (item.value <= limit if item.form == "deviation" else item.holds)
    ]


def test_flows_that_wait_too_long_are_left_out() -> None:
    item = {"psi": np.array(-11.0), "rho": np.array(-11.0), "m": np.array(3)}
    assert "floats still tell" in rates.converges([3], []).unmet(item)


def test_a_norm_that_turns_more_than_once_breaks_both_statements(monkeypatch) -> None:
    item = {"m": np.array(0), "psi": np.array(0.0), "rho": np.array(0.0)}
    for statement in (rates.threshold(), rates.two_phases([0])):
        for flips, sign in ((1, 1.0), (3, -1.0)):
            found = Phases(TURNING, flips, 0.0, 0.9)
            monkeypatch.setattr(rates, "phases", lambda *_, found=found: found)
            assert statement.slack(item) == sign
