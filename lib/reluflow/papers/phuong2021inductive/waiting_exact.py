"""The neuron that waits, in fractions: it turns too little to see another positive datum.

From where w = (-5, 6), <w, x_3> = 0, it is w - p x_4 + q x_3 with p = int a c_4, q = int a c_3. It
is active on x_4 as long as p grows, so p <= 5/74; and q <= sup|w| int c_3, where
int c_3 <= e^(-5 s / 4) / (25 s / 2) from the time on at which the output is s.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial, isqrt

X = ((10, 3), (10, -3), (30, 25), (-7, -5), (-5, -7))
W = (-5, 6)
LEAST = 2
"""The output that is asked for."""


def _dot(v: tuple[int, int], w: tuple[int, int]) -> int:
    return v[0] * w[0] + v[1] * w[1]


def _root(number: int) -> int:
    """A whole number above the root."""
    return isqrt(number) + 1


def stays(output: int) -> bool:
    """Whether <w, x_1> and <w, x_2> stay below 0 for all time."""
    assert (_dot(W, X[2]), _dot(W, X[4]) < 0 < _dot(W, X[3])) == (0, True)
    exponential = sum(Fraction(5 * output, 4) ** k / factorial(k) for k in range(20))
    integral = 1 / (exponential * Fraction(25 * output, 2))
    p = Fraction(_dot(W, X[3]), _dot(X[3], X[3]))
    # q at which the first of the two products would come to 0
    q = min(-(_dot(W, x) - p * _dot(x, X[3])) / _dot(x, X[2]) for x in X[:2])
    longest = _root(_dot(W, W)) + p * _root(_dot(X[3], X[3])) + q * _root(_dot(X[2], X[2]))
    return q > 0 and longest * integral < q
