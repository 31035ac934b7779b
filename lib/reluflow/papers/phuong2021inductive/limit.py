"""The limit of Theorem 1 in closed form, and the distance of a network from it.

With s = |w_+| + |w_-|, over the labels whose group is not empty, either group has in the limit the
share |w_+-| / s of |W|_F^2. So in (8) and (9) only the directions of u and z are free:

    |u|^2 = 1 / (|w_+| s),   |z|^2 = 1 / (|w_-| s),   and both constants of (10) are 1 / (2 s).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.margin.max_margin import max_margin


@dataclass(frozen=True)
class Limit:
    """w_+ and w_- (eqs 6, 7), each (d,), of the labels whose group is not empty, by sign."""

    vectors: dict[float, NDArray]

    @property
    def total(self) -> float:
        """s = |w_+| + |w_-|."""
        return float(sum(np.linalg.norm(w) for w in self.vectors.values()))

    @property
    def constant(self) -> float:
        """Both constants of (10), 1 / (2 s)."""
        return 0.5 / self.total

    def share(self, sign: float) -> float:
        """The limit of |W_+|_F^2 / |W|_F^2 (sign 1) or |W_-|_F^2 / |W|_F^2."""
        return float(np.linalg.norm(self.vectors[sign])) / self.total

    def function(self, points: NDArray) -> NDArray:
        """The right side of (10) at points (m, d)."""
        parts = [s * np.maximum(points @ w, 0.0) for s, w in self.vectors.items()]
        return self.constant * np.sum(parts, axis=0)

    def coefficients(self, W: NDArray, signs: NDArray) -> dict[float, NDArray]:
        """The u and z (p,) of these lengths that are nearest to W / |W|_F, for W (p, d)."""
        found = {}
        for sign, w in self.vectors.items():
            along = np.where(signs == sign, np.maximum(W @ w, 0.0), 0.0)
            length = 1.0 / np.sqrt(np.linalg.norm(w) * self.total)
            found[sign] = along * length / (np.linalg.norm(along) or 1.0)
        return found

    def distances(self, U: NDArray, R: NDArray, signs: NDArray) -> tuple[float, float]:
        """The norms in (8) and (9) of balanced neurons of directions U (p, d), log norms R (p,)."""
        sizes = np.exp(R - R.max())
        sizes /= np.linalg.norm(sizes)
        W, a = sizes[:, None] * U, signs * sizes
        for sign, c in self.coefficients(W, signs).items():
            W = W - np.outer(c, self.vectors[sign])
            a = a - sign * c * np.linalg.norm(self.vectors[sign])
        return float(np.linalg.norm(W)), float(np.linalg.norm(a))


def limit(X: NDArray, y: NDArray, alive: tuple[float, ...] = (1.0, -1.0)) -> Limit:
    """The limit for data X (n, d), y (n,), of the labels `alive`. Raises InputError for a label
    that no vector w with <w, x_i> >= 1 serves."""
    labels = [sign for sign in alive if np.any(y == sign)]
    return Limit({s: max_margin(X[y == s], np.ones(int(np.sum(y == s)))).u for s in labels})
