"""The main page on a reader's own data: experiment, and where flows end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from reluflow import datasets
from reluflow.approx import approx, on_grain
from reluflow.errors import InputError
from reluflow.flows.charts import Plain
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.losses import EXPONENTIAL, Loss
from reluflow.margin.limits import Limit, limit
from reluflow.networks.indexed import Network, Patterns, Weights, diagonal, fully_connected
from reluflow.papers.vardi2022margin import setting
from reluflow.papers.vardi2022margin.setting import Construction, Optimum, classify_optimum
from reluflow.progress import progress

# --- The main page's experiment: a reader's network, data and starts, or the paper's own ----------

PRINTED: Mapping[str, Callable[[int, str], Construction]] = {
    "theorem-3.2": lambda depth, activation: setting.theorem_3_2(),
    "theorem-4.1": lambda depth, activation: setting.theorem_4_1(activation),
    "theorem-4.2": lambda depth, activation: setting.theorem_4_2(),
    "lemma-c.6": lambda depth, activation: setting.lemma_C_6(),
    "theorem-4.4": lambda depth, activation: setting.theorem_4_4(activation),
    "theorem-5.1": lambda depth, activation: setting.theorem_5_1(max(3, depth), activation),
}
_MOST_PARAMETERS, _MOST_DATA = 600, 1000
"""What the flow's integrator and the certificates take in a minute, or leave out."""
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


def of_parameters(p: Any) -> Experiment:
    """The experiment of the page's checked parameters, which `setting.PARAMETERS` describes.

    Raises InputError, in one sentence, for parameters that do not fit together, and for data that
    no network of the family can classify.
    """
    name, X, y = data(p.dataset)
    rng = np.random.default_rng(p.seed)
    chosen = family(p.network, p.depth, p.width, X.shape[1], p.activation, rng)
    if chosen.size > _MOST_PARAMETERS:
        raise InputError(
            f"this network has {chosen.size} parameters, and the page takes {_MOST_PARAMETERS}: "
            "choose a smaller width or depth."
        )
    if p.activation == "linear":  # which needs linearly separable data
        rows = (y / np.linalg.norm(X, axis=1))[:, None] * X
        none = np.zeros(X.shape[1])
        found = linprog(none, A_ub=-rows, b_ub=-np.ones(len(y)), bounds=(None, None))
        if found.status == 2:
            raise InputError(
                "no hyperplane through 0 separates these data by their labels, and a linear "
                'network needs one: choose the activation "relu".'
            )
    printed = _printed_with(p.dataset, chosen) if p.start in (None, "paper") else None
    if p.start == "paper" and printed is None:
        raise InputError(
            f'no start is printed for this network on dataset "{p.dataset}": choose "gaussian", '
            '"uniform" or "xavier".'
        )
    if printed:
        starts = printed.start[None]
    else:
        starts = p.scale * drawn(chosen, p.start or "gaussian", _STARTS, rng)
    return Experiment(name, chosen, X, y, setting.LOSSES[p.loss], starts, p.reach, printed)


def data(dataset: str) -> tuple[str, NDArray, NDArray]:
    """Name, X (n, d) and y (n,) of a printed data set, or of a CSV file with labels +1 and -1.

    Raises InputError for an unknown name, a file that cannot be read, other labels, lengths beyond
    the page's, 0 among them, and inputs of one direction with both labels, which no network without
    biases classifies.
    """
    if dataset in PRINTED:
        found = PRINTED[dataset](3, "relu")
        return found.name, found.X, found.y
    given = datasets.load_signs(dataset, tuple(PRINTED), (1, _MOST_DATA))
    X, y, lengths = given.X, given.y, np.linalg.norm(given.X, axis=1)
    for i in np.flatnonzero((lengths < _SHORTEST) | (lengths > _LONGEST)).tolist():
        raise InputError(
            f"{datasets.data_row(i + 1)} has an input of length {lengths[i]:.3g}: the page takes "
            f"lengths from {_SHORTEST:g} to {_LONGEST:g}, so choose another unit."
        )
    directions = X / lengths[:, None]
    for i in range(len(y)):
        near = np.linalg.norm(directions[i] - directions[i + 1 :], axis=1) < _PARALLEL
        for j in (i + 1 + np.flatnonzero(near & (y[i + 1 :] != y[i]))).tolist():
            raise InputError(
                f"data rows {i + 1} and {j + 1} have one direction and different labels, and a "
                "network without biases gives both the same sign."
            )
    return given.name, X, y


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
    *full, last = fully_connected((d, *hidden), activation).maps
    thinned = []
    for rows, columns in (g.shape for g in full):
        kept = rng.random((rows, columns)) < 0.5
        kept[np.arange(rows), rng.integers(columns, size=rows)] = True  # one in each row at least
        kept[rng.integers(rows, size=columns), np.arange(columns)] = True
        thinned.append(np.where(kept, np.cumsum(kept).reshape(rows, columns), 0))
    return Network((*thinned, last), activation)


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
    if dataset not in PRINTED:
        return None
    made = PRINTED[dataset](network.degree, network.activation)
    one, other = ((each.activation, [g.tolist() for g in each.maps])
                  for each in (made.network, network))  # fmt: skip
    return made if one == other else None


# --- Where do flows end, and is that an optimum? For any network and data -------------------------

WORK, CALL = 5e8, 2e3
"""What all flows of the page may cost, and what a call costs at least."""
ROUNDING = 1e-8
"""A residual up to this is one of rounding."""


