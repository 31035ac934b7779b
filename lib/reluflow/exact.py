"""Exact arithmetic: numbers as fractions, and linear algebra over the rationals (FLINT).

Numbers are whole or `Fraction`s, matrices are lists of rows or object arrays of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import ArrayLike, NDArray

Rational = int | Fraction
Matrix = Sequence[Sequence[Rational]] | NDArray


def fractions(values: ArrayLike) -> NDArray:
    """An array of numbers as one of `Fraction`s, of the same shape; floats as what they are."""
    flat = [Fraction(v) for v in np.ravel(values).tolist()]
    return np.array(flat, object).reshape(np.shape(values))


def rationals(values: Any) -> Any:
    """Numbers as the decimals that they print as: 0.1 becomes 1/10, not the nearest double."""
    if isinstance(values, Sequence) or hasattr(values, "tolist"):
        items = values.tolist() if hasattr(values, "tolist") else values
        if isinstance(items, list | tuple):
            return tuple(rationals(v) for v in items)
        values = items  # a NumPy scalar
    return Fraction(repr(values)) if isinstance(values, float) else Fraction(values)


def row(values: Iterable[Rational]) -> list[fmpq]:
    """Numbers (n,) as FLINT's."""
    return [fmpq(v.numerator, v.denominator) for v in map(Fraction, values)]


def over_q(rows: Matrix) -> fmpq_mat:
    """A matrix as FLINT's."""
    return fmpq_mat([row(r) for r in rows])


def fraction(value: fmpq) -> Fraction:
    """A number of FLINT's as Python's."""
    return Fraction(int(value.p), int(value.q))


def null_vectors(rows: Matrix, d: int) -> list[tuple[Fraction, ...]]:
    """A basis of {v : v.x = 0 for all rows x (d,)}."""
    if d == 0:
        return []
    if len(rows) == 0:
        return [tuple(Fraction(int(i == j)) for j in range(d)) for i in range(d)]
    R, rank = over_q(rows).rref()
    lead = [next(c for c in range(d) if R[k, c] != 0) for k in range(rank)]
    basis = []
    for free in (c for c in range(d) if c not in lead):
        v = [Fraction(int(c == free)) for c in range(d)]
        for k, c in enumerate(lead):
            v[c] = -fraction(R[k, free])
        basis.append(tuple(v))
    return basis
