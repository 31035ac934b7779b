"""One trajectory from ln eps through the alignment and the fall of the loss to L = e^-reach.

Three clocks carry it: time up to t_2, then log(1/L), then log log(1/L). All sizes are logarithms,
so that eps = e^-100000 and times of 10^100 are ordinary numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from reluflow.flows.charts import LOG_LOG, LOG_LOSS, TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath
from reluflow.flows.legs import then
from reluflow.losses import Loss
from reluflow.papers.min2024early import constants
from reluflow.papers.min2024early.constants import DataConstants, StartConstants
from reluflow.papers.min2024early.flows import flow, patterns

QUARTER = 0.25
"""The output at which the loss is said to fall: t_2^+ and t_2^- are its first times."""
_POINTS = 160
"""Moments of a stretch of a trajectory."""
_LEAST_TAU = 2.0
"""log(1/L) from which the clock is its logarithm."""


class Lost(Exception):
    """A trajectory that could not be followed to its end."""


@dataclass(frozen=True)
class Start:
    """Data X (n, d), y (n,), the matrix W0 (h, d), a row a neuron, signs (h,) of v_j, ln eps."""

    X: NDArray
    y: NDArray
    W0: NDArray
    signs: NDArray
    loss: Loss
    log_eps: float

    @property
    def data(self) -> DataConstants:
        """The constants of the data."""
        return constants.data_constants(self.X, self.y)

    @property
    def start(self) -> StartConstants:
        """The constants of the start."""
        return constants.start_constants(self.X, self.y, self.W0, self.signs)

    def centre(self, sign: float) -> NDArray:
        """x_+ or x_-, (d,)."""
        return self.X[self.y == sign].sum(axis=0)


@dataclass(frozen=True)
class Moments:
    """States of a trajectory at m moments: directions U (m, h, d), log norms R (m, h), log L (m,),
    and log_time (m,), log t before t_2 and log(t - t_2) from there on."""

    U: NDArray
    R: NDArray
    log_loss: NDArray
    log_time: NDArray


@dataclass(frozen=True, eq=False)
class Begun:
    """A trajectory up to t_2, with neurons in S_+ and in S_- at t_1 and all others in S_dead.

    t_1    the time of Theorem 1, part 1
    t_2    {1: t_2^+, -1: t_2^-}
    lives  (h,) whether a neuron is in the cone of its sign at t_1
    path   legs: time up to t_1, up to the first t_2, up to the second
    """

    given: Start
    t_1: float
    t_2: dict[float, float]
    lives: NDArray
    path: FlowPath

    @property
    def fall(self) -> float:
        """t_2, from which the bound on the loss holds."""
        return max(self.t_2.values())

    def own(self, sign: float) -> NDArray:
        """Indices of the neurons in S_+ (sign 1) or S_- (sign -1) from t_1 on."""
        return np.flatnonzero(self.lives & (self.given.signs == sign))

    def at(self, t: NDArray) -> Moments:
        """Moments at times t (m,) from 0 to t_2."""
        Z = self.path.interpolant(t)
        U, R = self._neurons(Z)
        with np.errstate(divide="ignore"):
            return Moments(U, R, np.array([self._field.log_loss(z) for z in Z]), np.log(t))

    @property
    def _field(self) -> GradientFlow:
        return cast(GradientFlow, self.path.field)

    def _neurons(self, Z: NDArray) -> tuple[NDArray, NDArray]:
        U, R = cast(Neurons, self._field.chart).split(Z)
        return U / np.linalg.norm(U, axis=-1, keepdims=True), R


@dataclass(frozen=True, eq=False)
class Whole(Begun):
    """A trajectory to its end: two more legs, on the clocks log(1/L) and log log(1/L)."""

    @cached_property
    def aligning(self) -> Moments:
        """Moments from 1e-4 t_1 to t_1, evenly on a logarithmic axis."""
        return self.at(np.geomspace(1e-4 * self.t_1, self.t_1, _POINTS))

    @cached_property
    def waiting(self) -> Moments:
        """Moments from t_1 to t_2, half of them dense towards either end."""
        share = np.concatenate([[0.0], np.geomspace(1e-5, 0.5, _POINTS // 2)])
        share = np.unique(np.concatenate([share, 1.0 - share]))
        return self.at(self.t_1 + (self.fall - self.t_1) * share)

    @cached_property
    def falling(self) -> Moments:
        """Moments from t_2 on, evenly in log(1/L) and then in log log(1/L); the first has t = t_2.

        Time is integrated: d tau/dt = L |grad log L|^2 with tau = log(1/L).
        """
        legs = [leg for leg in self.path.legs if leg.field.clock != TIME]
        Z = np.vstack([leg.interpolant(np.linspace(leg.t[0], leg.t[-1], _POINTS)) for leg in legs])
        Z = np.delete(Z, _POINTS * np.arange(1, len(legs)), axis=0)
        U, R = self._neurons(Z)
        tau = np.array([-self._field.log_loss(z) for z in Z])
        on, given = np.flatnonzero(self.lives), self.given
        slope = tau - np.array(
            [log_steepness(given, on, u[on], r[on]) for u, r in zip(U, R, strict=True)]
        )
        rise = np.diff(slope)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(np.abs(rise) > 1e-9, -np.expm1(-np.abs(rise)) / np.abs(rise), 1.0)
        steps = np.log(np.diff(tau)) + np.maximum(slope[1:], slope[:-1]) + np.log(mean)
        return Moments(U, R, -tau, np.append(-np.inf, np.logaddexp.accumulate(steps)))


def log_steepness(given: Start, on: NDArray, U: NDArray, R: NDArray) -> float:
    """log |grad log L|^2 where the neurons `on` (k,) have directions U (k, d) and log norms R (k,),
    and the others are dead.

    |grad log L|^2 = sum_j e^(2 R_j) (|g_j|^2 + <g_j, u_j>^2), g_j = sum of c_i x_i over the data
    active at u_j, c_i = -d log L/df(x_i).
    """
    before = given.X @ U.T
    outputs = np.maximum(before, 0.0) @ (given.signs[on] * np.exp(2.0 * R))
    pull = given.loss.pull(outputs, given.y, relative=True)
    g = ((before > 0.0) * pull[:, None]).T @ given.X
    parts = (g * g).sum(axis=1) + (g * U).sum(axis=1) ** 2
    return float(logsumexp(2.0 * R, b=parts))


def reduced(given: Start) -> Start:
    """The same data and neurons in coordinates of their span, in which the flow stays."""
    k = len(given.X) + len(given.W0)
    if given.X.shape[1] <= k:
        return given
    Q = np.linalg.qr(np.vstack([given.X, given.W0]).T)[0]
    return Start(given.X @ Q, given.y, given.W0 @ Q, given.signs, given.loss, given.log_eps)


def begin(given: Start, rtol: float = 1e-6, t_1: float | None = None) -> Begun | None:
    """The trajectory of a start up to t_2, with t_1 as printed unless it is given.

    None where the hypotheses fail: where at t_1 a neuron is in none of its cones, so that part 1
    does not hold (the printed t_1 does not know the start), or where S_+ or S_- has no neuron.
    Raises Lost where the flow cannot be followed, or has no t_2 up to four times the paper's bound.
    """
    given = reduced(given)
    data, start = given.data, given.start
    if t_1 is None:
        t_1 = constants.alignment_time(data, constants.printed_zeta(data, start))
    path = flow(given.X, given.y, given.W0, given.signs, given.log_eps, t_1, given.loss, rtol=rtol)
    field = cast(GradientFlow, path.field)
    chart = cast(Neurons, field.chart)  # one chart for all legs: no number is as small as e^(-1e5)
    active = [pattern for _, pattern in patterns(path)][-1]
    lives = np.all(active == (given.y[:, None] == given.signs), axis=0)
    both = all(np.any(lives & (given.signs == sign)) for sign in (1.0, -1.0))
    if path.status != "horizon":
        raise Lost(f"before t_1: {path.detail}")
    if not both or not np.all(lives | ~active.any(axis=0)):
        return None
    t_2: dict[float, float] = {}
    while len(t_2) < 2:
        left = [sign for sign in (1.0, -1.0) if sign not in t_2]
        last = max(constants.fit_time(data, start, given.log_eps, t_1, s) for s in left)
        path = then(path, field, 4.0 * last, at_zero=0.0, rtol=rtol,
                    stop=lambda _, z, left=left: QUARTER - max(_largest(given, chart, z, s)
                                                               for s in left))  # fmt: skip
        if path.status != "stopped":
            raise Lost(f"before t_2: {path.detail}")
        first = max(left, key=lambda s: _largest(given, chart, path.end, s))
        t_2[first] = float(path.t[-1])
    return Begun(given, t_1, t_2, lives, path)


def follow(
    given: Start, reach: float = 1e6, rtol: float = 1e-6, t_1: float | None = None
) -> Whole | None:
    """The trajectory of a start to log(1/L) = `reach`; `t_1`, None and Lost as for `begin`."""
    begun = begin(given, rtol, t_1)
    if begun is None:
        return None
    path, field = begun.path, cast(GradientFlow, begun.path.field)
    tau = -field.log_loss(path.end)
    path = then(path, replace(field, clock=LOG_LOSS), max(_LEAST_TAU, tau + 0.1), at_zero=0.0,
                rtol=rtol)  # fmt: skip
    path = then(path, replace(field, clock=LOG_LOG), float(np.log(reach)), at_zero=0.0, rtol=rtol)
    if path.status != "horizon":
        raise Lost(f"after t_2: {path.detail}")
    return Whole(begun.given, begun.t_1, begun.t_2, begun.lives, path)


def _largest(given: Start, chart: Neurons, z: NDArray, sign: float) -> float:
    """max |f(x_i)| over the data of one label."""
    return float(np.abs(chart.outputs(z, given.X)[given.y == sign]).max())
