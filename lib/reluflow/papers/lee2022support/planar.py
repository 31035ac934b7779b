"""Exact flows of one neuron in the plane, thousands at a time in lock-step.

For d = 2 the matrix H of a cell has two eigenvalues l_1 >= l_2 in closed form, so inside the cell

    h_j(t) = x_j.w(t) = h_j(0) + A_j (1 - exp(-l_1 t)) + B_j (1 - exp(-l_2 t))

has at most one critical point, known in closed form, and at most two zeros. Every step takes all
flows that still move to their next event (Lee et al. 2022a, eqs. 2-3, labels y > 0 by A2). A flow
that meets a choice too fine for this arithmetic is left undecided: `affine_flow` decides it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.flows.affine import affine_flow
from reluflow.flows.segment import two_product

# --- Flows of one neuron in the plane inside cells, thousands at a time ---------------------------

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Cells:
    """One cell's flow in each row: w(t) = w + V (d (1 - e)) = limit - V (d e), e = exp(-rates t).

    Shapes: w, limit, d and rates (..., 2), these descending; V (..., 2, 2), columns eigenvectors.
    """

    w: NDArray
    V: NDArray
    rates: NDArray
    d: NDArray
    limit: NDArray

    def after(self, s: NDArray) -> NDArray:
        """States (..., 2) at the times s (...) from the cell's start on."""
        with np.errstate(invalid="ignore"):
            decay = np.where(self.rates > 0.0, -self.rates * s[..., None], 0.0)
        left, gone = self.d * np.exp(decay), -self.d * np.expm1(decay)
        # The first form keeps the digits early, the second one late, a far start forgotten.
        early = np.linalg.norm(self.w, axis=-1) + np.abs(gone[..., 0]) + np.abs(gone[..., 1])
        late = np.linalg.norm(self.limit, axis=-1) + np.abs(left[..., 0]) + np.abs(left[..., 1])
        first = (early <= late)[..., None]
        return np.where(first, self.w, self.limit) + products(self.V, np.where(first, gone, -left))


def products(X: NDArray, w: NDArray) -> NDArray:
    """The x.w (..., n) of X (..., n, 2) and w (..., 2); numpy's sum of two numbers takes longer."""
    return X[..., 0] * w[..., :1] + X[..., 1] * w[..., 1:]


def cells_of(X: NDArray, y: NDArray, w: NDArray, on: NDArray) -> tuple[Cells, NDArray, NDArray]:
    """The flow of the active data `on` (..., n) from w (..., 2); X (..., n, 2), y (..., n). Returns
    it, the data (..., n, 2) in the coordinates of its V, and how far (..., 2) its limit may be off
    along V by rounding."""
    a = on.astype(float)
    p, q = X[..., 0], X[..., 1]
    angle = 0.5 * np.arctan2(2.0 * (a * p * q).sum(-1), (a * (p - q) * (p + q)).sum(-1))
    c, s = np.cos(angle), np.sin(angle)
    V = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
    along, up = c[..., None], s[..., None]
    (high, low), (minus, less) = two_product(q, along), two_product(p, up)
    # The second to rounding of the difference itself, however it cancels.
    turned = np.stack([p * along + q * up, (high - minus) + (low - less)], -1)
    # The small eigenvalue as a sum of squares: no cancellation, however ill-conditioned H is.
    rates = (a[..., None] * turned**2).sum(axis=-2)
    rates[..., 1] = np.where(rates[..., 1] <= (16 * _EPS) ** 2 * rates[..., 0], 0.0, rates[..., 1])
    d, limit = np.zeros_like(w), w
    for _ in range(3):  # corrections forget a far start, and that V is rounded
        residual = a * (y - products(X, limit))
        force = (residual[..., None] * turned).sum(axis=-2)
        step = np.divide(force, rates, out=np.zeros_like(force), where=rates > 0.0)
        d, limit = d + step, limit + products(V, step)
    terms = a * (y + np.hypot(p, q) * np.linalg.norm(limit, axis=-1)[..., None])
    terms = (np.abs(turned) * terms[..., None]).sum(axis=-2)
    error = np.divide(_EPS * terms, rates, out=np.zeros_like(terms), where=rates > 0.0)
    return Cells(w, V, rates, d, limit), turned, error


def virtual_minima(X: NDArray, y: NDArray, on: NDArray) -> tuple[NDArray, NDArray]:
    """The least-squares fits w (..., 2) of the data `on` (..., n), and the eigenvalues of their H.

    X (..., n, 2), y (..., n); the shortest fit where H has rank one, its second eigenvalue then 0.
    """
    cells, _, _ = cells_of(X, y, np.zeros((*on.shape[:-1], 2)), on)
    return cells.limit, cells.rates


