"""The logistic flow of Phi = v w x from w = -v for the datum x = 1, y = 1, without an integrator.

With the pull c(q) = 1 / (1 + e^q) of the margin q = v w the flow is dw/dt = c v, dv/dt = c w.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb, fmpq


def leaves_the_line() -> bool:
    """Whether the velocity at a point of the line w = -v points off it, d(w + v)/dt != 0."""
    w, v = sympy.symbols("w v", real=True)
    pull = 1 / (1 + sympy.exp(v * w))
    rate = pull * v + pull * w
    return sympy.simplify(rate.subs(v, -w)) != 0


def largest_margin_on_the_line() -> Fraction:
    """The largest y Phi = -w^2 on the line w = -v."""
    w = sympy.symbols("w", real=True)
    return Fraction(int(sympy.calculus.util.maximum(-(w**2), w)))


def loss_is_below_one(w: Fraction, v: Fraction) -> bool:
    """Whether log(1 + e^(-v w)) < 1, by an enclosure."""
    q = arb(fmpq((v * w).numerator, (v * w).denominator))
    return bool((1 + (-q).exp()).log() < 1)
