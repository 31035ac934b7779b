"""Proposition D.1, Proposition D.4 and Theorem D.5 in rational arithmetic: no rounding at all.

Neurons whose H has a rational eigenbasis, from Householder's reflections I - 2 v v^T / v.v with
whole v. Matrices are arrays of `Fraction`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.exact import eigenprojections, fractions, polynomial, zeros_between
from reluflow.geometry import rank
from reluflow.ledger import Evidence, Reading, fact, note


def reflection(d: int, rng: np.random.Generator) -> NDArray:
    """A rational orthogonal matrix (d, d), symmetric, without zero entries where it can be."""
    v = fractions(rng.integers(1, 4, d))
    return fractions(np.eye(d)) - np.outer(v, v) * (2 / (v @ v))


def manifolds(seed: int, count: int) -> list[Evidence]:
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
    says = "whole-number data sets whose stationary set is not affine of dimension d - r"
    return [fact(says, wrong, 0), note("such data sets", count)]


def rectangle_points(seed: int, count: int) -> pd.DataFrame:
    """D.4: vertices and other points of the hyperrectangles of `count` neurons, w* not zero.

    d = 1..4, whole eigenvalues, ties and c_k* = 0 among them. A row a point: is it a `vertex`; the
    sign of `g` = w.(H w - q); `moves`, whether the force is not zero; `enters`, whether g falls at
    once along the flow; `lopsided`, whether g differs at w*/2 + u and w*/2 - u for some other u.
    """
    return pd.DataFrame(_rectangle_points(np.random.default_rng(seed), count))


def _rectangle_points(rng: np.random.Generator, count: int) -> Iterator[dict[str, Any]]:
    for neuron in range(count):
        d = int(rng.integers(1, 5))
        E = reflection(d, rng)
        H = E @ np.diag(fractions(rng.integers(1, 4, d))) @ E.T
        c = fractions(rng.integers(0, 4, d))
        c[0] += not c.any()  # w* = 0 is excluded
        q = H @ E @ c

        def measured(w: NDArray, vertex: bool, lopsided: bool = False) -> dict[str, Any]:
            force = q - H @ w  # noqa: B023
            g, fall = -(w @ force), (2 * H @ w - q) @ force  # noqa: B023
            point = {"neuron": neuron, "vertex": vertex, "g": (g > 0) - (g < 0)}  # noqa: B023
            return {**point, "moves": any(force), "enters": fall < 0, "lopsided": lopsided}

        for corner in product((0, 1), repeat=d):
            yield measured(E @ (fractions(np.array(corner)) * c), True)
        for _ in range(4):
            place = fractions(rng.integers(0, 8, d)) / 7
            if all(p in (0, 1) or side == 0 for p, side in zip(place, c, strict=True)):
                continue
            u, middle = fractions(rng.integers(-3, 4, d)), E @ c / 2
            ahead, behind = (v @ (H @ v - q) for v in (middle + u, middle - u))
            yield measured(E @ (place * c), False, bool(ahead != behind))


def at_an_instant(points: pd.DataFrame) -> Reading:
    """D.4, part 1: what "inside the subset" means on its boundary, g = 0."""
    others = points[points.vertex & points.moves]
    return Reading(
        taken="the norm increases at an instant if its derivative is positive",
        others=f"From {others.enters.sum()} of the {len(others)} vertices other than w*, w0 = 0 "
        "among them, the norm increases from t = 0 on although g = 0 there.",
    )


def rectangles(points: pd.DataFrame) -> list[Evidence]:
    """D.4, parts 2 and 4: g vanishes on the vertices, is negative between them, and symmetric."""
    vertices, others = points[points.vertex], points[~points.vertex]
    return [
        fact("vertices with g different from 0 (exact)", int((vertices.g != 0).sum()), 0),
        fact("other points of hyperrectangles with g >= 0 (exact)", int((others.g >= 0).sum()), 0),
        fact("points not mirrored in w*/2 by g (exact)", int(others.lopsided.sum()), 0),
        note("exact neurons, vertices and other points",
             (points.neuron.nunique(), len(vertices), len(others))),
    ]  # fmt: skip


def norm_turns(seed: int, count: int) -> list[Evidence]:
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
        E = reflection(d, rng)[:r] * fractions(lengths)[:, None]
        X = np.vstack([E, E[: int(rng.integers(0, r + 1))]])  # some data twice, with other labels
        q = X.T @ fractions(rng.integers(-4, 5, len(X)))
        if q.any():
            squares = {int(v) ** 2 for v in lengths}
            turning += not grows(X.T @ X, q, sorted(squares | {2 * v for v in squares}))
    says = "whole-number data sets on which d|w|^2/dt has a zero at some t > 0 (Sturm)"
    return [fact(says, turning, 0), note("such data sets", count)]


def grows(H: NDArray, q: NDArray, values: list[int]) -> bool:
    """Whether the norm grows along w' = q - H w from 0; `values` holds all whole eigenvalues of
    H but 0, and may hold other numbers. ArithmeticError where one is missing."""
    projections = eigenprojections(H, [0, *values])
    parts = {k: projections[k] @ q / k for k in values}
    w = {0: sum(parts.values()), **{k: -part for k, part in parts.items()}}  # by powers of u
    if (H @ w[0] != q).any():
        raise ArithmeticError("an eigenvalue of H is missing")
    square: dict[int, Fraction] = {}
    for (j, a), (k, b) in product(w.items(), repeat=2):
        square[j + k] = square.get(j + k, Fraction(0)) + a @ b
    slope = polynomial(square).diff()  # by u, which falls with time
    return zeros_between(slope, 0, 1) == 0 and slope.eval(Fraction(1, 2)) < 0
