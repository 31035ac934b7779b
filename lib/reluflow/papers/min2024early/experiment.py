"""The main page's experiment: the data of a figure or a reader's own, a start, and a training."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow import datasets, images
from reluflow.errors import InputError
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early.data import PRINTED, Labelled

LOSSES: Mapping[str, Loss] = {
    "exponential": EXPONENTIAL,
    "logistic": LOGISTIC,
    "twice logistic": TWICE_LOGISTIC,
}
_DIGITS = re.compile(r"digits:([0-9])-([0-9])")
_MOST_DATA, _MOST_NUMBERS = 1000, 100_000
"""What a page does in seconds."""
_SHORTEST, _LONGEST = 1e-6, 1e6
"""Lengths of inputs whose powers and quotients stay floats."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """What the page computes: h neurons on data X (n, d), y (n,) of +-1.

    W0       (h, d) the shape of a start, entries N(0, 1/d); the flow starts from e^log_eps W0
    signs    (h,) the signs of the second layer there, v_j(0) = sign |w_j(0)|
    log_eps  ln eps; None for the largest eps that the theorem allows
    W, v     (h, d) and (h,) the start of the descent, entries N(0, sigma^2): not balanced
    loss     a sum over the data
    """

    name: str
    X: NDArray
    y: NDArray
    W0: NDArray
    signs: NDArray
    log_eps: float | None
    W: NDArray
    v: NDArray
    step: float
    iterations: int
    loss: Loss


def experiment(
    dataset: str,
    scale: float = 1.0,
    h: int = 50,
    log_eps: float | None = None,
    sigma: float = 1e-6,
    step: float = 2e-3,
    iterations: int = 15_000,
    loss: str = "exponential",
    seed: int = 0,
) -> Experiment:
    """The experiment of the page's parameters, which `parameters.PARAMETERS` describes; the
    defaults are the page's.

    Half of the neurons (rounded down) start with v_j < 0. Raises InputError, in one sentence, for
    data that cannot be used.
    """
    found = data(dataset)
    X = scale * found.X
    _check_sizes(X, found.name)
    n, d = X.shape
    if n * h > _MOST_NUMBERS or d * h > _MOST_NUMBERS:
        raise InputError(
            f"{h} neurons on {n} data of {d} numbers are more than this page takes: choose a "
            "smaller h."
        )
    rng = np.random.default_rng(seed)
    W0 = rng.standard_normal((h, d)) / np.sqrt(d)
    signs = rng.permutation(np.where(np.arange(h) < h // 2, -1.0, 1.0))
    W, v = sigma * rng.standard_normal((h, d)), sigma * rng.standard_normal(h)
    return Experiment(
        found.name, X, found.y, W0, signs, log_eps, W, v, step, iterations, LOSSES[loss]
    )


def of_parameters(p: Any) -> Experiment:
    """The experiment of the checked parameters of the page; InputError as `experiment`."""
    return experiment(
        p.dataset, p.scale, p.h, p.log_eps, p.sigma, p.step, p.iterations, p.loss, p.seed
    )


def data(dataset: str) -> Labelled:
    """The data of a figure, two digits, or a CSV file with labels +1 and -1 in its last column.

    Of "digits:0-1" the zeros have the label +1; the images are centred, white is 1 (`images.pair`).
    Raises InputError for an unknown name, a file that cannot be read, other labels, fewer than two
    data or features, and an input 0.
    """
    if dataset in PRINTED:
        return PRINTED[dataset]
    if digits := _DIGITS.fullmatch(dataset):
        if digits[1] == digits[2]:
            raise InputError(f'dataset "{dataset}" must name two different digits.')
        pair = images.pair(images.digits(), *map(int, digits.groups()))
        return Labelled(dataset, pair.X, pair.y, printed=False)
    given = datasets.load_signs(dataset, (*PRINTED, "digits:0-1"), (2, _MOST_DATA))
    if given.d < 2:
        raise InputError(
            f'dataset "{given.name}" has one feature: the page takes 2 or more, for on a line '
            "every neuron starts along the data, which (A2) forbids."
        )
    return Labelled(given.name, given.X, given.y, printed=False)


def _check_sizes(X: NDArray, name: str) -> None:
    lengths = np.linalg.norm(X, axis=1)
    for i in np.flatnonzero((lengths < _SHORTEST) | (lengths > _LONGEST)).tolist():
        raise InputError(
            f"{name}, {datasets.data_row(i + 1)}: times the scale its input has the length "
            f"{lengths[i]:.3g}, and the page takes {_SHORTEST:g} to {_LONGEST:g}."
        )
