"""Activation cells of one neuron's weight space, and all stationary sets of its loss.

A cell is a largest open cone of weights on which no datum changes its activation. Inside it the
loss is a convex quadratic, so the whole landscape is known once the cells are (Lee et al. 2022,
Section 3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, islice
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from reluflow.errors import InputError
from reluflow.networks import loss

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
    boundary    data that it keeps exactly on their boundary (none where all labels are positive)
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


def _directions(X: NDArray, chosen: NDArray) -> NDArray:
    """Unit vectors (c, r), each orthogonal to r-1 independent rows of X (n, r): chosen (c, r-1)."""
    r = X.shape[1]
    if r == 1:
        return np.ones((len(chosen), 1))
    if r == 2:
        rays = X[chosen[:, 0]][:, ::-1] * np.array([-1.0, 1.0])
    elif r == 3:
        rays = np.cross(X[chosen[:, 0]], X[chosen[:, 1]])
    else:
        rays = np.linalg.svd(X[chosen])[2][:, -1]
    return rays / np.linalg.norm(rays, axis=1, keepdims=True)


def _exact_sign(X: NDArray, chosen: NDArray, k: int, ray: NDArray) -> int:
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
    core = X[np.ix_(live, columns)]
    found: dict[bytes, NDArray] = defaultdict(lambda: np.zeros(len(columns)))
    for ray, signs in _rays(core):
        for key in _around(core, signs):
            found[key] += ray
    keys = sorted(found)
    signs = np.array([np.frombuffer(key, np.int8) for key in keys])
    patterns = np.zeros((len(keys), n), bool)
    patterns[:, live] = signs > 0
    witnesses = np.zeros((len(keys), d))
    witnesses[:, columns] = np.array([found[key] for key in keys])
    return Cells(patterns, witnesses)


def _rays(X: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """All extreme rays of the arrangement of X (n, r), rank r, each with the signs of X.ray."""
    r, size = X.shape[1], np.linalg.norm(X, axis=1)
    subsets, seen = combinations(range(len(X)), r - 1), set()
    while chunk := list(islice(subsets, 2048)):
        chosen = np.array(chunk, int).reshape(len(chunk), r - 1)
        if r > 2:
            least = np.linalg.svd((X / size[:, None])[chosen], compute_uv=False)[:, -1]
            keep = least > 1e-6
            keep[~keep] = [rank(X[c]) == r - 1 for c in chosen[~keep]]
            chosen = chosen[keep]
        rays = _directions(X, chosen)
        values = rays @ X.T
        signs = np.sign(values).astype(np.int8)
        unsure = np.abs(values) <= _SURE * size
        np.put_along_axis(signs, chosen, 0, axis=1)
        np.put_along_axis(unsure, chosen, False, axis=1)
        for c, k in zip(*np.nonzero(unsure), strict=True):
            signs[c, k] = _exact_sign(X, chosen[c], k, rays[c])
        simple = (signs == 0).sum(axis=1) == r - 1
        for ray, sign, once in zip(rays, signs, simple, strict=True):
            if not once:  # other rows give the same ray
                flat = (sign == 0).tobytes()
                if flat in seen:
                    continue
                seen.add(flat)
            yield ray, sign
            yield -ray, -sign


def _around(X: NDArray, signs: NDArray) -> list[bytes]:
    """Sign patterns of the cells that have a ray with these signs on their closure."""
    on = np.nonzero(signs == 0)[0]
    patterns = _all_signs(len(on)) if len(on) == X.shape[1] - 1 else _patterns(X[on])
    full = np.repeat(signs[None, :], len(patterns), axis=0)
    full[:, on] = patterns
    return [row.tobytes() for row in full]


@cache
def _all_signs(k: int) -> NDArray:
    """All sign patterns (2^k, k) of k independent data."""
    return (2 * ((np.arange(2**k)[:, None] >> np.arange(k)) & 1) - 1).astype(np.int8)


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
        return _all_signs(len(X))
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
    U, s, Vt = np.linalg.svd(A, full_matrices=len(A) < A.shape[1])
    r = int(np.sum(s > s[0] * max(A.shape) * np.finfo(float).eps)) if s[0] > 0 else 0
    w = Vt[:r].T @ (U[:, :r].T @ y[active] / s[:r])
    return w, Vt[r:].T


def local_minima(X: ArrayLike, y: ArrayLike) -> tuple[StationarySet, ...]:
    """All local minima of the neuron's square loss, sorted by loss, by enumeration of its cells.

    Parameters: X (n, d), y (n,) labels of either sign. With positive labels no minimum lies on a
    boundary (Lemma 3.2), so each is the virtual minimum of a cell that contains it; a label below
    zero makes its boundary a convex kink, on which a minimum can lie, and those are searched too.
    Sets of minima (cells whose active data have rank below d) come as one `StationarySet` each; a
    set that lies on the boundary of another one is part of it.

    Raises InputError where there are too many cells to enumerate.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    found = [(w, N, on, ()) for w, N, on in _interior_minima(X, y)]
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
    patterns = enumerate_cells(X).patterns
    for on in patterns[_plausible(X, y, patterns)]:
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


