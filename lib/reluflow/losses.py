"""The losses of one output: values and slopes, plain and in the log domain.

Every loss is a sum over the data, L = sum_i l(z_i, y_i), of outputs z_i and labels y_i. Where the
loss itself is too small for a float, log L and the slopes of log L still have all their digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, logsumexp

Pointwise = Callable[[NDArray, NDArray], NDArray]


@dataclass(frozen=True)
class Loss:
    """L = sum_i l(z_i, y_i); both functions take z (..., n), y (n,) and return (..., n).

    log_terms  log l(z_i, y_i), minus infinity where the term vanishes
    log_pull   log |dl/dz_i|; the pull -dl/dz_i has the sign of `direction`
    direction  the sign of -dl/dz_i
    """

    name: str
    log_terms: Pointwise
    log_pull: Pointwise
    direction: Pointwise

    def log_value(self, z: NDArray, y: NDArray) -> NDArray:
        """log L, shape (...), for outputs z (..., n) and labels y (n,)."""
        return logsumexp(self.log_terms(z, y), axis=-1)

    def value(self, z: NDArray, y: NDArray) -> NDArray:
        """L, shape (...); 0 where it is too small for a float."""
        return np.exp(self.log_value(z, y))

    def pull(self, z: NDArray, y: NDArray) -> NDArray:
        """-dL/dz_i, shape (..., n)."""
        return self.direction(z, y) * np.exp(self.log_pull(z, y))

    def relative_pull(self, z: NDArray, y: NDArray) -> NDArray:
        """-d(log L)/dz_i, shape (..., n), computed without L."""
        log_share = self.log_pull(z, y) - self.log_value(z, y)[..., None]
        return self.direction(z, y) * np.exp(log_share)


def _log(values: NDArray) -> NDArray:
    with np.errstate(divide="ignore"):
        return np.log(values)


def _log_softplus(q: NDArray) -> NDArray:
    """log log(1 + e^-q), with all digits for large q, where log(1 + e^-q) is e^-q (1 - e^-q/2)."""
    small = np.exp(-np.abs(q))
    with np.errstate(divide="ignore"):
        direct = np.log(-log_expit(q))
    return np.where(q > 30.0, -q - 0.5 * small, direct)


SQUARE = Loss(
    "square",
    lambda z, y: 2.0 * _log(np.abs(z - y)) - np.log(2.0),
    lambda z, y: _log(np.abs(z - y)),
    lambda z, y: np.sign(y - z),
)
"""l = (z - y)^2 / 2."""

EXPONENTIAL = Loss(
    "exponential",
    lambda z, y: -(y * z),
    lambda z, y: -(y * z) + _log(np.abs(y)),
    lambda z, y: np.broadcast_to(np.sign(y), z.shape),
)
"""l = exp(-y z)."""

LOGISTIC = Loss(
    "logistic",
    lambda z, y: _log_softplus(y * z),
    lambda z, y: log_expit(-(y * z)) + _log(np.abs(y)),
    lambda z, y: np.broadcast_to(np.sign(y), z.shape),
)
"""l = log(1 + exp(-y z))."""
