"""The area of a triangle from its sides, in whole numbers."""

from __future__ import annotations


def squared_area(p: int, q: int, r: int) -> int:
    """16 times the squared area of the triangle of three points of a line (Heron)."""
    a, b, c = abs(p - q), abs(q - r), abs(r - p)
    return (a + b + c) * (b + c - a) * (c + a - b) * (a + b - c)
