"""Bounds of Lee, Sim & Ye 2022b, Section 3: formulas, comparison solutions, starts, statements."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude import (
    bounds,
    chains,
    comparison,
    population,
    setting,
)
from reluflow.papers.lee2023magnitude.population import angle, population_flow
from reluflow.papers.lee2023magnitude.setting import Start, drawn
from scipy.integrate import solve_ivp

FEW = settings(max_examples=12)
TIMES = np.array([0.0, 0.01, 0.7, 4.0, 30.0])


def pulled(phi: float) -> mp.mpf:
    return (mp.sin(phi) - phi * mp.cos(phi)) / mp.pi


# --- The formulas ---------------------------------------------------------------------------------


@pytest.mark.parametrize("phi0", [0.01, 1.0, 3.1])
@pytest.mark.parametrize(("v0", "target"), [(0.3, 2.0), (1e6, 0.5), (1e-6, 1.0)])
def test_magnitude_bounds_are_the_papers(phi0, v0, target) -> None:
    one, two = (
        setting.magnitude_bounds(TIMES, phi0, v0, target),
        setting.two_layer_magnitude_bounds(TIMES, phi0, v0, target),
    )
    small = setting.magnitude_bounds(TIMES, phi0, 0.0, target)
    with mp.workdps(40):
        for side, kappa in enumerate((pulled(mp.mpf(phi0)), mp.mpf(1))):
            for k, t in enumerate(map(mp.mpf, TIMES)):
                gone = 1 - mp.exp(-t / 2)
                left = v0 * mp.exp(-t / 2)
                assert one[side][k] == pytest.approx(float(kappa * gone * target + left), rel=1e-13)
                assert small[side][k] == pytest.approx(float(kappa * gone * target), rel=1e-13)
                inside = 1 - (1 - kappa * (mp.mpf(target) / v0) ** 2) * mp.exp(
                    -kappa * mp.mpf(target) ** 2 * t
                )
                value = target * mp.sqrt(kappa / inside)
                assert two[side][k] == pytest.approx(float(value), rel=1e-13)


@pytest.mark.parametrize("m", [0, 1, 2, 4])
@pytest.mark.parametrize("phi0", [0.2, 1.5, 3.0])
def test_angle_bounds_are_the_papers(m, phi0) -> None:
    r, R, target = 0.3, 1.7, 1.3
    psi0 = math.log(math.tan(phi0 / 2))
    least, most = setting.gap_bounds(TIMES, psi0, r, R, target, m)
    cot = 1 / math.tan(phi0 / 2)
    for k, t in enumerate(TIMES):
        if m == 0:
            p, q = target * phi0 / (2 * math.pi * R), target / (2 * r)
        else:
            p = phi0 / (2 * math.pi) * r ** (m - 1) * target ** (m + 1)
            q = 0.5 * R ** (m - 1) * target ** (m + 1)
        assert most[k] == pytest.approx(2 * cot * math.exp(-p * t), rel=1e-12)
        gap = 2 * cot * math.exp(-q * t) - 2 / 3 * cot**3 * math.exp(-3 * q * t)
        assert least[k] == pytest.approx(gap, rel=1e-11)
    special = 2 * cot * np.exp(-phi0 * TIMES / (2 * math.pi))  # |w_0| near 0
    found = setting.gap_bounds(TIMES, psi0, target, target, target, 0)[1]
    np.testing.assert_allclose(found, special, rtol=1e-13)


@pytest.mark.parametrize("rate", [0.3, 20.0])
def test_decays_of_descent_tend_to_those_of_the_flow(rate) -> None:
    for step in (1e-3, 1e-4):
        T = np.round(TIMES / step)
        found = setting.decay(rate, T, step)
        np.testing.assert_allclose(found, (1.0 - rate * step) ** T, rtol=1e-14)
        assert np.abs(found - setting.decay(rate, TIMES)).max() < 0.5 * rate * step
    assert setting.magnitude_bounds(1e-9, 1.0, 0.0, 1.0)[1] == pytest.approx(5e-10, rel=1e-9)
    assert setting.magnitude_bounds(1, 1.0, 0.0, 1.0, 1e-12)[1] == pytest.approx(5e-13, rel=1e-12)
    far = setting.magnitude_bounds([1, 2], 1.0, 0.0, 1.0, 3.0)[1]
    assert list(far) == pytest.approx([1.5, 0.75])


def test_layered_bounds_contain_the_explicit_ones() -> None:
    for v0 in (0.2, 5.0):
        for m, explicit in ((0, setting.magnitude_bounds), (1, setting.two_layer_magnitude_bounds)):
            found = setting.layered_magnitude_bounds(TIMES, 1.0, v0, 1.5, m)
            np.testing.assert_allclose(found, explicit(TIMES, 1.0, v0, 1.5), rtol=1e-13)


@pytest.mark.parametrize("m", [0, 1, 2, 7])
def test_the_distance_to_the_rest_point_keeps_its_digits(m) -> None:
    rate = 0.5 * (m + 1) * 0.8 ** (2 * m)
    for y0 in (0.999999, 1.000001):
        late = chains.balanced_chain([2.0, 3.0], 0.8 * y0, 0.8, m) - 0.8
        assert math.log(late[0] / late[1]) == pytest.approx(rate, rel=1e-4)


# --- The comparison equation ----------------------------------------------------------------------


@pytest.mark.parametrize("m", [0, 1, 3])
def test_comparison_without_pull(m) -> None:
    u = chains.balanced_chain(TIMES, 2.0, 0.0, m)
    near = chains.balanced_chain(TIMES, 2.0, 1e-13, m)
    np.testing.assert_allclose(u, near, rtol=1e-5)
    slope = np.diff(chains.balanced_chain([1.0, 1.0 + 1e-6], 2.0, 0.0, m))[0] / 1e-6
    v = chains.balanced_chain([1.0], 2.0, 0.0, m)[0]
    assert slope == pytest.approx(-0.5 * v ** (2 * m + 1), rel=1e-5)


@pytest.mark.parametrize("m", [2, 3, 5, 12])
@pytest.mark.parametrize("y", [1e-4, 0.4, 0.97, 1 - 1e-7, 1 + 1e-7, 1.2, 40.0])
def test_clock_is_the_integral_of_time(m, y) -> None:
    with mp.workdps(30):
        y = mp.mpf(y)
        z = y ** (m + 1)
        if y < 1:
            b = mp.mpf(1 - m) / (m + 1)
            exact = -2 * y ** (1 - m) / (m - 1) * mp.hyp2f1(1, b, 1 + b, z)
        else:
            c = mp.mpf(2 * m) / (m + 1)
            exact = y ** (-2 * m) / m * mp.hyp2f1(1, c, 1 + c, 1 / z)
        slope = mp.diff(
            lambda x: -2 * x ** (1 - m) / (m - 1) * mp.hyp2f1(1, mp.mpf(1 - m) / (m + 1),
                                                             mp.mpf(2) / (m + 1), x ** (m + 1)),
            mp.mpf(0.6),
        )  # fmt: skip
        assert slope * mp.mpf(0.6) ** m * (1 - mp.mpf(0.6) ** (m + 1)) / 2 == pytest.approx(1.0)
        odds = chains.log_odds(float(y), m)
        found = float(chains.clock(odds, m, bool(y > 1)))
        assert found == pytest.approx(float(exact), rel=1e-8 if abs(y - 1) < 1e-6 else 1e-12)


@FEW
@given(st.integers(2, 9), st.floats(-30.0, 30.0), st.booleans())
def test_the_clock_is_inverted(m, log_y, above) -> None:
    log_y = abs(log_y) + 1e-6 if above else -abs(log_y) - 1e-6
    odds = chains.log_odds(math.exp(log_y), m)
    assert math.log(chains.ratio(odds, m, above)) == pytest.approx(log_y, rel=1e-8)
    s = chains.clock(odds, m, above)
    found = chains.odds_at(np.array([s, s]), m, above)[1]
    assert found == pytest.approx(float(odds), rel=1e-9, abs=0 if above else 1e-9)


@pytest.mark.parametrize("b", [-11 / 13, -0.5, -1 / 3, 4 / 3, 1.5, 24 / 13])
@pytest.mark.parametrize("z", [0.0, 1e-9, 0.4999, 0.5001, 0.9, 0.999, 1 - 1e-9])
def test_hypergeometric_against_mpmath(b, z) -> None:
    exact = mp.hyp2f1(1, mp.mpf(b), 1 + mp.mpf(b), mp.mpf(z))
    found = chains.unit_hypergeometric(b, z, np.log1p(-z))
    assert float(found) == pytest.approx(float(exact), rel=1e-13, abs=1e-13)


# --- The printed formula --------------------------------------------------------------------------


def test_the_printed_formula_as_printed() -> None:
    phi0, v0, m = math.pi / 2, 0.5, 3
    share = 1 / mp.pi

    def left(u: mp.mpf, rest: mp.mpf) -> mp.mpf:
        """m = 3, where F(1, -1/2; 1/2; z) = 1 - sqrt(z) artanh sqrt(z)."""
        root = u**2 / mp.sqrt(rest)
        return (1 - root * mp.atanh(root)) / (2 * u**2 * rest)

    found = setting.implicit_printed([0.0, 3.0], phi0, v0, 1.0, m, 1.0)
    for u, t in zip(found, (0, 3), strict=True):
        exact = mp.findroot(lambda x, t=t: left(x, 1) - left(mp.mpf(v0), share) + mp.mpf(t) / 2, u)
        assert u == pytest.approx(float(exact), rel=1e-12)
    for start in (v0, 2.0):  # with its own eps the printed formula is right
        own = setting.implicit_printed(TIMES, phi0, start, 1.0, m, float(share))
        lower, _ = setting.layered_magnitude_bounds(TIMES, phi0, start, 1.0, m)
        np.testing.assert_allclose(own, lower, rtol=1e-11)
    assert np.isnan(setting.implicit_printed(TIMES, phi0, 0.8, 1.0, m, 1.0)).all()
    with pytest.raises(InputError, match="m of at least 2"):
        setting.implicit_printed(TIMES, phi0, v0, 1.0, 1, 1.0)


def test_the_printed_formula_scales_with_the_target() -> None:
    one = setting.implicit_printed(TIMES, 2.0, 0.4, 1.0, 2, 0.9)
    big = setting.implicit_printed(TIMES / 3.0**4, 2.0, 1.2, 3.0, 2, 0.9)
    np.testing.assert_allclose(big, 3.0 * one, rtol=1e-12)


# --- Orbits ---------------------------------------------------------------------------------------


@FEW
@given(st.floats(-10.0, 10.0), st.floats(-10.0, 10.0))
def test_one_layer_in_closed_form(psi0, rho0) -> None:
    path = population.orbits(psi0, rho0, 0)
    t, start = path.s[0], angle(psi0) * np.cosh(psi0)
    psi = np.arcsinh(np.sinh(psi0) + start / np.pi * np.exp(-rho0) * np.expm1(0.5 * t))
    rho = rho0 - 0.5 * t + np.log(angle(psi) * np.cosh(psi)) - np.log(start)
    np.testing.assert_allclose(psi, path.psi[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rho, path.rho[0], rtol=1e-9, atol=1e-9)
    assert (psi[0], rho[0]) == pytest.approx((psi0, rho0), abs=1e-12)


@pytest.mark.parametrize(("rho0", "m"), [(0.0, 0), (0.0, 2), (1.0, 1), (2.0, 3), (-2.0, 1)])
def test_the_range_of_the_magnitude(rho0, m) -> None:
    start = Start(0.2, rho0, m, 1.7)
    low, high = bounds.norm_range(start, bounds.flows([start])[0])
    t = np.geomspace(1e-4, 60.0, 400) / 1.7 ** (2 * m)
    v = population_flow(0.2, rho0, m, t, 1.7).length
    assert low <= v.min() * (1 + 1e-9)
    assert low > 0.995 * min(v.min(), start.v)
    assert high >= v.max() * (1 - 1e-9)
    assert high == max(start.v, 1.7)


def test_a_start_has_all_its_digits() -> None:
    start = Start.near(1e-9, 3.0, 2, 1.5)
    assert start.theta == pytest.approx(1e-9, rel=1e-14)
    assert (start.phi, start.v) == pytest.approx((math.pi - 1e-9, 3.0), rel=1e-15)
    same = Start.at(1.0, 0.5, 1, 2.0)
    assert (same.phi, same.v, same.target) == pytest.approx((1.0, 0.5, 2.0), rel=1e-15)
    draw = drawn((3,), {"one": ((0.5, 0.5), (-1.0, -1.0))}, (0.0, 0.0))["one"]
    assert Start.of(draw(np.random.default_rng(0))) == Start(0.5, -1.0, 3, 1.0)
    t = np.array([0.0, 0.4])
    flow = population_flow(start.psi, start.rho, 2, t, 1.5)
    np.testing.assert_array_equal(start.flow(t).psi, flow.psi)
    (path,) = bounds.flows([same])
    np.testing.assert_allclose(path.psi, same.flow(path.t).psi, rtol=0, atol=1e-10)
    np.testing.assert_allclose(path.length, same.flow(path.t).length, rtol=1e-10)


# --- The statements -------------------------------------------------------------------------------


def test_rounding_decides_nothing() -> None:
    v = np.array([1.0, 1.0])
    assert np.isnan(bounds.enclosed(v, v - 1e-15, v + 1e-15))
    assert bounds.enclosed(v, v - [0.1, 1e-15], v + 0.1) == pytest.approx(0.5)
    assert bounds.enclosed(v, v + 0.1, v + 0.3) == pytest.approx(-0.5)


# --- Lemma C.2 ------------------------------------------------------------------------------------


def pair(below: int, u0: float, v0: float) -> dict:
    return {
        "waves": np.array([[0.5, -1.0, 0.3], [1.0, 2.0, 0.5], [0.2, 0.1, 1.0]]),
        "gap": np.array([0.1, 0.3]),
        "root": np.array(0.7),
        "at": np.array(0.2),
        "u0": np.array(u0),
        "v0": np.array(v0),
        "below": np.array(below),
    }


def test_quotients_of_the_square_count_rising_times_only() -> None:
    """t^2/4 solves u' = sqrt(u) where it rises: at t = -1/2 the square of its slope agrees, too."""
    assert comparison._quotients([Fraction(1, 2), Fraction(3)]) == 2
    assert comparison._quotients([Fraction(-1, 2), Fraction(0)]) == 0


