"""Points on activation boundaries: random ones, and the sides to which flows leave them.

A point on the boundary of x_1 is an array "w" (d,) of an instance; one on several boundaries at
once is given by the data "some" and a direction "z" (d,).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance
from reluflow.flows.continuations import continuations
from reluflow.flows.switching import switching_surfaces, tangent_projector
from reluflow.instances import data_draws
from reluflow.papers.lee2022support.small_starts import unit_of_norm

MIXED = {f"{kind}, d = {d}": draw for d in (2, 3) for kind, draw in data_draws(d).items()}
"""Draws of data that satisfy A1-A3, in the plane and in space."""


def continuation_sides(X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int) -> tuple[int, ...]:
    """Sides of the boundary of x_j to which flows continue from its point w: 1 active, -1 inactive,
    0 for a flow that stays on it; the other data are off their boundaries, or parallel to x_j."""
    X, y, w = (np.asarray(v, float) for v in (X, y, w))
    h, size = X @ w, np.linalg.norm(X, axis=1) * np.linalg.norm(w)
    on = np.abs(h) <= 1e-12 * size
    on[j] = True
    here = switching_surfaces(X, y, np.nonzero(on)[0])
    if len(here) > 1:
        raise ValueError("more than one boundary passes through the point")
    P = tangent_projector(np.array([surface.normal for surface in here]), len(w))
    modes = continuations(X, y, P @ w, (h > 0.0) & ~on, here)
    towards = 1 if j in here[0].plus else -1
    return tuple(sorted({towards * mode.sides[0] for mode in modes}))


def on_boundary(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """For `extended`: a point w on the boundary of x_1, of random direction, near and far."""
    x = item["X"][0] / np.linalg.norm(item["X"][0])
    w = rng.normal(size=len(x))
    w -= (w @ x) * x
    length = unit_of_norm(item["X"], item["y"]) * 10.0 ** rng.uniform(-1.0, 1.5)
    return {"w": length * w / np.linalg.norm(w)}


def foot(item: Instance) -> NDArray:
    """The point of x_1's boundary nearest to w, for a search moves data and point."""
    x, w = item["X"][0], item["w"]
    return w - (w @ x) / (x @ x) * x


def others_off(item: Instance) -> bool:
    """Whether all data but x_1 are off their boundaries there."""
    X, w = item["X"][1:], foot(item)
    return bool(np.all(np.abs(X @ w) > 1e-3 * np.linalg.norm(X, axis=1) * np.linalg.norm(w)))


def on_several(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """For `extended`: a direction z and up to d data "some", whose boundaries a point is on."""
    n, d = item["X"].shape
    return {"some": rng.permutation(n)[: rng.integers(1, d + 1)], "z": rng.normal(size=d)}


def common_point(item: Instance) -> NDArray:
    """The point on the boundaries of the data "some" nearest to z: 0 if they span space."""
    X, z = item["X"][item["some"]], item["z"]
    left = z - X.T @ np.linalg.lstsq(X.T, z, rcond=None)[0]
    return np.where(np.linalg.norm(left) > 1e-9 * np.linalg.norm(z), left, 0.0)
