"""Shorter feasible parameters nearer and nearer to a point: that it is no local optimum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.margin.certificates import Shorter
from reluflow.margin.problem import margins, scaled
from reluflow.networks.indexed import Network

GAIN = 1e-13
"""A point must be shorter by this share: rounding is a thousand times smaller."""
NEAR = 1e-3
"""The nearest point found must be nearer than this, over |theta|."""
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


def parabola(theta: NDArray, d: NDArray, e: NDArray) -> Callable[[float], NDArray]:
    """r -> theta + r d + r^2 e."""
    return lambda r: theta + r * (d + r * e)


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
