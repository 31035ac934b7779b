"""Dual points of networks of depth 2, cell by cell: is every bound right, is no cell missing?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise

import numpy as np
from flint import arb, fmpq

from reluflow.margin.certificates import Cellwise, Column, Family
from reluflow.margin.check.rational import (
    KINK,
    Numbers,
    Point,
    Wrong,
    as_patterns,
    combination,
    missing,
    numbers,
    square,
)

STEPS = 100_000
"""After so many steps the search for a missing combination of cells gives up."""

Key = tuple[tuple[bool, ...], int]
"""What a column stands for: its pattern, and the sign of the output weight."""


@dataclass(frozen=True)
class Seen:
    """A neuron that is joined to the output, as a proof must treat it.

    inputs  the coordinates that it sees
    rows    its data (n, p_j)
    fixed   (n,) 1 or -1: the activity that it keeps, 0: both have to be looked at
    sign    of its output weight, 0: both have to be looked at
    """

    inputs: tuple[int, ...]
    rows: list[Numbers]
    fixed: tuple[int, ...]
    sign: int


def slack(point: Point, proof: Cellwise) -> arb:
    """1 - bound / value of a proof that theta is an optimum. Raises Wrong."""
    if point.depth != 2 or _is_shared(point):
        raise Wrong("the proof is for networks of depth 2 without shared weights")
    if not proof.families:
        raise Wrong("there is no family of cells")
    given = seen(point, proof.everywhere)
    for family in proof.families:
        if len(family.columns) != len(given) or not all(family.columns):
            raise Wrong("a family does not speak of every neuron")
    least = min(_bound(point, given, family) for family in proof.families)
    _covered(point, given, proof.families)
    value = square(point.theta) / (2 * point.least)
    return 1 - arb(least).sqrt() / arb(value)


def seen(point: Point, everywhere: bool) -> list[Seen]:
    """The neurons that have an input and reach the output, near theta or everywhere."""
    first, last = point.maps
    W, v = point.weights(1), point.weights(2)[0]
    signs = None if point.relus == 0 else point.signs(1)
    longest = max(square(row) for row in W)
    found = []
    for j, row in enumerate(first):
        inputs = tuple(k for k, g in enumerate(row) if g)
        if not inputs or not last[0][j]:
            continue
        rows = [[x[k] for k in inputs] for x in point.X]
        gone = everywhere or square(W[j]) <= KINK**2 * longest
        none = tuple(0 for _ in rows)
        if gone:
            found.append(Seen(inputs, rows, none, 0))
        elif v[j] ** 2 <= KINK**2 * longest:
            raise Wrong("a neuron with incoming weights has no outgoing one")
        else:
            fixed = none if signs is None else tuple(each[j] for each in signs)
            found.append(Seen(inputs, rows, fixed, 1 if v[j] > 0 else -1))
    return found


def _bound(point: Point, given: Sequence[Seen], family: Family) -> fmpq:
    """The square of a family's bound from below on sum |v_j| |w_j|."""
    weights = numbers(family.multipliers)
    if len(weights) != len(point.y) or min(weights) < 0:
        raise Wrong("a multiplier is negative, or they are not as many as the data")
    pulls = [w * y for w, y in zip(weights, point.y, strict=True)]
    longest = max(
        _length(point, neuron, column, pulls)
        for neuron, columns in zip(given, family.columns, strict=True)
        for column in columns
    )
    # All multipliers over the longest vector give a dual point, however long that vector is.
    total = sum(weights, fmpq(0))
    return total * total / longest if longest > 0 else fmpq(10) ** 300


def _length(point: Point, neuron: Seen, column: Column, pulls: Numbers) -> fmpq:
    """The square of the length that must not exceed 1, of a column that says what is so."""
    slopes = numbers(column.slopes)
    n = len(point.y)
    if column.sign not in (1, -1) or any(len(part) != n for part in (column.active, column.rows)):
        raise Wrong("a column has no sign, or not as many entries as there are data")
    if len(slopes) != n or min(slopes) < 0:
        raise Wrong("a condition of a cell has a negative multiplier")
    relu = point.relus > 0
    conditions = zip(column.rows, slopes, neuron.rows, neuron.fixed, strict=True)
    for row, slope, x, fixed in conditions:
        if slope != 0 and not (row and relu):
            raise Wrong("a multiplier belongs to no condition of the cell")
        if relu and square(x) > 0 and not row and fixed == 0:
            raise Wrong("a neuron's activity is taken for granted where it may change")
    active = [True] * n if not relu else list(map(bool, column.active))
    weights = [
        (column.sign * pull if a else fmpq(0)) + (slope if a else -slope)
        for pull, slope, a in zip(pulls, slopes, active, strict=True)
    ]
    return square(combination(weights, neuron.rows, len(neuron.inputs)))


