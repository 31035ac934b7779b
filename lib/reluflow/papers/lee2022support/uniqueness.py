"""Proposition F.4: from every point a flow leaves, and from most starts only one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy
from numpy.typing import NDArray

from reluflow.bruteforce import first_continuations, plain_descent
from reluflow.falsify import Instance, Statement, given
from reluflow.flows.activity import crossings
from reluflow.flows.affine import affine_flow
from reluflow.instances import ORDINARY, data_draws, extended
from reluflow.ledger import Counterexample, Evidence, fact, note
from reluflow.papers.lee2022support.assumptions import assumptions, meets
from reluflow.papers.lee2022support.boundary_points import (
    MIXED,
    common_point,
    continuation_sides,
    foot,
    on_boundary,
    on_several,
    others_off,
)
from reluflow.papers.lee2022support.deactivation import normal_rates
from reluflow.papers.lee2022support.small_starts import unit_of_norm

TOLD = {
    f"{kind}, d = {d}": draw
    for d in (2, 3)
    for kind, draw in data_draws(d, kinds=(*ORDINARY, "degenerate")).items()
}
"""Draws of random starts: at extreme aspect doubles cannot tell a state from a boundary."""


def _signed(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
    return {"X": rng.choice([-1.0, 1.0], item["X"].shape) * item["X"]}


def _start(item: Instance, rng: np.random.Generator, low: float) -> dict[str, NDArray]:
    """A start of any direction, 10^low to 100 times `unit_of_norm`."""
    u = rng.normal(size=item["X"].shape[1])
    length = unit_of_norm(item["X"], item["y"]) * 10.0 ** rng.uniform(low, 2.0)
    return {"w0": length * u / np.linalg.norm(u)}


def some_flow_leaves() -> Statement:
    """sv.propF.4.1: under A2, from every point a flow leaves into a cell, strictly (Prop. F.4).

    Data under A1, and with inputs of either sign.
    """

    def slack(item: Instance) -> float:
        problem = item["X"], item["y"], common_point(item)
        if found := first_continuations(*problem):
            return float(len(found))
        return np.nan if first_continuations(*problem, sure=-1e-9) else 0.0

    plain = extended(MIXED, on_several)
    signed = {f"signed, {kind}": one for kind, one in extended(plain, _signed).items()}
    return Statement("from points on boundaries some flow leaves", {**plain, **signed}, slack,
                     strict=True, fixed=("some",))  # fmt: skip


def _given() -> dict[str, Callable[[Instance], bool]]:
    return given(
        "sv.ours.unique",
        data=lambda item: meets(item, "A2") and bool(item["X"].any(axis=1).all()),
    )


def unique_flow(nonnegative: bool = True) -> Statement:
    """sv.ours.unique: under A2 the flow from a random start never comes to a point that more than
    one flow leaves. `nonnegative`: inputs as in A1, else of either sign."""

    def start(item: Instance, rng: np.random.Generator) -> dict[str, NDArray]:
        moved = item if nonnegative else {**item, **_signed(item, rng)}
        return {**moved, **_start(moved, rng, -2.0)}

    def slack(item: Instance) -> float:
        return 1.0 if affine_flow(item["X"], item["y"], item["w0"]).status == "converged" else -1.0

    says = "A2, random start" + ("" if nonnegative else ", inputs of either sign")
    return Statement(f"{says}: one flow", extended(TOLD, start), slack, _given())


def speed_jumps() -> Statement:
    """What rules out endless switching: at every event of an exact flow |w'|^2 jumps up by at least
    y_j^2 |x_j|^2, j the datum that switches (the velocities on either side, from eq. 3)."""

    def slack(item: Instance) -> float:
        X, y, least = item["X"], item["y"], np.inf
        for step in crossings(X, affine_flow(X, y, item["w0"])):
            left = y - X @ step.w
            left[step.datum] = y[step.datum]  # it is on its boundary, but for rounding
            before, after = (left[on] @ X[on] for on in (step.before, step.after))
            change = (1.0 if step.after[step.datum] else -1.0) * y[step.datum] * X[step.datum]
            least = min(least, float(change @ (after + before) / (change @ change) - 1.0))
        return least

    return Statement(
        "|w'|² jumps up by y_j²|x_j|² or more at every event",
        extended(data_draws(2, kinds=(*ORDINARY, "degenerate")),
                 lambda item, rng: _start(item, rng, -3.0)),
        slack, _given(), tolerance=1e-6,
    )  # fmt: skip


def branching_points(count: int, seed: int) -> tuple[int, int]:
    """How many points drawn on the boundary of one datum, labels positive, and how many of them
    more than one flow leaves: two repelled ones, or one that rests beside one that goes."""
    rng, draws = np.random.default_rng(seed), list(extended(MIXED, on_boundary).values())
    items = [draws[k % len(draws)](rng) for k in range(count)]
    items = [item for item in items if others_off(item)]
    left = [continuation_sides(i["X"], i["y"], foot(i), 0) for i in items]
    return len(items), sum(len(sides) > 1 for sides in left)


def sliding_flows(count: int, seed: int) -> int:
    """How many of `count` flows from random starts, with labels of either sign, come to slide."""
    rng, draws = np.random.default_rng(seed), list(TOLD.values())
    hits = 0
    for k in range(count):
        item = draws[k % len(draws)](rng)
        y = rng.choice([-1.0, 1.0], item["y"].shape) * item["y"]
        u = rng.normal(size=item["X"].shape[1]) * unit_of_norm(item["X"], item["y"])
        hits += any(e.kind == "slide" for e in affine_flow(item["X"], y, u).events)
    return hits


def needs_A2(slides: tuple[int, int]) -> list[Evidence]:
    """What labels below zero do: (1, 0), (1, 1), y = (-2, 2) at (0, 1), where Euler polygons
    chatter, and at random (`slides`: flows tried, those that slide)."""
    X, y, w0 = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([-2.0, 2.0]), np.array([0.0, 1.0])
    s, top = normal_rates(X, y, w0, 0)
    chatter = [float(np.abs(plain_descent(X, y, w0, h, round(0.5 / h)) @ X[0]).max())
               for h in (1e-2, 1e-3)]  # fmt: skip
    return [
        fact("A2 is needed: (1,0), (1,1), y = (-2,2): some flow leaves (0,1), or may stay",
             not (-s > 0.0 > top - s), False),
        note("there: x_1.w' on the inactive and on the active side", (-s, top - s)),
        note("there: largest |x_1.w| up to t = 1/2 of Euler polygons, steps 0.01 and 0.001",
             tuple(chatter), digits=2),
        note("flows with labels of either sign, and those that come to slide", slides),
    ]  # fmt: skip


def branching(points: tuple[int, int], seed: int) -> list[Evidence]:
    """`branching_points` as evidence: those tried, and those that more than one flow leaves."""
    return [
        fact("points on a boundary that more than one flow leaves", points[1], 0),
        note("points on a boundary tried", points[0]),
        note("seed", seed),
    ]


def two_flows_from_rest() -> Counterexample:
    """sv.propF.4.2: the flow is unique (Proposition F.4). For x = y = 1 two flows leave 0."""
    t = sympy.Symbol("t", positive=True)
    grows = 1 - sympy.exp(-t)
    slope = sympy.diff(grows, t)
    # It is 0 at 0 and increases, so x is active for t > 0, where (3) asks for w' = 1 - w.
    solves = sympy.simplify(slope - (1 - grows)) == 0 and bool(slope.is_positive)
    solves = solves and grows.subs(t, 0) == 0
    one = affine_flow([[1.0]], [1.0], [0.0]).status
    return Counterexample(
        instance={"X": [[1]], "y": [1], "w0": [0]},
        assumptions=assumptions(np.ones((1, 1)), np.ones(1)),
        breaks=(fact("the exact flow from w0 is unique", one != "non-unique", True),),
        recheck=(
            fact("1 - exp(-t) fails (3) for t > 0, or equals the solution 0",
                 not solves or grows.subs(t, 1) == 0, True),
        ),
        route="both solutions of (3), w = 0 and w = 1 - exp(-t), checked by computer algebra",
    )  # fmt: skip
