"""Theorem 4.7 and Lemma F.8: where small starts in the plane end, and whether that is global.

An instance is a data set "X" (n, d), "y" (n,) and a direction "u" (d,) of the start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow import rational
from reluflow.approx import counted, on_grain
from reluflow.bruteforce import plain_descent
from reluflow.falsify import Instance, Statement, given
from reluflow.flows.activity import deactivated, reactivations
from reluflow.flows.affine import affine_flow
from reluflow.flows.planar import planar_flows_of
from reluflow.geometry import local_minima, rank
from reluflow.instances import KINDS, ORDINARY, Draws, data_draws, draw_many, extended
from reluflow.ledger import Counterexample, Evidence, bound, fact, note
from reluflow.networks import loss
from reluflow.papers.lee2022support.assumptions import assumptions, meets
from reluflow.papers.lee2022support.small_plane import (
    NEAR,
    PlanarData,
    has_settled,
    planar_data,
    resting_point,
)
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    directed,
    flows_of,
    guaranteed_radius,
    nontrivial,
    random_direction,
    small,
    small_flows,
    smallest_force,
)
from reluflow.statistics import wilson

MISSED = 1e-9
"""A limit whose loss is above the least loss by more than this share of L(0) is not global."""


def nontrivial_draws(d: int, sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Data sets, each with a direction u for which q > 0, random or near a boundary."""
    return extended(data_draws(d, sizes), directed)


def keeps_all(item: Instance) -> bool:
    """Whether the all-active cell holds its virtual minimum."""
    return bool(resting_point(item["X"], item["y"])[0].all())


ASSUMED: Mapping[str, Callable[[Instance], bool]] = {
    "A2: y > 0": lambda item: bool(np.all(item["y"] > 0.0)),
    "A3: rank X = d": lambda item: rank(item["X"]) == item["X"].shape[1],
}
"""What the draws guarantee and the search could lose; A1 it keeps, for it keeps signs."""


def planar(item: Instance) -> bool:
    """Whether A1, A2 and A3 hold in the plane."""
    return meets(item, "A1", "A2", "A3", d=2)


def _at_rest(says: str, draws: Draws, hypotheses: Mapping, gone: bool) -> Statement:
    """Flows from `NORMS` of delta_0 along u end in the resting point, and take no datum back; where
    `gone`, they do not even give one up."""

    def slack(item: Instance, end: NDArray, faults: int) -> float:
        w = resting_point(item["X"], item["y"])[1]
        return -1.0 if faults else float(NEAR - np.linalg.norm(end - w) / np.linalg.norm(w))

    def one(item: Instance) -> float:
        paths = small_flows(item, NORMS)
        faults = [len(deactivated(path)) if gone else reactivations(path) for path in paths]
        if not all(
            path.has_limit and has_settled(item["X"], item["y"], path.end) for path in paths
        ):
            return np.nan  # rounding could not tell a state from a boundary
        return min(slack(item, path.end, n) for path, n in zip(paths, faults, strict=True))

    def batch(items: Sequence[Instance]) -> NDArray:
        out = np.full(len(items), np.inf)
        for flows in flows_of(items, NORMS):
            faults = flows.deactivations() if gone else flows.reactivations()
            found = [slack(*row) for row in zip(items, flows.ends, faults, strict=True)]
            out = np.minimum(out, np.where(flows.decided, found, np.nan))
        return out

    return Statement(says, draws, one, hypotheses, batch=batch, fixed=("u",))


def ends_at_rest() -> Statement:
    """sv.ours.small.plane: for d = 2, q(w0) > 0 and |w0| < delta_0 the flow takes no datum back and
    ends in the first virtual minimum that its own cell holds, as data are given up in the order of
    their angles."""
    hypotheses = given("sv.ours.small.plane", data=planar, start=small)
    return _at_rest("small starts end where the data say, and take nothing back",
                    nontrivial_draws(2), hypotheses, gone=False)  # fmt: skip


def keeps_all_data() -> Statement:
    """sv.lemF.8.1: Lemma F.8 without its last clause. Where the all-active cell holds its virtual
    minimum, starts with q > 0 and |w0| < delta_0 deactivate nothing and converge to it."""
    hypotheses = {**ASSUMED, "q(w0) > 0": nontrivial,
                  "the all-active cell holds its minimum": keeps_all}  # fmt: skip
    return _at_rest("all data kept, limit is the all-active minimum", nontrivial_draws(2),
                    hypotheses, gone=True)  # fmt: skip


