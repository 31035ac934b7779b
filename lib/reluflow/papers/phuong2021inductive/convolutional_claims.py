"""Appendix D of Phuong & Lampert 2021, judged on the record of its run at full scale.

The bars are round numbers, set when a fifth of the run was over. In a figure a share of pairs below
SHOWN is not seen; a singular value is clearly not 0 where it is at least CLEAR of the largest; a
cluster has a sign where PURE of its neurons have it, and none where at least MIXED of them have
either. That clusters are those around medoids was chosen after a look: k-means, meant at first,
passes the same bars, but spends a cluster on stray neurons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import kendalltau

from reluflow.geometry.medoids import three_medoids
from reluflow.geometry.pair_products import ACROSS, MINUS, PLUS
from reluflow.ledger import Evidence, Reading, bound, computed, fact, note
from reluflow.papers.phuong2021inductive.convolutional import AFTER, BEFORE, FIRST
from reluflow.papers.phuong2021inductive.convolutional_shown import Pairs, Shown
from reluflow.papers.phuong2021inductive.table_1 import PRINTED, network

SHOWN, CLEAR, PURE, MIXED = 0.01, 0.1, 0.9, 0.1
MOST = 10
"""Singular values that are still "very few, perhaps five or ten"."""
KNOWN = computed("a recorded run at the paper's scale")
_CHOICES = (
    "Adam's rate is 0.001, pixels go from 0 to 1, all layers have biases, and the 0.05 is for "
    "weights alone"
)
READING = Reading(
    taken=f"{_CHOICES}; a layer's features are what it gives before the ReLU, as eq (30) "
    "defines them",
    others="the table of readings has the other choices, and the figures both sides of the ReLU",
)

SEPARABLE_READING = Reading(
    taken=f"{READING.taken}; separable as far as a figure shows, up to a hundredth of the pairs",
    others="to the letter it is false in every run. After the ReLU no inner product is negative, "
    "so that separability would need exact zeros across the classes, and a fifth of them or more "
    "are none. It takes its time, which depends on the start: another seed has ten times as many "
    "violating pairs after as many epochs",
)


def sizes_fit() -> list[Evidence]:
    """os.tab1: the six convolutions leave as many features as the first fully connected layer asks
    for; by their formula, and by a blank image sent through."""
    net = network(28)
    blank = torch.zeros(1, 1, 28, 28)
    weights = net.start(np.random.default_rng(0))
    sent = net.features(weights, blank)[len(net.convolutions) - 1].numel()
    return [
        fact("features by the formula for strides and paddings", net.flat, PRINTED[0]),
        fact("features of an image sent through", sent, PRINTED[0]),
        note("rows of the images behind each convolution", tuple(net.sides)),
        note("weights and biases", sum(w.numel() for w in weights)),
        note("multiplications for one image", net.products),
    ]


def same_class_to_the_right(run: Shown) -> list[Evidence]:
    """os.fig3.1: at every layer the inner products within a class lie to the right of those across,
    in that a pair of one class, either with one half, more likely than not has the larger one."""
    layers = run.before()[1:]
    by_class = [pairs.right[kind] for pairs in layers for kind in (PLUS, MINUS)]
    return [
        *_of(run),
        *(bound(f"layer {k}: chance that a pair of one class lies to the right",
                pairs.chance, ">", 0.5, "", digits=2) for k, pairs in enumerate(layers, start=1)),
        note("by layer and class, where the chance is below one half",
             f"{sum(c < 0.5 for c in by_class)} of {len(by_class)}"),
        note(f"layer {FIRST}: chances for the digits 1 and 0",
             tuple(layers[-1].right[kind] for kind in (PLUS, MINUS)), digits=2),
        note("pixels: the same", tuple(run.before()[0].right[kind] for kind in (PLUS, MINUS)),
             digits=2),
    ]  # fmt: skip


def layers_separate(run: Shown) -> list[Evidence]:
    """os.fig3.2: from layer to layer the inner products within a class generally move to the right,
    those across to the left, and the two come apart; in units of the mean of |f|^2, by Kendall's
    correlation with the layer, the pixels being layer 0."""
    layers = run.before()
    courses = courses_of(layers)
    return [
        *_of(run),
        *(bound(f"correlation with the layer: {name}", _kendall(values), *bar, "", digits=2)
          for (name, values), bar in zip(courses.items(), _DIRECTIONS, strict=True)),
        *(bound(f"{name}, layer {FIRST} less the pixels",
                values[-1] - values[0], *bar, "", digits=2)
          for (name, values), bar in zip(courses.items(), _DIRECTIONS, strict=True)),
        *(note(f"{name}, pixels and layers 1 to {FIRST}", tuple(values), digits=2)
          for name, values in courses.items()),
        note("mean after the ReLU within a class, and across, layers 1 to 7",
             tuple((each[AFTER].within, each[AFTER].means[ACROSS]) for each in run.layers[1:]),
             digits=2),
    ]  # fmt: skip


_DIRECTIONS = ((">", 0.0), (">", 0.0), ("<", 0.0))


def courses_of(layers: Sequence[Pairs]) -> dict[str, list[float]]:
    """What should grow with the layer, the first two, and what should fall, the third."""
    return {
        "chance that a pair of one class lies to the right": [pairs.chance for pairs in layers],
        "mean within a class": [pairs.within for pairs in layers],
        "mean across the classes": [pairs.means[ACROSS] for pairs in layers],
    }


def separable_features(run: Shown, others: Mapping[str, Shown]) -> list[Evidence]:
    """os.fig3.3: the features of layer 7 are orthogonally separable, as far as a figure shows: of
    all pairs of the images trained on, less than a hundredth violate (OS). `others` are runs as
    long from other starts, by name."""
    before, after = (run.whole["train"][side] for side in (BEFORE, AFTER))
    return [
        *_of(run),
        bound("share of all pairs that violate (OS), before the ReLU", before.share, "<", SHOWN, "",
              digits=2),
        note("these pairs, and all", (before.violating, before.number)),
        note("of them within a class, and across",
             (before.violating - before.violations[ACROSS], before.violations[ACROSS])),
        note("images to leave out so that the others are orthogonally separable: at least, at most",
             run.left_out["train"]),
        note("share after the ReLU", after.share, digits=2),
        note("share across the classes that is exactly 0 after the ReLU",
             1.0 - after.violations[ACROSS] / after.pairs[ACROSS], digits=2),
        note("share after layer 6's ReLU, which is what W_7 is given",
             run.layers[FIRST - 1][AFTER].share, digits=2),
        note("share on test images, before and after",
             tuple(run.whole["test"][side].share for side in (BEFORE, AFTER)), digits=2),
        *(bound(f"{name}: share before the ReLU", other.whole["train"][BEFORE].share, "<", SHOWN,
                "", digits=2) for name, other in others.items()),
        *(note(f"{name}: share after the ReLU", other.whole["train"][AFTER].share, digits=2)
          for name, other in others.items()),
    ]  # fmt: skip


def few_singular_values(run: Shown, synthetic: NDArray) -> list[Evidence]:
    """os.fig4a: W_7 has more than two and at most ten singular values that are clearly not 0; its
    widest gap among the first ten is narrower than the gap behind the second of the `synthetic`
    ones, those of the network of Section 5.1."""
    s = run.singular
    gaps = s[:MOST] / s[1 : MOST + 1]
    gap = float(synthetic[1] / synthetic[2])
    return [
        *_of(run),
        bound(f"singular values of at least {CLEAR:g} of the largest", clear(s), "<=", MOST, ""),
        bound("the same", clear(s), ">", 2, ""),
        bound("widest gap among the ten largest, the larger over the smaller", float(gaps.max()),
              "<", gap, "", digits=2),
        note("after how many it is", int(gaps.argmax()) + 1),
        note("of at least 0.2, 0.05 and 0.02 of the largest",
             tuple(clear(s, level) for level in (0.2, 0.05, 0.02))),
        note("the ten largest", tuple(s[:MOST]), digits=3),
        note("the four largest of the network of Section 5.1", tuple(synthetic[:4]), digits=2),
    ]  # fmt: skip


def clear(singular: NDArray, level: float = CLEAR) -> int:
    """How many singular values are at least `level` of the largest."""
    return int((singular >= level * singular.max()).sum())


def three_clusters(run: Shown, seed: int) -> list[Evidence]:
    """os.fig4b: the neurons, in the top two singular directions of W_7, form three clusters: one
    near the origin in which signs of W_8 are mixed, and one for either sign. The clustering knows
    the number 3 and the points; k-means, drawn with the seed, stands beside it."""
    near, sides = clusters(run.plane, run.second)
    shares = [float((run.second[rows] > 0).mean()) for rows in (near, *sides)]
    signs = sorted(shares[1:])
    means, means_sides = by_means(run.plane, run.second, seed)
    return [
        *_of(run),
        bound("the far cluster of positive entries of W_8: their share in it",
              signs[1], ">=", PURE, "", digits=2),
        bound("the far cluster of negative entries: their share in it",
              1 - signs[0], ">=", PURE, "", digits=2),
        bound("the near cluster: share of the rarer sign",
              min(shares[0], 1 - shares[0]), ">=", MIXED, "", digits=2),
        note("neurons in the near cluster and in the two others",
             tuple(int(rows.sum()) for rows in (near, *sides))),
        note("neurons with positive entries, of all",
             (int((run.second > 0).sum()), len(run.second))),
        note("median distance from the origin, near and far",
             tuple(float(np.median(np.linalg.norm(run.plane[rows], axis=1)))
                   for rows in (near, *sides)), digits=2),
        note("k-means: neurons near and in the two others, and shares of positive entries",
             (tuple(int(rows.sum()) for rows in (means, *means_sides)),
              tuple(float((run.second[rows] > 0).mean()) for rows in (means, *means_sides))),
             digits=2),
    ]  # fmt: skip


Groups = tuple[NDArray, list[NDArray]]


def clusters(plane: NDArray, second: NDArray) -> Groups:
    """Three clusters of points (h, 2) around medoids: which rows are in the one nearest to the
    origin, and which in either of the others, the one with more positive W_8 first."""
    rows, labels = three_medoids(plane)
    return _ordered(plane[rows], labels, second)


def by_means(plane: NDArray, second: NDArray, seed: int) -> Groups:
    """The same by k-means."""
    from sklearn.cluster import KMeans

    found = KMeans(3, n_init=20, random_state=seed).fit(plane)
    return _ordered(found.cluster_centers_, found.labels_, second)


def _ordered(centres: NDArray, labels: NDArray, second: NDArray) -> Groups:
    near = int(np.linalg.norm(centres, axis=1).argmin())
    rows = [labels == k for k in range(3)]
    sides = [row for k, row in enumerate(rows) if k != near]
    return rows[near], sorted(sides, key=lambda row: -(second[row] > 0).mean())


def _kendall(values: Sequence[float]) -> float:
    return float(kendalltau(range(len(values)), values).statistic)


def _of(run: Shown) -> list[Evidence]:
    setting = run.setting
    return [
        note("images, epochs, steps", (run.images, setting.epochs, int(run.steps[-1]))),
        note("seed", run.seed),
        note("mean loss in the last epoch", f"{run.losses[-1]:.1g}"),
        note("errors", ", ".join(f"{part} {count}" for part, count in run.errors.items())),
    ]
