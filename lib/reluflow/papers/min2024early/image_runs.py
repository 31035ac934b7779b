"""Runs on images that a page can afford: descent step by step, and the gradient flow beside it."""

from __future__ import annotations

from itertools import islice

import numpy as np

from reluflow.flows.shallow_descent import State, descent
from reluflow.flows.stabilised import stabilised_flow
from reluflow.networks.dense import one_thread
from reluflow.networks.shallow import Neurons
from reluflow.papers.min2024early.mnist import Curves, Seen, Task

TOLERANCE = 1e-4
"""Error of a step of the flow, relative to the size of all weights."""


def stepped(task: Task, seed: int, every: int) -> tuple[Curves, Neurons]:
    """All steps of a task's descent: its curves at every so many of them, and the last weights."""
    with one_thread():
        start, still = task.start(seed)
        path = descent(task.loss, start, task.setting.step, task.setting.step)
        states = list(islice(path, 0, task.setting.n_steps + 1, every))
        return Curves.of(task.seen(state, still) for state in states), states[-1].neurons


def flowed(task: Task, seed: int, points: int) -> tuple[Curves, int]:
    """The curves of the gradient flow, and the gradients that it took; as `flow_states`."""
    seen, gradients = flow_states(task, seed, points)
    return Curves.of(seen), gradients


def flow_states(task: Task, seed: int, points: int) -> tuple[list[Seen], int]:
    """The gradient flow from the same start to the time of the last step, t = step * n_steps, by
    the stabilised method: what is seen at so many times, in steps, and the gradients it took."""
    with one_thread():
        start, still = task.start(seed)
        until = task.setting.step * task.setting.n_steps
        path = stabilised_flow(
            lambda w: task.loss.value_and_slope(start.like(w))[1].flat,
            start.flat,
            until,
            TOLERANCE,
        )
        steps = np.linspace(0, task.setting.n_steps, points).round().astype(int)
        seen = []
        for step, flat in zip(steps, path.at(steps * task.setting.step), strict=True):
            neurons = start.like(start.flat.new_tensor(flat))
            state = State(int(step), neurons, task.loss.value(neurons))
            seen.append(task.seen(state, still))
        return seen, path.evaluations
