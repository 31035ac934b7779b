"""First and second order in every cell that meets a point, for networks of any kind.

In a cell f is a polynomial. With the conditions of the closed cell, rows r.d >= 0, the point
theta is stationary if theta = sum_i lambda_i y_i grad f_i + sum mu_r r with multipliers >= 0; if it
is not, the residual points downhill. If it is, the Hessian of the Lagrangian decides, on the
directions that keep to first order what has a multiplier (Ruszczynski 2011, Section 3.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import nnls

from reluflow.margin.certificates import SecondOrder, Shorter
from reluflow.margin.curves import parabola, shorter
from reluflow.margin.problem import KINK, TIGHT
from reluflow.networks.indexed import Network, Patterns

RESIDUAL = 1e-7
"""A residual smaller than this, over |theta|, is 0."""
CURVED = 1e-6
"""An eigenvalue of the Lagrangian's Hessian nearer than this to 0 decides nothing."""
CELLS = 512
"""More cells than this are not looked at."""
_ROUNDS = 200


def second_order(
    network: Network, theta: NDArray, X: NDArray, y: NDArray
) -> Shorter | SecondOrder | None:
    """A proof that theta is no local optimum, or a strict one; None where there is neither.

    Parameters: theta (p,) of least margin 1, X (n, d), y (n,).
    """
    cells = _cells(network, theta, X)
    strict = None
    for patterns, kinks in cells:
        found = _in_cell(network, theta, X, y, patterns, kinks)
        if isinstance(found, Shorter):
            return found
        strict = found
    return strict if len(cells) == 1 else None


def _cells(
    network: Network, theta: NDArray, X: NDArray
) -> list[tuple[list[NDArray], list[NDArray]]]:
    """Patterns around theta, both sides of every zero input, with the places of the zeros."""
    before = network.cosines(theta, X)
    own = [h > KINK for h in before]
    kinks = [np.abs(h) <= KINK for h in before]
    places = [(k, *at) for k, mask in enumerate(kinks) for at in np.argwhere(mask).tolist()]
    if 2 ** len(places) > CELLS:
        return []
    found = []
    for sides in product([False, True], repeat=len(places)):
        patterns = [a.copy() for a in own]
        for (k, datum, unit), side in zip(places, sides, strict=True):
            patterns[k][datum, unit] = side
        found.append((patterns, kinks))
    return found


def _in_cell(
    network: Network,
    theta: NDArray,
    X: NDArray,
    y: NDArray,
    patterns: Sequence[NDArray],
    kinks: Sequence[NDArray],
) -> Shorter | SecondOrder | None:
    active = [np.asarray(p, float) for p in patterns] or None
    tight = y * network.output(theta, X, active) <= 1.0 + TIGHT
    turns, along = network.rates(theta, X, np.eye(network.size), active)
    J = (y[:, None] * along.T)[tight]
    R = np.vstack([np.zeros((0, network.size)), *(
        (np.where(p, 1.0, -1.0)[..., None] * np.moveaxis(turn, 0, -1))[mask]
        for p, turn, mask in zip(patterns, turns, kinks, strict=True))])  # fmt: skip
    R = R[R.any(axis=1)]
    rows = np.vstack([J, R])
    multipliers, residual = nnls(rows.T, theta)
    if residual > RESIDUAL * np.linalg.norm(theta):
        down = rows.T @ multipliers - theta
        return shorter(network, theta, X, y, parabola(theta, down, 0.0 * down))
    weights = np.zeros(len(y))
    weights[tight] = multipliers[: len(J)]
    H = np.eye(network.size) - np.array([
        network.hessian_product(theta, X, weights * y, v, active) for v in np.eye(network.size)
    ])  # fmt: skip
    held = rows[multipliers > TIGHT * multipliers.max()]
    space = null_space(held) if len(held) else np.eye(network.size)
    values, vectors = np.linalg.eigh(space.T @ H @ space)
    if not len(values):
        return SecondOrder(weights, np.inf)
    if values[0] > CURVED:
        return SecondOrder(weights, float(values[0]))
    free = rows[multipliers <= TIGHT * multipliers.max()]
    for d in (space @ vectors[:, values < -CURVED]).T:
        for sign in (1.0, -1.0):
            direction = _within(space, H, free, sign * d)
            if direction @ H @ direction < -CURVED * (direction @ direction):
                bent = [
                    _bend(network, theta, X, k, direction, active)
                    for k in np.flatnonzero(tight).tolist()
                ]
                # To second order the margins stay together along theta + r d + r^2 e.
                e = -0.5 * np.linalg.lstsq(J, y[tight] * bent, rcond=None)[0]
                found = shorter(network, theta, X, y, parabola(theta, direction, e))
                if found is not None:
                    return found
    return None


def _bend(
    network: Network, theta: NDArray, X: NDArray, k: int, d: NDArray, active: Patterns | None
) -> float:
    """d.Hess f(theta; x_k) d in a cell."""
    return float(d @ network.hessian_product(theta, X, np.eye(len(X))[k], d, active))


def _within(space: NDArray, H: NDArray, rows: NDArray, d: NDArray) -> NDArray:
    """A direction d of the cone rows.d >= 0 in a space along which d.H d is small: projected
    power iteration from d."""
    if not len(rows) or np.all(rows @ d >= -1e-12):
        return d
    P, G = space @ space.T, rows @ space
    shift = float(np.abs(H).sum(axis=1).max())
    for _ in range(_ROUNDS):
        d = P @ (shift * d - H @ d)
        # The nearest point of the cone: subtract the part that the conditions hold back.
        multipliers, _ = nnls(G.T, -(space.T @ d))
        d = d + space @ (G.T @ multipliers)
        size = float(np.linalg.norm(d))
        if size < 1e-12:
            return np.zeros(len(d))
        d = d / size
    return d
