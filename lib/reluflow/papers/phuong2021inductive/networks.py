"""The page `networks`: Section 5, Figures 1 and 2."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import approx
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, Reading, bound, computed, fact, note
from reluflow.losses import LOGISTIC
from reluflow.margin import limits
from reluflow.margin.kkt import kkt
from reluflow.networks.indexed import fully_connected
from reluflow.papers.phuong2021inductive.flows import Lost, Start, follow_long, followed
from reluflow.papers.phuong2021inductive.setting import (
    Limit,
    breaks,
    extremal_directions,
    filtered_gaussian,
    in_orthants,
    limit,
    own_margin,
    supported,
    top_plane,
)
from reluflow.parameters import SECTION
from reluflow.progress import progress
from reluflow.records import Pieces, Shelf
from reluflow.statistics import share_interval, student_interval, wilson

# --- Residual ReLU networks side by side, each on its own data (Phuong & Lampert 2021, eq 30) -----
#
#     f^1 = W_1 x,   f^l = f^(l-1) + W_l [f^(l-1)]_+  for 1 < l < L,   f = W_L [f^(L-1)]_+
#
# For L = 2 this is the two-layer network. Weights are W_1 (..., p, d), W_2 to W_(L-1) (..., p, p)
# and W_L (..., 1, p); leading axes are networks.


def shapes(depth: int, width: int, d: int) -> list[tuple[int, int]]:
    """The shapes of W_1, ..., W_L for L = depth >= 2."""
    return [(width, d), *[(width, width)] * (depth - 2), (1, width)]


def features(weights: Sequence[NDArray], X: NDArray) -> list[NDArray]:
    """f^1, ..., f^(L-1), each (..., n, p), of data X (..., n, d)."""
    found = [X @ np.swapaxes(weights[0], -1, -2)]
    for W in weights[1:-1]:
        found.append(found[-1] + np.maximum(found[-1], 0.0) @ np.swapaxes(W, -1, -2))
    return found


def slopes(weights: Sequence[NDArray], X: NDArray, y: NDArray) -> tuple[list[NDArray], NDArray]:
    """The gradients of sum_i log(1 + e^(-y_i f(x_i))) in W_1, ..., W_L, and that sum (...,), of
    data X (..., n, d) and labels y (..., n) of +1 and -1. The slope of the ReLU at 0 is 0."""
    found = features(weights, X)
    rectified = [np.maximum(f, 0.0) for f in found]
    margins = y * (rectified[-1] @ np.swapaxes(weights[-1], -1, -2))[..., 0]
    small = np.exp(-np.abs(margins))
    loss = np.sum(np.log1p(small) + np.maximum(-margins, 0.0), axis=-1)
    pull = -y * np.where(margins > 0.0, small, 1.0) / (1.0 + small)
    gradients = [pull[..., None, :] @ rectified[-1]]
    delta = pull[..., None] * weights[-1]
    delta *= found[-1] > 0.0
    for k in range(len(weights) - 2, 0, -1):
        gradients.append(np.swapaxes(delta, -1, -2) @ rectified[k - 1])
        delta = delta + (delta @ weights[k]) * (found[k - 1] > 0.0)
    gradients.append(np.swapaxes(delta, -1, -2) @ X)
    return gradients[::-1], loss


# --- Descent on minibatches of many networks side by side, each on its own data -------------------


def minibatch_ensemble(
    weights: Sequence[NDArray],
    X: NDArray,
    y: NDArray,
    rate: float,
    batch: int,
    epochs: Iterable[int],
    rngs: Sequence[np.random.Generator],
    mean: bool = True,
) -> Iterator[tuple[int, list[NDArray], NDArray]]:
    """Descent by W <- W - rate dL/dW on the logistic loss L of a batch, its mean or its sum.

    Every epoch takes a network's n data once, in an order that its own generator draws, `batch` at
    a time; what is left is the last batch. So a network's path is the same beside any others.

    weights, X, y  as in `slopes`, with one leading axis: the networks
    epochs         ascending: after these it gives the epoch, the weights and its mean loss (S,)
    """
    weights = [W.copy() for W in weights]
    n, flat, labels = X.shape[1], X.reshape(-1, X.shape[2]), y.ravel()
    done, mean_loss = 0, np.full(len(X), np.nan)
    for epoch in epochs:
        for _ in range(epoch - done):
            order = np.array([k * n + rng.permutation(n) for k, rng in enumerate(rngs)])
            total = np.zeros(len(X))
            for part in np.split(order, range(batch, n, batch), axis=1):
                gradients, loss = slopes(weights, flat.take(part, 0), labels.take(part))
                step = rate / part.shape[1] if mean else rate
                for W, gradient in zip(weights, gradients, strict=True):
                    gradient *= step
                    W -= gradient
                total += loss
            mean_loss = total / n
        done = epoch
        yield epoch, [W.copy() for W in weights], mean_loss


# --- The two directions nearest to which vectors lie, exactly -------------------------------------


def two_directions(P: NDArray) -> NDArray:
    r"""The directions e_1, e_2 (2, d) of two of the vectors P (n, d), none 0, that maximise
    $\sum_i |p_i| \max_k \cos(p_i, e_k)$: long vectors count more. All pairs are tried."""
    lengths = np.linalg.norm(P, axis=1)
    U = P / lengths[:, None]
    C = U @ U.T
    best, rows = -np.inf, [0, 1]
    for i in range(len(P) - 1):
        sums = lengths @ np.maximum(C[:, i : i + 1], C[:, i + 1 :])
        k = int(sums.argmax())
        if sums[k] > best:
            best, rows = float(sums[k]), [i, i + 1 + k]
    return np.asarray(U[rows])


# --- What Figures 1 and 2 of Phuong & Lampert 2021 show of a matrix of neurons, as numbers --------
#
# A row is long if it is longer than LONG of the longest, or one of the two longest. That the second
# singular value be 3 times the third, the first bar for rank two, asks how far the two columns are
# apart, which w_+ and w_- decide. GROWN says by how much the two have outgrown the start.

ZERO = 0.1
"""Parts of the largest singular value below this are effectively 0, the bar for Figure 4a."""
GROWN = 2.0
LONG, DEGREES, MOST = 1 / 3, 10.0, 0.9
"""Rows lie along two directions if MOST of the long ones are within DEGREES of the nearer one."""
HIGH = 0.9
"""A high correlation, by the paper."""


def units(W: NDArray) -> NDArray:
    """The rows of W over their lengths."""
    return np.asarray(W / np.linalg.norm(W, axis=-1, keepdims=True))


def turned(cosine: ArrayLike) -> NDArray:
    """The angles of cosines (...), which rounding may have taken out of [-1, 1], in degrees."""
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


def alignment(W: NDArray, positive: NDArray) -> tuple[float, float, float]:
    """How the rows of W (p, d) lie in the plane of its top two singular directions, where their
    main directions are the `two_directions` of the long ones; and the signs (p,) there: the share
    of the long rows within DEGREES of the nearer direction, the angle between the two in degrees,
    and the share of the long rows that they sort as the signs do."""
    plane = top_plane(W)
    lengths = np.linalg.norm(W, axis=1)
    long = lengths >= min(LONG * lengths.max(), np.sort(lengths)[-2])
    directions = two_directions(plane[long])
    cosines = (units(plane) @ directions.T)[long]
    near = float(np.mean(turned(cosines.max(axis=1)) <= DEGREES))
    same = float(np.mean((cosines.argmax(axis=1) == 0) == positive[long]))
    between = float(turned(np.prod(directions, axis=0).sum()))
    return near, between, max(same, 1.0 - same)


def correlations(W: NDArray, goal: Limit, signs: NDArray | None = None) -> NDArray:
    """The cosines (p,) of the rows of W with w_+ where the sign is positive and w_- where it is
    not; without signs, with the closer of the two."""
    both = [units(W) @ goal.vectors[s] / np.linalg.norm(goal.vectors[s]) for s in (1.0, -1.0)]
    return np.maximum(*both) if signs is None else np.where(signs > 0.0, *both)


# --- Section 5: networks of two and of four layers on filtered Gaussians --------------------------
#
# Not printed, and so parameters here: from which law the weights are drawn that are then multiplied
# by 0.05, whether the loss of a batch is a mean or a sum, and whether neurons have biases.

LAWS: Mapping[str, Callable[[np.random.Generator, tuple[int, int]], NDArray]] = {
    "uniform": lambda rng, shape: rng.uniform(-1.0, 1.0, shape) / shape[1] ** 0.5,
    "Glorot": lambda rng, shape: rng.uniform(-1.0, 1.0, shape) * (6.0 / sum(shape)) ** 0.5,
    "He": lambda rng, shape: rng.standard_normal(shape) * (2.0 / shape[1]) ** 0.5,
    "normal": lambda rng, shape: rng.standard_normal(shape),
}
"""Laws of the weights before the factor; "uniform" is what PyTorch's linear layer does."""


