"""Where gradient flow on the exponential or logistic loss goes in direction (Lyu & Li 2019).

The flow is followed to a loss such as 1e-100000 on the clock log log(1/L), where L itself is never
formed. Its end is still as far from the limit as 1 / log(1/L), or farther, so it is polished to a
KKT point of the margin problem; that is accepted only if the flow confirms it (`_doubt`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.flows.charts import LOG_LOG, LOG_LOSS, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, integrate
from reluflow.flows.legs import then
from reluflow.losses import Loss
from reluflow.margin.kkt import KINK, idle_units, kkt
from reluflow.margin.polish import Kink, Stationary, polished
from reluflow.margin.problem import margins, scaled
from reluflow.networks.indexed import Network

DECADE = float(np.log(10.0))
RESIDUAL = 1e-9
"""The largest KKT residual of a limit."""
FEASIBLE = 1e-9
"""A margin of a limit may be smaller than 1 by this."""
NEAR = 0.3
"""The flow's end may be no farther in direction from its limit."""
SLOWEST = 0.5
"""The error must shrink at this share of the expected rate, at least."""
_SHARE = 1e-6
"""A datum with a smaller share of the pulls at the flow's end has no multiplier, at first."""
_EXACT = 1e-8
"""A direction that is so near to the limit need not come nearer."""
_PULLS = 10.0
"""Shares of the pulls differ from those of the multipliers by so many times the error, at most."""

AT_REST = "at rest"
CONVERGED, UNDECIDED = "converged", "undecided"


@dataclass(frozen=True)
class Limit:
    """The limit of a flow's direction.

    theta        (p,) scaled to the least margin 1, exactly 0 where parameters vanish; for
                 "undecided" the flow's end, scaled; the last direction of a flow that failed
    residual     the distance from the KKT conditions over |theta| (`reluflow.margin.kkt`)
    multipliers  (n,) the lambda_i
    zeros        (p,) which parameters vanish in direction
    path         the flow, in the polar chart
    status       "converged"; "undecided" where no KKT point was confirmed; "at rest", "stalled",
                 "sliding", "non-unique" or "stiff" where the loss does not go to 0, or the flow
                 could not be followed
    error        estimate of theta's distance from the limit, over |theta|
    detail       one sentence on the status
    """

    theta: NDArray
    residual: float
    multipliers: NDArray
    zeros: NDArray
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
        """theta(t) / |theta(t)| where L = 10^-decades, shape (k, p) for decades (k,)."""
        return _directions(self.path, DECADE * np.asarray(decades, float))

    def errors(self, decades: ArrayLike) -> NDArray:
        """The distance of those directions from the limit's, shape (k,)."""
        unit = self.theta / np.linalg.norm(self.theta)
        return np.linalg.norm(self.directions(decades) - unit, axis=1)

    def rate(self, first: float, last: float) -> float:
        """The fitted q of error ~ log(1/L)^-q between two values of log10(1/L)."""
        decades = np.geomspace(first, last, 9)
        return float(-np.polyfit(np.log(decades), np.log(self.errors(decades)), 1)[0])


def limit(
    network: Network,
    loss: Loss,
    X: ArrayLike,
    y: ArrayLike,
    start: ArrayLike,
    reach: float = 1e5,
    farthest: float = 1e9,
    at_zero: float | None = None,
    rtol: float = 1e-6,
) -> Limit:
    """The limit in direction of the gradient flow of sum_i l(y_i f(theta; x_i)).

    X (n, d), y (n,) of +-1, start theta (p,)
    reach     log10(1/L) to which the flow is followed, and then thousandfold up to `farthest`
              until a KKT point is confirmed; a start that is beyond is followed tenfold
    at_zero   the derivative of the ReLU at 0, as for `integrate`
    rtol      relative tolerance of the integrator

    A limit that is one of a manifold of KKT points is only as accurate as the flow that picks it.
    Raises InputError for a start that is 0 or not finite.
    """
    X, y, theta = np.asarray(X, float), np.asarray(y, float), np.asarray(start, float)
    chart = Polar(network)
    slow, fast = (GradientFlow(chart, loss, X, y, clock) for clock in (LOG_LOSS, LOG_LOG))
    options = {"at_zero": at_zero, "rtol": rtol}
    z = chart.coordinates(theta)
    tau = slow.begin(z)
    reach = max(reach, 10.0 * tau / DECADE)
    farthest = max(reach, farthest)
    if tau < 1.0:
        path = then(integrate(slow, z, 1.0, **options), fast, np.log(reach * DECADE), **options)
    else:
        path = integrate(fast, z, np.log(reach * DECADE), **options)
    while True:
        found = _judged(network, loss, X, y, path, at_zero or 0.0)
        if found.status != UNDECIDED or reach >= farthest:
            return found
        reach = min(1e3 * reach, farthest)
        path = then(path, fast, np.log(reach * DECADE), **options)


