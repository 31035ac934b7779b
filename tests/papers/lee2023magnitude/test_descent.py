"""Section 4 and Appendix A of Lee, Sim & Ye 2022b: descent, its bounds and their repairs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from reluflow.papers.lee2023magnitude import descents, layers

# --- Bounds, by floats and by exact numbers -------------------------------------------------------


def test_the_cubic_term_at_the_first_of_the_counterexamples():
    value = 2 * 10**8 * Fraction(29, 30) ** 516 - Fraction(2, 3) * 10**24 * Fraction(9, 10) ** 516
    assert descents.demanded(10) == (516, pytest.approx(float(value), rel=1e-12))


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
