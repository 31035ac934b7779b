"""The next contact of an affine flow with a boundary, found by looking closely at few of the data.

From time lo to hi the part of the flow along its k-th eigenvector goes a way d_k, and of it the
share p_k(t) from 0 to 1. With a rate l_k, and q = (t - lo) / (hi - lo),

    |p_k(t) - q| <= min(1, l_k (hi - lo) / 8),

so w(t) is within e = |d_k min(1, l_k (hi - lo) / 8)| of its chord, and

    |x.w(t)| >= min(|x.w(lo)|, |x.w(hi)|) - e |x|     where x.w(lo) and x.w(hi) have one sign.

The two ends of such a window thus tell which data can meet their boundary in it. One window after
another is looked at, until one has a contact; only there zeros are searched (`exponential_sums`).

(The largest p - q is (coth z - 1/z) / 2 + log(sinh(z) / z) / (2 z) for z = l_k (hi - lo) / 2; the
first term is at most z/6, and the second, its mean over (0, z), at most z/12.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.flows import exponential_sums
from reluflow.flows.exponential_sums import evaluated
from reluflow.flows.segment import Segment, limits_of, slopes_of
from reluflow.flows.switching import SwitchingSurface, sliding_condition

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Contact:
    """The flow meets boundaries after the time `wait`, in the state w (d,).

    h     (n,) the data's x.w there
    data  (n,) those that are on their boundary, or stay on it
    came  (n,) the side from which each is crossed: 1 from where it is active, -1, or 0 if it may
          not be
    """

    wait: float
    w: NDArray
    h: NDArray
    data: NDArray
    came: NDArray


def first_contact(
    X: NDArray,
    norms: NDArray,
    h: NDArray,
    sides: NDArray,
    flow: Segment,
    until: float = np.inf,
    room: tuple[NDArray, NDArray, NDArray] | None = None,
) -> Contact | None:
    """The first contact of `flow` at a time up to `until` from its start on; None without one.

    Parameters: X (n, d) with the lengths `norms` (n,) of its rows; h (n,) their x.w at the start,
    zero on a boundary; sides (n,) 1 for active data, -1 for inactive ones, 0 for those that stay on
    their boundary; room, values (m,), amplitudes (m, r) and limits (m,) of other sums that must
    stay positive.
    """
    if flow.rates.size == 0:
        return None
    lo, near = 0.0, sides * h
    while lo < until:
        hi = min(until, _window(X, flow, sides, near, lo))
        far = sides * flow.products(X, h, hi)
        rows, slopes = _suspects(X, norms, flow, sides, np.minimum(near, far), lo, hi)
        a, b, sign = h[rows], slopes, sides[rows]
        limit = limits_of(X[rows], a, flow)
        if room is not None:
            a, b = np.append(a, room[0]), np.vstack([b, room[1]])
            sign = np.append(sign, np.ones(len(room[0])))
            limit = None if limit is None else np.append(limit, room[2])
        if len(a):
            found = exponential_sums.first_zeros(a, b, flow.rates, sign, hi, limit)
            contact = _contact(X, norms, h, sides, flow, rows, found)
            if contact is not None:
                return contact
        lo, near = hi, far
    return None


def _window(X: NDArray, flow: Segment, sides: NDArray, near: NDArray, lo: float) -> float:
    """Where a window from lo on should end: behind the next contact, if speeds stay as they are."""
    if lo * flow.rates.min() > 1.0:
        return np.inf
    fastest = flow.rates.max()
    speeds = -sides * (X @ flow.velocity(lo))
    pace = (speeds / np.where(near > 0.0, near, np.inf)).max()
    ahead = 2.0 / pace if pace > 0.0 else np.inf
    return min(lo + max(ahead, 0.25 * lo, 2.0**-30 / fastest), max(2.0 * lo, 1.0 / fastest))


def _suspects(
    X: NDArray,
    norms: NDArray,
    flow: Segment,
    sides: NDArray,
    closest: NDArray,
    lo: float,
    hi: float,
) -> tuple[NDArray, NDArray]:
    """The data that may meet their boundary from lo to hi, and their amplitudes (see `slopes_of`).

    `closest` (n,) are their distances to it at the nearer end of the window, negative across it.
    """
    share = np.exp(-flow.rates * lo) * -np.expm1(-flow.rates * (hi - lo))
    share *= np.minimum(1.0, flow.rates * (hi - lo) / 8.0)
    bend, rounding = share * flow.b, _rounding(flow, hi)
    rows = np.nonzero(~(closest > (np.sqrt(bend @ bend) + rounding) * norms))[0]
    rows = rows[sides[rows] != 0.0]
    slopes = slopes_of(X[rows], flow)
    # The same bound with each datum's own amplitudes, where slow eigenvectors hardly count.
    keep = ~(closest[rows] > np.abs(slopes) @ share + rounding * norms[rows])
    keep &= slopes.any(axis=1)
    return rows[keep], slopes[keep]


def _rounding(flow: Segment, s: float) -> float:
    """A bound on the rounding of x.w(s) for x of length one."""
    return 4.0 * (len(flow.w0) + 8) * _EPS * flow.summed(s)


def _contact(X, norms, h, sides, flow: Segment, rows, found) -> Contact | None:
    """The earliest of the zeros `found` of the data `rows`, and of surfaces that let go later."""
    times = found.crossings.min(axis=1, initial=np.inf)
    if found.touches.size:
        times = np.minimum(times, found.touches.min(axis=1))
    first = times.argmin()
    wait = times[first]
    if np.isinf(wait):
        return None
    data, came = sides == 0.0, np.zeros(len(X), int)
    data[rows] = times[: len(rows)] <= wait * (1 + 4 * _EPS)
    if found.crossings.size:
        crossed = rows[found.crossings[: len(rows), 0] <= wait * (1 + 4 * _EPS)]
        came[crossed] = sides[crossed]
    ahead = flow.products(X, h, wait)
    # What rounding cannot tell from a contact at the same moment is one, and so is what rounding
    # has put on its boundary or across it: parallel data among them.
    close = (np.abs(ahead) <= _rounding(flow, wait) * norms) & ~data
    maybe = np.nonzero(close)[0]
    if maybe.size:
        slopes = slopes_of(X[maybe], flow)
        limit = limits_of(X[maybe], h[maybe], flow)
        waits = np.full((len(maybe), 1), wait)
        value, terms = evaluated(h[maybe], slopes, flow.rates, waits, limit)
        there = np.abs(value[:, 0]) <= 8 * _EPS * terms[:, 0]
        there |= sides[maybe] * ahead[maybe] <= 0.0
        data[maybe] = slopes.any(axis=1) & there
    w = flow.after(np.array([wait]))[0]
    return Contact(float(wait), w, ahead, data, came)


def rooms(
    X: NDArray,
    y: NDArray,
    h: NDArray,
    flow: Segment,
    on: NDArray,
    stay: tuple[SwitchingSurface, ...],
) -> tuple[NDArray, NDArray, NDArray]:
    """How far the surfaces `stay` of the flow of the data `on`, whose x.w are h (n,) at first, are
    from letting go: values (m,), amplitudes (m, r) and limits (m,).

    A surface lets go where one of these sums becomes negative: not where what holds it only fades
    as the flow comes to rest, which is a limit of zero. Sums that do not change are left out.
    """
    F, c = sliding_condition(X, stay)
    A, B, target = X[on], np.abs(X[on]), y[on]

    def room(h: NDArray, width: NDArray) -> tuple[NDArray, NDArray]:
        value = c - F @ (A.T @ (target - h))
        size = np.abs(c) + np.abs(F) @ (B.T @ (np.abs(target) + width))
        return np.where(np.abs(value) <= 1e-13 * size, 0.0, value), size

    first, size = room(h[on], B @ np.abs(flow.w0))
    last, _ = room(A @ flow.fit, B @ np.abs(flow.fit))
    slopes = F @ (A.T @ (A @ (flow.V * flow.b)))
    slopes = np.where(np.abs(slopes) <= 1e-13 * size[:, None], 0.0, slopes)
    moving = slopes.any(axis=1)
    return first[moving], slopes[moving], last[moving]
