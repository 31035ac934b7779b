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
