"""Lemma F.10 and Theorem F.11 as evidence; each function returns `Ledger.settle`'s arguments."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reluflow.falsify import Report, falsify, survived
from reluflow.flows.affine import affine_flow
from reluflow.ledger import Reading, fact, note
from reluflow.papers.lee2022support.crossings import (
    boundary_crossings_bound,
    crossings_bound,
    diagonal_example,
    exact_signs,
    hyperplanes_that_fail,
)
from reluflow.papers.lee2022support.crossings_exact import (
    ExponentialEquation,
    fitted,
    points_of_zeros,
    random_equation,
    zeros_by_isolation,
)

Settlement = dict[str, Any]

MOST = 6
"""The Vandermonde construction is carried out for n = 1..MOST."""


def zeros_of_exponentials(seed: int, count: int) -> Settlement:
    """Lemma F.10: the bound as a determinant, zeros by Sturm's theorem, and attainment."""
    report = falsify(points_of_zeros(), seed, count, evaluations=0)
    rng = np.random.default_rng(seed)
    equations = [random_equation(rng) for _ in range(count // 2)]
    counts = [equation.zeros() for equation in equations]
    attained = []
    for n in range(1, MOST + 1):
        b = [(k + 1) // 2 * (-1) ** k for k in range(1, n + 1)]  # -1, 1, -2, 2, ...
        zeros = [Fraction(2) ** k for k in range(n)]  # t = 0, 1, ..., n - 1 in units of log 2
        equation = fitted(b, zeros)
        simple = all(equation.value(u) == 0 and equation.slope(u) != 0 for u in zeros)
        attained.append(equation.zeros() if simple else -1)
    constant = ExponentialEquation((Fraction(1),), (0,), Fraction(1))
    stuck = fitted((0, 1, 2), [Fraction(1), Fraction(2), Fraction(4)])
    return {
        "evidence": [
            *survived(report),
            fact("equations with more than n zeros (Sturm)",
                 sum(k > len(e.a) for k, e in zip(counts, equations, strict=True)), 0),
            fact("equations whose zeros the flow's own isolation counts differently",
                 sum(k != zeros_by_isolation(e) for k, e in zip(counts, equations, strict=True)),
                 0),
            note("equations, and of them with exactly n zeros", (len(equations), sum(
                k == len(e.a) for k, e in zip(counts, equations, strict=True)))),
            fact("zeros of the Vandermonde equations for n = 1, 2, ..., all simple",
                 tuple(attained), tuple(range(1, MOST + 1))),
        ],
        "reading": Reading(
            taken="some constants: any constants, b_i different and not zero, not all of a_i and c "
            "zero",
            others="Literally, that such constants exist, it says nothing. For all constants it is "
            f"false: exp(0 t) = 1 is an identity ({_yes(constant.is_identity)}), and so is what "
            f"the construction gives once some b_i is 0 ({_yes(stuck.is_identity)}).",
        ),
    }  # fmt: skip


def _yes(value: bool) -> str:
    return "checked" if value else "not so"


def try_hyperplanes(seed: int, count: int) -> tuple[Report, ...]:
    """Attempts to make a linear flow cross a hyperplane more than d times, d = 2, 3, 4."""
    return tuple(
        falsify(crossings_bound(d, prescribed), seed, count)
        for d in (2, 3, 4)
        for prescribed in (False, True)
    )


def hyperplanes(reports: Sequence[Report]) -> Settlement:
    """Theorem F.11: no more than d crossings."""
    return {
        "evidence": survived(*reports),
        "reading": Reading(
            taken="no linear flow crosses a hyperplane more than d times, unless it lies in it",
            others="As printed, there is a data set whose flow crosses V at most d times: true of "
            "every data set, and of a flow that never meets V.",
        ),
    }


def diagonal_crossings(dimensions: Sequence[int]) -> Settlement:
    """Theorem F.11: d crossings on data that satisfy A1 to A3, for each of the dimensions."""
    found, turning = [], []
    for d in dimensions:
        equation, _ = diagonal_example(d)
        found.append(equation.zeros(Fraction(0), Fraction(1)))
        zeros = [Fraction(1, 2**k) for k in range(1, d + 1)]
        turning.append(all(equation.value(u) == 0 and equation.slope(u) != 0 for u in zeros))
    return {
        "evidence": [
            fact(f"crossings at t > 0 of the diagonal example, d = {tuple(dimensions)} (Sturm)",
                 tuple(found), tuple(dimensions)),
            fact("each of them changes the sign", all(turning), True),
        ],
        "reading": Reading(
            taken="some data set under A1 to A3, some w0 and some V attain d",
            others="As printed, at most d crossings are claimed, and none need be there.",
        ),
    }  # fmt: skip


def hyperplanes_attained(seed: int, count: int) -> Settlement:
    """Ours: any d times are the crossing times of one hyperplane."""
    return {
        "evidence": [
            fact("flows whose hyperplane through d points is not crossed there and only there "
                 "(Sturm)", hyperplanes_that_fail(seed, count), 0),
            note("flows, d = 1 to 4", count),
            note("seed", seed),
        ]
    }  # fmt: skip


def boundaries_attained(
    seed: int,
    count: int,
    examples: Sequence[tuple[ArrayLike, ArrayLike, int, Sequence[str]]],
) -> Settlement:
    """Ours: a datum's boundary, from w0 = 0. Each example is X, y, the datum j (from 0), and
    times p/q between which x_j.w changes sign d - 1 times."""
    reports = [falsify(boundary_crossings_bound(d), seed, count) for d in (2, 3, 4)]
    wanted, exact, flows = [], [], []
    for X, y, j, times in examples:
        d = np.shape(X)[1]
        wanted.append(d - 1)
        signs = exact_signs(X, y, j, [Fraction(t) for t in times])
        exact.append(sum(a * b < 0 for a, b in pairwise(signs)))
        near = [affine_flow(X, y, size * np.ones(d), "linear") for size in (0.0, 1e-9)]
        flows.append({sum(e.datum == j and e.t > 1e-6 for e in path.events) for path in near})
    return {
        "evidence": [
            *survived(*reports),
            fact("sign changes of x_j.w at the given times, 60 digits", tuple(exact),
                 tuple(wanted)),
            fact("crossings of the exact flows from 0 and from 1e-9 (1, ..., 1)",
                 tuple(k for found in flows for k in sorted(found)), tuple(wanted)),
            note("dimensions of the examples", tuple(k + 1 for k in wanted)),
        ]
    }  # fmt: skip