def _judged(
    network: Network, loss: Loss, X: NDArray, y: NDArray, path: FlowPath, at_zero: float
) -> Limit:
    """What a path tells of its limit."""
    u, nothing = path.end[:-1], np.full(len(X), np.nan)
    none = np.zeros(len(u), bool)
    if path.status != "horizon":
        status = AT_REST if path.status == "converged" else path.status
        return Limit(u, np.nan, nothing, none, path, status, np.inf, path.detail)
    tau = -path.field.log_loss(path.end)
    end, before = (_polished(network, loss, X, y, z, at_zero) for z in
                   (path.end, _states(path, np.array([0.1 * tau]))[0]))  # fmt: skip
    doubt = _doubt(network, loss, X, y, path, end)
    if doubt:
        point = scaled(network, u, X, y)
        seen = kkt(network, point, X, y)
        return Limit(point, seen.residual, seen.multipliers, none, path, UNDECIDED,
                     _own_error(path, tau), doubt)  # fmt: skip
    size = np.linalg.norm(end.theta)
    drift = float(np.linalg.norm(end.theta - before.theta) / size)
    seen = kkt(network, end.theta, X, y)
    return Limit(end.theta, max(seen.residual, end.residual), end.multipliers, end.theta == 0.0,
                 path, CONVERGED, max(drift, end.residual), "the flow confirms a KKT point")  # fmt: skip


def _polished(
    network: Network, loss: Loss, X: NDArray, y: NDArray, z: NDArray, at_zero: float
) -> Stationary:
    """The solution of the KKT equations next to a state of the flow.

    Data leave and enter the set of margin 1 where a multiplier is negative, or a margin too small.
    """
    theta = scaled(network, z[:-1], X, y)
    pulls = _shares(network, loss, X, y, z)
    multipliers = pulls * (theta @ theta) / network.degree
    cosines = network.cosines(theta, X)
    patterns = [(h > 0.0).astype(float) for h in cosines]
    kinks: list[Kink] = []
    for layer, (h, idle) in enumerate(zip(cosines, idle_units(network, theta), strict=True)):
        on = (np.abs(h) <= KINK) & ~idle
        patterns[layer][on] = at_zero
        kinks += [(layer, i, j) for i, j in np.argwhere(on).tolist()]
    active = pulls >= _SHARE
    for _ in range(2 * len(X)):
        found = polished(network, theta, multipliers, X, y, active, patterns, kinks)
        if not np.isfinite(found.theta).all():
            return found
        short = y * network.output(found.theta, X, found.patterns) < 1.0 - FEASIBLE
        negative = found.multipliers < 0.0
        if not (negative.any() or (short & ~active).any()):
            break
        if negative.any():
            active = active & (np.arange(len(X)) != np.argmin(found.multipliers))
        else:
            active = active | short
        if not active.any():
            break
    return found


