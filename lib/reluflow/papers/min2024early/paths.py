"""The paths of Appendix C.2: sequences of (active positive data, active negative data).

Printed, a step from one place to any later one must gain in k_+ or fall in k_-; that lets a path go
to and fro. Neurons gain own data and lose others (`activity`), so that on their paths k_+ never
falls and k_- never grows. Then k_+ + n_- - k_- takes each of the values 0, ..., n - 1 at most once
before the end n, and at the value m a place has |m - n_-| active data at least, but two at m = n_-,
where (0, 0) is excluded: the path of Figure 15 has the least everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import log

from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.papers.min2024early.paths_exact import slowest_time

Place = tuple[int, int]
Step = Callable[[Place, Place], bool]


def printed_step(a: Place, b: Place) -> bool:
    """Whether b may come after a, as printed: k_+ has grown or k_- has fallen."""
    return a[0] < b[0] or a[1] > b[1]


def neuron_step(a: Place, b: Place) -> bool:
    """Whether b may come after a on a neuron's path: k_+ has not fallen, k_- has not grown."""
    return a != b and a[0] <= b[0] and a[1] >= b[1]


def paths(n_plus: int, n_minus: int, step: Step) -> Iterator[tuple[Place, ...]]:
    """All paths to (n_+, 0) that avoid (0, 0), every two of whose places are a `step` apart."""
    places = [p for p in product(range(n_plus + 1), range(n_minus + 1)) if p != (0, 0)]

    def before(path: tuple[Place, ...]) -> Iterator[tuple[Place, ...]]:
        yield path
        for place in places:
            if all(step(place, later) for later in path):
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


def is_path(path: tuple[Place, ...], step: Step, n_plus: int) -> bool:
    """Whether the places are a path to (n_+, 0) under this rule, which asks for every pair."""
    apart = all(step(a, b) for k, a in enumerate(path) for b in path[k + 1 :])
    return apart and path[-1] == (n_plus, 0) and (0, 0) not in path


WANDERING = ((0, 1), (1, 1), (1, 0), (2, 1), (2, 0))
"""Loses the negative datum, gains it again with a positive one, and loses it again."""


def wanders() -> Counterexample:
    """Two positive data and a negative one: a path of length 4 > n = 3, and of a larger time."""
    best = longest(2, 1)
    return Counterexample(
        instance={
            "n_+": 2, "n_-": 1,
            "path": WANDERING,
            "the path of Figure 15": best,
            "their travel times, in units of 4 / (m₂ √μ Xₘᵢₙ)": (
                travel_time(WANDERING), travel_time(best)
            ),
        },
        assumptions={
            "a path, as printed": is_path(WANDERING, printed_step, 2),
            "Figure 15 gives a path too": is_path(best, printed_step, 2),
        },
        breaks=(
            bound("length of the path", len(WANDERING) - 1, "<=", 3, ""),
            bound("its travel time", travel_time(WANDERING), "<=", travel_time(best), ""),
        ),
        recheck=(
            bound("largest travel time of all, by recursion over the sets of places left",
                  slowest_time(2, 1), "<=", travel_time(best), ""),
        ),
        route="the largest travel time by recursion over which places may still come, not path by "
        "path",
    )  # fmt: skip


def all_paths(most: int, step: Step) -> dict[Place, tuple[int, Fraction]]:
    """{(n_+, n_-): (largest length, largest travel time)} of all paths, n_+ >= 1, n <= `most`."""
    sizes = [(a, b) for a in range(1, most + 1) for b in range(most - a + 1) if a + b >= 2]
    found = {}
    for size in sizes:
        each = list(paths(*size, step))
        found[size] = max(len(p) - 1 for p in each), max(map(travel_time, each))
    return found


def figure_15_is_longest(most: int = 5, far: int = 60) -> list[Evidence]:
    """ea.path: of all paths the one of Figure 15 is longest, has length n and the largest time, at
    most 4 log n = t_1.

    As printed for n <= 3, with both counts monotone for n <= `most`; its time for all n <= `far`.
    From there on H(n_-) + 1/2 + H(n_+ - 1) <= 5/2 + 2 log(n/2) <= 4 log n.
    """

    def beyond(found: dict[Place, tuple[int, Fraction]]) -> int:
        return sum(
            length > sum(size) or time > travel_time(longest(*size))
            for size, (length, time) in found.items()
        )

    printed, both = all_paths(3, printed_step), all_paths(most, neuron_step)
    reached = sum(
        (len(longest(*size)) - 1, travel_time(longest(*size))) != (sum(size), time)
        for size, (_, time) in both.items()
        if size[1] > 0
    )
    late = sum(
        travel_time(longest(a, n - a)) > Fraction(4 * log(n)) for n in range(2, far + 1)
        for a in range(1, n + 1)
    )  # fmt: skip
    return [
        fact("pairs (n₊, n₋), n ≤ 3, with a path as printed beyond that of Figure 15",
             beyond(printed), 0, tried=len(printed)),
        fact(f"pairs, n ≤ {most}, with a path of monotone counts beyond it", beyond(both), 0,
             tried=len(both)),
        fact("pairs with both labels for which Figure 15 is not the largest", reached, 0),
        fact(f"pairs, n ≤ {far}, for which its time is above t₁", late, 0),
        note("pairs of the first kind", [size for size, value in printed.items()
                                         if value[0] > sum(size)]),
    ]  # fmt: skip
