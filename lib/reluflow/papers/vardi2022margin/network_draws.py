"""Random networks of class N: index maps with holes and shared weights, and wild numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.networks.indexed import Network, fully_connected

Maps = Callable[[np.random.Generator, Sequence[int]], tuple[NDArray, ...]]
"""Index maps of layers of these widths, the number of inputs first and 1 last."""


def full(rng: np.random.Generator, widths: Sequence[int]) -> tuple[NDArray, ...]:
    """Every weight is a parameter."""
    return fully_connected(list(widths[:-1])).maps


def unshared(rng: np.random.Generator, widths: Sequence[int]) -> tuple[NDArray, ...]:
    """Weights are missing with a probability that is drawn, and none is shared."""
    found = []
    for a, b in pairwise(widths):
        there = rng.random((b, a)) >= rng.uniform(0.0, 0.6)
        found.append(np.where(there, np.cumsum(there).reshape(b, a), 0))
    return tuple(found)


def shared(rng: np.random.Generator, widths: Sequence[int]) -> tuple[NDArray, ...]:
    """Weights are missing, and each of the others is a random one of a few parameters."""
    found = []
    for there in unshared(rng, widths):
        some = rng.integers(1, 1 + rng.integers(1, there.size + 1), there.shape)
        used = np.unique(some[there > 0])
        found.append(np.where(there > 0, 1 + np.searchsorted(used, some), 0))
    return tuple(found)


def class_n_draws(
    maps: Sequence[Maps], depths: tuple[int, int] = (2, 4)
) -> dict[str, Callable[[np.random.Generator], dict[str, Any]]]:
    """Draws of {"network", "theta" (p,), "X" (n, d), "c" (n,), "at_zero" (n, units)} of these maps.

    Linear and ReLU in turn, of a depth between `depths`, 1 to 3 inputs and units a layer and 1 to 3
    data. The c are pulls of any sign, at_zero holds sigma'(0) of each unit on each datum. Normal
    numbers; small integers, where many units sit exactly on a kink; sizes from 1e-12 to 1e6; data
    that are multiples of one another; a first layer that is 0.
    """

    def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
        return rng.standard_normal(shape)

    def whole(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
        return rng.integers(-2, 3, shape).astype(float)

    def decades(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
        return rng.standard_normal(shape) * 10.0 ** rng.uniform(-12.0, 6.0, shape)

    def draw(entries: Callable, activation: str, change: str) -> Callable:
        def one(rng: np.random.Generator) -> dict[str, Any]:
            depth = int(rng.integers(depths[0], depths[1] + 1))
            widths = [*rng.integers(1, 4, depth).tolist(), 1]
            network = Network(maps[int(rng.integers(len(maps)))](rng, widths), activation)
            n = int(rng.integers(1, 4))
            theta, X = entries(rng, (network.size,)), entries(rng, (n, widths[0]))
            if change == "parallel":
                X = rng.integers(-2, 3, (n, 1)) * X[:1]
            if change == "zero":
                theta[: network.sizes[0]] = 0.0
            units = sum(widths[1:-1])
            return {"network": network, "theta": theta, "X": X, "c": entries(rng, (n,)),
                    "at_zero": rng.choice([0.0, 0.5, 1.0, rng.random()], (n, units))}  # fmt: skip

        return one

    kinds = {"normal": (normal, ""), "integers": (whole, ""), "decades": (decades, ""),
             "parallel data": (whole, "parallel"), "first layer 0": (normal, "zero")}  # fmt: skip
    return {
        f"{name}, {activation}": draw(entries, activation, change)
        for name, (entries, change) in kinds.items()
        for activation in ("linear", "relu")
    }
