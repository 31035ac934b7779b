"""The norm's overshoot in rational arithmetic: a second route, which follows no flow."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy

from reluflow.exact import polynomial
from reluflow.rational import preactivation_polynomial


def rate_polynomial(
    X: Sequence[Sequence[int]], y: Sequence[int], v: Sequence[int]
) -> tuple[sympy.Poly, sympy.Symbol]:
    """g along the all-active flow from w0 = eps v, exactly: a polynomial in u = exp(-l t), and eps.

    g = sum_i h_i (h_i - y_i) with the polynomials h_i = x_i.w of `preactivation_polynomial`; l is
    the greatest common measure of the eigenvalues of H, which must be rational.
    """
    u, eps = sympy.symbols("u eps")
    total = sympy.Integer(0)
    for j, label in enumerate(y):
        found = preactivation_polynomial(X, y, j, [Fraction(c) for c in v])
        h = polynomial(found.limit).as_expr() + eps * polynomial(found.start).as_expr()
        total += h * (h - label)
    return sympy.Poly(total, u), eps


def late_sign(polynomial: sympy.Poly, eps: sympy.Symbol, value: Fraction) -> int:
    """The sign of g for all late times, u -> 0+, at eps = value: that of its lowest power of u."""
    exact = sympy.Poly(polynomial.as_expr().subs(eps, value), polynomial.gen)
    return int(sympy.sign(exact.coeffs()[-1]))


def sharp_share(m: int, eps: Fraction, u: Fraction) -> Fraction:
    """(|w|^2 - |w*|^2) / |w0|^2 of `norm_loss.sharp_instance` where exp(-t) = u:
    w = (1 - (1 - eps) u^N) (1, 1) + eps (m + 1) u (1, -1)."""
    along = 1 - (1 - eps) * u ** (2 * m + 1) ** 2
    return (along**2 + (eps * (m + 1) * u) ** 2 - 1) / (eps**2 * (1 + (m + 1) ** 2))
