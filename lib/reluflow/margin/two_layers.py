"""The margin problem of networks of depth 2 without shared weights: convex programs, cell by cell.

With f(x) = sum_j v_j s(w_j.x^j), x^j the coordinates that neuron j sees, and the data on which it
is active held fixed, f is linear in omega_j = |v_j| w_j, and at its best |v_j| = |w_j| (Vardi et
al. 2022, eq. 8 and 11):

    min sum_j |omega_j|  s.t.  y_i sum_j sign_j active_ij omega_j.x_i^j >= 1,  omega_j in its cell.

Neurons that see the same coordinates and stand in one column (cell and sign) count as one: their
sum is in it too, and no longer. So the relaxation in which every neuron may use all its columns at
once is one program, and is exact where it uses no more columns than there are neurons. Otherwise
branch and bound: the next neuron gets one column after the other.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from reluflow.geometry import enumerate_cells
from reluflow.margin.certificates import Column, Family
from reluflow.margin.problem import KINK
from reluflow.margin.programs import Solution, least_sum
from reluflow.networks.indexed import Network

UNUSED = 1e-7
"""A column whose share of the value is smaller is not used."""
GAP = 1e-8
"""Two values of the problem that differ by less than this share are equal."""
NODES = 4000
"""Programs after which branch and bound gives up."""


@dataclass(frozen=True)
class Neurons:
    """The neurons of a network of depth 2: `inputs` are the coordinates that each sees, `data` (n,
    p_j) the data there; `groups` neurons of equal number may stand for each other."""

    inputs: tuple[tuple[int, ...], ...]
    data: tuple[NDArray, ...]
    columns: tuple[tuple[Column, ...], ...]
    groups: tuple[int, ...]


@dataclass(frozen=True)
class Minimum:
    """The least sum of |omega_j|, where it is taken, and the dual points that prove it.

    value     infinite if no combination of columns is feasible
    omegas    of each neuron, (p_j,), and the sign of its output
    signs     (k,)
    families  hold every combination; their bounds are the value, or what was to be beaten
    complete  False where branch and bound gave up
    """

    value: float
    omegas: tuple[NDArray, ...]
    signs: NDArray
    families: tuple[Family, ...]
    complete: bool


def is_plain(network: Network) -> bool:
    """Whether this is a network of depth 2 without shared weights, and with a plain output."""
    shared = any(np.any(np.bincount(g[g > 0].ravel()) > 1) for g in network.maps)
    return network.degree == 2 and not shared and not network.rectified


def joined(network: Network) -> list[int]:
    """The neurons of a network of depth 2 that have an input and are joined to the output."""
    first, last = network.maps
    return [j for j in range(len(first)) if first[j].any() and last[0, j]]


def neurons(network: Network, X: NDArray, near: Sequence[NDArray] | None = None) -> Neurons:
    """The joined neurons with all their columns; with `near` (W, v) those that meet these weights.

    A neuron of weights 0 meets every cell, with both signs; any other one keeps its sign, and meets
    the cells on either side of the data on which its input is 0.
    """
    chosen = joined(network)
    inputs = tuple(tuple(np.flatnonzero(network.maps[0][j]).tolist()) for j in chosen)
    data = tuple(X[:, list(where)] for where in inputs)
    known: dict[tuple[int, ...], tuple[Column, ...]] = {}
    groups: dict[object, int] = {}
    columns, numbers = [], []
    for j, where, x in zip(chosen, inputs, data, strict=True):
        w = np.zeros(len(where)) if near is None else near[0][j, list(where)]
        if np.any(w):
            assert near is not None
            columns.append(_columns(network, x, w, (1 if near[1][j] >= 0.0 else -1,)))
            numbers.append(groups.setdefault(("alone", j), len(groups)))
            continue
        if where not in known:
            signs = (1,) if network.activation == "linear" else (1, -1)
            known[where] = _columns(network, x, w, signs)
        columns.append(known[where])
        numbers.append(groups.setdefault(where, len(groups)))
    return Neurons(inputs, data, tuple(columns), tuple(numbers))


def _columns(
    network: Network, x: NDArray, w: NDArray, signs: tuple[int, ...]
) -> tuple[Column, ...]:
    """The columns of a neuron of weights w (p,) on the data x (n, p) that it sees."""
    n, none = len(x), np.zeros(len(x))
    if network.activation == "linear":
        return tuple(Column(np.ones(n, bool), np.zeros(n, bool), s, none) for s in signs)
    h, sizes = x @ w, np.linalg.norm(x, axis=1) * np.linalg.norm(w)
    rows = (np.abs(h) <= KINK * sizes) & x.any(axis=1)
    found = []
    for pattern in enumerate_cells(x[rows]).patterns if rows.any() else np.zeros((1, 0), bool):
        active = h > 0.0
        active[rows] = pattern
        found += [Column(active, rows, s, none) for s in signs]
    return tuple(found)


Copies = dict[tuple[int, int], int]
"""(group, number of the column) -> a neuron of the group."""


def minimum(
    given: Neurons, y: NDArray, beat: float = np.inf, stop: bool = False, nodes: int = NODES
) -> Minimum:
    """The least sum of lengths over all combinations of columns, by branch and bound.

    Parameters: the neurons, labels y (n,), a value to `beat` (what only comes near to it is not
    looked for), `stop` at the first point that beats it, and the number of programs allowed.
    """
    k, n = len(given.inputs), len(y)
    best = Minimum(np.inf, tuple(np.zeros(len(w)) for w in given.inputs), np.ones(k), (), True)
    value, families, ticket = beat, [], count()
    heap: list[tuple[float, int, tuple[int, ...], Solution, Copies]] = []

    def add(fixed: tuple[int, ...]) -> None:
        copies = _copies(given, fixed)
        found = _relaxed(given, copies, y)
        heapq.heappush(heap, (found.value, next(ticket), fixed, found, copies))

    add(())
    while heap:
        bound, _, fixed, found, copies = heapq.heappop(heap)
        settled = bound >= value * (1.0 - GAP)
        point = None if settled else _assigned(given, fixed, copies, found)
        if point is not None:
            value, settled = bound, True
            best = replace(best, value=bound, omegas=point[0], signs=point[1])
        if settled:
            families.append(_family(given, fixed, copies, found, n))
            if point is not None and stop:
                break
            continue
        if next(ticket) > nodes:
            return replace(best, families=tuple(families), complete=False)
        tried = _largest(given, fixed, copies, found)
        guess = _relaxed(given, tried, y)
        if guess.value < value * (1.0 - GAP):
            value, point = guess.value, _assigned(given, fixed, tried, guess)
            assert point is not None
            best = replace(best, value=value, omegas=point[0], signs=point[1])
            if stop:
                break
        j = len(fixed)
        for c in _allowed(given, fixed, j):
            add((*fixed, c))
    return replace(best, families=tuple(families))


def _allowed(given: Neurons, fixed: tuple[int, ...], j: int) -> range:
    """Numbers of the columns left to neuron j: those of a group go up, for their order is free."""
    before = [c for i, c in enumerate(fixed) if given.groups[i] == given.groups[j]]
    return range(max(before, default=0), len(given.columns[j]))


def _copies(given: Neurons, fixed: tuple[int, ...]) -> Copies:
    """One copy for every column of a group that some neuron of it may use."""
    copies: Copies = {}
    for j, group in enumerate(given.groups):
        for c in [fixed[j]] if j < len(fixed) else _allowed(given, fixed, j):
            copies.setdefault((group, c), j)
    return copies


def _relaxed(given: Neurons, copies: Copies, y: NDArray) -> Solution:
    """The program in which every copy has a vector of its own; of infinite value if infeasible."""
    n, blocks = len(y), []
    heights = [int(given.columns[j][c].rows.sum()) for (_, c), j in copies.items()]
    first, total = n, n + sum(heights)
    for ((_, c), j), height in zip(copies.items(), heights, strict=True):
        column, x = given.columns[j][c], given.data[j]
        G = np.zeros((total, x.shape[1]))
        G[:n] = (y * column.sign * column.active)[:, None] * x
        G[first : first + height] = (np.where(column.active, 1.0, -1.0)[:, None] * x)[column.rows]
        first += height
        blocks.append(G)
    return least_sum(blocks, np.concatenate([np.ones(n), np.zeros(total - n)]))


def _assigned(
    given: Neurons, fixed: tuple[int, ...], copies: Copies, found: Solution
) -> tuple[tuple[NDArray, ...], NDArray] | None:
    """A neuron for every copy in use, or None where a group has too few of them."""
    omegas = [np.zeros(len(w)) for w in given.inputs]
    signs = np.array([columns[0].sign for columns in given.columns], float)
    used = {key: u for key, u in zip(copies, found.blocks, strict=True)
            if np.linalg.norm(u) > UNUSED * found.value}  # fmt: skip
    free = Counter(given.groups[len(fixed) :])
    holders = {(given.groups[j], c): j for j, c in enumerate(fixed)}
    spare = {g: [j for j in range(len(fixed), len(omegas)) if given.groups[j] == g] for g in free}
    for (group, c), u in used.items():
        if (group, c) not in holders and not spare.get(group):
            return None
        j = holders[group, c] if (group, c) in holders else spare[group].pop()
        omegas[j], signs[j] = u, given.columns[j][c].sign
    return tuple(omegas), signs


def _largest(given: Neurons, fixed: tuple[int, ...], copies: Copies, found: Solution) -> Copies:
    """As many copies of each group as it has neurons: those that are fixed, and the largest."""
    sizes = {key: float(np.linalg.norm(u)) for key, u in zip(copies, found.blocks, strict=True)}
    chosen = {(given.groups[j], c) for j, c in enumerate(fixed)}
    for group, number in Counter(given.groups[len(fixed) :]).items():
        others = [key for key in copies if key[0] == group and key not in chosen]
        chosen.update(sorted(others, key=lambda key: -sizes[key])[:number])
    return {key: j for key, j in copies.items() if key in chosen}


def _family(
    given: Neurons, fixed: tuple[int, ...], copies: Copies, found: Solution, n: int
) -> Family:
    """The dual point of a relaxation, with the columns of every neuron that it speaks of."""
    slopes, first = {}, n
    for (group, c), j in copies.items():
        column = given.columns[j][c]
        slope = np.zeros(n)
        height = int(column.rows.sum())
        slope[column.rows] = found.multipliers[first : first + height]
        slopes[group, c] = replace(column, slopes=slope)
        first += height
    columns = []
    for j, group in enumerate(given.groups):
        numbers = [fixed[j]] if j < len(fixed) else _allowed(given, fixed, j)
        columns.append(tuple(slopes[group, c] for c in numbers))
    return Family(found.multipliers[:n], tuple(columns))


def parameters(
    network: Network, given: Neurons, omegas: Sequence[NDArray], signs: NDArray
) -> NDArray:
    """theta (p,) of balanced neurons, w_j = omega_j / |omega_j|^(1/2), |v_j| = |omega_j|^(1/2)."""
    first, last = (np.zeros(g.shape) for g in network.maps)
    for j, where, omega, sign in zip(joined(network), given.inputs, omegas, signs, strict=True):
        size = np.sqrt(np.linalg.norm(omega))
        if size > 0.0:
            first[j, list(where)] = omega / size
            last[0, j] = sign * size
    return network.parameters([first, last])
