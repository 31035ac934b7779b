"""`python -m reluflow.papers.phuong2021inductive.convolutional_record NAME ...`: Appendix D."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from reluflow import parameters
from reluflow.images import Images, digits, mnist, mnist_folder
from reluflow.networks.dense import one_thread
from reluflow.papers.phuong2021inductive.setting import (
    ACROSS,
    MINUS,
    PLUS,
    PairProducts,
    left_out,
    pair_products,
)
from reluflow.papers.phuong2021inductive.training import (
    Convolution,
    ConvolutionalNetwork,
    ConvolutionalWeights,
    as_images,
    minibatch_steps,
)
from reluflow.places import RECORDS as FOLDER
from reluflow.progress import progress

# --- Table 1 of Phuong & Lampert 2021: its network, and whether its sizes fit together ------------


CONVOLUTIONS = (
    Convolution(32, 3, 1, 1),
    Convolution(32, 3, 1, 1),
    Convolution(32, 5, 2, 2),
    Convolution(64, 3, 1, 1),
    Convolution(64, 3, 1, 1),
    Convolution(64, 5, 2, 2),
)
"""conv(n, k, s, p): n kernels of k x k pixels, stride s, p rows or columns of padding."""
PRINTED = (3136, 128)
"""What the first fully connected layer takes, and what it gives."""


def network(side: int, biases: bool = True) -> ConvolutionalNetwork:
    """Table 1's network for images of side x side pixels; the paper's have 28 x 28."""
    return ConvolutionalNetwork(CONVOLUTIONS, PRINTED[1], side, biases)


def sizes(net: ConvolutionalNetwork) -> pd.DataFrame:
    """A row a layer: the numbers of Table 1, what comes out of the layer, and its weights."""
    convolved = [f"conv({c.kernels}, {c.size}, {c.stride}, {c.padding})" for c in net.convolutions]
    shapes = net.shapes
    out = [f"{c.kernels} x {m} x {m}" for c, m in zip(net.convolutions, net.sides, strict=True)]
    return pd.DataFrame(
        {
            "layer": [*convolved, f"fc({net.flat}, {net.hidden})", f"fc({net.hidden}, 1)"],
            "gives": [*out, f"{net.hidden}", "1"],
            "weights": [prod(shape) for shape in shapes],
        },
        index=pd.Index(range(1, net.depth + 1), name="l"),
    )


# --- Appendix D: Table 1's network learns to tell the digits 0 and 1 apart ------------------------
#
# Not printed, and so parameters here: the step size, how pixels are scaled, whether layers have
# biases, and whether the 0.05 is for the biases, too.


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
    weights: ConvolutionalWeights
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


def look(
    net: ConvolutionalNetwork, weights: ConvolutionalWeights, sample: Task, step: int, loss: float
) -> Look:
    """The inner products of a sample's features f^7, and the singular values of W_7."""
    (found,) = layer_features(net, weights, sample, [FIRST])
    singular = torch.linalg.svdvals(weights[2 * FIRST - 2].detach().double()).cpu().numpy()
    before, after = (pair_products(X, sample.y) for X in (found, np.maximum(found, 0.0)))
    return Look(step, loss, before, after, singular)


