"""The KKT conditions of the margin problem, with Clarke's subdifferential (Vardi et al. 2022, B).

theta of least margin 1 is a KKT point of min |theta|^2 / 2, y_i f(theta; x_i) >= 1, if

    theta = sum_i lambda_i y_i g_i,    lambda_i >= 0,  lambda_i = 0 unless y_i f(theta; x_i) = 1,

with g_i in the subdifferential of f(.; x_i): the hull of the gradients in the cells around theta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from reluflow.errors import InputError
from reluflow.geometry import enumerate_cells
from reluflow.margin.max_margin import sized
from reluflow.networks.indexed import Network

# --- Problem (2) of Vardi et al. 2022: min |theta|^2 / 2, all y_i f(theta; x_i) >= 1 --------------
#
# f is homogeneous of the network's depth m, so a direction has one feasible point of least length,
# the one whose smallest margin is 1. What it costs is a function of the direction alone.

KINK = 1e-9  # a unit's input this small, as a cosine, is 0
TIGHT = 1e-7  # a margin nearer than this to 1 is 1


def margins(network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike) -> NDArray:
    """y_i f(theta; x_i), shape (..., n), for theta (..., p), X (n, d), labels y (n,) of +-1."""
    return np.asarray(y, float) * network.output(theta, X)


def scaled(network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike) -> NDArray:
    """theta / (min_i y_i f(theta; x_i))^(1/m): the multiple of theta whose least margin is 1.

    Parameters: theta (p,), X (n, d), y (n,). Returns (p,).
    Raises InputError unless theta classifies every datum correctly, and as `sized`.
    """
    X = sized(X)
    # The direction first: a margin of m factors under- or overflows long before theta does.
    theta = np.asarray(theta, float)
    direction = theta / (np.abs(theta).max(initial=0.0) or 1.0)
    least = float(margins(network, direction, X, y).min())
    if not least > 0.0:
        raise InputError("theta must classify every datum correctly, y_i f(theta; x_i) > 0.")
    return direction / least ** (1.0 / network.degree)


_RANK = 1e-9
_MOST = 4096


@dataclass(frozen=True)
class KKT:
    """How near a point is to the KKT conditions.

    theta        (p,) the point, scaled to the least margin 1
    residual     its distance, over |theta|, from the cone of the subdifferentials of the data whose
                 margin is 1
    multipliers  (n,) the lambda_i of the nearest point of that cone
    factors      the derivative of every ReLU in that point, (n, h_l) for each layer: 0 or 1 off the
                 kinks, between them on a kink
    margins      (n,) y_i f(theta; x_i)
    """

    theta: NDArray
    residual: float
    multipliers: NDArray
    factors: tuple[NDArray, ...]
    margins: NDArray


def kkt(network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike) -> KKT:
    """The KKT residual of theta's direction in Problem (2), by nonnegative least squares.

    Parameters: theta (p,) of any length, X (n, d), y (n,) of +-1. Returns `KKT`.
    Raises InputError for a theta that does not classify every datum correctly, and where one datum
    lies on so many kinks that its cells cannot be listed.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    point = scaled(network, theta, X, y)
    found = margins(network, point, X, y)
    columns, owners, sides = [np.zeros((0, len(point)))], [], []
    for i in np.flatnonzero(found <= 1.0 + TIGHT).tolist():
        around = cells(network, point, X[i])
        lifted = [np.array(layer)[:, None] for layer in zip(*around, strict=True)]
        many = np.tile(point, (len(around), 1))
        columns.append(network.gradient(many, X[i : i + 1], y[i : i + 1], lifted))
        owners += [i] * len(around)
        sides += around
    A = np.concatenate(columns)
    lengths = np.linalg.norm(A, axis=1)
    units = np.where(lengths > 0.0, lengths, 1.0)
    shares, gap = nnls((A / units[:, None]).T, point)
    shares = np.where(lengths > 0.0, shares / units, 0.0)
    multipliers = np.bincount(owners, shares, minlength=len(X))
    mixed = [(h > KINK).astype(float) for h in network.cosines(point, X)]
    for i in np.flatnonzero(multipliers > 0.0).tolist():
        own = np.flatnonzero(np.array(owners) == i)
        for layer, factor in enumerate(mixed):
            factor[i] = sum(shares[k] * sides[k][layer] for k in own) / multipliers[i]
    residual = float(gap / np.linalg.norm(point))
    return KKT(point, residual, multipliers, tuple(mixed), found)


def cells(network: Network, theta: NDArray, x: NDArray) -> list[list[NDArray]]:
    """The patterns, booleans (h_l,) for each layer, in which one datum x (d,) is near theta (p,).

    Units without weights on either side do nothing, and are left inactive. In the first layer the
    sides of the kinks are those that a change of theta can bring about together (weights may be
    shared); kinks of later layers are free. Raises InputError for more than 4096 cells.
    """
    x = x[None]
    cosines = [h[0] for h in network.cosines(theta, x)]
    own = [h > KINK for h in cosines]
    idle = idle_units(network, theta)
    kinks = [
        np.flatnonzero((np.abs(h) <= KINK) & ~off) for h, off in zip(cosines, idle, strict=True)
    ]
    if sum(len(units) for units in kinks) > np.log2(_MOST):
        raise InputError("a datum lies on more kinks of ReLUs than can be listed.")
    choices: list[list[NDArray]] = [
        [np.array(sides, bool) for sides in product((False, True), repeat=len(units))]
        for units in kinks
    ]
    if kinks and len(kinks[0]) > 1:
        forms = network.rates(np.tile(theta, (network.size, 1)), x, np.eye(network.size))[0][0]
        choices[0] = _together(forms[:, 0, kinks[0]].T)
    return combined(own, list(zip(range(len(own)), kinks, choices, strict=True)))


def combined(
    own: list[NDArray], choices: Sequence[tuple[int, Any, Sequence | NDArray]]
) -> list[list[NDArray]]:
    """All patterns that are `own` but where there is a choice: of a layer, the places in it, and
    the sides that these may be on together."""
    found = []
    for chosen in product(*(sides for *_, sides in choices)):
        found.append([mask.copy() for mask in own])
        for (layer, places, _), sides in zip(choices, chosen, strict=True):
            found[-1][layer][places] = sides
    return found


def idle_units(network: Network, theta: NDArray) -> list[NDArray]:
    """The hidden units all of whose weights, those that come in and those that go out, are 0:
    booleans (h_l,) for each layer with a ReLU."""
    W = network.weights(theta)
    outgoing = [*W[1:], np.ones((1, 1))]
    pairs = zip(W[: network.layers], outgoing[: network.layers], strict=True)
    return [np.asarray(~a.any(axis=1) & ~b.any(axis=0)) for a, b in pairs]


def _together(forms: NDArray) -> list[NDArray]:
    """The sides (k,) of the hyperplanes a.v = 0, rows a of `forms` (k, p), that some v is on."""
    lengths = np.linalg.norm(forms, axis=1)
    live = np.flatnonzero(lengths > 0.0)
    if np.linalg.matrix_rank(forms, tol=_RANK * lengths.max(initial=0.0)) == len(forms):
        return [np.array(sides, bool) for sides in product((False, True), repeat=len(forms))]
    patterns = enumerate_cells(forms[live]).patterns if live.size else np.zeros((1, 0), bool)
    sides = np.zeros((len(patterns), len(forms)), bool)
    sides[:, live] = patterns
    return list(sides)
