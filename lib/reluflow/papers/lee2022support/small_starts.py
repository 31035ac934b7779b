"""Small starts: how small they have to be, their directions, and the flows from them.

Lemma F.5 has an explicit radius, delta_0, and what this book says of small starts in the plane
holds at that radius. A statement that names no radius is tried at shrinking shares of delta_0, and
counts as broken by a data set only if it is broken at every one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance
from reluflow.flows.affine import affine_flow
from reluflow.flows.planar import PlanarFlows, planar_flows_of
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import enumerate_cells
from reluflow.instances import near_boundary_start
from reluflow.networks import gradient

NORMS = (0.9, 1e-2, 1e-4)
"""Norms of the starts, in units of `guaranteed_radius`."""


def unit_of_norm(X: ArrayLike, y: ArrayLike) -> float:
    """The smallest distance y_i / |x_i| of a solution hyperplane from the origin."""
    return float(np.min(np.asarray(y) / np.linalg.norm(X, axis=1)))


def forced(X: ArrayLike, y: ArrayLike, w: ArrayLike) -> bool:
    """Whether q(w) > 0 componentwise; data within rounding of their boundary count as inactive.

    Near the origin -grad L = q, so this is the hypothesis of Proposition 4.4 and Theorem 4.7.
    """
    X, w = np.asarray(X, float), np.asarray(w, float)
    on = X @ w > 1e-13 * np.linalg.norm(X, axis=1) * np.linalg.norm(w)
    return bool(np.all(np.where(on, y, 0.0) @ X > 0.0))


def random_direction(
    X: ArrayLike, y: ArrayLike, rng: np.random.Generator, tries: int = 100
) -> NDArray:
    """A random unit vector (d,) with q > 0; that of X^T y, which activates all data, where `tries`
    draws gave none."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    drawn = (rng.normal(size=(X.shape[1],)) for _ in range(tries))
    u: NDArray = next((u for u in drawn if forced(X, y, u)), y @ X)
    return u / np.linalg.norm(u)


def start_direction(
    X: ArrayLike, y: ArrayLike, rng: np.random.Generator, tries: int = 100
) -> NDArray:
    """A unit vector (d,) with q > 0: of random direction, or as often near a datum's boundary."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    if rng.integers(2):
        drawn = (near_boundary_start({"X": X, "y": y}, rng)["w0"] for _ in range(tries))
        w = next((w for w in drawn if forced(X, y, w)), None)
        if w is not None:
            return w / np.linalg.norm(w)
    return random_direction(X, y, rng, tries)


def directed(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """For `extended`: the `start_direction` "u"."""
    return {"u": start_direction(item["X"], item["y"], rng)}


def nontrivial(item: Instance) -> bool:
    """Whether q(u) > 0 at the instance's direction "u"."""
    return forced(item["X"], item["y"], item["u"])


def within(item: Instance, radius: Callable[[ArrayLike, ArrayLike], float]) -> bool:
    """Whether the starts of `NORMS` along the instance's "u" are shorter than the radius."""
    least = radius(item["X"], item["y"])
    return all(float(np.linalg.norm(w0)) < least for w0 in starts_of(item, NORMS, radius))


def small(item: Instance) -> bool:
    """Whether q(w0) > 0 and |w0| < delta_0 for the starts of `NORMS`."""
    return nontrivial(item) and within(item, guaranteed_radius)


def guaranteed_radius(X: ArrayLike, y: ArrayLike) -> float:
    """delta_0 = (a + Q - sqrt(Q^2 + 2 a Q)) / Lambda: smaller starts with q > 0 activate all data.

    a is the least x_j.q_P / |x_j| over all j and all cells P with q_P > 0, Q = |q| of all data, and
    Lambda the largest eigenvalue of sum x_i x_i^T. Under A1-A3 (A3 makes the cells exist).
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    q = np.where(enumerate_cells(X).patterns, y, 0.0) @ X
    q = q[(q > 0).all(axis=1)]
    a = float((q @ (X / np.linalg.norm(X, axis=1, keepdims=True)).T).min())
    top = float(np.linalg.svd(X, compute_uv=False)[0]) ** 2
    return float(root_radius(a, np.linalg.norm(y @ X), top))


def root_radius(a: ArrayLike, Q: ArrayLike, top: ArrayLike) -> NDArray:
    """(a + Q - sqrt(Q^2 + 2 a Q)) / top, in the form without cancellation."""
    a, Q = np.asarray(a, float), np.asarray(Q, float)
    return np.asarray(a / np.asarray(top) * (a / (a + Q + np.sqrt(Q) * np.sqrt(Q + 2.0 * a))))


def gentle_radius(X: ArrayLike, y: ArrayLike) -> float:
    """rho = min_j x_j.q / |x_j| / Lambda, q and Lambda of all data: at all-active points of smaller
    norm every x_j.w increases, for x_j.(q - H w) / |x_j| >= x_j.q / |x_j| - Lambda |w|."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    top = float(np.linalg.svd(X, compute_uv=False)[0]) ** 2
    return float((X @ (y @ X) / np.linalg.norm(X, axis=1)).min()) / top


def norm_drops(flows: PlanarFlows, points: int = 60) -> NDArray:
    """`largest_norm_drop` of each of B flows, shape (B,); NaN where undecided."""
    norms = np.linalg.norm(flows.at(flows.grid(points)), axis=-1)
    drops = np.max(norms[:, :-1] - norms[:, 1:], axis=1, initial=0.0)
    return drops / np.linalg.norm(flows.ends, axis=1)


def smallest_force(X: ArrayLike, y: ArrayLike, starts: ArrayLike) -> float:
    """The smallest component of -grad L over all starts (k, d): positive under the hypothesis."""
    return float(min((-gradient(X, y, w)).min() for w in np.asarray(starts, float)))


def starts_of(
    item: Instance,
    norms: Sequence[float],
    radius: Callable[[ArrayLike, ArrayLike], float] = guaranteed_radius,
) -> list[NDArray]:
    """The starts (d,) of these norms, in units of the radius of the data, along the instance's "u",
    by default along X^T y."""
    X, y = item["X"], item["y"]
    u = np.asarray(item.get("u", X.T @ y), float)
    u = u / np.abs(u).max()  # its square must not underflow
    return [norm * radius(X, y) * u / np.linalg.norm(u) for norm in norms]


def small_flows(
    item: Instance,
    norms: Sequence[float],
    radius: Callable[[ArrayLike, ArrayLike], float] = guaranteed_radius,
) -> list[Trajectory]:
    """The exact flows of an instance from `starts_of`."""
    return [affine_flow(item["X"], item["y"], w0) for w0 in starts_of(item, norms, radius)]


def flows_of(
    items: Sequence[Instance],
    norms: Sequence[float],
    radius: Callable[[ArrayLike, ArrayLike], float] = guaranteed_radius,
) -> list[PlanarFlows]:
    """The planar flows from `starts_of`, all instances at once, one batch a norm."""
    starts = [starts_of(item, norms, radius) for item in items]
    return [
        planar_flows_of([{**i, "w0": w[k]} for i, w in zip(items, starts, strict=True)])
        for k in range(len(norms))
    ]
