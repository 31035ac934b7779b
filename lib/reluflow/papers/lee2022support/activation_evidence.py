"""Propositions 3.1, 4.1 and F.4, Theorem 4.3, Lemma F.5 and Example 3.5, as evidence.

Each function returns the arguments of `Ledger.settle`; a refutation is measured by two routes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from reluflow import rational
from reluflow.bruteforce import integrate, plain_descent
from reluflow.falsify import Report, survived
from reluflow.flows.affine import affine_flow
from reluflow.geometry import virtual_minimum
from reluflow.ledger import Counterexample, Reading, bound, deviation, fact, note
from reluflow.networks import gradient
from reluflow.papers.lee2022support.activation import (
    alpha_star,
    departing_sides,
    normal_rates,
    slope_along,
)
from reluflow.papers.lee2022support.activation_starts import EntryRadius, ExclusionSurvey
from reluflow.papers.lee2022support.assumptions import assumptions
from reluflow.papers.lee2022support.departures import first_departures

Settlement = dict[str, Any]


def deactivation_if(report: Report, X: NDArray, y: NDArray, w0: ArrayLike) -> Settlement:
    """Proposition 3.1, "if": refuted by x = y = 1 at w = 0, where nothing deactivates the datum;
    and a start w0 on the boundary of x_1 of X, y, from which one of two flows activates it."""
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    unit = 1e-6 * X[0] / np.linalg.norm(X[0])
    later = [float(X[0] @ integrate(X, y, w0 + k * unit, 0.1)) for k in (-1, 1)]
    sides = departing_sides(X, y, w0, 0)
    s, top = normal_rates(X, y, w0, 0)
    one = np.ones((1, 1))
    slope = float((gradient(one, one[0], np.zeros(1)) @ one.T)[0])
    loops = [float(plain_descent(one, one[0], [start], 1e-2, 1000).min()) for start in (0.0, 1e-9)]
    return {
        "evidence": [
            *survived(report),
            fact("x = y = 1, w = 0: some flow deactivates x",
                 -1 in departing_sides(one, one[0], [0.0], 0), True),
            fact("(1,1), (1,0), y = 1, from (2,-2), where the boundary repels: every flow "
                 "deactivates x_1", sides == (-1,), True),
            note("there: grad L(w0).x_1, and y_1 |x_1|^2", (s, top)),
            note("there: x_1.w(0.1) from either side of the boundary, by DOP853",
                 tuple(later)),
        ],
        "counterexample": Counterexample(
            instance={"X": [[1]], "y": [1], "w(s)": [0]},
            assumptions={
                **assumptions(one, one[0]),
                "x.w(s) = 0": True,
                "grad L(w(s)).x >= 0": slope >= 0.0,
            },
            breaks=(
                fact("some flow from w(s) has x.w < 0 afterwards (exact departures)",
                     -1 in departing_sides(one, one[0], [0.0], 0), True),
            ),
            recheck=(
                bound("least x.w of 1000 plain steps from 0, the solution w = 0 of (3)", loops[0],
                      "<", 0.0, ""),
                bound("the same from 1e-9, near the solution 1 - exp(-t)", loops[1],
                      "<", 0.0, ""),
            ),
            route="plain steps of descent; for w < 0 eq. (3) says w' = 0, so nothing gets there",
        ),
    }  # fmt: skip


def deactivation_only_if(report: Report) -> Settlement:
    """Proposition 3.1, "only if", under A1 and A2; and what happens without either of them."""
    without_A1 = ([[1, 1], [-1, -1], [1, 0]], [1, 1, 1], [0.5, -0.5])
    without_A2 = ([[1, 0, 0], [1, 1, 0], [0.5, 2, 1]], [1, -1, 2], [0, 0, 1])
    lost = [
        any(not on[0] and np.array(X)[0] @ v < 0.0 for on, v in first_departures(X, y, w))
        and normal_rates(X, y, w, 0)[0] < 0.0
        for X, y, w in (without_A1, without_A2)
    ]
    return {
        "evidence": [
            *survived(report),
            fact("A1 is needed: (1,1), (-1,-1), (1,0), y = 1, at (1/2,-1/2): some flow deactivates "
                 "x_1 though grad L.x_1 < 0", lost[0], True),
            fact("A2 is needed: (1,0,0), (1,1,0), (1/2,2,1), y = (1,-1,2), at (0,0,1): likewise",
                 lost[1], True),
        ]
    }  # fmt: skip


def deactivation_ranges(report: Report) -> Settlement:
    """Our repair of Proposition 3.1, against Euler steps and the exact departures."""
    return {"evidence": survived(report)}


def scaling(report: Report) -> Settlement:
    """Proposition 4.1, for the data x_j for which alpha_j* is defined."""
    undefined = alpha_star([[1, 0], [0, 1]], [1, 1], [1, -1], 1) is None
    opposite = [slope_along([[1], [-1]], [1, 1], [1], 1, Fraction(a)) for a in (1, 2)]
    return {
        "evidence": survived(report),
        "reading": Reading(
            taken="alpha > 0, and x_j is not orthogonal to all data active at w0; then x_j.H w0 > "
            "0 by A1",
            others="If x_j is orthogonal to all active data, alpha_j* is 0/0 and grad L.x_j = 0 "
            f"for all alpha, as for x = (1,0), (0,1), w0 = (1,-1), j = 2 ({_yes(undefined)}). "
            "Without A1 the denominator can be negative, which reverses the inequality: for x = 1, "
            f"-1, y = (1,1), w0 = 1, alpha_2* = 1 but grad L(2 w0).x_2 = {opposite[1]} "
            f"({_yes(opposite[0] == 0 > opposite[1])}).",
        ),
    }


def _yes(value: bool) -> str:
    return "checked" if value else "not so"


def scaling_ends() -> Settlement:
    """Proposition 4.1, the strict corollary of its proof: for x = y = w0 = 1 it is an equality at
    alpha = min alpha_j*."""
    X, y, w0 = np.ones((1, 1), int), np.ones(1, int), np.ones(1, int)
    star, step = alpha_star(X, y, w0, 0), Fraction(1, 1000)
    loss_at = [rational.neuron_loss(X, y, [star + k * step]) for k in (-1, 1)]
    slope = (loss_at[1] - loss_at[0]) / (2 * step)
    force = -float(gradient(X, y, float(star) * w0)[0])
    return {
        "evidence": [fact("x = y = w0 = 1: -grad L(alpha w0).x > 0 at alpha = min alpha_j*",
                          force > 0, True)],
        "counterexample": Counterexample(
            instance={"X": X, "y": y, "w0": w0, "alpha": star},
            assumptions={**assumptions(X, y), "0 < alpha <= min_j alpha_j*": star > 0,
                         "all alpha_j* are defined": star is not None},
            breaks=(bound("-grad L(alpha w0).x_1", force, ">", 0, ""),),
            recheck=(bound("difference quotient of -L at alpha w0 along x_1", -slope,
                           ">", 0, ""),),
            route="losses in rational arithmetic; the central quotient of a quadratic is exact",
        ),
    }  # fmt: skip


def excluded_minima(
    report: Report, at_equality: tuple[int, int], survey: ExclusionSurvey, seed: int
) -> Settlement:
    """Theorem 4.3: limits of flows, starts at equality in (7), and how often (7) holds."""
    flows, off = at_equality
    return {
        "evidence": [
            *survived(report),
            fact("starts at equality in (7) whose limit lacks the datum", off, 0),
            fact("minima excluded by (7) and reached", survey.contradicted, 0),
            note("starts at equality", flows),
            note("(7) holds, of random pairs of a minimum with data off and a start",
                 (survey.holding, survey.pairs)),
            note("the same for |w0| < |w_GM| / 10", (survey.small_holding, survey.small)),
            note("minima of those pairs that the flow reaches", survey.reached),
            note("seed", seed),
        ]
    }  # fmt: skip


def existence(report: Report, slides: tuple[int, int]) -> Settlement:
    """Proposition F.4, existence: departures from points under A2; and what labels below zero do,
    for (1, 0), (1, 1), y = (-2, 2) at (0, 1) and at random (`slides`: tried, those that slide)."""
    X, y, w0 = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([-2.0, 2.0]), np.array([0.0, 1.0])
    s, top = normal_rates(X, y, w0, 0)
    chatter = [float(np.abs(plain_descent(X, y, w0, h, round(0.5 / h)) @ X[0]).max())
               for h in (1e-2, 1e-3)]  # fmt: skip
    return {
        "evidence": [
            *survived(report),
            fact("A2 is needed: (1,0), (1,1), y = (-2,2): some flow leaves (0,1), or may stay",
                 not (-s > 0.0 > top - s), False),
            note("there: x_1.w' on the inactive and on the active side", (-s, top - s)),
            note("there: largest |x_1.w| up to t = 1/2 of Euler polygons, steps 0.01 and 0.001",
                 tuple(chatter), digits=2),
            note("flows with labels of either sign, and those that come to slide", slides),
        ]
    }  # fmt: skip


def uniqueness(points: tuple[int, int], seed: int) -> Settlement:
    """Proposition F.4, uniqueness: branching at `points` on boundaries (tried, hits), and for
    x = y = 1 from 0."""
    t = sympy.Symbol("t", positive=True)
    grows = 1 - sympy.exp(-t)
    slope = sympy.diff(grows, t)
    # It is 0 at 0 and increases, so x is active for t > 0, where (3) asks for w' = 1 - w.
    solves = sympy.simplify(slope - (1 - grows)) == 0 and bool(slope.is_positive)
    solves = solves and grows.subs(t, 0) == 0
    one = affine_flow([[1.0]], [1.0], [0.0]).status
    return {
        "evidence": [
            fact("points on a boundary that more than one flow leaves", points[1], 0),
            note("points on a boundary tried", points[0]),
            note("seed", seed),
        ],
        "counterexample": Counterexample(
            instance={"X": [[1]], "y": [1], "w0": [0]},
            assumptions=assumptions(np.ones((1, 1)), np.ones(1)),
            breaks=(fact("the exact flow from w0 is unique", one != "non-unique", True),),
            recheck=(
                fact("1 - exp(-t) fails (3) for t > 0, or equals the solution 0",
                     not solves or grows.subs(t, 1) == 0, True),
            ),
            route="both solutions of (3), w = 0 and w = 1 - exp(-t), checked by computer algebra",
        ),
    }  # fmt: skip


def unique_at_random(reports: Sequence[Report], jumps: Report) -> Settlement:
    """Our repair of Proposition F.4: random starts, and the jump of |w'|^2 that its proof uses."""
    return {"evidence": survived(*reports, jumps)}


