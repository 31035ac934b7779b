"""The largest travel time of a path as printed, by recursion over what may still come."""

from __future__ import annotations

from fractions import Fraction
from functools import cache


def slowest_time(n_plus: int, n_minus: int) -> Fraction:
    """The largest sum of 1 / (k_+ + k_-) of a printed path, its end (n_+, 0) left out.

    From the front: after a place only those remain which have more positive or fewer negative data
    than it; the end must remain. Every pair is compared since what is once out stays out.
    """
    end = (n_plus, 0)
    grid = frozenset(
        (a, b) for a in range(n_plus + 1) for b in range(n_minus + 1) if (a, b) not in ((0, 0), end)
    )

    @cache
    def best(left: frozenset[tuple[int, int]]) -> Fraction:
        most = Fraction(0)
        for a, b in left:
            if not (n_plus > a or b > 0):
                continue
            rest = frozenset((p, q) for p, q in left if p > a or q < b)
            most = max(most, Fraction(1, a + b) + best(rest))
        return most

    return best(grid)
