"""Whether a KKT point next to a flow's end is the limit of its direction: the flow's own word.

A point is found by solving the KKT equations from a state of the flow (`candidate`). It is the
limit only if the flow comes nearer to it at the rate that theory expects (`doubt`): the error is a
sum of terms of order |theta|^-m (the balance of margins), |theta|^-2 (layers that are not
balanced), |theta|^-1 (units that stay bounded) and |theta|^(kappa - 1) (units that grow slower).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError
from reluflow.margin.kkt import idle_units, kkt
from reluflow.margin.polish import Kink, Stationary, polished
from reluflow.margin.problem import KINK, margins, scaled
from reluflow.networks.indexed import Network

RESIDUAL = 1e-9
"""The largest KKT residual of a limit."""
FEASIBLE = 1e-9
"""A margin of a limit may be smaller than 1 by this."""
NEAR = 0.3
"""The flow's end may be no farther in direction from its limit."""
SLOWEST = 0.5
"""The error must shrink at this share of the expected rate, at least."""
SHARE = 1e-6
"""A datum with a smaller share of the pulls at the flow's end has no multiplier, at first."""
ROUNDING = 1e-13
"""Weights, over |theta|, that need not shrink."""
PULLS = 10.0
"""Shares of the pulls differ from those of the multipliers by so many times the error, at most."""


@dataclass(frozen=True)
class Seen:
    """A state of a flow: the direction u (p,), rho = log |theta| and the pulls' shares (n,)."""

    u: NDArray
    rho: float
    pulls: NDArray


def candidate(
    network: Network, X: NDArray, y: NDArray, seen: Seen, at_zero: float = 0.0
) -> Stationary:
    """The solution of the KKT equations next to a state of the flow.

    Data leave and enter the set of margin 1 where a multiplier is negative, or a margin too small.
    """
    # f is homogeneous of degree 1 in the data: in this unit of theirs |theta| is about 1.
    unit = float(margins(network, seen.u, X, y).min())
    X, length = X / unit, unit ** (-1.0 / network.degree)
    theta = scaled(network, seen.u, X, y)
    multipliers = seen.pulls * (theta @ theta) / network.degree
    cosines = network.cosines(theta, X)
    patterns = [(h > 0.0).astype(float) for h in cosines]
    kinks: list[Kink] = []
    for layer, (h, idle) in enumerate(zip(cosines, idle_units(network, theta), strict=True)):
        on = (np.abs(h) <= KINK) & ~idle
        patterns[layer][on] = at_zero
        kinks += [(layer, i, j) for i, j in np.argwhere(on).tolist()]
    active = seen.pulls >= SHARE
    for _ in range(2 * len(X)):
        found = polished(network, theta, multipliers, X, y, active, patterns, kinks)
        if not np.isfinite(found.theta).all():
            break
        short = y * network.output(found.theta, X, found.patterns) < 1.0 - FEASIBLE
        if (found.multipliers < 0.0).any():
            active = active & (np.arange(len(X)) != np.argmin(found.multipliers))
        elif (short & ~active).any():
            active = active | short
        else:
            break
        if not active.any():
            break
    return replace(found, theta=length * found.theta, multipliers=length**2 * found.multipliers)


def doubt(
    network: Network, X: NDArray, y: NDArray, trail: Sequence[Seen], found: Stationary, exact: float
) -> str:
    """Why a candidate is not taken for the limit of a flow; nothing where it is.

    trail  states of the flow, the last two of which tell the rate
    exact  an error below which a direction need not come nearer
    """
    return _no_kkt_point(network, X, y, trail[-1], found) or _no_limit(
        network, X, y, trail, found, exact
    )


def _no_kkt_point(network: Network, X: NDArray, y: NDArray, end: Seen, found: Stationary) -> str:
    theta = found.theta
    if not (np.isfinite(theta).all() and found.residual <= RESIDUAL):
        return "the equations of a KKT point were not solved"
    if not (margins(network, theta, X, y) >= 1.0 - FEASIBLE).all():
        return "the polished point is not feasible"
    if (found.multipliers < 0.0).any():
        return "a multiplier of the polished point is negative"
    try:
        residual = kkt(network, theta, X, y).residual
    except InputError as error:
        return str(error)
    if not residual <= RESIDUAL:
        return "the polished point is no KKT point"
    here, there = network.cosines(theta, X), network.cosines(end.u, X)
    for h, flow, idle in zip(here, there, idle_units(network, theta), strict=True):
        if ((np.abs(h) > KINK) & (np.sign(h) != np.sign(flow)) & ~idle).any():
            return "the polished point lies in another cell"
    return ""


def _no_limit(
    network: Network, X: NDArray, y: NDArray, trail: Sequence[Seen], found: Stationary, exact: float
) -> str:
    unit = found.theta / np.linalg.norm(found.theta)
    before, error = (float(np.linalg.norm(seen.u - unit)) for seen in trail[-2:])
    if not error <= NEAR:
        return "the flow's end is far from the polished point"
    shares = found.multipliers / found.multipliers.sum()
    if np.abs(trail[-1].pulls - shares).max() > PULLS * error + exact:
        return "the pulls of the data are not as the multipliers"
    if error <= exact:
        return ""
    kappa = growth(network, X, y, trail[-1].u, found)
    expected = min(float(network.degree), 1.0, 1.0 - kappa)
    shrunk = np.exp(-SLOWEST * expected * (trail[-1].rho - trail[-2].rho))
    if not (kappa < 1.0 and error <= shrunk * before):
        return "the flow does not come nearer to the polished point at the expected rate"
    for own in vanishing(network, found.theta):
        first, last = (float(np.linalg.norm(seen.u[own])) for seen in trail[-2:])
        if last > shrunk * first + ROUNDING:
            return "a unit that is 0 in the polished point does not shrink at the expected rate"
    return ""


def vanishing(network: Network, theta: NDArray) -> list[NDArray]:
    """The parameters, booleans (p,), of each hidden unit all of whose weights are 0 in theta."""
    found, W = [], network.weights(theta)
    for layer, (into, out) in enumerate(pairwise(W)):
        for unit in np.flatnonzero(~into.any(axis=1) & ~out.any(axis=0)).tolist():
            own = [np.zeros(g.shape) for g in network.maps]
            own[layer][unit] = 1.0
            own[layer + 1][:, unit] = 1.0
            found.append((network.parameters(own) > 0.0) & (theta == 0.0))
    return found


def growth(network: Network, X: NDArray, y: NDArray, u: NDArray, found: Stationary) -> float:
    """The largest kappa with which vanishing units grow, |theta|^kappa; 0 without one.

    It is the largest eigenvalue of the Hessian of sum_i lambda_i y_i f(theta; x_i) in the weights
    of the units that vanish, with the activity that the flow's direction u gives them.
    """
    theta = found.theta
    mask = np.any([np.zeros(network.size, bool), *vanishing(network, theta)], axis=0)
    if not mask.any():
        return 0.0
    patterns = [h > 0.0 for h in network.cosines(u, X)]
    basis = np.eye(network.size)[mask]
    many = np.tile(theta, (len(basis), 1))
    H = network.hessian_product(many, X, found.multipliers * y, basis, patterns or None)
    return float(np.linalg.eigvalsh(H[:, mask])[-1])
