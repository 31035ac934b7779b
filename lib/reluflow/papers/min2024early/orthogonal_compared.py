"""Orthogonal data beside separable ones (Section 3.2, A.3): who comes to S_+, and from where."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Statement
from reluflow.flows.ensembles import balanced_starts, ensemble_flow
from reluflow.geometry.separability import serves
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.losses import EXPONENTIAL
from reluflow.papers.min2024early.arrivals import astray_at_the_end
from reluflow.papers.min2024early.orthogonal_exact import (
    dot,
    fate,
    neurons_needed,
    orthant_shares,
)
from reluflow.separable import separable_draws

Instance = Mapping[str, Any]
OFF_THE_BOUNDARIES = Reading(
    "no neuron starts orthogonal to a datum, which has probability 0",
    "where <w_j, x_i> = 0 at the start the equation has, besides the solution on which it stays 0, "
    "one on which it grows at once, as in E.4, and with it the neuron may come to S_+",
)
WITH_ASSUMPTION_2 = Reading(
    "Assumption 2 holds, and how small epsilon must be depends on mu",
    "a neuron of V_+ along x_- shrinks on its line for ever; at a fixed scale the neurons left "
    "outside become, as mu tends to 0, those of orthogonal data",
)


def _fractions(values: NDArray) -> list[list[Fraction]]:
    return [[Fraction(float(a)) for a in row] for row in np.atleast_2d(values)]


def inactive_stay_inactive() -> Statement:
    """ea.orth.compare.1: for orthogonal data w_j.x_i rests while it is not positive, whatever the
    pulls: its rate v_j sum over the active k of c_k <x_k, x_i> has no term but k = i."""

    def draw(rng: np.random.Generator) -> Instance:
        n, d = int(rng.integers(1, 6)), int(rng.integers(5, 8))
        X = _orthogonal_integers(n, d, rng)
        y = rng.choice([-1.0, 1.0], n)
        return {"X": X, "y": y, "w": rng.integers(-3, 4, d).astype(float),
                "pulls": rng.integers(0, 5, n).astype(float)}  # fmt: skip

    def slack(item: Instance) -> float:
        X, (w,), (c,) = _fractions(item["X"]), _fractions(item["w"]), _fractions(item["pulls"])
        on = [dot(x, w) > 0 for x in X]
        pulls = [b * int(label) for b, label in zip(c, item["y"], strict=True)]
        parts = [[a * b for a in x] for x, b, active in zip(X, pulls, on, strict=True) if active]
        velocity = [sum(column, Fraction(0)) for column in zip(*parts, strict=True)]
        if not velocity:
            return 0.0
        moved = [abs(dot(x, velocity)) for x, active in zip(X, on, strict=True) if not active]
        return -float(max(moved, default=Fraction(0)))

    return Statement(
        "the inner product with an inactive datum has the rate 0", {"integers": draw}, slack,
        fixed=("X", "y", "w", "pulls"),
    )  # fmt: skip


def _orthogonal_integers(n: int, d: int, rng: np.random.Generator) -> NDArray:
    """X (n, d) with orthogonal rows of whole numbers: blocks (a, b), (-b, a) and single entries."""
    rows: list[NDArray] = []
    k = 0
    while len(rows) < n:
        a, b = rng.integers(1, 4, 2).tolist()
        if len(rows) + 2 <= n and k + 2 <= d:
            for pair in ((a, b), (-b, a)):
                row = np.zeros(d)
                row[k : k + 2] = pair
                rows.append(row)
            k += 2
        else:
            row = np.zeros(d)
            row[k] = a
            rows.append(row)
            k += 1
    return np.array(rows)[rng.permutation(n)][:, rng.permutation(d)]


def start_decides(seed: int, networks: int) -> list[Evidence]:
    """Flows of orthogonal data with both labels: in S_+ end those neurons of V_+ that start active
    on all positive data, and no others; the same for V_- and S_-.

    Up to a rotation orthogonal data are multiples of the axes, and then their inner products with
    the weights are free of rounding.
    """
    others, missing, tried = 0, 0, 0
    for k, (plus, minus) in enumerate(((2, 1), (1, 3), (3, 2))):
        lengths = np.random.default_rng([seed, k]).uniform(0.7, 1.4, plus + minus)
        X, y = np.diag(lengths), np.repeat([1.0, -1.0], [plus, minus])
        W, v = balanced_starts(seed + k, networks, 40, plus + minus, 1e-6)
        run = ensemble_flow(X, y, W, v, EXPONENTIAL, 0.05, [40.0])
        for sign in (1.0, -1.0):
            full = np.all(W @ X[y == sign].T > 0.0, axis=-1)
            ends = serves(X, y, run.W[-1], sign)
            mine = v * sign > 0.0
            others += int((ends & ~full & mine).sum())
            missing += int((full & ~ends & mine).sum())
            tried += int(mine.sum())
    return [
        fact("neurons that end in their cone without having started active on all data of their "
             "label", others, 0, tried=tried),
        fact("neurons that started so and do not end there", missing, 0, tried=tried),
    ]  # fmt: skip


def all_arrive_or_die() -> Statement:
    """ea.orth.compare.2: under Assumption 1, for tiny weights, every neuron of V_+ ends in S_+ or
    dead; in S_+ if it starts active on one positive datum."""

    def drawn(kind: str) -> Any:
        data = separable_draws((2, 4), (2, 6))[kind]

        def draw(rng: np.random.Generator) -> Instance:
            item = dict(data(rng))
            d = item["X"].shape[1]
            item["w"] = rng.integers(-3, 4, d).astype(float)
            if rng.uniform() < 0.3:  # hardly off the direction of x_-, which is excluded
                minus = item["X"][item["y"] < 0].sum(axis=0)
                item["w"] = 1024.0 * minus + rng.integers(-1, 2, d)
            return item

        return draw

    def slack(item: Instance) -> float:
        X, (w,) = _fractions(item["X"]), _fractions(item["w"])
        y = [int(label) for label in item["y"]]
        end, _ = fate(X, y, w)
        if any(label > 0 and dot(x, w) > 0 for x, label in zip(X, y, strict=True)):
            return 1.0 if end == "serves" else -1.0
        return 1.0 if end in ("serves", "dead") else -1.0

    def free_of_x_minus(item: Instance) -> bool:
        X, (w,) = _fractions(item["X"]), _fractions(item["w"])
        minus = [sum((x[k] for x, label in zip(X, item["y"], strict=True) if label < 0),
                     Fraction(0)) for k in range(len(w))]  # fmt: skip
        along = dot(minus, w)
        return not (along > 0 and along**2 == dot(minus, minus) * dot(w, w))

    kinds = ("integers", "wide", "narrow", "parallel", "one against many")
    return Statement(
        "every neuron comes to S_+ or dies", {kind: drawn(kind) for kind in kinds}, slack,
        hypotheses={"w is no positive multiple of x_-": free_of_x_minus},
        fixed=("X", "y", "w"),
    )  # fmt: skip


def widths_needed(seed: int, networks: int) -> list[Evidence]:
    """The chance of a good start in closed form, the width that it asks for, and what a fixed
    scale leaves of it as mu tends to 0."""
    shares = [orthant_shares(n) for n in range(1, 11)]
    lasting = astray_at_the_end(np.array([1e-1, 1e-4]), 1e-6, seed, networks)
    few, many = (astray / tried for _, astray, tried, _ in lasting)
    return [
        fact("chance of a start active on all of n orthogonal data, n = 1, ..., 10",
             [every for every, _ in shares], [Fraction(1, 2**n) for n in range(1, 11)]),
        fact("chance of a start active on one of them at least",
             [one for _, one in shares], [1 - Fraction(1, 2**n) for n in range(1, 11)]),
        fact("neurons needed for an even chance, if one datum is enough",
             neurons_needed(Fraction(1, 2)), 1),
        fact("the width needed if all n are, grows by a factor of 7/4 at least with each n > 2",
             all(4 * neurons_needed(Fraction(1, 2 ** (n + 1)))
                 >= 7 * neurons_needed(Fraction(1, 2**n)) for n in range(2, 10)), True),
        note("that width for n = 1, ..., 10",
             ", ".join(str(neurons_needed(Fraction(1, 2**n))) for n in range(1, 11))),
        bound("share of neurons left astray at weights of 1e-6 and mu = sin 0.1", few, "<", 0.01,
              ""),
        bound("the same at mu = sin 0.0001", many, ">", 0.05, "", digits=2),
    ]  # fmt: skip
