"""One immutable result type for every integrator."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Interpolant = Callable[[NDArray], NDArray]
"""States (k, d) at clock values (k,)."""


@dataclass(frozen=True)
class Event:
    """A change of a datum's activation: at clock `t`, `datum` (from 0) does `kind` on `neuron`.

    `kind` is "activate", "deactivate" or "slide" (the flow starts to run along the boundary).
    """

    t: float
    datum: int
    kind: str
    neuron: int = 0


@dataclass(frozen=True)
class Trajectory:
    """A path w(t) of weights.

    t        (m,) knots: the start and every event (or the last step); the clock's unit is `clock`
    states   (m, d) weights at the knots
    events   changes of activation in the order in which they happen
    status   "converged", "sliding" (along a boundary; of `affine_flow`: converged there),
             "horizon", "stopped", "non-unique", "stalled", "stiff", "diverged"
    clock    "time" or "log(1/loss)"
    end      (d,) the limit where the path has one, else the last state
    detail   one sentence on how the path ended
    """

    t: NDArray
    states: NDArray
    events: tuple[Event, ...]
    status: str
    clock: str
    end: NDArray
    detail: str
    interpolant: Interpolant = field(repr=False)
    settled: float = field(repr=False)

    def at(self, t: ArrayLike) -> NDArray:
        """States at clock values t (...,), shape (..., d); exact between knots, `end` at infinity.

        Raises ValueError for t before the first knot, or past the last one of a path without limit.
        """
        t = np.asarray(t, float)
        if np.any(t < self.t[0]) or np.any(np.isnan(t)):
            raise ValueError(f"t must be at least {self.t[0]:g}, the start of the trajectory")
        if not self.has_limit and np.any(t > self.t[-1]):
            raise ValueError(f"t must be at most {self.t[-1]:g}: the path ended ({self.status})")
        flat = self.interpolant(t.ravel())
        return flat.reshape(*t.shape, self.states.shape[1])

    @property
    def has_limit(self) -> bool:
        """Whether the path runs on for ever to `end`."""
        return self.status in ("converged", "sliding")

    def first_time(self, datum: int, kind: str) -> float:
        """Clock value of the first event `kind` of `datum` (from 0); nan if there is none."""
        times = (e.t for e in self.events if e.datum == datum and e.kind == kind)
        return next(times, float("nan"))

    def grid(self, points: int = 200) -> NDArray:
        """Clock values that resolve every stretch between events, for drawing.

        Each stretch gets `points` values, dense at its two ends; the last one stops where every
        transient is below one part in 10^12.
        """
        stops = np.append(self.t, self.settled) if self.settled > self.t[-1] else self.t
        if len(stops) == 1:
            return stops
        u = np.concatenate([[0.0], np.geomspace(1e-6, 0.5, points // 2)])
        u = np.concatenate([u, 1.0 - u[-2::-1]])
        pieces = [a + (b - a) * u for a, b in itertools.pairwise(stops)]
        return np.unique(np.concatenate(pieces))


def piecewise(starts: Sequence[float], pieces: Sequence[Interpolant], d: int) -> Interpolant:
    """Of each clock value the state (d,) by the last piece that has started by then."""

    def states(t: NDArray) -> NDArray:
        which, out = np.searchsorted(starts, t, side="right") - 1, np.empty((len(t), d))
        for k in np.unique(which):
            out[which == k] = pieces[k](t[which == k])
        return out

    return states
