"""What Figures 1 and 2 of Phuong & Lampert 2021 show of a matrix of neurons, as numbers.

The bars are round numbers, set after two trial runs of each network with other seeds, before the
surveys. A row is long if it is longer than LONG of the longest,
or one of the two longest. That the second singular value be
GAP times the third was the first bar for rank two. It asks how far the two columns are apart, which
w_+ and w_- decide, and W_1 of the four-layer net misses it by a little; so it is reported, and what
decides is what training did: GROWN says by how much the two have outgrown the start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.geometry.two_directions import two_directions
from reluflow.papers.phuong2021inductive.convolutional import top_plane
from reluflow.papers.phuong2021inductive.limit import Limit

ZERO = 0.1
"""Parts of the largest singular value below this are effectively 0, the bar for Figure 4a."""
GAP, GROWN = 3.0, 2.0
LONG, DEGREES, MOST = 1 / 3, 10.0, 0.9
"""Rows lie along two directions if MOST of the long ones are within DEGREES of the nearer one."""
HIGH = 0.9
"""A high correlation, by the paper."""


def singular(W: NDArray) -> NDArray:
    """The singular values of W, largest first."""
    return np.asarray(np.linalg.svd(W, compute_uv=False))


def units(W: NDArray) -> NDArray:
    """The rows of W over their lengths."""
    return np.asarray(W / np.linalg.norm(W, axis=-1, keepdims=True))


@dataclass(frozen=True)
class Alignment:
    """The rows of W in the plane of its top two singular directions.

    directions  (2, 2) the two main directions there, unit vectors
    nearer      (p,) which of them a row is nearer to
    degrees     (p,) its angle to that one
    long        (p,) whether it is long
    """

    directions: NDArray
    nearer: NDArray
    degrees: NDArray
    long: NDArray

    @property
    def near(self) -> float:
        """The share of the long rows within DEGREES of the nearer direction."""
        return float(np.mean(self.degrees[self.long] <= DEGREES))

    @property
    def between(self) -> float:
        """The angle between the two directions, in degrees."""
        return float(np.degrees(np.arccos(np.clip(np.prod(self.directions, axis=0).sum(), -1, 1))))

    def agreement(self, positive: NDArray) -> float:
        """The share of the long rows that the two directions sort as `positive` (p,) does."""
        same = float(np.mean((self.nearer == 0)[self.long] == positive[self.long]))
        return max(same, 1.0 - same)


def alignment(W: NDArray) -> Alignment:
    """How the rows of W (p, d) lie in its top two singular directions."""
    plane = top_plane(W)
    lengths = np.linalg.norm(W, axis=1)
    long = lengths >= min(LONG * lengths.max(), np.sort(lengths)[-2])
    directions = two_directions(plane[long])[0]
    cosines = units(plane) @ directions.T
    degrees = np.degrees(np.arccos(np.clip(cosines.max(axis=1), -1.0, 1.0)))
    return Alignment(directions, cosines.argmax(axis=1), degrees, long)


def correlations(W: NDArray, goal: Limit, signs: NDArray | None = None) -> NDArray:
    """The cosines (p,) of the rows of W with w_+ where the sign is positive and w_- where it is
    not; without signs, with the closer of the two."""
    both = np.array([units(W) @ w / np.linalg.norm(w) for w in
                     (goal.vectors[1.0], goal.vectors[-1.0])])  # fmt: skip
    if signs is None:
        return np.asarray(both.max(axis=0))
    return np.where(signs > 0.0, *both)
