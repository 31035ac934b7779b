"""The data of Section 5.1 of Phuong & Lampert 2021, drawn exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def in_orthants(d: int, n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """X (n, d), y (n,): normal vectors in the first orthant, label +1, or in the opposite one, -1.

    A normal vector in an orthant is one with the signs of that orthant: nothing is drawn in vain.
    """
    X = np.abs(rng.standard_normal((n, d))) * rng.choice([-1.0, 1.0], (n, 1))
    return X, np.where(X[:, 0] > 0.0, 1.0, -1.0)


def filtered_gaussian(d: int, n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """The same, of which only those with <x, z> >= 0 are kept, z = (1, -1, 1, -1, ...).

    That keeps one half of either label: for even d the swap of neighbouring coordinates turns its
    sign.
    """
    z = np.where(np.arange(d) % 2 == 0, 1.0, -1.0)
    found: list[NDArray] = []
    while sum(map(len, found)) < n:
        X = in_orthants(d, n, rng)[0]
        found.append(X[X @ z >= 0.0])
    X = np.concatenate(found)[:n]
    return X, np.where(X[:, 0] > 0.0, 1.0, -1.0)
