"""The printed start of Theorems 4.2 (2) and 5.3 has more than one gradient flow.

Every neuron starts on two kinks, and they push away: v > 0, all labels are 1. One flow stays on
them, the printed one. Another turns all neurons at once: w_1 = (s - 1, s + 1), the others by
quarter turns, all v_j = v, with s' = v and v' = 2 s from s = 1, v = 2 on, in the time dT = g dt in
which all data, of margin q = 2 s v, pull with g = -l'(q). So 2 s^2 - v^2 = -2.

For s > 1 no input is 0, and it solves theta' = -grad L; at s = 1 its velocity is the limit of these
gradients, which is in Clarke's subdifferential. Whoever waits on the kinks until some time T and
then turns has another flow. With one sigma'(0) for all, and a derivative at every t, there is only
the printed one: what leaves a kink has there the velocity g v > 0 and not 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from reluflow.ledger import Evidence, Reading, bound, fact
from reluflow.margin.check import check
from reluflow.margin.limits import limit
from reluflow.margin.optimum import classify_optimum
from reluflow.papers.vardi2022margin.balance_exact import ascent
from reluflow.papers.vardi2022margin.ends import LOSSES
from reluflow.papers.vardi2022margin.exact_networks import output
from reluflow.papers.vardi2022margin.instances import floats, theorem_4_2

PUSH = 1e-12
"""How far a start beside the printed one is from it, in s - 1."""
SAME = 1e-9
"""Values nearer than this, over their size, are one."""
STAYS = Reading(
    "(GF) is read with one constant σ'(0) and θ' = -∇L at every t, as code takes it: then the flow "
    "from the printed start stays on its kinks",
    "along Clarke's subdifferential, the flow of Theorem 2.1, or with θ' = -∇L at almost every t, "
    "the printed start has many flows: one turns all neurons at once and ends at a global optimum "
    "with no input 0, |θ̃|² = 4√2 in place of 8",
)


def turning(s: Any, v: Any, apart: Any = 1) -> tuple:
    """theta (12,) of the second flow, of numbers of any kind; apart = 0 is its direction at the
    end."""
    a, b = s - apart, s + apart
    return (a, b, b, -a, -a, -b, -b, a, v, v, v, v)


def turns_away() -> list[Evidence]:
    """That the closed form is a flow from the printed start, and where it ends."""
    c = theorem_4_2()
    known, inputs = _gradient()
    v = 2 ** sympy.Rational(-1, 4)
    end = turning(v / sympy.sqrt(2), v, 0)
    seen = classify_optimum(c.network, floats(end), c.X, c.y)
    assert seen.certificate is not None
    word = check(c.network, seen.theta, c.X, c.y, seen.certificate)
    square = sympy.simplify(sum(value**2 for value in end))
    beside = [_beside(loss) for loss in LOSSES]
    return [
        fact("second flow, w₁ = (s - 1, s + 1) and quarter turns: equations of θ' = -∇L that it "
             "breaks for some s > 1, in polynomials", sum(not one for one in known), 0),
        fact("second flow: inputs of hidden neurons that are 0 for some s > 1",
             sum(h.is_zero is not False for h in inputs), 0),
        fact("second flow: it starts at the printed start, and its velocity there is the limit "
             "of its gradients, in fractions", _starts_there(), True),
        fact("second flow: its limit, by a certificate in rational arithmetic", word.verdict,
             "global"),
        fact("second flow: |θ̃|² is 4√2, and that of the first one 8",
             [square == 4 * sympy.sqrt(2), sum(value**2 for value in c.exact_limit) == 8],
             [True, True]),
        bound("flows from 1e-12 beside the printed start, that way: | |θ̃|² / 4√2 - 1 |",
              max(beside), "<=", SAME, ""),
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

    def active(h: sympy.Expr) -> bool:
        inputs.append(sympy.expand(h.subs(at)))
        if inputs[-1].is_positive is None:
            raise ArithmeticError(f"the sign of {inputs[-1]} is not known")
        return bool(inputs[-1].is_positive)

    outputs = [output(c.network, names, x, active) for x in c.exact_X]
    told = [sympy.expand(value.subs(at) - 2 * (1 + t) * v) == 0 for value in outputs]
    for name, value in zip(names, theta, strict=True):
        velocity = v * sympy.diff(value, t) + 2 * (1 + t) * sympy.diff(value, v)
        slope = sympy.diff(sum(outputs), name).subs(at)
        told.append(sympy.expand(slope - velocity) == 0)
    return told, inputs


def _starts_there() -> bool:
    """Whether s = 1, v = 2 is the printed start, and the velocity there the one that slopes of the
    activity for s > 1 give: in rational numbers, by code that knows no other network's."""
    c = theorem_4_2()
    near = turning(2, 2)
    slopes = (c.X @ c.network.weights(np.array(near, float))[0].T > 0.0).astype(float)
    layers = ascent(c.network.maps, c.start, c.X, np.ones(4), slopes)
    moved = turning(2, 2, 0)  # s' = v = 2, v' = 2 s = 2, and nothing stays apart
    return turning(1, 2) == c.exact_start and tuple(r for one in layers for r in one.du) == moved


def _beside(name: str) -> float:
    """How far |theta|^2 of the limit from a start beside the printed one is from 4 sqrt(2), over
    it; infinite without a limit."""
    c = theorem_4_2()
    start = np.array(turning(1.0 + PUSH, 2.0))
    found = limit(c.network, LOSSES[name], c.X, c.y, start)
    value = float(found.theta @ found.theta) if found.converged else np.inf
    return abs(value / 32.0**0.5 - 1.0)


def both(s: NDArray) -> NDArray:
    """Points of both flows from the printed start, (2, k, 12), for s >= 1 (k,): s theta(0) of the
    one that stays on its ray, and the second one."""
    turned = np.broadcast_arrays(*turning(s, np.sqrt(2.0 * s**2 + 2.0)))
    return np.stack([s[:, None] * theorem_4_2().start, np.stack(turned, axis=-1)])
