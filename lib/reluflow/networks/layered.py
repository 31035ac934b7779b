"""Layered ReLU networks with any number of outputs: f(x) = W^(l) [... [W^(1) x]_+ ...]_+.

Weights are matrices W^(m) (..., h_m, h_{m-1}) in order; leading axes are networks side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Weights = Sequence[NDArray]


@dataclass(frozen=True)
class Passes:
    """Forward and backward pass under L = 1/2 sum_i |f(x_i) - y_i|^2, layer by layer.

    All are tuples over the layers m = 1, ..., l; layer m has h_m units, and h_0 = d.

    inputs   x^(m) (..., n, h_{m-1}): x^(1) = x and x^(m) = o^(m-1)
    outputs  o^(m) (..., n, h_m): [W^(m) x^(m)]_+, without the ReLU in the last layer
    deltas   delta^(m) (..., n, h_m): o^(l) - y, and 1{o^(m) > 0} * W^(m+1)T delta^(m+1) before it
    """

    inputs: tuple[NDArray, ...]
    outputs: tuple[NDArray, ...]
    deltas: tuple[NDArray, ...]

    @property
    def gradients(self) -> tuple[NDArray, ...]:
        """dL/dW^(m) = sum_i delta_i^(m) x_i^(m)T, each (..., h_m, h_{m-1})."""
        pairs = zip(self.deltas, self.inputs, strict=True)
        return tuple(np.swapaxes(delta, -1, -2) @ x for delta, x in pairs)

    @property
    def active(self) -> NDArray:
        """Which hidden units are active on which data, (..., n, units of all hidden layers)."""
        return np.concatenate([o > 0.0 for o in self.outputs[:-1]], axis=-1)


def backpropagate(weights: Sequence[ArrayLike], X: ArrayLike, Y: ArrayLike) -> Passes:
    """Both passes for X (..., n, d) and Y (..., n, h_l); the derivative of ReLU at 0 is 0."""
    layers = [np.asarray(W, float) for W in weights]
    inputs, outputs = [np.asarray(X, float)], []
    for m, W in enumerate(layers, start=1):
        h = inputs[-1] @ np.swapaxes(W, -1, -2)
        outputs.append(h if m == len(layers) else np.maximum(h, 0.0))
        inputs.append(outputs[-1])
    deltas = [outputs[-1] - np.asarray(Y, float)]
    for W, o in zip(layers[:0:-1], outputs[-2::-1], strict=True):
        deltas.append(np.where(o > 0.0, deltas[-1] @ W, 0.0))
    return Passes(tuple(inputs[:-1]), tuple(outputs), tuple(deltas[::-1]))


def descend(weights: Weights, X: NDArray, Y: NDArray, step: float, n_steps: int) -> list[NDArray]:
    """The weights after `n_steps` steps of gradient descent."""
    for _ in range(n_steps):
        gradients = backpropagate(weights, X, Y).gradients
        weights = [W - step * G for W, G in zip(weights, gradients, strict=True)]
    return list(weights)


def squared_norms(weights: Weights) -> NDArray:
    """|W^(m)|_F^2 of every layer, shape (l, ...)."""
    return np.array([(np.asarray(W) ** 2).sum(axis=(-1, -2)) for W in weights])
