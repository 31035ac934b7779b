"""The paper's printed constructions: data, start, limit, and a shorter feasible point beside it.

Every number is an exact one (SymPy); floats are made of them on demand. The limits are those that
the paper claims: whether the flow goes there is for others to find out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import NDArray

from reluflow.errors import InputError
from reluflow.networks.indexed import Network, convolutional, diagonal, fully_connected

EPS = sympy.Symbol("epsilon", positive=True)
"""The size of a perturbation, the paper's epsilon."""

Exact = tuple[sympy.Expr, ...]


@dataclass(frozen=True)
class Construction:
    """One printed example. Parameters theta (p,) are in the order of `network`: layer 1 first.

    name          where it is printed
    network       a network of the class N
    exact_X       the data (n, d)
    labels        y (n,), numbers +1 or -1
    exact_start   theta(0) (p,)
    exact_limit   the point of Problem (2) in whose direction theta(t) is said to converge (p,)
    exact_better  the shorter feasible point theta'(EPS) (p,); without EPS in Lemma C.6
    reach         the paper takes 0 < EPS < reach
    """

    name: str
    network: Network
    exact_X: tuple[Exact, ...]
    labels: tuple[int, ...]
    exact_start: Exact
    exact_limit: Exact
    exact_better: Exact
    reach: sympy.Expr

    @property
    def X(self) -> NDArray:
        """The data as floats (n, d)."""
        return np.array([floats(x) for x in self.exact_X])

    @property
    def y(self) -> NDArray:
        """The labels as floats (n,)."""
        return np.array(self.labels, float)

    @property
    def start(self) -> NDArray:
        """theta(0) as floats (p,)."""
        return floats(self.exact_start)

    @property
    def limit(self) -> NDArray:
        """The claimed limit as floats (p,), scaled so that the least margin is 1."""
        return floats(self.exact_limit)

    def exact_better_at(self, eps: sympy.Expr | int) -> Exact:
        """theta'(eps) (p,) for an exact number eps."""
        return tuple(value.subs(EPS, eps) for value in self.exact_better)

    def better(self, eps: float = 0.0) -> NDArray:
        """theta'(eps) as floats (p,)."""
        return floats([value.subs(EPS, sympy.Float(eps, 30)) for value in self.exact_better])


def floats(values: Sequence[sympy.Expr]) -> NDArray:
    """Exact numbers (k,) as the nearest floats (k,)."""
    return np.array([float(sympy.N(value, 30)) for value in values])


def fraction(value: sympy.Expr) -> Fraction:
    """An exact number that is rational. Raises AttributeError for another."""
    exact = sympy.radsimp(sympy.expand(value))
    return Fraction(int(exact.p), int(exact.q))


def theorem_3_2() -> Construction:
    """Two ReLU neurons, of which one is dead in the limit and could help (Theorem 3.2, C.3).

    The theorem takes every start with w_1.x_i > 0 > w_2.x_i and v_1 > 0; this is one of them.
    """
    root = sympy.sqrt(2 * EPS)
    return Construction(
        "Theorem 3.2", fully_connected((2, 2)),
        (_numbers("1 1/4"), _numbers("-1 1/4")), (1, 1),
        _numbers("1/8 1 1/8 -1 1/2 1"),
        _numbers("0 2 0 0 2 0"),
        (EPS / 2, 2 - 2 * EPS, -root, sympy.Integer(0), sympy.Integer(2), root),
        sympy.Rational(1, 9),
    )  # fmt: skip


def theorem_4_1(activation: str = "linear") -> Construction:
    """A diagonal network of depth 2 whose second coordinate starts at 0 (Theorem 4.1, C.4)."""
    layer = (sympy.sqrt(1 - EPS), sympy.sqrt(EPS / 2))
    return Construction(
        "Theorem 4.1", diagonal(2, 2, activation),
        (_numbers("1 2"),), (1,),
        _numbers("1 0 1 0"),
        _numbers("1 0 1 0"),
        (*layer, *layer),
        sympy.Integer(1),
    )  # fmt: skip


