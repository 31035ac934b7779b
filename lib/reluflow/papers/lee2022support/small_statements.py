"""Where small starts end and agree (Lemmas 4.6 and F.8, Proposition 4.4), as statements.

An instance is a data set "X" (n, d), "y" (n,) and a direction "u" (d,) of the start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Statement
from reluflow.flows.affine import affine_flow
from reluflow.flows.planar import PlanarFlows, planar_flows_of
from reluflow.flows.trajectory import Trajectory
from reluflow.instances import any_start, data_draws, extended, near_boundary_start
from reluflow.papers.lee2022support.norms import small_flows, starts_of
from reluflow.papers.lee2022support.small_plane import NEAR, resting_point
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    forced,
    full_rank_along,
    guaranteed_radius,
    reactivations,
    start_direction,
)

Item = Mapping[str, NDArray]
Draws = Mapping[str, Callable[[np.random.Generator], dict[str, NDArray]]]

TINY = (1e-2, 1e-5, 1e-8)
"""Norms of starts in any direction, in units of delta_0: Lemma 4.6 names no radius."""

ROOM = 1e-3
"""What counts as clear of a boundary, as a cosine, or as crossing it, relative to the speed."""


def nontrivial_draws(d: int, sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Data sets, each with a direction u for which q > 0, random or near a boundary."""
    return extended(
        data_draws(d, sizes),
        lambda item, rng: {"u": start_direction(item["X"], item["y"], rng)},
    )


def _positive_labels(item: Item) -> bool:
    return bool(np.all(item["y"] > 0.0))


def _spans(item: Item) -> bool:
    return np.linalg.matrix_rank(item["X"]) == item["X"].shape[1]


def nontrivial(item: Item) -> bool:
    return forced(item["X"], item["y"], item["u"])


def keeps_all(item: Item) -> bool:
    return bool(resting_point(item["X"], item["y"])[0].all())


ASSUMED = {"A2: y > 0": _positive_labels, "A3: rank X = d": _spans}
"""What the draws guarantee and the search could lose; A1 it keeps, for it keeps signs."""


def _at_rest(says: str, draws: Draws, hypotheses: Mapping, gone: bool) -> Statement:
    """Flows from `NORMS` of delta_0 along u end in the resting point, and take no datum back; where
    `gone`, they do not even give one up."""

    def slack(item: Item, end: NDArray, faults: int) -> float:
        w = resting_point(item["X"], item["y"])[1]
        return -1.0 if faults else float(NEAR - np.linalg.norm(end - w) / np.linalg.norm(w))

    def one(item: Item) -> float:
        paths = small_flows(item, NORMS)
        faults = [
            sum(e.kind == "deactivate" for e in path.events) if gone else reactivations(path)
            for path in paths
        ]
        if any(path.status == "non-unique" for path in paths):
            return np.nan  # rounding cannot tell a state from a boundary
        return min(slack(item, path.end, n) for path, n in zip(paths, faults, strict=True))

    def batch(items: Sequence[Item]) -> NDArray:
        out = np.full(len(items), np.inf)
        for flows in flows_of(items, NORMS):
            faults = flows.deactivations() if gone else flows.reactivations()
            found = [slack(*row) for row in zip(items, flows.ends, faults, strict=True)]
            out = np.minimum(out, np.where(flows.decided, found, np.nan))
        return out

    return Statement(says, draws, one, {**ASSUMED, **hypotheses}, batch=batch, fixed=("u",))


def ends_at_rest() -> Statement:
    """Ours: d = 2, q(w0) > 0, |w0| < delta_0. The flow takes no datum back and ends in the first
    virtual minimum that its own cell holds, as data are given up in the order of their angles."""
    return _at_rest("small starts end where the data say, and take nothing back",
                    nontrivial_draws(2), {"q(w0) > 0": nontrivial}, gone=False)  # fmt: skip


