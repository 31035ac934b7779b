"""Lemma C.5: numbers with a large product have a large sum of squares."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance, Statement
from reluflow.ledger import Known, proved

BELOW = 1.0 - 2.0**-48
"""A share below 1 by more than a root in floats is wrong."""


def squares_of_factors() -> Statement:
    """mm.lemC.5: prod_j a_j >= C^m with real a_j and C >= 0 gives sum_j a_j^2 >= m C^2.

    The geometric mean of the a_j^2 is |prod a_j|^(2/m) >= C^2, and it is at most their mean. The
    hypotheses and the slack, relative to sum_j a_j^2, are decided in fractions.
    """
    return Statement(
        "Lemma C.5",
        {
            "any signs": _of(_spread),
            "equal sizes": _of(_equal),
            "nearly equal": _of(_near),
            "some are 0": _of(_zero),
            "whole numbers": _of(_whole),
        },
        excess,
        {
            "C >= 0": lambda item: float(item["C"]) >= 0.0,
            "the product is at least C^m": _large,
        },
        fixed=("C",),
        derive=lambda item: {**item, "C": np.array(root_below(item["a"]))},
    )


def why_squares_are_large() -> Known:
    """How Lemma C.5 is known."""
    return proved("the geometric mean |∏ aⱼ|^(2/m) ≥ C² of the aⱼ² is at most their mean")


def excess(item: Instance) -> float:
    """(sum_j a_j^2 - m C^2) / sum_j a_j^2, rounded once; 0 where all a_j are 0."""
    factors, C = _fractions(item["a"]), Fraction(float(item["C"]))
    total = sum((a * a for a in factors), Fraction(0))
    rest = total - len(factors) * C * C
    return float(rest / total) if total else float(rest)


def root_below(a: NDArray) -> float:
    """A C >= 0 with C^m <= prod_j a_j, the largest but for rounding; 0 where there is none."""
    a = np.asarray(a, float)
    if not np.all(a) or np.prod(np.sign(a)) < 0.0:
        return 0.0
    C = math.exp(float(np.mean(np.log(np.abs(a)))))
    return C if _large({"a": a, "C": np.array(C)}) else C * BELOW


def _large(item: Instance) -> bool:
    factors = _fractions(item["a"])
    return math.prod(factors, start=Fraction(1)) >= Fraction(float(item["C"])) ** len(factors)


def _fractions(a: NDArray) -> list[Fraction]:
    return [Fraction(v) for v in np.asarray(a, float).tolist()]


def _of(factors: Callable[[np.random.Generator, int], NDArray]) -> Draw:
    """m = 1 to 8 factors, an even number of them negative; C is as large as it may be, or less."""

    def one(rng: np.random.Generator) -> dict[str, NDArray]:
        a = factors(rng, int(rng.integers(1, 9)))
        a = a * rng.choice([-1.0, 1.0], len(a))
        if np.prod(np.sign(a)) < 0.0:
            a[0] = -a[0]
        share = 1.0 if rng.integers(2) else float(rng.random())
        return {"a": a, "C": np.array(share * root_below(a))}

    return one


def _spread(rng: np.random.Generator, m: int) -> NDArray:
    return rng.normal(size=m) * 10.0 ** rng.uniform(-12.0, 6.0, m)


def _equal(rng: np.random.Generator, m: int) -> NDArray:
    return np.full(m, rng.random() * 10.0 ** rng.uniform(-12.0, 6.0))


def _near(rng: np.random.Generator, m: int) -> NDArray:
    return _equal(rng, m) * (1.0 + 10.0 ** rng.uniform(-12.0, -1.0) * rng.normal(size=m))


def _zero(rng: np.random.Generator, m: int) -> NDArray:
    return _spread(rng, m) * (rng.random(m) < 0.7)


def _whole(rng: np.random.Generator, m: int) -> NDArray:
    return rng.integers(1, 5, m).astype(float)
