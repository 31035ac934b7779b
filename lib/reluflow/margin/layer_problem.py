"""The margin problem of one layer, the others held (Vardi et al. 2022, Problem 4).

While the units of this layer and of those above keep their activity, f is linear in the layer's
parameters u: a quadratic program in every cell, of which those that meet theta decide whether it is
a local optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError
from reluflow.geometry import enumerate_cells
from reluflow.margin.certificates import LayerCell
from reluflow.margin.kkt import KINK, combined
from reluflow.margin.max_margin import least_length
from reluflow.margin.second_order import span
from reluflow.networks.indexed import Network

CELLS = 5000  # more cells than this are not looked at

Choice = tuple[int, tuple[NDArray, int], NDArray]
"""A layer from 0, data and a unit of it, and the patterns (k, data) that these can have."""


@dataclass(frozen=True)
class LayerMinimum:
    """The least u of a layer over some cells, and each cell with its dual point."""

    value: float
    u: NDArray
    cells: tuple[LayerCell, ...]


def adjacent(
    network: Network, theta: NDArray, X: NDArray, layer: int, everywhere: bool = False
) -> list[list[NDArray]] | None:
    """Patterns of all layers in the cells that meet theta, its own where no unit's input is 0; or
    in all cells, as if all inputs were 0.

    For units of the layer itself only patterns that occur; above it both sides of every zero.
    None where they are too many.
    """
    before = network.cosines(theta, X)
    own = [h > KINK for h in before]
    inputs = X if layer == 1 else np.maximum(network.preactivations(theta, X)[layer - 2], 0.0)
    choices: list[Choice] = []
    for k in range(layer - 1, network.layers):
        for unit in range(own[k].shape[1]):
            near, g = everywhere | (np.abs(before[k][:, unit]) <= KINK), network.maps[k][unit]
            if k == layer - 1:
                near &= inputs[:, g > 0].any(axis=1)
            if not near.any():
                continue
            kinks = np.flatnonzero(near)
            if k == layer - 1 and len(np.unique(g[g > 0])) == np.count_nonzero(g):
                patterns = enumerate_cells(inputs[kinks][:, g > 0]).patterns
            else:  # above the layer, or where a weight occurs twice, both sides of all
                patterns = np.array(list(product([False, True], repeat=min(len(kinks), 20))))
            choices.append((k, (kinks, unit), patterns))
    few = prod(len(patterns) for *_, patterns in choices) <= CELLS
    return combined(own, choices) if few else None


def least_in(
    network: Network,
    theta: NDArray,
    X: NDArray,
    y: NDArray,
    layer: int,
    cells: Sequence[Sequence[NDArray]],
    kinks: Sequence[NDArray] | None = None,
) -> LayerMinimum:
    """The least 1/2 |u|^2 with y_i f >= 1 over closed cells of given patterns.

    kinks  of each layer with a ReLU, (n, h_l): which signs of inputs are conditions; None for all
    """
    where, q = span(network, layer), network.sizes[layer - 1]
    best, proofs = (np.inf, theta[where]), []
    for patterns in cells:
        # How f, and the inputs of the units in this layer and above, move with its parameters.
        active = [np.asarray(p, float) for p in patterns] or None
        turns, moves = network.rates(theta, X, np.eye(network.size)[where], active)
        rows = [np.moveaxis(turn, 0, -1) for turn in turns[layer - 1 :]]
        sides = [np.where(p, 1.0, -1.0) for p in patterns[layer - 1 :]]
        asked = [np.ones(s.shape, bool) for s in sides] if kinks is None else kinks[layer - 1 :]
        conditions = [(s[..., None] * R)[m] for s, R, m in zip(sides, rows, asked, strict=True)]
        G = np.vstack([y[:, None] * moves.T, *conditions])
        h = np.concatenate([np.ones(len(y)), np.zeros(len(G) - len(y))])
        found = least_length(G.reshape(-1, q), h)
        if found.value < best[0]:
            best = (found.value, found.blocks[0])
        slopes, first = [np.zeros(p.shape) for p in patterns], len(y)
        for k, mask in enumerate(asked, start=layer - 1):
            slopes[k][mask] = found.multipliers[first : first + mask.sum()]
            first += mask.sum()
        proofs.append(LayerCell(tuple(patterns), found.multipliers[: len(y)], tuple(slopes)))
    return LayerMinimum(best[0], best[1], tuple(proofs))


def layer_optimum(
    network: Network, theta: NDArray, X: NDArray, y: NDArray, layer: int
) -> LayerMinimum:
    """A global optimum of Problem (4) for a layer, by a quadratic program in each of its cells.

    Parameters: theta (p,), X (n, d), y (n,), the layer from 1. For a linear network or the last
    layer there is one cell; else the network must be of depth 2, with few enough cells.
    Raises InputError where the cells are too many, or the network is deeper.
    """
    if layer - 1 >= network.layers:
        cells: list[list[NDArray]] | None = [network.patterns(theta, X)]
    elif network.degree == 2:
        cells = adjacent(network, theta, X, layer, everywhere=True)
    else:
        raise InputError("all cells of a hidden layer are known for networks of depth 2 only.")
    if cells is None:
        raise InputError(f"the layer has more than {CELLS} cells, too many to look at all of them.")
    return least_in(network, theta, X, y, layer, cells)
