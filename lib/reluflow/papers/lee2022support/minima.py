"""The page `minima`: Lemma 3.2, Proposition 3.3 and Theorem 3.4."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow import instances, rational
from reluflow.falsify import Instance, Report, Statement, given, statement, survey
from reluflow.geometry import (
    enumerate_cells,
    excess_in_cell,
    local_minima,
    meets_cell,
    restricted_minima,
    virtual_minimum,
)
from reluflow.instances import Draws, extended, in_dimensions, readable_data
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.papers.lee2022support.setting import assumptions, meets

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
    and a `step` in (0, 1), as a share of the longest step of `fall_from_boundary`. "parallel": the
    first boundary is that of three data; "balanced": labels under which neither direction is
    steeper than the other, where the lemma has the least room."""

    def point(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        X, y = item["X"], item["y"]
        unit = np.min(y / np.linalg.norm(X, axis=1)) * 10.0 ** rng.uniform(-2.0, 2.0)
        first = np.array(int(rng.integers(1, X.shape[1] + 1)))
        step = np.array([10.0 ** rng.uniform(-4.0, 0.0)])
        return {"point": unit * rng.normal(size=X.shape[1]), "first": first, "step": step}

    def parallel(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        X = np.vstack([item["X"][:1] * rng.uniform(0.2, 3.0, (2, 1)), item["X"]])
        y = np.append(rng.uniform(0.1, 3.0, 2), item["y"])
        return {"X": X, "y": y}

    def balanced(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        item = {**item, **point(item, rng), "first": np.array(1)}
        X, y, w = item["X"], item["y"].copy(), on_boundary(item)
        active = X @ w > 1e-9 * np.linalg.norm(X, axis=1) * np.linalg.norm(w)
        active[0] = False
        push = float(((X @ w - y) * (X @ X[0]))[active].sum()) - 0.5 * y[0] * float(X[0] @ X[0])
        for i in np.flatnonzero(active & (X @ X[0] > 0)):
            if y[i] + push / (X[i] @ X[0]) > 0:
                y[i] += push / (X[i] @ X[0])
                break
        return {**item, "y": y, "step": np.array([10.0 ** rng.uniform(-4.0, -2.0)])}

    plain = in_dimensions((1, 2, 3), 6)
    twins = extended(in_dimensions((2, 3), 6, ("uniform", "integers")), parallel)
    level = extended(in_dimensions((2, 3), 6, ("uniform", "integers")), balanced)
    return {
        **extended({**plain, **{f"parallel, {k}": v for k, v in twins.items()}}, point),
        **{f"balanced, {k}": v for k, v in level.items()},
    }


def on_boundary(item: Instance) -> NDArray:
    """The weight (d,): the `point` projected to the boundaries of the `first` data."""
    first = item["X"][: int(item["first"])]
    N = np.linalg.svd(first)[2][np.linalg.matrix_rank(first) :].T
    return N @ (N.T @ item["point"])


def lower_beside_boundaries() -> Statement:
    """sv.ours.boundary.step: from every w on the boundary of x_j, one of the two steps w +- eps x_j
    lowers the loss by at least 1/2 eps (y_j |x_j|^2 - eps kappa_j) (Lemma 3.2, made finite)."""

    def step(item: Instance) -> float:
        X, y = item["X"], item["y"]
        longest = y[0] * (X[0] @ X[0]) / np.sum((X @ X[0]) ** 2)
        return float(item["step"][0] * longest)

    def slack(item: Instance) -> float:
        found = fall_from_boundary(item["X"], item["y"], on_boundary(item), 0, step(item))
        fall, promise, size = found
        return (fall - promise) / size

    def point(item: Instance) -> bool:
        x, w = item["X"][0], on_boundary(item)
        on = abs(x @ w) <= 1e-12 * np.linalg.norm(x) * np.linalg.norm(item["point"])
        return bool(x.any() and on and step(item) > 0.0)

    return Statement(
        says="beside a boundary the loss is lower, by the finite bound",
        draws=boundary_points(),
        hypotheses=given("sv.ours.boundary.step", labels=lambda item: meets(item, "A2"),
                         point=point),
        slack=slack,
        tolerance=1e-12,
        fixed=("first",),
    )  # fmt: skip


_KINDS = ("uniform", "directions", "integers")


@statement("no minimum of L on a boundary is a minimum of L",
           {**in_dimensions((1, 2), 5, _KINDS), **in_dimensions((3,), 4, ("integers",))},
           strict=True, fixed=("X", "y"))  # fmt: skip
def no_minimum_on_boundaries(X: NDArray, y: NDArray) -> float:
    """sv.lem3.2: under A2, data not zero, no local minimum lies on a boundary. Every candidate of
    `restricted_minima` is left by steps of 1, 1e-2 and 1e-4 of half the longest. Slack: the
    smallest fall of the loss, relative to its promise."""
    ratios = [np.inf]
    for w, on in restricted_minima(X, y):
        j = int(np.flatnonzero(on)[np.argmax((y * np.linalg.norm(X, axis=1))[on])])
        half = 0.5 * y[j] * (X[j] @ X[j]) / np.sum((X @ X[j]) ** 2)
        for eps in (half, 1e-2 * half, 1e-4 * half):
            fall, promise, _ = fall_from_boundary(X, y, w, j, eps)
            ratios.append(fall / promise)
    return min(ratios)


# --- Proposition 3.3: whether a cell holds its virtual minimum ------------------------------------


ROOM = 1e7
"""Data of a larger condition number leave the second route to Proposition 3.3 too few digits."""

SEEN = 1e-9
"""Up to this share of the active labels' length the second route takes a distance for rounding."""


def survey_cells(data: Iterable[instances.Instance]) -> pd.DataFrame:
    """Every cell of every data set: `deficient`, whether its active data have rank below d,
    `inside`, whether it holds a virtual minimum, and `agree`, whether (5) and the least of L_P over
    the closed cell say the same of that (rank d)."""
    pairs = ((item, active) for item in data for active in enumerate_cells(item.X).patterns)
    return survey(pairs, lambda pair: _cell(*pair))


def _cell(item: instances.Instance, active: NDArray) -> dict[str, bool] | None:
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
    if np.abs(margins).min() < 1e-6 or s[0] > ROOM * s[-1]:
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
    """sv.prop3.3.2: where H has rank below d the cell holds a virtual minimum. By the surveys of
    the plane and of space, and on the cell of the point `inside` (d,)."""
    cells = [found.query("deficient") for found in surveys]
    missing = tuple(int((~found.inside).sum()) for found in cells)
    return [
        fact("cells of rank below d without a virtual minimum inside", sum(missing), 0),
        fact("the counterexample's cell has one inside", meets_cell(X, y, X @ inside > 0), True),
        note("cells of rank below d, in the plane and in space", tuple(map(len, cells))),
        note("of them without a virtual minimum inside", missing),
    ]


def two_data_and_their_difference(X: NDArray, y: NDArray, inside: NDArray) -> Counterexample:
    """Against Proposition 3.3.2, data X (4, 3), y and the cell of the point `inside` (3,), in which
    the first two data alone are active and the third is their difference."""
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


def gain_of_relu(item: Instance) -> float:
    """How far the ReLU neuron's least loss is below the linear neuron's, in units of |y|^2 / 2."""
    X, y = item["X"], item["y"]
    least = least_relu_loss(X, y)
    return (linear_fit(X, y)[1] - least) / (0.5 * float(y @ y))


def least_relu_loss(X: ArrayLike, y: ArrayLike) -> float:
    """The least loss of the ReLU neuron, from the enumeration of all its local minima."""
    return local_minima(X, y)[0].loss


def _signed(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    return {"X": item["X"] * rng.choice([-1.0, 1.0], item["X"].shape, p=[0.2, 0.8])}


def _unequal(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    return {"y": 10.0 ** rng.uniform(-2.0, 1.0, len(item["y"]))}


def _unfit(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """Labels whose linear fit is negative on a datum, where some labels do that: h = P y with the
    projector P onto the columns of X, and y_k is so large that P_jk < 0 decides the sign of h_j."""
    X, y = item["X"], item["y"].copy()
    P = X @ np.linalg.pinv(X)
    # P is symmetric: which of two equal entries is the least, rounding must not decide.
    j, k = np.unravel_index(np.argmin(np.triu(np.round(P, 9))), P.shape)
    if P[j, k] < -1e-3:
        y[k] = 0.0
        y[k] = max(P[j] @ y / -P[j, k], y.max()) * 10.0 ** rng.uniform(0.1, 1.0)
    return {"y": y}


def _under_A2() -> Draws:
    """A1-A3 in dimensions 1 to 3, labels of one size or not, and inputs with entries below zero."""
    plain = in_dimensions((1, 2, 3), 5, _KINDS)
    signed = extended(in_dimensions((2,), 5, _KINDS), _signed)
    unequal = extended(in_dimensions((2, 3), 5, _KINDS[:2]), _unequal)
    more = {"signed": signed, "labels unequal": unequal}
    extra = {f"{word}, {k}": one for word, draws in more.items() for k, one in draws.items()}
    return {**plain, **extra}


def relu_below_linear() -> Statement:
    """sv.thm3.4.1: under A2 the least loss of the ReLU neuron is smaller (Theorem 3.4)."""
    return Statement(says="the ReLU neuron's least loss is smaller", draws=_under_A2(),
                     hypotheses={"A2": lambda item: bool(np.all(item["y"] > 0))},
                     slack=gain_of_relu, strict=True, tolerance=1e-12,
                     readable=readable_data(1, (1, 3)), fixed=("X", "y"))  # fmt: skip


def zero_linear_loss(report: Report) -> Counterexample:
    """Against Theorem 3.4 as printed, the smallest data that `report` found."""
    X, y = report.shrunk["X"], report.shrunk["y"]
    gain = linear_fit(X, y)[1] - least_relu_loss(X, y)
    exact = rational.fit(X, y, range(len(y)))
    linear = sum((h - v) ** 2 for h, v in zip(exact.preactivations, rational.rationals(y),
                                              strict=True)) / 2  # fmt: skip
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
    """sv.ours.linear.strict: under A2, data not zero, it is smaller as soon as the linear fit is
    zero or negative on a datum."""

    def not_positive(item: Instance) -> bool:
        h, _ = linear_fit(item["X"], item["y"])
        return bool(np.any(h <= 1e-12 * np.linalg.norm(item["y"])))

    printed = relu_below_linear()
    draws = {kind: one for kind, one in _under_A2().items() if "d = 1" not in kind}
    unfit = {f"unfit, {kind}": one for kind, one in extended(draws, _unfit).items()}
    return replace(
        printed,
        says="it is smaller where the linear fit is zero or negative on a datum",
        draws={**printed.draws, **unfit},
        hypotheses=given(
            "sv.ours.linear.strict",
            data=lambda item: meets(item, "A2") and bool(item["X"].any(axis=1).all()),
            fit=not_positive,
        ),
        fixed=(),
        readable=None,
    )


def fit_zero_on_second(X: NDArray, y: NDArray) -> list[Evidence]:
    """Our repair of Theorem 3.4 on data X (n, 2), y whose linear fit is exactly zero on x_2."""
    line = rational.fit(X, y, range(len(y)))
    without = rational.fit(X, y, [i for i in range(len(y)) if i != 1])
    return [
        fact("data below: value of the linear fit on x_2 (rational)",
             line.preactivations[1], Fraction(0)),
        fact("data below: a smaller loss without x_2 (rational)", without.loss < line.loss, True),
        note("X", X.astype(int).tolist()),
        note("y", y.astype(int).tolist()),
        note("losses, linear and ReLU", (line.loss, without.loss)),
    ]  # fmt: skip
