"""Minibatch descent, and the convolutional networks of Appendix D."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from reluflow.errors import InputError

# --- Training on minibatches by any of PyTorch's optimisers, step by step -------------------------


def minibatch_steps(
    optimiser: torch.optim.Optimizer,
    loss: Callable[[Tensor], Tensor],
    n: int,
    batch: int,
    rng: np.random.Generator,
) -> Iterator[float]:
    """Steps on the mean loss of minibatches, without end; each gives the loss before it.

    Every epoch goes through the n data once, in a new order, `batch` at a time; the last batch of
    an epoch is what is left.

    optimiser  moves its tensors in place
    loss       the mean loss of the data with these indices (m,), a function of those tensors
    """
    device = optimiser.param_groups[0]["params"][0].device
    while True:
        for indices in np.array_split(rng.permutation(n), range(batch, n, batch)):
            optimiser.zero_grad()
            value = loss(torch.as_tensor(indices, device=device))
            value.backward()
            optimiser.step()
            yield float(value.detach())


# --- Convolutional networks that end in a two-layer one: convolutions, fc(n, h) and fc(h, 1) ------


ConvolutionalWeights = list[Tensor]
"""Weights and, behind each of them, the biases of a layer, from the first layer to the last."""


@dataclass(frozen=True)
class Convolution:
    """Kernels of size x size, moved by `stride` over an image, `padding` rows added all round."""

    kernels: int
    size: int
    stride: int
    padding: int

    def side(self, side: int) -> int:
        """The rows (and columns) of what comes out of a square image with `side` rows."""
        left = side + 2 * self.padding - self.size
        if left < 0:
            raise InputError(f"a kernel of size {self.size} does not fit an image of {side} rows.")
        return left // self.stride + 1


@dataclass(frozen=True)
class ConvolutionalNetwork:
    r"""Grey square images x to one number f(x), a ReLU between any two layers.

    $f^1(x) = C_1 x, \quad f^l(x) = C_l \rho(f^{l-1}(x))$ for the convolutions $C_l$, then for the
    two fully connected layers $f^l(x) = W_l \rho(f^{l-1}(x)) + b_l$; the features $f^l(x)$ of layer
    l are what it gives before the ReLU.

    convolutions  of the first layers
    hidden        h, the width of the first fully connected layer
    side          the rows of an image
    biases        whether layers have biases
    """

    convolutions: tuple[Convolution, ...]
    hidden: int
    side: int
    biases: bool = True

    @property
    def sides(self) -> list[int]:
        """The rows of the images that come out of each convolution."""
        found = [self.side]
        for convolution in self.convolutions:
            found.append(convolution.side(found[-1]))
        return found[1:]

    @property
    def flat(self) -> int:
        """How many numbers the last convolution hands to the first fully connected layer."""
        return self.convolutions[-1].kernels * self.sides[-1] ** 2

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the weights of all layers."""
        channels = [1, *(c.kernels for c in self.convolutions)]
        found: list[tuple[int, ...]] = [
            (c.kernels, before, c.size, c.size)
            for c, before in zip(self.convolutions, channels[:-1], strict=True)
        ]
        return [*found, (self.hidden, self.flat), (1, self.hidden)]

    def start(
        self, rng: np.random.Generator, scale: float = 1.0, bias_scale: float = 1.0
    ) -> ConvolutionalWeights:
        """Weights and biases uniform in ±1/sqrt(fan-in), as PyTorch draws them; in the fully
        connected layers the weights times `scale` and the biases times `bias_scale`."""
        found = []
        for layer, shape in enumerate(self.shapes, start=1):
            reach = 1.0 / sqrt(np.prod(shape[1:]))
            factors = (scale, bias_scale) if layer > len(self.convolutions) else (1.0, 1.0)
            for size, factor in zip((shape, shape[:1]), factors, strict=True):
                drawn = factor * rng.uniform(-reach, reach, size)
                found.append(torch.tensor(drawn, dtype=torch.float32))
        return found if self.biases else [w if k % 2 == 0 else 0 * w for k, w in enumerate(found)]

    def trained(self, weights: ConvolutionalWeights) -> ConvolutionalWeights:
        """Those of the weights that training moves: without biases every second one."""
        return weights if self.biases else weights[::2]

    def features(self, weights: Sequence[Tensor], images: Tensor) -> list[Tensor]:
        """f^1(x), ..., f^L(x) of images (m, 1, side, side): (m, kernels, rows, columns) in the
        convolutions, (m, h) and (m, 1) behind them."""
        layers = list(zip(weights[::2], weights[1::2], strict=True))
        found, x = [], images
        for (w, b), c in zip(layers, self.convolutions, strict=False):
            found.append(functional.conv2d(x, w, b, c.stride, c.padding))
            x = functional.relu(found[-1])
        x = x.flatten(1)
        for w, b in layers[len(self.convolutions) :]:
            found.append(functional.linear(x, w, b))
            x = functional.relu(found[-1])
        return found

    def output(self, weights: Sequence[Tensor], images: Tensor) -> Tensor:
        """f(x) (m,) of images (m, 1, side, side)."""
        return self.features(weights, images)[-1][:, 0]


def as_images(
    levels: NDArray, side: int, device: str = "cpu", dtype: torch.dtype = torch.float32
) -> Tensor:
    """Rows of pixels (m, side^2) as images (m, 1, side, side), in the order in memory that
    convolutions are fastest with.

    Raises InputError for a device that PyTorch does not have here.
    """
    try:
        found = torch.tensor(np.asarray(levels), dtype=dtype, device=device)
    except (RuntimeError, AssertionError):
        raise InputError(f'there is no device "{device}" here: use "cpu".') from None
    images = found.reshape(-1, 1, side, side)
    return images.contiguous(memory_format=torch.channels_last)
