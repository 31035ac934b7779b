"""The page `examples`: Section 5 and Appendix G."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import yaml
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import approx, on_grain
from reluflow.datasets import PAPER, Dataset, load, sized
from reluflow.errors import InputError
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import StationarySet, cell_bound, enumerable
from reluflow.ledger import Counterexample, Evidence, bound, deviation, fact, note
from reluflow.papers.lee2022support import rational
from reluflow.papers.lee2022support.landscape import local_minima, loss
from reluflow.papers.lee2022support.setting import (
    assumptions,
    check_assumptions,
    plain_descent,
    smallest_force,
)
from reluflow.places import DATASETS
from reluflow.progress import progress

# --- Full-batch gradient descent beside the flow -------------------------------------------------


def descent(X: NDArray, y: NDArray, w0: NDArray, step: float, n_steps: int) -> NDArray:
    """All weights (n_steps + 1, d) of w <- w - step * gradient, for X (n, d), y (n,), w0 (d,).

    In a cell a step is an affine map. The map of m steps makes of the first m weights there the
    next m; they count up to the first one in another cell, from which it goes on.
    """
    path = np.empty((n_steps + 1, len(w0)))
    path[0], first = w0, 0
    while first < n_steps:
        on, m = X @ path[first] > 0.0, 1
        A, b = np.eye(len(w0)) - step * X[on].T @ X[on], step * y[on] @ X[on]
        while first + m <= n_steps:
            new = path[first + m : first + 2 * m]
            new[:] = (path[first : first + m] @ A.T + b)[: len(new)]
            inside = ((new @ X.T > 0.0) == on).all(axis=1)
            if not inside.all():
                m += int(np.argmin(inside))
                break
            A, b, m = A @ A, A @ b + b, 2 * m
        first += m
    return path


def flips(X: ArrayLike, path: NDArray) -> list[tuple[int, int, str]]:
    """The steps after which data have changed, the datum (from 0), and how, along `path` (k, d)."""
    active = path @ np.asarray(X, float).T > 0.0
    steps, data = np.nonzero(active[1:] != active[:-1])
    kinds = np.where(active[steps + 1, data], "activate", "deactivate")
    return list(zip((steps + 1).tolist(), data.tolist(), kinds.tolist(), strict=True))


def path_distance(flow: Trajectory, descent: NDArray, step: float) -> float:
    """Largest distance between descent's steps k and the flow at t = k step, over the whole run,
    relative to the flow's largest distance from its start."""
    on_flow = flow.at(step * np.arange(len(descent)))
    apart = np.linalg.norm(on_flow - descent, axis=1).max()
    return float(apart / np.linalg.norm(on_flow - flow.states[0], axis=1).max())


# --- What Appendix G prints besides the data, and the points where flows start -------------------


@dataclass(frozen=True, eq=False)
class Settings:
    """What the paper prints of an experiment besides its data.

    step            learning rate of the paper's gradient descent
    iterations      number of its steps
    initial_points  (k, d) printed starts; None where the paper draws one from s * U([0, 1]^d)
    initial_scale   that s; None where the starts are printed
    small_points    (m, d) printed starts near the origin (Figure 3(b)); None elsewhere
    """

    step: float
    iterations: int
    initial_points: NDArray | None = None
    initial_scale: float | None = None
    small_points: NDArray | None = None

    def drawn_points(self, count: int, d: int, rng: np.random.Generator) -> NDArray:
        """Starts (count, d) by the law s U([0, 1]^d)."""
        assert self.initial_scale is not None
        return self.initial_scale * rng.uniform(size=(count, d))


def select(dataset: str) -> tuple[Dataset, ...]:
    """The data sets that a chapter shows: all three printed ones for "paper", else `load`'s one."""
    return tuple(load(name) for name in (PAPER if dataset == "paper" else (dataset,)))