@pytest.mark.parametrize("below", [0, 1])
def test_compared_equations_are_integrated(below) -> None:
    item = pair(below, -0.3, 0.4)
    size, pace, turn = item["waves"]

    def smooth(x: float, t: float) -> float:
        return sum(
            s * math.sin(p * x + q * (1 + t)) for s, p, q in zip(size, pace, turn, strict=True)
        )

    def extra(x: float) -> float:
        return 0.7 * math.sqrt(abs(x - 0.2)) + 0.1 + 0.3 * math.sin(x) ** 2

    def rates(t: float, x: np.ndarray) -> list[float]:
        f = smooth(x[0], t) - (extra(x[0]) if below else 0.0)
        return [f, smooth(x[1], t) + (0.0 if below else extra(x[1]))]

    times = np.linspace(0.1, 2.0, 20)
    path = solve_ivp(rates, (0.0, 2.0), [-0.3, 0.4], "RK45", times, rtol=1e-8, atol=1e-10)
    lead = float((path.y[1] - path.y[0]).min())
    found = comparison.least_lead([item, pair(below, 0.0, 0.0)])
    assert found[0] == pytest.approx(lead, abs=1e-4)
    assert found.shape == (2,)


def test_steps_that_cannot_follow_decide_nothing() -> None:
    # A Lipschitz constant of 900: one run of steps of 0.01 had put u above v by 4.5.
    waves = np.array([[-20.0, 10.0, 70.0], [6.0, 9.0, 10.0], [-8.0, 6.0, 0.6]])
    item = {**pair(1, 0.5, 0.5), "waves": waves, "gap": np.zeros(2), "root": np.array(6e-14)}
    assert not comparison.least_lead([item])[0] < 0.0


