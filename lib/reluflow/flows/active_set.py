"""The active set's H and q, kept up to date while w moves, by looking at few of the data.

The square loss of a neuron depends on the data only through H = sum x x^T and q = sum y x over the
active data, those with w.x > 0. Two inequalities leave few data to look at on a walk w_0, ..., w_k.

Far data: with u = w/|w| and u_ref the direction of an earlier w,

    |u.x| / |x|  >=  |u_ref.x| / |x| - |u - u_ref|,

so a datum whose margin |u_ref.x|/|x| exceeds the drift |u - u_ref| has not flipped. One product
with all data gives the margins; the data of least margin are copied, and only they are looked at
until the drift reaches the least margin of the rest.

Short walks: if w_i is within e of the chord's point c_i = w_0 + (i/k) (w_k - w_0), then

    |w_i.x|  >=  min(|w_0.x|, |w_k.x|) - e |x|     where w_0.x and w_k.x have one sign,

so the walk's two ends tell which data can have flipped on the way: hardly more than those that did.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy, dger

_EPS = np.finfo(float).eps
_FLIPS = 256
"""After so many rank-one updates (or n/8 of them) H and q are summed afresh."""


class ActiveSet:
    """The data with w.x > 0, their H = sum x x^T and their q = sum y x (Lee et al. 2022a, eq. 2).

    Parameters: X (n, d) in C order, y (n,), w (d,), all finite. `follow` tells which data flip,
    `change` makes the change. A datum whose w.x is zero to within rounding is on the side of the
    computed w.x, as in a plain loop; all others are on their side.

    on (n,)          the activations
    H (d, d), q (d,) the sums over the active data
    calm             forecast, not a bound: steps until the next flip at the present pace
    """

    H: NDArray
    q: NDArray
    _size: NDArray
    _most: NDArray
    _flips: int
    _h: NDArray
    _w: NDArray

    def __init__(self, X: NDArray, y: NDArray, w: NDArray) -> None:
        self._X, self._y = X, y
        self._norms = _norms(X)
        self._sizes = np.stack([self._norms**2, np.abs(y) * self._norms])
        # A computed margin, a drift and a product w.x are wrong by at most 2d + 8, d + 8 and d
        # half epsilons (sums of d products, a root, a division). What beats the drift by all of
        # them fixes the sign even of the computed w.x.
        self._slack = 4.0 * (X.shape[1] + 8) * _EPS
        self._near_count = min(len(X), max(32, len(X) // 32))
        self.reset(w)

    def reset(self, w: NDArray) -> None:
        """Start afresh from w (d,)."""
        h = self._X @ w
        self.on, self.calm = h > 0.0, 0.0
        self._sum()
        self._refer(w, h)

    def follow(self, W: NDArray) -> tuple[int, NDArray]:
        """Walk from the present w along the states W (k, d) until data flip.

        Returns the number of states that keep the present set, and the data (f,) that have flipped
        at the next one, which becomes the present w; f = 0 where all k states keep the set.
        """
        start, k = 0, len(W)
        while start < k:
            # Not "drift >= reach": the drift is nan where w = 0 has no direction.
            unsafe = ~(self._drift(W[start:]) < self._reach)
            count = int(np.argmax(unsafe)) if unsafe.any() else k - start
            if count:
                kept, flipped = self._look(W[start : start + count])
                if flipped.size:
                    return start + kept, flipped
                start += count
            if start < k:  # a new reference, and all the data are looked at
                h = self._X @ W[start]
                flipped = np.nonzero((h > 0.0) != self.on)[0]
                self._refer(W[start], h)
                if flipped.size:
                    return start, flipped
                start += 1
        return k, np.zeros(0, int)

    def change(self, data: NDArray) -> None:
        """Flip the activations of `data` (f,), and H and q with them."""
        self.on[data] ^= True
        self._near_on = self.on[self._near]
        signs = 2.0 * self.on[data] - 1.0
        self._size += self._sizes[:, data] @ signs
        self._most = np.maximum(self._most, self._size)
        self._flips += len(data)
        # What leaves a sum leaves its rounding behind, so no more than half of it may have left.
        faded = bool((self._size < 0.5 * self._most).any())
        if faded or self._flips > max(_FLIPS, len(self._X) // 8):
            self._sum()
            return
        for sign, x, target in zip(signs, self._X[data], self._y[data], strict=True):
            self.H = dger(sign, x, x, a=self.H, overwrite_a=1)
            self.q = daxpy(x, self.q, a=sign * target)

    def _look(self, W: NDArray) -> tuple[int, NDArray]:
        """`follow` for states (k, d) on which the drift is below the reach."""
        k, start, end = len(W), self._h, self._rows @ W[-1]
        bend = np.multiply.outer(np.arange(1, k + 1) / k, W[-1] - self._w)
        bend += self._w
        bend -= W
        # sqrt(d) times the largest entry bounds a length, and neither overflows nor underflows.
        size = max(np.abs(W).max(), np.abs(self._w).max())
        off = np.sqrt(W.shape[1]) * (np.abs(bend).max() + self._slack * size)
        safe = np.minimum(np.abs(start), np.abs(end)) > off * self._near_norms
        safe &= (end > 0.0) == self._near_on
        doubtful = np.nonzero(~safe)[0]
        kept, flipped = k, np.zeros(0, int)
        if doubtful.size:
            changed = (self._rows[doubtful] @ W.T > 0.0) != self._near_on[doubtful, None]
            hit = changed.any(axis=0)
            if hit.any():
                kept = int(np.argmax(hit))
                flipped = self._near[doubtful[changed[:, kept]]]
        self._w = W[min(kept, k - 1)].copy()
        self._h = end if kept >= k - 1 else self._rows @ self._w
        # At the walk's mean pace h turns zero after k h / (start - end) steps.
        with np.errstate(divide="ignore", invalid="ignore"):
            nearest = float(np.fmax.reduce((start - end) / self._h, initial=0.0))
        self.calm = k / nearest if nearest > 0.0 else np.inf
        return kept, flipped

    def _sum(self) -> None:
        rows = self._X[self.on]
        self.H, self.q = np.asfortranarray(rows.T @ rows), self._y[self.on] @ rows
        self._size = self._sizes @ self.on
        self._most, self._flips = self._size.copy(), 0

    def _refer(self, w: NDArray, h: NDArray) -> None:
        """Make the direction of w (d,) the reference; h (n,) is X w."""
        n, count = len(h), self._near_count
        with np.errstate(invalid="ignore", divide="ignore"):
            scaled = w / np.abs(w).max()
            length = np.sqrt(scaled @ scaled)
            self._direction = scaled / length
            margins = np.abs(h) / np.abs(w).max() / length / self._norms
        # The margin of x = 0 is nan; it is never active, and put last. Where w = 0 all are nan.
        margins[np.isnan(margins)] = np.inf
        self._near, self._reach = np.arange(n), np.inf
        if count < n:
            # Data that tie go together, so that the reach is positive.
            near = margins <= np.partition(margins, count)[count] + 2.0 * self._slack
            self._near = np.nonzero(near)[0]
            self._reach = np.min(margins, where=~near, initial=np.inf) - self._slack
        self._rows, self._near_norms = self._X[self._near], self._norms[self._near]
        self._near_on = self.on[self._near]
        self._w, self._h = w.copy(), h[self._near]

    def _drift(self, W: NDArray) -> NDArray:
        """|u - u_ref| for the directions u of W (k, d), shape (k,); nan for w = 0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            U = W / np.abs(W).max(axis=1, keepdims=True)
            U /= np.sqrt(np.vecdot(U, U))[:, None]
        U -= self._direction
        return np.sqrt(np.vecdot(U, U))


def _norms(X: NDArray) -> NDArray:
    """Lengths of the rows of X (n, d), free of overflow and underflow inside, shape (n,)."""
    largest = np.abs(X).max(axis=1)
    scaled = X / np.where(largest > 0.0, largest, 1.0)[:, None]
    return largest * np.sqrt(np.vecdot(scaled, scaled))
