"""Lemma 2: two extremal directions and their sectors, against the enumeration and against
ascents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance, Statement
from reluflow.flows.alignment import align
from reluflow.geometry.separability import cosines
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.margin.max_margin import max_margin
from reluflow.papers.phuong2021inductive.extremal import (
    extremal_directions,
    height,
    sector,
    signs,
)
from reluflow.supports import right_angles, support_draws, supported

_NEAR = 1e-6
_STEP = 1e-3


def direction(X: NDArray, y: NDArray, sign: float) -> NDArray:
    """The sum of the data of one label, divided by its length, shape (d,)."""
    total = X[y == sign].sum(axis=0)
    return np.asarray(total / np.linalg.norm(total))


def half_way(rng: np.random.Generator) -> Instance:
    """(OS) data in R^3 of which a negative one is orthogonal to all positive data, which lie in a
    plane, so that (Span) fails; in two of three draws the labels are exchanged."""
    item = supported(2, (int(rng.integers(1, 3)), 1), rng)
    X = np.hstack([item["X"], rng.uniform(0.1, 1.0, (len(item["y"]), 1))])
    X[item["y"] > 0, 2] = 0.0
    y = np.append(item["y"], -1.0)
    X = np.vstack([X, [0.0, 0.0, rng.uniform(0.5, 2.0)]])
    Q = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)[:, None]
    return {"X": X @ Q, "y": y * rng.choice([1.0, -1.0, -1.0])}


def _small(draw: Draw) -> Draw:
    """Draws of at least two dimensions and at most nine data."""

    def one(rng: np.random.Generator) -> Instance:
        while True:
            item = draw(rng)
            if item["X"].shape[1] >= 2 and len(item["y"]) <= 9:
                return item

    return one


def _plane(rng: np.random.Generator) -> Instance:
    """Whole numbers in the plane with a right angle between the labels, no two data parallel."""
    while True:
        item = right_angles(rng)
        if item["X"].shape[1] == 2 and _no_parallels(item):
            return item


def _no_parallels(item: Instance) -> bool:
    """Whether no two data are multiples of each other; of such the enumeration knows nothing."""
    return bool(np.abs(np.triu(cosines(item["X"]), 1)).max() < 1.0 - 1e-9)


def lengthened(draw: Draw, decades: float) -> Draw:
    """Draws whose data are multiplied by 10^-decades to 10^decades each, which (OS) survives."""

    def one(rng: np.random.Generator) -> Instance:
        item = draw(rng)
        factors = 10.0 ** rng.uniform(-decades, decades, (len(item["y"]), 1))
        return {**item, "X": item["X"] * factors}

    return one


def spans(X: NDArray, y: NDArray, sign: float) -> bool:
    """(Span) for one label: the data that carry its max-margin vector span R^d."""
    own = X[y == sign]
    carry = max_margin(own, np.ones(len(own))).multipliers > 0.0
    return bool(np.linalg.matrix_rank(own[carry]) == X.shape[1])


DRAWS: Mapping[str, Draw] = {
    "spanning": _small(support_draws(3)["spanning"]),
    "few": _small(support_draws(3)["few"]),
    "right angles": _plane,
    "orthogonal to all": half_way,
    "lengths": lengthened(_small(support_draws(3)["spanning"]), 2.0),
}
NO_PARALLELS = {"no two data are parallel": _no_parallels}


def one_each() -> Statement:
    """os.lem2.1: (OS) data in two or more dimensions have one positive and one negative extremal
    direction, the sums of the data of either label over their lengths. (Span) is not asked for."""

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        for sign in (1.0, -1.0):
            found = extremal_directions(X, y, sign)
            if len(found) != 1 or np.linalg.norm(found[0] - direction(X, y, sign)) > _NEAR:
                return -1.0
        return 1.0

    return Statement("one extremal direction of each sign: the sum of the data of its label", DRAWS,
                     slack, NO_PARALLELS)  # fmt: skip


def in_the_sectors() -> Statement:
    """os.lem2.2: they lie in the sectors of eqs (13) and (14), the third case included."""

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        found = [(s, w) for s in (1.0, -1.0) for w in extremal_directions(X, y, s)]
        right = [np.array_equal(signs(X, w), sector(X, y, s)) for s, w in found]
        return 1.0 if right and all(right) else -1.0

    return Statement("the sectors of the extremal directions are those of (13) and (14)", DRAWS,
                     slack, NO_PARALLELS)  # fmt: skip


def third_case(seed: int, count: int) -> list[Evidence]:
    """How often a sector has a 0: never under (Span), always where a datum is orthogonal to all of
    the other label."""
    rng = np.random.default_rng(seed)

    def zeros(draw: Draw) -> int:
        items = [draw(rng) for _ in range(count)]
        return sum(any(np.any(sector(i["X"], i["y"], s) == 0) for s in (1.0, -1.0)) for i in items)

    return [
        fact("data sets with (Span) whose sectors have a 0", zeros(DRAWS["spanning"]), 0,
             tried=count),
        fact("data sets with a datum orthogonal to all of the other label: sectors with a 0",
             zeros(half_way), count, tried=count),
    ]  # fmt: skip


def on_a_line() -> list[Evidence]:
    """x_1 = 1, y_1 = 1, x_2 = -1, y_2 = -1 in R^1: the sphere has two points, both isolated."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    found = tuple(len(extremal_directions(X, y, s)) for s in (1.0, -1.0))
    return [fact("d = 1: positive and negative extremal directions", found, (2, 2))]