def _doubt(
    network: Network, loss: Loss, X: NDArray, y: NDArray, path: FlowPath, found: Stationary
) -> str:
    """Why a polished point is not taken for the limit; nothing where it is."""
    theta = found.theta
    if not (np.isfinite(theta).all() and found.residual <= RESIDUAL):
        return "the equations of a KKT point were not solved"
    if not (margins(network, theta, X, y) >= 1.0 - FEASIBLE).all():
        return "the polished point is not feasible"
    if (found.multipliers < 0.0).any():
        return "a multiplier of the polished point is negative"
    try:
        residual = kkt(network, theta, X, y).residual
    except InputError as error:
        return str(error)
    if not residual <= RESIDUAL:
        return "the polished point is no KKT point"
    end = path.end[:-1]
    for h, flow, idle in zip(network.cosines(theta, X), network.cosines(end, X),
                             idle_units(network, theta), strict=True):  # fmt: skip
        away = (np.abs(h) > KINK) & (np.sign(h) != np.sign(flow)) & ~idle
        if away.any():
            return "the polished point lies in another cell"
    unit, m = theta / np.linalg.norm(theta), network.degree
    tau = -path.field.log_loss(path.end)
    seen = tau * 10.0 ** np.array([-2.0, -1.0, 0.0])
    error = np.linalg.norm(_directions(path, seen) - unit, axis=1)
    if not error[-1] <= NEAR:
        return "the flow's end is far from the polished point"
    pulls, shares = _shares(network, loss, X, y, path.end), found.multipliers
    if np.abs(pulls - shares / shares.sum()).max() > _PULLS * error[-1] + _EXACT:
        return "the pulls of the data are not as the multipliers"
    if error[-1] <= _EXACT:
        return ""
    growth = _growth(network, X, y, path, found)
    expected = min(1.0, 1.0 - growth) / m
    rates = np.log10(error[:-1] / error[1:])
    if not (growth < 1.0 and rates[-1] >= SLOWEST * expected):
        return "the flow does not come nearer to the polished point at the expected rate"
    return ""


def _growth(network: Network, X: NDArray, y: NDArray, path: FlowPath, found: Stationary) -> float:
    """The largest kappa with which vanishing units grow, |theta|^kappa; 0 without one.

    It is the largest eigenvalue of the Hessian of sum_i lambda_i y_i f(theta; x_i) in the weights
    of the units that vanish, with the activity that the flow gives them.
    """
    theta = found.theta
    W = [np.zeros(g.shape, bool) for g in network.maps]
    for layer, idle in enumerate(_vanished(network, theta)):
        W[layer][idle] = True
        W[layer + 1][:, idle] = True
    mask = network.parameters([w.astype(float) for w in W]) > 0.0
    mask &= theta == 0.0
    if not mask.any():
        return 0.0
    patterns = [h > 0.0 for h in network.cosines(path.end[:-1], X)]
    if network.activation == "linear":
        patterns = []
    basis = np.eye(network.size)[mask]
    many = np.tile(theta, (len(basis), 1))
    H = network.hessian_product(many, X, found.multipliers * y, basis, patterns or None)
    return float(np.linalg.eigvalsh(H[:, mask])[-1])


def _vanished(network: Network, theta: NDArray) -> list[NDArray]:
    """Hidden units without weights, of ReLU networks and of linear ones."""
    W = network.weights(theta)
    return [~a.any(axis=1) & ~b.any(axis=0) for a, b in zip(W[:-1], W[1:], strict=True)]


def _shares(network: Network, loss: Loss, X: NDArray, y: NDArray, z: NDArray) -> NDArray:
    """The shares (n,) of the data in the pulls at a state z."""
    pulls = np.abs(loss.pull(Polar(network).outputs(z, X), y, relative=True))
    return pulls / pulls.sum()


def _own_error(path: FlowPath, tau: float) -> float:
    """The distance of the flow's end from its limit, as the path's last two decades have it."""
    first, second, last = _directions(path, tau * 10.0 ** np.array([-2.0, -1.0, 0.0]))
    steps = np.linalg.norm(second - first), np.linalg.norm(last - second)
    ratio = steps[1] / steps[0] if steps[0] > 0.0 else 0.0
    return float(steps[1] * ratio / (1.0 - ratio)) if ratio < 1.0 else np.inf


def _directions(path: FlowPath, tau: NDArray) -> NDArray:
    u = _states(path, tau)[:, :-1]
    return u / np.linalg.norm(u, axis=1)[:, None]


def _states(path: FlowPath, tau: NDArray) -> NDArray:
    """The states (k, p + 1) at which log(1/L) = tau (k,), those past either end at that end."""
    legs = path.legs or (path,)
    clock, shift = tau, 0.0
    if legs[0].field.clock == LOG_LOSS and len(legs) > 1:
        switch = legs[0].t[-1]
        clock = np.where(tau <= switch, tau, switch + np.log(np.maximum(tau, switch) / switch))
    elif legs[0].field.clock == LOG_LOG:
        clock = np.log(tau)
    return path.at(np.clip(clock + shift, path.t[0], path.t[-1]))
