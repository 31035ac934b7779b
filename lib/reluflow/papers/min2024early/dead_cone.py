"""When S_dead = {w : <x_i, w> <= 0 for all i} is no more than {0}, and where neurons go then."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from reluflow.exact import determinant
from reluflow.falsify import Instance, Statement
from reluflow.flows.alignment_exact import polygon
from reluflow.ledger import Evidence, Reading, fact, note
from reluflow.papers.min2024early.cone_draws import BOTH_LABELS, a_sign
from reluflow.papers.min2024early.constants import (
    alignment_time,
    data_constants,
    log_eps_allowed,
    needed_zeta,
    start_constants,
)
from reluflow.papers.min2024early.dead_cone_exact import has_dead_ray
from reluflow.papers.min2024early.flows import flow, neurons
from reluflow.papers.min2024early.whole_numbers import (
    signed_whole,
    silent_exactly,
    squared_cosines,
    whole,
)
from reluflow.separable import separable_draws

WITHOUT = (np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0]]), np.array([1.0, 1.0, -1.0]))
"""Data (X, y) with S_dead = {0}: x_1 + x_2 + 3 x_3 = 0 with positive weights, and they span."""


def every_neuron_serves() -> Statement:
    """ea.cones.2: where S_dead = {0}, every neuron that (A2) allows ends in S_+ or S_-, and a
    neuron of V_+ in S_+.

    The directions of the limit eps -> 0, followed as polygons in exact arithmetic. At a finite eps
    that (Small) allows it is Theorem 1: a neuron is never 0, so that none is in S_dead.
    """
    return Statement(
        "where S_dead = {0} every neuron ends in the cone of its sign",
        {"plane": _spanning(2), "space": _spanning(3)},
        lambda item: 1.0 if _serves(item) else -1.0,
        {
            **BOTH_LABELS,
            "S_dead = {0}": lambda item: not has_dead_ray(item["X"]),
            "(A2)": _is_allowed,
        },
    )


def only_zero() -> list[Evidence]:
    """The three data WITHOUT: Gordan's certificate, and both decisions on small whole numbers."""
    X, weights = whole(WITHOUT[0]), np.array([1, 1, 3], object)
    return [
        fact("x₁ + x₂ + 3 x₃ for (2, 1), (1, 2) and (−1, −1)", tuple(weights.dot(X)), (0, 0)),
        fact("the first two of them are a basis", determinant(X[:2]) != 0, True),
        fact("0 is in S_dead for them", silent_exactly(X, 0 * X[0]), True),
    ]


def decisions_agree(seed: int, count: int) -> list[Evidence]:
    """S_dead = {0} or not, by linear programming and by all its rays, on data of small whole
    numbers in the plane and in space."""
    rng, agree, trivial = np.random.default_rng(seed), 0, 0
    for k in range(count):
        X = _small(rng, 2 + k % 2)
        by_program = dead_direction(X) is not None
        agree += by_program == has_dead_ray(X)
        trivial += not by_program
    return [
        fact("data where linear programming and the rays agree", agree, count, tried=count),
        note("of those, data with S_dead = {0}", trivial),
    ]


def served_at_finite_scale(seed: int, starts: int) -> list[Evidence]:
    """Flows of the data WITHOUT from the largest eps that (Small) allows with the zeta that the
    proof needs, to 30 or t_1: neurons not yet in the cone of their sign."""
    X, y = WITHOUT
    rng, late = np.random.default_rng(seed), 0
    data = data_constants(X, y)
    for _ in range(starts):
        W, signs = rng.standard_normal((6, 2)), np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
        start = start_constants(X, y, W, signs)
        zeta = needed_zeta(data, start)
        path = flow(X, y, W, signs, log_eps_allowed(data, start, zeta),
                    min(30.0, alignment_time(data, zeta)))  # fmt: skip
        own = y[:, None] == signs
        late += int((~np.all((X @ neurons(path)[0].T > 0.0) == own, axis=0)).sum())
    return [
        fact("neurons of full flows that are late", late, 0),
        note("neurons of full flows followed", 6 * starts),
    ]


def dead_direction(X: NDArray) -> NDArray | None:
    """A w != 0 (d,) with <x_i, w> <= 0 for all data X (n, d), or None where there is only 0.

    The program maximises -sum_i <x_i, w>/|x_i| over the w with |w_k| <= 1. Where that is 0, w is
    orthogonal to all data, and only data that span the space leave no other.
    """
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    found = linprog(unit.sum(axis=0), A_ub=unit, b_ub=np.zeros(len(X)), bounds=(-1.0, 1.0))
    if found.fun < -1e-9:
        return np.asarray(found.x)
    _, sizes, rows = np.linalg.svd(unit)
    rank = int((sizes > 1e-9).sum())
    return rows[rank] if rank < X.shape[1] else None


def nothing_but_zero() -> Reading:
    """What it means for S_dead to be empty."""
    return Reading(
        "empty means S_dead = {0}, for weights are never 0; Assumption 2 holds, and ε is small",
        "to the letter it is never empty: 0 satisfies all its conditions, and the sentence would "
        "speak of no data at all",
    )


def _small(rng: np.random.Generator, d: int) -> NDArray:
    """Separable data of small whole numbers, up to two more of them than d."""
    return separable_draws((d, d), (2, d + 3))["integers"](rng)["X"]


def _spanning(d: int) -> Any:
    """Data with S_dead = {0} in R^d, and a start: d independent z_i of one label, and of the other
    a positive combination of them, which (A1) then allows too, or two."""

    def one(rng: np.random.Generator) -> dict[str, Any]:
        while True:
            Z = rng.integers(-2, 5, (d, d))
            if round(np.linalg.det(Z)) and (Z @ Z.T).min() > 0:
                break
        inner = rng.integers(1, 4, (int(rng.integers(1, 3)), d)) @ Z
        label = float(rng.choice([-1.0, 1.0]))
        y = np.repeat([label, -label], [d, len(inner)])
        X = y[:, None] * np.vstack([Z, inner])
        w = rng.integers(-5, 6, d) if rng.integers(2) else X[rng.integers(len(X))] * 1.0
        if not np.any(w):
            w = -X[0]
        return {"X": X, "y": y, "w": np.asarray(w, float), "sign": a_sign(rng)}

    return one


def _is_allowed(item: Instance) -> bool:
    """w is no positive multiple of x_- (sign 1) or x_+ (sign -1)."""
    sign, Z = int(item["sign"]), signed_whole(item["X"], item["y"])
    forbidden = -sign * Z[np.asarray(item["y"]) == -sign].sum(axis=0)
    return squared_cosines(whole(item["w"])[None], forbidden[None])[0, 0] != 1


def _serves(item: Instance) -> bool:
    return polygon(item["X"], item["y"], item["w"], int(item["sign"])).status == "serves"