def two_dimensions() -> Reading:
    """The sphere is connected."""
    return Reading(
        "d ≥ 2",
        "in R¹ the sphere is two isolated points, and each is a strict local maximum and a strict "
        "local minimum",
    )


def ascents(seed: int, count: int, d: int = 20, n: int = 60) -> list[Evidence]:
    """Random directions that climb (or descend) G in R^d come to the one extremal direction, or to
    where no datum is active: the limit flow of small neurons, on n data of Section 5.1's kind.

    The positive data have positive coordinates, the negative ones are their opposites' like.
    """
    rng = np.random.default_rng(seed)
    y = np.repeat([1.0, -1.0], n // 2)
    X = y[:, None] * np.abs(rng.standard_normal((n, d)))
    off = dead = 0
    for k in range(count):
        sign = 1.0 if k % 2 == 0 else -1.0
        found = align(X, y, rng.standard_normal(d), sign)
        dead += found.status == "dead"
        off += found.status != "dead" and bool(
            np.linalg.norm(found.end - direction(X, y, sign)) > _NEAR
        )
    return [
        fact(f"climbs in R^{d} that end elsewhere than at the extremal direction, or dead", off, 0,
             tried=count),
        note("of them dead", dead),
    ]  # fmt: skip


def strict_minima(seed: int, count: int) -> list[Evidence]:
    """os.lem2.neg: the negative extremal direction is a strict local minimum of G, regions without
    active data hold none, and neurons with a < 0 come to it or die.

    G is compared at 200 points around each, at distances up to 1e-3. The neurons follow the limit
    flow of small weights; in the plane, data within a half-plane, so that a region is silent.
    """
    rng = np.random.default_rng(seed)
    kinds = list(DRAWS)
    higher = silent = ended = alive = 0
    high = 0.0
    for k in range(count):
        item = DRAWS[kinds[k % len(kinds)]](rng)
        X, y = item["X"], item["y"]
        w = direction(X, y, -1.0)
        steps = rng.standard_normal((200, X.shape[1]))
        steps -= np.outer(steps @ w, w)
        steps *= _STEP * rng.uniform(0.01, 1.0, (200, 1)) / np.linalg.norm(steps, axis=1)[:, None]
        around = w + steps
        around /= np.linalg.norm(around, axis=1)[:, None]
        higher += bool(np.all(height(X, y, around) > height(X, y, w)))
        found = align(X, y, rng.standard_normal(X.shape[1]), -1.0)
        silent += found.status == "dead"
        alive += found.status != "dead"
        ended += found.status != "dead" and bool(np.linalg.norm(found.end - w) < _NEAR)
        if found.status == "dead":
            high = max(high, abs(float(height(X, y, found.end))) / float(np.abs(X).max()))
    return [
        fact("G is larger at all points tried near the negative extremal direction", higher, count,
             tried=count),
        fact("of the neurons with a < 0 that stay alive, at the negative extremal direction",
             ended, alive, tried=alive),
        bound("|G| of a dead neuron over the largest |xᵢ|, at most", high, "<=", 1e-9, ""),
        note("neurons that die, of all", (silent, count)),
    ]  # fmt: skip


def several(seed: int, count: int) -> dict[str, Any]:
    """Mean and largest number of extremal directions of random data with random labels, d = 3,
    n = 7, and how often a zero of their sector occurs: what (OS) rules out."""
    rng = np.random.default_rng(seed)
    numbers, kinks = [], 0
    for _ in range(count):
        X, y = rng.standard_normal((7, 3)), rng.choice([-1.0, 1.0], 7)
        found = [w for s in (1.0, -1.0) for w in extremal_directions(X, y, s)]
        numbers.append(len(found))
        kinks += sum(bool(np.any(signs(X, w) == 0)) for w in found)
    total = sum(numbers)
    return {"mean": total / count, "largest": max(numbers), "at a kink": kinks / max(total, 1)}
