"""Printed examples of depth 2 with one more layer: the negative entries of Table 2 need depth 3.

f = v s(sum_j a_j s(w_j.x)), s the ReLU, theta = (w, a, v). Where the first two layers go along the
printed flow the unit above them stays active, and v grows with them.
"""

from __future__ import annotations

import sympy

from reluflow.networks.indexed import fully_connected
from reluflow.papers.vardi2022margin.instances import Construction, lemma_C_6, theorem_3_2


def deeper(
    printed: Construction,
    start: tuple[sympy.Expr, ...],
    limit: tuple[sympy.Expr, ...],
    better: tuple[sympy.Expr, ...] = (),
) -> Construction:
    """The data of a fully connected ReLU network of depth 2 for that with a third layer of one
    unit, from this start, with the limit to be confirmed (p + 1,)."""
    hidden = len(printed.network.maps[0])
    return Construction(
        f"{printed.name}, depth 3",
        fully_connected((2, hidden, 1)),
        printed.exact_X,
        printed.labels,
        start,
        limit,
        better,
        printed.reach,
    )


def dead_neuron() -> Construction:
    """Theorem 3.2's data and start, and v(0) = 4: w_1 = (0, c), a_1 = v = c with c^3 = 4.

    The better point is C.3's, c/2 times as long, below v = c.
    """
    c = sympy.Integer(4) ** sympy.Rational(1, 3)
    printed = theorem_3_2()
    limit, better = ((*(c / 2 * value for value in values), c)
                     for values in (printed.exact_limit, printed.exact_better))  # fmt: skip
    return deeper(printed, (*printed.exact_start, sympy.Integer(4)), limit, better)


def two_groups() -> Construction:
    """Lemma C.6's data and start, and v(0) = 4: w_1 = (0, 2 b), a_1 = 2 b, w_2 = (0, -b), a_2 = b,
    v = sqrt(5) b with sqrt(5) b^3 = 1.

    The better point has another first layer: both rows of C.6's, over what is above them.
    """
    printed, root = lemma_C_6(), sympy.sqrt(5)
    b = 5 ** sympy.Rational(-1, 6)
    v, zero = root * b, sympy.Integer(0)
    above = (2 * b, b, v)
    x, y = printed.exact_X[0]
    first = tuple(value / ((x**2 + y**2) * above[0] * v) for value in (x, y))
    second = tuple(value / (above[1] * v) for value in (sympy.Rational(-5, 4), sympy.Integer(-1)))
    start = (*printed.exact_start, sympy.Integer(4))
    return deeper(printed, start, (zero, 2 * b, zero, -b, *above), (*first, *second, *above))
