"""Cells of weight space: Figure 1, Lemmas F.1 and F.2 and Proposition F.3.1.

The paper's partition is the set of all weights with one activation pattern, a datum on its boundary
counting as inactive. Under A1 each is an open cell with a part of its boundary, so that the paper's
partitions and the open cells are as many, and have the same patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from reluflow import instances
from reluflow.falsify import Instance, Report, Statement, given, planted
from reluflow.geometry import (
    adjacent_pairs,
    cell_bound,
    count_by_ranks,
    enumerate_cells,
    local_minima,
    parallel_classes,
    virtual_minimum,
)
from reluflow.instances import degenerate_draws, extended, in_dimensions, readable_data
from reluflow.ledger import Counterexample, Evidence, fact, note
from reluflow.papers.lee2022support.assumptions import assumptions


def terminology(
    X6: NDArray, y6: NDArray, w: NDArray, pairs: Sequence[instances.Instance]
) -> list[Evidence]:
    """sv.fig1: the stationary sets of `pairs` (n = d = 2); the cells of six data, and the virtual
    minimum of the cell of w (2,) (Figure 1)."""
    shapes = [sorted(m.dimension for m in local_minima(k.X, k.y)) for k in pairs]
    own = X6 @ w > 0
    virtual, _ = virtual_minimum(X6, y6, own)
    return [
        fact("data sets with n = d = 2 whose stationary set is other than a point, two "
             "half-lines and a dead plateau", sum(s != [0, 1, 1, 2] for s in shapes), 0),
        fact("cells of the six data", len(enumerate_cells(X6)), 12),
        fact("the virtual minimum lies in its own cell",
             bool(np.array_equal(X6 @ virtual > 0, own)), False),
        note("data sets with n = d = 2", len(shapes)),
    ]  # fmt: skip


def one_datum_between_cells() -> Statement:
    """sv.lemF.1: adjacent cells differ in exactly one datum (Lemma F.1).

    The lemma speaks of the set of active data, so equal data are left out. Slack: one less the
    largest number of data in which two adjacent cells differ.
    """

    def slack(item: Instance) -> float:
        return 1.0 - max((int(np.sum(a != b)) for a, b in adjacent_pairs(item["X"])), default=1)

    return Statement(
        says="adjacent cells differ in one datum",
        draws=in_dimensions((1, 2, 3), 5, ("uniform", "directions", "integers")),
        hypotheses={"no two data are equal": _distinct},
        slack=slack,
        readable=readable_data(1, (1, 3)),
        fixed=("X", "y"),
    )


def _distinct(item: Instance) -> bool:
    return len({tuple(x) for x in item["X"].tolist()}) == len(item["X"])


def on_a_line(report: Report) -> Counterexample:
    """Against Lemma F.1, the smallest data on a line that `report` found."""
    X, y = report.shrunk["X"], report.shrunk["y"]
    differ = max(int(np.sum(a != b)) for a, b in adjacent_pairs(X))
    line = [int(v) for v in X[:, 0]]
    active = [{i for i, x in enumerate(line) if x * w > 0} for w in (-2, -1, 1, 2)]
    steps = [len(a ^ b) for a, b in pairwise(active) if a != b]
    return Counterexample(
        instance={"X": X.astype(int), "y": y.astype(int)},
        assumptions={**assumptions(X, y), "no two data are equal": _distinct({"X": X})},
        breaks=(fact("data in which the two adjacent cells differ (common rays)", differ, 1),),
        recheck=(fact("data that change between w = -1 and w = 1 (integers)", max(steps), 1),
                 note("changes between w = -2, -1, 1, 2", len(steps))),
        route="the signs of x_i w at four whole numbers w",
    )  # fmt: skip


def one_class_between_cells() -> Statement:
    """sv.ours.adjacent: two open cells are adjacent if and only if the data in which they differ
    are one class of mutually parallel or opposite data. The rank may be below d."""

    def slack(item: Instance) -> float:
        classes, adjacent = set(parallel_classes(item["X"])), adjacent_pairs(item["X"])

        def one_class(a: NDArray, b: NDArray) -> bool:
            return frozenset(np.flatnonzero(a != b).tolist()) in classes

        cells = enumerate_cells(item["X"]).patterns
        differing = sum(one_class(a, b) for a, b in combinations(cells, 2))
        wrong = sum(not one_class(a, b) for a, b in adjacent)
        return 0.0 - wrong - abs(planted(item) * differing - len(adjacent))

    def signed(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        return {"X": item["X"] * rng.choice([-1.0, 1.0], item["X"].shape)}

    def opposite(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        return {"X": item["X"] * rng.choice([-1.0, 1.0], (len(item["X"]), 1))}

    plain = in_dimensions((1, 2, 3), 5, ("directions", "integers"))
    special = degenerate_draws((1, 2, 3), 5)
    turned = {f"opposite, {k}": one for k, one in extended(special, opposite).items()}
    return Statement(
        says="open cells are adjacent exactly if they differ in one class of parallel data",
        draws={**extended(plain, signed), **special, **turned},
        slack=slack,
        hypotheses=given("sv.ours.adjacent", data=lambda item: bool(item["X"].any(axis=1).all())),
        fixed=("X", "y"),
    )


def few_cells() -> Statement:
    """sv.lemF.2: at most 2 sum_{k<d} C(n-1, k) cells under A1, A3 not assumed (Lemma F.2, eq. 16).

    Slack: the bound less the cells enumerated; minus one where Winder's formula counts otherwise.
    """

    def slack(item: Instance) -> float:
        count = len(enumerate_cells(item["X"]))
        return cell_bound(*item["X"].shape) - count if count == count_by_ranks(item["X"]) else -1.0

    return Statement(
        says="no more cells than the bound, by enumeration and by Winder's formula",
        draws=degenerate_draws(),
        slack=slack,
        fixed=("X",),
    )


def without_A1() -> list[Evidence]:
    """Beside Lemma F.2: data x = 1, -1 on which A1 is needed, a boundary counting as inactive."""
    patterns = {(w > 0, -w > 0) for w in (-1, 0, 1)}
    count = (len(patterns), cell_bound(2, 1))
    return [note("without A1, x = [1, -1]: patterns, and the bound", count)]


def cells_are_cones() -> Statement:
    """sv.propF.3.1: with two weights of a partition, their segment and their positive multiples
    belong to it, and H and q stay. Dyadic numbers, so that every sign is exact."""

    def points(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        d = item["X"].shape[1]
        w, v = rng.integers(-3, 4, (2, d)).astype(float)
        while np.any((item["X"] @ w > 0) != (item["X"] @ v > 0)):
            v = v - 0.5 * (v - w) if rng.integers(2) else rng.integers(-3, 4, d).astype(float)
        share, factor = rng.integers(1, 8) / 8, 2.0 ** rng.integers(-3, 21)
        return {"w": w, "v": v, "share": np.array(share), "factor": np.array(factor)}

    def slack(item: Instance) -> float:
        X, y, w, v = (item[name] for name in ("X", "y", "w", "v"))
        between = item["share"] * w + (1 - item["share"]) * v
        own = X @ w > 0
        same = all(np.array_equal(X @ z > 0, own) for z in (between, item["factor"] * w))
        far = X @ (item["factor"] * w) > 0
        H, q = (X[own].T @ X[own], y[own] @ X[own])
        return 0.0 if same and np.array_equal(H, X[far].T @ X[far]) \
            and np.array_equal(q, y[far] @ X[far]) else -1.0  # fmt: skip

    return Statement(
        says="partitions are convex cones, H and q the same on each",
        draws=extended(in_dimensions((1, 2, 3), 5, ("integers",)), points),
        slack=slack,
        fixed=("X", "y", "w", "v", "share", "factor"),
    )
