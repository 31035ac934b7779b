"""Equations (5)-(7) and (9)-(10), derived with SymPy from the loss in polar coordinates.

The loss (1) for f = v_1 ... v_m [w.x]_+ needs only E[u.x]_+[u*.x]_+ for two unit vectors. Both lie
in a plane, in which the Gaussian's radius and direction are independent; E radius^2 = 2, so

    E f(x) = (1/pi) int_0^(2 pi) f(cos a, sin a) da     for f homogeneous of degree 2.

Nothing of Lemma 2.1 is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import sympy as sp

RHO, LENGTH, BEST, THETA, ANGLE = sp.symbols("rho v v_star theta a", positive=True)
"""|w|, the common magnitude of a balanced neuron, |w*| = v_k*, angle(w, w*), and a direction."""


@cache
def overlap() -> sp.Expr:
    """E[u.x]_+ [u*.x]_+ at the angle THETA: an integral over the directions active for both."""
    product = sp.expand_trig(sp.cos(ANGLE - THETA)) * sp.cos(ANGLE)
    return sp.integrate(sp.expand(product), (ANGLE, THETA - sp.pi / 2, sp.pi / 2)) / sp.pi


def population_loss(m: int) -> tuple[sp.Expr, tuple[sp.Symbol, ...]]:
    """L(|w|, theta, v_1, ..., v_m) of eq. (1) under a balanced teacher, and the symbols v_k."""
    v = sp.symbols(f"v_1:{m + 1}", positive=True)
    here, there = sp.prod(v) * RHO, BEST ** (m + 1)
    single = sp.integrate(sp.cos(ANGLE) ** 2, (ANGLE, -sp.pi / 2, sp.pi / 2)) / sp.pi
    return sp.Rational(1, 2) * (single * (here**2 + there**2) - 2 * here * there * overlap()), v


def identities(m: int) -> Mapping[str, bool]:
    """Which equations follow from L for m factors besides w; (5)-(7) for m = 0, (9)-(10) else.

    In the plane w' = -L_rho e_rho - (1/rho) L_theta e_theta. The vector equation is compared along
    both, the angle's as phi' = -theta'. Returns {equation: whether the difference is zero}.
    """
    loss, v = population_loss(m)
    balanced = dict.fromkeys((*v, RHO), LENGTH)
    outward, around = -sp.diff(loss, RHO), -sp.diff(loss, THETA) / RHO
    phi = sp.pi - THETA
    pull = (sp.sin(phi) - phi * sp.cos(phi)) / sp.pi
    size, least = LENGTH**m, BEST**m
    # e_rho and e_theta have the components cos theta and -sin theta along w*.
    along = sp.Rational(1, 2) * size * least * (phi / sp.pi) * BEST
    rest = -sp.Rational(1, 2) * size**2 * LENGTH
    rest += sp.Rational(1, 2) * size * least * BEST * sp.sin(phi) / sp.pi
    magnitude = -size * (LENGTH ** (m + 1) - BEST ** (m + 1) * pull) / 2
    angle = LENGTH ** (m - 1) * BEST ** (m + 1) * phi * sp.sin(phi) / (2 * sp.pi)
    vector = "(5)" if m == 0 else "the vector equation of Prop. 3.6"
    radial, turning = ("(6)", "(7)") if m == 0 else ("(9)", "(10)")
    left = {
        f"{vector}, along w": outward.subs(balanced) - along * sp.cos(THETA) - rest,
        f"{vector}, across w": around.subs(balanced) + along * sp.sin(THETA),
        f"{radial}, for |w|": outward.subs(balanced) - magnitude,
        turning: -(around / RHO).subs(balanced) - angle,
    }
    for k, symbol in enumerate(v, 1):
        left[f"{radial}, for v_{k}"] = -sp.diff(loss, symbol).subs(balanced) - magnitude
        left[f"v_{k} v_{k}' = |w| |w|', balanced or not"] = symbol * sp.diff(
            loss, symbol
        ) - RHO * sp.diff(loss, RHO)
    return {name: bool(sp.simplify(sp.expand(value)) == 0) for name, value in left.items()}


def turning_of_field() -> sp.Expr:
    """|dG/dphi|^2 of G = (phi w*/|w*| + sin(phi) w/|w|) / (2 pi), the part of (5) that bends.

    It is (sin(phi)/pi)^2. Across the plane G turns with half that, so (5) has the Lipschitz
    constant 1/2 + |w*| / (pi |w|) on every sphere |w|: away from 0 its solution is unique.
    """
    phi = sp.Symbol("phi", positive=True)
    G = sp.Matrix([phi - sp.sin(phi) * sp.cos(phi), sp.sin(phi) ** 2]) / (2 * sp.pi)
    slope = G.diff(phi)
    return sp.simplify(slope.dot(slope) - (sp.sin(phi) / sp.pi) ** 2)