@pytest.mark.parametrize("below", [0, 1])
def test_an_order_that_is_lost_is_noticed(below) -> None:
    """Where f > g by a thousandth the solution of f overtakes; one by the rounding is not told."""
    item = {**pair(below, 0.0, 0.0), "root": np.array(0.0)}
    turned = {**item, "gap": np.array([-1e-3, 0.0])}
    assert -1.0 < comparison.least_lead([turned])[0] < -1e-5
    level = {**item, "gap": np.array([-1e-16, 0.0])}
    assert np.isnan(comparison.least_lead([level]))


# --- Evidence -------------------------------------------------------------------------------------


def holds(evidence, within: float | None = None) -> bool:
    """Whether all of it holds, deviations within this."""
    return all(
        item.value <= within if item.form == "deviation" else item.holds
        for item in evidence
        if item.decides
    )


def test_the_printed_equation_is_solved_by_a_real_number_behind_the_cut() -> None:
    """m = 3, phi_0 = pi/2, |w*| = 1, v_0 = 2: F is complex there, its difference is not."""
    share, t = 1 / mp.pi, np.array([0.1, 1.0, 5.0])
    below, beyond = (mp.im(setting.printed_left(v0, 3, share)) for v0 in (0.74, 0.76))
    assert below == 0  # the branch is at (1/pi)^(1/4) = 0.751
    assert abs(beyond) > 1.0
    found = setting.implicit_printed(t, math.pi / 2, 2.0, 1.0, 3, 1.0 / math.pi)
    np.testing.assert_allclose(found, [1.229847, 0.889379, 0.769905], rtol=1e-6)
    for u, at in zip(found, t, strict=True):
        assert abs(setting.printed_residual(u, 2, 3, share, at)) < 1e-10
        other = float(setting.printed_solution(2, 3, share, at))
        assert u == pytest.approx(other, rel=1e-12)
    v = Start.at(math.pi / 2, 2.0, 3).flow(t).length
    assert (found < v).all()
    # With eps_0 in the constant of u(t; 0) no u cancels the imaginary part.
    constant = setting.printed_left(2, 3, share)
    for u in (0.3, 0.9, 1.1, 1.9):
        assert abs(mp.im(setting.printed_left(u, 3, 1) - constant)) > 1.0


