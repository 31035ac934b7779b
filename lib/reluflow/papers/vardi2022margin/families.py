"""Families of data on which the flow's limit is worse and worse (Remark 3.1).

Each has one number h > 0 that goes to 0. The limits are those of the paper's proofs, with the data
in place of the printed ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reluflow.networks.indexed import Network, convolutional, diagonal, fully_connected


@dataclass(frozen=True)
class Family:
    """Data X(h) (n, d) of labels 1 and what is known of them in closed form, 0 < h <= most.

    name    the theorem whose setting this is
    data    h -> X (n, d)
    start   h -> theta(0) (p,)
    limit   h -> the limit of the flow, scaled to the least margin 1 (p,)
    ratio   h -> |theta~| / |theta*|, of the layer's parameters where `layer` names one
    most    the closed form of the ratio holds for h up to here
    layer   the layer of Problem (4), from 1, or None for Problem (2)
    rule    the ratio squared, as a text
    """

    name: str
    network: Network
    data: Callable[[float], NDArray]
    start: Callable[[float], NDArray]
    limit: Callable[[float], NDArray]
    ratio: Callable[[float], float]
    most: float
    rule: str
    layer: int | None = None

    def labels(self, h: float) -> NDArray:
        """y (n,)."""
        return np.ones(len(self.data(h)))


def opening_angle() -> Family:
    """x_1 = (1, h), x_2 = (-1, h), at the angle psi = 2 atan(1/h): Theorem 3.2.

    u~_1 = (0, 1/h) costs |theta~|^2 = 2/h. One neuron for each datum costs 4/sqrt(1 + h^2), and the
    multipliers 1/sqrt(1 + h^2) show that nothing costs less while 4 h^2 <= 1 + h^2.
    """
    return Family(
        "Theorem 3.2", fully_connected((2, 2)),
        lambda h: np.array([[1.0, h], [-1.0, h]]),
        lambda h: np.array([0.0, 2.0, 0.0, -1.0, 2.0, 1.0]),
        lambda h: np.array([0.0, h**-0.5, 0.0, 0.0, h**-0.5, 0.0]),
        lambda h: float(np.sqrt(np.hypot(1.0, h) / (2.0 * h))),
        3.0**-0.5, "√(1 + h²) / (2h) = 1 / (2 cos(ψ/2))",
    )  # fmt: skip


def longer_coordinate(activation: str) -> Family:
    """x = (1, 1/h) and a start without the second coordinate: Theorem 4.1."""
    return Family(
        "Theorem 4.1", diagonal(2, 2, activation),
        lambda h: np.array([[1.0, 1.0 / h]]),
        lambda h: np.array([1.0, 0.0, 1.0, 0.0]),
        lambda h: np.array([1.0, 0.0, 1.0, 0.0]),
        lambda h: h**-0.5,
        1.0, "1/h",
    )  # fmt: skip


def paired_data() -> Family:
    """x_1 = (1, h), x_2 = (-1, h), x_3 = (0, -1), the first two with one neuron: Theorem 4.3.

    |theta~|^2 = 2/h + 2; the least is taken by omega = (+-(1 + h/2), -1/2), of x_1 and x_2 a neuron
    each and x_3 shared.
    """
    return Family(
        "Theorem 4.3", fully_connected((2, 2)), _three, _two_neurons, _alone,
        lambda h: float(np.sqrt((1.0 + 1.0 / h) / (2.0 * np.hypot(1.0 + h / 2.0, 0.5)))),
        0.25, "(1 + 1/h) / √((2 + h)² + 1)",
    )  # fmt: skip


def paired_layer() -> Family:
    """The same data and limit for Problem (4) of the first layer: Theorem 5.4.

    The layer of the limit has the squared length 1/h + 1; the least one gives x_2 and x_3 to the
    neuron of the larger output weight, and x_1 to the other.
    """
    return Family(
        "Theorem 5.4", fully_connected((2, 2)), _three, _two_neurons, _alone,
        lambda h: float(np.sqrt((1.0 + 1.0 / h)
                                / (1.0 / (1.0 + h * h) + h * (1.0 + (1.0 + h) ** 2)))),
        0.25, "(1 + 1/h) / (1/(1 + h²) + h (1 + (1 + h)²))", 1,
    )  # fmt: skip


def flat_patches(activation: str) -> Family:
    """x = (1, h, -1, h), two patches and one filter that starts upright: Theorem 4.4.

    |theta~|^2 = sqrt(2)/h, and |theta*|^2 = 2 / max |s(A'w)| over |w| = 1 with the patches as the
    columns of A. Linear: that is the larger singular value sqrt(2) of A; ReLU: sqrt(1 + h^2), at w
    along one patch.
    """

    def limit(h: float) -> NDArray:
        size = (np.sqrt(2.0) * h) ** -0.5
        return size * np.array([0.0, 1.0, 0.5**0.5, 0.5**0.5])

    linear = activation == "linear"
    return Family(
        "Theorem 4.4", convolutional(2, 2, activation),
        lambda h: np.array([[1.0, h, -1.0, h]]),
        lambda h: np.array([0.0, 1.0, 0.5**0.5, 0.5**0.5]),
        limit,
        (lambda h: h**-0.5) if linear else (lambda h: float(np.sqrt(np.hypot(1.0, h)
                                                                    / (np.sqrt(2.0) * h)))),
        1.0, "1/h" if linear else "√(1 + h²) / (√2 h)",
    )  # fmt: skip


def _three(h: float) -> NDArray:
    return np.array([[1.0, h], [-1.0, h], [0.0, -1.0]])


def _two_neurons(h: float) -> NDArray:
    return np.array([0.0, 3.0, 0.0, -2.0, 3.0, 2.0])


def _alone(h: float) -> NDArray:
    return np.array([0.0, h**-0.5, 0.0, -1.0, h**-0.5, 1.0])
