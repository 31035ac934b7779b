"""Propositions 3.1 and 4.1: what a flow does at a boundary, and how that scales with the weight.

Both are tried as printed and as we repair them, as `Statement`s for `falsify`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement
from reluflow.flows.boundaries import departures, tangent_projector, walls
from reluflow.instances import data_draws, extended, readable_data
from reluflow.papers.lee2022support.small_starts import unit_of_norm

MIXED = {f"{kind}, d = {d}": draw for d in (2, 3) for kind, draw in data_draws(d).items()}
"""Draws of data that satisfy A1-A3, in the plane and in space."""


def normal_rates(X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int) -> tuple[float, float]:
    """(s, y_j |x_j|^2) at a point w (d,) on the boundary of x_j: s = grad L(w).x_j, to which x_j
    itself does not contribute (eq. 2). x_j.w changes at the rate -s on the inactive side and
    y_j |x_j|^2 - s on the active one."""
    X, y, w = (np.asarray(v, float) for v in (X, y, w))
    h = X @ w
    h[j] = 0.0
    s = float(np.where(h > 0.0, h - y, 0.0) @ (X @ X[j]))
    return s, float(y[j] * (X[j] @ X[j]))


def departing_sides(X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int) -> tuple[int, ...]:
    """Sides of the boundary of x_j to which flows leave its point w: 1 active, -1 inactive, 0 for
    a flow that stays on it; the other data are off their boundaries, or parallel to x_j."""
    X, y, w = (np.asarray(v, float) for v in (X, y, w))
    h, size = X @ w, np.linalg.norm(X, axis=1) * np.linalg.norm(w)
    on = np.abs(h) <= 1e-12 * size
    on[j] = True
    here = walls(X, y, np.nonzero(on)[0])
    if len(here) > 1:
        raise ValueError("more than one boundary passes through the point")
    P = tangent_projector(np.array([wall.normal for wall in here]), len(w))
    modes = departures(X, y, P @ w, (h > 0.0) & ~on, here)
    towards = 1 if j in here[0].plus else -1
    return tuple(sorted({towards * mode.sides[0] for mode in modes}))


def displaced_sides(X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int) -> tuple[float, float]:
    """x_j.w, in units of its first size, after plain Euler steps from w -+ 1e-8 |w| x_j / |x_j|.

    Shares no code with the exact flow. The ten steps are so long that the slower of the two normal
    velocities moves x_j.w by ten times the displacement. NaN where such steps are too long for
    Euler's method, or may reach another boundary.
    """
    X, y, w = (np.asarray(v, float) for v in (X, y, w))
    length = np.linalg.norm(X[j])
    move = 1e-8 * np.linalg.norm(w) * X[j] / length
    slowest = min(abs(v) for v in _sided_rates(X, y, w, j)) / length
    step = np.linalg.norm(move) / slowest
    sizes, others = np.linalg.norm(X, axis=1), np.arange(len(y)) != j
    fastest = sizes @ (np.abs(y) + sizes * np.linalg.norm(w))
    reach = sizes * (np.linalg.norm(move) + 10 * step * fastest)
    if step * (sizes @ sizes) > 1e-2 or np.any(reach[others] > np.abs(X @ w)[others]):
        return np.nan, np.nan
    ends = []
    for start in (w - move, w + move):
        for _ in range(10):
            h = X @ start
            start = start + step * (np.where(h > 0.0, y - h, 0.0) @ X)
        ends.append(float(X[j] @ start / (X[j] @ move)))
    return ends[0], ends[1]


def _sided_rates(X: NDArray, y: NDArray, w: NDArray, j: int) -> tuple[float, float]:
    others = np.arange(len(y)) != j
    h = X @ w
    v = np.where((h > 0.0) & others, y - h, 0.0) @ X
    return float(v @ X[j]), float((v + y[j] * X[j]) @ X[j])


def _on_boundary(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """A point w on the boundary of x_1, of random direction, near and far."""
    x = item["X"][0] / np.linalg.norm(item["X"][0])
    w = rng.normal(size=len(x))
    w -= (w @ x) * x
    length = unit_of_norm(item["X"], item["y"]) * 10.0 ** rng.uniform(-1.0, 1.5)
    return {"w": length * w / np.linalg.norm(w)}


@st.composite
def _readable_point(draw_value):
    """Whole numbers: data in the plane, and a point w on the boundary of x_1."""
    item = draw_value(readable_data(2, (1, 3)))
    k = draw_value(st.integers(-4, 4).filter(bool))
    return {**item, "w": k * np.array([item["X"][0, 1], -item["X"][0, 0]])}


def _foot(item: Instance) -> NDArray:
    """The point of x_1's boundary nearest to w, for a search moves data and point."""
    x, w = item["X"][0], item["w"]
    return w - (w @ x) / (x @ x) * x


def _others_off(item: Instance) -> bool:
    X, w = item["X"][1:], _foot(item)
    return bool(np.all(np.abs(X @ w) > 1e-3 * np.linalg.norm(X, axis=1) * np.linalg.norm(w)))


def _clear_rates(item: Instance) -> bool:
    s, top = normal_rates(item["X"], item["y"], _foot(item), 0)
    return min(abs(s), abs(top - s)) > 1e-3 * max(abs(s), top)


