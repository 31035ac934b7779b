"""Descent of a two-layer ReLU network on many data: all data at each step, or some of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from reluflow.networks.shallow import Differentiable, Neurons, ShallowLoss


@dataclass(frozen=True)
class State:
    """After `step` steps: the weights, and the loss on all data."""

    step: int
    neurons: Neurons
    loss: float


def descent(
    problem: Differentiable, start: Neurons, step_W: float, step_v: float
) -> Iterator[State]:
    """Every step of W <- W - step_W grad_W L, v <- v - step_v grad_v L, the start first, without
    end; step_v = 0 trains the first layer only."""
    neurons, step = start, 0
    while True:
        loss, slope = problem.value_and_slope(neurons)
        yield State(step, neurons, loss)
        neurons, step = neurons.moved(slope, step_W, step_v), step + 1


def stochastic_descent(
    problem: ShallowLoss,
    start: Neurons,
    step_W: float,
    step_v: float,
    batch: int,
    rng: np.random.Generator,
) -> Iterator[State]:
    """The same with the gradient on `batch` data at a time, drawn without repetition in an epoch,
    whose last batch may be smaller. The states are those at the end of each epoch, the start first,
    and `step` counts epochs."""
    neurons, epoch = start, 0
    while True:
        yield State(epoch, neurons, problem.value(neurons))
        order = torch.from_numpy(rng.permutation(problem.n))
        for rows in order.split(batch):
            neurons = neurons.moved(problem.of(rows).value_and_slope(neurons)[1], step_W, step_v)
        epoch += 1
