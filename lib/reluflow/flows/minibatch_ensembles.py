"""Descent on minibatches of many networks side by side, each on its own data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from reluflow.networks.residual import Weights, slopes


def minibatch_ensemble(
    weights: Weights,
    X: NDArray,
    y: NDArray,
    rate: float,
    batch: int,
    epochs: Iterable[int],
    rngs: Sequence[np.random.Generator],
    mean: bool = True,
) -> Iterator[tuple[int, list[NDArray], NDArray]]:
    """Descent by W <- W - rate dL/dW on the logistic loss L of a batch, its mean or its sum.

    Every epoch takes a network's n data once, in an order that its own generator draws, `batch` at
    a time; what is left is the last batch. So a network's path is the same beside any others.

    weights, X, y  as in `reluflow.networks.residual`, with one leading axis: the networks
    epochs         ascending: after these (0: at the start) it gives the epoch, the weights
                   (arrays that it goes on to leave alone) and the mean loss over the epoch (S,)
    rngs           S generators
    """
    weights = [W.copy() for W in weights]
    rows, n = np.arange(len(X))[:, None], X.shape[1]
    done, mean_loss = 0, np.full(len(X), np.nan)
    for epoch in epochs:
        for _ in range(epoch - done):
            order = np.array([rng.permutation(n) for rng in rngs])
            total = np.zeros(len(X))
            for part in np.split(order, range(batch, n, batch), axis=1):
                gradients, loss = slopes(weights, X[rows, part], y[rows, part])
                step = rate / part.shape[1] if mean else rate
                for W, gradient in zip(weights, gradients, strict=True):
                    gradient *= step
                    W -= gradient
                total += loss
            mean_loss = total / n
        done = epoch
        yield epoch, [W.copy() for W in weights], mean_loss
