"""A second method in exact rational arithmetic: fits, losses and signs without a rounding error.

It shares no code with the floating-point landscape: normal equations over the rationals, and zeros
counted by Sturm's theorem. Counterexamples are checked with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm

import numpy as np
from flint import fmpq, fmpq_poly
from numpy.typing import ArrayLike, NDArray

from reluflow.exact import Matrix, Rational, fraction, fractions, over_q, rationals, row


def solve(A: Matrix, b: Iterable[Rational]) -> list[Fraction]:
    """The solution of A w = b for a square A (n, n); ValueError where A is singular."""
    try:
        found = over_q(A).solve(over_q([[v] for v in b]))
    except ZeroDivisionError:
        raise ValueError("the system is singular") from None
    return [fraction(v) for v in found.entries()]


def determinant(A: Matrix) -> Fraction:
    """det A of a square matrix (n, n)."""
    return fraction(over_q(A).det())


def eigenvalues(H: Matrix) -> list[Fraction]:
    """The rational eigenvalues of H (d, d), as often as they occur, ascending."""
    roots = over_q(H).charpoly().roots()
    return sorted(fraction(root) for root, times in roots for _ in range(times))


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


@dataclass(frozen=True)
class RationalFit:
    """A least-squares fit: its `w`, the neuron's `loss` there, the `preactivations` of all data."""

    w: tuple[Fraction, ...]
    loss: Fraction
    preactivations: tuple[Fraction, ...]


def preactivations(X: ArrayLike, w: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """x_i.w for every datum, exactly."""
    return tuple(sum(a * b for a, b in zip(x, w, strict=True)) for x in rationals(X))


def neuron_loss(X: ArrayLike, y: ArrayLike, w: Sequence[Fraction]) -> Fraction:
    """L(w) = 1/2 sum_i ([w.x_i]_+ - y_i)^2, exactly."""
    pairs = zip(preactivations(X, w), rationals(y), strict=True)
    return sum((max(h, Fraction(0)) - target) ** 2 for h, target in pairs) / 2


def fit(X: ArrayLike, y: ArrayLike, support: Sequence[int]) -> RationalFit:
    """The unique least-squares fit of the data in `support` (from 0), exactly (eq. 4).

    Raises ValueError where those data do not determine it.
    """
    if not support:
        raise ValueError("data [] do not determine a unique fit")
    A, b = (fractions([rationals(given)[i] for i in support]) for given in (X, y))
    try:
        w = tuple(solve(A.T @ A, A.T @ b))
    except ValueError:
        unfit = f"data {[i + 1 for i in support]} do not determine a unique fit"
        raise ValueError(unfit) from None
    return RationalFit(w, neuron_loss(X, y, w), preactivations(X, w))


def is_local_minimum(found: RationalFit, support: Sequence[int]) -> bool:
    """Whether the fit lies strictly inside the cell of `support`: conditions (5), strict."""
    return all((h > 0) if i in support else (h < 0) for i, h in enumerate(found.preactivations))


def zeros_between(
    terms: Mapping[int, Rational], low: Rational, high: Rational | None = None
) -> int:
    """How many different zeros u the polynomial {power: coefficient} has in low < u < high (None:
    no end), by Sturm's theorem."""
    p = fmpq_poly(row([terms.get(k, 0) for k in range(max(terms) + 1)]))
    chain = [p // p.gcd(p.derivative())]
    after = chain[0].derivative()
    while after:
        chain.append(after)
        after = -(chain[-2] % after)
    (start,), end = row([low]), None if high is None else row([high])[0]

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


@dataclass(frozen=True)
class PreactivationPolynomial:
    """x_j.w(t) of the all-active flow as an exact polynomial in u = exp(-g t), rational g > 0.

    limit    its value at w0 = 0, per power of u: {power: coefficient}
    start    its change per unit of a start w0 = eps v: {power: coefficient}
    rate     g: every eigenvalue of H is a whole multiple of it
    """

    limit: dict[int, Fraction]
    start: dict[int, Fraction]
    rate: Fraction

    def terms(self, eps: Fraction) -> dict[int, Fraction]:
        """Its {power: coefficient} from the start w0 = eps v."""
        powers = self.limit.keys() | self.start.keys()
        return {p: self.limit.get(p, 0) + eps * self.start.get(p, 0) for p in powers}

    def zeros(self, eps: Fraction) -> int:
        """How often it vanishes for 0 < u < 1 (all t > 0) from w0 = eps v, by Sturm's theorem."""
        return zeros_between(self.terms(eps), 0, 1)


def preactivation_polynomial(
    X: ArrayLike, y: ArrayLike, j: int, v: Sequence[Fraction]
) -> PreactivationPolynomial:
    """The pre-activation of datum j (from 0) along the all-active flow from eps v, exactly.

    Needs integer data whose H = X^T X has rational eigenvalues: then the eigenprojections P_k are
    rational (Lagrange's formula) and
    w(t) = sum_k [(1 - u^(l_k/g)) P_k q / l_k + eps u^(l_k/g) P_k v].
    A second route to the flow in rational arithmetic. Raises ValueError for other spectra.
    """
    A, labels, direction = (fractions(rationals(given)) for given in (X, y, v))
    H = A.T @ A
    spectrum = eigenvalues(H)
    if len(spectrum) < len(H) or spectrum[0] <= 0:
        raise ValueError("the eigenvalues of H are not all rational and positive")
    common = lcm(*(value.denominator for value in spectrum))
    g = Fraction(gcd(*(int(value * common) for value in spectrum)), common)
    limit, start = {0: Fraction(0)}, {}
    for value, P in eigenprojections(H, sorted(set(spectrum))).items():
        power, row = int(value / g), A[j] @ P
        settled = row @ (A.T @ labels) / value
        limit[0] += settled
        limit[power] = -settled
        start[power] = row @ direction
    return PreactivationPolynomial(limit, start, g)
