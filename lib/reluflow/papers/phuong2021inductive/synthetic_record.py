"""`python -m reluflow.papers.phuong2021inductive.synthetic_record [NAME ...]`: Section 5."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reluflow import parameters
from reluflow.approx import approx
from reluflow.errors import InputError
from reluflow.networks.dense import one_thread
from reluflow.papers.phuong2021inductive.convolutional_record import top_plane
from reluflow.papers.phuong2021inductive.flows import Late, Start
from reluflow.papers.phuong2021inductive.setting import Limit, filtered_gaussian, limit
from reluflow.papers.phuong2021inductive.training import features, minibatch_ensemble, shapes
from reluflow.places import RECORDS as FOLDER

# --- The two directions nearest to which vectors lie, exactly -------------------------------------


def two_directions(P: NDArray) -> tuple[NDArray, NDArray]:
    r"""Two of the vectors P (n, d) whose directions e_1, e_2 maximise
    $\sum_i |p_i| \max_k \cos(p_i, e_k)$: long vectors count more. All pairs are tried.

    Returns the unit vectors (2, d) and which of the two each p_i is nearer to, (n,).
    Raises InputError for fewer than two vectors, or one that is 0.
    """
    lengths = np.linalg.norm(P, axis=1)
    if len(P) < 2 or not np.all(lengths > 0.0):
        raise InputError("two directions need at least two vectors, none of them 0.")
    U = P / lengths[:, None]
    C = U @ U.T
    best, pair = -np.inf, (0, 1)
    for i in range(len(P) - 1):
        sums = lengths @ np.maximum(C[:, i : i + 1], C[:, i + 1 :])
        k = int(sums.argmax())
        if sums[k] > best:
            best, pair = float(sums[k]), (i, i + 1 + k)
    rows = list(pair)
    return U[rows], C[:, rows].argmax(axis=1)


# --- What Figures 1 and 2 of Phuong & Lampert 2021 show of a matrix of neurons, as numbers --------
#
# The bars are round numbers, set after two trial runs of each network with other seeds, before the
# surveys. A row is long if it is longer than LONG of the longest, or one of the two longest. That
# the second singular value be GAP times the third was the first bar for rank two. It asks how far
# the two columns are apart, which w_+ and w_- decide, and W_1 of the four-layer net misses it by a
# little; so it is reported, and what decides is what training did: GROWN says by how much the two
# have outgrown the start.


ZERO = 0.1
"""Parts of the largest singular value below this are effectively 0, the bar for Figure 4a."""
GAP, GROWN = 3.0, 2.0
LONG, DEGREES, MOST = 1 / 3, 10.0, 0.9
"""Rows lie along two directions if MOST of the long ones are within DEGREES of the nearer one."""
HIGH = 0.9
"""A high correlation, by the paper."""


def singular(W: NDArray) -> NDArray:
    """The singular values of W, largest first."""
    return np.asarray(np.linalg.svd(W, compute_uv=False))


def units(W: NDArray) -> NDArray:
    """The rows of W over their lengths."""
    return np.asarray(W / np.linalg.norm(W, axis=-1, keepdims=True))


class Alignment(NamedTuple):
    """The rows of W in the plane of its top two singular directions, where their main directions
    are the `two_directions` of the long ones.

    near       the share of the long rows within DEGREES of the nearer direction
    between    the angle between the two directions, in degrees
    agreement  the share of the long rows that the two directions sort as the signs do
    long       (p,) whether a row is long
    """

    near: float
    between: float
    agreement: float
    long: NDArray


def alignment(W: NDArray, positive: NDArray) -> Alignment:
    """How the rows of W (p, d) lie in its top two singular directions, and the signs (p,) there."""
    plane = top_plane(W)
    lengths = np.linalg.norm(W, axis=1)
    long = lengths >= min(LONG * lengths.max(), np.sort(lengths)[-2])
    directions = two_directions(plane[long])[0]
    cosines = (units(plane) @ directions.T)[long]
    degrees = np.degrees(np.arccos(np.clip(cosines.max(axis=1), -1.0, 1.0)))
    between = np.degrees(np.arccos(np.clip(np.prod(directions, axis=0).sum(), -1, 1)))
    same = float(np.mean((cosines.argmax(axis=1) == 0) == positive[long]))
    return Alignment(
        float(np.mean(degrees <= DEGREES)), float(between), max(same, 1.0 - same), long
    )


def correlations(W: NDArray, goal: Limit, signs: NDArray | None = None) -> NDArray:
    """The cosines (p,) of the rows of W with w_+ where the sign is positive and w_- where it is
    not; without signs, with the closer of the two."""
    both = np.array([units(W) @ w / np.linalg.norm(w) for w in
                     (goal.vectors[1.0], goal.vectors[-1.0])])  # fmt: skip
    if signs is None:
        return np.asarray(both.max(axis=0))
    return np.where(signs > 0.0, *both)


# --- Section 5: networks of two and of four layers on filtered Gaussians --------------------------
#
# Not printed, and so parameters here: from which law the weights are drawn that are then multiplied
# by 0.05, whether the loss of a batch is a mean or a sum, and whether neurons have biases.


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
    layers = shapes(setting.depth, setting.width, setting.d + setting.biases)
    found = [setting.scale * LAWS[setting.law](rng, shape) for shape in layers]
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
        found.append({name: (degrees_between(means[1.0], goal[1.0]),
                             degrees_between(means[-1.0], goal[-1.0]))
                      for name, goal in goals.items()})  # fmt: skip
    return found


def degrees_between(v: NDArray, w: NDArray) -> float:
    """The angle between two vectors."""
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


# --- What is kept of a network of Section 5 of Phuong & Lampert 2021, live or from a record -------


SPECTRUM = 10


@dataclass(frozen=True)
class Seen:
    """A network after some epochs. Lists with an entry a layer are of W_1 to W_(L-1).

    singular  the ten largest singular values of each layer
    moved     the third singular value of W_l - W_l(0) over the second, 0 at the start
    near, between, agreement  as in `Alignment`; the last one with the sign of the last layer
    cosines   of each row of W_1 with w_+ or w_-, by the sign of a_j for two layers, else the
              closer; a record keeps those of the last look
    high      the share of them that the paper calls high
    group     the cosines of the mean of the rows with a_j > 0 and w_+, and of the others and w_-
    spread    the median cosine of a row of W_1 with the mean of its group
    distance  of W_1 from eq (8)
    flipped   the share of the a_j whose sign is not that of the start
    astray    the share of the long rows of W_1 that are nearer to the other sign's vector
    balance   sum |a_j^2 - |w_j|^2| over sum |w_j|^2
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
    distance: float
    flipped: float
    astray: float
    balance: float
    sum_high: float = np.nan
    sum_group: list[float] = field(default_factory=list)

    def clear(self, layer: int = 0) -> int:
        """How many singular values are at least ZERO of the largest."""
        s = np.array(self.singular[layer])
        return int(np.sum(s >= ZERO * s[0]))

    def gap(self, layer: int = 0) -> bool:
        """Whether the second singular value is GAP times the third."""
        s = self.singular[layer]
        return s[1] >= GAP * s[2]


