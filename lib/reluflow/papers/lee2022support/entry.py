"""Lemma F.5: small starts with q(w0) > 0 enter the all-active cell; how small is small enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.bruteforce import plain_descent
from reluflow.falsify import Instance, Statement, given
from reluflow.flows.activity import visited_cells
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.instances import data_draws, extended
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.papers.lee2022support.assumptions import meets
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    directed,
    guaranteed_radius,
    nontrivial,
    unit_of_norm,
)

ENTRY = {f"{kind}, d = {d}": draw for d in (2, 3, 4) for kind, draw in data_draws(d).items()}
"""Draws of data, in four dimensions, too."""


def entered(X: ArrayLike, path: Trajectory) -> bool:
    """Whether all data are active at some time of the path, told from its events."""
    return any(on.all() for on in visited_cells(X, path))


def _entry_margin(X: NDArray, y: NDArray, w0: NDArray) -> float:
    """Largest value, over the path, of min_j x_j.w / |x_j|, in units of |w0|; NaN if the path is
    not unique, as from a start that is on a boundary to rounding."""
    path = affine_flow(X, y, w0)
    if path.status != "converged":
        return np.nan
    cosines = path.at(path.grid(16)) @ (X / np.linalg.norm(X, axis=1, keepdims=True)).T
    return float(cosines.min(axis=1).max() / np.linalg.norm(w0))


def entry_printed() -> Statement:
    """sv.lemF.5: from u times a small enough norm, q(u) > 0, all data become active (Lemma F.5).

    Broken where that fails at all of `NORMS`.
    """

    def slack(item: Instance) -> float:
        length = guaranteed_radius(item["X"], item["y"]) / np.linalg.norm(item["u"])
        margin = -np.inf
        for norm in NORMS:
            if margin <= 0.0:  # one norm at which they enter will do
                margin = _entry_margin(item["X"], item["y"], norm * length * item["u"])
        return margin

    return Statement("small starts with q > 0 enter the all-active cell",
                     extended(ENTRY, directed), slack, {"q(u) > 0": nontrivial},
                     strict=True)  # fmt: skip


def entry_within(factor: float = 1.0 - 1e-9) -> Statement:
    """sv.ours.delta: an explicit delta for Lemma F.5, the same from `factor` delta_0."""

    def start(item: Instance) -> NDArray:
        length = factor * guaranteed_radius(item["X"], item["y"])
        return length / np.linalg.norm(item["u"]) * item["u"]

    def inside(item: Instance) -> bool:
        least = guaranteed_radius(item["X"], item["y"])
        return nontrivial(item) and float(np.linalg.norm(start(item))) < least

    return Statement(
        "starts with q > 0 and |w0| < δ₀ enter",
        extended(ENTRY, directed),
        lambda item: _entry_margin(item["X"], item["y"], start(item)),
        given("sv.ours.delta", data=lambda item: meets(item, "A1", "A2", "A3"), start=inside),
        strict=True,
    )


def nearest_miss(X: ArrayLike, y: ArrayLike, inside: int = 1, halvings: int = 12) -> NDArray:
    """The start w0 (2,) of least norm found, q(w0) > 0, whose flow does not activate all data: its
    norm is the largest delta of Lemma F.5 for the data X (n, 2), y (n,), bounded below by delta_0.

    On every arc of directions with q > 0 `inside` of them and both ends are tried; in each, three
    norms from a twentieth of the best so far up to it; where one fails, the norm is halved in on
    `halvings` times.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    best, where = np.inf, np.full(2, np.nan)
    far = 64.0 * unit_of_norm(X, y)
    for u in _arc_directions(X, y, inside):
        low = 0.0
        for norm in min(best, far) * np.geomspace(0.05, 1.0, 3):
            if not entered(X, affine_flow(X, y, norm * u)):
                best, where = float(norm), u
                break
            low = norm
        else:
            continue
        for _ in range(halvings):
            middle = 0.5 * (low + best)
            if entered(X, affine_flow(X, y, middle * u)):
                low = middle
            else:
                best = float(middle)
    return best * where


def _arc_directions(X: NDArray, y: NDArray, inside: int) -> list[NDArray]:
    """Unit vectors (2,) in all cells of the plane with q > 0 and a datum off: `inside` of them in
    each, and both ends of the cell just inside it."""
    edges = np.arctan2(X[:, 1], X[:, 0])
    edges = np.unique(np.concatenate([edges + np.pi / 2, edges - np.pi / 2]) % (2.0 * np.pi))
    found = []
    for low, high in zip(edges, np.append(edges[1:], edges[0] + 2.0 * np.pi), strict=True):
        share = np.concatenate([[1e-6], np.arange(1, inside + 1) / (inside + 1), [1.0 - 1e-6]])
        angles = low + share * (high - low)
        cell = np.column_stack([np.cos(angles), np.sin(angles)])
        on = X @ cell[len(cell) // 2] > 0
        if not on.all() and np.all(y[on] @ X[on] > 0):
            found += list(cell)
    return found


def entry_radius(miss: NDArray, X: NDArray, y: NDArray) -> list[Evidence]:
    """delta_0 against delta*, the norm of `nearest_miss` on the data X, y; descents from there."""
    guarantee, radius = guaranteed_radius(X, y), float(np.linalg.norm(miss))
    paths = [plain_descent(X, y, factor * miss, 1e-2, 4000) for factor in (0.99, 1.01)]
    enters = tuple(bool(np.any((path @ X.T > 0).all(axis=1))) for path in paths)
    return [
        bound("delta_0 / delta*, Example 5.1", guarantee / radius, "<=", 1.0, ""),
        fact("plain descent enters from 0.99 delta*, from 1.01 delta*", enters, (True, False)),
        note("delta* of Example 5.1", radius, digits=3),
        note("delta_0 of Example 5.1", guarantee, digits=3),
    ]
