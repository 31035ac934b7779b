"""Minima on activation boundaries, where labels of at most zero make the loss kink upwards.

At such a point w, with Z the data on their boundary and g the gradient of the others,
L(w + v) - L(w) is g.v - sum_Z y_j [x_j.v]_+ and a square. So w is a minimum if and only if the
first part is never negative; and then the minima near w are the v with x_j.v <= 0 on Z and no
change of an active x_i.w. Only boundaries whose labels sum to at most zero can hold a minimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import NDArray

from reluflow.geometry.cells import extreme_rays
from reluflow.geometry.exact import Rows, matrix, normal, null_vectors
from reluflow.geometry.fits import interior_minima

FlatMinimum = tuple[fmpq_mat, fmpz_mat, NDArray, NDArray]


def minima_on_flats(
    rows: Rows, labels: Sequence[int], d: int, among: Sequence[int]
) -> Iterator[FlatMinimum]:
    """Minima of L restricted to each intersection of boundaries of the data `among`, that lie on no
    further boundary: (point (d, 1), free directions (d, f), active (n,), on the flat (n,))."""
    n, whole, seen = len(rows), matrix(rows, d), set()
    for k in range(1, d + 1):
        for chosen in combinations(among, k):
            N = null_vectors(matrix([rows[j] for j in chosen], d))
            if N.ncols() != d - k:
                continue  # dependent data: fewer of them have the same flat
            rest = (whole * N).tolist()
            inside = np.array([not any(row) for row in rest])
            if inside.tobytes() in seen:
                continue
            seen.add(inside.tobytes())
            others = np.flatnonzero(~inside)
            free_rows = [[int(v) for v in rest[i]] for i in others.tolist()]
            found = interior_minima(free_rows, [labels[i] for i in others.tolist()], d - k)
            for u, free, on in found:
                active = np.zeros(n, bool)
                active[others[on]] = True
                point = fmpq_mat(N) * u if N.ncols() else fmpq_mat(d, 1)
                yield point, N * free if N.ncols() else fmpz_mat(d, 0), active, inside


def kink_minima(rows: Rows, labels: Sequence[int], d: int) -> Iterator[FlatMinimum]:
    """All local minima on boundaries, as `minima_on_flats` gives them; parts of others left out."""
    holding = attracting(rows, labels)
    for w, free, active, inside in minima_on_flats(rows, labels, d, holding):
        if _is_minimum(rows, labels, w, active, inside) and _is_whole(rows, active, inside):
            yield w, free, active, inside


def attracting(rows: Rows, labels: Sequence[int]) -> list[int]:
    """One datum of each boundary whose parallel data have sum_j y_j |x_j| <= 0."""
    if all(t > 0 for t in labels):
        return []
    force: dict[tuple[int, ...], int] = {}
    first: dict[tuple[int, ...], int] = {}
    for j, row in enumerate(rows):
        if any(row):
            boundary = normal(row)
            size = max(abs(v) for v in row) // max(abs(v) for v in boundary)
            force[boundary] = force.get(boundary, 0) + labels[j] * size
            first.setdefault(boundary, j)
    return [first[boundary] for boundary, total in force.items() if total <= 0]


def _is_minimum(
    rows: Rows, labels: Sequence[int], w: fmpq_mat, active: NDArray, inside: NDArray
) -> bool:
    """Whether no direction lowers the loss from w: asked of the rays between which it is linear."""
    Z = [j for j in np.flatnonzero(inside).tolist() if any(rows[j])]
    own = np.flatnonzero(active).tolist()
    A = matrix([rows[i] for i in own], len(rows[0]))
    gap = fmpq_mat(A) * w - fmpq_mat(matrix([[labels[i]] for i in own], 1))
    g = (fmpq_mat(A.transpose()) * gap).entries()
    for ray, signs in extreme_rays([rows[j] for j in Z]):
        for turn in (1, -1):
            slope = turn * sum((a * b for a, b in zip(g, ray, strict=True)), fmpq(0))
            for j, h in zip(Z, signs, strict=True):
                slope -= labels[j] * max(turn * h, 0)
            if slope < 0:
                return False
    return True


def _is_whole(rows: Rows, active: NDArray, inside: NDArray) -> bool:
    """Whether the minima near such a point all keep the data `inside` on their boundary.

    The others are the v with x_j.v <= 0 on them, not all zero, and no change of an active x_i.w; if
    there is one, one of the extreme rays between these boundaries is such a v.
    """
    M = null_vectors(matrix([rows[i] for i in np.nonzero(active)[0]], len(rows[0])))
    if M.ncols() == 0:
        return True
    G = (matrix([rows[j] for j in np.nonzero(inside)[0]], len(rows[0])) * M).tolist()
    for _, signs in extreme_rays([[int(v) for v in row] for row in G if any(row)]):
        if all(h <= 0 for h in signs) or all(h >= 0 for h in signs):
            return False
    return True
