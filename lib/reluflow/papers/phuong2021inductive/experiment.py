"""The main page's experiment: data of the paper's kind or a reader's own, a start, a training."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow import datasets, images
from reluflow.errors import InputError
from reluflow.papers.phuong2021inductive.filtered_gaussian import filtered_gaussian
from reluflow.papers.phuong2021inductive.long_flow import Start

BATCH, RATE = 50, 0.1
"""Minibatches and learning rate of Section 5.1, on the mean of the loss."""
PLANE = np.array([[3.0, 1.0], [2.0, 3.0], [4.0, 7.0], [-5.0, 2.0], [-5.0, -1.0], [-8.0, 4.0]])
LABELS = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
"""The data of the page's first figure: (OS), (Span), sums that are no max-margin vectors, and a
narrow cone of directions that no datum activates."""
NAMES = ("section-5.1", "plane", "digits:0-1")
_DIGITS = re.compile(r"digits:([0-9])-([0-9])")
_MOST_DATA, _MOST_FEATURES = 1000, 100
_MOST_WEIGHTS, _MOST_CROSSINGS = 660, 20_000
"""p (d + 1) and n p of a flow that takes at most half a minute."""
_MOST_STEPS = 50_000
_SHORTEST, _LONGEST = 1e-3, 1e3


@dataclass(frozen=True, eq=False)
class Experiment:
    """What the page computes: a network of p neurons on data X (n, d), y (n,) of +-1.

    W0         (p, d) the start, Gaussian directions of norm `scale`
    signs      (p,) the signs of the second layer, a_j(0) = sign |w_j(0)|
    optimiser  "flow", of the sum of the losses; or "sgd", on minibatches of their mean
    """

    name: str
    X: NDArray
    y: NDArray
    W0: NDArray
    signs: NDArray
    optimiser: str
    epochs: int
    seed: int


def experiment(
    dataset: str,
    d: int = 20,
    n: int = 500,
    width: int = 10,
    scale: float = 0.05,
    optimiser: str = "flow",
    epochs: int = 500,
    seed: int = 0,
) -> Experiment:
    """The experiment of the page's parameters, which `parameters.PARAMETERS` describes.

    The signs are fixed before the directions are drawn; one more neuron is positive where the width
    is odd. Raises InputError, in one sentence, for data that cannot be used or are too many.
    """
    rng = np.random.default_rng(seed)
    name, X, y = data(dataset, d, n, rng)
    _check_sizes(X, name)
    if optimiser == "flow":
        if width * (X.shape[1] + 1) > _MOST_WEIGHTS or width * len(y) > _MOST_CROSSINGS:
            raise InputError(
                f'parameter "width": the flow of {width} neurons on {len(y)} data in '
                f"{X.shape[1]} dimensions takes too long for this page: choose a smaller width "
                f'(width (d + 1) <= {_MOST_WEIGHTS}, width n <= {_MOST_CROSSINGS}), or "sgd".'
            )
    elif (steps := epochs * -(-len(y) // BATCH)) > _MOST_STEPS:
        raise InputError(
            f'parameter "epochs": {epochs} epochs of {len(y)} data are {steps} steps, and this '
            f"page takes {_MOST_STEPS}."
        )
    signs = rng.permutation(np.where(np.arange(width) < width // 2, -1.0, 1.0))
    W0 = rng.standard_normal((width, X.shape[1]))
    W0 *= scale / np.linalg.norm(W0, axis=1, keepdims=True)
    return Experiment(name, X, y, W0, signs, optimiser, epochs, seed)


def of_parameters(p: Any) -> Experiment:
    """The experiment of the checked parameters of the page; InputError as `experiment`."""
    return experiment(p.dataset, p.d, p.n, p.width, p.scale, p.optimiser, p.epochs, p.seed)


def data(dataset: str, d: int, n: int, rng: np.random.Generator) -> tuple[str, NDArray, NDArray]:
    """Name, X (n, d) and y (n,): data drawn as in Section 5.1, those of the first figure, two
    digits (centred), or a CSV file with labels +1 and -1 in its last column.

    Raises InputError for an unknown name, a file that cannot be read, and other labels.
    """
    if dataset == "section-5.1":
        return dataset, *_both_labels(d, n, rng)
    if dataset == "plane":
        return dataset, PLANE, LABELS
    if digits := _DIGITS.fullmatch(dataset):
        if digits[1] == digits[2]:
            raise InputError(f'dataset "{dataset}" must name two different digits.')
        pair = images.pair(images.digits(), *map(int, digits.groups()))
        return dataset, pair.X, pair.y
    return _of_file(dataset)


def _both_labels(d: int, n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """The data of Section 5.1, drawn again where a label is missing."""
    while True:
        X, y = filtered_gaussian(d, n, rng)
        if np.any(y > 0.0) and np.any(y < 0.0):
            return X, y


def _of_file(dataset: str) -> tuple[str, NDArray, NDArray]:
    given = datasets.load_signs(dataset, NAMES, (2, _MOST_DATA))
    if given.d > _MOST_FEATURES:
        raise InputError(
            f'dataset "{given.name}" has {given.d} features, and the page takes {_MOST_FEATURES} '
            "at most."
        )
    for label in (1.0, -1.0):
        if not np.any(given.y == label):
            raise InputError(
                f'dataset "{given.name}" has no datum with the label {label:g}: the page needs '
                "both."
            )
    return given.name, given.X, given.y


def _check_sizes(X: NDArray, name: str) -> None:
    lengths = np.linalg.norm(X, axis=1)
    for i in np.flatnonzero((lengths < _SHORTEST) | (lengths > _LONGEST)).tolist():
        raise InputError(
            f"{name}, {datasets.data_row(i + 1)}: its input has the length {lengths[i]:.3g}, and "
            f"the page takes {_SHORTEST:g} to {_LONGEST:g}: choose another unit."
        )


def around(count: int, log_norm: float = -20.0) -> Start:
    """The flow of the page's first figure: on `PLANE`, `count` directions evenly around the circle,
    each with a neuron of either sign, of norm e^log_norm."""
    turns = 2.0 * np.pi * (np.arange(count) + 0.3) / count
    directions = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    signs = np.repeat([1.0, -1.0], count)
    return Start(PLANE, LABELS, np.vstack([directions] * 2), np.full(2 * count, log_norm), signs)
