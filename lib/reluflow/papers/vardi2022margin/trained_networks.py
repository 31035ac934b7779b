"""Random networks, data and starts from which the paper's positive theorems can speak.

From most random starts of a ReLU network some neurons die, and theorems whose neurons must live say
nothing. So here the labels are those of the start, neurons start near data, and data that the start
hardly tells apart are left out; what the limit is remains for the flow to find out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.networks.indexed import Network, fully_connected

Draw = Callable[[np.random.Generator], dict[str, Any]]

CLEAR = 0.1
"""A datum stays if the start's output on it, over its length, is not below this share of the
largest."""
MOST = 5
"""Data, at most."""


def full_linear(depths: tuple[int, int]) -> dict[str, Draw]:
    """Fully connected linear networks of depths from .. to (Theorem 3.1)."""

    def network(rng: np.random.Generator) -> Network:
        depth = int(rng.integers(depths[0], depths[1] + 1))
        return fully_connected(rng.integers(1, 4, depth).tolist(), "linear")

    def one(data: Data) -> Draw:
        return lambda rng: _with_start(rng, net := network(rng), data(rng, _inputs(net)), _normal)

    return {f"{kind} data": one(data) for kind, data in DATA.items()}


def sparse_linear() -> dict[str, Draw]:
    """Linear networks of depth 2 without shared weights (Theorem 4.2): neurons that see the same
    coordinates, disjoint ones, or any; diagonal networks among them."""

    def one(maps: Callable[[np.random.Generator], NDArray], data: Data) -> Draw:
        def draw(rng: np.random.Generator) -> dict[str, Any]:
            first = maps(rng)
            net = Network((first, 1 + np.arange(len(first))[None]), "linear")
            return _with_start(rng, net, data(rng, _inputs(net)), _normal)

        return draw

    kinds = {"equal": _equal, "disjoint": _disjoint, "any": _any}
    return {
        f"neurons that see {name} coordinates, {kind} data": one(maps, data)
        for kind, data in DATA.items()
        for name, maps in kinds.items()
    }


def sparse_relu() -> dict[str, Draw]:
    """ReLU networks of depth 2 without shared weights, neurons near data at the start (Theorem
    4.3)."""

    def one(maps: Callable[[np.random.Generator], NDArray], data: Data) -> Draw:
        def draw(rng: np.random.Generator) -> dict[str, Any]:
            first = maps(rng)
            net = Network((first, 1 + np.arange(len(first))[None]), "relu")
            return _with_start(rng, net, data(rng, _inputs(net)), _near_data)

        return draw

    kinds = {"equal": _equal, "any": _any}
    return {
        f"neurons that see {name} coordinates, {kind} data": one(maps, data)
        for kind, data in DATA.items()
        for name, maps in kinds.items()
    }


def shared(activation: str) -> dict[str, Draw]:
    """Networks of depth 2 to 4 with holes and shared weights (Theorems 5.2 and 5.4); with ReLU most
    starts are positive, so that signals come through."""

    def one(data: Data) -> Draw:
        def draw(rng: np.random.Generator) -> dict[str, Any]:
            widths = [*rng.integers(1, 4, int(rng.integers(2, 5))), 1]
            maps = tuple(_shared(rng, b, a) for a, b in pairwise(widths))
            net = Network(maps, activation)
            start = _normal if activation == "linear" else _mostly_positive
            return _with_start(rng, net, data(rng, _inputs(net)), start)

        return draw

    return {f"{kind} data": one(data) for kind, data in DATA.items()}


# --- data -----------------------------------------------------------------------------------------

Data = Callable[[np.random.Generator, int], NDArray]


def _ordinary(rng: np.random.Generator, d: int) -> NDArray:
    return rng.normal(size=(int(rng.integers(1, MOST + 1)), d))


def _whole(rng: np.random.Generator, d: int) -> NDArray:
    """Small whole numbers: data that are parallel, equal or orthogonal."""
    X = rng.integers(-2, 3, (int(rng.integers(1, MOST + 1)), d)).astype(float)
    return np.where(X.any(axis=1, keepdims=True), X, 1.0)


def _units(rng: np.random.Generator, d: int) -> NDArray:
    """In units from 1e-12 to 1e6, and lengths that differ by 10."""
    X = _ordinary(rng, d)
    return X * 10.0 ** rng.uniform(-12.0, 6.0) * 10.0 ** rng.uniform(-0.5, 0.5, (len(X), 1))


def _aspect(rng: np.random.Generator, d: int) -> NDArray:
    """Coordinates of different size."""
    return _ordinary(rng, d) * 10.0 ** rng.uniform(-1.0, 1.0, d)


DATA: Mapping[str, Data] = {
    "ordinary": _ordinary, "whole": _whole, "scaled": _units, "lopsided": _aspect,
}  # fmt: skip


# --- index maps -----------------------------------------------------------------------------------


def _numbered(there: NDArray) -> NDArray:
    return np.where(there, np.cumsum(there).reshape(there.shape), 0)


def _equal(rng: np.random.Generator) -> NDArray:
    k, d = (int(v) for v in rng.integers(1, 4, 2))
    return _numbered(np.ones((k, d), bool))


def _disjoint(rng: np.random.Generator) -> NDArray:
    sizes = rng.integers(1, 3, int(rng.integers(1, 4)))
    return _numbered(np.repeat(np.eye(len(sizes), dtype=bool), sizes, axis=1))


def _any(rng: np.random.Generator) -> NDArray:
    k, d = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    there = rng.random((k, d)) < 0.6
    there[np.arange(k), rng.integers(0, d, k)] = True
    return _numbered(there)


def _shared(rng: np.random.Generator, rows: int, columns: int) -> NDArray:
    """Some weights missing, the others random ones of a few parameters; no row is empty."""
    there = rng.random((rows, columns)) < 0.8
    there[np.arange(rows), rng.integers(0, columns, rows)] = True
    some = rng.integers(1, 1 + rng.integers(1, there.size + 1), there.shape)
    used = np.unique(some[there])
    return np.where(there, 1 + np.searchsorted(used, some), 0)


# --- starts ---------------------------------------------------------------------------------------

Start = Callable[[np.random.Generator, Network, NDArray], NDArray]


def _inputs(network: Network) -> int:
    return network.maps[0].shape[1]


def _normal(rng: np.random.Generator, network: Network, X: NDArray) -> NDArray:
    return rng.normal(size=network.size)


def _mostly_positive(rng: np.random.Generator, network: Network, X: NDArray) -> NDArray:
    theta = rng.normal(size=network.size)
    return np.where(rng.random(network.size) < 0.7, np.abs(theta), theta)


def _near_data(rng: np.random.Generator, network: Network, X: NDArray) -> NDArray:
    """Neuron j near the datum j, counted round; the output weights have the neurons' lengths, up to
    a factor, and any sign."""
    first, last = network.maps
    directions = X / np.linalg.norm(X, axis=1)[:, None]
    W = directions[np.arange(len(first)) % len(X)] + 0.2 * rng.normal(size=first.shape)
    W = np.where(first > 0, W, 0.0) * rng.uniform(0.5, 2.0, (len(W), 1))
    v = np.linalg.norm(W, axis=1) * rng.uniform(0.5, 2.0, len(W)) * rng.choice([-1.0, 1.0], len(W))
    return network.parameters([W, np.where(last > 0, v, 0.0)])


def _with_start(
    rng: np.random.Generator, network: Network, X: NDArray, start: Start
) -> dict[str, Any]:
    """The instance whose labels are the start's: {"network", "X", "y", "start", "logistic"}.

    Half of the starts classify the data so clearly that L < log 2 at once, and half have outputs so
    small that the flow has yet to come there.
    """
    lengths = np.linalg.norm(X, axis=1)
    for _ in range(100):
        theta = start(rng, network, X)
        f = network.output(theta, X) / lengths
        if np.any(f != 0.0):
            break
    kept = np.abs(f) >= CLEAR * np.abs(f).max()
    X, f = X[kept], (f * lengths)[kept]
    y = np.where(f >= 0.0, 1.0, -1.0)
    margins = np.abs(f)
    if rng.random() < 0.5:
        goal, now = np.log(len(X) + 1.0) + rng.uniform(0.5, 2.0), margins.min()
    else:
        goal, now = 0.3, margins.max()
    if now > 0.0:
        theta = theta * (goal / now) ** (1.0 / network.degree)
    return {"network": network, "X": X, "y": y, "start": theta,
            "logistic": np.array(int(rng.integers(0, 2)))}  # fmt: skip
