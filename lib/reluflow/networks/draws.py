"""Random layered networks on random data, ordinary and adversarial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray]
Draws = dict[str, Callable[[np.random.Generator], Arrays]]

Entries = Callable[[tuple[int, int]], NDArray]
"""A matrix of this shape."""


def network_draws() -> Draws:
    """Draws of {"X", "Y", "W1", "W2", ...}: 2 to 5 layers of 1 to 6 units, 1 to 4 data.

    Normal weights; nonnegative data; weights of sizes from 1e-2 to 1e2; small integers, where many
    units sit exactly on a kink; and a layer with no active unit.
    """

    def normal(rng: np.random.Generator) -> Arrays:
        return _network(rng, rng.standard_normal, rng.standard_normal)

    def nonnegative(rng: np.random.Generator) -> Arrays:
        return _network(rng, rng.standard_normal, lambda shape: rng.uniform(0.0, 1.0, shape))

    def uneven(rng: np.random.Generator) -> Arrays:
        def entries(shape: tuple[int, int]) -> NDArray:
            return rng.standard_normal(shape) * 10.0 ** rng.uniform(-2.0, 2.0)

        return _network(rng, entries, rng.standard_normal)

    def kinks(rng: np.random.Generator) -> Arrays:
        def whole(shape: tuple[int, int]) -> NDArray:
            return rng.integers(-1, 2, shape).astype(float)

        return _network(rng, whole, whole)

    def dead(rng: np.random.Generator) -> Arrays:
        item = nonnegative(rng)
        return {**item, "W1": -np.abs(item["W1"])}

    return {
        "normal": normal,
        "nonnegative data": nonnegative,
        "uneven": uneven,
        "kinks": kinks,
        "dead layer": dead,
    }


def _network(rng: np.random.Generator, entries: Entries, data: Entries) -> Arrays:
    sizes = [int(k) for k in rng.integers(1, 7, int(rng.integers(3, 7)))]
    n = int(rng.integers(1, 5))
    item = {"X": data((n, sizes[0])), "Y": data((n, sizes[-1]))}
    for m, (fan_in, out) in enumerate(pairwise(sizes), start=1):
        item[f"W{m}"] = entries((out, fan_in))
    return item


def weights_of(item: Mapping[str, NDArray]) -> list[NDArray]:
    """The weights W1, W2, ... of an instance in order."""
    return [item[f"W{m}"] for m in range(1, 1 + sum(name.startswith("W") for name in item))]


def side_by_side(
    count: int, widths: tuple[int, ...], n: int, rng: np.random.Generator
) -> tuple[list[NDArray], NDArray, NDArray]:
    """`count` networks of these widths (d, h_1, ..., h_l) with n data each: W^(m), X and Y.

    The weights are normal with variance 2 / h_{m-1}, the data uniform in (0, 1).
    """
    weights = [
        rng.normal(0.0, np.sqrt(2.0 / fan_in), (count, out, fan_in))
        for fan_in, out in pairwise(widths)
    ]
    X = rng.uniform(0.0, 1.0, (count, n, widths[0]))
    return weights, X, rng.uniform(0.0, 1.0, (count, n, widths[-1]))
