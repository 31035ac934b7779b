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


def left_out(X: NDArray, y: NDArray) -> tuple[int, int]:
    """How many of the data X (n, d) with labels y (n,) have to be left out for the others to be
    orthogonally separable: a lower and an upper bound.

    Data are the nodes of a graph, pairs that violate (OS) its edges, and data that are 0 are left
    out at once. The upper bound takes the datum with the most violations until none is left; the
    lower bound is a maximal set of violating pairs without a common datum.
    """
    keep = np.einsum("ij,ij->i", X, X) > 0.0
    zeros, X, y = int((~keep).sum()), X[keep], y[keep]
    edges = np.empty((len(y), len(y)), bool)
    for at in range(0, len(y), _ROWS):
        signs = y[at : at + _ROWS, None] == y
        block = X[at : at + _ROWS] @ X.T
        edges[at : at + _ROWS] = np.where(signs, block <= 0.0, block > 0.0)
    np.fill_diagonal(edges, False)
    return zeros + _matching(edges), zeros + _cover(edges)


def _cover(edges: NDArray) -> int:
    """Nodes that are taken, each the one with the most edges left, until no edge is left."""
    degrees, taken = edges.sum(axis=1), 0
    alive = np.ones(len(edges), bool)
    while degrees.any():
        worst = int(degrees.argmax())
        degrees -= edges[worst] & alive
        degrees[worst], alive[worst] = 0, False
        taken += 1
    return taken


def _matching(edges: NDArray) -> int:
    """Edges without a common node: each node in turn, those with the fewest edges first, takes the
    first free one."""
    free, taken = np.ones(len(edges), bool), 0
    for node in np.argsort(edges.sum(axis=1), kind="stable"):
        if free[node]:
            found = edges[node] & free
            if found.any():
                free[[node, int(found.argmax())]] = False
                taken += 1
    return taken
