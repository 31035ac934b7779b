"""The gradient flow of any network: SciPy's integrators underneath, switching surfaces located.

`integrate` follows the smooth flow of one side of the switching surfaces up to the next one, and
goes on behind it if the field leads away there. Where the field pushes back, or leads away on both
sides, it ends and says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from dataclasses import field as made
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import BDF, LSODA, DenseOutput, OdeSolver, Radau
from scipy.linalg.lapack import dgetrs
from scipy.optimize import brentq
from scipy.special import logsumexp

from reluflow.errors import InputError
from reluflow.flows.charts import TIME
from reluflow.flows.fields import GradientFlow
from reluflow.flows.trajectory import Event, Trajectory, piecewise
from reluflow.losses import Loss

_ZERO = 1e-15  # a surface's function this small at the start is 0
_TIE = 1e-9  # surfaces' functions, or rates, this small cross together with the first one, or are 0
_NOISE = 1e-12  # a unit that rests on a surface strays from it by less than this
_SHARES = np.arange(8) / 7.0
"""Places of a step at which a crossing is looked for, so that a short visit is not missed."""
_STALLED = 1e-6
"""A fall of log L by less than this for a motion of 1 is none, where the integrator fails."""
Stop = Callable[[float, NDArray], float]
WORDS = {
    "horizon": "the clock came to its end",
    "stopped": "the condition to stop was met",
    "converged": "nothing pulls any more",
    "sliding": "the field pushes back to a switching surface from both sides",
    "non-unique": "the field leads away from a switching surface on both sides",
    "stalled": "the loss stopped falling, and with it its clock",
    "stiff": "the integrator made no progress",
}


@dataclass(frozen=True)
class FlowPath(Trajectory):
    """A trajectory in the coordinates of `field`, by `steps` of an integrator: start, end, states.
    One of several `legs` lists them."""

    field: GradientFlow
    steps: tuple[tuple[float, float, DenseOutput], ...]
    legs: tuple[FlowPath, ...] = ()

    @property
    def has_limit(self) -> bool:
        """Whether the path rests at `end` for ever."""
        return self.status == "converged"

    @property
    def log_loss(self) -> NDArray:
        """log L at the knots, shape (m,)."""
        return np.array([self.field.log_loss(z) for z in self.states])


def integrate(
    field: GradientFlow,
    start: ArrayLike,
    until: float,
    stop: Stop | None = None,
    at_zero: float | None = None,
    rtol: float = 1e-9,
    max_steps: int = 200_000,
    method: type[OdeSolver] | None = None,
    **options: Any,
) -> FlowPath:
    """Follow `field` from coordinates `start` (k,) to the clock value `until`.

    stop       a function of (clock value, z); the path ends where it comes down to 0
    at_zero    the derivative of the ReLU at 0 in [0, 1], which picks one flow where several leave
               a start on a switching surface; None for all of Clarke's, which pick none. A unit
               that comes to rest where it dies stays there (Min et al. 2024, Definition 1)
    rtol       relative tolerance of the integrator, of which the absolute one is a thousandth
    max_steps  steps after which the integration gives up
    method     an integrator of SciPy, `options` are its own; where none is given, LSODA on the
               clock of time and BDF on the loss's, where flows are stiff

    Returns a path of status "horizon" (`until` reached), "stopped" (`stop` came down to 0),
    "converged" (nothing pulls), "sliding", "non-unique", "stalled" (on the clock log(1/loss): the
    loss falls no further) or "stiff" (no progress); `detail` says where. Raises InputError for a
    start that is not finite or past `until`.
    """
    z = np.array(start, float)
    if not np.isfinite(z).all():
        raise InputError("start must be finite.")
    t = field.begin(z)
    if not t < until:
        raise InputError(f"until = {until:g} is not after the start, at {t:g} on this clock.")
    options = {"atol": 1e-3 * rtol, "rtol": rtol, **options}
    method = method or (LSODA if field.clock == TIME else BDF)
    path = _Path(field, until, stop, at_zero, method, options, max_steps)
    # Of a step too far, which is rejected; and what LSODA says where it fails, which `status` says.
    with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "lsoda:", UserWarning)
        return path.followed(t, z)


@dataclass
class _Path:
    """One integration under way: the problem, and the pieces found so far."""

    field: GradientFlow
    until: float
    stop: Stop | None
    at_zero: float | None
    method: type[OdeSolver]
    options: dict[str, Any]
    left: int
    knots: list[float] = made(default_factory=list)
    states: list[NDArray] = made(default_factory=list)
    events: list[Event] = made(default_factory=list)
    pieces: list[tuple[float, float, DenseOutput]] = made(default_factory=list)

    def followed(self, t: float, z: NDArray) -> FlowPath:
        self.knots, self.states = [t], [z]
        active, status = self.entered(z)
        while not status:
            t, z, crossed, status = self.smooth(t, z, active)
            if crossed.any():
                active, status = self.switched(t, z, active, crossed)
            if t > self.knots[-1]:
                self.knots.append(t)
                self.states.append(z)
        return self.result(status)

    def turns(self, z: NDArray, active: NDArray, inputs: NDArray | None = None) -> NDArray:
        """Signs (n, units) of the rates of the surfaces' functions under one side's formula.

        The functions are those of the sides `inputs` (n, units) of the layers below, if others.
        """
        v = self.field.velocity(z, active)
        size = np.abs(v).max(initial=0.0)
        if not 0.0 < size < np.inf:
            return np.zeros(active.shape)
        turns = self.field.turns(z, v / size, active if inputs is None else inputs)
        floor = _TIE * np.abs(turns).max(axis=0, initial=0.0)
        return np.where(np.abs(turns) > floor, np.sign(turns), 0.0)

    def entered(self, z: NDArray) -> tuple[NDArray, str]:
        """The sides on which the flow leaves a start, and a status where it cannot be told."""
        h = self.field.surfaces(z)
        active, on = (h > 0.0).astype(float), np.abs(h) <= _ZERO
        if not on.any():
            return active, ""
        shares = 0.0, 1.0, self.at_zero or 0.0
        below, above, stated = (self.turns(z, np.where(on, share, active)) for share in shares)
        apart = on & (above > 0.0) & (below <= 0.0)
        if apart.any() and self.at_zero is None:
            return active, "non-unique"
        active = np.where(on, np.where(apart, stated > 0.0, below > 0.0), active)
        return active, "sliding" if self.pushed_back(z, active, on) else ""

    def smooth(self, t: float, z: NDArray, active: NDArray) -> tuple[float, NDArray, NDArray, str]:
        """The flow with fixed activity up to the first crossing, the end, or `stop`.

        Returns clock value, state, which surfaces (n, units) are crossed there, and a status that
        is empty at a crossing.
        """
        none, side = np.zeros(active.shape, bool), np.where(active > 0.0, 1.0, -1.0)
        v = self.field.velocity(z, active)
        if not np.any(v):
            return t, z, none, "converged"
        if not np.isfinite(v).all():
            return t, z, none, self.failure(v)
        options = dict(self.options)
        if self.field.has_jacobian and self.method in (BDF, LSODA, Radau):
            options.setdefault("jac", lambda _, at: self.field.jacobian(at, active))
        solver = self.method(
            lambda _, at: self.field.velocity(at, active), t, z, self.until, **options
        )
        if self.method is BDF:  # SciPy's own checks take longer than the solution
            solver.solve_lu = lambda LU, b: dgetrs(*LU, b)[0]
        while solver.status == "running":
            before = solver.y
            solver.step()
            self.left -= 1
            if solver.status == "failed" or self.left < 0 or solver.t == solver.t_old:
                z = self.field.restored(solver.y)
                return solver.t, z, none, self.failure(self.field.velocity(z, active))
            dense, a, b = solver.dense_output(), float(solver.t_old), float(solver.t)
            self.limit(solver, self.field.reach(solver.y, (solver.y - before) / (b - a)))
            found, culprits = self.first_crossing(dense, a, b, side)
            halt = self.halt(dense, a, min(b, found))
            end = min(b, found) if halt is None else halt
            if end > a:
                self.pieces.append((a, end, dense))
            if halt is not None:
                return end, self.field.restored(dense(end)), none, "stopped"
            if culprits.any():
                z = self.field.restored(dense(end))
                near = np.abs(self.field.surfaces(z)) <= _TIE
                # One that has no input behind the crossing has no surface of its own there.
                behind = np.where(culprits, 1.0 - active, active)
                toward = side * self.turns(z, active, behind) < 0.0
                return end, z, (near & toward) | culprits, ""
        return solver.t, self.field.restored(solver.y), none, "horizon"

    def limit(self, solver: OdeSolver, reach: float) -> None:
        """Let the next step be no longer than `reach`."""
        if isinstance(solver, LSODA):  # a time that its steps may not pass
            solver._lsoda_solver._integrator.rwork[0] = min(solver.t + reach, self.until)
        else:
            solver.max_step = reach

    def failure(self, v: NDArray) -> str:
        """Why the integrator fails at velocity v: the clock stands still, or it does not."""
        standing = self.field.clock != TIME and not np.linalg.norm(v) * _STALLED < 1.0
        return "stalled" if standing else "stiff"

    def halt(self, dense: DenseOutput, a: float, b: float) -> float | None:
        """Where in [a, b] the condition to stop comes down to 0, or None."""
        stop = self.stop
        if stop is None or stop(b, dense(b)) > 0.0:
            return None
        return brentq(lambda s: stop(s, dense(s)), a, b) if stop(a, dense(a)) > 0.0 else a

    def first_crossing(
        self, dense: DenseOutput, a: float, b: float, side: NDArray
    ) -> tuple[float, NDArray]:
        """The first clock value in (a, b] at which a surface is crossed, and which (n, units).

        It is a where the flow has left on the other side of a surface than was supposed: a unit
        of layer 2 whose inputs were all 0 before has no side until one of them comes to life.
        """
        culprits = np.zeros(side.shape, bool)
        if not side.size:
            return np.inf, culprits

        def crossed(k: tuple[int, ...]) -> float:
            return brentq(lambda s: self.field.surfaces(dense(s))[k], last, float(t))

        times = a + (b - a) * _SHARES
        seen = side * self.field.surfaces(dense(times).T)
        before, last = seen[0], a
        if seen[1:].min() >= -_NOISE:
            return np.inf, culprits
        first = np.inf
        for t, h in zip(times[1:], seen[1:], strict=True):
            left = map(tuple, np.argwhere((h < -_NOISE) & (before > 0.0)).tolist())
            if found := [(crossed(k), k) for k in left]:
                first, k = min(found)
                culprits[k] = True
                break
            before, last = np.where(before > 0.0, h, np.maximum(h, before)), float(t)
        # One that left before: its twin's crossing put it on 0 exactly.
        astray = (before <= 0.0) & (h < -_TIE)
        return (a, astray) if astray.any() else (first, culprits)

    def switched(
        self, t: float, z: NDArray, active: NDArray, crossed: NDArray
    ) -> tuple[NDArray, str]:
        """The sides behind the surfaces that are crossed, or "sliding"."""
        if self.at_zero == 0.0:  # a unit that loses its last datum here gains none here
            alive = (active > 0.0) & ~crossed
            crossed = crossed & ((active > 0.0) | alive.any(axis=0) | ~active.any(axis=0))
        flipped = np.where(crossed, 1.0 - active, active)
        back = self.pushed_back(z, flipped, crossed)
        for datum, unit in np.argwhere(crossed).tolist():
            kind = "activate" if flipped[datum, unit] else "deactivate"
            self.events.append(Event(t, datum, "slide" if back else kind, unit))
        return flipped, "sliding" if back else ""

    def pushed_back(self, z: NDArray, active: NDArray, on: NDArray) -> bool:
        """Whether the sides chosen of the surfaces `on` which z lies do not let the flow enter.

        Where nothing moves on the inactive side, it rests there, unless `at_zero` moves it.
        """
        turns = self.turns(z, active)
        rests = (active == 0.0) & (turns == 0.0)
        back = np.where(active > 0.0, turns < 0.0, turns > 0.0)
        if self.at_zero:
            back |= rests & (self.turns(z, np.where(on, self.at_zero, active)) < 0.0)
        return bool(np.any(back & on))

    def result(self, status: str) -> FlowPath:
        states, last = np.array(self.states), self.knots[-1]
        rest = [lambda t: np.tile(states[-1], (len(t), 1))]
        pieces = [lambda t, b=b, dense=dense: dense(np.minimum(t, b)).T  # up to the step's end
                  for _, b, dense in self.pieces] + rest  # fmt: skip
        return FlowPath(
            t=np.array(self.knots),
            states=states,
            events=tuple(self.events),
            status=status,
            clock=self.field.clock,
            end=states[-1],
            detail=f"{WORDS[status]}, at {last:g}",
            interpolant=piecewise([*(a for a, _, _ in self.pieces), last], pieces, len(states[-1])),
            settled=last,
            field=self.field,
            steps=tuple(self.pieces),
        )


# --- One trajectory of several legs: the chart and the clock may change on the way ----------------


def then(path: FlowPath, field: GradientFlow, until: float, **options: Any) -> FlowPath:
    """Go on from the end of `path` with another chart or clock: one trajectory of several legs.

    Parameters: a path that came to its horizon or was stopped (any other one is returned as it
    is); the field to follow, `until` on its own clock, and the options of `integrate`. The clock
    runs on: the last leg's own clock value is t - t_switch + its value at the switch. States are
    in the coordinates of the last chart.
    """
    if path.status not in ("horizon", "stopped"):
        return path
    leg = integrate(field, _carried(path.end, path.field, field), until, **options)
    shift = path.t[-1] - leg.t[0]
    before = [_carried(z, path.field, field) for z in path.states[:-1]]
    legs = (*(path.legs or (path,)), leg)
    clocks = dict.fromkeys(one.field.clock for one in legs)

    def early(t: NDArray) -> NDArray:
        return np.array([_carried(z, path.field, field) for z in path.interpolant(t)])

    def late(t: NDArray) -> NDArray:
        return leg.interpolant(np.maximum(t - shift, leg.t[0]))

    return replace(
        leg,
        t=np.append(path.t, leg.t[1:] + shift),
        states=np.array([*before, *leg.states]),
        events=(*path.events, *(replace(e, t=e.t + shift) for e in leg.events)),
        clock=", then ".join(clocks),
        interpolant=piecewise([-np.inf, path.t[-1]], [early, late], leg.states.shape[1]),
        settled=leg.settled + shift,
        legs=legs,
    )


def _carried(z: NDArray, here: GradientFlow, there: GradientFlow) -> NDArray:
    """Coordinates z (k,) of one field's chart in another one's."""
    if here.chart is there.chart:
        return z
    return there.chart.coordinates(*here.chart.parameters(z))


# --- Time along a flow that was followed on the clock log(1/loss), as a logarithm -----------------
#
# d tau/dt = L |grad log L|^2 with tau = log(1/L), so that t may be 10^400000.


def log_steepness(
    U: NDArray, R: NDArray, signs: NDArray, X: NDArray, y: NDArray, loss: Loss
) -> NDArray:
    """log |grad log L|^2 of balanced neurons of directions U (..., p, d), log norms R (..., p) and
    `signs` (p,) on X (n, d), y (n,).

    |grad log L|^2 = sum_j e^(2 R_j) (|g_j|^2 + <g_j, u_j>^2), g_j = sum of c_i x_i over the data
    active at u_j, c_i = -d log L/df(x_i).
    """
    before = U @ X.T
    outputs = ((signs * np.exp(2.0 * R))[..., None, :] @ np.maximum(before, 0.0))[..., 0, :]
    pull = loss.pull(outputs, y, loss.log_value(outputs, y))
    g = ((before > 0.0) * pull[..., None, :]) @ X
    parts = (g * g).sum(axis=-1) + (g * U).sum(axis=-1) ** 2
    return np.asarray(logsumexp(2.0 * R, b=parts, axis=-1))


def log_elapsed(tau: NDArray, steepness: NDArray) -> NDArray:
    """log(t_k - t_0) (m,) at moments of log(1/L) `tau` (m,), rising, and log |grad log L|^2 (m,).

    Between moments log dt/dtau = tau - steepness is taken as linear in tau.
    """
    slope = tau - steepness
    rise = np.abs(np.diff(slope))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(rise > 1e-9, -np.expm1(-rise) / rise, 1.0)
    steps = np.log(np.diff(tau)) + np.maximum(slope[1:], slope[:-1]) + np.log(mean)
    return np.append(-np.inf, np.logaddexp.accumulate(steps))
