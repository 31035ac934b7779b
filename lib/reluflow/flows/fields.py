"""Vector fields that `integrate` can follow: a velocity, and the surfaces on which it jumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError
from reluflow.flows.charts import LOG_LOG, LOG_LOSS, LOG_SIZE, TIME, Chart, Frozen, Neurons, Polar
from reluflow.losses import Loss

_NOTHING = 1e-14
"""A datum that pulls less than this share of the largest pull is left out of derivatives."""


@dataclass(frozen=True)
class GradientFlow:
    """The gradient flow of a network's loss on X (n, d), y (n,), in a chart and on a clock.

    chart  coordinates of the network's parameters (`reluflow.flows.charts`)
    clock  "time"; "log(1/loss)", whose value tau = log(1/L) begins at the start's; "log
           log(1/loss)", whose value is log tau, from a start with L < 1 on; or, in a polar chart,
           "log |theta|"
    Raises InputError for a clock that is unknown, or that the chart does not have.
    """

    chart: Chart
    loss: Loss
    X: NDArray
    y: NDArray
    clock: str = TIME

    def __post_init__(self) -> None:
        sized = (LOG_SIZE,) if isinstance(self.chart, Polar) else ()
        known = sized if isinstance(self.chart, Frozen) else (TIME, LOG_LOSS, LOG_LOG, *sized)
        if self.clock not in known:
            names = ", ".join(f'"{name}"' for name in known)
            raise InputError(f"clock must be one of {names}, not {self.clock!r}.")
        object.__setattr__(self, "X", np.asarray(self.X, float))
        object.__setattr__(self, "y", np.asarray(self.y, float))

    def log_loss(self, z: NDArray) -> float:
        """log L at z (k,)."""
        return float(self.loss.log_value(self.chart.outputs(z, self.X), self.y))

    def begin(self, z: NDArray) -> float:
        """The clock's value at a start z."""
        if self.clock == TIME:
            return 0.0
        if self.clock == LOG_SIZE:
            return float(z[-1])
        tau = -self.log_loss(z)
        if self.clock == LOG_LOSS:
            return tau
        if not tau > 0.0:
            raise InputError(f"on the clock {LOG_LOG} a start must have a loss below 1.")
        return float(np.log(tau))

    def velocity(self, z: NDArray, active: NDArray) -> NDArray:
        """dz/ds (k,) on the clock s by one side's formula: `active` (n, units) is 1 where a unit
        is active and 0 where it is not; factors between mix the two. 0 where nothing pulls."""
        patterns = self.layers(active)
        outputs, velocity = self.chart.evaluated(z, self.X, patterns)
        log_loss = self._unit(outputs)
        rate = velocity(self.loss.pull(outputs, self.y, log_loss), self.clock)
        return -log_loss * rate if self.clock == LOG_LOG else rate

    def _unit(self, outputs: NDArray) -> NDArray | float:
        """The logarithm of the unit in which the loss is differentiated: 1, or L on its clocks."""
        return 0.0 if self.clock == TIME else self.loss.log_value(outputs, self.y)

    @property
    def moves(self) -> NDArray:
        """1 at the data (n,) that the loss is of, all of them here; 0 as in `linearised`."""
        return np.ones(len(self.X))

    @property
    def has_jacobian(self) -> bool:
        """Whether `jacobian` gives the derivative; else only differences do."""
        polar = isinstance(self.chart, Polar) and self.clock != TIME
        return polar or isinstance(self.chart, Neurons)

    def jacobian(self, z: NDArray, active: NDArray) -> NDArray:
        """The derivative (k, k) of the velocity."""
        return self.linearised(z, active)[1]

    def linearised(
        self, z: NDArray, active: NDArray, bends: NDArray | None = None
    ) -> tuple[NDArray, NDArray]:
        """Velocity and derivative, where it `has_jacobian`; `bends` as for `Neurons`."""
        chart, patterns = self.chart, self.layers(active)
        assert isinstance(chart, Neurons | Polar)
        outputs = chart.outputs(z, self.X, patterns)
        log_loss = self._unit(outputs)
        c = self.loss.pull(outputs, self.y, log_loss)
        # Data that pull next to nothing change it by less than rounding, and are most of many; one
        # on which the network is dead pulls at no parameter, however hard.
        pull = np.abs(c) > _NOTHING * np.abs(c[outputs != 0.0]).max(initial=0.0)
        bend = self.loss.bend(outputs, self.y, log_loss)[pull]
        sides = [layer[pull] for layer in patterns]
        bent = {} if bends is None else {"bends": bends[pull], "moves": self.moves[pull]}
        given = z, self.X[pull], c[pull], bend, self.clock, sides
        rate, matrix, slopes = chart.linearised(*given, **bent)
        if self.clock != LOG_LOG:
            return rate, matrix
        return -log_loss * rate, -log_loss * matrix + np.outer(rate, slopes)

    def reach(self, z: NDArray, v: NDArray) -> float:
        """The longest step that may be taken from z at velocity v (k,)."""
        return self.chart.reach(z, v) if self.clock == TIME else np.inf

    def surfaces(self, z: NDArray) -> NDArray:
        """Functions (..., n, units) of z (..., k), of moderate size, 0 where the velocity jumps."""
        return self._flat(self.chart.cosines(z, self.X))

    def turns(self, z: NDArray, v: NDArray, active: NDArray) -> NDArray:
        """Their rates (n, units) at velocity v (k,), each column in a unit of its own."""
        return self._flat(self.chart.turns(z, v, self.X, self.layers(active)))

    def restored(self, z: NDArray) -> NDArray:
        """z without what an integrator's drift has spoiled."""
        return self.chart.restored(z)

    def layers(self, active: NDArray) -> list[NDArray]:
        """(n, units) as one array for each layer with a ReLU."""
        ends = list(accumulate(self.chart.widths, initial=0))
        return [active[:, a:b] for a, b in pairwise(ends)] if len(ends) > 2 else [active]

    def _flat(self, layers: Sequence[NDArray]) -> NDArray:
        lead = layers[0].shape[:-1] if layers else (len(self.X),)
        return np.concatenate([np.zeros((*lead, 0)), *layers], axis=-1)
