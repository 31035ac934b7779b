"""Draws of orthogonally separable data with members of their cones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance
from reluflow.papers.min2024early.whole_numbers import separable_exactly
from reluflow.separable import Draws, separable_draws

SEPARABLE: Mapping[str, Callable[[Instance], bool]] = {
    "(A1)": lambda item: separable_exactly(item["X"], item["y"])
}
BOTH_LABELS: Mapping[str, Callable[[Instance], bool]] = {
    **SEPARABLE,
    "data of both labels": lambda item: len(set(np.asarray(item["y"]).tolist())) == 2,
}


def data(dims: tuple[int, int] = (2, 50)) -> Draws:
    """Draws of {"X", "y"} under (A1), data of both labels, and two kinds with one label only."""
    return {**separable_draws(dims), **one_label(dims)}


def one_label(dims: tuple[int, int] = (2, 50)) -> Draws:
    """Draws of {"X", "y"} under (A1) with data of one label only."""
    ordinary = separable_draws(dims)["wide"]

    def alike(label: float) -> Draw:
        def one(rng: np.random.Generator) -> dict[str, Any]:
            item = ordinary(rng)
            y = np.full(len(item["y"]), label)
            return {"X": item["X"] * (item["y"] * y)[:, None], "y": y}

        return one

    return {"positive data only": alike(1.0), "negative data only": alike(-1.0)}


def beside(draws: Draws, more: Callable[[Any, np.random.Generator], Mapping[str, Any]]) -> Draws:
    """The draws with what `more` adds to an instance."""

    def wider(draw: Draw) -> Draw:
        def one(rng: np.random.Generator) -> dict[str, Any]:
            item = draw(rng)
            return {**item, **more(item, rng)}

        return one

    return {kind: wider(draw) for kind, draw in draws.items()}


def weights(n: int, rng: np.random.Generator) -> NDArray:
    """n numbers >= 0, not all 0: one of them alone, alike, or spread, some of them gone."""
    kind = rng.integers(4)
    if kind == 0:
        return np.eye(n)[rng.integers(n)]
    spread = 10.0 ** rng.uniform(*((-1.0, 1.0) if kind == 1 else (-12.0, 6.0)), n)
    kept = rng.random(n) < (0.5 if kind == 3 else 1.0)
    kept[rng.integers(n)] = True
    return spread * kept


def in_hull(item: Instance, rng: np.random.Generator, share: float = 0.0) -> NDArray:
    """A member (d,) of K, up to rounding, moved by at most `share` of its length."""
    Z = item["X"] * item["y"][:, None]
    z = weights(len(Z), rng) @ Z
    away = rng.standard_normal(Z.shape[1])
    return z + share * rng.random() * np.linalg.norm(z) * away / np.linalg.norm(away)


def a_sign(rng: np.random.Generator) -> NDArray:
    """1 or -1, for S_+ or S_-."""
    return np.array(rng.choice([-1.0, 1.0]))
