"""Figures 1 and 2 of Phuong & Lampert 2021, judged over many seeds.

The paper shows one run. A statement about it holds here if most runs show it, in that Wilson's
95 % interval for their share lies above one half. The bars are those of `alignments`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from reluflow.approx import approx
from reluflow.ledger import Evidence, Reading, bound, computed, note
from reluflow.papers.phuong2021inductive.alignments import DEGREES, GAP, GROWN, HIGH, MOST, ZERO
from reluflow.papers.phuong2021inductive.synthetic_seen import Course, Seen
from reluflow.statistics import share_interval, student_interval, wilson

KNOWN = computed("runs at the paper's scale, each with its own data and start")
RECORDED = computed("recorded runs at the paper's scale, each with its own data and start")
READING = Reading(
    taken="no biases, the mean loss of a batch, weights drawn as PyTorch's linear layer draws them "
    "(uniform, ± 1 over the root of the number of inputs) before the 0.05",
    others="the table of readings has the others: the sum of the losses, Glorot's uniform law and "
    "biases do not change the words that the figures bear out; normal weights of variance 1, and "
    "He's, do",
)
RANK_TWO = Reading(
    taken=f"{READING.taken}; rank two means that two singular values have become {GROWN:g} times "
    "as large as the largest one at the start, and that no other is larger than that one",
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
    `inner` are the angles of `synthetic.inner_directions` in one run."""
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
