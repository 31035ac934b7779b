"""A second method in exact rational arithmetic: fits, losses and signs without a rounding error.

It shares no code with the floating-point landscape: normal equations over the rationals, solved by
SymPy. Counterexamples are checked with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class RationalFit:
    """A least-squares fit: its `w`, the neuron's `loss` there, the `preactivations` of all data."""

    w: tuple[Fraction, ...]
    loss: Fraction
    preactivations: tuple[Fraction, ...]


def rationals(values: Any) -> Any:
    """Numbers as the decimals that they print as: 0.1 becomes 1/10, not the nearest double."""
    if isinstance(values, Sequence) or hasattr(values, "tolist"):
        items = values.tolist() if hasattr(values, "tolist") else values
        if isinstance(items, list | tuple):
            return tuple(rationals(v) for v in items)
        values = items  # a NumPy scalar
    return Fraction(repr(values)) if isinstance(values, float) else Fraction(values)


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
    rows, targets = rationals(X), rationals(y)
    A = sympy.Matrix([[_rational(v) for v in rows[i]] for i in support])
    b = sympy.Matrix([_rational(targets[i]) for i in support])
    H = A.T * A
    if H.det() == 0:
        raise ValueError(f"data {[i + 1 for i in support]} do not determine a unique fit")
    w = tuple(Fraction(int(v.p), int(v.q)) for v in H.LUsolve(A.T * b))
    return RationalFit(w, neuron_loss(X, y, w), preactivations(X, w))


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def is_local_minimum(found: RationalFit, support: Sequence[int]) -> bool:
    """Whether the fit lies strictly inside the cell of `support`: conditions (5), strict."""
    return all((h > 0) if i in support else (h < 0) for i, h in enumerate(found.preactivations))


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

    def value(self, u: Fraction) -> Fraction:
        """x_j.w at w0 = 0 and exp(-g t) = u."""
        return sum((c * u**p for p, c in self.limit.items()), Fraction(0))

    def slope(self, u: Fraction) -> Fraction:
        """Its derivative by u."""
        return sum((c * p * u ** (p - 1) for p, c in self.limit.items() if p), Fraction(0))

    def zeros(self, eps: Fraction) -> int:
        """How often it vanishes for 0 < u < 1 (all t > 0) from w0 = eps v, by Sturm's theorem."""
        u = sympy.Symbol("u")
        powers = set(self.limit) | set(self.start)
        total = sum(
            _rational(self.limit.get(p, Fraction(0)) + eps * self.start.get(p, Fraction(0))) * u**p
            for p in powers
        )
        inside = sympy.Poly(total, u).count_roots(0, 1)
        ends = sum(sympy.Poly(total, u).eval(end) == 0 for end in (0, 1))
        return int(inside - ends)

    def shift(self, u: Fraction) -> Fraction:
        """What a start w0 = eps v adds to it at u, divided by eps."""
        return sum((c * u**p for p, c in self.start.items()), Fraction(0))


def preactivation_polynomial(
    X: ArrayLike, y: ArrayLike, j: int, v: Sequence[Fraction]
) -> PreactivationPolynomial:
    """The pre-activation of datum j (from 0) along the all-active flow from eps v, exactly.

    Needs integer data whose H = X^T X has rational eigenvalues: then the eigenprojections P_k are
    rational (Lagrange's formula) and
    w(t) = sum_k [(1 - u^(l_k/g)) P_k q / l_k + eps u^(l_k/g) P_k v].
    A second route to the flow in rational arithmetic. Raises ValueError for other spectra.
    """
    A = sympy.Matrix([[sympy.Rational(str(v)) for v in row] for row in rationals(X)])
    labels = sympy.Matrix([sympy.Rational(str(v)) for v in rationals(y)])
    H, q = A.T * A, A.T * labels
    spectrum = H.eigenvals()
    if not all(value.is_rational and value > 0 for value in spectrum):
        raise ValueError("the eigenvalues of H are not all rational and positive")
    eigenvalues = sorted(spectrum)
    common = sympy.ilcm(1, *[value.q for value in eigenvalues])
    g = sympy.Rational(sympy.igcd(0, *[int(value * common) for value in eigenvalues]), common)
    limit, start = {0: Fraction(0)}, {}
    direction = sympy.Matrix([_rational(Fraction(c)) for c in v])
    for value in eigenvalues:
        P = sympy.eye(H.rows)
        for other in eigenvalues:
            if other != value:
                P = P * (H - other * sympy.eye(H.rows)) / (value - other)
        power = int(value / g)
        settled = _fraction((A[j, :] * P * q)[0] / value)
        limit[0] += settled
        limit[power] = -settled
        start[power] = _fraction((A[j, :] * P * direction)[0])
    return PreactivationPolynomial(limit, start, _fraction(g))


def _fraction(value: sympy.Rational) -> Fraction:
    return Fraction(int(value.p), int(value.q))
