"""Eq. (11)'s text once more, from (9)-(10) as they are printed: plain Euler steps, and SymPy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import sympy as sp


def euler(
    phi: float, v: float, m: int, times: Sequence[float], step: float = 1e-3
) -> list[tuple[float, float]]:
    """phi and v at each of `times`, by plain Euler steps of (9)-(10) with v* = 1."""
    found: list[tuple[float, float]] = []
    steps = 0
    for t in times:
        while steps < round(t / step):
            pull = (math.sin(phi) - phi * math.cos(phi)) / math.pi
            dv = -0.5 * v**m * (v ** (m + 1) - pull)
            dphi = v ** (m - 1) * phi * math.sin(phi) / (2.0 * math.pi)
            phi, v, steps = phi + step * dphi, v + step * dv, steps + 1
        found.append((phi, v))
    return found


def rate_at_teacher_norm() -> sp.Expr:
    """dv/dt of (9) at v = v* and phi = pi/2, for every m."""
    m, v = sp.symbols("m v", positive=True)
    phi = sp.pi / 2
    share = (sp.sin(phi) - phi * sp.cos(phi)) / sp.pi
    return sp.simplify(-(v**m) * (v ** (m + 1) - v ** (m + 1) * share) / 2)
