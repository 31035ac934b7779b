"""Points that no orthant of any R^N can hold, by Horn's copositive matrix: whole numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

HORN = (
    (1, -1, 1, 1, -1),
    (-1, 1, -1, 1, 1),
    (1, -1, 1, -1, 1),
    (1, 1, -1, 1, -1),
    (-1, 1, 1, -1, 1),
)
"""v^T H v = (v1-v2+v3+v4-v5)^2 + 4 v2 v4 + 4 v3 (v5-v4) = (v1-v2+v3-v4+v5)^2 + 4 v2 v5 + 4 v1
(v4-v5),
so it is not negative for v >= 0: one of v5 - v4 and v4 - v5 is not."""


def certificate(points: Sequence[Sequence[int]]) -> int:
    """The least sum of H_ij <p_i, p_j> over the orders of five points (5, d) of whole numbers.

    If all p_i lay in an orthant, in coordinates v^k_i >= 0, it would be sum_k (v^k)^T H v^k >= 0.
    """
    gram = [[sum(a * b for a, b in zip(p, q, strict=True)) for q in points] for p in points]
    return min(
        sum(HORN[i][j] * gram[s[i]][s[j]] for i in range(5) for j in range(5))
        for s in permutations(range(5))
    )


def value(v: Sequence[int]) -> int:
    """v^T H v."""
    return sum(HORN[i][j] * v[i] * v[j] for i in range(5) for j in range(5))
