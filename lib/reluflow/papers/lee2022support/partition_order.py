"""Lemma 4.5: the cells of the weight plane, in order around the circle."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement
from reluflow.geometry import enumerate_cells
from reluflow.geometry.exact import integer_rows
from reluflow.instances import data_draws, degenerate_draws, readable_data
from reluflow.ledger import Evidence, fact, note


def quadrant_cells(X: ArrayLike, quadrant: int) -> set[frozenset[int]]:
    """Active sets of all cells of X (n, 2) that meet the open quadrant (2 or 4), by enumeration.

    A cell may reach over the quadrant's edge; the axes are added as data, which cuts it there.
    """
    patterns = enumerate_cells(np.vstack([np.asarray(X, float), np.eye(2)])).patterns
    east = quadrant == 4
    here = (patterns[:, -2] == east) & (patterns[:, -1] != east)
    return {frozenset(np.flatnonzero(p).tolist()) for p in patterns[here][:, :-2]}


def quadrant_cells_by_angle(X: ArrayLike, quadrant: int) -> set[frozenset[int]]:
    """The same from the slopes of the data alone, sorted and compared in integers.

    Between two neighbouring directions lies their sum (p, q), and (-q, p) is a weight of the cell.
    """
    rows = integer_rows(X)
    directions = sorted({*rows, (1, 0), (0, 1)}, key=lambda x: Fraction(x[1], x[0] + x[1]))
    found = set()
    for (a, b), (c, d) in pairwise(directions):
        w = (-(b + d), a + c) if quadrant == 2 else (b + d, -(a + c))
        found.add(frozenset(i for i, x in enumerate(rows) if x[0] * w[0] + x[1] * w[1] > 0))
    return found


def nested_in_quadrants() -> Statement:
    """sv.lem4.5: d = 2 and A1; of two cells that meet the second quadrant, or the fourth, one has
    all the active data of the other. Slack: minus the pairs that are not nested, and minus the
    quadrants whose cells the sorted slopes give differently."""

    def slack(item: Instance) -> float:
        wrong = 0
        for quadrant in (2, 4):
            cells = quadrant_cells(item["X"], quadrant)
            wrong += sum(not (a <= b or b <= a) for a, b in combinations(cells, 2))
            wrong += cells != quadrant_cells_by_angle(item["X"], quadrant)
        return 0.0 - wrong

    return Statement(
        says="the active sets of a quadrant's cells are nested",
        draws={**data_draws(2), **degenerate_draws((2,), 8)},
        slack=slack,
        readable=readable_data(2, (1, 4)),
        fixed=("X", "y"),
    )


def cells_of_the_figure(X: NDArray) -> list[Evidence]:
    """Lemma 4.5 on the four data X (4, 2) of Figure 10."""
    chains = [sorted(map(len, quadrant_cells(X, quadrant))) for quadrant in (2, 4)]
    return [
        fact("cells of the figure's four data", len(enumerate_cells(X)), 8),
        note("active data of its cells in the 2nd and in the 4th quadrant", tuple(chains)),
    ]
