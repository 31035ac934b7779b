"""The main page's experiment: a reader's network, data and starts, or the paper's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from reluflow import datasets
from reluflow.errors import InputError
from reluflow.losses import EXPONENTIAL, LOGISTIC, Loss
from reluflow.networks.indexed import Network, diagonal, fully_connected
from reluflow.papers.vardi2022margin import instances
from reluflow.papers.vardi2022margin.instances import Construction

PRINTED: Mapping[str, Callable[[], Construction]] = {
    "theorem-3.2": instances.theorem_3_2,
    "theorem-4.1": instances.theorem_4_1,
    "theorem-4.2": instances.theorem_4_2,
    "lemma-c.6": instances.lemma_C_6,
    "theorem-4.4": instances.theorem_4_4,
    "theorem-5.1": instances.theorem_5_1,
}
_LOSSES = {"exponential": EXPONENTIAL, "logistic": LOGISTIC}
_MOST_PARAMETERS, _MOST_DATA = 600, 1000
"""What the flow's integrator and the certificates take in a minute, or leave out (`own_limits`)."""
_SHORTEST, _LONGEST = 1e-3, 1e3
"""Lengths of inputs: the loss of a drawn start is about exp(length)."""
_STARTS = 6
_PARALLEL = 1e-12


@dataclass(frozen=True, eq=False)
class Experiment:
    """What the page computes: flows of `network` on X (n, d), y (n,) of +-1 from `starts` (k, p).

    reach    log10(1/L) to which a flow is followed at first
    printed  the paper's construction with these data, network and start; None for any other
    """

    name: str
    network: Network
    X: NDArray
    y: NDArray
    loss: Loss
    starts: NDArray
    reach: float
    printed: Construction | None


def experiment(
    dataset: str,
    network: str,
    depth: int,
    width: int,
    activation: str,
    start: str | None,
    scale: float,
    loss: str,
    reach: float,
    seed: int,
) -> Experiment:
    """The experiment of the page's parameters, which `parameters.PARAMETERS` describes.

    Raises InputError, in one sentence, for parameters that do not fit together, and for data that
    no network of the family can classify.
    """
    name, X, y = data(dataset)
    rng = np.random.default_rng(seed)
    chosen = family(network, depth, width, X.shape[1], activation, rng)
    if chosen.size > _MOST_PARAMETERS:
        raise InputError(
            f"this network has {chosen.size} parameters, and the page takes {_MOST_PARAMETERS}: "
            "choose a smaller width or depth."
        )
    _check_separable(X, y, activation)
    printed = _printed_with(dataset, chosen)
    if start == "paper" and printed is None:
        raise InputError(
            f'no start is printed for this network on dataset "{dataset}": choose "gaussian", '
            '"uniform" or "xavier".'
        )
    if start in (None, "paper") and printed is not None:
        starts = printed.start[None]
    else:
        printed = None
        starts = scale * drawn(chosen, start or "gaussian", _STARTS, rng)
    return Experiment(name, chosen, X, y, _LOSSES[loss], starts, reach, printed)


def of_parameters(p: Any) -> Experiment:
    """The experiment of the checked parameters of the page; InputError as `experiment`."""
    return experiment(
        p.dataset,
        p.network,
        p.depth,
        p.width,
        p.activation,
        p.start,
        p.scale,
        p.loss,
        p.reach,
        p.seed,
    )


def data(dataset: str) -> tuple[str, NDArray, NDArray]:
    """Name, X (n, d) and y (n,) of a printed data set, or of a CSV file with labels +1 and -1.

    Raises InputError for an unknown name, a file that cannot be read, other labels, and data that
    no network without biases classifies: an input 0, or inputs of one direction with both labels.
    """
    if dataset in PRINTED:
        found = PRINTED[dataset]()
        return found.name, found.X, found.y
    given = datasets.load_signs(dataset, tuple(PRINTED), (1, _MOST_DATA))
    _check_directions(given.X, given.y)
    return given.name, given.X, given.y


