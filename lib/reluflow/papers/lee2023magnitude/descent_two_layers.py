"""Descent of two layers: Theorem A.3, which fails on both sides, and its repair.

One step of descent moves w to b u + a u*, where u = w/|w|, u* = w*/|w*|. The part across w adds to
|w|^2 and not to v_1^2, so that |w| ends above v* and v_1 below.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import approx
from reluflow.falsify import Statement
from reluflow.flows.population import PopulationPath, pull
from reluflow.instances import Arrays, Draws, extended
from reluflow.ledger import Counterexample, Evidence, bound, fact
from reluflow.papers.lee2023magnitude import descent_exact as exact
from reluflow.papers.lee2023magnitude.bounds import two_layer_magnitude_bounds
from reluflow.papers.lee2023magnitude.descents import (
    SMALLNESS,
    Descent,
    draws,
    statement,
    to_the_limit,
)
from reluflow.papers.lee2023magnitude.starts import Start

STEPS = tuple(Fraction(1, k) for k in SMALLNESS)
"""Steps of the counterexample to Theorem A.3: v* = |w0| = v_1 = 1, phi0 = pi/2."""

TWO_LAYERS = {
    "A.3: |w(T)| above the lower bound": (0, "w"),
    "A.3: v_1(T) above the lower bound": (0, "v"),
    "A.3: |w(T)| below the upper bound": (1, "w"),
    "A.3: v_1(T) below the upper bound": (1, "v"),
}


def corrected_lower(T: ArrayLike, phi0: float, v0: float, target: float, step: float) -> NDArray:
    """Theorem A.3's lower bound with the corrected step. With a = 1 - eps_0, x = eta (v0^2 - a
    v*^2) / 2, the step eta becomes

        eta (1 - 3/4 a v*^2 eta)        where x <= 0 (the bound grows),
        eta (1 - x/2) / (1 - x)^2       where x > 0 (it falls).

    It follows from 1/v^2 -> 1/(v^2 (1 - x)^2), the step of |w| along itself. Parameters as for
    `two_layer_magnitude_bounds`. Returns (k,).
    """
    a = float(pull(phi0)) * target**2
    x = 0.5 * step * (v0**2 - a)
    moved = step * (1.0 - 0.75 * a * step) if x <= 0.0 else step * (1.0 - x / 2) / (1.0 - x) ** 2
    return two_layer_magnitude_bounds(T, phi0, v0, target, moved)[0]


def _draws() -> Draws:
    """Two layers; long runs last until |w| has settled, 30 / (eta v*^2) steps, at X/10 only."""
    found = draws((1,), lambda start: 1.0 / max(start.v, start.target) ** 2)

    def prolonged(item: Arrays, _: np.random.Generator) -> Arrays:
        pace = float(item["step"] * item["target"] ** 2)
        return {"steps": np.array(min(2000, math.ceil(30.0 / pace)))}

    name = next(iter(found))
    return {**found, f"{name}, long": extended(found, prolonged)[name]}


def two_layers(name: str) -> Statement:
    """One half of Theorem A.3, by its name in `TWO_LAYERS`; slack as a share of |w*|, T >= 1."""
    side, which = TWO_LAYERS[name]

    def slack(run: Descent) -> float:
        start, path = run.start, run.path
        size = path.length if which == "w" else path.layers[:, 0]
        given = (start.phi, start.v, start.target, run.step)
        limit = two_layer_magnitude_bounds(path.t, *given)[side]
        return float((limit - size if side else size - limit)[1:].min()) / start.target

    return statement(
        name,
        _draws(),
        slack,
        {
            "no step overshoots": Descent.is_gentle,
            "step small against 1/v*^2": lambda run: run.is_below(1 / run.start.target**2),
        },
    )


def corrected_two_layers() -> Statement:
    """ma.ours.descent.two: the corrected lower bound holds for |w| and v_1, the printed upper bound
    for v_1."""

    def slack(run: Descent) -> float:
        start, path = run.start, run.path
        given = (path.t, start.phi, start.v, start.target, run.step)
        lower, upper = corrected_lower(*given), two_layer_magnitude_bounds(*given)[1]
        v = path.layers[:, 0]
        slacks = np.minimum(np.minimum(path.length, v) / lower - 1.0, 1.0 - v / upper)
        return float(slacks[1:].min())

    return statement(
        "A.3 corrected: lower bound of |w| and v_1, upper bound of v_1",
        to_the_limit((1,), lambda start: 0.1 / max(start.v, start.target) ** 2),
        slack,
        {
            "start": lambda run: run.start.phi > 0.0 and run.start.theta > 0.0 and run.start.m == 1,
            "step": lambda run: run.overshoot() <= 0.1,
        },
        "ma.ours.descent.two",
    )


def run_from_the_middle(step: Fraction) -> tuple[PopulationPath, NDArray, NDArray]:
    """Descent from phi0 = pi/2, |w0| = v_1 = v* = 1 until eta T = 20, and Theorem A.3's bounds."""
    path = Start(0.0, 0.0, 1).descent(float(step), math.ceil(20 / step))
    return path, *two_layer_magnitude_bounds(path.t, math.pi / 2, 1.0, 1.0, float(step))


