"""Problem (2) of Vardi et al. 2022: min |theta|^2 / 2 with y_i f(theta; x_i) >= 1 for all i.

f is homogeneous of the network's depth m, so a direction has one feasible point of least length,
the one whose smallest margin is 1. What it costs is a function of the direction alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.networks.indexed import Network

KINK = 1e-9
"""A unit's input this small, as a cosine, is 0."""
TIGHT = 1e-7
"""A margin nearer than this to 1 is 1."""


def margins(network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike) -> NDArray:
    """y_i f(theta; x_i), shape (..., n), for theta (..., p), X (n, d), labels y (n,) of +-1."""
    return np.asarray(y, float) * network.output(theta, X)


def scaled(network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike) -> NDArray:
    """theta / (min_i y_i f(theta; x_i))^(1/m): the multiple of theta whose least margin is 1.

    Parameters: theta (p,), X (n, d), y (n,). Returns (p,).
    Raises InputError unless theta classifies every datum correctly.
    """
    # The direction first: a margin of m factors under- or overflows long before theta does.
    theta = np.asarray(theta, float)
    direction = theta / (np.abs(theta).max(initial=0.0) or 1.0)
    return direction / _least(network, direction, X, y) ** (1.0 / network.degree)


def quotient(network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike) -> float:
    """|theta|^2 / (min_i y_i f(theta; x_i))^(2/m): what theta's direction costs in Problem (2).

    Parameters: theta (p,), X (n, d), y (n,). It is |theta|^2 of the `scaled` theta, and does not
    change when theta is multiplied by a positive number.
    Raises InputError unless theta classifies every datum correctly.
    """
    point = scaled(network, theta, X, y)
    return float(point @ point)


def _least(network: Network, theta: NDArray, X: ArrayLike, y: ArrayLike) -> float:
    least = float(margins(network, theta, X, y).min())
    if not least > 0.0:
        raise InputError("theta must classify every datum correctly, y_i f(theta; x_i) > 0.")
    return least
