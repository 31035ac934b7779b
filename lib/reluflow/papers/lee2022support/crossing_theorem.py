"""Theorem F.6: a flow that crosses boundaries under conditions B1-B4 gains norm. How often these
conditions hold."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle, islice

import numpy as np
import pandas as pd

from reluflow.falsify import Instance, Statement
from reluflow.flows.affine import affine_flow
from reluflow.instances import Arrays, Draws
from reluflow.ledger import Evidence, Reading, note
from reluflow.ledger.evidence import ROUNDING_LEVEL
from reluflow.papers.lee2022support.crossing_conditions import at_crossings
from reluflow.papers.lee2022support.norm_loss import OVERSHOOT, SMALL, never_drops
from reluflow.papers.lee2022support.norm_rate import norm_lost
from reluflow.papers.lee2022support.small_ends import ASSUMED, nontrivial_draws
from reluflow.papers.lee2022support.small_starts import unit_of_norm

WHICH = ("B1", "B2", "B3", "B4", "all four")


def built_crossings(rng: np.random.Generator) -> Arrays:
    """Data made to meet B1-B4: two data fitted by w_P^* in the fourth quadrant, and a third one
    almost orthogonal to w_P^*, on whose inactive side the start is."""
    tilt = rng.uniform(0.1, 0.7)
    target = np.array([np.cos(tilt), -np.sin(tilt)])
    angles = rng.uniform(0.0, np.pi / 2 - tilt - 0.05, 2)
    X = 10.0 ** rng.uniform(-0.5, 0.5, (2, 1)) * np.column_stack([np.cos(angles), np.sin(angles)])
    over = np.pi / 2 - tilt + tilt * 10.0 ** rng.uniform(-4.0, -1.0)
    x = 10.0 ** rng.uniform(-2.0, 0.0) * np.array([np.cos(over), np.sin(over)])
    beyond = -float(x @ target)
    inner = float(x @ np.linalg.solve(X.T @ X, x))
    label = beyond / inner * (1.0 + 10.0 ** rng.uniform(-2.0, 1.0))
    along = np.array([np.sin(over), -np.cos(over)])  # the boundary of x
    return {
        "X": np.vstack([X, x]),
        "y": np.append(X @ target, label),
        "u": along - 0.1 * tilt * rng.uniform(0.0, 1.0) * x / np.linalg.norm(x),
    }


def strict_under_conditions() -> Statement:
    """sv.thmF.6: among flows that do cross boundaries, with B1-B4 and, which is our repair,
    x_0.H^-1 x_0 < 1 at each, the norm never drops (Theorem F.6)."""

    def meets(item: Instance) -> bool:
        found = at_crossings(item)
        return bool(found) and all(met.hold for _, met in found)

    def inner(item: Instance) -> bool:
        return all(met.inner > 0.0 for _, met in at_crossings(item))

    return never_drops("under B1-B4 at one crossing or more the norm never drops",
                       {"built": built_crossings},
                       {**ASSUMED, "crosses, with B1-B4 at every crossing": meets,
                        "x_0.H^-1 x_0 < 1 at every crossing": inner})  # fmt: skip


def sources() -> dict[str, Draws]:
    """Random data in general position, d = 2 and 3, with small starts; data built to meet B1-B4."""
    generic = ("uniform", "directions")
    random = {f"d = {d}": {k: nontrivial_draws(d)[k] for k in generic} for d in (2, 3)}
    return {**random, "d = 2, built": {"built": built_crossings}}


def met_by_source(seed: int, flows: int) -> dict[str, pd.DataFrame]:
    """B1-B4 at the crossings of `flows` small flows of every source, one row a crossing.

    The starts are off boundaries: elsewhere rounding decides what crosses first, and with it what a
    condition says. For the same reason a condition that holds by no more than rounding does not
    count.
    """
    rng = np.random.default_rng(seed)
    found = {}
    for name, draws in sources().items():
        items = (draw(rng) for draw in cycle(draws.values()))
        found[name] = _met(list(islice(filter(_off_boundaries, items), flows)))
    return found


def _off_boundaries(item: Instance) -> bool:
    """Whether the start is farther from every boundary than rounding reaches."""
    X, u = item["X"], item["u"]
    return bool(np.all(np.abs(X @ u) > 1e-6 * np.linalg.norm(X, axis=1)))


def _met(items: list[Instance]) -> pd.DataFrame:
    rows = [
        {
            "flow": k,
            "activates": step.activates,
            "B1": met.B1 > ROUNDING_LEVEL,
            "B2": met.B2 > ROUNDING_LEVEL,
            "B3": met.full,
            "B4": met.B4 > ROUNDING_LEVEL,
            "all four": met.hold,
        }
        for k, item in enumerate(items)
        for step, met in at_crossings(item)
    ]
    return pd.DataFrame(rows, columns=["flow", "activates", *WHICH])


def crossed(found: pd.DataFrame) -> tuple[int, int]:
    """Flows that cross a boundary, and those of them with B1-B4 at every crossing."""
    every = found.groupby("flow")["all four"].all()
    return len(every), int(every.sum())


def condition_table(found: Mapping[str, pd.DataFrame], flows: int) -> pd.DataFrame:
    """How many crossings meet each condition, one column a source."""
    columns = {}
    for name, met in found.items():
        crossing, every = crossed(met)
        column = {"flows": flows, "flows that cross a boundary": crossing}
        for way, on in (("activations", True), ("deactivations", False)):
            rows = met[met.activates == on]
            column |= {way: len(rows)} | {f"{way}: {c}": int(rows[c].sum()) for c in WHICH}
        columns[name] = column | {"flows with B1-B4 at every crossing": every}
    return pd.DataFrame(columns)


def how_often(found: Mapping[str, pd.DataFrame]) -> list[Evidence]:
    """How many flows meet B1-B4 wherever they cross."""
    crossing, every = zip(*(crossed(found[name]) for name in ("d = 2", "d = 3")), strict=True)
    return [
        note("random data, d = 2 and d = 3: flows that cross a boundary", crossing),
        note("of them with B1-B4 at every crossing", every),
        note("data built to meet B1-B4: flows that cross, and that meet them",
             crossed(found["d = 2, built"])),
    ]  # fmt: skip


def crosses_at_least_once() -> Reading:
    """Which flows Theorem F.6 speaks of; that the others may lose norm is checked."""
    X, y, v = OVERSHOOT
    paths = [affine_flow(X, y, norm * unit_of_norm(X, y) * v) for norm in SMALL]
    drops = [norm_lost(X, y, path) > 1e-13 * float(path.end @ path.end) and not path.events
             for path in paths]  # fmt: skip
    return Reading(
        taken="the flow crosses at least one boundary, and x_0.H^-1 x_0 < 1 at every crossing, "
        "as the proof needs where it divides by 1 - x_0.H^-1 x_0; in the plane that follows "
        "from B1 and B3 (the next claim)",
        others="A flow that crosses nothing meets B1-B4 at all its crossings, and its norm may "
        "drop: so it does for x = (1,2), (2,1), y = (3,3) from eps (1,0), at all norms tried "
        f"({'checked' if all(drops) else 'not so'}). The theorem speaks of a flow that moves "
        "from P to another cell.",
    )
