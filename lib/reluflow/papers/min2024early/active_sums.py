"""Lemma 11: how long the sum of the active data is, in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement
from reluflow.ledger import Evidence, fact
from reluflow.papers.min2024early.cone_draws import SEPARABLE, a_sign, beside, data, in_hull
from reluflow.papers.min2024early.whole_numbers import signed_whole, squared_cosines, whole


def sums_are_long() -> Statement:
    """ea.lem11: |x_a(w)| >= sqrt(mu) n_a X_min, where x_a(w) is the sum of the y_i x_i with
    <x_i, w> > 0, n_a of them (Lemma 11, eq 25).

    |x_a|^2 has n_a squares, each X_min^2 or more, and n_a (n_a - 1) products, each mu X_min^2 or
    more. Slack |x_a|^4 / (mu^2 n_a^4 X_min^4) - 1, as a fraction: mu itself need not be one.
    """
    return Statement(
        "‖x_a(w)‖ ≥ √μ n_a X_min", beside(data(), _neuron), _excess, SEPARABLE, fixed=("y",)
    )


def sums_are_longer() -> Statement:
    """The proof's |x_a|^2 >= n_a (1 + mu (n_a - 1)) X_min^2, for n_a >= 2.

    Slack (|x_a|^2 - n_a X_min^2)^2 / (mu n_a (n_a - 1) X_min^2)^2 - 1; the difference is positive.
    """
    return Statement(
        "‖x_a(w)‖² ≥ n_a (1 + μ (n_a − 1)) X_min²",
        beside(data(), _neuron),
        _sharper_excess,
        SEPARABLE,
        fixed=("y",),
    )


def equal_angles(n: int) -> list[Evidence]:
    """n data 1 + e_i in R^n, y_i = 1, equally long, at equal angles: the sharper bound is met."""
    X, y, w = np.ones((n, n)) + np.eye(n), np.ones(n), np.ones(n)
    found, asked = _squares({"X": X, "y": y, "w": w})
    return [
        fact(f"‖x_a‖² for the {n} data 1 + eᵢ", found, asked),
        fact("the same by Lemma 11 itself is less", asked > _printed(X, n), True),
    ]


def _neuron(item: Instance, rng: np.random.Generator) -> dict[str, Any]:
    """w in any direction, or about the hull of the data with either sign."""
    if rng.integers(2):
        return {"w": rng.standard_normal(item["X"].shape[1])}
    return {"w": float(a_sign(rng)) * in_hull(item, rng, share=2.0)}


def _active(item: Instance) -> tuple[NDArray, NDArray]:
    """All z_i (n, d) and which of them are active (n,)."""
    Z, X = signed_whole(item["X"], item["y"]), whole(item["X"])
    return Z, np.array(X.dot(whole(item["w"])) > 0, bool)


def _excess(item: Instance) -> float:
    Z, active = _active(item)
    count = int(active.sum())
    if not count:
        return np.inf
    total, shortest = Z[active].sum(axis=0), min(z.dot(z) for z in Z)
    asked = squared_cosines(Z, Z).min() * (count * count * shortest) ** 2
    return float(total.dot(total) ** 2 / asked - 1)


def _sharper_excess(item: Instance) -> float:
    Z, active = _active(item)
    count = int(active.sum())
    if count < 2:
        return np.inf
    total, shortest = Z[active].sum(axis=0), min(z.dot(z) for z in Z)
    room = total.dot(total) - count * shortest
    asked = squared_cosines(Z, Z).min() * (count * (count - 1) * shortest) ** 2
    return float(room * abs(room) / asked - 1)


def _squares(item: Instance) -> tuple[Fraction, Fraction]:
    """|x_a|^2 and n_a (1 + mu (n_a - 1)) X_min^2 for equally long data with a rational mu."""
    Z, active = _active(item)
    count, size = int(active.sum()), Z[0].dot(Z[0])
    mu = Fraction(min(Z[0].dot(z) for z in Z[1:]), size)
    total = Z[active].sum(axis=0)
    return Fraction(total.dot(total)), count * (1 + mu * (count - 1)) * size


def _printed(X: NDArray, n: int) -> Fraction:
    """mu n^2 X_min^2 for equally long data with equal angles."""
    Z = whole(X)
    return Fraction(n * n * Z[0].dot(Z[1]))
