"""Theorem 4.1, descent beside a flow g(e^(-ct)), as evidence for the ledger."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import sympy
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from reluflow.approx import approx, on_grain
from reluflow.falsify import Statement, falsify
from reluflow.flows.population import pull
from reluflow.ledger import Counterexample, Reading, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude.approximation import (
    Profile,
    approximation_errors,
    bent,
    errors_at,
    flat_inside,
    flat_start,
    largest_errors,
    order,
    proof_constant,
    regular_bound,
)
from reluflow.papers.lee2023magnitude.bounds import magnitude_bounds

Settlement = dict[str, Any]
Item = Mapping[str, NDArray]

STEPS = (1e-2, 1e-3, 1e-4)
"""c eta of the orders that are measured; c = 1."""

SPAN = 1.5
"""Flat profiles are followed up to c eta T of this: past x = 1/2 at log 2, before w underflows."""

SHOWN = (
    ("regular", bent(-0.6, 2.0)),
    ("regular, of Theorem A.3", bent(3.0, -0.5)),
    ("g' = 0 inside", flat_inside()),
    ("g' = 0 at the start", flat_start()),
)
"""One-to-one functions in C^2([0, 1]) and what to call them."""


def _over_claim(profile: Profile, step: float) -> float:
    """The largest |w(T) - g((1 - c eta)^T)| / (T eta^2), which (12) says is bounded; c = 1."""
    errors = approximation_errors(profile, 1.0, step, math.ceil(SPAN / step))
    return float((errors[1:] / np.arange(1, len(errors)) / step**2).max())


def growth(profile: Profile) -> float:
    """How much that largest quotient grows from c eta = 1/100 to 1/10000."""
    return _over_claim(profile, STEPS[-1]) / _over_claim(profile, STEPS[0])


def order_table() -> pd.DataFrame:
    """The error's order in the step at T = 3 and uniformly in T, and growth over T eta^2."""
    rows = []
    for name, profile in SHOWN:
        largest = largest_errors(profile, 1.0, STEPS, SPAN)
        rows.append({
            "g": f"{name}: {profile.name}",
            "order at T = 3": on_grain(order(STEPS, errors_at(profile, 1.0, STEPS, 3)), 0.1),
            "order, all T": on_grain(abs(order(STEPS, largest)), 0.01),
            "growth over T eta^2": approx(growth(profile), 3),
            "largest error, c eta = 1e-4": approx(largest[-1], 2),
        })  # fmt: skip
    return pd.DataFrame(rows).set_index("g")


def _random_bent(rng: np.random.Generator) -> Profile:
    return bent(10.0 ** rng.uniform(-1.0, 1.0) if rng.random() < 0.5 else -rng.uniform(0.05, 0.8),
                rng.choice([-1.0, -0.5, 0.5, 2.0, 3.0]))  # fmt: skip


def _stuck_start() -> tuple[sympy.Expr, bool, bool]:
    """The flow (1 - e^(-ct))^2, whether it solves w' = 2c (sqrt w - w), w(0) = 0, and whether g is
    one-to-one and C^2 on [0, 1]."""
    t, c = sympy.symbols("t c", positive=True)
    root = 1 - sympy.exp(-c * t)  # sqrt(w), since it is not negative
    w = root**2
    solves = sympy.simplify(sympy.diff(w, t) - 2 * c * (root - w)) == 0 and w.subs(t, 0) == 0
    x = sympy.symbols("x", real=True)
    g = (1 - x) ** 2
    only_end = sympy.solveset(sympy.diff(g, x), x, sympy.Interval(0, 1)) == sympy.FiniteSet(1)
    return w, bool(solves), bool(only_end and sympy.diff(g, x, 2).is_constant())


def _exact_quotient(step: Fraction) -> Fraction:
    """At T = 1/step: |w(T) - g((1 - step)^T)| / (T step^2) for w' = 2 (sqrt w - w) from w = 0, in
    rational arithmetic; sqrt(0) = 0, so that no step leaves 0."""
    w, T = Fraction(0), int(1 / step)
    for _ in range(T):
        root = Fraction(math.isqrt(w.numerator), math.isqrt(w.denominator))
        if root * root != w:
            raise ArithmeticError("w has left the squares")
        w += step * 2 * (root - w)
    return abs(w - (1 - (1 - step) ** T) ** 2) / (T * step**2)


