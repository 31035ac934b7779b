"""Proposition 3.3 and Theorem 3.6: where virtual minima lie, whether support lowers the loss."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from reluflow.geometry import (
    StationarySet,
    enumerate_cells,
    local_minima,
    meets_cell,
    rank,
    virtual_minimum,
)
from reluflow.instances import Instance


def excess_in_cell(X: ArrayLike, y: ArrayLike, active: ArrayLike) -> float:
    """How far above its unconstrained minimum L_P stays on the closed cell, as a distance.

    The distance |R (w - w_P*)| of the closed cell's minimiser w, R^T R = H: zero exactly if w_P*
    lies in the closed cell. Solved as a least-distance problem by nonnegative least squares
    (Lawson & Hanson 1974, ch. 23), which does not look at the conditions (5). H of full rank.
    """
    X, y, active = np.asarray(X, float), np.asarray(y, float), np.asarray(active, bool)
    R = np.linalg.qr(X[active], mode="r")
    w = np.linalg.lstsq(X[active], y[active], rcond=None)[0]
    G = X * np.where(active, 1.0, -1.0)[:, None]  # the closed cell is G w >= 0
    G = G[G.any(axis=1)]
    G /= np.linalg.norm(G, axis=1, keepdims=True)
    reach = np.linalg.solve(R.T, G.T).T
    E = np.vstack([reach.T, -(G @ w)[None, :]])
    multipliers, _ = nnls(E, np.append(np.zeros(X.shape[1]), 1.0))
    r = E @ multipliers - np.append(np.zeros(X.shape[1]), 1.0)
    return float(np.linalg.norm(r[:-1]) / abs(r[-1]))


ROOM = 1e7
"""Data of a larger condition number leave the second route to Proposition 3.3 too few digits."""

SEEN = 1e-9
"""Up to this share of the active labels' length the second route takes a distance for rounding."""


@dataclass(frozen=True)
class VirtualMinimumSurvey:
    """Proposition 3.3 over all cells of many data sets.

    `cells` of full rank, `inside` of them with conditions (5) met, and `violations`: cells where
    (5) and the constrained minimum disagree; `deficient` cells of rank below d and `missing`,
    those without a virtual minimum inside, first met at `example` (data set, active data).
    """

    instances: int
    cells: int
    inside: int
    violations: int
    deficient: int
    missing: int
    example: tuple[Instance, tuple[int, ...]] | None


def survey_virtual_minima(instances: Iterable[Instance]) -> VirtualMinimumSurvey:
    """Try both halves of Proposition 3.3 on every cell of every data set.

    Full rank: (5) should hold if and only if the minimum of L_P over the closed cell is w_P*.
    Cells in which a condition of (5) is within rounding of equality are left out, and cells whose
    data are too ill-conditioned for the least-distance problem in doubles: too much so altogether,
    or too flat for L_P to tell a point that violates (5) as little as w_P* from one that does not.
    """
    count = cells = inside = violations = deficient = missing = 0
    example = None
    for item in instances:
        count += 1
        length = np.linalg.norm(item.X, axis=1)
        for active in enumerate_cells(item.X).patterns:
            w, N = virtual_minimum(item.X, item.y, active)
            if N.shape[1]:
                deficient += 1
                if not meets_cell(item.X, item.y, active):
                    missing += 1
                    example = example or (item, tuple(map(int, np.nonzero(active)[0])))
                continue
            margins = np.where(active, item.X @ w, -(item.X @ w)) / (length * np.linalg.norm(w))
            s, fitted = np.linalg.svd(item.X[active])[1], np.linalg.norm(item.y[active])
            if np.abs(margins).min() < 1e-6 or s[0] > ROOM * s[-1]:
                continue
            # So far is w_P* from a point on the other side of that condition, as L_P sees it.
            least = s[-1] * np.linalg.norm(w) * abs(margins.min())
            if least < 10 * SEEN * fitted:
                continue
            cells += 1
            conditions = bool(margins.min() > 0)
            inside += conditions
            violations += conditions != (excess_in_cell(item.X, item.y, active) <= SEEN * fitted)
    return VirtualMinimumSurvey(count, cells, inside, violations, deficient, missing, example)


def nested_pairs(
    minima: Iterable[StationarySet],
) -> list[tuple[StationarySet, StationarySet]]:
    """All pairs (more, fewer) of local minima whose support vectors are nested, S2 inside S1."""
    minima = list(minima)
    return [
        (a, b) for a in minima for b in minima if a is not b and set(b.support) < set(a.support)
    ]


@dataclass(frozen=True)
class NestingSurvey:
    """Theorem 3.6 over all nested pairs of many data sets.

    `violations` pairs with L(w2) < L(w1), in `violated` data sets, `worst` the largest
    L(w1) / L(w2) - 1 among them, at `worst_instance`. `between` counts the pairs that also break
    the repaired bound L(w1) <= L(w2) + 1/2 sum_c (h_c^2 + 2 y_c |h_c|), c in S1 but not S2, with
    h_c = x_c.w2, and `interpolated_broken` the pairs with zero residual on S1 that break 3.6.
    """

    instances: int
    pairs: int
    violations: int
    violated: int
    worst: float
    worst_instance: Instance | None
    interpolated: int
    interpolated_broken: int
    between: int


def survey_nesting(instances: Iterable[Instance]) -> NestingSurvey:
    """Compare the losses of every nested pair of local minima of every data set."""
    count = pairs = violations = violated = interpolated = broken = between = 0
    worst, worst_instance = 0.0, None
    for item in instances:
        count += 1
        scale = 0.5 * float(item.y @ item.y)
        found = nested_pairs(local_minima(item.X, item.y))
        bad = 0
        for more, fewer in found:
            pairs += 1
            lost = [c for c in more.support if c not in fewer.support]
            h = item.X[lost] @ fewer.w
            room = 0.5 * float(np.sum(h**2 + 2.0 * item.y[lost] * np.abs(h)))
            between += more.loss > fewer.loss + room + 1e-9 * scale
            fails = more.loss > fewer.loss + 1e-9 * scale
            bad += fails
            outside = np.delete(item.y, list(more.support))
            if more.loss <= 0.5 * float(outside @ outside) + 1e-12 * scale:
                interpolated += 1
                broken += fails
            if fails and fewer.loss > 0 and more.loss / fewer.loss - 1.0 > worst:
                worst, worst_instance = more.loss / fewer.loss - 1.0, item
        violations += bad
        violated += bad > 0
    return NestingSurvey(
        count, pairs, violations, violated, worst, worst_instance, interpolated, broken, between
    )


def assumptions(X: ArrayLike, y: ArrayLike) -> dict[str, bool]:
    """Which of A1 (x_i >= 0, not 0), A2 (y_i > 0) and A3 (rank X = d) hold."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    return {
        "A1": bool(np.all(X >= 0) and np.all(X.any(axis=1))),
        "A2": bool(np.all(y > 0)),
        "A3": rank(X) == X.shape[1],
    }
