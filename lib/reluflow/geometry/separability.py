"""Orthogonally separable data: equal labels attract, different labels repel.

With z_i = y_i x_i, the separation is mu = min_ij <z_i, z_j> / (|z_i| |z_j|). Data are orthogonally
separable where mu > 0 (Min et al. 2024, Assumption 1), or mu >= 0 (Phuong & Lampert 2021).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError


def signed(X: NDArray, y: NDArray) -> NDArray:
    """z_i = y_i x_i, shape (n, d), for X (n, d) and labels y (n,) of +1 and -1.

    Raises InputError, which names the row, for another label and for x_i = 0, which has no angle.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    wrong = np.flatnonzero(np.abs(y) != 1.0)
    if wrong.size:
        raise InputError(f"y: row {wrong[0] + 1} has the label {y[wrong[0]]:g}, not 1 or -1.")
    zero = np.flatnonzero(~X.any(axis=1))
    if zero.size:
        raise InputError(f"X: row {zero[0] + 1} is 0, and has no angle to the others.")
    return y[:, None] * X


def cosines(Z: NDArray) -> NDArray:
    """cos(z_i, z_j), shape (n, n), for Z (n, d) without zero rows."""
    scaled = Z / np.abs(Z).max(axis=1, keepdims=True)  # so that no square leaves the floats
    U = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.clip(U @ U.T, -1.0, 1.0)


def separation(X: NDArray, y: NDArray) -> float:
    """mu = min over all i, j of cos(y_i x_i, y_j x_j); 1 for a single datum."""
    return float(cosines(signed(X, y)).min())


def violations(X: NDArray, y: NDArray) -> NDArray:
    """The pairs i < j, shape (k, 2), with <y_i x_i, y_j x_j> <= 0, worst first."""
    C = cosines(signed(X, y))
    i, j = np.triu_indices(len(C), 1)
    bad = C[i, j] <= 0.0
    order = np.argsort(C[i, j][bad], kind="stable")
    return np.stack([i[bad], j[bad]], axis=1)[order]


def serves(X: NDArray, y: NDArray, W: NDArray, sign: float = 1.0) -> NDArray:
    """Whether w is in S_+ (sign 1) or S_- (sign -1): active on all data of that label, on no other.

    W is (..., d), the result (...). With sign 1, <x_i, w> > 0 where y_i = 1 and <= 0 where -1.
    """
    own = np.asarray(y) == sign
    return np.all((np.asarray(W) @ np.asarray(X, float).T > 0.0) == own, axis=-1)


def silent(X: NDArray, W: NDArray, tolerance: float = 0.0) -> NDArray:
    """Whether w (..., d) is in S_dead: <x_i, w> <= 0 for all data. Shape (...).

    A cosine of w with a datum of at most `tolerance` is none: a neuron that died and stays where it
    lost its last datum is on the boundary up to rounding only.
    """
    X, W = np.asarray(X, float), np.asarray(W, float)
    products = W @ X.T
    if tolerance:
        lengths = np.linalg.norm(W, axis=-1)[..., None] * np.linalg.norm(X, axis=1)
        products = products - tolerance * lengths
    return np.all(products <= 0.0, axis=-1)
