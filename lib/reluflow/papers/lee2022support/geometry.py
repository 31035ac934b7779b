"""The page `geometry`: Figure 1, Lemmas 3.2, 4.5, F.1, F.2, Propositions 3.3, F.3, Theorem 3.4."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from reluflow.exact import rationals
from reluflow.falsify import (
    Draws,
    Instance,
    Report,
    Statement,
    extended,
    given,
    planted,
    statement,
    survey,
)
from reluflow.geometry import cell_bound, enumerate_cells
from reluflow.geometry.exact import integer_columns, matrix
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.papers.lee2022support import rational
from reluflow.papers.lee2022support.landscape import extreme_rays, local_minima
from reluflow.papers.lee2022support.setting import (
    DataSet,
    also,
    assumptions,
    data_draws,
    few,
    in_dimensions,
    meets,
    meets_cell,
    parallel_classes,
    readable_data,
    signed,
    virtual_minimum,
)

# --- Cells of weight space: Figure 1, Lemmas F.1 and F.2 and Proposition F.3.1 --------------------


def terminology(X6: NDArray, y6: NDArray, w: NDArray, pairs: Sequence[DataSet]) -> list[Evidence]:
    """sv.fig1: the stationary sets of `pairs` (n = d = 2); the cells of six data, and w's."""
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


