"""The arcs of directions that die, for data in the plane, from their angles alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

Vectors = Sequence[Sequence[float]]
_OPPOSITE = 1e-9
"""Angles this near to 180 degrees are 180."""


def _angle(v: Sequence[float], origin: float) -> float:
    """The angle of v, in degrees, within 180 of `origin`."""
    return origin + (math.degrees(math.atan2(v[1], v[0])) - origin + 180.0) % 360.0 - 180.0


def _sum(vectors: Vectors) -> tuple[float, float]:
    return sum(v[0] for v in vectors), sum(v[1] for v in vectors)


def arcs_by_hand(positive: Vectors, negative: Vectors) -> tuple[float, float, float]:
    """Shares of the circle that die with a > 0, with a < 0, and with one of them.

    Where the negative data lie to the right of the positive ones, all are mirrored; 0 where no
    half-plane holds all.
    """
    (a, b), (c, d) = _sum(positive), _sum(negative)
    if a * d < b * c:
        positive, negative = ([(v[0], -v[1]) for v in group] for group in (positive, negative))
    plus = _angle(_sum(positive), 0.0)
    minus = plus + (_angle(_sum(negative), plus) - plus) % 360.0
    first = min(_angle(v, plus) for v in positive)
    last = max(_angle(v, minus) for v in negative)
    if last - first >= 180.0 - _OPPOSITE:
        return 0.0, 0.0, 0.0
    return (
        (first + 270.0 - minus) / 360.0,
        (plus + 270.0 - last) / 360.0,
        (plus + 360.0 - minus) / 360.0,
    )


def arc_of_either(positive: Vectors, negative: Vectors) -> float:
    """1 - (angle between the sums of the two labels) / 360 degrees."""
    (a, b), (c, d) = _sum(positive), _sum(negative)
    return 1.0 - math.degrees(math.atan2(abs(a * d - b * c), a * c + b * d)) / 360.0
