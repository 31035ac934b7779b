"""Conditions B1-B4 of Theorem F.6 at a boundary crossing, and what they come to in the plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Instance, Statement, given
from reluflow.flows.activity import Crossing, crossings
from reluflow.geometry import rank
from reluflow.instances import Arrays, Draws, data_draws, extended
from reluflow.papers.lee2022support.small_ends import keeps_all, planar
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    directed,
    nontrivial,
    small_flows,
)


@dataclass(frozen=True)
class Conditions:
    """B1-B4 of Theorem F.6 at one crossing, each as a slack that is positive where it holds.

    B1     min_k of the right-hand side less |Delta e_k|
    B2     the right-hand side less y_0, in units of y_0; NaN where H or H~ is singular
    full   B3: whether H~ (and H, whose inverse B2 needs) has full rank
    B4     -x_0.w_P^* / (|x_0| |w_P^*|)
    inner  1 - x_0.H^-1 x_0, which the proof takes to be positive
    """

    B1: float
    B2: float
    full: bool
    B4: float
    inner: float

    @property
    def smallest(self) -> float:
        """The least of the slacks; minus infinity where B3 fails."""
        return min(self.B1, self.B2, self.B4) if self.full else -np.inf

    @property
    def hold(self) -> bool:
        """Whether B1-B4 all hold."""
        return self.smallest > 0.0


def conditions(X: ArrayLike, y: ArrayLike, crossing: Crossing) -> Conditions:
    """B1-B4 at a crossing, read in the paper's favour where it leaves something open.

    The signs of e_k make c_k^* >= 0 (Definition D.2); the eigenvectors of H~ are taken in the order
    and with the signs that bring them nearest to those of H. X (n, d), y (n,).
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    before, after = X[crossing.before], X[crossing.after]
    d, w0 = X.shape[1], crossing.w
    if rank(before) < d or rank(after) < d:
        return Conditions(np.nan, np.nan, False, np.nan, np.nan)
    old = np.linalg.lstsq(before, y[crossing.before], rcond=0)[0]
    new = np.linalg.lstsq(after, y[crossing.after], rcond=0)[0]
    # From the data, not from H, whose small eigenvalues rounding would hide.
    roots, E = (v[::-1].T for v in np.linalg.svd(before, full_matrices=False)[1:])
    rates = roots**2
    E = E * np.where(E.T @ old < 0.0, -1.0, 1.0)
    turned = np.linalg.svd(after, full_matrices=False)[2][::-1].T
    c, target, size = E.T @ w0, E.T @ old, np.linalg.norm(w0)
    room = rates[0] / rates[-1] * c / size
    orders = (turned[:, list(order)] for order in permutations(range(d)))
    x, label = X[crossing.datum], y[crossing.datum]
    inner = 1.0 - float(np.sum((x @ E / roots) ** 2))
    # The bracket of B2 times c_k, so that c_k = 0 needs no division.
    bracket = (target - c) / rates - np.linalg.norm(new - w0) / size / rates[-1] * c
    right = x @ old + inner / np.linalg.norm(x) * float(np.min(bracket * rates**2))
    return Conditions(
        B1=max(float(np.min(room - _apart(E, other))) for other in orders),
        B2=float((right - label) / label),
        full=True,
        B4=float(-(x @ old) / (np.linalg.norm(x) * np.linalg.norm(old))),
        inner=inner,
    )


def _apart(E: NDArray, turned: NDArray) -> NDArray:
    """|Delta e_k| (d,) under the better sign of each turned eigenvector."""
    same, opposite = (np.linalg.norm(turned - sign * E, axis=0) for sign in (1.0, -1.0))
    return np.minimum(same, opposite)


def at_crossings(item: Instance, norm: float = NORMS[1]) -> list[tuple[Crossing, Conditions]]:
    """The crossings of a small start's flow, and B1-B4 at each."""
    X, y = item["X"], item["y"]
    return [(step, conditions(X, y, step)) for step in crossings(X, small_flows(item, [norm])[0])]


def leaving_draws(sizes: tuple[int, int] = (3, 8), tries: int = 40) -> Draws:
    """Planar data sets drawn again until the all-active cell does not hold its minimum."""

    base = data_draws(2, sizes)

    def outside(kind: str) -> Callable[[np.random.Generator], Arrays]:
        def one(rng: np.random.Generator) -> Arrays:
            drawn = (base[kind](rng) for _ in range(tries))
            return next((item for item in drawn if not keeps_all(item)), base[kind](rng))

        return one

    return {kind: outside(kind) for kind in base}


def first_deactivation(item: Instance, norm: float) -> list[Conditions]:
    """B1-B4 where a small start's flow leaves the all-active cell, for each datum that it loses
    there; none if it stays."""
    return [met for step, met in at_crossings(item, norm) if step.before.all()]


def plane_never_meets_B2() -> Statement:
    """sv.ours.crossing.plane: d = 2, small starts. Where the flow leaves the all-active cell, B2,
    B3 and B4 do not all hold."""

    def leaves(item: Instance) -> bool:
        return nontrivial(item) and not keeps_all(item)

    def at(item: Instance, norm: float) -> float:
        found = first_deactivation(item, norm)
        return min((-min(m.B2, m.B4) if m.full else np.nan for m in found), default=np.nan)

    def slack(item: Instance) -> float:
        value = at(item, NORMS[1])
        return value if not value <= 0.0 else max(at(item, norm) for norm in NORMS)

    return Statement("B2, B3 and B4 do not all hold where the flow leaves the all-active cell",
                     extended(leaving_draws((3, 6)), directed), slack,
                     given("sv.ours.crossing.plane", data=planar, leaves=leaves),
                     steady=False)  # fmt: skip
