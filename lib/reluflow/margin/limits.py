"""Where gradient flow on the exponential or logistic loss goes in direction (Lyu & Li 2019).

The flow is followed to a loss such as 1e-100000 on the clock log log(1/L), where L itself is never
formed. Its end is still as far from the limit as 1 / log(1/L), or farther, so it is polished to a
KKT point of the margin problem; that is accepted only if the flow comes nearer to it at the
expected rate (`reluflow.margin.confirm`) and stays there (`departs`). Where units that vanish do so
too slowly, the flow is continued with the pulls' temperature held fixed (`reluflow.flows.fields`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space

from reluflow.flows.charts import LOG_LOG, LOG_LOSS, LOG_SIZE, TIME, Frozen, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, integrate, then
from reluflow.losses import EXPONENTIAL, Loss
from reluflow.margin.confirm import Seen, Stationary, candidate, doubt
from reluflow.margin.kkt import KINK, idle_units, kkt, margins, scaled
from reluflow.margin.max_margin import sized
from reluflow.networks.indexed import Network

DECADE = float(np.log(10.0))
FACTOR = 1e5
"""The fixed factor before the margins in the continuation, over the least margin at its start."""
BEYOND = 100.0  # the continuation goes on until |theta| is e^100 times as long
FARTHER, FINER = 1e3, 1e-3
"""Where a flow has come to a KKT point that it may leave, it is followed again: to log(1/L) that is
farther by this factor, with finer steps."""
_EXACT, _EXACT_BEYOND = 1e-8, 1e-3
_SAME = 1e-10  # candidates nearer than this are one
_DRIFTS = 0.7  # a drift that shrinks less from decade to decade is not extrapolated

_SMALL = 1e-3  # outputs smaller than this are followed in time
_LONG = 1e100  # the time after which a flow from tiny outputs is given up
_TRIES = 20
_STEPS = 10_000
"""Steps of one leg; a flow that creeps past a saddle would take many more, and come to nothing."""

AT_REST = "at rest"
CONVERGED, UNDECIDED = "converged", "undecided"


@dataclass(frozen=True)
class Limit:
    """The limit of a flow's direction.

    theta        (p,) scaled to the least margin 1, exactly 0 where parameters vanish; for
                 "undecided" the flow's end, scaled; the last direction of a flow that failed
    residual     the distance from the KKT conditions over |theta| (`reluflow.margin.kkt`)
    multipliers  (n,) the lambda_i
    path         the flow, in the polar chart
    status       "converged"; "undecided" where no KKT point was confirmed; "at rest", "stalled",
                 "sliding", "non-unique" or "stiff" where the loss does not go to 0, or the flow
                 could not be followed
    error        over |theta|, how far the KKT points that the last states of the flow give are from
                 their own limit; at least the residual, and where there is a manifold of them at
                 least the error of the flow's steps. It does not tell whether the status is right;
                 infinite unless "converged"
    detail       one sentence on the status
    """

    theta: NDArray
    residual: float
    multipliers: NDArray
    path: FlowPath
    status: str
    error: float
    detail: str

    @property
    def converged(self) -> bool:
        """Whether a KKT point was confirmed."""
        return self.status == CONVERGED

    @property
    def reached(self) -> float:
        """log10(1/L) at the end of the flow."""
        return -float(self.path.field.log_loss(self.path.end)) / DECADE

    def directions(self, decades: ArrayLike) -> NDArray:
        """theta(t) / |theta(t)| where L = 10^-decades, shape (k, p) for decades (k,); at values
        before L = 1/e, or the start's if that is smaller, the direction there."""
        return _states(self.path, DECADE * np.asarray(decades, float))[:, :-1]

    def errors(self, decades: ArrayLike) -> NDArray:
        """The distance of those directions from the limit's, shape (k,)."""
        unit = self.theta / np.linalg.norm(self.theta)
        return np.linalg.norm(self.directions(decades) - unit, axis=1)


def limit(
    network: Network,
    loss: Loss,
    X: ArrayLike,
    y: ArrayLike,
    start: ArrayLike,
    reach: float = 1e5,
    at_zero: float | None = None,
    rtol: float = 1e-6,
) -> Limit:
    """The limit in direction of the gradient flow of sum_i l(y_i f(theta; x_i)).

    X (n, d), y (n,) of +-1, start theta (p,)
    reach    log10(1/L) to which the flow is followed; tenfold for a start that is beyond, and
             farther, with finer steps, where it is open whether the flow stays where it has come to
    at_zero  the derivative of the ReLU at 0, as for `integrate`
    rtol     relative tolerance of the integrator

    A limit that is one of a manifold of KKT points is only as accurate as the flow that picks it.
    Raises InputError for a start that is 0 or not finite.
    """
    X, y, start = sized(X), np.asarray(y, float), np.asarray(start, float)
    found, told = _once(network, loss, X, y, start, reach, at_zero, rtol)
    if not told:
        later, _ = _once(network, loss, X, y, start, FARTHER * reach, at_zero, FINER * rtol)
        found = later if later.converged else found
    return found


