"""Section 5 of Phuong & Lampert 2021: networks of two and of four layers on filtered Gaussians.

Not printed, and so parameters here: from which law the weights are drawn that are then multiplied
by 0.05, whether the loss of a batch is a mean or a sum, and whether neurons have biases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reluflow.approx import approx
from reluflow.flows.minibatch_ensembles import minibatch_ensemble
from reluflow.networks.residual import features, shapes
from reluflow.papers.phuong2021inductive.filtered_gaussian import filtered_gaussian
from reluflow.papers.phuong2021inductive.limit import Limit, limit
from reluflow.papers.phuong2021inductive.long_flow import Late, Start

Law = Callable[[np.random.Generator, tuple[int, int]], NDArray]
LAWS: Mapping[str, Law] = {
    "uniform": lambda rng, shape: rng.uniform(-1.0, 1.0, shape) / shape[1] ** 0.5,
    "Glorot": lambda rng, shape: rng.uniform(-1.0, 1.0, shape) * (6.0 / sum(shape)) ** 0.5,
    "He": lambda rng, shape: rng.standard_normal(shape) * (2.0 / shape[1]) ** 0.5,
    "normal": lambda rng, shape: rng.standard_normal(shape),
}
"""Laws of the weights before the factor; "uniform" is what PyTorch's linear layer does."""


@dataclass(frozen=True)
class Setting:
    """How a network is trained; what the paper prints, and its unprinted choices.

    depth, d, n, width, batch, rate, epochs, scale   printed; depth is 2 or 4
    law     a key of LAWS
    mean    whether the loss of a batch is a mean
    biases  whether neurons of the first layer have them, drawn like its weights
    outer   a further factor for the last layer at the start
    """

    depth: int = 2
    d: int = 20
    n: int = 500
    width: int = 100
    batch: int = 50
    rate: float = 0.1
    epochs: int = 500
    scale: float = 0.05
    law: str = "uniform"
    mean: bool = True
    biases: bool = False
    outer: float = 1.0


PAPER = Setting()
DEEP = replace(PAPER, depth=4)
READINGS: Mapping[str, Setting] = {
    "taken": PAPER,
    "sum": replace(PAPER, mean=False),
    "Glorot": replace(PAPER, law="Glorot"),
    "He": replace(PAPER, law="He"),
    "normal": replace(PAPER, law="normal"),
    "biases": replace(PAPER, biases=True),
    "500 of each label": replace(PAPER, n=1000),
    "not times 0.05": replace(PAPER, scale=1.0),
}


@dataclass(frozen=True, eq=False)
class Look:
    """A network after `epoch` epochs: the mean loss over the last of them, W_1 (p, d) without the
    biases, and the matrices behind it."""

    epoch: int
    loss: float
    weights: tuple[NDArray, ...]

    @property
    def W(self) -> NDArray:
        """W_1."""
        return self.weights[0]

    @property
    def a(self) -> NDArray:
        """The entries of the last layer, (p,)."""
        return np.asarray(self.weights[-1][0])


@dataclass(frozen=True, eq=False)
class Run:
    """A training run on data X (n, d), y (n,), and looks at it, the first at the start."""

    setting: Setting
    X: NDArray
    y: NDArray
    looks: tuple[Look, ...]

    @property
    def limit(self) -> Limit:
        """w_+, w_- and the limit that Theorem 1 names."""
        return limit(self.X, self.y)

    @property
    def end(self) -> Look:
        """The last look."""
        return self.looks[-1]


def train(
    setting: Setting, seed: int, networks: Iterable[int], epochs: Iterable[int] = ()
) -> list[Run]:
    """Train networks by the paper's descent, with looks at the start, after these epochs
    (ascending) and at the end. Network k draws its data, its start and its batches from
    (seed, k), whatever the setting."""
    rngs = [np.random.default_rng([seed, k]) for k in networks]
    data = [filtered_gaussian(setting.d, setting.n, rng) for rng in rngs]
    X, y = (np.array(part) for part in zip(*data, strict=True))
    inputs = np.dstack([X, np.ones((*y.shape, 1))]) if setting.biases else X
    drawn = [_start(setting, rng) for rng in rngs]
    weights = [np.array(part) for part in zip(*drawn, strict=True)]
    at = sorted({0, *epochs, setting.epochs})
    looks: list[list[Look]] = [[] for _ in rngs]
    for epoch, found, loss in minibatch_ensemble(
        weights, inputs, y, setting.rate, setting.batch, at, rngs, setting.mean
    ):
        for k, mine in enumerate(looks):
            first, *rest = (W[k] for W in found)
            mine.append(Look(epoch, float(loss[k]), (first[:, : setting.d], *rest)))
    return [Run(setting, *each, tuple(mine)) for each, mine in zip(data, looks, strict=True)]


def _start(setting: Setting, rng: np.random.Generator) -> list[NDArray]:
    law = LAWS[setting.law]
    inputs = setting.d + setting.biases
    found = [
        setting.scale * law(rng, shape) for shape in shapes(setting.depth, setting.width, inputs)
    ]
    found[-1] *= setting.outer
    return found


def inner_directions(run: Run) -> list[dict[str, tuple[float, float]]]:
    """For W_2, ..., W_(L-1) at the end: the angles, in degrees, of the mean of the rows j with
    a_j > 0 and of the mean of the others to the max-margin vectors, and to the sums, of the
    positive and of the negative data's features, which are what comes into that layer."""
    found = []
    for W, F in zip(run.end.weights[1:-1], features(run.end.weights, run.X), strict=False):
        inputs = np.maximum(F, 0.0)
        goals = {
            "max-margin vectors": limit(inputs, run.y).vectors,
            "sums": {s: inputs[run.y == s].sum(axis=0) for s in (1.0, -1.0)},
        }
        means = {s: W[s * run.end.a > 0.0].sum(axis=0) for s in (1.0, -1.0)}
        found.append({name: (_degrees(means[1.0], goal[1.0]), _degrees(means[-1.0], goal[-1.0]))
                      for name, goal in goals.items()})  # fmt: skip
    return found


def _degrees(v: NDArray, w: NDArray) -> float:
    cosine = v @ w / np.linalg.norm(v) / np.linalg.norm(w)
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def two_neurons(run: Run) -> Start:
    """The flow's start on the data of a run that no residue disturbs: a neuron a label, along the
    sum of its data and of norm e^-5."""
    sums = np.array([run.X[run.y == sign].sum(axis=0) for sign in (1.0, -1.0)])
    directions = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return Start(run.X, run.y, directions, np.full(2, -5.0), np.array([1.0, -1.0]))


def decades_to(late: Late, degrees: float) -> str:
    """The log10(1/l), to one digit, from which on two neurons are within an angle of w_+, w_-."""
    cosines = [late.U[:, k] @ w / np.linalg.norm(w) for k, w in
               enumerate((late.limit.vectors[1.0], late.limit.vectors[-1.0]))]  # fmt: skip
    far = np.degrees(np.arccos(np.clip(np.min(cosines, axis=0), -1.0, 1.0)))
    value = 10.0 ** np.interp(-np.log(degrees), -np.log(far), np.log10(late.tau / np.log(10.0)))
    return approx(float(value), 1)
