"""Section 4 and Appendix A, gradient descent, as evidence for the ledger.

Each function returns the arguments of `Ledger.settle`. Refutations are measured on population
descent, and again by `descent_exact`, which shares no code with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from scipy.integrate import solve_ivp

from reluflow.falsify import Report, falsify, survived
from reluflow.flows.population import population_descent
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude import descent_exact as exact
from reluflow.papers.lee2023magnitude import descent_statements as statements
from reluflow.papers.lee2023magnitude.descent_bounds import angle_rates
from reluflow.papers.lee2023magnitude.descent_corrected import step_limit
from reluflow.papers.lee2023magnitude.descent_counterexamples import (
    ANGLE_STEPS,
    ITERATION_STEPS,
    LOWER_START,
    STEP_START,
    TENTHS,
    TWO_STEPS,
    UPPER_START,
    angle_breaks,
    chain_descent,
    iterations_needed,
    starts_balanced,
    two_layer_run,
)
from reluflow.papers.lee2023magnitude.descent_counterexamples import (
    angle_violations as angle_violations,
)
from reluflow.papers.lee2023magnitude.descent_counterexamples import (
    iteration_table as iteration_table,
)
from reluflow.papers.lee2023magnitude.descent_counterexamples import (
    two_layer_violations as two_layer_violations,
)

Settlement = dict[str, Any]
Reports = Mapping[str, Report]


def try_descent(seed: int, count: int) -> dict[str, Report]:
    """Try every statement on descent once; the keys are those of this module's functions.

    Statements that are known to fail are not searched further.
    """
    holding = {
        "A.1": statements.magnitude(),
        "A.1 small": statements.small_magnitude(),
        "A.2 lower": statements.angle((0,), 0, "A.2: lower bound of phi(T), T >= 0"),
        "A.2 upper": statements.angle((0,), 1, "A.2: upper bound of phi(T), T >= 0"),
        "A.2 small": statements.small_angle(),
        "4.2 corrected": statements.corrected_angle(),
        "4.2 euler": statements.euler_angle(),
        "4.3 corrected": statements.steps(corrected=True),
        "A.3 corrected": statements.corrected_two_layers(),
        "balance": statements.imbalance(),
    }
    failing = {
        "4.2 lower": statements.angle((1, 2, 3), 0, "4.2: lower bound of phi(T)"),
        "4.2 upper": statements.angle((1, 2, 3), 1, "4.2: upper bound of phi(T)"),
        "4.3": statements.steps(corrected=False),
        **{name: statements.two_layers(name) for name in statements.TWO_LAYERS},
    }
    found = {name: falsify(item, seed, count, count // 2) for name, item in holding.items()}
    return found | {name: falsify(item, seed, count, 0) for name, item in failing.items()}


def _broken(reports: Reports, name: str) -> list[Evidence]:
    """How many draws broke a statement, and at which smallness of the step."""
    report = reports[name]
    return [
        fact(f"{report.says}: instances that break it", sum(report.violations.values()), 0),
        note("of them, by the step", ", ".join(f"{k}: {n}" for k, n in report.violations.items())
             or "none"),
        note("instances tried, and drawn", (report.tried, report.drawn)),
    ]  # fmt: skip


def magnitude_descent(reports: Reports, count: int) -> Settlement:
    """Theorem A.1, its strictness by exact steps of `count` starts."""
    rng = np.random.default_rng(reports["A.1"].seed)
    ties = 0
    for _ in range(count):
        theta0, v0, step = 10.0 ** rng.uniform([-4.0, -2.0, -3.0], [0.49, 1.0, -0.7])
        path = exact.vector_descent(exact.balanced(theta0, v0, 0), 1, step, 5)
        for T in range(1, 6):
            lower, upper = exact.magnitude_bounds_at(T, theta0, v0, 1, step)
            ties += not lower < path[T].length < upper
    return {
        "evidence": [
            *survived(reports["A.1"], reports["A.1 small"]),
            fact("steps T = 1..5 of exact vector descent outside the strict bounds", ties, 0),
            note("starts of exact descent", count),
        ],
        "reading": Reading(
            taken="T >= 1, 0 < phi0 < pi and w0 not 0; the step is at most a tenth of 2; |w0| near "
            "0 means |w0| < eta/(2 - eta) |w*| (1 - |phi0 u* + sin(phi0) u|/pi), u = w0/|w0|",
            others="at T = 0 both bounds are |w0|, and at phi0 = 0 the lower one is |w(T)|: "
            "equality; for a fixed |w0| > 0, however small, the special upper bound fails at "
            "T = 0, and at T = 1 once eta is small enough",
        ),
    }


def one_layer_angle_descent(reports: Reports, count: int) -> Settlement:
    """Theorem A.2, its strictness by exact steps of `count` starts."""
    rng = np.random.default_rng(reports["A.2 lower"].seed)
    ties = 0
    for _ in range(count):
        theta0, v0, share = 10.0 ** rng.uniform([-4.0, -0.5, -3.0], [0.2, 0.5, -1.0])
        # |w| stays between cos(theta0) or so and max(v0, 1): r is half of the least it can be.
        r, R = 0.5 * min(v0, 1.0) * math.cos(theta0 / 2.0), 1.01 * max(v0, 1.0)
        step = share * step_limit(math.pi - theta0, r, R, 1.0, 0)
        slow, fast = angle_rates(math.pi - theta0, r, R, 1.0, 0)
        path = exact.vector_descent(exact.balanced(theta0, v0, 0), 1, step, 5)
        inside = all(r < float(place.length) < R for place in path)
        for T in range(6):
            below, above = exact.angle_gap_bounds(T, theta0, slow, fast, step)
            ties += not (inside and below < path[T].theta < above)
    return {
        "evidence": [
            *survived(reports["A.2 lower"], reports["A.2 upper"], reports["A.2 small"]),
            fact("steps T = 0..5 of exact vector descent outside the strict bounds", ties, 0),
            note("starts of exact descent", count),
        ],
        "reading": Reading(
            taken="0 < phi0 < pi, as in Theorem 3.2; much below X means at most X/10; |w0| near 0 "
            "means |w0| <= |w*|, which is enough",
            others="at phi0 = pi both bounds equal phi(T) = pi; larger steps were not tried here",
        ),
    }


def angle_descent(reports: Reports) -> Settlement:
    """Theorem 4.2: both bounds fail at T = 1, at steps however small, for phi0 near pi."""
    low, low_excess, low_inside = angle_breaks(LOWER_START, 1)
    up, up_excess, up_inside = angle_breaks(UPPER_START, 0)
    limits = [step_limit(math.pi - float(s), 0.25, 4.0, 1.0, 1) for s in ANGLE_STEPS]
    small = all(
        abs(float(s) * k - X) < 1e-12 * X
        for s, k, X in zip(ANGLE_STEPS, TENTHS, limits, strict=True)
    )
    return {
        "evidence": [
            *_broken(reports, "4.2 lower"),
            *_broken(reports, "4.2 upper"),
            fact("step sizes, of the three below, at which a bound fails", max(low, up), 0),
            note("seed", reports["4.2 lower"].seed),
        ],
        "counterexample": Counterexample(
            instance={"m": 1, "v*": 1, "step": list(ANGLE_STEPS), "pi - phi0": "the step",
                      "|w0| = v_1(0), lower bound": LOWER_START,
                      "|w0| = v_1(0), upper bound": UPPER_START, "r": Fraction(1, 4), "R": 4},
            assumptions={
                "balanced start": all(starts_balanced(v0) for v0 in (LOWER_START, UPPER_START)),
                "r < |w(T)| < R along the descents": low_inside and up_inside,
                "the steps are X/10, X/100 and X/1000, X = 2/3": small,
            },
            breaks=(
                fact("of the three steps, how many break the lower bound at T = 1", low, 0),
                fact("of the three steps, how many break the upper bound at T = 1", up, 0),
            ),
            recheck=tuple(
                bound(f"phi(1) {word}, step {step}, by quadrature", float(by), "<", 0.0,
                      "of pi - phi(1)")
                for word, excess in (("below the lower bound", low_excess),
                                     ("above the upper bound", up_excess))
                for step, by in zip(ANGLE_STEPS, excess, strict=True)
            ),
            route="one step from expectations integrated over the half-circle, 30 digits",
        ),
    }  # fmt: skip


def iterations(reports: Reports) -> Settlement:
    """Corollary 4.3: more steps are needed than it counts."""
    found = [iterations_needed(step) for step in ITERATION_STEPS]
    short = sum(needed > math.floor(T) + 1 for _, T, needed in found)
    step = ITERATION_STEPS[0]
    eps, T, _ = found[0]
    asked = math.floor(T) + 1
    path = exact.vector_descent(exact.balanced("0.02", "0.001", 1), 1, "0.2", asked)
    runs = [chain_descent(s / 10, STEP_START, 1, s, math.ceil(8 / s)) for s in ITERATION_STEPS]
    phi0 = [math.pi - float(s) / 10 for s in ITERATION_STEPS]
    return {
        "evidence": [
            *_broken(reports, "4.3"),
            fact("step sizes, of the three below, at which more iterations are needed", short, 0),
            note("seed", reports["4.3"].seed),
        ],
        "counterexample": Counterexample(
            instance={"m": 1, "v*": 1, "step": list(ITERATION_STEPS), "pi - phi0": "step/10",
                      "|w0| = v_1(0)": STEP_START, "eps": "(pi - phi0)/20000",
                      "r": Fraction(1, 2000)},
            assumptions={
                "balanced start": starts_balanced(STEP_START),
                "r < |w(T)| along the descents": all(p.length.min() > 0.0005 for p in runs),
                "the steps are at most X/10, X/100 and X/1000, X = 2 pi/phi0": all(
                    float(s) * k <= 2.0 * math.pi / phi
                    for s, k, phi in zip(ITERATION_STEPS, TENTHS, phi0, strict=True)
                ),
            },
            breaks=(fact("of the three steps, how many need more iterations", short, 0),),
            recheck=(bound(f"pi - phi(T) at T = {asked}, step {step}, by 30-digit vector steps",
                           float(path[asked].theta) / eps, "<", 1.0, "of eps"),),
            route="descent of the vector w and of v_1 in 30 digits",
        ),
    }  # fmt: skip


def two_layer_descent(reports: Reports) -> Settlement:
    """Theorem A.3: the lower bound fails at T = 1, for |w| and for v_1, and the upper one for |w|
    at late T, at every step size."""
    low = [0, 0, 0]
    for step in TWO_STEPS:
        path, lower, upper = two_layer_run(step)
        low[0] += bool(path.length[1] <= lower[1])
        low[1] += bool(path.layers[1, 0] <= lower[1])
        low[2] += bool(path.length[-1] >= upper[-1])
    recheck: list[Evidence] = []
    with mpmath.workdps(exact.DIGITS):
        right = mpmath.pi / 2
        start = exact.balanced(right, 1, 1)
        for step in TWO_STEPS:
            eta = mpmath.mpf(1) / step.denominator
            after = exact.quadrature_step(start, 1, eta)
            lower, _ = exact.two_layer_bounds(1, right, 1, 1, eta)
            recheck += [
                bound(f"{name}(1) below the lower bound, step {step}, by quadrature",
                      float((lower - value) / eta**2), "<", 0.0, "of the step squared")
                for name, value in (("|w|", after.length), ("v_1", after.v[0]))
            ]  # fmt: skip
        eta = mpmath.mpf(1) / 10
        late = exact.vector_descent(start, 1, eta, 200)[-1]
        _, upper = exact.two_layer_bounds(200, right, 1, 1, eta)
        says = "|w(200)| above the upper bound, step 1/10, by 30-digit vector steps"
        above = float((late.length - upper) / eta)
        recheck.append(bound(says, above, "<", 0.0, "of the step"))
    return {
        "evidence": [
            *(item for name in statements.TWO_LAYERS for item in _broken(reports, name)),
            note("seed", reports["A.3 corrected"].seed),
        ],
        "counterexample": Counterexample(
            instance={"v*": 1, "|w0| = v_1(0)": 1, "phi0": "pi/2", "step": list(TWO_STEPS)},
            assumptions={
                "balanced start": bool(start.length == start.v[0]),
                "the steps are a tenth, a hundredth, a thousandth of 1/v*^2 = 1/|w0|^2": all(
                    s * k == 1 for s, k in zip(TWO_STEPS, TENTHS, strict=True)
                ),
            },
            breaks=(
                fact("of the three steps, how many have |w(1)| below the lower bound", low[0], 0),
                fact("of the three steps, how many have v_1(1) below the lower bound", low[1], 0),
                fact("of the three steps, how many have |w(20/step)| above the upper bound",
                     low[2], 0),
            ),
            recheck=tuple(recheck),
            route="expectations integrated over the half-circle, and vector descent, 30 digits",
        ),
    }  # fmt: skip


def corrected_angle_bounds(reports: Reports) -> Settlement:
    """Theorems 4.2 and A.2 with corrected factors."""
    return {"evidence": survived(reports["4.2 corrected"])}


def euler_angle_bounds(reports: Reports) -> Settlement:
    """Theorem 4.2 for explicit Euler steps of (9)-(10)."""
    return {"evidence": survived(reports["4.2 euler"])}


def corrected_iterations(reports: Reports) -> Settlement:
    """Corollary 4.3 with the corrected factor."""
    return {"evidence": survived(reports["4.3 corrected"])}


def corrected_two_layer_bounds(reports: Reports) -> Settlement:
    """Theorem A.3 with the corrected step below, and for v_1 above."""
    return {"evidence": survived(reports["A.3 corrected"])}


def balance_bounded(reports: Reports) -> Settlement:
    """Descent unbalances the layers by O(eta), and so |w| ends above v* and v_1 below it."""
    steps = np.array([0.1, 0.03, 0.01])
    ends = []
    for step in steps:
        path = population_descent(0.0, 0.0, 1, step, math.ceil(30 / step))
        ends.append((path.length[-1] - 1.0, 1.0 - path.layers[-1, 0]))
    above, below = np.array(ends).T
    flow = solve_ivp(_lost_in_flow, (0.0, 40.0), [math.pi / 2, 1.0, 0.0], rtol=1e-10, atol=1e-12)
    return {
        "evidence": [
            *survived(reports["balance"]),
            bound("least (|w(T)| - v*)/step at the end, from phi0 = pi/2, |w0| = v_1 = v* = 1",
                  float((above / steps).min()), ">", 0.01, ""),
            bound("least (v* - v_1(T))/step there", float((below / steps).min()), ">", 0.01, ""),
            bound("distance of (|w|^2 - v_1^2)/step at step 1/100 from the integral along the flow",
                  abs(float((above[-1] + 1) ** 2 - (1 - below[-1]) ** 2) / 0.01 - flow.y[2, -1])
                  / flow.y[2, -1], "<", 0.05, "of it"),
        ],
    }  # fmt: skip


def _lost_in_flow(_: float, state: np.ndarray) -> list[float]:
    """m = v* = 1: phi, v and the integral of (v phi sin(phi) / (2 pi))^2."""
    phi, v, _ = state
    turn = phi * math.sin(phi) / (2.0 * math.pi)
    pull = (math.sin(phi) - phi * math.cos(phi)) / math.pi
    return [turn, -0.5 * v * (v**2 - pull), (v * turn) ** 2]
