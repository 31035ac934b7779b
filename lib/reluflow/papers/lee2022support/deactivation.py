"""Proposition 3.1: at which points of a boundary a flow deactivates a datum.

It is tried as printed and as we repair it, at the points of `boundary_points`.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from reluflow.bruteforce import data_on, first_continuations, integrate, plain_descent
from reluflow.falsify import Instance, Statement, given
from reluflow.instances import extended, readable_data
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.networks import gradient
from reluflow.papers.lee2022support.assumptions import assumptions
from reluflow.papers.lee2022support.boundary_points import (
    MIXED,
    common_point,
    continuation_sides,
    foot,
    on_boundary,
    on_several,
    others_off,
)


def normal_rates(X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int) -> tuple[float, float]:
    """(s, y_j |x_j|^2) at a point w (d,) on the boundary of x_j: s = grad L(w).x_j, to which x_j
    itself does not contribute (eq. 2). x_j.w changes at the rate -s on the inactive side and
    y_j |x_j|^2 - s on the active one."""
    X, y, w = (np.asarray(v, float) for v in (X, y, w))
    h = X @ w
    h[j] = 0.0
    s = float(np.where(h > 0.0, h - y, 0.0) @ (X @ X[j]))
    return s, float(y[j] * (X[j] @ X[j]))


def displaced_sides(X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int) -> tuple[float, float]:
    """x_j.w, in units of its first size, after plain Euler steps from w -+ 1e-8 |w| x_j / |x_j|.

    Shares no code with the exact flow. The ten steps are so long that the slower of the two normal
    velocities moves x_j.w by ten times the displacement. NaN where such steps are too long for
    Euler's method, or may reach another boundary.
    """
    X, y, w = (np.asarray(v, float) for v in (X, y, w))
    length = np.linalg.norm(X[j])
    move = 1e-8 * np.linalg.norm(w) * X[j] / length
    s, top = normal_rates(X, y, w, j)
    step = float(np.linalg.norm(move) / (min(abs(s), abs(top - s)) / length))
    sizes, others = np.linalg.norm(X, axis=1), np.arange(len(y)) != j
    fastest = sizes @ (np.abs(y) + sizes * np.linalg.norm(w))
    reach = sizes * (np.linalg.norm(move) + 10 * step * fastest)
    if step * (sizes @ sizes) > 1e-2 or np.any(reach[others] > np.abs(X @ w)[others]):
        return np.nan, np.nan
    below, above = (plain_descent(X, y, start, step, 10)[-1] for start in (w - move, w + move))
    unit = X[j] @ move
    return float(X[j] @ below / unit), float(X[j] @ above / unit)


@st.composite
def _readable_point(draw_value):
    """Whole numbers: data in the plane, and a point w on the boundary of x_1."""
    item = draw_value(readable_data(2, (1, 3)))
    k = draw_value(st.integers(-4, 4).filter(bool))
    return {**item, "w": k * np.array([item["X"][0, 1], -item["X"][0, 0]])}


def _clear_rates(item: Instance) -> bool:
    s, top = normal_rates(item["X"], item["y"], foot(item), 0)
    return min(abs(s), abs(top - s)) > 1e-3 * max(abs(s), top)


def deactivates_if() -> Statement:
    """sv.prop3.1.1: where grad L(w).x_1 >= 0, every flow from w deactivates x_1 (Prop. 3.1, "if").

    At a point w on the boundary of x_1 alone.
    """

    def slack(item: Instance) -> float:
        sides = continuation_sides(item["X"], item["y"], foot(item), 0)
        return 1.0 if all(side < 0 for side in sides) else -1.0

    def inwards(item: Instance) -> bool:
        return normal_rates(item["X"], item["y"], foot(item), 0)[0] >= 0.0

    return Statement(
        says="deactivated where grad L(w).x ≥ 0",
        draws=extended(MIXED, on_boundary),
        slack=slack,
        hypotheses={"no other datum on its boundary": others_off, "grad L(w).x ≥ 0": inwards},
        readable=_readable_point(),
    )


def deactivation_repaired() -> Statement:
    """sv.ours.deactivation: s = grad L(w).x > y|x|^2 deactivates, s < 0 activates, and in between
    the boundary repels on both sides. Asked of Euler steps from displaced starts and of the exact
    continuations."""

    def point(item: Instance) -> bool:
        X, w = item["X"], foot(item)
        return bool(X[0].any() and item["y"][0] > 0.0 and np.all(X[1:] @ w != 0.0))

    def rate(item: Instance) -> bool:
        s, top = normal_rates(item["X"], item["y"], foot(item), 0)
        return s not in (0.0, top)

    def slack(item: Instance) -> float:
        if not (others_off(item) and _clear_rates(item)):
            return np.nan  # rounding, or a step, could take the one for the other
        s, top = normal_rates(item["X"], item["y"], foot(item), 0)
        sides = set(continuation_sides(item["X"], item["y"], foot(item), 0)) - {0}
        if sides != ({-1} if s > top else {1} if s < 0.0 else {-1, 1}):
            return -1.0
        below, above = displaced_sides(item["X"], item["y"], foot(item), 0)
        first, second = (1 if s < 0.0 else -1), (1 if s < top else -1)
        return min(first * below, second * above)

    return Statement(
        says="three ranges of grad L(w).x",
        draws=extended(MIXED, on_boundary),
        slack=slack,
        hypotheses=given("sv.ours.deactivation", point=point, rate=rate),
        strict=True,
        readable=_readable_point(),
    )


def _forced(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """The direction z or -z, at a length from a tenth to ten times that at which the forces of the
    active data outweigh y_j |x_j|^2 for some x_j of the point's boundaries: beyond, x_j leaves."""
    X, y, some = item["X"], item["y"], item["some"]
    best = np.inf
    for z in (item["z"], -item["z"]):
        w = common_point({**item, "z": z})
        active = np.where(data_on(X, w), 0.0, np.maximum(X @ w, 0.0))
        grows = active @ X @ X[some].T
        held = (y * (active > 0.0)) @ X @ X[some].T + y[some] * np.sum(X[some] ** 2, axis=1)
        needed = np.min(held / np.where(grows > 0.0, grows, np.nan), initial=np.inf,
                        where=grows > 0.0)  # fmt: skip
        if needed < best:
            best, chosen = needed, z
    return {} if np.isinf(best) else {"z": chosen * best * 10.0 ** rng.uniform(-1.0, 1.0)}


