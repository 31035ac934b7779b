"""Theorem F.6: a flow that crosses boundaries under conditions B1-B4 gains norm. How often these
conditions hold."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import cycle, islice

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement, given
from reluflow.instances import Arrays, Draws, extended
from reluflow.ledger import Evidence, note
from reluflow.ledger.evidence import ROUNDING_LEVEL
from reluflow.papers.lee2022support.assumptions import meets
from reluflow.papers.lee2022support.crossing_conditions import at_crossings
from reluflow.papers.lee2022support.crossing_parallel import merged
from reluflow.papers.lee2022support.norm_loss import ROUNDING
from reluflow.papers.lee2022support.norm_rate import norm_lost
from reluflow.papers.lee2022support.small_ends import nontrivial_draws
from reluflow.papers.lee2022support.small_starts import NORMS, small_flows

SHARES = (0.9, 0.1, NORMS[1])
"""Norms of the starts, in units of delta_0; from smaller ones a loss is lost in rounding."""

WHICH = ("B1", "B2", "B3", "B4", "all four")


def built_crossings(rng: np.random.Generator, d: int = 2) -> Arrays:
    """Data made to meet B1-B4: d data fitted by w_P^*, whose last entry is negative, and one more
    almost orthogonal to w_P^*, on whose inactive side the start is."""
    tilt = rng.uniform(0.1, 0.7)
    flat = _units(rng, d - 1)[0]  # w_P^* but for its last entry
    target = np.append(np.cos(tilt) * flat, -np.sin(tilt))
    sides = _units(rng, d - 1, d)
    angles = rng.uniform(0.0, np.arctan(sides @ flat / np.tan(tilt)) - 0.05)
    sizes = 10.0 ** rng.uniform(-0.5, 0.5, (d, 1))
    X = sizes * np.column_stack([np.cos(angles)[:, None] * sides, np.sin(angles)])
    over = np.pi / 2 - tilt + tilt * 10.0 ** rng.uniform(-4.0, -1.0)
    x = 10.0 ** rng.uniform(0.0 - d, 2.0 - d) * np.append(np.cos(over) * flat, np.sin(over))
    beyond = -float(x @ target)
    inner = float(x @ np.linalg.solve(X.T @ X, x))
    label = beyond / inner * (1.0 + 10.0 ** rng.uniform(-2.0, 1.0))
    along = np.append(np.sin(over) * flat, -np.cos(over))  # in the boundary of x
    return {
        "X": np.vstack([X, x]),
        "y": np.append(X @ target, label),
        "u": along - 0.1 * tilt * rng.uniform(0.0, 1.0) * x / np.linalg.norm(x),
    }


def _units(rng: np.random.Generator, d: int, n: int = 1) -> NDArray:
    """n random unit vectors (n, d) of the positive orthant, none near its boundary."""
    v = np.ones((n, 1)) if d == 1 else rng.uniform(0.2, 1.0, (n, d))
    units: NDArray = v / np.linalg.norm(v, axis=1, keepdims=True)
    return units


def with_parallels(item: Arrays, rng: np.random.Generator) -> Arrays:
    """The same with its last datum x, y made two or three, a x and labels of their own, such that
    they pull together as hard as y x would."""
    sizes = 2.0 ** -rng.integers(0, 3, int(rng.integers(2, 4)))
    shares = rng.uniform(0.2, 1.0, sizes.size)
    labels = item["y"][-1] * shares / (sizes @ shares)
    return {
        "X": np.vstack([item["X"][:-1], sizes[:, None] * item["X"][-1]]),
        "y": np.append(item["y"][:-1], labels),
        "u": item["u"],
    }


def crossing_draws() -> Draws:
    """Data built to meet B1-B4, in the plane and in space, also with parallel data."""
    plain: Draws = {f"d = {d}": partial(built_crossings, d=d) for d in (2, 3)}
    return {**plain, **{f"{k}, parallel": v for k, v in extended(plain, with_parallels).items()}}


def strict_under_conditions() -> Statement:
    """sv.ours.crossing.norm: among flows that do cross boundaries, one at a time, with B1-B4 and
    x_0.H^-1 x_0 < 1 at each, parallel data counted as one, the norm never drops."""

    def alone(item: Instance) -> bool:
        found = at_crossings(merged(item))
        return bool(found) and all((s.before != s.after).sum() == 1 for s, _ in found)

    def slack(item: Instance) -> float:
        paths = small_flows(item, SHARES)
        lost = [norm_lost(item["X"], item["y"], path) / (path.end @ path.end) for path in paths]
        return -float(min(lost))

    return Statement(
        "under B1-B4 at one crossing or more the norm never drops",
        crossing_draws(),
        slack,
        given(
            "sv.ours.crossing.norm",
            data=lambda item: meets(merged(item), "A1", "A2", "A3"),
            crossings=alone,
            conditions=lambda item: all(met.hold for _, met in at_crossings(merged(item))),
            inner=lambda item: all(met.inner > 0.0 for _, met in at_crossings(merged(item))),
        ),
        tolerance=ROUNDING,
    )


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
