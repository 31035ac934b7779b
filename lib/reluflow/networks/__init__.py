"""The networks that the papers study, under the square loss: one ReLU neuron, and many layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


def loss(X: ArrayLike, y: ArrayLike, w: ArrayLike, activation: str = "relu") -> NDArray:
    """Square loss of one neuron, L(w) = 1/2 sum_i (s(w.x_i) - y_i)^2 (Lee et al. 2022, eq. 1).

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


@dataclass(frozen=True)
class BackPropagation:
    """Forward and backward pass of a deep network, layer by layer (Lee et al. 2022, Appendix C).

    All are tuples over the layers m = 1, ..., l; layer m has h_m units, and h_0 = d.

    inputs   x^(m) (..., n, h_{m-1}): x^(1) = x and x^(m) = o^(m-1)
    outputs  o^(m) (..., n, h_m): [W^(m) x^(m)]_+, without the ReLU in the last layer
    deltas   delta^(m) (..., n, h_m): o^(l) - y, and 1{o^(m) > 0} * W^(m+1)T delta^(m+1) before it
    labels   y^(m) (..., n, h_m), the back-propagated ones: y, and o^(m) - delta^(m) before it
    """

    inputs: tuple[NDArray, ...]
    outputs: tuple[NDArray, ...]
    deltas: tuple[NDArray, ...]
    labels: tuple[NDArray, ...]

    @property
    def gradients(self) -> tuple[NDArray, ...]:
        """dL/dW^(m) = sum_i delta_i^(m) x_i^(m)T (eqs. 9 and 10), each (..., h_m, h_{m-1})."""
        pairs = zip(self.deltas, self.inputs, strict=True)
        return tuple(np.swapaxes(delta, -1, -2) @ x for delta, x in pairs)


def backpropagate(weights: Sequence[ArrayLike], X: ArrayLike, Y: ArrayLike) -> BackPropagation:
    """Both passes of f(x) = W^(l) [... [W^(1) x]_+ ...]_+ under L = 1/2 sum_i |f(x_i) - y_i|^2.

    Parameters: weights W^(m) (..., h_m, h_{m-1}), X (..., n, d), Y (..., n, h_l); leading axes are
    networks side by side. The derivative of ReLU at 0 is taken as 0.
    """
    layers = [np.asarray(W, float) for W in weights]
    inputs, outputs = [np.asarray(X, float)], []
    for m, W in enumerate(layers, start=1):
        h = inputs[-1] @ np.swapaxes(W, -1, -2)
        outputs.append(h if m == len(layers) else np.maximum(h, 0.0))
        inputs.append(outputs[-1])
    deltas = [outputs[-1] - np.asarray(Y, float)]
    for W, o in zip(layers[:0:-1], outputs[-2::-1], strict=True):
        deltas.append(np.where(o > 0.0, deltas[-1] @ W, 0.0))
    deltas.reverse()
    labels = [o - delta for o, delta in zip(outputs[:-1], deltas[:-1], strict=True)]
    return BackPropagation(
        inputs=tuple(inputs[:-1]),
        outputs=tuple(outputs),
        deltas=tuple(deltas),
        labels=(*labels, np.broadcast_to(np.asarray(Y, float), outputs[-1].shape)),
    )