@dataclass(frozen=True)
class Setting:
    """How a network is trained: what the paper prints, and from `law`, a key of LAWS, on its
    unprinted choices: whether the loss of a batch is a mean, whether neurons of the first layer
    have biases, drawn like its weights, and a further factor for the last layer at the start."""

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

    @functools.cached_property
    def limit(self) -> Limit:
        return limit(self.X, self.y)

    @property
    def end(self) -> Look:
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
    layers = shapes(setting.depth, setting.width, setting.d + setting.biases)
    drawn = [[setting.scale * LAWS[setting.law](rng, shape) for shape in layers] for rng in rngs]
    weights = [np.array(part) for part in zip(*drawn, strict=True)]
    weights[-1] *= setting.outer
    at = sorted({0, *epochs, setting.epochs})
    looks: list[list[Look]] = [[] for _ in rngs]
    for epoch, found, loss in minibatch_ensemble(
        weights, inputs, y, setting.rate, setting.batch, at, rngs, setting.mean
    ):
        for k, mine in enumerate(looks):
            first, *rest = (W[k] for W in found)
            mine.append(Look(epoch, float(loss[k]), (first[:, : setting.d], *rest)))
    return [Run(setting, *each, tuple(mine)) for each, mine in zip(data, looks, strict=True)]


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
        found.append({name: (degrees_between(means[1.0], goal[1.0]),
                             degrees_between(means[-1.0], goal[-1.0]))
                      for name, goal in goals.items()})  # fmt: skip
    return found


def degrees_between(v: NDArray, w: NDArray) -> float:
    return float(turned(v @ w / np.linalg.norm(v) / np.linalg.norm(w)))


def two_neurons(run: Run) -> Start:
    """The flow's start on the data of a run that no residue disturbs: a neuron a label, along the
    sum of its data and of norm e^-5."""
    sums = np.array([run.X[run.y == sign].sum(axis=0) for sign in (1.0, -1.0)])
    directions = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return Start(run.X, run.y, directions, np.full(2, -5.0), np.array([1.0, -1.0]))


# --- What is kept of a network of Section 5 of Phuong & Lampert 2021, live or from a record -------

SPECTRUM = 10


