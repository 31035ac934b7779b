"""The closed form of one layer's flow (6)-(7) with mpmath, to the digits that its caller sets."""

from __future__ import annotations

import mpmath


def one_layer_length(phi0: float, v0: float, t: float) -> mpmath.mpf:
    """|w(t)| for |w*| = 1: phi / (C sin(phi) - pi cos(phi)), C from the start phi0, |w_0| = v0."""
    start = mpmath.mpf(phi0) / mpmath.sin(phi0)
    cot = mpmath.cot(phi0) - start / (mpmath.pi * v0) * (mpmath.exp(mpmath.mpf(t) / 2) - 1)
    phi = mpmath.acot(cot)
    phi = phi + mpmath.pi if phi < 0 else phi
    constant = start / v0 + mpmath.pi * mpmath.cot(phi0)
    return phi / (constant * mpmath.sin(phi) - mpmath.pi * mpmath.cos(phi))
