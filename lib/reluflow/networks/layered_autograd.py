"""The gradients of layered networks by automatic differentiation: a route of its own.

torch is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def autograd(
    weights: Sequence[ArrayLike], X: ArrayLike, Y: ArrayLike, last: str = "linear"
) -> tuple[float, list[NDArray]]:
    """Loss 1/2 sum_i |f(x_i) - y_i|^2 of a layered ReLU network and its gradients, by torch.

    Parameters: weights W^(m) (h_m, h_{m-1}), X (n, d), Y (n, h_l), the last layer "linear" or
    "relu". Returns the loss and dL/dW^(m), one array for each layer.
    """
    import torch

    layers = [torch.tensor(np.asarray(W, float), requires_grad=True) for W in weights]
    out = torch.tensor(np.asarray(X, float))
    for m, W in enumerate(layers, start=1):
        out = out @ W.T
        if m < len(layers) or last == "relu":
            out = torch.relu(out)
    value = 0.5 * ((out - torch.tensor(np.asarray(Y, float))) ** 2).sum()
    found = torch.autograd.grad(value, layers)
    return float(value.detach()), [g.numpy() for g in found]
