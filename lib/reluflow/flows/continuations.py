"""The ways in which a gradient flow can leave a point on switching surfaces: one, none or several.

With y > 0 both sides of a boundary can point away from it, and more than one flow leaves.
Proposition F.4 of Lee et al. 2022a says that this does not happen.

A flow that leaves a point runs, for a while, inside one face of the arrangement of the boundaries
through it: on some of them, strictly to one side of the others. So the ways to leave are found by
asking each face whether the flow that it implies stays in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from reluflow.flows.switching import SwitchingSurface, sliding_condition, tangent_projector
from reluflow.geometry import cell_bound, enumerate_cells

SURFACE_LIMIT = 6
"""The sides of at most this many boundaries are tried in all combinations."""

FACE_LIMIT = 2000
"""Boundaries through one point that may have more cells than this are not searched face by face."""

_TOL = 1e-13
"""A derivative below this, relative to the terms that it is made of, counts as zero."""


@dataclass(frozen=True)
class Continuation:
    """One way to go on from a point.

    sides    of the surfaces: +1, -1, or 0 for staying on one
    resting  whether it stays on the surface without a jump, as an inactive datum would
    """

    sides: tuple[int, ...]
    resting: tuple[bool, ...]


def _lexicographic_sign(derivatives: NDArray, scale: NDArray) -> float:
    """Sign of the first entry of `derivatives` that exceeds rounding at its `scale`; else 0."""
    for value, size in zip(derivatives, scale, strict=True):
        if abs(value) > _TOL * size:
            return float(np.sign(value))
    return 0.0


def continuations(
    X: NDArray,
    y: NDArray,
    w: NDArray,
    active: NDArray,
    here: tuple[SwitchingSurface, ...],
    arrival: int = 0,
) -> tuple[Continuation, ...]:
    """All ways in which a flow can leave w, a point on the surfaces `here`; at least two of them
    where there are many.

    A face stands if the flow that it implies stays in it for small t > 0, decided on the first
    derivatives that do not vanish. `active` (n,) is true for the data strictly active at w;
    `arrival` is the side from which a flow is known to cross a single surface, 0 where none is.

    Raises ValueError if more surfaces meet at w than can be resolved.
    """
    if len(here) == 1:
        clear = _transversal(X, y, w, active, here[0], arrival)
        if clear is not None:
            return clear
    if len(here) > 3 and not active.any():
        data = [j for surface in here for j in surface.data]
        if (y[data] > 0).all():
            return _from_rest(X[data], y[data], here)
    A, target = X[active], y[active]
    H, v = A.T @ A, A.T @ (target - A @ w)
    # Rounding of the derivatives is judged by the sums of the absolute values of their terms.
    near = active.copy()
    near[[j for surface in here for j in surface.data]] = True
    B = np.abs(X[near])
    # On a boundary x.w is zero, and not the rounding of a far w.
    scale = [B.T @ (np.abs(y[near]) + active[near] * (B @ np.abs(w)))]
    for _ in range(X.shape[1]):
        scale.append(B.T @ (B @ scale[-1]))
    found = []
    for sides in _candidates(X, v, scale[0], here):
        mode = _consistent(X, H, v, np.array(scale), here, sides)
        if mode is not None:
            found.append(mode)
    return tuple(found)


def _transversal(
    X, y, w, active, surface: SwitchingSurface, arrival: int
) -> tuple[Continuation, ...] | None:
    """The continuations from a single surface where first derivatives decide, else None."""
    along, rest = X @ surface.normal, np.where(active, y - X @ w, 0.0)
    speeds = rest @ along + np.array(surface.jump)
    # The sizes of the terms: bounded at once, and added up only where this bound does not do.
    length = np.linalg.norm(X)
    common = length * (np.linalg.norm(y) + length * np.linalg.norm(w))
    if not (np.abs(speeds) > _TOL * (common + np.abs(surface.jump))).all():
        B = np.abs(X[active])
        common = (np.abs(y[active]) + B @ np.abs(w)) @ B @ np.abs(surface.normal)
    known = np.abs(speeds) > _TOL * (common + np.abs(surface.jump))
    # A flow that crosses moves away from where it came, however slowly: also where the rounding of
    # w, which `known` does not count, turns that speed around.
    before, after = (
        -side if arrival == side else float(np.sign(speed)) * sure
        for side, speed, sure in zip((-1, 1), speeds, known, strict=True)
    )
    if before == 0 or after == 0:
        return None
    sides: tuple[int, ...]
    if before > 0 and after > 0:
        sides = (1,)
    elif before < 0 and after < 0:
        sides = (-1,)
    else:
        sides = (0,) if before > 0 else (1, -1, 0)
    return tuple(Continuation((side,), (False,)) for side in sides)


def _candidates(X, v, size, here) -> Iterator[tuple[int, ...]]:
    """Faces of the surfaces, as sides, among which are all that the flow can enter."""
    jumps = np.array([surface.jump for surface in here])
    N = np.array([surface.normal for surface in here])
    rank = np.linalg.matrix_rank(N, tol=1e-12)
    convex = jumps[:, 1] < jumps[:, 0]
    if len(N) <= 3:
        yield from product((1, -1, 0), repeat=len(N))
    elif rank < len(N) and cell_bound(len(N), rank) <= FACE_LIMIT:
        yield from _faces(X[[surface.data[0] for surface in here]])
    elif rank == len(N) and np.sum(~convex) <= SURFACE_LIMIT:
        yield from _narrowed(N, jumps, convex, v, size)
    else:
        _refuse(len(N))


def _refuse(count: int) -> None:
    raise ValueError(
        f"{count} non-parallel activation boundaries meet in one point of the path, "
        "too many to tell how the flow goes on"
    )


def _faces(X: NDArray) -> Iterator[tuple[int, ...]]:
    """All faces of the arrangement of the rows of X (k, d): their signs, 0 on a boundary."""
    seen = set()
    rank = np.linalg.matrix_rank(X)
    for size in range(rank + 1):
        for chosen in combinations(range(len(X)), size):
            s, vt = np.linalg.svd(X[list(chosen)])[1:] if size else ([1.0], np.eye(X.shape[1]))
            if s[-1] <= 1e-12 * s[0]:
                continue
            flat = vt[size:].T
            rest = np.linalg.norm(X @ flat, axis=1) > 1e-10 * np.linalg.norm(X, axis=1)
            if rest.tobytes() in seen:
                continue
            seen.add(rest.tobytes())
            for pattern in enumerate_cells(X[rest] @ flat).patterns:
                sides = np.zeros(len(X), int)
                sides[rest] = np.where(pattern, 1, -1)
                yield tuple(map(int, sides))


def _from_rest(X: NDArray, y: NDArray, here) -> tuple[Continuation, Continuation]:
    """Two ways to go on from rest where all data X, y are on their boundary, with labels y > 0.

    To stay is one: the support function sum y_j [x_j.v]_+ of the velocities around is never
    negative, so zero is a mean of them. And from any x_j on, v -> sum of y_j x_j over x_j.v >= 0
    climbs that function, until it comes to a v that is the velocity of its own cell.
    """
    v, before = X[0], None
    while before is None or (before != (X @ v >= 0)).any():
        before = X @ v >= 0
        v = y[before] @ X[before]
    k = len(here)
    stay = Continuation((0,) * k, tuple(not surface.plus or not surface.minus for surface in here))
    return stay, Continuation(
        tuple(1 if surface.normal @ v >= 0 else -1 for surface in here), (False,) * k
    )


def _narrowed(N, jumps, convex, v, size) -> Iterator[tuple[int, ...]]:
    """Faces with each side of the surfaces that can repel; for those that only attract, just the
    sides that first derivatives leave open.

    The attracting surfaces make the velocity the shortest that their jumps allow: a least-squares
    problem with bounds, in place of three sides for each.
    """
    tolerance = _TOL * (np.linalg.norm(size) + np.abs(jumps).max())
    for others in product((1, -1, 0), repeat=int(np.sum(~convex))):
        sides = np.zeros(len(N), int)
        sides[~convex] = others
        fixed = np.where(sides > 0, jumps[:, 1], np.where(sides < 0, jumps[:, 0], 0.0))
        free = sides == 0
        jump, velocity = np.zeros(0), v + fixed @ N
        low = np.where(convex, jumps[:, 1], -np.inf)[free]
        high = np.where(convex, jumps[:, 0], np.inf)[free]
        if free.any():
            jump = lsq_linear(N[free].T, -velocity, (low, high), method="bvls", tol=1e-15).x
            velocity = velocity + jump @ N[free]
        slope = N @ velocity
        inside = np.zeros(len(N), bool)
        inside[free] = (jump > low + tolerance) & (jump < high - tolerance)
        moves = convex & (np.abs(slope) > tolerance)
        sides[moves] = np.sign(slope[moves])
        undecided = np.nonzero(convex & ~moves & ~inside)[0]
        if len(undecided) > SURFACE_LIMIT:
            _refuse(len(N))
        for choice in product((1, -1, 0), repeat=len(undecided)):
            sides[undecided] = choice
            yield tuple(map(int, sides))


def _consistent(X, H, v, scale, here, sides) -> Continuation | None:
    """The mode of the face `sides`, or None if its flow does not stay in it.

    H (d, d) and v (d,) are of the data strictly active; scale (d + 1, d) bounds the terms of the
    derivatives of the velocity.
    """
    d = X.shape[1]
    stay = tuple(surface for surface, s in zip(here, sides, strict=True) if s == 0)
    for surface, side in zip(here, sides, strict=True):
        if side:
            rows = X[list(surface.plus if side > 0 else surface.minus)]
            H = H + rows.T @ rows
            v = v + surface.jump[side > 0] * surface.normal
    N = np.array([surface.normal for surface in stay]).reshape(-1, d)
    P = tangent_projector(N, d)
    free, jet = [v], [P @ v]  # derivatives of q - H w(t), and of w(t)
    for _ in range(d):
        free.append(-H @ jet[-1])
        jet.append(P @ free[-1])
    largest = scale.max(axis=1) + 1e-300  # whose square may overflow
    sizes = largest * np.linalg.norm(scale / largest[:, None], axis=1)
    for surface, side in zip(here, sides, strict=True):
        if side and _lexicographic_sign(np.array(jet) @ surface.normal, sizes) != side:
            return None
    if not stay:
        return Continuation(sides, (False,) * len(sides))
    F, c = sliding_condition(X, stay)
    room = np.vstack([c, np.zeros((d, len(c)))]) - np.array(free) @ F.T
    width = scale @ np.abs(F).T + np.vstack([np.abs(c), np.zeros((d, len(c)))]) + 1e-300
    if any(_lexicographic_sign(room[:, k], width[:, k]) < 0 for k in range(len(c))):
        return None
    jumps = np.array(free) @ np.linalg.pinv(N)
    idle = np.array([_lexicographic_sign(p, sizes) == 0 for p in jumps.T])
    one_sided = np.array([not surface.plus or not surface.minus for surface in stay])
    resting = np.zeros(len(sides), bool)
    resting[np.array(sides) == 0] = idle & one_sided
    return Continuation(sides, tuple(map(bool, resting)))
