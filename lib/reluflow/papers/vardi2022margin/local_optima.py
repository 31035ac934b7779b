"""Whether a point of the margin problem, or of one layer's, is a local optimum: first and second
order in every cell that meets it, for networks of any kind.

In a cell f is a polynomial. With the conditions of the closed cell, rows r.d >= 0, the point
theta is stationary if theta = sum_i lambda_i y_i grad f_i + sum mu_r r with multipliers >= 0; if it
is not, the residual points downhill. For one layer with the others held (Vardi et al. 2022, Problem
4) f is linear in the cell, and where there is one cell that decides. For all parameters the Hessian
of the Lagrangian does, on the directions that keep to first order what has a multiplier
(Ruszczynski 2011, Section 3.5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space
from scipy.optimize import nnls

from reluflow.errors import InputError
from reluflow.geometry import enumerate_cells
from reluflow.margin.kkt import KINK, TIGHT, combined, idle_units, kkt, margins
from reluflow.networks.indexed import Network, Patterns, backward
from reluflow.papers.vardi2022margin.checker import Layer, Shorter

# --- Shorter feasible parameters nearer and nearer to a point: that it is no local optimum --------

GAIN = 1e-13  # a point must be shorter by this share: rounding is a thousand times smaller
NEAR = 1e-3  # the nearest point found must be nearer than this, over |theta|
TOLD = 1e-9
"""Points so near must save more than this share: the margins of a limit are 1 up to 1e-10."""
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
    theta = np.array(theta, float)
    least = float(margins(network, theta, X, y).min())
    if not least > 0.0:
        return None
    theta[span(network, layer)] /= least ** (1.0 / (network.degree if layer is None else 1))
    return theta


def shorter(
    network: Network,
    theta: NDArray,
    X: NDArray,
    y: NDArray,
    path: Callable[[float], NDArray],
    layer: int | None = None,
    told: float = TOLD,
) -> Shorter | None:
    """Points of a path(r), r -> 0, that prove theta = path(0) no local optimum, or None.

    Parameters: theta (p,) of least margin 1, X (n, d), y (n,), a path of parameters (p,), of which
    only `layer` moves where one is given; the share that one of those near to theta must save.
    """
    where = span(network, layer)
    size, length = float(np.linalg.norm(theta)), float(theta[where] @ theta[where])
    points: list[NDArray] = []
    nearest, most = np.inf, 0.0
    for r in _STEPS:
        point = fitted(network, path(float(r)), X, y, layer)
        saved = 0.0 if point is None else 1.0 - float(point[where] @ point[where]) / length
        if point is None or saved <= GAIN:
            continue
        distance = float(np.linalg.norm(point - theta)) / size
        if 0.0 < distance <= 0.5 * nearest:
            points.append(point)
            nearest, most = distance, max(most, saved * (distance <= NEAR))
    return Shorter(np.array(points), layer) if most > told else None


# --- The cells that meet a point ------------------------------------------------------------------

CELLS = 1000  # more cells than this are not looked at


def adjacent(network: Network, theta: NDArray, X: NDArray, layer: int) -> list[list[NDArray]]:
    """Patterns of all layers in the cells that meet theta if the layers from this one on change;
    none where they are too many.

    For units of the layer itself the patterns that occur if each of their weights is free; above it
    both sides of every zero.
    """
    before = network.cosines(theta, X)
    own, choices = [h > KINK for h in before], list[tuple[int, Any, Any]]()
    inputs = [X, *(np.maximum(h, 0.0) for h in network.preactivations(theta, X))]
    for k in range(layer - 1, network.layers):
        for unit, g in enumerate(network.maps[k]):
            kinks = np.flatnonzero(np.abs(before[k][:, unit]) <= KINK)
            if k == layer - 1 and kinks.size:
                cells = enumerate_cells(inputs[k][kinks][:, g > 0])
                choices.append((k, (kinks, unit), cells.patterns))
            else:
                choices += [(k, (i, unit), (False, True)) for i in kinks.tolist()]
    few = prod(len(patterns) for *_, patterns in choices) <= CELLS
    return combined(own, choices) if few else []


def _moves(
    network: Network, theta: NDArray, X: NDArray, y: NDArray, patterns: Sequence[NDArray],
    layer: int | None,
) -> tuple[NDArray, list[NDArray]]:  # fmt: skip
    """How y_i f (n, q), and the inputs of the units of each layer with a ReLU on their own side,
    (n, h, q), change with a layer's parameters, or with all."""
    active = [np.asarray(p, float) for p in patterns] or None
    basis = np.eye(network.size)[span(network, layer)]
    turns, along = network.rates(theta, X, basis, active)
    sides = [np.where(p, 1.0, -1.0)[..., None] * np.moveaxis(turn, 0, -1)
             for p, turn in zip(patterns, turns, strict=True)]  # fmt: skip
    return y[:, None] * along.T, sides


