"""What Theorem 1 says of a reader's data: whether it applies, and what it then promises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog

from reluflow.approx import approx, on_grain
from reluflow.errors import InputError
from reluflow.geometry.separability import cosines, signed
from reluflow.margin.max_margin import MaxMargin, max_margin
from reluflow.papers.phuong2021inductive.dead_starts import chances, fates
from reluflow.papers.phuong2021inductive.experiment import Experiment
from reluflow.papers.phuong2021inductive.limit import limit
from reluflow.statistics import wilson

_ZERO = 1e-12
"""A cosine this small is 0."""
_EQUAL = 1e-6
"""Data with <w, x_i> up to 1 + this are support examples."""
_FEW = 3


@dataclass(frozen=True)
class Violations:
    """Pairs i < j of data that violate (OS), (k, 2) each, the worst by their cosine first: of one
    label at a right angle or more, and of different labels at less."""

    within: NDArray
    across: NDArray

    @property
    def none(self) -> bool:
        """Whether (OS) holds."""
        return not len(self.within) and not len(self.across)


def violations(X: NDArray, y: NDArray) -> Violations:
    """The pairs of X (n, d), y (n,) that violate (OS). Raises InputError for an input 0."""
    C = cosines(signed(X, y))
    i, j = np.triu_indices(len(y), 1)
    same, cosine = y[i] == y[j], C[i, j]
    found = []
    for bad in (same & (cosine <= _ZERO), ~same & (cosine < -_ZERO)):
        order = np.argsort(cosine[bad], kind="stable")
        found.append(np.stack([i[bad], j[bad]], axis=1)[order])
    return Violations(*found)


def separability_table(own: Experiment) -> pd.DataFrame:
    """Whether (OS) holds of the data and which pairs break it, and whether a hyperplane through 0
    separates the labels."""
    y, bad = own.y, violations(own.X, own.y)
    told = {
        "data": f"{len(y)}: {np.sum(y > 0)} positive, {np.sum(y < 0)} negative",
        "dimension": str(own.X.shape[1]),
        "(OS)": "holds" if bad.none else "does not hold",
        "pairs of one label at a right angle or more": str(len(bad.within) or "none"),
        "the worst, by their rows": _named(bad.within),
        "pairs of different labels at less": str(len(bad.across) or "none"),
        "the worst of these": _named(bad.across),
        "linearly separable": _separable(own),
    }  # fmt: skip
    return pd.DataFrame({own.name: told})


def _named(pairs: NDArray) -> str:
    """The first pairs by their rows, counted from 1."""
    told = ", ".join(f"{i + 1} and {j + 1}" for i, j in pairs[:_FEW])
    return told + (", …" if len(pairs) > _FEW else "")


def _separable(own: Experiment) -> str:
    try:
        found = max_margin(own.X, own.y)
    except InputError:
        return "no"
    return f"yes, with the margin {approx(1.0 / found.length)}"


def max_margins(own: Experiment) -> dict[float, MaxMargin]:
    """w_+ and w_- (eqs 6, 7) by their sign; a label is left out that has none."""
    found = {}
    for sign in (1.0, -1.0):
        X = own.X[own.y == sign]
        try:
            found[sign] = max_margin(X, np.ones(len(X)))
        except InputError:
            continue
    return found


def vectors_table(own: Experiment) -> pd.DataFrame:
    """w_+ and w_-: their norms, the angle between them, their support examples, and (Span)."""
    vectors, d = max_margins(own), own.X.shape[1]
    columns = ["norm", "support examples", "their rank", "(Span)"]
    rows = {}
    for sign, name in ((1.0, "w₊"), (-1.0, "w₋")):
        if sign not in vectors:
            rows[name] = ["there is none", "", "", ""]
            continue
        X, w = own.X[own.y == sign], vectors[sign].u
        support = X[w @ X.T <= 1.0 + _EQUAL]
        rank = int(np.linalg.matrix_rank(support))
        rows[name] = [
            approx(float(np.linalg.norm(w))),
            f"{len(support)} of {len(X)}",
            f"{rank} of {d}",
            "holds" if rank == d else "does not hold",
        ]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def promise(own: Experiment) -> pd.DataFrame:
    """What is promised where (OS) holds and a neuron of either sign lives: the constants of (8) and
    (10); no rows where (OS) does not hold."""
    if not violations(own.X, own.y).none:
        return pd.DataFrame(columns=[""])
    goal = limit(own.X, own.y)
    plus, minus = (goal.vectors[s] for s in (1.0, -1.0))
    cosine = float(plus @ minus / (np.linalg.norm(plus) * np.linalg.norm(minus)))
    angle = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
    told = {
        "angle between w₊ and w₋": f"{on_grain(angle, 0.1)}°",
        "share of ‖W‖² of the neurons along w₊": approx(goal.share(1.0)),
        "share of those along w₋": approx(goal.share(-1.0)),
        "both constants of (10)": approx(goal.constant),
    }
    return pd.DataFrame({"": told})


def can_die(X: NDArray) -> bool:
    """Whether some w is not 0 and activates none of the data X (n, d); without one no neuron can
    die. By Stiemke's lemma there is none exactly if the data span R^d and positive multiples of all
    of them add up to 0, which a linear program finds."""
    Z = X / np.linalg.norm(X, axis=1, keepdims=True)
    if np.linalg.matrix_rank(Z) < X.shape[1]:
        return True
    found = linprog(np.ones(len(Z)), A_eq=Z.T, b_eq=np.zeros(X.shape[1]), bounds=(1.0, None))
    return bool(found.status == 2)


def death_table(own: Experiment, count: int) -> pd.DataFrame:
    """The chance that a neuron dies, in the limit of small weights: `count` random directions with
    95 % Wilson intervals, and for (OS) data in the plane the closed form. No rows where none can.
    """
    columns = ["directions that die", "chance"]
    if not can_die(own.X):
        return pd.DataFrame(columns=columns)
    found = fates(own.X, own.y, count, np.random.default_rng([own.seed, 2]))
    both = np.append(found.positive, found.negative)
    rows = {}
    names = "a > 0", "a < 0", "sign drawn by itself"
    for name, dead in zip(names, (found.positive, found.negative, both), strict=True):
        low, high = wilson(int(dead.sum()), len(dead))
        chance = f"{approx(float(low), 2)} to {approx(float(high), 2)}"
        rows[name] = [f"{dead.sum()} of {len(dead)}", chance]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    if own.X.shape[1] == 2 and violations(own.X, own.y).none:
        plus, minus, _ = chances(own.X, own.y)
        table["closed form"] = [approx(value) for value in (plus, minus, 0.5 * (plus + minus))]
    return table
