"""Which activation patterns a neuron of a KKT point of (77) may have, in the plane, exactly.

Stationarity asks of a neuron with a > 0 that w lies in the cone of the vectors y_i x_i of the data
on which it is active, and of those on its boundary. All faces of the arrangement are tried, over
the whole numbers: rays on a boundary, and open sectors between two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from math import gcd

Vector = tuple[int, int]


def other_faces(X: Sequence[Sequence[int]], y: Sequence[int]) -> int:
    """The number of faces that may hold a neuron of a KKT point, of either sign, other than that
    of (8): active on all data of its label, and on none of the other."""
    count = 0
    for sign in (1, -1):
        labels = [sign * v for v in y]
        count += sum(_pattern(w, X) != _own(labels, _pattern(w, X)) for w in possible(X, labels))
    return count


def possible(X: Sequence[Sequence[int]], y: Sequence[int]) -> list[Vector]:
    """A vector of every face that may hold a neuron with a > 0 of a KKT point."""
    rays = _around([p for a, b in X for p in ((-b, a), (b, -a))])
    found = [w for w in rays if _in_cone(w, _generators(w, X, y))]
    for low, high in zip(rays, [*rays[1:], rays[0]], strict=True):
        middle = _between(low, high)
        cone = _generators(middle, X, y)
        if any(_inside(g, low, high) for g in cone) or _in_cone(middle, cone):
            found.append(middle)
    return found


def _own(y: Sequence[int], found: Sequence[int]) -> list[int]:
    """The pattern of (8), where a datum of the other label may lie on the boundary."""
    return [1 if v > 0 else (0 if s == 0 else -1) for v, s in zip(y, found, strict=True)]


def _pattern(w: Vector, X: Sequence[Sequence[int]]) -> list[int]:
    dots = [w[0] * a + w[1] * b for a, b in X]
    return [(v > 0) - (v < 0) for v in dots]


def _generators(w: Vector, X: Sequence[Sequence[int]], y: Sequence[int]) -> list[Vector]:
    pattern = _pattern(w, X)
    return [(v * a, v * b) for (a, b), v, s in zip(X, y, pattern, strict=True) if s >= 0]


def _cross(u: Vector, v: Vector) -> int:
    return u[0] * v[1] - u[1] * v[0]


def _dot(u: Vector, v: Vector) -> int:
    return u[0] * v[0] + u[1] * v[1]


def _inside(w: Vector, low: Vector, high: Vector) -> bool:
    """Whether w is in the open sector from `low` counterclockwise to `high`."""
    if _cross(low, high) > 0:
        return _cross(low, w) > 0 and _cross(w, high) > 0
    if _cross(low, high) == 0 and _dot(low, high) < 0:
        return _cross(low, w) > 0
    return not (_cross(high, w) >= 0 and _cross(w, low) >= 0)


def _in_cone(w: Vector, cone: Sequence[Vector]) -> bool:
    """Whether w != 0 is a sum of vectors of the cone with weights >= 0."""
    if any(_cross(g, w) == 0 and _dot(g, w) > 0 for g in cone):
        return True
    return any(
        _cross(g, h) > 0 and _cross(g, w) > 0 and _cross(w, h) > 0 for g in cone for h in cone
    )


def _between(low: Vector, high: Vector) -> Vector:
    """A vector in the open sector from `low` counterclockwise to `high`."""
    if _cross(low, high) > 0:
        return (low[0] + high[0], low[1] + high[1])
    return (-low[1], low[0])


def _around(vectors: Sequence[Vector]) -> list[Vector]:
    """The different directions, counterclockwise."""
    different = {(a // gcd(a, b), b // gcd(a, b)) for a, b in vectors}

    def half(v: Vector) -> int:
        return 0 if v[1] > 0 or (v[1] == 0 and v[0] > 0) else 1

    def order(u: Vector, v: Vector) -> int:
        return half(u) - half(v) or -_cross(u, v)

    return sorted(different, key=cmp_to_key(order))


def wrong_sign() -> int:
    """y w_- x for the negative datum x = -1 on the line: w x >= 1 there, whatever the data."""
    x, y = -1, -1
    shortest = min((w for w in range(-5, 6) if w * x >= 1), key=abs)
    return y * shortest * x
