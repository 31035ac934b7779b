"""Sections 4.1 and 5: what the norm of the start does to the support and to the loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.falsify import survey
from reluflow.flows.affine import affine_flow
from reluflow.geometry import local_minima
from reluflow.instances import Instance, draw
from reluflow.ledger import Evidence, bound, note
from reluflow.networks import loss
from reluflow.statistics import normal_interval


@dataclass(frozen=True)
class _Case:
    """A data set, a direction u (d,) of starts, and the units of what is measured there."""

    data: Instance
    u: NDArray
    unit: float
    least: float


def _cases(count: int, seed: int, n: int, d: int) -> Iterator[_Case]:
    """Data sets, each with a random direction, uniform over those with an active datum."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        item = draw("uniform", n, d, rng)
        u = rng.normal(size=d)
        while not np.any(item.X @ u > 0):
            u = rng.normal(size=d)
        unit = float(np.linalg.norm(np.linalg.lstsq(item.X, item.y, rcond=None)[0]))
        yield _Case(item, u / np.linalg.norm(u), unit, local_minima(item.X, item.y)[0].loss)


def survey_norms(
    count: int, seed: int, n: int, d: int, norms: Sequence[float] = (0.01, 0.1, 0.3, 1, 3, 10, 100)
) -> pd.DataFrame:
    """Flows of `count` random data sets of n data in d dimensions from starts of all norms.

    A row a norm, in units of |w*| of the linear fit, ascending. Each column holds one value a data
    set, whose starts share their direction, so the columns are paired:

    start   share of the data active at the start
    share   share of the data active in the limit
    excess  (L(limit) - L(global)) / L(0)
    """

    def measure(start: tuple[int, _Case, float]) -> dict[str, Any]:
        k, case, norm = start
        X, y = case.data.X, case.data.y
        end = affine_flow(X, y, norm * case.unit * case.u).end
        return {
            "norm": norm,
            "data set": k,
            "start": np.mean(X @ case.u > 0),
            "share": np.mean(X @ end > 0),
            "excess": (loss(X, y, end) - case.least) / (0.5 * y @ y),
        }

    cases = enumerate(_cases(count, seed, n, d))
    starts = ((k, case, norm) for k, case in cases for norm in norms)
    return survey(starts, measure).pivot(index="norm", columns="data set")


def norm_of_start(
    found: pd.DataFrame, seed: int
) -> tuple[list[Evidence], tuple[Evidence, ...] | None]:
    """sv.init.norm: small starts gain active data, large ones lose them (Sections 4.1 and 5).

    Returns the evidence of `survey_norms`, and what appeared instead where it is not so.
    """
    share, gained = found["share"].to_numpy(), (found["share"] - found["start"]).to_numpy()
    gain = [normal_interval(gained[k]) for k in (0, -1)]
    spread = normal_interval(share[0] - share[-1])
    gaps = np.round(found["excess"].to_numpy().mean(axis=1)[[0, -1]], 3).tolist()
    evidence = [
        bound("smallest norm: gain of active data, lower end of the interval", gain[0][1],
              ">", 0, "of n"),
        bound("largest norm: gain of active data, upper end", gain[1][2], "<", 0, "of n"),
        bound("support at the smallest norm less that at the largest, lower end", spread[1],
              ">", 0, "of n"),
        note("data sets", share.shape[1]),
        note("mean loss gap at the smallest and at the largest norm", tuple(gaps), "of L(0)"),
        note("seed", seed),
    ]  # fmt: skip
    if all(item.holds for item in evidence if item.decides):
        return evidence, None
    return evidence, (note("mean gain at the smallest norm", gain[0][0], "of n"),
                      note("mean gain at the largest norm", gain[1][0], "of n"))  # fmt: skip
