"""Population dynamics: against the vector equation, high precision, samples and each other."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude.population import (
    _scalar_pull,
    coordinates,
    population_descent,
    population_flow,
    population_gradient,
    pull,
    shortfall,
)
from scipy.integrate import solve_ivp

FEW = settings(max_examples=15)


def place(psi: float, rho: float, target: float = 1.0) -> np.ndarray:
    """A w in the plane with these coordinates, under the teacher (target, 0)."""
    return target * math.exp(rho) * np.array([math.tanh(psi), 1.0 / math.cosh(psi)])


# --- The two functions of the angle ---------------------------------------------------------------


@pytest.mark.parametrize("a", [1e-12, 1e-5, 0.3, 0.999999, 1.0, 1.7, 3.0, 3.14159])
def test_no_digits_are_lost_at_small_angles(a) -> None:
    with mp.workdps(60):
        x = mp.mpf(a)
        exact = (mp.sin(x) - x * mp.cos(x)) / mp.pi
        phi = mp.pi - x
        left = 1 - (mp.sin(phi) - phi * mp.cos(phi)) / mp.pi
        assert pull(a) == pytest.approx(float(exact), rel=2e-14, abs=0)
        assert _scalar_pull(a) == pytest.approx(float(exact), rel=2e-14, abs=0)
        assert shortfall(a) == pytest.approx(float(left), rel=2e-14, abs=0)
    np.testing.assert_array_equal(pull([0.0, a]), [0.0, pull(a)])
    assert shortfall(0.0) == 0.0


@FEW
@given(st.floats(-18.0, 18.0), st.floats(-5.0, 5.0), st.integers(0, 2**30))
def test_coordinates_of_vectors(psi, rho, seed) -> None:
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(5, 2)))[0].T
    found = coordinates(place(psi, rho, 3.0) @ basis, 3.0 * basis[0])
    angle = max(math.exp(-abs(psi)), 1e-300)
    assert found[0] == pytest.approx(psi, abs=1e-13 + 1e-15 / angle)
    assert found[1] == pytest.approx(rho, abs=1e-13)


# --- The gradient ---------------------------------------------------------------------------------


# --- The flow -------------------------------------------------------------------------------------

# The plane's vector equation (5), and (9)-(10) as a vector equation, by mpmath.odefun, 30 digits:
# m, psi_0, rho_0, time, psi, rho. `test_the_table_of_references` computes two rows again.
REFERENCES = [
    (0, 0.0, 0.0, 0.5, 0.14153964632729963, -0.154015386422034304),
    (0, 0.0, 0.0, 3.0, 1.32134640722366295, -0.291388030331192042),
    (0, 0.0, 0.0, 12.0, 5.99752434535979161, -0.00405266339269340323),
    (0, -3.0, 2.0, 0.5, -2.99878193733684836, 1.75000401996552096),
    (0, -3.0, 2.0, 3.0, -2.98496568832664712, 0.500050307963275606),
    (0, -3.0, 2.0, 12.0, 2.69201340350754618, -0.89749169892058512),
    (1, 0.1, -2.0, 0.5, 0.23831607603281066, -1.90348987882747424),
    (1, 0.1, -2.0, 3.0, 1.09820311931245635, -1.15753837432648976),
    (1, 0.1, -2.0, 12.0, 5.36612409891336839, -0.000877413981648337797),
    (2, 0.3, 0.8, 0.5, 0.503583968258079195, 0.0700353189373310448),
    (2, 0.3, 0.8, 3.0, 1.40309039839280644, -0.0568632524689457842),
    (2, 0.3, 0.8, 12.0, 5.69457286792390969, -0.0000220741115955762763),
    (3, 5.0, -1.0, 0.5, 5.03486119250599452, -0.965681613188079),
    (3, 5.0, -1.0, 3.0, 5.25736987702152171, -0.749826919544569769),
    (3, 5.0, -1.0, 12.0, 8.51805416535743957, -0.0000102358159189251542),
]


def reference(m: int, psi0: float, rho0: float, s: float, digits: int) -> tuple[float, float]:
    """psi and rho after the time s from the vector equation, with so many digits."""
    with mp.workdps(digits):
        size = mp.exp(mp.mpf(rho0))

        def velocity(_, y):
            along, across = y
            length = mp.hypot(along, across)
            phi = mp.atan2(across, -along)
            own = -(length ** (2 * m)) / 2 + length ** (m - 1) * mp.sin(phi) / (2 * mp.pi)
            return [own * along + length**m * phi / (2 * mp.pi), own * across]

        start = [size * mp.tanh(mp.mpf(psi0)), size / mp.cosh(mp.mpf(psi0))]
        along, across = mp.odefun(velocity, 0, start)(s)
        length = mp.hypot(along, across)
        return float(mp.log((length + along) / across)), float(mp.log(length))


@pytest.mark.parametrize("row", [0, 6])
def test_the_table_of_references(row) -> None:
    m, psi0, rho0, s, psi, rho = REFERENCES[row]
    assert reference(m, psi0, rho0, s, 20) == pytest.approx((psi, rho), rel=1e-14, abs=0)


@pytest.mark.parametrize(("m", "psi0", "rho0", "s", "psi", "rho"), REFERENCES)
def test_flow_in_high_precision(m, psi0, rho0, s, psi, rho) -> None:
    path = population_flow(psi0, rho0, m, [s])
    assert path.psi[0] == pytest.approx(psi, abs=2e-12)
    assert path.rho[0] == pytest.approx(rho, rel=2e-12, abs=0)


@pytest.mark.parametrize("m", [0, 1, 3])
def test_the_target_sets_the_clock(m) -> None:
    times, target = np.linspace(0.0, 3.0, 7), 1.7
    path = population_flow(-0.4, 0.3, m, times / target ** (2 * m), target)
    unit = population_flow(-0.4, 0.3, m, times)
    np.testing.assert_allclose(path.states, unit.states, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(path.layers, np.tile(path.length[:, None], (1, m)), rtol=1e-15)
    np.testing.assert_allclose(path.length, target * unit.length, rtol=1e-12)
    np.testing.assert_allclose(path.phi + path.theta, np.pi, rtol=1e-15)


@FEW
@given(st.integers(0, 4), st.floats(-4.0, 6.0), st.floats(-3.0, 2.0), st.floats(0.01, 60.0))
def test_flow_from_half_way(m, psi0, rho0, s) -> None:
    # A flow has no memory; most late ends lie where the linear part has taken over.
    whole = population_flow(psi0, rho0, m, [0.4 * s, s])
    rest = population_flow(whole.psi[0], whole.rho[0], m, [0.6 * s])
    assert rest.psi[0] == pytest.approx(whole.psi[1], abs=1e-10, rel=1e-11)
    # Where rho passes through 0, or is the difference of two modes, it keeps their digits.
    modes = abs(whole.rho[0]) + float(shortfall(whole.theta[0]))
    fade = math.exp(-0.5 * min(m + 1, 2) * 0.6 * s) if modes < 1e-3 else 1.0
    assert rest.rho[0] == pytest.approx(whole.rho[1], rel=1e-9, abs=1e-11 * modes * fade)


@pytest.mark.parametrize(("m", "rate"), [(0, 0.5), (1, 1.0), (2, 1.0), (4, 1.0)])
def test_late_times(m, rate) -> None:
    # psi = s/2 + const; 1 - |w|/|w*| fades at its own rate far below the last digit of |w|.
    path = population_flow(0.3, -0.5, m, [50.0, 200.0, 400.0, 1e6])
    np.testing.assert_allclose(np.diff(path.psi[:3]), [75.0, 100.0], rtol=1e-10)
    lost = np.log(path.rho[1] / path.rho[2])
    assert lost == pytest.approx(200.0 * rate, abs=1.0 if m == 1 else 1e-6)
    assert path.rho[3] == 0.0
    assert np.isfinite(path.psi).all()


def test_the_linear_part_takes_over_without_a_jump() -> None:
    for m in range(4):
        s = np.linspace(40.0, 80.0, 2001)
        path = population_flow(0.1, 0.4, m, s)
        bends = np.diff(np.log(np.abs(path.rho)), 2)
        assert np.abs(bends).max() < 1e-5
        np.testing.assert_allclose(np.diff(path.psi), 0.01, rtol=1e-7)


@pytest.mark.parametrize("m", [0, 1, 3])
def test_extreme_starts(m) -> None:
    # Almost against the teacher, almost along it, almost nothing, and a thousand times too long.
    for psi0, rho0 in ((-800.0, 0.0), (800.0, 0.3), (0.0, -18.0), (0.0, 7.0)):
        path = population_flow(psi0, rho0, m, [0.0, 1e-9, 1.0, 1e3])
        assert np.isfinite(path.psi).all()
        assert np.isfinite(path.rho).all()
        assert (np.diff(path.psi) >= 0.0).all()
        assert (path.phi + path.theta == pytest.approx(np.pi)) is True
    # From far outside, |w| falls by itself: |w|^(-2m) = |w_0|^(-2m) + m s, for m = 0 by e^(-s/2).
    s = 1e-3
    (rho,) = population_flow(-9.0, 7.0, m, [s]).rho
    alone = 7.0 - s / 2 if m == 0 else -math.log(math.exp(-14.0 * m) + m * s) / (2 * m)
    assert rho == pytest.approx(alone, rel=1e-9, abs=0)


def test_it_is_a_trajectory() -> None:
    s = np.array([0.0, 1.0, 2.0, 90.0])
    path = population_flow(0.2, 0.1, 1, s, 1.3)
    np.testing.assert_array_equal(path.states[0], [0.2, 0.1])
    np.testing.assert_array_equal(path.at(s), path.states)
    # From its own linear part on it has a limit, along the teacher.
    assert path.status == "converged"
    np.testing.assert_array_equal(path.end, [np.inf, 0.0])
    short = population_flow(0.2, 0.1, 1, [1.0])
    assert short.status == "horizon"
    with pytest.raises(ValueError, match="at most 1"):
        short.at(2.0)
    assert len(population_flow(0.2, 0.1, 1, []).psi) == 0
    steps = population_descent(0.2, 0.1, 1, 0.1, 5)
    np.testing.assert_array_equal(steps.at([5.0, 2.0]), steps.states[[5, 2]])
    with pytest.raises(ValueError, match="at its knots only"):
        steps.at(2.5)


# --- Descent --------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [0, 1, 3])
def test_descent_steps_are_the_gradient(m) -> None:
    target = np.array([1.3, 0.0])
    path = population_descent(-0.4, -0.2, m, 0.05, 60, 1.3)
    w = place(-0.4, -0.2, 1.3)
    v = np.full(m, np.linalg.norm(w))
    for k in range(61):
        psi, rho = coordinates(w, target)
        assert path.psi[k] == pytest.approx(float(psi), abs=1e-12)
        assert path.rho[k] == pytest.approx(float(rho), abs=1e-12)
        np.testing.assert_allclose(path.layers[k], v, rtol=1e-12)
        dw, dv = population_gradient(w, target, v, [1.3] * m)
        w, v = w - 0.05 * dw, v - 0.05 * dv
    assert path.clock == "steps"


def test_descent_keeps_small_angles() -> None:
    # For m = 0 near the teacher the part across shrinks by 1 - step/2 a step, for ever.
    path = population_descent(20.0, 0.0, 0, 0.5, 400)
    np.testing.assert_allclose(np.diff(path.psi), -math.log(0.75), rtol=1e-6)
    assert path.psi[-1] > 100.0
    far = population_descent(400.0, 0.0, 1, 0.1, 3)
    assert np.isfinite(far.psi).all()
    low = population_descent(-300.0, 0.0, 1, 0.1, 3)
    np.testing.assert_allclose(low.psi, -300.0, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: population_flow(np.inf, 0.0, 0, [1.0]), "psi0 and rho0 must be finite"),
        (lambda: population_flow(0.0, 0.0, -1, [1.0]), "m must be a whole number"),
        (lambda: population_flow(0.0, 0.0, 0, [-1.0]), "t must be a list of finite times"),
        (lambda: population_flow(0.0, 0.0, 0, [2.0, 1.0]), "in their order"),
        (lambda: population_flow(0.0, 0.0, 0, [1.0], 0.0), "target must be a positive number"),
        (lambda: population_descent(0.0, 0.0, 0, 0.0, 1), "step must be a positive number"),
        (lambda: population_descent(0.0, 0.0, 0, 0.1, -1), "n_steps must be a whole number"),
    ],
)
def test_bad_input_is_named(call, message) -> None:
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("times", [[0.0], [0.7], [0.1, 0.7]])
def test_the_grid_of_a_path_without_limit_ends_with_it(times: list[float]) -> None:
    path = population_flow(0.2, 0.1, 1, times, 1.3)
    assert path.grid()[-1] == times[-1]
    assert np.isfinite(path.at(path.grid())).all()


def test_gradient_is_equation_5() -> None:
    w, target = np.array([0.3, -0.7, 0.2]), np.array([1.0, 0.4, -0.6])
    a, b = np.linalg.norm(w), np.linalg.norm(target)
    phi = np.pi - np.arccos(w @ target / (a * b))
    expected = -w / 2 + phi / (2 * np.pi) * target + np.sin(phi) / (2 * np.pi) * b / a * w
    np.testing.assert_allclose(-population_gradient(w, target)[0], expected, rtol=1e-13)


@pytest.mark.parametrize("m", [0, 1, 3])
def test_flow_against_the_vector_equation(m) -> None:
    # All parameters by their own gradients, in three dimensions; |w*| = 1.7 sets the clock.
    rng = np.random.default_rng(m)
    target, w0 = rng.normal(size=3), rng.normal(size=3)
    target *= 1.7 / np.linalg.norm(target)
    length, times = np.linalg.norm(w0), np.linspace(0.0, 3.0 / 1.7 ** (2 * m), 7)

    def velocity(_, state):
        dw, dv = population_gradient(state[:3], target, state[3:], [1.7] * m)
        return -np.concatenate([dw, dv])

    start = np.concatenate([w0, [length] * m])
    span = (0.0, times[-1])
    plain = solve_ivp(velocity, span, start, "DOP853", times, rtol=1e-12, atol=1e-14).y.T
    psi, rho = coordinates(plain[:, :3], target)
    path = population_flow(psi[0], rho[0], m, times, 1.7)
    np.testing.assert_allclose(path.psi, psi, rtol=0, atol=1e-10)
    np.testing.assert_allclose(path.rho, rho, rtol=0, atol=1e-10)
    np.testing.assert_allclose(path.layers, plain[:, 3:], rtol=1e-10)
    np.testing.assert_allclose(path.length, np.linalg.norm(plain[:, :3], axis=1), rtol=1e-10)
    cosines = plain[:, :3] @ target / (1.7 * path.length)
    np.testing.assert_allclose(path.theta, np.arccos(cosines), atol=1e-8)
    np.testing.assert_allclose(path.phi + path.theta, np.pi, rtol=1e-15)
