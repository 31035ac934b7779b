"""Activation cells of one neuron's weight space, and all stationary sets of its loss.

A cell is a largest open cone of weights on which no datum changes its activation. Inside it the
loss is a convex quadratic, so the whole landscape is known once the cells are (Lee et al. 2022,
Section 3).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog, lsq_linear

from reluflow.errors import InputError
from reluflow.networks import gradient, loss

CELL_LIMIT = 200_000
"""Arrangements that may have more cells than this are refused."""

_SURE = 1e-9
"""A relative dot product below this is decided in exact rational arithmetic."""


@dataclass(frozen=True)
class Cells:
    """Activation cells: `patterns` (m, n), true where active; `witnesses` (m, d), points inside."""

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
    boundary    data that it keeps exactly on their boundary (labels below 0 only)
    """

    w: NDArray
    loss: float
    support: tuple[int, ...]
    dimension: int
    directions: NDArray
    rank: int
    boundary: tuple[int, ...] = ()


def cell_bound(n: int, d: int) -> int:
    """At most this many cells: 2 sum_{k<d} C(n-1, k) (Lemma F.2, eq. 16)."""
    return 2 * sum(comb(n - 1, k) for k in range(d)) if n else 1


def rank(X: ArrayLike) -> int:
    """Rank of X (n, d), exactly, its entries taken as the rationals that they are."""
    return len(_pivots([[Fraction(v) for v in row] for row in np.asarray(X, float)]))


