"""The page `networks`: Section 5, Figures 1 and 2."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.approx import approx
from reluflow.geometry.separability import separation
from reluflow.ledger import Evidence, Reading, bound, computed, fact, note
from reluflow.losses import LOGISTIC
from reluflow.margin import limits
from reluflow.margin.kkt import kkt
from reluflow.margin.max_margin import max_margin
from reluflow.networks.indexed import fully_connected
from reluflow.papers.phuong2021inductive.flows import Lost, Start, follow_long
from reluflow.papers.phuong2021inductive.setting import (
    extremal_directions,
    filtered_gaussian,
    in_orthants,
    limit,
    pair_products,
    supported,
)
from reluflow.papers.phuong2021inductive.synthetic_record import (
    DEGREES,
    GAP,
    GROWN,
    HIGH,
    LONG,
    MOST,
    ZERO,
    Course,
    Seen,
    degrees_between,
    file_of,
    units,
)
from reluflow.papers.phuong2021inductive.training import minibatch_ensemble
from reluflow.statistics import share_interval, student_interval, wilson

# --- Figures 1 and 2 of Phuong & Lampert 2021, judged over many seeds -----------------------------
#
# The paper shows one run. A statement about it holds here if most runs show it, in that Wilson's
# 95 % interval for their share lies above one half. The bars are those of `synthetic_record`.


KNOWN = computed("runs at the paper's scale, each with its own data and start")
RECORDED = computed("recorded runs at the paper's scale, each with its own data and start")
CLAIMS_READING = Reading(
    taken="no biases, the mean loss of a batch, weights drawn as PyTorch's linear layer draws them "
    "(uniform, ± 1 over the root of the number of inputs) before the 0.05",
    others="the table of readings has the others: the sum of the losses, Glorot's uniform law and "
    "biases do not change the words that the figures bear out; normal weights of variance 1, and "
    "He's, do",
)
RANK_TWO = Reading(
    taken=f"{CLAIMS_READING.taken}; rank two means that two singular values have become {GROWN:g} "
    "times as large as the largest one at the start, and that no other is larger than that one",
    others="exactly the rank is that of the start, 20 or 100: the others stay as they were. The "
    f"bar set before measuring was that the second be {GAP:g} times the third; W₁ misses it in "
    "every run, at about 2.7, and the rule taken was chosen after that",
)

BARS = "the bars, after two trial runs of each network with other seeds"


def in_most(what: str, hits: Sequence[bool], after: str = "") -> list[Evidence]:
    """That most runs show something, over a list that says which do; `after` as `Evidence` has
    it."""
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
        note(f"runs in which the second is {GAP:g} times the third",
             f"{sum(end.gap() for end in ends)} of {len(ends)}"),
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
        note("share within, the least", min(end.near[0] for end in ends), digits=2),
        note("share sorted by sign, the least", min(end.agreement[0] for end in ends), digits=2),
        note("angle between the two, mean", float(np.mean([end.between[0] for end in ends])),
             "degrees", digits=3),
    ]  # fmt: skip


def high_correlations(runs: Sequence[Course]) -> list[Evidence]:
    """os.fig1c: most neurons have a cosine above 0.9 with the max-margin vector of their sign."""
    return _correlated([run.end for run in runs])


def _correlated(ends: Sequence[Seen]) -> list[Evidence]:
    shares = np.array([end.high for end in ends])
    return [
        *in_most(f"more than half of the neurons have a cosine above {HIGH:g}",
                 (shares > 0.5).tolist()),
        note("share of the neurons: mean over runs, its 95 % interval",
             (float(shares.mean()), *student_interval(shares)), digits=2),
        note("least and largest share", (float(shares.min()), float(shares.max())), digits=2),
        note("median cosine with the mean of the group, mean over runs",
             float(np.mean([end.spread for end in ends])), digits=2),
        note("cosine of that mean with the max-margin vector, mean over runs",
             float(np.mean([end.group for end in ends])), digits=2),
        *control(ends),
        note("mean loss of the last epoch", f"{np.mean([end.loss for end in ends]):.0e}"),
    ]  # fmt: skip


def control(ends: Sequence[Seen]) -> list[Evidence]:
    """The sums of the labels' data in place of the max-margin vectors."""
    far, near = (np.degrees(np.arccos(np.minimum([getattr(end, of) for end in ends], 1.0)))
                 for of in ("group", "sum_group"))  # fmt: skip
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
            note(f"W_{layer + 1}: third over second, the largest", max(s[2] / s[1] for s in ends),
                 digits=2),
            note(f"W_{layer + 1} less its start: the same, the largest",
                 max(run.end.moved[layer] for run in runs), digits=1),
        ]  # fmt: skip
    return found


