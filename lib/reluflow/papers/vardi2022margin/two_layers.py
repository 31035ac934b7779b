"""The margin problem of networks of depth 2 without shared weights: convex programs, cell by cell.

With f(x) = sum_j v_j s(w_j.x^j), x^j the coordinates that neuron j sees, and the data on which it
is active held fixed, f is linear in omega_j = |v_j| w_j, and at its best |v_j| = |w_j| (Vardi et
al. 2022, eq. 8 and 11):

    min sum_j |omega_j|  s.t.  y_i sum_j sign_j active_ij omega_j.x_i^j >= 1,  omega_j in its cell.

Neurons that see the same coordinates and stand in one column (cell and sign) count as one: their
sum is in it too, and no longer. So the relaxation in which every neuron may use all its columns at
once is one program. It is exact where it uses no more columns than there are neurons: at a vertex
of what is left once the vectors' directions are fixed, which has at most n of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from reluflow.errors import InputError
from reluflow.geometry import cell_bound, enumerate_cells
from reluflow.margin.kkt import KINK
from reluflow.margin.max_margin import LONG, Solution
from reluflow.networks.indexed import Network
from reluflow.papers.vardi2022margin.checker import Cellwise, Column

UNUSED = 1e-7  # a column whose share of the value is smaller is not used
GAP = 1e-8  # two values of the problem that differ by less than this share are equal
CELLS = 10_000
"""Cells of all neurons together, those that see the same counted once, that are looked at."""
NUMBERS = 600_000
"""Cells times data times coordinates, of all neurons together: so many take 20 s and 0.6 GB."""

Key = tuple[int, int]
"""A column: the group of neurons, and its number there."""


@dataclass(frozen=True)
class Neurons:
    """The neurons of a network of depth 2 that have an input and are joined to the output.

    groups   of each neuron; those of one group may stand for each other
    inputs   of each group, the coordinates that it sees
    data     of each group, the data there, (n, p_j)
    columns  of each group
    """

    groups: tuple[int, ...]
    inputs: tuple[list[int], ...]
    data: tuple[NDArray, ...]
    columns: tuple[tuple[Column, ...], ...]


def is_plain(network: Network) -> bool:
    """Whether this is a network of depth 2 without shared weights."""
    shared = any(np.any(np.bincount(g[g > 0].ravel()) > 1) for g in network.maps)
    return network.degree == 2 and not shared


def joined(network: Network) -> list[int]:
    """The neurons of a network of depth 2 that have an input and are joined to the output."""
    first, last = network.maps
    return [j for j in range(len(first)) if first[j].any() and last[0, j]]


def neurons(network: Network, X: NDArray, near: Sequence[NDArray] | None = None) -> Neurons:
    """The joined neurons with all their columns; with `near` (W, v) those that meet these weights.

    A neuron of weights 0 meets every cell, with both signs; any other one keeps its sign, and meets
    the cells on either side of the data on which its input is 0. Raises InputError for more than
    `CELLS`, or `NUMBERS`.
    """
    groups: dict[object, int] = {}
    of_each, inputs, data, cells, size = [], [], [], 0, 0
    columns: list[tuple[Column, ...]] = []
    relu, none = network.activation == "relu", np.zeros(len(X))
    for j in joined(network):
        where = np.flatnonzero(network.maps[0][j]).tolist()
        w, x = np.zeros(len(where)) if near is None else near[0][j, where], X[:, where]
        key = ("alone", j) if w.any() else tuple(where)
        of_each.append(groups.setdefault(key, len(groups)))
        if of_each[-1] < len(columns):
            continue
        active, rows = np.ones(len(x), bool), np.zeros(len(x), bool)
        if relu:  # `rows` are the data, not 0, on which its input is 0
            sizes = np.linalg.norm(x, axis=1) * np.linalg.norm(w)
            active, rows = x @ w > 0.0, (np.abs(x @ w) <= KINK * sizes) & x.any(axis=1)
        own = cell_bound(int(rows.sum()), len(w))
        cells, size = cells + own, size + own * x.size
        if cells > CELLS:
            raise InputError(f"up to {cells} cells, and {CELLS} are the limit")
        if size > NUMBERS:
            raise InputError(f"up to {cells} cells are too many for {len(X)} data")
        signs: tuple[int, ...] = (1, -1) if relu else (1,)
        if near is not None and w.any():
            signs = (1 if near[1][j] >= 0.0 else -1,)
        found = []
        for pattern in enumerate_cells(x[rows]).patterns if rows.any() else np.zeros((1, 0), bool):
            active = active.copy()
            active[rows] = pattern
            found += [Column(active, rows, sign, none) for sign in signs]
        inputs.append(where)
        data.append(x)
        columns.append(tuple(found))
    return Neurons(tuple(of_each), tuple(inputs), tuple(data), tuple(columns))


_GAP = 1e-11
_SOLVED = ("Solved", "AlmostSolved")
_INFEASIBLE = ("PrimalInfeasible", "AlmostPrimalInfeasible")


def least_sum(blocks: Sequence[NDArray], h: NDArray, cells: Sequence[NDArray]) -> Solution:
    """min sum_j |u_j| subject to sum_j G_j u_j >= h and C_j u_j >= 0, by an interior point method.

    Parameters: blocks G_j (r, p_j), h (r,), `cells` C_j (r_j, p_j). Its dual is max z.h over z, s_j
    >= 0 with |G_j' z + C_j' s_j| <= 1. Raises ArithmeticError if Clarabel can tell neither.
    """
    sizes, k = [G.shape[1] for G in blocks], len(blocks)
    C, G = sparse.block_diag(cells, "csc"), np.hstack(blocks)
    lengths = np.append(np.linalg.norm(G, axis=1), sparse.linalg.norm(C, axis=1))
    goals = np.append(h, np.zeros(C.shape[0]))
    # Powers of two as units, of u and of each row, so that data in any unit give one program: rows
    # with h = 0 have their own, the others one.
    asked = lengths[(goals != 0.0) & (lengths > 0.0)]
    typical = float(np.median(asked)) if len(asked) else 1.0
    own = np.where(goals == 0.0, np.where(lengths > 0.0, lengths, 1.0), typical)
    scale, units = float(2.0 ** np.rint(np.log2(typical))), 2.0 ** np.rint(np.log2(own))
    # A x + s = b with s in the cones, for x = (lengths, u_1, ..., u_k).
    cones, order, first = [clarabel.NonnegativeConeT(len(units))], [], k
    for j, size in enumerate(sizes):
        cones.append(clarabel.SecondOrderConeT(1 + size))
        order += [j, *range(first, first + size)]
        first += size
    rows = -sparse.diags(1.0 / units) @ sparse.vstack([sparse.csc_matrix(G), C])
    rows = sparse.hstack([sparse.csc_matrix((len(units), k)), rows])
    below = sparse.csc_matrix((-np.ones(len(order)), (range(len(order)), order)),
                              shape=(len(order), first))  # fmt: skip
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _GAP
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((first, first)),
        np.concatenate([np.ones(k), np.zeros(first - k)]),
        sparse.vstack([rows, below], format="csc"),
        np.concatenate([-goals, np.zeros(len(order))]),
        cones, settings,
    ).solve()  # fmt: skip
    status, x = str(found.status), np.array(found.x)
    value, u = float(np.sum(x[:k])) / scale, x[k:] / scale
    z = np.maximum(np.array(found.z)[: len(units)] / units, 0.0)
    if status in _INFEASIBLE:
        value, u, z = np.inf, np.zeros(len(u)), z * (LONG / float(z @ goals))
    elif status not in _SOLVED:
        raise ArithmeticError(f"a convex program was not solved: {status}")
    ends = np.cumsum([len(h), *map(len, cells)])
    multipliers, *slopes = np.split(z, ends[:-1])
    return Solution(tuple(np.split(u, np.cumsum(sizes)[:-1])), multipliers, value, tuple(slopes))


@dataclass(frozen=True)
class Program:
    """The least sum of lengths if every column may have a vector of its own.

    value        infinite where no vectors will do
    bound        below every sum, by the dual point: near the value, where that is accurate
    omegas       of each column
    multipliers  (n,) of the dual point
    slopes       of each column, (n,): its part of the dual point
    """

    value: float
    bound: float
    omegas: dict[Key, NDArray]
    multipliers: NDArray
    slopes: dict[Key, NDArray]

    def proof(self, given: Neurons, everywhere: bool) -> Cellwise:
        """The dual point, with the columns of every neuron: `everywhere` if these are all."""
        columns = [tuple(replace(column, slopes=self.slopes[group, c])
                         for c, column in enumerate(own))
                   for group, own in enumerate(given.columns)]  # fmt: skip
        return Cellwise(self.multipliers, tuple(columns[group] for group in given.groups),
                        everywhere)  # fmt: skip


def relaxed(given: Neurons, y: NDArray, only: Sequence[Key] | None = None) -> Program:
    """The program with all columns, or `only` some of them."""
    keys = [(group, c) for group, own in enumerate(given.columns) for c in range(len(own))]
    keys, blocks, conditions = keys if only is None else list(only), [], []
    for group, c in keys:
        column, x = given.columns[group][c], given.data[group]
        blocks.append(_block(column, x, y))
        conditions.append((np.where(column.active, 1.0, -1.0)[:, None] * x)[column.rows])
    found = least_sum(blocks, np.ones(len(y)), conditions)
    slopes, sizes = {}, [1e-300]
    for (group, c), G, C, own in zip(keys, blocks, conditions, found.slopes, strict=True):
        slopes[group, c], pull = np.zeros(len(y)), found.multipliers @ G
        if np.linalg.norm(pull) > 1.0:  # without them the bound would not hold
            slopes[group, c][given.columns[group][c].rows], pull = own, pull + own @ C
        sizes.append(float(np.linalg.norm(pull)))
    bound = float(found.multipliers.sum()) / max(sizes)
    omegas = dict(zip(keys, found.blocks, strict=True))
    return Program(found.value, bound, omegas, found.multipliers, slopes)


def _block(column: Column, x: NDArray, y: NDArray) -> NDArray:
    """The margins (n, p) of a column as a linear function of its vector."""
    return (y * column.sign * column.active)[:, None] * x


@dataclass(frozen=True)
class Placed:
    """Vectors omega (p_j,) of the neurons, the signs (k,) of their outputs, and the value."""

    omegas: tuple[NDArray, ...]
    signs: NDArray
    value: float


def placed(given: Neurons, y: NDArray, found: Program) -> Placed | None:
    """A point of the neurons in the columns that a vertex of the program uses; one that may be
    longer where these are too many for some group, and None where it serves no datum."""
    point = _placed(given, found)
    if point is not None or not np.isfinite(found.value):
        return point
    sizes = np.array([np.linalg.norm(u) for u in found.omegas.values()])
    margins = [_block(given.columns[group][c], given.data[group], y) @ u
               for (group, c), u in found.omegas.items()]  # fmt: skip
    vertex = linprog(sizes, A_ub=-np.array(margins).T, b_ub=-np.ones(len(y)), method="highs-ds")
    shares = vertex.x if vertex.status == 0 else np.ones(len(sizes))
    spare, chosen = Counter(given.groups), set[Key]()
    order = np.lexsort((sizes, sizes * shares))[::-1].tolist()
    for key in (list(found.omegas)[k] for k in order):
        if spare[key[0]] > 0:
            spare[key[0]] -= 1
            chosen.add(key)
    return _placed(given, relaxed(given, y, [key for key in found.omegas if key in chosen]))


def _placed(given: Neurons, found: Program) -> Placed | None:
    """The columns in use, one for each neuron, or None where a group has too few of them."""
    omegas = [np.zeros(len(given.inputs[group])) for group in given.groups]
    signs = np.array([given.columns[group][0].sign for group in given.groups], float)
    spare = list(range(len(omegas)))
    for (group, c), u in found.omegas.items():
        if np.linalg.norm(u) <= UNUSED * found.value:
            continue
        free = [j for j in spare if given.groups[j] == group]
        if not free:
            return None
        omegas[free[-1]], signs[free[-1]] = u, given.columns[group][c].sign
        spare.remove(free[-1])
    return Placed(tuple(omegas), signs, found.value) if np.isfinite(found.value) else None


def parameters(
    network: Network, given: Neurons, omegas: Sequence[NDArray], signs: NDArray
) -> NDArray:
    """theta (p,) of balanced neurons, w_j = omega_j / |omega_j|^(1/2), |v_j| = |omega_j|^(1/2)."""
    first, last = (np.zeros(g.shape) for g in network.maps)
    for j, group, omega, sign in zip(joined(network), given.groups, omegas, signs, strict=True):
        size = np.sqrt(np.linalg.norm(omega))
        if size > 0.0:
            first[j, given.inputs[group]] = omega / size
            last[0, j] = sign * size
    return network.parameters([first, last])
