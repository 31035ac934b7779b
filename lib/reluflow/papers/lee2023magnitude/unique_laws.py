"""For which laws on finitely many points w* is the only minimiser of (13), whatever w* is."""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm

import numpy as np
from numpy.typing import NDArray

from reluflow.exact import null_vectors
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.papers.lee2023magnitude.finite_laws import FiniteLaw, dot, random_law
from reluflow.papers.lee2023magnitude.minimiser import (
    is_only_minimiser,
    law_cells,
    spans_every_side,
    width,
)
from reluflow.rational import rationals


def telling_targets(law: FiniteLaw, rng: np.random.Generator, count: int) -> Iterator[NDArray]:
    """Teachers to try: one inside each activation cell, `count` on random points' boundaries, and
    `count` of small whole numbers."""
    X = np.array(law.points, float)
    yield from np.round(law_cells(law).witnesses, 6)
    for _ in range(count):
        rows = X[rng.integers(0, len(X), law.d - 1)]
        for v in null_vectors(rationals(rows), law.d):
            whole = lcm(*(a.denominator for a in v))
            yield int(rng.choice([-1, 1])) * np.array([int(whole * a) for a in v])
    yield from rng.integers(-2, 3, (count, law.d))


def _decided(
    pairs: list[tuple[FiniteLaw, NDArray]],
) -> tuple[list[bool], list[Evidence]]:
    """Whether w* is the only minimiser, for each pair, and that linear programming agrees."""
    only = [is_only_minimiser(law, target) for law, target in pairs]
    wide = [width(law, target) > 1e-7 for law, target in pairs]
    differ = sum(a == b for a, b in zip(only, wide, strict=True))
    return only, [
        fact("pairs on which linear programming disagrees", differ, 0),
        note("pairs of a law and a teacher", len(pairs)),
    ]


def symmetric_minimiser(seed: int, count: int) -> list[Evidence]:
    """ma.ours.unique.symmetric: w* is the only minimiser for laws of x that are laws of -x too."""
    rng = np.random.default_rng(seed)
    pairs = []
    for k in range(count):
        d = 1 + k % 3
        law = random_law(rng, d, int(rng.integers(d, d + 3)), True)
        targets = list(telling_targets(law, rng, 2))
        # Inside a cell, or one of those on boundaries.
        pairs.append((law, targets[0 if k % 3 == 0 else -1 - k % len(targets[-4:])]))
    on_edge = sum(any(dot(x, rationals(w)) == 0 for x in law.points) for law, w in pairs)
    only, agreed = _decided(pairs)
    return [
        fact("symmetric laws of full rank with several minimisers", only.count(False), 0),
        fact("of these laws, those that are symmetric, of mean zero and of full rank",
             sum(law.is_symmetric and law.has_zero_mean and law.has_full_rank
                 for law, _ in pairs), len(pairs)),
        *agreed,
        note("teachers with a point on their boundary", on_edge),
        note("seed", seed),
    ]  # fmt: skip


def minimiser_of_finite_laws(seed: int, count: int) -> list[Evidence]:
    """ma.ours.unique.finite: all w* are unique exactly if the points on every side span."""
    rng = np.random.default_rng(seed)
    wrong, spanning, pairs = 0, 0, []
    for k in range(count):
        d = 1 + k % 3
        law = random_law(rng, d, int(rng.integers(d, 2 * d + 4)), k % 5 == 0)
        targets = list(telling_targets(law, rng, 3))
        spans = spans_every_side(law)
        wrong += spans != all(is_only_minimiser(law, target) for target in targets)
        spanning += spans
        pairs.append((law, targets[int(rng.integers(len(targets)))]))
    _, agreed = _decided(pairs)
    return [
        fact("laws for which the condition and the teachers tried disagree", wrong, 0),
        bound("laws that meet the condition", spanning, ">", 0, ""),
        bound("laws that do not", count - spanning, ">", 0, ""),
        *agreed,
        note("seed", seed),
    ]
