"""The paths of Appendix C.2: sequences of (active positive data, active negative data).

Neurons gain own data and lose others (`activity`), so that on their paths k_+ never falls and k_-
never grows; the printed condition on two places of a path is hard to read in the text that we have.
With such counts k_+ + n_- - k_- takes each of the values 0, ..., n - 1 at most once
before the end n, and at the value m a place has |m - n_-| active data at least, but two at m = n_-,
where (0, 0) is excluded: the path of Figure 15 has the least everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, product
from math import log

from reluflow.ledger import Evidence, Reading, fact, note

Place = tuple[int, int]


def _before(a: Place, b: Place) -> bool:
    return a != b and a[0] <= b[0] and a[1] >= b[1]


def paths(n_plus: int, n_minus: int) -> Iterator[tuple[Place, ...]]:
    """All paths to (n_+, 0) that avoid (0, 0), with k_+ never falling and k_- never growing."""
    places = [p for p in product(range(n_plus + 1), range(n_minus + 1)) if p != (0, 0)]

    def before(path: tuple[Place, ...]) -> Iterator[tuple[Place, ...]]:
        yield path
        for place in places:
            if _before(place, path[0]):
                yield from before((place, *path))

    if (n_plus, 0) in places:
        yield from before(((n_plus, 0),))


def travel_time(path: tuple[Place, ...]) -> Fraction:
    """The sum of 1 / (k_+ + k_-) over all places but the last: the time, in units of
    4 / (m_2 sqrt(mu) X_min)."""
    return sum((Fraction(1, a + b) for a, b in path[:-1]), Fraction(0))


def longest(n_plus: int, n_minus: int) -> tuple[Place, ...]:
    """The path of Figure 15, from (0, n_-) down, over (1, 1), and up to (n_+, 0)."""
    down = [(0, k) for k in range(n_minus, 0, -1)]
    over = [(1, 1)] if n_minus else []
    return (*down, *over, *((k, 0) for k in range(1, n_plus + 1)))


WANDERING = ((0, 1), (1, 1), (1, 0), (2, 1), (2, 0))
"""Loses the negative datum, gains it again with a positive one, and loses it again."""


def monotone() -> Reading:
    """Which condition on two places of a path is meant."""
    times = " and ".join(str(travel_time(path)) for path in (WANDERING, longest(2, 1)))
    return Reading(
        "k₊ never falls along a path and k₋ never grows, as the steps are described and drawn",
        "the order of k₊ and k₋ in the printed condition cannot be read in the text that we have. "
        "If it says only that k₊ has grown or k₋ has fallen, then a path may lose a negative datum "
        "and gain it again: with two positive data and a negative one (0, 1), (1, 1), (1, 0), "
        f"(2, 1), (2, 0) is longer than the path of Figure 15 and takes longer, {times} in units "
        "of 4 / (m₂ √μ Xₘᵢₙ). With both signs the other way Figure 15 itself is not a path",
    )


def all_paths(most: int) -> dict[Place, tuple[int, Fraction]]:
    """{(n_+, n_-): (largest length, largest travel time)} of all paths of monotone counts, with
    n_+ >= 1 and n <= `most`."""
    sizes = [(a, b) for a in range(1, most + 1) for b in range(most - a + 1) if a + b >= 2]
    found = {}
    for size in sizes:
        each = list(paths(*size))
        found[size] = max(len(p) - 1 for p in each), max(map(travel_time, each))
    return found


def figure_15_is_longest(most: int = 5, far: int = 60) -> list[Evidence]:
    """ea.path: of all paths the one of Figure 15 is longest, has length n and the largest time, at
    most 4 log n = t_1; by enumeration for n <= `most`, and its time for all n <= `far`."""
    found = all_paths(most)
    beyond = sum(
        length > sum(size) or time > travel_time(longest(*size))
        for size, (length, time) in found.items()
    )
    reached = sum(
        (len(longest(*size)) - 1, travel_time(longest(*size))) != (sum(size), time)
        for size, (_, time) in found.items()
        if size[1] > 0
    )
    late = sum(
        travel_time(longest(a, n - a)) > Fraction(4 * log(n)) for n in range(2, far + 1)
        for a in range(1, n + 1)
    )  # fmt: skip
    return [
        fact(f"pairs (n₊, n₋), n ≤ {most}, with a path of monotone counts beyond that of Figure 15",
             beyond, 0, tried=len(found)),
        fact("pairs with both labels for which Figure 15 is not the largest", reached, 0),
        fact(f"pairs, 2 ≤ n ≤ {far}, for which its time is above t₁", late, 0),
        note(f"n from 2 to {far} at which the estimate on the way, 2 (1 + 1/2 + … + 1/n) + 1/2 "
             "≤ 4 log n, fails (the upper end of its sum is hard to read)", estimate_fails(far)),
    ]  # fmt: skip


def estimate_fails(far: int) -> list[int]:
    """The n from 2 to `far` with 2 H_n + 1/2 > 4 log n, H_n = 1 + 1/2 + ... + 1/n."""
    sums = accumulate(Fraction(1, k) for k in range(1, far + 1))
    return [n for n, H in enumerate(sums, 1) if n > 1 and 2 * H + Fraction(1, 2) > 4 * log(n)]
