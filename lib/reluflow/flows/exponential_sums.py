"""Zeros of f(t) = a + sum_k b_k (1 - exp(-l_k t)) on t > 0, isolated and never stepped over.

This is what every pre-activation h_j(t) = x_j.w(t) is between two events. The form keeps its
relative accuracy near t = 0, where a flow from a tiny start lives.

Two isolators. `rolle`: multiplied by exp(l_1 t), the derivative is a sum of the same kind with one
exponential less, so zeros are found from the top of that tower down, one between any two
neighbouring critical points (the counting argument of Lemma F.10 of Lee et al. 2022, made into an
algorithm); the limit of each derivative, b_1 l_1, is carried along, for in the sum of its terms it
would drown. `bounds`: f and its derivative are differences of two monotone functions, hence bounded
on any interval by their ends; intervals are halved until each is certified free of zeros or
monotone. The tower loses digits and time when it is high, so it serves few exponentials, the bounds
serve many. Tests hold the one against the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# --- Sums f(t) = a + sum_k b_k (1 - exp(-l_k t)): values, derivatives, horizons, single zeros -----

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


def evaluated(a, b, rates, t, limit) -> tuple[NDArray, NDArray]:
    """f(t) and the size of the terms that it was added up from: its rounding is a few eps of that.

    f is a + sum b_k (1 - exp(-l_k t)) = limit - sum b_k exp(-l_k t), whichever has smaller terms.
    The `limit` (m,) may be known better than by adding up.
    """
    limit = (limit_of(a, b) if limit is None else limit)[:, None]
    decay = -rates * t[..., None]
    gone, left = -np.expm1(decay), np.exp(decay)
    a, b = a[:, None], b[:, None, :]
    size = np.abs(b)
    early, late = np.abs(a) + np.vecdot(gone, size), np.abs(limit) + np.vecdot(left, size)
    value = np.where(early <= late, a + np.vecdot(gone, b), limit - np.vecdot(left, b))
    return value, np.minimum(early, late)


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
    limit, fall = limit_of(a, b) if limit is None else limit, rates * b
    size, bends = np.abs(b), np.abs(b) * rates**2
    with np.errstate(all="ignore"):
        speed, curve = b @ rates, b @ rates**2
        tangent = -a / speed  # a tiny start meets zero tens of decades before hi
        parabola = tangent * (1.0 + 0.5 * tangent * curve / speed)
        tangent = np.where(np.abs(parabola - tangent) < 0.1 * tangent, parabola, tangent)
        early = (lo == 0.0) & (tangent > 0.0) & (tangent < hi)
        start = np.where(early, tangent, 0.5 * (lo + hi))
    # One after the other: seldom are there more than two, and calls on arrays of two cost most.
    given = (v.tolist() for v in (a, limit, lo, hi, sign_lo, start))
    each = zip(b, size, fall, bends, *given, strict=True)
    return np.array([_zero(-rates, *one) for one in each])


def _zero(minus, b, size, fall, bends, a, limit, lo, hi, sign_lo, root) -> float:
    """One zero, from `root` on."""
    last = np.inf
    for _ in range(1100):  # enough to halve down to the smallest number
        decay = minus * root
        left, gone = np.exp(decay), -np.expm1(decay)
        early, late = abs(a) + float(gone @ size), abs(limit) + float(left @ size)
        value = a + float(gone @ b) if early <= late else limit - float(left @ b)
        slope = float(left @ fall)
        if value * sign_lo > 0.0:
            lo = root
        else:
            hi = root
        if a == 0.0 and minus[-1] * root > -1e-60:  # on its way down to the start, which is it
            return 0.0
        # Done where the value is all rounding, or the step was or would be.
        steep = abs(slope) * root
        if abs(value) <= max(0.5 * min(early, late), steep) * _EPS or last <= 2 * _EPS * root:
            break
        newton = root - value / slope if slope else np.nan
        # Bisect where Newton leaves the bracket or does not at least halve its previous step.
        good = lo < newton < hi and abs(newton - root) < 0.5 * last
        new = newton if good else 0.5 * (lo + hi)
        last, root = abs(new - root), new
        # A step of Newton's leaves an error of its square.
        if good and float(left @ bends) * (last * last) <= _EPS * steep:
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


# --- Zeros of sums of many exponentials by bounds on intervals, halved until certified ------------


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
    found: list[tuple[NDArray, NDArray]] = []
    touched: list[tuple[NDArray, NDArray]] = []
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
            at, ends = row[crossing], (lo[crossing], hi[crossing])
            roots = solve(a[at], b[at], rates, *ends, sign_lo[crossing], limit[at])
            found.append((at, roots))
            if first_only:
                best = min(best, np.nextafter(roots.min(), np.inf))
        split = ~free & ~steep & (lo < best)
        tiny = split & (hi - lo <= 64 * _EPS * hi)
        touched.append((row[tiny], lo[tiny]))
        split &= ~tiny
        row, lo, hi, edge = row[split], lo[split], hi[split], edge[split]
        middle = 0.5 * (lo + hi)
        row, edge = (np.concatenate([v, v, w]) for v, w in ((row, wait[0]), (edge, wait[3])))
        lo, hi = np.concatenate([lo, middle, wait[1]]), np.concatenate([middle, hi, wait[2]])
    return Zeros(_pad(m, found), _pad(m, touched))


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


def _pad(m: int, found: list[tuple[NDArray, NDArray]]) -> NDArray:
    """Times grouped by row, sorted and padded with inf; neighbours equal to rounding are one."""
    row = np.concatenate([np.zeros(0, int), *(rows for rows, _ in found)])
    t = np.concatenate([np.zeros(0), *(times for _, times in found)])
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


# --- Zeros of sums of few exponentials by a tower of derivatives, a term less on each floor -------


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


TOWER_LIMIT = 6  # sums of more exponentials than this are isolated by bounds

TOWER_SPAN = 1e8
"""So are sums whose rates span more: so far the tests hold the tower against the bounds."""


def _suits_tower(rates: NDArray) -> bool:
    """Whether the tower is low and its rates, ascending, span no more than tests vouch for."""
    return len(rates) <= TOWER_LIMIT and (len(rates) == 0 or rates[-1] <= TOWER_SPAN * rates[0])


def zeros(
    a: NDArray, b: NDArray, rates: NDArray, sign0: NDArray, limit: NDArray | None = None
) -> Zeros:
    """All zeros in t > 0 of f_j(t) = a_j + sum_k b_jk (1 - exp(-l_k t)), j = 1..m.

    Parameters: a (m,), b (m, r), rates (r,) positive in any order, sign0 (m,) signs of +1 or -1
    just after t = 0; limit (m,) of the sums, where it is known better than by adding up, as beside
    a far a. Returns `Zeros`.
    """
    order = np.argsort(rates)
    b, rates = b[:, order], rates[order]
    if _suits_tower(rates):
        return rolle(a, b, rates, sign0, limit=limit)
    return bounds(a, b, rates, sign0, first_only=False, limit=limit)


def first_zeros(
    a: NDArray,
    b: NDArray,
    rates: NDArray,
    sign0: NDArray,
    until: float = np.inf,
    limit: NDArray | None = None,
) -> Zeros:
    """As `zeros`, but only the earliest zero of all m sums is promised, and one before `until`."""
    order = np.argsort(rates)
    b, rates = b[:, order], rates[order]
    limit = limit_of(a, b) if limit is None else limit
    short = np.isfinite(until) and rates.size
    crossings = _monotone(a, b, rates, sign0, until, limit) if short else None
    if crossings is not None:
        return Zeros(crossings, np.full((len(a), 0), np.inf))
    if _suits_tower(rates):
        return rolle(a, b, rates, sign0, first_only=True, limit=limit, until=until)
    return bounds(a, b, rates, sign0, until=until, limit=limit)


def _monotone(a, b, rates, sign0, until: float, limit: NDArray) -> NDArray | None:
    """The zeros (m, 1) up to `until` of sums that are certainly monotone there; else None."""
    # Towards zero and away from it, exp(l_1 t) f'(t) is a difference of two decreasing sums.
    away = sign0[:, None] * b * rates
    back = np.maximum(-away, 0.0)
    away = away + back
    faded = np.exp(-(rates - rates[0]) * until)
    falls, rises = back @ faded > away.sum(axis=1), away @ faded > back.sum(axis=1)
    # A sum that starts at zero with its slope against sign0 starts tangentially.
    if not (rises | falls & (a != 0.0)).all():
        return None
    end = np.full(len(a), until)
    crossings = np.full((len(a), 1), np.inf)
    final = evaluated(a, b, rates, end[:, None], limit)[0][:, 0]
    row = np.nonzero(falls & (final * sign0 <= 0.0))[0]
    if row.size:
        start = np.zeros(len(row))
        roots = solve(a[row], b[row], rates, start, end[row], sign0[row], limit[row])
        crossings[row, 0] = roots
    return crossings
