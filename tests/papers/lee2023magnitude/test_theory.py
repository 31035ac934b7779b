"""The theory of Lee, Sim & Ye 2022b: population dynamics against the vector equation, high digits,
plain loops and each other; bounds and comparison solutions; laws of data; and what the statements
notice, and leave out."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude import (
    bounds,
    chains,
    descent,
    laws,
    layers,
    population,
    rates,
    setting,
)
from scipy.integrate import solve_ivp

FEW = settings(max_examples=15, deadline=None)
TIMES = np.array([0.0, 0.01, 0.7, 4.0, 30.0])


@pytest.mark.parametrize("a", [1e-12, 1e-5, 0.3, 0.999999, 1.0, 1.7, 3.0, 3.14159])
def test_no_digits_are_lost_at_small_angles(a) -> None:
    with mp.workdps(60):
        x, phi = mp.mpf(a), mp.pi - mp.mpf(a)
        exact = float((mp.sin(x) - x * mp.cos(x)) / mp.pi)
        left = float(1 - (mp.sin(phi) - phi * mp.cos(phi)) / mp.pi)
    found = [float(population.pull(a)), population._scalar_pull(a), float(population.shortfall(a))]
    assert found == pytest.approx([exact, exact, left], rel=2e-14, abs=0)


@pytest.mark.parametrize("along", [0.4, -0.4])
def test_quadrature_along_the_teacher_is_that_beside_it(along: float) -> None:
    """Where the plane of w and w* is none; beside it the flow asks."""
    target, beside = np.array([1.0, 0.4, -0.6]), np.array([0.0, 3e-9, 2e-9])
    slopes = (population.quadrature_gradient(along * target + off, target, [0.5], [1.2])
              for off in (0.0 * beside, beside))  # fmt: skip
    at, near = map(np.concatenate, slopes)
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
        return -np.concatenate(
            population.quadrature_gradient(state[:3], target, state[3:], [1.7] * m)
        )

    start = np.concatenate([w0, [np.linalg.norm(w0)] * m])
    span = (0.0, times[-1])
    plain = solve_ivp(velocity, span, start, "DOP853", times, rtol=1e-12, atol=1e-14).y.T
    psi, rho = population.coordinates(plain[:, :3], target)
    path = population.population_flow(psi[0], rho[0], m, times, 1.7)
    np.testing.assert_allclose([path.psi, path.rho], [psi, rho], rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.tile(path.v, (m, 1)).T, plain[:, 3:], rtol=1e-10)
    np.testing.assert_allclose(path.length, np.linalg.norm(plain[:, :3], axis=1), rtol=1e-10)
    cosines = plain[:, :3] @ target / (1.7 * path.length)
    np.testing.assert_allclose(path.theta, np.arccos(cosines), atol=1e-8)
    np.testing.assert_allclose(path.phi + path.theta, np.pi, rtol=1e-15)


@pytest.mark.parametrize(("m", "rate"), [(0, 0.5), (1, 1.0), (2, 1.0), (4, 1.0)])
def test_late_times(m, rate) -> None:
    # psi = s/2 + const; 1 - |w|/|w*| fades at its own rate far below the last digit of |w|.
    path = population.population_flow(0.3, -0.5, m, [50.0, 200.0, 400.0, 1e6])
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
        path = population.population_flow(psi0, rho0, m, [0.0, 1e-9, 1.0, 1e3])
        assert np.isfinite([path.psi, path.rho]).all()
        assert (np.diff(path.psi) >= 0.0).all()
    # From far outside, |w| falls by itself: |w|^(-2m) = |w_0|^(-2m) + m s, for m = 0 by e^(-s/2).
    s = 1e-3
    (rho,) = population.population_flow(-9.0, 7.0, m, [s]).rho
    alone = 7.0 - s / 2 if m == 0 else -math.log(math.exp(-14.0 * m) + m * s) / (2 * m)
    assert rho == pytest.approx(alone, rel=1e-9, abs=0)


@pytest.mark.parametrize("m", [0, 1, 3])
def test_descent_steps_are_the_gradient(m) -> None:
    target = np.array([1.3, 0.0])
    path = population.population_descent(-0.4, -0.2, m, 0.05, 60, 1.3)
    w = 1.3 * math.exp(-0.2) * np.array([math.tanh(-0.4), 1.0 / math.cosh(0.4)])
    v = np.full(m, np.linalg.norm(w))
    for k in range(61):
        found = path.psi[k], path.rho[k]
        np.testing.assert_allclose(found, population.coordinates(w, target), rtol=0, atol=1e-12)
        np.testing.assert_allclose(v, path.v[k], rtol=1e-12)
        dw, dv = population.quadrature_gradient(w, target, v, [1.3] * m)
        w, v = w - 0.05 * dw, v - 0.05 * dv
    # For m = 0 near the teacher the part across shrinks by 1 - step/2 a step, for ever.
    late = population.population_descent(20.0, 0.0, 0, 0.5, 400)
    np.testing.assert_allclose(np.diff(late.psi), -math.log(0.75), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: setting.Start(np.inf, 0.0, 0).flow([1.0]), "psi0 and rho0 must be finite"),
        (
            lambda: population.population_descent(0.0, 0.0, 0, 0.0, 1),
            "step must be a positive number",
        ),
        (lambda: population.phases(6.0, 3.0, 1), "too late"),
        (lambda: population.time_to_loss(0.0, 0.0, 1, 0.0), "level"),
        (lambda: population.time_to_angle(1.0, 0.0, 1, 0.5), "psi1"),
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
    path = population.orbits(psi0, rho0, m)
    assert (path.s[0, 0], path.psi[0, 0]) == (0.0, psi0)
    assert path.rho[0, 0] == pytest.approx(rho0, abs=1e-14)
    assert path.psi[0, -1] >= max(psi0, 0.0) + 14.0
    chosen = np.flatnonzero(path.psi[0] < max(psi0, 0.0) + 4.0)[1::3]
    flow = population.population_flow(psi0, rho0, m, path.s[0, chosen])
    np.testing.assert_allclose(path.psi[0, chosen], flow.psi, rtol=0, atol=1e-11)
    np.testing.assert_allclose(path.rho[0, chosen], flow.rho, rtol=0, atol=1e-11)
    between = np.array([psi0 + 1.3])
    s, rho = path.at(between)
    flow = population.population_flow(psi0, rho0, m, s)
    assert (flow.psi[0], flow.rho[0]) == pytest.approx((between[0], rho[0]), abs=1e-9)
    assert population.time_to_angle(psi0, rho0, m, between) == pytest.approx(s)
    flow = population.population_flow(psi0, rho0, m, np.linspace(0.0, 12.0, 4001))
    found = population.phases(psi0, rho0, m)
    k = int(np.argmin(flow.rho))
    assert (found.kind, found.flips) == ((population.TURNING, 1) if k else (population.RISING, 0))
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
    assert population.relative_loss(population.log_tan(phi), math.log(v), m) == pytest.approx(
        mean, rel=1e-8
    )


def test_times_of_several_starts_and_of_late_losses() -> None:
    rho0 = np.log([1e-5, 0.1, 1.0, 50.0])
    for rho, s in zip(rho0, population.time_to_loss(0.0, rho0, 0, 1e-10), strict=True):
        path = population.population_flow(0.0, rho, 0, [s])
        assert population.relative_loss(path.psi, path.rho, 0)[0] == pytest.approx(1e-10, 1e-6, 0)
    assert population.time_to_loss(0.0, 0.0, 1, 10.0)[0] == 0.0


@FEW
@given(st.floats(-30.0, 2.0), st.integers(0, 20), st.sampled_from((-1.0, 1.0)))
def test_the_first_way_of_the_norm_is_the_sign_of_its_rate(psi: float, m: int, side: float) -> None:
    """1e-3 beside the nullcline; where phi is below 1e-5 a flow that rises was once said to turn,
    for 1 - eps was 0."""
    with mp.workdps(60):
        phi = 2 * mp.atan(mp.exp(mp.mpf(psi)))
        rest = mp.log((mp.sin(phi) - phi * mp.cos(phi)) / mp.pi) / (m + 1)
        rho = float(rest) + 1e-3 * side
    assert (population.phases(psi, rho, m).kind == population.RISING) == (side < 0.0)


# --- The formulas of the bounds -------------------------------------------------------------------


@pytest.mark.parametrize("phi0", [0.01, 1.0, 3.1])
@pytest.mark.parametrize(("v0", "target"), [(0.3, 2.0), (1e6, 0.5), (1e-6, 1.0)])
def test_magnitude_bounds_are_the_papers(phi0, v0, target) -> None:
    one = setting.magnitude_bounds(TIMES, phi0, v0, target)
    two = setting.two_layer_magnitude_bounds(TIMES, phi0, v0, target)
    small = setting.magnitude_bounds(TIMES, phi0, 0.0, target)
    with mp.workdps(40):
        x, goal = mp.mpf(phi0), mp.mpf(target)
        for side, kappa in enumerate(((mp.sin(x) - x * mp.cos(x)) / mp.pi, mp.mpf(1))):
            for k, t in enumerate(map(mp.mpf, TIMES)):
                gone = kappa * (1 - mp.exp(-t / 2)) * target
                inside = 1 - (1 - kappa * (goal / v0) ** 2) * mp.exp(-kappa * goal**2 * t)
                exact = [gone + v0 * mp.exp(-t / 2), gone, goal * mp.sqrt(kappa / inside)]
                found = [one[side][k], small[side][k], two[side][k]]
                assert found == pytest.approx([float(a) for a in exact], rel=1e-13, abs=0)


def test_small_times_keep_their_digits() -> None:
    for step, size in ((None, 1e-9), (1e-12, 1)):
        found = setting.magnitude_bounds(size, 1.0, 0.0, 1.0, step)[1]
        assert found == pytest.approx(0.5 * size * (step or 1.0), rel=1e-9, abs=0)


# --- The comparison equation ----------------------------------------------------------------------


@FEW
@given(st.integers(2, 9), st.floats(1e-6, 30.0), st.booleans())
def test_the_clock_is_inverted(m, size, above) -> None:
    log_y = size if above else -size
    odds = chains.log_odds(math.exp(log_y), m)
    assert math.log(chains.ratio(odds, m, above)) == pytest.approx(log_y, rel=1e-8)
    s = chains.clock(odds, m, above)
    found = chains.odds_at(np.array([s, s]), m, above)[1]
    assert found == pytest.approx(float(odds), rel=1e-9, abs=0 if above else 1e-9)


def test_the_printed_formula_as_printed() -> None:
    """F(u; eps) - F(v0; eps_0) = -t/2, for eps = 0, and for eps_0, with which it is right."""
    phi0, v0, m, share = math.pi / 2, 0.5, 3, 1 / mp.pi
    for start, own in ((v0, 1), (v0, share), (2.0, share)):
        found = setting.implicit_printed(TIMES, phi0, start, 1.0, m, float(own))
        with mp.workdps(30):  # beyond the branch the imaginary parts cancel
            first = setting.printed_left(start, m, share)
            assert abs(mp.im(first)) > 0.1 or start == v0
            for t, u in zip(TIMES[:4], found, strict=False):
                assert abs(setting.printed_left(u, m, own) - first + t / 2) < 1e-9
        if own == share:
            lower, _ = setting.layered_magnitude_bounds(TIMES, phi0, start, 1.0, m)
            np.testing.assert_allclose(found, lower, rtol=1e-11)
    assert np.isnan(setting.implicit_printed(TIMES, phi0, 0.8, 1.0, m, 1.0)).all()
    with pytest.raises(InputError, match="m of at least 2"):
        setting.implicit_printed(TIMES, phi0, v0, 1.0, 1, 1.0)


@pytest.mark.parametrize("off", [1e-6, -1e-6])
def test_the_repair_is_compared_both_ways(off, monkeypatch) -> None:
    """Too large and too small are both errors; one of them once passed unnoticed."""
    right = bounds.balanced_chain
    monkeypatch.setattr(bounds, "balanced_chain", lambda *given: right(*given) * (1.0 + off))
    assert bounds.repaired((2,))[0].value > 1e-9


# --- Statements -----------------------------------------------------------------------------------


def test_rounding_decides_nothing() -> None:
    v = np.array([1.0, 1.0])
    assert np.isnan(bounds.enclosed(v, v - 1e-15, v + 1e-15))
    assert bounds.enclosed(v, v - [0.1, 1e-15], v + 0.1) == pytest.approx(0.5)
    assert bounds.enclosed(v, v + 0.1, v + 0.3) == pytest.approx(-0.5)


# --- Lemma C.2 ------------------------------------------------------------------------------------


def pair(below: int, u0: float, v0: float, **other) -> dict:
    waves = [[0.5, -1.0, 0.3], [1.0, 2.0, 0.5], [0.2, 0.1, 1.0]]
    item = {"waves": waves, "gap": [0.1, 0.3], "root": 0.7, "at": 0.2}
    item |= {"u0": u0, "v0": v0, "below": below, **other}
    return {name: np.array(value) for name, value in item.items()}


@pytest.mark.parametrize("below", [0, 1])
def test_compared_equations_are_integrated(below) -> None:
    item = pair(below, -0.3, 0.4)
    size, pace, turn = item["waves"]

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        smooth = [size @ np.sin(pace * a + turn * (1 + t)) for a in x]
        extra = 0.7 * np.sqrt(np.abs(x - 0.2)) + 0.1 + 0.3 * np.sin(x) ** 2
        return smooth + extra * ([-1, 0] if below else [0, 1])

    times = np.linspace(0.1, 2.0, 20)
    path = solve_ivp(rates, (0.0, 2.0), [-0.3, 0.4], "RK45", times, rtol=1e-8, atol=1e-10)
    (found,) = bounds.least_lead([item])
    assert found == pytest.approx((path.y[1] - path.y[0]).min(), abs=1e-4)


def test_steps_that_cannot_follow_decide_nothing() -> None:
    """A Lipschitz constant of 900: one run of steps of 0.01 had put u above v by 4.5."""
    waves = [[-20.0, 10.0, 70.0], [6.0, 9.0, 10.0], [-8.0, 6.0, 0.6]]
    item = pair(1, 0.5, 0.5, waves=waves, gap=[0.0, 0.0], root=6e-14)
    assert not bounds.least_lead([item])[0] < 0.0


@pytest.mark.parametrize("below", [0, 1])
def test_an_order_that_is_lost_is_noticed(below) -> None:
    """Where f > g by a thousandth the solution of f overtakes; one by the rounding is not told."""
    turned, level = (pair(below, 0.0, 0.0, root=0.0, gap=[-by, 0.0]) for by in (1e-3, 1e-16))
    assert -1.0 < bounds.least_lead([turned])[0] < -1e-5
    assert np.isnan(bounds.least_lead([level]))


# --- Proposition B.2 ---


def slow_only(law, target):
    """No direction v keeps the loss at 0: in the plane the rays to try are orthogonal to points."""
    X = np.array(law.points)
    ahead, edge = X[X @ target > 0], X[X @ target == 0]
    kept = (v for v in product(range(-12, 13), repeat=law.d) if any(v) and not (ahead @ v).any())
    return not any((edge @ v <= 0).all() for v in kept)


@given(st.integers(0, 10**6), st.integers(1, 2), st.booleans())
@settings(max_examples=25, deadline=None)
def test_only_minimiser_against_enumeration(seed, d, symmetric):
    rng = np.random.default_rng(seed)
    law = laws.random_law(rng, d, int(rng.integers(d, d + 3)), symmetric)
    assert law.has_zero_mean
    assert law.has_full_rank
    assert law.is_symmetric or not symmetric
    if max(abs(a) for x in law.points for a in x) > 12:
        return
    target = [Fraction(int(a)) for a in rng.integers(-2, 3, d)]
    only = laws.is_only_minimiser(law, target)
    assert only == slow_only(law, target)
    assert only or not symmetric


CORNER = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, -1, -1)]
CROSS = [(1, 0), (0, 1), (-1, 0), (0, -1)]


@pytest.mark.parametrize(
    ("points", "target", "only"),
    [
        (CROSS[:3], (1, 0), False),  # without (0, -1) the boundary leaves a ray
        (CORNER, (1, 0, 0), True),  # the boundary's points span the plane positively,
        (CORNER[:3], (1, 0, 0), False),  # or all but positively
    ],
)
def test_minimisers_of_small_laws(points, target, only):
    law = laws.finite_law(points)
    assert laws.is_only_minimiser(law, target) == only
    assert not law.is_symmetric  # though some points of it have their opposite


def test_corners_tell_two_neurons_apart():
    law = laws.smeared([(-3, 1), (1, 2), (2, -3)], Fraction(3, 2))
    assert not law.sum(axis=(0, 1)).any()
    assert laws.told_apart(law, (1, 0), (1, 0)) == 0
    # First entries of the corners: -3/2, -3, -9/2; 5/2, 1, -1/2; 7/2, 2, 1/2.
    assert laws.told_apart(law, (1, 0), (0, 0)) == 5
    assert laws.told_apart(law, (-1, 0), (-2, 0)) == 4


# --- Proposition C.1 ---


def test_tail_at_its_ends_and_bounds():
    assert laws.upper_tail([0.5, 1.0, 1.1], 1) == pytest.approx([0.5, 0.5, 0.0])
    assert laws.upper_tail([1.0, 7.0], 5) == pytest.approx([0.0, 0.0])
    low, high = laws.central_angles(100, 0.95)
    assert 2 * laws.upper_tail(math.cos(math.radians(low)), 100) == pytest.approx(0.05)
    assert low + high == pytest.approx(180.0)


# --- Proposition 3.5 ---


@pytest.mark.parametrize("m", [2, 3])
def test_the_flow_of_a_product_goes_down_its_loss(m):
    """Its first step against autograd through the ReLUs of the chain."""
    rng = np.random.default_rng(m)
    X, y, w, v = rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=3), rng.random(m) + 1
    tw, tv = torch.tensor(w, requires_grad=True), torch.tensor(v, requires_grad=True)
    a = torch.relu(torch.tensor(X) @ tw)
    for k in range(m - 1, 0, -1):
        a = torch.relu(tv[k] * a)
    torch.mean(0.5 * (tv[0] * a - torch.tensor(y)) ** 2).backward()
    path = rates.product_flow(X, y, w, v, 1e-6)
    slope = np.concatenate([tw.grad.numpy(), tv.grad.numpy()])
    assert (path.y[:, 0] - path.y[:, -1]) / 1e-6 == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_a_slow_decay_is_no_change_of_sign():
    """Where all labels are 0, v_2 decays for ever; with a negative one it passes 0, and is kept."""
    for horizon in (5.0, 50.0):
        path = rates.product_flow([[1.0]], [0.0], [3.0], [2.0, 1.0], horizon)
        assert path.status == 0
    path = rates.product_flow([[1.0]], [-1.0], [3.0], [2.0, 1.0], 5.0)
    assert path.status == 1
    assert path.y[2, -1] == pytest.approx(0.0, abs=1e-5)
    assert path.y[1, -1] ** 2 - path.y[2, -1] ** 2 == pytest.approx(3.0, abs=1e-5)


# --- Statements: signs, ways of |w|, the range of g, bounds by exact numbers ---------------------


def item_at(start: setting.Start) -> dict:
    return {name: np.array(getattr(start, name)) for name in ("psi", "rho", "m")}


@pytest.mark.parametrize(
    ("statement", "start"),
    [(rates.threshold(), setting.Start.at(2.5, 0.99 * float(population.threshold_norm(2.5)), 0)),
     (rates.two_phases([1]), setting.Start.at(2.5, 1.0001 * population.nullcline(2.5, 1), 1))],
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
