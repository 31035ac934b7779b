"""The next event of flows of one neuron in the plane, or the refusal to tell it in doubles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.planar_cells import Cells

_EPS = np.finfo(float).eps

MARGIN = 1e-9
"""A pre-activation this small, relative to its terms, is not trusted to have a sign."""

NOISE = 64.0
"""Nor is one below this many times an estimate of its rounding."""

DISTINCT = 1e-8
"""Event times are told apart, and known, to this relative accuracy."""


@dataclass(frozen=True)
class _Sums:
    """f(t) = f0 + A (1 - exp(-l1 t)) + B (1 - exp(-l2 t)), arrays of one shape.

    `limit` is f(inf). The rounding of f is eps times the smaller of the sums
    n0 + n1 (1 - exp(-l1 t)) + n2 (1 - exp(-l2 t)) and m0 + n1 exp(-l1 t) + n2 exp(-l2 t).
    """

    f0: NDArray
    A: NDArray
    B: NDArray
    limit: NDArray
    l1: NDArray
    l2: NDArray
    n0: NDArray
    m0: NDArray
    n1: NDArray
    n2: NDArray

    def __getitem__(self, key) -> _Sums:
        return _Sums(*(getattr(self, name)[key] for name in self.__annotations__))

    def at(self, t: NDArray) -> tuple[NDArray, NDArray]:
        """f(t), in whichever of its two forms has smaller terms, and the size of these terms."""
        e1, e2 = np.exp(-self.l1 * t), np.exp(-self.l2 * t)
        g1, g2 = -np.expm1(-self.l1 * t), -np.expm1(-self.l2 * t)
        A, B = np.abs(self.A), np.abs(self.B)
        early = np.abs(self.f0) + A * g1 + B * g2
        late = np.abs(self.limit) + A * e1 + B * e2
        first = self.f0 + self.A * g1 + self.B * g2
        value = np.where(early <= late, first, self.limit - self.A * e1 - self.B * e2)
        return value, np.minimum(early, late)

    def slope(self, t: NDArray) -> NDArray:
        """f'(t)."""
        return self.A * self.l1 * np.exp(-self.l1 * t) + self.B * self.l2 * np.exp(-self.l2 * t)

    def noise(self, t: NDArray) -> NDArray:
        """What may be rounding in f(t)."""
        e1, e2 = np.exp(-self.l1 * t), np.exp(-self.l2 * t)
        g1, g2 = -np.expm1(-self.l1 * t), -np.expm1(-self.l2 * t)
        early, late = self.n0 + self.n1 * g1 + self.n2 * g2, self.m0 + self.n1 * e1 + self.n2 * e2
        return NOISE * _EPS * np.minimum(early, late)

    def unsure(self, t: NDArray) -> NDArray:
        """Whether the sign of f(t) is not to be trusted."""
        value, size = self.at(t)
        return np.abs(value) <= MARGIN * size + self.noise(t)

    def turning(self) -> NDArray:
        """The critical point t > 0, or inf: where A l1 exp(-l1 t) = -B l2 exp(-l2 t)."""
        fast, slow = self.A * self.l1, self.B * self.l2
        apart = (fast * slow < 0.0) & (np.abs(fast) > np.abs(slow)) & (self.l1 > self.l2)
        ratio = np.divide(fast, -slow, out=np.ones_like(fast), where=apart)
        gap = np.where(apart, self.l1 - self.l2, 1.0)
        return np.where(apart, np.log(ratio) / gap, np.inf)


def _sums(X: NDArray, cells: Cells, turned: NDArray, error: NDArray, fresh: NDArray) -> _Sums:
    """The pre-activations (R, n); those of `fresh` data start at zero exactly."""
    size = np.hypot(X[..., 0], X[..., 1])
    along, across = turned[..., 0], turned[..., 1]
    l1, l2 = (cells.rates[:, k, None] for k in (0, 1))
    d1, d2 = (cells.d[:, k, None] for k in (0, 1))
    # A coordinate that is rounding alone does not move its datum.
    A = np.where(np.abs(along) <= 4 * _EPS * size, 0.0, along * d1)
    B = np.where(np.abs(across) <= 4 * _EPS * size, 0.0, across * d2)
    l1, l2 = np.where(l1 > 0.0, l1, 1.0), np.where(l2 > 0.0, l2, 1.0)  # without amplitude, any rate
    f0 = np.where(fresh, 0.0, (X * cells.w[:, None]).sum(axis=-1))
    r1, r2 = size * error[:, :1] / _EPS, np.abs(across) * error[:, 1:] / _EPS
    return _Sums(
        f0, A, B, (X * cells.limit[:, None]).sum(axis=-1),
        np.broadcast_to(l1, A.shape), np.broadcast_to(l2, A.shape),
        n0=np.where(fresh, 0.0, size * np.linalg.norm(cells.w, axis=-1)[:, None]),
        m0=size * np.linalg.norm(cells.limit, axis=-1)[:, None] + r1 + r2,
        n1=size * np.abs(d1) + r1,
        n2=size * np.abs(d2) + r2,
    )  # fmt: skip


