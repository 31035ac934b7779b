"""The networks that the papers study; here one neuron under the square loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
