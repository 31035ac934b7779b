"""Layered ReLU networks with any number of outputs: f(x) = W^(l) [... [W^(1) x]_+ ...]_+.

Weights are matrices W^(m) (..., h_m, h_{m-1}) in order; leading axes are networks side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def forward(
    weights: Weights, X: NDArray, hidden: int, slope: Callable[[int, NDArray], NDArray]
) -> tuple[list[NDArray], list[NDArray]]:
    """What goes into every layer, and its pre-activations h; behind the first `hidden` layers, from
    0, stands an activation that passes on h * slope(layer, h)."""
    inputs, before = [X], []
    for layer, W in enumerate(weights):
        before.append(inputs[-1] @ np.swapaxes(W, -1, -2))
        if layer < hidden:
            inputs.append(before[-1] * slope(layer, before[-1]))
    return inputs, before


def backward(weights: Weights, slopes: Sequence[NDArray], last: NDArray) -> list[NDArray]:
    """delta^(m) = slope^(m) * W^(m+1)T delta^(m+1) of every layer, from the `last` one back."""
    deltas = [last]
    for layer in range(len(weights) - 1, 0, -1):
        deltas.append((deltas[-1] @ weights[layer]) * slopes[layer - 1])
    return deltas[::-1]


def backpropagate(weights: Sequence[ArrayLike], X: ArrayLike, Y: ArrayLike) -> Passes:
    """Both passes for X (..., n, d) and Y (..., n, h_l); the derivative of ReLU at 0 is 0."""
    layers = [np.asarray(W, float) for W in weights]
    inputs, before = forward(layers, np.asarray(X, float), len(layers) - 1, lambda _, h: h > 0.0)
    active = [h > 0.0 for h in before[:-1]]
    deltas = backward(layers, active, before[-1] - np.asarray(Y, float))
    return Passes(tuple(inputs), (*inputs[1:], before[-1]), tuple(deltas))


def descend(weights: Weights, X: NDArray, Y: NDArray, step: float, n_steps: int) -> list[NDArray]:
    """The weights after `n_steps` steps of gradient descent."""
    for _ in range(n_steps):
        gradients = backpropagate(weights, X, Y).gradients
        weights = [W - step * G for W, G in zip(weights, gradients, strict=True)]
    return list(weights)


def squared_norms(weights: Weights) -> NDArray:
    """|W^(m)|_F^2 of every layer, shape (l, ...)."""
    return np.array([(np.asarray(W) ** 2).sum(axis=(-1, -2)) for W in weights])
