"""Each datum as a separator of all: what (OS) says, and what stricter or laxer words would say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError
from reluflow.falsify import Instance, Statement, planted
from reluflow.geometry.separability import signed
from reluflow.ledger import Evidence, Reading, fact
from reluflow.margin.max_margin import max_margin
from reluflow.supports import support_draws


def is_separable(X: NDArray, y: NDArray) -> bool:
    """(OS), eq (1)."""
    P, same = X @ X.T, np.equal.outer(y, y)
    return bool(np.all(P[same] > 0.0) and np.all(P[~same] <= 0.0))


def half_spaces_hold_one_label(X: NDArray, y: NDArray) -> bool:
    """Some vector separates the data, and the open half-space about each x_i holds the data of its
    own label and no other."""
    try:
        max_margin(X, y)
    except InputError:
        return False
    return all(set(np.flatnonzero(X @ x > 0.0).tolist()) == set(np.flatnonzero(y == label).tolist())
               for x, label in zip(X, y, strict=True))  # fmt: skip


def separates_all() -> Statement:
    """os.separator: (OS) holds exactly if the data are linearly separable and every x_i separates
    them: the open half-space <x_i, x> > 0 holds the data of its label and no other.

    Small whole numbers, about half of them (OS), and draws of (OS) data.
    """

    def whole(rng: np.random.Generator) -> dict[str, Any]:
        n, d = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        X = rng.integers(-2, 3, (n, d)).astype(float)
        X[~X.any(axis=1)] = 1.0
        y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
        return {"X": X * np.where(X @ X[0] * y < 0.0, -1.0, 1.0)[:, None], "y": y}

    draws: dict[str, Callable[[np.random.Generator], Instance]] = {
        "whole": whole,
        **support_draws(),
    }

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        turned = X * np.append(planted(item), np.ones(len(X) - 1))[:, None]
        return 1.0 if is_separable(X, y) == half_spaces_hold_one_label(turned, y) else -1.0

    return Statement("(OS) and that every datum separates the others are one", draws, slack)


def two_examples() -> list[Evidence]:
    """What the two other readings would say: e_1 with label 1 and e_2 with label -1 are (OS) but
    strictly not separated by e_1; e_1, e_2 of one label are separated if 0 counts, and not (OS)."""
    E, opposite, equal = np.eye(2), np.array([1.0, -1.0]), np.array([1.0, 1.0])
    strict = bool(np.all(signed(E, opposite) @ signed(E, opposite).T > 0.0))
    lax = bool(np.all(signed(E, equal) @ signed(E, equal).T >= 0.0))
    return [
        fact("e₁ and e₂ of different labels: (OS), strictly separated by each",
             (is_separable(E, opposite), strict), (True, False)),
        fact("e₁ and e₂ of one label: (OS), separated by each if 0 counts",
             (is_separable(E, equal), lax), (False, True)),
    ]  # fmt: skip


def open_half_space() -> Reading:
    """Which side the boundary is on."""
    return Reading(
        "x_i separates where the open half-space ⟨x_i, x⟩ > 0 holds the data of its own label "
        "alone "
        "(for a negative x_i too)",
        "strictly on both sides (OS) does not suffice, and with 0 allowed on both sides (OS) "
        "does not "
        "follow: e₁ and e₂, of different labels and of one",
    )