@dataclass(frozen=True)
class Seen:
    """A network after some epochs. Lists with an entry a layer are of W_1 to W_(L-1).

    singular  the ten largest singular values of each layer
    moved     the third singular value of W_l - W_l(0) over the second, 0 at the start
    near, between, agreement  as `alignment` has them; the last one with the sign of the last layer
    cosines   of each row of W_1 with w_+ or w_-, by the sign of a_j for two layers, else the
              closer; a record keeps those of the last look
    high      the share of them that the paper calls high
    group     the cosines of the mean of the rows with a_j > 0 and w_+, and of the others and w_-
    spread    the median cosine of a row of W_1 with the mean of its group
    flipped   the share of the a_j whose sign is not that of the start
    sum_high, sum_group  as `high` and `group`, with the sums of the labels' data in place of w_+
              and w_-; records other than "deep" do not have them
    """

    epoch: int
    loss: float
    singular: list[list[float]]
    moved: list[float]
    near: list[float]
    between: list[float]
    agreement: list[float]
    cosines: list[float]
    high: float
    group: list[float]
    spread: float
    flipped: float
    sum_high: float = np.nan
    sum_group: list[float] = field(default_factory=list)

    def clear(self, layer: int = 0) -> int:
        """How many singular values are at least ZERO of the largest."""
        s = np.array(self.singular[layer])
        return int(np.sum(s >= ZERO * s[0]))


@dataclass(frozen=True)
class Course:
    """One network along its training, the first look at the start."""

    looks: tuple[Seen, ...]

    @property
    def start(self) -> Seen:
        return self.looks[0]

    @property
    def end(self) -> Seen:
        return self.looks[-1]

    def rank_two(self, layer: int = 0) -> bool:
        """Whether two singular values of a layer have become GROWN times as large as its largest
        one at the start, and all others are no larger than that."""
        level, s = self.start.singular[layer][0], self.end.singular[layer]
        return s[1] >= GROWN * level and s[2] <= level


def course(run: Run) -> Course:
    """What is kept of a run."""
    sums = Limit({sign: run.X[run.y == sign].sum(axis=0) for sign in (1.0, -1.0)})
    return Course(tuple(seen(look, run.looks[0], run.limit, sums) for look in run.looks))


def seen(look: Look, start: Look, goal: Limit, sums: Limit) -> Seen:
    """What is kept of a look; `sums` has the sums of the labels' data in place of w_+ and w_-."""
    hidden, positive = look.weights[:-1], look.a > 0.0
    near, between, agreement = zip(*(alignment(W, positive) for W in hidden), strict=True)
    signs = np.where(positive, 1.0, -1.0)
    groups = {s: look.W[signs == s].sum(axis=0) for s in (1.0, -1.0)}
    mine = np.array([groups[s] for s in signs])
    own = signs if len(hidden) == 1 else None
    cosines = correlations(look.W, goal, own)
    return Seen(
        epoch=look.epoch,
        loss=look.loss,
        singular=[np.linalg.svdvals(W)[:SPECTRUM].tolist() for W in hidden],
        moved=[
            float(s[2] / s[1]) if s[1] > 0.0 else 0.0
            for s in map(np.linalg.svdvals, map(np.subtract, hidden, start.weights))
        ],
        near=list(near),
        between=list(between),
        agreement=list(agreement),
        cosines=cosines.tolist(),
        high=float(np.mean(cosines > HIGH)),
        group=[float(units(groups[s]) @ units(goal.vectors[s])) for s in (1.0, -1.0)],
        spread=float(np.median(np.sum(units(look.W) * units(mine), axis=1))),
        flipped=float(np.mean(positive != (start.a > 0.0))),
        sum_high=float(np.mean(correlations(look.W, sums, own) > HIGH)),
        sum_group=[float(units(groups[s]) @ units(sums.vectors[s])) for s in (1.0, -1.0)],
    )


def kept(found: Course) -> list[dict[str, Any]]:
    """A course as a record keeps it, to four digits."""
    *before, last = found.looks
    looks = [asdict(look) for look in (*(replace(look, cosines=[]) for look in before), last)]
    told: list[dict[str, Any]] = json.loads(
        json.dumps(looks),
        parse_float=lambda value: float(f"{float(value):.4g}"),
        parse_constant=lambda _: None,
    )
    return told


# --- The records of the networks of Section 5 -----------------------------------------------------
#
# "deep" is the four-layer net, "readings" and "scales" train the two-layer one under other readings
# and from other sizes of the start, "steps" and "balance" with other rates and layers of other
# sizes, "long" goes on for longer. All take seven minutes of one core.

SCALES = (1.0, 0.2, 0.05, 0.01, 0.001)
RATES = (0.01, 0.1, 1.0, 3.0, 10.0)
"""With as many epochs that the product is the paper's. At a rate of 30 descent diverges."""
OUTER = (1e-3, 1.0, 10.0, 100.0, 1000.0)
"""Further factors of the last layer; at 10 the |a_j| are about as large as the |w_j|."""


@dataclass(frozen=True)
class Survey:
    """A setting, how many networks are trained in it, and the epochs of the looks on the way."""

    setting: Setting
    networks: int
    epochs: tuple[int, ...] = ()


SURVEYS: Mapping[str, Mapping[str, Survey]] = {
    "deep": {
        "500 epochs": Survey(DEEP, 20),
        "5000 epochs": Survey(replace(DEEP, epochs=5000), 3, (500,)),
    },
    "readings": {name: Survey(setting, 10) for name, setting in READINGS.items()},
    "scales": {
        f"{scale:g}": Survey(replace(PAPER, scale=scale, epochs=5000), 5, (50, 500))
        for scale in SCALES
    },
    "steps": {
        f"{rate:g}": Survey(replace(PAPER, rate=rate, epochs=round(50 / rate)), 10)
        for rate in RATES
    },
    "balance": {f"{outer:g}": Survey(replace(PAPER, outer=outer), 10) for outer in OUTER},
    "long": {"taken": Survey(replace(PAPER, epochs=50_000), 5, (5, 10, 20, 50, 100, 500, 5000))},
}


