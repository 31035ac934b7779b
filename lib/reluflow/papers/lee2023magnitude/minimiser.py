"""Proposition B.2: is the teacher w* the only minimiser of L(w) = 1/2 E ([w.x]_+ - [w*.x]_+)^2?

For a law on finitely many points x the minimisers, all of loss 0, form the polyhedron

    {w : w.x = w*.x where w*.x > 0,  w.x <= 0 where w*.x <= 0},

since [w.x]_+ = 0 asks for w.x <= 0 only. So w* is the only one exactly if v = 0 is the only v with
v.x = 0 where w*.x > 0 and v.x <= 0 where w*.x = 0. `is_only_minimiser` decides this over the
rationals, `extent` measures the polyhedron by linear programming in floats, with no shared code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import lcm

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from reluflow.errors import InputError
from reluflow.geometry import Cells, enumerate_cells, rank
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


def finite_law(points: Sequence, weights: Sequence | None = None) -> FiniteLaw:
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


def dot(a: Iterable[Fraction], b: Iterable[Fraction]) -> Fraction:
    """The inner product, exactly."""
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def population_loss(law: FiniteLaw, w: Sequence, target: Sequence) -> Fraction:
    """L(w) = 1/2 E ([w.x]_+ - [w*.x]_+)^2 of eq. (13), exactly; w and target (d,)."""
    w, target = rationals(w), rationals(target)
    zero = Fraction(0)
    terms = (
        p * (max(dot(w, x), zero) - max(dot(target, x), zero)) ** 2
        for p, x in zip(law.weights, law.points, strict=True)
    )
    return sum(terms, zero) / 2


def is_only_minimiser(law: FiniteLaw, target: Sequence) -> bool:
    """Whether w* is the only minimiser of (13), by rational arithmetic.

    With N a basis of {v : v.x = 0 where w*.x > 0} and M the rows x.N of the points on the boundary
    w*.x = 0, v = Nc, it asks that Mc <= 0 only for c = 0. If M has full column rank, that cone is
    pointed, and it holds more than 0 exactly if it has a ray orthogonal to all but one dimension
    of rows; all such rays are tried.
    """
    target = rationals(target)
    active = [x for x in law.points if dot(x, target) > 0]
    boundary = [x for x in law.points if dot(x, target) == 0]
    N = null_vectors(active, law.d)
    rows = [tuple(dot(x, v) for v in N) for x in boundary]
    k = len(N)
    if null_vectors(rows, k):
        return False
    for chosen in combinations(rows, k - 1) if k else ():
        rays = null_vectors(chosen, k)
        if len(rays) > 1:
            continue
        signs = [dot(row, rays[0]) for row in rows]
        if max(signs) <= 0 or min(signs) >= 0:
            return False
    return True


def extent(law: FiniteLaw, target: Sequence, direction: Sequence[float]) -> tuple[float, float]:
    """Smallest and largest g.w over the minimisers w of (13), g = direction (d,), by linear
    programming; infinite where the set is unbounded. Raises ArithmeticError if that fails."""
    X, best = np.array(law.points, float), np.array(rationals(target), float)
    h, g = X @ best, np.asarray(direction, float)
    on = np.array([dot(x, rationals(target)) > 0 for x in law.points])
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(
            sign * g,
            A_ub=X[~on] if (~on).any() else None,
            b_ub=np.zeros((~on).sum()) if (~on).any() else None,
            A_eq=X[on] if on.any() else None,
            b_eq=h[on] if on.any() else None,
            bounds=(None, None),
        )
        if found.status not in (0, 3):
            raise ArithmeticError(f"linear programming failed: {found.message}")
        ends.append(sign * (-np.inf if found.status == 3 else found.fun))
    return float(ends[0]), float(ends[1])


def width(law: FiniteLaw, target: Sequence) -> float:
    """The width of the set of minimisers along (1, sqrt 2, sqrt 3, sqrt 5, ...).

    A rational polyhedron has width 0 along a direction of rationally independent entries only if it
    is a point.
    """
    primes = [1, 2, 3, 5, 7, 11, 13, 17, 19, 23]
    if law.d > len(primes):
        raise InputError(f"d = {law.d} is more than {len(primes)}")
    low, high = extent(law, target, np.sqrt(primes[: law.d]))
    return high - low


@lru_cache(maxsize=4)
def _cells(law: FiniteLaw) -> Cells:
    return enumerate_cells(np.array(law.points, float))


def spans_every_side(law: FiniteLaw) -> bool:
    """Whether the points on the positive side of every hyperplane through 0 that holds none of the
    points (but 0) span the space: exactly then every w* is the only minimiser of its loss."""
    X = np.array(law.points, float)
    return all(pattern.any() and rank(X[pattern]) == law.d for pattern in _cells(law).patterns)


def telling_targets(law: FiniteLaw, rng: np.random.Generator, count: int) -> Iterator[NDArray]:
    """Teachers to try: one inside each activation cell, `count` on random points' boundaries, and
    `count` of small whole numbers."""
    X = np.array(law.points, float)
    yield from np.round(_cells(law).witnesses, 6)
    for _ in range(count):
        rows = X[rng.integers(0, len(X), law.d - 1)]
        for v in null_vectors(rationals(rows), law.d):
            whole = lcm(*(a.denominator for a in v))
            yield int(rng.choice([-1, 1])) * np.array([int(whole * a) for a in v])
    yield from rng.integers(-2, 3, (count, law.d))


@dataclass(frozen=True)
class SmallLaws:
    """Uniform laws on n different points of {-1, 0, 1}^d with zero mean and regular covariance.

    laws       how many there are
    pairs      pairs of such a law and a teacher in {-1, 0, 1}^d
    several    pairs with more than one minimiser
    first      the first such pair, law and teacher, or None
    """

    d: int
    n: int
    laws: int
    pairs: int
    several: int
    first: tuple[FiniteLaw, tuple[int, ...]] | None


def small_laws(d: int, n: int) -> SmallLaws:
    """Enumerate them all, the points in the order of their coordinates."""
    grid = list(product((-1, 0, 1), repeat=d))
    laws = [finite_law(points) for points in combinations(grid, n)]
    laws = [law for law in laws if law.has_zero_mean and law.has_full_rank]
    pairs = [(law, target) for law in laws for target in grid]
    several = [pair for pair in pairs if not is_only_minimiser(*pair)]
    return SmallLaws(d, n, len(laws), len(pairs), len(several), several[0] if several else None)


def random_law(rng: np.random.Generator, d: int, n: int, symmetric: bool) -> FiniteLaw:
    """A law with zero mean and regular covariance on small whole points.

    Symmetric: n points and their negatives, with equal weights in pairs. Otherwise n random points
    and one more that makes the mean zero. Drawn again until the covariance is regular.
    """
    while True:
        points = rng.integers(-3, 4, (n, d))
        weights = [Fraction(int(p)) for p in rng.integers(1, 4, n)]
        points = [tuple(map(int, x)) for x in points]
        if symmetric:
            points = [*points, *(tuple(-a for a in x) for x in points)]
            weights = weights * 2
        else:
            moment = [sum(p * x[i] for p, x in zip(weights, points, strict=True)) for i in range(d)]
            points.append(tuple(-a for a in moment))
            weights.append(Fraction(1))
        total = sum(weights)
        law = finite_law(points, [p / total for p in weights])
        if law.has_full_rank:
            return law


def null_vectors(rows: Sequence[Vector], d: int) -> list[Vector]:
    """A basis of {v : v.x = 0 for all rows x (d,)}, exactly."""
    if d == 0:
        return []
    if len(rows) == 0:
        return [tuple(Fraction(int(i == j)) for j in range(d)) for i in range(d)]
    entries = [[QQ(a.numerator, a.denominator) for a in x] for x in rows]
    null = DomainMatrix(entries, (len(rows), d), QQ).nullspace()
    return [
        tuple(Fraction(int(a.numerator), int(a.denominator)) for a in v) for v in null.to_list()
    ]