def _flat_error(step: str, T: int) -> mpmath.mpf:
    """The error for `flat_inside` at step number T, by a plain loop in 30 digits."""
    with mpmath.workdps(30):
        eta = mpmath.mpf(step)

        def g(u):
            return mpmath.sign(u) * mpmath.exp(-1 / abs(u))

        w = g(mpmath.mpf(1) / 2)
        for _ in range(T):
            u = -mpmath.sign(w) / mpmath.log(abs(w))
            w -= eta * (u + mpmath.mpf(1) / 2) * mpmath.exp(-1 / abs(u)) / u**2
        return abs(w - g((1 - eta) ** T - mpmath.mpf(1) / 2))


ESCAPES = tuple(Fraction(1, k) for k in (10, 20, 50, 100))
"""Steps eta of the descent that escapes from a unique flow; c = 1."""


def escape(step: Fraction) -> tuple[int, float]:
    """The flow w(t) = g(e^(-t)), g(x) = e^(-1/x), of dw/dt = -w log(1/w) for w > 0 and -sqrt|w| for
    w <= 0, from w = 1/e: the first T at which descent is off g((1 - eta)^T) by more than 1, and the
    largest error/(T eta^2) up to it. In floats."""
    eta, w, y, T, worst = float(step), math.exp(-1.0), 1.0, 0, 0.0
    while True:
        w -= eta * (w * math.log(1.0 / w) if w > 0.0 else math.sqrt(-w))
        y, T = y * (1.0 - eta), T + 1
        error = abs(w - math.exp(-1.0 / y))
        worst = max(worst, error / (T * eta**2))
        if error > 1.0:
            return T, worst


def _escape_exactly(step: Fraction) -> mpmath.mpf:
    """The quotient of `escape` by a plain loop over L = log(1/w) in 40 digits, as long as w > 0."""
    with mpmath.workdps(40):
        eta, level, T = mpmath.mpf(step.numerator) / step.denominator, mpmath.mpf(1), 0
        worst = mpmath.mpf(0)
        while eta * level < 1:
            level, T = level - mpmath.log(1 - eta * level), T + 1
            gap = abs(mpmath.exp(-level) - mpmath.exp(-((1 - eta) ** -T)))
            worst = max(worst, gap / (T * eta**2))
        root = mpmath.sqrt(mpmath.exp(-level) * (eta * level - 1))  # of -w, one step on
        T += 1
        while True:
            error = root**2 + mpmath.exp(-((1 - eta) ** -T))
            worst = max(worst, error / (T * eta**2))
            if error > 1:
                return worst
            root, T = mpmath.sqrt(root**2 + eta * root), T + 1


def escape_table() -> pd.DataFrame:
    """Where descent has escaped from a unique flow: T, T eta^2, and the largest error over it."""
    rows = []
    for step in ESCAPES:
        T, worst = escape(step)
        rows.append({"step": str(step), "error above 1 at T =": T,
                     "T eta^2": approx(T * float(step) ** 2, 2),
                     "error/(T eta^2), at most": approx(float(worst), 3)})  # fmt: skip
    return pd.DataFrame(rows).set_index("step")


def _unique_flow() -> dict[str, bool]:
    """By SymPy: w(t) = exp(-e^t) solves w' = -w log(1/w), w(0) = 1/e; g = e^(-1/x) is one-to-one
    and C^2 on [0, 1]; the right side has a derivative wherever w > 0."""
    t, x, w = sympy.symbols("t x w", positive=True)
    flow, g = sympy.exp(-sympy.exp(t)), sympy.exp(-1 / x)
    right = w * sympy.log(w)
    at_zero = [sympy.limit(sympy.diff(g, x, k), x, 0, "+") for k in range(3)]
    return {
        "the flow solves the equation": bool(
            sympy.simplify(sympy.diff(flow, t) + flow * sympy.exp(t)) == 0
            and sympy.simplify(sympy.expand_log(right.subs(w, flow), force=True)
                               + flow * sympy.exp(t)) == 0
        ),
        "it is the only one: dw/dt is differentiable in w > 0, where the flow stays": bool(
            sympy.diff(right, w).subs(w, sympy.Rational(1, 7)).is_finite and flow.is_positive
        ),
        "g is one-to-one and C^2 on [0, 1], with g = g' = g'' = 0 at 0": bool(
            at_zero == [0, 0, 0] and sympy.diff(g, x).is_positive
        ),
        "eta at most 1/(10 c)": max(ESCAPES) <= Fraction(1, 10),
    }  # fmt: skip


