"""The experiments of Section 5 and Appendix G: data, starts, flows, descents and their limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.approx import approx, on_grain
from reluflow.datasets import Dataset, check_assumptions, select, settings
from reluflow.datasets import initial_points as starting_points
from reluflow.errors import InputError
from reluflow.flows.affine import affine_descent, affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import StationarySet, cell_bound, enumerable, local_minima
from reluflow.networks import loss

MOST_DATA = 500
"""Up to this many data a run goes on without its cells where they are too many to enumerate."""


ROUNDED = 1e-14
"""A minimum with a smaller margin exists, or not, by the last digits of the data."""


OWN_ITERATIONS = 200_000
"""Steps of descent on a reader's data: as many as the paper takes in its largest run."""


@dataclass(frozen=True)
class Limit:
    """Where one flow ends: start and end (d,), loss, support (from 0), and its rank among all
    local minima (1 is global; 0 if the cells are too many to enumerate, or it is none of them)."""

    start: NDArray
    w: NDArray
    loss: float
    support: tuple[int, ...]
    rank: int
    status: str


@dataclass(frozen=True)
class Experiment:
    """A data set with starts (k, d), the step and number of steps of its descent."""

    dataset: Dataset
    starts: NDArray
    step: float
    iterations: int
    as_printed: bool

    @property
    def X(self) -> NDArray:
        return self.dataset.X

    @property
    def y(self) -> NDArray:
        return self.dataset.y

    @cached_property
    def flows(self) -> tuple[Trajectory, ...]:
        """The exact ReLU flow from every start."""
        return tuple(affine_flow(self.X, self.y, w0) for w0 in self.starts)

    @cached_property
    def linear_flows(self) -> tuple[Trajectory, ...]:
        """The exact flow of the linear neuron from every start."""
        return tuple(affine_flow(self.X, self.y, w0, activation="linear") for w0 in self.starts)

    @cached_property
    def descents(self) -> tuple[Trajectory, ...]:
        """Gradient descent from every start."""
        return tuple(
            affine_descent(self.X, self.y, w0, self.step, self.iterations) for w0 in self.starts
        )

    @cached_property
    def minima(self) -> tuple[StationarySet, ...]:
        """All local minima, or none where there are too many cells to enumerate."""
        return local_minima(self.X, self.y) if enumerable(*self.X.shape) else ()

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """The limit of every flow, placed among all local minima."""
        return tuple(self._limit(path) for path in self.flows)

    def _limit(self, path: Trajectory) -> Limit:
        value = float(loss(self.X, self.y, path.end))
        h = self.X @ path.end
        size = np.abs(self.X) @ np.abs(path.end)
        support = tuple(map(int, np.nonzero(h > 1e-9 * size)[0]))
        scale = 0.5 * float(self.y @ self.y)
        rank = next(
            (
                m.rank
                for m in self.minima
                if m.support == support and abs(m.loss - value) <= 1e-9 * scale
            ),
            0,
        )
        return Limit(path.states[0], path.end, value, support, rank, path.status)


def experiment(dataset: Dataset, initial_points: list | None, step: float, seed: int) -> Experiment:
    """The experiment on a data set: the paper's own one, or a reader's.

    The starts are those of `reluflow.datasets.initial_points`. Raises InputError for starts that
    do not fit the data.
    """
    printed = settings(dataset.name) if dataset.printed else None
    starts = starting_points(dataset, initial_points, seed)
    iterations = printed.iterations if printed else OWN_ITERATIONS
    as_printed = printed is not None and initial_points is None and step == printed.step
    return Experiment(dataset, starts, step, iterations, as_printed)


@dataclass(frozen=True)
class Study:
    """What one run of the chapter looks at: `main`, and `others` when it is the paper's three.

    main    Example 5.1, or the one data set that the reader named
    others  Examples 5.2 and 5.3 in the paper's own run, else none
    """

    main: Experiment
    others: tuple[Experiment, ...]

    def printed(self, name: str) -> Experiment | None:
        """The paper's example of this name as printed, or None where this run changed it."""
        for item in (self.main, *self.others):
            if item.dataset.name == name and item.as_printed:
                return item
        return None


def study(dataset: str, initial_points: list | None, step: float, seed: int) -> Study:
    """The experiments that a run's parameters ask for.

    Raises InputError for data outside A1 or A2, for more than MOST_DATA data with too many cells to
    enumerate, for starts of the wrong dimension, and for starts given without saying which data set
    they belong to.
    """
    chosen = select(dataset)
    if len(chosen) > 1 and initial_points is not None:
        raise InputError(
            'initial_points need one data set: give "dataset" the name of one, or a CSV file'
        )
    for item in chosen:
        check_assumptions(item.X, item.y)
        if item.n > MOST_DATA and not enumerable(item.n, item.d):
            raise InputError(
                f"n = {item.n} data in d = {item.d} dimensions can have "
                f"{cell_bound(item.n, item.d)} activation cells, too many to enumerate "
                f"(up to n = {MOST_DATA} the flows are followed without them)"
            )
    runs = tuple(experiment(item, initial_points, step, seed) for item in chosen)
    return Study(runs[0], runs[1:])


def path_distance(flow: Trajectory, descent: Trajectory, step: float) -> float:
    """Largest distance between descent's steps k and the flow at t = k step, over the whole run,
    relative to the flow's largest distance from its start."""
    k = np.unique(np.concatenate([descent.grid(400), np.arange(0, min(2000, descent.t[-1]) + 1)]))
    on_flow = flow.at(k * step)
    apart = np.linalg.norm(on_flow - descent.at(k), axis=1).max()
    return float(apart / np.linalg.norm(on_flow - flow.states[0], axis=1).max())


def first_iteration(path: Trajectory, datum: int, kind: str, step: float) -> float:
    """Iteration t / step of the first event `kind` of `datum` (from 0); nan if there is none."""
    for event in path.events:
        if event.datum == datum and event.kind == kind:
            return event.t / step
    return float("nan")


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
        scale = settings(item.name).initial_scale
        run = Experiment(item, scale * rng.uniform(size=(draws, item.d)), step, 0, False)
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
