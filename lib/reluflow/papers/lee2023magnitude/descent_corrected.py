"""Bounds for gradient descent that hold at finite steps, in place of Theorems 4.2 and A.3.

One step of descent moves w to b u + a u*, where u = w/|w|, u* = w*/|w*|, and with p = v_1...v_m

    b = |w| (1 - eta p^2 / 2) + eta p v*^(m+1) sin(phi) / (2 pi),   a = eta p v*^(m+1) phi / (2 pi).

The angle theta = pi - phi of b u + s u* obeys d log tan(theta/2) / ds = -1 / |b u + s u*|, hence

    1 - a / |w_next|  <=  tan(theta_next / 2) / tan(theta / 2)  <=  1 - a / (a + b).

With p = 1 (one layer) that is Theorem A.2; else p is a product before the step and |w_next| a norm
after it, which is what Theorem 4.2 overlooks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.flows.population import pull
from reluflow.papers.lee2023magnitude.descent_bounds import angle_rates


@dataclass(frozen=True)
class Ranges:
    """What is known of a descent in advance: low <= v_1...v_m / |w| <= high, v_1...v_m <= product.

    For balanced weights v_1...v_m / |w| is |w|^(m-1).
    """

    low: float
    high: float
    product: float


def corrected_factors(
    phi0: float, ranges: Ranges, target: float, step: float, m: int
) -> tuple[float, float]:
    """By which tan((pi - phi)/2) shrinks a step, at least q_1 and at most q_2:

        q_1 = 1 - h(high) / (1 - eta product^2 / 2),   q_2 = 1 - (phi0/pi) h(low) / (1 + h(low)),

    with h(x) = x v*^(m+1) eta / 2. Returns q_1 and q_2. Raises InputError for eta product^2 >= 2.
    """
    keep = 1.0 - 0.5 * step * ranges.product**2
    if keep <= 0.0:
        raise InputError(f"step must be below 2 / (v_1...v_m)^2 = {2.0 / ranges.product**2:.4g}")
    unit = 0.5 * target ** (m + 1) * step
    h = unit * ranges.low
    return 1.0 - unit * ranges.high / keep, 1.0 - phi0 / math.pi * h / (1.0 + h)


def corrected_steps(
    eps: float, phi0: float, ranges: Ranges, target: float, step: float, m: int
) -> float:
    """Corollary 4.3, corrected: T >= log(eps/2 tan(phi0/2)) / log(q_2) gives phi(T) > pi - eps.

    Parameters as for `sufficient_steps`, with q_2 of `corrected_factors`. Returns that number.
    """
    slow = corrected_factors(phi0, ranges, target, step, m)[1]
    return math.log(0.5 * eps * math.tan(0.5 * phi0)) / math.log(slow)


def corrected_two_layer_lower(
    T: ArrayLike, phi0: float, v0: float, target: float, step: float
) -> NDArray:
    """Theorem A.3's lower bound with the corrected step. With a = 1 - eps_0, x = eta (v0^2 - a
    v*^2) / 2, the step eta becomes

        eta (1 - 3/4 a v*^2 eta)        where x <= 0 (the bound grows),
        eta (1 - x/2) / (1 - x)^2       where x > 0 (it falls).

    It follows from 1/v^2 -> 1/(v^2 (1 - x)^2), the step of |w| along itself. Returns an array (k,).
    """
    a = float(pull(phi0)) * target**2
    x = 0.5 * step * (v0**2 - a)
    moved = step * (1.0 - 0.75 * a * step) if x <= 0.0 else step * (1.0 - x / 2) / (1.0 - x) ** 2
    T = np.asarray(T, float)
    left = T * math.log1p(-a * moved)
    return 1.0 / np.sqrt(np.exp(left) / v0**2 - np.expm1(left) / a)


def small_norm(phi0: float, target: float, step: float) -> float:
    """The norm below which Theorem A.1's special case holds from T = 1 on:

    |w0| < eta / (2 - eta) |w*| (1 - |phi0 u* + sin(phi0) u| / pi).
    """
    reach = math.sqrt(phi0**2 + math.sin(phi0) ** 2 - 2.0 * phi0 * math.sin(phi0) * math.cos(phi0))
    return step / (2.0 - step) * target * (1.0 - reach / math.pi)


def euler_path(
    theta0: float, v0: float, m: int, target: float, step: float, n_steps: int
) -> tuple[NDArray, NDArray]:
    """Explicit Euler steps of (9)-(10), another thing that "trained by gradient descent" may mean:

        phi <- phi + eta v^(m-1) v*^(m+1) phi sin(phi) / (2 pi),
        v   <- v - eta/2 v^m (v^(m+1) - v*^(m+1) (1 - eps)).

    Returns pi - phi and v at the steps 0, ..., n_steps.
    """
    best, theta, v = target ** (m + 1), theta0, v0
    out = np.empty((2, n_steps + 1))
    for k in range(n_steps + 1):
        out[:, k] = theta, v
        turn = (math.pi - theta) * math.sin(theta) / (2.0 * math.pi)
        drawn = (math.sin(theta) + (math.pi - theta) * math.cos(theta)) / math.pi
        grow = v ** (m + 1) - best * drawn
        theta, v = theta - step * v ** (m - 1) * best * turn, v - 0.5 * step * v**m * grow
    return out[0], out[1]


def step_limit(phi0: float, r: float, R: float, target: float, m: int) -> float:
    """The number that Theorems A.2 (m = 0) and 4.2 (m >= 1) want far above the step: the smaller
    one of 1/c' and 1/(3 c), for the rates c' < c of `angle_rates`."""
    slow, fast = angle_rates(phi0, r, R, target, m)
    return min(1.0 / slow, 1.0 / (3.0 * fast))
