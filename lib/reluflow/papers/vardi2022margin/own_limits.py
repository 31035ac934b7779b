"""The main page's question for any network and data: where do flows end, and is that an optimum?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import MARK, approx, on_grain
from reluflow.flows.charts import Plain
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.losses import EXPONENTIAL
from reluflow.margin.limits import Limit, limit
from reluflow.margin.optimum import Optimum, classify_optimum
from reluflow.papers.vardi2022margin.experiment import Experiment, drawn
from reluflow.papers.vardi2022margin.instances import Construction
from reluflow.statistics import wilson

ROUNDING = 1e-8
"""A residual up to this is one of rounding."""
_SHORT = 12
"""So many parameters are printed."""


@dataclass(frozen=True)
class Found:
    """A start's limit, and what is known of it as a point of Problem (2); None without a limit."""

    limit: Limit
    optimum: Optimum | None

    @property
    def converged(self) -> bool:
        """Whether the flow has a limit that is known to rounding."""
        return self.optimum is not None


def follow(own: Experiment) -> list[Found]:
    """The limit of the flow from each start of an experiment, and its certificate."""
    found = []
    for start in own.starts:
        end = limit(own.network, own.loss, own.X, own.y, start, reach=own.reach)
        optimum = classify_optimum(own.network, end.theta, own.X, own.y) if end.converged else None
        found.append(Found(end, optimum))
    return found


def from_random_starts(made: Construction, count: int, seed: int) -> list[Found]:
    """The limits of `count` flows of a construction's network on its data, from normal weights."""
    starts = drawn(made.network, "gaussian", count, np.random.default_rng(seed))
    return follow(
        Experiment(made.name, made.network, made.X, made.y, EXPONENTIAL, starts, 1e5, None)
    )


def ends_table(found: Sequence[Found]) -> pd.DataFrame:
    """How many flows end at which kind of point, with 95 % Wilson intervals of the shares."""
    ends = Counter(
        one.optimum.verdict if one.optimum is not None else f"no limit: {one.limit.status}"
        for one in found
    )
    order = ("global", "local", "not local", "undecided")
    names = [*(name for name in order if name in ends), *sorted(ends.keys() - set(order))]
    low, high = wilson([ends[name] for name in names], len(found))
    rows = [
        {"flows": f"{MARK}{ends[name]}", "share": f"{approx(a, 2)} to {approx(b, 2)}"}
        for name, a, b in zip(names, low, high, strict=True)
    ]
    return pd.DataFrame(rows, index=names)


def limits_table(found: Sequence[Found]) -> pd.DataFrame:
    """One row a start: how the flow ended, the residual and the squared length of its limit."""
    rows = [
        {
            "how the flow ended": one.limit.status,
            "KKT residual": _small(one.limit.residual) if one.converged else "",
            "squared length": approx(float(one.limit.theta @ one.limit.theta), 6)
            if one.converged
            else "",
            "limit": _point(one.limit.theta) if one.converged else "",
        }
        for one in found
    ]
    return pd.DataFrame(rows, index=_names(found))


def verdicts_table(found: Sequence[Found]) -> pd.DataFrame:
    """One row a limit: whether it is an optimum of Problem (2), and what certifies it."""
    rows = [
        {"optimum of Problem (2)?": one.optimum.verdict, "certificate": _certified(one.optimum)}
        for one in found
        if one.optimum is not None
    ]
    names = [name for name, one in zip(_names(found), found, strict=True) if one.converged]
    columns = ["optimum of Problem (2)?", "certificate"]
    return pd.DataFrame(rows, index=names, columns=columns)


def approaches(found: Sequence[Found], points: int = 40) -> list[tuple[str, NDArray, NDArray]]:
    """(name, log10(1/L) (k,), distance of the direction to the limit's (k,)) of each limit, from
    L = 1/10 to the end of its flow."""
    out = []
    for name, one in zip(_names(found), found, strict=True):
        if one.converged:
            decades = np.geomspace(1.0, one.limit.reached, points)
            out.append((name, decades, one.limit.errors(decades)))
    return out


def at_times(made: Construction, start: ArrayLike, times: ArrayLike) -> NDArray:
    """theta(t) (k, p) at times (k,) of the flow of the exponential loss, from start (p,)."""
    times = np.asarray(times, float)
    field = GradientFlow(Plain(made.network), EXPONENTIAL, made.X, made.y)
    return integrate(field, start, float(times.max()) * (1.0 + 1e-9)).at(times)


def _names(found: Sequence[Found]) -> list[str]:
    return [f"start {k + 1}" for k in range(len(found))]


def _small(value: float) -> str:
    return f"below {ROUNDING:g}" if value <= ROUNDING else approx(value, 2)


def _point(theta: NDArray) -> str:
    if len(theta) > _SHORT:
        return f"{len(theta)} numbers"
    shown = (on_grain(value, 1e-4) if abs(value) > ROUNDING else "0" for value in theta)
    return f"({', '.join(shown)})"


def _certified(optimum: Optimum) -> str:
    """What the certificate says, in words that the last digits do not change."""
    if optimum.verdict == "not local":
        share = approx(100.0 * optimum.slack, 3)
        return f"shorter points as near as one looks; the farthest saves {share} % of the length"
    if optimum.verdict in ("global", "local"):
        everywhere = "everywhere" if optimum.verdict == "global" else "nearby"
        return f"a lower bound that holds {everywhere} meets the value"
    return optimum.detail
