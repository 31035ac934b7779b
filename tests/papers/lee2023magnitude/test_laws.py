"""Bounds of Lee, Sim & Ye 2022b, Section 3: formulas, comparison solutions, statements; and its
laws of data, Lemma 2.1 and Propositions B.1, B.2, C.1 and 3.5, with our repairs."""

import math
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude import bounds, chains, laws, rates, setting
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
