"""A second method in the plainest arithmetic: gradient descent as a loop, one step at a time.

It shares no code with the exact flow and descent, and is slow on purpose.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def plain_descent(
    X: ArrayLike, y: ArrayLike, w0: ArrayLike, step: float, n_steps: int, activation: str = "relu"
) -> NDArray:
    """All weights (n_steps + 1, d) of w <- w - step * gradient, for X (n, d), y (n,), w0 (d,)."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    path = np.empty((n_steps + 1, X.shape[1]))
    path[0] = w0
    for k in range(n_steps):
        h = X @ path[k]
        residual = h - y
        if activation == "relu":
            residual[h <= 0.0] = 0.0
        path[k + 1] = path[k] - step * (residual @ X)
    return path


def best_of_many(
    X: ArrayLike, y: ArrayLike, starts: ArrayLike, step: float, n_steps: int
) -> tuple[NDArray, float]:
    """The best end point (d,) and loss of plain descents from all starts (k, d) side by side."""
    X, y, W = np.asarray(X, float), np.asarray(y, float), np.array(starts, float)
    for _ in range(n_steps):
        H = W @ X.T
        W -= step * (np.where(H > 0.0, H - y, 0.0) @ X)
    losses = 0.5 * ((np.maximum(W @ X.T, 0.0) - y) ** 2).sum(axis=1)
    best = int(np.argmin(losses))
    return W[best], float(losses[best])