def _check_directions(X: NDArray, y: NDArray) -> None:
    sizes = np.abs(X).max(axis=1)
    if not sizes.all():
        row = datasets.data_row(int(np.argmin(sizes)) + 1)
        raise InputError(
            f"{row} is 0 in every column, and a network without biases answers 0 there."
        )
    lengths = np.linalg.norm(X, axis=1)
    for i in np.flatnonzero((lengths < _SHORTEST) | (lengths > _LONGEST)).tolist():
        raise InputError(
            f"{datasets.data_row(i + 1)} has an input of length {lengths[i]:.3g}: the page takes "
            f"lengths from {_SHORTEST:g} to {_LONGEST:g}, so choose another unit."
        )
    directions = X / sizes[:, None]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for i in range(len(y)):
        near = np.linalg.norm(directions[i] - directions[i + 1 :], axis=1) < _PARALLEL
        for j in (i + 1 + np.flatnonzero(near & (y[i + 1 :] != y[i]))).tolist():
            raise InputError(
                f"data rows {i + 1} and {j + 1} have one direction and different labels, and a "
                "network without biases gives both the same sign."
            )


def _check_separable(X: NDArray, y: NDArray, activation: str) -> None:
    """A linear network needs linearly separable data: InputError where no vector separates."""
    if activation == "linear":
        rows = (y / np.linalg.norm(X, axis=1))[:, None] * X
        found = linprog(
            np.zeros(X.shape[1]), A_ub=-rows, b_ub=-np.ones(len(y)), bounds=(None, None)
        )
        if found.status == 2:
            raise InputError(
                "no hyperplane through 0 separates these data by their labels, and a linear "
                'network needs one: choose the activation "relu".'
            )


def family(
    name: str, depth: int, width: int, d: int, activation: str, rng: np.random.Generator
) -> Network:
    """The network of a family, of this depth m, on inputs of R^d.

    "fully connected", with `width` units in each hidden layer; "diagonal"; "convolutional", one
    filter of `width` weights on disjoint patches, and from there on fully connected; "sparse", each
    weight of the hidden layers there or not by a coin's toss. Raises InputError where the filter
    does not divide d.
    """
    hidden = [width] * (depth - 1)
    if name == "fully connected":
        return fully_connected((d, *hidden), activation)
    if name == "diagonal":
        return diagonal(d, depth, activation)
    if name == "convolutional":
        if d % width:
            raise InputError(f"a filter of {width} weights does not divide inputs of R^{d}.")
        patches = d // width
        first = np.kron(np.eye(patches, dtype=int), np.arange(1, width + 1)[None])
        behind = fully_connected([patches] * (depth - 1), activation).maps
        return Network((first, *behind), activation)
    full = fully_connected((d, *hidden), activation).maps
    return Network((*(_thinned(g, rng) for g in full[:-1]), full[-1]), activation)


def _thinned(g: NDArray, rng: np.random.Generator) -> NDArray:
    """A map with half of its weights missing; each row and each column keeps one at least."""
    kept = rng.random(g.shape) < 0.5
    rows, columns = g.shape
    kept[np.arange(rows), rng.integers(columns, size=rows)] = True
    kept[rng.integers(rows, size=columns), np.arange(columns)] = True
    return np.where(kept, np.cumsum(kept).reshape(g.shape), 0)


def drawn(network: Network, scheme: str, count: int, rng: np.random.Generator) -> NDArray:
    """`count` starts (count, p): "gaussian", standard normal weights; "uniform", weights uniform in
    (-1, 1); "xavier", normal weights with variance 2 / (inputs + units) in each layer."""
    shape = (count, network.size)
    if scheme == "uniform":
        return rng.uniform(-1.0, 1.0, shape)
    sizes = np.ones(network.size)
    if scheme == "xavier":
        spread = [np.sqrt(2.0 / sum(g.shape)) for g in network.maps]
        sizes = np.repeat(spread, network.sizes)
    return sizes * rng.standard_normal(shape)


def _printed_with(dataset: str, network: Network) -> Construction | None:
    """The paper's construction of this data set, if it is one with this network."""
    if dataset not in PRINTED:
        return None
    data = PRINTED[dataset]().exact_X
    for found in instances.constructions(max(3, network.degree)):
        same = found.exact_X == data and found.network.activation == network.activation
        pairs = zip(found.network.maps, network.maps, strict=False)
        same = same and found.network.degree == network.degree
        if same and all(np.array_equal(a, b) for a, b in pairs):
            return found
    return None
