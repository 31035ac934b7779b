"""A fully connected ReLU network and its square loss on much data, in torch.

The gradient is by hand, on pieces of the data whose hidden layers fit into a processor's cache, and
the network's arithmetic may be in single precision; weights and sums over the data are in double.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_BLOCK = 500


class DenseLoss:
    """L = 1/(2n) sum_i (f(x_i) - y_i)^2 of f(x) = W_l [... [W_1 x]_+ ...]_+, without bias.

    Parameters: shapes of W_1, ..., W_l, the last of one row; data X (n, d), labels y (n,); `dtype`,
    the precision of the network's arithmetic. The p weights are one vector, W_1 first, row by row.
    """

    def __init__(
        self,
        shapes: Sequence[tuple[int, int]],
        X: Tensor,
        y: Tensor,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        self.shapes, self.X, self.y = shapes, X, y
        block = _BLOCK if X.device.type == "cpu" else len(X)
        pieces = zip(X.to(dtype).split(block), y.to(dtype).split(block), strict=True)
        self._pieces = [(x.T.contiguous(), labels) for x, labels in pieces]

    def layers(self, w: Tensor) -> list[Tensor]:
        """W_1, ..., W_l of the weights (p,)."""
        return matrices(w, self.shapes)

    def norms(self, w: Tensor) -> NDArray:
        """The Frobenius norms |W_1|, ..., |W_l|, shape (l,)."""
        return np.array([float(W.norm()) for W in self.layers(w)])

    def loss(self, w: Tensor) -> float:
        """L at the weights (p,)."""
        return self.loss_and_direction(w)[0]

    def descent_direction(self, w: Tensor) -> Tensor:
        """- grad L at the weights (p,); the derivative of the ReLU at 0 is 0."""
        return self.loss_and_direction(w)[1]

    def loss_and_direction(self, w: Tensor) -> tuple[float, Tensor]:
        """L and - grad L at the weights (p,)."""
        W = self.layers(w.to(self._pieces[0][1].dtype))
        squares, total = w.new_zeros(()), torch.zeros_like(w)
        for X, y in self._pieces:
            inputs, f = forward(W, X)
            missing = y - f
            squares += missing.to(w.dtype).square().sum()
            delta = missing[None]
            found = [torch.mm(delta, inputs[-1].T)]
            for k in range(len(W) - 1, 0, -1):
                delta = torch.mm(W[k].T, delta).mul_(inputs[k] > 0.0)
                found.append(torch.mm(delta, inputs[k - 1].T))
            total += torch.cat([G.reshape(-1) for G in reversed(found)])
        n = len(self.y)
        return 0.5 * float(squares) / n, total / n


def matrices(w: Tensor, shapes: Sequence[tuple[int, int]]) -> list[Tensor]:
    """The matrices of these shapes in the vector w (p,), row by row."""
    pieces = torch.split(w, [a * b for a, b in shapes])
    return [piece.view(shape) for piece, shape in zip(pieces, shapes, strict=True)]


def forward(W: Sequence[Tensor], X: Tensor) -> tuple[list[Tensor], Tensor]:
    """What goes into each layer for the data X (d, b), a column each, and f (b,)."""
    inputs = [X]
    for layer in W[:-1]:
        inputs.append(torch.mm(layer, inputs[-1]).clamp_(min=0.0))
    return inputs, torch.mv(inputs[-1].T, W[-1][0])


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch on one thread: sums are then the same on any number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
