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
from scipy.linalg import lstsq

from reluflow.errors import InputError
from reluflow.margin.kkt import KINK, idle_units, kkt, margins, scaled
from reluflow.margin.max_margin import least_length
from reluflow.networks.indexed import Network

# --- From a point near a KKT point of the margin problem to it: Levenberg and Marquardt -----------
#
# In one cell, and with a set A of data whose margin is 1, the conditions are the smooth equations
#
#     theta = sum_A lambda_i y_i grad f(theta; x_i),    y_i f(theta; x_i) = 1 for i in A,
#
# and for a unit that stays on its kink, with a factor mu in place of its derivative, h(theta) = 0.
# Where they leave a manifold of solutions (rotations of hidden layers) the damping, which is the
# residual's size, keeps the steps from running along it, and they still converge quadratically
# (Fan & Yuan 2005).

_STEPS = 100
_PATIENCE = 20  # steps in which the residual must halve
_DONE = 1e-15
_ROUNDING = 1e-11  # a residual smaller than this that does not fall any more is all rounding
_SOLVED = 1e-10  # a residual up to this solves the equations
_CARRIES = 1e-6  # a smaller share of the multipliers is none
_RANK = 1e-10
_VANISHES = 1e-8
"""A parameter smaller than this, over |theta|, is 0 in the limit, if the equations allow that."""

Kink = tuple[int, int, int]
"""Layer from 0, datum, unit."""


@dataclass(frozen=True)
class Stationary:
    """A solution of the equations: theta (p,), multipliers (n,), patterns with the factors of the
    kinks, and the residual of all equations over |theta|."""

    theta: NDArray
    multipliers: NDArray
    patterns: list[NDArray]
    residual: float


def polished(
    network: Network,
    theta: NDArray,
    multipliers: NDArray,
    X: NDArray,
    y: NDArray,
    active: NDArray,
    patterns: list[NDArray],
    kinks: list[Kink],
) -> Stationary:
    """The solution next to theta (p,) of least margin 1 and multipliers (n,), feasible or not.

    active    (n,) booleans, the data of margin 1
    patterns  (n, h_l) for each layer, with first factors at the kinks
    kinks     the units that stay on their kink, in one layer
    """
    system = _System(network, X, y, np.flatnonzero(active), [m.astype(float) for m in patterns],
                     kinks)  # fmt: skip
    found = _solved(system, theta, multipliers)
    if found.residual <= _SOLVED or kinks:
        return found
    # More margins are asked to be 1 than can be at once: those that carry theta will do.
    on = np.flatnonzero(active)
    sides = [mask[on].astype(float) for mask in patterns]
    tangents = y[on, None] * network.rates(theta, X[on], np.eye(network.size), sides)[1].T
    margins = y * network.output(theta, X, patterns)
    shares = np.zeros(len(X))
    try:
        shares[on] = least_length(tangents, 1.0 - margins[on] + tangents @ theta).multipliers
    except ArithmeticError:
        return found
    carry = np.flatnonzero(shares > _CARRIES * shares.max())
    if np.array_equal(carry, on):
        return found
    less = _solved(replace(system, on=carry), theta, shares)
    return less if less.residual <= _SOLVED else found


def _solved(system: _System, theta: NDArray, multipliers: NDArray) -> Stationary:
    """The solution next to theta, or where the steps come to no solution."""
    factors = [system.patterns[k][i, j] for k, i, j in system.kinks]
    z = np.concatenate([theta, multipliers[system.on], factors])
    size = np.linalg.norm(theta)
    F, J = system.at(z)
    left = np.linalg.norm(F) / size
    best, since = left, 0
    for _ in range(_STEPS):
        damping = np.sqrt(left) * np.eye(len(z))
        step = -lstsq(np.vstack([J, damping]), np.append(F, np.zeros(len(z))), cond=_RANK,
                      lapack_driver="gelsy", check_finite=False)[0]  # fmt: skip
        z = z + step
        F, J = system.at(z)
        before, left = left, np.linalg.norm(F) / size
        if not np.isfinite(left) or left <= _DONE or (left <= _ROUNDING and left > 0.5 * before):
            break
        best, since = (left, 0) if left < 0.5 * best else (best, since + 1)
        if since > _PATIENCE:  # too many margins are asked to be 1
            break
    small = np.abs(z[: len(theta)]) <= _VANISHES * np.linalg.norm(z[: len(theta)])
    bare = z.copy()
    bare[: len(theta)][small] = 0.0
    F_bare = system.at(bare)[0]
    if np.linalg.norm(F_bare) <= max(2.0 * np.linalg.norm(F), 1e-13 * size):
        z, F = bare, F_bare
    p, multipliers = len(theta), np.zeros(len(system.X))
    multipliers[system.on] = z[p : p + len(system.on)]
    size = np.linalg.norm(z[:p])
    residual = float(np.linalg.norm(F) / size) if size > 0.0 else np.inf
    return Stationary(z[:p], multipliers, system.mixed(z), residual)


