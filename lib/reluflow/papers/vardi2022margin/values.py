"""The value of many directions at once: what they cost in the margin problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.margin.problem import margins
from reluflow.networks.indexed import Network


def values(network: Network, theta: ArrayLike, X: ArrayLike, y: ArrayLike) -> NDArray:
    """|theta|^2 / (min margin)^(2/m), shape (...), of parameters theta (..., p); NaN where a datum
    is not classified correctly."""
    theta = np.asarray(theta, float)
    least = margins(network, theta, X, y).min(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        cost = (theta * theta).sum(axis=-1) / np.maximum(least, 0.0) ** (2.0 / network.degree)
    return np.where(least > 0.0, cost, np.nan)
