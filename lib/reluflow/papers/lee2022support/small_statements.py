"""Where small starts end and agree (Lemmas 4.6 and F.8, Proposition 4.4), as statements.

An instance is a data set "X" (n, d), "y" (n,) and a direction "u" (d,) of the start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Statement
from reluflow.flows.planar import PlanarFlows, planar_flows_of
from reluflow.geometry import rank
from reluflow.instances import data_draws, extended
from reluflow.papers.lee2022support.norms import small_flows, starts_of
from reluflow.papers.lee2022support.small_plane import NEAR, has_settled, resting_point
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    forced,
    guaranteed_radius,
    reactivations,
    start_direction,
)

Item = Mapping[str, NDArray]
Draws = Mapping[str, Callable[[np.random.Generator], dict[str, NDArray]]]


def nontrivial_draws(d: int, sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Data sets, each with a direction u for which q > 0, random or near a boundary."""
    return extended(
        data_draws(d, sizes),
        lambda item, rng: {"u": start_direction(item["X"], item["y"], rng)},
    )


def _positive_labels(item: Item) -> bool:
    return bool(np.all(item["y"] > 0.0))


def _spans(item: Item) -> bool:
    return rank(item["X"]) == item["X"].shape[1]


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
        if not all(
            path.has_limit and has_settled(item["X"], item["y"], path.end) for path in paths
        ):
            return np.nan  # rounding could not tell a state from a boundary
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
    """sv.lemF.8.1: Lemma F.8 without its last clause. Where the all-active cell holds its virtual
    minimum, starts with q > 0 and |w0| < delta_0 deactivate nothing and converge to it."""
    return _at_rest("all data kept, limit is the all-active minimum", nontrivial_draws(2),
                    {"q(w0) > 0": nontrivial, "the all-active cell holds its minimum": keeps_all},
                    gone=True)  # fmt: skip


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
