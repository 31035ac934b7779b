"""Second routes for the bounds on flows, with |w*| = 1, by mpmath: closed forms, its integrals, its
Taylor series for (9)-(10) and its hypergeometric function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath


def pull(phi: Any) -> mpmath.mpf:
    """1 - eps = (sin phi - phi cos phi) / pi."""
    return (mpmath.sin(phi) - phi * mpmath.cos(phi)) / mpmath.pi


def one_layer_length(phi0: float, v0: float, t: float) -> mpmath.mpf:
    """|w(t)| of one layer by its closed form."""
    start, left = mpmath.mpf(phi0) / mpmath.sin(phi0), mpmath.exp(mpmath.mpf(t) / 2)
    cot = mpmath.cot(phi0) - start / (mpmath.pi * v0) * (left - 1)
    phi = mpmath.acot(cot)
    phi = phi + mpmath.pi if phi < 0 else phi
    return v0 / left * phi / mpmath.sin(phi) / start


def layered_length(phi0: float, v0: float, m: int, t: float) -> mpmath.mpf:
    """v(t) of (9)-(10) by a Taylor series."""

    def rates(_: Any, state: Sequence[Any]) -> list[Any]:
        v, phi = state
        turn = v ** (m - 1) * phi * mpmath.sin(phi) / (2 * mpmath.pi)
        return [-(v**m) * (v ** (m + 1) - pull(phi)) / 2, turn]

    return mpmath.odefun(rates, 0, [mpmath.mpf(v0), mpmath.mpf(phi0)])(t)[0]


def printed_left(u: Any, m: int, share: Any) -> mpmath.mpf:
    """F(u; eps) of Theorem 3.8 with share = 1 - eps:

    u^(1-m) / ((m-1)(1-eps)) 2F1(1, (1-m)/(m+1); 2/(m+1); u^(m+1)/(1-eps)).
    """
    b = mpmath.mpf(1 - m) / (m + 1)
    value = mpmath.hyp2f1(1, b, 1 + b, mpmath.mpf(u) ** (m + 1) / share)
    return mpmath.mpf(u) ** (1 - m) / ((m - 1) * share) * value


def printed_solution(v0: Any, m: int, share: Any, t: Any) -> mpmath.mpf:
    """The real u between v0 and the rest point with Re F(u; eps) - Re F(v0; eps) = -t/2: the only
    one that can solve Theorem 3.8's equation, whose imaginary part is `printed_residual`'s."""
    share, v0 = mpmath.mpf(share), mpmath.mpf(v0)
    rest = share ** (mpmath.mpf(1) / (m + 1))

    def at(x: Any) -> mpmath.mpf:
        return rest + (v0 - rest) * mpmath.exp(-x)

    def missing(x: Any) -> mpmath.mpf:
        return mpmath.re(printed_residual(at(x), v0, m, share, t))

    return at(mpmath.findroot(missing, (0, 50), solver="illinois", maxsteps=200))


def printed_residual(u: Any, v0: Any, m: int, share: Any, t: Any) -> mpmath.mpc:
    """F(u; eps) - F(v0; eps) + t/2, a complex number, on the principal branch."""
    return printed_left(u, m, share) - printed_left(v0, m, share) + mpmath.mpf(t) / 2


def printed_upper(phi0: float, v0: float, m: int, t: float) -> mpmath.mpf:
    """u(t; 0) of Theorem 3.8 as printed, for a value in (0, 1)."""
    constant = printed_left(v0, m, pull(phi0)) - mpmath.mpf(t) / 2
    return mpmath.findroot(
        lambda u: printed_left(u, m, mpmath.mpf(1)) - constant, (0.01, 0.99), solver="anderson"
    )


def printed_pace(m: int, sign: int) -> float:
    """dF/dt where du/dt = -1/2 u^m (u^(m+1) + sign (1-eps) v*^(m+1))."""
    u, share = mpmath.mpf("0.6"), mpmath.mpf("0.7")
    slope = mpmath.diff(lambda x: printed_left(x, m, share), u)
    return float(-slope * u**m * (u ** (m + 1) + sign * share) / 2)


def time_between(v0: float, u: float, a: float, m: int) -> float:
    """The time from v0 to u as the integral of -2 dx / (x^m (x^(m+1) - a^(m+1)))."""
    least = mpmath.mpf(a) ** (m + 1)
    return float(mpmath.quad(lambda x: -2 / (x**m * (x ** (m + 1) - least)), [v0, u]))


def hypergeometric(b: float, z: float) -> mpmath.mpf:
    """F(1, b; 1+b; z)."""
    return mpmath.hyp2f1(1, mpmath.mpf(b), 1 + mpmath.mpf(b), mpmath.mpf(z))
