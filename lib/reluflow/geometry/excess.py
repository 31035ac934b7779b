"""The minimum of a cell's quadratic over the closed cell, without the conditions (5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls


def excess_in_cell(X: ArrayLike, y: ArrayLike, active: ArrayLike) -> float:
    """How far above its unconstrained minimum L_P stays on the closed cell, as a distance.

    The distance |R (w - w_P*)| of the closed cell's minimiser w, R^T R = H: zero exactly if w_P*
    lies in the closed cell. Solved as a least-distance problem by nonnegative least squares
    (Lawson & Hanson 1974, ch. 23), which does not look at the conditions (5). H of full rank.
    """
    X, y, active = np.asarray(X, float), np.asarray(y, float), np.asarray(active, bool)
    R = np.asarray(np.linalg.qr(X[active], mode="r"))
    w = np.linalg.lstsq(X[active], y[active], rcond=None)[0]
    G = X * np.where(active, 1.0, -1.0)[:, None]  # the closed cell is G w >= 0
    G = G[G.any(axis=1)]
    G /= np.linalg.norm(G, axis=1, keepdims=True)
    reach = np.linalg.solve(R.T, G.T).T
    E = np.vstack([reach.T, -(G @ w)[None, :]])
    multipliers, _ = nnls(E, np.append(np.zeros(X.shape[1]), 1.0))
    r = E @ multipliers - np.append(np.zeros(X.shape[1]), 1.0)
    return float(np.linalg.norm(r[:-1]) / abs(r[-1]))