def _covered(point: Point, given: Sequence[Seen], families: Sequence[Family]) -> None:
    """Raise Wrong unless every combination of cells and signs is in some family.

    Neurons that see the same and may be anywhere can be exchanged, so that their columns may be
    taken in order, whatever the order is.
    """
    boxes = [[frozenset(_key(column) for column in columns) for columns in family.columns]
             for family in families]  # fmt: skip
    groups: dict[object, int] = {}
    numbers_ = [groups.setdefault(n.inputs if n.sign == 0 else j, len(groups))
                for j, n in enumerate(given)]  # fmt: skip
    order = {g: _order(families, [j for j, h in enumerate(numbers_) if h == g])
             for g in set(numbers_)}  # fmt: skip
    for group, neuron in zip(numbers_, given, strict=True):
        _complete(point, neuron, set(order[group]))

    steps = count()

    def below(box: list[frozenset[Key]]) -> None:
        for k, group in enumerate(numbers_):
            before = [j for j in range(k) if numbers_[j] == group]
            if before:
                first = min(order[group][key] for key in box[before[-1]])
                box[k] = frozenset(key for key in box[k] if order[group][key] >= first)
        if any(all(b <= c for b, c in zip(box, cells, strict=True)) for cells in boxes):
            return
        if next(steps) > STEPS:
            raise Wrong("there are too many combinations of cells to look at")
        for k, keys in enumerate(box):
            if len(keys) > 1:
                for key in keys:
                    below([*box[:k], frozenset([key]), *box[k + 1 :]])
                return
        raise Wrong("a combination of cells is missing")

    below([frozenset(order[group]) for group in numbers_])


def _order(families: Sequence[Family], neurons: Sequence[int]) -> dict[Key, int]:
    """One order of all columns of some neurons: that in which the families list them, those of a
    neuron and those of the next."""
    after: dict[Key, set[Key]] = {}
    for family in families:
        listed = [[_key(c) for c in family.columns[j]] for j in neurons]
        for keys in listed:
            for key in keys:
                after.setdefault(key, set())
            for a, b in pairwise(keys):
                after[b].add(a)
        for first, second in pairwise(listed):
            if len(first) == 1:
                for key in set(second) - set(first):
                    after[key].add(first[0])
    found: dict[Key, int] = {}
    while len(found) < len(after):
        ready = [key for key, before in after.items()
                 if key not in found and all(k in found for k in before)]  # fmt: skip
        # A cycle only makes the order a bad one: then fewer combinations are found to be covered.
        for key in ready or [key for key in after if key not in found]:
            found[key] = len(found)
    return found


def _complete(point: Point, neuron: Seen, keys: set[Key]) -> None:
    """Raise Wrong unless the columns hold all cells that the neuron can be in."""
    free = [i for i, fixed in enumerate(neuron.fixed) if fixed == 0 and point.relus]
    own = {i: fixed > 0 for i, fixed in enumerate(neuron.fixed) if fixed}
    linear = point.relus == 0
    signs = [neuron.sign] if neuron.sign else ([1] if linear else [1, -1])
    for sign in signs:
        given = {
            tuple(pattern[i] for i in free)
            for pattern, s in keys
            if (s == sign or linear) and all(linear or pattern[i] == a for i, a in own.items())
        }
        if missing([neuron.rows[i] for i in free], given) is not None:
            raise Wrong("a cell of a neuron is missing")


def _key(column: Column) -> Key:
    return as_patterns(column.active), int(column.sign)


def _is_shared(point: Point) -> bool:
    return any(np.any(np.bincount(g[g > 0].ravel()) > 1) for g in point.network.maps)
