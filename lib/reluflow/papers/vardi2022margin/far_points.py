"""Lemma C.6: a limit that is locally optimal, and a shorter feasible point far from it."""

from __future__ import annotations

from fractions import Fraction

import sympy

from reluflow.ledger import Evidence, bound, fact, note
from reluflow.papers.vardi2022margin.exact_networks import output
from reluflow.papers.vardi2022margin.instances import Construction, fraction, lemma_C_6
from reluflow.papers.vardi2022margin.perturbations import changed_layers


def sizes_of_the_limit() -> tuple[sympy.Expr, sympy.Expr, tuple[sympy.Expr, ...]]:
    """alpha, beta and the multipliers (3,) of the one KKT point w_1 = alpha (0, 1), v_1 = alpha,
    w_2 = beta (0, -1), v_2 = beta of Lemma C.6 with alpha, beta > 0.

    There w_1 = v_1 (l_1 x_1 + l_2 x_2) and w_2 = v_2 l_3 x_3 fix the multipliers; none is zero, so
    all margins are 1.
    """
    first, second, third = sympy.symbols("l_1 l_2 l_3")
    x = [sympy.Matrix(row) for row in lemma_C_6().exact_X]
    up, down = sympy.Matrix([0, 1]), sympy.Matrix([0, -1])
    stationary = [*(first * x[0] + second * x[1] - up), *(third * x[2] - down)]
    found = sympy.solve(stationary, (first, second, third), dict=True)[0]
    alpha, beta = sympy.symbols("alpha beta", positive=True)
    sizes = sympy.solve([alpha**2 * up.dot(x[0]) - 1, beta**2 * down.dot(x[2]) - 1], (alpha, beta))
    return *sizes[0], (found[first], found[second], found[third])


def far_point_is_shorter() -> list[Evidence]:
    """Lemma C.6's second half: alpha = 2, beta = 1, no input is zero, theta' is feasible, and each
    step of the last display,

        1/alpha^2 + alpha^2 + 41/(16 beta^2) + beta^2 < 1/4 + alpha^2 + 3 + beta^2
                                                      < 2 alpha^2 + 2 beta^2.
    """
    c = lemma_C_6()
    alpha, beta, multipliers = sizes_of_the_limit()
    margins = _margins(c, c.exact_better)
    terms = [1 / alpha**2, alpha**2, sympy.Rational(41, 16) / beta**2, beta**2]
    middle = sympy.Rational(1, 4) + alpha**2 + 3 + beta**2
    better, limit = (sum(v**2 for v in values) for values in (c.exact_better, c.exact_limit))
    inputs = [c.exact_limit[2 * j] * x + c.exact_limit[2 * j + 1] * z
              for j in (0, 1) for x, z in c.exact_X]  # fmt: skip
    return [
        fact("α̃, β̃ of the KKT point", _plain((alpha, beta)), (2, 1)),
        fact("its multipliers, all positive", all(value > 0 for value in multipliers), True),
        fact("its margins", _plain(_margins(c, c.exact_limit)), (1, 1, 1)),
        fact("inputs of hidden neurons that are 0 there", inputs.count(0), 0),
        fact("margins of θ' that are below 1", sum(bool(value < 1) for value in margins), 0),
        fact("|θ'|² is 1/α̃² + α̃² + 41/(16 β̃²) + β̃²", sympy.expand(better - sum(terms)) == 0, True),
        bound("1/α̃², with 1/4: an equality", fraction(terms[0]), "<=", Fraction(1, 4), ""),
        bound("41/(16 β̃²), with 3", fraction(terms[2]), "<", 3, ""),
        bound("|θ'|², with the display's middle", fraction(better), "<", fraction(middle), ""),
        bound("the middle, with |θ̃|² = 2α̃² + 2β̃²", fraction(middle), "<", fraction(limit), ""),
        note("|θ'|² and |θ̃|²", (fraction(better), fraction(limit))),
    ]


def far_first_layer_is_shorter() -> list[Evidence]:
    """Theorem 5.4's second half: theta' of Lemma C.6 differs from the limit in the first layer
    only, is feasible, and its first layer is shorter."""
    c = lemma_C_6()
    first = c.network.sizes[0]
    better, limit = (
        sum(v**2 for v in values[:first]) for values in (c.exact_better, c.exact_limit)
    )
    margins = _margins(c, c.exact_better)
    return [
        fact("layers of θ' that differ from θ̃'s", changed_layers(c), (1,)),
        fact("margins of θ' that are below 1", sum(bool(value < 1) for value in margins), 0),
        bound("|u⁽¹⁾'|², with |ũ⁽¹⁾|²", fraction(better), "<", fraction(limit), ""),
    ]


def _margins(c: Construction, theta: tuple[sympy.Expr, ...]) -> tuple[sympy.Expr, ...]:
    """The margins (n,), with the signs of exact numbers."""
    pairs = zip(c.exact_X, c.labels, strict=True)
    return tuple(
        sympy.simplify(label * output(c.network, theta, x, lambda h: bool(sympy.simplify(h) > 0)))
        for x, label in pairs
    )


def _plain(values: tuple[sympy.Expr, ...]) -> tuple[Fraction, ...]:
    return tuple(fraction(value) for value in values)
