"""Zeros of sums of many exponentials by bounds on intervals, which are halved until certified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.exponential_sums.sums import Zeros, evaluated, horizon, limit_of, solve

_EPS = np.finfo(float).eps


def bounds(
    a: NDArray,
    b: NDArray,
    rates: NDArray,
    sign0: NDArray,
    first_only: bool = True,
    until: float = np.inf,
    limit: NDArray | None = None,
) -> Zeros:
    """Zeros in t > 0 by interval halving with certificates; parameters as for `rolle`.

    With `first_only` (the default, and what a flow needs) everything past the earliest zero of all
    m sums is dropped, so only that zero and the ones before it are complete.
    """
    m, r = b.shape
    if r == 0:
        return Zeros(np.full((m, 0), np.inf), np.full((m, 0), np.inf))
    limit = limit_of(a, b) if limit is None else limit
    clear = _clear_of_zero(a, b, rates, sign0)
    row, lo, hi, edge = _suspects(a, b, rates, limit, clear, until)
    found_row, found_t, touch_row, touch_t = [], [], [], []
    up, down = np.maximum(b, 0.0), np.maximum(-b, 0.0)
    up1, down1 = up * rates, down * rates
    shifted = rates - rates[0]
    best = np.inf
    while row.size:
        # With `first_only` one window of time after another, else all at once.
        now = edge == edge.min() if first_only else np.ones(len(row), bool)
        later = ~now & (lo < best)
        wait = row[later], lo[later], hi[later], edge[later]
        row, lo, hi, edge = row[now], lo[now], hi[now], edge[now]
        low, high, rounding = _enclosure(a[row], b[row], rates, limit[row], lo, hi)
        free = (low > rounding) | (high < -rounding)
        # exp(l_1 t) f'(t) is a difference of two decreasing sums.
        d_lo, d_hi = np.exp(-shifted * lo[:, None]), np.exp(-shifted * hi[:, None])
        steep = ((d_hi * up1[row]).sum(1) - (d_lo * down1[row]).sum(1) > 0) | (
            (d_lo * up1[row]).sum(1) - (d_hi * down1[row]).sum(1) < 0
        )
        values, _ = evaluated(a[row], b[row], rates, np.stack([lo, hi], axis=1), limit[row])
        sign_lo = np.where(lo == clear[row], sign0[row], np.sign(values[:, 0]))
        sign_hi = np.sign(values[:, 1])
        crossing = ~free & steep & (sign_lo * sign_hi <= 0) & (sign_lo != 0)
        if crossing.any():
            c = np.nonzero(crossing)[0]
            at = row[c]
            roots = solve(a[at], b[at], rates, lo[c], hi[c], sign_lo[c], limit[at])
            found_row.append(at)
            found_t.append(roots)
            if first_only:
                best = min(best, np.nextafter(roots.min(), np.inf))
        split = ~free & ~steep & (lo < best)
        tiny = split & (hi - lo <= 64 * _EPS * hi)
        if tiny.any():
            touch_row.append(row[tiny])
            touch_t.append(lo[tiny])
        split &= ~tiny
        row, lo, hi, edge = row[split], lo[split], hi[split], edge[split]
        middle = 0.5 * (lo + hi)
        row, edge = (np.concatenate([v, v, w]) for v, w in ((row, wait[0]), (edge, wait[3])))
        lo, hi = np.concatenate([lo, middle, wait[1]]), np.concatenate([middle, hi, wait[2]])
    return Zeros(_pad(m, found_row, found_t), _pad(m, touch_row, touch_t))


def _enclosure(a, b, rates, limit, lo, hi, common=False) -> tuple[NDArray, NDArray, NDArray]:
    """Bounds of sums on intervals (lo, hi) and their rounding: f is a difference of two monotone
    sums, in either of its forms; the one with smaller terms serves.

    One interval for each sum, all (m,); or with `common` all sums on all k intervals, (m, k).
    """

    def total(weights: NDArray, terms: NDArray) -> NDArray:
        return weights @ terms.T if common else (weights * terms).sum(axis=1)

    up, down = np.maximum(b, 0.0), np.maximum(-b, 0.0)
    g_lo, g_hi = -np.expm1(-rates * lo[:, None]), -np.expm1(-rates * hi[:, None])
    e_lo, e_hi = np.exp(-rates * lo[:, None]), np.exp(-rates * hi[:, None])
    early = np.abs(a) + total(up, g_hi) + total(down, g_hi)
    late = np.abs(limit) + total(up, e_lo) + total(down, e_lo)
    low = np.where(
        early <= late,
        a + total(up, g_lo) - total(down, g_hi),
        limit - total(up, e_lo) + total(down, e_hi),
    )
    high = np.where(
        early <= late,
        a + total(up, g_hi) - total(down, g_lo),
        limit - total(up, e_hi) + total(down, e_lo),
    )
    return low, high, 32 * _EPS * np.minimum(early, late)


def _suspects(
    a: NDArray, b: NDArray, rates: NDArray, limit: NDArray, clear: NDArray, until: float
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """The windows of time in which sums may have a zero: row, lo, hi and number of each window.

    The windows tile t > 0 and are common to all sums, so that one matrix product bounds them all.
    """
    end, _ = horizon(a, b, rates, limit, until)
    exponents = np.arange(-6, 1 + int(np.ceil(np.log2(max(1.0, end.max(initial=0.0) * rates[-1])))))
    edges = np.append(0.0, 2.0**exponents / rates[-1])
    low, high, rounding = _enclosure(
        a[:, None], b, rates, limit[:, None], edges[:-1], edges[1:], common=True
    )
    suspect = (low <= 2 * rounding) & (high >= -2 * rounding)
    suspect &= (edges[1:] > clear[:, None]) & (edges[:-1] < end[:, None])
    row, edge = np.nonzero(suspect)
    lo, hi = np.maximum(edges[edge], clear[row]), np.minimum(edges[edge + 1], end[row])
    return row[lo < hi], lo[lo < hi], hi[lo < hi], edge[lo < hi]


def _clear_of_zero(a: NDArray, b: NDArray, rates: NDArray, sign0: NDArray) -> NDArray:
    """Times (m,) up to which the sums that start at zero (a = 0) surely keep their sign0; else 0.

    The first derivative that has this sign at t = 0 keeps it for a while, hence so does the sum,
    the derivatives before it being zero.
    """
    clear = np.zeros(len(a))
    todo = np.nonzero(a == 0.0)[0]
    power, flip = rates / rates[-1], sign0[todo]
    for _ in range(b.shape[1]):
        terms = flip[:, None] * b[todo] * power
        up, down = np.maximum(terms, 0.0), np.maximum(-terms, 0.0)
        good = terms.sum(axis=1) > 32 * _EPS * np.abs(terms).sum(axis=1)
        reach = np.full(len(todo), 1.0 / rates[-1])
        open_ = good.copy()
        while open_.any():
            decay = np.exp(-rates * reach[:, None])
            open_ &= (up * decay).sum(axis=1) <= down.sum(axis=1)
            reach = np.where(open_, 0.5 * reach, reach)
        clear[todo[good]] = reach[good]
        todo, flip, power = todo[~good], -flip[~good], power * (rates / rates[-1])
    return clear


def _pad(m: int, rows: list[NDArray], times: list[NDArray]) -> NDArray:
    """Times grouped by row, sorted and padded with inf; neighbours equal to rounding are one."""
    row, t = np.concatenate([*rows, []]).astype(int), np.concatenate([*times, []])
    if len(row) == 0:
        return np.full((m, 0), np.inf)
    order = np.lexsort((t, row))
    row, t = row[order], t[order]
    new = np.append(True, (np.diff(row) > 0) | (np.diff(t) > 1e-13 * t[1:]))
    row, t = row[new], t[new]
    column = np.arange(len(row)) - np.searchsorted(row, row)
    out = np.full((m, column.max() + 1), np.inf)
    out[row, column] = t
    return out
