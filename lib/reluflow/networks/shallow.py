"""A two-layer ReLU network and its loss on many data with labels +-1, in torch.

The gradient is by hand, on pieces of the data that fit into a processor's cache. The products with
the data may be in single precision; weights and sums over the pieces are in double.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from numpy.typing import ArrayLike
from torch import Tensor

_BLOCK = 500
Sums = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class MarginLoss:
    """l(q) of a margin q = y f(x), and the pull -l'(q); both take and return tensors (n,)."""

    name: str
    value: Callable[[Tensor], Tensor]
    pull: Callable[[Tensor], Tensor]


EXPONENTIAL = MarginLoss("exponential", lambda q: torch.exp(-q), lambda q: torch.exp(-q))
"""l = exp(-q)."""
LOGISTIC = MarginLoss(
    "logistic", lambda q: torch.nn.functional.softplus(-q), lambda q: torch.sigmoid(-q)
)
"""l = log(1 + exp(-q))."""
TWICE_LOGISTIC = MarginLoss(
    "twice logistic",
    lambda q: 2.0 * torch.nn.functional.softplus(-q),
    lambda q: 2.0 * torch.sigmoid(-q),
)
"""l = 2 log(1 + exp(-q)), whose slope at 0 is that of exp(-q)."""
LOSSES = {loss.name: loss for loss in (EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC)}


@dataclass(frozen=True)
class Neurons:
    """The weights of f(x) = sum_j v_j [w_j.x]_+: W (h, d), a neuron w_j a row, and v (h,)."""

    W: Tensor
    v: Tensor

    def moved(self, slope: Neurons, step_W: float, step_v: float) -> Neurons:
        """W and v after a step along `slope`, of a length for each layer."""
        return Neurons(self.W + step_W * slope.W, self.v + step_v * slope.v)

    @property
    def flat(self) -> Tensor:
        """All weights (h d + h,), those of W first, row by row."""
        return torch.cat([self.W.reshape(-1), self.v])

    def like(self, flat: Tensor) -> Neurons:
        """The weights (h d + h,) as neurons of the same shape."""
        return Neurons(flat[: self.W.numel()].view_as(self.W), flat[self.W.numel() :])


class Differentiable(Protocol):
    """A loss that gives its value and its slope."""

    def value_and_slope(self, neurons: Neurons) -> tuple[float, Neurons]:
        """L and - grad L, for both layers."""


class ShallowLoss:
    """L = weight * sum_i l(y_i f(x_i)) of f(x) = sum_j v_j [w_j.x]_+, with the ReLU's slope 0 at 0.

    Parameters: data X (n, d), labels y (n,) of +-1, the loss l of a margin, `weight`, 1 for the sum
    over the data and 1/n for the mean, `dtype`, the precision of the products with X.
    """

    def __init__(
        self,
        X: ArrayLike | Tensor,
        y: ArrayLike | Tensor,
        loss: MarginLoss,
        weight: float,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        self.X = torch.as_tensor(X).to(dtype).contiguous()
        self.y = torch.as_tensor(y).to(dtype)
        self.loss, self.weight, self.dtype = loss, weight, dtype

    @property
    def n(self) -> int:
        """Number of data."""
        return len(self.y)

    def of(self, rows: Tensor) -> ShallowLoss:
        """The loss of some of the data, with the weight that keeps a mean a mean."""
        weight = self.weight * self.n / len(rows)
        return ShallowLoss(self.X[rows], self.y[rows], self.loss, weight, self.dtype)

    def before(self, neurons: Neurons) -> Tensor:
        """The preactivations w_j.x_i, shape (n, h)."""
        return torch.mm(self.X, neurons.W.to(self.dtype).T)

    def value(self, neurons: Neurons) -> float:
        """L."""
        return self.value_and_slope(neurons)[0]

    def value_and_slope(self, neurons: Neurons) -> tuple[float, Neurons]:
        """L and - grad L, for both layers."""
        return self.slope_of(neurons, *self.sums(neurons, [(self.X, self.y)]))

    def sums(self, neurons: Neurons, parts: Sequence[tuple[Tensor, Tensor]]) -> Sums:
        """sum_i l(q_i), and for each neuron the sum (h, d) of c_i x_i over the data on which it is
        active, c_i = - y_i l'(q_i); over the data (X, y) in the parts."""
        W, v = neurons.W.to(self.dtype), neurons.v.to(self.dtype)
        total, pulled = torch.zeros((), dtype=torch.float64), torch.zeros_like(neurons.W)
        for data, labels in parts:
            for X, y in zip(data.split(_BLOCK), labels.split(_BLOCK), strict=True):
                hidden = torch.mm(W, X.T).clamp_(min=0.0)
                margins = y * torch.mv(hidden.T, v)
                total += self.loss.value(margins).sum(dtype=torch.float64)
                pulled += torch.mm((hidden > 0.0) * (self.loss.pull(margins) * y), X)
        return total, pulled

    def slope_of(self, neurons: Neurons, total: Tensor, pulled: Tensor) -> tuple[float, Neurons]:
        """L and - grad L from those sums over all data: a neuron's weights w_j and v_j are pulled
        by v_j and by w_j times the same sum."""
        G = (self.weight * neurons.v)[:, None] * pulled
        g = self.weight * (neurons.W * pulled).sum(dim=1)
        return self.weight * float(total), Neurons(G, g)
