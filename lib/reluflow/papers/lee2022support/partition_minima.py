"""Proposition F.3: cells are cones, and how many of them hold minima, as statements to falsify."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement
from reluflow.geometry import cell_bound, enumerate_cells, local_minima
from reluflow.instances import Draws, extended
from reluflow.papers.lee2022support.partitions import in_dimensions


def cells_are_cones(largest: int = 5) -> Statement:
    """Proposition F.3.1: with two weights of a partition, their segment and their positive
    multiples belong to it, and H and q stay. Dyadic numbers, so that every sign is exact."""

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
        draws=extended(in_dimensions((1, 2, 3), largest, ("integers",)), points),
        slack=slack,
        fixed=("X", "y", "w", "v", "share", "factor"),
    )


def cells_with_minima(X: ArrayLike, y: ArrayLike) -> int:
    """How many partitions hold a local minimum, for labels of either sign.

    The active data are the same at all points of one set of minima, boundary points included.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    return _cells_with_minima(X.tobytes(), y.tobytes(), X.shape)


@lru_cache(maxsize=4096)
def _cells_with_minima(X: bytes, y: bytes, shape: tuple[int, int]) -> int:
    """Kept, because the statements below are tried on the same draws."""
    found = local_minima(np.frombuffer(X).reshape(shape), np.frombuffer(y))
    return len({m.support for m in found})


def mixed_labels(largest: int = 5) -> Draws:
    """Draws of data with A1 whose labels are positive, zero or negative; now and then none is
    positive."""

    def mix(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        y, share = item["y"], rng.choice([0.0, 0.3, 0.6, 0.9])
        other = rng.choice([-2.0, -1.0, 0.0], len(y)) * y
        return {"y": np.where(rng.uniform(size=len(y)) < share, y, other)}

    plane = in_dimensions((1, 2), largest, ("uniform", "directions", "integers"))
    return extended({**plane, **in_dimensions((3,), min(largest, 4), ("integers",))}, mix)


def few_minima(largest: int = 5, extra: int = 1) -> Statement:
    """Proposition F.3.2: with m positive labels at most 2 sum_{i<d} C(m-1, i) + 1 partitions of all
    n data hold a local minimum, C(-1, i) = 0. `extra` stands in place of the last 1."""

    def slack(item: Instance) -> float:
        m = int(np.sum(item["y"] > 0))
        most = cell_bound(m, item["X"].shape[1]) if m else 0
        return most + extra - cells_with_minima(item["X"], item["y"])

    return Statement(
        says=f"at most the bound + {extra} partitions with a local minimum",
        draws=mixed_labels(largest),
        slack=slack,
        fixed=("X", "y"),
    )


def minima_in_positive_cells(largest: int = 5) -> Statement:
    """Ours, in place of F.3.2: no more partitions hold a local minimum than the data of positive
    label alone have cells (one, the whole space, if there are none)."""

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        return len(enumerate_cells(X[y > 0])) - cells_with_minima(X, y)

    return Statement(
        says="no more partitions with a local minimum than the positive data have cells",
        draws=mixed_labels(largest),
        slack=slack,
        fixed=("X", "y"),
    )


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