@dataclass(frozen=True)
class Course:
    """One network along its training, the first look at the start."""

    looks: tuple[Seen, ...]

    @property
    def start(self) -> Seen:
        """Before training."""
        return self.looks[0]

    @property
    def end(self) -> Seen:
        """After it."""
        return self.looks[-1]

    def after(self, epoch: int) -> Seen:
        """The look after that many epochs."""
        return next(look for look in self.looks if look.epoch == epoch)

    def rank_two(self, layer: int = 0) -> bool:
        """Whether two singular values of a layer have become GROWN times as large as its largest
        one at the start, and all others are no larger than that."""
        level, s = self.start.singular[layer][0], self.end.singular[layer]
        return s[1] >= GROWN * level and s[2] <= level * (1.0 + ROUNDED)


ROUNDED = 0.05
"""By so much a singular value at the level of the start may exceed it."""


def course(run: Run) -> Course:
    """What is kept of a run."""
    sums = Limit({sign: run.X[run.y == sign].sum(axis=0) for sign in (1.0, -1.0)})
    return Course(tuple(seen(look, run.looks[0], run.limit, sums) for look in run.looks))


def seen(look: Look, start: Look, goal: Limit, sums: Limit) -> Seen:
    """What is kept of a look; `sums` has the sums of the labels' data in place of w_+ and w_-."""
    hidden, positive = look.weights[:-1], look.a > 0.0
    found = [alignment(W, positive) for W in hidden]
    lengths = np.linalg.norm(look.W, axis=1)
    longest = lengths.max()
    signs = np.where(positive, 1.0, -1.0)
    groups = {s: look.W[signs == s].sum(axis=0) for s in (1.0, -1.0)}
    mine = np.array([groups[s] for s in signs])
    own = signs if len(hidden) == 1 else None
    cosines = correlations(look.W, goal, own)
    return Seen(
        epoch=look.epoch,
        loss=look.loss,
        singular=[singular(W)[:SPECTRUM].tolist() for W in hidden],
        moved=[_third(W - V) for W, V in zip(hidden, start.weights, strict=False)],
        near=[each.near for each in found],
        between=[each.between for each in found],
        agreement=[each.agreement for each in found],
        cosines=cosines.tolist(),
        high=float(np.mean(cosines > HIGH)),
        group=[float(units(groups[s]) @ units(goal.vectors[s])) for s in (1.0, -1.0)],
        spread=float(np.median(np.sum(units(look.W) * units(mine), axis=1))),
        distance=goal.distances(units(look.W), np.log(lengths), signs)[0],
        flipped=float(np.mean(positive != (start.a > 0.0))),
        astray=float(np.mean((cosines < correlations(look.W, goal))[found[0].long])),
        balance=float(
            np.abs((look.a / longest) ** 2 - (lengths / longest) ** 2).sum()
            / np.sum((lengths / longest) ** 2)
        ),
        sum_high=float(np.mean(correlations(look.W, sums, own) > HIGH)),
        sum_group=[float(units(groups[s]) @ units(sums.vectors[s])) for s in (1.0, -1.0)],
    )


