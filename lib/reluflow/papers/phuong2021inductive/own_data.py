"""The main page on a reader's own data: experiment, promises of Theorem 1, limits."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import nnls

from reluflow import datasets, images
from reluflow.approx import approx, on_grain
from reluflow.errors import InputError
from reluflow.geometry.separability import cosines, signed
from reluflow.losses import LOGISTIC
from reluflow.margin.max_margin import MaxMargin, max_margin
from reluflow.papers.phuong2021inductive import flows
from reluflow.papers.phuong2021inductive.flows import Path, Start
from reluflow.papers.phuong2021inductive.networks import degrees_between, minibatch_ensemble, units
from reluflow.papers.phuong2021inductive.sectors import chances, fates, unit
from reluflow.papers.phuong2021inductive.setting import Limit, filtered_gaussian, limit, own_margin
from reluflow.parameters import SECTION, Parameter, between, one_of
from reluflow.statistics import wilson

# --- The main page's experiment: data of the paper's kind or a reader's own, a start, a training --

BATCH, RATE = 50, 0.1
"""Minibatches and learning rate of Section 5.1, on the mean of the loss."""
PLANE = np.array([[3.0, 1.0], [2.0, 3.0], [4.0, 7.0], [-5.0, 2.0], [-5.0, -1.0], [-8.0, 4.0]])
LABELS = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
"""The data of the page's first figure: (OS), (Span), sums that are no max-margin vectors, and a
narrow cone of directions that no datum activates."""
EXPERIMENT_NAMES = ("section-5.1", "plane", "digits:0-1")
_MOST_DATA, _MOST_FEATURES = 1000, 100
_MOST_WEIGHTS, _MOST_CROSSINGS = 660, 20_000
"""p (d + 1) and n p of a flow that takes at most half a minute."""


PARAMETERS: Mapping[str, Parameter] = {
    "dataset": Parameter(
        str,
        '"section-5.1", "plane", two digits such as "digits:0-1", or the path of a CSV file with '
        "labels +1 and -1",
        bool,
        "a name or a path, not empty",
    ),
    "d": Parameter(int, 'dimension of the data "section-5.1"', *between(2, 100)),
    "n": Parameter(int, 'number of the data "section-5.1"', *between(4, 1000)),
    "width": Parameter(int, "number of neurons", *between(1, 200)),
    "scale": Parameter(float, "norm of every neuron at the start", *between(1e-12, 10)),
    "optimiser": Parameter(
        str,
        'what trains: gradient "flow", or "sgd", descent on minibatches',
        *one_of("flow", "sgd"),
    ),
    "epochs": Parameter(int, 'how often "sgd" goes through the data', *between(1, 2500)),
    **SECTION,
}


@dataclass(frozen=True, eq=False)
class Experiment:
    """What the page computes: a network of p neurons on data X (n, d), y (n,) of +-1, from rows W0
    (p, d) and a_j(0) = signs_j |w_j(0)|, by the "flow" or by "sgd"."""

    name: str
    X: NDArray
    y: NDArray
    W0: NDArray
    signs: NDArray
    optimiser: str
    epochs: int
    seed: int


def of_parameters(p: Any) -> Experiment:
    """The experiment of the page's checked parameters, which `PARAMETERS` describes.

    The signs are fixed before the directions are drawn; one more neuron is positive where the width
    is odd. Raises InputError, in one sentence, for data that cannot be used or are too many.
    """
    rng, width = np.random.default_rng(p.seed), p.width
    name, X, y = data(p.dataset, p.d, p.n, rng)
    lengths = np.linalg.norm(X, axis=1)
    for i in np.flatnonzero((lengths < 1e-3) | (lengths > 1e3)).tolist():
        raise InputError(
            f"{name}, {datasets.data_row(i + 1)}: its input has the length {lengths[i]:.3g}, and "
            "the page takes 0.001 to 1000: choose another unit."
        )
    large = width * (X.shape[1] + 1) > _MOST_WEIGHTS or width * len(y) > _MOST_CROSSINGS
    if large and p.optimiser == "flow":
        raise InputError(
            f'parameter "width": the flow of {width} neurons on {len(y)} data in {X.shape[1]} '
            "dimensions takes too long for this page: choose a smaller width (width (d + 1) <= "
            f'{_MOST_WEIGHTS}, width n <= {_MOST_CROSSINGS}), or "sgd".'
        )
    signs = rng.permutation(np.where(np.arange(width) < width // 2, -1.0, 1.0))
    W0 = rng.standard_normal((width, X.shape[1]))
    W0 *= p.scale / np.linalg.norm(W0, axis=1, keepdims=True)
    return Experiment(name, X, y, W0, signs, p.optimiser, p.epochs, p.seed)


def data(dataset: str, d: int, n: int, rng: np.random.Generator) -> tuple[str, NDArray, NDArray]:
    """Name, X (n, d) and y (n,): data drawn as in Section 5.1, those of the first figure, two
    digits (centred), or a CSV file with labels +1 and -1 in its last column.

    Raises InputError for an unknown name, a file that cannot be read, and other labels.
    """
    while dataset == "section-5.1":  # drawn again where a label is missing
        X, y = filtered_gaussian(d, n, rng)
        if len(np.unique(y)) == 2:
            return dataset, X, y
    if dataset == "plane":
        return dataset, PLANE, LABELS
    if pair := images.two_digits(dataset):
        return dataset, pair.X, pair.y
    given = datasets.load_signs(dataset, EXPERIMENT_NAMES, (2, _MOST_DATA))
    if given.d > _MOST_FEATURES:
        raise InputError(
            f'dataset "{given.name}" has {given.d} features, and the page takes {_MOST_FEATURES} '
            "at most."
        )
    for label in {1.0, -1.0}.difference(given.y.tolist()):
        raise InputError(
            f'dataset "{given.name}" has no datum with the label {label:g}: the page needs both.'
        )
    return given.name, given.X, given.y


def around(count: int) -> Start:
    """The flow of the page's first figure: on `PLANE`, `count` directions evenly around the circle,
    each with a neuron of either sign, of norm e^-20."""
    directions = unit(2.0 * np.pi * (np.arange(count) + 0.3) / count)
    signs = np.repeat([1.0, -1.0], count)
    return Start(PLANE, LABELS, np.vstack([directions] * 2), np.full(2 * count, -20.0), signs)


# --- What Theorem 1 says of a reader's data: whether it applies, and what it then promises --------

_ZERO = 1e-12
"""A cosine this small is 0."""
_FEW = 3


class Violations(NamedTuple):
    """Pairs i < j of data that violate (OS), (k, 2) each, the worst by their cosine first: of one
    label at a right angle or more, and of different labels at less."""

    within: NDArray
    across: NDArray

    @property
    def none(self) -> bool:
        """Whether (OS) holds."""
        return not any(map(len, self))


def violations(X: NDArray, y: NDArray) -> Violations:
    """The pairs of X (n, d), y (n,) that violate (OS). Raises InputError for an input 0."""
    C = cosines(signed(X, y))
    i, j = np.triu_indices(len(y), 1)
    same, cosine = y[i] == y[j], C[i, j]
    found = []
    for bad in (same & (cosine <= _ZERO), ~same & (cosine < -_ZERO)):
        order = np.argsort(cosine[bad], kind="stable")
        found.append(np.stack([i[bad], j[bad]], axis=1)[order])
    return Violations(*found)


def separability_table(own: Experiment) -> pd.DataFrame:
    """Whether (OS) holds, which pairs break it, whether a hyperplane through 0 separates."""
    y, bad = own.y, violations(own.X, own.y)
    try:
        separable = f"yes, with the margin {approx(1.0 / max_margin(own.X, y).length)}"
    except InputError:
        separable = "no"
    told = {
        "data": f"{len(y)}: {np.sum(y > 0)} positive, {np.sum(y < 0)} negative",
        "dimension": str(own.X.shape[1]),
        "(OS)": "holds" if bad.none else "does not hold",
        "pairs of one label at a right angle or more": str(len(bad.within) or "none"),
        "the worst, by their rows": _named(bad.within),
        "pairs of different labels at less": str(len(bad.across) or "none"),
        "the worst of these": _named(bad.across),
        "linearly separable": separable,
    }
    return pd.DataFrame({own.name: told})


def _named(pairs: NDArray) -> str:
    told = ", ".join(f"{i + 1} and {j + 1}" for i, j in pairs[:_FEW])
    return told + (", …" if len(pairs) > _FEW else "")


def max_margins(own: Experiment) -> dict[float, MaxMargin]:
    """w_+ and w_- (eqs 6, 7) by their sign; a label is left out that has none."""
    found = {}
    for sign in (1.0, -1.0):
        with suppress(InputError):
            found[sign] = own_margin(own.X, own.y, sign)[0]
    return found


def vectors_table(own: Experiment) -> pd.DataFrame:
    """w_+ and w_- (eqs 6, 7): their norms, their support examples, and (Span)."""
    d, rows = own.X.shape[1], {}
    for sign, name in ((1.0, "w₊"), (-1.0, "w₋")):
        rows[name] = ["there is none", "", "", ""]
        with suppress(InputError):
            found, support = own_margin(own.X, own.y, sign)
            rank = int(np.linalg.matrix_rank(support))
            told = f"{len(support)} of {np.sum(own.y == sign)}", f"{rank} of {d}"
            holds = "holds" if rank == d else "does not hold"
            rows[name] = [approx(found.length), *told, holds]
    columns = ["norm", "support examples", "their rank", "(Span)"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def promise(own: Experiment) -> pd.DataFrame:
    """What is promised where (OS) holds and a neuron of either sign lives: the constants of (8) and
    (10); no rows where (OS) does not hold."""
    if not violations(own.X, own.y).none:
        return pd.DataFrame(columns=[""])
    goal = limit(own.X, own.y)
    angle = degrees_between(*goal.vectors.values())
    told = {
        "angle between w₊ and w₋": f"{on_grain(angle, 0.1)}°",
        "share of ‖W‖² of the neurons along w₊": approx(goal.share(1.0)),
        "share of those along w₋": approx(goal.share(-1.0)),
        "both constants of (10)": approx(goal.constant),
    }
    return pd.DataFrame({"": told})


def death_table(own: Experiment, count: int) -> pd.DataFrame:
    """The chance that a neuron dies, in the limit of small weights: `count` random directions with
    95 % Wilson intervals, and for (OS) data in the plane the closed form."""
    columns = ["directions that die", "chance"]
    separable = violations(own.X, own.y).none
    plus, minus = fates(own.X, own.y, count, np.random.default_rng([own.seed, 2]), separable)
    either, rows = np.append(plus, minus), {}
    for name, dead in {"a > 0": plus, "a < 0": minus, "sign drawn by itself": either}.items():
        low, high = wilson(int(dead.sum()), len(dead))
        chance = f"{approx(float(low), 2)} to {approx(float(high), 2)}"
        rows[name] = [f"{dead.sum()} of {len(dead)}", chance]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    if own.X.shape[1] == 2 and separable:
        a, b, _ = chances(own.X, own.y)
        table["closed form"] = [approx(value) for value in (a, b, 0.5 * (a + b))]
    return table


# --- Minibatch descent from a balanced start, as in Section 5.1, looked at as the flow is ---------


def descend(
    X: NDArray, y: NDArray, W0: NDArray, signs: NDArray, epochs: int, rng: np.random.Generator
) -> Path:
    """Stochastic gradient descent of the mean logistic loss from rows W0 (p, d) and a_j = signs_j
    |w_j|, on data X (n, d), y (n,); at ends of epochs the loss of all data is summed, as a flow's.
    """
    pair = [W0[None], (signs * np.linalg.norm(W0, axis=1))[None, None]]
    wanted = np.append(0, np.unique(np.geomspace(1, epochs, 120).astype(int)))
    seen = minibatch_ensemble(pair, X[None], y[None], RATE, BATCH, wanted.tolist(), [rng])
    weights, outer = (np.array(part) for part in zip(*(W for _, W, _ in seen), strict=True))
    weights, outer = weights[:, 0], outer[:, 0, 0]
    outputs = (np.maximum(X @ w.T, 0.0) @ v for w, v in zip(weights, outer, strict=True))
    tau = np.array([-float(LOGISTIC.log_value(each, y)) for each in outputs])
    status = f"{epochs} epoch{'s' if epochs > 1 else ''} of minibatches"
    return Path(status, wanted.astype(float), weights, np.ones(len(y), bool), tau, weights, outer)


# --- Where a reader's training leads: the rays of its neurons, and how far it is from a limit -----

_TOGETHER = {"flow": 0.999, "sgd": 0.9}
"""Neurons of one sign whose cosine is at least this are on one ray; descent stops on the way."""


@dataclass(frozen=True, eq=False)
class Trained:
    """An experiment with its path. `goal` is the limit that Theorem 1 names, of the labels with
    a living neuron; None where one of them has no max-margin vector."""

    own: Experiment
    path: Path
    goal: Limit | None

    @cached_property
    def distances(self) -> NDArray:
        """The norm in (8) at the moments (k,); NaN without a goal."""
        if self.goal is None:
            return np.full(len(self.path.W), np.nan)
        sizes = np.linalg.norm(self.path.W, axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            U = np.where(sizes[..., None] > 0.0, self.path.W / sizes[..., None], 0.0)
            R = np.log(sizes)
            return self.goal.distances(U, R, self.own.signs)[:, 0]

    @cached_property
    def gap(self) -> float:
        """How far theta is from a KKT point of (77) at the end: see `gap`."""
        kept = self.path.kept
        return gap(self.own.X[kept], self.own.y[kept], self.path.W[-1], self.path.a[-1])

    def cosines(self, sign: float) -> NDArray:
        """The cosines (m, q) of the neurons with a_j of this sign to w_+ or w_- in the first phase;
        no columns where that vector is not there."""
        vectors = {} if self.goal is None else self.goal.vectors
        W = self.path.early[:, self.own.signs == sign]
        if sign not in vectors:
            return np.zeros((len(W), 0))
        w = vectors[sign]
        lengths = np.linalg.norm(W, axis=2)
        return W @ w / (np.where(lengths > 0.0, lengths, 1.0) * np.linalg.norm(w))


def train(own: Experiment, most: float = flows.MOST) -> Trained:
    """The path of an experiment, and the limit that it should have; a flow is given up after so
    much work (`flows.follow_own`)."""
    given = own.X, own.y, own.W0, own.signs
    if own.optimiser == "flow":
        path = flows.follow_own(*given, most)
    else:
        path = descend(*given, own.epochs, np.random.default_rng([own.seed, 1]))
    alive = tuple(s for s in (1.0, -1.0) if _living(own, path)[own.signs == s].any())
    try:
        goal = limit(own.X, own.y, alive) if alive else None
    except InputError:
        goal = None
    return Trained(own, path, goal)


def gap(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> float:
    """The distance of theta from the KKT conditions of (77), over |theta|: from the cone of the
    y_i g_i, g_i the gradient of f at x_i, of data whose margin is the least one up to a hundredth;
    NaN where a datum of X (n, d), y (n,) is on the wrong side.
    """
    before, slope = X @ W.T, flows.slopes(flows.between(X, W))
    margins = y * ((slope * before) @ a)
    if not margins.min(initial=np.inf) > 0.0 or not len(y):
        return np.nan
    tight = margins <= 1.01 * margins.min()
    rows = slope[tight] * y[tight, None]
    columns = np.concatenate(
        [((rows * a)[:, :, None] * X[tight][:, None]).reshape(tight.sum(), -1),
         rows * before[tight]], axis=1)  # fmt: skip
    theta = np.append(W.ravel(), a)
    lengths = np.linalg.norm(columns, axis=1)
    kept = lengths > 0.0
    away = nnls((columns[kept] / lengths[kept, None]).T, theta / np.linalg.norm(theta))[1]
    return float(away)


def _living(own: Experiment, path: Path) -> NDArray:
    """Neurons (p,) that are active on some datum of their own label at the end."""
    active = flows.between(own.X, path.W[-1]) > flows.WIDTH
    return np.asarray(np.any(active & (np.outer(own.y, own.signs) > 0.0), axis=0))


def summary(trained: Trained) -> pd.DataFrame:
    """How the training ended: its loss, the dead neurons, the distance of (8), the KKT gap."""
    own, path = trained.own, trained.path
    unseen = int(np.sum(~path.kept))
    away = approx(trained.gap, 2) if trained.gap >= 0.0 else "none, data are on the wrong side"
    told = {
        "the training": path.status,
        "log(1/ℓ) at its end": approx(path.tau[-1], 3),
        "data that no neuron sees": str(unseen) if unseen else "none",
        "neurons that live": f"{_living(own, path).sum()} of {len(own.signs)}",
        "distance of (8)": approx(trained.distances[-1], 2) if trained.goal else "no w₊ or w₋",
        "KKT gap": away if own.optimiser == "flow" else "",
    }
    return pd.DataFrame({"": told})


def rays(trained: Trained) -> pd.DataFrame:
    """The directions in which living neurons end, of the six longest those with a share of 1e-4 and
    more: how many neurons, their share of |W|_F^2, the cosine to the max-margin vector of their
    sign, on which data they are active."""
    own, W = trained.own, trained.path.W[-1]
    living, sizes = _living(own, trained.path), np.linalg.norm(W, axis=1)
    left = [int(j) for j in np.argsort(-sizes, kind="stable") if living[j]]
    rows, close = list[list[str]](), _TOGETHER[own.optimiser]
    while left and len(rows) < 6 and 0.0 < sizes[left[0]] < np.inf:
        w, sign = units(W[left[0]]), float(own.signs[left[0]])
        same = [j for j in left if own.signs[j] == sign and W[j] @ w >= close * sizes[j]]
        left = [j for j in left if j not in same]
        share = float(np.sum(sizes[same] ** 2) / np.sum(sizes**2))
        goal = None if trained.goal is None else trained.goal.vectors.get(sign)
        cosine = "" if goal is None else on_grain(float(w @ units(goal)), 1e-4)
        seen = [f"{np.sum(X @ w > 0.0)} of {len(X)}"
                for X in (own.X[own.y == sign], own.X[own.y != sign])]  # fmt: skip
        name = "a > 0" if sign > 0 else "a < 0"
        if share >= 1e-4:
            rows.append([name, str(len(same)), f"{on_grain(100.0 * share, 0.1)} %", cosine, *seen])
    columns = ["ray", "neurons", "share of ‖W‖²", "cosine to w₊ or w₋", "active on own label",
               "on the other"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns, dtype=object).set_index("ray")
