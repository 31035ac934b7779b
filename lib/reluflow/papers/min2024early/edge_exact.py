"""E.3 and E.4 settled exactly: one neuron on the boundary of one datum.

x = (1, 0) and w = (p, q): only p and v move, p' = y e^(-y v s(p)) v s'(p) and v' = y e^(-y v s(p))
s(p) for the exponential loss. From v(0) = 1, v > 0 for a while, and there the sign of p' is that of
y s'(p): a number for p > 0, one for p = 0 and one for p < 0. Nothing else decides what a continuous
solution from p = 0 can do. If p(t) > 0 at some t, then p > 0 on an interval that ends at t and
begins at a zero of p; there p' has the sign for p > 0, which must be +. Likewise below. And if p is
0 for a while, p' is 0 there, so the sign at 0 must be 0.
"""

from __future__ import annotations

from fractions import Fraction

import sympy

NONE = Fraction(0)
"""The slope of the ReLU at negative inputs."""


def slopes(at_zero: Fraction, leak: Fraction = NONE) -> dict[str, Fraction]:
    """The derivative of the activation for p > 0, at p = 0 and for p < 0."""
    return {"above": Fraction(1), "at": at_zero, "below": leak}


def ways(label: int, at_zero: Fraction, leak: Fraction = NONE) -> tuple[str, ...]:
    """What a solution from p = 0, v = 1 can do: "stay" at 0, leave "above", leave "below".

    No way at all means that there is no Caratheodory solution on any interval [0, t_0].
    """
    pushes = {side: label * slope for side, slope in slopes(at_zero, leak).items()}
    possible = {"stay": pushes["at"] == 0, "above": pushes["above"] > 0,
                "below": pushes["below"] < 0}  # fmt: skip
    return tuple(way for way, can in possible.items() if can)


def implicit_steps(label: int, at_zero: Fraction, push: Fraction = Fraction(1, 10)) -> int:
    """How many p solve p = `label` `push` s'(p), the implicit Euler step from p = 0 with a positive
    step times speed `push`: a discrete picture of the same trichotomy."""
    sides = slopes(at_zero)
    steps = {side: label * push * slope for side, slope in sides.items()}
    return sum((steps["above"] > 0, steps["at"] == 0, steps["below"] < 0))


def euler_ends(at_zero: Fraction, step: Fraction, count: int) -> tuple[Fraction, Fraction]:
    """p and v after `count` explicit Euler steps of E.3, y = -1, from p = 0, v = 1.

    At p <= 0 the output is 0 and the exponential 1, so that every step is rational.
    """
    p, v = Fraction(0), Fraction(1)
    for _ in range(count):
        slope = slopes(at_zero)["at" if p == 0 else "below"]
        p = p - step * v * slope  # p' = -v s'(p) and v' = -s(p) = 0, at p <= 0
    return p, v


def departure_solves_the_equation() -> bool:
    """E.4, y = 1: p = sinh s, v = cosh s with dt/ds = e^(p v) solves p' = e^(-pv) v, v' = e^(-pv) p
    from p = 0, v = 1 (eq. 47), as an identity."""
    s = sympy.Symbol("s", real=True)
    p, v = sympy.sinh(s), sympy.cosh(s)
    rate = sympy.exp(-p * v)  # ds/dt
    residuals = (
        sympy.diff(p, s) * rate - sympy.exp(-p * v) * v,
        sympy.diff(v, s) * rate - sympy.exp(-p * v) * p,
    )
    start = (p.subs(s, 0), v.subs(s, 0) - 1)
    return all(sympy.simplify(each) == 0 for each in (*residuals, *start))
