"""Time along a flow that was followed on the clock log(1/loss), as a logarithm.

d tau/dt = L |grad log L|^2 with tau = log(1/L), so that t may be 10^400000.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from reluflow.losses import Loss


def log_steepness(
    U: NDArray, R: NDArray, signs: NDArray, X: NDArray, y: NDArray, loss: Loss
) -> float:
    """log |grad log L|^2 of balanced neurons of directions U (p, d), log norms R (p,) and `signs`
    (p,) on X (n, d), y (n,).

    |grad log L|^2 = sum_j e^(2 R_j) (|g_j|^2 + <g_j, u_j>^2), g_j = sum of c_i x_i over the data
    active at u_j, c_i = -d log L/df(x_i).
    """
    before = X @ U.T
    outputs = np.maximum(before, 0.0) @ (signs * np.exp(2.0 * R))
    pull = loss.pull(outputs, y, relative=True)
    g = ((before > 0.0) * pull[:, None]).T @ X
    parts = (g * g).sum(axis=1) + (g * U).sum(axis=1) ** 2
    return float(logsumexp(2.0 * R, b=parts))


def log_elapsed(tau: NDArray, steepness: NDArray) -> NDArray:
    """log(t_k - t_0) (m,) at moments of log(1/L) `tau` (m,), rising, and log |grad log L|^2 (m,).

    Between moments log dt/dtau = tau - steepness is taken as linear in tau.
    """
    slope = tau - steepness
    rise = np.abs(np.diff(slope))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(rise > 1e-9, -np.expm1(-rise) / rise, 1.0)
    steps = np.log(np.diff(tau)) + np.maximum(slope[1:], slope[:-1]) + np.log(mean)
    return np.append(-np.inf, np.logaddexp.accumulate(steps))