@dataclass(frozen=True)
class _System:
    """The equations and their derivative in z = (theta, lambda on `on`, mu on `kinks`)."""

    network: Network
    X: NDArray
    y: NDArray
    on: NDArray
    patterns: list[NDArray]
    kinks: list[Kink]

    def mixed(self, z: NDArray) -> list[NDArray]:
        """The patterns with the factors in z."""
        found = [mask.copy() for mask in self.patterns]
        for (layer, i, j), mu in zip(self.kinks, z[len(z) - len(self.kinks) :], strict=True):
            found[layer][i, j] = mu
        return found

    def at(self, z: NDArray) -> tuple[NDArray, NDArray]:
        """The equations' left sides less right sides, and their derivative."""
        network, on = self.network, self.on
        X, y, p, a = self.X[on], self.y[on], network.size, len(on)
        theta, c = z[:p], z[p : p + a] * y
        patterns = self.mixed(z)
        sides = [mask[on] for mask in patterns]
        bend, moves = network.turned(theta, X, c, np.eye(p), sides)
        tangents = y[:, None] * moves.T
        outputs = y * network.output(theta, X, sides)
        rows = [np.hstack([np.eye(p) - bend.T, -tangents.T])]
        rows.append(np.hstack([tangents, np.zeros((a, a))]))
        F = [theta - z[p : p + a] @ tangents, outputs - 1.0]
        if self.kinks:
            forms = network.rates(theta, self.X, np.eye(p), patterns)[0]
            values = network.preactivations(theta, self.X)
            pulls = np.zeros(len(self.X))
            pulls[on] = c
            F.append(np.array([values[k][i, j] for k, i, j in self.kinks]))
            slopes = np.array([forms[k][:, i, j] for k, i, j in self.kinks])
            rows.append(np.hstack([slopes, np.zeros((len(slopes), a))]))
            columns = np.zeros((len(F[0]) + a + len(self.kinks), len(self.kinks)))
            for number, (k, i, j) in enumerate(self.kinks):
                ends = []
                for side in (0.0, 1.0):
                    both = [mask.copy() for mask in patterns]
                    both[k][i, j] = side
                    ends.append(network.gradient(theta, self.X, pulls, both))
                columns[:p, number] = ends[0] - ends[1]
            return np.concatenate(F), np.hstack([np.vstack(rows), columns])
        return np.concatenate(F), np.vstack(rows)


RESIDUAL = 1e-9  # the largest KKT residual of a limit
FEASIBLE = 1e-9  # a margin of a limit may be smaller than 1 by this
NEAR = 0.3  # the flow's end may be no farther in direction from its limit
SLOWEST = 0.5  # the error must shrink at this share of the expected rate, at least
SHARE = 1e-6
"""A datum with a smaller share of the pulls at the flow's end has no multiplier, at first."""
ROUNDING = 1e-13  # weights, over |theta|, that need not shrink
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
    theta, end = found.theta, trail[-1]
    if not (np.isfinite(theta).all() and found.residual <= RESIDUAL):
        return "the equations of a KKT point were not solved"
    if not (margins(network, theta, X, y) >= 1.0 - FEASIBLE).all():
        return "the polished point is not feasible"
    if (found.multipliers < 0.0).any():
        return "a multiplier of the polished point is negative"
    try:
        residual = kkt(network, theta, X, y).residual
    except InputError as reason:
        return str(reason)
    if not residual <= RESIDUAL:
        return "the polished point is no KKT point"
    here, there = network.cosines(theta, X), network.cosines(end.u, X)
    for h, flow, idle in zip(here, there, idle_units(network, theta), strict=True):
        if ((np.abs(h) > KINK) & (np.sign(h) != np.sign(flow)) & ~idle).any():
            return "the polished point lies in another cell"
    unit = theta / np.linalg.norm(theta)
    before, error = (float(np.linalg.norm(seen.u - unit)) for seen in trail[-2:])
    if not error <= NEAR:
        return "the flow's end is far from the polished point"
    shares = found.multipliers / found.multipliers.sum()
    if np.abs(end.pulls - shares).max() > PULLS * error + exact:
        return "the pulls of the data are not as the multipliers"
    if error <= exact:
        return ""
    kappa = growth(network, X, y, end.u, found)
    expected = min(float(network.degree), 1.0, 1.0 - kappa)
    shrunk = np.exp(-SLOWEST * expected * (end.rho - trail[-2].rho))
    if not (kappa < 1.0 and error <= shrunk * before):
        return "the flow does not come nearer to the polished point at the expected rate"
    for own in vanishing(network, theta):
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
    H, _ = network.turned(many, X, found.multipliers * y, basis, patterns or None)
    return float(np.linalg.eigvalsh(H[:, mask])[-1])
