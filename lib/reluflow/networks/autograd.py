"""Networks that are written as a torch function: residual and convolutional ones, for instance.

They answer the same questions as `reluflow.networks.indexed.Network`, by automatic differentiation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from reluflow.networks.indexed import Patterns

Relu = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Autograd:
    """f(theta; x) = forward(theta, X, relu)_i, homogeneous in theta (p,) of degree m.

    forward  outputs (n,) of theta (p,), the data X and `relu`, which it must call for every
             activation, once a layer, on pre-activations (n, ...)
    size     number of parameters p
    degree   m
    widths   number of units of each layer with a ReLU
    """

    forward: Callable[[Tensor, Tensor, Relu], Tensor]
    size: int
    degree: int
    widths: tuple[int, ...]

    def output(self, theta: ArrayLike, X: ArrayLike, patterns: Patterns | None = None) -> NDArray:
        """f(theta; x_i), shape (n,); with `patterns` these units are the active ones."""
        return self._outputs(X, patterns)(_tensor(theta))[0].numpy()

    def preactivations(self, theta: ArrayLike, X: ArrayLike) -> list[NDArray]:
        """The inputs of the units with an activation, one array (n, h_l) for each layer."""
        return [h.numpy() for h in self._outputs(X, None)(_tensor(theta))[1:]]

    def cosines(self, theta: ArrayLike, X: ArrayLike) -> list[NDArray]:
        """The pre-activations in units that care for no scale: each datum's largest in its layer,
        or |x_i| |theta|^l for a layer l of a single unit; (k, n, h_l) for theta (k, p)."""
        if np.ndim(theta) > 1:
            each = [self.cosines(one, X) for one in np.asarray(theta, float)]
            return [np.array(layer) for layer in zip(*each, strict=True)]
        X, size = np.asarray(X, float), float(np.linalg.norm(theta))
        rows = np.linalg.norm(X.reshape(len(X), -1), axis=1)[:, None]
        found = []
        for order, h in enumerate(self.preactivations(theta, X), start=1):
            unit = np.abs(h).max(axis=1, keepdims=True) if h.shape[1] > 1 else rows * size**order
            found.append(np.divide(h, unit, out=np.zeros_like(h), where=unit > 0.0))
        return found

    def rates(
        self, theta: ArrayLike, X: ArrayLike, v: ArrayLike, patterns: Patterns | None = None
    ) -> tuple[list[NDArray], NDArray]:
        """Rates of the pre-activations (n, h_l) and of the output (n,) for a velocity v (p,)."""
        outputs = self._outputs(X, patterns)
        moved = torch.autograd.functional.jvp(outputs, _tensor(theta), _tensor(v))[1]
        return [h.numpy() for h in moved[1:]], moved[0].numpy()

    def gradient(
        self, theta: ArrayLike, X: ArrayLike, c: ArrayLike, patterns: Patterns | None = None
    ) -> NDArray:
        """grad_theta sum_i c_i f(theta; x_i), shape (p,), for c (n,)."""
        at = _tensor(theta).requires_grad_()
        return torch.autograd.grad(self._total(X, c, patterns)(at), at)[0].numpy()

    def hessian_product(
        self,
        theta: ArrayLike,
        X: ArrayLike,
        c: ArrayLike,
        v: ArrayLike,
        patterns: Patterns | None = None,
    ) -> NDArray:
        """Hessian of sum_i c_i f(theta; x_i) times v (p,), the units' activity held fixed."""
        total = self._total(X, c, patterns)
        return torch.autograd.functional.hvp(total, _tensor(theta), _tensor(v))[1].numpy()

    def turned(
        self, theta: ArrayLike, X: ArrayLike, c: ArrayLike, v: ArrayLike,
        patterns: Patterns | None = None,
    ) -> tuple[NDArray, NDArray]:  # fmt: skip
        """Rates of `gradient` (p,) and of the output (n,) for a velocity v (p,)."""
        return self.hessian_product(theta, X, c, v, patterns), self.rates(theta, X, v, patterns)[1]

    def _total(
        self, X: ArrayLike, c: ArrayLike, patterns: Patterns | None
    ) -> Callable[[Tensor], Tensor]:
        outputs, weights = self._outputs(X, patterns), _tensor(c)
        return lambda theta: (outputs(theta)[0] * weights).sum()

    def _outputs(
        self, X: ArrayLike, patterns: Patterns | None
    ) -> Callable[[Tensor], tuple[Tensor, ...]]:
        """The map from theta to the output and all pre-activations."""
        data = _tensor(X)

        def outputs(theta: Tensor) -> tuple[Tensor, ...]:
            seen: list[Tensor] = []

            def relu(h: Tensor) -> Tensor:
                given = h > 0.0 if patterns is None else _tensor(patterns[len(seen)])
                seen.append(h.reshape(len(h), -1))
                return h * given.reshape(h.shape).to(h.dtype)

            return self.forward(theta, data, relu), *seen

        return outputs


def _tensor(values: ArrayLike | Sequence) -> Tensor:
    return torch.tensor(np.asarray(values, float))