def courses(survey: Survey, seed: int = 0) -> list[Course]:
    """Train the networks of a survey."""
    runs = train(survey.setting, seed, range(survey.networks), survey.epochs)
    return [course(run) for run in runs]


# --- Figures 1 and 2 of Phuong & Lampert 2021, judged over many seeds -----------------------------
#
# The paper shows one run. A statement about it holds here if most runs show it, in that Wilson's
# 95 % interval for their share lies above one half. The bars are those above.

KNOWN = computed("runs at the paper's scale, each with its own data and start")
RECORDED = computed("recorded runs at the paper's scale, each with its own data and start")
CLAIMS_READING = Reading(
    taken="no biases, the mean loss of a batch, weights drawn as PyTorch's linear layer draws them "
    "(uniform, ± 1 over the root of the number of inputs) before the 0.05",
    others="the table of readings has the others: the sum of the losses, Glorot's uniform law and "
    "biases do not change the words that the figures bear out; normal weights of variance 1, and "
    "He's, do",
)
DEEP_READING = Reading(
    taken=CLAIMS_READING.taken,
    others="the table of readings has the others, for two layers only: with four they were not "
    "tried",
)
"""How os.fig2def and both claims on Figure 2g are read."""
RANK_TWO = Reading(
    taken=f"{CLAIMS_READING.taken}; rank two means that two singular values have become {GROWN:g} "
    "times as large as the largest one at the start, and that no other is larger than that one",
    others="exactly the rank is that of the start, 20 or 100: the others stay as they were. The "
    "bar set before measuring was that the second be 3 times the third; W₁'s means miss it, at "
    "about 2.7, and the rule taken was chosen after that",
)

BARS = "the bars, after two trial runs of each network with other seeds"


def in_most(what: str, hits: Sequence[bool], after: str = "") -> list[Evidence]:
    """That most runs show something, by a list of which do; `after` as in `Evidence`."""
    low = float(wilson(sum(hits), len(hits))[0])
    return [
        bound(f"share of runs in which {what}: lower end of its 95 % interval", low, ">", 0.5, "",
              digits=2, after=after),
        note("such runs", f"{sum(hits)} of {len(hits)}: {share_interval(sum(hits), len(hits))}"),
    ]  # fmt: skip


def two_singular_values(runs: Sequence[Course]) -> list[Evidence]:
    """os.fig1a: all singular values of W but the first two are effectively 0: below a tenth of the
    largest, as the first two are not."""
    ends = [run.end for run in runs]
    return [
        *in_most(f"just two singular values are at least {ZERO:g} of the largest",
                 [end.clear() == 2 for end in ends], BARS),
        note("the first four, means", _mean([end.singular[0][:4] for end in ends]), digits=2),
        note("the largest before training, mean",
             float(np.mean([run.start.singular[0][0] for run in runs])), digits=2),
        note("W less W at the start: largest ratio of the third singular value to the second",
             max(end.moved[0] for end in ends), digits=1),
    ]  # fmt: skip


def two_main_directions(runs: Sequence[Course]) -> list[Evidence]:
    """os.fig1b: the long neurons lie along two directions of the plane of the top two singular
    vectors, one for a_j > 0 and one for a_j < 0."""
    ends = [run.end for run in runs]
    return [
        *in_most(f"{MOST:.0%} of the long neurons are within {DEGREES:g}° of the nearer of two "
                 f"directions, and these sort {MOST:.0%} of them by sign",
                 [_aligned(end, 0) for end in ends], BARS),
        note("angle between the two, mean", float(np.mean([end.between[0] for end in ends])),
             "degrees", digits=3),
    ]  # fmt: skip


def high_correlations(runs: Sequence[Course]) -> list[Evidence]:
    """os.fig1c: most neurons have a cosine above 0.9 with the max-margin vector of their sign."""
    ends = [run.end for run in runs]
    shares = np.array([end.high for end in ends])
    return [
        *in_most(f"more than half of the neurons have a cosine above {HIGH:g}",
                 (shares > 0.5).tolist()),
        note("share of the neurons: mean over runs, its 95 % interval",
             (float(shares.mean()), *student_interval(shares)), digits=2),
        note("median cosine with the mean of the group, mean over runs",
             float(np.mean([end.spread for end in ends])), digits=2),
        *control(ends),
    ]  # fmt: skip


def control(ends: Sequence[Seen]) -> list[Evidence]:
    """The sums of the labels' data in place of the max-margin vectors."""
    far, near = (turned([getattr(end, of) for end in ends]) for of in ("group", "sum_group"))
    return [
        note("control, the sum of the label's data in place of the max-margin vector: share of the "
             "neurons above, mean", float(np.mean([end.sum_high for end in ends])), digits=2),
        note("angle of a group's mean to that sum, least and largest",
             (float(near.min()), float(near.max())), "degrees", digits=2),
        note("the same to the max-margin vector", (float(far.min()), float(far.max())), "degrees",
             digits=2),
    ]  # fmt: skip


def deep_limits(runs: Sequence[Course]) -> list[Evidence]:
    """os.fig2g.2: that the max-margin vectors are the limits of the rows of W_1 would make them fit
    better than another pair of directions that the data single out, the sums of the labels."""
    ends = [run.end for run in runs]
    return [
        *in_most(f"more neurons have a cosine above {HIGH:g} with the closer max-margin vector "
                 "than with the closer sum of a label's data",
                 [end.high > end.sum_high for end in ends]),
        *control(ends),
    ]  # fmt: skip


def nearer_to_the_sums(runs: Sequence[Course]) -> list[Evidence]:
    """What appears instead of `deep_limits`."""
    ends = [run.end for run in runs]
    return in_most("the mean of either group is nearer to the sum of its label's data than to the "
                   "max-margin vector",
                   [min(end.sum_group) > max(end.group) for end in ends])  # fmt: skip


