"""First and second order at a point where no unit's input is 0, exactly at the given floats."""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb, fmpq, fmpq_mat

from reluflow.margin.certificates import SecondOrder
from reluflow.margin.check.rational import Numbers, Point, Wrong, combination, numbers, square

TIGHT = fmpq(1, 10**6)
"""A multiplier, or the excess of a margin, that is a smaller share of the largest one is 0."""
STIFF = fmpq(10**6)
"""The weight of the held directions, in units of the largest entry of the Hessian."""


def residual(point: Point, proof: SecondOrder) -> arb:
    """|theta - sum lambda_i y_i grad f_i| / |theta|, once the Lagrangian is found to curve up by at
    least half of what is claimed on the directions that no tight margin resists. Raises Wrong.

    f is a polynomial around theta. H + c sum g_i g_i' > 0 for some c proves H > 0 where all g_i.d =
    0 (Finsler); with g_i = grad f_i wherever lambda_i > 0 these d are the critical directions.
    """
    if any(0 in signs for k in range(1, point.relus + 1) for signs in point.signs(k)):
        raise Wrong("the input of a unit is 0")
    weights = numbers(proof.multipliers)
    if len(weights) != len(point.y) or min(weights) < 0:
        raise Wrong("a multiplier is negative, or they are not as many as the data")
    largest = max(weights)
    held = [k for k, w in enumerate(weights) if w > TIGHT * largest]
    for k in range(len(weights)):
        loose = point.margins[k] > point.least * (1 + TIGHT)
        if loose and weights[k] != 0:
            raise Wrong("a margin that is not the least has a multiplier")
    # theta may have any length: with margins mu the multipliers of the scaled problem go with it.
    p = len(point.theta)
    pulls = [w * y for w, y in zip(weights, point.y, strict=True)]
    gradients = [_gradient(point, i) for i in range(len(point.y))]
    force = combination(pulls, gradients, p)
    off = [a - b for a, b in zip(point.theta, force, strict=True)]
    H = [[fmpq(int(a == b)) for b in range(p)] for a in range(p)]
    for i, pull in enumerate(pulls):
        if pull != 0:
            for a, row in enumerate(_hessian(point, i)):
                H[a] = [h - pull * v for h, v in zip(H[a], row, strict=True)]
    least = min(fmpq(1), numbers([min(proof.least, 1.0)])[0]) / 2
    if least <= 0:
        raise Wrong("no curvature is claimed")
    stiff = STIFF * max(abs(h) for row in H for h in row)
    for i in held:
        g, length = gradients[i], square(gradients[i])
        if length == 0:
            raise Wrong("a gradient is 0")
        for a in range(p):
            H[a] = [h + stiff * g[a] * v / length for h, v in zip(H[a], g, strict=True)]
    for a in range(p):
        H[a][a] -= least
    if not _positive_definite(H):
        raise Wrong("the Lagrangian does not curve up as much as it says")
    return (arb(square(off)) / arb(square(point.theta))).sqrt()


def _positive_definite(H: Sequence[Numbers]) -> bool:
    """Sylvester: all leading minors are positive."""
    return all(fmpq_mat([row[:k] for row in H[:k]]).det() > 0 for k in range(1, len(H) + 1))


def _masks(point: Point, i: int) -> list[list[bool]]:
    """Which units of each layer but the last are active on datum i."""
    found = []
    for k in range(1, point.depth):
        if k <= point.relus:
            found.append([sign > 0 for sign in point.signs(k)[i]])
        else:
            found.append([True] * len(point.maps[k - 1]))
    return found


def _gradient(point: Point, i: int) -> Numbers:
    """grad f(theta; x_i), (p,): the change of f along every unit vector."""
    return [_along(point, i, [(k,)]) for k in range(len(point.theta))]


def _hessian(point: Point, i: int) -> list[Numbers]:
    """The second derivatives of f(theta; x_i), (p, p)."""
    p = len(point.theta)
    rows = [[fmpq(0)] * p for _ in range(p)]
    for a in range(p):
        for b in range(a + 1, p):
            rows[a][b] = rows[b][a] = _along(point, i, [(a,), (b,)])
    return rows


def _along(point: Point, i: int, directions: Sequence[tuple[int, ...]]) -> fmpq:
    """The mixed derivative of f(theta; x_i) along unit vectors of different layers: f is linear in
    each layer, so that these layers' weights are replaced by the unit vectors'. Two of one layer
    give 0."""
    chosen: dict[int, int] = {}
    for (k,) in directions:
        layer = next(m for m in range(1, point.depth + 1) if k < point.span(m).stop)
        if layer in chosen:
            return fmpq(0)
        chosen[layer] = k - point.span(layer).start + 1
    values, masks = point.X[i], _masks(point, i)
    for m in range(1, point.depth + 1):
        if m in chosen:
            matrix = [[fmpq(int(g == chosen[m])) for g in row] for row in point.maps[m - 1]]
        else:
            matrix = point.weights(m)
        values = [sum((w * v for w, v in zip(row, values, strict=True)), fmpq(0))
                  for row in matrix]  # fmt: skip
        if m < point.depth:
            values = [v if a else fmpq(0) for v, a in zip(values, masks[m - 1], strict=True)]
    return values[0]
