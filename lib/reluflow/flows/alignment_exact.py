"""The order of events of the limit flow, in exact arithmetic: a polygon in weight space.

With dw/dsigma = s b(w), b(w) the sum of y_i x_i over the data with <x_i, w> > 0, the direction of w
runs along the path of du/dt = s (b(u) - <b(u), u> u), only at another speed. Between two events w
moves on a line, so that rational data and starts have rational crossings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from reluflow.rational import rationals

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class Polygon:
    """The path of one neuron's weights.

    status    "serves", "dead", "rests", "sliding" or "unfinished", as in `flows.alignment`
    events    the changes: (datum, whether it is active behind it), together where they coincide
    corners   w at the start and at the events
    patterns  the active data before, between and behind the events
    """

    status: str
    events: tuple[tuple[tuple[int, bool], ...], ...]
    corners: tuple[Vector, ...]
    patterns: tuple[tuple[bool, ...], ...]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """<a, b>, exactly."""
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def pull(X: Sequence[Vector], y: Sequence[Fraction], active: Sequence[bool], sign: int) -> Vector:
    """s times the sum of y_i x_i over the active data."""
    d = len(X[0])
    return tuple(
        sum((sign * q * x[k] for x, q, on in zip(X, y, active, strict=True) if on), Fraction(0))
        for k in range(d)
    )


def polygon(X: object, y: object, start: object, sign: int = 1, most: int = 200) -> Polygon:
    """Follow w from `start` until no boundary is ahead, at most `most` events.

    X (n, d), y (n,) and start (d,) are taken at their exact values, floats included.
    """
    data, labels, w = [tuple(x) for x in rationals(X)], list(rationals(y)), tuple(rationals(start))
    active = tuple(dot(x, w) > 0 for x in data)
    corners, events, patterns = [w], list[tuple[tuple[int, bool], ...]](), [active]
    fresh: set[int] = set()
    while len(events) < most:
        b = pull(data, labels, active, sign)
        ahead = {}
        for i, (x, on) in enumerate(zip(data, active, strict=True)):
            rate = dot(x, b)
            if rate < 0 if on else rate > 0:
                ahead[i] = -dot(x, w) / rate
        if not ahead:
            return Polygon(_ended(active, labels, sign), *map(tuple, (events, corners, patterns)))
        step = min(ahead.values())
        crossed = {i for i, value in ahead.items() if value == step}
        if step > 0:
            w, fresh = tuple(p + step * q for p, q in zip(w, b, strict=True)), set()
        if crossed & fresh or not any(w):
            status = "sliding" if any(w) else "rests"
            return Polygon(status, *map(tuple, (events, corners, patterns)))
        left = tuple(on and i not in crossed for i, on in enumerate(active))
        after = tuple(on != (i in crossed) for i, on in enumerate(active)) if any(left) else left
        if after == active:  # silent, and held so
            return Polygon(_ended(active, labels, sign), *map(tuple, (events, corners, patterns)))
        fresh |= crossed
        events.append(tuple((i, after[i]) for i in sorted(crossed) if after[i] != active[i]))
        active = after
        corners.append(w)
        patterns.append(active)
    return Polygon("unfinished", *map(tuple, (events, corners, patterns)))


def _ended(active: Sequence[bool], y: Sequence[Fraction], sign: int) -> str:
    if not any(active):
        return "dead"
    return "serves" if all(on == (q == sign) for on, q in zip(active, y, strict=True)) else "rests"