def _once(
    network: Network, loss: Loss, X: NDArray, y: NDArray, start: NDArray, reach: float,
    at_zero: float | None, rtol: float,
) -> tuple[Limit, bool]:  # fmt: skip
    """The limit as one computation of the flow has it; and False where the flow has come to a KKT
    point, and only whether it stays there is open."""
    path = _followed(network, loss, X, y, start, reach,
                     {"at_zero": at_zero, "rtol": rtol, "max_steps": _STEPS})  # fmt: skip
    status, why = path.status, path.detail
    tau = -float(path.field.log_loss(path.end))
    if status == "horizon" and path.field.clock != LOG_LOG:
        status = "stalled"
    elif status == "horizon" and not 0.5 * reach * DECADE < tau < np.inf:
        status, why = "stiff", "the loss at the end is not what the clock says"
    if status != "horizon":
        status = AT_REST if status == "converged" else status
        nothing = np.full(len(X), np.nan)
        return Limit(path.end[:-1], np.nan, nothing, path, status, np.inf, why), True
    paths = [(path, rtol)]
    trail = _seen(path.field, _states(path, tau * 10.0 ** np.array([-3.0, -2.0, -1.0, 0.0])))
    found, told = _judged(network, X, y, trail, paths, at_zero or 0.0, _EXACT)
    if not found.converged:
        end = path.end
        chart = Frozen(network, FACTOR / margins(network, end[:-1], X, y).min())
        frozen = GradientFlow(chart, EXPONENTIAL, X, y, LOG_SIZE)
        late = integrate(frozen, end, end[-1] + BEYOND, at_zero=at_zero, rtol=rtol, max_steps=2000)
        paths.append((late, 1.0 / FACTOR))
        # Its last four states at equal steps of log |theta|.
        last, first = late.t[-1], late.t[0]
        states = late.at(last - (last - first) * np.array([0.3, 0.2, 0.1, 0.0]))
        trail = _seen(frozen, states)
        later, later_told = _judged(network, X, y, trail, paths, at_zero or 0.0, _EXACT_BEYOND)
        told = later.converged or (told and later_told)
        found = later if later.converged else replace(found, detail=later.detail)
    return found, told


def _followed(
    network: Network, loss: Loss, X: NDArray, y: NDArray, start: NDArray, reach: float,
    options: dict[str, Any],
) -> FlowPath:  # fmt: skip
    """The flow: in time while the outputs are so small that the loss does not tell them from 0,
    then on the clock log(1/L), and from L = 1/e on that of its logarithm.

    It ends on an earlier clock if it comes to no such loss.
    """
    chart = Polar(network)
    plain, slow, fast = (GradientFlow(chart, loss, X, y, c) for c in (TIME, LOG_LOSS, LOG_LOG))
    z = chart.coordinates(start)
    path: FlowPath | None = None

    def small(_: float, z: NDArray) -> float:
        return _SMALL - float(np.abs(chart.outputs(z, X)).max(initial=0.0))

    def along(field: GradientFlow, until: float) -> FlowPath:
        if path is None:
            return integrate(field, z, until, **options)
        return then(path, field, until, **options)

    if small(0.0, z) > 0.0:
        path = integrate(plain, z, _LONG, stop=small, **options)
        if path.status != "stopped":
            return path
    for _ in range(_TRIES):  # the clock of a very long leg is not as exact as a short one's
        if slow.begin(path.end if path else z) >= 0.9:
            break
        path = along(slow, 1.0)
        if path.status != "horizon":
            return path
    tau = slow.begin(path.end if path else z)
    if path and not tau > 0.0:
        return path
    return along(fast, np.log(max(reach * DECADE, 10.0 * tau)))


