"""Zeros of f(t) = a + sum_k b_k (1 - exp(-l_k t)) on t > 0, isolated and never stepped over.

This is what every pre-activation h_j(t) = x_j.w(t) is between two events. The form keeps its
relative accuracy near t = 0, where a flow from a tiny start lives.

Two isolators. `rolle`: multiplied by exp(l_1 t), the derivative is a sum of the same kind with one
exponential less, so zeros are found from the top of that tower down, one between any two
neighbouring critical points (the counting argument of Lemma F.10 of Lee et al. 2022, made into an
algorithm). `bounds`: f and its derivative are differences of two monotone functions, hence bounded
on any interval by their ends; intervals are halved until each is certified free of zeros or
monotone. The tower loses digits and time when it is high, so it serves few exponentials, the bounds
serve many. Tests hold the one against the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TOWER_LIMIT = 6
"""Sums of more exponentials than this are isolated by bounds."""

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Zeros:
    """Zeros of m sums: `crossings` (m, k) sorted, padded with inf; `touches` (m, j) alike.

    A touch is a point where f meets zero to rounding at an extremum, so that whether it crosses
    cannot be told in this arithmetic.
    """

    crossings: NDArray
    touches: NDArray


def evaluate(a: NDArray, b: NDArray, rates: NDArray, t: NDArray) -> NDArray:
    """f(t) for a (m,), b (m, r), rates (r,), t (m, k) or inf; shape (m, k)."""
    return a[:, None] + (-np.expm1(-rates * t[..., None]) * b[:, None, :]).sum(axis=-1)


def _magnitude(a: NDArray, b: NDArray, rates: NDArray, t: NDArray) -> NDArray:
    """Sum of the absolute values of f's terms at t: its rounding error is a few eps times this."""
    return evaluate(np.abs(a), np.abs(b), rates, t)


