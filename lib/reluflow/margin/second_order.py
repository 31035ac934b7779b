"""First and second order in every cell that meets a point, for networks of any kind.

In a cell f is a polynomial. With the conditions of the closed cell, rows r.d >= 0, the point
theta is stationary if theta = sum_i lambda_i y_i grad f_i + sum mu_r r with multipliers >= 0; if it
is not, the residual points downhill. If it is, the Hessian of the Lagrangian decides, on the
directions that keep to first order what has a multiplier (Ruszczynski 2011, Section 3.5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space
from scipy.optimize import nnls

from reluflow.errors import InputError
from reluflow.margin.certificates import SecondOrder, Shorter
from reluflow.margin.kkt import KINK, TIGHT, combined, idle_units, kkt, margins, scaled
from reluflow.networks.indexed import Network, Patterns, backward

# --- Shorter feasible parameters nearer and nearer to a point: that it is no local optimum --------

GAIN = 1e-13  # a point must be shorter by this share: rounding is a thousand times smaller
NEAR = 1e-3  # the nearest point found must be nearer than this, over |theta|
_STEPS = 4.0 ** -np.arange(0.0, 22.0)


def span(network: Network, layer: int | None) -> slice:
    """Where the parameters of one layer, counted from 1, stand in theta; all of them for None."""
    if layer is None:
        return slice(0, network.size)
    if not 1 <= layer <= network.degree:
        raise InputError(f"layer must be from 1 to {network.degree}, not {layer}.")
    first = sum(network.sizes[: layer - 1])
    return slice(first, first + network.sizes[layer - 1])


def fitted(
    network: Network, theta: ArrayLike, X: NDArray, y: NDArray, layer: int | None
) -> NDArray | None:
    """theta, or one layer of it, times the number that makes the least margin 1; None where some
    datum is not classified correctly.

    The network is homogeneous of degree 1 in a layer, and of the depth m in all of them.
    """
    if layer is None:
        try:
            return scaled(network, theta, X, y)
        except InputError:
            return None
    theta = np.array(theta, float)
    least = float(margins(network, theta, X, y).min())
    if not least > 0.0:
        return None
    theta[span(network, layer)] /= least
    return theta


def shorter(
    network: Network,
    theta: NDArray,
    X: NDArray,
    y: NDArray,
    path: Callable[[float], NDArray],
    layer: int | None = None,
) -> Shorter | None:
    """Points of a path(r), r -> 0, that prove theta = path(0) no local optimum, or None.

    Parameters: theta (p,) of least margin 1, X (n, d), y (n,), a path of parameters (p,), of which
    only `layer` moves where one is given.
    """
    where = span(network, layer)
    size, length = float(np.linalg.norm(theta)), float(theta[where] @ theta[where])
    points: list[NDArray] = []
    distances: list[float] = []
    for r in _STEPS:
        point = fitted(network, path(float(r)), X, y, layer)
        if point is None or point[where] @ point[where] >= length * (1.0 - GAIN):
            continue
        distance = float(np.linalg.norm(point - theta)) / size
        if not distances or 0.0 < distance <= 0.5 * distances[-1]:
            points.append(point)
            distances.append(distance)
    if not distances or distances[-1] > NEAR:
        return None
    return Shorter(np.array(points), np.array(distances), layer)


RESIDUAL = 1e-7  # a residual smaller than this, over |theta|, is 0
CURVED = 1e-6  # an eigenvalue of the Lagrangian's Hessian nearer than this to 0 decides nothing
CELLS = 512  # more cells than this are not looked at
TRIES = 32  # directions that are drawn for an idle unit
_ROUNDS = 200


def second_order(
    network: Network, theta: NDArray, X: NDArray, y: NDArray
) -> Shorter | SecondOrder | None:
    """A proof that theta is no local optimum, or a strict one; None where there is neither.

    Parameters: theta (p,) of least margin 1, X (n, d), y (n,).
    """
    cosines = network.cosines(theta, X)
    own, kinks = [h > KINK for h in cosines], [np.abs(h) <= KINK for h in cosines]
    cells, strict = _cells(own, kinks), None
    for patterns in cells:
        found = _in_cell(network, theta, X, y, patterns, kinks)
        if isinstance(found, Shorter):
            return found
        strict = found
    if len(cells) == 1 and strict is not None:
        return strict
    return _revived(network, theta, X, y)


def _revived(network: Network, theta: NDArray, X: NDArray, y: NDArray) -> Shorter | None:
    """A curve on which one idle unit takes over a part of some data, or None.

    With weights r w behind the unit's inputs z_i and r v before the next layer, |w| = |v| = 1, a
    unit gains r^2 times

        Q(w) = | sum_i delta_i [w.z_i]_+ |

    in sum_i lambda_i y_i f(theta; x_i), delta_i its derivatives by the next layer's inputs, and
    costs r^2 in |theta|^2 / 2. If Q(w) > 1 the curve whose other weights keep the margins at 1 goes
    downhill. Q is climbed from each datum and from draws that are the same each time.
    """
    try:
        found = kkt(network, theta, X, y)
    except InputError:
        return None
    W, factors = network.weights(theta), list(found.factors)
    deltas = backward(W, factors, (found.multipliers * y)[:, None])
    inputs = [X, *(np.maximum(h, 0.0) for h in network.preactivations(theta, X))]
    own = [factor > 0.5 for factor in factors]
    for layer, idle in enumerate(idle_units(network, theta)):
        for unit in np.flatnonzero(idle).tolist():
            z = inputs[layer] * (network.maps[layer][unit] > 0)
            delta = deltas[layer + 1] * (network.maps[layer + 1][:, unit] > 0)
            w, v = _climbed(z, delta)
            if np.linalg.norm(delta.T @ np.maximum(z @ w, 0.0)) <= 1.0 + CURVED:
                continue
            matrices = [np.zeros(g.shape) for g in network.maps]
            matrices[layer][unit], matrices[layer + 1][:, unit] = w, v
            active = [mask.copy() for mask in own]
            active[layer][:, unit] = z @ w > 0.0
            curve = _kept(network, theta, X, y, network.parameters(matrices), active)
            proof = shorter(network, theta, X, y, curve)
            if proof is not None:
                return proof
    return None


def _climbed(z: NDArray, delta: NDArray) -> tuple[NDArray, NDArray]:
    """The unit vector w (q,) of the largest Q(w) met, and v along sum_i delta_i [w.z_i]_+."""
    rng = np.random.default_rng(0)
    w = np.vstack([z, -z, rng.normal(size=(TRIES, z.shape[1])) * z.any(axis=0)])
    best, most = np.zeros(z.shape[1]), 0.0
    for _ in range(_ROUNDS):
        w = w / np.maximum(np.linalg.norm(w, axis=1, keepdims=True), 1e-300)
        h = w @ z.T
        v = np.maximum(h, 0.0) @ delta
        sizes = np.linalg.norm(v, axis=1)
        if sizes.max() > most:
            best, most = w[sizes.argmax()], float(sizes.max())
        v /= np.maximum(sizes[:, None], 1e-300)
        w = w * sizes[:, None] + ((v @ delta.T) * (h > 0.0)) @ z
    v = np.maximum(z @ best, 0.0) @ delta
    return best, v / max(float(np.linalg.norm(v)), 1e-300)


def _cells(own: list[NDArray], kinks: list[NDArray]) -> list[list[NDArray]]:
    """Patterns around theta, both sides of every zero input; none where they are too many."""
    places = [(k, (i, j), (False, True)) for k, mask in enumerate(kinks)
              for i, j in np.argwhere(mask).tolist()]  # fmt: skip
    return combined(own, places) if 2 ** len(places) <= CELLS else []


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
        return shorter(network, theta, X, y, lambda r: theta + r * down)
    weights = np.zeros(len(y))
    weights[tight] = multipliers[: len(J)]
    H = np.eye(network.size)
    H = H - network.hessian_product(theta, X, weights * y, H, active)
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
                curve = _kept(network, theta, X, y, direction, active)
                found = shorter(network, theta, X, y, curve)
                if found is not None:
                    return found
    return None


def _kept(
    network: Network, theta: NDArray, X: NDArray, y: NDArray, d: NDArray, active: Patterns | None
) -> Callable[[float], NDArray]:
    """r -> theta + r d + r^2 e in a cell: to second order the margins of 1 stay together."""
    tight = y * network.output(theta, X, active) <= 1.0 + TIGHT
    J = (y[:, None] * network.rates(theta, X, np.eye(network.size), active)[1].T)[tight]
    bent = [y[k] * (d @ network.hessian_product(theta, X, np.eye(len(X))[k], d, active))
            for k in np.flatnonzero(tight).tolist()]  # fmt: skip
    e = -0.5 * np.linalg.lstsq(J, np.array(bent), rcond=None)[0]
    return lambda r: theta + r * (d + r * e)


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
