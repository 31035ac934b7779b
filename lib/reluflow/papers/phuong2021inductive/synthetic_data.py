"""The data of Section 5.1 of Phuong & Lampert 2021: separable, turned apart, and without (Span)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.geometry.pair_products import pair_products
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.margin.max_margin import max_margin
from reluflow.papers.phuong2021inductive.alignments import DEGREES
from reluflow.papers.phuong2021inductive.filtered_gaussian import filtered_gaussian, in_orthants
from reluflow.papers.phuong2021inductive.synthetic_claims import in_most
from reluflow.statistics import student_interval

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
    means = (X[y == sign].mean(axis=0) for sign in (1.0, -1.0))
    return Draw(sum(map(pairs.violations, pairs.products)), pairs.pairs, _apart(*w.values()),
                _apart(*means), (ranks[0], ranks[1]))  # fmt: skip


def _apart(u: NDArray, v: NDArray) -> float:
    """The angle between u and -v in degrees."""
    cosine = -(u @ v) / np.linalg.norm(u) / np.linalg.norm(v)
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


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
