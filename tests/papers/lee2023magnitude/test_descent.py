"""Section 4 and Appendix A of Lee, Sim & Ye 2022b: descent, its bounds and their repairs."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from reluflow.papers.lee2023magnitude import descents, layers, setting
from reluflow.papers.lee2023magnitude.descents import Descent

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


def test_the_cubic_term_at_the_first_of_the_counterexamples():
    value = 2 * 10**8 * Fraction(29, 30) ** 516 - Fraction(2, 3) * 10**24 * Fraction(9, 10) ** 516
    assert descents.demanded(10) == (8, 516, pytest.approx(float(value), rel=1e-12))


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


def test_range_holds_beyond_the_run():
    draws, rng = list(descents.draws((0, 1, 2, 3)).values()), np.random.default_rng(2)
    for k in range(16):
        run = replace(Descent.of(draws[k % 2](rng)), steps=20)
        r, R = run.norm_range()
        later = replace(run, steps=1500).path.length[1:]
        assert r < later.min()
        assert later.max() < R
