"""The loss of one neuron, and all its local minima, by enumeration of its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import isqrt
from typing import NamedTuple

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import ArrayLike, NDArray

from reluflow.geometry import StationarySet
from reluflow.geometry.cells import cells_of, check_enumerable, extreme_ray
from reluflow.geometry.exact import (
    Rows,
    column_exponents,
    fraction,
    integer_columns,
    matrix,
    nearest,
    normal,
    pivots,
    scaled_floats,
)


def loss(X: ArrayLike, y: ArrayLike, w: ArrayLike, activation: str = "relu") -> NDArray:
    """Square loss of one neuron, L(w) = 1/2 sum_i (s(w.x_i) - y_i)^2 (Lee et al. 2022a, eq. 1).

    Parameters: X (n, d) data, y (n,) labels, w (..., d) one or many weights, activation "relu" or
    "linear". Returns the loss, shape (...).
    """
    h = np.asarray(w, float) @ np.asarray(X, float).T
    outputs = h if activation == "linear" else np.maximum(h, 0.0)
    return 0.5 * np.sum((outputs - np.asarray(y, float)) ** 2, axis=-1)


def gradient(X: ArrayLike, y: ArrayLike, w: ArrayLike, activation: str = "relu") -> NDArray:
    """Gradient H(w) w - q(w) of the loss, with the derivative of ReLU at 0 taken as 0 (eq. 2).

    Parameters: X (n, d), y (n,), w (..., d), activation "relu" or "linear". Returns shape (..., d).
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    h = np.asarray(w, float) @ X.T
    residual = h - y if activation == "linear" else np.where(h > 0.0, h - y, 0.0)
    return residual @ X


# --- Least-squares fits of active data: virtual minima of cells, and whether they lie inside ------
#
# Doubles sort out the cells that plainly do not contain their virtual minimum; every other question
# is decided in rational arithmetic, for the data as `geometry.exact.read` takes them.


class Problem(NamedTuple):
    """Data X = Z diag(s) and labels y = t u, all exact; a weight w of X is W_c = s_c w_c / u."""

    rows: Rows
    scale: list[fmpq]
    labels: list[int]
    unit: fmpq

    def weight(self, W: Sequence[fmpq]) -> list[fmpq]:
        """The weight of X that belongs to one of Z."""
        return [v * self.unit / s for v, s in zip(W, self.scale, strict=True)]

    def span(self, N: fmpz_mat) -> list[list[fmpq]]:
        """Orthogonal basis, in weights of X, of the span of columns (d, k) in weights of Z."""
        d, columns = len(self.scale), N.transpose().tolist()
        return orthogonal([[v[c] / self.scale[c] for c in range(d)] for v in columns])


def problem(X: NDArray, y: NDArray) -> Problem:
    """Read data X (n, d) and labels y (n,)."""
    rows, scale = integer_columns(X)
    labels, unit = integer_columns(y[:, None])
    exact, (one,) = ([fmpq(s.numerator, s.denominator) for s in many] for many in (scale, unit))
    return Problem(rows, exact, [t for (t,) in labels], one)


def fit(A: fmpz_mat, labels: Sequence[int]) -> tuple[fmpq_mat, fmpz_mat]:
    """A least-squares fit (k, 1) of labels (s,) by A (s, k), and a basis (k, k - rank) of the
    directions in which it is free."""
    k = A.ncols()
    H, q = A.transpose() * A, A.transpose() * matrix([[t] for t in labels], 1)
    if k == 0:
        return fmpq_mat(0, 1), fmpz_mat(0, 0)
    try:
        return H.solve(q), fmpz_mat(k, 0)  # type: ignore[return-value]
    except ZeroDivisionError:
        pass
    some = pivots(H)
    w = fmpq_mat(k, 1)
    if some:
        part = fmpz_mat([[H[i, j] for j in some] for i in some]).solve(
            fmpz_mat([[q[i, 0]] for i in some])
        )
        for place, i in enumerate(some):
            w[i, 0] = part[place, 0]
    return w, null_vectors(H)


