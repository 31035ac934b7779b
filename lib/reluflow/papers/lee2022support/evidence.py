"""What the experiments of Section 5 measured, as evidence for the ledger.

Each function takes one experiment and returns the arguments of `Ledger.settle`. Refutations are
measured twice: on the exact flow, and by a route of `rational` or `bruteforce`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from reluflow import rational
from reluflow.bruteforce import plain_descent
from reluflow.ledger import Counterexample, bound, deviation, fact, note
from reluflow.networks import loss
from reluflow.papers.lee2022support.examples import (
    Experiment,
    first_iteration,
    path_distance,
)
from reluflow.papers.lee2022support.landscape import assumptions
from reluflow.papers.lee2022support.small_starts import smallest_force

Settlement = dict[str, Any]

LOOP_STEPS = 20_000
"""Plain steps of the second route: enough to tell the losses in question apart."""


def one_based(data: tuple[int, ...]) -> tuple[int, ...]:
    """Indices as the papers print them, from 1."""
    return tuple(j + 1 for j in data)


def three_starts(run: Experiment) -> Settlement:
    """Example 5.1, Figure 3(a): is the small start's limit, and no other, the global minimum?"""
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
            note("their support vectors", tuple(one_based(v.support) for v in run.limits)),
            note("their ranks", tuple(v.rank for v in run.limits)),
        ],
        "tolerance": 1e-6,
        "counterexample": _beaten(run, small, large),
    }  # fmt: skip


def _beaten(run: Experiment, first, second) -> Counterexample:
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
            bound("the same from two plain descent loops", by_loop, "<=", 0.0, ""),
        ),
        route="normal equations solved in rational arithmetic on the printed decimals, "
        f"and descent as a loop of {LOOP_STEPS} plain steps",
    )  # fmt: skip


def seven_starts(run: Experiment, starts: np.ndarray) -> Settlement:
    """Figure 3(b): do the small starts agree, and is what they agree on the global minimum?"""
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
        "tolerance": 1e-6,
        "counterexample": _beaten(run, seven.limits[0], run.limits[2]),
    }  # fmt: skip


def descent_for_flow(run: Experiment) -> Settlement:
    """G.1: does descent at the printed step stand for the flow, along the whole path?"""
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
        "tolerance": 0.05,
    }


def deactivation(run: Experiment) -> Settlement:
    """Example 5.2: x_1 leaves the ReLU flow for good, and returns to the linear one."""
    relu, line, limit = run.flows[0], run.linear_flows[0], run.limits[0]
    off = first_iteration(relu, 0, "deactivate", run.step)
    t_off = off * run.step
    common = np.linspace(0.0, t_off, 200)
    n = len(run.y)
    zero = [m for m in run.minima if m.rank == 1]
    later = np.array([t_off + 1.0])
    return {
        "evidence": [
            fact("x_1 is deactivated, and nothing else happens to the ReLU flow",
                 [(e.datum + 1, e.kind) for e in relu.events] == [(1, "deactivate")], True),
            fact("the linear flow re-activates x_1",
                 [(e.datum + 1, e.kind) for e in line.events]
                 == [(1, "deactivate"), (1, "activate")], True),
            bound("largest distance of the two flows up to then",
                  float(np.abs(relu.at(common) - line.at(common)).max()), "<=", 1e-8, ""),
            bound("their distance one unit of time later",
                  float(np.linalg.norm(relu.at(later) - line.at(later))), ">", 1e-3, ""),
            bound("rank of the ReLU limit", limit.rank, ">=", 2, ""),
            fact("x_1 is a support vector of it", 0 in limit.support, False),
            fact("global minima of the ReLU loss", len(zero), 1),
            fact("the global minimum has all data active",
                 len(zero[0].support) == n and zero[0].dimension == 0, True),
            note("loss of the ReLU limit", limit.loss),
        ],
    }  # fmt: skip


def reactivation(run: Experiment) -> Settlement:
    """Example 5.3: x_4 leaves early and comes back; both flows end in the one global minimum."""
    relu, line, limit = run.flows[0], run.linear_flows[0], run.limits[0]
    off = first_iteration(relu, 3, "deactivate", run.step)
    on = first_iteration(relu, 3, "activate", run.step)
    times = np.linspace(0.0, on * run.step, 400)
    best = [m for m in run.minima if m.rank == 1]
    return {
        "evidence": [
            fact("events of the ReLU flow",
                 tuple(f"x_{e.datum + 1} {e.kind}" for e in relu.events),
                 ("x_4 deactivate", "x_4 activate")),
            bound("x_4 is deactivated after this share of the path's iterations", off / on,
                  "<", 0.01, ""),
            bound("largest distance of the linear and the ReLU flow",
                  float(np.linalg.norm(relu.at(times) - line.at(times), axis=1).max()),
                  ">", 1e-3, ""),
            bound("distance of their limits", float(np.linalg.norm(relu.end - line.end)),
                  "<=", 1e-8, ""),
            fact("rank of the limit", limit.rank, 1),
            fact("global minima", len(best), 1),
            fact("data active there", len(limit.support), len(run.y)),
            note("iterations of the two events under eq. (1)", (round(off), round(on))),
        ],
    }  # fmt: skip


def caption_iteration(run: Experiment, datum: int, kind: str, printed: int) -> Settlement:
    """Figures 12 and 13, captions: the first event `kind` of `datum` (from 0) comes near iteration
    `printed`, under the most favourable of the usual normalisations of the loss."""
    once, n = first_iteration(run.flows[0], datum, kind, run.step), len(run.y)
    losses = {"eq. (1), 1/2 of the sum": once, "1/(2n) of the sum": n * once,
              "1/n of the sum, PyTorch's mean": n * once / 2}  # fmt: skip
    apart = min(abs(k / printed - 1.0) for k in losses.values())
    settlement = {
        "evidence": [
            deviation("iteration of the event under the nearest of three normalisations, against "
                      f"the printed {printed}", apart, "of it"),
        ],
        "tolerance": 0.05,
    }  # fmt: skip
    counts = [note(f"iteration if the loss is {name}", round(k)) for name, k in losses.items()]
    return settlement | ({} if apart <= 0.05 else {"instead": counts})


def caption_asymptotes(run: Experiment) -> Settlement:
    """Figure 13, caption: the dashed lines h_i = y_i are the curves' asymptotes."""
    h = run.X @ run.flows[0].end
    return {
        "evidence": [
            deviation("largest |h_i(inf) - y_i| / y_i", float((np.abs(h - run.y) / run.y).max()),
                      "")
        ],
        "tolerance": 0.01,
        "instead": [
            note("limits of h_i", tuple(map(float, h))),
            note("labels y_i", tuple(float(v) for v in run.y), "", None),
        ],
    }  # fmt: skip
