"""What surveys and counterexamples say of the paper's statements, as evidence for the ledger.

Each function returns the arguments of `Ledger.settle`. A refutation is measured twice: by the
floating-point landscape or flow, and by a route of `rational` or `bruteforce`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow import rational
from reluflow.geometry import enumerate_cells, local_minima, virtual_minimum
from reluflow.instances import Instance
from reluflow.ledger import Counterexample, bound, fact, note
from reluflow.papers.lee2022support.landscape import (
    NestingSurvey,
    VirtualMinimumSurvey,
    assumptions,
    meets_cell,
)

Settlement = dict[str, Any]


def terminology(
    X6: NDArray, y6: NDArray, w: NDArray, pairs: Sequence[Instance], seed: int
) -> Settlement:
    """Figure 1: the stationary sets of `pairs` (n = d = 2), and six data's cells and the virtual
    minimum of the cell of w (2,)."""
    shapes = [sorted(m.dimension for m in local_minima(k.X, k.y)) for k in pairs]
    own = X6 @ w > 0
    virtual, _ = virtual_minimum(X6, y6, own)
    return {
        "evidence": [
            fact("data sets with n = d = 2 whose stationary set is other than a point, two "
                 "half-lines and a dead plateau", sum(s != [0, 1, 1, 2] for s in shapes), 0),
            fact("cells of the six data", len(enumerate_cells(X6)), 12),
            fact("the virtual minimum lies in its own cell",
                 bool(np.array_equal(X6 @ virtual > 0, own)), False),
            note("data sets with n = d = 2", len(shapes)),
            note("seed", seed),
        ]
    }  # fmt: skip


def full_rank_minima(surveys: Sequence[VirtualMinimumSurvey], seed: int) -> Settlement:
    """Proposition 3.3 where H has rank d."""
    return {
        "evidence": [
            fact("cells of rank d where (5) and the constrained minimum disagree",
                 sum(s.violations for s in surveys), 0, tried=sum(s.cells for s in surveys)),
            note("cells of rank d tried", sum(s.cells for s in surveys)),
            note("of them with their virtual minimum inside", sum(s.inside for s in surveys)),
            note("seed", seed),
        ]
    }  # fmt: skip


def deficient_minima(
    surveys: Sequence[VirtualMinimumSurvey], seed: int, X: NDArray, y: NDArray, inside: NDArray
) -> Settlement:
    """Proposition 3.3 where the rank is below d, against surveys and the cell of the point `inside`
    (d,), in which the first two data alone are active and the third is their difference."""
    active = X @ inside > 0
    fitted = rational.fit(X[:2, :2], y[:2], [0, 1])
    value = rational.preactivations(X[2:3, :2], fitted.w)[0]
    return {
        "evidence": [
            fact("cells of rank below d without a virtual minimum inside",
                 sum(s.missing for s in surveys), 0),
            fact("the cell below has one inside", meets_cell(X, y, active), True),
            note("cells of rank below d, in the plane and in space",
                 tuple(s.deficient for s in surveys)),
            note("of them without a virtual minimum inside", tuple(s.missing for s in surveys)),
            note("seed", seed),
        ],
        "counterexample": Counterexample(
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
        ),
    }  # fmt: skip


def nesting(survey: NestingSurvey, seed: int, X: NDArray, y: NDArray) -> Settlement:
    """Theorem 3.6, against a survey and the three data X, y, the second of which is dropped."""
    more, fewer = rational.fit(X, y, [0, 1, 2]), rational.fit(X, y, [0, 2])
    found = {m.support: m.loss for m in local_minima(X, y)}
    both = rational.is_local_minimum(more, [0, 1, 2]) and rational.is_local_minimum(fewer, [0, 2])
    return {
        "evidence": [
            fact("nested pairs with L(w2) < L(w1)", survey.violations, 0),
            fact("L(w2) >= L(w1) for the pair below", fewer.loss >= more.loss, True),
            note("nested pairs", survey.pairs),
            note("data sets", survey.instances),
            note("data sets with such a pair", survey.violated),
            note("largest L(w1) / L(w2) - 1 met", survey.worst),
            note("seed", seed),
        ],
        "counterexample": Counterexample(
            instance={"X": X.astype(int), "y": y.astype(int), "w1": more.w, "w2": fewer.w},
            assumptions={**assumptions(X, y), "w1 and w2 are local minima": both},
            breaks=(bound("L(w2) - L(w1), enumerated minima", found[(0, 2)] - found[(0, 1, 2)],
                          ">=", 0, ""),),
            recheck=(bound("L(w2) - L(w1), rational arithmetic", fewer.loss - more.loss,
                           ">=", 0, ""),),
            route="both fits and their losses in rational arithmetic",
        ),
    }  # fmt: skip


def nesting_exact(survey: NestingSurvey, seed: int) -> Settlement:
    """Our repair of Theorem 3.6 where the larger support is fitted without residual."""
    return {
        "evidence": [
            fact("nested pairs, S1 fitted without residual, with L(w2) < L(w1)",
                 survey.interpolated_broken, 0),
            note("such nested pairs", survey.interpolated),
            note("seed", seed),
        ]
    }  # fmt: skip


def nesting_bound(survey: NestingSurvey, seed: int) -> Settlement:
    """Our bound in place of Theorem 3.6."""
    return {
        "evidence": [
            fact("nested pairs that break the bound", survey.between, 0),
            note("nested pairs", survey.pairs),
            note("seed", seed),
        ]
    }
