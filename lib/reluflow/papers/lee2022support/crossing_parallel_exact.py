"""Theorem F.6's conditions at a crossing next to the origin, in surds: a second route, which
follows no flow."""

from __future__ import annotations

from collections.abc import Sequence

import sympy
from sympy import Matrix, Rational, sqrt

from reluflow.papers.lee2022support.norm_loss_exact import rate_polynomial


def conditions_at_the_origin(
    X: Sequence[Sequence[int]], y: Sequence[int], v: Sequence[int]
) -> tuple[sympy.Expr, sympy.Expr, sympy.Expr]:
    """The least slacks of B1, of B2 and of B4 as eps -> 0, where the planar flow from eps v
    activates all data that are inactive at v; B2 and B4 for each of them in turn.

    On the way w = eps v + t q. Signs of e_k as in Definition D.2, those of H~ the nearest to them,
    both spectra in descending order.
    """
    rows, start = [Matrix(x) for x in X], Matrix(v)
    on = [i for i, x in enumerate(rows) if x.dot(start) > 0]
    switched = [i for i in range(len(rows)) if i not in on]
    (H, q), (K, r) = (_sums(rows, y, some) for some in (on, range(len(rows))))
    x = rows[switched[0]]
    w = start - Rational(x.dot(start), x.dot(q)) * q
    u, old, new = w / _norm(w), H.LUsolve(q), K.LUsolve(r)
    spectrum = [(s, e * sympy.sign(e.dot(old))) for s, e in _spectrum(H)]
    (top, _), (least, _) = spectrum
    apart = [
        sympy.Min(_norm(f - e), _norm(f + e))
        for (_, e), (_, f) in zip(spectrum, _spectrum(K), strict=True)
    ]
    B1 = [least / top * e.dot(u) - gap for (_, e), gap in zip(spectrum, apart, strict=True)]
    # The bracket of B2 times c_k; c_k and w_0 vanish with eps, c_k / |w_0| is e_k.u.
    brackets = [(e.dot(old) / s - _norm(new) / top * e.dot(u)) * s**2 for s, e in spectrum]
    B2, B4 = [], []
    for i in switched:
        x = rows[i]
        inner = 1 - x.dot(H.LUsolve(x))
        B2 += [x.dot(old) + inner / _norm(x) * value - y[i] for value in brackets]
        B4.append(-x.dot(old))
    return sympy.Min(*B1), sympy.Min(*B2), sympy.Min(*B4)


def last_coefficient(X: Sequence[Sequence[int]], y: Sequence[int], v: Sequence[int]) -> sympy.Expr:
    """The coefficient in eps of g's slowest term, along the all-active flow from eps v."""
    found, _ = rate_polynomial(X, y, v)
    return found.coeffs()[-1]


def _sums(rows: Sequence[Matrix], y: Sequence[int], some: Sequence[int]) -> tuple[Matrix, Matrix]:
    """H (2, 2) and q (2, 1) of some of the data."""
    H = sum((rows[i] * rows[i].T for i in some), sympy.zeros(2))
    return H, sum((y[i] * rows[i] for i in some), sympy.zeros(2, 1))


def _norm(v: Matrix) -> sympy.Expr:
    return sqrt(v.dot(v))


def _spectrum(H: Matrix) -> list[tuple[sympy.Expr, Matrix]]:
    """Eigenvalues of H, not diagonal, and unit eigenvectors, the larger one first."""
    root = sqrt((H[0, 0] - H[1, 1]) ** 2 + 4 * H[0, 1] ** 2)
    found = []
    for s in ((H.trace() + root) / 2, (H.trace() - root) / 2):
        e = Matrix([H[0, 1], s - H[0, 0]])
        found.append((s, e / _norm(e)))
    return found
