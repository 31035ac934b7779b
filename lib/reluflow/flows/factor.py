"""The eigenvectors of H = sum x x^T over the active data, kept up to date while data come and go.

H itself would lose half the digits of its small eigenvalues. So what is kept is a square root,
M^T M = H. A datum x that comes (s = 1) or goes (s = -1) changes it by a matrix of rank one: with
M^T p = x,

    M' = (1 + c p p^T) M,    c = s / (1 + sqrt(1 + s |p|^2)),    so that  M'^T M' = H + s x x^T.

Like every downdating this is safe while |p|, the leverage of x, is not near one. Where it is, and
now and then, M is the triangular factor of the active rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_EPS = np.finfo(float).eps
_UPDATES = 64
"""After so many updates M is computed afresh."""


class Factor:
    """Singular values s (r,), falling, and right singular vectors V (d, r) of the rows `on` of X.

    Parameters: X (n, d). There is nothing to read before the first `follow`.
    """

    s: NDArray
    V: NDArray

    def __init__(self, X: NDArray) -> None:
        self._X, self._on = X, np.zeros(len(X), bool)
        self._age = _UPDATES

    def follow(self, on: NDArray) -> None:
        """Make `on` (n,) the active data."""
        changed = np.nonzero(on != self._on)[0]
        if self._age >= _UPDATES or len(changed) != 1 or not self._update(int(changed[0]), on):
            self._M = np.linalg.qr(self._X[on], mode="r")
            self._age, self._largest = 0, 0.0
        self._on = on
        self._U, s, Vt = np.linalg.svd(self._M, full_matrices=False)
        largest = s.max(initial=0.0)
        self._largest = max(self._largest, largest)
        rank = int(np.sum(s > largest * max(on.sum(), len(Vt.T)) * _EPS))
        self._U, self.s, self.V = self._U[:, :rank], s[:rank], Vt[:rank].T

    def _update(self, j: int, on: NDArray) -> bool:
        """Add or remove the datum j; false where that would cost digits."""
        if self.s.size == 0:
            return False
        sign, x = (1.0, self._X[j]) if on[j] else (-1.0, self._X[j])
        p = self._U @ (x @ self.V / self.s)
        back = p @ self._M
        # A datum that leaves the span of the others, or enters it, is not for an update; what went
        # left its rounding behind.
        outside = np.abs(back - x).max() > 16 * _EPS * self.s[0]
        if p @ p > 0.75 or outside or self.s[0] < 0.5 * self._largest:
            return False
        self._M = self._M + np.outer(sign / (1.0 + np.sqrt(1.0 + sign * (p @ p))) * p, back)
        self._age += 1
        return True