# --- First and second order -----------------------------------------------------------------------

RESIDUAL = 1e-7  # a residual smaller than this, over |theta| or |u| of a layer, is 0
CURVED = 1e-6  # an eigenvalue of the Lagrangian's Hessian nearer than this to 0 decides nothing
TRIES = 32  # directions that are drawn for an idle unit
_ROUNDS = 200


def local_proof(
    network: Network, theta: NDArray, X: NDArray, y: NDArray, layer: int | None = None
) -> Shorter | Layer | bool:
    """A proof that theta is no local optimum of the margin problem, or none of the problem of a
    layer; where one cell meets theta a proof that it is one of the layer's, or, for all parameters,
    whether second order tells, in floats, that it is a strict one.

    Parameters: theta (p,) of least margin 1, X (n, d), y (n,), the layer from 1.
    """
    found: list[Shorter | Layer | bool] = []
    for patterns in adjacent(network, theta, X, layer or 1):
        found.append(_in_cell(network, theta, X, y, patterns, layer))
        if isinstance(found[-1], Shorter):
            return found[-1]
    if len(found) == 1 and found[0]:
        return found[0]
    return bool(layer is None and network.layers) and (_revived(network, theta, X, y) or False)


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


def _in_cell(
    network: Network, theta: NDArray, X: NDArray, y: NDArray, patterns: Sequence[NDArray],
    layer: int | None,
) -> Shorter | Layer | bool:  # fmt: skip
    """What first order, and for all parameters second order, tell in a closed cell."""
    where, active = span(network, layer), [np.asarray(p, float) for p in patterns] or None
    tight = y * network.output(theta, X, active) <= 1.0 + TIGHT
    G, turns = _moves(network, theta, X, y, patterns, layer)
    kinks = [(np.abs(h) <= KINK) & turn.any(axis=2)
             for h, turn in zip(network.cosines(theta, X), turns, strict=True)]  # fmt: skip
    rows = np.vstack([G[tight], *(turn[mask] for turn, mask in zip(turns, kinks, strict=True))])
    if not len(rows):  # of margins that hang on inputs that count as 0; SciPy ends the process
        return False
    found, residual = nnls(rows.T, theta[where])
    if residual > RESIDUAL * np.linalg.norm(theta[where]):
        down = np.zeros(network.size)
        down[where] = rows.T @ found - theta[where]
        return shorter(network, theta, X, y, lambda r: theta + r * down, layer) or False
    multipliers = np.zeros(len(y))
    multipliers[tight] = found[: tight.sum()]
    if layer is not None:
        return Layer(layer, multipliers)
    H = np.eye(network.size)
    H = H - network.turned(theta, X, multipliers * y, H, active)[0]
    held = found > TIGHT * found.max()
    space = null_space(rows[held])
    values, vectors = np.linalg.eigh(space.T @ H @ space)
    if not (values <= CURVED).any():
        return True
    for d in (space @ vectors[:, values < -CURVED]).T:
        for direction in (d, -d):
            curve = _kept(network, theta, X, y, direction, active)
            proof = shorter(network, theta, X, y, curve)
            if proof is not None:
                return proof
    return False


def _kept(
    network: Network, theta: NDArray, X: NDArray, y: NDArray, d: NDArray, active: Patterns | None
) -> Callable[[float], NDArray]:
    """r -> theta + r d + r^2 e in a cell: to second order the margins of 1 stay together."""
    tight = y * network.output(theta, X, active) <= 1.0 + TIGHT
    J = (y[:, None] * network.rates(theta, X, np.eye(network.size), active)[1].T)[tight]
    bent = [y[k] * (d @ network.turned(theta, X, np.eye(len(X))[k], d, active)[0])
            for k in np.flatnonzero(tight).tolist()]  # fmt: skip
    e = -0.5 * np.linalg.lstsq(J, np.array(bent), rcond=None)[0]
    return lambda r: theta + r * (d + r * e)
