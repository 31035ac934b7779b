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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from reluflow.errors import InputError
from reluflow.geometry import cell_bound, enumerate_cells
from reluflow.margin.certificates import Column, Family
from reluflow.margin.kkt import KINK
from reluflow.margin.max_margin import least_sum
from reluflow.networks.indexed import Network

UNUSED = 1e-7  # a column whose share of the value is smaller is not used
GAP = 1e-8  # two values of the problem that differ by less than this share are equal
NODES = 4000  # programs after which branch and bound gives up
WORK = 200_000  # and columns in all of them together: that many fit in memory
CELLS = 20_000
"""Cells of all neurons together, those that see the same counted once, that are looked at."""
FEW = 20_000  # numbers in a program that is solved at once; a larger one is solved column by column
BATCH = 50  # columns that are added at a time
BREAKS = 1e-9  # a condition of the dual that is missed by less is met
CHUNK = 2**18  # entries of the columns that are worked on at once


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
    the cells on either side of the data on which its input is 0. Raises InputError for more than
    `CELLS`.
    """
    chosen = joined(network)
    inputs = tuple(tuple(np.flatnonzero(network.maps[0][j]).tolist()) for j in chosen)
    data = tuple(X[:, list(where)] for where in inputs)
    known: dict[tuple, tuple[Column, ...]] = {}
    groups: dict[object, int] = {}
    columns, numbers, cells = [], [], 0
    for j, where, x in zip(chosen, inputs, data, strict=True):
        w = np.zeros(len(where)) if near is None else near[0][j, list(where)]
        key: tuple = ("alone", j) if np.any(w) else where
        if key not in known:
            relu, none, found = network.activation == "relu", np.zeros(len(x)), list[Column]()
            active, rows = np.ones(len(x), bool), np.zeros(len(x), bool)
            if relu:  # `rows` are the data, not 0, on which its input is 0
                sizes = np.linalg.norm(x, axis=1) * np.linalg.norm(w)
                active, rows = x @ w > 0.0, (np.abs(x @ w) <= KINK * sizes) & x.any(axis=1)
            cells += cell_bound(int(rows.sum()), len(w))
            if cells > CELLS:
                raise InputError(f"up to {cells} cells, and {CELLS} are the limit")
            signs: tuple[int, ...] = (1, -1) if relu else (1,)
            if near is not None and np.any(w):
                signs = (1 if near[1][j] >= 0.0 else -1,)
            one = np.zeros((1, 0), bool)
            for pattern in enumerate_cells(x[rows]).patterns if rows.any() else one:
                active = active.copy()
                active[rows] = pattern
                found += [Column(active, rows, s, none) for s in signs]
            known[key] = tuple(found)
        columns.append(known[key])
        numbers.append(groups.setdefault(key, len(groups)))
    return Neurons(inputs, data, tuple(columns), tuple(numbers))


Key = tuple[int, int]
"""(group, number of the column)."""
Copies = dict[Key, int]
"""A neuron of the group for every column of it that is there."""


@dataclass(frozen=True)
class Relaxed:
    """The least sum of lengths if every column may have a vector of its own; infinite where no
    vectors will do. `used` are those of the columns looked at, `multipliers` (n,) the dual point's,
    which bounds the columns left out, too."""

    value: float
    used: dict[Key, NDArray]
    multipliers: NDArray


def minimum(
    given: Neurons, y: NDArray, beat: float = np.inf, stop: bool = False, nodes: int = NODES
) -> Minimum:
    """The least sum of lengths over all combinations of columns, by branch and bound.

    Parameters: the neurons, labels y (n,), a value to `beat` (what only comes near to it is not
    looked for), `stop` at the first point that beats it, and the number of programs allowed.
    """
    k = len(given.inputs)
    best = Minimum(np.inf, tuple(np.zeros(len(w)) for w in given.inputs), np.ones(k), (), True)
    value, families, ticket, work = beat, [], count(), 0
    heap: list[tuple[float, int, tuple[int, ...], Relaxed]] = []

    def add(fixed: tuple[int, ...], first: Iterable[Key] = ()) -> int:
        copies = _copies(given, fixed)
        found = relaxed(given, copies, y, first)
        heapq.heappush(heap, (found.value, next(ticket), fixed, found))
        return len(copies)

    work += add(())
    while heap:
        bound, _, fixed, found = heapq.heappop(heap)
        copies = _copies(given, fixed)
        settled = bound >= value * (1.0 - GAP)
        point = None if settled else _assigned(given, fixed, copies, found)
        if point is not None:
            value, settled = bound, True
            best = replace(best, value=bound, omegas=point[0], signs=point[1])
        if settled:
            families.append(_family(given, fixed, copies, found, y))
            if point is not None and stop:
                break
            continue
        if next(ticket) > nodes:
            return replace(best, families=tuple(families), complete=False)
        for last in [None, *found.used] if stop else [None]:
            tried = _largest(given, fixed, copies, found, last)
            guess = relaxed(given, tried, y, tried)
            if guess.value < value * (1.0 - GAP):
                value, point = guess.value, _assigned(given, fixed, tried, guess)
                assert point is not None
                best = replace(best, value=value, omegas=point[0], signs=point[1])
                if stop:
                    return replace(best, families=tuple(families))
        j = len(fixed)
        for c in _allowed(given, fixed, j):
            if work > WORK:
                return replace(best, families=tuple(families), complete=False)
            work += add((*fixed, c), [*found.used, (given.groups[j], c)])
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


def relaxed(given: Neurons, copies: Copies, y: NDArray, first: Iterable[Key] = ()) -> Relaxed:
    """The program in which every copy has a vector of its own, by column generation.

    It begins with the copies `first`, or with all where these are few, and adds those whose
    condition of the dual its multipliers break most, until they break none: the bound is that of
    all copies, and the program never holds more than a few.
    """
    chosen = {key: None for key in first if key in copies}
    if program_entries(given, copies) <= FEW:
        chosen = dict.fromkeys(copies)
    elif not chosen:
        chosen = dict.fromkeys(list(copies)[:: max(1, len(copies) // BATCH)])
    while True:
        blocks, conditions = [], []
        for key in chosen:  # the program of these copies alone
            column, x = given.columns[copies[key]][key[1]], given.data[copies[key]]
            blocks.append((y * column.sign * column.active)[:, None] * x)
            conditions.append((np.where(column.active, 1.0, -1.0)[:, None] * x)[column.rows])
        found = least_sum(blocks, np.ones(len(y)), conditions)
        used = dict(zip(chosen, found.blocks, strict=True))
        if len(chosen) == len(copies):
            return Relaxed(found.value, used, found.multipliers)
        rest = {key: j for key, j in copies.items() if key not in chosen}
        broken = [(length, key) for keys, lengths, _ in _lengths(given, rest, y, found.multipliers)
                  for length, key in zip(lengths.tolist(), keys, strict=True)
                  if length > 1.0 + BREAKS]  # fmt: skip
        if not broken:
            return Relaxed(found.value, used, found.multipliers)
        chosen |= {key: None for _, key in heapq.nlargest(BATCH, broken)}


def program_entries(given: Neurons, copies: Copies) -> int:
    """Numbers in the program of some copies: one for each datum, each condition and coordinate."""
    return sum(
        (len(given.data[j]) + int(given.columns[j][c].rows.sum())) * len(given.inputs[j])
        for (_, c), j in copies.items()
    )


def _lengths(
    given: Neurons, copies: Copies, y: NDArray, multipliers: NDArray
) -> Iterator[tuple[list[Key], NDArray, dict[Key, NDArray]]]:
    """For chunks of copies: their keys, the lengths (c,) of what a dual point asks to be at most 1,

        min over s >= 0 of | sum_i (sign lambda_i y_i active_i + s_i (2 active_i - 1)) x_i |,

    and the s (n,) of those where s = 0 does not do. By duality it is the largest value of lambda's
    pull on a unit vector in the cell.
    """
    keys = list(copies)
    most = max(1, CHUNK // len(y))
    for j in dict.fromkeys(copies.values()):
        x, sizes = given.data[j], np.linalg.norm(given.data[j], axis=1)
        own = [key for key in keys if copies[key] == j]
        for start in range(0, len(own), most):
            part = own[start : start + most]
            columns = [given.columns[j][c] for _, c in part]
            active = np.array([column.active for column in columns])
            signs = np.array([column.sign for column in columns], float)
            pulls = (active * (signs[:, None] * (multipliers * y))) @ x
            lengths, slopes = np.linalg.norm(pulls, axis=1), {}
            for k in np.flatnonzero(lengths > 1.0).tolist():
                rows = columns[k].rows & (sizes > 0.0)
                if rows.any():
                    sides = np.where(active[k, rows], 1.0, -1.0) / sizes[rows]
                    try:
                        s, lengths[k] = nnls((sides[:, None] * x[rows]).T, -pulls[k])
                    except RuntimeError as error:  # too many steps
                        raise ArithmeticError("the condition of a cell was not decided") from error
                    slopes[part[k]] = np.zeros(len(y))
                    slopes[part[k]][rows] = s / sizes[rows]
            yield part, lengths, slopes


def _assigned(
    given: Neurons, fixed: tuple[int, ...], copies: Copies, found: Relaxed
) -> tuple[tuple[NDArray, ...], NDArray] | None:
    """A neuron for every copy in use, or None where a group has too few of them."""
    omegas = [np.zeros(len(w)) for w in given.inputs]
    signs = np.array([columns[0].sign for columns in given.columns], float)
    used = {key: u for key, u in found.used.items()
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


def _largest(
    given: Neurons, fixed: tuple[int, ...], copies: Copies, found: Relaxed, first: Key | None
) -> Copies:
    """As many copies of each group as it has neurons: those that are fixed, the largest in use, and
    before these one that is asked for."""
    sizes = {key: float(np.linalg.norm(u)) for key, u in found.used.items()}
    if first is not None:
        sizes[first] = np.inf
    chosen = {(given.groups[j], c) for j, c in enumerate(fixed)}
    for group, number in Counter(given.groups[len(fixed) :]).items():
        others = [key for key in sizes if key[0] == group and key not in chosen]
        chosen.update(sorted(others, key=lambda key: -sizes[key])[:number])
    return {key: j for key, j in copies.items() if key in chosen}


def _family(
    given: Neurons, fixed: tuple[int, ...], copies: Copies, found: Relaxed, y: NDArray
) -> Family:
    """The dual point of a relaxation, with the columns of every neuron that it speaks of."""
    columns = {key: given.columns[j][key[1]] for key, j in copies.items()}
    for _, _, slopes in _lengths(given, copies, y, found.multipliers):
        columns |= {key: replace(columns[key], slopes=s) for key, s in slopes.items()}
    listed = []
    for j, group in enumerate(given.groups):
        numbers = [fixed[j]] if j < len(fixed) else _allowed(given, fixed, j)
        listed.append(tuple(columns[group, c] for c in numbers))
    return Family(found.multipliers, tuple(listed))


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