def _leaving(item: Instance) -> tuple[NDArray, list[NDArray]]:
    """The data (n,) on whose boundary the point is, and those that each flow from it
    deactivates."""
    w = common_point(item)
    on = data_on(item["X"], w)
    off = [on & ~active for active, _ in first_continuations(item["X"], item["y"], w)]
    return on, [some for some in off if some.any()]


def deactivates_only_if() -> Statement:
    """sv.prop3.1.2: grad L(w).x_j >= 0 wherever a flow deactivates x_j (Prop. 3.1, "only if"), on
    one boundary or on several at once. A1 and A2."""

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        h, (on, off) = X @ common_point(item), _leaving(item)
        force = np.where(on, 0.0, np.maximum(h, 0.0) - y * (h > 0.0)) @ X
        size = np.linalg.norm(X, axis=1) * (np.linalg.norm(force) + 1e-300)
        return min(float(np.min((X @ force / size)[some])) for some in off)

    return Statement("grad L(w).x >= 0 where a flow deactivates x",
                     extended(extended(MIXED, on_several), _forced), slack,
                     {"some flow deactivates a datum": lambda item: bool(_leaving(item)[1])},
                     tolerance=1e-9, fixed=("some",))  # fmt: skip


def needs_A1_and_A2() -> list[Evidence]:
    """Two points from which some flow deactivates x_1 though grad L.x_1 < 0: A1 or A2 fails."""

    def contradicts(X: ArrayLike, y: ArrayLike, w: ArrayLike) -> bool:
        flows = first_continuations(X, y, w)
        lost = any(not on[0] and np.asarray(X)[0] @ v < 0.0 for on, v in flows)
        return lost and normal_rates(X, y, w, 0)[0] < 0.0

    first = contradicts([[1, 1], [-1, -1], [1, 0]], [1, 1, 1], [0.5, -0.5])
    second = contradicts([[1.0, 0, 0], [1.0, 1, 0], [0.5, 2, 1]], [1, -1, 2], [0, 0, 1])
    return [
        fact("A1 is needed: (1,1), (-1,-1), (1,0), y = 1, at (1/2,-1/2): some flow deactivates "
             "x_1 though grad L.x_1 < 0", first, True),
        fact("A2 is needed: (1,0,0), (1,1,0), (1/2,2,1), y = (1,-1,2), at (0,0,1): likewise",
             second, True),
    ]  # fmt: skip


def repelled(X: NDArray, y: NDArray, w0: ArrayLike) -> list[Evidence]:
    """A start w0 on the boundary of x_1, where Proposition 3.1 says that all flows deactivate it,
    and one of two activates it; and x = y = 1 at w = 0, which no flow deactivates."""
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    unit = 1e-6 * X[0] / np.linalg.norm(X[0])
    later = [float(X[0] @ integrate(X, y, w0 + k * unit, 0.1)) for k in (-1, 1)]
    return [
        fact("x = y = 1, w = 0: some flow deactivates x",
             -1 in continuation_sides([[1]], [1], [0], 0), True),
        fact("(1,1), (1,0), y = 1, from (2,-2), where the boundary repels: every flow "
             "deactivates x_1", continuation_sides(X, y, w0, 0) == (-1,), True),
        note("there: grad L(w0).x_1, and y_1 |x_1|^2", normal_rates(X, y, w0, 0)),
        note("there: x_1.w(0.1) from either side of the boundary, by DOP853", tuple(later)),
    ]  # fmt: skip


def never_deactivated() -> Counterexample:
    """Proposition 3.1, "if": nothing deactivates x = y = 1 at w = 0, where grad L(w).x = 0."""
    one, at = np.ones((1, 1)), np.zeros(1)
    slope = float((gradient(one, one[0], at) @ one.T)[0])
    loops = [float(plain_descent(one, one[0], [start], 1e-2, 1000).min()) for start in (0.0, 1e-9)]
    return Counterexample(
        instance={"X": [[1]], "y": [1], "w(s)": [0]},
        assumptions={
            **assumptions(one, one[0]),
            "x.w(s) = 0": bool(one[0] @ at == 0.0),
            "grad L(w(s)).x >= 0": slope >= 0.0,
        },
        breaks=(fact("some flow from w(s) has x.w < 0 afterwards (exact departures)",
                     -1 in continuation_sides(one, one[0], [0.0], 0), True),),
        recheck=(
            bound("least x.w of 1000 plain steps from 0, the solution w = 0 of (3)", loops[0],
                  "<", 0.0, ""),
            bound("the same from 1e-9, near the solution 1 - exp(-t)", loops[1], "<", 0.0, ""),
        ),
        route="plain steps of descent; for w < 0 eq. (3) says w' = 0, so nothing gets there",
    )  # fmt: skip
