"""Is a certificate of optimality right? Every kind of it, in rational arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import ArrayLike

from reluflow.margin.certificates import (
    Aligned,
    Cellwise,
    Certificate,
    LayerCells,
    SecondOrder,
    Shorter,
)
from reluflow.margin.check import cells, curvature, layer
from reluflow.margin.check.rational import (
    Numbers,
    Point,
    Wrong,
    combination,
    dot,
    numbers,
    point,
    square,
    upper,
)
from reluflow.networks.indexed import Network

NEAR = 1e-3
"""Shorter points must come nearer than this, over |theta|."""
SLACK = 1e-6
"""A bound that comes so near to a value, as a share of it, meets it."""

BITS = 256
"""Precision of roots, which are balls; all else is rational."""


@dataclass(frozen=True)
class Checked:
    """What a certificate proves.

    verdict  "global", "local", "not local", or "refused"
    slack    of an optimum: no point of the cells looked at is shorter by a larger share of half the
             squared length; of "not local": the distance of the nearest shorter point, over |theta|
    detail   what was verified, or what is wrong
    """

    verdict: str
    slack: float
    detail: str


def check(
    network: Network,
    theta: ArrayLike,
    X: ArrayLike,
    y: ArrayLike,
    certificate: Certificate,
    error: float = 0.0,
) -> Checked:
    """What a certificate proves of theta's direction in the margin problem, or of one of its
    layers.

    Parameters: theta (p,), of any length, X (n, d), y (n,) of +-1. With `error` theta stands for a
    limit that is known up to error |theta|: shorter points count if they are shorter than all that
    is so near to theta. Returns `Checked`; a wrong certificate is refused, with the reason. Raises
    InputError for arrays that do not fit the network.
    """
    with ctx.workprec(BITS):
        return _checked(point(network, theta, X, y), certificate, error)


def _checked(at: Point, certificate: Certificate, error: float) -> Checked:
    if at.least <= 0:
        return Checked("refused", np.inf, "theta does not classify every datum correctly")
    try:
        if isinstance(certificate, Shorter):
            distance = _shorter(at, certificate, error)
            return Checked("not local", distance, "every point is feasible and shorter")
        found, verdict = _optimum(at, certificate)
    except Wrong as reason:
        return Checked("refused", np.inf, str(reason))
    slack = max(upper(found), 0.0)
    if slack > SLACK:
        return Checked("refused", slack, "the bound does not meet the value")
    if found < -SLACK:
        return Checked("refused", slack, "the bound is larger than the value that it should bound")
    return Checked(verdict, slack, "the bound meets the value, and no cell is missing")


def _optimum(at: Point, proof: Aligned | Cellwise | LayerCells | SecondOrder) -> tuple[arb, str]:
    if isinstance(proof, Aligned):
        return _aligned(at, proof), "global"
    if isinstance(proof, Cellwise):
        return cells.slack(at, proof), "global" if proof.everywhere else "local"
    if isinstance(proof, LayerCells):
        # A layer in which the network is linear has one cell: a local optimum is a global one.
        linear = proof.layer > at.relus
        return layer.slack(at, proof), "global" if proof.everywhere or linear else "local"
    return curvature.residual(at, proof), "local"


def _shorter(at: Point, proof: Shorter, error: float) -> float:
    """The distance of the nearest point, once all points are found to be shorter. Raises Wrong."""
    if len(proof.points) != len(proof.distances):
        raise Wrong("there is not one distance for each point")
    where = slice(0, len(at.theta)) if proof.layer is None else at.span(proof.layer)
    degree = at.depth if proof.layer is None else 1
    own = square(at.theta[where]) ** degree / at.least**2
    least = _least_cost(at, where, degree, error) if error else arb(own)
    found: list[float] = []
    sure: list[float] = []
    for values, claimed in zip(proof.points, proof.distances, strict=True):
        other = Point(at.network, numbers(values), at.X, at.y)
        if len(other.theta) != len(at.theta):
            raise Wrong("a point has not as many parameters as the network")
        if other.theta[: where.start] + other.theta[where.stop :] != (
            at.theta[: where.start] + at.theta[where.stop :]
        ):
            raise Wrong("a point differs from theta in another layer")
        if other.least <= 0:
            raise Wrong("a point does not classify every datum correctly")
        cost = square(other.theta[where]) ** degree / other.least**2
        if not cost < own:
            raise Wrong("a point is not shorter")
        found.append(_distance(at, other, where, degree))
        if found[-1] > 1.001 * float(claimed) + 1e-12:
            raise Wrong("a point is farther from theta than it says")
        if error == 0 or _most_cost(at, other, where, degree, error) < least:
            sure.append(found[-1] + error)
    if any(b >= a for a, b in pairwise(found)):
        raise Wrong("the points do not come nearer and nearer")
    if not sure or sure[-1] > NEAR:
        raise Wrong("no shorter point is near to theta")
    return sure[-1]


def _least_cost(at: Point, where: slice, degree: int, error: float) -> arb:
    """A ball not above |u|^(2 degree) / (least margin)^2 of all that is so near to theta: u is
    theta, or the layer that may change."""
    radius = arb(error) * arb(square(at.theta)).sqrt()
    margins = _margins(at, [arb(value) + radius * arb(0, 1) for value in at.theta])
    most = min((margin.upper() for margin in margins), key=float)
    length = arb(square(at.theta[where])).sqrt() - radius
    if not length > 0:
        raise Wrong("theta is not known well enough")
    return length ** (2 * degree) / most**2


def _most_cost(at: Point, other: Point, where: slice, degree: int, error: float) -> arb:
    """A ball not below that of a shorter point, whose other layers are those of the limit."""
    radius = arb(error) * arb(square(at.theta)).sqrt()
    near = [arb(value) + radius * arb(0, 1) for value in at.theta]
    near[where] = [arb(value) for value in other.theta[where]]
    margins = _margins(at, near)
    least = min((margin.lower() for margin in margins), key=float)
    if not least > 0:
        return arb("inf")
    return arb(square(other.theta[where])) ** degree / least**2


def _margins(at: Point, theta: list[arb]) -> list[arb]:
    """y_i f(theta; x_i) in balls, (n,)."""
    found: list[list[arb]] = [[arb(v) for v in x] for x in at.X]
    for k in range(1, at.depth + 1):
        own = [arb(0), *theta[at.span(k)]]
        rows = [[own[g] for g in row] for row in at.maps[k - 1]]
        before = [[sum((w * v for w, v in zip(row, x, strict=True)), arb(0)) for row in rows]
                  for x in found]  # fmt: skip
        relu = k <= at.relus
        found = [[h.max(arb(0)) if relu else h for h in hs] for hs in before]
    return [arb(y) * out[0] for y, out in zip(at.y, found, strict=True)]


def _distance(at: Point, other: Point, where: slice, degree: int) -> float:
    """|theta' - theta| / |theta| with theta' (or its layer) scaled to theta's least margin."""
    scale = arb(at.least / other.least).root(degree)
    first, second = at.theta[where], other.theta[where]
    cross, length = dot(first, second), square(at.theta)
    total = scale**2 * arb(square(second)) - 2 * scale * arb(cross) + arb(square(first))
    return upper(abs(total / arb(length)).sqrt())


def _aligned(at: Point, proof: Aligned) -> arb:
    """1 - bound / value of a fully connected linear network. Raises Wrong."""
    full = all(np.array_equal(np.sort(g.ravel()), np.arange(1, g.size + 1))
               for g in at.network.maps)  # fmt: skip
    if at.network.activation != "linear" or not full:
        raise Wrong("the proof is for fully connected linear networks")
    weights = numbers(proof.multipliers)
    if len(weights) != len(at.y) or min(weights) < 0:
        raise Wrong("a multiplier is negative, or they are not as many as the data")
    pulls: Numbers = [w * y for w, y in zip(weights, at.y, strict=True)]
    total, length = sum(weights, fmpq(0)), square(combination(pulls, at.X, len(at.X[0])))
    if length == 0:
        raise Wrong("the multipliers give no bound")
    m = at.depth
    # (bound / value)^m, both for |theta|^2: m^m (sum / length)^2 over |theta|^(2m) / margin^2.
    share = fmpq(m) ** m * total**2 / length * at.least**2 / square(at.theta) ** m
    return 1 - arb(share).root(m)