def approximation_first() -> Settlement:
    """Theorem 4.1, first part: false for one-to-one g in C^2([0, 1]) whose g' has a zero, with a
    unique flow and with others."""
    escaped = [escape(step)[1] for step in ESCAPES]
    exactly = [_escape_exactly(step) for step in ESCAPES]
    _, solves, allowed = _stuck_start()
    quotients = [_exact_quotient(Fraction(1, k)) for k in (10, 100, 1000)]
    late = [_flat_error("0.01", 120), _flat_error("0.001", 1200)]
    return {
        "evidence": [
            bound("g = e^(-1/x), a unique flow: growth of the largest error/(T eta^2) from eta = "
                  "1/10 to 1/100", escaped[-1] / escaped[0], "<=", 1.5, ""),
            bound("g' = 0 at x = 1/2: growth of error/(T eta^2), eta to eta/100",
                  growth(flat_inside()), "<=", 1.5, ""),
            bound("the same at c eta T = 1.2, by a loop in 30 digits, eta to eta/10",
                  float(late[1] / late[0] * 10), "<=", 1.5, ""),
            bound("g = (1 - x)^2: growth of error/(T eta^2), eta to eta/100",
                  growth(flat_start()), "<=", 1.5, ""),
            bound("the same at T = 1/eta in rational numbers, eta = 1/10 to 1/1000",
                  float(quotients[-1] / quotients[0]), "<=", 1.5, ""),
            fact("(1 - x)^2 is such a g, and its flow solves w' = 2 (sqrt(w) - w), not alone",
                 solves and allowed, True),
            note("g' = 0 at x = 1/2: order of the largest error",
                 order(STEPS, largest_errors(flat_inside(), 1.0, STEPS, SPAN)), digits=2),
            note("g = e^(-1/x): T eta^2 at the first error above 1, eta = 1/10, 1/20, 1/50, 1/100",
                 tuple(escape(s)[0] * float(s) ** 2 for s in ESCAPES), digits=2),
        ],
        "reading": Reading(
            taken="as stated: g is one-to-one and in C^2([0, 1]), and nothing is asked of g'",
            others="if g' has no zero on [0, 1], as the second part asks, (12) is true at every T",
        ),
        "counterexample": Counterexample(
            instance={"dw/dt": "-w log(1/w) for w > 0, -sqrt|w| for w <= 0; w(0) = 1/e",
                      "flow": "exp(-e^t)", "g(x)": "e^(-1/x), g(0) = 0", "c": 1,
                      "eta": list(ESCAPES)},
            assumptions=_unique_flow(),
            breaks=(bound("growth of the largest error/(T eta^2) up to the first error above 1, "
                          "from eta = 1/10 to 1/100, in floats", escaped[-1] / escaped[0], "<=",
                          1.5, ""),),
            recheck=(bound("the same in 40 digits, from log(1/w) and sqrt(-w)",
                           float(exactly[-1] / exactly[0]), "<=", 1.5, ""),),
            route="another recursion, for log(1/w) while w > 0 and for sqrt(-w) after, 40 digits",
        ),
    }  # fmt: skip


def approximation_uniform(seed: int, count: int) -> Settlement:
    """Theorem 4.1, second part: uniformly in T where g' has no zero."""
    rng = np.random.default_rng(seed)
    fixed, uniform, grown = [], [], []
    for _ in range(count):
        profile = _random_bent(rng)
        fixed.append(order(STEPS[:2], errors_at(profile, 1.0, STEPS[:2], 3)))
        uniform.append(order(STEPS[:2], largest_errors(profile, 1.0, STEPS[:2], 10.0)))
        grown.append(_over_claim(profile, STEPS[1]) / _over_claim(profile, STEPS[0]))
    return {
        "evidence": [
            bound("least order in the step of the largest error, all T", min(uniform), ">=", 0.9,
                  ""),
            bound("least order in the step of the error at T = 3", min(fixed), ">=", 1.7, ""),
            bound("largest growth of error/(T eta^2), eta to eta/10", max(grown), "<=", 1.5, ""),
            note("g = x - 0.45 x^2, c eta = 1/10: largest error over the proof's "
                 "c eta max|g''|/(2 (2 - c eta))", _over_proof(), digits=3),
             note("functions g", count),
            note("seed", seed),
        ],
    }  # fmt: skip


