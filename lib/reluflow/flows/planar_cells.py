"""Flows of one neuron in the plane inside cells, thousands at a time, by their eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.flows.compensated import two_product

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
        left, gone = self.d * np.exp(self._faded(s)), -self.d * np.expm1(self._faded(s))
        # The first form keeps the digits early, the second one late, a far start forgotten.
        early = np.linalg.norm(self.w, axis=-1) + np.abs(gone).sum(axis=-1)
        late = np.linalg.norm(self.limit, axis=-1) + np.abs(left).sum(axis=-1)
        first = (early <= late)[..., None]
        step = np.where(first, gone, -left)
        return np.where(first, self.w, self.limit) + (self.V * step[..., None, :]).sum(axis=-1)

    def _faded(self, s: NDArray) -> NDArray:
        with np.errstate(invalid="ignore"):
            return np.where(self.rates > 0.0, -self.rates * s[..., None], 0.0)

    @property
    def slowest(self) -> NDArray:
        """The smallest rate (...) that is not zero, or 0."""
        return np.where(self.rates[..., 1] > 0.0, self.rates[..., 1], self.rates[..., 0])

    def taken(self, rows: NDArray, index: NDArray) -> Cells:
        """The cells at these indices."""
        fields = (self.w, self.V, self.rates, self.d, self.limit)
        return Cells(*(field[rows, index] for field in fields))


def cells_of(X: NDArray, y: NDArray, w: NDArray, on: NDArray) -> tuple[Cells, NDArray, NDArray]:
    """The flow of the active data `on` (..., n) from w (..., 2); X (..., n, 2), y (..., n).

    Returns it, the data (..., n, 2) in the coordinates of its V, and how far (..., 2) its limit may
    be off along V by rounding.
    """
    a = on.astype(float)
    p, q = X[..., 0], X[..., 1]
    angle = 0.5 * np.arctan2(2.0 * (a * p * q).sum(-1), (a * (p - q) * (p + q)).sum(-1))
    c, s = np.cos(angle), np.sin(angle)
    V = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
    turned = np.stack(turned_by(p, q, c[..., None], s[..., None]), -1)
    # The small eigenvalue as a sum of squares: no cancellation, however ill-conditioned H is.
    rates = (a[..., None] * turned**2).sum(axis=-2)
    rates[..., 1] = np.where(rates[..., 1] <= (16 * _EPS) ** 2 * rates[..., 0], 0.0, rates[..., 1])
    d, limit = np.zeros_like(w), w
    for _ in range(3):  # corrections forget a far start, and that V is rounded
        residual = a * (y - (X * limit[..., None, :]).sum(axis=-1))
        force = (residual[..., None] * turned).sum(axis=-2)
        step = np.divide(force, rates, out=np.zeros_like(force), where=rates > 0.0)
        d, limit = d + step, limit + (V * step[..., None, :]).sum(axis=-1)
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


def turned_by(p: NDArray, q: NDArray, c: NDArray, s: NDArray) -> tuple[NDArray, NDArray]:
    """p c + q s, and q c - p s to rounding of the difference itself, however it cancels."""
    (high, low), (minus, less) = two_product(q, c), two_product(p, s)
    return p * c + q * s, (high - minus) + (low - less)
