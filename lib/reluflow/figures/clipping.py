"""Cut lines, planes and affine families to a window and to an activation cell.

Everything is a set of half-spaces {w : A w <= b}; nothing here draws.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError

# A point counts as inside a half-space when it violates it by less than this share of the window:
# families often lie in the boundary of their own cell, where the sign is rounding noise.
SLACK = 1e-9

HalfSpaces = tuple[NDArray, NDArray]


def window_half_spaces(window: ArrayLike) -> HalfSpaces:
    """Write the box (lo_1, hi_1, lo_2, hi_2, ...) as {w : A w <= b}, A (2d, d) and b (2d,)."""
    window = np.asarray(window, float)
    bounds = window.reshape(-1, 2)
    if np.any(bounds[:, 0] >= bounds[:, 1]):
        raise InputError(f"window {tuple(window.tolist())} needs lower < upper along every axis")
    eye = np.eye(len(bounds))
    return np.vstack([eye, -eye]), np.concatenate([bounds[:, 1], -bounds[:, 0]])


def cell_half_spaces(X: ArrayLike, active: ArrayLike) -> HalfSpaces:
    """Write the closed cell {x_i.w >= 0 for active i, x_i.w <= 0 otherwise} as {w : A w <= b}.

    Parameters: X (n, d), `active` (n,) booleans. Rows are normalised. Returns A (n, d), b (n,).
    """
    X = np.asarray(X, float)
    signs = np.where(np.asarray(active, bool), -1.0, 1.0)
    A = signs[:, None] * X / np.linalg.norm(X, axis=1, keepdims=True)
    return A, np.zeros(len(X))


def both(first: HalfSpaces, second: HalfSpaces) -> HalfSpaces:
    """Intersect two sets of half-spaces."""
    return np.vstack([first[0], second[0]]), np.concatenate([first[1], second[1]])


def clip_line(point: ArrayLike, direction: ArrayLike, within: HalfSpaces) -> NDArray | None:
    """Return the ends (2, d) of {point + s direction} inside the half-spaces, or None if empty.

    Liang and Barsky's rule: each half-space bounds s from one side. `within` must be bounded along
    the line.
    """
    p, u = np.asarray(point, float), np.asarray(direction, float)
    A, b = within
    rate, room = A @ u, b - A @ p
    # The size at which a rate or a room counts as zero.
    tiny = SLACK * np.linalg.norm(u)
    slack = SLACK * max(1.0, float(np.max(np.abs(b))))
    flat = np.abs(rate) <= tiny
    if np.any(room[flat] < -slack):
        return None
    s = room[~flat] / rate[~flat]
    low = np.max(s[rate[~flat] < 0], initial=-np.inf)
    high = np.min(s[rate[~flat] > 0], initial=np.inf)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("the half-spaces must bound the line on both sides")
    if high - low <= slack / np.linalg.norm(u):
        return None
    return np.array([p + low * u, p + high * u])


def clip_polygon(polygon: ArrayLike, within: HalfSpaces) -> NDArray:
    """Cut a convex polygon (k, 2) with half-planes (Sutherland and Hodgman); (0, 2) if empty."""
    polygon = np.asarray(polygon, float)
    slack = SLACK * max(1.0, float(np.max(np.abs(polygon), initial=0.0)))
    A, b = within
    k = 0
    while len(polygon) and k < len(A):
        cuts = (b[k:, None] - A[k:] @ polygon.T < -slack).any(axis=1)
        if not cuts.any():
            break
        k += int(np.argmax(cuts))
        room = b[k] - polygon @ A[k]
        k += 1
        room[np.abs(room) <= slack] = 0.0
        kept: list[NDArray] = []
        for here, there, r, s in zip(
            polygon, np.roll(polygon, -1, axis=0), room, np.roll(room, -1), strict=True
        ):
            if r >= 0:
                kept.append(here)
            if r * s < 0:
                kept.append(here + (there - here) * r / (r - s))
        polygon = np.array(kept).reshape(-1, 2)
    return polygon


def clip_plane(point: ArrayLike, directions: ArrayLike, within: HalfSpaces) -> NDArray:
    """Return the polygon (k, d) of the plane {point + D s} inside the half-spaces, (0, d) if empty.

    Parameters: point (d,), directions D (d, 2), `within` bounded along the plane. The polygon is
    cut in the coordinates s of an orthonormal basis of the plane.
    """
    p = np.asarray(point, float)
    basis, _ = np.linalg.qr(np.asarray(directions, float))
    A, b = within
    inner, room = A @ basis, b - A @ p
    flat = np.linalg.norm(inner, axis=1) <= SLACK
    if np.any(room[flat] < -SLACK * max(1.0, float(np.max(np.abs(b))))):
        return np.empty((0, len(p)))
    half = 2.0 * (float(np.max(np.abs(b))) * np.sqrt(len(p)) + float(np.linalg.norm(p)))
    square = half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    corners = clip_polygon(square, (inner[~flat], room[~flat]))
    if len(corners) and _area(corners) <= SLACK * half:
        return np.empty((0, len(p)))
    return _canonical(p + corners @ basis.T)


def clip_solid(within: HalfSpaces) -> list[NDArray]:
    """Return the faces (k, 3) of the bounded polyhedron that the half-spaces cut out of R^3."""
    A, b = within
    faces = []
    for row, limit in zip(A, b, strict=True):
        normal = row / np.linalg.norm(row)
        _, _, vt = np.linalg.svd(normal[None])
        face = clip_plane(limit * normal / np.linalg.norm(row), vt[1:].T, within)
        if len(face) >= 3:
            faces.append(face)
    return faces


def _area(polygon: NDArray) -> float:
    x, y = polygon.T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def _canonical(polygon: NDArray) -> NDArray:
    """Start a polygon at its lexicographically lowest corner, so that its listing is unique."""
    if len(polygon) == 0:
        return polygon
    rounded = np.round(polygon, 9)
    start = np.lexsort(rounded.T[::-1])[0]
    polygon = np.roll(polygon, -start, axis=0)
    rounded = np.round(polygon, 9)
    # Of the two ways round take the one whose second corner comes first.
    if len(polygon) > 2 and tuple(rounded[-1]) < tuple(rounded[1]):
        polygon = np.roll(polygon[::-1], 1, axis=0)
    return polygon
