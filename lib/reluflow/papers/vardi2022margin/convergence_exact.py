"""A logistic loss below 1 and a flow, without an integrator.

Phi = v relu(<w, x>) from w = (3/2, NEAR), v = 1 for x_1 = (1, -4), x_2 = (0, 1), labels 1: with
h_i = <w, x_i> and s_i = 1 / (1 + e^(v h_i)), while both data are active,

    h_1' = v (17 s_1 - 4 s_2),    h_2' = v (s_2 - 4 s_1),    v' = s_1 h_1 + s_2 h_2.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, fmpq

HALF = Fraction(1, 2)
"""|w(0)| and v(0)."""
NEAR = Fraction(1, 1000)
"""<w(0), x_2>."""


def entered_below_one() -> bool:
    """Whether L(0) = log(1 + e^(1/4)) < 1, by an enclosure."""
    return bool((1 + arb(fmpq(1, 4)).exp()).log() < 1)


def two_right_below_one() -> bool:
    """Whether L(0) = log(1 + e^(-1.496)) + log(1 + e^(-0.001)) < 1, by enclosures."""
    margins = (Fraction(3, 2) - 4 * NEAR, NEAR)
    return bool(sum(((1 + (-_ball(q)).exp()).log() for q in margins), arb(0)) < 1)


def second_is_lost() -> bool:
    """Whether h_2 comes down to 0 and below, for every sigma'(0) in [0, 1], by enclosures.

    In the box |h_1 - h_1(0)|, |v - 1| <= 1/10, 0 <= h_2 <= NEAR the speed of h_2 is at most some
    -c < 0, and the flow cannot leave it by h_1 or v within the time NEAR / c. At h_2 = 0 the
    datum pulls with a part of s_2 only. Below, h_1' = 17 v s_1, v' = s_1 h_1 and h_2' = -4 v s_1.
    """
    h_1, v = _ball(Fraction(3, 2) - 4 * NEAR, Fraction(1, 10)), _ball(Fraction(1), Fraction(1, 10))
    h_2 = _ball(NEAR / 2, NEAR / 2)
    s_1, s_2 = (1 / (1 + (v * h).exp()) for h in (h_1, h_2))
    slowest = (v * (4 * s_1 - s_2)).lower()
    if not slowest > 0:
        return False
    moved = [abs(rate).upper() * _ball(NEAR) / slowest
             for rate in (v * (17 * s_1 - 4 * s_2), s_1 * h_1 + s_2 * h_2)]  # fmt: skip
    return all(bool(each < _ball(Fraction(1, 10))) for each in moved)


def _ball(centre: Fraction, radius: Fraction = Fraction(0)) -> arb:
    low, high = (arb(fmpq(q.numerator, q.denominator)) for q in (centre - radius, centre + radius))
    return low.union(high)
