"""Zeros of f(t) = a + sum_k b_k (1 - exp(-l_k t)) on t > 0, isolated and never stepped over.

This is what every pre-activation h_j(t) = x_j.w(t) is between two events. The form keeps its
relative accuracy near t = 0, where a flow from a tiny start lives.

f, and exp(l_1 t) f'(t) for the smallest rate l_1, are differences of two monotone functions, hence
bounded on any interval by their ends. Intervals are halved until f is certified to have no zero on
them, or to be monotone, or until they are as short as rounding. Then signs at the ends tell the
zeros. A sign that rounding may have made counts for nothing, so that a touch is no crossing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

_EPS = np.finfo(float).eps
_ROUNDING = 32 * _EPS  # times the terms that a sum is added up from
_MOST = 10_000
"""Sums that are rounding alone over a long time are not halved into more intervals than this."""


@dataclass(frozen=True)
class Zeros:
    """Zeros at times t (k,) of the sums `row` (k,), a sum's in order, and which are crossings (k,).

    The others are touches, where f meets zero to rounding at an extremum, so that whether it
    crosses cannot be told in this arithmetic.
    """

    row: NDArray
    t: NDArray
    crosses: NDArray


@dataclass(frozen=True)
class Sums:
    """f_j(t) = a_j + sum_k b_jk (1 - exp(-l_k t)), j = 1..m.

    a (m,), b (m, r), rates (r,) positive in any order; limit (m,) as t goes to infinity, which may
    be known better than by adding up, as beside a far a; errors, those of a (m,), b (m, r) and the
    limit (m,) that are no rounding of them, if any.
    """

    a: NDArray
    b: NDArray
    rates: NDArray
    limit: NDArray
    errors: tuple[NDArray, ...] = ()

    def __getitem__(self, rows: NDArray) -> Sums:
        errors = tuple(error[rows] for error in self.errors)
        return Sums(self.a[rows], self.b[rows], self.rates, self.limit[rows], errors)

    def with_rows(self, more: Sums) -> Sums:
        """These sums and `more` of the same rates."""
        pairs = [(self.a, more.a), (self.b, more.b), (self.limit, more.limit)]
        pairs += zip(self.errors, more.errors, strict=True)
        a, b, limit, *errors = (np.concatenate(pair) for pair in pairs)
        return Sums(a, b, self.rates, limit, tuple(errors))

    def at(self, t: NDArray) -> tuple[NDArray, NDArray]:
        """f (m, k) at times t (m, k), and the size of the terms that it was added up from: its
        rounding is a few eps of that.

        f is a + sum b_k (1 - exp(-l_k t)) = limit - sum b_k exp(-l_k t), whichever has smaller
        terms.
        """
        decay = -self.rates * t[..., None]
        gone, left = -np.expm1(decay), np.exp(decay)
        a, b, limit = self.a[:, None], self.b[:, None, :], self.limit[:, None]
        size = np.abs(b)
        early, late = np.abs(a) + np.vecdot(gone, size), np.abs(limit) + np.vecdot(left, size)
        value = np.where(early <= late, a + np.vecdot(gone, b), limit - np.vecdot(left, b))
        return value, np.minimum(early, late)

    def signs(self, t: NDArray) -> NDArray:
        """The signs of f (m, k) at times t (m, k), 0 where rounding or the errors may make it."""
        value, size = self.at(t)
        unsure = _ROUNDING * size
        if self.errors:
            a, b, limit = self.errors
            unsure = unsure + replace(self, a=a, b=b, limit=limit).at(t)[1]
        return np.where(np.abs(value) <= unsure, 0.0, np.sign(value))


def plain(a: NDArray, b: NDArray, rates: NDArray) -> Sums:
    """The sums, their limits by adding up: those that are rounding alone are zero."""
    limit, size = a + b.sum(axis=1), np.abs(a) + np.abs(b).sum(axis=1)
    return Sums(a, b, rates, np.where(np.abs(limit) <= _ROUNDING * size, 0.0, limit))


def zeros(f: Sums, sign0: NDArray, until: float = np.inf) -> Zeros:
    """All zeros in 0 < t <= until, where sign0 (m,) are the signs, +1 or -1, just after t = 0."""
    order = np.argsort(f.rates)
    errors = tuple(e[:, order] if e.ndim == 2 else e for e in f.errors)
    f = replace(f, b=f.b[:, order], rates=f.rates[order], errors=errors)
    row, lo, hi, steep = _isolated(f, sign0, until)
    touches = row[~steep], lo[~steep]
    signs = f[row].signs(np.stack([lo, hi], axis=1))
    # The last sign of each sum that is sure, and when it was seen.
    known, since = sign0.tolist(), [0.0] * len(sign0)
    brackets = []
    for j, times, both in zip(row.tolist(), zip(lo, hi, strict=True), signs.tolist(), strict=True):
        for t, sign in zip(times, both, strict=True):
            if sign and sign != known[j]:
                brackets.append((j, since[j], t, known[j]))
            if sign:
                known[j], since[j] = sign, t
    found = np.array(brackets).reshape(-1, 4)
    row = found[:, 0].astype(int)
    crossings = row, _solved(f[row], *found[:, 1:].T)
    row, t = (np.concatenate(two) for two in zip(crossings, touches, strict=True))
    return Zeros(row, t, np.arange(len(t)) < len(found))


def _isolated(f: Sums, sign0: NDArray, until: float) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Intervals that may have a zero, by row and time: row, lo, hi, and whether f is monotone there
    (else it is as short as rounding)."""
    a, b, rates, limit = f.a, f.b, f.rates, f.limit
    if not b.size:
        return np.zeros(0, int), np.zeros(0), np.zeros(0), np.zeros(0, bool)
    clear, end = _clear_of_zero(f, sign0), _horizon(f, until)
    powers = np.arange(-6, 1 + int(np.ceil(np.log2(max(1.0, end.max() * rates[-1])))))
    edges = np.append(0.0, 2.0**powers / rates[-1])
    lo, hi = np.maximum(edges[:-1], clear[:, None]), np.minimum(edges[1:], end[:, None])
    row, window = np.nonzero((lo < hi) & np.any(b, axis=1)[:, None])
    lo, hi = lo[row, window], hi[row, window]
    up, down = np.maximum(b, 0.0), np.maximum(-b, 0.0)
    shifted, done = rates - rates[0], list[tuple[NDArray, ...]]()
    while row.size or not done:
        free = _free(a[row], up[row], down[row], rates, limit[row], lo, hi)
        row, lo, hi = row[~free], lo[~free], hi[~free]
        # exp(l_1 t) f'(t) is a difference of two decreasing sums.
        d_lo, d_hi = np.exp(-shifted * lo[:, None]), np.exp(-shifted * hi[:, None])
        rise, fall = rates * up[row], rates * down[row]
        steep = np.vecdot(d_hi, rise) > np.vecdot(d_lo, fall)
        steep |= np.vecdot(d_hi, fall) > np.vecdot(d_lo, rise)
        stay = steep | (hi - lo <= 64 * _EPS * hi) | (len(row) > _MOST)
        done.append((row[stay], lo[stay], hi[stay], steep[stay]))
        row, lo, hi = row[~stay], lo[~stay], hi[~stay]
        middle = 0.5 * (lo + hi)
        row, lo, hi = np.tile(row, 2), np.append(lo, middle), np.append(middle, hi)
    row, lo, hi, steep = (np.concatenate(parts) for parts in zip(*done, strict=True))
    order = np.lexsort((lo, row))
    return row[order], lo[order], hi[order], steep[order]


