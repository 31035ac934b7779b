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

from reluflow.flows.charts import LOG_LOG, LOG_LOSS, TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath
from reluflow.flows.late_time import log_elapsed, log_steepness
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
        """Moments from t_2 on, evenly in log(1/L), then in log log(1/L); the first has t = t_2."""
        legs = [leg for leg in self.path.legs if leg.field.clock != TIME]
        Z = np.vstack([leg.interpolant(np.linspace(leg.t[0], leg.t[-1], _POINTS)) for leg in legs])
        Z = np.delete(Z, _POINTS * np.arange(1, len(legs)), axis=0)
        U, R = self._neurons(Z)
        tau = np.array([-self._field.log_loss(z) for z in Z])
        on, given = np.flatnonzero(self.lives), self.given
        steep = [log_steepness(u[on], r[on], given.signs[on], given.X, given.y, given.loss)
                 for u, r in zip(U, R, strict=True)]  # fmt: skip
        return Moments(U, R, -tau, log_elapsed(tau, np.array(steep)))


def reduced(given: Start) -> Start:
    """The same data and neurons in coordinates of their span, in which the flow stays."""
    k = len(given.X) + len(given.W0)
    if given.X.shape[1] <= k:
        return given
    Q = np.linalg.qr(np.vstack([given.X, given.W0]).T)[0]
    return Start(given.X @ Q, given.y, given.W0 @ Q, given.signs, given.loss, given.log_eps)


def begin(given: Start, rtol: float = 1e-8, t_1: float | None = None) -> Begun | None:
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
        raise Lost(f"before t₁: {path.detail}")
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
            raise Lost(f"before t₂: {path.detail}")
        first = max(left, key=lambda s: _largest(given, chart, path.end, s))
        t_2[first] = float(path.t[-1])
    return Begun(given, t_1, t_2, lives, path)


def follow(
    given: Start, reach: float = 1e6, rtol: float = 1e-8, t_1: float | None = None
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
        raise Lost(f"after t₂: {path.detail}")
    return Whole(begun.given, begun.t_1, begun.t_2, begun.lives, path)


def _largest(given: Start, chart: Neurons, z: NDArray, sign: float) -> float:
    """max |f(x_i)| over the data of one label."""
    return float(np.abs(chart.outputs(z, given.X)[given.y == sign]).max())
