"""The limit of the stable rank over the rationals: which data carry a margin, by trying all sets.

The shortest u with <x_i, u> >= 1 is sum_i lambda_i x_i, lambda >= 0, with equality on the data that
carry it (KKT conditions); of all sets of data exactly those that satisfy them give it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import sympy

Vector = Sequence[Fraction]


def shortest(X: Sequence[Sequence[int]]) -> list[Fraction]:
    """The shortest u (d,) with <x_i, u> >= 1 for data X of whole numbers.

    Raises ValueError where there is none.
    """
    rows = [[Fraction(v) for v in x] for x in X]
    for size in range(1, len(rows) + 1):
        for kept in combinations(range(len(rows)), size):
            gram = sympy.Matrix([[_dot(rows[i], rows[j]) for j in kept] for i in kept])
            if gram.det() == 0:
                continue
            weights = gram.LUsolve(sympy.ones(size, 1))
            if any(w < 0 for w in weights):
                continue
            parts = [Fraction(int(w.p), int(w.q)) for w in weights]
            u = [sum((p * rows[i][k] for p, i in zip(parts, kept, strict=True)), Fraction(0))
                 for k in range(len(rows[0]))]  # fmt: skip
            if all(_dot(x, u) >= 1 for x in rows):
                return u
    raise ValueError("no u has <x_i, u> >= 1 for all data")


def _dot(a: Vector, b: Vector) -> Fraction:
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def limit_rank_exact(plus: Sequence[Sequence[int]], minus: Sequence[Sequence[int]]) -> sympy.Expr:
    """The limit of |W|_F^2 / |W|_2^2 for positive data `plus` and negative data `minus`.

    The nonzero eigenvalues of a p p^T + b q q^T, p and q the unit vectors along u_+ and u_- and
    a = |u_+|, b = |u_-|, are those of the Gram matrix of sqrt(a) p and sqrt(b) q.
    """
    p, q = shortest(plus), shortest(minus)
    a, b = (sympy.sqrt(sympy.Rational(_dot(u, u))) for u in (p, q))
    mixed = sympy.Rational(_dot(p, q)) / sympy.sqrt(a * b)
    root = sympy.sqrt((a - b) ** 2 + 4 * mixed**2)
    return sympy.simplify((a + b) / ((a + b + root) / 2))


def sharp_pair() -> str:
    """The limit for the data (5, 0), positive, and (-3, 4), negative, of separation 3/5."""
    return str(sympy.nsimplify(limit_rank_exact([[5, 0]], [[-3, 4]])))
