"""Proposition B.2 for laws with a density: mixtures of uniform laws on triangles, exactly.

On a triangle with corners a, b, c of area S, E xx^T restricted to it is S/12 (aa^T + bb^T + cc^T +
ss^T) with s = a + b + c. Half-planes through 0 cut triangles into triangles, so every moment of
this file is a rational number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reluflow.ledger import Evidence, bound, fact, note
from reluflow.papers.lee2023magnitude.finite_laws import Vector, dot
from reluflow.papers.lee2023magnitude.minimiser import MERCEDES, TEACHER
from reluflow.rational import rationals

Triangle = tuple[Vector, Vector, Vector]
Moment = tuple[Fraction, Fraction, Fraction]
"""E x_1^2, E x_1 x_2 and E x_2^2."""


@dataclass(frozen=True)
class TriangleLaw:
    """A mixture of uniform laws on triangles of the plane.

    triangles   k triples of rational corners
    weights     k positive rationals of sum 1
    """

    triangles: tuple[Triangle, ...]
    weights: Vector

    @property
    def has_zero_mean(self) -> bool:
        """Whether E x = 0, exactly."""
        pairs = list(zip(self.weights, self.triangles, strict=True))
        return all(sum(p * sum(c[i] for c in t) for p, t in pairs) == 0 for i in range(2))


def triangle_law(triangles: Sequence) -> TriangleLaw:
    """The mixture of the triangles (k, 3, 2), of equal weights."""
    k = len(triangles)
    return TriangleLaw(rationals(triangles), (Fraction(1, k),) * k)


def active_moment(law: TriangleLaw, *normals: Sequence) -> Moment:
    """E xx^T over the part of the plane where w.x > 0 for all w among `normals`, exactly."""
    total = [Fraction(0)] * 3
    for p, triangle in zip(law.weights, law.triangles, strict=True):
        whole = area(triangle)
        polygon = list(triangle)
        for w in normals:
            polygon = _cut(polygon, rationals(w))
        for k in range(1, len(polygon) - 1):
            piece = (polygon[0], polygon[k], polygon[k + 1])
            share = p * area(piece) / whole / 12
            vectors = [*piece, tuple(sum(c[i] for c in piece) for i in range(2))]
            for slot, (i, j) in enumerate(((0, 0), (0, 1), (1, 1))):
                total[slot] += share * sum(v[i] * v[j] for v in vectors)
    xx, xy, yy = total
    return xx, xy, yy


def density_loss(law: TriangleLaw, w: Any, target: Any) -> Fraction:
    """L(w) of eq. (13), exactly: (w - w*).x squared where both are active, w.x or w*.x squared
    where one is."""
    w, target = rationals(w), rationals(target)
    both = active_moment(law, w, target)
    difference = tuple(a - b for a, b in zip(w, target, strict=True))
    total = form(both, difference)
    for v in (w, target):
        total += form(active_moment(law, v), v) - form(both, v)
    return total / 2


def form(moment: Moment, v: Vector) -> Fraction:
    """v.Mv."""
    return moment[0] * v[0] ** 2 + 2 * moment[1] * v[0] * v[1] + moment[2] * v[1] ** 2


def area(triangle: Sequence[Vector]) -> Fraction:
    """The area of a triangle."""
    a, b, c = triangle
    return abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2


def smeared(points: Any, size: Fraction) -> TriangleLaw:
    """The uniform law on the points (n, 2), each spread over a triangle around it of extent size.

    The corners are the point + size (1, 0), size (0, 1), size (-1, -1), so its mean stays.
    """
    corners = [(1, 0), (0, 1), (-1, -1)]
    return triangle_law(
        [[tuple(a + size * c for a, c in zip(x, corner, strict=True)) for corner in corners]
         for x in rationals(points)]
    )  # fmt: skip


def _cut(polygon: list[Vector], w: Vector) -> list[Vector]:
    """The part of a convex polygon where w.x >= 0."""
    out: list[Vector] = []
    for a, b in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        ha, hb = dot(w, a), dot(w, b)
        if ha >= 0:
            out.append(a)
        if ha * hb < 0:
            s = ha / (ha - hb)
            out.append(tuple(p + s * (q - p) for p, q in zip(a, b, strict=True)))
    return out


def minimiser_of_densities(seed: int, count: int) -> list[Evidence]:
    """ma.ours.unique.density: w* is the only minimiser where no hyperplane through 0 has mass.

    Laws on points with several minimisers, each point spread over a triangle, are tried at an old
    minimiser, exactly.
    """
    rng, zero, least = np.random.default_rng(seed), 0, []
    for _ in range(count):
        points, target, other = _several_minimisers(rng)
        size = Fraction(1, int(rng.integers(2, 200)))
        law = smeared(points, size)
        loss = density_loss(law, other, target)
        zero += loss == 0 or not law.has_zero_mean
        least.append(loss / size**2)
    spread = smeared([(-3, 1), (-2, -1), (-4, 0)], Fraction(1, 10))
    dead = density_loss(spread, (2, 0), (1, 0))
    losses = [
        density_loss(smeared(MERCEDES, size), (-2, 0), TEACHER)
        for size in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))
    ]
    return [
        fact("laws on points with several minimisers, each point spread over a triangle: those "
             "with L = 0 at another old minimiser", zero, 0),
        fact("the same for a law of mean other than 0, all on the silent side of w*: L(2 w*)",
             dead, 0),
        bound("the three points spread over triangles of size 1/100: L(-2, 0)", losses[-1],
              ">", 0, ""),
        note("the same at size 1/2, 1/10, 1/100",
             tuple(map(float, losses))),
        note("least L/size^2 of the laws drawn", float(min(least)), digits=2),
        note("laws", count),
        note("seed", seed),
    ]  # fmt: skip


def _several_minimisers(rng: np.random.Generator) -> tuple[list[Any], Any, Any]:
    """Points (k, 2) of mean 0 that span the plane, a teacher that is active on one line of them
    alone, and another minimiser, all rational: w* + s v with v orthogonal to the active points."""
    while True:
        points = [
            tuple(int(a) for a in x) for x in rng.integers(-3, 4, (int(rng.integers(2, 5)), 2))
        ]
        points.append(tuple(-sum(x[i] for x in points) for i in range(2)))
        target = tuple(int(a) for a in rng.integers(-3, 4, 2))
        heights = [dot(x, target) for x in points]
        active = [x for x, h in zip(points, heights, strict=True) if h > 0]
        if not active or np.linalg.matrix_rank(active) > 1 or np.linalg.matrix_rank(points) < 2:
            continue
        across = (-active[0][1], active[0][0])
        steep = [(dot(x, across), h) for x, h in zip(points, heights, strict=True)]
        limits = [Fraction(-h, up) for up, h in steep if h <= 0 and up > 0]
        share = min([Fraction(2), *limits]) / 2
        if share > 0:
            return points, target, tuple(a + share * b for a, b in zip(target, across, strict=True))
