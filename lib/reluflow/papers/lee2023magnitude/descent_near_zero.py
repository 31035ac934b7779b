"""Near phi_0 = 0 the upper bounds of phi(T) in Theorems A.2 and 4.2 become negative.

Both say pi - phi(T) > 2 y - 2/3 y^3 rho^T with y = chi (1 - h)^T, rho = (1 - 3h) / (1 - h)^3 and
h = c eta. The limit X that eta is to be small against is 1/(3c), so at eta = X/k, for every start,
h = 1/(3k). As rho < 1 the cubic term dies, and 2 y > pi is left where chi is so large that y still
exceeds pi/2 when it has died: chi = 10^(4k/5) is large enough.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath

from reluflow.ledger import Counterexample, Evidence, Reading, bound
from reluflow.papers.lee2023magnitude import descent_exact as exact
from reluflow.papers.lee2023magnitude.bounds import angle_rates, step_limit
from reluflow.papers.lee2023magnitude.bounds_exact import pull
from reluflow.papers.lee2023magnitude.descents import SMALLNESS
from reluflow.papers.lee2023magnitude.starts import Start

LEVEL = 2.5
"""T is the last step with y at least this: 2 y = 5 is well above pi."""


ONE_FRACTION = Reading(
    taken="one smallness of eta, such as eta <= X/1000, serves all starts: X is all that the "
    "condition names",
    others="if eta may be small depending on phi0 and |w0| too, neither a counterexample nor a "
    "proof is known",
)


def digits(k: int) -> int:
    """4k/5, the decimal logarithm of chi = cot(phi_0/2) for the step X/k."""
    return 4 * k // 5


def last_step(k: int) -> int:
    """T for the step X/k."""
    decay = -math.log1p(-1.0 / (3 * k))
    return math.floor((digits(k) * math.log(10.0) - math.log(LEVEL)) / decay)


def demanded(k: int) -> float:
    """What the theorems ask pi - phi(T) to exceed at T = `last_step`, by logarithms."""
    h, T = 1.0 / (3 * k), last_step(k)
    y = math.exp(digits(k) * math.log(10.0) + T * math.log1p(-h))
    cubic = math.exp(T * (math.log1p(-3.0 * h) - 3.0 * math.log1p(-h)))
    return 2.0 * y - 2.0 / 3.0 * y**3 * cubic


def demanded_exactly(k: int) -> float:
    """The same by powers in 30 digits."""
    T = last_step(k)
    with mpmath.workdps(exact.DIGITS):
        chi, h = mpmath.mpf(10) ** digits(k), mpmath.mpf(1) / (3 * k)
        return float(2 * chi * (1 - h) ** T - 2 * chi**3 * (1 - 3 * h) ** T / 3)


def steps() -> list[Evidence]:
    """What Theorem 4.2 (any m) and Theorem A.2 ask pi - phi(T) to exceed, at three steps."""
    return [
        bound(f"near phi0 = 0, cot(phi0/2) = 10^{digits(k)}: what pi - phi(T) is to exceed at the "
              f"step X/{k}, T = {last_step(k)}", demanded(k), "<", math.pi, "")
        for k in SMALLNESS
    ]  # fmt: skip


def negative_bound() -> Counterexample:
    """ma.thmA.2.2: the upper bound is negative at steps however small, for phi_0 near 0."""
    first = SMALLNESS[0]
    T, chi = last_step(first), Fraction(10) ** digits(first)
    start = Start(-math.log(chi), 0.0, 0)
    r, R = start.phi**3 / (4.0 * math.pi), 2.0
    X = step_limit(start.phi, r, R, 1.0, 0)
    run = start.descent(X / first, T)
    return Counterexample(
        instance={"m": 0, "|w*| = |w0|": 1, "r": "phi0^3/(4 pi)", "R": 2,
                  "step": [f"X/{k}" for k in SMALLNESS],
                  "cot(phi0/2)": [f"10^{digits(k)}" for k in SMALLNESS],
                  "T": [last_step(k) for k in SMALLNESS]},
        assumptions={
            "r < |w(T)| < R for all T, by Theorem A.1: r < (1 - eps0)|w*|, |w0| = |w*| < R": all(
                _is_below_rest(k) for k in SMALLNESS
            ),
            f"1/2 <= |w(T)| < R along the descent of the step X/{first}":
                run.length.min() >= 0.5 and run.length.max() < R,
            f"c eta = 1/{3 * first} at the step X/{first}": math.isclose(
                angle_rates(start.phi, r, R, 1.0, 0)[1] * X / first, 1.0 / (3 * first)
            ),
        },
        breaks=(
            bound(f"bound of phi(T) less phi(T), descent of the step X/{first}, T = {T}",
                  math.pi - demanded(first) - float(run.phi[T]), ">", 0.0, ""),
            *steps(),
        ),
        recheck=(
            bound(f"the same by vector steps in {exact.DIGITS} digits", _by_vectors(), ">", 0.0,
                  ""),
            *(bound(f"pi less what it is to exceed at X/{k}, by powers in {exact.DIGITS} digits",
                    math.pi - demanded_exactly(k), ">", 0.0, "") for k in SMALLNESS),
        ),
        route=f"descent of the vector w, and powers of (1 - c eta), in {exact.DIGITS} digits",
    )  # fmt: skip


def _is_below_rest(k: int) -> bool:
    """Whether r = phi0^3/(4 pi) is below 1 - eps_0, where three times phi0's digits cancel."""
    with mpmath.workdps(exact.DIGITS + 3 * digits(k)):
        phi0 = 2 * mpmath.atan(mpmath.mpf(10) ** -digits(k))
        return bool(0 < phi0**3 / (4 * mpmath.pi) < pull(phi0))


def _by_vectors() -> float:
    """The upper bound of phi(T) less phi(T) at the largest of the three steps."""
    first = SMALLNESS[0]
    T = last_step(first)
    with mpmath.workdps(exact.DIGITS):
        phi0 = 2 * mpmath.atan(mpmath.mpf(10) ** -digits(first))
        r = phi0**3 / (4 * mpmath.pi)
        eta = 2 * r / 3 / first
        theta0 = mpmath.pi - phi0
        path = exact.vector_descent(exact.balanced(theta0, 1, 0), 1, eta, T)
        below, _ = exact.angle_gap_bounds(T, theta0, 0, 1 / (2 * r), eta)
        return float(path[T].theta - below)
