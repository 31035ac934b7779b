"""The page `geometry`: Figure 1, Lemmas 4.5, F.1 and F.2, Proposition F.3."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow import instances, rational
from reluflow.falsify import Instance, Report, Statement, given, planted, statement
from reluflow.geometry import (
    adjacent_pairs,
    cell_bound,
    count_by_ranks,
    enumerate_cells,
    local_minima,
    parallel_classes,
    virtual_minimum,
)
from reluflow.instances import (
    Draws,
    data_draws,
    degenerate_draws,
    extended,
    in_dimensions,
    readable_data,
)
from reluflow.ledger import Counterexample, Evidence, fact, note
from reluflow.papers.lee2022support.setting import assumptions, meets

# --- Cells of weight space: Figure 1, Lemmas F.1 and F.2 and Proposition F.3.1 --------------------
#
# The paper's partition is the set of all weights with one activation pattern, a datum on its
# boundary counting as inactive. Under A1 each is an open cell with a part of its boundary, so that
# the paper's partitions and the open cells are as many, and have the same patterns.


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


def _distinct(X: NDArray) -> bool:
    return len({tuple(x) for x in X.tolist()}) == len(X)


@statement("adjacent cells differ in one datum",
           in_dimensions((1, 2, 3), 5, ("uniform", "directions", "integers")),
           {"no two data are equal": _distinct}, readable=readable_data(1, (1, 3)),
           fixed=("X", "y"))  # fmt: skip
def one_datum_between_cells(X: NDArray) -> float:
    """sv.lemF.1: one less the largest number of data in which two adjacent cells differ. The lemma
    speaks of the set of active data, so equal data are left out."""
    return 1.0 - max((int(np.sum(a != b)) for a, b in adjacent_pairs(X)), default=1)


def on_a_line(report: Report) -> Counterexample:
    """Against Lemma F.1, the smallest data on a line that `report` found."""
    X, y = report.shrunk["X"], report.shrunk["y"]
    differ = max(int(np.sum(a != b)) for a, b in adjacent_pairs(X))
    line = [int(v) for v in X[:, 0]]
    active = [{i for i, x in enumerate(line) if x * w > 0} for w in (-2, -1, 1, 2)]
    steps = [len(a ^ b) for a, b in pairwise(active) if a != b]
    return Counterexample(
        instance={"X": X.astype(int), "y": y.astype(int)},
        assumptions={**assumptions(X, y), "no two data are equal": _distinct(X)},
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


@statement("no more cells than the bound, by enumeration and by Winder's formula",
           degenerate_draws(), fixed=("X",))  # fmt: skip
def few_cells(X: NDArray) -> float:
    """sv.lemF.2: the bound 2 sum_{k<d} C(n-1, k) less the cells enumerated, under A1 (Lemma F.2, eq
    16); minus one where Winder's formula counts otherwise."""
    count = len(enumerate_cells(X))
    return cell_bound(*X.shape) - count if count == count_by_ranks(X) else -1.0


def without_A1() -> list[Evidence]:
    """Beside Lemma F.2: data x = 1, -1 on which A1 is needed, a boundary counting as inactive."""
    patterns = {(w > 0, -w > 0) for w in (-1, 0, 1)}
    count = (len(patterns), cell_bound(2, 1))
    return [note("without A1, x = [1, -1]: patterns, and the bound", count)]


