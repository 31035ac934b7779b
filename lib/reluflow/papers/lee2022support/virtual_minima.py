"""Proposition 3.3: whether a cell holds its virtual minimum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow import instances, rational
from reluflow.falsify import survey
from reluflow.geometry import enumerate_cells, excess_in_cell, meets_cell, virtual_minimum
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.papers.lee2022support.assumptions import assumptions

ROOM = 1e7
"""Data of a larger condition number leave the second route to Proposition 3.3 too few digits."""

SEEN = 1e-9
"""Up to this share of the active labels' length the second route takes a distance for rounding."""


def survey_cells(data: Iterable[instances.Instance]) -> pd.DataFrame:
    """Every cell of every data set: `deficient`, whether its active data have rank below d,
    `inside`, whether it holds a virtual minimum, and `agree`, whether (5) and the least of L_P over
    the closed cell say the same of that (rank d)."""
    pairs = ((item, active) for item in data for active in enumerate_cells(item.X).patterns)
    return survey(pairs, lambda pair: _cell(*pair))


def _cell(item: instances.Instance, active: NDArray) -> dict[str, bool] | None:
    """One cell: (5) should hold if and only if the minimum of L_P over the closed cell is w_P*.

    None where a condition of (5) is within rounding of equality, and where the data are too
    ill-conditioned for the least-distance problem in doubles: too much so altogether, or too flat
    for L_P to tell a point that violates (5) as little as w_P* from one that does not.
    """
    w, N = virtual_minimum(item.X, item.y, active)
    if N.shape[1]:
        inside = meets_cell(item.X, item.y, active)
        return {"deficient": True, "inside": inside, "agree": True}
    length = np.linalg.norm(item.X, axis=1)
    margins = np.where(active, item.X @ w, -(item.X @ w)) / (length * np.linalg.norm(w))
    s, fitted = np.linalg.svd(item.X[active])[1], np.linalg.norm(item.y[active])
    if np.abs(margins).min() < 1e-6 or s[0] > ROOM * s[-1]:
        return None
    # So far is w_P* from a point on the other side of that condition, as L_P sees it.
    if s[-1] * np.linalg.norm(w) * abs(margins.min()) < 10 * SEEN * fitted:
        return None
    inside = bool(margins.min() > 0)
    attained = excess_in_cell(item.X, item.y, active) <= SEEN * fitted
    return {"deficient": False, "inside": inside, "agree": inside == attained}


def cells_of_full_rank(surveys: Sequence[pd.DataFrame]) -> list[Evidence]:
    """sv.prop3.3.1: where H has rank d the cell holds its virtual minimum if and only if (5)."""
    cells = pd.concat(surveys).query("not deficient")
    return [
        fact("cells of rank d where (5) and the constrained minimum disagree",
             int((~cells.agree).sum()), 0, tried=len(cells)),
        note("cells of rank d tried", len(cells)),
        note("of them with their virtual minimum inside", int(cells.inside.sum())),
    ]  # fmt: skip


def deficient_cells(
    surveys: Sequence[pd.DataFrame], X: NDArray, y: NDArray, inside: NDArray
) -> list[Evidence]:
    """sv.prop3.3.2: where H has rank below d the cell holds a virtual minimum.

    By the surveys of the plane and of space, and on the cell of the point `inside` (d,).
    """
    cells = [found.query("deficient") for found in surveys]
    missing = tuple(int((~found.inside).sum()) for found in cells)
    return [
        fact("cells of rank below d without a virtual minimum inside", sum(missing), 0),
        fact("the counterexample's cell has one inside", meets_cell(X, y, X @ inside > 0), True),
        note("cells of rank below d, in the plane and in space", tuple(map(len, cells))),
        note("of them without a virtual minimum inside", missing),
    ]


def two_data_and_their_difference(X: NDArray, y: NDArray, inside: NDArray) -> Counterexample:
    """Against Proposition 3.3.2, data X (4, 3), y and the cell of the point `inside` (3,), in which
    the first two data alone are active and the third is their difference."""
    active = X @ inside > 0
    fitted = rational.fit(X[:2, :2], y[:2], [0, 1])
    value = rational.preactivations(X[2:3, :2], fitted.w)[0]
    return Counterexample(
        instance={"X": X, "y": y, "a point of the cell": inside},
        assumptions={
            **assumptions(X, y),
            "x_1 and x_2 alone are active in the cell": active.tolist()
            == [True, True, False, False],
            "x_3 = x_1 - x_2": bool(np.array_equal(X[2], X[0] - X[1])),
        },
        breaks=(fact("a virtual minimum lies in the cell (linear program)",
                     meets_cell(X, y, active), True),),
        recheck=(bound("x_3.w = x_1.w - x_2.w at every virtual minimum", value, "<=", 0, ""),),
        route="both active data are fitted exactly, in rational arithmetic",
    )  # fmt: skip
