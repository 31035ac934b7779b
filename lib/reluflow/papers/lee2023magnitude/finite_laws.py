"""Laws on finitely many points with rational coordinates and weights, and draws of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reluflow.errors import InputError
from reluflow.geometry import rank
from reluflow.rational import rationals

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class FiniteLaw:
    """A law on finitely many points, in rational numbers.

    points    n tuples of d rationals
    weights   n positive rationals of sum 1
    """

    points: tuple[Vector, ...]
    weights: Vector

    @property
    def d(self) -> int:
        """The dimension."""
        return len(self.points[0])

    @property
    def has_zero_mean(self) -> bool:
        """Whether E x = 0, exactly."""
        pairs = list(zip(self.weights, self.points, strict=True))
        return all(sum(p * x[i] for p, x in pairs) == 0 for i in range(self.d))

    @property
    def has_full_rank(self) -> bool:
        """Whether E xx^T is regular: whether the points span the space."""
        return rank(np.array(self.points)) == self.d

    @property
    def is_symmetric(self) -> bool:
        """Whether x and -x have the same law."""
        mass: dict[Vector, Fraction] = {}
        for p, x in zip(self.weights, self.points, strict=True):
            mass[x] = mass.get(x, Fraction(0)) + p
        return all(mass.get(tuple(-a for a in x)) == p for x, p in mass.items())


def finite_law(points: Any, weights: Any = None) -> FiniteLaw:
    """A law on the points (n, d), with equal weights unless weights (n,) are given.

    Decimals are taken as they print. Raises InputError for ragged points, or weights that are not
    positive or not of sum 1.
    """
    points = rationals(points)
    n = len(points)
    weights = (Fraction(1, n),) * n if weights is None else rationals(weights)
    if n == 0 or len({len(x) for x in points}) != 1:
        raise InputError("points must be a list of vectors of one length")
    if len(weights) != n or min(weights) <= 0 or sum(weights) != 1:
        raise InputError("weights must be positive, one for each point, and of sum 1")
    return FiniteLaw(points, weights)


def dot(a: Iterable[Any], b: Iterable[Any]) -> Fraction:
    """The inner product, exactly."""
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def random_law(rng: np.random.Generator, d: int, n: int, symmetric: bool) -> FiniteLaw:
    """A law with zero mean and regular covariance on small whole points.

    Symmetric: n points and their negatives, with equal weights in pairs. Otherwise n random points
    and one more that makes the mean zero. Drawn again until the covariance is regular.
    """
    while True:
        drawn = rng.integers(-3, 4, (n, d))
        weights = [Fraction(int(p)) for p in rng.integers(1, 4, n)]
        points: list[tuple[Any, ...]] = [tuple(map(int, x)) for x in drawn]
        if symmetric:
            points = [*points, *(tuple(-a for a in x) for x in points)]
            weights = weights * 2
        else:
            moment: list[Any] = [
                sum(p * x[i] for p, x in zip(weights, points, strict=True)) for i in range(d)
            ]
            points.append(tuple(-a for a in moment))
            weights.append(Fraction(1))
        total = sum(weights)
        law = finite_law(points, [p / total for p in weights])
        if law.has_full_rank:
            return law
