"""Tables of the experiments of Section 5: limits, local minima, and what random starts do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.approx import approx, on_grain
from reluflow.datasets import Dataset, settings
from reluflow.geometry import cell_bound
from reluflow.papers.lee2022support.examples import Experiment

ROUNDED = 1e-14
"""A minimum with a smaller margin exists, or not, by the last digits of the data."""


def limits_table(run: Experiment) -> pd.DataFrame:
    """One row a flow: where it starts and ends, the loss there, its support and its rank."""
    rows = [
        {
            "start": _point(limit.start, "{:.5g}".format),
            "limit": _point(limit.w),
            "loss": _loss(limit.loss, run.y),
            "support vectors": _data(limit.support),
            "rank": str(limit.rank) if limit.rank else "unknown",
            "events": str(len(path.events)),
            "how it ended": limit.status,
        }
        for limit, path in zip(run.limits, run.flows, strict=True)
    ]
    return pd.DataFrame(rows, index=[f"flow {k + 1}" for k in range(len(rows))])


def minima_table(run: Experiment, most: int = 12) -> pd.DataFrame:
    """All sets of local minima by rank, `most` of them at most."""
    if not run.minima:
        bound = cell_bound(len(run.y), run.X.shape[1])
        return pd.DataFrame({"local minima": [f"not enumerated: up to {bound} cells"]}, index=[""])
    shapes = {0: "point", 1: "half-line or segment", 2: "plane piece"}
    rows = [
        {
            "loss": _loss(m.loss, run.y),
            "support vectors": _data(m.support),
            "shape": shapes.get(m.dimension, f"piece of dimension {m.dimension}")
            + (", by the last digits of the data" if m.margin < ROUNDED else ""),
            "a point of it": _point(m.w),
        }
        for m in run.minima[:most]
    ]
    return pd.DataFrame(rows, index=[f"rank {m.rank}" for m in run.minima[:most]])


def _loss(value: float, y: NDArray) -> str:
    """Six decimals; for labels of another order six digits, and 0 for what is rounding of L(0)."""
    unit = 0.5 * float(y @ y)
    if 1e-2 <= unit <= 1e6:
        return on_grain(value, 1e-6)
    return approx(value, 6) if value > 1e-9 * unit else "0"


def _point(w: NDArray, written: Callable[[float], str] = lambda v: approx(v, 5)) -> str:
    """Up to four coordinates; one that is small beside the others is 0."""
    size = float(np.max(np.abs(w), initial=0.0))
    shown = ", ".join(written(v if abs(v) > 1e-9 * size else 0.0) for v in w[:4])
    return f"({shown}, …)" if len(w) > 4 else f"({shown})"


def _data(support: tuple[int, ...]) -> str:
    if not support:
        return "none"
    if len(support) > 8:
        return f"{len(support)} data"
    return "{" + ", ".join(str(j + 1) for j in support) + "}"


def _range(iterations: NDArray) -> str:
    return " to ".join(on_grain(float(end), 1.0) for end in (iterations.min(), iterations.max()))


def draws_table(datasets: Sequence[Dataset], step: float, draws: int, seed: int) -> pd.DataFrame:
    """How often random starts do what the examples show: events, first event, rank of the limit.

    Each data set is followed from `draws` starts of the paper's law, 1e-4 U([0, 1]^d).
    """
    rng = np.random.default_rng(seed)
    rows = []
    for item in datasets:
        starts = settings(item.name).drawn_points(draws, item.d, rng)
        run = Experiment(item, starts, step, 0, False)
        stories = Counter(
            ", ".join(f"x_{e.datum + 1} {e.kind}s" for e in path.events) for path in run.flows
        )
        first = np.array([path.events[0].t for path in run.flows if path.events]) / step
        last = np.array([path.events[-1].t for path in run.flows if path.events]) / step
        ranks = Counter(limit.rank for limit in run.limits)
        rows.append(
            {
                "starts": draws,
                "events (share of the starts)": "; ".join(
                    f"{story or 'none'} ({100 * k / draws:.0f} %)"
                    for story, k in stories.most_common()
                ),
                "iteration of the first event": _range(first),
                "of the last": _range(last),
                "rank of the limit": ", ".join(f"{r} ({k})" for r, k in sorted(ranks.items())),
            }
        )
    return pd.DataFrame(rows, index=[item.name for item in datasets])
