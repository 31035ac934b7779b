"""Section 4 and Appendix A of Lee, Sim & Ye 2022b: descent, its bounds and their repairs."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from reluflow.papers.lee2023magnitude import descents, layers
from reluflow.papers.lee2023magnitude.descents import Descent
from reluflow.papers.lee2023magnitude.setting import Start

# --- Bounds, by floats and by exact numbers -------------------------------------------------------


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
