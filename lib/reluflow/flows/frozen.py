"""Gradient flow of an exponential loss at a very late time, with the temperature held fixed.

In direction the flow is du/ds = (G - <G,u> u) / <G,u> on the clock s = log |theta|, where
G = sum_i c_i y_i grad f(u; x_i) and c = softmax(-e^(m s) y f(u)). Late on, the pulls c balance what
they have to at any large factor before y f(u): holding it fixed moves u by about its inverse, and
leaves a flow whose stiffness does not grow, and whose sums do not drown in rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from reluflow.flows.charts import Polar
from reluflow.flows.fields import Field, GradientFlow
from reluflow.losses import EXPONENTIAL
from reluflow.networks.indexed import Network

LOG_SIZE = "log |theta|"


@dataclass(frozen=True)
class FrozenFlow(Field):
    """The flow of z = (u, rho), rho = log |theta|, on the clock rho.

    network, X (n, d), y (n,) of +-1; factor, the fixed e^(m s)
    """

    network: Network
    X: NDArray
    y: NDArray
    factor: float
    clock: str = LOG_SIZE

    def begin(self, z: NDArray) -> float:
        return float(z[-1])

    def pulls(self, z: NDArray, patterns: list[NDArray] | None = None) -> NDArray:
        """The shares c (n,) of the data in the pull on the weights."""
        return softmax(-self.factor * self.y * self.network.output(z[:-1], self.X, patterns))

    def velocity(self, z: NDArray, active: NDArray) -> NDArray:
        u, patterns = z[:-1], self._plain.layers(active)
        G = self.network.gradient(u, self.X, self.pulls(z, patterns) * self.y, patterns)
        along = (G @ u) / (u @ u)
        return np.append(G / along - u, 1.0)

    def jacobian(self, z: NDArray, active: NDArray) -> NDArray:
        u, patterns, p = z[:-1], self._plain.layers(active), len(z) - 1
        network, X, c = self.network, self.X, self.pulls(z, patterns)
        tangents = self.y[:, None] * network.rates(u, X, np.eye(p), patterns)[1].T
        bend = network.hessian_product(u, X, c * self.y, np.eye(p), patterns).T
        spread = self.factor * (np.outer(c, c) - np.diag(c))
        dG, G, square = bend + tangents.T @ (spread @ tangents), c @ tangents, u @ u
        along = (G @ u) / square
        d_along = (u @ dG + G - 2.0 * along * u) / square
        out = np.zeros((p + 1, p + 1))
        out[:p, :p] = dG / along - np.outer(G, d_along) / along**2 - np.eye(p)
        return out

    def surfaces(self, z: NDArray) -> NDArray:
        return self._plain.surfaces(z)

    def seen(self, Z: NDArray) -> NDArray:
        return self._plain.seen(Z)

    def turns(self, z: NDArray, v: NDArray, active: NDArray) -> NDArray:
        return self._plain.turns(z, v, active)

    def restored(self, z: NDArray) -> NDArray:
        return self._plain.restored(z)

    @cached_property
    def _plain(self) -> GradientFlow:
        """A flow with the same surfaces."""
        return GradientFlow(Polar(self.network), EXPONENTIAL, self.X, self.y)
