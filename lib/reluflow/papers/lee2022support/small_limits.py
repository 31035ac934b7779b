"""Small starts whose smallness is measured by the data: Lemma 4.6 in all directions, and what
replaces Proposition 4.4."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Statement
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.instances import data_draws, extended, near_boundary_start
from reluflow.papers.lee2022support.crossing_conditions import leaving_draws
from reluflow.papers.lee2022support.small_starts import (
    forced,
    guaranteed_radius,
    reactivations,
    start_direction,
)

Item = Mapping[str, NDArray]

SHARES = (1e-2, 1e-5, 1e-8)
"""Norms of starts, in units of delta_0 of Lemma F.5, which depends on the data."""

ROOM = 1e-3
"""A cosine, or a share of a speed, above this is told from zero."""


def _paths(item: Item, u: NDArray) -> list[Trajectory]:
    """The flows from the three small starts along u (d,)."""
    start = guaranteed_radius(item["X"], item["y"]) * u / np.linalg.norm(u)
    return [affine_flow(item["X"], item["y"], share * start) for share in SHARES]


def never_reactivates() -> Statement:
    """Lemma 4.6 for starts in all directions, q(w0) > 0 or not. Broken where a datum comes back at
    all three norms; the slack is the cosine at which a lost datum stays off."""

    def loses(item: Item) -> bool:
        return any(e.kind == "deactivate" for e in _paths(item, item["u"])[1].events)

    def towards(item: Item, rng: np.random.Generator) -> dict[str, NDArray]:
        near = bool(rng.integers(2))
        u = near_boundary_start(item, rng)["w0"] if near else rng.normal(size=2)
        # Away from the dead cell, where nothing moves.
        return {"u": u if np.any(item["X"] @ u > 0.0) else -u}

    def margin(item: Item, path: Trajectory) -> float:
        gone = [e.datum for e in path.events if e.kind == "deactivate"]
        if reactivations(path) or not gone:
            return -1.0 if gone else np.inf
        lost = item["X"][gone] @ path.end
        sizes = np.linalg.norm(item["X"][gone], axis=1) * np.linalg.norm(path.end)
        return float(-np.max(lost / sizes))

    plain = {**data_draws(2, (3, 8)), **{f"leaving, {k}": v for k, v in leaving_draws().items()}}
    return Statement(
        "no datum comes back, starts of any direction",
        extended(plain, towards),
        lambda item: max(margin(item, path) for path in _paths(item, item["u"])),
        {"the flow deactivates a datum": loses},
        tolerance=1e-9,
        fixed=("u",),
    )


def crosses_at_speed(item: Item) -> bool:
    """Whether the flow that leaves 0 crosses boundaries one at a time and at a speed, and ends off
    all of them where H has full rank; each told from zero by ROOM."""
    X, y = item["X"], item["y"]
    path = _paths(item, y @ X)[-1]
    if path.status != "converged":
        return False
    lengths, on = np.linalg.norm(X, axis=1), X @ path.states[0] > 0.0
    times = np.array([e.t for e in path.events])
    if np.any(np.diff(times) <= ROOM * times[1:]):
        return False
    for event in path.events:
        after = on.copy()
        after[event.datum] = event.kind == "activate"
        w = path.at(event.t)
        for row in (on, after):
            v = (y - X @ w)[row] @ X[row]
            if abs(X[event.datum] @ v) <= ROOM * lengths[event.datum] * np.linalg.norm(v):
                return False
        on = after
    cosines = X @ path.end / (lengths * np.linalg.norm(path.end))
    s = np.linalg.svd(X[on], compute_uv=False)
    return bool(np.abs(cosines).min() > ROOM and len(s) == X.shape[1] and s[-1] > 1e-6 * s[0])


def small_starts_agree(d: int, directions: int = 3) -> Statement:
    """Ours, for Proposition 4.4: where the flow from 0 crosses at speed, small starts in several
    directions, all with q(w0) > 0, end where it ends. Broken if not so at all three norms."""

    def more(item: Item, rng: np.random.Generator) -> dict[str, NDArray]:
        drawn = [start_direction(item["X"], item["y"], rng) for _ in range(directions)]
        return {"U": np.array(drawn)}

    def slack(item: Item) -> float:
        paths = [_paths(item, u) for u in (item["y"] @ item["X"], *item["U"])]
        ends = np.array([[path.end for path in row] for row in paths])  # (starts, norms, d)
        apart = np.linalg.norm(ends - ends[0], axis=2).max(axis=0)
        return float(1e-6 - (apart / np.linalg.norm(ends[0], axis=1)).min())

    def positive(item: Item) -> bool:
        return all(forced(item["X"], item["y"], u) for u in item["U"])

    return Statement(
        f"small starts agree where the flow from 0 crosses at speed, d = {d}",
        extended(data_draws(d, (4, 7)), more),
        slack,
        {"q(w0) > 0": positive, "the flow from 0 crosses at speed": crosses_at_speed},
        fixed=("U",),
    )
