"""A network along a curve of parameters that are polynomials in one variable, exactly.

A perturbation theta'(eps) is such a curve in s, where eps is a multiple of s or of s^2. Between the
zeros of the units' inputs each output is one polynomial in s, at any depth, so that what is claimed
of all eps is decided by counting zeros (Sturm), not by sampling.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import sympy

from reluflow.papers.vardi2022margin.exact_networks import output
from reluflow.papers.vardi2022margin.instances import EPS, Construction, Exact

S = sympy.Symbol("s", positive=True)
"""The variable of a curve."""


@dataclass(frozen=True)
class Piece:
    """An interval low < s < high on which no unit's input changes its sign, and the margins there:
    expressions in S, (n,)."""

    low: sympy.Expr
    high: sympy.Expr
    margins: tuple[sympy.Expr, ...]


@dataclass(frozen=True)
class Curve:
    """The perturbation of a construction for 0 < s < end, with eps = size(s).

    better   theta'(s) (p,), polynomials in S
    pieces   the intervals, from left to right
    shorter  |theta~|^2 - |theta'(s)|^2, a polynomial in S
    """

    size: sympy.Expr
    better: tuple[sympy.Expr, ...]
    pieces: tuple[Piece, ...]
    shorter: sympy.Expr

    def margins_are(self, value: sympy.Expr) -> bool:
        """Whether all margins are this expression in EPS, on every piece."""
        wanted = sympy.expand(sympy.sympify(value).subs(EPS, self.size))
        return all(sympy.expand(m - wanted) == 0 for p in self.pieces for m in p.margins)

    @property
    def feasible(self) -> bool:
        """Whether all margins are at least 1, on every piece."""
        return all(nonnegative(m - 1, p.low, p.high) for p in self.pieces for m in p.margins)

    @property
    def improves(self) -> bool:
        """Whether theta'(s) is feasible and shorter for all 0 < s < end."""
        ends = self.pieces[0].low, self.pieces[-1].high
        return self.feasible and positive(self.shorter, *ends)

    @property
    def last(self) -> sympy.Expr:
        """The eps up to which theta'(eps) is feasible and shorter: 0 if it never is."""
        for piece in self.pieces:
            wanted = [self.shorter, *(m - 1 for m in piece.margins)]
            inner = {root for value in wanted for root in zeros(value, piece.low, piece.high)}
            for low, high in pairwise(sorted({piece.low, piece.high, *inner})):
                room = [nonnegative(value, low, high) for value in wanted]
                if not all(room) or not positive(self.shorter, low, high):
                    return sympy.radsimp(self.size.subs(S, low))
        return sympy.radsimp(self.size.subs(S, self.pieces[-1].high))


def curve(construction: Construction, size: sympy.Expr, end: sympy.Expr) -> Curve:
    """The construction's theta'(eps) with eps = size(s), for 0 < s < end.

    Raises ValueError where the zeros of a unit's input are not found exactly.
    """
    better = tuple(sympy.expand(v.subs(EPS, size)) for v in construction.exact_better)
    pieces = _pieces(construction, better, sympy.Integer(0), sympy.sympify(end))
    limit = sum(value**2 for value in construction.exact_limit)
    shorter = sympy.expand(limit - sum(value**2 for value in better))
    return Curve(size, better, tuple(pieces), shorter)


def _pieces(
    construction: Construction, better: Exact, low: sympy.Expr, high: sympy.Expr
) -> list[Piece]:
    """The pieces of low < s < high: that one, or where some unit's input, by the activity in its
    middle, has a zero in it, those of the parts between the zeros."""
    c, middle, inputs = construction, between(low, high), []

    def active(h: sympy.Expr) -> bool:
        inputs.append(h)
        return bool(sympy.expand(h).subs(S, middle) > 0)

    margins = [label * output(c.network, better, x, active)
               for x, label in zip(c.exact_X, c.labels, strict=True)]  # fmt: skip
    edges = {low, high} | {root for h in inputs for root in zeros(h, low, high)}
    if len(edges) == 2:
        return [Piece(low, high, tuple(sympy.expand(value) for value in margins))]
    parts = pairwise(sorted(edges))
    return [piece for part in parts for piece in _pieces(c, better, *part)]


def positive(value: sympy.Expr, low: sympy.Expr, high: sympy.Expr) -> bool:
    """Whether a polynomial in S is positive for all low < s < high."""
    value = sympy.expand(value)
    if value == 0 or zeros(value, low, high):
        return False
    return bool(value.subs(S, between(low, high)) > 0)


def nonnegative(value: sympy.Expr, low: sympy.Expr, high: sympy.Expr) -> bool:
    """Whether a polynomial in S is zero, or positive for all low < s < high."""
    return sympy.expand(value) == 0 or positive(value, low, high)


def zeros(value: sympy.Expr, low: sympy.Expr, high: sympy.Expr) -> list[sympy.Expr]:
    """The different zeros low < s < high of a polynomial in S whose coefficients have rational
    ratios; none for the polynomial 0. Raises ValueError for other ratios."""
    value = sympy.expand(value)
    if value == 0:
        return []
    monic = sympy.Poly(value, S)
    monic = sympy.Poly([sympy.radsimp(c / monic.LC()) for c in monic.all_coeffs()], S)
    if not all(c.is_Rational for c in monic.all_coeffs()):
        raise ValueError(f"the coefficients of {value} have no rational ratios")
    return [root for root in sorted(set(monic.real_roots())) if low < root < high]


def between(low: sympy.Expr, high: sympy.Expr) -> sympy.Rational:
    """A rational number strictly between two real numbers."""
    middle = sympy.Rational(str(sympy.N((low + high) / 2, 50)))
    if not low < middle < high:
        raise ValueError(f"{low} and {high} are too near to one another")
    return middle


def margins_up_to_one(construction: Construction) -> list[sympy.Expr]:
    """The margins (n,) of theta'(eps) for all 0 < eps < 1 at once, roots in eps allowed.

    With eps = 1/(1 + t), t > 0, SymPy knows the sign of each unit's input. Raises ArithmeticError
    where it does not.
    """
    t = sympy.Symbol("t", positive=True)
    better = [
        sympy.together(value.subs(EPS, 1 / (1 + t)), deep=True)
        for value in construction.exact_better
    ]

    def active(h: sympy.Expr) -> bool:
        if h.is_positive is None:
            raise ArithmeticError(f"the sign of {h} is not known")
        return bool(h.is_positive)

    return [
        sympy.simplify(label * output(construction.network, better, x, active))
        for x, label in zip(construction.exact_X, construction.labels, strict=True)
    ]