# --- The next event of flows of one neuron in the plane, or the refusal to tell it in doubles -----

MARGIN = 1e-9
"""A pre-activation this small, relative to its terms, is not trusted to have a sign."""

NOISE = 64.0
"""Nor is one below this many times an estimate of its rounding."""

MOST_EVENTS = 200

DISTINCT = 1e-8
"""Event times are told apart, and known, to this relative accuracy."""


@dataclass(frozen=True)
class _Sums:
    """f(t) = f0 + sum_k c_k (1 - exp(-l_k t)) over k = 0, 1, with the limit f(inf). Its rounding is
    eps times the smaller of n0 + sum_k n_k (1 - exp(-l_k t)) and m0 + sum_k n_k exp(-l_k t). Arrays
    (...); c, n and the rates l (2, ...), but that these may be (2, R, 1) for all of a flow's data.
    """

    f0: NDArray
    limit: NDArray
    n0: NDArray
    m0: NDArray
    c: NDArray
    rates: NDArray
    n: NDArray

    def __getitem__(self, key: Any) -> _Sums:
        pairs = (self.c, np.broadcast_to(self.rates, self.c.shape), self.n)
        single = (self.f0, self.limit, self.n0, self.m0)
        return _Sums(*(v[key] for v in single), *(v[:, *key] for v in pairs))

    def at(self, t: NDArray | float) -> tuple[NDArray, NDArray]:
        """f(t), in whichever of its two forms has smaller terms, and the size of these terms."""
        ahead = self.c * np.exp(-self.rates * t)
        gone = self.c * -np.expm1(-self.rates * t)
        early = np.abs(self.f0) + np.abs(gone[0]) + np.abs(gone[1])
        late = np.abs(self.limit) + np.abs(ahead[0]) + np.abs(ahead[1])
        first, last = self.f0 + gone[0] + gone[1], self.limit - ahead[0] - ahead[1]
        return np.where(early <= late, first, last), np.minimum(early, late)

    def slope(self, t: NDArray | float) -> NDArray:
        """f'(t)."""
        return (self.c * self.rates * np.exp(-self.rates * t)).sum(axis=0)

    def noise(self, t: NDArray | float) -> NDArray:
        """What may be rounding in f(t)."""
        ahead, gone = self.n * np.exp(-self.rates * t), self.n * -np.expm1(-self.rates * t)
        least = np.minimum(self.n0 + gone[0] + gone[1], self.m0 + ahead[0] + ahead[1])
        return NOISE * _EPS * least

    def unsure(self, t: NDArray | float) -> NDArray:
        """Whether the sign of f(t) is not to be trusted."""
        value, size = self.at(t)
        return np.abs(value) <= MARGIN * size + self.noise(t)

    def turning(self) -> NDArray:
        """The critical point t > 0, or inf: where c_0 l_0 exp(-l_0 t) = -c_1 l_1 exp(-l_1 t)."""
        (fast, slow), gap = self.c * self.rates, self.rates[0] - self.rates[1]
        apart = (fast * slow < 0.0) & (np.abs(fast) > np.abs(slow)) & (gap > 0.0)
        ratio = np.divide(fast, -slow, out=np.ones_like(fast), where=apart)
        return np.where(apart, np.log(ratio) / np.where(apart, gap, 1.0), np.inf)


def _sums(X: NDArray, cells: Cells, turned: NDArray, error: NDArray, fresh: NDArray) -> _Sums:
    """The pre-activations (R, n); those of `fresh` data start at zero exactly."""
    size, along = np.hypot(X[..., 0], X[..., 1]), np.moveaxis(turned, -1, 0)
    d, rates = cells.d.T[..., None], cells.rates.T[..., None]
    off = np.stack([size, np.abs(along[1])]) * error.T[..., None] / _EPS
    return _Sums(
        f0=np.where(fresh, 0.0, products(X, cells.w)),
        limit=products(X, cells.limit),
        n0=np.where(fresh, 0.0, size * np.linalg.norm(cells.w, axis=-1)[:, None]),
        m0=size * np.linalg.norm(cells.limit, axis=-1)[:, None] + off[0] + off[1],
        # A coordinate that is rounding alone does not move its datum.
        c=np.where(np.abs(along) <= 4 * _EPS * size, 0.0, along * d),
        rates=np.where(rates > 0.0, rates, 1.0),  # without amplitude, any rate
        n=size * np.abs(d) + off,
    )


