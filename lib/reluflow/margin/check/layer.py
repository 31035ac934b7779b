"""Dual points of the problem of one layer: is every bound right, and is no cell missing?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from flint import arb, fmpq

from reluflow.margin.certificates import LayerCell, LayerCells
from reluflow.margin.check.rational import (
    Numbers,
    Point,
    Wrong,
    combination,
    is_empty,
    numbers,
    square,
)

CELLS = 20_000
"""More combinations of sides than this are not looked at."""

Place = tuple[int, int, int]
"""Layer, datum and unit of an input that is 0 at theta."""


def slack(point: Point, proof: LayerCells) -> arb:
    """1 - bound / value of a proof that theta is an optimum of a layer's problem. Raises Wrong."""
    if not 1 <= proof.layer <= point.depth:
        raise Wrong("there is no such layer")
    if not proof.cells:
        raise Wrong("there is no cell")
    for cell in proof.cells:
        shapes = [np.shape(pattern) for pattern in cell.patterns]
        wanted = [(len(point.X), len(point.maps[k])) for k in range(point.relus)]
        if shapes != wanted or [np.shape(s) for s in cell.slopes] != wanted:
            raise Wrong("a cell has patterns or multipliers of another shape")
    least = min(_bound(point, proof.layer, cell) for cell in proof.cells)
    _covered(point, proof)
    u = point.theta[point.span(proof.layer)]
    value = square(u) / (2 * point.least**2)
    return 1 - arb(least) / arb(value)


def _bound(point: Point, layer: int, cell: LayerCell) -> fmpq:
    """A cell's bound from below on 1/2 |u|^2: the best multiple of its dual point's."""
    weights = numbers(cell.multipliers)
    if len(weights) != len(point.y) or min(weights) < 0:
        raise Wrong("a multiplier is negative, or they are not as many as the data")
    outputs, turns = linear_parts(point, layer, cell)
    rows, pulls = list(outputs), [w * y for w, y in zip(weights, point.y, strict=True)]
    for k, (pattern, slopes) in enumerate(zip(cell.patterns, cell.slopes, strict=True), start=1):
        below = k < layer
        for i, unit in np.argwhere(np.asarray(slopes) != 0.0).tolist():
            slope = numbers([slopes[i][unit]])[0]
            if below or slope < 0:
                raise Wrong("a multiplier is negative or belongs to no condition of the cell")
            rows.append(turns[k - layer][i][unit])
            pulls.append(slope if pattern[i][unit] else -slope)
    size = len(point.theta[point.span(layer)])
    total, length = sum(weights, fmpq(0)), square(combination(pulls, rows, size))
    return total * total / (2 * length) if length > 0 else fmpq(10) ** 300


def linear_parts(
    point: Point, layer: int, cell: LayerCell
) -> tuple[list[Numbers], list[list[list[Numbers]]]]:
    """f_i, [i], and the inputs of units, [layer from this one on][i][unit], as linear functions of
    the layer's parameters u: their coefficients (q,)."""
    q = len(point.theta[point.span(layer)])
    outputs: list[Numbers] = []
    turns: list[list[list[Numbers]]] = [[] for _ in range(point.relus - layer + 1)]
    for i, z in enumerate(point.inputs[layer - 1]):
        rows = [
            [sum((v for g, v in zip(row, z, strict=True) if g == k), fmpq(0))
             for k in range(1, q + 1)]
            for row in point.maps[layer - 1]
        ]  # fmt: skip
        for k in range(layer, point.depth):
            if k <= point.relus:
                turns[k - layer].append(rows)
                active = cell.patterns[k - 1][i]
                rows = [r if a else [fmpq(0)] * q for r, a in zip(rows, active, strict=True)]
            rows = [combination(row, rows, q) for row in point.weights(k + 1)]
        outputs.append(rows[0])
    return outputs, turns


def _covered(point: Point, proof: LayerCells) -> None:
    """Raise Wrong unless every cell that the layer can be in, or that meets theta, is there."""
    layer = proof.layer
    if layer > point.relus:
        return  # the network is linear in this layer
    places: list[Place] = []
    own: dict[Place, bool] = {}
    for k in range(layer, point.relus + 1):
        for i, signs in enumerate(point.signs(k)):
            for unit, sign in enumerate(signs):
                if k == layer and square(unit_row(point, k, i, unit)) == 0:
                    continue  # 0 whatever the weights are
                if sign == 0 or proof.everywhere:
                    places.append((k, i, unit))
                else:
                    own[k, i, unit] = sign > 0
    given = {
        tuple(bool(cell.patterns[k - 1][i][unit]) for k, i, unit in places)
        for cell in proof.cells
        if all(bool(cell.patterns[k - 1][i][unit]) == a for (k, i, unit), a in own.items())
    }
    # Weights of one unit are moved together; units, and what stands above, each for itself.
    blocks: list[list[tuple[bool, ...]]] = []
    order: list[Place] = []
    for unit in range(len(point.maps[layer - 1])):
        mine = [at for at in places if at[0] == layer and at[2] == unit]
        blocks.append(_sides([unit_row(point, *at) for at in mine]))
        order += mine
    above = [at for at in places if at[0] > layer]
    blocks += [[(True,), (False,)]] * len(above)
    if prod(len(sides) for sides in blocks) > CELLS:
        raise Wrong("there are too many cells to look at")
    back = [[*order, *above].index(at) for at in places]
    for chosen in product(*blocks):
        flat = [side for sides in chosen for side in sides]
        if tuple(flat[k] for k in back) not in given:
            raise Wrong("a cell of the layer is missing")


def unit_row(point: Point, layer: int, datum: int, unit: int) -> Numbers:
    """A unit's input as a linear function of the weights of its row: (q,), one entry for each."""
    z, row = point.inputs[layer - 1][datum], point.maps[layer - 1][unit]
    return [sum((v for g, v in zip(row, z, strict=True) if g == k), fmpq(0))
            for k in range(1, 1 + max(row))]  # fmt: skip


def _sides(rows: Sequence[Numbers]) -> list[tuple[bool, ...]]:
    """The signs that linear functions can have together, as far as nothing excludes them."""
    found: list[tuple[bool, ...]] = [()]
    for k in range(1, len(rows) + 1):
        longer = [(*prefix, side) for prefix in found for side in (True, False)]
        found = [signs for signs in longer if not is_empty(_signed(rows[:k], signs))]
    return found


def _signed(rows: Sequence[Numbers], signs: Sequence[bool]) -> list[Numbers]:
    return [[v if s else -v for v in row] for row, s in zip(rows, signs, strict=True)]
