"""Example 5.1 and Figure 3: three starts, seven small ones, and descent for the flow.

A refutation is measured twice: on the exact flow, and by a route of `rational` or `bruteforce`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow import rational
from reluflow.bruteforce import plain_descent
from reluflow.flows.descent import path_distance
from reluflow.ledger import Counterexample, bound, deviation, fact, note
from reluflow.networks import loss
from reluflow.papers.lee2022support.assumptions import assumptions
from reluflow.papers.lee2022support.examples import Experiment, Limit
from reluflow.papers.lee2022support.small_starts import smallest_force

LOOP_STEPS = 20_000
"""Plain steps of the second route: enough to tell the losses in question apart."""


def three_starts(run: Experiment) -> dict[str, Any]:
    """sv.ex5.1.a: the small start's limit, and no other, is the global minimum (Figure 3(a))."""
    small, middle, large = run.limits
    return {
        "evidence": [
            fact("limits that are local minima", sum(v.rank > 0 for v in run.limits), 3),
            fact("rank of the limit from (0.0001, 0.0001)", small.rank, 1),
            fact("the limit from (0, 8) is not global", middle.rank > 1, True),
            fact("the limit from (0, 45) is not global", large.rank > 1, True),
            deviation("loss of the small start's limit above the least loss",
                      small.loss - run.minima[0].loss, ""),
            note("losses of the three limits", tuple(v.loss for v in run.limits)),
            note("their support vectors",
                 tuple(tuple(j + 1 for j in v.support) for v in run.limits)),
            note("their ranks", tuple(v.rank for v in run.limits)),
        ],
        "counterexample": _beaten(run, small, large),
    }  # fmt: skip


def _beaten(run: Experiment, first: Limit, second: Limit) -> Counterexample:
    """That the flow from `first` ends above the end of the flow from `second`, by three routes."""
    X, y = run.X, run.y
    exact = [rational.fit(X, y, limit.support) for limit in (first, second)]
    inside = [
        rational.is_local_minimum(fitted, limit.support)
        for fitted, limit in zip(exact, (first, second), strict=True)
    ]
    loops = [plain_descent(X, y, v.start, run.step, LOOP_STEPS)[-1] for v in (first, second)]
    by_loop = float(loss(X, y, loops[0]) - loss(X, y, loops[1]))
    return Counterexample(
        instance={"X": X, "y": y, "w0": first.start, "w0 of a better limit": second.start},
        assumptions={**assumptions(X, y), "both limits strictly inside their cells": all(inside)},
        breaks=(bound("L(limit) - L(better limit), exact flows", first.loss - second.loss,
                      "<=", 0.0, ""),),
        recheck=(
            bound("the same in rational arithmetic", float(exact[0].loss - exact[1].loss),
                  "<=", 0.0, ""),
            bound(f"the same after {LOOP_STEPS} plain steps, on the way", by_loop, "<=", 0.0, ""),
        ),
        route="normal equations solved in rational arithmetic on the printed decimals, "
        f"and descent as a loop of {LOOP_STEPS} plain steps",
    )  # fmt: skip


def seven_starts(run: Experiment, starts: NDArray) -> dict[str, Any]:
    """sv.ex5.1.b: the small starts agree, and on the global minimum (Figure 3(b))."""
    seven = replace(run, starts=starts)
    ends = np.array([limit.w for limit in seven.limits])
    ranks = {limit.rank for limit in seven.limits}
    return {
        "evidence": [
            fact("starts", len(starts), 7),
            bound("largest norm of a start", float(np.linalg.norm(starts, axis=1).max()),
                  "<", 0.3, ""),
            bound("smallest component of -grad L at the starts",
                  smallest_force(run.X, run.y, starts), ">", 0.0, ""),
            deviation("spread of the seven limits", float(np.ptp(ends, axis=0).max()), ""),
            fact("ranks of the limits among all local minima", tuple(sorted(ranks)), (1,)),
            deviation("their loss above the least loss",
                      max(limit.loss for limit in seven.limits) - run.minima[0].loss, ""),
        ],
        "counterexample": _beaten(run, seven.limits[0], run.limits[2]),
    }  # fmt: skip


def descent_for_flow(run: Experiment) -> dict[str, Any]:
    """sv.ex5.1.gd: descent at the printed step stands for the flow, along the whole path (G.1)."""
    apart = [path_distance(f, g, run.step) for f, g in zip(run.flows, run.descents, strict=True)]
    order = [
        [(e.datum, e.kind) for e in f.events] == [(e.datum, e.kind) for e in g.events]
        for f, g in zip(run.flows, run.descents, strict=True)
    ]
    left = [
        float(np.linalg.norm(g.end - f.end) / np.linalg.norm(f.end))
        for f, g in zip(run.flows, run.descents, strict=True)
    ]
    return {
        "evidence": [
            deviation("largest distance over the whole path", max(apart), "of the path's reach"),
            deviation("distance left after the last iteration", max(left), "of |w(inf)|"),
            fact("starts whose events come in the same order", sum(order), len(order)),
            note("iterations", run.iterations),
        ],
    }
