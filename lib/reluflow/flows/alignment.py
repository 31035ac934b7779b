"""The directions of balanced ReLU neurons while their norms are tiny: the limit eps -> 0, exactly.

A neuron of direction u (d,) whose output weight has the sign s feels, while all outputs are 0, the
pulls y_i of the data. With b(u) = sum of y_i x_i over the data with <x_i, u> > 0,

    du/dt = s (b - <b, u> u).

While no datum changes its activity, b is constant and u runs on a great circle to c = s b / |b|:

    u(t) = tanh(q) c + e / cosh(q),    q(t) = q(0) + |b| t,

e a unit vector orthogonal to c, and q = -log tan(psi/2) for the angle psi from u to c. In weight
space the same path is the line w + sigma s b, sigma >= 0, and the whole path is a polygon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.flows.trajectory import Event

_ZERO = 1e-14  # a cosine this small is 0
_TIE = 1e-12  # boundaries met within this stretch of q are met together
_CROSSINGS = 50  # a path that crosses more than this many boundaries a datum is given up


@dataclass(frozen=True)
class Beside:
    """A start at the angle e^log_angle from the direction that the neuron is driven away from.

    That is x_-, the sum of the x_i with y_i = -1, for the sign s = 1, and x_+ for s = -1. The start
    lies on the side of `toward` (d,). No float could hold a direction as near as that.
    """

    toward: ArrayLike
    log_angle: float


@dataclass(frozen=True)
class Leg:
    """A stretch of the path with fixed activity: u = tanh(q) c + e / cosh(q) from q(t) = q on.

    t       when it begins
    active  (n,) which data are active
    rate    |b|, 0 where no datum pulls
    c, e    (d,) unit vectors, orthogonal; e = 0 where u rests on the line through c
    q       -log tan(psi/2) at its beginning, psi the angle from u to c; infinite where u rests
    """

    t: float
    active: NDArray
    rate: float
    c: NDArray
    e: NDArray
    q: float

    def at(self, t: float) -> NDArray:
        """The direction (d,) at time t."""
        return _point(self.c, self.e, self.q + self.rate * (t - self.t) if self.rate else self.q)


@dataclass(frozen=True)
class Alignment:
    """The path of one direction under the limit flow.

    status  "serves" (it ends active on all data of its own label and on no other), "dead" (on no
            datum), "rests" (it keeps another set of data for ever), "sliding" (pushed back to the
            boundary of a datum from both sides), "unfinished" (it crosses without end)
    time    when it came to its last set of active data
    events  the changes of activity, in their order
    legs    the stretches before, between and behind the events
    end     (d,) the limit of the direction
    """

    status: str
    time: float
    events: tuple[Event, ...]
    legs: tuple[Leg, ...]
    end: NDArray

    @property
    def patterns(self) -> NDArray:
        """The active data (k + 1, n) before, between and behind the k events."""
        return np.array([leg.active for leg in self.legs])

    @property
    def times(self) -> NDArray:
        """When each pattern was entered, shape (k + 1,)."""
        return np.array([leg.t for leg in self.legs])

    @property
    def durations(self) -> NDArray:
        """How long each pattern lasted but the last one, shape (k,)."""
        return np.diff(self.times)

    def at(self, t: ArrayLike) -> NDArray:
        """Directions (..., d) at times t (...) >= 0."""
        t = np.asarray(t, float)
        which = np.searchsorted(self.times, t.ravel(), side="right") - 1
        rests = len(self.legs) - 1 if self.status == "sliding" else None
        out = [self.end if k == rests else self.legs[k].at(s)
               for k, s in zip(which.tolist(), t.ravel().tolist(), strict=True)]  # fmt: skip
        return np.array(out).reshape(*t.shape, len(self.end))


def align(
    X: ArrayLike, y: ArrayLike, start: ArrayLike | Beside, sign: float = 1.0, goes_on: bool = False
) -> Alignment:
    """Follow one neuron's direction under the limit flow du/dt = s (b(u) - <b(u), u> u) to its end.

    Min et al. 2024, eq (4). Parameters: X (n, d); y (n,), the pulls, +1 and -1 (half of them for
    the loss log(1 + exp(-y z))); a start (d,) of any length but 0, or one `Beside` the direction
    from which it is driven away; the sign s of the output weight. On a boundary a datum is not
    active, and a neuron that no datum activates rests. So it dies where it loses its last datum and
    comes to another one at the same place, as between x and -x; unless it `goes_on` where that one
    draws it on, as every solution with Clarke's subdifferential does. Raises InputError for a start
    that is 0.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    units = X / np.where((norms := np.linalg.norm(X, axis=1)) > 0.0, norms, 1.0)[:, None]
    leg = _beside(X, y, units, start, sign) if isinstance(start, Beside) else None
    if leg is None:
        u = _unit(start.toward if isinstance(start, Beside) else start)
        leg = _leg(X, y, units @ u > _ZERO, u, sign, 0.0)
    legs, events = [leg], list[Event]()
    fresh = np.zeros(len(X), bool)  # what has changed at this very place
    status = ""
    while not status:
        leg = legs[-1]
        reached, crossed = _next(leg, units)
        if not crossed.any():
            status = _ended(leg, y, sign)
        elif len(events) > _CROSSINGS * len(X):
            status = "unfinished"
        else:
            here = reached - leg.q <= _TIE
            if here and np.any(fresh & crossed):
                status = "sliding"
                break
            fresh = (fresh & here) | crossed
            t = leg.t if here else leg.t + (reached - leg.q) / leg.rate
            active = leg.active & ~crossed
            gained = crossed & ~leg.active
            drawn = goes_on and bool(np.all(units[gained] @ (sign * (y * gained) @ X) > 0.0))
            if active.any() or drawn:  # else nothing is left: the neuron is silent at this place
                active = leg.active ^ crossed
            for datum in np.flatnonzero(active != leg.active).tolist():
                events.append(Event(t, datum, "activate" if active[datum] else "deactivate"))
            legs.append(_leg(X, y, active, leg.at(t), sign, t))
    last = legs[-1]
    rests = status in ("serves", "rests") and last.e.any()
    end = last.c if rests else last.at(last.t)
    return Alignment(status, last.t, tuple(events), tuple(legs), end)


