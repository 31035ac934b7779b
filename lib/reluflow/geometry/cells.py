"""Activation cells: every sign pattern that an open set of weights takes; and sets in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, islice, permutations
from math import comb

import numpy as np
from flint import fmpz_mat
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.geometry.exact import (
    Rows,
    column_exponents,
    direction,
    integer_columns,
    matrix,
    nearest,
    normal,
    over,
    pivots,
    scaled_floats,
)

CELL_LIMIT = 200_000  # arrangements that may have more cells than this are refused

ENTRY_LIMIT = 100_000_000
"""And those whose table of patterns, cells x data, may have more entries: it must fit in memory."""

_CHUNK = 2**22  # entries of the patterns that are worked on at once


@dataclass(frozen=True)
class Cells:
    """Activation cells: `patterns` (m, n), true where active; `witnesses` (m, d), points inside.

    The patterns are exact. A witness is a rounded point: a cell that is narrower than the rounding
    of a double may not contain it.
    """

    patterns: NDArray
    witnesses: NDArray

    def __len__(self) -> int:
        return len(self.patterns)


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


def nested_pairs(minima: Iterable[StationarySet]) -> list[tuple[StationarySet, StationarySet]]:
    """All pairs (more, fewer) of local minima whose support vectors are nested, S2 inside S1."""
    return [(a, b) for a, b in permutations(minima, 2) if set(b.support) < set(a.support)]


def cell_bound(n: int, d: int) -> int:
    """At most this many cells: 2 sum_{k<d} C(n-1, k) (Lemma F.2, eq. 16)."""
    return 2 * sum(comb(n - 1, k) for k in range(d)) if n else 1


def enumerable(n: int, d: int) -> bool:
    """Whether the cells of n data in d dimensions are few enough, for time and for memory."""
    bound = cell_bound(n, d)
    return bound <= CELL_LIMIT and bound * n <= ENTRY_LIMIT


def check_enumerable(X: NDArray) -> None:
    """Raises InputError where the cells of X (n, d) are too many to enumerate."""
    n, d = X.shape
    live = int(X.any(axis=1).sum())
    if not enumerable(live, d):
        raise InputError(
            f"n = {n} data in d = {d} dimensions can have {cell_bound(live, d)} activation cells, "
            f"too many to enumerate (the limit is {CELL_LIMIT} cells, and {ENTRY_LIMIT} cells "
            "times data)"
        )


def enumerate_cells(X: ArrayLike) -> Cells:
    """All activation cells of the data X (n, d): every sign pattern that an open set of w takes.

    Every cell of a central arrangement of full rank has an extreme ray, orthogonal to d-1
    independent data; around a ray the cells are those of the data orthogonal to it, a smaller
    problem of the same kind. Dot products that doubles cannot tell from zero are decided in
    rational arithmetic, so the patterns are exact for the data as `exact.read` takes them: two
    data parallel but for a rounding have a cell between them, and it is listed.

    Returns `Cells`, ordered by pattern, active first. Raises InputError where they are not
    `enumerable`.
    """
    X = np.asarray(X, float)
    check_enumerable(X)
    rows, scale = integer_columns(X)
    patterns, points, columns, exponents = cells_of(rows)
    units = [1 / (scale[c] * 2**e) for c, e in zip(columns, exponents, strict=True)]
    witnesses = np.zeros((len(patterns), X.shape[1]))
    if units:
        witnesses[:, columns] = points * [nearest(u / max(units)) for u in units]
    return Cells(patterns, witnesses)


def cells_of(rows: Rows) -> tuple[NDArray, NDArray, list[int], list[int]]:
    """Cells of whole data (n, d): patterns (m, n), and points inside (m, r).

    The third and fourth value are the columns that the points' coordinates belong to, the others
    being zero, and the powers of two by which these columns are to be divided.
    """
    planes: dict[tuple[int, ...], int] = {}
    of, side = np.zeros(len(rows), int), np.zeros(len(rows), np.int8)
    for i, row in enumerate(rows):
        if any(row):
            boundary = normal(row)
            of[i] = planes.setdefault(boundary, len(planes))
            side[i] = 1 if boundary == direction(row) else -1
    if not planes:
        return np.zeros((1, len(rows)), bool), np.zeros((1, 0)), [], []
    normals = [list(p) for p in planes]
    columns = pivots(matrix(normals, len(normals[0])))
    core = [[p[c] for c in columns] for p in normals]
    signs, points = _cells(core)
    both = np.concatenate([signs, 1 - signs]).astype(bool)
    patterns = np.where(side == 0, False, both[:, of] == (side > 0))
    keys = [key.tobytes() for key in np.packbits(~patterns, axis=1)]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    points = np.concatenate([points, -points])
    return patterns[order], points[order], columns, column_exponents(core)


def _cells(core: Rows) -> tuple[NDArray, NDArray]:
    """Cells of different planes (h, r) that span r dimensions: half of them, the first datum
    active, the others being opposite. Patterns (m, h), and points inside (in scaled columns)."""
    r = len(core[0])
    if r == 1:
        return np.ones((1, 1), np.uint8), np.array([[1.0 if core[0][0] > 0 else -1.0]])
    found: dict[bytes, NDArray] = {}
    for ray, signs in _around(core):
        turn = signs[:, 0].copy()
        keys = np.packbits(signs * turn[:, None] > 0, axis=1)
        whole = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.shape[1])))[:, 0]
        unique, place = np.unique(whole, return_inverse=True)
        sums = np.zeros((len(unique), r))
        np.add.at(sums, place, ray * turn[:, None])
        for key, total in zip(unique, sums, strict=True):
            key = key.tobytes()
            found[key] = found[key] + total if key in found else total
    patterns = [np.unpackbits(np.frombuffer(key, np.uint8))[: len(core)] for key in found]
    return np.array(patterns), np.array(list(found.values()))


def _around(core: Rows) -> Iterator[tuple[NDArray, NDArray]]:
    """All cells around the extreme rays: rays (m, r), patterns (m, h) of +1 and -1, in chunks.

    Of two opposite rays one stands for both."""
    h, r = len(core), len(core[0])
    seen = set()
    most = max(1, _CHUNK // (h << (r - 1)))
    for rays, signs in _rays(core, most):
        simple = (signs == 0).sum(axis=1) == r - 1
        if simple.any():
            own = signs[simple]
            on = np.nonzero(own == 0)[1].reshape(len(own), 1, r - 1)
            corner = _all_signs(r - 1)
            full = np.repeat(own[:, None, :], len(corner), axis=1)
            np.put_along_axis(full, np.repeat(on, len(corner), axis=1), corner[None], axis=2)
            yield np.repeat(rays[simple], len(corner), axis=0), full.reshape(-1, h)
        for ray, sign in zip(rays[~simple], signs[~simple], strict=True):
            flat = np.nonzero(sign == 0)[0]  # other planes give the same ray
            if flat.tobytes() in seen:
                continue
            seen.add(flat.tobytes())
            corner = _signs_of([core[k] for k in flat])
            full = np.repeat(sign[None, :], len(corner), axis=0)
            full[:, flat] = corner
            yield np.repeat(ray[None, :], len(corner), axis=0), full


def _signs_of(planes: Rows) -> NDArray:
    """All sign patterns (m, h) of the cells of different planes."""
    columns = pivots(matrix(planes, len(planes[0])))
    if len(columns) == len(planes):
        return _all_signs(len(planes))
    signs = 2 * _cells([[p[c] for c in columns] for p in planes])[0].astype(np.int8) - 1
    return np.concatenate([signs, -signs])


@cache
def _all_signs(k: int) -> NDArray:
    """All sign patterns (2^k, k) of k independent data."""
    return (2 * ((np.arange(2**k)[:, None] >> np.arange(k)) & 1) - 1).astype(np.int8)


def _rays(core: Rows, most: int) -> Iterator[tuple[NDArray, NDArray]]:
    """One of each two opposite extreme rays of planes (h, r): rays (c, r), signs (c, h), in chunks.

    The direction that doubles give for r - 1 unit normals is off by at most `tolerance`, a multiple
    of eps over their least singular value (Wedin); a sign that this leaves open is decided exactly.
    """
    h, r = len(core), len(core[0])
    unit, whole = scaled_floats(core, normalise=True), matrix(core, r)
    exponents = column_exponents(core)
    subsets = combinations(range(h), r - 1)
    while chunk := list(islice(subsets, most)):
        chosen = np.array(chunk, int)
        _, lengths, basis = np.linalg.svd(unit[chosen])
        least, rays = lengths[:, -1], basis[:, -1]
        values = rays @ unit.T
        signs = np.sign(values).astype(np.int8)
        tolerance = 256.0 * r * np.finfo(float).eps / np.maximum(least, 1e-30)
        unsure = ~(np.abs(values) > tolerance[:, None])
        np.put_along_axis(signs, chosen, 0, axis=1)
        np.put_along_axis(unsure, chosen, False, axis=1)
        keep = np.ones(len(chosen), bool)
        for c in np.nonzero(unsure.any(axis=1) | (least < 1e-9))[0]:
            ray = extreme_ray(core, chunk[c])
            if ray is None:
                keep[c] = False
                continue
            signs[c] = [(v > 0) - (v < 0) for v in (whole * ray).entries()]
            rays[c] = _rounded(ray, exponents)
        yield rays[keep], signs[keep]


def extreme_ray(core: Rows, chosen: tuple[int, ...]) -> fmpz_mat | None:
    """The whole vector (r, 1) orthogonal to r - 1 rows, or None where they are dependent."""
    N, count = matrix([core[i] for i in chosen], len(core[0])).nullspace()
    return fmpz_mat([[N[i, 0]] for i in range(N.nrows())]) if count == 1 else None


def _rounded(ray: fmpz_mat, exponents: list[int]) -> NDArray:
    """A whole vector as doubles of length one, for columns divided by powers of two."""
    entries = [int(v) << e for v, e in zip(ray.entries(), exponents, strict=True)]
    size = max(v.bit_length() for v in entries)
    out = np.array([over(v, size) for v in entries])
    return out / np.linalg.norm(out)