def branching_points(count: int, seed: int) -> tuple[int, int]:
    """How many points drawn on the boundary of one datum, labels positive, and how many of them
    more than one flow leaves: two repelled ones, or one that rests beside one that goes."""
    rng, draws = np.random.default_rng(seed), list(extended(MIXED, _on_boundary).values())
    items = [draws[k % len(draws)](rng) for k in range(count)]
    items = [item for item in items if _others_off(item)]
    left = [departing_sides(i["X"], i["y"], _foot(i), 0) for i in items]
    return len(items), sum(len(sides) > 1 for sides in left)


def deactivates_if() -> Statement:
    """Proposition 3.1, if, at a point on the boundary of x_1 alone: where grad L(w).x_1 >= 0, every
    flow that leaves the point deactivates x_1."""

    def slack(item: Instance) -> float:
        sides = departing_sides(item["X"], item["y"], _foot(item), 0)
        return 1.0 if all(side < 0 for side in sides) else -1.0

    def pushed(item: Instance) -> bool:
        return normal_rates(item["X"], item["y"], _foot(item), 0)[0] >= 0.0

    return Statement(
        says="deactivated where grad L(w).x ≥ 0",
        draws=extended(MIXED, _on_boundary),
        slack=slack,
        hypotheses={"no other datum on its boundary": _others_off, "grad L(w).x ≥ 0": pushed},
        readable=_readable_point(),
    )


def deactivation_repaired() -> Statement:
    """Our repair of Proposition 3.1: s > y|x|^2 deactivates, s < 0 activates, and in between the
    boundary repels on both sides. Asked of Euler steps from displaced starts and of the exact
    departures."""

    def slack(item: Instance) -> float:
        s, top = normal_rates(item["X"], item["y"], _foot(item), 0)
        sides = set(departing_sides(item["X"], item["y"], _foot(item), 0)) - {0}
        if sides != ({-1} if s > top else {1} if s < 0.0 else {-1, 1}):
            return -1.0
        below, above = displaced_sides(item["X"], item["y"], _foot(item), 0)
        first, second = (1 if s < 0.0 else -1), (1 if s < top else -1)
        return min(first * below, second * above)

    return Statement(
        says="three ranges of grad L(w).x",
        draws=extended(MIXED, _on_boundary),
        slack=slack,
        hypotheses={"no other datum on its boundary": _others_off, "s apart from 0 and y|x|²":
                    _clear_rates},
        strict=True,
        readable=_readable_point(),
    )  # fmt: skip


def alpha_star(X: ArrayLike, y: ArrayLike, w0: ArrayLike, j: int) -> Fraction | None:
    """x_j.q / x_j.H w0 on the cell of w0, exactly; None where the denominator is zero."""
    rows, labels, w = _exact(X), [Fraction(v) for v in np.asarray(y).tolist()], _exact([w0])[0]
    top = bottom = Fraction(0)
    for x, label in zip(rows, labels, strict=True):
        h = _dot(x, w)
        if h > 0:
            top += label * _dot(x, rows[j])
            bottom += h * _dot(x, rows[j])
    return top / bottom if bottom else None


def slope_along(X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int, alpha: Fraction) -> Fraction:
    """grad L(alpha w).x_j, exactly, term by term as in eq. (2)."""
    rows, labels = _exact(X), [Fraction(v) for v in np.asarray(y).tolist()]
    point = [alpha * c for c in _exact([w])[0]]
    active = [(x, _dot(x, point) - v) for x, v in zip(rows, labels, strict=True)
              if _dot(x, point) > 0]  # fmt: skip
    return _dot([sum((r * x[k] for x, r in active), Fraction(0)) for k in range(len(point))],
                rows[j])  # fmt: skip


def _exact(rows: ArrayLike) -> list[list[Fraction]]:
    return [[Fraction(v) for v in row] for row in np.asarray(rows).tolist()]


def _dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


def _any_start(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    return {"w0": rng.normal(size=item["X"].shape[1])}


def alpha_statement() -> Statement:
    """Proposition 4.1 for x_1 under A1, at alpha below, at and above alpha_1*, in rational
    arithmetic; alpha_1* is defined if x_1 is not orthogonal to all active data."""

    def slack(item: Instance) -> float:
        star = alpha_star(item["X"], item["y"], item["w0"], 0)
        if star is None:
            return np.nan
        tried = {Fraction(1, 2), Fraction(1), Fraction(2)}
        tried |= {k * star for k in (Fraction(1, 2), Fraction(1), Fraction(2)) if star > 0}
        agrees = [(slope_along(item["X"], item["y"], item["w0"], 0, a) >= 0) == (a >= star)
                  for a in tried]  # fmt: skip
        return 1.0 if all(agrees) else -1.0

    def defined(item: Instance) -> bool:
        on = item["X"] @ item["w0"] > 0
        return bool(np.any(item["X"][on] @ item["X"][0] > 0))

    return Statement("grad L(α w0).x_j ≥ 0 iff α ≥ α_j*", extended(MIXED, _any_start), slack,
                     {"α_j* is defined": defined})  # fmt: skip
