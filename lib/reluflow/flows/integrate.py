"""The gradient flow of any network: SciPy's integrators on a chart and a clock, events located.

While no hidden unit changes its activity on a datum, the network is a polynomial in its parameters
and the flow is smooth. `integrate` follows that smooth flow, finds where a pre-activation comes to
0, and goes on with the other activity if the flow leaves on that side. Where it would be pushed
back, the flow slides along the switching surface, and the integration ends and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import BDF
from scipy.optimize import brentq

from reluflow.errors import InputError
from reluflow.flows.charts import LOG_LOSS, TIME, Chart
from reluflow.flows.trajectory import Event, Trajectory
from reluflow.losses import Loss

_TIE = 1e-9
"""Pre-activations this small, relative to their datum's size, cross together with the first one."""
_INSIDE = 6
"""Places within a step at which a crossing is looked for, so that a short visit is not missed."""
_NUDGE = 1e-7
"""Share of a unit of motion over which the rate of a pre-activation is measured."""

Stop = Callable[[float, NDArray], float]


@dataclass(frozen=True)
class NetworkTrajectory(Trajectory):
    """A trajectory whose states are coordinates of `chart`; `log_loss` (m,) at its knots."""

    chart: Chart
    log_loss: NDArray
    patterns: tuple[NDArray, ...] = field(repr=False)


def integrate(
    chart: Chart,
    loss: Loss,
    X: ArrayLike,
    y: ArrayLike,
    start: ArrayLike,
    clock: str,
    until: float,
    stop: Stop | None = None,
    rtol: float = 1e-9,
    max_steps: int = 200_000,
) -> NetworkTrajectory:
    """Follow the gradient flow from the chart's coordinates `start` (k,).

    chart      coordinates of a network's parameters (`reluflow.flows.charts`)
    X, y       data (n, d) and labels (n,)
    clock      "time", or "log(1/loss)", whose value tau = log(1/L) begins at the start's
    until      clock value at which to end
    stop       a function of (clock value, z); the path ends where it comes down to 0
    rtol       relative tolerance of the integrator; the absolute one is a thousandth of it
    max_steps  the integration gives up after so many steps, status "stiff"

    A pre-activation that is 0 at the start counts as inactive (s'(0) = 0) unless the flow carries
    it to the active side. Returns a path of status "horizon" (`until` reached), "stopped" (`stop`
    came down to 0), "converged" (the velocity is exactly 0), "sliding" or "stiff"; `detail` says
    where. Raises InputError for an unknown clock, a start that is not finite or past `until`.
    """
    X, y, z = np.asarray(X, float), np.asarray(y, float), np.array(start, float)
    if clock not in (TIME, LOG_LOSS):
        raise InputError(f'clock must be "{TIME}" or "{LOG_LOSS}", not {clock!r}.')
    if not np.isfinite(z).all():
        raise InputError("start must be finite.")
    t = 0.0 if clock == TIME else -float(loss.log_value(chart.outputs(z, X), y))
    if not t < until:
        raise InputError(f"until = {until:g} is not after the start, at {t:g} on this clock.")
    path = _Path(chart, loss, X, y, clock, until, stop, rtol, max_steps)
    return path.followed(t, z)