def placed(
    rows: Rows, labels: Sequence[int], k: int, on: NDArray, closed: bool = False
) -> tuple[fmpq_mat, fmpz_mat] | None:
    """A virtual minimum inside the open cell where the data `on` (n,) are active, and a basis of
    the directions in which it is free; None if there is none.

    Of many the deepest is taken, seen from the rows that are off. With `closed` these may also lie
    on their boundaries.
    """
    whole = matrix(rows, k)
    active = np.flatnonzero(on).tolist()
    w, N = fit(matrix([rows[i] for i in active], k), [labels[i] for i in active])
    numerators, denominator = w.numer_denom()
    h = (whole * numerators).entries()
    if not all(h[i] > 0 for i in active):
        return None
    off = [i for i in np.nonzero(~on)[0] if any(rows[i])]
    if N.ncols() == 0 or not off:
        inside = all(h[i] < 0 or (closed and h[i] == 0) for i in off)
        return (w, N) if inside else None
    # Columns divided by their powers of two; the reach grows with the least fit and the labels.
    exponents = column_exponents(rows)
    top = max(exponents)
    shifts = [top - e for e in exponents]
    squares = [sum((v << s) ** 2 for v, s in zip(rows[i], shifts, strict=True)) for i in off]
    size = [fmpq(isqrt(square) + 1, 1 << top) for square in squares]
    units = [fmpq(1 << e) for e in exponents]
    free = [[v * u for v, u in zip(c, units, strict=True)] for c in N.transpose().tolist()]
    least = without([v * u for v, u in zip(w.entries(), units, strict=True)], orthogonal(free))
    reach = sum(map(abs, least), fmpq(1 << max(abs(t) for t in labels).bit_length(), 4))
    slopes = (matrix([rows[i] for i in off], k) * N).tolist()
    depth, v = deepest(slopes, [fmpq(h[i], denominator) for i in off], size, reach)
    if depth < 0 or (depth == 0 and not closed):
        return None
    return w + fmpq_mat(N) * fmpq_mat([[x] for x in v]), N


def interior_minima(
    rows: Rows,
    labels: Sequence[int],
    k: int,
    watched: Callable[[NDArray], Iterable[NDArray]] = iter,
) -> Iterator[tuple[fmpq_mat, fmpz_mat, NDArray]]:
    """Virtual minima inside their open cells, for rows (n, k), as `placed` gives them, each with
    the active data (n,); `watched` as `local_minima` has it."""
    patterns = cells_of(rows)[0]
    X = scaled_floats(rows, normalise=False)
    largest = 1 << max((abs(t) for t in labels), default=0).bit_length()
    y = np.array([t / largest for t in labels])
    for on in watched(patterns[plausible(X, y, patterns)]):
        found = placed(rows, labels, k, on)
        if found is not None:
            yield *found, on


