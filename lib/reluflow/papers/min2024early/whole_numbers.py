"""Cosines of floats compared without rounding: each float is a whole number over a power of 2.

A cosine c is a root, and c |c| is a fraction that grows with it: sign(c) c^2 takes its place.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray


def whole(values: ArrayLike) -> NDArray:
    """The values times one power of 2 that makes them whole, as an object array of ints."""
    array = np.asarray(values)
    ratios = [v.as_integer_ratio() for v in array.ravel().tolist()]
    unit = max((below for _, below in ratios), default=1)  # all of them are powers of 2
    flat = np.empty(len(ratios), object)
    flat[:] = [above * (unit // below) for above, below in ratios]
    return flat.reshape(array.shape)


def signed_whole(X: ArrayLike, y: ArrayLike) -> NDArray:
    """z_i = y_i x_i times one power of 2, object (n, d), for labels +1 and -1."""
    return whole(X) * whole(y)[:, None]


def squared_cosines(A: NDArray, B: NDArray) -> NDArray:
    """sign(c) c^2 of the cosines c between the rows of A (k, d) and B (m, d), fractions (k, m).

    Both hold ints or fractions. Raises ZeroDivisionError for a row 0, which has no angle.
    """
    inner, left, right = A.dot(B.T), (A * A).sum(axis=1), (B * B).sum(axis=1)
    found = np.empty(inner.shape, object)
    for (i, j), value in np.ndenumerate(inner):
        found[i, j] = Fraction(value * abs(value)) / Fraction(left[i] * right[j])
    return found


def separable_exactly(X: ArrayLike, y: ArrayLike) -> bool:
    """(A1): no datum is 0, and <y_i x_i, y_j x_j> > 0 for all i, j."""
    Z = signed_whole(X, y)
    return bool((Z.dot(Z.T) > 0).all())


def serves_exactly(X: ArrayLike, y: ArrayLike, w: NDArray, sign: float = 1.0) -> bool:
    """Whether w (d,), of ints or fractions, is in S_+ (sign 1) or S_- (sign -1): <x_i, w> > 0 for
    the data of that label, <= 0 for the others."""
    inputs = whole(X).dot(w)
    return all((h > 0) == (label == sign) for h, label in zip(inputs, np.asarray(y), strict=True))


def silent_exactly(X: ArrayLike, w: NDArray) -> bool:
    """Whether w (d,), of ints or fractions, is in S_dead: <x_i, w> <= 0 for all data."""
    return bool((whole(X).dot(w) <= 0).all())
