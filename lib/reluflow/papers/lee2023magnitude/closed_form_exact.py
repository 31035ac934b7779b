"""The closed form of the flow by SymPy, and its phase curve with mpmath's integral."""

from __future__ import annotations

import mpmath
import sympy

Point = tuple[float, float]


def off_phase_curve(start: Point, point: Point, m: int) -> float:
    """Relative distance of the two sides of the phase curve of `orbit` between two points (psi,
    rho) of a flow."""
    (first, right), (last, left) = (
        (phi, (mpmath.exp(-rho) * phi / mpmath.sin(phi)) ** (m + 1))
        for phi, rho in ((2 * mpmath.atan(mpmath.exp(psi)), rho) for psi, rho in (start, point))
    )
    area = mpmath.quad(lambda x: x**m / mpmath.sin(x) ** (m + 2), mpmath.linspace(first, last, 9))
    return float(abs(1 - (right + (m + 1) * mpmath.pi * area) / left))


def bernoulli() -> bool:
    """That v sin(phi)/phi decays at the rate v^(2m)/2 along (9)-(10)."""
    v, phi, size, m = sympy.symbols("v phi V m", positive=True)
    pull = (sympy.sin(phi) - phi * sympy.cos(phi)) / sympy.pi
    dv = -(v**m) * (v ** (m + 1) - size ** (m + 1) * pull) / 2
    dphi = v ** (m - 1) * size ** (m + 1) * phi * sympy.sin(phi) / (2 * sympy.pi)
    rate = dv / v + dphi * (sympy.cot(phi) - 1 / phi)
    rest = sympy.expand(sympy.expand(rate.rewrite(sympy.cos)) + v ** (2 * m) / 2)
    return bool(sympy.simplify(rest) == 0)


def explicit() -> bool:
    """That the one-layer closed form solves (6)-(7): with phi(t) from cot phi, v follows."""
    t, v0, phi, g0, size = sympy.symbols("t v_0 phi g_0 V", positive=True)
    # cot phi = c0 - g0 V / (pi v0) (e^(t/2) - 1), so dphi = -sin^2 phi dcot.
    dphi = sympy.sin(phi) ** 2 * g0 * size / (2 * sympy.pi * v0) * sympy.exp(t / 2)
    v = v0 * sympy.exp(-t / 2) * phi / sympy.sin(phi) / g0
    dv = -v / 2 + sympy.diff(v, phi) * dphi
    pull = (sympy.sin(phi) - phi * sympy.cos(phi)) / sympy.pi
    angle = dphi - size / v * phi * sympy.sin(phi) / (2 * sympy.pi)
    return bool(sympy.simplify(angle) == 0 and sympy.simplify(dv + v / 2 - size * pull / 2) == 0)
