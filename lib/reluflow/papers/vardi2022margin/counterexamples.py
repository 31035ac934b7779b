"""The page `counterexamples`: Theorems 4.2, 5.2 and 5.3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from reluflow.ledger import Evidence, Reading, fact
from reluflow.papers.vardi2022margin.constructions import judged, parallel, pulled
from reluflow.papers.vardi2022margin.setting import (
    floats,
    output,
    theorem_4_1,
    theorem_4_2,
    theorem_4_4,
    theorem_5_1,
)

# --- Theorem 5.2 of Problem (2): a shorter point differs in two layers at least -------------------
#
# Where all margins are 1 and sum_i y_i grad f in a layer u is a positive multiple of u, it is u's
# only optimum in Problem (4): f is linear in u, so that no other feasible layer is as short.


def layers_put_back(depths: Sequence[int] = (3, 4, 5, 6)) -> list[Evidence]:
    """mm.thm5.2.two-layers: each layer of the limits of Theorems 4.1, 4.4 and 5.1, linear, is the
    global optimum of Problem (4), so that no other layer in its place is shorter."""
    off = []
    for c in (theorem_4_1(), theorem_4_4(), *(theorem_5_1(m) for m in depths)):
        (margins, rates), first = pulled(c, c.exact_limit), 0
        for size in c.network.sizes:
            part = slice(first, first := first + size)
            off.append(margins != {1} or not parallel(rates[part], c.exact_limit[part]))
    says = "layers of these limits that are not along their gradient, or not of margin 1"
    return [fact(f"{says}, in exact numbers", sum(off), 0, tried=len(off))]


# --- The printed start of Theorems 4.2 (2) and 5.3 has more than one gradient flow ----------------
#
# Every neuron starts on two kinks, and they push away. One flow stays on them, the printed one.
# Another turns all neurons at once: w_1 = (s - 1, s + 1), the others by quarter turns, all v_j = v,
# with s' = v and v' = 2 s from s = 1, v = 2 on.

STAYS = Reading(
    "(GF) is read with one constant σ'(0) and θ' = -∇L at every t, as code takes it: then the flow "
    "from the printed start stays on its kinks",
    "along Clarke's subdifferential, the flow of Theorem 2.1, or with θ' = -∇L at almost every t, "
    "the printed start has many flows: one turns all neurons at once and ends at a global optimum "
    "with no input 0, |θ̃|² = 4√2 in place of 8",
)


def turning(s: Any, v: Any, apart: Any = 1) -> tuple:
    """theta (12,) of the second flow, any numbers; apart = 0 is its direction at the end."""
    a, b = s - apart, s + apart
    return (a, b, b, -a, -a, -b, -b, a, v, v, v, v)


def turns_away() -> list[Evidence]:
    """That the closed form is a flow from the printed start, and where it ends."""
    c = theorem_4_2()
    known, inputs = _gradient()
    v = 2 ** sympy.Rational(-1, 4)
    end = turning(v / sympy.sqrt(2), v, 0)
    square = sympy.simplify(sum(value**2 for value in end))
    return [
        fact("second flow, w₁ = (s - 1, s + 1) and quarter turns: equations of θ' = -∇L that it "
             "breaks for some s > 1, in polynomials", sum(not one for one in known), 0),
        fact("second flow: inputs of hidden neurons that are 0 for some s > 1",
             sum(h.is_zero is not False for h in inputs), 0),
        fact("second flow: it starts at the printed start", turning(1, 2) == c.exact_start, True),
        fact("second flow: its limit, by a certificate in rational arithmetic",
             judged(c.network, floats(end), c.X, c.y).verdict, "global"),
        fact("second flow: |θ̃|² is 4√2, and that of the first one 8",
             [square == 4 * sympy.sqrt(2), sum(value**2 for value in c.exact_limit) == 8],
             [True, True]),
    ]  # fmt: skip


def _gradient() -> tuple[list[bool], list[sympy.Expr]]:
    """For s = 1 + t, t > 0, v > 0: whether the margins are 2 s v, and whether each parameter moves
    along sum_i y_i grad Phi(x_i) with s' = v, v' = 2 s; and all inputs of hidden neurons there."""
    c = theorem_4_2()
    t, v = sympy.symbols("t v", positive=True)
    names = sympy.symbols("u1:13")
    theta = turning(1 + t, v)
    at = dict(zip(names, theta, strict=True))
    inputs: list[sympy.Expr] = []

    def slope(h: sympy.Expr) -> int:
        inputs.append(sympy.expand(h.subs(at)))
        if inputs[-1].is_positive is None:
            raise ArithmeticError(f"the sign of {inputs[-1]} is not known")
        return int(inputs[-1].is_positive)

    outputs = [output(c.network, names, x, slope) for x in c.exact_X]
    told = [sympy.expand(value.subs(at) - 2 * (1 + t) * v) == 0 for value in outputs]
    for name, value in zip(names, theta, strict=True):
        velocity = v * sympy.diff(value, t) + 2 * (1 + t) * sympy.diff(value, v)
        told.append(sympy.expand(sympy.diff(sum(outputs), name).subs(at) - velocity) == 0)
    return told, inputs


def both(s: NDArray) -> NDArray:
    """Points of both flows from the printed start, (2, k, 12), for s >= 1 (k,): s theta(0) of the
    one that stays on its ray, and the second one."""
    turned = np.stack(turning(s, np.sqrt(2.0 * s**2 + 2.0)), axis=-1)
    return np.stack([s[:, None] * theorem_4_2().start, turned])