def _judged(
    network: Network, X: NDArray, y: NDArray, trail: list[Seen],
    paths: list[tuple[FlowPath, float]], at_zero: float, exact: float,
) -> tuple[Limit, bool]:  # fmt: skip
    """What four states of a flow, and the paths to them with the errors of their steps, tell of its
    limit; and False where only whether it stays at a KKT point is open."""
    ends = [candidate(network, X, y, seen, at_zero) for seen in trail]
    end, error = _extrapolated(network, X, y, trail, ends, at_zero, paths[-1][1])
    path, why, told = paths[0][0], doubt(network, X, y, trail, end, exact), True
    if not why and not np.isfinite(error):
        why = "the points that the last states of the flow give do not come to a limit"
    if not why:
        away, rests = curvature(network, X, y, end)
        error = max(error, paths[-1][1]) if rests else error
        why = departs(network, X, [seen.u for seen in trail], end, away, paths)
        told = not why
    if why:
        point = scaled(network, trail[-1].u, X, y)
        seen = kkt(network, point, X, y)
        return Limit(point, seen.residual, seen.multipliers, path, UNDECIDED, np.inf, why), told
    residual = max(end.residual, kkt(network, end.theta, X, y).residual)
    return Limit(end.theta, residual, end.multipliers, path, CONVERGED, max(error, residual),
                 "the flow confirms a KKT point"), True  # fmt: skip


def _extrapolated(
    network: Network, X: NDArray, y: NDArray, trail: list[Seen], ends: list[Stationary],
    at_zero: float, noise: float,
) -> tuple[Stationary, float]:  # fmt: skip
    """The limit of the candidates of states at equal ratios, and an estimate of its error.

    Where KKT points are isolated, all candidates are one. On a manifold of them they drift by a
    power of |theta|, and the geometric series is summed; the error is infinite where it is none,
    but for steps up to the flow's own error `noise`.
    """
    size = np.linalg.norm(ends[-1].theta)
    a, b, c = (np.linalg.norm(p.theta - q.theta) / size for p, q in pairwise(ends))
    if c <= _SAME:
        return ends[-1], float(c)
    if not (c <= _DRIFTS * b and b <= _DRIFTS * a):
        return ends[-1], float(c * c / (b - c) if c < b else c if c <= noise else np.inf)
    guesses = [ends[k].theta + (ends[k].theta - ends[k - 1].theta) * r / (1.0 - r)
               for k, r in ((2, b / a), (3, c / b))]  # fmt: skip
    unit = guesses[1] / np.linalg.norm(guesses[1])
    pulls = ends[-1].multipliers / ends[-1].multipliers.sum()
    moved = candidate(network, X, y, replace(trail[-1], u=unit, pulls=pulls), at_zero)
    return moved, float(np.linalg.norm(guesses[1] - guesses[0]) / size)


def _seen(field: GradientFlow, Z: NDArray) -> list[Seen]:
    """What is seen of states Z (k, p + 1)."""
    outputs = field.chart.outputs(Z, field.X)
    pulls = np.abs(field.loss.pull(outputs, field.y, field.loss.log_value(outputs, field.y)))
    return [Seen(z[:-1] / np.linalg.norm(z[:-1]), float(z[-1]), share / share.sum())
            for z, share in zip(Z, pulls, strict=True)]  # fmt: skip


def _states(path: FlowPath, tau: NDArray) -> NDArray:
    """The states (k, p + 1) at which log(1/L) = tau (k,), from the last leg, whose clock is log
    tau; those past either end of it at that end."""
    last = (path.legs or (path,))[-1]
    z = last.at(np.clip(np.log(tau), last.t[0], last.t[-1]))
    z[:, :-1] /= np.linalg.norm(z[:, :-1], axis=1)[:, None]
    return z


# --- Whether a flow stays at a KKT point to which its direction has come --------------------------
#
# Where a KKT point's active data and kinks are kept, a small deviation d of the direction follows
# dd/ds = -H d on the clock s = log |theta|, with H = 1 - sum_i lambda_i y_i Hess f(theta; x_i). It
# grows where H is negative: theta is a saddle then, and the limit only of a flow that has no part
# in these directions, as a symmetry may see to. Past a saddle the computed flow and the exact one
# may part, and their `spread` tells how far they are apart.

CURVED = 1e-6
"""H is negative in a direction if it is below minus this: what grows slower is not told."""
NOTHING = 1e-14  # a part of a unit vector, or a cosine, that is not larger is all rounding
STRAYS = 1e-12  # a computed unit that rests on a kink strays from it by so much at most
_AT_ONCE = 1_000_000  # numbers in the arrays of the steps that are looked at together
APART = 0.03  # the computed direction may be so far from the exact one, on the way to a limit