def plausible(X: NDArray, y: NDArray, patterns: NDArray) -> NDArray:
    """Which cells (m,) may contain their virtual minimum: all but those where it is plainly not.

    The normal equations (H + E) w = q + f that doubles solve have |E| <= err tr H and
    |f| <= err sqrt(tr H) |y|, so w is off by at most (|f| + |E| |w|) / lambda_min(H). A cell is
    dismissed if a sign is wrong by more than that; where lambda_min is not certain it is kept.
    """
    n, d = X.shape
    kept = np.ones(len(patterns), bool)
    if d == 0:
        return kept
    eps = np.finfo(float).eps
    err = (2 * n + 20 * d**3) * eps
    products = (X[:, :, None] * X[:, None, :]).reshape(n, d * d)
    size = np.linalg.norm(X, axis=1)
    chunk = max(1, 2**22 // max(n, d * d))
    for first in range(0, len(patterns), chunk):
        on = patterns[first : first + chunk]
        H = (on.astype(float) @ products).reshape(len(on), d, d)
        trace = np.trace(H, axis1=1, axis2=2)
        least = np.linalg.eigvalsh(H)[:, 0]
        sound = np.nonzero(least > 2.0 * err * trace)[0]
        H, on, trace, least = H[sound], on[sound], trace[sound], least[sound]
        w = np.linalg.solve(H, (on @ (X * y[:, None]))[..., None])[..., 0]
        norm = np.linalg.norm(w, axis=1)
        force = np.sqrt(trace) * np.linalg.norm(np.where(on, y, 0.0), axis=1)
        off_by = 2.0 * err * (force + trace * norm) / least + 8.0 * d * eps * norm
        h = w @ X.T
        slack = off_by[:, None] * size
        kept[first + sound] = (np.where(on, h, -h) >= -slack).all(axis=1)
    return kept


# --- Minima on activation boundaries, where labels of at most zero make the loss kink upwards -----
#
# At such a point w, with Z the data on their boundary and g the gradient of the others,
# L(w + v) - L(w) is g.v - sum_Z y_j [x_j.v]_+ and a square. So w is a minimum if and only if the
# first part is never negative; and then the minima near w are the v with x_j.v <= 0 on Z and no
# change of an active x_i.w. Only boundaries whose labels sum to at most zero can hold a minimum.


def minima_on_flats(
    rows: Rows, labels: Sequence[int], d: int, among: Sequence[int]
) -> Iterator[tuple[fmpq_mat, fmpz_mat, NDArray, NDArray]]:
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


SAME = 1e-10  # losses that differ by less than this share of 1/2 |y|^2 have the same rank


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

    Whether a set exists is decided exactly, for the data as `geometry.exact.read` takes them: a
    factor of two for a column of X changes nothing but the weights' unit.

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
    holding = attracting(data.rows, data.labels)
    found += (
        (w, N, on, inside)
        for w, N, on, inside in minima_on_flats(data.rows, data.labels, d, holding)
        if _is_minimum(data.rows, data.labels, w, on, inside) and _is_whole(data.rows, on, inside)
    )
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


# --- Linear algebra and feasibility in rational numbers -------------------------------------------

_FEW = 50  # half-spaces that `deepest` takes at first


def null_vectors(A: fmpz_mat) -> fmpz_mat:
    """Basis of {v: A v = 0}, as whole columns (d, d - rank)."""
    N, count = A.nullspace()
    return fmpz_mat([row[:count] for row in N.tolist()]) if count else fmpz_mat(A.ncols(), 0)


def extreme_rays(rows: Rows) -> Iterator[tuple[list[int], list[int]]]:
    """One of each two opposite extreme rays of rows (k, d), not zero, and its products with them.

    Where the rows do not span the space a ray lies in the span of some coordinates.
    """
    if not rows:
        return
    columns = pivots(matrix(rows, len(rows[0])))
    core = [[row[c] for c in columns] for row in rows]
    whole = matrix(core, len(columns))
    for chosen in combinations(range(len(core)), len(columns) - 1):
        ray = extreme_ray(core, chosen) if chosen else fmpz_mat([[1]])
        if ray is not None:
            full = [0] * len(rows[0])
            for c, v in zip(columns, ray.entries(), strict=True):
                full[c] = int(v)
            yield full, [int(v) for v in (whole * ray).entries()]


def orthogonal(vectors: Sequence[Sequence[fmpq]]) -> list[list[fmpq]]:
    """Orthogonal basis of the span of independent vectors (Gram and Schmidt, exactly)."""
    basis: list[list[fmpq]] = []
    for v in vectors:
        basis.append(without(v, basis))
    return basis


def without(v: Sequence[fmpq], basis: Sequence[Sequence[fmpq]]) -> list[fmpq]:
    """A vector less its parts along an orthogonal basis."""
    rest = list(v)
    for b in basis:
        share = dot(v, b) / dot(b, b)
        rest = [a - share * c for a, c in zip(rest, b, strict=True)]
    return rest


def dot(a: Sequence[fmpq], b: Sequence[fmpq]) -> fmpq:
    """Sum of products."""
    return sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0))