def next_events(
    X: NDArray,
    together: NDArray,
    cells: Cells,
    turned: NDArray,
    error: NDArray,
    on: NDArray,
    fresh: NDArray,
) -> tuple[NDArray, NDArray, NDArray]:
    """Time (R,) until the next event or inf, its data (R, n), and whether these are sure (R,).

    `fresh` (R, n) are the data whose event started the cell: on their boundary exactly.
    """
    rows = np.arange(len(on))
    f = _sums(X, cells, turned, error, fresh)
    side = np.where(on, 1.0, -1.0)
    moving = (f.A != 0.0) | (f.B != 0.0)
    # Just after t = 0 the data that were flipped are on their new side, the others on theirs.
    steep = np.abs(f.A) * f.l1 + np.abs(f.B) * f.l2
    wrong = np.where(fresh, side * f.slope(np.zeros(on.shape)) <= MARGIN * steep, side * f.f0 <= 0)
    # At most one zero before the critical point, and one after it.
    turn = f.turning()
    turns = moving & np.isfinite(turn)
    bend = np.where(turns, turn, 0.0)
    doubtful = turns & ~fresh & f.unsure(bend)
    dips = turns & ~fresh & (side * f.at(bend)[0] < 0.0)
    found = dips | (moving & (side * f.limit < 0.0))
    times = np.full(on.shape, np.inf)
    times[found] = _roots(f[found], side[found], dips[found], bend[found])
    j = times.argmin(axis=1)
    wait = times[rows, j]
    horizon = (wait * (1.0 + DISTINCT))[:, None]
    some = np.isfinite(wait)
    then = np.repeat(np.where(some, wait, 0.0)[:, None], on.shape[1], axis=1)
    flips = together[rows, j] & some[:, None]
    # A limit that may be zero leaves open whether the sum ever gets there, after all other events.
    open_end = ~dips & f.unsure(np.full(on.shape, np.inf))
    wrong |= open_end & (flips | ~some[:, None])
    rival = (times <= horizon) | (f.unsure(then) & ~fresh)
    wrong |= some[:, None] & rival & ~flips
    wrong |= np.isnan(times) | (doubtful & (turn <= horizon))
    # An arrival that is nearly tangential does not know its time.
    loose = f.noise(then) > DISTINCT * then * np.abs(f.slope(then))
    wrong[rows, j] |= some & loose[rows, j]
    return wait, flips, ~(wrong & moving).any(axis=1) & ~_ill_posed(cells, error)


def _ill_posed(cells: Cells, error: NDArray) -> NDArray:
    """Whether (...) rounding may show in the limit, or H is too close to rank one to be told."""
    fast, slow = cells.rates[..., 0], cells.rates[..., 1]
    rough = error.max(axis=-1) > MARGIN * np.linalg.norm(cells.limit, axis=-1)
    return rough | ((slow > 0.0) & (slow < 1e-12 * fast))


def _roots(f: _Sums, side: NDArray, dips: NDArray, bend: NDArray) -> NDArray:
    """The first zero in t > 0 of each sum (k,), which starts with the sign `side`; NaN if lost.

    It lies before the critical point `bend` where the sum `dips`, else after it. In the variable
    exp(-l t) the sum is convex or concave, with l the larger rate before the critical point, and
    the smaller one after it, so Newton's method in that variable comes from one side; where it
    leaves the bracket, the bracket is halved.
    """
    single = f.B == 0.0
    rate = np.where(dips | single, f.l1, f.l2)
    lo, hi = np.where(dips, 0.0, bend), np.where(dips, bend, np.inf)
    # Beyond a critical point exp(-l2 t) comes from its other end, 0, where only B is left.
    with np.errstate(all="ignore"):
        far = -np.log(f.limit / f.B) / f.l2
    t = np.where(~dips & ~single & (f.A * f.B < 0.0) & (far > lo) & np.isfinite(far), far, lo)
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
        on = ~done
        f, side, rate, todo = f[on], side[on], rate[on], todo[on]
        lo, hi, t = lo[on], hi[on], new[on]
    return root