def entry(report: Report) -> Settlement:
    """Lemma F.5, at shrinking norms."""
    return {"evidence": survived(report)}


def entry_radius(report: Report, found: EntryRadius, X: NDArray, y: NDArray) -> Settlement:
    """Our delta_0 for Lemma F.5, and the largest delta of the data X, y in the plane."""
    loops = []
    for factor in (0.99, 1.01):
        path = plain_descent(X, y, factor * found.radius * found.direction, 1e-2, 4000)
        loops.append(bool(np.any((path @ np.asarray(X).T > 0).all(axis=1))))
    return {
        "evidence": [
            *survived(report),
            bound("delta_0 / delta*, Example 5.1", found.guarantee / found.radius, "<=", 1.0, ""),
            fact("plain descent enters from 0.99 delta*, from 1.01 delta*", tuple(loops),
                 (True, False)),
            note("delta* of Example 5.1", found.radius, digits=3),
            note("delta_0 of Example 5.1", found.guarantee, digits=3),
        ]
    }  # fmt: skip


def must_deactivate(
    X: NDArray, y: NDArray, datum: int, norms: Sequence[float], count: int, seed: int
) -> Settlement:
    """Example 3.5 on our data: `count` starts in the all-active cell at each of the `norms`, the
    last of which is far out; the virtual minimum of that cell has `datum` (from 0) inactive."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    rest = [j for j in range(len(y)) if j != datum]
    whole, kept = rational.fit(X, y, list(range(len(y)))), rational.fit(X, y, rest)
    target, rng = np.array(kept.w, float), np.random.default_rng(seed)
    first, apart = [], []
    for norm in norms:
        ends, lost = [], 0
        while len(ends) < count:
            u = rng.normal(size=2)
            if np.all(X @ u > 0):
                path = affine_flow(X, y, norm * u / np.linalg.norm(u))
                lost += bool(path.events) and path.events[0].datum == datum
                ends.append(float(np.linalg.norm(path.end - target)))
        first.append(lost)
        apart.append(ends)
    virtual, _ = virtual_minimum(X, y, np.ones(len(y), bool))
    off = float(np.linalg.norm(virtual - np.array(whole.w, float)))
    negative = tuple(j + 1 for j, h in enumerate(whole.preactivations) if h < 0)
    far = sum(v > 1e-6 for v in apart[-1])
    return {
        "evidence": [
            fact("data inactive at the virtual minimum of the all-active cell", negative,
                 (datum + 1,)),
            fact("the optimum of the other two is a local minimum",
                 rational.is_local_minimum(kept, rest), True),
            *[fact(f"|w0| = {norm:g}: starts whose flow loses x_{datum + 1} first", lost, count)
              for norm, lost in zip(norms[:-1], first[:-1], strict=True)],
            deviation("their limits against the optimum of the other two, exact fit",
                      max(max(v) for v in apart[:-1]), ""),
            deviation("virtual minimum against the exact fit", off, ""),
            note("virtual minimum, and optimum of the other two", (whole.w, kept.w)),
            note(f"|w0| = {norms[-1]:g}: starts whose flow loses x_{datum + 1} first",
                 (first[-1], count)),
            note(f"|w0| = {norms[-1]:g}: starts with another limit", (far, count)),
            note("seed", seed),
        ],
        "tolerance": 1e-6,
        "reading": Reading(
            "The figure prints no data: they are ours. The flow is that of a start near the "
            "origin, as Section 4.1 recalls the figure.",
            f"For all starts in the cell it is false: at |w0| = {norms[-1]:g}, "
            f"{count - first[-1]} of {count} flows do not lose x_{datum + 1} first, "
            f"and {far} end elsewhere.",
        ),
    }  # fmt: skip
