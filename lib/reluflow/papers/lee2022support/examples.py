"""The experiments of Section 5 and Appendix G: data, starts, flows, descents and their limits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reluflow.datasets import Dataset, select, settings
from reluflow.datasets import initial_points as starting_points
from reluflow.errors import InputError
from reluflow.flows.affine import affine_descent, affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import StationarySet, cell_bound, enumerable, local_minima
from reluflow.networks import loss
from reluflow.papers.lee2022support.assumptions import check_assumptions
from reluflow.progress import progress

MOST_DATA = 1000
"""Up to this many data a run goes on without its cells where they are too many to enumerate."""

MOST_CELLS = 3000
"""Cells that may hold a minimum are decided one by one, so many in less than a minute."""

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
        starts = self._watched(self.starts, "flows")
        return tuple(affine_flow(self.X, self.y, w0) for w0 in starts)

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
        try:
            return local_minima(self.X, self.y, self._few_cells)
        except InputError:
            return ()

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """The limit of every flow, placed among all local minima."""
        return tuple(self._limit(path) for path in self.flows)

    def _few_cells(self, cells: NDArray) -> Iterable[NDArray]:
        """Cells that may hold a minimum, watched. Raises InputError for more than MOST_CELLS."""
        if len(cells) > MOST_CELLS:
            raise InputError(f"{len(cells)} cells may hold a minimum, more than {MOST_CELLS}")
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
