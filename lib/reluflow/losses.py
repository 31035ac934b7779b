"""The losses of one output: values, slopes and second derivatives, plain and in the log domain.

Every loss is a sum over the data, L = sum_i l(z_i, y_i), of outputs z_i and labels y_i. Where the
loss itself is too small for a float, log L and the slopes of log L still have all their digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

Pointwise = Callable[[NDArray, NDArray], NDArray]


@dataclass(frozen=True)
class Loss:
    """L = sum_i l(z_i, y_i); all functions take z (..., n), y (n,) and return (..., n).

    log_terms  log l(z_i, y_i), minus infinity where the term vanishes
    factor     the pull -dl/dz_i is factor e^log_pull; one of y alone may have its shape (n,)
    log_bend   log d^2 l/dz_i^2
    """

    name: str
    log_terms: Pointwise
    log_pull: Pointwise
    factor: Pointwise
    log_bend: Pointwise

    def log_value(self, z: NDArray, y: NDArray) -> NDArray:
        """log L, shape (...), for outputs z (..., n) and labels y (n,)."""
        return np.logaddexp.reduce(self.log_terms(z, y), axis=-1)

    def value(self, z: NDArray, y: NDArray) -> NDArray:
        """L, shape (...); 0 where it is too small for a float."""
        return np.exp(self.log_value(z, y))

    def pull(self, z: NDArray, y: NDArray, log_unit: NDArray | float = 0.0) -> NDArray:
        """-dL/dz_i over e^log_unit (..., n): -d(log L)/dz_i, all digits, for log_unit = log L."""
        return self.factor(z, y) * np.exp(self.log_pull(z, y) - np.asarray(log_unit)[..., None])

    def bend(self, z: NDArray, y: NDArray, log_unit: NDArray | float = 0.0) -> NDArray:
        """d^2 L/dz_i^2 over e^log_unit, shape (..., n)."""
        return np.exp(self.log_bend(z, y) - np.asarray(log_unit)[..., None])


def _log(values: NDArray) -> NDArray:
    with np.errstate(divide="ignore"):
        return np.log(values)


def _log_softplus(q: NDArray) -> NDArray:
    """log log(1 + e^-q), with all digits for large q, where log(1 + e^-q) is e^-q (1 - e^-q/2)."""
    small = np.exp(-np.abs(q))
    with np.errstate(divide="ignore"):
        direct = np.log(-log_expit(q))
    return np.where(q > 30.0, -q - 0.5 * small, direct)


def scaled(loss: Loss, factor: float) -> Loss:
    """The loss `factor` l, for a factor > 0. Raises ValueError for another one."""
    if not 0.0 < factor < np.inf:
        raise ValueError(f"the factor of a loss must be a positive number, not {factor:g}.")
    log = float(np.log(factor))
    return Loss(
        f"{factor:g} {loss.name}",
        lambda z, y: loss.log_terms(z, y) + log,
        lambda z, y: loss.log_pull(z, y) + log,
        loss.factor,
        lambda z, y: loss.log_bend(z, y) + log,
    )


SQUARE = Loss(
    "square",
    lambda z, y: 2.0 * _log(np.abs(z - y)) - np.log(2.0),
    lambda z, y: np.zeros(np.shape(z)),
    lambda z, y: y - z,
    lambda z, y: np.zeros(np.shape(z)),
)
"""l = (z - y)^2 / 2."""

EXPONENTIAL = Loss(
    "exponential",
    lambda z, y: -(y * z),
    lambda z, y: -(y * z),
    lambda z, y: y,
    lambda z, y: -(y * z) + 2.0 * _log(np.abs(y)),
)
"""l = exp(-y z)."""

LOGISTIC = Loss(
    "logistic",
    lambda z, y: _log_softplus(y * z),
    lambda z, y: log_expit(-(y * z)),
    lambda z, y: y,
    lambda z, y: log_expit(y * z) + log_expit(-(y * z)) + 2.0 * _log(np.abs(y)),
)
"""l = log(1 + exp(-y z))."""

TWICE_LOGISTIC = scaled(LOGISTIC, 2.0)
"""l = 2 log(1 + exp(-y z)): the logistic loss whose pull at z = 0 is y."""
