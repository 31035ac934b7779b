"""The limit with the linear loss, in closed form: the sum of the data instead of w_+.

dw/dt = a s, da/dt = <w, s> gives w = w_0 + (a_0 sinh(|s| t) + ... ) s / |s|: only the part along s
grows, like e^(|s| t).
"""

from __future__ import annotations

from fractions import Fraction

POSITIVE = ((2, 1), (1, 2), (3, 1))


def tangent() -> Fraction:
    """|tan| of the angle between the sum of the positive data and w_+, exactly.

    w_+ solves <w, x> = 1 on (2, 1) and (1, 2), is (x_1 + x_2) / 9 with weights >= 0, and has
    <w, x> = 4/3 on (3, 1): so it is the shortest.
    """
    w = (Fraction(1, 3), Fraction(1, 3))
    assert min(w[0] * a + w[1] * b for a, b in POSITIVE) == 1
    s = tuple(sum(x[k] for x in POSITIVE) for k in range(2))
    return abs(s[0] * w[1] - s[1] * w[0]) / (s[0] * w[0] + s[1] * w[1])