def layer_features(
    net: ConvolutionalNetwork,
    weights: ConvolutionalWeights,
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
    found = zip(map(torch.cat, parts), layers, strict=True)
    return [(X.double() if layer >= FIRST else X).numpy() for X, layer in found]


# --- `python -m reluflow.papers.phuong2021inductive.convolutional_record NAME ...` ----------------
#
# Trains Table 1's network on all MNIST images of 0 and 1 and records what Figures 3 and 4 show. A
# name is that of a reading, with the number of epochs and the seed where they are not 50 and 0:
# "taken", "taken-50-1", "rate 1e-4-10-0". An epoch takes about 20 s of one core. MNIST's folder is
# what the environment variable RELUFLOW_MNIST names, or shared/mnist beside the checkout. The name
# "digits-descent" trains on scikit-learn's digits without Adam, in half a minute.


KEEP = "RELUFLOW_KEEP"
"""The environment variable that may name a folder for the weights after each epoch."""
EARLY = (0, 5, 10, 20, 30, 50, 70)
"""Steps in the first epoch at which there is a look."""
LOOKED, SAMPLE = 500, 1000
"""Images of each digit in a look, and in the last one at layers 1 to 6."""
BINS = 80
_COMMAND = "python -m reluflow.papers.phuong2021inductive.convolutional_record"
DIGITS = "digits-descent"
"""The record of a run on `digits` without Adam."""


def file_of(name: str) -> Path:
    """Where a record lies."""
    return FOLDER / f"phuong2021inductive-cnn-{name.replace(' ', '-')}.json"


def looked(setting: Setting, n: int) -> list[int]:
    """The steps at which there is a look: some in the first epoch, and the end of each."""
    each = steps_of(setting, n)
    return [s for s in EARLY if s < each] + [each * k for k in range(1, setting.epochs + 1)]


def record(name: str, setting: Setting, seed: int) -> dict[str, Any]:
    """Train, and write the record anew after every look, in case that it is cut off."""
    clock, cpu = time.perf_counter(), time.process_time()
    images, other = (mnist(mnist_folder(), part) for part in ("train", "test"))
    data, test = task(images, setting), task(other, setting)
    sample, steps = data.some(LOOKED), looked(setting, len(data.y))
    facts: dict[str, Any] = {}
    for run in progress(training(data, setting, seed, steps, sample), len(steps), "looks"):
        _keep(name, run)
        facts = {
            "what": "Phuong & Lampert 2021, Appendix D: Table 1's network on MNIST's 0 and 1",
            "command": f"{_COMMAND} {name}",
            "versions": {
                "python": platform.python_version(),
                "numpy": np.__version__,
                "torch": torch.__version__,
            },
            "wall_s": round(time.perf_counter() - clock),
            "cpu_s": round(time.process_time() - cpu),
            **on_the_way(run, data, seed),
        }
        _write(name, facts)
    facts |= at_end(run, data, {"train": data, "test": test})
    facts |= {"cpu_s": round(time.process_time() - cpu)}
    _write(name, facts)
    return facts


def record_descent() -> dict[str, Any]:
    """Train on `digits` by descent with momentum, and write the record."""
    data = task(digits(), DESCENT)
    steps = [steps_of(DESCENT, len(data.y)) * k for k in range(0, DESCENT.epochs + 1, 20)]
    facts = summary(train(data, DESCENT, 0, steps, data.some(LOOKED)), data, 0)
    facts["command"] = f"{_COMMAND} {DIGITS}"
    _write(DIGITS, facts)
    return facts


def summary(run: Run, data: Task, seed: int) -> dict[str, Any]:
    """What a record keeps of a run on this data, without the facts about a file."""
    return on_the_way(run, data, seed) | at_end(run, data, {"train": data})


def on_the_way(run: Run, data: Task, seed: int) -> dict[str, Any]:
    """What a record keeps of a run that need not be over: its looks, and Figure 4."""
    return {
        "setting": asdict(run.setting),
        "seed": seed,
        "images": len(data.y),
        "looks": [_look(each) for each in run.looks],
        "neurons": neurons(run),
    }


def at_end(run: Run, data: Task, parts: dict[str, Task]) -> dict[str, Any]:
    """The inner products of the pixels and of every layer's features on a sample of the data; those
    of layer 7 on all images of the parts, how many of these the network gets wrong, and how many
    have to be left out for the features of the others to be orthogonally separable."""
    some = data.some(SAMPLE)
    pixels = some.images.flatten(1).cpu().numpy()
    layers = [{BEFORE: _pairs(pair_products(pixels, some.y))}]
    for X in layer_features(run.network, run.weights, some, range(1, FIRST + 1)):
        layers.append(_both(X, some.y))
    whole = {}
    for part, each in parts.items():
        X, outputs = layer_features(run.network, run.weights, each, [FIRST, FIRST + 1])
        whole[part] = _both(X, each.y) | {
            "errors": int((outputs[:, 0] * each.y <= 0.0).sum()),
            "left_out": left_out(X, each.y),
        }
    return {"layers": layers, "whole": whole}


def neurons(run: Run) -> dict[str, Any]:
    """What Figure 4 shows: all singular values of W_7, its rows in its top two singular directions
    (signs fixed), and W_8."""
    W = run.first
    return {
        "singular": _short(np.linalg.svd(W, compute_uv=False)),
        "plane": [_short(row) for row in top_plane(W)],
        "norms": _short(np.linalg.norm(W, axis=1)),
        "second": _short(run.second),
        "bias": _short(run.weights[2 * FIRST - 1].double().cpu().numpy()),
    }


def _both(X: NDArray, y: NDArray) -> dict[str, Any]:
    sides = {BEFORE: X, AFTER: np.maximum(X, 0.0)}
    return {side: _pairs(pair_products(Z, y)) for side, Z in sides.items()}


def _pairs(found: PairProducts) -> dict[str, Any]:
    """What a record keeps of inner products; histograms are in units of the mean of |x_i|^2."""
    ends = [found.quantiles(kind, np.array([0.001, 0.999]))
            for kind in found.products if found.pairs]  # fmt: skip
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    edges = np.linspace(low, high, BINS + 1)
    return {
        "pairs": {kind: len(values) for kind, values in found.products.items()},
        "violations": {kind: found.violations(kind) for kind in found.products},
        "zeros": found.zeros,
        "square": _short([found.square])[0],
        "right": {kind: _short([found.right_of_across(kind)])[0] for kind in (PLUS, MINUS)},
        "means": {kind: _short([found.mean(kind)])[0] for kind in found.products},
        "extremes": {
            kind: _short(np.array([v[0], v[-1]]) / found.square)
            for kind, v in found.products.items()
        },
        "edges": _short([low, high]),
        "counts": {
            kind: np.histogram(values / found.square, edges)[0].tolist()
            for kind, values in found.products.items()
        },
    }


def _look(found: Look) -> dict[str, Any]:
    kept: dict[str, Any] = {"step": found.step, "singular": _short(found.singular[:12])}
    if found.step:
        kept["loss"] = _short([found.loss])[0]
    for side, pairs in {BEFORE: found.before, AFTER: found.after}.items():
        kept[side] = {
            "violations": [pairs.violations(kind) for kind in (PLUS, MINUS, ACROSS)],
            "right": _short([pairs.right_of_across(kind) for kind in (PLUS, MINUS)]),
            "means": _short([pairs.mean(kind) for kind in (PLUS, MINUS, ACROSS)]),
            "zeros": pairs.zeros,
        }
    return kept


def _short(values: Any) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def _keep(name: str, run: Run) -> None:
    if os.environ.get(KEEP):
        path = Path(os.environ[KEEP]) / f"{name.replace(' ', '-')}-{run.looks[-1].step}.pt"
        torch.save([w.clone() for w in run.weights], path)


def _write(name: str, facts: dict[str, Any]) -> None:
    text = json.dumps(facts).replace(', "', ',\n"').replace("], [", "],\n[")
    file_of(name).write_text(text + "\n", "utf-8")


def parsed(name: str) -> tuple[Setting, int]:
    """The setting and the seed that a name stands for."""
    known = [r for r in sorted(READINGS, key=len, reverse=True) if name.startswith(r)]
    (reading,) = known[:1] or parameters.asked([name], [DIGITS, *READINGS])
    rest = [int(part) for part in name.removeprefix(reading).split("-") if part]
    epochs, seed = rest if rest else (READINGS[reading].epochs, 0)
    return replace(READINGS[reading], epochs=epochs), seed


def main(names: list[str]) -> None:
    """Make the records with these names, or that of the paper's run."""
    FOLDER.mkdir(exist_ok=True)
    with one_thread():
        for name in names or ["taken"]:
            if name == DIGITS:
                record_descent()
            else:
                record(name, *parsed(name))


if __name__ == "__main__":
    main(sys.argv[1:])
