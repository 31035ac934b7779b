"""Appendices D and E as evidence; each function returns the arguments of `Ledger.settle`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reluflow.falsify import Report, falsify, survived
from reluflow.geometry import rank
from reluflow.ledger import Counterexample, Reading, fact, note
from reluflow.ledger import bound as bounded
from reluflow.papers.lee2022support import linear, linear_limits, linear_reduction
from reluflow.papers.lee2022support.assumptions import assumptions
from reluflow.papers.lee2022support.linear_exact import (
    ExactRectangles,
    exact_rectangles,
    manifolds_that_differ,
    norm_turns,
)
from reluflow.papers.lee2022support.linear_reduction import (
    orthogonal_pairs,
    search_nonnegative,
    supports_exist,
)

Settlement = dict[str, Any]


def try_ellipsoid(seed: int, count: int) -> tuple[Report, ...]:
    """Attempts to falsify the four parts of Proposition D.4, d = 3."""
    parts = (
        linear.norm_grows_inside(3),
        linear.subset_is_ellipsoid(3),
        linear.rectangle_is_invariant(3),
        linear.rectangle_in_ellipsoid(3),
    )
    return tuple(falsify(part, seed, count) for part in parts)


def try_reduction(activation: str, seed: int, count: int) -> tuple[Report, ...]:
    """Attempts to falsify Theorem E.1 ("linear") or Corollary E.2 ("relu")."""
    both = (
        linear_reduction.loss_is_constant_across,
        linear_reduction.flow_stays_along_span,
        linear_reduction.flow_is_reduced_flow,
    )
    parts = [part(activation) for part in both]
    if activation == "linear":
        parts.append(linear_reduction.minima_project_to_one())
    return tuple(falsify(part, seed, count) for part in parts)


def stationary_manifold(seed: int, count: int) -> Settlement:
    """Proposition D.1: flows by a matrix exponential, the manifold in whole numbers."""
    report = falsify(linear_limits.every_flow_is_optimal(), seed, count)
    return {
        "evidence": [
            fact("whole-number data sets whose stationary set is not affine of dimension d - r",
                 manifolds_that_differ(seed, 2 * count), 0),
            note("such data sets", 2 * count),
            *survived(report),
        ],
        "reading": Reading(
            taken="(i) every flow converges to a global minimum; (ii) r = d; (iii) a linear "
            "manifold is an affine one",
            others="(i) for r < d there is no single global minimum: the limit is the one nearest "
            "to w0. (ii) r > d cannot be. (iii) The manifold contains 0 only if q = 0.",
        ),
    }  # fmt: skip


def ellipsoid_parts(reports: Sequence[Report], seed: int, count: int) -> tuple[Settlement, ...]:
    """Proposition D.4, its four parts: each tried in floating point, the last exactly, too."""
    exact: ExactRectangles = exact_rectangles(seed, max(5, count // 3))
    readings = (
        Reading(
            taken="the norm increases at an instant if its derivative is positive",
            others=f"From {exact.entering} of the {exact.others} vertices other than w*, w0 = 0 "
            "among them, the norm increases from t = 0 on although g = 0 there.",
        ),
        Reading(
            taken="w* is not 0",
            others="For w* = 0 the subset is empty, and no ellipsoid (A1 and A2 exclude it).",
        ),
        None,
        Reading(
            taken="the ellipsoid is the closed one",
            others="The set g < 0 as defined is open and misses the vertices, so it does not "
            "contain the hyperrectangle.",
        ),
    )
    exactly = [
        fact("vertices with g different from 0 (exact)", exact.off, 0),
        fact("other points of hyperrectangles with g >= 0 (exact)", exact.outside, 0),
        fact("points not mirrored in w*/2 by g (exact)", exact.lopsided, 0),
        note("exact neurons, vertices and other points",
             (exact.neurons, exact.vertices, exact.points)),
    ]  # fmt: skip
    parts = [{"evidence": survived(report)} for report in reports]
    parts[-1]["evidence"] = exactly + parts[-1]["evidence"]
    return tuple(
        part | ({} if reading is None else {"reading": reading})
        for part, reading in zip(parts, readings, strict=True)
    )


def shortest_minimum(seed: int, count: int) -> Settlement:
    """Theorem D.5: the limit from 0 against LAPACK's shortest fit, the norm by two routes."""
    reports = [
        falsify(statement, seed, count)
        for statement in (
            linear_limits.limit_from_zero_is_shortest(),
            linear_limits.norm_grows_from_zero(),
        )
    ]
    exact = max(4, count // 4)
    return {
        "evidence": [
            fact("whole-number data sets on which d|w|^2/dt has a zero at some t > 0 (Sturm)",
                 norm_turns(seed, exact), 0),
            note("such data sets", exact),
            *survived(*reports),
        ]
    }  # fmt: skip


def reduction(reports: Sequence[Report]) -> Settlement:
    """Theorem E.1."""
    return {
        "evidence": survived(*reports),
        "reading": Reading(
            taken="part 1 says L(w) = L(w + v), as its proof does",
            others="It is printed as L(w) = L(w' + v) with a w' of the span, for which w is not "
            "said; for a w of its own it is false.",
        ),
    }


def reduction_of_relu(reports: Sequence[Report]) -> Settlement:
    """Corollary E.2."""
    return {
        "evidence": survived(*reports),
        "reading": Reading(
            taken="parts 1 and 2 of Theorem E.1, and the projected flow is the flow of the reduced "
            "data; the space is the span of all data",
            others="Its proof is said to be the proof of Theorem E.1, but parts 3 and 4 do not "
            "carry over: the reduced ReLU loss may have several minima, and the range of H changes "
            "from cell to cell. A1 does not carry over either (the next claim).",
        ),
    }


def reduction_keeps_sign(X: ArrayLike, seed: int, count: int) -> Settlement:
    """After Corollary E.2: that A1 survives the reduction, against four data of rank 3 in R^4."""
    X = np.asarray(X, int)
    found = search_nonnegative(X, seed, count)
    y = np.ones(len(X), int)
    zero = orthogonal_pairs(X)
    apart = [f"x_{i + 1} and x_{j + 1}" for i, j in zip(*np.nonzero(np.triu(zero)), strict=True)]
    return {
        "evidence": [
            fact("the data below have nonnegative orthonormal coordinates of their span",
                 found.smallest >= 0.0, True),
            note("bases tried", count),
            note("seed", seed),
        ],
        "counterexample": Counterexample(
            instance={"X": X},
            assumptions={
                "A1": assumptions(X, y)["A1"],
                "rank X = 3 < d = 4": rank(X) == 3 and X.shape[1] == 4,
            },
            breaks=(bounded("largest smallest coordinate over all orthonormal bases tried",
                            found.smallest, ">=", 0.0, "of |x_i|"),),
            recheck=(
                fact("four nonempty supports among three coordinates, disjoint exactly for the "
                     "orthogonal pairs, exist", supports_exist(X, 3), True),
                note("orthogonal pairs of data", tuple(apart)),
                note("such supports among four coordinates exist", supports_exist(X, 4)),
            ),
            route="nonnegative vectors are orthogonal exactly if their supports are disjoint; all "
            "families of supports are tried, no number is computed",
        ),
    }  # fmt: skip


def plane_reduction(seed: int, count: int) -> Settlement:
    """Ours: A1 survives the reduction to rank 2."""
    return {"evidence": survived(falsify(linear_reduction.plane_keeps_sign(6), seed, count))}
