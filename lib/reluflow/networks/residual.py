"""Residual ReLU networks side by side, each on its own data (Phuong & Lampert 2021, eq 30).

    f^1 = W_1 x,   f^l = f^(l-1) + W_l [f^(l-1)]_+  for 1 < l < L,   f = W_L [f^(L-1)]_+

For L = 2 this is the two-layer network. Weights are W_1 (..., p, d), W_2 to W_(L-1) (..., p, p) and
W_L (..., 1, p); leading axes are networks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Weights = Sequence[NDArray]


def shapes(depth: int, width: int, d: int) -> list[tuple[int, int]]:
    """The shapes of W_1, ..., W_L for L = depth >= 2."""
    return [(width, d), *[(width, width)] * (depth - 2), (1, width)]


def features(weights: Weights, X: NDArray) -> list[NDArray]:
    """f^1, ..., f^(L-1), each (..., n, p), of data X (..., n, d)."""
    found = [X @ np.swapaxes(weights[0], -1, -2)]
    for W in weights[1:-1]:
        found.append(found[-1] + np.maximum(found[-1], 0.0) @ np.swapaxes(W, -1, -2))
    return found


def outputs(weights: Weights, X: NDArray) -> NDArray:
    """f(x_i), shape (..., n)."""
    last = np.maximum(features(weights, X)[-1], 0.0)
    return np.asarray((last @ np.swapaxes(weights[-1], -1, -2))[..., 0])


def slopes(weights: Weights, X: NDArray, y: NDArray) -> tuple[list[NDArray], NDArray]:
    """The gradients of sum_i log(1 + e^(-y_i f(x_i))) in W_1, ..., W_L, and that sum (...,).

    X (..., n, d), labels y (..., n) of +1 and -1. The slope of the ReLU at 0 is 0.
    """
    found = features(weights, X)
    rectified = [np.maximum(f, 0.0) for f in found]
    margins = y * (rectified[-1] @ np.swapaxes(weights[-1], -1, -2))[..., 0]
    small = np.exp(-np.abs(margins))
    loss = np.sum(np.log1p(small) + np.maximum(-margins, 0.0), axis=-1)
    pull = -y * np.where(margins > 0.0, small, 1.0) / (1.0 + small)
    gradients = [pull[..., None, :] @ rectified[-1]]
    delta = pull[..., None] * weights[-1] * (found[-1] > 0.0)
    for k in range(len(weights) - 2, 0, -1):
        gradients.append(np.swapaxes(delta, -1, -2) @ rectified[k - 1])
        delta = delta + (delta @ weights[k]) * (found[k - 1] > 0.0)
    gradients.append(np.swapaxes(delta, -1, -2) @ X)
    return gradients[::-1], loss
