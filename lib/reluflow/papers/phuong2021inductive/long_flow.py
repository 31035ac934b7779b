"""(GF) from any balanced start, of any size, to L = e^-reach: one trajectory on two clocks.

Time carries it until the loss of every label that has neurons to serve it is below e^-2, then
log log(1/L). Sizes are logarithms throughout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.charts import LOG_LOG, TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, integrate
from reluflow.flows.late_time import log_elapsed, log_steepness
from reluflow.flows.legs import then
from reluflow.losses import LOGISTIC, Loss
from reluflow.papers.phuong2021inductive.limit import Limit, limit

REACH = 1e6
"""log(1/L) at the end, unless another is asked for."""
_BEGUN = 2.0
"""log(1/L) from which the clock is log log(1/L)."""
_NEVER = 1e300
_POINTS = 81
_ROUNDING = 1e-14
_BARELY = 1e-6


class Lost(Exception):
    """A flow that could not be followed to its end."""


class Waiting(Lost):
    """A flow that is not followed for a reason that is known: a datum that no neuron sees waits for
    one, for a time of the order of 1 over the loss of the others, which after a large start is
    tiny; or a neuron slides along a boundary."""


@dataclass(frozen=True)
class Start:
    """Data X (n, d), y (n,), directions W0 (p, d), log norms (p,) of w_j(0), signs (p,) of a_j."""

    X: NDArray
    y: NDArray
    W0: NDArray
    log_norms: NDArray
    signs: NDArray
    loss: Loss = LOGISTIC


@dataclass(frozen=True, eq=False)
class Late:
    """A flow from loss e^-2 to its end: moments evenly on the axis log log(1/L).

    alive   the signs of the groups that are not empty; losses are those of their data alone
    path    both legs; `begun` is the time at which the second begins
    tau     (m,) log(1/L);  log_t (m,) log of time
    U, R    (m, p, d) unit directions and (m, p) log norms of all neurons
    """

    given: Start
    alive: tuple[float, ...]
    path: FlowPath
    begun: float
    tau: NDArray
    log_t: NDArray
    U: NDArray
    R: NDArray

    @property
    def limit(self) -> Limit:
        """The limit that Theorem 1 names."""
        return limit(self.given.X, self.given.y, self.alive)

    @property
    def distances(self) -> NDArray:
        """The norms in (8) and (9) at the moments, (m, 2)."""
        goal, signs = self.limit, self.given.signs
        return np.array([goal.distances(u, r, signs) for u, r in zip(self.U, self.R, strict=True)])

    def own(self, sign: float, k: int = -1) -> NDArray:
        """Indices of the neurons of a sign that are active on data of it at moment k."""
        active = self.given.X[self.given.y == sign] @ self.U[k].T > 0.0
        return np.flatnonzero((self.given.signs == sign) & active.any(axis=0))

    def log_loss(self, sign: float) -> NDArray:
        """log of the loss of the data of one label, (m,)."""
        X = self.given.X[self.given.y == sign]
        y = np.full(len(X), sign)
        return np.array([float(self.given.loss.log_value(_outputs(X, u, r, self.given.signs), y))
                         for u, r in zip(self.U, self.R, strict=True)])  # fmt: skip

    def log_square(self, sign: float) -> NDArray:
        """log |W_+|_F^2 or log |W_-|_F^2, (m,)."""
        return np.logaddexp.reduce(2.0 * self.R[:, self.own(sign)], axis=1)


def follow(given: Start, reach: float = REACH, rtol: float = 1e-8) -> Late | None:
    """The flow of a start to log(1/L) = `reach`; None where all neurons die.

    Raises Lost where the flow cannot be followed, and Waiting where that is why.
    """
    chart = Neurons(given.signs, given.X.shape[1])
    field = GradientFlow(chart, given.loss, given.X, given.y, TIME)
    first = integrate(field, chart.along(given.W0, given.log_norms), _NEVER, at_zero=0.0, rtol=rtol,
                      stop=lambda _, z: _left(given, chart, z))  # fmt: skip
    U = chart.split(first.end)[0]
    alive = tuple(s for s in (1.0, -1.0) if _serving(given, U, s).any())
    if first.status == "converged" and not alive:
        return None
    if first.status != "stopped":
        lost = Waiting if first.status == "sliding" or _unseen(given, U) else Lost
        raise lost(f"before L = e^-2: {first.detail}")
    if not alive:
        return None
    kept = np.isin(given.y, alive)
    late = replace(field, X=given.X[kept], y=given.y[kept], clock=LOG_LOG)
    path = then(first, late, float(np.log(reach)), at_zero=0.0, rtol=rtol)
    if path.status != "horizon":
        lost = Waiting if path.status == "sliding" else Lost
        raise lost(f"after L = e^-2: {path.detail}")
    leg = path.legs[-1]
    Z = leg.interpolant(np.linspace(leg.t[0], leg.t[-1], _POINTS))
    V, R = chart.split(Z)
    V = V / np.linalg.norm(V, axis=-1, keepdims=True)
    tau = np.array([-late.log_loss(z) for z in Z])
    steep = np.array([log_steepness(u, r, given.signs, late.X, late.y, given.loss)
                      for u, r in zip(V, R, strict=True)])  # fmt: skip
    with np.errstate(divide="ignore"):  # a start whose loss is small already has begun at 0
        log_t = np.logaddexp(np.log(first.t[-1]), log_elapsed(tau, steep))
    return Late(given, alive, path, float(first.t[-1]), tau, log_t, V, R)


def patterns(late: Late) -> list[tuple[float, NDArray]]:
    """The path's clock and the active data (n, p) at the start and behind every event, in which
    the data of a label without neurons count as inactive once they are left out."""
    chart = cast(Neurons, cast(GradientFlow, late.path.field).chart)
    products = late.given.X @ chart.split(late.path.states[0])[0].T
    # A neuron that starts as a datum is orthogonal to others up to rounding, which is no activity.
    active = products > _ROUNDING * np.linalg.norm(late.given.X, axis=1, keepdims=True)
    kept = np.flatnonzero(np.isin(late.given.y, late.alive))
    found = [(float(late.path.t[0]), active)]
    for event in late.path.events:
        datum = event.datum if event.t <= late.begun else int(kept[event.datum])
        active = active.copy()
        active[datum, event.neuron] = event.kind == "activate"
        found.append((event.t, active))
    return found


def _outputs(X: NDArray, U: NDArray, R: NDArray, signs: NDArray) -> NDArray:
    return np.asarray(np.maximum(X @ U.T, 0.0) @ (signs * np.exp(2.0 * R)))


def _serving(given: Start, U: NDArray, sign: float) -> NDArray:
    """Whether neurons (p,) of a sign are active on some datum of their label."""
    own = given.X[given.y == sign]
    return np.asarray((own @ U.T > 0.0).any(axis=0) & (given.signs == sign))


def _unseen(given: Start, U: NDArray) -> bool:
    """Whether a datum of a label that neurons serve is seen by none of them, but for cosines that
    the others will hardly have moved since."""
    for sign in (1.0, -1.0):
        serving, own = _serving(given, U, sign), given.X[given.y == sign]
        edge = _BARELY * np.linalg.norm(own, axis=1, keepdims=True)
        seen = (own @ U[serving].T > edge).any(axis=1)
        if serving.any() and not seen.all():
            return True
    return False


def _left(given: Start, chart: Neurons, z: NDArray) -> float:
    """What is still to come before the clock changes, <= 0 when nothing is: log l + 2 of every
    label that neurons serve, and that these are off the data of a label that none serves."""
    U, R = chart.split(z)
    left = [-1.0]
    for sign in (1.0, -1.0):
        X = given.X[given.y == sign]
        if _serving(given, U, sign).any():
            outputs = _outputs(X, U, np.clip(R, None, 300.0), given.signs)
            value = float(given.loss.log_value(outputs, np.full(len(X), sign)))
            left.append(value + _BEGUN)
        elif len(X) and np.any((X @ U.T > 0.0)[:, _serving(given, U, -sign)]):
            left.append(1.0)
    return max(left)
