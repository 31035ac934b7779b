"""The linear max-margin vector: min |u| subject to y_i u.x_i >= 1 for all i."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import clarabel
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import nnls

from reluflow.errors import InputError

# --- Two convex programs: the least sum of lengths, and the least length --------------------------
#
# Clarabel solves both (an interior point method), and its multipliers are the certificates.

_GAP = 1e-11
_SOLVED = ("Solved", "AlmostSolved")
_INFEASIBLE = ("PrimalInfeasible", "AlmostPrimalInfeasible")
_LONG = 1e6  # value of the dual at the multipliers of a program without a feasible point


@dataclass(frozen=True)
class Solution:
    """A minimiser, given block by block, and the multipliers >= 0 of the inequalities with h;
    `value` is the minimum."""

    blocks: tuple[NDArray, ...]
    multipliers: NDArray
    value: float


def least_sum(
    blocks: Sequence[NDArray], h: NDArray, cells: Sequence[NDArray] | None = None
) -> Solution:
    """min sum_j |u_j| subject to sum_j G_j u_j >= h and C_j u_j >= 0.

    Parameters: blocks G_j (r, p_j), h (r,), `cells` C_j (r_j, p_j), none of them for None. Its dual
    is max z.h over z >= 0 with |G_j' z + C_j' s_j| <= 1 for some s_j >= 0; the multipliers are z
    (r,). Where no u meets h the value is infinite, and they are a ray along which the dual grows:
    G_j' z + C_j' s_j = 0 for all j, and z.h is large.
    """
    sizes = [G.shape[1] for G in blocks]
    C = sparse.block_diag([np.zeros((0, p)) for p in sizes] if cells is None else cells, "csc")
    G = np.hstack(blocks)
    lengths = np.append(np.linalg.norm(G, axis=1), sparse.linalg.norm(C, axis=1))
    scale, units = _units(lengths, np.append(h, np.zeros(C.shape[0])))
    k, total, conditions = len(blocks), sum(sizes), len(units)
    cones, order = [clarabel.NonnegativeConeT(conditions)], []
    first = k
    for j, size in enumerate(sizes):
        cones.append(clarabel.SecondOrderConeT(1 + size))
        order += [j, *range(first, first + size)]
        first += size
    # A x + s = b with s in the cones, for x = (lengths, u_1, ..., u_k).
    rows = -sparse.diags(1.0 / units) @ sparse.vstack([sparse.csc_matrix(G), C])
    rows = sparse.hstack([sparse.csc_matrix((conditions, k)), rows])
    below = sparse.csc_matrix((-np.ones(len(order)), (range(len(order)), order)),
                              shape=(len(order), k + total))  # fmt: skip
    A = sparse.vstack([rows, below], format="csc")
    b = np.concatenate([-np.asarray(h, float), np.zeros(A.shape[0] - len(h))])
    c = np.concatenate([np.ones(k), np.zeros(total)])
    x, z = _solved(sparse.csc_matrix((k + total, k + total)), c, A, b, cones)
    z = z[: len(h)] / units[: len(h)]
    if x is None:
        return Solution(tuple(map(np.zeros, sizes)), _ray(z, h), np.inf)
    u = np.split(x[k:] / scale, np.cumsum(sizes)[:-1])
    return Solution(tuple(u), np.maximum(z, 0.0), float(np.sum(x[:k])) / scale)


def least_length(G: NDArray, h: NDArray) -> Solution:
    """min 1/2 |u|^2 subject to G u >= h.

    Parameters: G (r, p), h (r,). Its dual is max z.h - 1/2 |G' z|^2 over z >= 0. Where no u meets h
    the value is infinite, and the multipliers are a ray as in `least_sum`.
    """
    p, (scale, units) = G.shape[1], _units(np.linalg.norm(G, axis=1), h)
    cones = [clarabel.NonnegativeConeT(len(h))]
    rows = sparse.csc_matrix(-G / units[:, None])
    u, z = _solved(
        sparse.identity(p, format="csc"), np.zeros(p), rows, -np.asarray(h, float), cones
    )
    if u is None:
        return Solution((np.zeros(p),), _ray(z / units, h), np.inf)
    u = u / scale
    return Solution((u,), np.maximum(z, 0.0) / (scale * units), 0.5 * float(u @ u))


def _units(sizes: NDArray, h: NDArray) -> tuple[float, NDArray]:
    """A power of two in whose inverse u is measured, and one in which each row is, of lengths
    `sizes` (r,): rows with h = 0 by their own size, the others alike, so that data in any unit give
    one program."""
    asked = sizes[(h != 0.0) & (sizes > 0.0)]
    typical = float(np.median(asked)) if len(asked) else 1.0
    sizes = np.where(h == 0.0, np.where(sizes > 0.0, sizes, 1.0), typical)
    units = 2.0 ** np.rint(np.log2(sizes))
    return float(2.0 ** np.rint(np.log2(typical))), units


def _ray(z: NDArray, h: NDArray) -> NDArray:
    """A ray of the dual, so long that its value is _LONG."""
    z = np.maximum(z, 0.0)
    return z * (_LONG / float(z @ h))


def _solved(
    P: sparse.csc_matrix, c: NDArray, A: sparse.csc_matrix, b: NDArray, cones: list
) -> tuple[NDArray | None, NDArray]:
    """Minimiser, or None if there is none, and multipliers. Raises ArithmeticError if Clarabel
    can tell neither."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _GAP
    found = clarabel.DefaultSolver(P, c, A, b, cones, settings).solve()
    if str(found.status) in _INFEASIBLE:
        return None, np.array(found.z)
    if str(found.status) not in _SOLVED:
        raise ArithmeticError(f"a convex program was not solved: {found.status}")
    return np.array(found.x), np.array(found.z)


