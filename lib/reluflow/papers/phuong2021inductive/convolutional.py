"""Appendix D of Phuong & Lampert 2021: Table 1's network learns to tell the digits 0 and 1 apart.

Not printed, and so parameters here: the step size, how pixels are scaled, whether layers have
biases, and whether the 0.05 is for the biases, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from reluflow.flows.minibatches import minibatch_steps
from reluflow.geometry.pair_products import PairProducts, pair_products
from reluflow.images import Images
from reluflow.networks.convolutional import ConvolutionalNetwork, Weights, as_images
from reluflow.papers.phuong2021inductive.table_1 import network

FIRST = 7
"""The layer l whose features, and whose weights W_7, the paper looks at."""
BEFORE, AFTER = "before the ReLU", "after the ReLU"
PIXELS = {"0 to 1": (0.0, 1.0), "-1 to 1": (0.5, 0.5), "standard": (0.1307, 0.3081)}
"""What is taken off the levels from 0 to 1, and what they are divided by; "standard" are the mean
and the deviation of all of MNIST's pixels."""


@dataclass(frozen=True)
class Setting:
    """How the network is trained; what the paper prints, and its unprinted choices.

    epochs, batch, scale  printed: 50, 128, and 0.05 for the weights of the fully connected layers
    rate        the step size
    pixels      a key of PIXELS
    biases      whether layers have them
    bias_scale  what the biases of the fully connected layers are multiplied by
    momentum    None for Adam, as printed; a number for descent with this momentum instead
    """

    epochs: int = 50
    batch: int = 128
    scale: float = 0.05
    rate: float = 1e-3
    pixels: str = "0 to 1"
    biases: bool = True
    bias_scale: float = 1.0
    momentum: float | None = None


PAPER = Setting()
DESCENT = replace(PAPER, epochs=300, rate=0.1, momentum=0.9)
"""The same on `digits` without Adam."""
READINGS = {
    "taken": PAPER,
    "rate 1e-4": replace(PAPER, rate=1e-4),
    "rate 1e-2": replace(PAPER, rate=1e-2),
    "pixels -1 to 1": replace(PAPER, pixels="-1 to 1"),
    "pixels standardised": replace(PAPER, pixels="standard"),
    "no biases": replace(PAPER, biases=False),
    "biases times 0.05": replace(PAPER, bias_scale=0.05),
    "nothing times 0.05": replace(PAPER, scale=1.0),
}


@dataclass(frozen=True, eq=False)
class Task:
    """Images of 0 and 1, as the network takes them.

    images  (n, 1, side, side)
    y       (n,) labels: +1 for the digit 1, -1 for the digit 0
    """

    images: Tensor
    y: NDArray[np.float64]

    def some(self, of_each: int) -> Task:
        """The first `of_each` images of either digit, or all of them if there are fewer."""
        rows = np.concatenate([np.flatnonzero(self.y == sign)[:of_each] for sign in (1.0, -1.0)])
        return Task(self.images[torch.as_tensor(rows)], self.y[rows])


@dataclass(frozen=True, eq=False)
class Look:
    """The network after some steps.

    step       how many steps it took
    loss       the mean loss of the batches since the look before
    before     the inner products of the features f^7 of pairs of images
    after      those of rho(f^7)
    singular   (k,) singular values of W_7, largest first
    """

    step: int
    loss: float
    before: PairProducts
    after: PairProducts
    singular: NDArray


@dataclass(frozen=True, eq=False)
class Run:
    """A training run: the network at the end, and looks at it on the way."""

    setting: Setting
    network: ConvolutionalNetwork
    weights: Weights
    looks: list[Look]

    @property
    def first(self) -> NDArray[np.float64]:
        """W_7, a neuron a row."""
        return self.weights[2 * FIRST - 2].double().cpu().numpy()

    @property
    def second(self) -> NDArray[np.float64]:
        """The entries of W_8, one for each neuron."""
        return self.weights[2 * FIRST].double().cpu().numpy()[0]


