"""The training loss of a network on data: L(theta) = sum_i l(f(theta; x_i), y_i)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.losses import Loss
from reluflow.networks.indexed import Network, Patterns

if TYPE_CHECKING:  # torch takes long to load
    from reluflow.networks.autograd import Autograd


@dataclass(frozen=True)
class Objective:
    """L(theta) of `network` on X (n, d), y (n,); with `patterns` the units' activity is held fixed.

    With `relative`, derivatives are those of log L, which no size of L spoils.
    """

    network: Network | Autograd
    loss: Loss
    X: NDArray
    y: NDArray

    def log_value(self, theta: ArrayLike, patterns: Patterns | None = None) -> float:
        """log L(theta)."""
        return float(self.loss.log_value(self.network.output(theta, self.X, patterns), self.y))

    def value(self, theta: ArrayLike, patterns: Patterns | None = None) -> float:
        """L(theta), 0 where it is too small for a float."""
        return float(np.exp(self.log_value(theta, patterns)))

    def margins(self, theta: ArrayLike) -> NDArray:
        """y_i f(theta; x_i), shape (n,)."""
        return self.y * self.network.output(theta, self.X)

    def gradient(
        self, theta: ArrayLike, patterns: Patterns | None = None, relative: bool = False
    ) -> NDArray:
        """grad L, or grad log L, shape (p,)."""
        z = self.network.output(theta, self.X, patterns)
        return -self.network.gradient(theta, self.X, self.loss.pull(z, self.y, relative), patterns)

    def hessian_product(
        self,
        theta: ArrayLike,
        v: ArrayLike,
        patterns: Patterns | None = None,
        relative: bool = False,
    ) -> NDArray:
        """The Hessian of L, or of log L, times v (p,):

            sum_i l''_i <grad f_i, v> grad f_i + sum_i l'_i Hess f_i v,

        over L and less grad log L <grad log L, v> for log L. Returns shape (p,).
        """
        network, X = self.network, self.X
        z = network.output(theta, X, patterns)
        pull = self.loss.pull(z, self.y, relative)
        along = network.rates(theta, X, v, patterns)[1]
        c = self.loss.bend(z, self.y, relative) * along
        if relative:
            c = c - pull * (pull @ along)
        # The last term of log L's Hessian is J^T pull (pull . J v), of the same form.
        bent = network.gradient(theta, X, c, patterns)
        return bent - network.hessian_product(theta, X, pull, v, patterns)
