"""Minibatch descent from a balanced start, as in Section 5.1, looked at as the flow is."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from reluflow.flows.minibatches import minibatch_steps
from reluflow.losses import LOGISTIC
from reluflow.papers.phuong2021inductive.experiment import BATCH, RATE
from reluflow.papers.phuong2021inductive.own_flow import Path

_MOMENTS = 120


def descend(
    X: NDArray, y: NDArray, W0: NDArray, signs: NDArray, epochs: int, rng: np.random.Generator
) -> Path:
    """Stochastic gradient descent of the mean logistic loss from rows W0 (p, d) and a_j = signs_j
    |w_j|, on data X (n, d), y (n,); at every moment the loss of all data is summed, as the flow's.
    """
    W, a = torch.tensor(W0), torch.tensor(signs * np.linalg.norm(W0, axis=1))
    W.requires_grad_(), a.requires_grad_()
    data, targets = torch.tensor(X), torch.tensor(y > 0.0, dtype=torch.float64)

    def loss(rows: Tensor) -> Tensor:
        outputs = functional.relu(data[rows] @ W.T) @ a
        return functional.binary_cross_entropy_with_logits(outputs, targets[rows])

    batches = -(-len(y) // BATCH)
    wanted = set(np.unique(np.geomspace(1, epochs * batches, _MOMENTS).astype(int)).tolist())
    steps = minibatch_steps(torch.optim.SGD([W, a], RATE), loss, len(y), BATCH, rng)
    seen = [(0, W0.copy(), a.detach().numpy().copy())]
    for k in range(1, epochs * batches + 1):
        next(steps)
        if k in wanted:
            seen.append((k, W.detach().numpy().copy(), a.detach().numpy().copy()))
    clock = np.array([k for k, _, _ in seen]) / batches
    weights, outer = np.array([w for _, w, _ in seen]), np.array([v for _, _, v in seen])
    tau = np.array([-_log_loss(X, y, w, v) for w, v in zip(weights, outer, strict=True)])
    status = f"{epochs} epoch{'s' if epochs > 1 else ''} of minibatches"
    return Path(status, clock, weights, np.ones(len(y), bool), tau, weights, outer)


def _log_loss(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> float:
    return float(LOGISTIC.log_value(np.maximum(X @ W.T, 0.0) @ a, y))