def _point(c: NDArray, e: NDArray, q: float) -> NDArray:
    """tanh(q) c + e / cosh(q), also where cosh(q) is beyond the floats."""
    with np.errstate(over="ignore"):
        return np.tanh(q) * c + e / np.cosh(q)


def _unit(w: ArrayLike) -> NDArray:
    w = np.asarray(w, float)
    size = np.linalg.norm(w)
    if not 0.0 < size < np.inf:
        raise InputError("a start must be finite and not 0: it needs a direction.")
    return w / size


def _leg(X: NDArray, y: NDArray, active: NDArray, u: NDArray, sign: float, t: float) -> Leg:
    """The stretch with these active data that begins in the unit vector u at time t."""
    b = sign * (y * active) @ X
    rate = float(np.linalg.norm(b))
    if rate == 0.0:
        return Leg(t, active, 0.0, u, np.zeros_like(u), np.inf)
    c = b / rate
    along = float(u @ c)
    across = u - along * c
    size = float(np.linalg.norm(across))
    if size <= _ZERO:
        return Leg(t, active, rate, c, np.zeros_like(u), np.copysign(np.inf, along))
    return Leg(t, active, rate, c, across / size, float(np.arcsinh(along / size)))


def _beside(X: NDArray, y: NDArray, units: NDArray, start: Beside, sign: float) -> Leg:
    """The first stretch of a start at a tiny angle theta from -c: tan(psi/2) = 1/tan(theta/2)."""
    b = sign * (y * (y == -sign)) @ X
    rate = float(np.linalg.norm(b))
    if rate == 0.0:
        raise InputError("there is no direction to start beside: one label has no data.")
    c = b / rate
    e = _unit((toward := _unit(start.toward)) - (toward @ c) * c)
    q = start.log_angle - np.log(2.0)
    if start.log_angle > -30.0:
        q = float(np.log(np.tan(0.5 * np.exp(start.log_angle))))
    u = _point(c, e, q)
    active = units @ u > _ZERO
    if np.array_equal(active, y == -sign):
        return Leg(0.0, active, rate, c, e, q)
    return _leg(X, y, active, u, sign, 0.0)


def _next(leg: Leg, units: NDArray) -> tuple[float, NDArray]:
    """Where, in q, the stretch comes to its first boundaries, and to those of which data (n,)."""
    none = np.zeros(len(units), bool)
    if not leg.e.any():
        return np.inf, none
    toward, across = units @ leg.c, units @ leg.e
    moving = np.where(leg.active, toward < -_ZERO, toward > _ZERO)
    if not moving.any():
        return np.inf, none
    q = np.full(len(units), np.inf)
    q[moving] = np.maximum(np.arcsinh(-across[moving] / toward[moving]), leg.q)
    first = float(q.min())
    return first, moving & (q - first <= _TIE)


def _ended(leg: Leg, y: NDArray, sign: float) -> str:
    if not leg.active.any():
        return "dead"
    return "serves" if np.array_equal(leg.active, y == sign) else "rests"
