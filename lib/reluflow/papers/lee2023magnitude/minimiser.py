"""Proposition B.2: is the teacher w* the only minimiser of L(w) = 1/2 E ([w.x]_+ - [w*.x]_+)^2?

For a law on finitely many points x the minimisers, all of loss 0, form the polyhedron

    {w : w.x = w*.x where w*.x > 0,  w.x <= 0 where w*.x <= 0},

since [w.x]_+ = 0 asks for w.x <= 0 only. So w* is the only one exactly if v = 0 is the only v with
v.x = 0 where w*.x > 0 and v.x <= 0 where w*.x = 0. `is_only_minimiser` decides this over the
rationals, `extent` measures the polyhedron by linear programming in floats, with no shared code.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from reluflow.errors import InputError
from reluflow.exact import null_vectors
from reluflow.falsify import survey
from reluflow.geometry import Cells, enumerate_cells, rank
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.papers.lee2023magnitude.finite_laws import FiniteLaw, dot, finite_law, random_law
from reluflow.rational import rationals

MERCEDES = ((1, 0), (0, 1), (-1, -1))
"""Three points of mean zero that span the plane: the smallest law with several minimisers."""

TEACHER = (-1, -1)


def population_loss(law: FiniteLaw, w: Any, target: Any) -> Fraction:
    """L(w) = 1/2 E ([w.x]_+ - [w*.x]_+)^2 of eq. (13), exactly; w and target (d,)."""
    w, target = rationals(w), rationals(target)
    zero = Fraction(0)
    terms = (
        p * (max(dot(w, x), zero) - max(dot(target, x), zero)) ** 2
        for p, x in zip(law.weights, law.points, strict=True)
    )
    return sum(terms, zero) / 2


def is_only_minimiser(law: FiniteLaw, target: Any) -> bool:
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


def extent(law: FiniteLaw, target: Any, direction: Any) -> tuple[float, float]:
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


def width(law: FiniteLaw, target: Any) -> float:
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
def law_cells(law: FiniteLaw) -> Cells:
    """The activation cells of the law's points."""
    return enumerate_cells(np.array(law.points, float))


def spans_every_side(law: FiniteLaw) -> bool:
    """Whether the points on the positive side of every hyperplane through 0 that holds none of the
    points (but 0) span the space: exactly then every w* is the only minimiser of its loss."""
    X = np.array(law.points, float)
    return all(pattern.any() and rank(X[pattern]) == law.d for pattern in law_cells(law).patterns)


def small_laws(d: int, n: int) -> pd.DataFrame:
    """Uniform laws of mean zero and full rank on n points of {-1, 0, 1}^d: one row for each pair of
    such a law (its number) and a teacher of {-1, 0, 1}^d, and whether the minimisers are `several`.
    """
    grid = list(product((-1, 0, 1), repeat=d))
    laws = [law for law in map(finite_law, combinations(grid, n))
            if law.has_zero_mean and law.has_full_rank]  # fmt: skip
    pairs = [(k, law, target) for k, law in enumerate(laws) for target in grid]
    return survey(pairs, lambda pair: {"law": pair[0], "several": not is_only_minimiser(*pair[1:])})


def several_minimisers(d: int, n: int) -> int:
    """How many of the pairs of `small_laws` have more than one minimiser."""
    found = small_laws(d, n)
    return int(found.several.sum()) if len(found) else 0


def small_laws_table() -> pd.DataFrame:
    """Uniform laws of mean zero and full rank on n points of {-1, 0, 1}^d, enumerated."""

    def row(size: tuple[int, int]) -> dict[str, int]:
        found = small_laws(*size)
        laws = int(found.law.nunique()) if len(found) else 0
        several = several_minimisers(*size)
        sizes = {"d": size[0], "points": size[1], "laws": laws, "pairs of law and w*": len(found)}
        return {**sizes, "with several minimisers": several}

    sizes = ((1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (2, 5))
    return survey(sizes, row).set_index(["d", "points"])


def laws_tried(seed: int, count: int) -> list[Evidence]:
    """Proposition B.2: random laws in space, all small ones in the plane and on the line."""
    rng = np.random.default_rng(seed)
    random = [random_law(rng, 3, 5, False) for _ in range(count)]
    several = sum(not is_only_minimiser(law, rng.integers(-3, 4, 3)) for law in random)
    line = [several_minimisers(1, n) for n in (2, 3)]
    return [
        fact("random laws on six points of space, each with a random w*: those with several "
             "minimisers", several, 0),
        fact("uniform laws on 3 points of {-1, 0, 1}^2, pairs with several minimisers",
             several_minimisers(2, 3), 0),
        fact("the same in d = 1, on 2 and on 3 points", sum(line), 0),
        note("random laws", count),
        note("seed", seed),
    ]  # fmt: skip


def mercedes() -> Counterexample:
    """ma.propB.2: a law of mean zero and full rank has one minimiser, against three points."""
    law, zero = finite_law(MERCEDES), Fraction(0)

    def loss(a: Fraction, b: Fraction) -> Fraction:
        gaps = (max(a * c + b * d, zero) - Fraction(max(-c - d, 0)) for c, d in MERCEDES)
        return sum((gap**2 for gap in gaps), zero) / 6

    low, high = extent(law, TEACHER, (1.0, 0.0))
    others = [(Fraction(-2), zero), (Fraction(-3, 2), Fraction(-1, 2)), (zero, Fraction(-2))]
    found = sum(loss(*w) == 0 for w in others)
    return Counterexample(
        instance={
            "x, each with probability 1/3": np.array(MERCEDES),
            "w*": np.array(TEACHER),
            "other minimisers": "w = (-2 + s, -s), 0 <= s <= 2",
        },
        assumptions={
            "E x = 0": law.has_zero_mean,
            "E xx^T has full rank": law.has_full_rank,
        },
        breaks=(bound("width along w_1 of the set of minimisers, by linear programming",
                      high - low, "<=", 0, ""),),
        recheck=(fact("of (-2, 0), (-3/2, -1/2) and (0, -2), those with L = 0", found, 0),),
        route="the loss (13) itself, summed in rational arithmetic",
    )  # fmt: skip
