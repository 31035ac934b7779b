"""A network's outputs in any arithmetic, and the printed constructions in interval arithmetic.

The floats of `reluflow.networks` lose a perturbation of 1e-20; balls of 4096 bits (Arb) do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx, fmpq

from reluflow.networks.indexed import Network
from reluflow.papers.vardi2022margin.instances import EPS, Construction

BITS = 4096
"""Precision: squares of 1e-300 beside numbers near 1 keep some 2000 bits."""


def output(network: Network, theta: Sequence[Any], x: Sequence[Any], active: Callable) -> Any:
    """f(theta; x) for numbers of any kind that can be added and multiplied.

    Parameters: theta (p,), layer 1 first, x (d,), and `active`, which says of a unit's input
    whether it is positive.
    """
    first, values = 0, list(x)
    for layer, g in enumerate(network.maps, start=1):
        inputs = [
            sum((theta[first + k - 1] * v for k, v in zip(row, values, strict=True) if k), 0 * x[0])
            for row in g.tolist()
        ]
        hidden = network.activation == "relu" and layer < len(network.maps)
        values = [h if not hidden or active(h) else 0 * h for h in inputs]
        first += int(g.max())
    return values[0]


def ball(value: sympy.Expr, eps: arb) -> arb:
    """An exact number, made of rationals, EPS, sums, products and rational powers, as a ball."""
    if value == EPS:
        return eps
    if value.is_Rational:
        return arb(fmpq(int(value.p), int(value.q)))
    parts = [ball(part, eps) for part in value.args]
    if value.is_Add:
        return sum(parts, arb(0))
    if value.is_Mul:
        product = arb(1)
        for part in parts:
            product *= part
        return product
    if value.is_Pow and value.exp.is_Rational:
        return parts[0].root(int(value.exp.q)) ** int(value.exp.p)
    raise ValueError(f"{value} is no rational number, root, sum or product")


def certainly_positive(value: arb) -> bool:
    """Whether a ball's number is positive. Raises ArithmeticError where the ball does not tell."""
    if value > 0:
        return True
    if value <= 0:
        return False
    raise ArithmeticError("a ball holds positive and negative numbers: take more bits")


@dataclass(frozen=True)
class Beside:
    """What theta'(eps) is worth beside the limit, as balls.

    eps       the size of the perturbation
    margins   y_i f(theta'; x_i), (n,)
    gain      |theta~|^2 - |theta'|^2: positive where theta' is shorter
    distance  |theta' - theta~|^2
    """

    eps: Fraction
    margins: tuple[arb, ...]
    gain: arb
    distance: arb

    @property
    def improves(self) -> bool:
        """Whether theta' is certainly shorter, and no margin is certainly below 1."""
        return bool(self.gain > 0) and not any(bool(margin < 1) for margin in self.margins)


def beside(construction: Construction, eps: Fraction) -> Beside:
    """theta'(eps) of a construction against its limit, in balls of `BITS` bits.

    A margin that is 1 is a ball around 1, of a radius near 1e-1200: the identities say the rest.
    """
    with ctx.workprec(BITS):
        size = arb(fmpq(eps.numerator, eps.denominator))
        better, limit = (
            [ball(value, size) for value in values]
            for values in (construction.exact_better, construction.exact_limit)
        )
        margins = tuple(
            label * output(construction.network, better, [ball(v, size) for v in x], _active)
            for x, label in zip(construction.exact_X, construction.labels, strict=True)
        )
        pairs = list(zip(better, limit, strict=True))
        gain = sum((b * b - a * a for a, b in pairs), arb(0))
        distance = sum(((a - b) ** 2 for a, b in pairs), arb(0))
    return Beside(eps, margins, gain, distance)


def decades(first: int = 1, last: int = 300) -> Iterable[Fraction]:
    """1e-first, ..., 1e-last, exactly."""
    return (Fraction(1, 10**k) for k in range(first, last + 1))


_active = certainly_positive
