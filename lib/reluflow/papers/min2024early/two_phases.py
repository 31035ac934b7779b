"""Changes of norms and of directions along SGD (Min et al. 2024, A.5, Figures 12 and 13)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray

from reluflow.flows.shallow_descent import stochastic_descent
from reluflow.networks.shallow import Neurons, ShallowLoss
from reluflow.papers.min2024early.mnist import Task

BATCH = 2000


@dataclass(frozen=True)
class Rates:
    """At the end of an epoch: the loss, sum_j d/dt |w_j|^2 and sum_j |d/dt (w_j/|w_j|)| under
    dw_j/dt = -grad_j L on all data, and the norms sum_j |w_j|^2."""

    epoch: int
    loss: float
    norms: float
    directions: float
    squares: float


def rates(epoch: int, problem: ShallowLoss, neurons: Neurons, still: NDArray) -> Rates:
    """The two changes of A.5; `still` (h,) are squared norms on pixels that are always 0.

    sum_j 2 <-grad_j L, w_j>,    sum_j |(I - w_j w_j^T / |w_j|^2) (-grad_j L)| / |w_j|.
    """
    loss, slope = problem.value_and_slope(neurons)
    W, G = neurons.W, slope.W
    squares = (W * W).sum(dim=1) + torch.tensor(still)
    along = (G * W).sum(dim=1)
    across = ((G * G).sum(dim=1) - along**2 / squares).clamp(min=0.0)
    turned = (across / squares).sqrt().sum()
    return Rates(epoch, loss, 2.0 * float(along.sum()), float(turned), float(squares.sum()))


def both_layers(task: Task, seed: int, epochs: int) -> Iterator[Rates]:
    """Figure 12: SGD on both layers, batch 2000."""
    neurons, still = task.start(seed)
    return _epochs(task, neurons, still, task.setting.step, seed, epochs)


def first_layer(task: Task, seed: int, epochs: int) -> Iterator[Rates]:
    """Figure 13: v_j = +-1 with equal probability, and only W is trained."""
    neurons, still = task.start(seed)
    signs = np.random.default_rng((seed, 1)).choice([-1.0, 1.0], task.setting.width)
    return _epochs(task, Neurons(neurons.W, torch.tensor(signs)), still, 0.0, seed, epochs)


def _epochs(
    task: Task, start: Neurons, still: NDArray, step_v: float, seed: int, epochs: int
) -> Iterator[Rates]:
    rng, setting = np.random.default_rng((seed, 2)), task.setting
    path = stochastic_descent(task.loss, start, setting.step, step_v, BATCH, rng)
    for state in islice(path, epochs + 1):
        yield rates(state.step, task.loss, state.neurons, np.diag(still))
