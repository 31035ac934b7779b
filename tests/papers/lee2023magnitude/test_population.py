"""Population dynamics against the vector equation, high precision, plain loops and each other; what
the statements on phases, convergence and descent notice, and leave out."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude import descent, laws, layers, population, rates
from reluflow.papers.lee2023magnitude.population import (
    RISING,
    TURNING,
    _scalar_pull,
    coordinates,
    log_tan,
    orbits,
    phases,
    population_descent,
    population_flow,
    pull,
    quadrature_gradient,
    relative_loss,
    shortfall,
    time_to_angle,
    time_to_loss,
)
from reluflow.papers.lee2023magnitude.setting import Start
from scipy.integrate import solve_ivp

FEW = settings(max_examples=15, deadline=None)


@pytest.mark.parametrize("a", [1e-12, 1e-5, 0.3, 0.999999, 1.0, 1.7, 3.0, 3.14159])
def test_no_digits_are_lost_at_small_angles(a) -> None:
    with mp.workdps(60):
        x, phi = mp.mpf(a), mp.pi - mp.mpf(a)
        exact = float((mp.sin(x) - x * mp.cos(x)) / mp.pi)
        left = float(1 - (mp.sin(phi) - phi * mp.cos(phi)) / mp.pi)
    found = [float(pull(a)), _scalar_pull(a), float(shortfall(a))]
    assert found == pytest.approx([exact, exact, left], rel=2e-14, abs=0)


@pytest.mark.parametrize("along", [0.4, -0.4])
def test_quadrature_along_the_teacher_is_that_beside_it(along: float) -> None:
    """Where the plane of w and w* is none; beside it the flow asks."""
    target, beside = np.array([1.0, 0.4, -0.6]), np.array([0.0, 3e-9, 2e-9])
    at, near = (np.concatenate(quadrature_gradient(along * target + off, target, [0.5], [1.2]))
                for off in (0.0 * beside, beside))  # fmt: skip
    np.testing.assert_allclose(at, near, rtol=0, atol=1e-8)
    assert np.abs(at).max() > 0.01


# --- The flow -------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [0, 1, 3])
def test_flow_against_the_vector_equation(m) -> None:
    # All parameters by their own gradients, in three dimensions; |w*| = 1.7 sets the clock.
    rng = np.random.default_rng(m)
    target, w0 = rng.normal(size=3), rng.normal(size=3)
    target *= 1.7 / np.linalg.norm(target)
    times = np.linspace(0.0, 3.0 / 1.7 ** (2 * m), 7)

    def velocity(_, state):
        return -np.concatenate(quadrature_gradient(state[:3], target, state[3:], [1.7] * m))

    start = np.concatenate([w0, [np.linalg.norm(w0)] * m])
    span = (0.0, times[-1])
    plain = solve_ivp(velocity, span, start, "DOP853", times, rtol=1e-12, atol=1e-14).y.T
    psi, rho = coordinates(plain[:, :3], target)
    path = population_flow(psi[0], rho[0], m, times, 1.7)
    np.testing.assert_allclose([path.psi, path.rho], [psi, rho], rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.tile(path.v, (m, 1)).T, plain[:, 3:], rtol=1e-10)
    np.testing.assert_allclose(path.length, np.linalg.norm(plain[:, :3], axis=1), rtol=1e-10)
    cosines = plain[:, :3] @ target / (1.7 * path.length)
    np.testing.assert_allclose(path.theta, np.arccos(cosines), atol=1e-8)
    np.testing.assert_allclose(path.phi + path.theta, np.pi, rtol=1e-15)


@pytest.mark.parametrize(("m", "rate"), [(0, 0.5), (1, 1.0), (2, 1.0), (4, 1.0)])
def test_late_times(m, rate) -> None:
    # psi = s/2 + const; 1 - |w|/|w*| fades at its own rate far below the last digit of |w|.
    path = population_flow(0.3, -0.5, m, [50.0, 200.0, 400.0, 1e6])
    np.testing.assert_allclose(np.diff(path.psi[:3]), [75.0, 100.0], rtol=1e-10)
    lost = np.log(path.rho[1] / path.rho[2])
    assert lost == pytest.approx(200.0 * rate, abs=1.0 if m == 1 else 1e-6)
    # rho is -s theta^2 / 4 for m = 1, and -theta^2 / (2 (m - 1)) for more.
    shares = path.rho[1:3] / path.theta[1:3] ** 2
    if m == 1:
        assert shares[0] - shares[1] == pytest.approx(200.0 / 4.0)
    if m > 1:
        np.testing.assert_allclose(shares, -0.5 / (m - 1), rtol=1e-9)
    assert path.rho[3] == 0.0
    assert np.isfinite(path.psi).all()


@pytest.mark.parametrize("m", [0, 1, 3])
def test_extreme_starts(m) -> None:
    # Almost against the teacher, almost along it, almost nothing, and a thousand times too long.
    for psi0, rho0 in ((-800.0, 0.0), (800.0, 0.3), (0.0, -18.0), (0.0, 7.0)):
        path = population_flow(psi0, rho0, m, [0.0, 1e-9, 1.0, 1e3])
        assert np.isfinite([path.psi, path.rho]).all()
        assert (np.diff(path.psi) >= 0.0).all()
    # From far outside, |w| falls by itself: |w|^(-2m) = |w_0|^(-2m) + m s, for m = 0 by e^(-s/2).
    s = 1e-3
    (rho,) = population_flow(-9.0, 7.0, m, [s]).rho
    alone = 7.0 - s / 2 if m == 0 else -math.log(math.exp(-14.0 * m) + m * s) / (2 * m)
    assert rho == pytest.approx(alone, rel=1e-9, abs=0)


@pytest.mark.parametrize("m", [0, 1, 3])
def test_descent_steps_are_the_gradient(m) -> None:
    target = np.array([1.3, 0.0])
    path = population_descent(-0.4, -0.2, m, 0.05, 60, 1.3)
    w = 1.3 * math.exp(-0.2) * np.array([math.tanh(-0.4), 1.0 / math.cosh(0.4)])
    v = np.full(m, np.linalg.norm(w))
    for k in range(61):
        found = path.psi[k], path.rho[k]
        np.testing.assert_allclose(found, coordinates(w, target), rtol=0, atol=1e-12)
        np.testing.assert_allclose(v, path.v[k], rtol=1e-12)
        dw, dv = quadrature_gradient(w, target, v, [1.3] * m)
        w, v = w - 0.05 * dw, v - 0.05 * dv
    # For m = 0 near the teacher the part across shrinks by 1 - step/2 a step, for ever.
    late = population_descent(20.0, 0.0, 0, 0.5, 400)
    np.testing.assert_allclose(np.diff(late.psi), -math.log(0.75), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: population_flow(np.inf, 0.0, 0, [1.0]), "psi0 and rho0 must be finite"),
        (lambda: population_descent(0.0, 0.0, 0, 0.0, 1), "step must be a positive number"),
        (lambda: phases(6.0, 3.0, 1), "too late"),
        (lambda: time_to_loss(0.0, 0.0, 1, 0.0), "level"),
        (lambda: time_to_angle(1.0, 0.0, 1, 0.5), "psi1"),
    ],
)
def test_bad_input_is_named(call, message) -> None:
    with pytest.raises(InputError, match=message):
        call()


# --- Orbits, phases and times ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("psi0", "rho0", "m"),
    [(0.0, -3.0, 0), (-4.0, 1.0, 0), (0.5, 2.0, 1), (2.0, -1.0, 2), (-1.0, 0.0, 3), (0.0, 3.0, 6)],
)
def test_orbits_phases_and_times_are_the_flow(psi0, rho0, m) -> None:
    path = orbits(psi0, rho0, m)
    assert (path.s[0, 0], path.psi[0, 0]) == (0.0, psi0)
    assert path.rho[0, 0] == pytest.approx(rho0, abs=1e-14)
    assert path.psi[0, -1] >= max(psi0, 0.0) + 14.0
    chosen = np.flatnonzero(path.psi[0] < max(psi0, 0.0) + 4.0)[1::3]
    flow = population_flow(psi0, rho0, m, path.s[0, chosen])
    np.testing.assert_allclose(path.psi[0, chosen], flow.psi, rtol=0, atol=1e-11)
    np.testing.assert_allclose(path.rho[0, chosen], flow.rho, rtol=0, atol=1e-11)
    between = np.array([psi0 + 1.3])
    s, rho = path.at(between)
    flow = population_flow(psi0, rho0, m, s)
    assert (flow.psi[0], flow.rho[0]) == pytest.approx((between[0], rho[0]), abs=1e-9)
    assert time_to_angle(psi0, rho0, m, between) == pytest.approx(s)
    flow, found = (
        population_flow(psi0, rho0, m, np.linspace(0.0, 12.0, 4001)),
        phases(psi0, rho0, m),
    )
    k = int(np.argmin(flow.rho))
    assert (found.kind, found.flips) == ((TURNING, 1) if k else (RISING, 0))
    assert found.least == pytest.approx(flow.length[k], abs=1e-5)
    assert found.dip == pytest.approx(1.0 - flow.length[k] if k else 0.0, abs=1e-5)
    if k:
        assert found.psi == pytest.approx(flow.psi[k], abs=5e-3)
        assert path.at(np.array([found.psi]))[1] == pytest.approx(math.log(found.least), abs=1e-11)


def test_loss_against_quadrature() -> None:
    """L = 1/2 E (f - f*)^2 over the angles of a plane, v* = 1."""
    phi, v, m, a = 2.0, 1.3, 2, np.linspace(0.0, 2 * math.pi, 200_001)[:-1]
    student = v ** (m + 1) * np.maximum(np.cos(a - (math.pi - phi)), 0.0)
    mean = np.mean((student - np.maximum(np.cos(a), 0.0)) ** 2)
    assert relative_loss(log_tan(phi), math.log(v), m) == pytest.approx(mean, rel=1e-8)


def test_times_of_several_starts_and_of_late_losses() -> None:
    rho0 = np.log([1e-5, 0.1, 1.0, 50.0])
    for rho, s in zip(rho0, time_to_loss(0.0, rho0, 0, 1e-10), strict=True):
        path = population_flow(0.0, rho, 0, [s])
        assert relative_loss(path.psi, path.rho, 0)[0] == pytest.approx(1e-10, rel=1e-6)
    assert time_to_loss(0.0, 0.0, 1, 10.0)[0] == 0.0


@FEW
@given(st.floats(-30.0, 2.0), st.integers(0, 20), st.sampled_from((-1.0, 1.0)))
def test_the_first_way_of_the_norm_is_the_sign_of_its_rate(psi: float, m: int, side: float) -> None:
    """1e-3 beside the nullcline; where phi is below 1e-5 a flow that rises was once said to turn,
    for 1 - eps was 0."""
    with mp.workdps(60):
        phi = 2 * mp.atan(mp.exp(mp.mpf(psi)))
        rest = mp.log((mp.sin(phi) - phi * mp.cos(phi)) / mp.pi) / (m + 1)
        rho = float(rest) + 1e-3 * side
    assert (phases(psi, rho, m).kind == RISING) == (side < 0.0)


# --- Statements: signs, ways of |w|, the range of g, bounds by exact numbers ---------------------


def item_at(start: Start) -> dict:
    return {name: np.array(getattr(start, name)) for name in ("psi", "rho", "m")}


@pytest.mark.parametrize("turned", [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)])
def test_the_signs_of_all_factors_are_asked(turned, monkeypatch) -> None:
    """Above the nullcline w and both factors fall; the gradient of one of them is turned."""

    right = population.quadrature_gradient

    def other(*given):
        return tuple(s * g for s, g in zip(turned, right(*given), strict=True))

    monkeypatch.setattr(population, "quadrature_gradient", other)
    slack = laws.falls_above_nullcline().slack(item_at(Start.at(2.0, 1.5, 2)))
    assert slack == min(turned)


@pytest.mark.parametrize(
    ("statement", "start"),
    [(rates.threshold(), Start.at(2.5, 0.99 * float(population.threshold_norm(2.5)), 0)),
     (rates.two_phases([1]), Start.at(2.5, 1.0001 * float(population.nullcline(2.5, 1)), 1))],
)  # fmt: skip
def test_a_magnitude_that_moves_otherwise_is_found(statement, start, monkeypatch) -> None:
    """Just where it falls and then rises, and does so twice, or makes one of the other moves."""
    moves = population.phases(start.psi, start.rho, start.m)
    others = [replace(moves, flips=3), *(replace(moves, kind=kind) for kind in population.SHAPES)]
    for other in others:
        monkeypatch.setattr(population, "phases", lambda *_, other=other: other)
        assert statement.fails(statement.slack(item_at(start))) == (other != moves)


# --- Bounds, by floats and by exact numbers -------------------------------------------------------


def test_the_cubic_term_at_the_first_of_the_counterexamples():
    value = 2 * 10**8 * Fraction(29, 30) ** 516 - Fraction(2, 3) * 10**24 * Fraction(9, 10) ** 516
    assert descent.demanded(10) == (516, pytest.approx(float(value), rel=1e-12))


@pytest.mark.parametrize(("at", "value"), [(1, -1e-9), (20, -1e-9), (20, math.nan)])
def test_a_descent_that_leaves_the_range_of_g_is_found(at, value, monkeypatch):
    """By less than the bound lets it be off, at one step; or by so much that w is no number."""
    item = {name: np.array([v]) for name, v in (("beta", -0.75), ("power", 2.0), ("rate", 0.25))}
    statement, right = descent.regular_approximation(), descent.descended
    assert statement.unmet(item) is None
    assert statement.slack(item) > 0.1
    w, near = right(descent.bent(-0.75, 2.0), 0.25, 48)
    w[at] = value
    monkeypatch.setattr(descent, "descended", lambda *_: (w, near))
    assert statement.fails(statement.slack(item))


# --- Boundaries of hypotheses ---------------------------------------------------------------------

CALM = {"psi": 0.0, "rho": 0.0, "m": 2, "target": 1.0, "step": 0.1, "steps": 20, "loose": [1, 1]}
NEAR = {"psi": -math.log(math.tan(0.3)), "target": 1.0, "step": 1 / 15, "steps": 50, "m": 1,
        "smallness": 10, "loose": [1.3, 1.9]}  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "item", "unmet"),
    [
        (layers.corrected_angle, CALM, None),
        (layers.corrected_angle, CALM | {"step": 5.0}, "v_k > 0"),  # v turns negative
        (layers.corrected_angle, CALM | {"step": 50.0, "rho": 2.0}, "v_k > 0"),  # |w| overflows
        (layers.angle_away, NEAR | {"rho": math.log(3.8)}, layers.CALM),  # a large one
        (layers.angle_away, NEAR | {"rho": math.log(1.2)}, None),
    ],
)
def test_a_descent_outside_is_left_out(statement, item, unmet):
    found = statement().unmet({name: np.array(value) for name, value in item.items()})
    assert found is None if unmet is None else unmet in found