_SUPPORT = 1e-5  # multipliers below this part of the largest are 0 up to the solver's accuracy
_NOTHING = 1e-12
"""A residual of least squares this small is 0: the margin would be a millionth of a length."""


@dataclass(frozen=True)
class MaxMargin:
    """The shortest u (d,) with y_i u.x_i >= 1 for all i, and multipliers (n,) that prove it.

    gap   |u| over its lower bound sum_i lambda_i / |sum_i lambda_i y_i x_i|, less 1; 0 if exact
    """

    u: NDArray
    multipliers: NDArray
    gap: float

    @property
    def length(self) -> float:
        """|u|, one over the margin."""
        return float(np.linalg.norm(self.u))

    @property
    def direction(self) -> NDArray:
        """u / |u|, the unit vector of largest margin."""
        return self.u / self.length


def max_margin(X: ArrayLike, y: ArrayLike) -> MaxMargin:
    """The max-margin vector of data X (n, d) with labels y (n,) of +-1.

    An interior point method finds which data carry it, and their equations y_i u.x_i = 1 give it to
    rounding where that is better. Where it fails, as it may on data whose lengths differ by 10^3,
    non-negative least squares decide. Raises InputError for data that no u separates.
    """
    Z = np.asarray(y, float)[:, None] * np.asarray(X, float)
    size = float(np.abs(Z).max(initial=0.0))
    Z = Z / (size or 1.0)
    try:
        found = least_length(Z, np.ones(len(Z)))
    except ArithmeticError:
        found = None
    if found is None or not np.isfinite(found.value):
        one = _by_least_squares(Z)
        if one is None:
            raise InputError("no vector separates the data, y_i u.x_i > 0 for all i.")
        return MaxMargin(one.u / size, one.multipliers / size**2, one.gap)
    first = _proved(found.blocks[0], found.multipliers, Z)
    carry = found.multipliers > _SUPPORT * found.multipliers.max()
    u = np.linalg.lstsq(Z[carry], np.ones(int(carry.sum())), rcond=None)[0]
    multipliers = np.zeros(len(Z))
    multipliers[carry] = np.linalg.lstsq(Z[carry].T, u, rcond=None)[0]
    second = _proved(u, multipliers, Z)
    best = min((one for one in (first, second) if one), key=lambda one: one.gap, default=None)
    if best is None:
        raise InputError("no vector separates the data, as far as rounding can tell.")
    return MaxMargin(best.u / size, best.multipliers / size**2, best.gap)


def _by_least_squares(Z: NDArray) -> MaxMargin | None:
    """The same for rows Z (n, d), after Lawson and Hanson: with r = (0, 1) less its projection on
    the cone of the (z_i, 1) / |z_i|, u is -r_1 / r_2. None where r_2 is 0."""
    lengths = np.linalg.norm(Z, axis=1)
    if not lengths.all():
        return None
    E = np.vstack([(Z / lengths[:, None]).T, lengths.min() / lengths])
    goal = np.append(np.zeros(Z.shape[1]), 1.0)
    try:
        multipliers = nnls(E, goal)[0]
    except RuntimeError:  # too many steps
        return None
    left = goal - E @ multipliers
    if left[-1] <= _NOTHING:
        return None
    return _proved(-left[:-1] / left[-1], multipliers / lengths, Z)


def _proved(u: NDArray, multipliers: NDArray, Z: NDArray) -> MaxMargin | None:
    """u scaled to the least margin 1, with its gap; None for one of no margin or a bad dual."""
    least, dual = float((Z @ u).min()), multipliers @ Z
    if not least > 0.0 or np.any(multipliers < 0.0) or not dual.any():
        return None
    u = u / least
    bound = multipliers.sum() / np.linalg.norm(dual)
    # Rounding may leave the least margin, and with it |u|, a little below the bound.
    return MaxMargin(u, multipliers, max(float(np.linalg.norm(u) / bound) - 1.0, 0.0))
