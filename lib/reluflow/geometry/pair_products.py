"""Inner products of pairs of data: within either of two classes, and across them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PLUS, MINUS, ACROSS = "both +1", "both -1", "one of each"
"""The three kinds of pair."""
_ROWS = 1000


@dataclass(frozen=True, eq=False)
class PairProducts:
    """The inner products <x_i, x_j>, i < j, of all pairs of n data, sorted, by kind of pair.

    products  {kind: (m,) ascending}
    square    the mean of |x_i|^2, their unit
    zeros     how many data are 0
    """

    products: Mapping[str, NDArray]
    square: float
    zeros: int

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return sum(len(values) for values in self.products.values())

    def violations(self, kind: str) -> int:
        """The pairs of this kind that violate (OS): <x_i, x_j> <= 0 in a class, > 0 across."""
        values = self.products[kind]
        least = int(np.searchsorted(values, 0.0, side="right"))
        return len(values) - least if kind == ACROSS else least

    @property
    def violated(self) -> float:
        """The share of all pairs that violate (OS)."""
        return sum(map(self.violations, self.products)) / self.pairs

    def right_of_across(self, kind: str) -> float:
        """The chance that a random pair of this kind has the larger inner product than a random
        pair across the classes; a tie counts as a half."""
        across, values = self.products[ACROSS], self.products[kind]
        ways = [np.searchsorted(across, values, side=side) for side in ("left", "right")]
        return float(np.mean(ways)) / len(across)

    def mean(self, kind: str) -> float:
        """The mean inner product of this kind in units of the mean of |x_i|^2."""
        return float(self.products[kind].mean(dtype=float)) / self.square

    def quantiles(self, kind: str, levels: NDArray) -> NDArray:
        """The quantiles of the inner products at these levels, in units of the mean of |x_i|^2."""
        return np.quantile(self.products[kind], levels) / self.square


def pair_products(X: NDArray, y: NDArray) -> PairProducts:
    """All inner products of data X (n, d) with labels y (n,), in the precision of X.

    Products are taken in blocks of rows: n = 12 665 have 80 million pairs.
    """
    order = np.argsort(-y, kind="stable")
    X, split, n = X[order], int((y > 0).sum()), len(y)
    same: list[list[NDArray]] = [[], []]
    across = []
    for group, (first, last) in enumerate(((0, split), (split, n))):
        for at in range(first, last, _ROWS):
            rows = X[at : min(at + _ROWS, last)]
            block = rows @ X[at:last].T
            same[group].append(block[np.triu_indices(len(rows), 1, last - at)])
            if group == 0:
                across.append((rows @ X[split:].T).ravel())
    listed = [np.concatenate([np.zeros(0, X.dtype), *part]) for part in (*same, across)]
    for values in listed:
        values.sort()
    squares = np.einsum("ij,ij->i", X, X, dtype=float)
    names = (PLUS, MINUS, ACROSS)
    return PairProducts(
        dict(zip(names, listed, strict=True)), float(squares.mean()), int((squares == 0).sum())
    )