def _plausible(X: NDArray, y: NDArray, patterns: NDArray) -> NDArray:
    """Which cells (m,) may contain their virtual minimum: all but those where it is plainly not."""
    d = X.shape[1]
    plausible = np.ones(len(patterns), bool)
    if d == 0:
        return plausible
    products = (X[:, :, None] * X[:, None, :]).reshape(len(X), d * d)
    for first in range(0, len(patterns), 4096):
        on = patterns[first : first + 4096]
        H = (on.astype(float) @ products).reshape(len(on), d, d)
        spectrum = np.linalg.eigvalsh(H)
        sound = np.nonzero(spectrum[:, 0] > 1e-7 * spectrum[:, -1])[0]
        w = np.linalg.solve(H[sound], (on[sound] @ (X * y[:, None]))[..., None])[..., 0]
        slack = 1e-6 * np.linalg.norm(w, axis=1)[:, None] * np.linalg.norm(X, axis=1)
        h = w @ X.T
        plausible[first + sound] = (np.where(on[sound], h, -h) >= -slack).all(axis=1)
    return plausible


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


def _kink_minima(X: NDArray, y: NDArray) -> list:
    """Minima on boundaries: (point, free directions, active, data on their boundary).

    At such a point w, with Z the data on their boundary and g the gradient of the others,
    L(w + v) - L(w) is g.v - sum_Z y_j [x_j.v]_+ and a square. So w is a minimum if and only if the
    first part is never negative; and then the minima near w are the v with x_j.v <= 0 on Z and no
    change of an active x_i.w. Only boundaries whose labels sum to at most zero can hold a minimum.
    """
    d = X.shape[1]
    holding = _attracting(X, y)
    seen, minima = set(), []
    for k in range(1, d + 1):
        for chosen in combinations(holding, k):
            if not _independent(X[list(chosen)]):
                continue
            N = np.linalg.svd(X[list(chosen)])[2][k:].T
            inside = np.linalg.norm(X @ N, axis=1) <= 1e-12 * np.linalg.norm(X, axis=1)
            if inside.tobytes() in seen:
                continue
            seen.add(inside.tobytes())
            for u, free, on in _interior_minima(X[~inside] @ N, y[~inside]):
                w = N @ u
                active = np.zeros(len(y), bool)
                active[np.nonzero(~inside)[0][on]] = True
                if _is_minimum(X, y, w, active, inside) and _is_whole(X, active, inside):
                    kink = np.nonzero(inside & X.any(axis=1))[0]
                    minima.append((w, N @ free, active, tuple(map(int, kink))))
    return minima


def _attracting(X: NDArray, y: NDArray) -> list[int]:
    """One datum of each boundary whose parallel data have sum_j y_j |x_j| <= 0."""
    size = np.linalg.norm(X, axis=1)
    todo = [j for j in range(len(y)) if size[j] > 0]
    if (y > 0).all():
        return []
    found = []
    while todo:
        first, unit = todo[0], X[todo[0]] / size[todo[0]]
        apart = np.linalg.norm(X[todo] - np.outer(X[todo] @ unit, unit), axis=1)
        same = [j for j, a in zip(todo, apart, strict=True) if a <= 1e-12 * size[j]]
        if y[same] @ size[same] <= 1e-12 * np.abs(y[same]) @ size[same]:
            found.append(first)
        todo = [j for j in todo if j not in same]
    return found


def _is_minimum(X: NDArray, y: NDArray, w: NDArray, active: NDArray, inside: NDArray) -> bool:
    """Whether no direction lowers the loss from w: asked of the rays between which it is linear."""
    Z, labels = X[inside & X.any(axis=1)], y[inside & X.any(axis=1)]
    g = (X[active] @ w - y[active]) @ X[active]
    columns = _pivots([[Fraction(v) for v in row] for row in Z])
    for ray, _ in _rays(Z[:, columns]):
        push = labels * np.maximum(Z[:, columns] @ ray, 0.0)
        scale = np.abs(push).sum() + np.abs(y) @ np.abs(X[:, columns] @ ray)
        if g[columns] @ ray - push.sum() < -1e-10 * scale:
            return False
    return True


def _is_whole(X: NDArray, active: NDArray, inside: NDArray) -> bool:
    """Whether the minima near such a point all keep the data `inside` on their boundary."""
    M = virtual_minimum(X, np.zeros(len(X)), active)[1]  # directions that change no active x_i.w
    G = X[inside] @ M
    G /= np.maximum(np.linalg.norm(X[inside], axis=1, keepdims=True), 1e-300)
    if np.abs(G).max(initial=0.0) <= 1e-12:
        return True
    result = linprog(
        G.sum(axis=0),
        A_ub=np.concatenate([G, -G]),
        b_ub=np.repeat([0.0, 1.0], len(G)),
        bounds=(None, None),
    )
    return result.status == 0 and result.fun > -1e-9