def _flat(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """Two columns made alike: data of rank below d."""
    X = item["X"].copy()
    X[:, [0, -1]] = X[:, [0]] + X[:, [-1]]
    return {"X": X}


def _lower(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """Two columns made alike, or fewer data."""
    return _flat(item, rng) if rng.integers(2) else few(item, rng)


def _of_any_rank(dimensions: Iterable[int], largest: int) -> Draws:
    """Data of rank d, parallel and equal ones among them, and such as may have a lower one."""
    plain = in_dimensions(dimensions, largest, ("uniform", "integers", "degenerate"))
    return also("lower", plain, _lower)


def adjacent_pairs(X: ArrayLike) -> list[tuple[NDArray, NDArray]]:
    """All pairs of cells whose closures share a face of dimension r - 1, as two patterns (n,).

    The closure of a cell is spanned by the extreme rays of the arrangement on it, so two closures
    meet in the span of their common rays; only its dimension is asked, whatever the patterns are.
    Exact, in integers, for data X (n, d) of any rank r. Raises InputError where the cells are not
    `enumerable`.
    """
    X = np.asarray(X, float)
    d, live, patterns = X.shape[1], X.any(axis=1), enumerate_cells(X).patterns
    rows = [row for row in integer_columns(X)[0] if any(row)]
    rays = [
        ([turn * v for v in ray], np.array([turn * ((h > 0) - (h < 0)) for h in products]))
        for ray, products in extreme_rays(rows)
        for turn in (1, -1)
    ]
    around = [
        {k for k, (_, signs) in enumerate(rays) if np.all(side * signs >= 0)}
        for side in np.where(patterns[:, live], 1, -1)
    ]
    face = matrix(rows, d).rank() - 1
    return [
        (patterns[a], patterns[b])
        for a, b in combinations(range(len(patterns)), 2)
        if matrix([rays[k][0] for k in around[a] & around[b]], d).rank() == face
    ]


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
    """sv.ours.adjacent: the rank of the data may be below d."""

    def slack(item: Instance) -> float:
        classes, adjacent = set(parallel_classes(item["X"])), adjacent_pairs(item["X"])

        def of_one_class(pairs: Iterable[Sequence[NDArray]]) -> int:
            return sum(frozenset(np.flatnonzero(a != b).tolist()) in classes for a, b in pairs)

        differing = of_one_class(combinations(enumerate_cells(item["X"]).patterns, 2))
        wrong = len(adjacent) - of_one_class(adjacent)
        return 0.0 - wrong - abs(planted(item) * differing - len(adjacent))

    def opposite(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        return {"X": item["X"] * rng.choice([-1.0, 1.0], (len(item["X"]), 1))}

    plain = in_dimensions((1, 2, 3), 5, ("directions", "integers", "decades"))
    special = _of_any_rank((1, 2, 3), 5)
    draws = also("signed", plain, signed) | also("opposite", special, opposite)
    tests = given("sv.ours.adjacent", data=lambda item: bool(item["X"].any(axis=1).all()))
    says = "open cells are adjacent exactly if they differ in one class of parallel data"
    return Statement(says, draws, slack, tests, fixed=("X", "y"))


@statement("no more cells than the bound", _of_any_rank((1, 2, 3, 4), 6), fixed=("X", "y"))
def few_cells(X: NDArray) -> float:
    """sv.lemF.2: the bound less the cells enumerated."""
    return float(cell_bound(*X.shape) - len(enumerate_cells(X)))


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
    """sv.propF.3.1: the segment of two weights of a partition, and a multiple."""
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
           {**data_draws(2), **_of_any_rank((2,), 8)}, readable=readable_data(2, (1, 4)),
           fixed=("X", "y"))  # fmt: skip
def nested_in_quadrants(X: NDArray) -> float:
    """sv.lem4.5: minus the pairs of cells of the 2nd quadrant, or the 4th, that are not nested."""
    wrong = 0
    for quadrant in (2, 4):
        cells = quadrant_cells(X, quadrant)
        wrong += sum(not (a <= b or b <= a) for a, b in combinations(cells, 2))
    return 0.0 - wrong


# --- Proposition F.3.2: how many cells hold minima ------------------------------------------------


def cells_with_minima(X: ArrayLike, y: ArrayLike) -> int:
    """How many partitions hold a local minimum, for labels of either sign. The active data are the
    same at all points of one set of minima, boundary points included."""
    return len({m.support for m in local_minima(X, y)})


def mixed_labels() -> Draws:
    """Draws of data with A1 and labels of all signs; now and then none is positive."""

    def mix(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        y, share = item["y"], rng.choice([0.0, 0.3, 0.6, 0.9])
        other = rng.choice([-2.0, -1.0, 0.0], len(y)) * y
        return {"y": np.where(rng.uniform(size=len(y)) < share, y, other)}

    plane = in_dimensions((1, 2), 5, ("uniform", "directions", "integers", "decades"))
    return extended({**plane, **in_dimensions((3,), 4, ("integers",))}, mix)


@statement("at most the bound + 1 partitions with a local minimum", mixed_labels(),
           fixed=("X", "y"))  # fmt: skip
def few_minima(X: NDArray, y: NDArray) -> float:
    """sv.propF.3.2: the bound, C(-1, i) = 0, less the partitions with a local minimum."""
    m = int(np.sum(y > 0))
    return (cell_bound(m, X.shape[1]) if m else 0) + 1 - cells_with_minima(X, y)


def minima_in_positive_cells() -> Statement:
    """sv.ours.minima.count: the cells of the positive data alone, less those partitions."""

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        return planted(item) * len(enumerate_cells(X[y > 0])) - cells_with_minima(X, y)

    tests = given("sv.ours.minima.count", data=lambda item: meets(item, "A1"))
    says = "no more partitions with a local minimum than the positive data have cells"
    draws = also("lower", mixed_labels(), _lower)
    return Statement(says, draws, slack, tests, fixed=("X", "y"))


def all_cells_hold_minima(X: NDArray, y: NDArray) -> list[Evidence]:
    """That our count is attained: by data X, y."""
    return [
        fact("data below: cells that hold a local minimum (enumeration)",
             cells_with_minima(X, y), cell_bound(*X.shape)),
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


# --- Lemma 3.2: no minimiser lies on an activation boundary, as statements to falsify -------------


def fall_from_boundary(
    X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int, eps: float
) -> tuple[float, float, float]:
    """How far the better of the two steps w +- eps x_j lowers the loss, from w on x_j's boundary.
    Returns L(w) - min L(w +- eps x_j); the promise 1/2 eps (y_j |x_j|^2 - eps kappa_j) with kappa_j
    = sum_i (x_i.x_j)^2, positive for 0 < eps < y_j |x_j|^2 / kappa_j; and the sum of the sizes of
    the terms, against which rounding is measured. Losses only: no derivative, no cell."""
    X, y, w = np.asarray(X, float), np.asarray(y, float), np.asarray(w, float)
    h, turn = X @ w, X @ X[j]
    h[j] = 0.0
    before, falls, size = np.maximum(h, 0.0), [], 0.0
    for step in (eps * turn, -eps * turn):
        both = (h > 0) & (h + step > 0)  # no difference of nearly equal numbers
        rise = np.where(both, step, np.maximum(h + step, 0.0) - before)
        terms = rise * (y - before - 0.5 * rise)
        falls.append(float(terms.sum()))
        size = max(size, float(np.abs(terms).sum()))
    promise = 0.5 * eps * (y[j] * float(X[j] @ X[j]) - eps * float(turn @ turn))
    return max(falls), promise, size


def boundary_points() -> Draws:
    """Draws of X, y, a `point` (d,), the `first` 1 to d data to whose boundaries it is projected,
    and a `step` in (0, 1), as a share of the longest step of `fall_from_boundary`."""

    def point(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        X, y = item["X"], item["y"]
        unit = np.min(y / np.linalg.norm(X, axis=1)) * 10.0 ** rng.uniform(-2.0, 2.0)
        first = np.array(int(rng.integers(1, X.shape[1] + 1)))
        step = np.array([10.0 ** rng.uniform(-4.0, 0.0)])
        return {"point": unit * rng.normal(size=X.shape[1]), "first": first, "step": step}

    return extended(in_dimensions((1, 2, 3), 6), point)


def on_boundary(item: Instance) -> NDArray:
    """The weight (d,): the `point` projected to the boundaries of the `first` data."""
    first = item["X"][: int(item["first"])]
    N = np.linalg.svd(first)[2][np.linalg.matrix_rank(first) :].T
    return N @ (N.T @ item["point"])


def _step(item: Instance) -> float:
    X, y = item["X"], item["y"]
    longest = y[0] * (X[0] @ X[0]) / np.sum((X @ X[0]) ** 2)
    return float(item["step"][0] * longest)


def _as_steep(item: Instance, _: np.random.Generator) -> dict[str, NDArray]:
    """The point times the number with which L falls as fast on both sides, where that is > 0."""
    X, y, w = item["X"], item["y"], on_boundary(item)
    h, turn = X @ w, X @ X[0]
    others = h > 1e-9 * np.abs(h).max()
    pull, wanted = h[others] @ turn[others], 0.5 * y[0] * turn[0] + y[others] @ turn[others]
    return {"point": item["point"] * (wanted / pull if pull * wanted > 0.0 else 1.0)}


def lower_beside_boundaries() -> Statement:
    """sv.ours.boundary.step: by how much the fall exceeds its promise, as a share of terms; for
    inputs of either sign, and steps up to a hundred times too long for a promise above zero."""

    def slack(item: Instance) -> float:
        found = fall_from_boundary(item["X"], item["y"], on_boundary(item), 0, _step(item))
        fall, promise, size = found
        return (fall - promise) / size

    def point(item: Instance) -> bool:
        x, w = item["X"][0], on_boundary(item)
        on = abs(x @ w) <= 1e-12 * np.linalg.norm(x) * np.linalg.norm(item["point"])
        return bool(x.any() and on and _step(item) > 0.0)

    tests = given("sv.ours.boundary.step", labels=lambda item: meets(item, "A2"), point=point)
    says = "beside a boundary the loss is lower, by the finite bound"
    draws = also("signed", extended(boundary_points(), lambda item, rng: {
        "step": item["step"] * 10.0 ** rng.choice([0.0, 2.0])}), signed)  # fmt: skip
    draws = also("as steep on both sides", draws, _as_steep)
    return Statement(says, draws, slack, tests, tolerance=1e-12, fixed=("first",))


@statement("no point of a boundary is a minimum of L", boundary_points(), strict=True,
           fixed=("X", "y", "first"))  # fmt: skip
def no_minimum_on_boundaries(item: Instance) -> float:
    """sv.lem3.2: how far the loss falls beside a point of x_1's boundary, as a share of terms."""
    X, y = item["X"], item["y"]
    fall, _, size = fall_from_boundary(X, y, on_boundary(item), 0, 0.5 * _step(item))
    return fall / size


# --- Proposition 3.3: whether a cell holds its virtual minimum ------------------------------------


def excess_in_cell(X: ArrayLike, y: ArrayLike, active: ArrayLike) -> float:
    """How far above its unconstrained minimum L_P stays on the closed cell, as a distance.

    The distance |R (w - w_P*)| of the closed cell's minimiser w, R^T R = H: zero exactly if w_P*
    lies in the closed cell. Solved as a least-distance problem by nonnegative least squares
    (Lawson & Hanson 1974, ch. 23), which does not look at the conditions (5). H of full rank.
    """
    X, y, active = np.asarray(X, float), np.asarray(y, float), np.asarray(active, bool)
    R = np.asarray(np.linalg.qr(X[active], mode="r"))
    w = np.linalg.lstsq(X[active], y[active], rcond=None)[0]
    G = X * np.where(active, 1.0, -1.0)[:, None]  # the closed cell is G w >= 0
    G = G[G.any(axis=1)]
    G /= np.linalg.norm(G, axis=1, keepdims=True)
    reach = np.linalg.solve(R.T, G.T).T
    E = np.vstack([reach.T, -(G @ w)[None, :]])
    multipliers, _ = nnls(E, np.append(np.zeros(X.shape[1]), 1.0))
    r = E @ multipliers - np.append(np.zeros(X.shape[1]), 1.0)
    return float(np.linalg.norm(r[:-1]) / abs(r[-1]))


SEEN = 1e-9
"""Up to this share of the active labels' length the second route takes a distance for rounding."""


def survey_cells(data: Iterable[DataSet]) -> pd.DataFrame:
    """Every cell of every data set: `deficient`, whether its active data have rank below d,
    `inside`, whether it holds a virtual minimum, and `agree`, whether (5) and the least of L_P over
    the closed cell say the same of that (rank d)."""
    pairs = ((item, active) for item in data for active in enumerate_cells(item.X).patterns)
    return survey(pairs, lambda pair: _cell(*pair))


def _cell(item: DataSet, active: NDArray) -> dict[str, bool] | None:
    """One cell: (5) should hold if and only if the minimum of L_P over the closed cell is w_P*.
    None where a condition of (5) is within rounding of equality, and where the data are too
    ill-conditioned for the least-distance problem in doubles: too much so altogether, or too flat
    for L_P to tell a point that violates (5) as little as w_P* from one that does not."""
    w, N = virtual_minimum(item.X, item.y, active)
    if N.shape[1]:
        inside = meets_cell(item.X, item.y, active)
        return {"deficient": True, "inside": inside, "agree": True}
    length = np.linalg.norm(item.X, axis=1)
    margins = np.where(active, item.X @ w, -(item.X @ w)) / (length * np.linalg.norm(w))
    s, fitted = np.linalg.svd(item.X[active])[1], np.linalg.norm(item.y[active])
    if np.abs(margins).min() < 1e-6 or s[0] > 1e7 * s[-1]:
        return None
    # So far is w_P* from a point on the other side of that condition, as L_P sees it.
    if s[-1] * np.linalg.norm(w) * abs(margins.min()) < 10 * SEEN * fitted:
        return None
    inside = bool(margins.min() > 0)
    attained = excess_in_cell(item.X, item.y, active) <= SEEN * fitted
    return {"deficient": False, "inside": inside, "agree": inside == attained}


def cells_of_full_rank(surveys: Sequence[pd.DataFrame]) -> list[Evidence]:
    """sv.prop3.3.1: where H has rank d the cell holds its virtual minimum if and only if (5)."""
    cells = pd.concat(surveys).query("not deficient")
    return [
        fact("cells of rank d where (5) and the constrained minimum disagree",
             int((~cells.agree).sum()), 0, tried=len(cells)),
        note("cells of rank d tried", len(cells)),
        note("of them with their virtual minimum inside", int(cells.inside.sum())),
    ]  # fmt: skip


def deficient_cells(
    surveys: Sequence[pd.DataFrame], X: NDArray, y: NDArray, inside: NDArray
) -> list[Evidence]:
    """sv.prop3.3.2: by the surveys of the plane and of space, and in the cell of `inside` (d,)."""
    cells = [found.query("deficient") for found in surveys]
    missing = tuple(int((~found.inside).sum()) for found in cells)
    return [
        fact("cells of rank below d without a virtual minimum inside", sum(missing), 0),
        fact("the counterexample's cell has one inside", meets_cell(X, y, X @ inside > 0), True),
        note("cells of rank below d, in the plane and in space", tuple(map(len, cells))),
        note("of them without a virtual minimum inside", missing),
    ]


def two_data_and_their_difference(X: NDArray, y: NDArray, inside: NDArray) -> Counterexample:
    """Against Proposition 3.3.2, the cell of `inside` (3,), in which the first two data alone are
    active; the third is their difference."""
    active = X @ inside > 0
    fitted = rational.fit(X[:2, :2], y[:2], [0, 1])
    value = rational.preactivations(X[2:3, :2], fitted.w)[0]
    return Counterexample(
        instance={"X": X, "y": y, "a point of the cell": inside},
        assumptions={
            **assumptions(X, y),
            "x_1 and x_2 alone are active in the cell": active.tolist()
            == [True, True, False, False],
            "x_3 = x_1 - x_2": bool(np.array_equal(X[2], X[0] - X[1])),
        },
        breaks=(fact("a virtual minimum lies in the cell (linear program)",
                     meets_cell(X, y, active), True),),
        recheck=(bound("x_3.w = x_1.w - x_2.w at every virtual minimum", value, "<=", 0, ""),),
        route="both active data are fitted exactly, in rational arithmetic",
    )  # fmt: skip


# --- Theorem 3.4: the least losses of the ReLU and the linear neuron ------------------------------


def linear_fit(X: ArrayLike, y: ArrayLike) -> tuple[NDArray, float]:
    """The fitted values X w (n,) of the linear neuron's least-squares fit, and its loss L_l."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    h = X @ np.linalg.lstsq(X, y, rcond=None)[0]
    return h, 0.5 * float(np.sum((h - y) ** 2))


def _unfit(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """Labels whose linear fit is zero or negative on a datum, where some labels do that: h = P y
    with the projector P onto the columns of X, and y_k such that P_jk < 0 decides on h_j."""
    X, y = item["X"], item["y"].copy()
    P = X @ np.linalg.pinv(X)
    # P is symmetric: which of two equal entries is the least, rounding must not decide.
    j, k = np.unravel_index(np.argmin(np.triu(np.round(P, 9))), P.shape)
    if P[j, k] < -1e-3:
        y[k] = 0.0
        zero = P[j] @ y / -P[j, k]
        larger = max(zero, y.max()) * 10.0 ** rng.uniform(0.1, 1.0)
        y[k] = zero if zero > 0.0 and rng.integers(2) else larger
    return {"y": y}


_KINDS = ("uniform", "directions", "integers")


def _under_A2() -> Draws:
    """A1-A3 in dimensions 1 to 3, labels of one size or not, and inputs with entries below zero."""

    def signed(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        return {"X": item["X"] * rng.choice([-1.0, 1.0], item["X"].shape, p=[0.2, 0.8])}

    def unequal(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        return {"y": 10.0 ** rng.uniform(-2.0, 1.0, len(item["y"]))}

    plain = in_dimensions((1, 2, 3), 5, _KINDS)
    more = {"signed": extended(in_dimensions((2,), 5, _KINDS), signed),
            "labels unequal": extended(in_dimensions((2, 3), 5, _KINDS[:2]), unequal)}  # fmt: skip
    extra = {f"{word}, {k}": one for word, draws in more.items() for k, one in draws.items()}
    return {**plain, **extra}


@statement("the ReLU neuron's least loss is smaller", _under_A2(), {"A2": lambda y: np.all(y > 0)},
           strict=True, tolerance=1e-12, readable=readable_data(1, (1, 3)),
           fixed=("X", "y"))  # fmt: skip
def relu_below_linear(X: NDArray, y: NDArray) -> float:
    """sv.thm3.4.1: how far the ReLU neuron's least loss is below the linear one's, of |y|^2 / 2."""
    return (linear_fit(X, y)[1] - local_minima(X, y)[0].loss) / (0.5 * float(y @ y))


def zero_linear_loss(report: Report) -> Counterexample:
    """Against Theorem 3.4 as printed, the smallest data that `report` found."""
    X, y = report.shrunk["X"], report.shrunk["y"]
    gain = linear_fit(X, y)[1] - local_minima(X, y)[0].loss
    exact = rational.fit(X, y, range(len(y)))
    pairs = zip(exact.preactivations, rationals(y), strict=True)
    linear = sum((h - v) ** 2 for h, v in pairs) / 2
    return Counterexample(
        instance={"X": X.astype(int), "y": y.astype(int)},
        assumptions={**assumptions(X, y), "n = 1": len(y) == 1},
        breaks=(fact("the ReLU neuron's least loss is smaller by more than 1e-12 (enumeration)",
                     gain > 1e-12, True),),
        recheck=(fact("there is room below the linear neuron's least loss (rational arithmetic)",
                      linear > 0, True),),
        route="the linear fit in rational arithmetic: its loss is zero, and no loss is below",
    )  # fmt: skip


def relu_not_above_linear() -> Statement:
    """sv.thm3.4.2: under A2 the least loss of the ReLU neuron is smaller or equal."""
    return replace(relu_below_linear(),
                   says="the ReLU neuron's least loss is at most the linear one's", strict=False,
                   fixed=(), readable=None)  # fmt: skip


def relu_below_linear_where_unfit() -> Statement:
    """sv.ours.linear.strict: the same, where the linear fit is zero or negative on a datum."""

    def data(item: Instance) -> bool:
        return meets(item, "A2") and bool(item["X"].any(axis=1).all())

    def fit(item: Instance) -> bool:
        h, _ = linear_fit(item["X"], item["y"])
        return bool(np.any(h <= 1e-12 * np.linalg.norm(item["y"])))

    wider = {kind: one for kind, one in _under_A2().items() if "d = 1" not in kind}
    wider |= also("flat", in_dimensions((3,), 5, _KINDS), _flat)
    draws = {**_under_A2(), **also("unfit", wider, _unfit)}
    says = "it is smaller where the linear fit is zero or negative on a datum"
    return replace(relu_below_linear(), says=says, draws=draws, fixed=(),
                   hypotheses=given("sv.ours.linear.strict", data=data, fit=fit),
                   readable=None)  # fmt: skip
