"""Appendix E.2 and E.5: under (A1) a regular Caratheodory solution exists for all times.

Between two changes of activity, of which there are at most n h (`crossings`), the field is smooth,
and by eq. (50) nothing grows faster than exponentially. A live neuron on a boundary leaves it on
the side that eq. (46) names; a neuron in S_dead rests.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.falsify import survey
from reluflow.flows.integrate import FlowPath
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.networks.indexed import fully_connected
from reluflow.papers.min2024early.crossings import Problem, problems

RESIDUAL = 1e-5
"""Largest residual of the integral equation, over the largest parameter: the integrator's."""
_ON = 1e-9
"""Cosines up to this size are 0: within it an event is located, and a dead neuron rests."""
_PANELS, _GAUSS = 8, np.polynomial.legendre.leggauss(6)


def regular(problem: Problem, span: float) -> list[tuple[FlowPath, Problem, float]]:
    """The regular solution in time, as legs: a path, the problem that it follows, and its end.

    A neuron whose last datum falls silent in the very moment in which another one would wake, as
    for x_i = -c x_k of different labels, is in S_dead then. The integrator lets it pass; a regular
    solution keeps it there, and goes on without it, as the paper's construction does.
    """
    legs: list[tuple[FlowPath, Problem, float]] = []
    while True:
        path = problem.path(span)
        passing = [(e.t, e.neuron) for e in path.events
                   if e.kind == "activate" and _silent(path, problem, e.t)[e.neuron]]  # fmt: skip
        if not passing:
            return [*legs, (path, problem, float(path.t[-1]))]
        t, neuron = min(passing)
        legs.append((path, problem, t))
        kept = np.arange(len(problem.signs)) != neuron
        if not kept.any():
            return legs
        U, R = problem.chart.split(path.at(t))
        rest = replace(problem, W=U[kept], log_norms=R[kept], signs=problem.signs[kept])
        problem, span = rest, span - t


def _silent(path: FlowPath, problem: Problem, t: float) -> NDArray:
    """Which neurons are in S_dead at t, up to rounding, (h,)."""
    cosines = problem.chart.cosines(path.at(t), problem.X)[0]
    return np.all(cosines <= _ON, axis=0)


def residual(path: FlowPath, problem: Problem, end: float) -> float:
    """|theta(t) - theta(0) - integral of F| over the largest |theta| at t = `end`, with s'(0) = 0.

    The integral is by Gauss' rule between the changes of activity, F from the network's gradient.
    """
    network = fully_connected([problem.X.shape[1], len(problem.signs)])
    chart, (nodes, weights) = problem.chart, _GAUSS

    def parameters(t: NDArray) -> NDArray:
        theta, scale = chart.parameters(path.at(t))
        return np.exp(scale)[:, None] * theta

    knots, total, longest = path.t[path.t <= end], np.zeros(network.size), 0.0
    for a, b in pairwise(knots):
        edges = np.linspace(a, b, _PANELS + 1)
        half = 0.5 * np.diff(edges)
        theta = parameters((edges[:-1, None] + half[:, None] * (1.0 + nodes)).ravel())
        # A neuron that has died lies on its boundary up to rounding.
        pattern = [network.cosines(theta, problem.X)[0] > _ON]
        pull = problem.loss.pull(network.output(theta, problem.X, pattern), problem.y)
        F = network.gradient(theta, problem.X, pull, pattern)
        total += np.outer(half, weights).ravel() @ F
        longest = max(longest, float(np.linalg.norm(theta, axis=1).max()))
    first, last = parameters(knots[[0, -1]])
    gap = float(np.linalg.norm(last - first - total))
    return gap / max(longest, float(np.linalg.norm(first)))


def revived(path: FlowPath, problem: Problem, end: float) -> bool:
    """Whether a neuron is active on a datum after it was active on none, before `end`."""
    times = path.grid(40)
    awake = ~np.array([_silent(path, problem, t) for t in times[times < end]])
    return bool(len(awake) and np.any(awake[1:] & ~awake[:-1]))


def solved(seed: int, count: int) -> pd.DataFrame:
    """One row a flow of `problems` in time: the status, the residual of the integral equation, and
    whether a dead neuron revives."""

    def measured(problem: Problem) -> dict[str, float | str | bool]:
        legs = regular(problem, 4.0 / float(np.linalg.norm(problem.X, axis=1).max()))
        return {
            "status": legs[-1][0].status,
            "residual": max(residual(*leg) for leg in legs),
            "revived": any(revived(*leg) for leg in legs),
            "kept": len(legs) - 1,
            "on boundaries": int(np.any(problem.W @ problem.X.T == 0.0)),
        }

    return survey(problems(seed, count), measured)


def solutions_exist(found: pd.DataFrame, far: pd.DataFrame, others: pd.DataFrame) -> list[Evidence]:
    """ea.eq46.3: under (A1) a regular Caratheodory solution with s'(0) = 0 exists for all t >= 0.

    found: flows in time; far: flows on the clock log(1/L); others: on data that are not separated.
    """
    ends = ("horizon", "converged", "stalled")
    stuck = int((~far.status.isin(ends)).sum() + (~found.status.isin(ends)).sum())
    slid = int((others.status == "sliding").sum())
    return [
        fact("flows that do not go on for ever: that slide, branch or come to a stop", stuck, 0,
             tried=len(found) + len(far)),
        bound("largest residual of the integral equation, over |theta|",
              float(found.residual.max()), "<=", RESIDUAL, "", digits=1),
        fact("flows in which a dead neuron comes to life", int(found.revived.sum()), 0,
             tried=len(found)),
        note("flows that start on a boundary", int(found["on boundaries"].sum()
                                                   + far["on boundaries"].sum())),
        note("neurons that are kept in S_dead where the integrator would let them pass",
             int(found.kept.sum())),
        note("flows on data that are not separated that end on a boundary, of how many",
             (slid, len(others))),
    ]  # fmt: skip