def _pivots(rows: list[list[Fraction]]) -> list[int]:
    """Pivot columns of a matrix of rationals."""
    rows, pivots = [list(r) for r in rows], []
    for column in range(len(rows[0]) if rows else 0):
        k = len(pivots)
        lead = next((i for i in range(k, len(rows)) if rows[i][column] != 0), None)
        if lead is None:
            continue
        rows[k], rows[lead] = rows[lead], rows[k]
        for i in range(k + 1, len(rows)):
            if rows[i][column] != 0:
                factor = rows[i][column] / rows[k][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
        pivots.append(column)
    return pivots


def _independent(X: NDArray) -> bool:
    """Whether the rows of X (k, r) are independent, decided exactly where floats cannot."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    if np.linalg.svd(unit, compute_uv=False)[-1] > 1e-6:
        return True
    return rank(X) == len(X)


def _ray(X: NDArray, chosen: tuple[int, ...]) -> tuple[NDArray, NDArray]:
    """The direction orthogonal to r-1 chosen independent rows of X (n, r), and all signs (n,)."""
    r = X.shape[1]
    if r == 1:
        ray = np.ones(1)
    elif r == 2:
        x = X[chosen[0]]
        ray = np.array([-x[1], x[0]]) / np.linalg.norm(x)
    elif r == 3:
        ray = np.cross(X[chosen[0]], X[chosen[1]])
        ray /= np.linalg.norm(ray)
    else:
        ray = np.linalg.svd(X[list(chosen)])[2][-1]
    values = X @ ray
    signs = np.sign(values).astype(int)
    signs[list(chosen)] = 0
    unsure = np.abs(values) <= _SURE * np.linalg.norm(X, axis=1)
    for k in np.nonzero(unsure)[0]:
        if k not in chosen:
            signs[k] = _exact_sign(X, chosen, int(k), ray)
    return ray, signs


def _exact_sign(X: NDArray, chosen: tuple[int, ...], k: int, ray: NDArray) -> int:
    """Sign of x_k.ray with the ray taken as the exact orthogonal direction of the chosen rows."""
    rows = [[Fraction(v) for v in X[i]] for i in chosen]
    minors = [
        (-1) ** c * _determinant([row[:c] + row[c + 1 :] for row in rows])
        for c in range(X.shape[1])
    ]
    largest = int(np.argmax([abs(m) for m in minors]))
    orientation = 1 if (minors[largest] > 0) == (ray[largest] > 0) else -1
    value = sum(m * Fraction(v) for m, v in zip(minors, X[k], strict=True))
    return orientation * ((value > 0) - (value < 0))


def _determinant(rows: list[list[Fraction]]) -> Fraction:
    if not rows:
        return Fraction(1)
    return sum(
        (-1) ** c * v * _determinant([row[:c] + row[c + 1 :] for row in rows[1:]])
        for c, v in enumerate(rows[0])
        if v != 0
    ) + Fraction(0)


def enumerate_cells(X: ArrayLike) -> Cells:
    """All activation cells of the data X (n, d): every sign pattern that an open set of w takes.

    Every cell of a central arrangement of full rank has an extreme ray, orthogonal to d-1
    independent data; around a ray the cells are those of the data orthogonal to it, a smaller
    problem of the same kind. Dot products that floats cannot tell from zero are decided in
    rational arithmetic, so the patterns are exact for the given floats.

    Returns `Cells`, ordered by pattern. Raises InputError where the bound of Lemma F.2 exceeds
    CELL_LIMIT.
    """
    X = np.asarray(X, float)
    n, d = X.shape
    live = np.nonzero(X.any(axis=1))[0]
    bound = cell_bound(len(live), d)
    if bound > CELL_LIMIT:
        raise InputError(
            f"n = {n} data in d = {d} dimensions can have {bound} activation cells, "
            f"too many to enumerate (the limit is {CELL_LIMIT})"
        )
    if len(live) == 0:
        return Cells(np.zeros((1, n), bool), np.zeros((1, d)))
    columns = _pivots([[Fraction(v) for v in row] for row in X[live]])
    rays = _rays(X[np.ix_(live, columns)])
    found: dict[bytes, NDArray] = defaultdict(lambda: np.zeros(len(columns)))
    for ray, signs in rays:
        for key in _around(X[np.ix_(live, columns)], signs):
            found[key] = found[key] + ray
    keys = sorted(found)
    signs = np.array([np.frombuffer(key, np.int8) for key in keys])
    patterns = np.zeros((len(keys), n), bool)
    patterns[:, live] = signs > 0
    witnesses = np.zeros((len(keys), d))
    witnesses[:, columns] = np.array([found[key] for key in keys])
    return Cells(patterns, witnesses)


def _rays(X: NDArray):
    """All extreme rays of the arrangement of X (n, r), rank r, each with the signs of X.ray."""
    r = X.shape[1]
    seen = set()
    for chosen in combinations(range(len(X)), r - 1):
        if r > 1 and not _independent(X[list(chosen)]):
            continue
        ray, signs = _ray(X, chosen)
        flat = (signs == 0).tobytes()
        if flat in seen:
            continue
        seen.add(flat)
        yield ray, signs
        yield -ray, -signs


def _around(X: NDArray, signs: NDArray) -> list[bytes]:
    """Sign patterns of the cells that have a ray with these signs on their closure."""
    base = signs.astype(np.int8)
    on = np.nonzero(signs == 0)[0]
    if len(on) == 0:
        return [base.tobytes()]
    keys = []
    for pattern in _patterns(X[on]):
        full = base.copy()
        full[on] = pattern
        keys.append(full.tobytes())
    return keys


def _patterns(X: NDArray) -> NDArray:
    """All sign patterns (m, n) of the cells of X (n, r), rows not zero."""
    if len(X) == 1:
        return np.array([[1], [-1]], np.int8)
    columns = _pivots([[Fraction(v) for v in row] for row in X])
    X = X[:, columns]
    if len(columns) == 1:
        side = np.sign(X[:, 0]).astype(np.int8)
        return np.array([side, -side])
    if len(columns) == len(X):  # independent data: every pattern
        bits = (np.arange(2 ** len(X))[:, None] >> np.arange(len(X))) & 1
        return (2 * bits - 1).astype(np.int8)
    keys = {key for ray, signs in _rays(X) for key in _around(X, signs)}
    return np.array([np.frombuffer(key, np.int8) for key in sorted(keys)])


def virtual_minimum(X: ArrayLike, y: ArrayLike, active: ArrayLike) -> tuple[NDArray, NDArray]:
    """Virtual minimiser of a cell (eq. 4): the least-squares fit of its active data.

    Parameters: X (n, d), y (n,), active (n,) bool. Returns the fit of least norm (d,) and an
    orthonormal basis (d, d - rank) of the directions along which it is free.
    """
    X, y, active = np.asarray(X, float), np.asarray(y, float), np.asarray(active, bool)
    A = X[active]
    if len(A) == 0:
        return np.zeros(X.shape[1]), np.eye(X.shape[1])
    U, s, Vt = np.linalg.svd(A, full_matrices=True)
    r = int(np.sum(s > s[0] * max(A.shape) * np.finfo(float).eps)) if s[0] > 0 else 0
    w = Vt[:r].T @ (U[:, :r].T @ y[active] / s[:r])
    return w, Vt[r:].T


def local_minima(X: ArrayLike, y: ArrayLike) -> tuple[StationarySet, ...]:
    """All local minima of the neuron's square loss, sorted by loss, by enumeration of its cells.

    Parameters: X (n, d), y (n,) labels of either sign. With positive labels no minimum lies on a
    boundary (Lemma 3.2), so each is the virtual minimum of a cell that contains it; a label below
    zero makes its boundary a convex kink, on which a minimum can lie, and those are searched too.
    Sets of minima (cells whose active data have rank below d) come as one `StationarySet` each.

    Raises InputError where there are too many cells to enumerate.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    found = [(w, N, on, ()) for w, N, on in _interior_minima(X, y)]
    if (y < 0).any():
        found += _kink_minima(X, y)
    losses = np.array([float(loss(X, y, w)) for w, *_ in found])
    tolerance = 1e-10 * max(1e-300, 0.5 * float(y @ y))
    sets = [
        StationarySet(
            w=w,
            loss=value,
            support=tuple(map(int, np.nonzero(on)[0])),
            dimension=N.shape[1],
            directions=N,
            rank=1 + _distinct(losses[losses < value - tolerance], tolerance),
            boundary=kink,
        )
        for (w, N, on, kink), value in zip(found, losses, strict=True)
    ]
    return tuple(sorted(sets, key=lambda s: (s.rank, s.loss, s.support)))


def _distinct(values: NDArray, tolerance: float) -> int:
    values = np.sort(values)
    return int(len(values) > 0) + int(np.sum(np.diff(values) > tolerance))


def _interior_minima(X: NDArray, y: NDArray) -> list[tuple[NDArray, NDArray, NDArray]]:
    """Virtual minima inside their open cells: (point, free directions, active)."""
    minima = []
    size = np.linalg.norm(X, axis=1)
    for on in enumerate_cells(X).patterns:
        w, N = virtual_minimum(X, y, on)
        margin = 1e-11 * size * max(np.linalg.norm(w), 1e-300)
        off = ~on & (size > 0)
        if not np.all((X @ w)[on] > margin[on]):
            continue
        if N.shape[1] == 0:
            if np.all((X @ w)[off] < -margin[off]):
                minima.append((w, N, on))
            continue
        point = _deepest(X[off], w, N)
        if point is not None:
            minima.append((point, N, on))
    return minima


def _deepest(X: NDArray, w: NDArray, N: NDArray) -> NDArray | None:
    """The point of w + span(N) farthest inside {x.w < 0 for all rows}, or None if there is none."""
    if len(X) == 0:
        return w
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    k = N.shape[1]
    reach = 1.0 + np.linalg.norm(w)
    result = linprog(
        np.append(np.zeros(k), -1.0),
        A_ub=np.hstack([unit @ N, np.ones((len(X), 1))]),
        b_ub=-unit @ w,
        bounds=[(None, None)] * k + [(None, reach)],
    )
    if result.status != 0 or result.x[-1] <= 1e-9 * reach:
        return None
    return w + N @ result.x[:-1]


def _kink_minima(X: NDArray, y: NDArray):
    """Minima on boundaries of data with labels below zero: stationary along a flat of boundaries
    and held on it, the flow's sliding limits."""
    d = X.shape[1]
    negative = [j for j in range(len(y)) if y[j] < 0 and X[j].any()]
    seen, minima = set(), []
    for k in range(1, d):
        for chosen in combinations(negative, k):
            if not _independent(X[list(chosen)]):
                continue
            N = np.linalg.svd(X[list(chosen)])[2][k:].T
            inside = np.linalg.norm(X @ N, axis=1) <= 1e-12 * np.linalg.norm(X, axis=1)
            if inside.tobytes() in seen or (inside & (y > 0)).any():
                continue
            seen.add(inside.tobytes())
            rest = ~inside
            for u, free, on in _interior_minima(X[rest] @ N, y[rest]):
                w = N @ u
                active = np.zeros(len(y), bool)
                active[np.nonzero(rest)[0][on]] = True
                force = gradient(X[active], y[active], w) if active.any() else np.zeros(d)
                scale = np.abs(X).T @ np.abs(y)
                if np.linalg.norm(force) <= 1e-10 * np.linalg.norm(scale):
                    continue  # free there anyway: the closure of a set already found
                held = np.nonzero(inside)[0]
                pull = (X[held] * y[held, None]).T
                fit = lsq_linear(pull, force, bounds=(0.0, 1.0), tol=1e-14)
                if np.linalg.norm(pull @ fit.x - force) <= 1e-9 * np.linalg.norm(force):
                    minima.append((w, N @ free, active, tuple(map(int, held))))
    return minima
