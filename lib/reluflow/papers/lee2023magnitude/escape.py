"""Theorem 4.1, where it fails: functions g whose g' has a zero, and descent that escapes."""

from __future__ import annotations

import math
from fractions import Fraction

import pandas as pd
import sympy

from reluflow.approx import approx
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude.approximation import SPAN, STEPS, growth
from reluflow.papers.lee2023magnitude.escape_exact import (
    escape_exactly,
    exact_quotient,
    flat_error,
    stuck_start,
)
from reluflow.papers.lee2023magnitude.profiles import flat_inside, flat_start, largest_errors, order

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


AS_STATED = Reading(
    taken="as stated: g is one-to-one and in C^2([0, 1]), and nothing is asked of g'",
    others="if g' has no zero on [0, 1], as the second part asks, (12) is true at every T",
)


def unbounded_quotients() -> list[Evidence]:
    """Error/(T eta^2), which (12) says is bounded, for three functions g whose g' has a zero."""
    escaped = [escape(step)[1] for step in ESCAPES]
    _, solves, allowed = stuck_start()
    quotients = [exact_quotient(Fraction(1, k)) for k in (10, 100, 1000)]
    late = [flat_error("0.01", 120), flat_error("0.001", 1200)]
    return [
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
    ]  # fmt: skip


def escaping_descent() -> Counterexample:
    """ma.thm4.1.1: the error is of order T eta^2, against a unique flow with g'(0) = 0."""
    escaped = [escape(step)[1] for step in ESCAPES]
    exactly = [escape_exactly(step) for step in ESCAPES]
    return Counterexample(
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
        )  # fmt: skip
