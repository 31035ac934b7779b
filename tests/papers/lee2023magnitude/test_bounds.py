"""Bounds of Lee, Sim & Ye 2022b, Section 3: formulas, comparison solutions, statements."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude import bounds, chains, setting
from scipy.integrate import solve_ivp

FEW = settings(max_examples=12)
TIMES = np.array([0.0, 0.01, 0.7, 4.0, 30.0])


# --- The formulas ---------------------------------------------------------------------------------


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
                assert found == pytest.approx([float(a) for a in exact], rel=1e-13)


def test_decays_of_descent_and_small_times_keep_their_digits() -> None:
    for step, T in ((1e-3, TIMES / 1e-3), (1e-4, TIMES / 1e-4)):
        found = setting.decay(20.0, np.round(T), step)
        np.testing.assert_allclose(found, (1.0 - 20.0 * step) ** np.round(T), rtol=1e-14)
        assert np.abs(found - setting.decay(20.0, TIMES)).max() < 10.0 * step
    assert setting.magnitude_bounds(1e-9, 1.0, 0.0, 1.0)[1] == pytest.approx(5e-10, rel=1e-9)
    assert setting.magnitude_bounds(1, 1.0, 0.0, 1.0, 1e-12)[1] == pytest.approx(5e-13, rel=1e-12)


# --- The comparison equation ----------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 7])
@pytest.mark.parametrize("y0", [0.999999, 1.000001])
def test_the_distance_to_the_rest_point_keeps_its_digits(m, y0) -> None:
    a = 0.8
    late = chains.balanced_chain([2.0, 3.0], a * y0, a, m) - a
    pace = 0.5 * (m + 1) * a ** (2 * m)
    assert math.log(late[0] / late[1]) == pytest.approx(pace, rel=1e-4)


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


def test_quotients_of_the_square_count_rising_times_only() -> None:
    """t^2/4 solves u' = sqrt(u) where it rises: at t = -1/2 the square of its slope agrees, too."""
    assert bounds._quotients([Fraction(1, 2), Fraction(3)]) == 2
    assert bounds._quotients([Fraction(-1, 2), Fraction(0)]) == 0


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
