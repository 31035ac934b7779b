"""Appendix D of Phuong & Lampert 2021, judged on the record of its run at full scale.

The bars are round numbers, set when a fifth of the run was over. In a figure a share of pairs below
SHOWN is not seen; a singular value is clearly not 0 where it is at least CLEAR of the largest; a
cluster has a sign where PURE of its neurons have it, and none where at least MIXED of them have
either. That clusters are those around medoids was chosen after a look: k-means, meant at first,
passes the same bars, but spends a cluster on stray neurons. The bar for silhouettes was added when
neurons on two rays were seen to pass the others; it is the textbook's.
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
STRONG = 0.71
"""The silhouette from which Kaufman and Rousseeuw (1990) call what was found a strong structure."""
MOST = 10
"""Singular values that are still "very few, perhaps five or ten"."""
BARS = "the bar, when a fifth of the run was over"
MEDOIDS = f"{BARS}; medoids, after a look: k-means, meant at first, spends a cluster on strays"
RAYS = "the bar, the textbook's, after rays were seen to pass the other bars"
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


def layers_separate(run: Shown, others: Mapping[str, Shown]) -> list[Evidence]:
    """os.fig3.2: from layer to layer the classes come apart, the inner products within either class
    generally moving to the right and those across to the left: by Kendall's correlation with the
    layer, the pixels being layer 0, in raw products or else in units of the mean of |f|^2. `others`
    are runs as long from other starts, by name."""
    layers = run.before()
    chances = [pairs.chance for pairs in layers]
    told = [_told(each) for each in (run, *others.values())]
    return [
        *_of(run),
        bound("correlation with the layer: chance that a pair of one class lies to the right",
              _kendall(chances), ">", 0.0, "", digits=2),
        bound("units, of the two, in which either class moves right and the pairs across move left",
              _told(run), ">=", 1, ""),
        *(note(f"{unit}: correlation with the layer of the mean for two 0s, two 1s, one of each",
               tuple(_kendall(course) for course in courses_of(layers, raw).values()), digits=2)
          for unit, raw in _UNITS.items()),
        note("that chance, pixels and layers 1 to 7", tuple(chances), digits=2),
        *(note(f"{unit}, {_NAMES[kind]}: mean, pixels and layers 1 to 7", tuple(course), digits=2)
          for unit, raw in _UNITS.items() for kind, course in courses_of(layers, raw).items()),
        *(note(f"{name}: such units", _told(other)) for name, other in others.items()),
        note("starts with such a unit", f"{sum(map(bool, told))} of {len(told)}"),
    ]  # fmt: skip


def other_moves(run: Shown) -> list[Evidence]:
    """How the inner products of `layers_separate` move instead."""
    layers = run.before()
    raw = [_kendall(course) for course in courses_of(layers[:FIRST], True).values()]
    scaled = courses_of(layers, False)
    return [
        bound("raw products, pixels to layer 6: least correlation with the layer of the three "
              "kinds of pair", min(raw), ">", 0.0, "", digits=2),
        bound("in units of the mean of |f|², two 0s: correlation with the layer",
              _kendall(scaled[MINUS]), "<", 0.0, "", digits=2),
    ]  # fmt: skip


_UNITS = {"raw products": True, "units of the mean of |f|²": False}
_NAMES = {MINUS: "two 0s", PLUS: "two 1s", ACROSS: "one of each"}


def courses_of(layers: Sequence[Pairs], raw: bool) -> dict[str, list[float]]:
    """The mean inner product of each kind of pair from layer to layer."""
    return {kind: [pairs.mean(kind, raw) for pairs in layers] for kind in _NAMES}


def _told(run: Shown) -> int:
    """In how many units all three kinds of pair move as the paper says."""
    found = 0
    for raw in _UNITS.values():
        moves = {kind: _kendall(c) for kind, c in courses_of(run.before(), raw).items()}
        found += moves[MINUS] > 0.0 and moves[PLUS] > 0.0 and moves[ACROSS] < 0.0
    return found


def separable_features(run: Shown, others: Mapping[str, Shown]) -> list[Evidence]:
    """os.fig3.3: the features of layer 7 are orthogonally separable: no pair of the images trained
    on violates (OS). `others` are runs as long from other starts, by name."""
    before, after = (run.whole["train"][side] for side in (BEFORE, AFTER))
    return [
        *_of(run),
        fact("pairs that violate (OS), before the ReLU", before.violating, 0),
        *(fact(f"{name}: these pairs", other.whole["train"][BEFORE].violating, 0)
          for name, other in others.items()),
        note("all pairs", before.number),
        note("violating pairs within a class, and across",
             (before.violating - before.violations[ACROSS], before.violations[ACROSS])),
        note("least share of violating pairs in a sample, at any look",
             float(run.violated[BEFORE].min()), digits=1),
        note("share after the ReLU", after.share, digits=2),
        note("share across the classes that is exactly 0 after the ReLU",
             1.0 - after.violations[ACROSS] / after.pairs[ACROSS], digits=2),
        note("share after layer 6's ReLU, which is what W_7 is given",
             run.layers[FIRST - 1][AFTER].share, digits=2),
        note("share on test images, before and after",
             tuple(run.whole["test"][side].share for side in (BEFORE, AFTER)), digits=2),
        *(note(f"{name}: share after the ReLU", other.whole["train"][AFTER].share, digits=2)
          for name, other in others.items()),
    ]  # fmt: skip


def nearly_separable(run: Shown, others: Mapping[str, Shown]) -> list[Evidence]:
    """What is seen instead of `separable_features`: a figure does not show the violations."""
    share = "share of all pairs that violate (OS), before the ReLU"
    return [
        bound(share, run.whole["train"][BEFORE].share, "<", SHOWN, "", digits=2, after=BARS),
        *(bound(f"{name}: {share}", other.whole["train"][BEFORE].share, "<", SHOWN, "", digits=2,
                after=BARS)
          for name, other in others.items()),
        note("images to leave out so that the others are orthogonally separable: at least, at most",
             run.left_out["train"]),
    ]  # fmt: skip


def few_singular_values(
    run: Shown, others: Mapping[str, Shown], synthetic: NDArray
) -> list[Evidence]:
    """os.fig4a: W_7 has more than two and at most ten singular values that are clearly not 0; its
    widest gap among the first ten is narrower than the gap behind the second of the `synthetic`
    ones, those of the network of Section 5.1. `others` are runs as long from other starts."""
    s = run.singular
    gaps = s[:MOST] / s[1 : MOST + 1]
    gap = float(synthetic[1] / synthetic[2])
    return [
        *_of(run),
        bound(f"singular values of at least {CLEAR:g} of the largest", clear(s), "<=", MOST, "",
              after=BARS),
        bound("the same", clear(s), ">", 2, "", after=BARS),
        *(note(f"{name}: the same", clear(other.singular)) for name, other in others.items()),
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


def three_clusters(run: Shown, rays: tuple[NDArray, NDArray], seed: int) -> list[Evidence]:
    """os.fig4b: the neurons, in the top two singular directions of W_7, form three clusters: one
    near the origin in which signs of W_8 are mixed, and one for either sign. The clustering knows
    the number 3 and the points; k-means, drawn with the seed, stands beside it.

    Neurons on two rays have such parts, too. What tells them from clusters is the silhouette, which
    must be STRONG here and must not be for the `rays` (plane, second) of the network of Section
    5.1.
    """
    near, sides = clusters(run.plane, run.second)
    shares = [float((run.second[rows] > 0).mean()) for rows in (near, *sides)]
    signs = sorted(shares[1:])
    means, means_sides = by_means(run.plane, run.second, seed)
    return [
        *_of(run),
        bound("silhouette of the three clusters", silhouette(run.plane, run.second), ">=", STRONG,
              "", digits=2, after=RAYS),
        bound("the same of the rays of Section 5.1", silhouette(*rays), "<", STRONG, "", digits=2,
              after=RAYS),
        bound("the far cluster of positive entries of W_8: their share in it",
              signs[1], ">=", PURE, "", digits=2, after=MEDOIDS),
        bound("the far cluster of negative entries: their share in it",
              1 - signs[0], ">=", PURE, "", digits=2, after=MEDOIDS),
        bound("the near cluster: share of the rarer sign",
              min(shares[0], 1 - shares[0]), ">=", MIXED, "", digits=2, after=MEDOIDS),
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


def silhouette(plane: NDArray, second: NDArray) -> float:
    """How clearly the three `clusters` are apart: the mean silhouette, at most 1."""
    from sklearn.metrics import silhouette_score

    _, (plus, minus) = clusters(plane, second)
    return float(silhouette_score(plane, plus + 2 * minus))


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