def next_events(
    X: NDArray, together: NDArray, cells: Cells, turned: NDArray, error: NDArray, on: NDArray,
    fresh: NDArray,
) -> tuple[NDArray, NDArray, NDArray]:  # fmt: skip
    """Time (R,) until the next event or inf, its data (R, n), and whether these are sure (R,).
    `fresh` (R, n) are the data whose event started the cell: on their boundary exactly."""
    rows = np.arange(len(on))
    f = _sums(X, cells, turned, error, fresh)
    side = np.where(on, 1.0, -1.0)
    moving = (f.c != 0.0).any(axis=0)
    # Just after t = 0 the data that were flipped are on their new side, the others on theirs.
    steep = (np.abs(f.c) * f.rates).sum(axis=0)
    wrong = np.where(fresh, side * f.slope(0.0) <= MARGIN * steep, side * f.f0 <= 0)
    # At most one zero before the critical point, and one after it.
    turn = f.turning()
    turns = moving & np.isfinite(turn)
    bend = np.where(turns, turn, 0.0)
    doubtful, dips = np.zeros((2, *on.shape), bool)
    old = np.nonzero(turns & ~fresh)
    turning, at_turn = f[old], bend[old]
    doubtful[old] = turning.unsure(at_turn)
    dips[old] = side[old] * turning.at(at_turn)[0] < 0.0
    found = np.nonzero(dips | (moving & (side * f.limit < 0.0)))
    times = np.full(on.shape, np.inf)
    times[found] = _roots(f[found], side[found], dips[found], bend[found])
    j = times.argmin(axis=1)
    wait = times[rows, j]
    horizon = (wait * (1.0 + DISTINCT))[:, None]
    some = np.isfinite(wait)
    then = np.where(some, wait, 0.0)
    flips = together[rows, j] & some[:, None]
    # A limit that may be zero leaves open whether the sum ever gets there, after all other events.
    open_end = ~dips & f.unsure(np.inf)
    wrong |= open_end & (flips | ~some[:, None])
    rival = (times <= horizon) | (f.unsure(then[:, None]) & ~fresh)
    wrong |= some[:, None] & rival & ~flips
    wrong |= np.isnan(times) | (doubtful & (turn <= horizon))
    # An arrival that is nearly tangential does not know its time.
    first = f[rows, j]
    wrong[rows, j] |= some & (first.noise(then) > DISTINCT * then * np.abs(first.slope(then)))
    # Rounding may show in the limit, or H is too close to rank one to be told.
    fast, slow = cells.rates.T
    rough = error.max(axis=-1) > MARGIN * np.linalg.norm(cells.limit, axis=-1)
    rough |= (slow > 0.0) & (slow < 1e-12 * fast)
    return wait, flips, ~(wrong & moving).any(axis=1) & ~rough


def _roots(f: _Sums, side: NDArray, dips: NDArray, bend: NDArray) -> NDArray:
    """The first zero in t > 0 of each sum (k,), which starts with the sign `side`; NaN if lost.

    It lies before the critical point `bend` where the sum `dips`, else after it. In the variable
    exp(-l t) the sum is convex or concave, with l the larger rate before the critical point, and
    the smaller one after it, so Newton's method in that variable comes from one side; where it
    leaves the bracket, the bracket is halved.
    """
    rate = np.where(dips | (f.c[1] == 0.0), *f.rates)
    lo, hi = np.where(dips, 0.0, bend), np.where(dips, bend, np.inf)
    # Beyond a critical point exp(-l_1 t) comes from its other end, 0, where only c_1 is left.
    with np.errstate(all="ignore"):
        far = -np.log(f.limit / f.c[1]) / f.rates[1]
    opposed = ~dips & (f.c[0] * f.c[1] < 0.0)
    t = np.where(opposed & (far > lo) & np.isfinite(far), far, lo)
    root, todo = np.full(len(t), np.nan), np.arange(len(t))
    for _ in range(200):
        value, size = f.at(t)
        before = value * side > 0.0
        # A sum that has just left zero, and one at its extremum, count by where they are.
        before |= t == lo
        lo, hi = np.where(before, t, lo), np.where(before, hi, t)
        with np.errstate(all="ignore"):
            new = t - np.log1p(rate * value / f.slope(t)) / rate
        inside = (new > lo) & (new < hi)
        middle = np.where(np.isinf(hi), 2.0 * lo + 1.0 / rate, 0.5 * (lo + hi))
        done = (np.abs(value) <= 0.5 * _EPS * size) & (t > 0.0)
        new = np.where(done, t, np.where(inside | (np.abs(new - t) <= _EPS * t), new, middle))
        done |= np.abs(new - t) <= 4 * _EPS * t
        root[todo[done]] = new[done]
        if done.all():
            break
        on = np.nonzero(~done)[0]
        f, side, rate, todo = f[(on,)], side[on], rate[on], todo[on]
        lo, hi, t = lo[on], hi[on], new[on]
    return root


