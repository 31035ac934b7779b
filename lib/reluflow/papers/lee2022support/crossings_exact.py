"""Zeros of sums of exponentials, counted exactly: Lemma F.10.

With whole exponents a sum is a polynomial in u = exp(t), whose zeros Sturm's theorem counts; that
no sum has more zeros than the lemma says is a determinant over the rationals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy

from reluflow.falsify import Instance, Statement
from reluflow.flows import exponential_sums

Rationals = Sequence[Fraction]


@dataclass(frozen=True)
class ExponentialEquation:
    """sum_i a_i exp(b_i t) = c with rational a_i, c and whole b_i: a polynomial in u = exp(t)."""

    a: tuple[Fraction, ...]
    b: tuple[int, ...]
    c: Fraction

    @property
    def terms(self) -> dict[int, Fraction]:
        """{power of u: coefficient}, the equation's left side less c, zeros left out."""
        total = {0: -Fraction(self.c)}
        for a, b in zip(self.a, self.b, strict=True):
            total[b] = total.get(b, Fraction(0)) + Fraction(a)
        return {power: value for power, value in total.items() if value}

    @property
    def is_identity(self) -> bool:
        """Whether every t solves it."""
        return not self.terms

    def value(self, u: Fraction) -> Fraction:
        """Left side less right side at exp(t) = u."""
        return sum((value * u**power for power, value in self.terms.items()), Fraction(0))

    def slope(self, u: Fraction) -> Fraction:
        """Its derivative by t at exp(t) = u."""
        return sum((v * power * u**power for power, v in self.terms.items()), Fraction(0))

    def polynomial(self) -> sympy.Poly:
        """The polynomial in u, divided by its lowest power: its zeros u > 0 are exp(t)."""
        u, terms = sympy.Symbol("u"), self.terms
        low = min(terms)
        return sympy.Poly.from_dict(
            {power - low: sympy.Rational(v.numerator, v.denominator) for power, v in terms.items()},
            u,
        )

    def zeros(self, low: Fraction = Fraction(0), high: Fraction | None = None) -> int:
        """Number of different t with low < exp(t) < high, by Sturm's theorem (high None: no end).

        Raises ValueError for an identity.
        """
        if self.is_identity:
            raise ValueError("every t is a zero of an identity")
        polynomial = self.polynomial()
        top = sympy.oo if high is None else sympy.Rational(high.numerator, high.denominator)
        bottom = sympy.Rational(low.numerator, low.denominator)
        ends = sum(polynomial.eval(end) == 0 for end in (bottom, top) if end.is_finite)
        return int(polynomial.count_roots(bottom, None if high is None else top)) - int(ends)


def fitted(b: Sequence[int], zeros: Rationals) -> ExponentialEquation:
    """The equation sum_i a_i u^(b_i) = 1 that holds at the n given u = exp(t) (proof of F.10).

    The a_i solve a generalised Vandermonde system, by elimination over the rationals.
    Raises ValueError where the system is singular.
    """
    rows = [[Fraction(u) ** k for k in b] + [Fraction(1)] for u in zeros]
    return ExponentialEquation(tuple(solve(rows)), tuple(b), Fraction(1))


def solve(rows: list[list[Fraction]]) -> list[Fraction]:
    """Solution of a square system, its right side the last column (Gauss and Jordan)."""
    rows, n = [list(row) for row in rows], len(rows)
    for k in range(n):
        lead = next((i for i in range(k, n) if rows[i][k]), None)
        if lead is None:
            raise ValueError("the system is singular")
        rows[k], rows[lead] = rows[lead], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [v - rows[i][k] * w for v, w in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def _sign_of_determinant(rows: list[list[Fraction]]) -> int:
    rows, sign = [list(row) for row in rows], 1
    for k in range(len(rows)):
        lead = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if lead is None:
            return 0
        if lead != k:
            rows[k], rows[lead], sign = rows[lead], rows[k], -sign
        sign = sign if rows[k][k] > 0 else -sign
        for i in range(k + 1, len(rows)):
            if rows[i][k]:
                share = rows[i][k] / rows[k][k]
                rows[i] = [v - share * w for v, w in zip(rows[i], rows[k], strict=True)]
    return sign


def points_of_zeros(zero_exponent: bool = False) -> Statement:
    """Lemma F.10 as a determinant: no sum of 1 and n exponentials vanishes at n + 1 points.

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
        return float(_sign_of_determinant([[u**k for k in exponents] for u in points]))

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
    return ExponentialEquation(
        tuple(Fraction(int(v)) for v in a), b, Fraction(int(rng.integers(-5, 6)))
    )


def zeros_by_isolation(equation: ExponentialEquation) -> int:
    """The number of zeros by `exponential_sums` in floating point: t > 0, t < 0 and t = 0.

    Multiplied by a power of u = exp(t), the sum has rates of one sign on each side.
    """
    found = int(equation.value(Fraction(1)) == 0)
    for side in (1, -1):
        terms = {-side * power: float(v) for power, v in equation.terms.items()}
        low = min(terms)
        rates = np.array([power - low for power in terms if power > low], float)
        b = -np.array([[value for power, value in terms.items() if power > low]])
        if rates.size == 0:
            continue
        start = float(equation.value(Fraction(1)))
        slope = float(equation.slope(Fraction(1))) * side
        sign = np.array([np.sign(start) if start else np.sign(slope)])
        if sign[0] == 0:
            raise ValueError("a zero of higher order at t = 0")
        zeros = exponential_sums.zeros(np.array([start]), b, rates, sign)
        found += int(np.isfinite(zeros.crossings).sum() + np.isfinite(zeros.touches).sum())
    return found
