"""Bounds for gradient descent of Lee, Sim & Ye 2023, as printed: Section 4 and Appendix A.

All are functions of the step number T, shape (k,), and of the start: phi0 = pi - angle(w0, w*),
v0 = |w0|, target = |w*| = v*, and eps_0 = 1 - (sin phi0 - phi0 cos phi0) / pi. Each is a bound of
Section 3 with every e^(-ct) replaced by (1 - c eta)^T, where eta is the step.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.flows.population import pull

Bounds = tuple[NDArray, NDArray]
"""Lower and upper bound, shape (k,) each."""


def _powers(rate: float, step: float, T: ArrayLike) -> NDArray:
    """(1 - rate eta)^T; where rate eta > 2, far from the theorems' small eta, it may overflow."""
    with np.errstate(over="ignore"):
        return (1.0 - rate * step) ** np.asarray(T, float)


def magnitude_descent_bounds(
    T: ArrayLike, phi0: float, v0: float, target: float, step: float
) -> Bounds:
    """Theorem A.1: with q = (1 - eta/2)^T, one layer,

        (1 - eps_0) (1 - q) |w*| + q |w0| < |w(T)| < (1 - q) |w*| + q |w0|.

    Parameters: T (k,) step numbers, the start phi0, v0, the target's norm, the step. Returns the
    lower and the upper bound, shape (k,) each.
    """
    q = _powers(0.5, step, T)
    return float(pull(phi0)) * (1.0 - q) * target + q * v0, (1.0 - q) * target + q * v0


def small_magnitude_descent_bounds(T: ArrayLike, phi0: float, target: float, step: float) -> Bounds:
    """Theorem A.1 for |w0| near 0: with q = (1 - eta/2)^T,

        (1 - eps_0) (1 - q) |w*| < |w(T)| < (1 - q) |w*|.

    Parameters and results as for `magnitude_descent_bounds`, without v0.
    """
    return magnitude_descent_bounds(T, phi0, 0.0, target, step)


def angle_rates(phi0: float, r: float, R: float, target: float, m: int) -> tuple[float, float]:
    """The rates c of Theorems 3.4 (m = 0) and 3.9 (m >= 1), slow and fast, 1/time:

    m >= 1:  phi0 r^(m-1) v*^(m+1) / (2 pi)  and  R^(m-1) v*^(m+1) / 2,
    m  = 0:  phi0 |w*| / (2 pi R)            and  |w*| / (2 r).
    """
    slow, fast = (r, R) if m >= 1 else (R, r)
    unit = 0.5 * target ** (m + 1)
    return phi0 / math.pi * unit * slow ** (m - 1.0), unit * fast ** (m - 1.0)


def gap_descent_bounds(
    T: ArrayLike, phi0: float, r: float, R: float, target: float, step: float, m: int
) -> Bounds:
    """Theorems A.2 (m = 0) and 4.2 (m >= 1) for theta = pi - phi, which keeps its digits near 0:

        2 k (1 - c eta)^T - 2/3 k^3 (1 - 3 c eta)^T < pi - phi(T) < 2 k (1 - c' eta)^T,

    k = cot(phi0/2), c the fast and c' the slow of `angle_rates`. Parameters: T (k,) step numbers,
    r < |w(T)| < R. Returns the lower and the upper bound, shape (k,) each.
    """
    return gap_bounds_from(math.pi - phi0, T, r, R, target, step, m)


def gap_bounds_from(
    theta0: float, T: ArrayLike, r: float, R: float, target: float, step: float, m: int
) -> Bounds:
    """`gap_descent_bounds` from theta0 = pi - phi0, for starts so near pi that phi0 has few digits
    of it; k = tan(theta0/2)."""
    slow, fast = angle_rates(math.pi - theta0, r, R, target, m)
    k = math.tan(0.5 * theta0)
    with np.errstate(over="ignore", invalid="ignore"):  # NaN where both powers overflow: no bound
        below = 2.0 * k * _powers(fast, step, T) - 2.0 / 3.0 * k**3 * _powers(3.0 * fast, step, T)
    return below, 2.0 * k * _powers(slow, step, T)


def angle_descent_bounds(
    T: ArrayLike, phi0: float, r: float, R: float, target: float, step: float, m: int
) -> Bounds:
    """Theorems A.2 (m = 0) and 4.2 (m >= 1): with k = cot(phi0/2),

        pi - 2 k (1 - c' eta)^T < phi(T) < pi - 2 k (1 - c eta)^T + 2/3 k^3 (1 - 3 c eta)^T,

    c' the slow and c the fast of `angle_rates`. Parameters: T (k,) step numbers, phi0 in (0, pi),
    r < |w(T)| < R, the target's norm, the step, m factors besides w. Returns the lower and the
    upper bound, shape (k,) each.
    """
    below, above = gap_descent_bounds(T, phi0, r, R, target, step, m)
    return np.pi - above, np.pi - below


def small_angle_descent_bounds(T: ArrayLike, phi0: float, step: float) -> Bounds:
    """Theorem A.2 for |w0| near 0: pi - 2 cot(phi0/2) (1 - phi0 eta / (2 pi))^T < phi(T) < pi.

    It is the bound of `angle_descent_bounds` with R = |w*|. Returns two arrays (k,).
    """
    lower = np.pi - 2.0 / math.tan(0.5 * phi0) * _powers(phi0 / (2.0 * math.pi), step, T)
    return lower, np.full_like(lower, np.pi)


def two_layer_descent_bounds(
    T: ArrayLike, phi0: float, v0: float, target: float, step: float
) -> Bounds:
    """Theorem A.3, two layers: b(0) > |w(T)| > b(eps_0) with a = 1 - eps and

        b(eps) = v* sqrt(a / (1 - (1 - a (v*/v0)^2) (1 - a v*^2 eta)^T)).

    Parameters: T (k,) step numbers, the start phi0, v0, the target's norm v*, the step. Returns the
    lower and the upper bound, shape (k,) each.
    """

    def size(a: float) -> NDArray:
        # The same fraction, times 1/a above and below: nothing cancels where a is near 0.
        q = _powers(a * target**2, step, T)
        return target / np.sqrt(q * (target / v0) ** 2 + _filled(a, a * target**2 * step, T))

    return size(float(pull(phi0))), size(1.0)


def _filled(a: float, x: float, T: ArrayLike) -> NDArray:
    """(1 - (1 - x)^T) / a, for x < 1 with all digits."""
    T = np.asarray(T, float)
    return (-np.expm1(T * math.log1p(-x)) if x < 1.0 else 1.0 - (1.0 - x) ** T) / a


def sufficient_steps(
    eps: float, phi0: float, r: float, target: float, step: float, m: int
) -> float:
    """Corollary 4.3: any T above

        log(eps/2 tan(phi0/2)) / log(1 - phi0 r^(m-1) v*^(m+1) eta / (2 pi))

    is said to give phi(T) > pi - eps. Parameters: eps > 0 in radians, phi0 in (0, pi), r < |w(T)|,
    the target's norm v*, the step, m >= 1. Returns the number of steps, not rounded; it is negative
    where the corollary says that no step is needed.
    """
    slow, _ = angle_rates(phi0, r, r, target, m)
    return math.log(0.5 * eps * math.tan(0.5 * phi0)) / math.log1p(-slow * step)
