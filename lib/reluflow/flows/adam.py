"""Adam on minibatches, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor


def adam(
    loss: Callable[[Tensor], Tensor],
    weights: Sequence[Tensor],
    rate: float,
    n: int,
    batch: int,
    rng: np.random.Generator,
) -> Iterator[float]:
    """Adam (Kingma & Ba 2015, with PyTorch's other constants) on the mean loss of minibatches.

    Every epoch goes through the n data once, in a new order, `batch` at a time; the last batch of
    an epoch is what is left.

    loss     the mean loss of the data with these indices (m,), a function of `weights`
    weights  tensors that are moved in place
    rate     the step size
    Returns an iterator without an end that takes a step each time and gives the loss before it.
    """
    moved = [w.requires_grad_() for w in weights]
    optimiser = torch.optim.Adam(moved, lr=rate, fused=True)
    while True:
        for indices in np.array_split(rng.permutation(n), range(batch, n, batch)):
            optimiser.zero_grad()
            value = loss(torch.as_tensor(indices, device=moved[0].device))
            value.backward()
            optimiser.step()
            yield float(value.detach())
