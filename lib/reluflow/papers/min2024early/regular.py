"""Appendix E.2 and E.5: under (A1) a regular Caratheodory solution exists for all times.

Between two changes of activity, of which there are at most n h (`crossings`), the field is smooth,
and by eq. (50) nothing grows faster than exponentially. A live neuron on a boundary leaves it on
the side that eq. (46) names; a neuron in S_dead rests.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.falsify import survey
from reluflow.flows.integrate import FlowPath
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.losses import EXPONENTIAL
from reluflow.networks.indexed import fully_connected
from reluflow.papers.min2024early.crossings import Problem, problems

RESIDUAL = 1e-5
"""Largest residual of the integral equation, over the largest parameter: the integrator's."""
_ON = 1e-9
"""Cosines up to this size are 0: within it an event is located, and a dead neuron rests."""
_PANELS, _MOST_PANELS = 4, 1024
_GAUSS = np.polynomial.legendre.leggauss(6)


ANTIPARALLEL = Problem(
    "antiparallel",
    np.array([[1.0, 0.0], [-1.0, 0.0]]),
    np.array([1.0, -1.0]),
    np.array([[1.0, 1.0]]),
    -np.ones(1),
    np.zeros(1),
    EXPONENTIAL,
)
"""A neuron of V_- that is active on the positive datum only. Where it loses that, the other one
would wake: at this moment it is in S_dead. The regular solution keeps it there."""
_SPAN = 3.0


def _silent(path: FlowPath, problem: Problem, t: float) -> NDArray:
    """Which neurons are in S_dead at t, up to rounding, (h,)."""
    cosines = problem.chart.cosines(path.at(t), problem.X)[0]
    return np.all(cosines <= _ON, axis=0)


def residual(path: FlowPath, problem: Problem, end: float) -> float:
    """|theta(t) - theta(0) - integral of F| over the largest |theta| at t = `end`, with s'(0) = 0.

    The integral is by Gauss' rule between the changes of activity, on ever more panels until it
    stands; F is from the network's gradient.
    """
    network = fully_connected([problem.X.shape[1], len(problem.signs)])
    chart, (nodes, weights) = problem.chart, _GAUSS

    def parameters(t: NDArray) -> NDArray:
        theta, scale = chart.parameters(path.at(t))
        return np.exp(scale)[:, None] * theta

    def integral(a: float, b: float, panels: int) -> NDArray:
        edges = np.linspace(a, b, panels + 1)
        half = 0.5 * np.diff(edges)
        theta = parameters((edges[:-1, None] + half[:, None] * (1.0 + nodes)).ravel())
        # A neuron that has died lies on its boundary up to rounding.
        pattern = [network.cosines(theta, problem.X)[0] > _ON]
        pull = problem.loss.pull(network.output(theta, problem.X, pattern), problem.y)
        F = network.gradient(theta, problem.X, pull, pattern)
        return np.outer(half, weights).ravel() @ F

    knots = path.t[path.t <= end]
    sizes = np.linalg.norm(parameters(np.linspace(knots[0], knots[-1], 50)), axis=1)
    total = np.zeros(network.size)
    for a, b in pairwise(knots):
        found, panels = integral(a, b, _PANELS), _PANELS
        while panels < _MOST_PANELS:
            coarse, panels = found, 4 * panels
            found = integral(a, b, panels)
            if np.abs(found - coarse).max() <= 1e-3 * RESIDUAL * sizes.max():
                break
        total += found
    first, last = parameters(knots[[0, -1]])
    return float(np.linalg.norm(last - first - total) / sizes.max())


def revived(path: FlowPath, problem: Problem, end: float) -> bool:
    """Whether a neuron is active on a datum after it was active on none, before `end`."""
    times = path.grid(40)
    silent = np.array([_silent(path, problem, t) for t in times[times < end]], bool)
    return bool(np.any(silent[:-1] & ~silent[1:]))


def two_solutions() -> tuple[tuple[bool, ...], float]:
    """Whether the neuron of `ANTIPARALLEL` comes to life again, along the regular solution and
    along the one that the integrator finds where s'(0) is left open; and the larger residual."""
    paths = [ANTIPARALLEL.path(_SPAN, at_zero=at_zero) for at_zero in (0.0, None)]
    lives = tuple(revived(path, ANTIPARALLEL, _SPAN) for path in paths)
    return lives, max(residual(path, ANTIPARALLEL, _SPAN) for path in paths)


def solved(seed: int, count: int) -> pd.DataFrame:
    """One row a flow of `problems` in time: the status, the residual of the integral equation, and
    whether a dead neuron revives."""

    def measured(problem: Problem) -> dict[str, float | str | bool]:
        path = problem.path(4.0 / float(np.linalg.norm(problem.X, axis=1).max()))
        end = float(path.t[-1])
        return {
            "status": path.status,
            "residual": residual(path, problem, end),
            "revived": revived(path, problem, end),
            "on boundaries": int(np.any(problem.W @ problem.X.T == 0.0)),
        }

    return survey(problems(seed, count), measured)


def solutions_exist(found: pd.DataFrame, far: pd.DataFrame, others: pd.DataFrame) -> list[Evidence]:
    """ea.eq46.3: under (A1) a regular Caratheodory solution with s'(0) = 0 exists for all t >= 0.

    found: flows in time; far: flows on the clock log(1/L); others: on data that are not separated.
    """
    ends = ("horizon", "converged", "stalled")
    stuck = int((~far.status.isin(ends)).sum() + (~found.status.isin(ends)).sum())
    lives, apart = two_solutions()
    slid = int((others.status == "sliding").sum())
    return [
        fact("flows that do not go on for ever: that slide, branch or come to a stop", stuck, 0,
             tried=len(found) + len(far)),
        bound("largest residual of the integral equation, over |theta|",
              float(found.residual.max()), "<=", RESIDUAL, "", digits=2),
        fact("flows in which a dead neuron comes to life", int(found.revived.sum()), 0,
             tried=len(found)),
        note("flows that start on a boundary", int(found["on boundaries"].sum()
                                                   + far["on boundaries"].sum())),
        fact("antiparallel data: the neuron revives, along the regular solution and along another",
             lives, (False, True)),
        bound("the larger residual of these two", apart, "<=", RESIDUAL, "", digits=2),
        note("flows on data that are not separated that end on a boundary, of how many",
             (slid, len(others))),
    ]  # fmt: skip