def survey_plane(seed: int, count: int) -> pd.DataFrame:
    """Follow one small start, from 1e-3 to 1 of delta_0, on each of `count` planar data sets of
    every kind, and tell from the data where it should end and which minimum is global.

    kind, data     the kind of the data set, and its number of data; a row a data set
    followed       whether plain doubles decide the flow
    elsewhere      whether it ends outside `resting_point`
    deactivating   whether it gives up a datum, and `reactivating`, whether it takes one back
    missed         whether the resting point is not a global minimum
    not_largest    whether a local minimum has more support vectors than the resting point
    """
    rng = np.random.default_rng([seed, 1])
    items = list(draw_many(count * len(KINDS), 2, seed))
    n = max(len(item.y) for item in items)
    X, y = np.zeros((len(items), n, 2)), np.zeros((len(items), n))
    for k, item in enumerate(items):
        X[k, : len(item.y)], y[k, : len(item.y)] = item.X, item.y
    parts = [planar_data(X[k : k + 2000], y[k : k + 2000]) for k in range(0, len(items), 2000)]
    told = PlanarData(*(np.concatenate([getattr(part, name) for part in parts])
                        for name in PlanarData.__dataclass_fields__))  # fmt: skip
    units = np.array([random_direction(item.X, item.y, rng) for item in items])
    norms = told.radius * 10.0 ** rng.uniform(-3.0, 0.0, len(items))
    starts = zip(items, norms[:, None] * units, strict=True)
    flows = planar_flows_of([{"X": item.X, "y": item.y, "w0": w0} for item, w0 in starts])
    away = np.linalg.norm(flows.ends - told.limit, axis=1)
    return pd.DataFrame({
        "kind": [item.kind for item in items],
        "data": [len(item.y) for item in items],
        "followed": flows.decided,
        "elsewhere": away > NEAR * np.linalg.norm(told.limit, axis=1),
        "deactivating": flows.deactivations() > 0,
        "reactivating": flows.reactivations() > 0,
        "missed": told.loss > told.least + MISSED * 0.5 * (y**2).sum(axis=1),
        "not_largest": told.most > told.support,
    })  # fmt: skip


def share_missed(plane: pd.DataFrame, kinds: Sequence[str] = ORDINARY) -> tuple[float, ...]:
    """The share of the data sets of these kinds that miss, and its 95 % interval (Wilson)."""
    missed = plane.missed[plane.kind.isin(kinds)]
    return (float(missed.mean()), *map(float, wilson(missed.sum(), len(missed))))


def table_of_kinds(plane: pd.DataFrame) -> pd.DataFrame:
    """One row a kind: data sets, how many give up a datum, and the share that misses."""
    rows = {}
    groups = {kind: (kind,) for kind in KINDS} | {"the first five together": ORDINARY}
    for name, kinds in groups.items():
        part = plane[plane.kind.isin(kinds)]
        share, low, high = (on_grain(100.0 * v, 0.1) for v in share_missed(plane, kinds))
        rows[name] = {
            "data sets": len(part),
            "flows": counted(int(part.followed.sum())),
            "give up a datum": counted(int(part.deactivating.sum())),
            "miss the global minimum": f"{share} % ({low} to {high})",
            "another minimum has more support": counted(int(part.not_largest.sum())),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def rest_of_plane(plane: pd.DataFrame, X: NDArray, y: NDArray, w0: ArrayLike) -> list[Evidence]:
    """The survey's ends; from w0 on the data X, y the flow ends elsewhere: q(w0) > 0, but |w0|
    exceeds delta_0."""
    end, (_, rest) = affine_flow(X, y, w0).end, resting_point(X, y)
    return [
        fact("flows of the survey that end elsewhere", int(plane.elsewhere.sum()), 0),
        fact("of them that take a datum back", int(plane.reactivating.sum()), 0),
        note("flows of the survey", float(plane.followed.sum())),
        note("|w0| / delta_0 of the counterexample, whose flow ends elsewhere",
             float(np.linalg.norm(w0) / guaranteed_radius(X, y))),
        fact("it does end elsewhere",
             bool(np.linalg.norm(end - rest) > 1e-3 * np.linalg.norm(rest)), True),
    ]  # fmt: skip


def not_global(
    plane: pd.DataFrame, seed: int, X: NDArray, y: NDArray
) -> tuple[list[Evidence], Counterexample]:
    """sv.thm4.7.1: in the plane the limit of a small start is a global minimum (Theorem 4.7).

    Refuted by `survey_plane` and by the three data X, y of Theorem 3.6's counterexample.
    """
    w0 = np.array([1e-4, 1e-4])
    end, best = affine_flow(X, y, w0).end, rational.fit(X, y, [0, 2])
    above = float(loss(X, y, end)) - local_minima(X, y)[0].loss
    loop = plain_descent(X, y, w0, 0.01, 5000)[-1]
    by_loop = rational.neuron_loss(X, y, rational.rationals(loop)) - best.loss
    evidence = [
        fact("data sets whose limit is not a global minimum", int(plane.missed.sum()), 0),
        fact("the limit is global on the data of the counterexample", above <= 1e-9, True),
        note("data sets", len(plane)),
        note("seed", seed),
    ]
    return evidence, Counterexample(
        instance={"X": X.astype(int), "y": y.astype(int), "w0": w0},
        assumptions={**assumptions(X, y), "q(w0) > 0": smallest_force(X, y, [w0]) > 0},
        breaks=(bound("L(limit) - least loss, exact flow and enumerated minima",
                      above, "<=", 0, ""),),
        recheck=(bound("L(limit) - L(2, -1), limit by a plain descent loop", float(by_loop),
                       "<=", 0, ""),),
        route="5000 plain steps of descent from w0, losses in rational arithmetic",
    )  # fmt: skip
