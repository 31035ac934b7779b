"""The main page's question for any network and data: where do flows end, and is that an optimum?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import MARK, approx, on_grain
from reluflow.errors import InputError
from reluflow.flows.charts import Plain
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.losses import EXPONENTIAL
from reluflow.margin.limits import Limit, limit
from reluflow.margin.optimum import Optimum, classify_optimum
from reluflow.networks.indexed import Network, Patterns
from reluflow.papers.vardi2022margin.experiment import Experiment, drawn
from reluflow.papers.vardi2022margin.instances import Construction
from reluflow.progress import progress
from reluflow.statistics import wilson

WORK, CALL = 5e8, 2e3
"""What all flows of the page may cost, and what a call costs at least."""
LEFT_OUT = "left out: too much work"
ROUNDING = 1e-8
"""A residual up to this is one of rounding."""
_WIDE = 50
"""Characters of a table's cell, from which on pandas cuts it off."""


@dataclass(frozen=True)
class Found:
    """What became of one flow: how it ended, and where it has a limit that is known to rounding,
    that limit and what is known of it as a point of Problem (2)."""

    status: str
    limit: Limit | None = None
    optimum: Optimum | None = None


class Spent(Exception):
    """The work that a flow may take is done."""


@dataclass(frozen=True)
class Metered(Network):
    """A network that counts what its evaluations cost, and raises `Spent` when nothing is `left`.

    One at k parameter vectors, or along k directions, costs m (`CALL` + k (n + k)) for m layers:
    what is done with k directions, as a rule, is to solve equations.
    """

    left: list[float] = field(default_factory=lambda: [np.inf])

    def _forward(
        self, W: Sequence[NDArray], X: NDArray, patterns: Patterns | None
    ) -> tuple[list[NDArray], list[NDArray]]:
        self._pay(W, X)
        return super()._forward(W, X, patterns)

    def _moved(
        self, W: Sequence[NDArray], V: Sequence[NDArray], inputs: Sequence[NDArray], masks: Patterns
    ) -> tuple[list[NDArray], list[NDArray]]:
        self._pay(V, inputs[0])
        return super()._moved(W, V, inputs, masks)

    def _pay(self, W: Sequence[NDArray], X: NDArray) -> None:
        many = int(np.prod(W[0].shape[:-2]))
        self.left[0] -= self.degree * (CALL + many * (X.shape[-2] + many))
        if self.left[0] < 0.0:
            raise Spent


def follow(own: Experiment, work: float = WORK) -> list[Found]:
    """The limit of the flow from each start of an experiment, and its certificate.

    What the flows may cost is counted, not timed, so that every computer leaves out the same: a
    start may take half of the `work` that those before it have left, and the last one all.
    """
    starts, found = own.starts, []
    shown = progress(starts, len(starts), "flows") if len(starts) > 1 else starts
    for number, start in enumerate(shown):
        share = work / (1.0 + (number + 1 < len(starts)))
        purse = [share]
        found.append(_followed(own, start, purse))
        work -= share - max(purse[0], 0.0)
        purse[0] = np.inf
    return found


def _followed(own: Experiment, start: NDArray, purse: list[float]) -> Found:
    given = own.network
    network = Metered(given.maps, given.activation, given.rectified, purse)
    try:
        end = limit(network, own.loss, own.X, own.y, start, reach=own.reach)
    except InputError as error:  # a start from which the loss cannot be followed
        return Found(f"not followed: {error}")
    except Spent:
        return Found(LEFT_OUT)
    if not end.converged:
        return Found(end.status)
    return Found(end.status, end, classify_optimum(own.network, end.theta, own.X, own.y))


def from_random_starts(made: Construction, count: int, seed: int) -> list[Found]:
    """The limits of `count` flows of a construction's network on its data, from normal weights."""
    starts = drawn(made.network, "gaussian", count, np.random.default_rng(seed))
    return follow(
        Experiment(made.name, made.network, made.X, made.y, EXPONENTIAL, starts, 1e5, None)
    )


def ends_table(found: Sequence[Found]) -> pd.DataFrame:
    """How many flows end at which kind of point, with 95 % Wilson intervals of the shares."""
    ends = Counter(
        one.optimum.verdict if one.optimum is not None else f"no limit: {one.status}"
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
            "how the flow ended": one.status,
            "KKT residual": _small(one.limit.residual) if one.limit else "",
            "squared length": approx(_square(one.limit), 6) if one.limit else "",
            "limit": _point(one.limit.theta) if one.limit else "",
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
    names = [name for name, one in zip(_names(found), found, strict=True) if one.limit]
    columns = ["optimum of Problem (2)?", "certificate"]
    return pd.DataFrame(rows, index=names, columns=columns)


def approaches(found: Sequence[Found], points: int = 40) -> list[tuple[str, NDArray, NDArray]]:
    """(name, log10(1/L) (k,), distance of the direction to the limit's (k,)) of each limit, from
    L = 1/10 to the end of its flow."""
    out = []
    for name, one in zip(_names(found), found, strict=True):
        if one.limit is not None:
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


def _square(limit: Limit) -> float:
    return float(limit.theta @ limit.theta)


def _small(value: float) -> str:
    return f"below {ROUNDING:g}" if value <= ROUNDING else approx(value, 2)


def _point(theta: NDArray) -> str:
    shown = (on_grain(value, 1e-4) if abs(value) > ROUNDING else "0" for value in theta)
    text = f"({', '.join(shown)})"
    return text if len(text) < _WIDE else f"{len(theta)} numbers"


def _certified(optimum: Optimum) -> str:
    """What the certificate says, in words that the last digits do not change."""
    if optimum.verdict == "not local":
        return f"shorter points nearby, up to {approx(100.0 * optimum.slack, 3)} % less"
    if optimum.verdict in ("global", "local"):
        everywhere = "everywhere" if optimum.verdict == "global" else "nearby"
        return f"a lower bound {everywhere} meets the value"
    return optimum.detail