def violations() -> pd.DataFrame:
    """Theorem A.3 from phi0 = pi/2, |w0| = v_1 = v* = 1: by how much of eta^2 the lower bound is
    missed at T = 1, and by how much of eta |w(T)| ends above v*, the upper bound."""
    rows = []
    for step in STEPS:
        path, lower, _ = run_from_the_middle(step)
        rows.append({
            "step": str(step),
            "(lower - |w|)/step^2, T = 1": approx((lower[1] - path.length[1]) / float(step)**2),
            "(lower - v_1)/step^2, T = 1": approx((lower[1] - path.layers[1, 0]) / float(step)**2),
            "(|w| - v*)/step, T = 20/step": approx((path.length[-1] - 1.0) / float(step)),
        })  # fmt: skip
    return pd.DataFrame(rows).set_index("step")


def lower_bound_missed() -> Counterexample:
    """ma.thmA.3.1: the lower bound fails at T = 1, for |w| and for v_1, at every step size."""
    runs = [run_from_the_middle(step) for step in STEPS]
    low = [sum(bool(size(path)[1] <= lower[1]) for path, lower, _ in runs)
           for size in (lambda path: path.length, lambda path: path.layers[:, 0])]  # fmt: skip
    recheck = []
    with mpmath.workdps(exact.DIGITS):
        right = mpmath.pi / 2
        start = exact.balanced(right, 1, 1)
        for step in STEPS:
            eta = mpmath.mpf(1) / step.denominator
            after = exact.quadrature_step(start, 1, eta)
            lower, _ = exact.two_layer_bounds(1, right, 1, 1, eta)
            recheck += [
                bound(f"{name}(1) below the lower bound, step {step}, by quadrature",
                      float((lower - value) / eta**2), "<", 0.0, "of the step squared")
                for name, value in (("|w|", after.length), ("v_1", after.v[0]))
            ]  # fmt: skip
    return _from_the_middle(
        breaks=(
            fact("of the three steps, how many have |w(1)| below the lower bound", low[0], 0),
            fact("of the three steps, how many have v_1(1) below the lower bound", low[1], 0),
        ),
        recheck=tuple(recheck),
        route="expectations integrated over the half-circle, 30 digits",
    )


def upper_bound_passed() -> Counterexample:
    """ma.thmA.3.2: for |w| the upper bound fails at late T at every step size."""
    runs = [run_from_the_middle(step) for step in STEPS]
    above = sum(bool(path.length[-1] >= upper[-1]) for path, _, upper in runs)
    with mpmath.workdps(exact.DIGITS):
        right, eta = mpmath.pi / 2, mpmath.mpf(1) / 10
        late = exact.vector_descent(exact.balanced(right, 1, 1), 1, eta, 200)[-1]
        excess = (late.length - exact.two_layer_bounds(200, right, 1, 1, eta)[1]) / eta
    return _from_the_middle(
        breaks=(
            fact("of the three steps, how many have |w(20/step)| above the upper bound", above, 0),
        ),
        recheck=(bound("|w(200)| above the upper bound, step 1/10, by 30-digit vector steps",
                       float(excess), "<", 0, "of the step"),),
        route="descent of the vector w and of v_1 in 30 digits",
    )  # fmt: skip


def _from_the_middle(
    breaks: tuple[Evidence, ...], recheck: tuple[Evidence, ...], route: str
) -> Counterexample:
    start = exact.balanced(mpmath.pi / 2, 1, 1)
    return Counterexample(
        instance={"v*": 1, "|w0| = v_1(0)": 1, "phi0": "pi/2", "step": list(STEPS)},
        assumptions={
            "balanced start": bool(start.length == start.v[0]),
            "the steps are a tenth, a hundredth, a thousandth of 1/v*^2 = 1/|w0|^2": all(
                step * k == 1 for step, k in zip(STEPS, SMALLNESS, strict=True)
            ),
        },
        breaks=breaks,
        recheck=recheck,
        route=route,
    )
