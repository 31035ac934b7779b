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

from flint import fmpq, fmpq_poly
from numpy.typing import ArrayLike

from reluflow.exact import Matrix, Rational, fraction, fractions, over_q, rationals, row

# --- Second route: solutions and least-squares fits over the rationals ----------------------------


def solve(A: Matrix, b: Iterable[Rational]) -> list[Fraction]:
    """The solution of A w = b for a square A (n, n); ValueError where A is singular."""
    try:
        found = over_q(A).solve(over_q([[v] for v in b]))
    except ZeroDivisionError:
        raise ValueError("the system is singular") from None
    return [fraction(v) for v in found.entries()]


@dataclass(frozen=True)
class RationalFit:
    """A least-squares fit of the data in `support` (from 0): its `w`, the neuron's `loss` there,
    and the `preactivations` of all data."""

    support: Sequence[int]
    w: tuple[Fraction, ...]
    loss: Fraction
    preactivations: tuple[Fraction, ...]

    @property
    def is_local_minimum(self) -> bool:
        """Whether it lies strictly inside the cell of its support: conditions (5), strict."""
        return all((h > 0) if i in self.support else (h < 0)
                   for i, h in enumerate(self.preactivations))  # fmt: skip


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
    A, b = (fractions([rationals(given)[i] for i in support]) for given in (X, y))
    w = tuple(solve(A.T @ A, A.T @ b))
    return RationalFit(support, w, neuron_loss(X, y, w), preactivations(X, w))


# --- Second route: polynomials in an exponential, or sums of exponentials with whole exponents ----


def polynomial(terms: Mapping[int, Rational]) -> fmpq_poly:
    """{power of u: coefficient} as a polynomial, times the power of u that leaves none below 0."""
    lowest = min(0, *terms)
    return fmpq_poly(row([terms.get(k, 0) for k in range(lowest, max(terms) + 1)]))


def equation(a: Iterable[Rational], b: Iterable[int], c: Rational) -> fmpq_poly:
    """sum_i a_i exp(b_i t) - c with whole b_i as a `polynomial` in u = exp(t); 0 where every t
    solves sum_i a_i exp(b_i t) = c."""
    total = {0: -Fraction(c)}
    for factor, power in zip(a, b, strict=True):
        total[power] = total.get(power, Fraction(0)) + factor
    return polynomial(total)


def fitted(b: Sequence[int], zeros: Sequence[Rational]) -> fmpq_poly:
    """The equation sum_i a_i u^(b_i) = 1 that holds at n given u = exp(t), b (n,) whole.

    The a_i solve a generalised Vandermonde system; ValueError where it is singular.
    """
    return equation(solve([[Fraction(u) ** k for k in b] for u in zeros], [1] * len(b)), b, 1)


def crosses(p: fmpq_poly, points: Iterable[Rational]) -> bool:
    """Whether p is zero at all these points, and changes its sign there."""
    return all(p(u) == 0 and p.derivative()(u) != 0 for u in row(points))


def zeros_between(p: fmpq_poly, low: Rational = 0, high: Rational | None = None) -> int:
    """How many zeros u of a polynomial, not 0, are in low < u < high (None: no end): Sturm."""
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


def preactivation_polynomial(
    X: ArrayLike, y: ArrayLike, j: int, w0: Sequence[Fraction]
) -> fmpq_poly:
    """x_j.w(t), j from 0, along the all-active flow from w0, exactly, as a polynomial in
    u = exp(-g t), g the greatest rational of which all eigenvalues of H are whole multiples.

    Those must be rational. The coefficients of the sum of exp(-l t) over the eigenvalues l, and 0,
    follow from the derivatives at t = 0: w' = q - H w, w'' = -H w' and so on. A second route to the
    flow in rational arithmetic. Raises ValueError for other spectra.
    """
    A, labels, w = (fractions(rationals(given)) for given in (X, y, w0))
    H = A.T @ A
    roots = [(fraction(root), times) for root, times in over_q(H).charpoly().roots()]
    if sum(times for _, times in roots) < len(H) or min(root for root, _ in roots) <= 0:
        raise ValueError("the eigenvalues of H are not all rational and positive")
    rates = [Fraction(0), *(root for root, _ in roots)]
    common = lcm(*(rate.denominator for rate in rates))
    g = Fraction(gcd(*(int(rate * common) for rate in rates)), common)
    values, v = [A[j] @ w], A.T @ labels - H @ w
    for _ in roots:
        values.append(A[j] @ v)
        v = -(H @ v)
    parts = solve([[(-rate) ** m for rate in rates] for m in range(len(rates))], values)
    return polynomial({int(rate / g): part for rate, part in zip(rates, parts, strict=True)})
