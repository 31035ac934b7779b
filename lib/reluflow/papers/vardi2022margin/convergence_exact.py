"""The logistic flow of Phi = v w x from w = -1/2, v = 1/2 for x = y = 1, without an integrator.

With c = 1 / (1 + e^(v w)) it is dw/dt = c v, dv/dt = c w. So w + v = 0 stays, u = v^2 obeys
du/dt = -2 u / (1 + e^-u), and the time at which u is reached from 1/4 is

    t = 1/2 integral from u to 1/4 of (1 + e^-s)/s ds = 1/2 (log(1/(4 u)) + E_1(u) - E_1(1/4)).
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import sympy
from flint import arb, fmpq

HALF = Fraction(1, 2)
"""|w(0)| and v(0)."""


def entered_below_one() -> bool:
    """Whether L(0) = log(1 + e^(1/4)) < 1, by an enclosure."""
    return bool((1 + arb(fmpq(1, 4)).exp()).log() < 1)


def largest_margin() -> Fraction:
    """The largest y Phi on the line w = -v, which the flow never leaves; it must be 0 there.

    Raises ValueError if the velocity on that line leads off it.
    """
    w, v = sympy.symbols("w v", real=True)
    pull = 1 / (1 + sympy.exp(v * w))
    if sympy.simplify((pull * v + pull * w).subs(v, -w)) != 0:
        raise ValueError("the velocity leads off the line w = -v")
    return Fraction(int(sympy.calculus.util.maximum((w * v).subs(v, -w), w)))


def size_at(t: float) -> mpmath.mpf:
    """v(t) = sqrt(u(t)) for t >= 0, by solving the closed form of the time, 30 digits."""
    with mpmath.workdps(30):
        start = mpmath.mpf(1) / 4
        constant = mpmath.e1(start)

        def off(log_u: mpmath.mpf) -> mpmath.mpf:
            u = mpmath.exp(log_u)
            return (mpmath.log(start) - log_u + mpmath.e1(u) - constant) / 2 - t

        # du/dt lies between -2u and -u.
        low, high = mpmath.log(start) - 2 * t, mpmath.log(start) - t
        root = mpmath.findroot(off, (low, high), solver="anderson") if t > 0 else low
        return mpmath.sqrt(mpmath.exp(root))
