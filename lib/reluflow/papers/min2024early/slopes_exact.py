"""Lemma 2's constants in ball arithmetic: a second method."""

from __future__ import annotations

from fractions import Fraction

import mpmath
from flint import arb, ctx

_BITS = 256


def largest_ratio() -> arb:
    """A ball around (e^q - 1)/q at q = 1, its largest value on (0, 1]: all its derivatives are sums
    of positive terms."""
    ctx.prec = _BITS
    return arb(1).exp() - 1


def enclosed_end(digits: int = 40) -> tuple[Fraction, Fraction]:
    """Two decimals, 10^-digits apart, between which e^q - 1 = 2 q with q > 0: signs by balls.

    e^q - 1 - 2 q is convex, 0 and falling at 0, so it has one zero q > 0.
    """
    ctx.prec = _BITS
    unit = 10**digits
    low, high = unit, 2 * unit
    while high - low > 1:
        middle = (low + high) // 2
        q = arb(middle) / unit
        difference = q.exp() - 1 - 2 * q
        if difference > 0:
            high = middle
        elif difference < 0:
            low = middle
        else:
            raise ArithmeticError("more bits are needed")
    return Fraction(low, unit), Fraction(high, unit)


def lambert_end() -> Fraction:
    """The same zero, -1/2 - W_{-1}(-e^{-1/2}/2), to 60 digits."""
    with mpmath.workdps(60):
        root = -mpmath.mpf(1) / 2 - mpmath.lambertw(-mpmath.exp(-0.5) / 2, -1).real
        return Fraction(mpmath.nstr(root, 58))
