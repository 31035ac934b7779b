"""Exact gradient flow of one neuron under the square loss: closed form between events.

Inside an activation cell the flow dw/dt = q - H w (Lee et al. 2022a, eq. 3) is affine, so w(t) is
a constant plus a sum of exponentials, and so is every pre-activation. The next event is the first
zero of all of them (`exponential_sums`); what happens there is decided in `boundaries`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import QhullError

from reluflow.errors import InputError
from reluflow.flows import exponential_sums
from reluflow.flows.contacts import Contact, first_contact, rooms
from reluflow.flows.continuations import Continuation, continuations
from reluflow.flows.descent import affine_descent
from reluflow.flows.factor import Factor
from reluflow.flows.segment import Segment, limits_of, opening, problem, segment, slopes_of
from reluflow.flows.switching import SwitchingSurface, switching_surfaces, tangent_projector
from reluflow.flows.trajectory import Event, Trajectory, fading_time

__all__ = ["affine_descent", "affine_flow"]

_EPS = np.finfo(float).eps
_ROUNDING = 40 * _EPS
"""A weight vector this small, against what it is added up from, is 0."""


@dataclass(frozen=True)
class _State:
    """Where an affine flow is: `on` (n,) active data, `held` surfaces along which it slides, and
    surfaces on which it is `resting`, without a jump."""

    on: NDArray
    held: tuple[SwitchingSurface, ...] = ()
    resting: tuple[SwitchingSurface, ...] = ()

    @property
    def stay(self) -> tuple[SwitchingSurface, ...]:
        return self.held + self.resting

    @property
    def normals(self) -> NDArray:
        return np.array([surface.normal for surface in self.stay])


def affine_flow(
    X: ArrayLike,
    y: ArrayLike,
    w0: ArrayLike,
    activation: str = "relu",
    horizon: float = np.inf,
    max_events: int = 100_000,
) -> Trajectory:
    """Gradient flow dw/dt = q(w) - H(w) w of one neuron, exactly (Lee et al. 2022a, eq. 3).

    Parameters: X (n, d) data, y (n,) labels of either sign, w0 (d,) start, activation "relu" or
    "linear" (whose events are the sign changes of x_j.w, which do not bend its path), horizon in
    units of time.

    Returns a `Trajectory` on the clock "time". Its status is "converged"; "sliding", converged on a
    boundary that attracts from both sides; "non-unique" where more than one flow goes on, with the
    path up to there; or "horizon".

    Raises InputError for arrays that do not fit or are not finite, and where more non-parallel
    boundaries meet in a point of the path than can be resolved.
    """
    X, y, w = problem(X, y, w0)
    if activation == "linear":
        return _linear_flow(X, y, w, horizon)
    if activation != "relu":
        raise InputError(f'activation must be "relu" or "linear", not {activation!r}')
    norms = np.linalg.norm(X, axis=1)
    t = 0.0
    h = X @ w
    # A datum counts as on its boundary when rounding alone could have put it there.
    on_boundary = (np.abs(h) <= 4 * _EPS * (np.abs(X) @ np.abs(w))) & (norms > 0)
    state = _State((h > 0.0) & ~on_boundary)
    came = np.zeros(len(X), int)
    segments: list[Segment] = []
    events: list[Event] = []
    factor = Factor(X)
    stalled = 0  # contacts in a row that took no time
    knots, states = [0.0], [w]
    status, detail = "", ""
    while not status:
        if on_boundary.any():
            choice = _leave(X, y, w, state, on_boundary, came)
            if isinstance(choice, str):
                status, detail = "non-unique", choice
                break
            events += _changes(t, state, choice, on_boundary)
            state = choice
            if state.stay:  # and is on them, not its rounding off
                onto = tangent_projector(state.normals, len(w)) @ w
                w, h = onto, h + X @ (onto - w)
        h = np.where(on_boundary, 0.0, h)
        current, contact = _course(X, y, norms, factor, w, h, state, t)
        segments.append(current)
        wait = np.inf if contact is None else contact.wait
        if t + wait > horizon:
            t, w = horizon, current.at(np.array([horizon]))[0]
            status, detail = "horizon", f"stopped at the horizon t = {horizon:g}"
        elif contact is None:
            w = current.limit
            status, detail = _ending(state)
        elif len(segments) > max_events:
            status, detail = "horizon", f"stopped after {max_events} events"
        else:
            stalled = stalled + 1 if t + wait == t else 0
            t = t + wait
            w, h, on_boundary, came = contact.w, contact.h, contact.data, contact.came
            if np.linalg.norm(w) <= _ROUNDING * current.summed(wait):
                # It is 0, where all boundaries meet.
                w, h = np.zeros_like(w), np.zeros_like(h)
                on_boundary, came = norms > 0.0, np.zeros_like(came)
            if stalled > 2 * len(X):
                status, detail = "non-unique", f"events pile up at t = {t:g}: undecided"
        if status != "converged" and status != "sliding" and t > knots[-1]:
            knots.append(t)
            states.append(w)
    return _assemble(segments, events, knots, states, status, detail, w)


def _ending(state: _State) -> tuple[str, str]:
    if not state.held:
        if not state.on.any():
            return "converged", "no datum is active, so the flow stays where it is"
        return "converged", "no further event: the limit lies in the closure of the last cell"
    return (
        "sliding",
        f"converged while sliding along the activation boundary of {_names(state.held)}",
    )


def _names(named: tuple[SwitchingSurface, ...]) -> str:
    data = [f"x_{j + 1}" for surface in named for j in surface.data]
    return ", ".join(data[:6]) + (f" and {len(data) - 6} more" if len(data) > 6 else "")


def _leave(
    X: NDArray,
    y: NDArray,
    w: NDArray,
    state: _State,
    on_boundary: NDArray,
    came: NDArray,
) -> _State | str:
    """How the flow goes on from w on some boundaries, or a sentence that says why it cannot.

    `came` (n,) is the side of its boundary from which each datum is known to cross it, or 0.
    """
    here = switching_surfaces(X, y, np.nonzero(on_boundary)[0])
    crossed = [j for j in here[0].data if came[j]]
    arrival = int(came[crossed[0]] * (1 if crossed[0] in here[0].plus else -1)) if crossed else 0
    strictly = state.on & ~on_boundary
    # Round the point onto its surfaces: the modes are decided as if the contact were exact.
    P = tangent_projector(np.array([surface.normal for surface in here]), len(w))
    try:
        modes = continuations(X, y, P @ w, strictly, here, arrival)
    except (np.linalg.LinAlgError, QhullError):
        raise InputError(
            f"the activation boundaries of {_names(here)} meet at angles too small to tell in "
            "double precision how the flow goes on from there"
        ) from None
    except ValueError as error:
        raise InputError(str(error)) from None
    if len(modes) != 1:
        return _branching(modes, here)
    return _apply(modes[0], here, strictly)


def _apply(mode: Continuation, here: tuple[SwitchingSurface, ...], strictly: NDArray) -> _State:
    on = strictly.copy()
    held: list[SwitchingSurface] = []
    resting: list[SwitchingSurface] = []
    for surface, side, rests in zip(here, mode.sides, mode.resting, strict=True):
        on[list(surface.plus)], on[list(surface.minus)] = side > 0, side < 0
        if side == 0:
            (resting if rests else held).append(surface)
    return _State(on, tuple(held), tuple(resting))


def _branching(modes: tuple[Continuation, ...], here: tuple[SwitchingSurface, ...]) -> str:
    place = f"the activation boundary of {_names(here)}"
    if not modes:
        return f"no flow could be told to leave {place}: undecided"
    count = f"at least {len(modes)} different flows"
    return f"{count} leave this point of {place}: the flow is not unique"


def _changes(t: float, old: _State, new: _State, on_boundary: NDArray) -> list[Event]:
    """The events, in the order of the data, by which `old` becomes `new`."""
    sliding = {j for surface in new.held for j in surface.data}
    before = {j for surface in old.held for j in surface.data}
    changes = []
    for j in map(int, np.nonzero(on_boundary)[0]):
        if j in sliding:
            if j not in before:
                changes.append(Event(t, j, "slide"))
        elif new.on[j] and (j in before or not old.on[j]):
            changes.append(Event(t, j, "activate"))
        elif not new.on[j] and (j in before or old.on[j]):
            changes.append(Event(t, j, "deactivate"))
    return changes


def _course(
    X: NDArray,
    y: NDArray,
    norms: NDArray,
    factor: Factor,
    w: NDArray,
    h: NDArray,
    state: _State,
    t: float,
) -> tuple[Segment, Contact | None]:
    """The segment from w on, where the data's x.w are h, and the contact that ends it, if any."""
    sides = 2.0 * state.on - 1.0
    if not state.stay:
        factor.follow(state.on)
        current, length = opening(factor, (state.on * (y - h)) @ X, w, t)
        contact = first_contact(X, norms, h, sides, current, length)
        if contact is not None:
            return current, contact
    for surface in state.stay:
        sides[list(surface.data)] = 0.0
    current = segment(X, y, w, state.on, state.normals, t, h)
    room = rooms(X, y, h, current, state.on, state.stay) if state.stay else None
    return current, first_contact(X, norms, h, sides, current, room=room)


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
        last = segments[-1]
        left = np.abs(last.b).max()
        settled = last.t0 + float(fading_time(left, np.linalg.norm(end), last.rates.min()))
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


def _together(events: list[Event]) -> list[Event]:
    """The events in order, those that rounding cannot tell apart at one time: parallel data."""
    out: list[Event] = []
    for event in sorted(events, key=lambda e: (e.t, e.datum)):
        same = out and event.t <= out[-1].t * (1 + 16 * _EPS)
        out.append(replace(event, t=out[-1].t) if same else event)
    return sorted(out, key=lambda e: (e.t, e.datum))


def _linear_flow(X: NDArray, y: NDArray, w: NDArray, horizon: float) -> Trajectory:
    only = segment(X, y, w, np.ones(len(X), bool), np.zeros((0, len(w))), 0.0)
    slopes = slopes_of(X, only)
    start = X @ w
    first = np.where(start != 0.0, np.sign(start), np.sign(slopes @ only.rates))
    events = []
    if only.rates.size:
        found = exponential_sums.zeros(start, slopes, only.rates, first, limits_of(X, start, only))
        for j, times in enumerate(found.crossings):
            times = times[times <= min(horizon, np.finfo(float).max)]
            for k, t in enumerate(times):
                rising = (first[j] > 0) == (k % 2 == 1)
                events.append(Event(float(t), j, "activate" if rising else "deactivate"))
    events = _together(events)
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
