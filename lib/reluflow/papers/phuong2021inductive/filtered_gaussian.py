"""The data of Section 5.1 of Phuong & Lampert 2021, drawn exactly, and its network's spectrum."""

from __future__ import annotations

from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from reluflow.flows.minibatches import minibatch_steps


def filtered_gaussian(d: int, n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """X (n, d), y (n,): normal vectors, kept with label +1 in the first orthant and with -1 in the
    opposite one, where <x, z> >= 0 with z = (1, -1, 1, -1, ...).

    A normal vector in an orthant is one with the signs of that orthant, so nothing is drawn in
    vain but for the second condition. It keeps one half of either label: for even d the swap of
    neighbouring coordinates turns its sign.
    """
    z = np.where(np.arange(d) % 2 == 0, 1.0, -1.0)
    found: list[NDArray] = []
    while sum(map(len, found)) < n:
        X = np.abs(rng.standard_normal((n, d))) * rng.choice([-1.0, 1.0], (n, 1))
        found.append(X[X @ z >= 0.0])
    X = np.concatenate(found)[:n]
    return X, np.where(X[:, 0] > 0.0, 1.0, -1.0)


def singular_values(seed: int, epochs: int = 500) -> NDArray:
    """The singular values of W after the run of Section 5.1: 500 data in R^20, width 100, batch 50,
    rate 0.1, all weights times 0.05; without biases, on the mean loss, from PyTorch's start."""
    rng = np.random.default_rng(seed)
    X, y = filtered_gaussian(20, 500, rng)
    W, a = (
        torch.tensor(0.05 * rng.uniform(-1.0, 1.0, shape) / shape[1] ** 0.5).requires_grad_()
        for shape in ((100, 20), (1, 100))
    )
    data, targets = torch.tensor(X), torch.tensor(y > 0, dtype=torch.float64)

    def loss(rows: Tensor) -> Tensor:
        outputs = functional.linear(functional.relu(functional.linear(data[rows], W)), a)
        return functional.binary_cross_entropy_with_logits(outputs[:, 0], targets[rows])

    steps = minibatch_steps(torch.optim.SGD([W, a], 0.1), loss, 500, 50, rng)
    for _ in islice(steps, 10 * epochs):
        pass
    return np.linalg.svd(W.detach().numpy(), compute_uv=False)
