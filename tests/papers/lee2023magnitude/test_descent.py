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


def test_descent_in_the_plane_takes_steps_of_its_loss():
    path, flow = descent.plane_descent(0.01, 40)
    assert np.abs(flow) == pytest.approx(1.0)
    loss = lambda w: -w.real / abs(w) - (abs(w) - 1.0) ** 2 / 2.0  # noqa: E731
    w, e = path[30], 1e-6
    slope = loss(w + e) - loss(w - e) + 1j * (loss(w + 1j * e) - loss(w - 1j * e))
    assert path[31] == pytest.approx(w - 0.01 * slope / (2.0 * e), abs=1e-9)


# --- Bounds, by floats and by exact numbers -------------------------------------------------------


def test_limits_and_counts_of_steps_as_printed():
    phi0, r, R, v = 2.1, 0.4, 1.7, 1.2
    limit = min(2 * math.pi / (phi0 * r**2 * v**4), 2 / (3 * R**2 * v**4))
    assert setting.step_limit(phi0, r, R, v, 3) == pytest.approx(limit)
    limit = min(2 * math.pi * R / (v * phi0), 2 * r / (3 * v))
    assert setting.step_limit(phi0, r, R, v, 0) == pytest.approx(limit)
    factor, psi0 = 1 - phi0 / (2 * math.pi) * r * v**3 * 0.01, math.log(math.tan(phi0 / 2))
    count = setting.enough_steps(math.log(1e-3), psi0, factor)
    assert count == pytest.approx(math.log(5e-4 * math.tan(phi0 / 2)) / math.log(factor))
    assert setting.gap_bounds([count], psi0, r, r, v, 2, 0.01)[1] == pytest.approx(1e-3)


@pytest.mark.parametrize("m", [0, 2])
def test_angle_bounds_are_the_papers(m):
    phi0, r, R, v, t = 1.5, 0.3, 1.7, 1.3, np.array([0.0, 1.0, 7.0])
    least, most = setting.gap_bounds(t, math.log(math.tan(phi0 / 2)), r, R, v, m)
    k, share = 1 / math.tan(phi0 / 2), phi0 / math.pi
    p, q = (share * v / R, v / r) if m == 0 else (share * r * v**3, R * v**3)
    np.testing.assert_allclose(most, 2 * k * np.exp(-p / 2 * t), rtol=1e-12)
    gap = 2 * k * np.exp(-q / 2 * t) - 2 / 3 * k**3 * np.exp(-3 * q / 2 * t)
    np.testing.assert_allclose(least, gap, rtol=1e-11)


@pytest.mark.parametrize("k", [0, 5])
def test_exact_bounds_are_the_printed_ones(k):
    phi0, v0, v, eta = 1.9, 0.3, 1.4, 0.02
    found = [float(side) for side in descents.two_layer_bounds(k, math.pi - phi0, v0, v, eta)]
    fast = setting.two_layer_magnitude_bounds([k], phi0, v0, v, eta)
    assert found == pytest.approx([side[0] for side in fast], rel=1e-13)


def test_the_cubic_term_at_the_first_of_the_counterexamples():
    value = 2 * 10**8 * Fraction(29, 30) ** 516 - Fraction(2, 3) * 10**24 * Fraction(9, 10) ** 516
    assert descents.demanded(10) == (8, 516, pytest.approx(float(value), rel=1e-12))


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