def _third(change: NDArray) -> float:
    s = singular(change)
    return float(s[2] / s[1]) if s[1] > 0.0 else 0.0


def kept(found: Course) -> list[dict[str, Any]]:
    """A course as a record keeps it, to four digits."""
    *before, last = found.looks
    return [_short(asdict(look))
            for look in (*(replace(look, cosines=[]) for look in before), last)]  # fmt: skip


def from_record(looks: Sequence[Mapping[str, Any]]) -> Course:
    """A course from a record."""
    return Course(tuple(Seen(**{**look, "loss": look["loss"] or np.nan}) for look in looks))


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_short(each) for each in value]
    if not isinstance(value, float):
        return value
    return float(f"{value:.4g}") if np.isfinite(value) else None


# --- `python -m reluflow.papers.phuong2021inductive.synthetic_record [NAME ...]` ------------------
#
# "deep" is the four-layer net, "readings" and "scales" train the two-layer one under other readings
# and from other sizes of the start, "steps" and "balance" with other rates and layers of other
# sizes, "long" goes on for longer. All take seven minutes of one core.


SCALES = (1.0, 0.2, 0.05, 0.01, 0.001)
RATES = (0.01, 0.1, 1.0, 3.0, 10.0)
"""With as many epochs that the product is the paper's. At a rate of 30 descent diverges."""
OUTER = (1e-3, 1.0, 10.0, 100.0, 1000.0)
"""Further factors of the last layer; at 10 the |a_j| are about as large as the |w_j|."""
SEED = 0


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


def file_of(name: str) -> Path:
    """Where a record lies."""
    return FOLDER / f"phuong2021inductive-networks-{name}.json"


def courses(survey: Survey) -> list[Course]:
    """Train the networks of a survey."""
    return [
        course(run) for run in train(survey.setting, SEED, range(survey.networks), survey.epochs)
    ]


def record(name: str) -> dict[str, Any]:
    """Train, and write the record."""
    with one_thread():
        facts = {
            "what": "Phuong & Lampert 2021, Section 5",
            "command": f"python -m reluflow.papers.phuong2021inductive.synthetic_record {name}",
            "versions": {"python": platform.python_version(), "numpy": np.__version__},
            "seed": SEED,
            "surveys": {
                key: {"setting": asdict(survey.setting), "networks": list(map(kept, found))}
                for key, survey in SURVEYS[name].items()
                if (found := courses(survey))
            },
        }
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(facts).replace(', "', ',\n"')
    file_of(name).write_text(text + "\n", "utf-8")
    return facts


def recorded(name: str) -> dict[str, list[Course]]:
    """The courses of a record, by the keys of its surveys."""
    facts = json.loads(file_of(name).read_text(encoding="utf-8"))["surveys"]
    return {key: [from_record(looks) for looks in each["networks"]] for key, each in facts.items()}


if __name__ == "__main__":
    for each in parameters.asked(sys.argv[1:], SURVEYS):
        record(each)
