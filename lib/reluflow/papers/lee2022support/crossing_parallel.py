"""Parallel data cross together: Theorem F.6 fails on them, and what one datum may stand for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from reluflow.bruteforce import integrate
from reluflow.falsify import Instance
from reluflow.flows.activity import crossings
from reluflow.flows.affine import affine_flow
from reluflow.geometry import parallel_classes
from reluflow.instances import Arrays
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2022support.assumptions import assumptions
from reluflow.papers.lee2022support.crossing_conditions import conditions
from reluflow.papers.lee2022support.crossing_parallel_exact import (
    conditions_at_the_origin,
    last_coefficient,
)
from reluflow.papers.lee2022support.norm_loss import OVERSHOOT, SMALL
from reluflow.papers.lee2022support.norm_rate import norm_lost
from reluflow.papers.lee2022support.small_starts import smallest_force

TOGETHER = (np.array([[6, 7], [4, 1], [0, 1], [0, 1]]), np.array([5, 7, 8, 8]), np.array([2, -1]))
"""Data X, y and a direction v: from w0 = eps v the last two data are activated together."""


def merged(item: Instance) -> Arrays:
    """The same flow with no two data parallel: a class a_i u, a_i > 0, with labels y_i becomes the
    datum |a| u with the label a.y / |a|, which changes the loss by a constant."""
    X, y = np.asarray(item["X"], float), np.asarray(item["y"], float)
    rows, labels = [], []
    for members in map(sorted, parallel_classes(X)):
        sizes = np.linalg.norm(X[members], axis=1)
        size = np.linalg.norm(sizes)
        alone = len(members) == 1
        rows.append(X[members[0]] if alone else X[members[0]] / sizes[0] * size)
        labels.append(y[members[0]] if alone else sizes @ y[members] / size)
    return {**item, "X": np.array(rows), "y": np.array(labels)}


def _shares(X: ArrayLike, y: ArrayLike, v: ArrayLike) -> list[float]:
    """The drop of |w|^2 along the flows from eps v, eps in `SMALL`, as shares of |w0|^2."""
    starts = [eps * np.asarray(v, float) for eps in SMALL]
    return [norm_lost(X, y, affine_flow(X, y, w0)) / float(w0 @ w0) for w0 in starts]


def drop_on_parallel_data() -> list[Evidence]:
    """sv.thmF.6: with B1-B4 at every crossing the norm never drops (Theorem F.6); by how much it
    does on four data of which two are equal."""
    shares = _shares(*TOGETHER)
    return [
        bound("drop of |w|^2 on the counterexample's data, with B1-B4 at its one crossing",
              shares[0], "<=", 0, "of |w0|^2"),
        bound("drop of |w|^2 along the flow from eps (1, 0), eps = 0.01, on x = (1, 2), (2, 1), "
              "y = (3, 3), which crosses no boundary", _shares(*OVERSHOOT)[0], "<=", 0,
              "of |w0|^2"),
        note(f"the same from eps (2, -1), eps = {', '.join(f'{e:g}' for e in SMALL)}",
             tuple(shares)),
    ]  # fmt: skip


def one_datum() -> Reading:
    """What x_0 and H~ are where data share a boundary, and what the theorem says otherwise."""
    X, y, v = TOGETHER
    alone = merged({"X": X, "y": y})
    (step,) = crossings(alone["X"], affine_flow(alone["X"], alone["y"], SMALL[-1] * v))
    label = alone["y"][-1]
    most = label * (1.0 + conditions(alone["X"], alone["y"], step).B2)
    return Reading(
        "x_0 is one datum of the boundary that is crossed, H~ is the printed sum over the data "
        "active in P~, to which equal data give a term each, and a flow that crosses nothing meets "
        "the conditions",
        "If equal data count as one, as Lemma F.1 has it, B2 fails on the counterexample: it asks "
        f"for {label:.1f} < {most:.1f}. Without parallel data the flow from eps (1, 0) on x = "
        "(1, 2), (2, 1), y = (3, 3) is left: it crosses no boundary, so that there is no "
        "condition, and its norm drops. If at least one crossing is meant, too, and no two data "
        "are parallel, the theorem is true wherever x_0.H^-1 x_0 < 1, and in the plane always.",
    )


def _largest_drop(X: NDArray, y: NDArray, w0: NDArray, horizon: float, stops: int) -> float:
    """The drop of |w|^2 along DOP853's flow, read at equal times, as a share of |w0|^2."""
    states = [w0]
    for t0, t1 in pairwise(np.linspace(0.0, horizon, stops + 1)):
        states.append(integrate(X, y, states[-1], t1 - t0))
    squares = (np.array(states) ** 2).sum(axis=1)
    return float(np.max(np.maximum.accumulate(squares) - squares)) / float(w0 @ w0)


def two_at_once() -> Counterexample:
    """B1-B4 hold at the one crossing for either x_0, and the norm drops, however small the start:
    w* of all data is along the top eigenvector of their H."""
    X, y, v = TOGETHER
    paths = [affine_flow(X, y, eps * v) for eps in SMALL]
    steps = [step for path in paths for step in crossings(X, path)]
    met = [conditions(X, y, step) for step in steps]
    exact = conditions_at_the_origin(X.tolist(), y.tolist(), v.tolist())
    last, eps = last_coefficient(X.tolist(), y.tolist(), [1, 0]), sympy.Symbol("eps")
    shares = _shares(*TOGETHER)
    return Counterexample(
        instance={"X": X, "y": y, "w0": "eps (2, -1), eps > 0"},
        assumptions={
            **assumptions(X, y),
            "q(w0) > 0": smallest_force(X, y, [1e-6 * v]) > 0,
            "one boundary is crossed, once, x_3 and x_4 becoming active": all(
                [step.datum for step in crossings(X, path)] == [2, 3] for path in paths
            ),
            "B1 there": min(m.B1 for m in met) > 0,
            "B2 there, for x_0 = x_3 and for x_0 = x_4": min(m.B2 for m in met) > 0,
            "B3 there": all(m.full for m in met),
            "B4 there": min(m.B4 for m in met) > 0,
            "x_0.H^-1 x_0 < 1 there": min(m.inner for m in met) > 0,
        },
        breaks=(bound("drop of |w|^2 on the exact flow from eps (2, -1), eps = 0.01",
                      shares[0], "<=", 0, "of |w0|^2"),),
        recheck=(
            note("slacks of B1, B2 and B4 as eps -> 0, in surds",
                 tuple(float(value) for value in exact)),
            fact("one of B1, B2, B4 fails for small eps", any(value <= 0 for value in exact), True),
            fact("for every crossing point (p, 0): coefficient of exp(-12t) in g is 3p^2 > 0",
                 bool((last - 3 * eps**2).equals(0)), False),
            bound("drop of |w|^2 by DOP853 from eps = 0.01",
                  _largest_drop(X, y, SMALL[0] * v, 0.6, 60), "<=", 0, "of |w0|^2"),
        ),
        route="B1, B2 and the last piece of the flow in surds, by SymPy; and SciPy's DOP853",
    )  # fmt: skip
