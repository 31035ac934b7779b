"""Descent of several layers: Theorem 4.2 on the angle, which fails near phi_0 = pi, and its repair.
Near phi_0 = 0 it fails as Theorem A.2 does, see `descent_near_zero`.

One step of descent moves w to b u + a u*, where u = w/|w|, u* = w*/|w*|, and with p = v_1...v_m

    b = |w| (1 - eta p^2 / 2) + eta p v*^(m+1) sin(phi) / (2 pi),   a = eta p v*^(m+1) phi / (2 pi).

The angle theta = pi - phi of b u + s u* obeys d log tan(theta/2) / ds = -1 / |b u + s u*|, hence

    1 - a / |w_next|  <=  tan(theta_next / 2) / tan(theta / 2)  <=  1 - a / (a + b).

With p = 1 (one layer) that is Theorem A.2; else p is a product before the step and |w_next| a norm
after it, which is what Theorem 4.2 overlooks. Corollary 4.3 is in `descent_steps`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

from reluflow.approx import approx, on_grain
from reluflow.errors import InputError
from reluflow.falsify import Instance, Report, Statement, survey
from reluflow.flows.population import PopulationPath, pull
from reluflow.instances import Draws
from reluflow.ledger import Counterexample, Reading, bound, fact
from reluflow.papers.lee2023magnitude import descent_exact as exact
from reluflow.papers.lee2023magnitude.bounds import angle_rates, gap_bounds, step_limit
from reluflow.papers.lee2023magnitude.descent_one_layer import angle, angle_slacks, repaired_gap
from reluflow.papers.lee2023magnitude.descents import (
    ON_THE_ANGLE,
    SMALLNESS,
    Descent,
    Ranges,
    draws,
    everywhere,
    limit_guess,
    statement,
)
from reluflow.papers.lee2023magnitude.starts import Start

STEPS = tuple(Fraction(2, 3) / k for k in SMALLNESS)
"""A tenth, a hundredth and a thousandth of 2/3, the limit of Theorem 4.2 for m = 1, v* = 1."""

LOWER_START, UPPER_START = Fraction(1, 2), Fraction(2)
"""Norms |w0| = v_1 from which the lower and the upper bound of Theorem 4.2 fail."""

OPPOSITE, AWAY = 0.1, 0.5
"""A start is away from both ends if phi0 is at least the first, pi - phi0 at least the second."""

AWAY_DRAWS = draws(
    (1, 2, 3),
    psi=(math.log(math.tan(0.5 * OPPOSITE)), -math.log(math.tan(0.5 * AWAY))),
    rho=(-8.0, 1.5),
)


def corrected_factors(
    phi0: float, ranges: Ranges, target: float, step: float, m: int
) -> tuple[float, float]:
    """By which tan((pi - phi)/2) shrinks a step, at least q_1 and at most q_2:

        q_1 = 1 - h(high) / (1 - eta product^2 / 2),   q_2 = 1 - (phi0/pi) h(low) / (1 + h(low)),

    with h(x) = x v*^(m+1) eta / 2. Returns q_1 and q_2. Raises InputError for eta product^2 >= 2.
    """
    keep = 1.0 - 0.5 * step * ranges.product**2
    if keep <= 0.0:
        raise InputError(f"step must be below 2 / (v_1...v_m)^2 = {2.0 / ranges.product**2:.4g}")
    unit = 0.5 * target ** (m + 1) * step
    h = unit * ranges.low
    return 1.0 - unit * ranges.high / keep, 1.0 - phi0 / math.pi * h / (1.0 + h)


def euler_path(start: Start, step: float, n_steps: int) -> tuple[NDArray, NDArray]:
    """Explicit Euler steps of (9)-(10), another thing that "trained by gradient descent" may mean:

        phi <- phi + eta v^(m-1) v*^(m+1) phi sin(phi) / (2 pi),
        v   <- v - eta/2 v^m (v^(m+1) - v*^(m+1) (1 - eps)).

    Returns pi - phi and v at the steps 0, ..., n_steps. The smaller one of phi and pi - phi is
    moved, so that it keeps its digits.
    """
    phi, theta, v = start.phi, start.theta, start.v
    m, best = start.m, start.target ** (start.m + 1)
    out = np.empty((2, n_steps + 1))
    for k in range(n_steps + 1):
        out[:, k] = theta, v
        turn = step * v ** (m - 1) * best * phi * math.sin(min(phi, theta)) / (2.0 * math.pi)
        v -= 0.5 * step * v**m * (v ** (m + 1) - best * float(pull(phi)))
        if phi < theta:
            phi += turn
            theta = math.pi - phi
        else:
            theta -= turn
            phi = math.pi - theta
    return out[0], out[1]


def away(found: Statement, says: str, draws: Draws) -> Statement:
    """The statement for starts away from phi0 = 0 and pi, whose norm is between r and R as well:
    the printed condition is on T > 0 only, and |w0| far above R makes a first step too long."""

    def far(item: Instance) -> bool:
        start = Descent.of(item).start
        return start.phi >= OPPOSITE and start.theta >= AWAY

    def within(item: Instance) -> bool:
        run = Descent.of(item)
        r, R = run.norm_range()
        return r < run.start.v < R

    more = {f"phi0 >= {OPPOSITE}, pi - phi0 >= {AWAY}": far, "r < |w0| < R": within}
    return replace(found, says=says, draws=draws, hypotheses={**found.hypotheses, **more})


def angle_away() -> Statement:
    """Theorem 4.2, both bounds, away from phi0 = 0 and pi."""
    # At T = 0 the slack depends on phi0 alone, and would be all that a search lowers.
    return replace(
        away(
            angle((1, 2, 3), 0, ""),
            f"4.2: both bounds of phi(T), T >= 1, phi0 >= {OPPOSITE}, pi - phi0 >= {AWAY}, "
            "r < |w0| < R",
            AWAY_DRAWS,
        ),
        slack=lambda item: float(np.min([side[1:] for side in angle_slacks(Descent.of(item))])),
    )


def corrected_angle() -> Statement:
    """ma.ours.descent.angle: tan((pi - phi)/2) shrinks a step by a factor between q_1 and q_2 of
    `corrected_factors`."""

    def factors(run: Descent) -> tuple[float, float]:
        start = run.start
        return corrected_factors(start.phi, run.ranges(), start.target, run.step, start.m)

    def slack(run: Descent) -> float:
        path, (fast, slow) = run.path, np.log(factors(run))
        log_tan, T = path.psi[0] - path.psi[1:], path.t[1:]
        return float(np.minimum(slow * T - log_tan, log_tan - fast * T).min())

    def steep(run: Descent) -> bool:
        return run.step * run.ranges().product ** 2 < 2.0 and factors(run)[0] > 0.0

    return statement(
        "both corrected bounds of phi(T)",
        everywhere((0, 1, 2, 3), lambda start: 10.0 * limit_guess(start)),
        slack,
        {"no step overshoots": Descent.is_gentle, "q_1 > 0": steep},
    )


def euler_angle() -> Statement:
    """ma.ours.descent.euler: Theorem 4.2, its cubic term repaired, for explicit Euler steps of
    (9)-(10), with r < v(T) < R for T = 0 too."""

    def followed(run: Descent) -> tuple[NDArray, float, float]:
        theta, v = euler_path(run.start, run.step, run.steps)
        low, high = min(v.min(), run.start.target), max(v.max(), run.start.target)
        return theta, float(low) / run.loose[0], float(high) * run.loose[1]

    def slack(run: Descent) -> float:
        theta, r, R = followed(run)
        start, T = run.start, np.arange(len(theta))
        given = (r, R, start.target, start.m)
        _, above = gap_bounds(T, start.psi, *given, run.step)
        fast = angle_rates(start.phi, *given)[1]
        below = repaired_gap(T, start.psi, fast * run.step)
        return float((np.minimum(above - theta, theta - below) / theta).min())

    def fine(run: Descent) -> bool:
        _, r, R = followed(run)
        start = run.start
        return run.is_below(step_limit(start.phi, r, R, start.target, start.m))

    return statement(
        "4.2 repaired, for Euler steps of (9)-(10)",
        everywhere((1, 2, 3)),
        slack,
        {**ON_THE_ANGLE, "step small enough": fine},
    )


def near_descent(
    theta0: float | Fraction, v0: float | Fraction, step: float | Fraction, n: int
) -> PopulationPath:
    """n steps with m = v* = 1 from pi - phi0 = theta0 and |w0| = v_1 = v0."""
    return Start.near(float(theta0), float(v0), 1).descent(float(step), n)


def excess(path: PopulationPath, step: float, r: float, R: float, side: int) -> NDArray:
    """By how much, in parts of pi - phi(T), a path of m = v* = 1 passes the upper (side = 0) or the
    lower bound of phi of Theorem 4.2, the upper or lower one of pi - phi."""
    limit = gap_bounds(path.t, float(path.psi[0]), r, R, 1.0, 1, step)[side]
    return (path.theta - limit if side else limit - path.theta) / path.theta


def violations(T: Sequence[int]) -> pd.DataFrame:
    """Theorem 4.2 for m = 1, v* = 1, pi - phi0 = eta: by how much, in parts of pi - phi(T),
    phi(T) is below the lower bound from |w0| = 1/2 and above the upper one from |w0| = 2."""

    def measure(step: Fraction) -> Mapping[str, str]:
        row = {"step": str(step)}
        for name, v0, side in (("lower", LOWER_START, 1), ("upper", UPPER_START, 0)):
            path = near_descent(step, v0, step, max(T))
            out = excess(path, float(step), 1.0, 1.0, side)
            row |= {f"{name}, T = {k}": approx(out[k], 2) for k in T}
        return row

    return survey(STEPS, measure).set_index("step")


def failing_gap(step: float, v0: float = 0.01) -> float:
    """The largest gap = pi - phi0 from which the lower bound of Theorem 4.2 fails at some T from 1
    to 15/gap, for m = v* = 1 and |w0| = v0; near (3/2 pi eta^2)^(1/3) for small v0 and eta.

    While v grows from a small v0 a step falls short of the bound by h^2, h = eta/2, relatively, and
    gains h^2 T gap/pi: in all it is short by pi h^2 / (2 gap), against a slack of gap^2/12.
    """

    def room(gap: float) -> float:
        path = near_descent(gap, v0, step, math.ceil(15.0 / gap))
        return -float(excess(path, step, 1.0, 1.0, 1)[1:].max())

    return float(brentq(room, step, 1.0, xtol=1e-6))


def failing_gap_table() -> pd.DataFrame:
    """`failing_gap` at the three steps of Theorem 4.2, and our estimate of it."""
    return survey(STEPS, lambda step: {
        "step": str(step),
        "fails up to pi - phi0 =": on_grain(failing_gap(float(step)), 1e-3),
        "(3/2 pi step^2)^(1/3)": on_grain((1.5 * math.pi * float(step) ** 2) ** (1 / 3), 1e-3),
    }).set_index("step")  # fmt: skip


def _first_step(v0: Fraction, side: int) -> pd.DataFrame:
    """By step: whether descent breaks the bound at T = 1; by how much, in parts of pi - phi(1), by
    quadrature; and whether it starts balanced and 1/4 < |w(T)| < 4 all along."""

    def measure(step: Fraction) -> Mapping[str, Any]:
        path = near_descent(step, v0, step, math.ceil(8 / step))
        with mpmath.workdps(exact.DIGITS):
            theta = eta = mpmath.mpf(step.numerator) / step.denominator
            start = exact.balanced(theta, mpmath.mpf(v0.numerator) / v0.denominator, 1)
            after = exact.quadrature_step(start, 1, eta).theta
            slow = (mpmath.pi - theta) / (2 * mpmath.pi)
            limit = exact.angle_gap_bounds(1, theta, slow, mpmath.mpf(1) / 2, eta)[side]
            out = (after - limit if side else limit - after) / after
        return {
            "step": step,
            "broken": bool(excess(path, float(step), 0.25, 4.0, side)[1] >= 0.0),
            "exactly": float(out),
            "inside": bool(np.all((path.length > 0.25) & (path.length < 4.0))),
            "balanced": math.isclose(path.layers[0, 0], path.length[0], rel_tol=1e-12),
        }

    return survey(STEPS, measure)


def bounds_missed() -> Counterexample:
    """ma.thm4.2: both bounds fail at T = 1, at steps however small, for phi0 near pi."""
    low, up = _first_step(LOWER_START, 1), _first_step(UPPER_START, 0)
    limits = [step_limit(math.pi - float(s), 0.25, 4.0, 1.0, 1) for s in STEPS]
    return Counterexample(
        instance={"m": 1, "v*": 1, "step": list(STEPS), "pi - phi0": "the step",
                  "|w0| = v_1(0), lower bound": LOWER_START,
                  "|w0| = v_1(0), upper bound": UPPER_START, "r": Fraction(1, 4), "R": 4},
        assumptions={
            "balanced start": bool(low.balanced.all() and up.balanced.all()),
            "r < |w(T)| < R along the descents": bool(low.inside.all() and up.inside.all()),
            "the steps are X/10, X/100 and X/1000, X = 2/3": all(
                abs(float(s) * k - X) < 1e-12 * X
                for s, k, X in zip(STEPS, SMALLNESS, limits, strict=True)
            ),
        },
        breaks=(
            fact("of the three steps, how many break the lower bound at T = 1",
                 int(low.broken.sum()), 0),
            fact("of the three steps, how many break the upper bound at T = 1",
                 int(up.broken.sum()), 0),
        ),
        recheck=tuple(
            bound(f"phi(1) {word}, step {row.step}, by quadrature", row.exactly, "<", 0.0,
                  "of pi - phi(1)")
            for word, found in (("below the lower bound", low), ("above the upper bound", up))
            for row in found.itertuples()
        ),
        route="one step from expectations integrated over the half-circle, 30 digits",
    )  # fmt: skip


def small_steps(report: Report) -> Reading:
    """The two readings of "eta is small against X", and what is known under the second."""
    does = "does" if report.search_breaks else "does not"
    return Reading(
        taken="one smallness of eta, such as eta <= X/1000, serves all starts: X is all that the "
        "condition names",
        others="if eta may be small depending on phi0 and |w0| too, neither a counterexample nor a "
        f"proof is known. For phi0 >= {OPPOSITE}, pi - phi0 >= {AWAY}, eta <= X/10 with X of "
        f"Theorem 4.2 and r < |w0| < R, {sum(report.violations.values())} of {report.tried} "
        f"descents break it, and a search of {report.evaluations} evaluations {does}. Much nearer "
        "it fails at eta = X/10: for m = v* = 1 and |w0| = 1/100 the lower bound does up to "
        f"pi - phi0 = {failing_gap(float(STEPS[0])):.2f}",
    )
