"""What a gradient flow does on an activation boundary: cross, slide, touch, or branch.

On the boundary x.w = 0 the velocity jumps by y |x|^2 along x. With a label y < 0 both sides can
push towards the boundary, and the flow slides along it (Filippov); with y > 0 both can push away,
and more than one flow leaves. Proposition F.4 of Lee et al. 2022 says that neither happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

WALL_LIMIT = 6
"""More non-parallel boundaries than this meeting in one point are not resolved."""

_TOL = 1e-10


@dataclass(frozen=True)
class Wall:
    """Boundaries of parallel data seen as one hyperplane, normal.w = 0.

    normal  (d,) unit vector
    data    indices of the data whose boundary it is
    plus    those active where normal.w > 0; the others are active on the other side
    push    (p_minus, p_plus): what the wall's data add to the velocity, along the normal, on
            either side. Sliding adds something in between.
    """

    normal: NDArray
    data: tuple[int, ...]
    plus: tuple[int, ...]
    push: tuple[float, float]

    @property
    def minus(self) -> tuple[int, ...]:
        """The data active where normal.w < 0."""
        return tuple(j for j in self.data if j not in self.plus)


@dataclass(frozen=True)
class Mode:
    """One way to go on from a point: `sides` of the walls (+1, -1, or 0 for sliding)."""

    sides: tuple[int, ...]
    velocity: NDArray


def walls(X: NDArray, y: NDArray, data: NDArray) -> tuple[Wall, ...]:
    """Group `data` (indices) into walls: data parallel to rounding share one."""
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
        push_plus = sum(y[j] * along[j] for j in plus)
        push_minus = sum(y[j] * along[j] for j in members if along[j] < 0)
        result.append(Wall(normal, tuple(members), plus, (push_minus, push_plus)))
    return tuple(result)


def tangent_projector(normals: NDArray, d: int) -> NDArray:
    """Orthogonal projector onto {v: normals v = 0}, normals (k, d)."""
    if len(normals) == 0:
        return np.eye(d)
    _, s, vt = np.linalg.svd(normals)
    rank = int(np.sum(s > 1e-12 * s[0]))
    return np.eye(d) - vt[:rank].T @ vt[:rank]


def multipliers(normals: NDArray, velocity: NDArray) -> NDArray:
    """The pushes p (k,) with normals (velocity + normals^T p) = 0, for independent normals."""
    return -np.linalg.solve(normals @ normals.T, normals @ velocity)


def _lexicographic_sign(derivatives: NDArray, scale: NDArray) -> float:
    """Sign of the first entry of `derivatives` that exceeds rounding at its `scale`; else 0."""
    for value, size in zip(derivatives, scale, strict=True):
        if abs(value) > _TOL * size:
            return float(np.sign(value))
    return 0.0


def departures(
    X: NDArray, y: NDArray, w: NDArray, active: NDArray, walls_here: tuple[Wall, ...]
) -> tuple[Mode, ...]:
    """All ways in which a flow can leave w, a point on the walls `walls_here`.

    Each wall is given each side, and sliding; a choice stands if the flow that it implies agrees
    with it for small t > 0, decided on the first derivative that does not vanish. `active` (n,) is
    true for the data strictly active at w. Flows that coincide count once.

    Raises ValueError if more than WALL_LIMIT walls meet at w.
    """
    if len(walls_here) > WALL_LIMIT:
        raise ValueError(
            f"{len(walls_here)} non-parallel activation boundaries meet at w = {w.tolist()}; "
            f"at most {WALL_LIMIT} are resolved"
        )
    if len(walls_here) == 1:
        clear = _transversal(X, y, w, active, walls_here[0])
        if clear is not None:
            return clear
    modes: list[Mode] = []
    jets: list[NDArray] = []
    for sides in product((1, -1, 0), repeat=len(walls_here)):
        jet = _consistent_jet(X, y, w, active, walls_here, sides)
        if jet is None:
            continue
        size = max(np.abs(jet).max(), 1e-300)
        if any(np.abs(jet - other).max() <= _TOL * size for other in jets):
            continue
        modes.append(Mode(sides, jet[0]))
        jets.append(jet)
    return tuple(modes)


def _transversal(X, y, w, active, wall: Wall) -> tuple[Mode, ...] | None:
    """The departures from a single wall where first derivatives decide; None where they do not."""
    A, target = X[active], y[active]
    v = A.T @ (target - A @ w)
    minus, plus = wall.push
    before, after = v @ wall.normal + minus, v @ wall.normal + plus
    size = np.abs(A).T @ (np.abs(target) + np.abs(A) @ np.abs(w))
    common = size @ np.abs(wall.normal)
    if abs(before) <= _TOL * (common + abs(minus)) or abs(after) <= _TOL * (common + abs(plus)):
        return None
    if before > 0 and after > 0:
        return (Mode((1,), v + plus * wall.normal),)
    if before < 0 and after < 0:
        return (Mode((-1,), v + minus * wall.normal),)
    slide = Mode((0,), v - (v @ wall.normal) * wall.normal)
    if before > 0:
        return (slide,)
    return (Mode((1,), v + plus * wall.normal), Mode((-1,), v + minus * wall.normal), slide)


def _consistent_jet(X, y, w, active, walls_here, sides) -> NDArray | None:
    """Derivatives of w(t) at 0 under the choice `sides`, or None if they contradict it."""
    d = X.shape[1]
    on = active.copy()
    for wall, side in zip(walls_here, sides, strict=True):
        on[list(wall.plus)] = side > 0
        on[list(wall.minus)] = side < 0
    normals = np.array([wl.normal for wl, s in zip(walls_here, sides, strict=True) if s == 0])
    normals = normals.reshape(-1, d)
    if len(normals) and np.linalg.matrix_rank(normals) < len(normals):
        return None  # reached through an independent subset of the same walls
    P = tangent_projector(normals, d)
    H, q = X[on].T @ X[on], X[on].T @ y[on]
    free = q - H @ w
    jet = [P @ free]
    size = [np.abs(X[on]).T @ (np.abs(y[on]) + np.abs(X[on]) @ np.abs(w))]
    for _ in range(d):
        jet.append(-P @ H @ jet[-1])
        size.append(np.abs(H) @ size[-1])
    scale = np.array([np.linalg.norm(s) for s in size]) + 1e-300
    for wall, side in zip(walls_here, sides, strict=True):
        if side == 0:
            continue
        sign = _lexicographic_sign(np.array(jet) @ wall.normal, scale)
        # On the boundary for good, a datum counts as inactive: the paper's own convention.
        inactive_for_good = sign == 0 and not (wall.plus if side > 0 else wall.minus)
        if sign != side and not inactive_for_good:
            return None
    if len(normals):
        sliding = [wl for wl, s in zip(walls_here, sides, strict=True) if s == 0]
        chain = [free] + [-H @ v for v in jet[:-1]]  # derivatives of q - H w(t)
        pushes = np.array([multipliers(normals, v) for v in chain])
        for k, wall in enumerate(sliding):
            low, high = sorted(wall.push)
            room = scale + np.append(abs(low) + abs(high), np.zeros(d))
            below = pushes[:, k] - np.append(low, np.zeros(d))
            above = np.append(high, np.zeros(d)) - pushes[:, k]
            if _lexicographic_sign(below, room) < 0 or _lexicographic_sign(above, room) < 0:
                return None
    return np.array(jet)
