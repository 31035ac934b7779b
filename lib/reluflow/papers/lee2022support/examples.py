"""The experiments of Section 5 and Appendix G: data, starts, flows, descents and their limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.datasets import Dataset, settings
from reluflow.errors import InputError
from reluflow.flows.affine import affine_descent, affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import CELL_LIMIT, StationarySet, cell_bound, local_minima
from reluflow.networks import loss


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
        n, d = self.X.shape
        return local_minima(self.X, self.y) if cell_bound(n, d) <= CELL_LIMIT else ()

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


def experiment(
    dataset: Dataset, initial_points: ArrayLike | None, step: float, seed: int
) -> Experiment:
    """The experiment on a data set: the paper's own one, or a reader's.

    Starts are `initial_points` (k, d) if given; else those that the paper prints; else one draw
    from its law 1e-4 U([0, 1]^d); for a reader's data a small one of that law and two large ones.
    Raises InputError for starts that do not have the data's dimension.
    """
    X, y = dataset.X, dataset.y
    rng = np.random.default_rng(seed)
    iterations = 200_000
    if dataset.printed:
        printed = settings(dataset.name)
        iterations = printed.iterations
        starts = printed.initial_points
        if starts is None:
            starts = printed.initial_scale * rng.uniform(size=(1, dataset.d))
    else:
        scale = np.linalg.norm(np.linalg.lstsq(X, y, rcond=None)[0])
        small = 1e-4 * rng.uniform(size=(1, dataset.d))
        large = rng.normal(size=(2, dataset.d))
        large *= np.array([[2.0], [10.0]]) * scale / np.linalg.norm(large, axis=1, keepdims=True)
        starts = np.vstack([small, large])
    if initial_points is not None:
        starts = np.asarray(initial_points, float)
        if starts.ndim != 2 or starts.shape[1] != dataset.d:
            raise InputError(
                f"initial_points must be a list of points with d = {dataset.d} numbers each"
            )
    return Experiment(dataset, starts, step, iterations)


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


def agrees_as_printed(value: float, printed: int) -> bool:
    """Whether a value rounds to a printed number at the digits that the paper prints of it:
    "near 500" has one digit, "near 8500" has two."""
    digits = len(str(printed).rstrip("0"))
    unit = 10 ** (len(str(printed)) - digits)
    return bool(np.isfinite(value) and round(value / unit) * unit == printed)