@dataclass(frozen=True)
class PlanarFlows:
    """The flows of B neurons in the plane on the data X (B, n, 2), y (B, n).

    ends           (B, 2) the limits, NaN where undecided
    decided        (B,) false where the arithmetic leaves a choice open: nothing is told of that row
    count          (B,) number of events, of which parallel data have one each
    deactivations  (B,) how many of them switch a datum off
    reactivations  (B,) how many switch one on that an earlier event had switched off
    """

    X: NDArray
    y: NDArray
    ends: NDArray
    decided: NDArray
    count: NDArray
    deactivations: NDArray
    reactivations: NDArray


def planar_flows(X: ArrayLike, y: ArrayLike, w0: ArrayLike) -> PlanarFlows:
    """Gradient flows dw/dt = q(w) - H(w) w of B neurons in the plane, exactly (eqs. 2-3).

    Parameters: X (B, n, 2) data, of which zero rows stand for no datum; y (B, n) positive labels
    (A2); w0 (B, 2) starts. A row is given up after MOST_EVENTS.

    Returns `PlanarFlows`. Undecided are rows that start on a boundary, meet two at once (not of
    parallel data) or one nearly tangentially, end on one, need more events, or have an H so
    ill-conditioned that rounding could show.

    Raises InputError for a label that is not positive.
    """
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    if not (y > 0.0).all():
        raise InputError("y must be positive (A2): flows with other labels need affine_flow")
    h = products(X, w0)
    real, size = X.any(axis=-1), np.hypot(X[..., 0], X[..., 1])
    clear = np.abs(h) > 1e-12 * size * np.linalg.norm(w0, axis=-1)[:, None]
    decided = (clear | ~real).all(axis=1)
    ends, counts = np.full_like(w0, np.nan), np.zeros((3, len(w0)), int)
    rows, w, on = np.nonzero(decided)[0], w0[decided], (h > 0.0)[decided]
    fresh, gone, parallel = np.zeros_like(on), np.zeros_like(on), together(X)
    while rows.size:
        cells, turned, error = cells_of(X[rows], y[rows], w, on)
        wait, flips, sure = next_events(X[rows], parallel[rows], cells, turned, error, on, fresh)
        counts[:, rows] += [some.sum(axis=1) for some in (flips, flips & on, flips & gone & ~on)]
        decided[rows] = sure = sure & (counts[0, rows] <= MOST_EVENTS)
        over = sure & np.isinf(wait)
        ends[rows[over]] = cells.limit[over]
        go = sure & ~over
        w = cells.after(np.where(go, wait, 0.0))[go]
        rows, fresh = rows[go], flips[go]
        on, gone = on[go] ^ fresh, gone[go] | (fresh & on[go])
    return PlanarFlows(X, y, ends, decided, *np.where(decided, counts, 0))


def planar_flows_of(instances: Sequence[Mapping[str, ArrayLike]]) -> PlanarFlows:
    """`planar_flows` of instances {"X": (n, 2), "y": (n,), "w0": (2,)}, n not the same for all."""
    data = [np.asarray(problem["X"], float) for problem in instances]
    labels = [np.asarray(problem["y"], float) for problem in instances]
    sizes = np.array([len(x) for x in data], int)
    if [len(v) for v in labels] != sizes.tolist():
        raise InputError("y must have a label for each row of X, in every instance")
    n = int(sizes.max(initial=0))
    X, y, own = np.zeros((len(data), n, 2)), np.ones((len(data), n)), np.arange(n) < sizes[:, None]
    X[own], y[own] = np.concatenate([np.zeros((0, 2)), *data]), np.concatenate([[], *labels])
    w0 = np.array([problem["w0"] for problem in instances], float).reshape(-1, 2)
    return planar_flows(X, y, w0)


def limits(X: NDArray, y: NDArray, w0: NDArray) -> NDArray:
    """Where the flows from w0 (B, d) on the data X (B, n, d), y (B, n) end (B, d): in the plane all
    at once, and one by one in more dimensions and what is left undecided."""
    ends = planar_flows(X, y, w0).ends if X.shape[2] == 2 else np.full_like(w0, np.nan)
    for k in np.flatnonzero(np.isnan(ends).any(axis=1)):
        ends[k] = affine_flow(X[k], y[k], w0[k]).end
    return ends


def together(X: NDArray) -> NDArray:
    """Whether (B, n, n) data are parallel, so that they change together; zero data never are."""
    p, q, real = X[..., 0], X[..., 1], np.asarray(X.any(axis=-1))
    same = p[:, :, None] * q[:, None, :] == p[:, None, :] * q[:, :, None]
    return same & real[:, :, None] & real[:, None, :]
