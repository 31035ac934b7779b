"""The linear max-margin vector: min |u| subject to y_i u.x_i >= 1 for all i."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.margin.programs import least_length

_SUPPORT = 1e-5
"""Multipliers below this part of the largest are 0 up to the solver's accuracy."""


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
    rounding where that is better. Raises InputError for data that no u separates.
    """
    Z = np.asarray(y, float)[:, None] * np.asarray(X, float)
    size = float(np.abs(Z).max(initial=0.0))
    found = least_length(Z / (size or 1.0), np.ones(len(Z)))
    if not np.isfinite(found.value):
        raise InputError("no vector separates the data, y_i u.x_i > 0 for all i.")
    Z = Z / size
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


def _proved(u: NDArray, multipliers: NDArray, Z: NDArray) -> MaxMargin | None:
    """u scaled to the least margin 1, with its gap; None for one of no margin or a bad dual."""
    least, dual = float((Z @ u).min()), multipliers @ Z
    if not least > 0.0 or np.any(multipliers < 0.0) or not dual.any():
        return None
    u = u / least
    bound = multipliers.sum() / np.linalg.norm(dual)
    # Rounding may leave the least margin, and with it |u|, a little below the bound.
    return MaxMargin(u, multipliers, max(float(np.linalg.norm(u) / bound) - 1.0, 0.0))
