"""Extremal directions: the strict local maxima and minima of G(w) = sum_i y_i [<w, x_i>]_+ / 2 on
the unit sphere (eq 12, Definition 2), found by enumeration.

With A the data active at w and Z those with <w, x_i> = 0, G(w + v) = <g, w + v> + h(v) near w,
where g = sum over A of y_i x_i / 2 and h(v) = sum over Z of y_i [<v, x_i>]_+ / 2. On the subspace
V orthogonal to Z only the linear part is left, so w is along P g or -P g, P the projection on V
(Lemma A.1), or V is a line. Off V, for independent Z, g - P g = sum beta_i x_i, and v is free to
have any <v, x_i>: the first order is not positive exactly if 0 <= beta_i <= -y_i / 2 on Z.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

_TIE = 1e-9
"""A cosine, or a part of the largest datum, this small is 0."""


def height(X: NDArray, y: NDArray, W: NDArray) -> NDArray:
    """G (...) of the vectors W (..., d), unit or not: eq (12) for -l'(0) = y / 2."""
    return np.asarray(0.5 * np.maximum(W @ X.T, 0.0) @ y)


def drift(X: NDArray, y: NDArray, w: NDArray) -> NDArray:
    """g(w) (d,) of eq (31): half the sum of y_i P_w x_i over the active data."""
    cosines = X @ w / (np.linalg.norm(X, axis=1) * np.linalg.norm(w))
    zero = np.abs(cosines) <= _TIE
    active = (cosines > _TIE) * y
    return np.asarray(0.5 * active @ X @ _projection(X[zero]))


def extremal_directions(X: NDArray, y: NDArray, sign: float = 1.0) -> NDArray:
    """All positive (sign 1) or negative (sign -1) extremal directions, (k, d), k >= 0.

    For data whose independent subsets are all that can be orthogonal to one direction at once:
    general position, or the plane without parallel data. 2^n patterns are tried: n <= 14.
    """
    n, d = X.shape
    X = X / np.abs(X).max()
    y = sign * y
    found = [
        w
        for size in range(min(n, d - 1) + 1)
        for zero in combinations(range(n), size)
        for w in _with_zeros(X, y, np.isin(np.arange(n), zero))
    ]
    return np.array(found).reshape(-1, d)


def sector(X: NDArray, y: NDArray, sign: float = 1.0) -> NDArray:
    """sigma^+ (sign 1, eq 13) or sigma^- (eq 14), (n,), of (OS) data."""
    own = y == sign
    attracted = np.any(X @ X[own].T < 0.0, axis=1)
    return np.where(own, 1, np.where(attracted, -1, 0))


def signs(X: NDArray, w: NDArray) -> NDArray:
    """The sector (n,) that holds w (d,), 0 where a cosine is at most 1e-9."""
    cosines = X @ w / (np.linalg.norm(X, axis=1) * np.linalg.norm(w))
    return np.where(np.abs(cosines) <= _TIE, 0, np.sign(cosines)).astype(int)


def _projection(Z: NDArray) -> NDArray:
    """The orthogonal projection (d, d) onto the complement of the rows of Z (k, d)."""
    if not len(Z):
        return np.eye(Z.shape[1])
    rows = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    return np.eye(Z.shape[1]) - np.linalg.pinv(rows) @ rows


def _with_zeros(X: NDArray, y: NDArray, zero: NDArray) -> list[NDArray]:
    """The strict local maxima w of G at which exactly the data `zero` (n,) have <w, x_i> = 0."""
    d, rows = X.shape[1], X[zero]
    if len(rows) and np.linalg.matrix_rank(rows / np.linalg.norm(rows, axis=1)[:, None]) < len(
        rows
    ):
        return []
    P = _projection(rows)
    line = d - len(rows) == 1
    if line:
        axis = P[np.argmax(np.diag(P))]
        tried = np.array([axis, -axis]) / np.linalg.norm(axis)
        patterns = tried @ X[~zero].T > 0.0
    else:
        patterns = np.array(list(product([False, True], repeat=int((~zero).sum()))))
        sums = 0.5 * (patterns * y[~zero]) @ X[~zero] @ P
        lengths = np.linalg.norm(sums, axis=1)
        kept = lengths > _TIE
        tried, patterns = sums[kept] / lengths[kept, None], patterns[kept]
    scales = np.linalg.norm(X[~zero], axis=1)
    cosines = tried @ X[~zero].T / scales
    fits = np.all((np.abs(cosines) > _TIE) & ((cosines > 0.0) == patterns), axis=1)
    found = []
    for w, active in zip(tried[fits], patterns[fits], strict=True):
        g = 0.5 * (active * y[~zero]) @ X[~zero]
        beta = np.linalg.lstsq(rows.T, g - P @ g, rcond=None)[0] if len(rows) else np.zeros(0)
        room = np.concatenate([beta, -0.5 * y[zero] - beta])
        # Uphill at height C <= 0 the sphere's curvature pushes away: then only corners are strict.
        uphill = float(g @ w) > _TIE
        if np.all(room >= -_TIE) if uphill else line and np.all(room > _TIE):
            found.append(w)
    return found
