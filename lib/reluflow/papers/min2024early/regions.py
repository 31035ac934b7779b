"""Cones {w : <c_i, w> >= 0} in the plane as sectors, and in space as polygons on the sphere."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from reluflow.geometry.separability import signed

_INSIDE = 1e-9


def conditions(X: NDArray, y: NDArray) -> dict[str, NDArray]:
    """The rows c_i of the closed cones "S_+", "S_-" and "S_dead" of the data X (n, d), y (n,)."""
    Z = signed(X, y)
    return {"S_+": Z, "S_-": -Z, "S_dead": -np.asarray(X, float)}


def rays(C: NDArray) -> NDArray:
    """The extreme rays (m, d), unit vectors in order around the cone, of {w : C w >= 0}, d = 2, 3.

    The cone must hold no line. Where it is {0}, m = 0. In the plane they go from the ray at the
    right to the one at the left.
    """
    C = C / np.linalg.norm(C, axis=1, keepdims=True)
    if C.shape[1] == 2:
        tries = C @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    else:
        tries = np.array([np.cross(a, b) for a, b in combinations(C, 2)])
        sizes = np.linalg.norm(tries, axis=1)
        tries = tries[sizes > _INSIDE] / sizes[sizes > _INSIDE, None]
    tries = np.vstack([tries, -tries])
    found = tries[(tries @ C.T >= -_INSIDE).all(axis=1)]
    kept: list[NDArray] = []
    for ray in found:
        if all(np.linalg.norm(ray - other) > 1e3 * _INSIDE for other in kept):
            kept.append(ray)
    return around(np.array(kept)) if kept else np.zeros((0, C.shape[1]))


def around(points: NDArray) -> NDArray:
    """Directions (m, d), within a half-space, in order around their mean."""
    middle = points.mean(axis=0)
    middle = middle / np.linalg.norm(middle)
    first, second = frame(middle) if points.shape[1] == 3 else (middle, turned(middle))
    return points[np.argsort(np.arctan2(points @ second, points @ first), kind="stable")]


def turned(u: NDArray) -> NDArray:
    """u (2,) by a right angle to the left."""
    return np.array([-u[1], u[0]])


def frame(axis: NDArray) -> tuple[NDArray, NDArray]:
    """Two unit vectors that are right and up for whoever looks at the sphere from `axis` (3,)."""
    up = np.eye(3)[2] - axis[2] * axis
    if np.linalg.norm(up) < 1e-6:
        up = np.eye(3)[1] - axis[1] * axis
    up = up / np.linalg.norm(up)
    return np.cross(up, axis), up


def outline(corners: NDArray, points: int = 40) -> NDArray:
    """The edges of the polygon with these corners (m, 3) as great circles, (m * points, 3)."""
    share = np.linspace(0.0, 1.0, points, endpoint=False)[:, None]
    edges = [(1.0 - share) * a + share * b
             for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]  # fmt: skip
    path = np.vstack(edges)
    return path / np.linalg.norm(path, axis=1, keepdims=True)


def circle(centre: NDArray, sine: float, points: int = 120) -> NDArray:
    """The edge (points, 3) of the cap of that sine about a direction (3,)."""
    axis = centre / np.linalg.norm(centre)
    first, second = frame(axis)
    t = np.linspace(0.0, 2.0 * np.pi, points)[:, None]
    return np.sqrt(1.0 - sine**2) * axis + sine * (np.cos(t) * first + np.sin(t) * second)
