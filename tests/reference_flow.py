"""Gradient flow of one ReLU neuron in 100-digit arithmetic: the slow second method of the tests.

The flow is dw/dt = -sum over {i : w.x_i > 0} of (w.x_i - y_i) x_i. Inside a cell it is affine, with
H = sum x_i x_i^T and q = sum y_i x_i over the active data. With the eigenvectors of H every
pre-activation is a constant plus exponentials, h_j(s) = c_j + sum_k b_jk exp(-l_k s), where s is
the time since the cell was entered.

The next event is the first sign change of these. Between two zeros of its derivative h_j has one
at most, and the derivative times exp(l_1 s) is a sum of one exponential less (`zeros_of`). So none
is jumped over, however close to another one. A true tangency is an error. Inputs are doubles and
are taken exactly.

With a label below zero both velocities may point to the boundary. Then the flow slides along it, by
the same formulas within the hyperplane, until the force of the others leaves the range that the
datum can balance.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from flint import arb, ctx
from mpmath import inf, matrix, mp, mpf

DIGITS = 100  # working precision; the results are good to 50 digits
ZERO = mpf(10) ** -60  # below this, relative to the terms it is made of, a number is zero
TOGETHER = mpf(10) ** -50  # relative distance of two zeros that are one event


class NotTransversal(ValueError):
    """The flow touches a boundary without crossing it, starts or ends on one, or slides on two."""


@dataclass(frozen=True)
class Segment:
    """Motion in one cell: w(start + s) = limit + sum_k exp(-rates[k] s) modes[k]."""

    start: mpf
    active: tuple[bool, ...]
    limit: matrix
    rates: tuple[mpf, ...]
    modes: tuple[matrix, ...]

    def at(self, s: mpf) -> matrix:
        """Return w at the time s after the start of the segment."""
        w = self.limit.copy()
        for rate, mode in zip(self.rates, self.modes, strict=True):
            w += mp.exp(-rate * s) * mode
        return w


@dataclass(frozen=True)
class ReferenceFlow:
    """Events in order of time (ties by datum), the segments between them, the limit of the flow."""

    times: tuple[mpf, ...]
    data: tuple[int, ...]
    kinds: tuple[str, ...]
    segments: tuple[Segment, ...]
    end: tuple[mpf, ...]

    def at(self, t: mpf) -> matrix:
        """Return w(t)."""
        with mp.workdps(DIGITS):
            segment = [s for s in self.segments if s.start <= t][-1]
            return segment.at(mpf(t) - segment.start)


def reference_flow(
    X: np.ndarray, y: np.ndarray, w0: np.ndarray, activation: str = "relu", digits: int = DIGITS
) -> ReferenceFlow:
    """Follow the gradient flow of 1/2 sum ([w.x_i]_+ - y_i)^2 from w0 to its limit, to 50 digits.

    X has shape (n, d), y (n,), w0 (d,). With activation="linear" every datum stays active, and the
    zeros of w.x_j are still listed. A start 10^k times as long as the limit needs k more `digits`.
    Raises NotTransversal at a tangency, a start on a boundary (of x_j = 0, too), or where the flow
    slides along two.
    """
    with mp.workdps(digits):
        rows = [matrix([mpf(float(v)) for v in x]) for x in X]
        labels = [mpf(float(v)) for v in y]
        w = matrix([mpf(float(v)) for v in w0])
        positive = [_sign_of_product(x, w) > 0 for x in rows]
        segments, events = [], []
        t, crossed, held, smooth = mpf(0), (), None, False
        while True:
            active = tuple(p or activation == "linear" for p in positive)
            segment = _solve_cell(rows, labels, active, w, t, held)
            if not smooth:
                _check_directions(segment, rows, crossed, positive)
            segments.append(segment)
            sums = [_sum(segment, x) for j, x in enumerate(rows) if j != held]
            keys = [j for j in range(len(rows)) if j != held]
            if held is not None:
                sums += _balance(segment, rows, labels, held)
                keys += [-1, -2]
            s, crossed = _next_event(segment, dict(zip(keys, sums, strict=True)), crossed)
            if not crossed:
                break
            t, w, was, smooth = t + s, segment.at(s), held, crossed[-1] < 0
            if smooth and len(crossed) > 1:
                raise NotTransversal("a datum lets go where others cross their boundaries")
            if smooth:  # the datum lets go
                positive[held], crossed, held = crossed == (-2,), (held,), None
            else:
                for j in crossed:
                    positive[j] = not positive[j]
                if activation == "relu" and (held is not None or len(crossed) == 1):
                    one = crossed[0] if held is None else held
                    low, high = _pushes(rows, labels, positive, w, one)
                    held = one if low > 0 > high else None
                    if held is not None and was is None:
                        positive[one], crossed = False, ()
                    elif was is not None and held is None:
                        positive[one], crossed = high > 0, (*crossed, one)
            for j in sorted({*crossed, *({held} - {was, None})}):
                kind = "slide" if j == held else "activate" if positive[j] else "deactivate"
                events.append((t, j, kind))
        times, data, kinds = zip(*events, strict=True) if events else ((), (), ())
        return ReferenceFlow(times, data, kinds, tuple(segments), tuple(segments[-1].limit))


def _nothing() -> mpf:
    """Relative to its terms a number below this is zero: more digits know less ones."""
    return ZERO * mpf(10) ** (DIGITS - mp.dps)


def _dot(a: Iterable[mpf], b: Iterable[mpf]) -> mpf:
    return mp.fdot(zip(a, b, strict=True))


def _size(a: Iterable[mpf], b: Iterable[mpf]) -> mpf:
    """Return sum |a_k b_k|, the scale on which rounding errors of sum a_k b_k live."""
    return mp.fsum(abs(ak * bk) for ak, bk in zip(a, b, strict=True))


def _sign_of_product(x: matrix, w: matrix) -> int:
    h = _dot(x, w)
    if abs(h) <= ZERO * mp.norm(x) * mp.norm(w):
        raise NotTransversal("w0 lies on the boundary of a datum")
    return int(mp.sign(h))


def _solve_cell(rows, labels, active, w, start, held) -> Segment:
    """Solve w' = q - H w by the eigenvectors of H, on the boundary of the datum `held` if any.

    On the null space of H nothing moves, as q is in the range of H.
    """
    d = len(w)
    H, q = mp.zeros(d, d), mp.zeros(d, 1)
    if held is not None:
        # Its time, and so w, is known to 60 digits: in the hyperplane it is on the boundary in all.
        n, norm = rows[held], _dot(rows[held], rows[held])
        w, *rows = (v - n * (_dot(v, n) / norm) for v in (w, *rows))
    for x, label, on in zip(rows, labels, active, strict=True):
        if on:
            H += x * x.T
            q += label * x
    values, vectors = mp.eigsy(H)
    top = max(values)
    limit, rates, modes = w.copy(), [], []
    for k in range(d):
        if abs(values[k]) <= mpf(10) ** -80 * top:
            continue
        if values[k] < mpf(10) ** -40 * top:
            raise ValueError("the rank of H cannot be decided")
        v = vectors[:, k]
        target = _dot(v, q) / values[k]
        mode = (_dot(v, w) - target) * v
        limit -= mode
        rates.append(values[k])
        modes.append(mode)
    return Segment(start, active, limit, tuple(rates), tuple(modes))


def _check_directions(segment, rows, crossed, positive) -> None:
    """Require that the new velocity carries each crossed datum to the side where it was put, or
    that no datum is active, and the flow stays where it is."""
    if not any(segment.active):
        return
    velocity = segment.at(mpf(0)) * 0
    for rate, mode in zip(segment.rates, segment.modes, strict=True):
        velocity -= rate * mode
    for j in crossed:
        speed = _dot(rows[j], velocity)
        if abs(speed) <= ZERO * mp.norm(rows[j]) * mp.norm(velocity):
            raise NotTransversal(f"datum {j} has no velocity on its boundary")
        if (speed > 0) != positive[j]:
            raise NotTransversal(f"the velocity of datum {j} turns back on its boundary")


def _sum(segment: Segment, x: matrix, c: float = 0.0) -> tuple[mpf, list[mpf]]:
    """c + x.w as a constant and the amplitudes of exponentials."""
    total, size = c + _dot(x, segment.limit), abs(c) + _size(x, segment.limit)
    return total if abs(total) > _nothing() * size else mpf(0), [_dot(x, m) for m in segment.modes]


def _pushes(rows, labels, active, w: matrix, j: int) -> tuple[mpf, mpf]:
    """The velocities of x_j.w at w, where it is 0, on the inactive and on the active side."""
    pulls = [
        (y - _dot(x, w)) * _dot(x, rows[j])
        for i, (x, y, on) in enumerate(zip(rows, labels, active, strict=True))
        if on and i != j
    ]
    jump = labels[j] * _dot(rows[j], rows[j])
    low, high = mp.fsum(pulls), mp.fsum([*pulls, jump])
    size = mp.fsum(abs(p) for p in pulls) + abs(jump)
    if min(abs(low), abs(high)) <= _nothing() * size and any(active):
        raise NotTransversal(f"datum {j} has no velocity on a side of its boundary")
    return low, high


def _balance(segment, rows, labels, held: int) -> list[tuple[mpf, list[mpf]]]:
    """`_pushes` along the segment, as sums."""
    each = [
        (x, y, _dot(x, rows[held]))
        for x, y, on in zip(rows, labels, segment.active, strict=True)
        if on
    ]
    z, c = rows[held] * 0, mpf(0)
    for x, y, share in each:
        z, c = z - share * x, c + share * y
    return [_sum(segment, z, c), _sum(segment, z, c + labels[held] * _dot(rows[held], rows[held]))]


def _next_event(segment, sums, crossed) -> tuple[mpf, tuple[int, ...]]:
    """Return the time since the start of the segment and the first of `sums` that are zero.

    Without a crossing the answer is (inf, ()).
    """
    zeros, first = {}, inf
    for j, (c, b) in sums.items() if segment.rates else ():
        rates = segment.rates
        if abs(c) <= _nothing() * mp.fsum(map(abs, b)):
            # It fades: the slowest part, which is left, is one.
            k = rates.index(min(rates))
            c, b = b[k], b[:k] + b[k + 1 :]
            rates = tuple(rate - rates[k] for i, rate in enumerate(rates) if i != k)
            if not rates or abs(c) <= _nothing() * mp.fsum(map(abs, b)):
                continue
        # One that crosses at the start has been counted there.
        start = mp.sqrt(ZERO) / max(rates) if j in crossed else -1
        found = zeros_of(c, zip(rates, b, strict=True), _nothing(), start)
        for s, crosses in islice(found, 1):
            # A little beyond the earliest so far, so that a simultaneous one is seen.
            if s <= first * (1 + TOGETHER):
                if not crosses:
                    raise NotTransversal("a pre-activation touches zero without crossing it")
                zeros[j], first = s, min(first, s)
    return first, tuple(j for j, s in zeros.items() if s <= first * (1 + TOGETHER))


def zeros_of(c, terms, nothing=0, start=-1) -> Iterator[tuple[mpf, bool]]:
    """Where c + sum b exp(-rate t), over the `terms` (rate, b), changes its sign in t > `start`;
    and, as no change, extrema whose value is `nothing` beside its terms.

    It does so at most once between two zeros of its derivative, which times exp(rate_1 t) is a sum
    of one exponential less. Numbers are FLINT's, which are several times as fast.
    """
    ctx.dps = mp.dps + 20
    c, *rest = map(arb, (c, nothing, start))
    for zero, crosses in _zeros(c, sorted((arb(r), arb(b)) for r, b in terms), *rest):
        yield mpf(zero), crosses


def _zeros(c, terms, nothing, start) -> Iterator[tuple[arb, bool]]:
    terms = [(rate, b) for rate, b in terms if b != 0]
    while terms and terms[0][0] == 0:
        c += terms.pop(0)[1]
    if c == 0 and terms:  # it fades as its slowest part, which is left
        (least, c), *terms = terms
        terms = [(rate - least, b) for rate, b in terms]
    if not terms:
        return

    def value(t: arb) -> arb:
        return sum((b * (-rate * t).exp() for rate, b in terms), c).mid()

    (least, first), *others = terms
    slope = [(rate - least, -rate * b) for rate, b in others]
    low, here = arb(0), value(arb(0))
    for high, _ in chain(_zeros(-least * first, slope, arb(0), arb(-1)), [(None, True)]):
        if last := high is None:
            high = low + 1 / terms[-1][0]
            while value(high) * c <= 0:
                high *= 2
        there = value(high)
        if low > start and here * there < 0:
            yield _bisect(value, low, high), True
        size = abs(c) + sum(abs(b) * (-rate * high).exp() for rate, b in terms)
        if not last and high > start and abs(there) <= nothing * size:
            yield high, False
        low, here = high, there


def _bisect(value: Callable[[arb], arb], a: arb, z: arb) -> arb:
    """Halve [a, z], at whose ends value has different signs, to a relative width below 1e-60."""
    at_left, width = value(a) > 0, arb(ZERO)
    while z - a > width * z:
        # Both sides of where the chord is zero, so near to it as the bracket is narrow; the middle.
        low, high, near = value(a), value(z), (z - a) ** 2 / z
        chord = a + (z - a) * low / (low - high)
        for s in (chord - near, chord + near, (a + z) / 2):
            if a < (s := s.mid()) < z:
                a, z = (s, z) if (value(s) > 0) == at_left else (a, s)
    return ((a + z) / 2).mid()
