"""d|w|^2/dt of one neuron on one datum x = y = 1 over what eq (58) prints, symbolically."""

from __future__ import annotations

import sympy


def quotient() -> str:
    """At w = a = 1 with the logistic loss; the derivative is taken of w(t)^2 itself."""
    t = sympy.symbols("t")
    w, a = sympy.Function("w")(t), sympy.Function("a")(t)
    u = sympy.symbols("u")
    slope = sympy.diff(sympy.log(1 + sympy.exp(-u)), u).subs(u, a * w)
    true = sympy.diff(w**2, t).subs(sympy.diff(w, t), -slope * a)
    return str(sympy.simplify((true / (-slope * a * w)).subs({a: 1, w: 1})))
