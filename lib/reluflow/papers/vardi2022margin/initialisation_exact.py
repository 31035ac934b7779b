"""The probabilities of Theorem 3.2's start by other routes: areas in fractions, quadrature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from scipy.integrate import quad
from scipy.special import ndtr

Point = tuple[Fraction, Fraction]

SQUARE: tuple[Point, ...] = tuple(
    (Fraction(a), Fraction(b)) for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))
)
"""The corners of the square on which uniform weights of a neuron lie, in units of their bound."""


def clipped(corners: Sequence[Point], x: Point) -> list[Point]:
    """The part w.x >= 0 of a convex polygon, by its corners in order."""
    kept: list[Point] = []
    for a, b in pairwise([*corners, corners[0]]):
        h, k = (w[0] * x[0] + w[1] * x[1] for w in (a, b))
        if h >= 0:
            kept.append(a)
        if h * k < 0:
            s = h / (h - k)
            kept.append((a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])))
    return kept


def area(corners: Sequence[Point]) -> Fraction:
    """The area of a polygon, by its corners in order."""
    if len(corners) < 3:
        return Fraction(0)
    terms = (a[0] * b[1] - b[0] * a[1] for a, b in pairwise([*corners, corners[0]]))
    return abs(sum(terms, Fraction(0))) / 2


def square_share(data: Sequence[Point]) -> Fraction:
    """The part of the square on which w.x > 0 for all of these data."""
    corners: Sequence[Point] = SQUARE
    for x in data:
        corners = clipped(corners, x) if corners else []
    return area(corners) / area(SQUARE)


def gaussian_share(slope: float) -> float:
    """P(|w_1| < slope w_2) for standard normal w, by quadrature over w_2."""

    def density(b: float) -> float:
        inside = 2.0 * float(ndtr(slope * b)) - 1.0
        return inside * math.exp(-0.5 * b * b) / math.sqrt(2.0 * math.pi)

    return float(quad(density, 0.0, math.inf, epsabs=1e-14)[0])
