"""Section 4 and Appendix A of Lee, Sim & Ye 2022b: descent, its bounds and their repairs."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from reluflow.errors import InputError
from reluflow.falsify import falsify
from reluflow.papers.lee2023magnitude import descent, descents, layers, setting
from reluflow.papers.lee2023magnitude.descents import Descent
from reluflow.papers.lee2023magnitude.population import population_gradient, pull
from reluflow.papers.lee2023magnitude.setting import Start

T = np.arange(6)


def test_limits_and_counts_of_steps_as_printed():
    phi0, r, R, v, eta = 2.1, 0.4, 1.7, 1.2, 0.01
    assert setting.step_limit(phi0, r, R, v, 3) == pytest.approx(
        min(2 * math.pi / (phi0 * r**2 * v**4), 2 / (3 * R**2 * v**4))
    )
    assert setting.step_limit(phi0, r, R, v, 0) == pytest.approx(
        min(2 * math.pi * R / (v * phi0), 2 * r / (3 * v))
    )
    psi0, factor = math.log(math.tan(phi0 / 2)), 1 - phi0 / (2 * math.pi) * r * v**3 * eta
    count = setting.enough_steps(math.log(1e-3), psi0, factor)
    assert count == pytest.approx(math.log(5e-4 * math.tan(phi0 / 2)) / math.log(factor), rel=1e-12)
    assert setting.gap_bounds([count], psi0, r, r, v, 2, eta)[1] == pytest.approx(1e-3)


def test_two_layer_bounds_as_printed():
    phi0, v0, v, eta = 1.9, 0.3, 1.4, 0.02
    low, high = setting.two_layer_magnitude_bounds(T, phi0, v0, v, eta)
    for k in T:
        below, above = descents.two_layer_bounds(int(k), math.pi - phi0, v0, v, eta)
        assert low[k] == pytest.approx(float(below), rel=1e-13)
        assert high[k] == pytest.approx(float(above), rel=1e-13)
    low, _ = setting.two_layer_magnitude_bounds([0, 5], 1e-5, v0, v, eta)
    assert low == pytest.approx([v0 / math.sqrt(1 + 0), v0 / math.sqrt(1 + v0**2 * 5 * eta)])


@pytest.mark.parametrize(
    ("theta", "v0", "m", "target"),
    [(0.01, 0.7, 0, 1.3), (1.2, 1.5, 1, 0.8), (3.0, 0.4, 3, 1.2)],
)
def test_exact_routes_agree_with_population_descent(theta, v0, m, target):
    step = 0.01
    by_integrals = descents.quadrature_step(descents.balanced(theta, v0, m), target, step)
    by_vectors = descents.vector_descent(descents.balanced(theta, v0, m), target, step, 1)[1]
    path = Start.near(theta, v0, m, target).descent(step, 1)
    for place in (by_integrals, by_vectors):
        assert float(place.theta) == pytest.approx(path.theta[1], rel=1e-10)
        assert float(place.length) == pytest.approx(path.length[1], rel=1e-12)
        assert [float(a) for a in place.v] == pytest.approx(list(path.layers[1]), rel=1e-12)


def test_exact_angle_is_the_same_on_both_sides_of_the_teacher():
    for along, across, angle in ((1, 1, 1), (1, -1, 1), (-1, 1, 3), (-1, -1, 3), (2, 0, 0)):
        place = descents.Place(mpmath.mpf(along), mpmath.mpf(across), ())
        assert float(place.theta) == pytest.approx(angle * math.pi / 4)


def test_exact_gradient_needs_no_balance():
    w, v, target = np.array([0.3, 0.8]), (0.5, 1.7), 1.3
    place = descents.Place(mpmath.mpf("0.3"), mpmath.mpf("0.8"), tuple(map(mpmath.mpf, v)))
    after = descents.quadrature_step(place, target, 0.01)
    grad_w, grad_v = population_gradient(w, [target, 0.0], v, (target, target))
    assert [float(after.along), float(after.across)] == pytest.approx(list(w - 0.01 * grad_w))
    assert [float(a) for a in after.v] == pytest.approx(list(np.array(v) - 0.01 * grad_v))


def test_exact_bounds_are_the_printed_ones():
    for k in (0, 1, 7):
        below, above = descents.angle_gap_bounds(k, 1.1, 0.2, 0.5, 0.05)
        tan = math.tan(0.55)
        assert float(above) == pytest.approx(2 * tan * 0.99**k)
        assert float(below) == pytest.approx(2 * tan * 0.975**k - 2 / 3 * tan**3 * 0.925**k)
        low, high = descents.magnitude_bounds_at(k, math.pi - 1.3, 0.7, 2, 0.05)
        found = setting.magnitude_bounds([k], 1.3, 0.7, 2.0, 0.05)
        assert [float(low), float(high)] == pytest.approx([found[0][0], found[1][0]])


def test_corrected_factors_are_the_printed_ones_to_first_order():
    phi0, r, R, v, m = 2.2, 0.6, 1.4, 1.1, 3
    known = (r ** (m - 1), R ** (m - 1), R**m)
    slow, fast = setting.angle_rates(phi0, r, R, v, m)
    for step in (1e-4, 1e-5):
        q1, q2 = layers.corrected_factors(phi0, known, v, step, m)
        assert abs(q1 - (1 - fast * step)) <= 20 * step**2
        assert abs(q2 - (1 - slow * step)) <= 20 * step**2
        assert q1 < 1 - fast * step
        assert q2 > 1 - slow * step
    with pytest.raises(InputError, match="step"):
        layers.corrected_factors(phi0, known, v, 2.1 / R ** (2 * m), m)


def test_near_zero_the_printed_cubic_term_dies_too_soon():
    for k in descents.SMALLNESS:
        digits, T, found = descents.demanded(k)
        with mpmath.workdps(30):
            chi, h = mpmath.mpf(10) ** digits, mpmath.mpf(1) / (3 * k)
            assert descents.LEVEL <= chi * (1 - h) ** T < descents.LEVEL / (1 - h)
            powers = 2 * chi * (1 - h) ** T - 2 * chi**3 * (1 - 3 * h) ** T / 3
        assert found == pytest.approx(float(powers), rel=1e-8)
        # The repaired term takes 2/3 y^3 off, and what is left is less than 2 arctan y.
        y = math.exp(digits * math.log(10) + T * math.log1p(-1 / (3 * k)))
        assert 2 * y - 2 / 3 * y**3 < 2 * math.atan(y) < math.pi < found
    value = 2 * 10**8 * Fraction(29, 30) ** 516 - Fraction(2, 3) * 10**24 * Fraction(9, 10) ** 516
    assert value > Fraction(22, 7)
    assert descents.demanded(10) == (8, 516, pytest.approx(float(value), rel=1e-12))
    # The largest X at every start: c eta = 1/(3 k), whatever r, R and m.
    for m, r, R in ((0, 1e-24, 2.0), (0, 0.3, 1.0), (1, 0.2, 1.5), (3, 0.2, 1.5)):
        fast = setting.angle_rates(2e-8, r, R, 1.0, m)[1]
        limit = setting.step_limit(2e-8, r, R, 1.0, m)
        assert fast * limit == pytest.approx(1 / 3, rel=1e-14)


def test_the_repaired_term_is_the_printed_one_to_first_order():
    found = descent.repaired_gap(T, -0.4, 1e-5)
    y = math.exp(0.4) * (1 - 1e-5) ** T
    assert found == pytest.approx(2 * y - 2 / 3 * y**3, rel=1e-13)
    printed = setting.gap_bounds(T, -0.4, 0.5, 1.0, 1.0, 0, 1e-5)[0]  # c = 1
    assert found[1:] == pytest.approx(printed[1:], abs=1e-8)
    assert (found[2:] < printed[2:]).all()


def test_a_descent_that_diverges_or_turns_its_factors_is_outside():
    calm = {"psi": 0.0, "rho": 0.0, "m": 2, "target": 1.0, "step": 0.1, "steps": 20}
    item = {name: np.array(value) for name, value in calm.items()} | {"loose": np.ones(2)}
    assert Descent.of(item).stays_positive()
    statement = layers.corrected_angle()
    assert statement.unmet(item) is None
    for step, rho in ((5.0, 0.0), (50.0, 2.0)):  # v turns negative; |w| overflows
        wild = item | {"step": np.array(step), "rho": np.array(rho)}
        assert not Descent.of(wild).stays_positive()
        assert "v_k > 0" in statement.unmet(wild)


@pytest.mark.parametrize("v0", [0.2, 1.0, 2.5])
def test_corrected_two_layer_bound_is_a_changed_step(v0):
    phi0, v, eta = 2.0, 1.0, 0.01
    a = float(pull(phi0)) * v**2
    x = eta * (v0**2 - a) / 2
    ours = layers.corrected_lower(T, phi0, v0, v, eta)
    assert np.all(ours[1:] < setting.two_layer_magnitude_bounds(T, phi0, v0, v, eta)[0][1:])
    # T = 1 of the descent of v alone: v0 (1 - x).
    assert ours[1] <= v0 * (1 - x) * (1 + 1e-14)
    assert ours[1] > v0 * (1 - x) - 2 * eta**2 * v0 * (v0**2 + a) ** 2


def test_below_the_small_norm_the_bound_holds_at_the_first_step():
    start = Start.at(2.0, 1.0, 0, 1.5)
    limit = descent.small_norm(Descent(start, 0.1, 1, (1.0, 1.0), 1.0))
    assert Start.at(2.0, 0.999 * limit, 0, 1.5).descent(0.1, 1).length[1] < 0.05 * 1.5


def test_range_holds_beyond_the_run():
    draw = descents.draws((0, 1, 2, 3))
    rng = np.random.default_rng(2)
    for k in range(16):
        run = replace(Descent.of(list(draw.values())[k % 2](rng)), steps=20)
        r, R = run.norm_range()
        later = replace(run, steps=1500).path
        assert r < later.length[1:].min()
        assert later.length[1:].max() < R


def _holds(items) -> bool:
    return all(item.holds for item in items if item.decides)


def test_strictness_is_told(monkeypatch):
    """A bound that is met exactly is no strict one."""
    right = descents.magnitude_bounds_at
    monkeypatch.setattr(descents, "magnitude_bounds_at", lambda *given: right(*given)[::-1])
    assert not _holds(descent.strict_magnitudes(3, 1))
    gaps = descents.angle_gap_bounds
    monkeypatch.setattr(descents, "angle_gap_bounds", lambda *given: gaps(*given)[::-1])
    assert not _holds(descent.strict_angles(3, 1))


def test_away_from_the_goal_theorem_42_holds_and_nearer_it_fails():
    # 3/2 pi eta^2 = (pi - phi0)^3 is the border for a small norm and step.
    for step in (1e-3, 1e-2):
        border = (1.5 * math.pi * step**2) ** (1 / 3)
        assert layers.failing_gap(step) == pytest.approx(border, rel=0.2)
    for share, fails in ((0.98, True), (1.02, False)):
        gap = share * layers.failing_gap(1 / 15)
        path = layers.near_descent(gap, Fraction(1, 100), Fraction(1, 15), 200)
        limit = setting.gap_bounds(path.t, path.psi[0], 1.0, 1.0, 1.0, 1, 1 / 15)[1]
        assert (path.theta[1:] > limit[1:]).any() == fails
    report = falsify(layers.angle_away(), 1, 40, 0)
    assert f": 0 of {report.tried} descents" in layers.small_steps(report).others


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("norm", [0.7, 1.4])
def test_from_a_fixed_start_both_bounds_hold_once_the_step_is_small(m, norm):
    """Theorem 4.2 in its weakest form, from where a step of 3/100 is too large."""
    start, held = Start.near(0.01, norm, m), []
    for step in (0.03, 1e-4):
        run = Descent(start, step, math.ceil(4.0 / step), (1.0 + 1e-9, 1.0 + 1e-9), 1.0)
        held.append(min(float(slack.min()) for slack in descent.angle_slacks(run)) > -1e-12)
    assert held == [False, True]


def test_the_asked_for_steps_are_those_of_the_corollary():
    statement = layers.steps_away()
    item = next(iter(statement.draws.values()))(np.random.default_rng(4))
    run = Descent.of(item)
    log_eps = statement.slack(item) + math.log(run.path.theta[run.asked])
    rate = setting.angle_rates(run.start.phi, *run.norm_range(), run.start.target, run.start.m)[0]
    count = setting.enough_steps(log_eps, run.start.psi, 1 - rate * run.step)
    assert count == pytest.approx(run.asked, abs=1e-5)


def test_a_huge_norm_outside_of_r_and_R_is_left_out():
    item = {name: np.array(value) for name, value in
            {"psi": 1.0, "rho": 0.73, "target": 1.185, "step": 0.0273, "steps": 100, "m": 2,
             "smallness": 10}.items()}  # fmt: skip
    item["loose"] = np.array([1.02, 1.07])
    assert layers.angle_away().unmet(item) == "r < |w0| < R"
