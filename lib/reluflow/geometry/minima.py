"""All local minima of the neuron's square loss, by enumeration of its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
from flint import fmpq_mat
from numpy.typing import ArrayLike, NDArray

from reluflow.geometry.cells import check_enumerable
from reluflow.geometry.exact import fraction, matrix, nearest, unit_vectors
from reluflow.geometry.fits import Problem, interior_minima, problem
from reluflow.geometry.kinks import kink_minima, minima_on_flats

SAME = 1e-10
"""Losses that differ by less than this share of 1/2 |y|^2 have the same rank."""


@dataclass(frozen=True)
class StationarySet:
    """An affine piece of the set of local minima: the points of w + span(directions) in its cell.

    w           (d,) one point of it
    loss        L on it
    support     the active data (its support vectors), from 0
    dimension   0 for an isolated point
    directions  (d, dimension) orthonormal basis
    rank        1 + number of distinct smaller losses among all local minima; 1 is global
    boundary    data that it keeps exactly on their boundary (none where all labels are positive)
    margin      the least |x_i.w| / sum_c |x_ic w_c| of the other data, whatever the units: below
                1e-15 or so the last digits of the data decide whether the set exists
    """

    w: NDArray
    loss: float
    support: tuple[int, ...]
    dimension: int
    directions: NDArray
    rank: int
    boundary: tuple[int, ...] = ()
    margin: float = 1.0


def local_minima(
    X: ArrayLike, y: ArrayLike, watched: Callable[[NDArray], Iterable[NDArray]] = iter
) -> tuple[StationarySet, ...]:
    """All local minima of the neuron's square loss, sorted by loss, by enumeration of its cells.

    Parameters: X (n, d), y (n,) labels of either sign; `watched` gives back the cells that it is
    given, those that may hold a minimum, and can tell how many are done.

    With positive labels no minimum lies on a boundary (Lemma 3.2), so each is the virtual minimum
    of a cell that contains it; a label below zero makes its boundary a convex kink, on which a
    minimum can lie, and those are searched too.
    Sets of minima (cells whose active data have rank below d) come as one `StationarySet` each; a
    set that lies on the boundary of another one is part of it.

    Whether a set exists is decided exactly, for the data as `exact.read` takes them: a factor of
    two for a column of X changes nothing but the weights' unit.

    Raises InputError where there are too many cells to enumerate.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    check_enumerable(X)
    data = problem(X, y)
    unit = fraction(data.unit)
    nowhere, d = np.zeros(len(y), bool), X.shape[1]
    found = [
        (w, N, on, nowhere) for w, N, on in interior_minima(data.rows, data.labels, d, watched)
    ]
    found += kink_minima(data.rows, data.labels, d)
    losses = [_loss(data, w) for w, *_ in found]
    most = Fraction(sum(t * t for t in data.labels), 2) or Fraction(1)
    shares = np.array([float(value / most) for value in losses])
    live = X.any(axis=1)
    sets = [
        StationarySet(
            w=np.array([nearest(v) for v in data.weight(w.entries())]),
            loss=nearest(value * unit**2),
            support=_members(on),
            dimension=N.ncols(),
            directions=unit_vectors(data.span(N), d),
            rank=1 + _distinct(shares[shares < share - SAME]),
            boundary=_members(inside & live),
            margin=_margin(data, w, live & ~inside),
        )
        for (w, N, on, inside), value, share in zip(found, losses, shares, strict=True)
    ]
    return tuple(sorted(sets, key=lambda s: (s.rank, s.loss, s.support)))


def nested_pairs(minima: Iterable[StationarySet]) -> list[tuple[StationarySet, StationarySet]]:
    """All pairs (more, fewer) of local minima whose support vectors are nested, S2 inside S1."""
    return [(a, b) for a, b in permutations(minima, 2) if set(b.support) < set(a.support)]


def restricted_minima(X: ArrayLike, y: ArrayLike) -> Iterator[tuple[NDArray, NDArray]]:
    """Every minimum of L restricted to an intersection of boundaries, on no further boundary.

    Parameters: X (n, d), y (n,). Yields one point (d,) of each set of them, rounded, and the data
    (n,) on whose boundaries it lies, exactly. A minimum of L on a boundary is one of these.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    data = problem(X, y)
    live = np.flatnonzero(X.any(axis=1)).tolist()
    for w, _, _, inside in minima_on_flats(data.rows, data.labels, X.shape[1], live):
        yield np.array([nearest(v) for v in data.weight(w.entries())]), inside


def _members(flags: NDArray) -> tuple[int, ...]:
    return tuple(map(int, np.nonzero(flags)[0]))


def _loss(data: Problem, w: fmpq_mat) -> Fraction:
    """L at a weight of Z, in units of the labels' unit squared."""
    numerators, below = w.numer_denom()
    h = (matrix(data.rows, len(data.scale)) * numerators).entries() if data.scale else []
    heights = list(map(int, h)) or [0] * len(data.labels)
    b = int(below)
    total = sum((max(v, 0) - t * b) ** 2 for v, t in zip(heights, data.labels, strict=True))
    return Fraction(total, 2 * b**2)


def _margin(data: Problem, w: fmpq_mat, members: NDArray) -> float:
    """The least |x_i.w| of some data, each as a share of the sum of the sizes of its terms."""
    numerators = [int(v) for v in w.numer_denom()[0].entries()]
    shares = [1.0]
    for i in np.nonzero(members)[0]:
        terms = [a * b for a, b in zip(data.rows[i], numerators, strict=True)]
        shares.append(abs(sum(terms)) / max(sum(map(abs, terms)), 1))
    return min(shares)


def _distinct(values: NDArray) -> int:
    values = np.sort(values)
    return int(len(values) > 0) + int(np.sum(np.diff(values) > SAME))