def test_an_imaginary_part_that_does_not_cancel_is_noticed(monkeypatch) -> None:
    right = setting.printed_left
    leaning = lambda u, m, share: right(u, m, share) + mp.mpc(0, 1e-3) * u  # noqa: E731
    monkeypatch.setattr(setting, "printed_left", leaning)
    assert not holds(comparison.defined((2,)), 1e-9)


def test_small_norms_below_the_threshold_keep_to_equation_8() -> None:
    assert bounds.room(1.5, 1.0, 1e-3) > 0.0 > bounds.room(2.0, 1.0, 1e-3)
    assert pytest.approx(math.pi - math.atan(math.pi)) == bounds.THRESHOLD
    assert setting.one_layer_length(1.5, 1e-3, 1.0) < 1.0 - math.exp(-0.5)


# --- Figures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", [1e-6, -1e-6])
@pytest.mark.parametrize(
    ("name", "wrong", "what"),
    [
        (
            (comparison, "balanced_chain"),
            lambda f, off: lambda *a: f(*a) * (1.0 + off),
            "u(t) from",
        ),
        ((setting, "time_between"), lambda f, off: lambda *a: f(*a) * (1.0 + off), "time to"),
        ((setting, "printed_pace"), lambda f, off: lambda *a: f(*a) + off, "d/dt of the imp"),
        ((comparison, "unit_hypergeometric"), lambda f, off: lambda *a: f(*a) + off, "F(1, b; 1 +"),
    ],
    ids=["ode", "integral", "sign", "special"],
)
def test_the_repair_is_compared_both_ways(name, wrong, what, off, monkeypatch) -> None:
    """Too large and too small are both errors; one of them once passed unnoticed."""
    monkeypatch.setattr(*name, wrong(getattr(*name), off))
    found = comparison.repaired((2,))
    (item,) = [i for i in found if i.form == "deviation" and i.what.startswith(what)]
    assert item.value > 1e-9