def approximation_converse(seed: int, count: int) -> Settlement:
    """Theorem 4.1, converse, for linear g and for `count` others."""
    rng = np.random.default_rng(seed)
    linear, orders, apart = _converse(rng, count), [], 0.0
    for _ in range(count):
        profile = _random_bent(rng)
        orders.append(order(STEPS[:2], largest_errors(profile, 1.0, STEPS[:2], 10.0)))

        def rate(_: float, w: NDArray, profile: Profile = profile) -> list[float]:
            x = profile.inverse(float(w[0]))
            return [-x * profile.slope(x)]

        t = np.linspace(0.0, 5.0, 11)
        flow = solve_ivp(rate, (0, 5), [profile.value(1.0)], "DOP853", t, rtol=1e-12, atol=1e-13)
        expected = [profile.value(float(x)) for x in np.exp(-t)]
        apart = max(apart, float(np.abs(flow.y[0] - expected).max()) / abs(profile.value(1.0)))
    return {
        "evidence": [
            deviation("linear g: descent from g((1 - c eta)^T), and flow from g(e^(-ct))", linear,
                      "of |w*|"),
            bound("other g: least order in eta at which descent is g((1 - c eta)^T)", min(orders),
                  ">=", 0.9, ""),
            deviation("other g: integrated flow from g(e^(-ct))", apart, "of w(0)"),
            note("functions g of each kind", count),
            note("seed", seed),
        ],
        "tolerance": 1e-9,
        "reading": Reading(
            taken="one g serves all small eta, and descent is g((1 - c eta)^T) up to O(eta)",
            others="equality for all small eta leaves affine g only, since at T = 0 it says "
            "g(1 - c eta) = g(1) + eta F(w(0)); for a single eta nothing follows, as every "
            "monotone sequence is some function of (1 - c eta)^T",
        ),
    }  # fmt: skip


def _over_proof() -> float:
    profile = bent(-0.9, 2.0)
    return largest_errors(profile, 1.0, (0.1,), 10.0)[0] / proof_constant(profile, 1.0, 0.1)


def _converse(rng: np.random.Generator, count: int) -> float:
    """The converse on u' = (a - u)/2: its descent is Theorem A.1's lower bound, a function of
    (1 - eta/2)^T, and its flow Theorem 3.3's; the largest deviation of the two pairs."""
    worst = 0.0
    for _ in range(count):
        phi0, v0 = rng.uniform(0.3, 3.0), 10.0 ** rng.uniform(-1.0, 1.0)
        step, a = 10.0 ** rng.uniform(-3.0, -1.0), float(pull(phi0))
        u = v0
        for _ in range(50):
            u += 0.5 * step * (a - u)
        flow = solve_ivp(lambda _, u, a=a: 0.5 * (a - u), (0, 5), [v0], rtol=1e-12, atol=1e-12)
        found = (
            magnitude_bounds(50, phi0, v0, 1.0, step)[0] - u,
            magnitude_bounds(np.array([5.0]), phi0, v0, 1.0)[0][0] - flow.y[0, -1],
        )
        worst = max(worst, *(abs(float(x)) for x in found))
    return worst


def _profile_of(item: Item) -> Profile:
    return bent(float(item["beta"][0]), float(item["power"][0]))


def regular_approximation() -> Statement:
    """Our version of Theorem 4.1, `regular_bound`, at every step up to c eta T = 12."""

    def kind(negative: bool) -> Callable[[np.random.Generator], dict[str, NDArray]]:
        def draw(rng: np.random.Generator) -> dict[str, NDArray]:
            beta = -rng.uniform(0.05, 0.9) if negative else 10.0 ** rng.uniform(-1.5, 1.0)
            power = rng.choice([-2.0, -1.0, -0.5, 0.5, 1.5, 2.0, 3.0])
            least, _, curvature = bent(beta, power).steepness
            limit = min(0.25, least / curvature)
            return {"beta": np.array([beta]), "power": np.array([power]),
                    "rate": np.array([limit * 10.0 ** rng.uniform(-1.0, 0.0)])}  # fmt: skip

        return draw

    def met(item: Item) -> bool:
        rate, beta = float(item["rate"][0]), float(item["beta"][0])
        # Nearer to 0 or -1 rounding would decide.
        if not (0.01 <= rate <= 0.25 and beta >= -0.95 and abs(beta) >= 0.03):
            return False
        least, _, curvature = _profile_of(item).steepness
        return rate * curvature <= least

    def slack(item: Item) -> float:
        profile, rate = _profile_of(item), float(item["rate"][0])
        T = np.arange(math.ceil(12.0 / rate) + 1)
        limit = regular_bound(profile, 1.0, rate, T)
        errors = approximation_errors(profile, 1.0, rate, int(T[-1]))
        return float(((limit - errors) / limit)[1:].min())

    return Statement(
        "|w(T) - g(y)| <= max|g'| (e^(2 c eta mu) - 1) y",
        {"beta < 0": kind(True), "beta > 0": kind(False)},
        slack,
        {"1/100 <= c eta <= 1/4, c eta mu <= 1": met},
        tolerance=1e-12,
        fixed=("power",),
    )


def approximation_repaired(seed: int, count: int) -> Settlement:
    """Theorem 4.1 for g' without a zero, with a constant."""
    return {"evidence": falsify(regular_approximation(), seed, count, count).evidence()}
