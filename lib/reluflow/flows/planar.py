"""Exact flows of one neuron in the plane, thousands at a time in lock-step.

For d = 2 the matrix H of a cell has two eigenvalues l_1 >= l_2 in closed form, so inside the cell

    h_j(t) = x_j.w(t) = h_j(0) + A_j (1 - exp(-l_1 t)) + B_j (1 - exp(-l_2 t))

has at most one critical point, known in closed form, and at most two zeros. Every step takes all
flows that still move to their next event (Lee et al. 2022a, eqs. 2-3, labels y > 0 by A2). A flow
that meets a choice too fine for this arithmetic is left undecided: `affine_flow` decides it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.flows.affine import affine_flow
from reluflow.flows.planar_cells import Cells, cells_of
from reluflow.flows.planar_events import next_events
from reluflow.flows.trajectory import Event, Trajectory, fading_time


@dataclass(frozen=True)
class PlanarFlows:
    """The flows of B neurons in the plane; m is the largest number of events of any of them.

    X, y      (B, n, 2), (B, n) the data and labels
    times     (B, m) of the events, padded with inf
    datum     (B, m) the datum that changes, padded with -1; parallel data one by one
    rising    (B, m) whether it becomes active
    states    (B, m + 1, 2) weights at the start and at the events, padded with the limit
    patterns  (B, m + 1, n) active data at first and after each event; padded with the last
    ends      (B, 2) the limits, NaN where undecided
    count     (B,) number of events
    decided   (B,) false where the arithmetic leaves a choice open; no event is told of such a row
    """

    X: NDArray
    y: NDArray
    times: NDArray
    datum: NDArray
    rising: NDArray
    states: NDArray
    patterns: NDArray
    ends: NDArray
    count: NDArray
    decided: NDArray

    def __len__(self) -> int:
        return len(self.decided)

    def __getitem__(self, k: int) -> Trajectory:
        """The flow of neuron k; that of `affine_flow` where the row is undecided."""
        if not self.decided[k]:
            return affine_flow(self.X[k], self.y[k], self.states[k, 0])
        one = PlanarFlows(*(getattr(self, each.name)[[k]] for each in fields(self)))
        c = int(self.count[k])
        last = np.append(np.diff(self.times[k, :c]) > 0.0, np.ones(min(c, 1), bool))
        knots = np.append(True, last)  # parallel data change at one time, one by one
        return Trajectory(
            t=np.append(0.0, self.times[k, :c])[knots],
            states=self.states[k, : c + 1][knots],
            events=tuple(
                Event(float(t), int(j), "activate" if up else "deactivate")
                for t, j, up in zip(self.times[k, :c], self.datum[k], self.rising[k], strict=False)
            ),
            status="converged",
            clock="time",
            end=self.ends[k],
            detail="the limit of a flow in the plane",
            interpolant=lambda t: one.at(t)[0],
            settled=float(one._stops()[0]),
        )

    def deactivations(self) -> NDArray:
        """Number (B,) of events at which a datum ceases to be active."""
        return ((self.datum >= 0) & ~self.rising).sum(axis=1)

    def reactivations(self) -> NDArray:
        """Number (B,) of events that activate a datum which an earlier one deactivated."""
        fell = (self.datum >= 0) & ~self.rising
        same = self.datum[:, :, None] == self.datum[:, None, :]
        earlier = np.tri(self.datum.shape[1], k=-1, dtype=bool)
        return (self.rising & (same & earlier & fell[:, None, :]).any(axis=2)).sum(axis=1)

    def at(self, t: ArrayLike) -> NDArray:
        """States (B, k, 2) at the times t (k,), or t (B, k) with times of their own for each row.

        They are at least 0, infinity allowed. NaN where undecided.
        """
        t = np.atleast_1d(np.asarray(t, float))
        if t.shape[:-1] not in ((), (len(self),)) or np.any(np.isnan(t)) or np.any(t < 0.0):
            raise InputError("t must be one row, or one a flow, and at least 0, the flows' start")
        cells, since = self._segments(np.broadcast_to(t, (len(self), t.shape[-1])))
        return np.where(self.decided[:, None, None], cells.after(since), np.nan)

    def grid(self, points: int = 60) -> NDArray:
        """Times (B, k) that resolve every stretch between events, dense at its two ends.

        The last stretch goes on until its transients are below one part in 10^12; rows of fewer
        events repeat that time.
        """
        u = np.concatenate([[0.0], np.geomspace(1e-6, 0.5, max(points // 2, 1))])
        u = np.concatenate([u, 1.0 - u[-2::-1]])
        starts, last = self._starts(), self._stops()[:, None]
        stops = np.minimum(np.append(starts, starts[:, :1] + np.inf, axis=1), last)
        left, right = stops[:, :-1, None], stops[:, 1:, None]
        times = left + (right - left) * u
        return times.reshape(len(self), times.shape[1] * len(u))

    def _starts(self) -> NDArray:
        return np.concatenate([np.zeros((len(self), 1)), self.times], axis=1)

    def _stops(self) -> NDArray:
        """When (B,) the transients of the last cell are below one part in 10^12."""
        rows, last = np.arange(len(self)), self.count
        w, on = self.states[rows, last], self.patterns[rows, last]
        cells = cells_of(self.X, self.y, w, on)[0]
        left = np.abs(np.where(cells.rates > 0.0, cells.d, 0.0)).max(axis=-1)
        wait = fading_time(left, np.linalg.norm(self.ends, axis=-1), cells.slowest)
        return self._starts()[rows, last] + wait

    def _segments(self, t: NDArray) -> tuple[Cells, NDArray]:
        """The cells at times t (B, k), and the times since their starts."""
        passed = (self.times[:, None, :] <= t[:, :, None]).sum(axis=2)
        index = np.minimum(passed, self.count[:, None])
        every = cells_of(self.X[:, None], self.y[:, None], self.states, self.patterns)[0]
        chosen = every.taken(np.arange(len(self))[:, None], index)
        return chosen, t - np.take_along_axis(self._starts(), index, axis=1)


def planar_flows(X: ArrayLike, y: ArrayLike, w0: ArrayLike, max_events: int = 200) -> PlanarFlows:
    """Gradient flows dw/dt = q(w) - H(w) w of B neurons in the plane, exactly (eqs. 2-3).

    Parameters: X (B, n, 2) data, of which zero rows stand for no datum; y (B, n) positive labels
    (A2); w0 (B, 2) starts; max_events after which a row is given up.

    Returns `PlanarFlows`. Undecided are rows that start on a boundary, meet two at once (not of
    parallel data) or one nearly tangentially, end on one, need more events, or have an H so
    ill-conditioned that rounding could show. Their rows hold the start alone.

    Raises InputError for arrays that do not fit or are not finite, and for a label <= 0.
    """
    X, y, w0 = _problem(X, y, w0)
    h = (X * w0[:, None]).sum(axis=-1)
    real, size = X.any(axis=-1), np.hypot(X[..., 0], X[..., 1])
    clear = np.abs(h) > 1e-12 * size * np.linalg.norm(w0, axis=-1)[:, None]
    decided = (clear | ~real).all(axis=1)
    ends, count = np.full_like(w0, np.nan), np.zeros(len(w0), int)
    rows, w, on = np.nonzero(decided)[0], w0[decided], (h > 0.0)[decided]
    t, fresh, steps = np.zeros(len(rows)), np.zeros_like(on), []
    together = _together(X)
    while rows.size:
        cells, turned, error = cells_of(X[rows], y[rows], w, on)
        wait, flips, sure = next_events(X[rows], together[rows], cells, turned, error, on, fresh)
        number = count[rows] + flips.sum(axis=1)
        sure &= number <= max_events
        decided[rows], count[rows] = sure, np.where(sure, number, 0)
        over = sure & np.isinf(wait)
        ends[rows[over]] = cells.limit[over]
        go = sure & ~over
        w, t = cells.after(np.where(go, wait, 0.0))[go], (t + wait)[go]
        rows, fresh = rows[go], flips[go]
        on = on[go] ^ fresh
        steps.append((rows, t, fresh, on, w))
    return _assembled(X, y, w0, h > 0.0, steps, ends, np.where(decided, count, 0), decided)


def planar_flows_of(
    instances: Sequence[Mapping[str, ArrayLike]], max_events: int = 200
) -> PlanarFlows:
    """`planar_flows` of instances {"X": (n, 2), "y": (n,), "w0": (2,)}, n not the same for all.

    Row k belongs to instance k; columns of `patterns` past its own n are false.
    """
    data = [np.asarray(problem["X"], float) for problem in instances]
    n = max((len(x) for x in data), default=0)
    X, y = np.zeros((len(data), n, 2)), np.ones((len(data), n))
    for k, problem in enumerate(instances):
        X[k, : len(data[k])], y[k, : len(data[k])] = problem["X"], problem["y"]
    w0 = np.array([problem["w0"] for problem in instances], float).reshape(-1, 2)
    return planar_flows(X, y, w0, max_events)


def _problem(X: ArrayLike, y: ArrayLike, w0: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    if X.ndim != 3 or X.shape[2] != 2:
        raise InputError(f"X must have shape (B, n, 2), not {X.shape}")
    if y.shape != X.shape[:2]:
        raise InputError(f"y must have shape {X.shape[:2]} to go with X, not {y.shape}")
    if w0.shape != (len(X), 2):
        raise InputError(f"w0 must have shape ({len(X)}, 2) to go with X, not {w0.shape}")
    for name, value in (("X", X), ("y", y), ("w0", w0)):
        if not np.isfinite(value).all():
            raise InputError(f"{name} has an entry that is not finite")
    if not (y > 0.0).all():
        raise InputError("y must be positive (A2): flows with other labels need affine_flow")
    return X, y, w0


def _together(X: NDArray) -> NDArray:
    """Whether (B, n, n) data are parallel, so that they change together; zero data never are."""
    p, q = X[..., 0], X[..., 1]
    real = np.asarray(X.any(axis=-1))
    same = np.equal(p[:, :, None] * q[:, None, :], p[:, None, :] * q[:, :, None])
    return same & real[:, :, None] & real[:, None, :]


def _assembled(X, y, w0, on, steps, ends, count, decided) -> PlanarFlows:
    """The result, from `steps`: (rows, times, data flipped, patterns, states) of each round."""
    m, B = int(count.max(initial=0)), len(w0)
    times, datum = np.full((B, m), np.inf), np.full((B, m), -1)
    states = np.concatenate([w0[:, None], np.repeat(ends[:, None], m, axis=1)], axis=1)
    patterns, rising = np.repeat(on[:, None], m + 1, axis=1), np.zeros((B, m), bool)
    filled = np.zeros(B, int)
    for rows, t, flips, pattern, w in steps:
        kept = decided[rows]
        rows, t, flips, pattern, w = (v[kept] for v in (rows, t, flips, pattern, w))
        k, j = np.nonzero(flips)
        r, place = rows[k], (filled[rows, None] + np.cumsum(flips, axis=1) - 1)[k, j]
        times[r, place], datum[r, place], rising[r, place] = t[k], j, pattern[k, j]
        states[r, place + 1] = w[k]
        later = np.arange(m + 1) > filled[rows, None]
        patterns[rows] = np.where(later[..., None], pattern[:, None], patterns[rows])
        filled[rows] += flips.sum(axis=1)
    return PlanarFlows(X, y, times, datum, rising, states, patterns, ends, count, decided)
