"""Lemma 3.2: no minimiser lies on an activation boundary, as statements to falsify."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement, given
from reluflow.geometry import restricted_minima
from reluflow.instances import Draws, extended, in_dimensions
from reluflow.papers.lee2022support.assumptions import meets


def fall_from_boundary(
    X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int, eps: float
) -> tuple[float, float, float]:
    """How far the better of the two steps w +- eps x_j lowers the loss, from w on x_j's boundary.

    Returns L(w) - min L(w +- eps x_j); the promise 1/2 eps (y_j |x_j|^2 - eps kappa_j) with kappa_j
    = sum_i (x_i.x_j)^2, positive for 0 < eps < y_j |x_j|^2 / kappa_j; and the sum of the sizes of
    the terms, against which rounding is measured. Losses only: no derivative, no cell.
    """
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
    and a `step` in (0, 1), as a share of the longest step of `fall_from_boundary`.

    "parallel": the first boundary is that of three data; "balanced": labels under which neither
    direction is steeper than the other, where the lemma has the least room.
    """

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


def no_minimum_on_boundaries() -> Statement:
    """sv.lem3.2: under A2, data not zero, no local minimum lies on a boundary.

    Every candidate of `restricted_minima` is left by steps of 1, 1e-2 and 1e-4 of half the longest.
    Slack: the smallest fall of the loss, relative to its promise.
    """

    def slack(item: Instance) -> float:
        X, y, ratios = item["X"], item["y"], [np.inf]
        for w, on in restricted_minima(X, y):
            j = int(np.flatnonzero(on)[np.argmax((y * np.linalg.norm(X, axis=1))[on])])
            half = 0.5 * y[j] * (X[j] @ X[j]) / np.sum((X @ X[j]) ** 2)
            for eps in (half, 1e-2 * half, 1e-4 * half):
                fall, promise, _ = fall_from_boundary(X, y, w, j, eps)
                ratios.append(fall / promise)
        return min(ratios)

    kinds = ("uniform", "directions", "integers")
    draws = {**in_dimensions((1, 2), 5, kinds), **in_dimensions((3,), 4, ("integers",))}
    return Statement(
        says="no minimum of L on a boundary is a minimum of L",
        draws=draws,
        slack=slack,
        strict=True,
        fixed=("X", "y"),
    )