def task(
    images: Images,
    setting: Setting = PAPER,
    device: str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Task:
    """The images of 0 and 1 in a set; the network is trained in their precision `dtype`."""
    rows = np.flatnonzero(images.digit <= 1)
    taken_off, divisor = PIXELS[setting.pixels]
    levels = (images.levels[rows] / images.white - taken_off) / divisor
    y = np.where(images.digit[rows] == 1, 1.0, -1.0)
    return Task(as_images(levels, images.shape[0], device, dtype), y)


def steps_of(setting: Setting, n: int) -> int:
    """How many steps an epoch on n images takes."""
    return -(-n // setting.batch)


def training(
    data: Task, setting: Setting, seed: int, looked: Iterable[int], sample: Task | None = None
) -> Iterator[Run]:
    """Train by Adam until the last of the steps `looked` (ascending), and look there at a sample's
    features (by default those of all the data).

    The seed draws the start and the order of the data. Returns at each look the run up to it; its
    weights are those that training goes on to move.
    """
    sample = sample or data
    net = network(data.images.shape[-1], setting.biases)
    rng = np.random.default_rng(seed)
    weights = [w.to(data.images) for w in net.start(rng, setting.scale, setting.bias_scale)]
    targets = torch.tensor(data.y > 0, dtype=data.images.dtype, device=data.images.device)

    def loss(rows: Tensor) -> Tensor:
        outputs = net.output(weights, data.images[rows])
        return functional.binary_cross_entropy_with_logits(outputs, targets[rows])

    moved = [w.requires_grad_() for w in net.trained(weights)]
    steps = minibatch_steps(_optimiser(moved, setting), loss, len(data.y), setting.batch, rng)
    looks: list[Look] = []
    taken = 0
    for until in looked:
        losses = list(islice(steps, until - taken))
        taken = until
        mean = float(np.mean(losses)) if losses else np.nan
        looks.append(look(net, weights, sample, taken, mean))
        yield Run(setting, net, [w.detach() for w in weights], list(looks))


def _optimiser(moved: list[Tensor], setting: Setting) -> torch.optim.Optimizer:
    if setting.momentum is None:
        return torch.optim.Adam(moved, lr=setting.rate, fused=True)
    return torch.optim.SGD(moved, lr=setting.rate, momentum=setting.momentum)


def train(
    data: Task, setting: Setting, seed: int, looked: Iterable[int], sample: Task | None = None
) -> Run:
    """The run of `training` at its last look."""
    return deque(training(data, setting, seed, looked, sample), maxlen=1)[0]


def top_plane(W: NDArray) -> NDArray:
    """The rows of W (h, d) in the top two singular directions, (h, 2), each direction with the sign
    that makes the sum of cubes positive."""
    plane = W @ np.linalg.svd(W, full_matrices=False)[2][:2].T
    return plane * np.sign(np.sum(plane**3, axis=0))


def look(net: ConvolutionalNetwork, weights: Weights, sample: Task, step: int, loss: float) -> Look:
    """The inner products of a sample's features f^7, and the singular values of W_7."""
    (found,) = layer_features(net, weights, sample, [FIRST])
    singular = torch.linalg.svdvals(weights[2 * FIRST - 2].detach().double()).cpu().numpy()
    before, after = (pair_products(X, sample.y) for X in (found, np.maximum(found, 0.0)))
    return Look(step, loss, before, after, singular)


def layer_features(
    net: ConvolutionalNetwork,
    weights: Weights,
    sample: Task,
    layers: Sequence[int],
    batch: int = 256,
) -> list[NDArray]:
    """f^l(x) of all images of a sample for each of these layers l, an image a row.

    They have the sample's precision up to layer 6; from layer 7 on they are in double, so that the
    sign of an inner product is that of these numbers.
    """
    parts: list[list[Tensor]] = [[] for _ in layers]
    with torch.no_grad():
        for images in torch.split(sample.images, batch):
            features = net.features(weights, images)
            for part, layer in zip(parts, layers, strict=True):
                part.append(features[layer - 1].flatten(1).cpu())
    found = [torch.cat(part) for part in parts]
    return [
        (X.double() if layer >= FIRST else X).numpy()
        for X, layer in zip(found, layers, strict=True)
    ]