def deep_rank_two(runs: Sequence[Course]) -> list[Evidence]:
    """os.fig2abc: W_1, W_2 and W_3 of the four-layer residual net have rank two."""
    found = []
    for layer in range(3):
        ends = [run.end.singular[layer][:4] for run in runs]
        found += [
            *in_most(f"W_{layer + 1} has rank two", [run.rank_two(layer) for run in runs],
                     "the rule, after the bar set first had failed for W₁"),
            note(f"W_{layer + 1}: the first four singular values, means", _mean(ends), digits=2),
            note(f"W_{layer + 1} less its start: third over second, the largest",
                 max(run.end.moved[layer] for run in runs), digits=1),
        ]  # fmt: skip
    return found


def deep_directions(runs: Sequence[Course]) -> list[Evidence]:
    """os.fig2def: the long rows of each hidden layer lie along two directions, as in Figure 1b."""
    found = []
    for layer in range(3):
        ends = [run.end for run in runs]
        found += [
            *in_most(f"W_{layer + 1} does, with {MOST:.0%} within {DEGREES:g}°",
                     [_aligned(end, layer) for end in ends], BARS),
            note(f"W_{layer + 1}: angle between the two directions, mean",
                 float(np.mean([end.between[layer] for end in ends])), "degrees", digits=3),
        ]  # fmt: skip
    return found


def deep_correlations(runs: Sequence[Course], shallow: Sequence[Course]) -> list[Evidence]:
    """os.fig2g.1: the rows of W_1 correlate with w_+ or w_-, each with the closer, as in Figure 1c.
    `shallow` are two-layer networks on the same data, in the same order."""
    gains = np.array([a.end.high - b.end.high for a, b in zip(runs, shallow, strict=False)])
    return [
        *high_correlations(runs),
        note("share less that of the two-layer network on the same data: mean, 95 % interval",
             (float(gains.mean()), *student_interval(gains)), digits=2),
    ]  # fmt: skip


def _aligned(end: Seen, layer: int) -> bool:
    return end.near[layer] >= MOST and end.agreement[layer] >= MOST


