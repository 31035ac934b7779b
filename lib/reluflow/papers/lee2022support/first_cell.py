"""In which cell small flows in the plane end (second half of Lemma F.9): the first one met that
holds its virtual minimum, unless a virtual minimum lies on a boundary."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow import rational
from reluflow.falsify import Instance, Statement, given
from reluflow.flows.activity import visited_cells
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import enumerate_cells, local_minima, meets_cell, virtual_minimum
from reluflow.ledger import Counterexample, Evidence, fact, note
from reluflow.papers.lee2022support.assumptions import assumptions
from reluflow.papers.lee2022support.norm_loss import all_active_draws, gently
from reluflow.papers.lee2022support.small_ends import planar
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    flows_of,
    gentle_radius,
    small_flows,
)
from reluflow.rational import preactivation_polynomial


def first_resting(X: ArrayLike, y: ArrayLike, cells: Sequence[NDArray]) -> int:
    """The place of the first of the cells, given by their active data (n,), that holds a virtual
    minimum of its own; -1 where none does."""
    return next((k for k, on in enumerate(cells) if meets_cell(X, y, on)), -1)


def off_boundaries(item: Instance) -> bool:
    """Whether no cell of full rank has its virtual minimum on the boundary of a datum.

    Where one has, a flow can converge to that boundary, to a point that is no local minimum.
    """
    X, y = np.asarray(item["X"], float), np.asarray(item["y"], float)
    for active in enumerate_cells(X).patterns:
        w, free = virtual_minimum(X, y, active)
        sizes = np.linalg.norm(X, axis=1) * np.linalg.norm(w)
        if free.shape[1] == 0 and np.any(np.abs(X @ w) <= 1e-9 * sizes):
            return False
    return True


def converges_in_first_resting_cell() -> Statement:
    """sv.ours.small.first: the last cell is the first one met that holds a stationary point.

    The hypothesis on virtual minima is ours; the flow of (1, 0), (0, 1), (1, 1), y = (3, 1, 1)
    needs it.
    """

    def told(item: Instance, path: Trajectory) -> float:
        if path.status != "converged":  # rounding hides how the flow goes on: it has no last cell
            return np.nan
        cells = visited_cells(item["X"], path)
        return 1.0 if first_resting(item["X"], item["y"], cells) == len(cells) - 1 else -1.0

    def slack(item: Instance) -> float:
        return told(item, small_flows(item, NORMS[:1], gentle_radius)[0])

    def batch(items: Sequence[Instance]) -> NDArray:
        flows = flows_of(items, NORMS[:1], gentle_radius)[0]
        return np.array([told(item, flows[k]) for k, item in enumerate(items)])

    return Statement("converges in the first cell with a stationary point",
                     all_active_draws((3, 8)), slack,
                     given("sv.ours.small.first", data=planar, start=gently,
                           minima=off_boundaries), batch=batch)  # fmt: skip


INTO_A_BOUNDARY = (np.array([[1, 0], [0, 1], [1, 1]]), np.array([3, 1, 1]), np.array([1, 1]))
"""Data X, y and a direction v: the flow from eps v stays in the all-active cell and converges to a
point of its boundary, at which the cell's own virtual minimum lies."""


def end_on_boundary() -> Counterexample:
    """A flow that meets no cell with a stationary point."""
    X, y, v = INTO_A_BOUNDARY
    first = first_resting(X, y, visited_cells(X, affine_flow(X, y, 1e-6 * v)))
    fitted = rational.fit(X, y, [0, 1, 2])
    exact = preactivation_polynomial(X.tolist(), y.tolist(), 1, [Fraction(c) for c in v.tolist()])
    zeros = [exact.zeros(Fraction(1, 10**k)) for k in (4, 7, 10)]
    return Counterexample(
        instance={"X": X, "y": y, "w0": "eps (1, 1), eps > 0"},
        assumptions={
            **assumptions(X, y),
            "d = 2": X.shape[1] == 2,
            "w0 in the all-active cell": bool(np.all(X @ v > 0)),
        },
        breaks=(fact("of the cells met, one contains a stationary point (exact flow, linear "
                     "program)", first >= 0, True),),
        recheck=(
            fact("x_2 leaves, or the virtual minimum of the all-active cell has x_2.w > 0 "
                 "(rational)", any(zeros) or fitted.preactivations[1] > 0, True),
            note("zeros of x_2.w on t > 0, eps = 1e-4, 1e-7, 1e-10 (Sturm)", tuple(zeros)),
            note("virtual minimum of the all-active cell", fitted.w),
        ),
        route="x_2.w(t) as a polynomial in exp(-t), which has no zero, so the flow meets the "
        "all-active cell alone; its virtual minimum in rational arithmetic",
    )  # fmt: skip


def met_at_the_end(case: Counterexample) -> list[Evidence]:
    """sv.lemF.9.2: the flow converges in the first cell met that contains a stationary point (Lemma
    F.9, second half); not so in this case, whose limit is this one."""
    X, y, v = INTO_A_BOUNDARY
    end = affine_flow(X, y, 1e-6 * v).end
    held = any(m.dimension == 0 and np.allclose(m.w, end) for m in local_minima(X, y))
    return [
        fact("the counterexample: some cell that the flow meets contains a stationary point",
             case.breaks[0].value, True),
        note("the counterexample: limit of the flow", tuple(map(float, end))),
        note("the counterexample: the limit is a local minimum", held),
    ]  # fmt: skip
