"""The page `dynamics`: Propositions 3.1, 4.1 and F.4, Figure 2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import cycle, islice, repeat
from typing import Any

import numpy as np
from flint import fmpq_poly
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from reluflow.exact import fractions
from reluflow.falsify import Instance, Statement, extended, given, statement
from reluflow.flows.affine import affine_flow
from reluflow.ledger import Counterexample, Evidence, Reading, bound, deviation, fact, note
from reluflow.papers.lee2022support import rational
from reluflow.papers.lee2022support.landscape import gradient
from reluflow.papers.lee2022support.setting import (
    MIXED,
    ORDINARY,
    also,
    assumptions,
    common_point,
    continuation_sides,
    data_on,
    few,
    first_continuations,
    foot,
    in_dimensions,
    meets,
    on_boundary,
    on_several,
    others_off,
    plain_descent,
    readable_data,
    signed,
    unit_of_norm,
)

# --- Proposition 3.1: at which points of a boundary a flow deactivates a datum --------------------


def normal_rates(X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int) -> tuple[Any, Any]:
    """(s, y_j |x_j|^2), s = grad L(w).x_j, at w (d,) on the boundary of x_j: x_j.w changes at the
    rate -s on its inactive side, and at y_j |x_j|^2 - s on the active one. Exact for fractions."""
    X, y = np.asarray(X), np.asarray(y)
    h = X @ np.asarray(w)
    h[j] = 0
    return ((h - y) * (h > 0)) @ (X @ X[j]), y[j] * (X[j] @ X[j])


def rates_at_foot(item: Instance) -> tuple[Any, Any]:
    """`normal_rates` of x_1 at its boundary's point nearest to the instance's w."""
    return normal_rates(item["X"], item["y"], foot(item), 0)


def displaced_sides(X: NDArray, y: NDArray, w: NDArray, j: int) -> tuple[float, float]:
    """x_j.w, in units of its first size, after four plain Euler steps from w minus and plus a part
    of x_j: of fractions, w on the boundary of x_j alone. Shares no code with the exact flow.

    Up to r from w in each entry no other datum switches, and x_j.w changes, on either side, at the
    rate at w but for half of the slower one. The steps stay there, and each moves x_j.w by at least
    its first size; so near w every flow goes as they do, however slow it is."""
    gram, sizes, h = X @ X[j], np.abs(X).sum(axis=1), np.abs(X @ w)
    s, top = normal_rates(X, y, w, j)
    slower = min(abs(s), abs(top - s))
    r = min([slower / (2 * sizes @ np.abs(gram)), *np.delete(h, j) / np.delete(sizes, j)])
    longest = r / (5 * sizes @ (np.abs(y) + h + r * sizes))
    step = Fraction(2) ** math.floor(math.log2(longest))  # a short fraction
    move = step * slower / (2 * gram[j]) * X[j]
    below, above = (plain_descent(X, y, start, step, 4)[-1] for start in (w - move, w + move))
    return float(X[j] @ below / (X[j] @ move)), float(X[j] @ above / (X[j] @ move))


@st.composite
def _readable_point(draw_value):
    """Whole numbers: data in the plane, and a point w on the boundary of x_1."""
    item = draw_value(readable_data(2, (1, 3)))
    k = draw_value(st.integers(-4, 4).filter(bool))
    return {**item, "w": k * np.array([item["X"][0, 1], -item["X"][0, 0]])}


@statement("deactivated where grad L(w).x ≥ 0", extended(MIXED, on_boundary),
           {"no other datum on its boundary": others_off,
            "grad L(w).x ≥ 0": lambda item: rates_at_foot(item)[0] >= 0.0},
           readable=_readable_point())  # fmt: skip
def deactivates_if(item: Instance) -> float:
    """sv.prop3.1.1: whether every flow from w, on the boundary of x_1 alone, deactivates x_1."""
    sides = continuation_sides(item["X"], item["y"], foot(item), 0)
    return 1.0 if all(side < 0 for side in sides) else -1.0


def _near_a_change(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    """w so long, where it can be, that grad L(w).x_1 is a tenth to 1e-9 of y_1 |x_1|^2 beside 0 or
    beside y_1 |x_1|^2."""
    (s, top), (grows, _) = rates_at_foot(item), rates_at_foot({**item, "y": 0.0 * item["y"]})
    share = rng.integers(2) + rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-9.0, -1.0)
    wanted = grows - s + share * top
    return {"w": item["w"] * (wanted / grows if grows * wanted > 0.0 else 1.0)}


def deactivation_repaired() -> Statement:
    """sv.ours.deactivation: asked of Euler steps beside w and of the velocities to first order, in
    fractions, so that rounding decides nothing."""

    def exact(item: Instance) -> Instance:
        return {name: fractions(item[name]) for name in "Xyw"}

    def point(item: Instance) -> bool:
        (x, *rest), y = (known := exact(item))["X"], item["y"]
        return bool(x.any() and y[0] > 0.0 and all(other @ foot(known) for other in rest))

    def rate(item: Instance) -> bool:
        s, top = rates_at_foot(exact(item))
        return s not in (0, top)

    def slack(item: Instance) -> float:
        s, top = rates_at_foot(known := exact(item))
        below, above = displaced_sides(known["X"], known["y"], foot(known), 0)
        return min(below if s < 0 else -below, above if s < top else -above)

    def any_sign(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        turn = [rng.choice([-1.0, 1.0], item[name].shape) for name in "Xy"]
        turn[1][0] = 1.0  # x_1's own label is positive, and nothing else is
        return {"X": turn[0] * item["X"], "y": turn[1] * item["y"]}

    draws = extended(also("any sign", MIXED, any_sign), on_boundary)
    return Statement(says="three ranges of grad L(w).x", slack=slack, strict=True,
                     draws=also("near a change", draws, _near_a_change),
                     hypotheses=given("sv.ours.deactivation", point=point, rate=rate),
                     readable=_readable_point())  # fmt: skip


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
    """The data (n,) on whose boundary the point is, and those that each flow from it loses."""
    w = common_point(item)
    on = data_on(item["X"], w)
    off = [on & ~active for active, _ in first_continuations(item["X"], item["y"], w)]
    return on, [some for some in off if some.any()]


@statement("grad L(w).x >= 0 where a flow deactivates x",
           extended(extended(MIXED, on_several), _forced),
           {"some flow deactivates a datum": lambda item: bool(_leaving(item)[1])}, tolerance=1e-9,
           fixed=("some",))  # fmt: skip
def deactivates_only_if(item: Instance) -> float:
    """sv.prop3.1.2: the least grad L(w).x_j over data that some flow from w deactivates."""
    X, y = item["X"], item["y"]
    h, (on, off) = X @ common_point(item), _leaving(item)
    force = np.where(on, 0.0, np.maximum(h, 0.0) - y * (h > 0.0)) @ X
    size = np.linalg.norm(X, axis=1) * (np.linalg.norm(force) + 1e-300)
    return min(float(np.min((X @ force / size)[some])) for some in off)


def repelled(X: NDArray, y: NDArray, w0: ArrayLike) -> list[Evidence]:
    """A start on the boundary of x_1 from which one flow deactivates x_1, another activates it."""
    return [
        fact("(1,1), (1,0), y = 1, from (2,-2), where the boundary repels: every flow "
             "deactivates x_1", continuation_sides(X, y, w0, 0) == (-1,), True),
        note("there: grad L(w0).x_1, and y_1 |x_1|^2", normal_rates(X, y, w0, 0)),
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


# --- Figure 2: the forces along a ray (Prop. 4.1), a datum that must be let go (Example 3.5) ------


def alpha_star(X: ArrayLike, y: ArrayLike, w0: ArrayLike, j: int) -> Fraction | None:
    """x_j.q / x_j.H w0 on the cell of w0, exactly; None where the denominator is zero."""
    X, y, w = fractions(X), fractions(y), fractions(w0)
    h = X @ w
    along = (X @ X[j]) * (h > 0)
    return y @ along / (h @ along) if h @ along else None


def slope_along(X: ArrayLike, y: ArrayLike, w: ArrayLike, j: int, alpha: Fraction) -> Fraction:
    """grad L(alpha w).x_j, exactly, as in eq. (2)."""
    X, y, point = fractions(X), fractions(y), alpha * fractions(w)
    h = X @ point
    return ((h - y) * (h > 0)) @ X @ X[j]


@statement("grad L(α w0).x_j ≥ 0 iff α ≥ α_j*",
           extended(MIXED, lambda item, rng: {"w0": rng.normal(size=item["X"].shape[1])}),
           {"α_j* is defined": lambda X, w0: np.any(X[X @ w0 > 0] @ X[0] > 0)})  # fmt: skip
def alpha_statement(X: NDArray, y: NDArray, w0: NDArray) -> float:
    """sv.prop4.1.1: for x_1, at alpha below, at and above alpha_1*, in rational arithmetic."""
    star = alpha_star(X, y, w0, 0)
    if star is None:
        return np.nan
    tried = {Fraction(1, 2), Fraction(1), Fraction(2)}
    tried |= {k * star for k in tried if star > 0}
    agrees = [(slope_along(X, y, w0, 0, a) >= 0) == (a >= star) for a in tried]
    return 1.0 if all(agrees) else -1.0


def undefined_and_reversed() -> Reading:
    """How Proposition 4.1 is read, and what x_j orthogonal to all active data, or A1 broken, do."""
    undefined = alpha_star([[1, 0], [0, 1]], [1, 1], [1, -1], 1) is None
    so = {True: "checked", False: "not so"}
    opposite = [slope_along([[1], [-1]], [1, 1], [1], 1, Fraction(a)) for a in (1, 2)]
    return Reading(
        taken="alpha > 0, and x_j is not orthogonal to all data active at w0; then x_j.H w0 > "
        "0 by A1",
        others="If x_j is orthogonal to all active data, alpha_j* is 0/0 and grad L.x_j = 0 "
        f"for all alpha, as for x = (1,0), (0,1), w0 = (1,-1), j = 2 ({so[undefined]}). "
        "Without A1 the denominator can be negative, which reverses the inequality: for x = 1, "
        f"-1, y = (1,1), w0 = 1, alpha_2* = 1 but grad L(2 w0).x_2 = {opposite[1]} "
        f"({so[opposite[0] == 0 > opposite[1]]}).",
    )


def still_at_alpha_star() -> tuple[list[Evidence], Counterexample]:
    """sv.prop4.1.2: for x = y = w0 = 1 it is an equality at alpha = min alpha_j*."""
    X, y, w0 = np.ones((1, 1), int), np.ones(1, int), np.ones(1, int)
    stars, step = [alpha_star(X, y, w0, j) for j in range(len(y))], Fraction(1, 1000)
    star = min(value for value in stars if value is not None)
    loss_at = [rational.neuron_loss(X, y, [star + k * step]) for k in (-1, 1)]
    slope = (loss_at[1] - loss_at[0]) / (2 * step)
    force = -float(gradient(X, y, float(star) * w0)[0])
    above = "x = y = w0 = 1: -grad L(alpha w0).x > 0 at alpha = min alpha_j*"
    return [fact(above, force > 0, True)], Counterexample(
        instance={"X": X, "y": y, "w0": w0, "alpha": star},
        assumptions={**assumptions(X, y), "0 < alpha <= min_j alpha_j*": star > 0,
                     "all alpha_j* are defined": None not in stars},
        breaks=(bound("-grad L(alpha w0).x_1", force, ">", 0, ""),),
        recheck=(bound("difference quotient of -L at alpha w0 along x_1", -slope, ">", 0, ""),),
        route="losses in rational arithmetic; the central quotient of a quadratic is exact",
    )  # fmt: skip


def must_deactivate(
    X: ArrayLike, y: ArrayLike, datum: int, norms: Sequence[float], count: int, seed: int
) -> tuple[list[Evidence], Reading]:
    """sv.ex3.5: `count` starts in the all-active cell, whose virtual minimum has `datum` (from 0)
    inactive, at each of the `norms`, the last of which is far out."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    rest = [j for j in range(len(y)) if j != datum]
    whole, kept = rational.fit(X, y, list(range(len(y)))), rational.fit(X, y, rest)

    rng, lost, apart = np.random.default_rng(seed), [], []
    for norm in norms:
        inside = (u for u in (rng.normal(size=2) for _ in repeat(None)) if np.all(X @ u > 0))
        starts = [norm * u / np.linalg.norm(u) for u in islice(inside, count)]
        paths = [affine_flow(X, y, w0) for w0 in starts]
        lost.append(sum(bool(p.events) and p.events[0].datum == datum for p in paths))
        apart.append([np.linalg.norm(p.end - np.array(kept.w, float)) for p in paths])
    elsewhere = int(np.sum(np.array(apart[-1]) > 1e-6))
    negative = tuple(j + 1 for j, h in enumerate(whole.preactivations) if h < 0)
    evidence = [
        fact("data inactive at the virtual minimum of the all-active cell", negative,
             (datum + 1,)),
        fact("the optimum of the other two is a local minimum",
             kept.is_local_minimum, True),
        *[fact(f"|w0| = {norm:g}: starts whose flow loses x_{datum + 1} first", k, count)
          for norm, k in zip(norms[:-1], lost[:-1], strict=True)],
        deviation("their limits against the optimum of the other two, exact fit",
                  float(np.max(apart[:-1])), ""),
        note("virtual minimum, and optimum of the other two", (whole.w, kept.w)),
        note(f"|w0| = {norms[-1]:g}: starts whose flow loses x_{datum + 1} first",
             (lost[-1], count)),
        note(f"|w0| = {norms[-1]:g}: starts with another limit", (elsewhere, count)),
        note("seed", seed),
    ]  # fmt: skip
    return evidence, Reading(
        "The figure prints no data: they are ours. The flow is that of a start near the "
        "origin, as Section 4.1 recalls the figure.",
        f"For all starts in the cell it is false: at |w0| = {norms[-1]:g}, "
        f"{count - lost[-1]} of {count} flows do not lose x_{datum + 1} first, "
        f"and {elsewhere} end elsewhere.",
    )


