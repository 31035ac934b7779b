"""At which clock values a trajectory is drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.trajectory import Trajectory

MOST = 6000  # so many points are enough for any curve, however many events it has


def drawing_times(trajectory: Trajectory, points: int = 200) -> NDArray:
    """Return the increasing clock values (k,) at which a trajectory is drawn.

    A flow is drawn on its own `grid`, with `points` a stretch unless there are very many stretches;
    a descent on about `points` even and `points` geometric steps and at its events. The number of
    values does not depend on rounding: two values that differ by rounding only are one.
    """
    if trajectory.clock == "steps":
        first, last = float(trajectory.t[0]), float(trajectory.t[-1])
        even = np.linspace(first, last, points)
        early = np.geomspace(1.0, max(last - first, 1.0), points) + first
        events = np.array([e.t for e in trajectory.events], float)
        return np.unique(np.clip(np.round(np.concatenate([even, early, events])), first, last))
    t = np.sort(trajectory.grid(max(10, min(points, MOST // len(trajectory.t)))))
    fresh = np.diff(t) > 8 * np.finfo(float).eps * np.abs(t[1:])
    return t[np.concatenate([[True], fresh])]
