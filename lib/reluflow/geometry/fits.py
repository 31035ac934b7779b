"""Least-squares fits of active data: the virtual minima of cells, and whether they lie inside.

Doubles sort out the cells that plainly do not contain their virtual minimum; every other question
is decided in rational arithmetic, for the data as `exact.read` takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isqrt
from typing import NamedTuple

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import ArrayLike, NDArray

from reluflow.geometry.cells import cells_of
from reluflow.geometry.exact import (
    Rows,
    column_exponents,
    deepest,
    integer_columns,
    matrix,
    nearest,
    null_vectors,
    orthogonal,
    pivots,
    scaled_floats,
    unit_vectors,
    without,
)

_SOUND = 1e-6
"""Singular values within this factor: doubles give the fit to about ten digits."""


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


def virtual_minimum(X: ArrayLike, y: ArrayLike, active: ArrayLike) -> tuple[NDArray, NDArray]:
    """Virtual minimiser of a cell (eq. 4): the least-squares fit of its active data.

    Parameters: X (n, d), y (n,), active (n,) bool. Returns the fit of least norm (d,) and an
    orthonormal basis (d, d - rank) of the directions along which it is free. The rank is exact.
    """
    X, y, active = np.asarray(X, float), np.asarray(y, float), np.asarray(active, bool)
    A, d = X[active], X.shape[1]
    if not A.any():
        return np.zeros(d), np.eye(d)
    size = np.ldexp(1.0, np.frexp(np.abs(A).max(axis=0))[1])
    if len(A) >= d and A.any(axis=0).all():
        U, s, Vt = np.linalg.svd(A / size, full_matrices=False)
        if s[-1] > _SOUND * s[0]:
            return (Vt.T @ (U.T @ y[active] / s)) / size, np.zeros((d, 0))
    exact = problem(A, y[active])
    W, N = fit(matrix(exact.rows, d), exact.labels)
    basis = exact.span(N)
    w = without(exact.weight(W.entries()), basis)
    return np.array([nearest(v) for v in w]), unit_vectors(basis, d)


def meets_cell(X: ArrayLike, y: ArrayLike, active: ArrayLike) -> bool:
    """Whether some virtual minimum of the cell lies in it, boundary as in conditions (5).

    There is a least-squares fit w of the active data with x_i.w > 0 on them (the fitted values are
    the same for all fits) and x_i.w <= 0 on the others: exactly, for the data as they are read.
    """
    active = np.asarray(active, bool)
    exact = problem(np.asarray(X, float), np.asarray(y, float))
    return placed(exact.rows, exact.labels, len(exact.scale), active, closed=True) is not None


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
    size = [fmpq(_length(rows[i], shifts) + 1, 1 << top) for i in off]
    units = [fmpq(1 << e) for e in exponents]
    free = [[v * u for v, u in zip(c, units, strict=True)] for c in N.transpose().tolist()]
    least = without([v * u for v, u in zip(w.entries(), units, strict=True)], orthogonal(free))
    reach = sum(map(abs, least), fmpq(1 << max(abs(t) for t in labels).bit_length(), 4))
    slopes = (matrix([rows[i] for i in off], k) * N).tolist()
    depth, v = deepest(slopes, [fmpq(h[i], denominator) for i in off], size, reach)
    if depth < 0 or (depth == 0 and not closed):
        return None
    return w + fmpq_mat(N) * fmpq_mat([[x] for x in v]), N


def _length(vector: Sequence[int], shifts: Sequence[int]) -> int:
    """Length of a whole vector whose entries are multiplied by powers of two, rounded down."""
    return isqrt(sum((v << shift) ** 2 for v, shift in zip(vector, shifts, strict=True)))


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
