"""Whether a cell of the plane holds a minimum, in rational arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from numpy.typing import NDArray

from reluflow import rational


def holds_minimum(X: NDArray, y: NDArray, cell: Sequence[int]) -> bool:
    """Whether the cell of these active data (from 0) holds a minimum, for X (n, 2), y (n,).

    Its fit, if unique, else a point that fits its one active datum, sought among rationals, else
    (none active) any point of it.
    """
    if len(cell) >= 2:
        return rational.is_local_minimum(rational.fit(X, y, cell), cell)
    if not cell:
        return True
    (a, b), target = rational.rationals(X[cell[0]]), rational.rationals(y)[cell[0]]
    foot = (a * target / (a * a + b * b), b * target / (a * a + b * b))
    points = [(foot[0] - t * b, foot[1] + t * a) for t in map(Fraction, range(-9, 10))]
    signs = [[h > 0 for h in rational.preactivations(X, w)] for w in points]
    return any([i for i, on in enumerate(row) if on] == list(cell) for row in signs)