def departs(
    network: Network,
    X: NDArray,
    trail: Sequence[NDArray],
    found: Stationary,
    away: NDArray,
    paths: Sequence[tuple[FlowPath, float]],
) -> str:
    """Why a flow may not stay at the KKT point that it has come to; nothing where it does.

    trail  directions (p,) of the flow, the last two of which tell whether it leaves a kink
    away   a basis (p, k) of the directions in which flows leave the point
    paths  the flow from its start on, and the error of its steps
    """
    start = paths[0][0].states[0][:-1]
    if max(float(np.linalg.norm(u @ away)) for u in (start, *trail)) > NOTHING:
        return "the flow may leave the KKT point: it moves in a direction that leads away"
    here, before, last = (network.cosines(u, X) for u in (found.theta, *trail[-2:]))
    for h, a, b, idle in zip(here, before, last, idle_units(network, found.theta), strict=True):
        if ((np.abs(h) <= KINK) & ~idle & (np.abs(b) > np.maximum(np.abs(a), STRAYS))).any():
            return "the flow may leave the KKT point: it moves off a kink"
    if not spread(paths, away) <= APART:
        return "the flow passes so near to a saddle that its computed end may be another one's"
    return ""


def curvature(network: Network, X: NDArray, y: NDArray, found: Stationary) -> tuple[NDArray, bool]:
    """An orthonormal basis (p, k) of the directions in which flows leave a KKT point; and whether
    there are some in which they rest, as on a manifold of KKT points."""
    theta, patterns = found.theta, found.patterns or None
    forms, along = network.rates(theta, X, np.eye(network.size), patterns)
    rows = [along.T[found.multipliers > 0.0]]
    pairs = zip(forms, network.cosines(theta, X), idle_units(network, theta), strict=True)
    rows += [np.moveaxis(turns, 0, -1)[(np.abs(h) <= KINK) & ~idle] for turns, h, idle in pairs]
    space = null_space(np.vstack(rows))
    bend, _ = network.turned(theta, X, found.multipliers * y, space.T, patterns)
    values, vectors = np.linalg.eigh(np.eye(space.shape[1]) - bend @ space)
    return space @ vectors[:, values < -CURVED], bool((np.abs(values) <= CURVED).any())


def spread(paths: Sequence[tuple[FlowPath, float]], away: NDArray) -> float:
    """The largest standard deviation of a computed flow's direction on the way, if each step of a
    path adds a random error of the size given with it, which the flow then carries on.

    Errors are in all directions but those of the basis `away` (p, k), in which the flow has no
    part. The linearised flow of a path's own length is followed, by one step of Radau for each of
    the integrator's.
    """
    keep = np.eye(len(away) + 1)
    keep[:-1, :-1] -= away @ away.T
    covariance, widest = np.zeros_like(keep), 0.0  # in the polar chart
    for path, noise in paths:
        for turn in _propagators(path):
            turn = keep @ turn if away.size else turn
            covariance = turn @ (covariance + noise**2 * keep) @ turn.T
            widest = float(np.maximum(widest, np.sqrt(np.trace(covariance[:-1, :-1]))))
    return widest


def _propagators(path: FlowPath) -> Iterator[NDArray]:
    """Of each step what it makes of a small deviation, (k, k): one step of Radau."""
    for leg in path.legs or (path,):
        one = np.eye(len(leg.states[0]))
        many = max(1, _AT_ONCE // (len(one) * (len(one) + leg.field.X.size)))
        for some in (leg.steps[k : k + many] for k in range(0, len(leg.steps), many)):
            lengths = [np.linalg.norm(dense(b) - dense(a)) for a, b, dense in some]
            middles = np.array([dense(0.5 * (a + b)) for a, b, dense in some])
            B = np.array(lengths)[:, None, None] * _turning(leg.field, middles)
            yield from np.linalg.solve(one - B @ (4.0 * one - B) / 6.0, one + B / 3.0)


def _turning(field: GradientFlow, Z: NDArray) -> NDArray:
    """The derivative (k, p + 1, p + 1) of the velocity's direction v / |v| at states Z (k, p + 1),
    which is the same on every clock."""
    chart, loss, X, y = field.chart, field.loss, field.X, field.y
    assert isinstance(chart, Polar)
    outputs = chart.outputs(Z, X)
    log_loss = loss.log_value(outputs, y)
    c, bend = loss.pull(outputs, y, log_loss), loss.bend(outputs, y, log_loss)
    patterns = [active[:, None] for active in chart.network.patterns(Z[:, :-1], X)]
    v, J, *_ = chart.turned(Z, X, c, bend, patterns)
    speed = np.linalg.norm(v, axis=1)
    w = v / speed[:, None]
    return (J - w[..., None] * (w[:, None] @ J)) / speed[:, None, None]
