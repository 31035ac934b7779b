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
from reluflow.papers.lee2022support.activation import alpha_star, departing_sides, normal_rates
from reluflow.papers.lee2022support.activation_starts import EntryRadius, ExclusionSurvey
from reluflow.papers.lee2022support.landscape import assumptions

Settlement = dict[str, Any]


def _rows(values: ArrayLike) -> NDArray:
    values = np.asarray(values, float)
    return values.astype(int) if np.all(values == np.rint(values)) else values


def deactivation_rule(
    report: Report, X: NDArray, y: NDArray, w0: ArrayLike, Z: NDArray, z: ArrayLike
) -> Settlement:
    """Proposition 3.1: the start w0 on the boundary of x_1 that two flows leave; and, against
    "only if", data Z with labels 1 and a point z where -x_1 is a datum, too."""
    X, y, w0, Z, z = (np.asarray(v, float) for v in (X, y, w0, Z, z))
    unit = 1e-6 * X[0] / np.linalg.norm(X[0])
    later = [float(X[0] @ integrate(X, y, w0 + k * unit, 0.1)) for k in (-1, 1)]
    sides = departing_sides(X, y, w0, 0)
    other, _ = normal_rates(Z, np.ones(len(Z)), z, 0)
    s, top = normal_rates(X, y, w0, 0)
    return {
        "evidence": [
            *survived(report),
            fact("x = y = 1, w0 = 0, grad L(w0).x = 0: the flow w(t) = 0 deactivates x",
                 0 not in departing_sides([[1.0]], [1.0], [0.0], 0), True),
            fact("data (1,1), (-1,-1), (1,0), y = 1, from (1/2,-1/2): "
                 "some flow deactivates x_1 though grad L(w0).x_1 < 0",
                 -1 in departing_sides(Z, np.ones(len(Z)), z, 0) and other < 0.0, False),
        ],
        "counterexample": Counterexample(
            instance={"X": _rows(X), "y": _rows(y), "w0": _rows(w0), "s": 0},
            assumptions={
                **assumptions(X, y),
                "x_1.w0 = 0": float(X[0] @ w0) == 0.0,
                "grad L(w0).x_1 > 0": s > 0.0,
            },
            breaks=(
                fact("some flow from w0 activates x_1 (exact departures)", 1 in sides, False),
            ),
            recheck=(
                bound("x_1.w(0.1) from w0 + 1e-6 x_1/|x_1|, by DOP853", later[1], "<", 0.0, ""),
                note("x_1.w(0.1) from w0 - 1e-6 x_1/|x_1|", round(later[0], 4)),
                note("grad L(w0).x_1, and y_1 |x_1|^2", (s, top)),
            ),
            route="SciPy's DOP853, from starts displaced to either side of the boundary",
        ),
    }  # fmt: skip


def deactivation_ranges(report: Report) -> Settlement:
    """Our repair of Proposition 3.1, against Euler steps and the exact departures."""
    return {"evidence": survived(report)}


def scaling(report: Report, X: NDArray, y: NDArray, w0: ArrayLike, alpha: int) -> Settlement:
    """Proposition 4.1 for the second of the data X, y, whose inequality is reversed; and whether
    alpha_j* is defined for x_1 = (1, 0), x_2 = (0, 1), w0 = (1, -1), which A1 allows."""
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    star, step = alpha_star(X, y, w0, 1), Fraction(1, 1000)
    at = [alpha * v for v in rational.rationals(w0)]
    up, down = ([a + k * step * b for a, b in zip(at, rational.rationals(X[1]), strict=True)]
                for k in (1, -1))  # fmt: skip
    quotient = (rational.neuron_loss(X, y, up) - rational.neuron_loss(X, y, down)) / (2 * step)
    inside = all(h != 0 for v in (at, up, down) for h in rational.preactivations(X, v))
    return {
        "evidence": [
            *survived(report),
            fact("alpha_2* is defined for x = (1,0), (0,1), w0 = (1,-1), as A1 allows",
                 alpha_star(np.eye(2), np.ones(2), [1.0, -1.0], 1) is not None, True),
        ],
        "counterexample": Counterexample(
            instance={"X": _rows(X), "y": _rows(y), "w0": _rows(w0), "j": 2, "alpha": alpha},
            assumptions={"w0 lies inside a cell": inside, "alpha_2* is defined": star is not None,
                         "alpha >= alpha_2*": star is not None and alpha >= star},
            breaks=(bound("grad L(alpha w0).x_2", float(gradient(X, y, alpha * w0) @ X[1]),
                          ">=", 0, ""),),
            recheck=(bound("difference quotient of L at alpha w0 along x_2", quotient,
                           ">=", 0, ""),),
            route="losses in rational arithmetic; the central quotient of a quadratic is exact",
        ),
    }  # fmt: skip


def scaling_repaired(report: Report) -> Settlement:
    """Our repair of Proposition 4.1."""
    return {"evidence": survived(report)}


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


def well_posedness(
    points: tuple[int, int], slides: tuple[int, int], X: NDArray, y: NDArray, w0: ArrayLike,
    seed: int,
) -> Settlement:  # fmt: skip
    """Proposition F.4: branching at `points` on boundaries (tried, hits) and for x = y = 1 from 0;
    and data X, y with a label below zero whose start w0 on the boundary of x_1 nothing leaves."""
    X, y, w0 = (np.asarray(v, float) for v in (X, y, w0))
    s, top = normal_rates(X, y, w0, 0)
    t = sympy.Symbol("t", positive=True)
    grows = 1 - sympy.exp(-t)
    slope = sympy.diff(grows, t)
    # It is 0 at 0 and increases, so x is active for t > 0, where (3) asks for w' = 1 - w.
    solves = sympy.simplify(slope - (1 - grows)) == 0 and bool(slope.is_positive)
    solves = solves and grows.subs(t, 0) == 0
    one = affine_flow([[1.0]], [1.0], [0.0]).status
    chatter = [float(np.abs(plain_descent(X, y, w0, h, round(0.5 / h)) @ X[0]).max())
               for h in (1e-2, 1e-3)]  # fmt: skip
    return {
        "evidence": [
            fact("points on a boundary that more than one flow leaves", points[1], 0),
            fact("flows that come to slide, labels of either sign", slides[1], 0),
            fact("some flow leaves the start of the second example, or may stay by (3)",
                 not (-s > 0.0 > top - s), True),
            note("points on a boundary tried", points[0]),
            note("flows with labels of either sign", slides[0]),
            note("second example: x_1.w' on the inactive and on the active side", (-s, top - s)),
            note("second example: largest |x_1.w| up to t = 1/2 of Euler polygons, "
                 "steps 0.01 and 0.001", tuple(round(v, 4) for v in chatter)),
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


def unique_at_random(reports: Sequence[Report]) -> Settlement:
    """Our repair of Proposition F.4."""
    return {"evidence": survived(*reports)}


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
            note("delta* of Example 5.1", round(found.radius, 3)),
            note("delta_0 of Example 5.1", float(f"{found.guarantee:.3g}")),
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
