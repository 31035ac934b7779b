"""Theorem 3.6: whether a local minimum with more support vectors has the smaller loss."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow import rational
from reluflow.falsify import survey
from reluflow.geometry import StationarySet, local_minima, nested_pairs
from reluflow.instances import Instance
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.papers.lee2022support.assumptions import assumptions


def survey_pairs(data: Iterable[Instance]) -> pd.DataFrame:
    """Every pair of minima w1, w2 with supports S2 inside S1, of every data set (`number`).

    breaks   whether L(w2) < L(w1)
    excess   L(w1) / L(w2) - 1
    beyond   whether L(w1) > L(w2) + 1/2 sum_c (h_c^2 + 2 y_c |h_c|), over c in S1 but not S2, with
             h_c = x_c.w2
    fitted   whether w1 fits S1 without residual
    """
    pairs = (
        (number, item, *pair)
        for number, item in enumerate(data)
        for pair in nested_pairs(local_minima(item.X, item.y))
    )
    return survey(pairs, lambda pair: _compared(*pair))


def _compared(
    number: int, item: Instance, more: StationarySet, fewer: StationarySet
) -> dict[str, bool | float]:
    scale = 0.5 * float(item.y @ item.y)
    lost = [c for c in more.support if c not in fewer.support]
    h, outside = item.X[lost] @ fewer.w, np.delete(item.y, list(more.support))
    room = 0.5 * float(np.sum(h**2 + 2.0 * item.y[lost] * np.abs(h)))
    return {
        "number": number,
        "breaks": more.loss > fewer.loss + 1e-9 * scale,
        "excess": more.loss / fewer.loss - 1.0 if fewer.loss > 0 else 0.0,
        "beyond": more.loss > fewer.loss + room + 1e-9 * scale,
        "fitted": more.loss <= 0.5 * float(outside @ outside) + 1e-12 * scale,
    }


def fewer_vectors_larger_loss(pairs: pd.DataFrame, X: NDArray, y: NDArray) -> list[Evidence]:
    """sv.thm3.6: of nested minima the one with fewer support vectors has the larger loss, or the
    same; by a survey, and on the three data X, y, whose second the smaller support lacks."""
    more, fewer = rational.fit(X, y, [0, 1, 2]), rational.fit(X, y, [0, 2])
    broken = pairs[pairs.breaks]
    return [
        fact("nested pairs with L(w2) < L(w1)", len(broken), 0),
        fact("L(w2) >= L(w1) for the counterexample's pair", fewer.loss >= more.loss, True),
        note("nested pairs", len(pairs)),
        note("data sets", pairs.number.nunique()),
        note("data sets with such a pair", broken.number.nunique()),
        note("largest L(w1) / L(w2) - 1 met", float(max(broken.excess, default=0.0))),
    ]


def second_datum_dropped(X: NDArray, y: NDArray) -> Counterexample:
    """Against Theorem 3.6, three data X (3, 2), y, two minima of which differ by the second."""
    more, fewer = rational.fit(X, y, [0, 1, 2]), rational.fit(X, y, [0, 2])
    found = {m.support: m.loss for m in local_minima(X, y)}
    both = rational.is_local_minimum(more, [0, 1, 2]) and rational.is_local_minimum(fewer, [0, 2])
    return Counterexample(
        instance={"X": X.astype(int), "y": y.astype(int), "w1": more.w, "w2": fewer.w},
        assumptions={**assumptions(X, y), "w1 and w2 are local minima": both},
        breaks=(bound("L(w2) - L(w1), enumerated minima", found[(0, 2)] - found[(0, 1, 2)],
                      ">=", 0, ""),),
        recheck=(bound("L(w2) - L(w1), rational arithmetic", fewer.loss - more.loss,
                       ">=", 0, ""),),
        route="both fits and their losses in rational arithmetic",
    )  # fmt: skip


def fitted_supports(pairs: pd.DataFrame) -> list[Evidence]:
    """sv.ours.nested.exact: Theorem 3.6 holds where S1 is fitted without residual."""
    fitted = pairs[pairs.fitted]
    return [
        fact("nested pairs, S1 fitted without residual, with L(w2) < L(w1)",
             int(fitted.breaks.sum()), 0),
        note("such nested pairs", len(fitted)),
    ]  # fmt: skip


def within_bound(pairs: pd.DataFrame) -> list[Evidence]:
    """sv.ours.nested.bound: L(w1) exceeds L(w2) by at most 1/2 sum_c (h_c^2 + 2 y_c |h_c|)."""
    return [
        fact("nested pairs that break the bound", int(pairs.beyond.sum()), 0),
        note("nested pairs", len(pairs)),
    ]