def _free(a, up, down, rates, limit, lo, hi) -> NDArray:
    """Whether a + sum (up - down) (1 - exp(-l t)) surely has no zero on (lo, hi), all (m,): bounds
    of either of its forms, of which the one with smaller terms serves."""
    g_lo, g_hi = -np.expm1(-rates * lo[:, None]), -np.expm1(-rates * hi[:, None])
    e_lo, e_hi = np.exp(-rates * lo[:, None]), np.exp(-rates * hi[:, None])
    rise, fall, up_left, down_left = (
        np.vecdot(one, two) for one, two in ((up, g_hi), (down, g_hi), (up, e_lo), (down, e_lo))
    )
    early, late = np.abs(a) + rise + fall, np.abs(limit) + up_left + down_left
    first, rounding = early <= late, _ROUNDING * np.minimum(early, late)
    low = np.where(first, a + np.vecdot(up, g_lo) - fall, limit - up_left + np.vecdot(down, e_hi))
    high = np.where(
        first, a + rise - np.vecdot(down, g_lo), limit - np.vecdot(up, e_hi) + down_left
    )
    return (low > rounding) | (high < -rounding)


def _horizon(f: Sums, until: float) -> NDArray:
    """Times (m,), at most `until`, after which the sums keep their sign.

    A limit that is not zero outweighs what has not faded by then. On its way to a limit of zero a
    sum is followed until it is rounding of the terms that cancel in this limit: past that point
    its sign cannot be told, and no zero is claimed.
    """
    terms, limit = np.abs(f.b), np.abs(f.limit)
    size = np.abs(f.a) + terms.sum(axis=1)
    floor = np.where(limit, limit / (2.0 * terms.shape[1]), _ROUNDING * size)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        faded = np.log(terms / floor[:, None]) / f.rates
    return np.minimum(np.where(np.isnan(faded), 0.0, faded).max(axis=1, initial=0.0), until)