def deep_directions(
    runs: Sequence[Course], inner: Sequence[Mapping[str, tuple[float, float]]]
) -> list[Evidence]:
    """os.fig2def: the long rows of each hidden layer lie along two directions, as in Figure 1b.
    `inner` are the angles of `synthetic_record.inner_directions` in one run."""
    found = []
    for layer in range(3):
        ends = [run.end for run in runs]
        found += [
            *in_most(f"W_{layer + 1} does, with {MOST:.0%} within {DEGREES:g}°",
                     [_aligned(end, layer) for end in ends], BARS),
            note(f"W_{layer + 1}: angle between the two directions, mean",
                 float(np.mean([end.between[layer] for end in ends])), "degrees", digits=3),
        ]  # fmt: skip
    found += [
        note(f"W_{layer}, one run: angles of the groups' means to the {goal} of the features that "
             "come in", angles, "degrees", digits=2)
        for layer, each in enumerate(inner, start=2) for goal, angles in each.items()
    ]  # fmt: skip
    return found


def deep_correlations(
    runs: Sequence[Course], shallow: Sequence[Course], longer: Sequence[Course]
) -> list[Evidence]:
    """os.fig2g.1: the rows of W_1 correlate with w_+ or w_-, each with the closer, as in Figure 1c.

    shallow   two-layer networks on the same data, in the same order
    longer    four-layer networks that were trained for longer
    """
    gains = np.array([a.end.high - b.end.high for a, b in zip(runs, shallow, strict=False)])
    epochs = longer[0].looks[1].epoch, longer[0].end.epoch
    return [
        *_correlated([run.end for run in runs]),
        note("share less that of the two-layer network on the same data: mean, 95 % interval",
             (float(gains.mean()), *student_interval(gains)), digits=2),
        note(f"share after {epochs[0]} and {epochs[1]} epochs, means",
             _mean([[run.looks[1].high, run.end.high] for run in longer]), digits=2),
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


# --- The data of Section 5.1 of Phuong & Lampert 2021: separable, turned apart, and without
# (Span) -------------------------------------------------------------------------------------------


Sampler = Callable[[int, int, np.random.Generator], tuple[NDArray, NDArray]]
_D, _N, _TIGHT = 20, 500, 1e-6


@dataclass(frozen=True)
class Draw:
    """One data set of 500 in R^20.

    violating  pairs that break (OS), of `pairs`
    degrees    the angle between w_+ and -w_-
    means      the same for the means of the two labels
    ranks      the dimension that the support examples of either label span
    """

    violating: int
    pairs: int
    degrees: float
    means: float
    ranks: tuple[int, int]


def draws(seed: int, count: int, sampler: Sampler = filtered_gaussian) -> list[Draw]:
    """`count` data sets."""
    return [_draw(*sampler(_D, _N, np.random.default_rng([seed, k]))) for k in range(count)]


def _draw(X: NDArray, y: NDArray) -> Draw:
    w, ranks = {}, []
    for sign in (1.0, -1.0):
        own = X[y == sign]
        w[sign] = max_margin(own, np.ones(len(own))).u
        ranks.append(int(np.linalg.matrix_rank(own[own @ w[sign] <= 1.0 + _TIGHT])))
    pairs = pair_products(X, y)
    means = {sign: X[y == sign].mean(axis=0) for sign in (1.0, -1.0)}
    apart, apart_means = (degrees_between(each[1.0], -each[-1.0]) for each in (w, means))
    return Draw(pairs.violating, pairs.pairs, apart, apart_means, (ranks[0], ranks[1]))


def are_separable(seed: int, count: int) -> list[Evidence]:
    """os.data.1: the data are orthogonally separable, with the filter by z and without it."""
    found = draws(seed, count), draws(seed, count, in_orthants)
    return [
        *(fact(f"pairs that break (OS), {name} z", sum(one.violating for one in many), 0,
               tried=sum(one.pairs for one in many))
          for name, many in zip(("with the filter by", "without"), found, strict=True)),
        note("data sets of each", count),
    ]  # fmt: skip


def are_apart(seed: int, count: int) -> list[Evidence]:
    """os.data.2: w_+ is not close to -w_-: farther than neurons may be from a direction that they
    lie along in Figure 1b."""
    kept, free = draws(seed, count), draws(seed, count, in_orthants)
    angles, without = (np.array([one.degrees for one in many]) for many in (kept, free))
    ranks = [rank for one in kept for rank in one.ranks]
    return [
        *in_most(f"w₊ is more than {DEGREES:g}° from -w₋", (angles > DEGREES).tolist()),
        bound("least angle", float(angles.min()), ">", DEGREES, "degrees", digits=2),
        note("angle, mean and its 95 % interval",
             (float(angles.mean()), *student_interval(angles)), "degrees", digits=2),
        note("without the filter", (float(without.mean()), *student_interval(without)), "degrees",
             digits=2),
        note("angle between the mean of one label and minus the other's, with and without",
             (float(np.mean([one.means for one in kept])),
              float(np.mean([one.means for one in free]))), "degrees", digits=2),
        note("dimension that the support examples of a label span, of 20: least, mean, largest",
             (min(ranks), float(np.mean(ranks)), max(ranks)), digits=2),
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
_PLANE_NORM, _PLANE_NEURONS, _TIME = 1e-2, 6, 100.0
STEPS_AND_BALANCE_READING = Reading(
    taken="a small step is one that multiplies a neuron near zero by less than two; not crucial "
    "means that networks which learn both labels have the limit (8)",
    others="where |a_j| < |w_j| signs of a_j change, in the flow, too: Lemma A.4 goes, and with it "
    "who is dead. A hundred times the paper's rate sets long neurons against their a_j, and more "
    "diverges",
)


@dataclass(frozen=True)
class Ended:
    """Where one network went.

    loss      of the data after the descent
    distance  of (8) in the limit of the flow from there; NaN where none was confirmed
    learnt    whether the limit serves both labels
    flipped   how many of the a_j changed their sign
    """

    loss: float
    distance: float
    learnt: bool
    flipped: int


def ended(seed: int, step: float, ratio: float, count: int) -> list[Ended]:
    """Descent with this step in full batches from |w_j| = 0.01 and |a_j| = ratio |w_j|, on
    data in the plane that satisfy (OS) and (Span); and the limit of the flow from where it ends.

    Descent takes a time of 100 in steps of the given size, at least a hundred of them.
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        item = supported(2, (2, 2), rng)
        X, y = item["X"] / np.linalg.norm(item["X"], axis=1).mean(), item["y"]
        W = _PLANE_NORM * units(rng.standard_normal((_PLANE_NEURONS, 2)))
        a = ratio * np.linalg.norm(W, axis=1) * np.tile([1.0, -1.0], _PLANE_NEURONS // 2)
        steps = max(100, round(_TIME / step))
        ((_, (V, b), loss),) = minibatch_ensemble(
            [W[None], a[None, None]], X[None], y[None], step, len(y), [steps], [rng], mean=False
        )
        flipped = int(np.sum(np.sign(b[0, 0]) != np.sign(a)))
        found.append(Ended(float(len(y) * loss[0]), *_limit(X, y, V[0], b[0, 0]), flipped))
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
    return limit(X, y).distances(V / lengths[:, None], np.log(lengths), np.sign(b))[0], True


def survives(
    seed: int,
    count: int,
    rates: Mapping[str, Sequence[Course]],
    outer: Mapping[str, Sequence[Course]],
) -> list[Evidence]:
    """os.assumptions.3: with constant steps, and neurons that are not balanced, networks still come
    to the limit (8); in Section 5.1's setting over `rates` and factors of the last layer, `outer`,
    and in the plane in the limit itself."""
    stepped = {step: ended(seed, step, 1.0, count) for step in STEPS}
    uneven = {ratio: ended(seed, 0.05, ratio, count) for ratio in RATIOS}
    each = [one for many in (*stepped.values(), *uneven.values()) for one in many]
    learnt = [one for one in each if one.learnt]
    small = [course for rate in ("0.01", "0.1", "1") for course in rates[rate]]
    moved = [course for factor in outer for course in outer[factor] if float(factor) <= 100.0]
    return [
        fact("in the plane: networks that learn both labels and have another limit than (8)",
             sum(not one.distance <= NEAR for one in learnt), 0, tried=len(learnt)),
        note("networks that leave a label without neurons", len(each) - len(learnt)),
        note(f"a_j that change their sign where |a_j| / |w_j| is {RATIOS}",
             tuple(sum(one.flipped for one in many) for many in uneven.values())),
        note("neurons of each", _PLANE_NEURONS * count),
        *in_most("rates 0.01, 0.1, 1: more than half of the neurons have a cosine above 0.9",
                 [course.end.high > 0.5 for course in small]),
        *in_most("last layer times 0.001 to 100: the same",
                 [course.end.high > 0.5 for course in moved]),
        bound("largest gap between the median shares of rates 0.01 and 1",
              abs(_middle(rates["0.01"], "high") - _middle(rates["1"], "high")), "<=", 0.05, "",
              digits=2),
        note(f"by rate {tuple(rates)}: median share above 0.9", _by(rates, "high"), digits=2),
        note("by rate: median distance of (8)", _by(rates, "distance"), digits=2),
        note("by rate: median share of long neurons nearer to the other sign's vector",
             _by(rates, "astray"), digits=2),
        note(f"by factor {tuple(outer)}: median share above 0.9", _by(outer, "high"), digits=2),
        note("by factor: median share of the a_j that change their sign",
             _by(outer, "flipped"), digits=2),
    ]  # fmt: skip


def _middle(courses: Sequence[Course], field: str) -> float:
    return float(np.median([getattr(course.end, field) for course in courses]))


def _by(surveys: Mapping[str, Sequence[Course]], field: str) -> tuple[float, ...]:
    return tuple(_middle(courses, field) for courses in surveys.values())


# --- Linearly separable data that break (OS), and what becomes of Theorem 1 on them ---------------
#
# The dial is mu, the least cosine of two of the y_i x_i: (OS) is mu >= 0, up to right angles within
# a label, and data whose y_i x_i lie in a half-space are linearly separable for every mu > -1.
#
# Why it fails: let x_k have a negative product with every other datum. A neuron that is active on
# x_k alone moves along x_k, which leaves all others off: it stays alone, with x_k as its limit
# direction.


EDGES = (-1.0, -0.75, -0.5, -0.25, 0.0, 1.0)
"""Of bins of mu; the last one is (OS)."""
LEARNT, SAME = 0.1, 1e-2
"""A loss below the first is learnt; a limit within the second of (8), where L = e^(-1e6), is it."""
_CASE_NEURONS, _DATA, _CASE_D = 8, 6, 3
_CASE_NORM, _STEP, _STEPS = 1e-3, 0.2, 4000
_REACH = 1e4

X = np.array([[1.0, 2.0], [1.0, -2.0], [-3.0, 1.0], [-3.0, -1.0]])
Y = np.array([1.0, 1.0, -1.0, -1.0])
NEURONS = np.array([[1.0, 2.0], [1.0, -2.0], [-1.0, 0.0]])
SIGNS = np.array([1.0, 1.0, -1.0])
ACROSS = np.array([[4.0, 3.0], [4.0, -3.0], [-2.0, 3.0], [-2.0, -1.0]])
"""Data with the labels Y that break (OS) in one pair, and have the limit (8)."""
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
    partial   whether a long neuron is off a datum of its label
    feasible  whether the function of w_+ and w_-, [<w_+, x>]_+ - [<w_-, x>]_+, has margin 1
    loss      at the end of descent
    distance  of (8) where the flow from there has L = e^(-1e6); None if it was not followed
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
        """Whether the loss is small."""
        return self.loss < LEARNT


def half_space(rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """X (6, 3), y (6,) with the y_i x_i at angles of 0 to 90 degrees from one axis, evenly, of
    lengths 1/2 to 2; labels in turn."""
    angles = rng.uniform(0.0, np.pi / 2, _DATA)
    around = units(rng.standard_normal((_DATA, _CASE_D - 1)))
    Z = np.column_stack([np.cos(angles), np.sin(angles)[:, None] * around])
    y = np.where(np.arange(_DATA) % 2 == 0, 1.0, -1.0)
    return (y * rng.uniform(0.5, 2.0, _DATA))[:, None] * Z, y


def cases(seed: int, count: int, follows: bool = False) -> list[Case]:
    """`count` data sets and networks by descent in full batches; `follows` goes on by the flow."""
    rng = np.random.default_rng(seed)
    drawn = [half_space(rng) for _ in range(count)]
    X, y = (np.array(part) for part in zip(*drawn, strict=True))
    W = _CASE_NORM * units(rng.standard_normal((count, _CASE_NEURONS, _CASE_D)))
    signs = np.where(np.arange(_CASE_NEURONS) % 2 == 0, 1.0, -1.0)
    a = np.broadcast_to(_CASE_NORM * signs, (count, 1, _CASE_NEURONS))
    ends = minibatch_ensemble([W, a], X, y, _STEP, _DATA, [_STEPS], [rng] * count, mean=False)
    ((_, (W, a), loss),) = ends
    return [
        Case(
            separation(X[k], y[k]),
            max(len(extremal_directions(X[k], y[k], sign)) for sign in (1.0, -1.0)),
            partial(X[k], y[k], W[k], a[k, 0]),
            feasible(X[k], y[k]),
            float(_DATA * loss[k]),
            distance(X[k], y[k], W[k], a[k, 0]) if follows else None,
        )
        for k in range(count)
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


def alone(X: NDArray, y: NDArray, k: int) -> bool:
    """Whether datum k has a negative product with every other one: exact for whole numbers."""
    products = X @ X[k]
    return bool(np.all(np.delete(products, k) < 0.0))


def linear_is_not_enough(found: Sequence[Case]) -> list[Evidence]:
    """os.assumptions.2: linearly separable data that break (OS), on which Theorem 1 fails; and how
    often it does, from data that hardly break it to those that strongly do."""
    late = follow_long(Start(X, Y, units(NEURONS), np.full(3, -20.0), SIGNS))
    survivor = follow_long(Start(ACROSS, Y, units(ACROSS), np.full(4, -20.0), Y), _REACH)
    assert late is not None
    assert survivor is not None
    sizes = np.array([5.0**-0.25, 5.0**-0.25, 3.0**-0.5])
    theta = np.append((sizes[:, None] * units(NEURONS)).ravel(), sizes * SIGNS)
    hits, trials = counts(found)
    weak, strong = (hits[-1], trials[-1]), (hits[:2].sum(), trials[:2].sum())
    return [
        fact("instance: y_i ⟨e₁, x_i⟩ > 0 for all data", bool(np.all(Y * X[:, 0] > 0.0)), True),
        fact("pairs of it that break (OS)", broken(X, Y), 1),
        fact("each of its first two data has negative products with all others (whole numbers)",
             alone(X, Y, 0) and alone(X, Y, 1), True),
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
        fact("another instance: pairs that break (OS)", broken(ACROSS, Y), 1),
        bound("its distance of (8) where L = e^(-1e4)", float(survivor.distances[-1, 0]), "<=",
              SAME, "", digits=2),
        *_followed(found),
    ]  # fmt: skip


def _followed(found: Sequence[Case]) -> list[Evidence]:
    known = [(case, case.distance) for case in found if case.distance is not None and case.learnt]
    if not known:
        return []
    same = sum(case.other == (far > SAME) for case, far in known)
    held = sum(case.mu < 0.0 and far <= SAME for case, far in known)
    return [
        note("flows followed on to L = e^(-1e6), and among them those that agree",
             (len(known), same)),
        note("flows on data that break (OS), with the limit (8) after all", held),
    ]  # fmt: skip


def broken(X: NDArray, y: NDArray) -> int:
    """How many pairs break (OS)."""
    return pair_products(X, y).violating


def counts(found: Sequence[Case]) -> tuple[NDArray, NDArray]:
    """In every bin of mu: how many learnt data sets have another limit than (8), and how many there
    are."""
    kept = [case for case in found if case.learnt]
    mu, other = np.array([case.mu for case in kept]), np.array([case.other for case in kept])
    trials, hits = np.histogram(mu, EDGES)[0], np.histogram(mu[other], EDGES)[0]
    return hits, trials


def record(seed: int = 0, count: int = 200) -> None:
    """Write the record; takes four minutes of one core."""
    kept = [asdict(case) for case in cases(seed, count, follows=True)]
    facts = {"command": "python -m reluflow.papers.phuong2021inductive.networks",
             "seed": seed, "cases": kept}  # fmt: skip
    file_of("separability").write_text(json.dumps(facts).replace("}, ", "},\n") + "\n", "utf-8")


def recorded() -> list[Case]:
    """The cases of the record."""
    facts = json.loads(file_of("separability").read_text(encoding="utf-8"))
    return [Case(**each) for each in facts["cases"]]


if __name__ == "__main__":
    record()
