"""Exact arithmetic: linear algebra over the rationals (FLINT), zeros counted by Sturm's theorem.

Numbers are whole or `Fraction`s, matrices are lists of rows or object arrays of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly
from numpy.typing import ArrayLike, NDArray

Rational = int | Fraction
Matrix = Sequence[Sequence[Rational]] | NDArray


def fractions(values: ArrayLike) -> NDArray:
    """An array of numbers as one of `Fraction`s, of the same shape; floats as what they are."""
    flat = [Fraction(v) for v in np.ravel(values).tolist()]
    return np.array(flat, object).reshape(np.shape(values))


def _row(values: Iterable[Rational]) -> list[fmpq]:
    return [fmpq(v.numerator, v.denominator) for v in map(Fraction, values)]


def _flint(rows: Matrix) -> fmpq_mat:
    return fmpq_mat([_row(r) for r in rows])


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def solve(A: Matrix, b: Iterable[Rational]) -> list[Fraction]:
    """The solution of A w = b for a square A (n, n); ValueError where A is singular."""
    try:
        found = _flint(A).solve(_flint([[v] for v in b]))
    except ZeroDivisionError:
        raise ValueError("the system is singular") from None
    return [_fraction(v) for v in found.entries()]


def determinant(A: Matrix) -> Fraction:
    """det A of a square matrix (n, n)."""
    return _fraction(_flint(A).det())


def null_vectors(rows: Matrix, d: int) -> list[tuple[Fraction, ...]]:
    """A basis of {v : v.x = 0 for all rows x (d,)}."""
    if d == 0:
        return []
    if len(rows) == 0:
        return [tuple(Fraction(int(i == j)) for j in range(d)) for i in range(d)]
    R, rank = _flint(rows).rref()
    lead = [next(c for c in range(d) if R[k, c] != 0) for k in range(rank)]
    basis = []
    for free in (c for c in range(d) if c not in lead):
        v = [Fraction(int(c == free)) for c in range(d)]
        for k, c in enumerate(lead):
            v[c] = -_fraction(R[k, free])
        basis.append(tuple(v))
    return basis


def eigenvalues(H: Matrix) -> list[Fraction]:
    """The rational eigenvalues of H (d, d), as often as they occur, ascending."""
    roots = _flint(H).charpoly().roots()
    return sorted(_fraction(root) for root, times in roots for _ in range(times))


def eigenprojections(H: NDArray, eigenvalues: Sequence[Rational]) -> dict[Rational, NDArray]:
    """The projections P_k (d, d) onto the eigenspaces of a symmetric H (d, d), sum_k P_k = I.

    P_k is the product over j != k of (H - l_j I) / (l_k - l_j); `eigenvalues` are different, hold
    all of H's, and may hold other numbers, whose projection is zero.
    """
    eye = fractions(np.eye(len(H)))
    found = {}
    for value in eigenvalues:
        P = eye
        for other in eigenvalues:
            if other != value:
                P = P @ (H - other * eye) / Fraction(value - other)
        found[value] = P
    return found


def zeros_between(
    terms: Mapping[int, Rational], low: Rational, high: Rational | None = None
) -> int:
    """How many different zeros u the polynomial {power: coefficient} has in low < u < high (None:
    no end), by Sturm's theorem."""
    p = fmpq_poly(_row([terms.get(k, 0) for k in range(max(terms) + 1)]))
    chain = [p // p.gcd(p.derivative())]
    after = chain[0].derivative()
    while after:
        chain.append(after)
        after = -(chain[-2] % after)
    (start,), end = _row([low]), None if high is None else _row([high])[0]

    def changes(values: Iterable[fmpq]) -> int:
        signs = [value > 0 for value in values if value != 0]
        return sum(one != other for one, other in pairwise(signs))

    last = [q[q.degree()] if end is None else q(end) for q in chain]
    # The difference counts the zeros past the one end up to the other one, which is none of them.
    at_end = end is not None and last[0] == 0
    return changes(q(start) for q in chain) - changes(last) - at_end


@dataclass(frozen=True)
class ExponentialEquation:
    """sum_i a_i exp(b_i t) = c with rational a_i, c and whole b_i: a polynomial in u = exp(t)."""

    a: tuple[Rational, ...]
    b: tuple[int, ...]
    c: Rational

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

    def value(self, u: Rational) -> Fraction:
        """Left side less right side at exp(t) = u."""
        return sum((value * Fraction(u) ** k for k, value in self.terms.items()), Fraction(0))

    def slope(self, u: Rational) -> Fraction:
        """Its derivative by t at exp(t) = u."""
        return sum((k * value * Fraction(u) ** k for k, value in self.terms.items()), Fraction(0))

    def crosses(self, points: Iterable[Rational]) -> bool:
        """Whether it holds at all these u = exp(t), and changes its sign there."""
        return all(self.value(u) == 0 and self.slope(u) != 0 for u in points)

    def zeros(self, low: Rational = 0, high: Rational | None = None) -> int:
        """How many different t have low < exp(t) < high; ValueError for an identity."""
        if self.is_identity:
            raise ValueError("every t is a zero of an identity")
        lowest = min(self.terms)
        return zeros_between({k - lowest: v for k, v in self.terms.items()}, low, high)


def fitted(b: Sequence[int], zeros: Sequence[Rational]) -> ExponentialEquation:
    """The equation sum_i a_i u^(b_i) = 1 that holds at n given u = exp(t), b (n,) whole.

    The a_i solve a generalised Vandermonde system; ValueError where it is singular.
    """
    a = solve([[Fraction(u) ** k for k in b] for u in zeros], [1] * len(b))
    return ExponentialEquation(tuple(a), tuple(b), 1)