def _clear_of_zero(f: Sums, sign0: NDArray) -> NDArray:
    """Times (m,) up to which the sums that start at zero (a = 0) surely keep their sign0; else 0.

    The first derivative that has this sign at t = 0 keeps it for a while, hence so does the sum,
    the derivatives before it being zero.
    """
    b, rates, clear = f.b, f.rates, np.zeros(len(f.a))
    todo = np.nonzero(f.a == 0.0)[0]
    power, flip = rates / rates[-1], sign0[todo]
    for _ in range(b.shape[1] if todo.size else 0):
        terms = flip[:, None] * b[todo] * power
        up, down = np.maximum(terms, 0.0), np.maximum(-terms, 0.0)
        good = terms.sum(axis=1) > _ROUNDING * np.abs(terms).sum(axis=1)
        reach = np.full(len(todo), 1.0 / rates[-1])
        open_ = good.copy()
        while open_.any():
            decay = np.exp(-rates * reach[:, None])
            open_ &= (up * decay).sum(axis=1) <= down.sum(axis=1)
            reach = np.where(open_, 0.5 * reach, reach)
        clear[todo[good]] = reach[good]
        todo, flip, power = todo[~good], -flip[~good], power * (rates / rates[-1])
    return clear


def _solved(f: Sums, lo: NDArray, hi: NDArray, sign_lo: NDArray) -> NDArray:
    """The zero of each f in its bracket (lo, hi), all (m,): Newton's method inside bisection."""
    with np.errstate(all="ignore"):
        speed, curve = f.b @ f.rates, f.b @ f.rates**2
        tangent = -f.a / speed  # a tiny start meets zero tens of decades before hi
        parabola = tangent * (1.0 + 0.5 * tangent * curve / speed)
        tangent = np.where(np.abs(parabola - tangent) < 0.1 * tangent, parabola, tangent)
        early = (lo == 0.0) & (tangent > 0.0) & (tangent < hi)
        start = np.where(early, tangent, 0.5 * (lo + hi))
    # One after the other: seldom are there more than two, and calls on arrays of two cost most.
    numbers = (v.tolist() for v in (f.a, f.limit, lo, hi, sign_lo, start))
    return np.array([_zero(f.rates, *one) for one in zip(f.b, *numbers, strict=True)])


def _zero(rates, b, a, limit, lo, hi, sign_lo, root) -> float:
    """One zero, from `root` on."""
    size, fall, last = np.abs(b), rates * b, np.inf
    bends = size * rates**2
    for _ in range(1100):  # enough to halve down to the smallest number
        decay = -rates * root
        left, gone = np.exp(decay), -np.expm1(decay)
        early, late = abs(a) + float(gone @ size), abs(limit) + float(left @ size)
        value = a + float(gone @ b) if early <= late else limit - float(left @ b)
        slope = float(left @ fall)
        if value * sign_lo > 0.0:
            lo = root
        else:
            hi = root
        if a == 0.0 and rates[-1] * root < 1e-60:  # on its way down to the start, which is it
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
