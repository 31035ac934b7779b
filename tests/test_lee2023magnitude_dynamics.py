"""Dynamics of single ReLU neurons: derivations, phases, times, and the claims' evidence."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow import figures
from reluflow.errors import InputError
from reluflow.falsify import falsify
from reluflow.flows.population import population_flow, pull, shortfall
from reluflow.papers.lee2023magnitude import derivation, phases_evidence, text_evidence
from reluflow.papers.lee2023magnitude import dynamics_evidence as evidence
from reluflow.papers.lee2023magnitude import dynamics_statements as statements
from reluflow.papers.lee2023magnitude.dynamics import (
    angle_rate,
    magnitude_rate,
    parameter_flow,
    quadrature_gradient,
    supplementary_angle,
    vector_rate,
)
from reluflow.papers.lee2023magnitude.phases import (
    FALLING,
    RISING,
    TURNING,
    dip_from_teacher_norm,
    nullcline,
    phases,
    threshold_norm,
)
from reluflow.papers.lee2023magnitude.pictures import dynamics as pictures
from reluflow.papers.lee2023magnitude.times import (
    best_norm,
    late_error,
    relative_loss,
    slopes,
    time_to_angle,
    time_to_loss,
)

FEW = settings(max_examples=20, deadline=None)


def log_tan(phi: float) -> float:
    return math.log(math.tan(0.5 * phi))


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


# --- Derivations ----------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [0, 1, 3])
def test_equations_follow_from_the_loss(m) -> None:
    found = derivation.identities(m)
    assert len(found) == 4 + 2 * m
    assert all(found.values()), found
    assert derivation.turning_of_field() == 0


def test_a_wrong_loss_gives_other_equations(monkeypatch) -> None:
    right = derivation.overlap()
    monkeypatch.setattr(derivation, "overlap", lambda: right + sp.cos(derivation.THETA) / 7)
    found = derivation.identities(1)
    assert not found["(9), for |w|"]
    assert not found["(10)"]
    assert not found["the vector equation of Prop. 3.6, along w"]
    assert found["v_1 v_1' = |w| |w|', balanced or not"]  # homogeneity alone


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


@FEW
@given(st.integers(0, 2**30), st.integers(0, 4))
def test_rates_are_the_parts_of_the_vector_field(seed, m) -> None:
    rng = np.random.default_rng(seed)
    w, target = rng.normal(size=(2, 4))
    best, v = np.linalg.norm(target), np.linalg.norm(w)
    phi = math.pi - math.acos(w @ target / (best * v))
    assert supplementary_angle(w, target) == pytest.approx(phi, rel=1e-7)
    field = vector_rate(w, target, m)
    scale = np.linalg.norm(field) + 1.0
    assert field @ w / v == pytest.approx(float(magnitude_rate(v, phi, best, m)), abs=1e-7 * scale)
    # cos(phi) = -w.w* / (v v*), differentiated by hand.
    slope = -(field @ target / v - (w @ target) * (field @ w) / v**3) / best
    assert -slope / math.sin(phi) == pytest.approx(
        float(angle_rate(v, phi, best, m)), abs=1e-6 * scale
    )


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_along_the_teacher_too(sign) -> None:
    target = np.array([0.0, 2.0])
    w = sign * np.array([0.0, 0.5])
    gradient, slope_v = quadrature_gradient(w, target, [0.5], [2.0])
    np.testing.assert_allclose(-gradient, vector_rate(w, target, 1), atol=1e-14)
    phi = math.pi if sign > 0 else 0.0
    assert -slope_v[0] == pytest.approx(float(magnitude_rate(0.5, phi, 2.0, 1)), abs=1e-14)
    assert float(angle_rate(0.5, phi, 2.0, 1)) == pytest.approx(0.0, abs=1e-14)


def test_parameter_flow_against_euler() -> None:
    w0, target = np.array([0.7, 0.0, 0.4]), np.array([0.0, 1.0, 0.0])
    path = parameter_flow(w0, target, np.full(2, np.linalg.norm(w0)), np.ones(2), [0.0, 2.0, 4.0])
    loop = euler(math.pi / 2, float(np.linalg.norm(w0)), 2, 4.0, 1e-3)
    assert np.linalg.norm(path.w[1]) == pytest.approx(loop[2000, 1], abs=2e-3)
    assert supplementary_angle(path.w[2], target) == pytest.approx(loop[4000, 0], abs=2e-3)
    np.testing.assert_allclose(path.v[:, 0], np.linalg.norm(path.w, axis=1), atol=1e-9)
    assert path.imbalance() < 1e-9
    off = replace(path, v=path.v * [[1.0, 1.0], [1.0, 1.1], [1.0, 1.0]])
    assert off.imbalance() == pytest.approx(0.21 * path.v[1, 1] ** 2, rel=1e-6)
    loose = parameter_flow(w0, target, [0.5, 1.5], [1.0, 1.0], [0.0, 3.0])
    assert loose.imbalance() < 1e-9
    moved = np.sum(loose.w**2, axis=1) @ [-1.0, 1.0]
    assert abs(moved) > 1e-3  # far more than the balance did
    with pytest.raises(InputError, match="positive"):
        parameter_flow(w0, target, [0.0], [1.0], [0.0, 1.0])


# --- Phases ---------------------------------------------------------------------------------------


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


@FEW
@given(st.floats(0.3, 2.8), st.floats(-2.0, 2.0), st.integers(1, 8))
def test_start_decides_the_phases(phi, rho, m) -> None:
    found = phases(log_tan(phi), rho, m)
    above = math.exp(rho) > float(nullcline(phi, m))
    assert found.kind == (TURNING if above else RISING)
    assert found.flips == int(above)


@pytest.mark.parametrize("phi", [1.95, 2.4, 3.0])
def test_threshold_of_one_layer(phi) -> None:
    limit = float(threshold_norm(phi))
    above, below = (phases(log_tan(phi), math.log(limit * k), 0) for k in (1.0001, 0.9999))
    assert (above.kind, below.kind) == (FALLING, TURNING)
    # A third way: the closed form's last approach, with forty digits.
    with mp.workdps(40):
        for factor, side in ((1.0001, 1), (0.9999, -1)):
            a = mp.mpf(limit * factor) * mp.sin(phi) / phi
            late = mp.exp(18)
            turn = mp.acot(mp.cot(phi) - (late - 1) / (mp.pi * a)) + mp.pi
            v = a * (turn / mp.sin(turn)) / late
            assert mp.sign(v - 1) == side


def test_no_threshold_far_from_the_teacher() -> None:
    edge = math.pi - math.atan(math.pi)
    assert np.isinf(threshold_norm([0.1, math.pi / 2, edge - 1e-3])).all()
    assert threshold_norm(edge + 1e-3) > 100
    assert phases(0.0, math.log(1e6), 0).kind == TURNING


def test_deeper_is_shallower_in_w_and_deeper_in_the_output() -> None:
    depths = (0, 1, 2, 5, 20, 100)
    least = np.array([dip_from_teacher_norm(2.0, m).least for m in depths])
    outputs = least ** (np.array(depths) + 1)
    assert (np.diff(least) > 0).all()
    assert (np.diff(outputs) < 0).all()
    assert outputs[-1] > pull(2.0)
    assert outputs[-1] - pull(2.0) < 0.1 * shortfall(math.pi - 2.0)


def test_too_late_a_turn_is_refused() -> None:
    with pytest.raises(InputError, match="too late"):
        phases(6.0, 3.0, 1)


# --- Times ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "v"), [(0, 0.3), (1, 2.0), (2, 0.4), (3, 1.5)])
def test_times_against_euler(m, v) -> None:
    loop = euler(1.2, v, m, 30.0, 1e-3)
    psi, rho = np.log(np.tan(0.5 * loop[:, 0])), np.log(loop[:, 1])
    losses = relative_loss(psi, rho, m)
    angle = float(time_to_angle(log_tan(1.2), math.log(v), m, log_tan(2.3))[0])
    loss = float(time_to_loss(log_tan(1.2), math.log(v), m, 1e-2)[0])
    assert angle == pytest.approx(1e-3 * np.argmax(loop[:, 0] >= 2.3), rel=3e-3)
    assert loss == pytest.approx(1e-3 * np.argmax(losses <= 1e-2), rel=3e-3)


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


@pytest.mark.parametrize("m", range(5))
def test_power_of_the_time_to_an_angle(m) -> None:
    sizes = np.array([1e-4, 2e-4])
    found = slopes(sizes, time_to_angle(-0.5, np.log(sizes), m, 1.0))
    assert found[0] == pytest.approx(1 - m, abs=2e-3)
    large = np.array([1e4, 1e5])
    far = time_to_angle(-0.5, np.log(large), m, 1.0)
    if m == 0:
        assert np.diff(far)[0] == pytest.approx(2 * math.log(10), rel=1e-3)
    else:
        assert far[1] == pytest.approx(far[0], rel=1e-3)


def test_late_error_and_best_norm() -> None:
    assert late_error(2.0, 0.0) == 1.0
    loop = euler(2.5, 0.4, 0, 12.0, 1e-4)[-1]
    error = math.hypot(-loop[1] * math.cos(loop[0]) - 1.0, loop[1] * math.sin(loop[0]))
    assert error * math.exp(6.0) == pytest.approx(float(late_error(2.5, 0.4)), rel=5e-3)
    edge = math.pi - math.atan(math.pi)
    assert best_norm(edge - 0.01) == 0.0
    assert 0.0 < best_norm(edge + 0.01) < 0.02
    assert best_norm(math.pi - 1e-6) == pytest.approx(1.0, abs=1e-3)
    at = best_norm(2.6)
    assert late_error(2.6, at) < min(late_error(2.6, 0.9 * at), late_error(2.6, 1.1 * at))


# --- Statements and evidence ----------------------------------------------------------------------


def test_false_variants_are_found() -> None:
    assert not falsify(statements.monotone([3, 10]), 0, 14, 0).survives
    assert not falsify(statements.order_of_times([0], 1.0), 0, 12, 4).survives
    assert not falsify(statements.order_of_times([2, 3], -1.0), 0, 12, 4).survives
    assert not falsify(statements.order_of_times([1], 1.0), 0, 12, 4).survives


@pytest.mark.parametrize("off", [1e-6, -1e-6])
def test_times_are_equal_and_neither_longer_nor_shorter(off, monkeypatch) -> None:
    right = statements.time_to_angle
    monkeypatch.setattr(
        statements, "time_to_angle", lambda p, rho, m, q: right(p, rho, m, q) * (1.0 + off * rho)
    )
    report = falsify(statements.equal_times(), 0, 12, 0)
    assert sum(report.violations.values()) == report.tried


def test_wrong_nullcline_and_threshold_are_found(monkeypatch) -> None:
    monkeypatch.setattr(statements, "nullcline", lambda phi, m: nullcline(phi, m + 1))
    assert not falsify(statements.falls_above_nullcline(), 0, 63, 0).survives
    assert not falsify(statements.two_phases([1, 2]), 0, 40, 0).survives
    monkeypatch.undo()
    monkeypatch.setattr(statements, "threshold_norm", lambda phi: 1.001 * threshold_norm(phi))
    assert not falsify(statements.threshold(), 0, 45, 0).survives


def test_convergence_sees_a_wrong_flow(monkeypatch) -> None:
    def slower(psi0, rho0, m, t, target=1.0):
        return population_flow(psi0, rho0, m, 0.999 * np.asarray(t), target)

    monkeypatch.setattr(statements, "population_flow", slower)
    assert evidence.try_convergence(0, 2, [1]).gap > evidence.TOLERANCE

    def stuck(psi0, rho0, m, t, target=1.0):
        return population_flow(psi0, rho0, m, np.minimum(np.asarray(t), 20.0), target)

    monkeypatch.setattr(statements, "population_flow", stuck)
    assert not evidence.try_convergence(0, 2, [1]).report.survives

    def elsewhere(psi0, rho0, m, t, target=1.0):
        path = population_flow(psi0, rho0, m, t, target)
        return replace(path, rho=path.rho + 1e-5)

    monkeypatch.setattr(statements, "population_flow", elsewhere)
    assert not evidence.try_convergence(0, 2, [1]).report.survives


def failing(settlement: dict) -> list[str]:
    """What an argument of `Ledger.settle` measured and does not hold."""
    limit = settlement.get("tolerance")
    return [
        item.what
        for item in settlement["evidence"]
        if item.decides and not (item.value <= limit if item.form == "deviation" else item.holds)
    ]


def test_settlements_hold() -> None:
    orders = phases_evidence.try_orders(1, 6)
    for settled in (
        evidence.one_layer_system(1, 8),
        evidence.layered_system(1, 8, (2,)),
        evidence.global_convergence(1, 3, (0, 2)),
        evidence.dead_direction(1, (0, 2)),
        phases_evidence.phases_of_depth(1, 8),
        phases_evidence.falling_for_ever(1, 9),
        phases_evidence.dip_and_depth(1, 7),
        phases_evidence.late_rates(1, 6),
        phases_evidence.initial_scale(orders, (0,)),
        phases_evidence.initial_scale(orders, (1,)),
        phases_evidence.initial_scale(orders, (2, 3, 4)),
        text_evidence.falling_region(1, 18),
        text_evidence.monotone_tendency(1, 14),
        phases_evidence.angle_times(orders, 1, 12),
        phases_evidence.loss_times(1, 16),
    ):
        assert failing(settled) == []


def test_monotone_at_large_depth_is_refuted() -> None:
    settled = text_evidence.monotone_conclusion(0, 28)
    assert failing(settled) == ["|w(t)| is monotone: instances that break it"]
    case = settled["counterexample"]
    assert not any(item.holds for item in case.breaks + case.recheck)


def test_the_conjecture_and_the_remark_on_convexity_are_refuted() -> None:
    settled = text_evidence.conjecture(0, 40)
    assert [what.split(":")[0] for what in failing(settled)] == ["one layer"]
    settled["counterexample"].check()
    settled = text_evidence.convexity()
    assert len(failing(settled)) == 3
    settled["counterexample"].check()
    level, ours = next(i.value for i in settled["evidence"] if "that level" in i.what)
    assert level == pytest.approx(ours, abs=1e-3)


def test_the_region_of_eq_11_is_seen_by_the_gradient(monkeypatch) -> None:
    def other(w, target, v=(), target_v=()):
        slope, slopes = quadrature_gradient(w, target, v, target_v)
        return slope - 1e-3 * np.asarray(w), slopes

    monkeypatch.setattr(statements, "quadrature_gradient", other)
    assert not falsify(statements.falls_above_nullcline(), 0, 63, 0).survives


def test_flows_that_wait_too_long_are_left_out() -> None:
    item = {"start": np.array([-11.0, -11.0]), "m": np.array(3)}
    assert "floats still tell" in statements.converges([3]).unmet(item)


@pytest.mark.parametrize(
    ("module", "name", "wrong", "run"),
    [
        (evidence, "vector_rate", lambda w, t, m=0: 1.0001 * vector_rate(w, t, m),
         lambda: evidence.one_layer_system(0, 4)),
        (evidence, "magnitude_rate", lambda v, p, t, m=0: magnitude_rate(v, p, t, m) + 1e-6,
         lambda: evidence.layered_system(0, 4, (1,))),
        (evidence, "angle_rate", lambda v, p, t, m=0: angle_rate(v, p, t, m + 1),
         lambda: evidence.layered_system(0, 4, (2,))),
        (phases_evidence, "late_error", lambda p, r: late_error(p, 1.1 * r),
         lambda: phases_evidence.loss_times(0, 16)),
        (phases_evidence, "best_norm", lambda p: 1.1 * best_norm(p),
         lambda: phases_evidence.loss_times(0, 16)),
        (phases_evidence, "threshold_norm", lambda p: 1.02 * threshold_norm(p),
         lambda: phases_evidence.falling_for_ever(0, 9)),
    ],
)  # fmt: skip
def test_evidence_can_fail(monkeypatch, module, name, wrong, run) -> None:
    monkeypatch.setattr(module, name, wrong)
    assert failing(run())


def test_each_measure_of_the_loss_is_its_own(monkeypatch) -> None:
    monkeypatch.setattr(phases_evidence, "late_error", lambda p, r: late_error(p, 1.1 * r))
    broken = failing(phases_evidence.loss_times(0, 16))
    assert any("against K" in what for what in broken)
    assert any("against 2 log K" in what for what in broken)


def test_table_of_dips() -> None:
    rows = phases_evidence.dips(math.pi / 2, (0, 2))
    assert rows.loc[0, "at most"] == "≈68.17 %"  # 1 - 1/pi
    assert rows.loc[2, "|w| falls by"] == "≈17.42 %"
    # |w| is least where it is at rest: on the nullcline v^(m+1) = (sin φ - φ cos φ)/π.
    for m, row in rows.iterrows():
        phi = math.radians(float(row["at φ"].strip("≈°")))
        resting = ((math.sin(phi) - phi * math.cos(phi)) / math.pi) ** (1.0 / (m + 1))
        fall = float(row["|w| falls by"].strip("≈ %")) / 100.0
        assert resting == pytest.approx(1.0 - fall, abs=2e-3)


def test_figures_draw_what_they_say() -> None:
    portrait = pictures.phase_portraits((0,))
    assert figures.cut_off(portrait) == []
    names = portrait.axes[0].get_legend_handles_labels()[1]
    assert "separatrix: above it $|w|$ falls for ever" in names
    left, right = pictures.passage_times((0, 2)).axes
    for ax, level in ((left, None), (right, 1e-4)):
        x, y = ax.lines[0].get_data()
        expected = (
            time_to_angle(0.0, np.log(x), 0, log_tan(0.75 * math.pi))
            if level is None
            else time_to_loss(0.0, np.log(x), 0, level)
        )
        np.testing.assert_allclose(y, expected, rtol=1e-9)
    left, right = pictures.dips_and_depth(2.0, (0, 3)).axes
    for line, m in zip(left.lines, (0, 3), strict=False):
        lowest = dip_from_teacher_norm(2.0, m).least
        assert line.get_ydata().min() == pytest.approx(lowest, abs=1e-3)
    assert right.lines[0].get_ydata()[0] == pytest.approx(1.0 - dip_from_teacher_norm(2.0, 0).least)


def test_portrait_turns_on_the_nullcline() -> None:
    fig = pictures.phase_portraits((1,))
    dots = [line.get_xydata()[0] for line in fig.axes[0].lines if line.get_marker() == "o"]
    assert len(dots) >= 5
    for phi, v in dots:
        assert v == pytest.approx(float(nullcline(phi, 1)), rel=1e-6)
