"""The runs of Figures 1 and 2: descent on data, on the population, and the population's flow.

All three begin at one (phi_0, |w_0|) and are kept at every step, in the coordinates
psi = log tan(phi/2) and rho = log(|w|/|w*|). The loss is half the mean of the squares (`scale.py`
says why).
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from IPython import get_ipython
from IPython.display import display
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from reluflow.errors import InputError
from reluflow.flows.layered_descent import neuron_descent
from reluflow.flows.population import (
    PopulationPath,
    coordinates,
    population_descent,
    population_flow,
    recorded_path,
)
from reluflow.papers.lee2023magnitude.settings import Experiment, Setting

PIECE = 10_000
"""Steps between which the weights themselves are let go: 8 MB a worker at d = 100."""
EXPLODED = np.log(1e3)
"""A descent whose |w| grows by more diverges: one that converges hardly passes its bounds."""
GLANCE = 0.25
"""Seconds between two looks at how far the workers are."""


@dataclass(frozen=True)
class Run:
    """One panel's three paths, each at every step 0, ..., T (the flow at times eta T).

    setting     the panel
    psi0, v0    log tan(phi_0/2) and |w_0| of the start, target = |w*|
    empirical   descent on the data; None where only the population was asked for
    population  descent on the population loss
    flow        the population's gradient flow
    """

    setting: Setting
    psi0: float
    v0: float
    target: float
    empirical: PopulationPath | None
    population: PopulationPath
    flow: PopulationPath

    @property
    def trained(self) -> PopulationPath:
        """The path that the panel is about: empirical, or the population's where there is none."""
        return self.population if self.empirical is None else self.empirical

    @property
    def phi0(self) -> float:
        """The angle pi - angle(w_0, w*)."""
        return 2.0 * float(np.arctan(np.exp(self.psi0)))

    @property
    def paths(self) -> dict[str, PopulationPath]:
        """The paths by name, the empirical one first."""
        known = {"population": self.population, "flow": self.flow}
        return known if self.empirical is None else {"empirical": self.empirical, **known}


def train(experiment: Experiment, workers: int = 2, quiet: bool = False) -> tuple[Run, ...]:
    """Train every panel of the experiment.

    Panels are shared out to `workers` processes, 1 for none but this one; with one thread of linear
    algebra each, which is faster on products this small and makes the digits the same on one core
    and on many. Unless `quiet`, a notebook shows meanwhile how many steps are done.

    Raises InputError for a panel that diverges, or one whose start is along the target.
    """
    settings, data = experiment.settings, experiment.data == "empirical"
    total = sum(s.steps for s in settings)
    shown = _Shown(total, quiet)
    if min(workers, len(settings)) == 1:
        done = [0] * len(settings)
        runs = []
        for k, setting in enumerate(settings):
            runs.append(train_one(setting, data, _Counter(done, k, lambda: shown(sum(done)))))
        return tuple(runs)
    # A forked worker is there at once, with everything imported; its linear algebra has one thread.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    done = context.Array("q", len(settings), lock=False)
    with ProcessPoolExecutor(workers, context, _share, (done,)) as pool:
        waiting = [pool.submit(_worker, k, setting, data) for k, setting in enumerate(settings)]
        left = set(waiting)
        while left:
            finished, left = wait(left, GLANCE, "FIRST_EXCEPTION")
            shown(sum(done))
            if any(task.exception() for task in finished):
                # What is cancelled here never counts as finished. Panels begin in their order, so
                # the first one that fails is the same on any machine.
                pool.shutdown(cancel_futures=True)
                begun = [task for task in waiting if task.done() and not task.cancelled()]
                raise next(task.exception() for task in begun if task.exception())
        return tuple(task.result() for task in waiting)


def train_one(
    setting: Setting, data: bool = True, progress: Callable[[int], None] | None = None
) -> Run:
    """Train one panel, without the descent on data if `data` is false."""
    with threadpool_limits(1):
        w, best = setting.start(), setting.target()
        psi0, rho0 = (float(value) for value in coordinates(w, best))
        if not np.isfinite(psi0):
            raise InputError(f"{setting.name}: the start lies along the target; take another seed")
        target = float(np.sqrt(np.sum(best**2)))
        empirical = _empirical(setting, w, best, target, progress) if data else None
        step, steps, m = setting.rate, setting.steps, setting.m
        times = step * np.arange(steps + 1.0)
        with np.errstate(all="ignore"):
            population = _population(setting, psi0, rho0, target)
        flow = population_flow(psi0, rho0, m, times, target)
        if progress is not None:
            progress(steps)
        v0 = target * float(np.exp(rho0))
        return Run(setting, psi0, v0, target, empirical, population, flow)