def settings(name: str) -> Settings:
    """The printed settings of one of PAPER, the paper's examples (Lee, Sim & Ye 2022, Appendix G).

    Raises InputError for any other name.
    """
    if name not in PAPER:
        raise InputError(f'no paper prints settings for dataset "{name}".')
    given = yaml.safe_load((DATASETS / "settings.yml").read_text(encoding="utf-8"))[name]
    found: dict[str, Any] = {
        key: np.array(v, float) if "points" in key else v for key, v in given.items()
    }
    return Settings(**found)


def starting_points(
    data: Dataset, given: Sequence[Sequence[float]] | None = None, seed: int = 0
) -> NDArray:
    """The points w_0 of weight space where a chapter starts its flows on `data`.

    given   the reader's own points, each with d coordinates; None for the default ones:
            the paper's printed points, or its one draw from 1e-4 * U([0, 1]^d) (Appendix G);
            for a reader's data that draw times r, the norm of the least-squares solution, and two
            larger points in random non-negative directions, of norm 2 r and 10 r.
    seed    of the draws.
    Returns (k, d).  Raises InputError for points that are not k >= 1 lists of d finite numbers.
    """
    if given is not None:
        return _parse_points(given, data)
    rng = np.random.default_rng(seed)
    if data.printed:
        printed = settings(data.name)
        if printed.initial_points is not None:
            return printed.initial_points
        return printed.drawn_points(1, data.d, rng)
    radius = np.linalg.norm(np.linalg.lstsq(data.X, data.y, rcond=None)[0])
    small = 1e-4 * radius * rng.uniform(size=data.d)
    directions = rng.uniform(size=(2, data.d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.vstack([small, 2 * radius * directions[0], 10 * radius * directions[1]])


def _parse_points(given: Any, data: Dataset) -> NDArray:
    """The reader's initial points as an array (k, d)."""
    shape = f"a list of points, each a list of d = {data.d} numbers"
    if not isinstance(given, (list, tuple, np.ndarray)) or len(given) == 0:
        raise InputError(f"initial_points must be {shape}.")
    for i, point in enumerate(given, start=1):
        if not isinstance(point, (list, tuple, np.ndarray)):
            raise InputError(f"initial_points must be {shape}: point {i} is {point!r}.")
        if len(point) != data.d:
            raise InputError(
                f"initial_points: point {i} has {len(point)} coordinates, "
                f'but dataset "{data.name}" has d = {data.d}.'
            )
        for value in point:
            number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
            if not number:
                raise InputError(f"initial_points: point {i} holds {value!r}, not a number.")
            try:
                sized(float(value), f"initial_points, point {i}")
            except OverflowError:  # a whole number of more than 308 digits
                raise InputError(f"initial_points, point {i}: a number is too large.") from None
    return np.array(given, dtype=float)


# --- The experiments of Section 5 and Appendix G: data, starts, flows, descents, limits -----------

MOST_DATA = 1000
"""Up to this many data a run goes on without its cells where they are too many to enumerate."""

MOST_CELLS = 3000
"""Cells that may hold a minimum are decided one by one, so many in less than a minute."""


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
    """A data set with starts (k, d), the step and number of steps of its descent; its minima are
    enumerated where at most `most_cells` cells may hold one."""

    dataset: Dataset
    starts: NDArray
    step: float
    iterations: int
    as_printed: bool
    most_cells: int = MOST_CELLS

    @property
    def X(self) -> NDArray:
        return self.dataset.X

    @property
    def y(self) -> NDArray:
        return self.dataset.y

    @cached_property
    def flows(self) -> tuple[Trajectory, ...]:
        """The exact ReLU flow from every start."""
        starts = self._watched(self.starts, "flows")
        return tuple(affine_flow(self.X, self.y, w0) for w0 in starts)

    @cached_property
    def linear_flows(self) -> tuple[Trajectory, ...]:
        """The exact flow of the linear neuron from every start."""
        return tuple(affine_flow(self.X, self.y, w0, activation="linear") for w0 in self.starts)

    @cached_property
    def descents(self) -> tuple[NDArray, ...]:
        """Gradient descent from every start, each step of it."""
        return tuple(descent(self.X, self.y, w0, self.step, self.iterations) for w0 in self.starts)

    @cached_property
    def minima(self) -> tuple[StationarySet, ...]:
        """All local minima, or none where there are too many cells to enumerate."""
        try:
            return local_minima(self.X, self.y, self._few_cells)
        except InputError:
            return ()

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """The limit of every flow, placed among all local minima."""
        return tuple(self._limit(path) for path in self.flows)

    def _few_cells(self, cells: NDArray) -> Iterable[NDArray]:
        """Cells that may hold a minimum, watched. Raises InputError for more than `most_cells`."""
        if len(cells) > self.most_cells:
            raise InputError(f"{len(cells)} cells may hold a minimum, more than {self.most_cells}")
        return self._watched(cells, "cells")

    def _watched(self, items: NDArray, unit: str) -> Iterable[NDArray]:
        """The items, on a reader's data with a bar that shows how many are done."""
        return items if self.dataset.printed else progress(items, len(items), unit)

    def _limit(self, path: Trajectory) -> Limit:
        value = float(loss(self.X, self.y, path.end))
        h = self.X @ path.end
        size = np.abs(self.X) @ np.abs(path.end)
        support = tuple(map(int, np.nonzero(h > 1e-9 * size)[0]))
        scale = 0.5 * float(self.y @ self.y)
        same = (m.rank for m in self.minima
                if m.support == support and abs(m.loss - value) <= 1e-9 * scale)  # fmt: skip
        rank = next(same, 0)
        return Limit(path.states[0], path.end, value, support, rank, path.status)


def experiment(dataset: Dataset, initial_points: list | None, step: float, seed: int) -> Experiment:
    """The experiment on a data set: the paper's own one, or a reader's. The starts are those of
    `starting_points`. Raises InputError for starts that do not fit the data."""
    printed = settings(dataset.name) if dataset.printed else None
    starts = starting_points(dataset, initial_points, seed)
    iterations = printed.iterations if printed else 200_000  # as in the paper's largest run
    as_printed = printed is not None and initial_points is None and step == printed.step
    return Experiment(dataset, starts, step, iterations, as_printed)


@dataclass(frozen=True)
class Study:
    """What one run of the chapter looks at: `main`, Example 5.1 or the one data set that the reader
    named, and `others`, Examples 5.2 and 5.3 in the paper's own run, else none."""

    main: Experiment
    others: tuple[Experiment, ...]

    def printed(self, name: str) -> Experiment | None:
        """The paper's example of this name as printed, or None where this run changed it."""
        runs = (run for run in (self.main, *self.others) if run.as_printed)
        return next((run for run in runs if run.dataset.name == name), None)


def study(dataset: str, initial_points: list | None, step: float, seed: int) -> Study:
    """The experiments that a run's parameters ask for. Raises InputError for data outside A1 or A2,
    for more than MOST_DATA data with too many cells to enumerate, for starts of the wrong
    dimension, and for starts given without saying which data set they belong to."""
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


# --- Example 5.1 and Figure 3: three starts, seven small ones, and descent for the flow -----------

LOOP_STEPS = 20_000
"""Plain steps of the second route: enough to tell the losses in question apart."""


def three_starts(run: Experiment) -> dict[str, Any]:
    """sv.ex5.1.a: the small start's limit, and no other, is the global minimum (Figure 3(a))."""
    small, middle, large = run.limits
    return {
        "evidence": [
            fact("limits that are local minima", sum(v.rank > 0 for v in run.limits), 3),
            fact("rank of the limit from (0.0001, 0.0001)", small.rank, 1),
            fact("the limit from (0, 8) is not global", middle.rank > 1, True),
            fact("the limit from (0, 45) is not global", large.rank > 1, True),
            deviation("loss of the small start's limit above the least loss",
                      small.loss - run.minima[0].loss, ""),
            note("losses of the three limits", tuple(v.loss for v in run.limits)),
            note("their support vectors",
                 tuple(tuple(j + 1 for j in v.support) for v in run.limits)),
            note("their ranks", tuple(v.rank for v in run.limits)),
        ],
        "counterexample": _beaten(run, small, large),
    }  # fmt: skip


def _beaten(run: Experiment, first: Limit, second: Limit) -> Counterexample:
    """That the flow from `first` ends above the end of the flow from `second`, by three routes."""
    X, y, supports = run.X, run.y, (first.support, second.support)
    exact = [rational.fit(X, y, support) for support in supports]
    loops = [plain_descent(X, y, v.start, run.step, LOOP_STEPS)[-1] for v in (first, second)]
    by_loop = float(loss(X, y, loops[0]) - loss(X, y, loops[1]))
    return Counterexample(
        instance={"X": X, "y": y, "w0": first.start, "w0 of a better limit": second.start},
        assumptions={**assumptions(X, y), "both limits strictly inside their cells":
                     all(fit.is_local_minimum for fit in exact)},
        breaks=(bound("L(limit) - L(better limit), exact flows", first.loss - second.loss,
                      "<=", 0.0, ""),),
        recheck=(
            bound("the same in rational arithmetic", float(exact[0].loss - exact[1].loss),
                  "<=", 0.0, ""),
            bound(f"the same after {LOOP_STEPS} plain steps, on the way", by_loop, "<=", 0.0, ""),
        ),
        route="normal equations solved in rational arithmetic on the printed decimals, "
        f"and descent as a loop of {LOOP_STEPS} plain steps",
    )  # fmt: skip


def seven_starts(run: Experiment, starts: NDArray) -> dict[str, Any]:
    """sv.ex5.1.b: the small starts agree, and on the global minimum (Figure 3(b))."""
    seven = replace(run, starts=starts)
    ends = np.array([limit.w for limit in seven.limits])
    ranks = {limit.rank for limit in seven.limits}
    return {
        "evidence": [
            fact("starts", len(starts), 7),
            bound("largest norm of a start", float(np.linalg.norm(starts, axis=1).max()),
                  "<", 0.3, ""),
            bound("smallest component of -grad L at the starts",
                  smallest_force(run.X, run.y, starts), ">", 0.0, ""),
            deviation("spread of the seven limits", float(np.ptp(ends, axis=0).max()), ""),
            fact("ranks of the limits among all local minima", tuple(sorted(ranks)), (1,)),
            deviation("their loss above the least loss",
                      max(limit.loss for limit in seven.limits) - run.minima[0].loss, ""),
        ],
        "counterexample": _beaten(run, seven.limits[0], run.limits[2]),
    }  # fmt: skip


def descent_for_flow(run: Experiment) -> list[Evidence]:
    """sv.ex5.1.gd: descent at the printed step stands for the flow, along the whole path (G.1)."""
    pairs = list(zip(run.flows, run.descents, strict=True))
    apart = [path_distance(f, g, run.step) for f, g in pairs]
    order = [[(e.datum, e.kind) for e in f.events] == [told[1:] for told in flips(run.X, g)]
             for f, g in pairs]  # fmt: skip
    left = [float(np.linalg.norm(g[-1] - f.end) / np.linalg.norm(f.end)) for f, g in pairs]
    return [
        deviation("largest distance over the whole path", max(apart), "of the path's reach"),
        deviation("distance left after the last iteration", max(left), "of |w(inf)|"),
        fact("starts whose events come in the same order", sum(order), len(order)),
        note("iterations", run.iterations),
    ]


# --- Examples 5.2 and 5.3, and the captions of Figures 12 and 13 ----------------------------------


def deactivation(run: Experiment) -> list[Evidence]:
    """sv.ex5.2: x_1 leaves the ReLU flow for good, and returns to the linear one."""
    relu, line, limit = run.flows[0], run.linear_flows[0], run.limits[0]
    off = relu.first_time(0, "deactivate")
    common, later = np.linspace(0.0, off, 200), np.array([off + 1.0])
    zero = [m for m in run.minima if m.rank == 1]
    return [
        fact("x_1 is deactivated, and nothing else happens to the ReLU flow",
             [(e.datum + 1, e.kind) for e in relu.events] == [(1, "deactivate")], True),
        fact("the linear flow re-activates x_1",
             [(e.datum + 1, e.kind) for e in line.events]
             == [(1, "deactivate"), (1, "activate")], True),
        bound("largest distance of the two flows up to then",
              float(np.abs(relu.at(common) - line.at(common)).max()), "<=", 1e-8, ""),
        bound("their distance one unit of time later",
              float(np.linalg.norm(relu.at(later) - line.at(later))), ">", 1e-3, ""),
        bound("rank of the ReLU limit", limit.rank, ">=", 2, ""),
        fact("x_1 is a support vector of it", 0 in limit.support, False),
        fact("global minima of the ReLU loss", len(zero), 1),
        fact("the global minimum has all data active",
             len(zero[0].support) == len(run.y) and zero[0].dimension == 0, True),
        note("loss of the ReLU limit", limit.loss),
    ]  # fmt: skip


def reactivation(run: Experiment) -> list[Evidence]:
    """sv.ex5.3: x_4 leaves early and comes back; both flows end in the one global minimum."""
    relu, line, limit = run.flows[0], run.linear_flows[0], run.limits[0]
    off, on = relu.first_time(3, "deactivate"), relu.first_time(3, "activate")
    times = np.linspace(0.0, on, 400)
    best = [m for m in run.minima if m.rank == 1]
    return [
        fact("events of the ReLU flow",
             tuple(f"x_{e.datum + 1} {e.kind}" for e in relu.events),
             ("x_4 deactivate", "x_4 activate")),
        bound("x_4 is deactivated after this share of the path's iterations", off / on,
              "<", 0.01, ""),
        bound("largest distance of the linear and the ReLU flow",
              float(np.linalg.norm(relu.at(times) - line.at(times), axis=1).max()),
              ">", 1e-3, ""),
        bound("distance of their limits", float(np.linalg.norm(relu.end - line.end)),
              "<=", 1e-8, ""),
        fact("rank of the limit", limit.rank, 1),
        fact("global minima", len(best), 1),
        fact("data active there", len(limit.support), len(run.y)),
        note("iterations of the two events under eq. (1)",
             tuple(round(t / run.step) for t in (off, on))),
    ]  # fmt: skip


CAPTIONS = {"example-5.2": (0, "deactivate", 500), "example-5.3": (3, "activate", 8500)}
"""Which first event of which datum (from 0) Figures 12 and 13 put near which iteration."""

NORMALISATIONS: Mapping[str, Callable[[int], float]] = {
    "1/2 of the sum, eq. (1)": lambda n: 1.0,
    "1/(2n) of the sum": lambda n: float(n),
    "1/n of the sum, PyTorch's mean": lambda n: n / 2,
}
"""Of the loss of n data: how many times as many iterations an event then takes as under eq. (1)."""


def caption_iteration(run: Experiment, seed: int) -> dict[str, Any]:
    """sv.fig12.iteration, sv.fig13.iteration: in the usual unit of loss that suits both best."""
    once = []  # the number of data, and the iterations under eq. (1)
    for name, (datum, kind, _) in CAPTIONS.items():
        one = experiment(load(name), None, run.step, seed)
        once.append((len(one.y), one.flows[0].first_time(datum, kind) / run.step))
    counts = {name: [factor(n) * k for n, k in once] for name, factor in NORMALISATIONS.items()}
    printed = np.array([number for *_, number in CAPTIONS.values()])
    off = {name: np.abs(found / printed - 1.0) for name, found in counts.items()}
    apart = min(float(each.max()) for each in off.values())
    settlement = {"evidence": [
        deviation("distance of the farther of the two events from the printed 500 and 8500, "
                  "under the one normalisation that suits both best", apart, "of the number",
                  after="that the two captions are judged together"),
        note("the same for each event by itself, each under its own best normalisation",
             tuple(map(float, np.min(list(off.values()), axis=0))), "of the number"),
    ]}  # fmt: skip
    notes = [
        note(f"iterations of the two events if the loss is {name}", tuple(map(round, found)))
        for name, found in counts.items()
    ]
    return settlement | ({} if apart <= 0.05 else {"instead": notes})


def caption_asymptotes(run: Experiment) -> dict[str, Any]:
    """sv.fig13.asymptotes: the dashed lines h_i = y_i are the curves' asymptotes."""
    h = run.X @ run.flows[0].end
    return {
        "evidence": [
            deviation("largest |h_i(inf) - y_i| / y_i", float((np.abs(h - run.y) / run.y).max()),
                      "")
        ],
        "instead": [
            note("limits of h_i", tuple(map(float, h))),
            note("labels y_i", tuple(float(v) for v in run.y), "", None),
            note("data i whose label is fitted, to 1e-9",
                 tuple(i + 1 for i, off in enumerate(np.abs(h - run.y)) if off < 1e-9), "", None),
        ],
    }  # fmt: skip


# --- Tables of the experiments of Section 5: limits, local minima, and what random starts do ------


def limits_table(run: Experiment) -> pd.DataFrame:
    """One row a flow: where it starts and ends, the loss there, its support and its rank."""
    columns = ["start", "limit", "loss", "support vectors", "rank", "events", "how it ended"]
    rows = [[_point(limit.start, "{:.5g}".format), _point(limit.w), _loss(limit.loss, run.y),
             _data(limit.support), str(limit.rank) if limit.rank else "unknown",
             str(len(path.events)), limit.status]
            for limit, path in zip(run.limits, run.flows, strict=True)]  # fmt: skip
    return pd.DataFrame(rows, [f"flow {k + 1}" for k in range(len(rows))], columns)


def minima_table(run: Experiment) -> pd.DataFrame:
    """All sets of local minima by rank, twelve of them at most."""
    if not run.minima:
        bound = cell_bound(len(run.y), run.X.shape[1])
        return pd.DataFrame({"local minima": [f"not enumerated: up to {bound} cells"]}, index=[""])
    shapes = {0: "point", 1: "half-line or segment", 2: "plane piece"}
    doubt, shown = ", by the last digits of the data", run.minima[:12]
    rows = [[_loss(m.loss, run.y), _data(m.support),
             shapes.get(m.dimension, f"piece of dimension {m.dimension}")
             + (doubt if m.margin < 1e-14 else ""), _point(m.w)] for m in shown]  # fmt: skip
    return pd.DataFrame(rows, [f"rank {m.rank}" for m in shown],
                        ["loss", "support vectors", "shape", "a point of it"])  # fmt: skip


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


def draws_table(datasets: Sequence[Dataset], step: float, draws: int, seed: int) -> pd.DataFrame:
    """How often random starts do what the examples show: events, and rank of the limit. Each data
    set is followed from `draws` starts of the paper's law, 1e-4 U([0, 1]^d)."""
    rng, rows = np.random.default_rng(seed), {}
    for item in datasets:
        starts = settings(item.name).drawn_points(draws, item.d, rng)
        run = Experiment(item, starts, step, 0, False)
        told = [", ".join(f"x_{e.datum + 1} {e.kind}s" for e in path.events) for path in run.flows]
        stories = [f"{story or 'none'} ({100 * k / draws:.0f} %)"
                   for story, k in Counter(told).most_common()]  # fmt: skip
        ranks = sorted(Counter(limit.rank for limit in run.limits).items())
        rows[item.name] = {
            "starts": draws,
            "events (share of the starts)": "; ".join(stories),
            "rank of the limit": ", ".join(f"{rank} ({k})" for rank, k in ranks),
        }
    return pd.DataFrame.from_dict(rows, orient="index")