@dataclass(frozen=True)
class Found:
    """What became of one flow: how it ended, and where it has a limit that is known to rounding,
    that limit and what is known of it as a point of Problem (2)."""

    status: str
    limit: Limit | None = None
    optimum: Optimum | None = None


class Spent(Exception):
    """The work that a flow may take is done."""


@dataclass(frozen=True)
class Metered(Network):
    """A network that counts what its evaluations cost, and raises `Spent` when nothing is `left`.

    One at k parameter vectors, or along k directions, costs m (`CALL` + k (n + k)) for m layers:
    what is done with k directions, as a rule, is to solve equations.
    """

    left: list[float] = field(default_factory=lambda: [np.inf])

    def _forward(self, W: Weights, X: ArrayLike, patterns: Patterns | None = None) -> Any:
        self._pay(W, np.shape(X)[-2])
        return super()._forward(W, X, patterns)

    def _moved(
        self, W: Weights, V: Weights, inputs: Sequence[NDArray], slopes: Patterns
    ) -> tuple[list[NDArray], list[NDArray]]:
        self._pay(V, inputs[0].shape[-2])
        return super()._moved(W, V, inputs, slopes)

    def _pay(self, W: Weights, n: int) -> None:
        many = math.prod(W[0].shape[:-2])
        self.left[0] -= self.degree * (CALL + many * (n + many))
        if self.left[0] < 0.0:
            raise Spent


def follow(own: Experiment, work: float = WORK) -> list[Found]:
    """The limit of the flow from each start of an experiment, and its certificate.

    What the flows may cost is counted, not timed, so that every computer leaves out the same: a
    start may take half of the `work` that those before it have left, and the last one all.
    """
    starts, found = own.starts, []
    shown = progress(starts, len(starts), "flows") if len(starts) > 1 else starts
    for number, start in enumerate(shown):
        share = work / (1.0 + (number + 1 < len(starts)))
        purse = [share]
        found.append(_followed(own, start, purse))
        work -= share - max(purse[0], 0.0)
        purse[0] = np.inf
    return found


def _followed(own: Experiment, start: NDArray, purse: list[float]) -> Found:
    given = own.network
    network = Metered(given.maps, given.activation, purse)
    try:
        end = limit(network, own.loss, own.X, own.y, start, reach=own.reach)
    except InputError as error:  # a start from which the loss cannot be followed
        return Found(f"not followed: {error}")
    except Spent:
        return Found("left out: too much work")
    if not end.converged:
        return Found(end.status)
    return Found(end.status, end, classify_optimum(own.network, end.theta, own.X, own.y))


def limits_table(found: Sequence[Found]) -> pd.DataFrame:
    """One row a start: how the flow ended, the residual and the squared length of its limit."""
    rows = []
    for one in found:
        told = ["", "", ""]
        if (end := one.limit) is not None:
            size = end.residual
            small = f"below {ROUNDING:g}" if size <= ROUNDING else approx(size, 2)
            told = [small, approx(end.theta @ end.theta, 6), _point(end.theta)]
        rows.append([one.status, *told])
    columns = ["how the flow ended", "KKT residual", "squared length", "limit"]
    return pd.DataFrame(rows, index=_names(found), columns=columns)


def verdicts_table(found: Sequence[Found]) -> pd.DataFrame:
    """One row a limit: whether it is an optimum of Problem (2), and what certifies it."""
    rows = {
        name: (one.optimum.verdict, _certified(one.optimum))
        for name, one in zip(_names(found), found, strict=True)
        if one.optimum is not None
    }
    columns = ["optimum of Problem (2)?", "certificate"]
    return pd.DataFrame(rows.values(), index=list(rows), columns=columns)


def approaches(found: Sequence[Found]) -> list[tuple[str, NDArray, NDArray]]:
    """(name, log10(1/L) (k,), distance of the direction to the limit's (k,)) of each limit, from
    L = 1/10 to the end of its flow."""
    out = []
    for name, one in zip(_names(found), found, strict=True):
        if one.limit is not None:
            decades = np.geomspace(1.0, one.limit.reached, 40)
            out.append((name, decades, one.limit.errors(decades)))
    return out


def at_times(made: Construction, start: ArrayLike, times: ArrayLike) -> NDArray:
    """theta(t) (k, p) at times (k,) of the flow of the exponential loss, from start (p,)."""
    times = np.asarray(times, float)
    field = GradientFlow(Plain(made.network), EXPONENTIAL, made.X, made.y)
    return integrate(field, start, float(times.max()) * (1.0 + 1e-9)).at(times)


def _names(found: Sequence[Found]) -> list[str]:
    return [f"start {k + 1}" for k in range(len(found))]


def _point(theta: NDArray) -> str:
    shown = (on_grain(value, 1e-4) if abs(value) > ROUNDING else "0" for value in theta)
    text = f"({', '.join(shown)})"
    return text if len(text) < 50 else f"{len(theta)} numbers"  # pandas cuts longer cells off


def _certified(optimum: Optimum) -> str:
    """What the certificate says, in words that the last digits do not change."""
    if optimum.verdict == "not local":
        return f"shorter points nearby, up to {approx(100.0 * optimum.saved, 3)} % less"
    if optimum.certificate:
        everywhere = "everywhere" if optimum.verdict == "global" else "nearby"
        return f"a lower bound {everywhere} meets the value"
    return optimum.detail
