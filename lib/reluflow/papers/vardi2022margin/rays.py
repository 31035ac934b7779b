"""Constructions in exact numbers: a start whose ray the flow never leaves, and a better point.

Where all margins at theta are equal, so are they, and all pulls, at c theta. If moreover sum_i y_i
grad f(theta; x_i) is a positive multiple of theta, the flow from theta stays on its ray, and that
is its direction for ever, for every loss.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from reluflow.papers.vardi2022margin.instances import Construction


def keeps_its_ray(construction: Construction, at_zero: float) -> bool:
    """Whether the flow from the start stays on the ray of the printed limit, sigma'(0) = at_zero.

    In exact numbers (SymPy), by the network's own polynomial around the start.
    """
    c = construction
    start = [sympy.sympify(v) for v in c.exact_start]
    names = sympy.symbols(f"u0:{len(start)}")
    at = dict(zip(names, start, strict=True))
    total, margins = sympy.Integer(0), []
    for x, label in zip(c.exact_X, c.labels, strict=True):
        value = label * _output(c, names, x, at, sympy.nsimplify(at_zero))
        total += value
        margins.append(sympy.nsimplify(sympy.simplify(value.subs(at))))
    if len(set(margins)) > 1 or not margins[0] > 0:
        return False
    slope = [sympy.diff(total, name).subs(at) for name in names]
    return _parallel(slope, start) and _parallel(slope, c.exact_limit)


def starts_on_its_limit(construction: Construction) -> bool:
    """Whether the start is a positive multiple of the printed limit, in exact numbers."""
    return _parallel(construction.exact_start, construction.exact_limit)


def better_is_shorter(construction: Construction) -> bool:
    """Whether the better point, one without EPS, is feasible and shorter than the limit."""
    c, theta = construction, list(construction.exact_better)
    names = sympy.symbols(f"u0:{len(theta)}")
    at = dict(zip(names, theta, strict=True))
    margins = [label * _output(c, names, x, at, sympy.Integer(0)).subs(at)
               for x, label in zip(c.exact_X, c.labels, strict=True)]  # fmt: skip
    squares = [sum(v**2 for v in values) for values in (theta, c.exact_limit)]
    feasible = all(bool(sympy.simplify(margin) >= 1) for margin in margins)
    return feasible and bool(sympy.simplify(squares[0]) < sympy.simplify(squares[1]))


def _output(
    c: Construction,
    names: Sequence[sympy.Symbol],
    x: Sequence[sympy.Expr],
    at: dict[sympy.Symbol, sympy.Expr],
    at_zero: sympy.Expr,
) -> sympy.Expr:
    """f as a polynomial in the parameters `names`, with the ReLU's slopes at the point `at`."""
    first, values = 0, list(x)
    for layer, g in enumerate(c.network.maps, start=1):
        inputs = [
            sum((names[first + k - 1] * v for k, v in zip(row, values, strict=True) if k),
                sympy.Integer(0))
            for row in g.tolist()
        ]  # fmt: skip
        hidden = c.network.activation == "relu" and layer < len(c.network.maps)
        values = [h * _slope(h.subs(at), at_zero) for h in inputs] if hidden else inputs
        first += int(g.max())
    return sympy.expand(values[0])


def _slope(value: sympy.Expr, at_zero: sympy.Expr) -> sympy.Expr:
    exact = sympy.simplify(value)
    return at_zero if exact == 0 else sympy.Integer(int(bool(exact > 0)))


def _parallel(a: Sequence[sympy.Expr], b: Sequence[sympy.Expr]) -> bool:
    """Whether a is a positive multiple of b."""
    crosses = all(sympy.simplify(p * s - q * r) == 0 for p, r in zip(a, b, strict=True)
                  for q, s in zip(a, b, strict=True))  # fmt: skip
    return crosses and bool(sympy.simplify(sum(p * r for p, r in zip(a, b, strict=True))) > 0)
