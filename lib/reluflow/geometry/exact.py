"""Data as exact numbers, and the linear algebra that decides ranks and signs.

A number is read as the decimal of up to six digits, or that divided by a small odd number, which
rounds to it, times any power of two, where there is one: 0.1 is a tenth, 0.3 is three times as
much, and 1/3 is a third. Any other number is the binary fraction that it is. So data that are
parallel as printed are parallel, data that a rounding in a computation keeps apart are apart, and a
factor of two anywhere changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from flint import fmpq, fmpz_mat
from numpy.typing import ArrayLike, NDArray

Rows = list[list[int]]

_TWO = Fraction(2)
_BITS = 20
_FACTORS = [Fraction(5) ** k for k in sorted(range(-22, 23), key=abs)] + [
    Fraction(q) for q in range(3, 100, 2) if q % 5
]
"""A number is simple if one of these makes it a whole number of `_BITS` bits, but for a power of
two. Hardly any other number rounds to the same double as a simple one."""
_SIZES = np.array([float(f) for f in _FACTORS])


def read(values: ArrayLike) -> list[Fraction]:
    """The numbers meant by doubles (m,): simple ones that round to them, or their binary values."""
    values = np.asarray(values, float)
    mantissas, exponents = np.frexp(values)
    whole, shifts = np.frexp(np.multiply.outer(mantissas, _SIZES))
    whole = whole * 2.0**_BITS
    near = np.abs(whole - np.rint(whole)) <= 1e-9  # a few units in the last place
    found = [Fraction(v) for v in values.tolist()]
    for i in np.nonzero(near.any(axis=1))[0]:
        given = Fraction(float(mantissas[i]))
        for k in np.nonzero(near[i])[0]:
            simple = round(whole[i, k]) / _FACTORS[k] * _TWO ** (int(shifts[i, k]) - _BITS)
            if abs(simple - given) <= Fraction(1, 2**54):
                found[i] = simple * _TWO ** int(exponents[i])
                break
    return found


def integer_columns(X: NDArray) -> tuple[Rows, list[Fraction]]:
    """Whole Z (n, d) and positive s (d,) with X = Z diag(s), the entries of each column coprime.

    So Z stays the same when a column of X is multiplied by a power of two.
    """
    columns, scale = [], []
    for column in X.T:
        exact = read(column)
        below = lcm(*(v.denominator for v in exact))
        whole = [v.numerator * (below // v.denominator) for v in exact]
        common = gcd(*whole) or 1
        columns.append([v // common for v in whole])
        scale.append(Fraction(common, below))
    return [list(row) for row in zip(*columns, strict=True)] or [[] for _ in X], scale


def matrix(rows: Sequence[Sequence[int]], columns: int) -> fmpz_mat:
    """Whole-number matrix of so many columns, of any number of rows."""
    return fmpz_mat([list(row) for row in rows]) if len(rows) else fmpz_mat(0, columns)


def pivots(A: fmpz_mat) -> list[int]:
    """Pivot columns of a matrix: they determine the others."""
    R, _, r = A.rref()
    return [next(c for c in range(R.ncols()) if R[k, c] != 0) for k in range(r)]


def rank(X: ArrayLike) -> int:
    """Rank of X (n, d), exactly, its entries as `read` takes them."""
    X = np.asarray(X, float)
    if 0 in X.shape:
        return 0
    unit = X / np.maximum(np.abs(X).max(axis=0), 1e-300)
    unit = unit / np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-300)
    if np.linalg.svd(unit, compute_uv=False)[-1] > 1e-9:  # rounding moves it by far less
        return min(X.shape)
    return matrix(integer_columns(X)[0], X.shape[1]).rank()


def direction(row: Sequence[int]) -> tuple[int, ...]:
    """The coprime integers of which a row is a positive multiple."""
    common = gcd(*row) or 1
    return tuple(v // common for v in row)


def normal(row: Sequence[int]) -> tuple[int, ...]:
    """The direction of a row up to sign, which names its boundary: its first entry not 0 is > 0."""
    found = direction(row)
    return max(found, tuple(-v for v in found))


def column_exponents(rows: Rows) -> list[int]:
    """Bits of the largest entry of every column."""
    return [max((v.bit_length() for v in column), default=0) for column in zip(*rows, strict=True)]


def scaled_floats(rows: Rows, normalise: bool) -> NDArray:
    """Rows (n, d) as doubles, each column divided by the power of two above its entries.

    With `normalise` each row has length one, however small it was.
    """
    columns = column_exponents(rows)
    out = np.zeros((len(rows), len(columns)))
    for i, row in enumerate(rows):
        own = [v.bit_length() - e for v, e in zip(row, columns, strict=True) if v]
        low = max(own, default=0) if normalise else 0
        out[i] = [over(v, e + low) for v, e in zip(row, columns, strict=True)]
    if normalise and out.size:
        out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-300)
    return out


def over(value: int, exponent: int) -> float:
    """value / 2^exponent, rounded once."""
    return value / (1 << exponent) if exponent >= 0 else float(value << -exponent)


def nearest(value: Fraction | fmpq) -> float:
    """The nearest double; infinite where it is too large for one."""
    try:
        return float(fraction(value))
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def fraction(value: Fraction | fmpq) -> Fraction:
    """A number of FLINT's as Python's."""
    return value if isinstance(value, Fraction) else Fraction(int(value.p), int(value.q))
