"""From a point near a KKT point of the margin problem to that point: Levenberg and Marquardt.

In one cell, and with a set A of data whose margin is 1, the conditions are the smooth equations

    theta = sum_A lambda_i y_i grad f(theta; x_i),    y_i f(theta; x_i) = 1 for i in A,

and for a unit that stays on its kink, with a factor mu in place of its derivative, h(theta) = 0.
Where they leave a manifold of solutions (rotations of hidden layers) the damping, which is the
residual's size, keeps the steps from running along it, and they still converge quadratically
(Fan & Yuan 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq

from reluflow.margin.programs import least_length
from reluflow.networks.indexed import Network

_STEPS = 100
_PATIENCE = 20
"""Steps in which the residual must halve."""
_DONE = 1e-15
_ROUNDING = 1e-11
"""A residual smaller than this that does not fall any more is all rounding."""
_SOLVED, _SHORT = 1e-10, 1e-10
"""A residual up to this solves the equations; a margin that is so much less than 1 is too small."""
_SETS, _CARRIES = 20, 1e-6
"""Sets of data that carry theta which are tried; a smaller share of the multipliers is none."""
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
    """The solution next to theta (p,) of least margin 1 and multipliers (n,).

    active    (n,) booleans, the data of margin 1
    patterns  (n, h_l) for each layer, with first factors at the kinks
    kinks     the units that stay on their kink, in one layer
    """
    found = _solved(network, theta, multipliers, X, y, active, patterns, kinks)
    if found.residual <= _SOLVED or kinks:
        return found
    # More margins are asked to be 1 than can be at once: those that carry theta will do.
    at, seen = theta, {active.tobytes()}
    for _ in range(_SETS):
        on = np.flatnonzero(active)
        sides = [mask[on].astype(float) for mask in patterns]
        tangents = y[on, None] * network.rates(at, X[on], np.eye(network.size), sides)[1].T
        margins = y * network.output(at, X, patterns)
        shares = np.zeros(len(X))
        try:
            shares[on] = least_length(tangents, 1.0 - margins[on] + tangents @ at).multipliers
        except ArithmeticError:
            return found
        carry = shares > _CARRIES * shares.max()
        if carry.tobytes() in seen:
            return found
        seen.add(carry.tobytes())
        less = _solved(network, at, shares, X, y, carry, patterns, kinks)
        if not less.residual <= _SOLVED:
            return found
        margins = y * network.output(less.theta, X, less.patterns)
        if (margins[on] >= 1.0 - _SHORT).all() and (less.multipliers >= 0.0).all():
            return less
        at = less.theta
    return found


def _solved(
    network: Network,
    theta: NDArray,
    multipliers: NDArray,
    X: NDArray,
    y: NDArray,
    active: NDArray,
    patterns: list[NDArray],
    kinks: list[Kink],
) -> Stationary:
    """The solution next to theta, or where the steps come to no solution."""
    system = _System(network, X, y, np.flatnonzero(active), [m.astype(float) for m in patterns],
                     kinks)  # fmt: skip
    z = np.concatenate([theta, multipliers[active], [patterns[k][i, j] for k, i, j in kinks]])
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
    return system.solution(z, F)


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
        tangents = y[:, None] * network.rates(theta, X, np.eye(p), sides)[1].T
        bend = network.hessian_product(theta, X, c, np.eye(p), sides).T
        outputs = y * network.output(theta, X, sides)
        rows = [np.hstack([np.eye(p) - bend, -tangents.T])]
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

    def solution(self, z: NDArray, F: NDArray) -> Stationary:
        p = self.network.size
        multipliers = np.zeros(len(self.X))
        multipliers[self.on] = z[p : p + len(self.on)]
        size = np.linalg.norm(z[:p])
        residual = float(np.linalg.norm(F) / size) if size > 0.0 else np.inf
        return Stationary(z[:p], multipliers, self.mixed(z), residual)