def keeps_all_data() -> Statement:
    """Lemma F.8 without its last clause: where the all-active cell holds its virtual minimum,
    starts with q > 0 and |w0| < delta_0 deactivate nothing and converge to it."""
    return _at_rest("all data kept, limit is the all-active minimum", nontrivial_draws(2),
                    {"q(w0) > 0": nontrivial, "the all-active cell holds its minimum": keeps_all},
                    gone=True)  # fmt: skip


def never_reactivates() -> Statement:
    """Lemma 4.6: d = 2, any small start, q(w0) > 0 or not: no datum is taken back."""

    def slack(item: Item) -> float:
        return -float(min(reactivations(path) for path in small_flows(item, TINY)))

    def batch(items: Sequence[Item]) -> NDArray:
        found = [
            np.where(flows.decided, -flows.reactivations().astype(float), np.nan)
            for flows in flows_of(items, TINY)
        ]
        return np.max(found, axis=0)

    def anywhere(item: Item, rng: np.random.Generator) -> dict[str, NDArray]:
        start = near_boundary_start if rng.integers(2) else any_start
        return {"u": start(item, rng)["w0"]}

    return Statement("no small flow takes a datum back", extended(data_draws(2), anywhere), slack,
                     ASSUMED, batch=batch, fixed=("u",))  # fmt: skip


def flows_of(
    items: Sequence[Item],
    norms: Sequence[float],
    radius: Callable[[NDArray, NDArray], float] = guaranteed_radius,
) -> list[PlanarFlows]:
    """The planar flows from `starts_of`, all instances at once, one batch a norm."""
    starts = [starts_of(item, norms, radius) for item in items]
    return [
        planar_flows_of([{**i, "w0": w[k]} for i, w in zip(items, starts, strict=True)])
        for k in range(len(norms))
    ]


def _off_zero(item: Item) -> Trajectory:
    """The flow that leaves 0, from a start too small to matter."""
    X, y = item["X"], item["y"]
    return affine_flow(X, y, starts_of({"X": X, "y": y}, [1e-9])[0])


def crosses_cleanly(item: Item) -> bool:
    """Whether the flow from 0 crosses every boundary with speed, comes near no other, and ends away
    from all of them, the active data of full rank there.

    A near touch between the points looked at would be missed: it could only break the statement.
    """
    X, path = item["X"], _off_zero(item)
    if path.status != "converged" or not full_rank_along(X, path):
        return False
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for event in path.events:
        w = path.at(event.t)
        gap = 1e-6 * max(event.t, 1e-300)
        moved = path.at(event.t + gap) - path.at(event.t - gap)
        if abs(unit[event.datum] @ moved) < ROOM * np.linalg.norm(moved):
            return False
        near = np.abs(unit @ w) < ROOM * np.linalg.norm(w)
        if np.any(near & (np.abs(unit @ unit[event.datum]) < 1.0 - 1e-12)):
            return False
    states = np.vstack([path.at(path.grid(40)[1:]), path.end])
    cosine = np.abs(states @ unit.T) / np.linalg.norm(states, axis=1, keepdims=True)
    dips = (cosine[1:-1] < cosine[:-2]) & (cosine[1:-1] < cosine[2:]) & (cosine[1:-1] < ROOM)
    switched = {event.datum for event in path.events}
    kept = [j for j in range(len(X)) if j not in switched]
    return bool(cosine[-1].min() > ROOM and not dips[:, kept].any())


def one_limit() -> Statement:
    """Proposition 4.4, repaired: where the flow from 0 crosses cleanly, small starts with q > 0 all
    end where it ends. Broken where that fails at all of `TINY`."""

    def slack(item: Item) -> float:
        end = _off_zero(item).end
        paths = small_flows(item, TINY)
        away = min(np.linalg.norm(path.end - end) for path in paths)
        return float(NEAR - away / np.linalg.norm(end))

    return Statement("small starts with q > 0 end where the flow from 0 ends",
                     nontrivial_draws(3, (3, 7)), slack,
                     {**ASSUMED, "q(w0) > 0": nontrivial,
                      "the flow from 0 crosses cleanly": crosses_cleanly},
                     fixed=("u",))  # fmt: skip
