"""Least squares whose digits survive an ill-conditioned design: residuals in twice the precision.

The normal equations lose cond(H) digits in their right-hand side alone. Evaluating that
right-hand side with error-free products (Dekker 1971; Ogita, Rump & Oishi 2005) and correcting
the solution by a step or two (Björck 1967) gives them back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SPLITTER = 134217729.0  # 2^27 + 1


def two_sum(a: NDArray, b: NDArray) -> tuple[NDArray, NDArray]:
    """Sum and exact rounding error of a + b, elementwise."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


def two_product(a: NDArray, b: NDArray) -> tuple[NDArray, NDArray]:
    """Product and exact rounding error of a * b, elementwise (no overflow assumed)."""
    p = a * b
    ca, cb = _SPLITTER * a, _SPLITTER * b
    ah, bh = ca - (ca - a), cb - (cb - b)
    al, bl = a - ah, b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def dot(A: NDArray, v: NDArray, v_low: NDArray | float = 0.0) -> tuple[NDArray, NDArray]:
    """A @ (v + v_low) as an unevaluated sum high + low, as if computed in twice the precision."""
    products, low = two_product(A, np.broadcast_to(v, A.shape))
    low = (low + A * v_low).sum(axis=1)
    while products.shape[1] > 1:  # the columns in pairs, and these in pairs again
        pairs = products.shape[1] // 2
        high, error = two_sum(products[:, :pairs], products[:, pairs : 2 * pairs])
        low = low + error.sum(axis=1)
        products = np.hstack([high, products[:, 2 * pairs :]])
    return two_sum(products.sum(axis=1), low)


def normal_residual(A: NDArray, b: NDArray, w: NDArray) -> NDArray:
    """A^T (b - A w), correct to about one unit of rounding of the terms' condensed sum."""
    high, low = dot(A, w)
    r, error = two_sum(b, -high)
    g, g_low = dot(np.ascontiguousarray(A.T), r, error - low)
    return g + g_low


def refine(A: NDArray, b: NDArray, w: NDArray, V: NDArray, rates: NDArray) -> NDArray:
    """Least-squares solution of A w = b improved from w inside span(V).

    V (d, r) and rates (r,) are the eigenvectors and eigenvalues of A^T A. Two corrections take a
    relative error of cond(H) * 1e-16 below rounding.
    """
    for _ in range(2):
        w = w + V @ ((V.T @ normal_residual(A, b, w)) / rates)
    return w
