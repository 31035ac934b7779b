"""Vector fields that `integrate` can follow: a velocity, and the surfaces on which it jumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError
from reluflow.flows.charts import LOG_LOSS, TIME, Chart
from reluflow.losses import Loss


class Field(Protocol):
    """dz/ds = velocity(z), z (k,), on a clock s; smooth unless `surfaces` is overridden.

    A piecewise smooth field is smooth while each of its functions `surfaces` (n, units) keeps its
    sign. `active` (n, units), 1 above 0 and 0 below, holds the field to the formula of one side;
    factors between mix the two.
    """

    clock: str

    def velocity(self, z: NDArray, active: NDArray) -> NDArray:
        """dz/ds, shape (k,); 0 where nothing pulls any more."""

    def begin(self, z: NDArray) -> float:
        """The clock's value at a start z."""
        return 0.0

    def log_loss(self, z: NDArray) -> float:
        """log L at z (k,); NaN for a field of no loss."""
        return np.nan

    def surfaces(self, z: NDArray) -> NDArray:
        """Functions (n, units) of a moderate size on whose zeros the velocity jumps."""
        return np.zeros((0, 0))

    def turns(self, z: NDArray, v: NDArray, active: NDArray) -> NDArray:
        """Their rates (n, units) at velocity v (k,), each column in a unit of its own."""
        return np.zeros((0, 0))

    def restored(self, z: NDArray) -> NDArray:
        """z without what an integrator's drift has spoiled."""
        return z

    def reach(self, z: NDArray, active: NDArray) -> float:
        """The longest step that may be taken from z."""
        return np.inf


@dataclass(frozen=True)
class GradientFlow(Field):
    """The gradient flow of a network's loss on X (n, d), y (n,), in a chart and on a clock.

    chart  coordinates of the network's parameters (`reluflow.flows.charts`)
    clock  "time", or "log(1/loss)", whose value tau = log(1/L) begins at the start's
    Raises InputError for an unknown clock.
    """

    chart: Chart
    loss: Loss
    X: NDArray
    y: NDArray
    clock: str = TIME

    def __post_init__(self) -> None:
        if self.clock not in (TIME, LOG_LOSS):
            raise InputError(f'clock must be "{TIME}" or "{LOG_LOSS}", not {self.clock!r}.')
        object.__setattr__(self, "X", np.asarray(self.X, float))
        object.__setattr__(self, "y", np.asarray(self.y, float))

    def log_loss(self, z: NDArray) -> float:
        return float(self.loss.log_value(self.chart.outputs(z, self.X), self.y))

    def begin(self, z: NDArray) -> float:
        return 0.0 if self.clock == TIME else -self.log_loss(z)

    def velocity(self, z: NDArray, active: NDArray) -> NDArray:
        patterns = self._layers(active)
        outputs = self.chart.outputs(z, self.X, patterns)
        c = self.loss.pull(outputs, self.y, relative=self.clock == LOG_LOSS)
        return self.chart.velocity(z, self.X, c, self.clock, patterns)

    def surfaces(self, z: NDArray) -> NDArray:
        return self._flat(self.chart.cosines(z, self.X))

    def turns(self, z: NDArray, v: NDArray, active: NDArray) -> NDArray:
        return self._flat(self.chart.turns(z, v, self.X, self._layers(active)))

    def restored(self, z: NDArray) -> NDArray:
        return self.chart.restored(z)

    def reach(self, z: NDArray, active: NDArray) -> float:
        if self.clock == LOG_LOSS:
            return np.inf
        return self.chart.reach(z, self.velocity(z, active))

    def _layers(self, active: NDArray) -> list[NDArray]:
        """(n, units) as one array for each layer with a ReLU."""
        return np.split(active, list(accumulate(self.chart.widths))[:-1], axis=1)

    def _flat(self, layers: Sequence[NDArray]) -> NDArray:
        return np.concatenate([np.zeros((len(self.X), 0)), *layers], axis=1)
