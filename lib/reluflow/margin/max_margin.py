"""The linear max-margin vector: min |u| subject to y_i u.x_i >= 1 for all i."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from reluflow.errors import InputError

# --- A convex program: the least length -----------------------------------------------------------

LONG = 1e6  # value of the dual at the multipliers of a program without a feasible point
_NOTHING = 1e-13  # a residual of least squares this small is 0
_TRIES = 3


@dataclass(frozen=True)
class Solution:
    """A minimiser, given block by block, and the `value`, infinite where there is none.

    multipliers  (r,) >= 0, of the inequalities with h; where the value is infinite a ray along
                 which the dual grows: its feasible point 0, with a value of 1e6
    slopes       >= 0, of each block's own conditions
    """

    blocks: tuple[NDArray, ...]
    multipliers: NDArray
    value: float
    slopes: tuple[NDArray, ...] = ()


def least_length(G: NDArray, h: NDArray) -> Solution:
    """min 1/2 |u|^2 subject to G u >= h, after Lawson and Hanson: with r = (0, 1) less its
    projection on the cone of the rows (g_i, h_i), u is -r_1 / r_2, and r_2 = 1 / (1 + |u|^2).

    Parameters: G (r, p), h (r,). Its dual is max z.h - 1/2 |G' z|^2 over z >= 0. Raises
    ArithmeticError where least squares do not end.
    """
    lengths = np.linalg.norm(G, axis=1)
    asked = (h != 0.0) & (lengths > 0.0)
    # |u| is not below this unit, so that what follows does not depend on how unequal the rows are.
    unit = float((np.abs(h[asked]) / lengths[asked]).max()) if asked.any() else 1.0
    goal = np.append(np.zeros(G.shape[1]), 1.0)
    for _ in range(_TRIES):  # in another unit, until |u| is not far from 1 in it
        E = np.vstack([G.T, h / unit])
        sizes = np.linalg.norm(E, axis=0)
        sizes[sizes == 0.0] = 1.0
        try:
            z = nnls(E / sizes, goal, maxiter=100 + 10 * len(h))[0] / sizes
        except RuntimeError as error:  # too many steps
            raise ArithmeticError("a program of least squares was not solved") from error
        left = 1.0 - float(z @ h) / unit
        if left > 0.1:
            break
        unit *= left**-0.5 if left > _NOTHING else 1e4
    else:
        return Solution((np.zeros(G.shape[1]),), z * (LONG / float(z @ h)), np.inf)
    if not z.any():  # 0 meets all conditions
        return Solution((np.zeros(G.shape[1]),), z, 0.0)
    # The equations of the rows that take part give both to rounding, if these are the right ones.
    z, on = z * (unit / left), z > 0.0
    u, exact = np.linalg.lstsq(G[on], h[on], rcond=None)[0], np.zeros(len(h))
    exact[on] = np.maximum(np.linalg.lstsq(G[on].T, u, rcond=None)[0], 0.0)
    u, z = min([(G.T @ z, z), (u, exact)], key=lambda found: _off(G, h, *found))
    return Solution((u,), z, 0.5 * float(u @ u))


def _off(G: NDArray, h: NDArray, u: NDArray, z: NDArray) -> float:
    """By how much u and z miss the conditions and an equal value, relatively."""
    return max(float((h - G @ u).max() / np.abs(h).max()), abs(float(z @ h / (u @ u)) - 1.0))


# --- The shortest vector that separates data ------------------------------------------------------


def sized(X: ArrayLike) -> NDArray:
    """Data X (n, d) as floats. Raises InputError where there are none, and where their squares, or
    products of these, may be no floats."""
    X = np.asarray(X, float)
    if not len(X):
        raise InputError("there are no data.")
    sizes = np.abs(X).max(axis=1, initial=0.0)
    if not ((sizes == 0.0) | ((sizes > 1e-100) & (sizes < 1e100))).all():
        raise InputError("data must be 0 or of sizes from 1e-100 to 1e100: choose another unit.")
    return X


_EXACT = 1e-6
_LONGEST = 3e7
"""A margin is next to 0 if the shortest datum is longer by this factor."""


@dataclass(frozen=True)
class MaxMargin:
    """The shortest u (d,) with y_i u.x_i >= 1 for all i, and multipliers (n,) that prove it."""

    u: NDArray
    multipliers: NDArray

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

    Raises InputError for data that no u separates, as far as rounding can tell, and as `sized`.
    """
    Z = np.asarray(y, float)[:, None] * sized(X)
    shortest = float(np.linalg.norm(Z, axis=1).min())
    try:
        found = least_length(Z, np.ones(len(Z)))
        best = _proved(found.blocks[0], found.multipliers, Z)
    except ArithmeticError:
        best = None
    if best is None or best.length * shortest > _LONGEST:
        raise InputError("no vector separates the data, y_i u.x_i > 0 for all i.")
    return best


def _proved(u: NDArray, multipliers: NDArray, Z: NDArray) -> MaxMargin | None:
    """u scaled to the least margin 1; None where it has none, or may be longer than need be: by
    `_EXACT` of its lower bound sum_i lambda_i / |sum_i lambda_i y_i x_i|."""
    least, dual = float((Z @ u).min()), multipliers @ Z
    if not least > 0.0 or np.any(multipliers < 0.0) or not dual.any():
        return None
    found, bound = MaxMargin(u / least, multipliers), multipliers.sum() / np.linalg.norm(dual)
    return found if found.length <= bound * (1.0 + _EXACT) else None
