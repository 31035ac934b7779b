"""Proposition D.1, Proposition D.4 and Theorem D.5 in rational arithmetic: no rounding at all.

Neurons whose H has a rational eigenbasis, from Householder's reflections I - 2 v v^T / v.v with
whole v. Matrices are arrays of `Fraction`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import sympy
from numpy.typing import NDArray

from reluflow.geometry import rank


def _fractions(values: NDArray) -> NDArray:
    return np.array([Fraction(int(v)) for v in np.ravel(values)], object).reshape(np.shape(values))


def reflection(d: int, rng: np.random.Generator) -> NDArray:
    """A rational orthogonal matrix (d, d), symmetric, without zero entries where it can be."""
    v = _fractions(rng.integers(1, 4, d))
    return _fractions(np.eye(d)) - np.outer(v, v) * (2 / (v @ v))


def manifolds_that_differ(seed: int, count: int) -> int:
    """D.1 (ii), (iii): whole-number data sets, of any rank, on which the set of stationary points
    is not an affine set of dimension d - r through H^+ q. Such a set is that of a solvable system
    H w = q whose matrix has rank r: rank [H q] = rank H = rank X.
    """
    rng = np.random.default_rng(seed)
    wrong = 0
    for _ in range(count):
        n, d = (int(v) for v in rng.integers(1, 6, 2))
        inner = int(rng.integers(1, 5))
        X = rng.integers(-2, 3, (n, inner)) @ rng.integers(-2, 3, (inner, d))
        H, q = X.T @ X, X.T @ rng.integers(-5, 6, n)
        wrong += not rank(np.column_stack([H, q])) == rank(H) == rank(X)
    return wrong


@dataclass(frozen=True)
class ExactRectangles:
    """Proposition D.4, parts 2 and 4, exactly, on `neurons` neurons with w* not zero.

    vertices       vertices of hyperrectangles, and of these `off`, where g is not zero
    others         corners other than w*, and of these `entering`, from which g falls at once
    points         points of hyperrectangles that are no vertices, and of these `outside`: g >= 0
    lopsided       points u with g(w*/2 + u) different from g(w*/2 - u)
    """

    neurons: int
    vertices: int
    off: int
    others: int
    entering: int
    points: int
    outside: int
    lopsided: int


def exact_rectangles(seed: int, count: int) -> ExactRectangles:
    """Draw neurons in d = 1..4 with whole eigenvalues, ties and c_k* = 0 among them, and evaluate
    g(w) = w.(H w - q) at all vertices, at points inside and in opposite pairs."""
    rng = np.random.default_rng(seed)
    vertices = off = others = entering = points = outside = lopsided = 0
    for _ in range(count):
        d = int(rng.integers(1, 5))
        E = reflection(d, rng)
        H = E @ np.diag(_fractions(rng.integers(1, 4, d))) @ E.T
        c = _fractions(rng.integers(0, 4, d))
        c[0] += not c.any()  # w* = 0 is excluded
        q = H @ E @ c
        for corner in product((0, 1), repeat=d):
            w = E @ (_fractions(np.array(corner)) * c)
            force = q - H @ w
            vertices += 1
            off += w @ force != 0
            # The derivative of g along the flow: negative means that the flow goes inside.
            others += force.any()
            entering += (2 * H @ w - q) @ force < 0
        for _ in range(4):
            place = _fractions(rng.integers(0, 8, d)) / 7
            w = E @ (place * c)
            if all(p in (0, 1) or side == 0 for p, side in zip(place, c, strict=True)):
                continue
            points += 1
            outside += w @ (H @ w - q) >= 0
            u, middle = _fractions(rng.integers(-3, 4, d)), E @ c / 2
            ahead, behind = (v @ (H @ v - q) for v in (middle + u, middle - u))
            lopsided += ahead != behind
    return ExactRectangles(
        count, vertices, int(off), int(others), int(entering), points, int(outside), int(lopsided)
    )


def norm_turns(seed: int, count: int) -> int:
    """D.5, part 2: of `count` whole-number data sets, those on which d|w|^2/dt from w0 = 0 vanishes
    at some t > 0, or is not positive: |w(t)|^2 is a polynomial in u = exp(-g t), and Sturm's
    theorem counts the zeros of its derivative in 0 < u < 1. Here d = 2..4, r <= d, n >= r.
    """
    rng = np.random.default_rng(seed)
    turning = 0
    for _ in range(count):
        d = int(rng.integers(2, 5))
        r = int(rng.integers(1, d + 1))
        lengths = rng.integers(1, 4, r)
        E = reflection(d, rng)[:r] * _fractions(lengths)[:, None]
        X = np.vstack([E, E[: int(rng.integers(0, r + 1))]])  # some data twice, with other labels
        q = X.T @ _fractions(rng.integers(-4, 5, len(X)))
        if q.any():
            squares = {int(v) ** 2 for v in lengths}
            turning += not _grows(X.T @ X, q, sorted(squares | {2 * v for v in squares}))
    return turning


def _grows(H: NDArray, q: NDArray, values: list[int]) -> bool:
    """Whether the norm grows from 0 on; `values` holds all eigenvalues of H but 0, and may hold
    other numbers, whose projection is zero."""
    d = len(q)
    eye = _fractions(np.eye(d))
    w = {0: _fractions(np.zeros(d))}  # coefficients of the powers of u
    for value in values:
        P = eye
        for other in [0, *values]:
            if other != value:
                P = P @ (H - other * eye) / (value - other)
        w[0] = w[0] + P @ q / value
        w[value] = -(P @ q) / value
    if (H @ w[0] != q).any():
        raise ArithmeticError("an eigenvalue of H is missing")
    u = sympy.Symbol("u")
    square: dict[int, Fraction] = {}
    for (j, a), (k, b) in product(w.items(), repeat=2):
        square[j + k] = square.get(j + k, Fraction(0)) + a @ b
    terms = {k: sympy.Rational(v.numerator, v.denominator) for k, v in square.items()}
    slope = sympy.Poly.from_dict(terms, u).diff(u)  # by u, which falls with time
    ends = sum(slope.eval(end) == 0 for end in (0, 1))
    return slope.count_roots(0, 1) == ends and slope.eval(sympy.Rational(1, 2)) < 0
