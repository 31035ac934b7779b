"""Zeros of sums of few exponentials by a tower of derivatives, a term less on each floor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.exponential_sums.sums import (
    Zeros,
    derivative,
    evaluated,
    horizon,
    limit_of,
    single,
    solve,
)

_EPS = np.finfo(float).eps


def rolle(
    a: NDArray,
    b: NDArray,
    rates: NDArray,
    sign0: NDArray,
    first_only: bool = False,
    limit: NDArray | None = None,
    until: float = np.inf,
) -> Zeros:
    """All zeros in t > 0 of m sums with common ascending rates, through their derivatives' zeros.

    Parameters: a (m,), b (m, r), rates (r,) ascending and positive, sign0 (m,) the sign of each f
    just after t = 0 (it decides where a = 0). With `first_only` the crossings hold, of each sum,
    at most the first one, and only where it can be the earliest of all. `limit` (m,) is that of the
    sums, where it is known better than by adding them up. Zeros past `until` are dropped.
    """
    m, r = b.shape
    if r == 0:
        return Zeros(np.full((m, 0), np.inf), np.full((m, 0), np.inf))
    limit = limit_of(a, b) if limit is None else limit
    if r == 1:
        zero = single(a, b, rates, sign0, limit)
        return Zeros(np.where(zero <= until, zero, np.inf), np.full((m, 0), np.inf))
    da, db, drates, dlimit = derivative(b, rates)
    # A sum that starts at zero with its slope against sign0 starts tangentially: that slope is
    # rounding, and left in it would make a zero out of nothing just after t = 0.
    starts = a == 0.0
    da = np.where(starts & (da * sign0 < 0.0), 0.0, da)
    first = np.where(starts, sign0, _first_sign(db, drates))
    first = np.where(da != 0.0, np.sign(da), first)
    critical = rolle(da, db, drates, first, limit=dlimit).crossings
    end, final = horizon(a, b, rates, limit, until)
    critical = np.minimum(critical, end[:, None])
    values, sizes = evaluated(a, b, rates, critical, limit)
    # A sum that meets zero to rounding touches it.
    touching = (np.abs(values) <= 32 * _EPS * sizes) & (critical < end[:, None])
    sign = np.where(touching, 0.0, np.sign(values))
    knots = np.concatenate([np.zeros((m, 1)), critical, end[:, None]], axis=1)
    signs = np.concatenate([sign0[:, None], sign, final[:, None]], axis=1)
    for k in range(1, signs.shape[1]):  # a touch by itself changes nothing
        signs[:, k] = np.where(signs[:, k] == 0.0, signs[:, k - 1], signs[:, k])
    crossings = np.full((m, r), np.inf)
    brackets = (signs[:, :-1] * signs[:, 1:] < 0) & (knots[:, :-1] < knots[:, 1:])
    if first_only and brackets.any():
        brackets &= np.cumsum(brackets, axis=1) == 1
        brackets &= knots[:, :-1] <= knots[:, 1:][brackets].min()
    row, col = np.nonzero(brackets)
    if row.size:
        ends = knots[row, col], knots[row, col + 1]
        roots = solve(a[row], b[row], rates, *ends, signs[row, col], limit[row])
        crossings[row, col] = roots
        crossings.sort(axis=1)
    return Zeros(crossings, np.sort(np.where(touching, critical, np.inf), axis=1))


def _first_sign(b: NDArray, rates: NDArray) -> NDArray:
    """Sign just after t = 0 of sum_k b_k (1 - exp(-l_k t)): of its first derivative not zero."""
    sign = np.zeros(len(b))
    power = np.ones_like(rates)
    flip = 1.0
    for _ in range(b.shape[1]):
        power = power * (rates / rates[-1])
        terms = b * power
        value = terms.sum(axis=1)
        zero = np.abs(value) <= 32 * _EPS * np.abs(terms).sum(axis=1)
        sign = np.where((sign == 0.0) & ~zero, flip * np.sign(value), sign)
        flip = -flip
    return sign
