"""S_+, S_- and S_dead: intersections of half-spaces, and what they hold under Assumption 1.

Each is {w : <x_i, w> > 0 for some i, <x_i, w> <= 0 for the others}. Sums and positive multiples
keep such signs, so the cones are convex; memberships below are decided in whole numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement
from reluflow.ledger import Evidence, Reading, fact
from reluflow.papers.min2024early.cone_draws import (
    BOTH_LABELS,
    SEPARABLE,
    a_sign,
    beside,
    data,
    in_hull,
    one_label,
)
from reluflow.papers.min2024early.whole_numbers import (
    serves_exactly,
    silent_exactly,
    whole,
)
from reluflow.separable import separable_draws


def cones_hold_their_data() -> Statement:
    """ea.cones.1: x_i is in S_+ where y_i = 1, in S_- where y_i = -1, and neither cone is empty.

    <x_i, x_k> has the sign of y_i y_k. Where no datum has the label, 0 is in the cone, and so is
    every -x_i.
    """
    return Statement(
        "every datum is in the cone of its label, and a cone without data holds 0 and all −xᵢ",
        data(),
        lambda item: 1.0 if _holds_data(item) else -1.0,
        SEPARABLE,
    )


def sums_stay() -> Statement:
    """ea.lem5-9.2: a w_1 + b w_2 is in S_+ (S_-) where w_1, w_2 are, a >= 0, b > 0, and is not 0.

    The members are of K or near to it, moved onto the boundaries <x_i, w> = 0 that belong to the
    cone, and with the signs of S_-.
    """
    return Statement(
        "sums and multiples of members of S₊ or S₋ are members, and 0 is none",
        beside(separable_draws(), _members),
        lambda item: 1.0 if _closed(item) else -1.0,
        {**BOTH_LABELS, "w_1 and w_2 are members": _are_members},
    )


def sums_stay_with_one_label() -> Statement:
    """The same for data of one label, 0 allowed: then it is in the cone of the other one."""
    return Statement(
        "sums and multiples of members are members, for data of one label",
        beside(one_label(), _members),
        lambda item: 1.0 if _closed(item, zero=True) else -1.0,
        {**SEPARABLE, "w_1 and w_2 are members": _are_members},
    )


def silent_sums_stay() -> Statement:
    """Sums and multiples of members of S_dead are members, boundaries included."""
    return Statement(
        "sums and multiples of members of S_dead are members",
        beside(data((2, 12)), _silent_members),
        lambda item: 1.0 if silent_exactly(item["X"], _combined(item)) else -1.0,
        {**SEPARABLE, "w_1 and w_2 are members": _are_silent},
    )


def zero_with_one_label() -> list[Evidence]:
    """The least datum x = 1, y = 1 in R^1: S_- has no strict condition left."""
    X, y = np.ones((1, 1)), np.ones(1)
    within = serves_exactly(X, y, whole(np.zeros(1)), -1.0)
    return [fact("0 is in S₋ for the one datum x = 1, y = 1", within, True)]


def both_labels() -> Reading:
    """Lemma 6 speaks of data of both labels."""
    return Reading(
        "there are data of both labels, which Assumption 2 needs in any case",
        "with data of one label, as in Figures 7 to 9, the cone of the other label is S_dead: no "
        "condition is strict, and it holds 0",
    )


def _holds_data(item: Instance) -> bool:
    X, y = item["X"], np.asarray(item["y"])
    rows = whole(X)
    held = all(serves_exactly(X, y, x, label) for x, label in zip(rows, y, strict=True))
    for sign in {1.0, -1.0} - set(y.tolist()):
        held &= serves_exactly(X, y, 0 * rows[0], sign)
        held &= all(serves_exactly(X, y, -x, sign) for x in rows)
    return held


def _members(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """Two members of one of the cones, as `parts` (2, d), and multipliers `times` (2,).

    A part is moved onto the boundary of the datum `edges` names where it stays a member there.
    """
    X, y, sign = item["X"], item["y"], a_sign(rng)
    parts, edges = [], []
    for _ in range(2):
        near, inside = (float(sign) * in_hull(item, rng, share) for share in (0.3, 0.0))
        part = near if serves_exactly(X, y, whole(near), float(sign)) else inside
        allowed = [
            i
            for i in np.flatnonzero(y != sign).tolist()
            if serves_exactly(X, y, _onto(whole(X)[i], whole(part)), float(sign))
        ]
        parts.append(part)
        edges.append(int(rng.choice([*allowed, -1])))
    times = 10.0 ** rng.uniform(-12.0, 6.0, 2)
    times[0] *= rng.integers(2)
    return {"parts": np.array(parts), "times": times, "sign": sign, "edges": np.array(edges)}


def _silent_members(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """Two members of S_dead, drawn until found, else two zeros, and multipliers."""
    X, parts = item["X"], np.zeros((2, item["X"].shape[1]))
    tries = rng.standard_normal((400, X.shape[1]))
    ends = tries[(tries @ X.T <= 0.0).all(axis=1)]
    parts[: len(ends[:2])] = ends[:2]
    times = 10.0 ** rng.uniform(-12.0, 6.0, 2)
    edges = rng.integers(-1, len(X), 2)
    return {"parts": parts, "times": times, "edges": edges}


def _moved(item: Instance) -> list[NDArray]:
    """The parts in whole numbers, those with an edge i >= 0 on <x_i, w> = 0."""
    rows, edges = whole(item["X"]), np.asarray(item["edges"]).tolist()
    return [
        _onto(rows[i], part) if i >= 0 else part
        for part, i in zip(whole(item["parts"]), edges, strict=True)
    ]


def _onto(x: NDArray, w: NDArray) -> NDArray:
    """A multiple of the projection of w onto <x, w> = 0, in whole numbers."""
    return x.dot(x) * w - x.dot(w) * x


def _are_members(item: Instance) -> bool:
    sign = float(item["sign"])
    return all(serves_exactly(item["X"], item["y"], w, sign) for w in _moved(item))


def _are_silent(item: Instance) -> bool:
    moved = _moved(item)
    return all(silent_exactly(item["X"], w) for w in moved) and any(w.any() for w in moved)


def _combined(item: Instance) -> NDArray:
    (first, second), (a, b) = _moved(item), whole(item["times"])
    return a * first + b * second


def _closed(item: Instance, zero: bool = False) -> bool:
    w, sign = _combined(item), float(item["sign"])
    nothing = serves_exactly(item["X"], item["y"], 0 * w, sign)
    return serves_exactly(item["X"], item["y"], w, sign) and (zero or not nothing)