def _in_a_cell(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """Two weights of one partition, a share and a factor, all dyadic, so that signs are exact."""
    d = item["X"].shape[1]
    w, v = rng.integers(-3, 4, (2, d)).astype(float)
    while np.any((item["X"] @ w > 0) != (item["X"] @ v > 0)):
        v = v - 0.5 * (v - w) if rng.integers(2) else rng.integers(-3, 4, d).astype(float)
    share, factor = rng.integers(1, 8) / 8, 2.0 ** rng.integers(-3, 21)
    return {"w": w, "v": v, "share": np.array(share), "factor": np.array(factor)}


@statement(
    "partitions are convex cones, H and q the same on each",
    extended(in_dimensions((1, 2, 3), 5, ("integers",)), _in_a_cell),
    fixed=("X", "y", "w", "v", "share", "factor"),
)
def cells_are_cones(
    X: NDArray, y: NDArray, w: NDArray, v: NDArray, share: NDArray, factor: NDArray
) -> float:
    """sv.propF.3.1: with two weights of a partition, their segment and their positive multiples
    belong to it, and H and q stay."""
    own, far = X @ w > 0, X @ (factor * w) > 0
    between = share * w + (1 - share) * v
    same = all(np.array_equal(X @ z > 0, own) for z in (between, factor * w))
    H, q = X[own].T @ X[own], y[own] @ X[own]
    stay = np.array_equal(H, X[far].T @ X[far]) and np.array_equal(q, y[far] @ X[far])
    return 0.0 if same and stay else -1.0


# --- Lemma 4.5: the cells of the weight plane, in order around the circle -------------------------


def quadrant_cells(X: ArrayLike, quadrant: int) -> set[frozenset[int]]:
    """Active sets of all cells of X (n, 2) that meet the open quadrant (2 or 4), by enumeration. A
    cell may reach over the quadrant's edge; the axes are added as data, which cuts it there."""
    patterns = enumerate_cells(np.vstack([np.asarray(X, float), np.eye(2)])).patterns
    east = quadrant == 4
    here = (patterns[:, -2] == east) & (patterns[:, -1] != east)
    return {frozenset(np.flatnonzero(p).tolist()) for p in patterns[here][:, :-2]}


@statement("the active sets of a quadrant's cells are nested",
           {**data_draws(2), **degenerate_draws((2,), 8)}, readable=readable_data(2, (1, 4)),
           fixed=("X", "y"))  # fmt: skip
def nested_in_quadrants(X: NDArray) -> float:
    """sv.lem4.5: minus the pairs of cells that meet the second quadrant, or the fourth, and are not
    nested (d = 2, A1)."""
    wrong = 0
    for quadrant in (2, 4):
        cells = quadrant_cells(X, quadrant)
        wrong += sum(not (a <= b or b <= a) for a, b in combinations(cells, 2))
    return 0.0 - wrong


def cells_of_the_figure(X: NDArray) -> list[Evidence]:
    """Lemma 4.5 on the four data X (4, 2) of Figure 10."""
    chains = [sorted(map(len, quadrant_cells(X, quadrant))) for quadrant in (2, 4)]
    return [
        fact("cells of the figure's four data", len(enumerate_cells(X)), 8),
        note("active data of its cells in the 2nd and in the 4th quadrant", tuple(chains)),
    ]


# --- Second route: whether a cell of the plane holds a minimum, in rational arithmetic ------------


def holds_minimum(X: NDArray, y: NDArray, cell: Sequence[int]) -> bool:
    """Whether the cell of these active data (from 0) holds a minimum, for X (n, 2), y (n,). Its
    fit, if unique, else a point that fits its one active datum, sought among rationals, else (none
    active) any point of it."""
    if len(cell) >= 2:
        return rational.is_local_minimum(rational.fit(X, y, cell), cell)
    if not cell:
        return True
    (a, b), target = rational.rationals(X[cell[0]]), rational.rationals(y)[cell[0]]
    foot = (a * target / (a * a + b * b), b * target / (a * a + b * b))
    points = [(foot[0] - t * b, foot[1] + t * a) for t in map(Fraction, range(-9, 10))]
    signs = [[h > 0 for h in rational.preactivations(X, w)] for w in points]
    return any([i for i, on in enumerate(row) if on] == list(cell) for row in signs)


# --- Proposition F.3.2: how many cells hold minima ------------------------------------------------


def cells_with_minima(X: ArrayLike, y: ArrayLike) -> int:
    """How many partitions hold a local minimum, for labels of either sign. The active data are the
    same at all points of one set of minima, boundary points included."""
    return len({m.support for m in local_minima(X, y)})


def mixed_labels() -> Draws:
    """Draws of data with A1 whose labels are positive, zero or negative; now and then none is
    positive."""

    def mix(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        y, share = item["y"], rng.choice([0.0, 0.3, 0.6, 0.9])
        other = rng.choice([-2.0, -1.0, 0.0], len(y)) * y
        return {"y": np.where(rng.uniform(size=len(y)) < share, y, other)}

    plane = in_dimensions((1, 2), 5, ("uniform", "directions", "integers"))
    return extended({**plane, **in_dimensions((3,), 4, ("integers",))}, mix)


def few_minima(extra: int = 1) -> Statement:
    """sv.propF.3.2: with m positive labels at most 2 sum_{i<d} C(m-1, i) + 1 partitions of all
    n data hold a local minimum, C(-1, i) = 0. `extra` stands in place of the last 1."""

    def slack(item: Instance) -> float:
        m = int(np.sum(item["y"] > 0))
        most = cell_bound(m, item["X"].shape[1]) if m else 0
        return most + extra - cells_with_minima(item["X"], item["y"])

    return Statement(says=f"at most the bound + {extra} partitions with a local minimum",
                     draws=mixed_labels(), slack=slack, fixed=("X", "y"))  # fmt: skip


def minima_in_positive_cells() -> Statement:
    """sv.ours.minima.count: no more partitions hold a local minimum than the data of positive label
    alone have cells, one, the whole space, if there are none."""

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        return planted(item) * len(enumerate_cells(X[y > 0])) - cells_with_minima(X, y)

    return Statement(
        says="no more partitions with a local minimum than the positive data have cells",
        draws=mixed_labels(),
        slack=slack,
        hypotheses=given("sv.ours.minima.count", data=lambda item: meets(item, "A1")),
        fixed=("X", "y"),
    )


def all_cells_hold_minima(X: NDArray, y: NDArray) -> list[Evidence]:
    """That our count is attained: by data X, y (d = 2), by enumeration and over the rationals."""
    cells, most = enumerate_cells(X).patterns, cell_bound(*X.shape)
    attained = sum(holds_minimum(X, y, np.flatnonzero(p).tolist()) for p in cells)
    return [
        fact("data below: cells that hold a local minimum (enumeration)",
             cells_with_minima(X, y), most),
        fact("data below: cells that hold a local minimum (rational arithmetic)", attained, most),
        note("X", X.astype(int).tolist()),
        note("y", y.astype(int).tolist()),
    ]  # fmt: skip


def _term(rng: np.random.Generator) -> dict[str, NDArray]:
    y = -float(rng.choice([0.0, 1.0, 10.0]) * rng.uniform())
    return {"t": rng.normal(size=2) * 10.0 ** rng.uniform(-2, 2), "y": np.array([y]),
            "share": rng.uniform(size=1)}  # fmt: skip


@statement("a label of at most zero makes a convex term", {"random": _term},
           {"y <= 0": lambda y: y[0] <= 0}, tolerance=1e-13)  # fmt: skip
def labels_convex(t: NDArray, y: NDArray, share: NDArray) -> float:
    """Proposition F.3.2, first sentence: 1/2 ([t]_+ - y)^2 is convex in t = w.x_i if y <= 0."""
    part = float(np.clip(share[0], 0.0, 1.0))

    def f(at: float) -> float:
        return 0.5 * (max(at, 0.0) - y[0]) ** 2

    chord = part * f(t[0]) + (1 - part) * f(t[1])
    return (chord - f(part * t[0] + (1 - part) * t[1])) / (f(t[0]) + f(t[1]) + 1e-300)