@pytest.mark.parametrize("m", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("y0", [0.3, 0.999999, 1.0, 1.000001, 6.0])
def test_comparison_solves_its_equation(m, y0) -> None:
    a, t = 0.8, np.array([0.0, 0.02, 1.0, 6.0])
    u = chains.balanced_chain(t, a * y0, a, m)
    path = solve_ivp(
        lambda _, x: -0.5 * x**m * (x ** (m + 1) - a ** (m + 1)),
        (0.0, 6.0),
        [a * y0],
        "DOP853",
        t,
        rtol=1e-12,
        atol=1e-15,
        first_step=1e-12,
    )
    np.testing.assert_allclose(u, path.y[0], rtol=1e-10)
    # Near the rest point the distance to it keeps its digits too.
    if y0 != 1.0 and m > 0:
        rate = 0.5 * (m + 1) * a ** (2 * m)
        late = chains.balanced_chain([8.0, 9.0], a * y0, a, m) - a
        if 1e-9 < abs(late[1]) < 1e-3:
            assert math.log(late[0] / late[1]) == pytest.approx(rate, rel=1e-2)


@pytest.mark.parametrize(
    ("psi0", "rho0", "m"),
    [(0.0, -3.0, 0), (-4.0, 1.0, 0), (0.5, 2.0, 1), (2.0, -1.0, 2), (-1.0, 0.0, 3), (0.0, 3.0, 6)],
)
def test_orbits_are_the_flow(psi0, rho0, m) -> None:
    path = population.orbits(psi0, rho0, m)
    assert (path.s[0, 0], path.psi[0, 0]) == (0.0, psi0)
    assert path.rho[0, 0] == pytest.approx(rho0, abs=1e-14)
    assert path.psi[0, -1] >= max(psi0, 0.0) + 14.0
    chosen = np.flatnonzero(path.psi[0] < max(psi0, 0.0) + 4.0)[1::3]
    flow = population_flow(psi0, rho0, m, path.s[0, chosen])
    np.testing.assert_allclose(path.psi[0, chosen], flow.psi, rtol=0, atol=1e-11)
    np.testing.assert_allclose(path.rho[0, chosen], flow.rho, rtol=0, atol=1e-11)
