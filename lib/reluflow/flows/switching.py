"""Switching surfaces of a gradient flow, and where it slides along them.

On the boundary x.w = 0 the velocity jumps by y |x|^2 along x. With a label y < 0 both sides can
point towards the boundary, and the flow slides along it (Filippov).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from reluflow.geometry import enumerate_cells


@dataclass(frozen=True)
class SwitchingSurface:
    """Boundaries of parallel data seen as one hyperplane, normal.w = 0.

    normal  (d,) unit vector
    data    indices of the data whose boundary it is
    plus    those active where normal.w > 0; the others are active on the other side
    jump    (p_minus, p_plus): what the surface's data add to the velocity, along the normal, on
            either side. Sliding adds something in between.
    """

    normal: NDArray
    data: tuple[int, ...]
    plus: tuple[int, ...]
    jump: tuple[float, float]

    @property
    def minus(self) -> tuple[int, ...]:
        """The data active where normal.w < 0."""
        return tuple(j for j in self.data if j not in self.plus)


def switching_surfaces(X: NDArray, y: NDArray, data: NDArray) -> tuple[SwitchingSurface, ...]:
    """Group `data` (indices) into surfaces: data parallel to rounding share one."""
    found: list[tuple[NDArray, list[int]]] = []
    for j in map(int, data):
        unit = X[j] / np.linalg.norm(X[j])
        for normal, members in found:
            if np.linalg.norm(unit - (unit @ normal) * normal) <= 1e-12:
                members.append(j)
                break
        else:
            found.append((unit, [j]))
    result = []
    for normal, members in found:
        along = {j: float(X[j] @ normal) for j in members}
        plus = tuple(j for j in members if along[j] > 0)
        jump_plus = sum(y[j] * along[j] for j in plus)
        jump_minus = sum(y[j] * along[j] for j in members if along[j] < 0)
        result.append(SwitchingSurface(normal, tuple(members), plus, (jump_minus, jump_plus)))
    return tuple(result)


def tangent_basis(normals: NDArray, d: int) -> NDArray:
    """Orthonormal basis (d, k) of {v: normals v = 0}, normals of unit length (m, d)."""
    if len(normals) == 0:
        return np.eye(d)
    _, s, vt = np.linalg.svd(normals)
    return vt[int(np.sum(s > 1e-12 * s[0])) :].T


def tangent_projector(normals: NDArray, d: int) -> NDArray:
    """Orthogonal projector (d, d) onto {v: normals v = 0}, normals of unit length (m, d)."""
    if len(normals) == 1:
        return np.eye(d) - np.outer(normals, normals)
    Q = tangent_basis(normals, d)
    return Q @ Q.T


def sliding_condition(X: NDArray, stay: tuple[SwitchingSurface, ...]) -> tuple[NDArray, NDArray]:
    """Facets F (m, d), c (m,): the surfaces `stay` hold the flow while F v <= c.

    Here v (d,) is the velocity that the data off these surfaces give. What the surfaces can add
    to it is any mean of what they add in the cells around (Filippov), and that must cancel v's
    normal part.
    """
    N = np.array([surface.normal for surface in stay]).reshape(len(stay), X.shape[1])
    jumps = np.array([surface.jump for surface in stay]).reshape(-1, 2)
    low, high = np.sort(jumps, axis=1).T
    if len(stay) == 0 or np.linalg.matrix_rank(N, tol=1e-12) == len(N):
        M = np.linalg.pinv(N).T  # the surfaces add -M v along their normals
        return np.concatenate([-M, M]), np.concatenate([high, -low])
    # Of dependent normals not every choice of sides is a cell.
    cells = enumerate_cells(X[[surface.data[0] for surface in stay]]).patterns
    sums = np.where(cells, jumps[:, 1], jumps[:, 0]) @ N
    centre = sums.mean(axis=0)
    _, s, vt = np.linalg.svd(sums - centre)
    r = int(np.sum(s > 1e-12 * max(s[0], np.abs(jumps).max())))
    flat, across = vt[:r], vt[r:]
    points = (sums - centre) @ flat.T
    if r >= 2:
        hull = ConvexHull(points).equations
    else:
        hull = np.array([[1.0, -points.max()], [-1.0, points.min()]]) if r else np.zeros((0, 1))
    # The tangential part of v is no jump's business: only directions among the normals count.
    across = across @ (np.eye(len(vt)) - tangent_projector(N, len(vt)))
    across = across[np.linalg.norm(across, axis=1) > 1e-6]
    F = np.concatenate([-hull[:, :r] @ flat, across, -across])
    c = np.concatenate([-hull[:, r], np.zeros(2 * len(across))])
    return F, c - F @ centre
