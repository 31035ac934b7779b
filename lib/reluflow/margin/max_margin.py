"""The linear max-margin vector: min |u| subject to y_i u.x_i >= 1 for all i."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from reluflow.errors import InputError
from reluflow.margin.programs import least_length

_SUPPORT = 1e-5
"""Multipliers below this part of the largest are 0 up to the solver's accuracy."""
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