def _derivative(b: NDArray, rates: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """exp(l_1 t) f'(t) as a sum of the same kind: its a, b and rates. Rates ascend."""
    slopes = b * rates
    return slopes.sum(axis=1), -slopes[:, 1:], rates[1:] - rates[0]


def _final_sign(a: NDArray, b: NDArray, rates: NDArray) -> NDArray:
    """Sign of f as t goes to infinity: of its limit, or of the slowest term where that is zero."""
    limit = a + b.sum(axis=1)
    zero = np.abs(limit) <= 8 * _EPS * (np.abs(a) + np.abs(b).sum(axis=1))
    sign = np.where(zero, 0.0, np.sign(limit))
    for k in range(b.shape[1]):  # -b_k exp(-l_k t) is what is left
        sign = np.where(sign == 0.0, -np.sign(b[:, k]), sign)
    return sign


def _solve(a, b, rates, lo, hi, sign_lo) -> NDArray:
    """The zero of each f in its bracket (lo, hi), all (m,): Newton's method inside bisection.

    Infinite where the bracket's upper end is and rounding hides the change of sign.
    """
    root = np.where(np.isinf(hi), lo + 1.0 / rates[0], 0.5 * (lo + hi))
    open_end = np.isinf(hi)
    for _ in range(200):  # close the brackets that reach to infinity
        if not open_end.any():
            break
        value = evaluate(a, b, rates, root[:, None])[:, 0]
        beyond = open_end & (np.sign(value) != sign_lo)
        hi = np.where(beyond, root, hi)
        lo = np.where(open_end & ~beyond, root, lo)
        open_end &= ~beyond
        root = np.where(open_end, 2.0 * root, 0.5 * (lo + hi))
    never = np.isinf(hi)  # zero only in the limit, to rounding
    hi = np.where(never, root, hi)
    last = np.full_like(root, np.inf)
    size_a, size_b = np.abs(a), np.abs(b)
    for _ in range(200):
        decay = np.exp(-rates * root[:, None])
        grown = -np.expm1(-rates * root[:, None])
        value, slope = a + (grown * b).sum(axis=1), (decay * rates * b).sum(axis=1)
        same = np.sign(value) == sign_lo
        lo, hi = np.where(same, root, lo), np.where(same, hi, root)
        # Done where the value is all rounding, or the step was.
        done = np.abs(value) <= 0.5 * _EPS * (size_a + (grown * size_b).sum(axis=1))
        done |= last <= 2 * _EPS * root
        if done.all():
            break
        newton = root - value / np.where(slope == 0.0, 1.0, slope)
        # Bisect where Newton leaves the bracket or does not at least halve its previous step.
        good = (newton > lo) & (newton < hi) & (np.abs(newton - root) < 0.5 * last) & (slope != 0.0)
        new = np.where(done, root, np.where(good, newton, 0.5 * (lo + hi)))
        last = np.where(done, 0.0, np.abs(new - root))
        root = new
    return np.where(never, np.inf, root)


def _single(a: NDArray, b: NDArray, rates: NDArray, sign0: NDArray) -> NDArray:
    """The zero (m, 1) of a + b (1 - exp(-l t)) in t > 0, or inf."""
    final = _final_sign(a, b, rates)
    crosses = (a != 0.0) & (final * sign0 < 0) & (np.abs(a) < np.abs(b[:, 0]))
    ratio = np.where(crosses, a / np.where(b[:, 0] == 0.0, 1.0, b[:, 0]), 0.0)
    return np.where(crosses, -np.log1p(ratio) / rates[0], np.inf)[:, None]


def rolle(
    a: NDArray, b: NDArray, rates: NDArray, sign0: NDArray, first_only: bool = False
) -> Zeros:
    """All zeros in t > 0 of m sums with common ascending rates, through their derivatives' zeros.

    Parameters: a (m,), b (m, r), rates (r,) ascending and positive, sign0 (m,) the sign of each f
    just after t = 0 (it decides where a = 0). With `first_only` the crossings hold, of each sum,
    at most the first one, and only where it can be the earliest of all.
    """
    m, r = b.shape
    if r == 0:
        return Zeros(np.full((m, 0), np.inf), np.full((m, 0), np.inf))
    if r == 1:
        return Zeros(_single(a, b, rates, sign0), np.full((m, 0), np.inf))
    da, db, drates = _derivative(b, rates)
    keep = drates > 0.0  # equal rates merge into the constant, whose exponential is 1
    # A sum that starts at zero with its slope against sign0 starts tangentially: that slope is
    # rounding, and left in it would make a zero out of nothing just after t = 0.
    starts = a == 0.0
    da = np.where(starts & (da * sign0 < 0.0), 0.0, da)
    first = np.where(starts, sign0, _first_sign(db[:, keep], drates[keep]))
    first = np.where(da != 0.0, np.sign(da), first)
    critical = rolle(da, db[:, keep], drates[keep], first).crossings
    values = evaluate(a, b, rates, critical)
    sign = np.where(np.isinf(critical), _final_sign(a, b, rates)[:, None], np.sign(values))
    # A sum that meets zero to rounding touches it, unless it only fades towards a limit of zero.
    magnitude = _magnitude(a, b, rates, critical)
    fading = evaluate(np.abs(b).sum(axis=1), -np.abs(b), rates, critical)
    touching = (np.abs(values) <= 32 * _EPS * magnitude) & (fading > 1e4 * _EPS * magnitude)
    sign = np.where(touching, 0.0, sign)
    knots = np.concatenate([np.zeros((m, 1)), critical, np.full((m, 1), np.inf)], axis=1)
    signs = np.concatenate([sign0[:, None], sign, _final_sign(a, b, rates)[:, None]], axis=1)
    for k in range(1, signs.shape[1]):  # a touch by itself changes nothing
        signs[:, k] = np.where(signs[:, k] == 0.0, signs[:, k - 1], signs[:, k])
    crossings = np.full((m, r), np.inf)
    brackets = (signs[:, :-1] * signs[:, 1:] < 0) & np.isfinite(knots[:, :-1])
    if first_only and brackets.any():
        brackets &= np.cumsum(brackets, axis=1) == 1
        brackets &= knots[:, :-1] <= knots[:, 1:][brackets].min()
    row, col = np.nonzero(brackets)
    if row.size:
        roots = _solve(a[row], b[row], rates, knots[row, col], knots[row, col + 1], signs[row, col])
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


def bounds(
    a: NDArray, b: NDArray, rates: NDArray, sign0: NDArray, first_only: bool = True
) -> Zeros:
    """Zeros in t > 0 by interval halving with certificates; parameters as for `rolle`.

    With `first_only` (the default, and what a flow needs) everything past the earliest zero of all
    m sums is dropped, so only that zero and the ones before it are complete.
    """
    m, r = b.shape
    if r == 0:
        return Zeros(np.full((m, 0), np.inf), np.full((m, 0), np.inf))
    slow = rates[0]
    final = _final_sign(a, b, rates)
    clear = _clear_of_zero(a, b, rates, sign0)
    row, lo, hi, edge = _suspects(a, b, rates, clear)
    found_row, found_t, touch_row, touch_t = [], [], [], []
    up, down = np.maximum(b, 0.0), np.maximum(-b, 0.0)
    up1, down1 = up * rates, down * rates
    shifted = rates - slow
    best = np.inf
    while row.size:
        # With `first_only` one window of time after another, else all at once.
        now = edge == edge.min() if first_only else np.ones(len(row), bool)
        later = ~now & (lo < best)
        wait = row[later], lo[later], hi[later], edge[later]
        row, lo, hi, edge = row[now], lo[now], hi[now], edge[now]
        e_lo, e_hi = -np.expm1(-rates * lo[:, None]), -np.expm1(-rates * hi[:, None])
        rise_lo, rise_hi = (e_lo * up[row]).sum(1), (e_hi * up[row]).sum(1)
        fall_lo, fall_hi = (e_lo * down[row]).sum(1), (e_hi * down[row]).sum(1)
        rounding = 32 * _EPS * (np.abs(a[row]) + rise_hi + fall_hi)
        free = (a[row] + rise_lo - fall_hi > rounding) | (a[row] + rise_hi - fall_lo < -rounding)
        # exp(l_1 t) f'(t) is a difference of two decreasing sums.
        with np.errstate(invalid="ignore"):
            d_lo = np.exp(-shifted * lo[:, None])
            d_hi = np.where(shifted > 0, np.exp(-shifted * hi[:, None]), 1.0)
        steep = ((d_hi * up1[row]).sum(1) - (d_lo * down1[row]).sum(1) > 0) | (
            (d_lo * up1[row]).sum(1) - (d_hi * down1[row]).sum(1) < 0
        )
        value_lo, value_hi = a[row] + rise_lo - fall_lo, a[row] + rise_hi - fall_hi
        sign_lo = np.where(lo == clear[row], sign0[row], np.sign(value_lo))
        sign_hi = np.where(np.isinf(hi), final[row], np.sign(value_hi))
        crossing = ~free & steep & (sign_lo * sign_hi <= 0) & (sign_lo != 0)
        if crossing.any():
            c = np.nonzero(crossing)[0]
            roots = _solve(a[row[c]], b[row[c]], rates, lo[c], hi[c], sign_lo[c])
            found_row.append(row[c][np.isfinite(roots)])
            found_t.append(roots[np.isfinite(roots)])
            if first_only:
                best = min(best, np.nextafter(roots.min(), np.inf))
        split = ~free & ~steep & (lo < best)
        tiny = split & (hi - lo <= 64 * _EPS * hi)
        if tiny.any():
            touch_row.append(row[tiny])
            touch_t.append(lo[tiny])
        split &= ~tiny
        row, lo, hi, edge = row[split], lo[split], hi[split], edge[split]
        middle = np.where(np.isinf(hi), 2.0 * lo, 0.5 * (lo + hi))
        row, edge = np.concatenate([row, row]), np.concatenate([edge, edge])
        lo, hi = np.concatenate([lo, middle]), np.concatenate([middle, hi])
        lost = np.isinf(hi) & (lo * slow > 1e3)  # the tail is zero to the last bit
        row, lo, hi, edge = (
            np.concatenate([v[~lost], w]) for v, w in zip((row, lo, hi, edge), wait, strict=True)
        )
    return Zeros(_pad(m, found_row, found_t), _pad(m, touch_row, touch_t))


def _suspects(
    a: NDArray, b: NDArray, rates: NDArray, clear: NDArray
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """The windows of time in which sums may have a zero: row, lo, hi and number of each window.

    The windows tile t > 0 and are common to all sums, so that one matrix product bounds them all.
    """
    slow, fast = rates[0], rates[-1]
    exponents = np.arange(-6, 1 + int(np.ceil(np.log2(64 * fast / slow))))
    edges = np.concatenate([[0.0], 2.0**exponents / fast, [np.inf]])
    grown = -np.expm1(-np.outer(rates, edges))
    rise, fall = np.maximum(b, 0.0) @ grown, np.maximum(-b, 0.0) @ grown
    rounding = 64 * _EPS * (np.abs(a)[:, None] + rise[:, 1:] + fall[:, 1:])
    low = a[:, None] + rise[:, :-1] - fall[:, 1:]
    high = a[:, None] + rise[:, 1:] - fall[:, :-1]
    suspect = (low <= rounding) & (high >= -rounding) & (edges[1:] > clear[:, None])
    row, edge = np.nonzero(suspect)
    return row, np.maximum(edges[edge], clear[row]), edges[edge + 1], edge


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


def zeros(a: NDArray, b: NDArray, rates: NDArray, sign0: NDArray) -> Zeros:
    """All zeros in t > 0 of f_j(t) = a_j + sum_k b_jk (1 - exp(-l_k t)), j = 1..m.

    Parameters: a (m,), b (m, r), rates (r,) positive in any order, sign0 (m,) signs of +1 or -1
    just after t = 0. Returns `Zeros`.
    """
    order = np.argsort(rates)
    b, rates = b[:, order], rates[order]
    if len(rates) <= TOWER_LIMIT:
        return rolle(a, b, rates, sign0)
    return bounds(a, b, rates, sign0, first_only=False)


def first_zeros(a: NDArray, b: NDArray, rates: NDArray, sign0: NDArray) -> Zeros:
    """As `zeros`, but only the earliest zero of all m sums is promised."""
    order = np.argsort(rates)
    b, rates = b[:, order], rates[order]
    if len(rates) <= TOWER_LIMIT:
        return rolle(a, b, rates, sign0, first_only=True)
    return bounds(a, b, rates, sign0)