def restarted(run: Run, path: PopulationPath, at: int) -> tuple[float, float]:
    """phi(T) and |w(T)| at the step T = `at` of one of the run's paths, from which bounds start."""
    return float(path.phi[at]), float(path.length[at])


def _population(setting: Setting, psi0: float, rho0: float, target: float) -> PopulationPath:
    try:
        path = population_descent(psi0, rho0, setting.m, setting.rate, setting.steps, target)
    except OverflowError:
        raise _diverged(setting) from None
    if _explodes(path.rho, rho0):
        raise _diverged(setting)
    return path


def _empirical(
    setting: Setting,
    w: NDArray,
    best: NDArray,
    target: float,
    progress: Callable[[int], None] | None,
) -> PopulationPath:
    """Coordinates of the descent on data at every step; the weights are kept for a piece only."""
    X = setting.data()
    length = float(np.sqrt(np.sum(w**2)))
    # The target's factors are |w*| each, as balance asks of the network's.
    y = target**setting.m * np.maximum(X @ best, 0.0)
    psi, rho = np.empty(setting.steps + 1), np.empty(setting.steps + 1)
    layers = np.empty((setting.steps + 1, setting.m))
    v = np.full(setting.m, length)
    for done in range(0, setting.steps, PIECE):
        piece = min(PIECE, setting.steps - done)

        def told(count: int, done: int = done) -> None:
            if progress is not None:
                progress(done + count)

        path = neuron_descent(
            X, y, w, setting.rate / setting.n, piece, v, progress=told if progress else None
        )
        if path.status == "diverged":
            raise _diverged(setting)
        here = slice(done, done + piece + 1)
        psi[here], rho[here] = coordinates(path.states, best)
        layers[here] = path.layers
        w, v = path.end, path.layers[-1]
        if _explodes(rho[here], rho[0]):
            raise _diverged(setting)
    return recorded_path(np.arange(setting.steps + 1.0), psi, rho, layers, target, "steps")


def _explodes(rho: NDArray, rho0: float) -> bool:
    """Whether |w| passes the larger of |w_0| and |w*| many times over, or stops being a number."""
    return not (rho < max(rho0, 0.0) + EXPLODED).all()


def _diverged(setting: Setting) -> InputError:
    return InputError(
        f"{setting.name} diverges at learning rate {setting.rate:g}: choose a smaller learning_rate"
    )


class _Shown:
    """A notebook's line that says how many steps are done.

    It ends as it began: what compares a run with an earlier one may see the first text or the last.
    """

    def __init__(self, total: int, quiet: bool) -> None:
        self._total, self._last = total, 0
        notebook = get_ipython() is not None and not quiet
        self._handle = display(_Line(self._text(0)), display_id=True) if notebook else None

    def __call__(self, done: int) -> None:
        if self._handle is not None and done > self._last:
            self._handle.update(_Line(self._text(done)))
            self._last = done

    def _text(self, done: int) -> str:
        whole = f"{self._total:,} steps".replace(",", " ")
        return f"{whole}, {done / self._total:.0%} done" if 0 < done < self._total else whole


class _Line(str):
    """A text that is displayed without quotation marks."""

    def __repr__(self) -> str:
        return str(self)


class _Counter:
    """Notes how many steps panel k has done in a list that others can read."""

    def __init__(self, done: list[int], k: int, tell: Callable[[], None] = lambda: None) -> None:
        self._done, self._k, self._tell = done, k, tell

    def __call__(self, steps: int) -> None:
        self._done[self._k] = steps
        self._tell()


_progress: list = []


def _share(done: list[int]) -> None:
    """Give this worker the numbers that it shares with the process that shows them."""
    _progress[:] = [done]


def _worker(k: int, setting: Setting, data: bool) -> Run:
    return train_one(setting, data, _Counter(_progress[0], k))