def _mean(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(np.mean(rows, axis=0).tolist())


def table(readings: Mapping[str, Sequence[Course]]) -> pd.DataFrame:
    """A row a reading, means over its runs: the first three singular values of W; in how many runs
    two of them are clearly not 0, and the long neurons lie along two directions; the share of
    neurons with a high correlation, and in how many runs that is more than half."""
    rows = {}
    for name, runs in readings.items():
        ends = [run.end for run in runs]
        shares = [end.high for end in ends]
        means = _mean([end.singular[0][:3] for end in ends])
        rows[name] = {
            **{f"s{k + 1}": approx(value, 2) for k, value in enumerate(means)},
            "two clear": sum(end.clear() == 2 for end in ends),
            "two directions": sum(_aligned(end, 0) for end in ends),
            f"above {HIGH:g}": approx(float(np.mean(shares)), 2),
            "in most": sum(share > 0.5 for share in shares),
            "runs": len(runs),
        }
    return pd.DataFrame(rows).T


# --- The data of Section 5.1: separable, turned apart, and without (Span) -------------------------

Data = tuple[NDArray, NDArray]
Sampler = Callable[[int, int, np.random.Generator], Data]
_D = 20


def draws(seed: int, count: int, sampler: Sampler = filtered_gaussian) -> list[Data]:
    """`count` data sets (X, y) of 500 in R^20."""
    return [sampler(_D, 500, np.random.default_rng([seed, k])) for k in range(count)]


def are_separable(seed: int, count: int) -> list[Evidence]:
    """os.data.1: the data are orthogonally separable."""
    found = draws(seed, count)
    return [
        fact("pairs that break (OS), with the filter by z", np.sum([breaks(*d) for d in found])
             // 2, 0, tried=sum(comb(len(y), 2) for _, y in found)),
        note("data sets", count),
    ]  # fmt: skip


def turns(X: NDArray, y: NDArray) -> tuple[float, float, tuple[int, ...]]:
    """Of data X (n, d), y (n,): the angle between w_+ and -w_-, that between the mean of one label
    and minus the other's, and the dimensions that the support examples of either label span."""
    (one, held), (other, kept) = (own_margin(X, y, sign) for sign in (1.0, -1.0))
    means = (X[y > 0.0].mean(axis=0), -X[y < 0.0].mean(axis=0))
    ranks = tuple(int(np.linalg.matrix_rank(support)) for support in (held, kept))
    return degrees_between(one.u, -other.u), degrees_between(*means), ranks


def are_apart(seed: int, count: int) -> list[Evidence]:
    """os.data.2: w_+ is farther from -w_- than neurons may be from their direction in Figure 1b."""
    kept, free = (zip(*(turns(*one) for one in draws(seed, count, sampler)), strict=True)
                  for sampler in (filtered_gaussian, in_orthants))  # fmt: skip
    angles, means, spans = map(np.array, kept)
    without, free_means, _ = map(np.array, free)
    ranks = spans.ravel()
    return [
        *in_most(f"w₊ is more than {DEGREES:g}° from -w₋", (angles > DEGREES).tolist()),
        bound("least angle", float(angles.min()), ">", DEGREES, "degrees", digits=2),
        note("angle, mean and its 95 % interval",
             (float(angles.mean()), *student_interval(angles)), "degrees", digits=2),
        note("without the filter", (float(without.mean()), *student_interval(without)), "degrees",
             digits=2),
        note("angle between the mean of one label and minus the other's, with and without",
             (float(means.mean()), float(free_means.mean())), "degrees", digits=2),
        note("dimension that the support examples of a label span, of 20: least, mean, largest",
             (int(ranks.min()), float(ranks.mean()), int(ranks.max())), digits=2),
        note("labels whose support examples span, as (Span) asks",
             f"{sum(rank == _D for rank in ranks)} of {len(ranks)}"),
    ]  # fmt: skip


# --- Steps that are not infinitesimal, and neurons that are not balanced at the start -------------
#
# Neither changes which limits there are: a limit is a KKT point of (77), and under (OS) those are
# all of the form (8). What they change is who gets there, and when.

STEPS, RATIOS = (0.05, 0.2, 1.0), (0.01, 0.1, 10.0, 100.0)
"""For data of mean norm 1, the sum of their losses and full batches; and |a_j| / |w_j|."""
NEAR = 1e-6
_PLANE_NEURONS = 6
STEPS_AND_BALANCE_READING = Reading(
    taken="a small step is one that multiplies a neuron near zero by less than two; not crucial "
    "means that networks which learn both labels have the limit (8)",
    others="where |a_j| < |w_j| signs of a_j change, in the flow, too: Lemma A.4 goes, and with it "
    "who is dead. A hundred times the paper's rate sets long neurons against their a_j, and more "
    "diverges",
)


class Ended(NamedTuple):
    """Where one network went: the distance of (8) in the limit of the flow, NaN where none was
    confirmed; whether the limit serves both labels; how many of the a_j changed their sign."""

    distance: float
    learnt: bool
    flipped: int


def ended(seed: int, step: float, ratios: Sequence[float], count: int) -> list[list[Ended]]:
    """Descent with this step in full batches from |w_j| = 0.01 and |a_j| = ratio |w_j|, on data in
    the plane that satisfy (OS) and (Span), for a time of 100 and a hundred steps at least; and the
    limit of the flow from where it ends, for each ratio."""
    rngs = [np.random.default_rng(seed) for _ in ratios]  # alike: the same data, start and batches
    found: list[list[Ended]] = [[] for _ in ratios]
    for _ in range(count):
        items = [supported(2, (2, 2), rng) for rng in rngs]
        X, y = items[0]["X"] / np.linalg.norm(items[0]["X"], axis=1).mean(), items[0]["y"]
        W = 1e-2 * units(np.stack([rng.standard_normal((_PLANE_NEURONS, 2)) for rng in rngs]))
        signs = np.tile([1.0, -1.0], _PLANE_NEURONS // 2)
        a = np.multiply.outer(ratios, np.linalg.norm(W[0], axis=1) * signs)
        many_X, many_y = (np.stack([part] * len(rngs)) for part in (X, y))
        at = [max(100, round(100.0 / step))]
        ((_, (V, b), _),) = minibatch_ensemble(
            [W, a[:, None]], many_X, many_y, step, len(y), at, rngs, mean=False
        )
        for mine, V_k, b_k in zip(found, V, b[:, 0], strict=True):
            flipped = int(np.sum(np.sign(b_k) != signs))
            mine.append(Ended(*_limit(X, y, V_k, b_k), flipped))
    return found


def _limit(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> tuple[float, bool]:
    """The distance of (8) in the limit of the flow from W, a, and whether it serves both labels."""
    network = fully_connected([2, len(W)])
    found = limits.limit(network, LOGISTIC, X, y, np.append(W.ravel(), a), at_zero=0.0)
    if not found.converged:
        served = [bool(((X[y == s] @ W.T > 0.0) & (a * s > 0.0)).any()) for s in (1.0, -1.0)]
        return np.nan, all(served)
    V, b = found.theta[: W.size].reshape(W.shape), found.theta[W.size :]
    lengths = np.maximum(np.linalg.norm(V, axis=1), 1e-300)
    far = limit(X, y).distances(V / lengths[:, None], np.log(lengths), np.sign(b))[0]
    return float(far), True


def survives(
    seed: int,
    count: int,
    rates: Mapping[str, Sequence[Course]],
    outer: Mapping[str, Sequence[Course]],
) -> list[Evidence]:
    """os.assumptions.3: with constant steps, and neurons that are not balanced, networks still come
    to the limit (8); in Section 5.1's setting over `rates` and factors of the last layer, `outer`,
    and in the plane in the limit itself."""
    first, *uneven = ended(seed, STEPS[0], (1.0, *RATIOS), count)
    longer = [ended(seed, step, (1.0,), count)[0] for step in STEPS[1:]]
    each = [one for many in (first, *longer, *uneven) for one in many]
    learnt = [one for one in each if one.learnt]
    small = [course for rate in ("0.01", "0.1", "1") for course in rates[rate]]
    moved = [course for factor in outer for course in outer[factor] if float(factor) <= 100.0]
    return [
        fact("in the plane: networks that learn both labels and have another limit than (8)",
             sum(not one.distance <= NEAR for one in learnt), 0, tried=len(learnt)),
        note("networks that leave a label without neurons", len(each) - len(learnt)),
        note(f"a_j that change their sign where |a_j| / |w_j| is {RATIOS}",
             tuple(sum(one.flipped for one in many) for many in uneven)),
        note("neurons of each", _PLANE_NEURONS * count),
        *in_most("rates 0.01, 0.1, 1: more than half of the neurons have a cosine above 0.9",
                 [course.end.high > 0.5 for course in small]),
        *in_most("last layer times 0.001 to 100: the same",
                 [course.end.high > 0.5 for course in moved]),
        note("last layer times 1000: runs in which more than half do",
             f"{sum(course.end.high > 0.5 for course in outer['1000'])} of {len(outer['1000'])}"),
        bound("largest gap between the median shares of rates 0.01 and 1",
              float(np.ptp(_by({rate: rates[rate] for rate in ("0.01", "1")}, "high"))), "<=", 0.05,
              "", digits=2),
        note(f"by rate {tuple(rates)}: median share above 0.9", _by(rates, "high"), digits=2),
        note(f"by factor {tuple(outer)}: median share above 0.9", _by(outer, "high"), digits=2),
        note("by factor: median share of the a_j that change their sign",
             _by(outer, "flipped"), digits=2),
    ]  # fmt: skip


def _by(surveys: Mapping[str, Sequence[Course]], field: str) -> tuple[float, ...]:
    return tuple(float(np.median([getattr(course.end, field) for course in courses]))
                 for courses in surveys.values())  # fmt: skip


# --- Linearly separable data that break (OS), and what becomes of Theorem 1 on them ---------------
#
# The dial is mu, the least cosine of two of the y_i x_i: (OS) is mu >= 0, up to right angles within
# a label, and data whose y_i x_i lie in a half-space are linearly separable for every mu > -1.

EDGES = (-1.0, -0.75, -0.5, -0.25, 0.0, 1.0)
"""Of bins of mu; the last one is (OS)."""
LEARNT, SAME = 0.1, 1e-2
"""A loss below the first is learnt; a limit within the second of (8), where L = e^(-1e6), is it."""
_CASE_NEURONS, _DATA, _CASE_D = 8, 6, 3

X = np.array([[1.0, 2.0], [1.0, -2.0], [-3.0, 1.0], [-3.0, -1.0]])
Y = np.array([1.0, 1.0, -1.0, -1.0])
NEURONS = np.array([[1.0, 2.0], [1.0, -2.0], [-1.0, 0.0]])
SIGNS = np.array([1.0, 1.0, -1.0])
BROKEN_SEPARABILITY_READING = Reading(
    taken="crucial means that Theorem 1 would be false with linear separability in its place",
    others="for the single data set (OS) is not needed: many that break it by little, and some "
    "that break it by much, have the limit (8) from a small start",
)


@dataclass(frozen=True)
class Case:
    """A data set, and eight neurons trained on it from norms of 1e-3.

    mu        the least cosine of two y_i x_i
    extremal  how many extremal directions the sign with more of them has
    partial, feasible, distance  see the functions; the last is None if the flow was not followed
    loss      at the end of descent
    """

    mu: float
    extremal: int
    partial: bool
    feasible: bool
    loss: float
    distance: float | None = None

    @property
    def other(self) -> bool:
        """Whether the limit is not (8), as far as its activation patterns tell."""
        return self.partial or not self.feasible

    @property
    def learnt(self) -> bool:
        return self.loss < LEARNT


def _half_space(rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """X (6, 3), y (6,) with the y_i x_i at angles of 0 to 90 degrees from one axis, evenly, of
    lengths 1/2 to 2; labels in turn."""
    angles = rng.uniform(0.0, np.pi / 2, _DATA)
    around = units(rng.standard_normal((_DATA, _CASE_D - 1)))
    Z = np.column_stack([np.cos(angles), np.sin(angles)[:, None] * around])
    y = np.where(np.arange(_DATA) % 2 == 0, 1.0, -1.0)
    return (y * rng.uniform(0.5, 2.0, _DATA))[:, None] * Z, y


def cases(seed: int, count: int, follows: bool = False, first: int | None = None) -> list[Case]:
    """`count` data sets and networks, full batches, or the `first`; `follows` ends by the flow."""
    rng = np.random.default_rng(seed)
    drawn = [_half_space(rng) for _ in range(count)]
    X, y = (np.array(part[:first]) for part in zip(*drawn, strict=True))
    W = 1e-3 * units(rng.standard_normal((count, _CASE_NEURONS, _CASE_D)))[:first]
    signs = np.where(np.arange(_CASE_NEURONS) % 2 == 0, 1.0, -1.0)
    a = np.broadcast_to(1e-3 * signs, (len(W), 1, _CASE_NEURONS))
    for _ in range(4000):
        slope, loss = slopes([W, a], X, y)
        W, a = W - 0.2 * slope[0], a - 0.2 * slope[1]
    return [
        Case(
            separation(X[k], y[k]),
            max(len(extremal_directions(X[k], y[k], sign)) for sign in (1.0, -1.0)),
            partial(X[k], y[k], W[k], a[k, 0]),
            feasible(X[k], y[k]),
            float(_DATA * loss[k]),
            distance(X[k], y[k], W[k], a[k, 0]) if follows else None,
        )
        for k in range(len(W))
    ]


def partial(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> bool:
    """Whether a neuron longer than LONG of the longest of its sign is off a datum of its label."""
    active = X @ W.T > 0.0
    lengths = np.linalg.norm(W, axis=1)
    for sign in (1.0, -1.0):
        own = a * sign > 0.0
        long = own & (lengths > LONG * lengths[own].max(initial=0.0))
        if not active[y == sign][:, long].all():
            return True
    return False


def feasible(X: NDArray, y: NDArray) -> bool:
    """Whether (8) satisfies the constraints of (77): w_+ and w_- do not spoil each other's data."""
    parts = [np.maximum(X @ w, 0.0) * sign for sign, w in limit(X, y).vectors.items()]
    return bool((y * np.sum(parts, axis=0)).min() >= 1.0 - 1e-7)


def distance(X: NDArray, y: NDArray, W: NDArray, a: NDArray) -> float | None:
    """The distance of (8) where the flow from W, a, taken as balanced, has L = e^(-1e6)."""
    log_norms = 0.5 * np.log(np.linalg.norm(W, axis=1) * np.abs(a))
    try:
        late = follow_long(Start(X, y, units(W), log_norms, np.sign(a)))
    except Lost:
        return None
    return None if late is None or len(late.alive) < 2 else float(late.distances[-1, 0])


def linear_is_not_enough(found: Sequence[Case]) -> list[Evidence]:
    """os.assumptions.2: linearly separable data that break (OS), on which Theorem 1 fails; and how
    often it does, from data that hardly break it to those that strongly do."""
    late = followed(Start(X, Y, units(NEURONS), np.full(3, -20.0), SIGNS))
    sizes = np.array([5.0**-0.25, 5.0**-0.25, 3.0**-0.5])
    theta = np.append((sizes[:, None] * units(NEURONS)).ravel(), sizes * SIGNS)
    hits, trials, _ = counts(found)
    weak, strong = (hits[-1], trials[-1]), (hits[:2].sum(), trials[:2].sum())
    known = [(case, case.distance) for case in found if case.distance is not None and case.learnt]
    carried_on = [
        note("flows followed on to L = e^(-1e6), and among them those that agree",
             (len(known), sum(case.other == (far > SAME) for case, far in known))),
        note("flows on data that break (OS), with the limit (8) after all",
             sum(case.mu < 0.0 and far <= SAME for case, far in known)),
    ]  # fmt: skip
    return [
        fact("instance: y_i ⟨e₁, x_i⟩ > 0 for all data", bool(np.all(Y * X[:, 0] > 0.0)), True),
        fact("pairs of it that break (OS)", breaks(X, Y).sum() // 2, 1),
        fact("each of its first two data has negative products with all others (whole numbers)",
             bool(np.all((X[:2] @ X.T < 0.0) | np.eye(2, 4, dtype=bool))), True),
        bound("distance of (8) where L = e^(-1e6), from a start near zero",
              float(late.distances[-1, 0]), ">", 0.1, "", digits=2),
        bound("KKT residual of the point with neurons along (1, 2), (1, -2) and (-1, 0)",
              kkt(fully_connected([2, 3]), theta, X, Y).residual, "<=", 1e-7, "", digits=2),
        fact("limits other than (8) under (OS)", int(weak[0]), 0, tried=int(weak[1])),
        bound("share of other limits where mu < -1/2, lower end of its 95 % interval",
              float(wilson(*strong)[0]), ">", float(wilson(*weak)[1]), "", digits=2),
        *(note(f"share of other limits for mu from {low:g} to {high:g}",
               f"{h} of {t}: {share_interval(int(h), int(t))}")
          for low, high, h, t in zip(EDGES[:-1], EDGES[1:], hits, trials, strict=True)),
        *(carried_on if known else []),
    ]  # fmt: skip


def counts(found: Sequence[Case]) -> list[NDArray]:
    """In every bin of mu: how many learnt data sets have another limit than (8), how many there
    are, and how many of them have several extremal directions of one sign."""
    kept = [case for case in found if case.learnt]
    some = [case for case in kept if case.other], kept, [c for c in kept if c.extremal > 1]
    return [np.histogram([case.mu for case in cases], EDGES)[0] for cases in some]


# --- The records of this page, and how they are read ----------------------------------------------

SEPARABILITY, DATA_SETS = "separability", 200
ONE_DEEP = "one-deep"
"""The first network of "deep", of which Figure 2 shows the rows: it takes some seconds."""


def record_of(name: str, pieces: Pieces, seed: int, device: str = "cpu") -> dict[str, Any]:
    """The surveys of a name in SURVEYS, the data sets of SEPARABILITY (four minutes), ONE_DEEP."""
    from reluflow.networks.torch_threads import one_thread

    with one_thread():
        if name == SEPARABILITY:
            return {"cases": [asdict(case) for case in cases(seed, DATA_SETS, follows=True)]}
        if name == ONE_DEEP:
            return one_deep(train(DEEP, seed, [0])[0])
        found = {
            key: pieces(key, functools.partial(_surveyed, survey, seed))
            for key, survey in progress(SURVEYS[name].items(), len(SURVEYS[name]), name)
        }
    return {"what": "Phuong & Lampert 2021, Section 5", "surveys": found}


def one_deep(run: Run) -> dict[str, Any]:
    """Of a network at its end W_1 and the last layer; of the layers between them the rows in their
    top two singular directions; and `inner_directions`."""
    first, *inner, last = run.end.weights
    kept = [first, *map(top_plane, inner), last]
    return {"weights": [[short(row) for row in W] for W in kept], "inner": inner_directions(run)}


def _surveyed(survey: Survey, seed: int) -> dict[str, Any]:
    return {
        "setting": asdict(survey.setting),
        "networks": [kept(each) for each in courses(survey, seed)],
    }


SHELF = Shelf(
    "04_orthogonal_separability/networks",
    "phuong2021inductive-networks-",
    record_of,
    (*SURVEYS, SEPARABILITY, ONE_DEEP),
)
PARAMETERS = {**SECTION, "scale": SHELF.parameter}


def short(values: Iterable[float]) -> list[float]:
    """Numbers to six digits."""
    return [float(f"{value:.6g}") for value in values]


def of_record(kind: type, kept: Mapping[str, Any]) -> Any:
    """A dataclass from what a record keeps, of which older ones have more."""
    return kind(**{one.name: kept[one.name] for one in fields(kind) if one.name in kept})


def recorded(name: str, shelf: Shelf = SHELF) -> dict[str, list[Course]]:
    """The courses of a record, by the keys of its surveys."""
    facts = shelf.read(name)["surveys"]
    return {key: [Course(tuple(of_record(Seen, {**e, "loss": e["loss"] or np.nan}) for e in looks))
                  for looks in each["networks"]] for key, each in facts.items()}  # fmt: skip


def recorded_cases(shelf: Shelf = SHELF) -> list[Case]:
    return [Case(**each) for each in shelf.read(SEPARABILITY)["cases"]]
