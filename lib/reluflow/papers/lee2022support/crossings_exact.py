"""Lemma F.10 and Theorem F.11 over the rationals, and signs with sixty digits.

With whole exponents a sum of exponentials is a polynomial in u = exp(t), whose zeros Sturm's
theorem counts; that no sum has more zeros than the lemma says is a determinant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from reluflow.exact import ExponentialEquation, determinant, fitted, solve
from reluflow.falsify import Instance, Statement
from reluflow.ledger import Evidence, fact

MOST = 6
"""The Vandermonde construction is carried out for n = 1..MOST."""


def points_of_zeros(zero_exponent: bool = False) -> Statement:
    """sv.lemF.10: as a determinant, no sum of 1 and n exponentials vanishes at n + 1 points.

    For exponents 0, b_1, ..., b_n, all different, and u_0 < ... < u_n the matrix u_j^(b_i) has a
    positive determinant, columns in ascending order of the exponent; so only the zero sum vanishes
    at all u_j = exp(t_j). Exact: u_j = points_j / 12 with whole points_j. With `zero_exponent` one
    b_i is 0 as well, which the lemma as printed does not exclude.
    """

    def draw(kind: str) -> Callable[[np.random.Generator], Instance]:
        def one(rng: np.random.Generator) -> Instance:
            n = int(rng.integers(1, 6))
            nonzero = np.delete(np.arange(-6, 7), 6)
            b = rng.permutation(nonzero)[:n]
            if zero_exponent:
                b[0] = 0
            first = {"wide": 1, "close": 10**4}[kind]
            return {
                "b": b,
                "points": first + rng.permutation(60 if kind == "wide" else 12)[: n + 1],
            }

        return one

    def slack(instance: Instance) -> float:
        exponents = sorted([0, *map(int, instance["b"])])
        points = sorted(Fraction(int(v), 12) for v in instance["points"])
        det = determinant([[u**k for k in exponents] for u in points])
        return float((det > 0) - (det < 0))

    return Statement(
        says="no sum of 1 and n exponentials vanishes at n + 1 points",
        draws={kind: draw(kind) for kind in ("wide", "close")},
        slack=slack,
        strict=True,
    )


def random_equation(rng: np.random.Generator, most: int = 5) -> ExponentialEquation:
    """Whole exponents, different and not zero, and small whole coefficients; half of the equations
    are fitted to n zeros instead."""
    n = int(rng.integers(1, most + 1))
    b = tuple(map(int, rng.permutation([-4, -3, -2, -1, 1, 2, 3, 4, 5])[:n]))
    if rng.uniform() < 0.5:
        return fitted(b, [Fraction(int(v), 3) for v in rng.permutation(np.arange(1, 10))[:n]])
    a = rng.integers(-6, 7, n)
    a[0] = a[0] or 1  # with all a_i = 0 and c = 0 every t would be a zero
    return ExponentialEquation(tuple(map(int, a)), b, int(rng.integers(-5, 6)))


def zeros_attained() -> list[Evidence]:
    """The construction in the proof of Lemma F.10: n zeros, all simple, for n = 1..MOST."""
    attained = []
    for n in range(1, MOST + 1):
        b = [(k + 1) // 2 * (-1) ** k for k in range(1, n + 1)]  # -1, 1, -2, 2, ...
        zeros = [2**k for k in range(n)]  # t = 0, 1, ..., n - 1 in units of log 2
        equation = fitted(b, zeros)
        attained.append(equation.zeros() if equation.crosses(zeros) else -1)
    says = "zeros of the Vandermonde equations for n = 1, 2, ..., all simple"
    return [fact(says, tuple(attained), tuple(range(1, MOST + 1)))]


def diagonal_example(d: int) -> tuple[ExponentialEquation, tuple[Fraction, ...]]:
    """Data k e_k with labels k, k = 1..d: A1 to A3 hold, and from 0 the flow is 1 - exp(-k^2 t).

    Returns v.w(t) = 1 as an equation in u = exp(-t), for the hyperplane met at u = 1/2, ..., 1/2^d,
    and its normal v.
    """
    zeros = [Fraction(1, 2**k) for k in range(1, d + 1)]
    v = tuple(solve([[1 - u ** (k * k) for k in range(1, d + 1)] for u in zeros], [1] * d))
    powers = tuple(k * k for k in range(1, d + 1))
    return ExponentialEquation(tuple(-c for c in v), powers, 1 - sum(v)), v


def diagonal_crossings(dimensions: Sequence[int]) -> list[Evidence]:
    """sv.thmF.11.2: d crossings at t > 0 on data that satisfy A1 to A3, in these dimensions."""
    equations = [diagonal_example(d)[0] for d in dimensions]
    turning = [
        e.crosses(Fraction(1, 2**k) for k in range(1, d + 1))
        for d, e in zip(dimensions, equations, strict=True)
    ]
    return [
        fact(f"crossings at t > 0 of the diagonal example, d = {tuple(dimensions)} (Sturm)",
             tuple(e.zeros(0, 1) for e in equations), tuple(dimensions)),
        fact("each of them changes the sign", all(turning), True),
    ]  # fmt: skip
