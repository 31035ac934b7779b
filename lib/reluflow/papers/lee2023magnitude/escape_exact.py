"""The counterexamples to Theorem 4.1 in 40 digits, in rational numbers and by SymPy."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import sympy


def escape_exactly(step: Fraction) -> mpmath.mpf:
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


def stuck_start() -> tuple[sympy.Expr, bool, bool]:
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


def exact_quotient(step: Fraction) -> Fraction:
    """At T = 1/step: |w(T) - g((1 - step)^T)| / (T step^2) for w' = 2 (sqrt w - w) from w = 0, in
    rational arithmetic; sqrt(0) = 0, so that no step leaves 0."""
    w, T = Fraction(0), int(1 / step)
    for _ in range(T):
        root = Fraction(math.isqrt(w.numerator), math.isqrt(w.denominator))
        if root * root != w:
            raise ArithmeticError("w has left the squares")
        w += step * 2 * (root - w)
    return abs(w - (1 - (1 - step) ** T) ** 2) / (T * step**2)


def flat_error(step: str, T: int) -> mpmath.mpf:
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
