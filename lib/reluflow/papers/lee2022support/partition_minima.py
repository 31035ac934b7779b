"""Proposition F.3.2: how many cells hold minima."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement, given, planted
from reluflow.geometry import cell_bound, enumerate_cells, local_minima
from reluflow.instances import Draws, extended, in_dimensions
from reluflow.ledger import Evidence, fact, note
from reluflow.papers.lee2022support.assumptions import meets
from reluflow.papers.lee2022support.partition_minima_exact import holds_minimum


def cells_with_minima(X: ArrayLike, y: ArrayLike) -> int:
    """How many partitions hold a local minimum, for labels of either sign.

    The active data are the same at all points of one set of minima, boundary points included.
    """
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

    return Statement(
        says=f"at most the bound + {extra} partitions with a local minimum",
        draws=mixed_labels(),
        slack=slack,
        fixed=("X", "y"),
    )


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


def labels_convex() -> Statement:
    """Proposition F.3.2, first sentence: 1/2 ([t]_+ - y)^2 is convex in t = w.x_i if y <= 0."""

    def one(rng: np.random.Generator) -> dict[str, NDArray]:
        y = -float(rng.choice([0.0, 1.0, 10.0]) * rng.uniform())
        return {"t": rng.normal(size=2) * 10.0 ** rng.uniform(-2, 2), "y": np.array([y]),
                "share": rng.uniform(size=1)}  # fmt: skip

    def slack(item: Instance) -> float:
        t, y, share = item["t"], item["y"][0], float(np.clip(item["share"][0], 0.0, 1.0))

        def f(at: float) -> float:
            return 0.5 * (max(at, 0.0) - y) ** 2

        chord = share * f(t[0]) + (1 - share) * f(t[1])
        return (chord - f(share * t[0] + (1 - share) * t[1])) / (f(t[0]) + f(t[1]) + 1e-300)

    return Statement(
        says="a label of at most zero makes a convex term",
        draws={"random": one},
        hypotheses={"y <= 0": lambda item: bool(item["y"][0] <= 0)},
        slack=slack,
        tolerance=1e-13,
    )
