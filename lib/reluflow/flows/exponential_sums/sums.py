"""Sums f(t) = a + sum_k b_k (1 - exp(-l_k t)): values, derivatives, horizons, single zeros."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Zeros:
    """Zeros of m sums: `crossings` (m, k) sorted, padded with inf; `touches` (m, j) alike.

    A touch is a point where f meets zero to rounding at an extremum, so that whether it crosses
    cannot be told in this arithmetic.
    """

    crossings: NDArray
    touches: NDArray


def limit_of(a: NDArray, b: NDArray) -> NDArray:
    """The limits (m,) of the sums as t goes to infinity, those that are rounding alone as zero."""
    limit, size = a + b.sum(axis=1), np.abs(a) + np.abs(b).sum(axis=1)
    return np.where(np.abs(limit) <= 32 * _EPS * size, 0.0, limit)


def evaluated(a, b, rates, t, limit=None) -> tuple[NDArray, NDArray]:
    """f(t) and the size of the terms that it was added up from: its rounding is a few eps of that.

    f is a + sum b_k (1 - exp(-l_k t)) = limit - sum b_k exp(-l_k t), whichever has smaller terms.
    The `limit` (m,) may be known better than by adding up.
    """
    limit = (limit_of(a, b) if limit is None else limit)[:, None]
    left, gone = np.exp(-rates * t[..., None]), -np.expm1(-rates * t[..., None])
    b, a = b[:, None, :], a[:, None]
    size = np.abs(b)
    early, late = np.abs(a) + np.vecdot(gone, size), np.abs(limit) + np.vecdot(left, size)
    value = np.where(early <= late, a + np.vecdot(gone, b), limit - np.vecdot(left, b))
    return value, np.minimum(early, late)


def evaluate(a: NDArray, b: NDArray, rates: NDArray, t: NDArray) -> NDArray:
    """f(t) for a (m,), b (m, r), rates (r,), t (m, k) or inf; shape (m, k)."""
    return evaluated(a, b, rates, t)[0]


def derivative(b: NDArray, rates: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """exp(l_1 t) f'(t) as a sum of the same kind: its a, b, rates and limit. Rates ascend.

    The limit is b_1 l_1: added up from a and b it would drown in the fast terms of a stiff sum.
    """
    slopes = b * rates
    fast = rates > rates[0]  # equal rates merge into the constant, whose exponential is 1
    limit = slopes[:, ~fast].sum(axis=1)
    return slopes.sum(axis=1), -slopes[:, fast], rates[fast] - rates[0], limit


def horizon(
    a: NDArray, b: NDArray, rates: NDArray, limit: NDArray | None = None, until: float = np.inf
) -> tuple[NDArray, NDArray]:
    """Times (m,), at most `until`, after which the sums keep their sign, and their signs there.

    A limit that is not zero outweighs what has not faded by then. On its way to a limit of zero a
    sum is followed until it is rounding of the terms that cancel in this limit: past that point
    its sign cannot be told, and no zero is claimed.
    """
    limit, size = limit_of(a, b) if limit is None else limit, np.abs(a) + np.abs(b).sum(axis=1)
    floor = np.where(limit != 0.0, np.abs(limit) / (2.0 * max(1, b.shape[1])), 32 * _EPS * size)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        faded = np.log(np.abs(b) / floor[:, None]) / rates
    end = np.minimum(np.where(np.isnan(faded), 0.0, faded).max(axis=1, initial=0.0), until)
    return end, np.sign(evaluated(a, b, rates, end[:, None], limit)[0][:, 0])


def solve(a, b, rates, lo, hi, sign_lo, limit=None) -> NDArray:
    """The zero of each f in its bracket (lo, hi), all (m,): Newton's method inside bisection."""
    limit, bends = limit_of(a, b) if limit is None else limit, np.abs(b) * rates**2
    with np.errstate(all="ignore"):
        tangent = -a / (b @ rates)  # a tiny start meets zero tens of decades before hi
        parabola = tangent * (1.0 + 0.5 * tangent * (b @ rates**2) / (b @ rates))
        tangent = np.where(np.abs(parabola - tangent) < 0.1 * tangent, parabola, tangent)
    early = (lo == 0.0) & (tangent > 0.0) & (tangent < hi)
    root, last = np.where(early, tangent, 0.5 * (lo + hi)), np.full_like(hi, np.inf)
    for _ in range(1100):  # enough to halve down to the smallest number
        value, size = (v[:, 0] for v in evaluated(a, b, rates, root[:, None], limit))
        left = np.exp(-rates * root[:, None])
        slope = np.vecdot(left, rates * b)
        same = np.sign(value) == sign_lo
        lo, hi = np.where(same, root, lo), np.where(same, hi, root)
        # Done where the value is all rounding, or the step was or would be.
        done = np.abs(value) <= np.maximum(0.5 * size, np.abs(slope) * root) * _EPS
        done |= last <= 2 * _EPS * root
        if done.all():
            break
        with np.errstate(over="ignore"):
            newton = root - value / np.where(slope == 0.0, 1.0, slope)
        # Bisect where Newton leaves the bracket or does not at least halve its previous step.
        good = (newton > lo) & (newton < hi) & (np.abs(newton - root) < 0.5 * last) & (slope != 0.0)
        new = np.where(done, root, np.where(good, newton, 0.5 * (lo + hi)))
        last = np.where(done, 0.0, np.abs(new - root))
        # A step of Newton's leaves an error of its square.
        sure = good & (np.vecdot(left, bends) * last**2 <= _EPS * np.abs(slope) * root)
        last = np.where(sure, 0.0, last)
        root = new
        if (done | sure).all():
            break
    return root


def single(a, b, rates, sign0, limit) -> NDArray:
    """The zero (m, 1) of a + b (1 - exp(-l t)) = limit - b exp(-l t) in t > 0, or inf."""
    crosses = (a != 0.0) & (np.sign(limit) * sign0 < 0) & (np.sign(limit) * b[:, 0] > 0)
    size = np.where(crosses, b[:, 0], 1.0)
    start, left = np.where(crosses, a / size, 0.0), np.where(crosses, limit / size, 1.0)
    early = np.abs(start) < 0.5
    log = np.where(early, np.log1p(np.where(early, start, 0.0)), np.log(left))
    return np.where(crosses, -log / rates[0], np.inf)[:, None]
