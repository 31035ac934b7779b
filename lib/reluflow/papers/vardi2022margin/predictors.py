"""Remark 4.1: the predictor that a depth-2 diagonal linear network ends with, and the shortest one
in the l_1 norm, Problem (3).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import sympy
from numpy.typing import ArrayLike

from reluflow.errors import InputError
from reluflow.exact import determinant, fractions, solve
from reluflow.ledger import Evidence, bound, fact
from reluflow.papers.vardi2022margin.exact_networks import output
from reluflow.papers.vardi2022margin.instances import fraction, theorem_4_1

Vector = tuple[Fraction, ...]


def least_l1(X: ArrayLike, y: ArrayLike) -> tuple[Vector, Vector]:
    """An optimum of Problem (3), min |beta|_1 with y_i beta.x_i >= 1, and its multipliers, exactly.

    The dual is max sum_i lambda_i with lambda >= 0 and |sum_i lambda_i y_i x_i| <= 1 in each entry.
    Both are taken at vertices, where as many constraints are tight as entries are not 0; that the
    two values agree proves them.

    Parameters: X (n, d) and labels y (n,) of few rows and columns. Returns beta (d,), lambda (n,).
    Raises InputError where no beta is feasible.
    """
    A = fractions(X) * fractions(y)[:, None]
    n, d = A.shape
    primal: list[Vector] = []
    dual: list[Vector] = [(Fraction(0),) * n]
    for k in range(1, min(n, d) + 1):
        for rows, columns in product(combinations(range(n), k), combinations(range(d), k)):
            square = A[np.ix_(rows, columns)]
            if determinant(square) == 0:
                continue
            primal.append(_placed(solve(square, [1] * k), columns, d))
            for signs in product((1, -1), repeat=k):
                dual.append(_placed(solve(square.T, signs), rows, n))
    primal = [beta for beta in primal if min(A @ np.array(beta, object)) >= 1]
    dual = [w for w in dual if min(w) >= 0 and max(abs(A.T @ np.array(w, object))) <= 1]
    if not primal:
        raise InputError("no predictor classifies the data correctly.")
    beta, weights = min(primal, key=lambda v: sum(map(abs, v))), max(dual, key=sum)
    assert sum(map(abs, beta)) == sum(weights)  # strong duality
    return beta, weights


def _placed(values: list[Fraction], where: tuple[int, ...], size: int) -> Vector:
    """A vector (size,) with these entries, and zeros."""
    out = [Fraction(0)] * size
    for k, value in zip(where, values, strict=True):
        out[k] = value
    return tuple(out)


def longer_predictor() -> list[Evidence]:
    """mm.rem4.1.1: from the start of Theorem 4.1 the flow stays on the ray of (1, 0, 1, 0), and its
    predictor (1, 0) is longer than the optimum (0, 1/2) of Problem (3).

    On the ray, theta = (a, 0, a, 0), grad f = (a, 0, a, 0): a grows, and without bound, as a' = 0
    nowhere for a >= 1.
    """
    c = theorem_4_1("linear")
    a = sympy.Symbol("a", positive=True)
    theta = sympy.symbols("theta_1:5")
    f = output(c.network, theta, c.exact_X[0], lambda h: True)
    ray = dict(zip(theta, (a, 0, a, 0), strict=True))
    gradient = tuple(sympy.diff(f, v).subs(ray) for v in theta)
    limit = dict(zip(theta, c.exact_limit, strict=True))
    stationary = [sympy.diff(f, v).subs(limit) - limit[v] for v in theta]
    beta = tuple(fraction(c.exact_limit[k] * c.exact_limit[2 + k]) for k in (0, 1))
    shortest, multipliers = least_l1(c.X, c.y)
    return [
        fact("∇Φ at (a, 0, a, 0)", tuple(map(str, gradient)), ("a", "0", "a", "0")),
        fact("the start is on this ray", c.exact_start == (1, 0, 1, 0), True),
        fact("θ̃ - ∇Φ(θ̃): a KKT point with λ = 1", tuple(map(fraction, stationary)), (0, 0, 0, 0)),
        fact("the optimum of Problem (3)", shortest, (0, Fraction(1, 2))),
        fact("its ‖β‖₁ is the sum of the multipliers of the dual, a bound from below",
             sum(map(abs, shortest)) == sum(multipliers), True),
        bound("‖β̃‖₁ of the limit, against the optimum", sum(map(abs, beta)), ">",
              sum(map(abs, shortest)), ""),
    ]  # fmt: skip