def unit_vectors(basis: Sequence[Sequence[fmpq]], d: int) -> NDArray:
    """Vectors (d,) as columns (d, k) of length one, rounded."""
    out = np.zeros((d, len(basis)))
    for k, v in enumerate(basis):
        largest = max(abs(a) for a in v)
        out[:, k] = [nearest(a / largest) for a in v]
    return out / np.linalg.norm(out, axis=0)


def deepest(a: Sequence[Sequence], b: Sequence, size: Sequence, reach) -> tuple[fmpq, list[fmpq]]:
    """The largest t <= reach, and a v, with a_i.v + b_i + size_i t <= 0 for all i: exactly.

    How deep a point v can lie inside half-spaces; they have an inner point if and only if t > 0,
    and a point if and only if t >= 0. Of many half-spaces a few are taken first, and those that
    their solution breaks the most are added one by one.

    Parameters: a (m, k), b (m,), positive size (m,) and reach. Returns t and v (k,).
    """
    some = list(range(min(len(a), _FEW)))
    while True:
        t, v = _simplex([a[i] for i in some], [b[i] for i in some], [size[i] for i in some], reach)
        if len(some) == len(a):
            return t, v
        over = [dot(row, v) + c + s * t for row, c, s in zip(a, b, size, strict=True)]
        worst = max(range(len(over)), key=over.__getitem__)
        if over[worst] <= 0:
            return t, v
        some.append(worst)


def _simplex(a: Sequence[Sequence], b: Sequence, size: Sequence, reach) -> tuple[fmpq, list[fmpq]]:
    """`deepest` of all half-spaces at once, with Bland's rule, in rational numbers."""
    k = len(a[0]) if len(a) else 0
    # Slacks as functions of the variables that are zero: first v and t, which have no sign.
    table = [
        [-fmpq(c), *(-fmpq(v) for v in row), -fmpq(s)] for row, c, s in zip(a, b, size, strict=True)
    ]
    table.append([fmpq(reach), *[fmpq(0)] * k, fmpq(-1)])
    zero, owner = list(range(k + 1)), list(range(k + 1, k + 2 + len(a)))
    first = min(range(len(table)), key=lambda i: table[i][0] / -table[i][-1])
    _exchange(table, zero, owner, first, k)
    while True:
        goal = table[owner.index(k)]
        climbing = [
            j for j in range(k + 1) if (goal[j + 1] != 0 if zero[j] <= k else goal[j + 1] > 0)
        ]
        if not climbing:
            break
        j = min(climbing, key=lambda j: zero[j])
        up = goal[j + 1] > 0
        falling = [
            (row[0] / abs(row[j + 1]), owner[i], i)
            for i, row in enumerate(table)
            if owner[i] > k and row[j + 1] != 0 and (row[j + 1] < 0) == up
        ]
        _exchange(table, zero, owner, min(falling)[2], j)
    value = {owner[i]: row[0] for i, row in enumerate(table)}
    return value[k], [value.get(j, fmpq(0)) for j in range(k)]


def _exchange(table: list, zero: list[int], owner: list[int], i: int, j: int) -> None:
    """Let the variable of row i be zero and that of column j take its row (in place)."""
    pivot = table[i][j + 1]
    row = [-v / pivot for v in table[i]]
    row[j + 1] = 1 / pivot
    for other, old in enumerate(table):
        share = old[j + 1]
        if other != i and share != 0:
            new = [u + share * v for u, v in zip(old, row, strict=True)]
            new[j + 1] = share * row[j + 1]
            table[other] = new
    table[i] = row
    zero[j], owner[i] = owner[i], zero[j]
