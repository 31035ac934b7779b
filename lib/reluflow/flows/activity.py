"""Which data are active along a path of one ReLU neuron: its crossings, cells and returns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.flows.trajectory import Trajectory


@dataclass(frozen=True)
class Crossing:
    """The flow meets the boundary of `datum` (from 0) at time t in w (d,); the cells `before` and
    `after` are given by their active data (n,). They differ in `datum` and in all data that change
    with it, as parallel ones do."""

    t: float
    datum: int
    w: NDArray
    before: NDArray
    after: NDArray

    @property
    def activates(self) -> bool:
        """Whether the datum becomes active."""
        return bool(self.after[self.datum])


def crossings(X: ArrayLike, path: Trajectory) -> tuple[Crossing, ...]:
    """The boundary crossings of a ReLU path that starts inside a cell, one a datum, in order."""
    on = np.asarray(X, float) @ path.states[0] > 0.0
    found: list[Crossing] = []
    for event in path.events:
        together = bool(found) and found[-1].t == event.t
        before, on = found[-1].before if together else on, on.copy()
        on[event.datum] = event.kind == "activate"
        found = [replace(step, after=on) if step.t == event.t else step for step in found]
        found.append(Crossing(event.t, event.datum, path.at(event.t), before, on))
    return tuple(found)


def visited_cells(X: ArrayLike, path: Trajectory) -> list[NDArray]:
    """The cells that a ReLU path passes, by their active data (n,), in order; data that change at
    one time change together."""
    on = np.asarray(X, float) @ path.states[0] > 0.0
    cells = {0.0: on}
    for step in crossings(X, path):
        cells[step.t] = step.after
    return list(cells.values())


def deactivated(path: Trajectory) -> list[int]:
    """The data that events deactivate, one entry an event, in their order."""
    return [event.datum for event in path.events if event.kind == "deactivate"]


def reactivations(path: Trajectory) -> int:
    """How many events activate a datum that an earlier event had deactivated."""
    gone, count = set(), 0
    for event in path.events:
        if event.kind == "activate" and event.datum in gone:
            count += 1
        elif event.kind == "deactivate":
            gone.add(event.datum)
    return count
