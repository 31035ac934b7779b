"""Training on minibatches by any of PyTorch's optimisers, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor


def minibatch_steps(
    optimiser: torch.optim.Optimizer,
    loss: Callable[[Tensor], Tensor],
    n: int,
    batch: int,
    rng: np.random.Generator,
) -> Iterator[float]:
    """Steps on the mean loss of minibatches, without end; each gives the loss before it.

    Every epoch goes through the n data once, in a new order, `batch` at a time; the last batch of
    an epoch is what is left.

    optimiser  moves its tensors in place
    loss       the mean loss of the data with these indices (m,), a function of those tensors
    """
    device = optimiser.param_groups[0]["params"][0].device
    while True:
        for indices in np.array_split(rng.permutation(n), range(batch, n, batch)):
            optimiser.zero_grad()
            value = loss(torch.as_tensor(indices, device=device))
            value.backward()
            optimiser.step()
            yield float(value.detach())
