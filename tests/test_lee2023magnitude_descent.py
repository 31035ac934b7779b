"""Section 4 and Appendix A of Lee, Sim & Ye 2023: descent, its bounds and their repairs."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.approx import written
from reluflow.errors import InputError
from reluflow.falsify import Statement, falsify
from reluflow.figures import cut_off
from reluflow.flows.population import population_descent, population_gradient, pull
from reluflow.papers.lee2023magnitude import approximation as approx
from reluflow.papers.lee2023magnitude import approximation_evidence as approx_evidence
from reluflow.papers.lee2023magnitude import descent_bounds as bounds
from reluflow.papers.lee2023magnitude import descent_corrected as corrected
from reluflow.papers.lee2023magnitude import descent_counterexamples as cases
from reluflow.papers.lee2023magnitude import descent_evidence as evidence
from reluflow.papers.lee2023magnitude import descent_exact as exact
from reluflow.papers.lee2023magnitude import descent_runs as runs
from reluflow.papers.lee2023magnitude import descent_statements as statements
from reluflow.papers.lee2023magnitude.pictures import descent as pictures

T = np.arange(6)


@pytest.fixture(scope="module")
def reports():
    return evidence.try_descent(3, 24)


def test_magnitude_bounds_as_printed():
    phi0, v0, w, eta = 1.3, 0.7, 2.0, 0.05
    eps0 = 1 - (math.sin(phi0) - phi0 * math.cos(phi0)) / math.pi
    q = (1 - eta / 2) ** T
    low, high = bounds.magnitude_descent_bounds(T, phi0, v0, w, eta)
    assert low == pytest.approx((1 - eps0) * (1 - q) * w + v0 * q, rel=1e-13)
    assert high == pytest.approx((1 - q) * w + v0 * q, rel=1e-13)
    low, high = bounds.small_magnitude_descent_bounds(T, phi0, w, eta)
    assert low == pytest.approx((1 - eps0) * (1 - q) * w)
    assert high == pytest.approx((1 - q) * w)


def test_angle_bounds_as_printed():
    phi0, r, R, v, eta = 2.1, 0.4, 1.7, 1.2, 0.01
    k = 1 / math.tan(phi0 / 2)
    low, high = bounds.angle_descent_bounds(T, phi0, r, R, v, eta, 3)
    slow, fast = phi0 / (2 * math.pi) * r**2 * v**4, R**2 * v**4 / 2
    assert low == pytest.approx(math.pi - 2 * k * (1 - slow * eta) ** T)
    assert high == pytest.approx(
        math.pi - 2 * k * (1 - fast * eta) ** T + 2 / 3 * k**3 * (1 - 3 * fast * eta) ** T
    )
    low, high = bounds.angle_descent_bounds(T, phi0, r, R, v, eta, 0)
    slow, fast = v * phi0 / (2 * math.pi * R), v / (2 * r)
    assert low == pytest.approx(math.pi - 2 * k * (1 - slow * eta) ** T)
    assert high == pytest.approx(
        math.pi - 2 * k * (1 - fast * eta) ** T + 2 / 3 * k**3 * (1 - 3 * fast * eta) ** T
    )
    low, high = bounds.small_angle_descent_bounds(T, phi0, eta)
    assert low == pytest.approx(math.pi - 2 * k * (1 - phi0 / (2 * math.pi) * eta) ** T)
    assert np.all(high == math.pi)
    assert corrected.step_limit(phi0, r, R, v, 3) == pytest.approx(
        min(2 * math.pi / (phi0 * r**2 * v**4), 2 / (3 * R**2 * v**4))
    )
    assert corrected.step_limit(phi0, r, R, v, 0) == pytest.approx(
        min(2 * math.pi * R / (v * phi0), 2 * r / (3 * v))
    )


def test_two_layer_bounds_as_printed():
    phi0, v0, v, eta = 1.9, 0.3, 1.4, 0.02
    low, high = bounds.two_layer_descent_bounds(T, phi0, v0, v, eta)
    for k in T:
        below, above = exact.two_layer_bounds(int(k), math.pi - phi0, v0, v, eta)
        assert low[k] == pytest.approx(float(below), rel=1e-13)
        assert high[k] == pytest.approx(float(above), rel=1e-13)
    low, _ = bounds.two_layer_descent_bounds([0, 5], 1e-5, v0, v, eta)
    assert low == pytest.approx([v0 / math.sqrt(1 + 0), v0 / math.sqrt(1 + v0**2 * 5 * eta)])


def test_sufficient_steps_as_printed():
    eps, phi0, r, v, eta, m = 1e-3, 2.0, 0.5, 1.1, 0.03, 2
    count = bounds.sufficient_steps(eps, phi0, r, v, eta, m)
    printed = math.log(eps / 2 * math.tan(phi0 / 2)) / math.log(
        1 - phi0 / (2 * math.pi) * r ** (m - 1) * v ** (m + 1) * eta
    )
    assert count == pytest.approx(printed, rel=1e-12)
    gap = bounds.gap_descent_bounds([count], phi0, r, r, v, eta, m)[1]
    assert gap == pytest.approx(eps)


@pytest.mark.parametrize(
    ("theta", "v0", "m", "target"),
    [(0.01, 0.7, 0, 1.3), (1.2, 1.5, 1, 0.8), (3.0, 0.4, 3, 1.2)],
)
def test_exact_routes_agree_with_population_descent(theta, v0, m, target):
    step = 0.01
    by_integrals = exact.quadrature_step(exact.balanced(theta, v0, m), target, step)
    by_vectors = exact.vector_descent(exact.balanced(theta, v0, m), target, step, 1)[1]
    path = population_descent(
        -math.log(math.tan(theta / 2)), math.log(v0 / target), m, step, 1, target
    )
    for place in (by_integrals, by_vectors):
        assert float(place.theta) == pytest.approx(path.theta[1], rel=1e-10)
        assert float(place.length) == pytest.approx(path.length[1], rel=1e-12)
        assert [float(a) for a in place.v] == pytest.approx(list(path.layers[1]), rel=1e-12)


def test_exact_gradient_needs_no_balance():
    w, v, target = np.array([0.3, 0.8]), (0.5, 1.7), 1.3
    place = exact.Place(mpmath.mpf("0.3"), mpmath.mpf("0.8"), tuple(map(mpmath.mpf, v)))
    after = exact.quadrature_step(place, target, 0.01)
    grad_w, grad_v = population_gradient(w, [target, 0.0], v, (target, target))
    assert [float(after.along), float(after.across)] == pytest.approx(list(w - 0.01 * grad_w))
    assert [float(a) for a in after.v] == pytest.approx(list(np.array(v) - 0.01 * grad_v))


def test_exact_bounds_are_the_printed_ones():
    for k in (0, 1, 7):
        below, above = exact.angle_gap_bounds(k, 1.1, 0.2, 0.5, 0.05)
        tan = math.tan(0.55)
        assert float(above) == pytest.approx(2 * tan * 0.99**k)
        assert float(below) == pytest.approx(2 * tan * 0.975**k - 2 / 3 * tan**3 * 0.925**k)
        low, high = exact.magnitude_bounds_at(k, math.pi - 1.3, 0.7, 2, 0.05)
        found = bounds.magnitude_descent_bounds([k], 1.3, 0.7, 2.0, 0.05)
        assert [float(low), float(high)] == pytest.approx([found[0][0], found[1][0]])


@settings(max_examples=30, deadline=None)
@given(
    theta=st.floats(0.001, 3.1),
    v0=st.floats(0.1, 2.0),
    m=st.integers(0, 3),
    step=st.floats(1e-3, 0.02),
)
def test_one_step_ratio_of_half_angle_tangents(theta, v0, m, step):
    """1 - a/|w_next| <= ratio <= 1 - a/(a + b), as the corrected bounds are derived."""
    path = population_descent(-math.log(math.tan(theta / 2)), math.log(v0), m, step, 1)
    p, phi = v0**m, path.phi[0]
    a = step * p * phi / (2 * math.pi)
    b = v0 * (1 - step * p**2 / 2) + step * p * math.sin(phi) / (2 * math.pi)
    ratio = math.exp(path.psi[0] - path.psi[1])
    assert 1 - a / path.length[1] - 1e-12 <= ratio <= 1 - a / (a + b) + 1e-12


def test_corrected_factors_are_the_printed_ones_to_first_order():
    phi0, r, R, v, m = 2.2, 0.6, 1.4, 1.1, 3
    known = corrected.Ranges(r ** (m - 1), R ** (m - 1), R**m)
    slow, fast = bounds.angle_rates(phi0, r, R, v, m)
    for step in (1e-4, 1e-5):
        q1, q2 = corrected.corrected_factors(phi0, known, v, step, m)
        assert abs(q1 - (1 - fast * step)) <= 20 * step**2
        assert abs(q2 - (1 - slow * step)) <= 20 * step**2
        assert q1 < 1 - fast * step
        assert q2 > 1 - slow * step
    with pytest.raises(InputError, match="step"):
        corrected.corrected_factors(phi0, known, v, 2.1 / R ** (2 * m), m)


def test_corrected_steps_invert_the_corrected_bound():
    known = corrected.Ranges(0.7, 1.3, 1.2)
    T = corrected.corrected_steps(1e-3, 2.0, known, 1.0, 0.05, 2)
    slow = corrected.corrected_factors(2.0, known, 1.0, 0.05, 2)[1]
    assert 2 / math.tan(1.0) * slow**T == pytest.approx(1e-3)


@pytest.mark.parametrize("fixed", [False, True])
def test_steps_asked_for_are_those_of_the_corollary(fixed):
    statement = statements.steps(fixed)
    item = next(iter(statement.draws.values()))(np.random.default_rng(4))
    phi0, _, target, step = runs.start_of(item)
    path, m, asked = runs.path_of(item), int(item["m"][0]), int(item["asked"][0])
    log_eps = statement.slack(item) + math.log(path.theta[asked])
    if fixed:
        given = (runs.ranges(item), target, step, m)
        count = corrected.corrected_steps(math.exp(log_eps), phi0, *given)
    else:
        given = (runs.norm_range(item)[0], target, step, m)
        count = bounds.sufficient_steps(math.exp(log_eps), phi0, *given)
    assert count == pytest.approx(asked, abs=1e-5)


@pytest.mark.parametrize("v0", [0.2, 1.0, 2.5])
def test_corrected_two_layer_bound_is_a_changed_step(v0):
    phi0, v, eta = 2.0, 1.0, 0.01
    a = float(pull(phi0)) * v**2
    x = eta * (v0**2 - a) / 2
    moved = eta * (1 - 0.75 * a * eta) if v0**2 <= a else eta * (1 - x / 2) / (1 - x) ** 2
    ours = corrected.corrected_two_layer_lower(T, phi0, v0, v, eta)
    printed = bounds.two_layer_descent_bounds(T, phi0, v0, v, moved)[0]
    assert ours == pytest.approx(printed, rel=1e-12)
    assert np.all(ours[1:] < bounds.two_layer_descent_bounds(T, phi0, v0, v, eta)[0][1:])
    # T = 1 of the descent of v alone: v0 (1 - x).
    assert ours[1] <= v0 * (1 - x) * (1 + 1e-14)
    assert ours[1] > v0 * (1 - x) - 2 * eta**2 * v0 * (v0**2 + a) ** 2


def test_small_norm_is_sharp_at_the_first_step():
    phi0, target, step = 2.0, 1.5, 0.1
    limit = corrected.small_norm(phi0, target, step)
    excess = []
    for factor in (0.999, 1.05):
        path = population_descent(
            math.log(math.tan(phi0 / 2)), math.log(factor * limit / target), 0, step, 1, target
        )
        excess.append(path.length[1] - step / 2 * target)
    assert excess[0] < 0.0
    start = exact.balanced(math.pi - phi0, factor * limit, 0)
    radial = float(exact.vector_descent(start, target, step, 1)[1].length)
    assert radial == pytest.approx(excess[1] + step / 2 * target)


def test_euler_path_is_the_plain_loop():
    phi, v, m, step = 2.0, 0.6, 2, 0.1
    theta, norms = corrected.euler_path(math.pi - phi, v, m, 1.2, step, 3)
    for k in range(4):
        assert theta[k] == pytest.approx(math.pi - phi, rel=1e-12)
        assert norms[k] == pytest.approx(v, rel=1e-12)
        turn = v ** (m - 1) * 1.2 ** (m + 1) * phi * math.sin(phi) / (2 * math.pi)
        grow = -0.5 * v**m * (v ** (m + 1) - 1.2 ** (m + 1) * float(pull(phi)))
        phi, v = phi + step * turn, v + step * grow


HOLDING = (
    "A.1", "A.1 small", "A.2 lower", "A.2 upper", "A.2 small", "4.2 corrected", "4.2 euler",
    "4.3 corrected", "A.3 corrected", "balance", "A.3: v_1(T) below the upper bound",
    "4.2 away", "4.3 away",
)  # fmt: skip


def test_true_statements_survive_and_false_ones_do_not(reports):
    assert [name for name in HOLDING if not reports[name].survives] == []
    assert all(not reports[name].vacuous for name in reports)
    assert [name for name in reports if name not in HOLDING and reports[name].survives] == []


def _found(statement: Statement, slack, count: int = 60) -> bool:
    """Whether the draws find that the statement with another slack is false."""
    changed = Statement(statement.says, statement.draws, slack, statement.hypotheses,
                        tolerance=statement.tolerance)  # fmt: skip
    return bool(falsify(changed, 5, count, 0).violations)


def test_false_variants_are_found():
    """A.1 with eta in place of eta/2; A.2 with a rate a tenth too fast and a tenth too slow."""

    def magnitude(item):
        phi0, v0, target, step = runs.start_of(item)
        path = runs.path_of(item)
        low, high = bounds.magnitude_descent_bounds(path.t, phi0, v0, target, 2 * step)
        return float(np.minimum(path.length - low, high - path.length)[1:].min())

    assert _found(statements.magnitude(), magnitude)
    for side, factor in ((1, 0.9), (0, 1.1)):

        def angle(item, side=side, factor=factor):
            _, _, target, step = runs.start_of(item)
            path = runs.path_of(item)
            below, above = bounds.gap_bounds_from(
                runs.gap_of(item), path.t, *runs.norm_range(item), target,
                factor * step, 0,
            )  # fmt: skip
            return float((path.theta - below if side else above - path.theta).min())

        assert _found(statements.angle((0,), side, "variant"), angle)


def test_range_holds_beyond_the_run():
    draw = runs.draws((0, 1, 2, 3), runs.limit_guess)
    rng = np.random.default_rng(2)
    for k in range(16):
        item = list(draw.values())[k % 2](rng)
        item["steps"] = np.array([20])
        r, R = runs.norm_range(item)
        later = runs.path_of({**item, "steps": np.array([1500])})
        assert r < later.length[1:].min()
        assert later.length[1:].max() < R


def test_bent_profiles():
    for beta, power in ((-0.6, 2.0), (3.0, -0.5), (0.5, 3.0)):
        g = approx.bent(beta, power)
        x = np.linspace(0, 1, 2001)
        value = np.array([g.value(a) for a in x])
        slope = np.array([g.slope(a) for a in x])
        assert np.gradient(value, x)[1:-1] == pytest.approx(slope[1:-1], rel=1e-4)
        assert [g.inverse(w) for w in value[::200]] == pytest.approx(x[::200], abs=1e-12)
        least, most, curvature = g.steepness
        assert (least, most) == pytest.approx((slope.min(), slope.max()))
        assert curvature == pytest.approx(np.abs(np.gradient(slope, x)).max(), rel=1e-2)
    with pytest.raises(InputError):
        approx.bent(-1.0, 2.0)


def test_flat_profiles():
    for g in (approx.flat_inside(), approx.flat_start()):
        x = np.linspace(0.001, 0.999, 4001)
        value = np.array([g.value(a) for a in x])
        slope = np.array([g.slope(a) for a in x])
        assert np.gradient(value, x)[1:-1] == pytest.approx(slope[1:-1], abs=2e-4)
        away = np.abs(x - 0.5) > 0.01
        assert [g.inverse(w) for w in value[away]] == pytest.approx(x[away], abs=1e-9)
        assert np.all(np.diff(value) * np.sign(value[-1] - value[0]) >= 0)
        assert not g.regular
        assert np.abs(np.gradient(slope, x)).max() <= 1.01 * g.steepness[2]


def test_descent_path_is_a_plain_loop():
    g = approx.bent(-0.5, 2.0)  # g = x - x^2/4
    w, rate = 0.75, 0.1
    path = approx.descent_path(g, 2.0, 0.05, 4)
    for k in range(5):
        assert path[k] == pytest.approx(w, rel=1e-13)
        x = 2.0 - math.sqrt(4.0 - 4.0 * w)
        w -= rate * x * (1.0 - x / 2.0)


def test_linear_profile_has_no_error_and_regular_bound_is_zero():
    g = approx.bent(1.0, 1.0)
    assert approx.approximation_errors(g, 1.0, 0.1, 30).max() < 1e-14
    assert np.all(approx.regular_bound(g, 1.0, 0.1, np.arange(4)) == 0.0)
    with pytest.raises(InputError, match="step"):
        approx.regular_bound(approx.flat_start(), 1.0, 0.01, 1)
    with pytest.raises(InputError, match="step"):
        approx.regular_bound(g, 1.0, 0.3, 1)


def test_orders_of_the_error():
    steps = (1e-2, 1e-3)
    regular = approx.bent(3.0, -0.5)
    assert approx.order(steps, approx.errors_at(regular, 1.0, steps, 3)) == pytest.approx(
        2, abs=0.1
    )
    assert approx.order(steps, approx.largest_errors(regular, 1.0, steps, 10)) == pytest.approx(
        1, abs=0.05
    )
    flat = approx.largest_errors(approx.flat_inside(), 1.0, steps, 1.5)
    assert approx.order(steps, flat) == pytest.approx(0.5, abs=0.15)
    assert np.all(approx.descent_path(approx.flat_start(), 1.0, 0.01, 500) == 0.0)
    assert approx.order([1.0, 10.0, 100.0], [3.0, 300.0, 30000.0]) == pytest.approx(2.0)


def test_flat_error_by_two_loops():
    errors = approx.approximation_errors(approx.flat_inside(), 1.0, 0.01, 120)
    assert float(approx_evidence._flat_error("0.01", 120)) == pytest.approx(errors[-1], rel=1e-9)
    assert approx_evidence._exact_quotient(Fraction(1, 4)) == Fraction(175, 256) ** 2 * 4


def _verdict(settlement) -> str:
    """How the evidence stands: holds, or fails with a counterexample that fails by both routes."""
    items = [item for item in settlement["evidence"] if item.decides]
    if all(item.holds for item in items):
        assert "counterexample" not in settlement
        return "holds"
    case = settlement["counterexample"]
    case.check()
    return "refuted"


def test_verdicts(reports):
    assert _verdict(evidence.magnitude_descent(reports, 4)) == "holds"
    assert _verdict(evidence.small_magnitude_descent(reports)) == "holds"
    assert _verdict(evidence.one_layer_angle_descent(reports, 4, "lower")) == "holds"
    assert _verdict(evidence.one_layer_angle_descent(reports, 4, "upper")) == "holds"
    assert _verdict(evidence.small_angle_descent(reports)) == "holds"
    assert _verdict(evidence.angle_descent(reports)) == "refuted"
    assert _verdict(evidence.iterations(reports)) == "refuted"
    assert _verdict(evidence.two_layer_lower(reports)) == "refuted"
    assert _verdict(evidence.two_layer_upper(reports)) == "refuted"
    assert _verdict(approx_evidence.approximation_first()) == "refuted"
    assert _verdict(approx_evidence.approximation_uniform(0, 2)) == "holds"
    assert _verdict(approx_evidence.approximation_repaired(0, 20)) == "holds"
    assert _verdict(evidence.balance_bounded(reports)) == "holds"


def test_away_from_the_goal_theorem_42_holds_and_nearer_it_fails():
    # 3/2 pi eta^2 = (pi - phi0)^3 is the border for a small norm and step.
    for step in (1e-3, 1e-2):
        border = (1.5 * math.pi * step**2) ** (1 / 3)
        assert cases.failing_gap(step) == pytest.approx(border, rel=0.2)
    for share, fails in ((0.98, True), (1.02, False)):
        gap = share * cases.failing_gap(1 / 15)
        path = cases.chain_descent(gap, Fraction(1, 100), 1, Fraction(1, 15), 200)
        limit = bounds.gap_bounds_from(gap, path.t, 1.0, 1.0, 1.0, 1 / 15, 1)[1]
        assert (path.theta[1:] > limit[1:]).any() == fails
    reading = evidence._small_steps(falsify(statements.angle_away(), 1, 40, 0))
    assert "0 of" in reading.others


def test_a_huge_norm_outside_of_r_and_R_is_left_out():
    item = {name: np.array([value]) for name, value in
            {"psi": 1.0, "rho": 0.73, "target": 1.185, "step": 0.0273, "steps": 100, "m": 2,
             "smallness": 10}.items()}  # fmt: skip
    item["loose"] = np.array([1.02, 1.07])
    assert statements.angle_away().unmet(item) == "r < |w0| < R"


def test_descent_escapes_from_a_unique_flow():
    T, worst = approx_evidence.escape(Fraction(1, 10))
    assert T == 44
    assert float(approx_evidence._escape_exactly(Fraction(1, 10))) == pytest.approx(worst, rel=1e-9)
    quotients = [approx_evidence.escape(step)[1] for step in approx_evidence.ESCAPES]
    assert np.all(np.diff(quotients) > 0.0)
    assert all(approx_evidence._unique_flow().values())


def test_the_converse_can_fail(monkeypatch):
    def items(settled):
        limit = settled["tolerance"]
        return [i.value <= limit if i.form == "deviation" else i.holds
                for i in settled["evidence"] if i.decides]  # fmt: skip

    assert all(items(approx_evidence.approximation_converse(0, 2)))
    right = approx.bent

    def wrong(beta, power):
        return replace(right(beta, power), slope=lambda x: 1.01 * right(beta, power).slope(x))

    monkeypatch.setattr(approx_evidence, "bent", wrong)
    assert not all(items(approx_evidence.approximation_converse(0, 2)))


def test_tables():
    table = cases.angle_violations((1,))
    assert [written(v) > 0 for row in table.to_numpy() for v in row] == [True] * 6
    table = cases.iteration_table()
    assert (table["short by"] >= 6).all()
    assert (table["short by"] <= math.log(1000) + 1).all()
    late = cases.two_layer_violations().iloc[:, 2].map(written)
    assert np.ptp(late) < 0.001


def test_figures_are_complete():
    figure = pictures.bounds_missed((0.1, 0.05, 0.025), (3.0, 0.1), (1.5, 1.0), [0.1, 1.0, 5.0])
    assert cut_off(figure) == []
    upper = [line for line in figure.axes[0].lines if line.get_color() == pictures.COLOURS[2]]
    assert len(upper) == 3
    assert all(line.get_ydata()[-1] > 0.0 for line in upper[:1])
    assert sum(len(line.get_xdata()) == 3 for line in figure.axes[1].lines) == 6
    figure = pictures.approximation(approx_evidence.SHOWN, 0.02, [0.005, 0.01], 1.5)
    assert cut_off(figure) == []
    assert len(figure.axes[1].lines) == len(approx_evidence.SHOWN) + 2