@dataclass
class _Path:
    """One integration under way: the problem, and the pieces found so far."""

    chart: Chart
    loss: Loss
    X: NDArray
    y: NDArray
    clock: str
    until: float
    stop: Stop | None
    rtol: float
    left: int
    knots: list[float] = field(default_factory=list)
    states: list[NDArray] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    pieces: list[tuple[float, float, Callable[[NDArray], NDArray]]] = field(default_factory=list)

    def rate(self, z: NDArray, patterns: Sequence[NDArray]) -> NDArray:
        with np.errstate(over="ignore", invalid="ignore"):  # a step too far, which is rejected
            return self.chart.velocity(z, self.X, self.y, self.loss, self.clock, patterns)

    def hidden(self, z: NDArray) -> NDArray:
        """All pre-activations (n, units), each layer's in units of its largest, layer by layer."""
        layers = self.chart.preactivations(z, self.X)
        scaled = [h / (np.abs(h).max(initial=0.0) or 1.0) for h in layers]
        return np.concatenate([np.zeros((len(self.X), 0)), *scaled], axis=1)

    def split(self, flat: NDArray) -> list[NDArray]:
        """A pattern (n, units) as one array for each hidden layer."""
        return np.split(flat, self.borders, axis=1)

    def moving(self, z: NDArray, active: NDArray) -> NDArray:
        """Rates of all pre-activations (n, units) under a pattern, up to a positive factor."""
        v = self.rate(z, self.split(active))
        size = np.abs(v).max(initial=0.0)
        if not size > 0.0:
            return np.zeros(active.shape)
        step = _NUDGE * v / size
        return (self.hidden(z + step) - self.hidden(z - step)) / (2.0 * _NUDGE)

    def followed(self, t: float, z: NDArray) -> NetworkTrajectory:
        layers = self.chart.preactivations(z, self.X)
        self.borders = np.cumsum([h.shape[1] for h in layers])[:-1]
        self.knots, self.states = [t], [z]
        h = self.hidden(z)
        active = h > 0.0
        active |= (np.abs(h) <= _TIE) & (self.moving(z, active) > 0.0)
        status = ""
        while not status:
            t, z, crossed, status = self.smooth(t, z, active)
            if crossed.any():
                active, status = self.switched(t, z, active, crossed)
            self.knots.append(t)
            self.states.append(z)
        return self.result(status, active)

    def smooth(self, t: float, z: NDArray, active: NDArray) -> tuple[float, NDArray, NDArray, str]:
        """The flow with fixed activity up to the first crossing, the end, or `stop`.

        Returns clock value, state, which pre-activations (n, units) cross there, and a status that
        is empty at a crossing.
        """
        none = np.zeros(active.shape, bool)
        patterns, side = self.split(active), np.where(active, 1.0, -1.0)
        if not np.any(self.rate(z, patterns)):
            return t, z, none, "converged"
        solver = BDF(
            lambda _, at: self.rate(at, patterns),
            *(t, z, self.until),
            rtol=self.rtol,
            atol=1e-3 * self.rtol,
        )
        while solver.status == "running":
            if self.clock == TIME:
                v = self.rate(solver.y, patterns)
                solver.max_step = self.chart.reach(solver.y, v)
            solver.step()
            self.left -= 1
            if solver.status == "failed" or self.left < 0:
                return solver.t, self.chart.restored(solver.y), none, "stiff"
            dense, a, b = solver.dense_output(), solver.t_old, solver.t
            found = self.first_crossing(dense, a, b, side)
            halt = self.halt(dense, a, b)
            if halt is not None and (found is None or halt <= found):
                self.pieces.append((a, halt, dense))
                return halt, self.chart.restored(dense(halt)), none, "stopped"
            if found is not None:
                self.pieces.append((a, found, dense))
                z = self.chart.restored(dense(found))
                h = side * self.hidden(z)
                near = (np.abs(h) <= _TIE) & (side * self.moving(z, active) < 0.0)
                near[self.culprit] = True  # whatever rounding says
                return found, z, near, ""
            self.pieces.append((a, b, dense))
        return solver.t, self.chart.restored(solver.y), none, "horizon"

    def halt(self, dense: Callable, a: float, b: float) -> float | None:
        """Where in (a, b] the condition to stop comes down to 0, or None."""
        if self.stop is None or self.stop(b, dense(b)) > 0.0:
            return None
        return brentq(lambda s: self.stop(s, dense(s)), a, b) if self.stop(a, dense(a)) > 0 else a

    def first_crossing(self, dense: Callable, a: float, b: float, side: NDArray) -> float | None:
        """The first clock value in (a, b] at which a pre-activation leaves its side, or None."""
        times = np.linspace(a, b, _INSIDE + 2)
        before, last = side * self.hidden(dense(a)), a
        for t in times[1:]:
            h = side * self.hidden(dense(t))
            left = np.argwhere((h < 0.0) & (before > 0.0))
            if len(left):
                found = [
                    (brentq(lambda s, k=k: side[k] * self.hidden(dense(s))[k], last, t), k)
                    for k in map(tuple, left)
                ]
                first, self.culprit = min(found)
                return first
            before, last = np.where(before > 0.0, h, np.maximum(h, before)), t
        return None

    def switched(
        self, t: float, z: NDArray, active: NDArray, crossed: NDArray
    ) -> tuple[NDArray, str]:
        """The activity behind a switching surface, or "sliding" where the flow is pushed back."""
        flipped = active ^ crossed
        toward = np.where(flipped, 1.0, -1.0) * self.moving(z, flipped)
        status = "sliding" if np.any(toward[crossed] < -_TIE) else ""
        for datum, unit in np.argwhere(crossed):
            kind = "activate" if flipped[datum, unit] else "deactivate"
            self.events.append(Event(t, int(datum), "slide" if status else kind, int(unit)))
        return flipped, status

    def result(self, status: str, active: NDArray) -> NetworkTrajectory:
        states = np.array(self.states)
        outputs = [self.chart.outputs(z, self.X) for z in states]
        words = {
            "horizon": f"the clock came to {self.until:g}",
            "stopped": "the condition to stop was met",
            "converged": "nothing pulls any more",
            "sliding": "the flow is pushed back to a switching surface from both sides",
            "stiff": "the integrator made no progress, or the loss stopped falling",
        }
        starts = np.array([a for a, _, _ in self.pieces] or [self.knots[0]])

        def interpolant(t: NDArray) -> NDArray:
            if not self.pieces:
                return np.broadcast_to(states[-1], (len(t), states.shape[1]))
            piece = np.searchsorted(starts, t, side="right") - 1
            ends = [self.pieces[k] for k in piece]
            return np.array([f(min(s, b)) for s, (_, b, f) in zip(t, ends, strict=True)])

        return NetworkTrajectory(
            t=np.array(self.knots),
            states=states,
            events=tuple(self.events),
            status=status,
            clock=self.clock,
            end=states[-1],
            detail=f"{words[status]}, at {self.knots[-1]:g}",
            interpolant=interpolant,
            settled=self.knots[-1],
            chart=self.chart,
            log_loss=np.array([float(self.loss.log_value(z, self.y)) for z in outputs]),
            patterns=tuple(self.split(active)),
        )