# --- Proposition F.4: from every point a flow leaves, and from most starts only one ---------------


@statement("from points on boundaries some flow leaves",
           also("signed", extended(MIXED, on_several), signed), strict=True,
           fixed=("some",))  # fmt: skip
def some_flow_leaves(item: Instance) -> float:
    """sv.propF.4.1: under A2, from every point a flow leaves into a cell, strictly (Prop. F.4)."""
    problem = item["X"], item["y"], common_point(item)
    if found := first_continuations(*problem):
        return float(len(found))
    return np.nan if first_continuations(*problem, sure=-1e-9) else 0.0


TOLD = in_dimensions((2, 3), 8, (*ORDINARY, "degenerate"))
"""At extreme aspect doubles cannot tell a state from a boundary."""


def unique_flow() -> Statement:
    """sv.ours.unique: whether a random start's flow comes to no point that more than one leaves."""

    def start(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        u = rng.normal(size=item["X"].shape[1])
        length = unit_of_norm(item["X"], item["y"]) * 10.0 ** rng.uniform(-2.0, 2.0)
        return {"w0": length * u / np.linalg.norm(u)}

    def slack(item: Instance) -> float:
        return 1.0 if affine_flow(item["X"], item["y"], item["w0"]).status == "converged" else -1.0

    def data(item: Instance) -> bool:
        return meets(item, "A2") and bool(item["X"].any(axis=1).all())

    draws = extended(also("few", also("signed", TOLD, signed), few), start)
    return Statement("A2, random start: one flow", draws, slack, given("sv.ours.unique", data=data))


def branching(count: int, seed: int) -> list[Evidence]:
    """Points on the boundary of one datum, and how many of them more than one flow leaves."""
    rng, draws = np.random.default_rng(seed), cycle(extended(MIXED, on_boundary).values())
    items = [item for draw in islice(draws, count) if others_off(item := draw(rng))]
    # One flow leaves on the active side; another on the inactive one, or along the boundary.
    found = sum(0.0 <= s < top for s, top in map(rates_at_foot, items))
    return [fact("points on a boundary that more than one flow leaves", found, 0),
            note("points on a boundary tried", len(items)), note("seed", seed)]  # fmt: skip


def two_flows_from_rest() -> Counterexample:
    """sv.propF.4.2: the flow is unique (Proposition F.4). For x = y = 1 two flows leave 0."""
    u = fmpq_poly([0, 1])  # exp(-t), whose derivative is -u
    grows = 1 - u
    slope = -u * grows.derivative()
    # It is 0 at 0 and increases, so x is active for t > 0, where (3) asks for w' = 1 - w.
    solves = slope == 1 - grows == u and grows(1) == 0
    one = affine_flow([[1.0]], [1.0], [0.0]).status
    return Counterexample(
        instance={"X": [[1]], "y": [1], "w0": [0]},
        assumptions=assumptions(np.ones((1, 1)), np.ones(1)),
        breaks=(fact("the exact flow from w0 is unique", one != "non-unique", True),),
        recheck=(
            fact("1 - exp(-t) fails (3) for t > 0, or equals the solution 0",
                 not solves or grows == 0, True),
        ),
        route="both solutions of (3), w = 0 and w = 1 - exp(-t), checked as polynomials in exp(-t)",
    )  # fmt: skip
