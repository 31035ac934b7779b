"""Exact gradient flow of one neuron under the square loss: closed form between events.

Inside an activation cell the flow dw/dt = q - H w (Lee et al. 2022, eq. 3) is affine, so w(t) is
a constant plus a sum of exponentials, and so is every pre-activation. The next event is the first
zero of all of them (`exponential_sums`); what happens there is decided in `boundaries`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.flows import exponential_sums
from reluflow.flows.boundaries import (
    Mode,
    Wall,
    departures,
    multipliers,
    tangent_projector,
    walls,
)
from reluflow.flows.descent import affine_descent
from reluflow.flows.segment import Segment, problem, segment, slopes_of
from reluflow.flows.trajectory import Event, Trajectory

__all__ = ["affine_descent", "affine_flow"]

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class _State:
    """Where an affine flow is: `on` (n,) active data, `held` walls along which it slides."""

    on: NDArray
    held: tuple[Wall, ...]

    @property
    def normals(self) -> NDArray:
        return np.array([wall.normal for wall in self.held])


def affine_flow(
    X: ArrayLike,
    y: ArrayLike,
    w0: ArrayLike,
    activation: str = "relu",
    horizon: float = np.inf,
    max_events: int = 100_000,
) -> Trajectory:
    """Gradient flow dw/dt = q(w) - H(w) w of one neuron, exactly (Lee et al. 2022, eq. 3).

    Parameters: X (n, d) data, y (n,) labels of either sign, w0 (d,) start, activation "relu" or
    "linear" (whose events are the sign changes of x_j.w, which do not bend its path), horizon in
    units of time.

    Returns a `Trajectory` on the clock "time". Its status is "converged"; "sliding", converged on a
    boundary that attracts from both sides; "non-unique" where more than one flow goes on, with the
    path up to there; or "horizon".

    Raises InputError for arrays that do not fit or are not finite, and where more than six
    non-parallel boundaries meet in a point of the path.
    """
    X, y, w = problem(X, y, w0)
    if activation == "linear":
        return _linear_flow(X, y, w, horizon)
    if activation != "relu":
        raise InputError(f'activation must be "relu" or "linear", not {activation!r}')
    norms = np.linalg.norm(X, axis=1)
    t = 0.0
    h = X @ w
    state = _State(h > 0.0, ())
    # A datum counts as on its boundary when rounding alone could have put it there.
    on_wall = (np.abs(h) <= 4 * _EPS * (np.abs(X) @ np.abs(w))) & (norms > 0)
    segments: list[Segment] = []
    events: list[Event] = []
    knots, states = [0.0], [w]
    status, detail = "", ""
    while not status:
        if on_wall.any() or state.held:
            choice = _leave(X, y, w, state, on_wall)
            if isinstance(choice, str):
                status, detail = "non-unique", choice
                break
            events += _changes(t, state, choice, on_wall)
            state = choice
        current = segment(X, y, w, state.on, state.normals, t)
        segments.append(current)
        wait, on_next = _next_event(X, y, current, state, on_wall)
        if t + wait > horizon:
            t, w = horizon, current.at(np.array([horizon]))[0]
            status, detail = "horizon", f"stopped at the horizon t = {horizon:g}"
        elif np.isinf(wait):
            w = current.limit
            status, detail = _ending(state)
        elif len(segments) > max_events:
            status, detail = "horizon", f"stopped after {max_events} events"
        else:
            t = t + wait
            w = current.w0 + current.V @ (current.b * -np.expm1(-current.rates * wait))
            on_wall = on_next
        if status != "converged" and status != "sliding" and t > knots[-1]:
            knots.append(t)
            states.append(w)
    return _assemble(segments, events, knots, states, status, detail, w)


def _ending(state: _State) -> tuple[str, str]:
    if not state.held:
        if not state.on.any():
            return "converged", "no datum is active, so the flow stays where it is"
        return "converged", "no further event: the limit lies in the closure of the last cell"
    where = ", ".join(f"x_{j + 1}" for wall in state.held for j in wall.data)
    return "sliding", f"converged while sliding along the activation boundary of {where}"


def _leave(
    X: NDArray,
    y: NDArray,
    w: NDArray,
    state: _State,
    on_wall: NDArray,
) -> _State | str:
    """How the flow goes on from w on some boundaries, or a sentence that says why it cannot."""
    here = walls(X, y, np.nonzero(on_wall)[0])
    strictly = state.on & ~on_wall
    # Round the point onto its walls: the modes are decided as if the contact were exact.
    P = tangent_projector(np.array([wl.normal for wl in here]), len(w))
    try:
        modes = departures(X, y, P @ w, strictly, here)
    except ValueError as error:
        raise InputError(str(error)) from None
    if len(modes) != 1:
        return _branching(modes, here)
    return _apply(modes[0], here, strictly)


def _apply(mode: Mode, here: tuple[Wall, ...], strictly: NDArray) -> _State:
    on = strictly.copy()
    for wall, side in zip(here, mode.sides, strict=True):
        on[list(wall.plus)], on[list(wall.minus)] = side > 0, side < 0
    return _State(on, tuple(wl for wl, side in zip(here, mode.sides, strict=True) if side == 0))


def _branching(modes: tuple[Mode, ...], here: tuple[Wall, ...]) -> str:
    names = ", ".join(f"x_{j + 1}" for wall in here for j in wall.data)
    if not modes:
        return f"no flow could be told to leave the activation boundary of {names}: undecided"
    return (
        f"{len(modes)} different flows leave this point of the activation boundary of {names}: "
        "the flow is not unique"
    )


def _changes(t: float, old: _State, new: _State, on_wall: NDArray) -> list[Event]:
    """The events, in the order of the data, by which `old` becomes `new`."""
    sliding = {j for wall in new.held for j in wall.data}
    before = {j for wall in old.held for j in wall.data}
    changes = []
    for j in map(int, np.nonzero(on_wall)[0]):
        if j in sliding:
            if j not in before:
                changes.append(Event(t, j, "slide"))
        elif new.on[j] and (j in before or not old.on[j]):
            changes.append(Event(t, j, "activate"))
        elif not new.on[j] and (j in before or old.on[j]):
            changes.append(Event(t, j, "deactivate"))
    return changes


def _next_event(
    X: NDArray, y: NDArray, current: Segment, state: _State, on_wall: NDArray
) -> tuple[float, NDArray]:
    """Time until the next contact with a boundary, and the data (n,) on their boundary there."""
    nowhere = np.zeros(len(X), bool)
    if current.rates.size == 0:
        return np.inf, nowhere
    held = nowhere.copy()
    for wall in state.held:
        held[list(wall.data)] = True
    start = np.where(on_wall, 0.0, X @ current.w0)
    slopes = slopes_of(X, current)
    moving = ~held & slopes.any(axis=1)
    rows = np.nonzero(moving)[0]
    sign = np.where(state.on[rows], 1.0, -1.0)
    owners = [np.array([j]) for j in rows]
    a, b = start[rows], slopes[rows]
    for wall, value, slope in _rooms(X, y, current, state):
        a, b, sign = np.append(a, value), np.vstack([b, slope]), np.append(sign, 1.0)
        owners.append(np.array(wall.data))
    if len(a) == 0:
        return np.inf, nowhere
    found = exponential_sums.first_zeros(a, b, current.rates, sign)
    times = np.full(len(a), np.inf)
    for candidates in (found.crossings, found.touches):
        if candidates.shape[1]:
            times = np.minimum(times, candidates[:, 0])
    wait = float(times.min())
    if np.isinf(wait):
        return np.inf, nowhere
    on_next = held
    for k in np.nonzero(times <= wait * (1 + 4 * _EPS))[0]:
        on_next[owners[k]] = True
    # What rounding cannot tell from a contact at the same moment is one: parallel data among them.
    grown = -np.expm1(-current.rates * wait)
    h = start + slopes @ grown
    on_next |= moving & (np.abs(h) <= 8 * _EPS * (np.abs(start) + np.abs(slopes) @ grown))
    return wait, on_next


def _rooms(X: NDArray, y: NDArray, current: Segment, state: _State):
    """For each wall that holds the flow: the room that its push has left to either end.

    Yields (wall, value at the segment's start, amplitudes (r,)); at zero the wall lets go.
    """
    if not state.held:
        return
    A, target = X[state.on], y[state.on]
    start = multipliers(state.normals, A.T @ (target - A @ current.w0))
    forces = -A.T @ (A @ (current.V * current.b))
    slopes = np.stack([multipliers(state.normals, force) for force in forces.T], axis=1)
    for k, wall in enumerate(state.held):
        low, high = sorted(wall.push)
        for value, slope in ((start[k] - low, slopes[k]), (high - start[k], -slopes[k])):
            if slope.any():
                yield wall, value, slope


def _assemble(segments, events, knots, states, status, detail, end) -> Trajectory:
    starts = np.array([s.t0 for s in segments])

    def interpolant(t: NDArray) -> NDArray:
        if not segments:
            return np.tile(end, (len(t), 1))
        out = np.empty((len(t), len(end)))
        which = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, None)
        for k in np.unique(which):
            out[which == k] = segments[k].at(t[which == k])
        return out

    settled = knots[-1]
    if status in ("converged", "sliding") and segments[-1].rates.size:
        settled = segments[-1].t0 + 28.0 / segments[-1].rates.min()
    return Trajectory(
        t=np.array(knots),
        states=np.array(states),
        events=tuple(events),
        status=status,
        clock="time",
        end=end,
        detail=detail,
        interpolant=interpolant,
        settled=settled,
    )


def _linear_flow(X: NDArray, y: NDArray, w: NDArray, horizon: float) -> Trajectory:
    only = segment(X, y, w, np.ones(len(X), bool), np.zeros((0, len(w))), 0.0)
    slopes = slopes_of(X, only)
    start = X @ w
    first = np.where(start != 0.0, np.sign(start), np.sign(slopes @ only.rates))
    events = []
    if only.rates.size:
        found = exponential_sums.zeros(start, slopes, only.rates, first)
        for j, times in enumerate(found.crossings):
            times = times[times <= min(horizon, np.finfo(float).max)]
            for k, t in enumerate(times):
                rising = (first[j] > 0) == (k % 2 == 1)
                events.append(Event(float(t), j, "activate" if rising else "deactivate"))
    events.sort(key=lambda e: e.t)
    knots = [0.0, *sorted({e.t for e in events})]
    states = list(only.at(np.array(knots)))
    if np.isinf(horizon):
        status, detail, end = "converged", "the limit of a linear flow", only.limit
    else:
        status, detail = "horizon", f"stopped at the horizon t = {horizon:g}"
        end = only.at(np.array([horizon]))[0]
        if horizon > knots[-1]:
            knots.append(horizon)
            states.append(end)
    return _assemble([only], events, knots, states, status, detail, end)
