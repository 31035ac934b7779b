"""Lemmas 3.2, 4.5, F.1, F.2, Proposition F.3 and Theorem 3.4: reports as evidence for the ledger.

Each function returns the arguments of `Ledger.settle`. A refutation is measured twice, the second
time in integers or rationals.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow import rational
from reluflow.falsify import Report
from reluflow.geometry import cell_bound, enumerate_cells
from reluflow.instances import draw_many
from reluflow.ledger import Counterexample, fact, note
from reluflow.papers.lee2022support.landscape import assumptions
from reluflow.papers.lee2022support.partition_linear import least_relu_loss, linear_fit
from reluflow.papers.lee2022support.partition_minima import cells_with_minima
from reluflow.papers.lee2022support.partition_order import quadrant_cells
from reluflow.papers.lee2022support.partitions import adjacent_pairs

Settlement = dict[str, Any]


def adjacent_cells(report: Report) -> Settlement:
    """Lemma F.1, against the smallest data on a line that `report` found."""
    X, y = report.counterexample["X"], report.counterexample["y"]
    differ = max(int(np.sum(a != b)) for a, b in adjacent_pairs(X))
    line = [int(v) for v in X[:, 0]]
    active = [{i for i, x in enumerate(line) if x * w > 0} for w in (-2, -1, 1, 2)]
    steps = [len(a ^ b) for a, b in pairwise(active) if a != b]
    return {
        "evidence": report.evidence(),
        "counterexample": Counterexample(
            instance={"X": X.astype(int), "y": y.astype(int)},
            assumptions={**assumptions(X, y), "no two data are equal": len(set(line)) == len(line)},
            breaks=(fact("data in which the two adjacent cells differ (common rays)", differ, 1),),
            recheck=(fact("data that change between w = -1 and w = 1 (integers)", max(steps), 1),
                     note("changes between w = -2, -1, 1, 2", len(steps))),
            route="the signs of x_i w at four whole numbers w",
        ),
    }  # fmt: skip


def survived(*reports: Report) -> Settlement:
    """A statement that nothing else is asked of than to survive its report."""
    return {"evidence": [item for report in reports for item in report.evidence()]}


def count_of_cells(report: Report, X: NDArray) -> Settlement:
    """Lemma F.2: a report, and data X on which A1 is needed, a boundary counting as inactive."""
    values = [int(x) for x in X[:, 0]]
    patterns = {tuple(x * w > 0 for x in values) for w in (-1, 0, 1)}
    return {
        "evidence": [
            *report.evidence(),
            note(f"without A1, x = {values}: patterns, and the bound",
                 (len(patterns), cell_bound(len(values), 1))),
        ]
    }  # fmt: skip


def count_of_minima(report: Report, X: NDArray, y: NDArray) -> Settlement:
    """Our count in place of Proposition F.3.2, and data X, y (d = 2) that attain it: the cells with
    a minimum are counted by enumeration and, cell by cell, over the rationals."""
    cells = [tuple(np.flatnonzero(p).tolist()) for p in enumerate_cells(X).patterns]
    attained = sum(_holds_minimum(X, y, cell) for cell in cells)
    return {
        "evidence": [
            *report.evidence(),
            fact("data below: cells that hold a local minimum (enumeration)",
                 cells_with_minima(X, y), cell_bound(*X.shape)),
            fact("data below: cells that hold a local minimum (rational arithmetic)",
                 attained, cell_bound(*X.shape)),
            note("X", X.astype(int).tolist()),
            note("y", y.astype(int).tolist()),
        ]
    }  # fmt: skip


def _holds_minimum(X: NDArray, y: NDArray, cell: tuple[int, ...]) -> bool:
    """Whether the cell of d = 2 holds a minimum: its fit, if unique, else a point that fits its one
    active datum, sought among rationals, else (none active) any point of it."""
    if len(cell) >= 2:
        return rational.is_local_minimum(rational.fit(X, y, cell), cell)
    if not cell:
        return True
    (a, b), target = rational.rationals(X[cell[0]]), rational.rationals(y)[cell[0]]
    foot = (a * target / (a * a + b * b), b * target / (a * a + b * b))
    points = [(foot[0] - t * b, foot[1] + t * a) for t in map(Fraction, range(-9, 10))]
    signs = [[h > 0 for h in rational.preactivations(X, w)] for w in points]
    return any([i for i, on in enumerate(row) if on] == list(cell) for row in signs)


def nested_quadrants(report: Report, X: NDArray) -> Settlement:
    """Lemma 4.5, with the four data X of the figure."""
    chains = [sorted(map(len, quadrant_cells(X, quadrant))) for quadrant in (2, 4)]
    return {
        "evidence": [
            *report.evidence(),
            fact("cells of the figure's four data", len(enumerate_cells(X)), 8),
            note("active data of its cells in the 2nd and in the 4th quadrant", tuple(chains)),
        ]
    }


def not_on_boundary(report: Report, seed: int, count: int) -> Settlement:
    """Lemma 3.2 for data that are not zero: a report, and exact steps on integer data."""
    tried, wrong = exact_falls(seed, count)
    return {
        "evidence": [
            *report.evidence(),
            fact("boundary points of integer data that no exact step leaves downwards", wrong, 0),
            note("such points, and steps on each", (tried, 3)),
        ],
    }  # fmt: skip


def exact_falls(seed: int, count: int) -> tuple[int, int]:
    """Points on boundaries of `count` integer data sets in the plane, and how many of them are not
    left downwards by w +- eps x_j, three eps, as far as promised; in rational arithmetic."""
    tried = wrong = 0
    for item in draw_many(count, 2, seed, kinds=("integers",), sizes=(2, 5)):
        X, y = rational.rationals(item.X), rational.rationals(item.y)
        for j, (a, b) in enumerate(X):
            size = a * a + b * b
            kappa = sum((a * p + b * q) ** 2 for p, q in X)
            for t in (Fraction(-2), Fraction(-1, 3), Fraction(0), Fraction(1, 2), Fraction(3)):
                w, tried = (-t * b, t * a), tried + 1
                here = rational.neuron_loss(item.X, item.y, w)
                for share in (Fraction(1, 2), Fraction(1, 20), Fraction(1, 2000)):
                    eps = share * y[j] * size / kappa
                    least = min(
                        rational.neuron_loss(item.X, item.y, (w[0] + s * a, w[1] + s * b))
                        for s in (eps, -eps)
                    )
                    if here - least < eps * (y[j] * size - eps * kappa) / 2:
                        wrong += 1
                        break
    return tried, wrong


def relu_not_smaller(report: Report) -> Settlement:
    """Theorem 3.4 as printed, against the smallest data that `report` found."""
    X, y = report.counterexample["X"], report.counterexample["y"]
    gain = linear_fit(X, y)[1] - least_relu_loss(X, y)
    exact = rational.fit(X, y, range(len(y)))
    linear = sum((h - v) ** 2 for h, v in zip(exact.preactivations, rational.rationals(y),
                                              strict=True)) / 2  # fmt: skip
    return {
        "evidence": report.evidence(),
        "counterexample": Counterexample(
            instance={"X": X.astype(int), "y": y.astype(int)},
            assumptions={**assumptions(X, y), "n = 1": len(y) == 1},
            breaks=(fact("the ReLU neuron's least loss is smaller by more than 1e-12 (enumeration)",
                         gain > 1e-12, True),),
            recheck=(fact("there is room below the linear neuron's least loss (rational "
                          "arithmetic)", linear > 0, True),),
            route="the linear fit in rational arithmetic: its loss is zero, and no loss is below",
        ),
    }  # fmt: skip


def relu_smaller(report: Report, X: NDArray, y: NDArray) -> Settlement:
    """Our repair of Theorem 3.4, and data X (n, 2), y whose linear fit is exactly zero on x_2."""
    line = rational.fit(X, y, range(len(y)))
    without = rational.fit(X, y, [i for i in range(len(y)) if i != 1])
    return {
        "evidence": [
            *report.evidence(),
            fact("data below: value of the linear fit on x_2 (rational)",
                 line.preactivations[1], Fraction(0)),
            fact("data below: a smaller loss without x_2 (rational)",
                 without.loss < line.loss, True),
            note("X", X.astype(int).tolist()),
            note("y", y.astype(int).tolist()),
            note("losses, linear and ReLU", (line.loss, without.loss)),
        ]
    }  # fmt: skip
