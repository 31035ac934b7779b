"""The gradient flow of a balanced chain: m + 1 equal scalars u, the loss (u^(m+1) - a^(m+1))^2 / 4,

    du/dt = -1/2 u^m (u^(m+1) - a^(m+1)).

In y = u / a and s = a^(2m) t it has no parameter but m, dy/ds = -1/2 y^m (z - 1), z = y^(m+1), and

    dl/ds = (m+1)/2 y^(m-1),    l = log(z / |z - 1|),

so that l grows like (m+1)/2 s near the rest point y = 1, on either side of it, without loss of
digits. `clock(l)` is s, up to a constant; for m >= 2 it is a hypergeometric function of z below the
rest point and of 1/z above it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, hyp2f1

_TERMS = 60
"""Of the series around z = 1, used for |1 - z| <= 1/2 only."""

_ROUNDS, _CLOSE = 100, 3e-14


def balanced_chain(t: ArrayLike, v0: float, a: float, m: int) -> NDArray:
    """u(t) from u(0) = v0, explicit for m = 0, m = 1 and a = 0; for m >= 2 the inverse of `clock`.

    Parameters: t (k,) times >= 0, v0 > 0, a >= 0 and m >= 0. Returns u (k,).
    """
    t = np.asarray(t, float)
    if a == 0.0:
        decay = np.exp(-0.5 * t) if m == 0 else (1.0 + m * v0 ** (2 * m) * t) ** (-0.5 / m)
        return v0 * decay
    if v0 == a:
        return np.full(t.shape, float(v0))
    if m == 0:
        return v0 * np.exp(-0.5 * t) - a * np.expm1(-0.5 * t)
    if m == 1:
        fading = np.exp(-(a**2) * t)
        return v0 / np.sqrt(fading - (v0 / a) ** 2 * np.expm1(-(a**2) * t))
    above = v0 > a
    start = clock(log_odds(v0 / a, m), m, above)
    return a * ratio(odds_at(start + a ** (2 * m) * t, m, above), m, above)


def log_odds(y: ArrayLike, m: int) -> NDArray:
    """l = log(z / |z - 1|) = -log|1 - 1/z| for z = y^(m+1), y > 0 and not 1, shape of y."""
    log_z = (m + 1) * np.log(np.asarray(y, float))
    # Far above, 1/z is lost beside 1, and near z = 1 the difference 1 - 1/z is.
    far = np.log1p(-np.exp(-np.maximum(log_z, 0.5)))
    with np.errstate(over="ignore"):
        return -np.where(log_z > 0.5, far, np.log(np.abs(np.expm1(-log_z))))


def ratio(odds: ArrayLike, m: int, above: bool) -> NDArray:
    """y at l = log(z / |z - 1|), on the side y > 1 (`above`) or y < 1; the inverse of log_odds."""
    odds = np.asarray(odds, float)
    # log(1/z): 1/z is 1 - e^-l above, and 1 + e^-l below.
    inverse = np.log(-np.expm1(-odds)) if above else np.logaddexp(0.0, -odds)
    return np.exp(-inverse / (m + 1))


def clock(odds: ArrayLike, m: int, above: bool) -> NDArray:
    """Time s at which the equation reaches l, up to a constant: ds/dl = 2/(m+1) y^(1-m).

    With b = (1-m)/(m+1) and c = 2m/(m+1) it is

        below, z < 1:   -2 y^(1-m)/(m-1) F(1, b; 1+b; z),
        above, z > 1:   y^(-2m)/m F(1, c; 1+c; 1/z).

    Parameters: l (...), m >= 2, the side. Returns s (...).
    """
    odds = np.asarray(odds, float)
    if above:
        inverse, c = -np.expm1(-odds), 2.0 * m / (m + 1)
        return inverse**c / m * unit_hypergeometric(c, inverse, -odds)
    b, z = (1.0 - m) / (m + 1), np.exp(-np.logaddexp(0.0, -odds))
    return -2.0 / (m - 1) * z**b * unit_hypergeometric(b, z, -np.logaddexp(0.0, odds))


def unit_hypergeometric(b: float, z: ArrayLike, log_rest: ArrayLike) -> NDArray:
    """F(1, b; 1+b; z) for 0 <= z < 1, given log(1 - z) with all its digits.

    Up to z = 1/2 SciPy's function; beyond, where SciPy's is wrong for some b > 1, the logarithmic
    series around z = 1 (DLMF 15.8.10 with a = 1):

        b sum_n (b)_n / n! (psi(n+1) - psi(b+n) - log(1-z)) (1-z)^n.
    """
    z, log_rest = np.broadcast_arrays(np.asarray(z, float), np.asarray(log_rest, float))
    near = z > 0.5
    far = hyp2f1(1.0, b, 1.0 + b, np.where(near, 0.0, z))
    n = np.arange(_TERMS)
    weights = np.concatenate([[1.0], np.cumprod((b + n[:-1]) / (n[:-1] + 1.0))])
    powers = np.where(near, np.exp(log_rest), 0.5)[..., None] ** n
    constants = powers @ (weights * (digamma(n + 1.0) - digamma(b + n)))
    return np.where(near, b * (constants - log_rest * (powers @ weights)), far)


def odds_at(s: ArrayLike, m: int, above: bool) -> NDArray:
    """The l at which `clock` shows s (k,), any s below and s > 0 above: Newton in a bracket.

    The clock is concave in l below and convex above, with slope 2/(m+1) far out, which gives the
    bracket, and a start from which Newton's method does not overshoot twice.
    """
    s = np.asarray(s, float)
    rate = 0.5 * (m + 1)
    if above:
        c = 2.0 * m / (m + 1)
        low, high = rate * s, rate * s + np.euler_gamma + digamma(c)
        # Far above, s = x^c / m to leading order, x = 1/z, and never less.
        x = np.minimum(m * s, 1.0) ** (1.0 / c)
        high = np.where(x < 0.5, -np.log1p(-np.minimum(x, 0.5)), high)
        at = high
    else:
        ahead = rate * (s - float(clock(0.0, m, False)))
        low, high = np.minimum(ahead, 0.0), np.maximum(ahead, 0.0)
        # Far below, s = -2/(m-1) z^b to leading order, and never less.
        log_z = -(m + 1) / (m - 1) * np.log(np.maximum(-0.5 * (m - 1) * s, 1.0))
        first = log_z - np.log1p(-np.exp(np.minimum(log_z, -0.7)))
        high = np.where(log_z < -0.7, np.minimum(high, first), high)
        at = np.where(ahead > 0.0, low, high)
    for _ in range(_ROUNDS):
        # Above, 1/z is about l where that is small, so the digits of l count.
        size = np.abs(at) if above else np.maximum(np.abs(at), 1.0)
        missing = s - clock(at, m, above)
        low, high = np.where(missing > 0.0, at, low), np.where(missing < 0.0, at, high)
        step = at + missing * rate * ratio(at, m, above) ** (m - 1)
        step = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
        close = np.all(np.abs(step - at) <= _CLOSE * size)
        at = step
        if close:
            break
    return at
