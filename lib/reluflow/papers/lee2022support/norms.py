"""Paths from small starts: the norm they lose, the boundaries they cross."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.papers.lee2022support.small_starts import guaranteed_radius


def norm_lost(path: Trajectory, points: int = 60, since: float = 0.0) -> float:
    """The largest |w(s)|^2 - |w(t)|^2 over s < t, s at least `since`, on the path's own grid."""
    times = path.grid(points)
    states = np.vstack([path.at(times[times >= since]), path.end])
    squares = (states**2).sum(axis=1)
    return float(np.max(np.maximum.accumulate(squares) - squares))


@dataclass(frozen=True)
class Crossing:
    """The flow meets the boundary of `datum` (from 0) at time t in w (d,); the cells `before` and
    `after` are given by their active data (n,)."""

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
    """The boundary crossings of a ReLU path that starts inside a cell, in their order."""
    on = np.asarray(X, float) @ path.states[0] > 0.0
    found = []
    for event in path.events:
        before, on = on, on.copy()
        on[event.datum] = event.kind == "activate"
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


def starts_of(
    item: Mapping[str, NDArray],
    norms: Sequence[float],
    radius: Callable[[ArrayLike, ArrayLike], float] = guaranteed_radius,
) -> list[NDArray]:
    """The starts (d,) of these norms, in units of the radius of the data, along the instance's "u",
    by default along X^T y."""
    X, y = item["X"], item["y"]
    u = np.asarray(item.get("u", X.T @ y), float)
    u = u / np.abs(u).max()  # its square must not underflow
    return [norm * radius(X, y) * u / np.linalg.norm(u) for norm in norms]


def small_flows(
    item: Mapping[str, NDArray],
    norms: Sequence[float],
    radius: Callable[[ArrayLike, ArrayLike], float] = guaranteed_radius,
) -> list[Trajectory]:
    """The exact flows of an instance from `starts_of`."""
    return [affine_flow(item["X"], item["y"], w0) for w0 in starts_of(item, norms, radius)]
