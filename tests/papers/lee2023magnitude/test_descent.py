"""Section 4 and Appendix A of Lee, Sim & Ye 2022b: descent, its bounds and their repairs."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from reluflow.papers.lee2023magnitude import descent, descents, layers, setting
from reluflow.papers.lee2023magnitude.descents import Descent
from reluflow.papers.lee2023magnitude.setting import Start

# --- Theorem 4.1 ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "g",
    [
        *(descent.bent(*given) for given in ((-0.6, 2.0), (3.0, -0.5), (0.5, 3.0))),
        descent.flat_inside(),
        descent.flat_start(),
    ],
)
def test_profiles_are_what_their_slopes_and_inverses_say(g):
    x = np.linspace(0.001, 0.999, 4001)
    value, slope = (np.array([f(a) for a in x]) for f in (g.value, g.slope))
    assert np.gradient(value, x)[1:-1] == pytest.approx(slope[1:-1], abs=2e-4, rel=1e-4)
    away = np.abs(x - 0.5) > 0.01
    assert [g.inverse(w) for w in value[away]] == pytest.approx(x[away], abs=1e-9)
    assert np.abs(slope).min() == pytest.approx(g.steepness[0], abs=3e-3)
    assert np.abs(np.gradient(slope, x)).max() <= 1.01 * g.steepness[2]


def test_descent_in_the_plane_takes_steps_of_its_loss():
    path, flow = descent.plane_descent(0.01, 40)
    assert np.abs(flow) == pytest.approx(1.0)
    loss = lambda x, y: -x / math.hypot(x, y) - (math.hypot(x, y) - 1) ** 2 / 2  # noqa: E731
    a, b, e = path[30].real, path[30].imag, 1e-6
    slope = loss(a + e, b) - loss(a - e, b) + 1j * (loss(a, b + e) - loss(a, b - e))
    assert path[31] == pytest.approx(path[30] - 0.01 * slope / (2 * e), abs=1e-9)


# --- Bounds, by floats and by exact numbers -------------------------------------------------------


def test_limits_and_counts_of_steps_as_printed():
    phi0, r, R, v, eta = 2.1, 0.4, 1.7, 1.2, 0.01
    limit = min(2 * math.pi / (phi0 * r**2 * v**4), 2 / (3 * R**2 * v**4))
    assert setting.step_limit(phi0, r, R, v, 3) == pytest.approx(limit)
    limit = min(2 * math.pi * R / (v * phi0), 2 * r / (3 * v))
    assert setting.step_limit(phi0, r, R, v, 0) == pytest.approx(limit)
    psi0, factor = math.log(math.tan(phi0 / 2)), 1 - phi0 / (2 * math.pi) * r * v**3 * eta
    count = setting.enough_steps(math.log(1e-3), psi0, factor)
    assert count == pytest.approx(math.log(5e-4 * math.tan(phi0 / 2)) / math.log(factor), rel=1e-12)
    assert setting.gap_bounds([count], psi0, r, r, v, 2, eta)[1] == pytest.approx(1e-3)


@pytest.mark.parametrize("k", [0, 1, 5])
def test_exact_bounds_are_the_printed_ones(k):
    phi0, v0, v, eta = 1.9, 0.3, 1.4, 0.02
    found = [float(side) for side in descents.two_layer_bounds(k, math.pi - phi0, v0, v, eta)]
    fast = setting.two_layer_magnitude_bounds([k], phi0, v0, v, eta)
    assert found == pytest.approx([side[0] for side in fast], rel=1e-13)


@pytest.mark.parametrize(
    ("theta", "v0", "m", "target"),
    [(0.01, 0.7, 0, 1.3), (1.2, 1.5, 1, 0.8), (3.0, 0.4, 3, 1.2)],
)
def test_exact_routes_agree_with_population_descent(theta, v0, m, target):
    step, start = 0.01, descents.balanced(theta, v0, m)
    path = Start.near(theta, v0, m, target).descent(step, 1)
    for place in (
        descents.quadrature_step(start, target, step),
        descents.vector_descent(start, target, step, 1)[1],
    ):
        assert float(mpmath.arg(place.w)) == pytest.approx(path.theta[1], rel=1e-10)
        assert float(place.length) == pytest.approx(path.length[1], rel=1e-12)
        assert [float(a) for a in place.v] == pytest.approx([path.v[1]] * m, rel=1e-12)


def test_the_cubic_term_at_the_first_of_the_counterexamples():
    value = 2 * 10**8 * Fraction(29, 30) ** 516 - Fraction(2, 3) * 10**24 * Fraction(9, 10) ** 516
    assert value > Fraction(22, 7)
    assert descents.demanded(10) == (8, 516, pytest.approx(float(value), rel=1e-12))


# --- Boundaries of hypotheses ---------------------------------------------------------------------

CALM = {"psi": 0.0, "rho": 0.0, "m": 2, "target": 1.0, "step": 0.1, "steps": 20, "loose": [1, 1]}
LONG = {"psi": 1.0, "rho": 0.73, "target": 1.185, "step": 0.0273, "steps": 100, "m": 2,
        "smallness": 10, "loose": [1.02, 1.07]}  # fmt: skip
NEAR = {"psi": -math.log(math.tan(0.3)), "target": 1.0, "step": 1 / 15, "steps": 50, "m": 1,
        "smallness": 10, "loose": [1.3, 1.9]}  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "item", "unmet"),
    [
        (layers.corrected_angle, CALM, None),
        (layers.corrected_angle, CALM | {"step": 5.0}, "v_k > 0"),  # v turns negative
        (layers.corrected_angle, CALM | {"step": 50.0, "rho": 2.0}, "v_k > 0"),  # |w| overflows
        (layers.angle_away, LONG, "r < |w0| < R"),  # a huge norm
        (layers.angle_away, NEAR | {"rho": math.log(3.8)}, layers.CALM),  # a large one
        (layers.angle_away, NEAR | {"rho": math.log(1.2)}, None),
    ],
)
def test_a_descent_outside_is_left_out(statement, item, unmet):
    found = statement().unmet({name: np.array(value) for name, value in item.items()})
    assert found is None if unmet is None else unmet in found


def test_range_holds_beyond_the_run():
    draws, rng = list(descents.draws((0, 1, 2, 3)).values()), np.random.default_rng(2)
    for k in range(16):
        run = replace(Descent.of(draws[k % 2](rng)), steps=20)
        r, R = run.norm_range()
        later = replace(run, steps=1500).path.length[1:]
        assert r < later.min()
        assert later.max() < R
