"""Starts on which Theorems 4.2 and A.3 and Corollary 4.3 fail, at steps however small.

Each is followed at a tenth, a hundredth and a thousandth of what the step is to be small against.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
from scipy.optimize import brentq

from reluflow.approx import approx, on_grain
from reluflow.flows.population import PopulationPath, population_descent
from reluflow.papers.lee2023magnitude import descent_exact as exact
from reluflow.papers.lee2023magnitude.descent_bounds import (
    gap_bounds_from,
    sufficient_steps,
    two_layer_descent_bounds,
)

TENTHS = (10, 100, 1000)
"""A step much below X is tried at X over these."""


def chain_descent(theta0: Fraction, v0: Fraction, m: int, step: Fraction, n: int) -> PopulationPath:
    """Descent of n steps with v* = 1 from pi - phi0 = theta0 and |w0| = v_1 = ... = v_m = v0."""
    psi = -math.log(math.tan(float(theta0) / 2.0))
    return population_descent(psi, math.log(v0), m, float(step), n)


def starts_balanced(v0: Fraction) -> bool:
    """Whether `chain_descent` starts with v_1 = |w|."""
    path = chain_descent(Fraction(1, 10), v0, 1, Fraction(1, 10), 0)
    return math.isclose(path.layers[0, 0], path.length[0], rel_tol=1e-12)


ANGLE_STEPS = tuple(Fraction(2, 3) / k for k in TENTHS)
"""A tenth, a hundredth and a thousandth of 2/3, the limit of Theorem 4.2 for m = 1, v* = 1."""

LOWER_START, UPPER_START = Fraction(1, 2), Fraction(2)
"""Norms |w0| = v_1 from which the lower and the upper bound of Theorem 4.2 fail."""


def angle_violations(T: Sequence[int], share: float = 1.0) -> pd.DataFrame:
    """Theorem 4.2 for m = 1, v* = 1, pi - phi0 = share * eta: by how much, in parts of pi - phi(T),
    phi(T) is below the lower bound from |w0| = 1/2 and above the upper one from |w0| = 2."""
    rows = []
    for step in ANGLE_STEPS:
        theta0, row = step * Fraction(share), {"step": str(step)}
        for name, v0, side in (("lower", LOWER_START, 1), ("upper", UPPER_START, 0)):
            path = chain_descent(theta0, v0, 1, step, max(T))
            limit = gap_bounds_from(float(theta0), path.t, 1.0, 1.0, 1.0, float(step), 1)[side]
            out = (path.theta - limit if side else limit - path.theta) / path.theta
            row |= {f"{name}, T = {k}": approx(out[k], 2) for k in T}
        rows.append(row)
    return pd.DataFrame(rows).set_index("step")


def failing_gap(step: float, v0: float = 0.01) -> float:
    """The largest gap = pi - phi0 from which the lower bound of Theorem 4.2 fails at some T from 1
    to 15/gap, for m = v* = 1 and |w0| = v0; near (3/2 pi eta^2)^(1/3) for small v0 and eta.

    While v grows from a small v0 a step falls short of the bound by h^2, h = eta/2, relatively, and
    gains h^2 T gap/pi: in all it is short by pi h^2 / (2 gap), against a slack of gap^2/12.
    """

    def least(gap: float) -> float:
        psi = -math.log(math.tan(0.5 * gap))
        path = population_descent(psi, math.log(v0), 1, step, math.ceil(15.0 / gap))
        limit = gap_bounds_from(gap, path.t, 1.0, 1.0, 1.0, step, 1)[1]
        return float(((limit - path.theta) / path.theta)[1:].min())

    return float(brentq(least, step, 1.0, xtol=1e-6))


def failing_gap_table() -> pd.DataFrame:
    """`failing_gap` at the three steps of Theorem 4.2, and our estimate of it."""
    rows = [
        {"step": str(step), "fails up to pi - phi0 =": on_grain(failing_gap(float(step)), 1e-3),
         "(3/2 pi step^2)^(1/3)": on_grain((1.5 * math.pi * float(step) ** 2) ** (1 / 3), 1e-3)}
        for step in ANGLE_STEPS
    ]  # fmt: skip
    return pd.DataFrame(rows).set_index("step")


def angle_breaks(v0: Fraction, side: int) -> tuple[int, list[mpmath.mpf], bool]:
    """At how many of the three steps descent breaks the bound at T = 1; by how much, in parts of
    pi - phi(1), by quadrature; and whether 1/4 < |w(T)| < 4 all along."""
    broken, excess, inside = 0, [], True
    for step in ANGLE_STEPS:
        theta0 = step
        path = chain_descent(theta0, v0, 1, step, math.ceil(8 / step))
        inside &= bool(np.all((path.length > 0.25) & (path.length < 4.0)))
        limit = gap_bounds_from(float(theta0), 1, 0.25, 4.0, 1.0, float(step), 1)[side]
        gap = path.theta[1]
        broken += bool(gap >= limit if side else gap <= limit)
        with mpmath.workdps(exact.DIGITS):
            theta, eta = (mpmath.mpf(x.numerator) / x.denominator for x in (theta0, step))
            start = exact.balanced(theta, mpmath.mpf(v0.numerator) / v0.denominator, 1)
            after = exact.quadrature_step(start, 1, eta).theta
            slow = (mpmath.pi - theta) / (2 * mpmath.pi)
            bounds = exact.angle_gap_bounds(1, theta, slow, mpmath.mpf(1) / 2, eta)
            excess.append((after - bounds[1] if side else bounds[0] - after) / after)
    return broken, excess, inside


STEP_START = Fraction(1, 1000)
"""|w0| = v_1 from which Corollary 4.3 fails: the fewer steps it counts the smaller this is."""


def iterations_needed(step: Fraction) -> tuple[float, float, int]:
    """eps, the number of steps of Corollary 4.3, and the first T with phi(T) > pi - eps."""
    theta0 = step / 10
    eps = float(theta0) / 20000.0
    T = sufficient_steps(eps, math.pi - float(theta0), 1.0, 1.0, float(step), 1)
    path = chain_descent(theta0, STEP_START, 1, step, math.ceil(T) + 50)
    return eps, T, int(np.argmax(path.theta < eps))


ITERATION_STEPS = tuple(Fraction(2, k) for k in TENTHS)
"""A tenth, a hundredth and a thousandth of about 2, the limit of Corollary 4.3 for m = v* = 1."""


def iteration_table() -> pd.DataFrame:
    """Corollary 4.3 for m = v* = 1, |w0| = 1/1000, pi - phi0 = eta/10, eps = (pi - phi0)/20000:
    steps that it counts, and steps that descent needs."""
    rows = []
    for step in ITERATION_STEPS:
        _, T, needed = iterations_needed(step)
        rows.append({"step": str(step), "enough by Corollary 4.3": math.floor(T) + 1,
                     "needed": needed, "short by": needed - math.floor(T) - 1})  # fmt: skip
    return pd.DataFrame(rows).set_index("step")


TWO_STEPS = tuple(Fraction(1, k) for k in TENTHS)
"""Steps of the counterexample to Theorem A.3: v* = |w0| = v_1 = 1, phi0 = pi/2."""


def two_layer_violations() -> pd.DataFrame:
    """Theorem A.3 from phi0 = pi/2, |w0| = v_1 = v* = 1: by how much of eta^2 the lower bound is
    missed at T = 1, and by how much of eta |w(T)| ends above v*, the upper bound."""
    rows = []
    for step in TWO_STEPS:
        path, lower, _ = two_layer_run(step)
        rows.append({
            "step": str(step),
            "(lower - |w|)/step^2, T = 1": approx((lower[1] - path.length[1]) / float(step)**2),
            "(lower - v_1)/step^2, T = 1": approx((lower[1] - path.layers[1, 0]) / float(step)**2),
            "(|w| - v*)/step, T = 20/step": approx((path.length[-1] - 1.0) / float(step)),
        })  # fmt: skip
    return pd.DataFrame(rows).set_index("step")


def two_layer_run(step: Fraction) -> tuple[PopulationPath, np.ndarray, np.ndarray]:
    """Descent from phi0 = pi/2, |w0| = v_1 = v* = 1 until eta T = 20, and Theorem A.3's bounds."""
    path = population_descent(0.0, 0.0, 1, float(step), math.ceil(20 / step))
    lower, upper = two_layer_descent_bounds(path.t, math.pi / 2, 1.0, 1.0, float(step))
    return path, lower, upper
