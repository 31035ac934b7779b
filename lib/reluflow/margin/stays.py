"""Whether a flow stays at a KKT point to which its direction has come: the evidence for a limit.

Where a KKT point's active data and kinks are kept, a small deviation d of the direction follows
dd/ds = -H d on the clock s = log |theta|, with H = 1 - sum_i lambda_i y_i Hess f(theta; x_i). It
grows where H is negative: theta is a saddle then, and the limit only of a flow that has no part in
these directions, as a symmetry may see to. Past a saddle the computed flow and the exact one may
part, and `Spread` tells how far they are apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, null_space

from reluflow.flows.charts import LOG_LOSS
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import FlowPath, Pieces
from reluflow.margin.confirm import Stationary
from reluflow.margin.kkt import KINK, idle_units
from reluflow.networks.indexed import Network

CURVED = 1e-6
"""H is negative in a direction if it is below minus this: what grows slower is not told."""
NOTHING = 1e-14
"""A part of a unit vector, or a cosine, that is not larger is all rounding."""
STRAYS = 1e-12
"""A computed unit that rests on a kink strays from it by so much at most."""
APART = 0.03
"""The computed direction may be so far from the exact one, on the way to a limit."""
LARGE = 100
"""From so many parameters on a bound of the `Spread` is much cheaper than the `Spread`."""


def departs(
    network: Network,
    X: NDArray,
    trail: Sequence[NDArray],
    found: Stationary,
    away: NDArray,
    paths: Sequence[tuple[FlowPath, float]],
) -> str:
    """Why a flow may not stay at the KKT point that it has come to; nothing where it does.

    trail  directions (p,) of the flow, the last two of which tell whether it leaves a kink
    away   a basis (p, k) of the directions in which flows leave the point
    paths  the flow from its start on, and the error of its steps
    """
    start = paths[0][0].states[0][:-1]
    if max(float(np.linalg.norm(u @ away)) for u in (start, *trail)) > NOTHING:
        return "the flow may leave the KKT point: it moves in a direction that leads away"
    here, before, last = (network.cosines(u, X) for u in (found.theta, *trail[-2:]))
    for h, a, b, idle in zip(here, before, last, idle_units(network, found.theta), strict=True):
        if ((np.abs(h) <= KINK) & ~idle & (np.abs(b) > np.maximum(np.abs(a), STRAYS))).any():
            return "the flow may leave the KKT point: it moves off a kink"
    if len(start) >= LARGE and widest_at_most(paths, away) <= APART:
        return ""
    spread = Spread(np.zeros((len(start) + 1,) * 2), 0.0)
    for path, noise in paths:
        spread = spread.then(path, noise, away)
    if not spread.widest <= APART:
        return "the flow passes so near to a saddle that its computed end may be another one's"
    return ""


def curvature(network: Network, X: NDArray, y: NDArray, found: Stationary) -> tuple[NDArray, bool]:
    """An orthonormal basis (p, k) of the directions in which flows leave a KKT point; and whether
    there are some in which they rest, as on a manifold of KKT points."""
    theta, patterns = found.theta, found.patterns or None
    forms, along = network.rates(theta, X, np.eye(network.size), patterns)
    rows = [along.T[found.multipliers > 0.0]]
    pairs = zip(forms, network.cosines(theta, X), idle_units(network, theta), strict=True)
    rows += [np.moveaxis(turns, 0, -1)[(np.abs(h) <= KINK) & ~idle] for turns, h, idle in pairs]
    space = null_space(np.vstack(rows))
    bend = network.hessian_product(theta, X, found.multipliers * y, space.T, patterns)
    values, vectors = np.linalg.eigh(np.eye(space.shape[1]) - bend @ space)
    return space @ vectors[:, values < -CURVED], bool((np.abs(values) <= CURVED).any())


@dataclass(frozen=True)
class Spread:
    """The error of a computed flow, if each step adds a random one that the flow then carries on.

    covariance  (p + 1, p + 1) at its end, in the polar chart
    widest      the largest standard deviation of the direction on the way
    """

    covariance: NDArray
    widest: float

    def then(self, path: FlowPath, noise: float, away: NDArray) -> Spread:
        """The same after one path more, whose steps have errors of size `noise` in all directions
        but those of the basis `away` (p, k), in which the flow has no part.

        The linearised flow of the path's own length is followed, by one step of Radau for each of
        the integrator's.
        """
        keep = np.eye(len(path.end))
        keep[:-1, :-1] -= away @ away.T
        P, widest, one = self.covariance, self.widest, np.eye(len(path.end))
        for A, h in _steps(path):
            B = h * A
            turn = np.linalg.solve(one - B @ (4.0 * one - B) / 6.0, one + B / 3.0)
            turn = keep @ turn if away.size else turn
            P = turn @ (P + noise**2 * keep) @ turn.T
            widest = float(np.maximum(widest, np.sqrt(np.trace(P[:-1, :-1]))))
        return Spread(P, widest)


def widest_at_most(paths: Sequence[tuple[FlowPath, float]], away: NDArray) -> float:
    """A bound on the `widest` of the `Spread` of these paths, infinite where it is above APART.

    A step multiplies an error by at most `radau_growth` of its matrix's logarithmic norm.
    """
    square, k = 0.0, len(away) + 1
    for path, noise in paths:
        for A, h in _steps(path):
            rounding = k * np.finfo(float).eps * float(np.linalg.norm(A))
            if not rounding < np.inf:
                return np.inf
            top = eigh(A + A.T, eigvals_only=True, subset_by_index=[k - 1, k - 1])[0]
            growth = radau_growth(h * (0.5 * float(top) + rounding))
            square = growth**2 * (square + noise**2 * (k - away.shape[1]))
            if not square <= APART**2:
                return np.inf
    return float(np.sqrt(square))


def radau_growth(x: float) -> float:
    """The largest |r(z)| with Re z <= x, r(z) = (1 + z/3) / (1 - 2z/3 + z^2/6), infinite from its
    poles' real part 2 on. No |r(B)| is larger for a matrix B of logarithmic norm x (von Neumann).

    On the line z = x + iy, where the largest lies, |r|^2 is a quotient of polynomials of y^2, and
    its derivative has one root, or y = 0.
    """
    if not x < 2.0:
        return np.inf
    n, a = (1.0 + x / 3.0) ** 2, 1.0 - 2.0 * x / 3.0 + x * x / 6.0
    b = (x * x - 4.0 * x + 2.0) / 18.0
    slope = min(n * b - a * a / 9.0, 0.0)
    s = 9.0 * (np.sqrt(n * n - 4.0 * slope) - n)
    return float(np.sqrt((n + s / 9.0) / (a * a + b * s + s * s / 36.0)))


def _steps(path: FlowPath) -> Iterator[tuple[NDArray, float]]:
    """Of each step the derivative (k, k) of the velocity over its length, and the step's length."""
    for leg in path.legs or (path,):
        field = leg.field
        if isinstance(field, GradientFlow):  # the same curve, on a clock that has a Jacobian
            field = replace(field, clock=LOG_LOSS)
        assert isinstance(leg.interpolant, Pieces)
        for a, b, dense in leg.interpolant.pieces:
            z = dense(0.5 * (a + b))
            active = (field.surfaces(z) > 0.0).astype(float)
            J, v = field.jacobian(z, active), field.velocity(z, active)
            assert J is not None
            size = float(np.linalg.norm(v))
            w = v / size
            yield (J - np.outer(w, w @ J)) / size, float(np.linalg.norm(dense(b) - dense(a)))
