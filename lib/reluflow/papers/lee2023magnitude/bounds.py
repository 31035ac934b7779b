"""The bounds of Theorems 3.3, 3.4, 3.8 and 3.9 on the magnitude and the angle of the flow.

m is the number of factors besides w, phi = pi - angle(w, w*), v = |w|, target = v* = |w*|, and
eps_0 = 1 - (sin phi_0 - phi_0 cos phi_0) / pi. Every function returns (lower, upper), each of the
times' shape.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.flows.population import pull
from reluflow.papers.lee2023magnitude.comparison import comparison, implicit_printed, level

__all__ = [
    "angle_bounds",
    "angle_rates",
    "gap_bounds",
    "implicit_printed",
    "layered_magnitude_bounds",
    "magnitude_bounds",
    "small_angle_bounds",
    "small_magnitude_bounds",
    "two_layer_magnitude_bounds",
]

Bounds = tuple[NDArray, NDArray]


def magnitude_bounds(t: ArrayLike, phi0: float, v0: float, target: float) -> Bounds:
    """Theorem 3.3: (1 - eps_0)(1 - e^(-t/2)) v* + v_0 e^(-t/2) < |w(t)| < the same for eps_0 = 0.

    Parameters: t (k,) times, the start's angle phi0 in [0, pi] and magnitude v0 > 0, target > 0.
    """
    t = np.asarray(t, float)
    arrived, left = -np.expm1(-0.5 * t) * target, v0 * np.exp(-0.5 * t)
    return float(pull(phi0)) * arrived + left, arrived + left


def small_magnitude_bounds(t: ArrayLike, phi0: float, target: float) -> Bounds:
    """Eq. (8): (1 - eps_0)(1 - e^(-t/2)) v* < |w(t)| < (1 - e^(-t/2)) v*, for |w_0| near 0.

    Parameters: t (k,) times, phi0 in [0, pi], target > 0.
    """
    return magnitude_bounds(t, phi0, 0.0, target)


def angle_bounds(
    t: ArrayLike, phi0: float, r: float, R: float, target: float, m: int = 0
) -> Bounds:
    """Theorem 3.4 (m = 0) and Theorem 3.9 (m >= 1): bounds of phi(t) where r < |w| < R.

    With c = cot(phi_0 / 2), lower and upper are

        pi - 2 c e^(-p t) < phi(t) < pi - 2 c e^(-q t) + 2/3 c^3 e^(-3 q t),

    p = phi_0 v* / (2 pi R) and q = v* / (2 r) for m = 0,
    p = phi_0 / (2 pi) r^(m-1) v*^(m+1) and q = 1/2 R^(m-1) v*^(m+1) for m >= 1.

    Parameters: t (k,) times, phi0 in (0, pi), 0 < r < R, target > 0, m >= 0.
    """
    least, most = gap_bounds(t, phi0, r, R, target, m)
    return np.pi - most, np.pi - least


def gap_bounds(t: ArrayLike, phi0: float, r: float, R: float, target: float, m: int = 0) -> Bounds:
    """The bounds of `angle_bounds` on pi - phi(t), with all their digits as phi nears pi."""
    t = np.asarray(t, float)
    slow, fast = angle_rates(phi0, r, R, target, m)
    cot = 1.0 / np.tan(0.5 * phi0)
    late, soon = cot * np.exp(-slow * t), cot * np.exp(-fast * t)
    return 2.0 * soon - 2.0 / 3.0 * soon**3, 2.0 * late


def angle_rates(phi0: float, r: float, R: float, target: float, m: int = 0) -> tuple[float, float]:
    """The rates (p, q) of Theorem 3.4 (m = 0) and Theorem 3.9 (m >= 1), see `angle_bounds`."""
    slow, fast = (R, r) if m == 0 else (r, R)
    pace = target ** (m + 1)
    return phi0 / (2.0 * np.pi) * slow ** (m - 1) * pace, 0.5 * fast ** (m - 1) * pace


def small_angle_bounds(t: ArrayLike, phi0: float) -> Bounds:
    """Theorem 3.4, for |w_0| near 0: pi - 2 cot(phi_0 / 2) e^(-phi_0 t / (2 pi)) < phi(t) < pi.

    As printed: no |w*| in the exponent, which R = |w*| cancels. Parameters: t (k,), phi0.
    """
    t = np.asarray(t, float)
    lower = np.pi - 2.0 / np.tan(0.5 * phi0) * np.exp(-phi0 / (2.0 * np.pi) * t)
    return lower, np.full(t.shape, np.pi)


def two_layer_magnitude_bounds(t: ArrayLike, phi0: float, v0: float, target: float) -> Bounds:
    """Theorem 3.8 for m = 1: with k = 1 - eps_0 below and k = 1 above,

        v* sqrt(k / (1 - (1 - k (v*/v_0)^2) e^(-k v*^2 t))).

    Parameters: t (k,) times, phi0 in (0, pi], v0 > 0, target > 0.
    """
    t = np.asarray(t, float)

    def printed(k: float) -> NDArray:
        # The denominator as (1 - e) + k (v*/v_0)^2 e, which keeps its digits for large v_0.
        spent = -k * target**2 * t
        return target * np.sqrt(k / (k * (target / v0) ** 2 * np.exp(spent) - np.expm1(spent)))

    return printed(float(pull(phi0))), printed(1.0)


def layered_magnitude_bounds(t: ArrayLike, phi0: float, v0: float, target: float, m: int) -> Bounds:
    """Theorem 3.8 in the form that is right: u(t; eps_0) < v(t) < u(t; 0), where

        du/dt = -1/2 u^m (u^(m+1) - (1 - eps) v*^(m+1)),  u(0; eps) = v_0.

    Parameters: t (k,) times, phi0 in [0, pi], v0 > 0, target > 0, m >= 0.
    """
    below = float(level(pull(phi0), target, m))
    return comparison(t, v0, below, m), comparison(t, v0, target, m)