def theorem_4_2() -> Construction:
    """Four ReLU neurons along the data, each on the boundary of two others' data: part 2 of Theorem
    4.2 (C.5.2), and Theorem 5.3.

    EPS is the proof's epsilon', a 1/sqrt(8) of its epsilon < 1.
    """
    data = ("0 1", "1 0", "0 -1", "-1 0")
    first, one = " ".join(data), " 1 1 1 1"
    turned = (EPS, 1 - EPS, 1 - EPS, -EPS, -EPS, EPS - 1, EPS - 1, EPS)
    return Construction(
        "Theorem 4.2 (2)", fully_connected((2, 4)),
        tuple(_numbers(x) for x in data), (1, 1, 1, 1),
        tuple(2 * value for value in _numbers(first + one)),
        _numbers(first + one),
        (*turned, *_numbers(one)),
        1 / sympy.sqrt(8),
    )  # fmt: skip


def lemma_C_6() -> Construction:
    """Two ReLU neurons, one alone with two data and one with a third: a local optimum, and a far
    point that is shorter (Theorem 4.3, Lemma C.6; Theorem 5.4). Here alpha = 2 and beta = 1."""
    x = _numbers("1 1/4")
    length = sympy.sqrt(sum(value**2 for value in x))
    return Construction(
        "Lemma C.6", fully_connected((2, 2)),
        (x, _numbers("-1 1/4"), _numbers("0 -1")), (1, 1, 1),
        _numbers("0 3 0 -2 3 2"),
        _numbers("0 2 0 -1 2 1"),
        (*(value / (2 * length) for value in x), *_numbers("-5/4 -1 2 1")),
        sympy.Integer(0),
    )  # fmt: skip


def theorem_4_4(activation: str = "linear") -> Construction:
    """Two patches that share one filter (Theorem 4.4, C.7): theta = (w, v)."""
    half, root = 1 / sympy.sqrt(2), sympy.sqrt(EPS)
    limit = (*_numbers("0 1"), half, half)
    return Construction(
        "Theorem 4.4", convolutional(2, 2, activation),
        ((sympy.Integer(4), half, sympy.Integer(-4), half),), (1,),
        limit,
        limit,
        (root, 1 - EPS, half + root / 2, half - root / 2),
        sympy.Rational(1, 2),
    )  # fmt: skip


def theorem_5_1(depth: int = 3, activation: str = "linear") -> Construction:
    """A diagonal network of depth m >= 3 with two equal coordinates (Theorem 5.1, C.8).

    Raises InputError for a depth below 3.
    """
    if depth < 3:
        raise InputError(f"Theorem 5.1 is about depth 3 and more, not {depth}.")
    power = sympy.Rational(1, depth)
    return Construction(
        f"Theorem 5.1, m = {depth}", diagonal(2, depth, activation),
        (_numbers("1 1"),), (1,),
        (sympy.Integer(1),) * (2 * depth),
        (sympy.Rational(1, 2) ** power,) * (2 * depth),
        (((1 + EPS) / 2) ** power, ((1 - EPS) / 2) ** power) * depth,
        sympy.Rational(1, 2),
    )  # fmt: skip


def constructions(depth: int = 3) -> tuple[Construction, ...]:
    """All of them, the linear ones with ReLU too; Theorem 5.1 for this depth."""
    both = ("linear", "relu")
    return (
        theorem_3_2(),
        *(theorem_4_1(name) for name in both),
        theorem_4_2(),
        lemma_C_6(),
        *(theorem_4_4(name) for name in both),
        *(theorem_5_1(depth, name) for name in both),
    )


def _numbers(text: str) -> Exact:
    """Rational numbers, written with spaces between."""
    return tuple(sympy.Rational(word) for word in text.split())
