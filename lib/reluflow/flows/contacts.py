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
from reluflow.flows.segment import Segment, slopes_of

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Contact:
    """The flow meets boundaries after the time `wait`, in the state w (d,).

    data  (n,) those that are on their boundary there
    came  (n,) the side from which each is crossed: 1 from where it is active, -1, or 0 if it may
          not be
    """

    wait: float
    w: NDArray
    data: NDArray
    came: NDArray


def first_contact(
    X: NDArray,
    norms: NDArray,
    h: NDArray,
    sides: NDArray,
    flow: Segment,
    rooms: tuple[NDArray, NDArray],
    until: float = np.inf,
) -> Contact | None:
    """The first contact of `flow` at a time up to `until` from its start on; None without one.

    Parameters: X (n, d) with the lengths `norms` (n,) of its rows; h (n,) their x.w at the start,
    zero on a boundary; sides (n,) 1 for active data, -1 for inactive ones, 0 for those that do not
    count; rooms, values (m,) and amplitudes (m, r) of other sums that must stay positive.
    """
    if flow.rates.size == 0:
        return None
    free = sides != 0.0
    lo, near = 0.0, np.where(free, sides * h, np.inf)
    while lo < until:
        hi = min(until, _window(X, flow, sides, near, lo))
        w = flow.after(np.array([hi]))[0]
        far = np.where(free, sides * (X @ w), np.inf)
        rows, slopes = _suspects(X, norms, flow, np.minimum(near, far), lo, hi)
        a, b = np.append(h[rows], rooms[0]), np.vstack([slopes, rooms[1]])
        if len(a):
            sign = np.append(sides[rows], np.ones(len(rooms[0])))
            found = exponential_sums.first_zeros(a, b, flow.rates, sign, hi)
            contact = _contact(X, norms, h, sides, flow, rows, found)
            if contact is not None:
                return contact
        lo, near = hi, far
    return None


def _window(X: NDArray, flow: Segment, sides: NDArray, near: NDArray, lo: float) -> float:
    """Where a window from lo on should end: just behind the next contact, if speeds stay as they are."""
    if lo * flow.rates.min() > 1.0:
        return np.inf
    fastest = flow.rates.max()
    speeds = -sides * (X @ flow.velocity(lo))
    pace = (speeds / np.where(near > 0.0, near, np.inf)).max()
    ahead = 2.0 / pace if pace > 0.0 else np.inf
    return min(lo + max(ahead, 0.25 * lo, 2.0**-30 / fastest), max(2.0 * lo, 1.0 / fastest))


def _suspects(
    X: NDArray, norms: NDArray, flow: Segment, closest: NDArray, lo: float, hi: float
) -> tuple[NDArray, NDArray]:
    """The data that may meet their boundary from lo to hi, and their amplitudes (see `slopes_of`).

    `closest` (n,) are their distances to it at the nearer end of the window, negative across it.
    """
    way = np.exp(-flow.rates * lo) * -np.expm1(-flow.rates * (hi - lo))
    bend = way * np.minimum(1.0, flow.rates * (hi - lo) / 8.0)
    size = np.linalg.norm(flow.w0) + np.abs(flow.b) @ -np.expm1(-flow.rates * hi)
    rounding = 4.0 * (X.shape[1] + 8) * _EPS * size
    rows = np.nonzero(~(closest > (np.linalg.norm(bend * flow.b) + rounding) * norms))[0]
    slopes = slopes_of(X[rows], flow)
    # The same bound with each datum's own amplitudes, where slow eigenvectors hardly count.
    keep = ~(closest[rows] > np.abs(slopes) @ bend + rounding * norms[rows]) & slopes.any(axis=1)
    return rows[keep], slopes[keep]


def _contact(X, norms, h, sides, flow: Segment, rows, found) -> Contact | None:
    """The earliest of the zeros `found` of the data `rows`, and of walls that let go after them."""
    times = np.full(len(found.crossings), np.inf)
    for candidates in (found.crossings, found.touches):
        if candidates.shape[1]:
            times = np.minimum(times, candidates[:, 0])
    wait = float(times.min())
    if np.isinf(wait):
        return None
    data, came = np.zeros(len(X), bool), np.zeros(len(X), int)
    data[rows] = times[: len(rows)] <= wait * (1 + 4 * _EPS)
    if found.crossings.shape[1]:
        crossed = rows[found.crossings[: len(rows), 0] <= wait * (1 + 4 * _EPS)]
        came[crossed] = sides[crossed]
    if times.argmin() < len(rows):
        wait = flow.polished(X[rows[times.argmin()]], wait)
    w = flow.after(np.array([wait]))[0]
    # What rounding cannot tell from a contact at the same moment is one: parallel data among them.
    grown = -np.expm1(-flow.rates * wait)
    size = np.linalg.norm(flow.w0) + np.abs(flow.b) @ grown
    close = np.abs(X @ w) <= 4.0 * (X.shape[1] + 8) * _EPS * size * norms
    maybe = np.nonzero(close & (sides != 0.0))[0]
    slopes = slopes_of(X[maybe], flow)
    value, terms = h[maybe] + slopes @ grown, np.abs(h[maybe]) + np.abs(slopes) @ grown
    data[maybe] |= slopes.any(axis=1) & (np.abs(value) <= 8 * _EPS * terms)
    return Contact(wait, w, data, came)
