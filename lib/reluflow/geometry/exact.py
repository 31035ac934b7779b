"""Data as exact numbers, and the linear algebra that decides ranks, signs and feasibility.

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

_FEW = 50  # half-spaces that `deepest` takes at first

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


def null_vectors(A: fmpz_mat) -> fmpz_mat:
    """Basis of {v: A v = 0}, as whole columns (d, d - rank)."""
    N, count = A.nullspace()
    return fmpz_mat([row[:count] for row in N.tolist()]) if count else fmpz_mat(A.ncols(), 0)


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


def orthogonal(vectors: Sequence[Sequence[fmpq]]) -> list[list[fmpq]]:
    """Orthogonal basis of the span of independent vectors (Gram and Schmidt, exactly)."""
    basis: list[list[fmpq]] = []
    for v in vectors:
        basis.append(without(v, basis))
    return basis


def without(v: Sequence[fmpq], basis: Sequence[Sequence[fmpq]]) -> list[fmpq]:
    """A vector less its parts along an orthogonal basis."""
    rest = list(v)
    for b in basis:
        share = dot(v, b) / dot(b, b)
        rest = [a - share * c for a, c in zip(rest, b, strict=True)]
    return rest


def dot(a: Sequence[fmpq], b: Sequence[fmpq]) -> fmpq:
    """Sum of products."""
    return sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0))


def unit_vectors(basis: Sequence[Sequence[fmpq]], d: int) -> NDArray:
    """Vectors (d,) as columns (d, k) of length one, rounded."""
    out = np.zeros((d, len(basis)))
    for k, v in enumerate(basis):
        largest = max(abs(a) for a in v)
        out[:, k] = [nearest(a / largest) for a in v]
    return out / np.linalg.norm(out, axis=0)


def deepest(a: Sequence[Sequence], b: Sequence, size: Sequence, reach) -> tuple[fmpq, list[fmpq]]:
    """The largest t <= reach, and a v, with a_i.v + b_i + size_i t <= 0 for all i: exactly.

    How deep a point v can lie inside half-spaces; they have an inner point if and only if t > 0,
    and a point if and only if t >= 0. Of many half-spaces a few are taken first, and those that
    their solution breaks the most are added one by one.

    Parameters: a (m, k), b (m,), positive size (m,) and reach. Returns t and v (k,).
    """
    some = list(range(min(len(a), _FEW)))
    while True:
        t, v = _simplex([a[i] for i in some], [b[i] for i in some], [size[i] for i in some], reach)
        if len(some) == len(a):
            return t, v
        over = [dot(row, v) + c + s * t for row, c, s in zip(a, b, size, strict=True)]
        worst = max(range(len(over)), key=over.__getitem__)
        if over[worst] <= 0:
            return t, v
        some.append(worst)


def _simplex(a: Sequence[Sequence], b: Sequence, size: Sequence, reach) -> tuple[fmpq, list[fmpq]]:
    """`deepest` of all half-spaces at once, with Bland's rule, in rational numbers."""
    k = len(a[0]) if len(a) else 0
    # Slacks as functions of the variables that are zero: first v and t, which have no sign.
    table = [
        [-fmpq(c), *(-fmpq(v) for v in row), -fmpq(s)] for row, c, s in zip(a, b, size, strict=True)
    ]
    table.append([fmpq(reach), *[fmpq(0)] * k, fmpq(-1)])
    zero, owner = list(range(k + 1)), list(range(k + 1, k + 2 + len(a)))
    first = min(range(len(table)), key=lambda i: table[i][0] / -table[i][-1])
    _exchange(table, zero, owner, first, k)
    while True:
        goal = table[owner.index(k)]
        climbing = [
            j for j in range(k + 1) if (goal[j + 1] != 0 if zero[j] <= k else goal[j + 1] > 0)
        ]
        if not climbing:
            break
        j = min(climbing, key=lambda j: zero[j])
        up = goal[j + 1] > 0
        falling = [
            (row[0] / abs(row[j + 1]), owner[i], i)
            for i, row in enumerate(table)
            if owner[i] > k and row[j + 1] != 0 and (row[j + 1] < 0) == up
        ]
        _exchange(table, zero, owner, min(falling)[2], j)
    value = {owner[i]: row[0] for i, row in enumerate(table)}
    return value[k], [value.get(j, fmpq(0)) for j in range(k)]


def _exchange(table: list, zero: list[int], owner: list[int], i: int, j: int) -> None:
    """Let the variable of row i be zero and that of column j take its row (in place)."""
    pivot = table[i][j + 1]
    row = [-v / pivot for v in table[i]]
    row[j + 1] = 1 / pivot
    for other, old in enumerate(table):
        share = old[j + 1]
        if other != i and share != 0:
            new = [u + share * v for u, v in zip(old, row, strict=True)]
            new[j + 1] = share * row[j + 1]
            table[other] = new
    table[i] = row
    zero[j], owner[i] = owner[i], zero[j]
