"""The runs of Figures 1 and 2: descent on data, on the population, and the population's flow.

All three begin at one (phi_0, |w_0|) and are kept at every step, in the coordinates
psi = log tan(phi/2) and rho = log(|w|/|w*|). The loss is half the mean of the squares (`scale.py`
says why).
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from reluflow.errors import InputError
from reluflow.flows.layered_descent import neuron_descent
from reluflow.flows.population import PopulationPath, coordinates, recorded_path
from reluflow.papers.lee2023magnitude.settings import Experiment, Setting, experiment
from reluflow.papers.lee2023magnitude.starts import Start
from reluflow.progress import progress

PIECE = 10_000
"""Steps between which the weights themselves are let go: 8 MB a worker at d = 100."""
EXPLODED = np.log(1e3)
"""A descent whose |w| grows by more diverges: one that converges hardly passes its bounds."""


@dataclass(frozen=True)
class Run:
    """One panel's three paths, each at every step 0, ..., T (the flow at times eta T).

    setting     the panel, and the start that it drew
    empirical   descent on the data; None where only the population was asked for
    population  descent on the population loss
    flow        the population's gradient flow
    """

    setting: Setting
    start: Start
    empirical: PopulationPath | None
    population: PopulationPath
    flow: PopulationPath

    @property
    def target(self) -> float:
        """|w*|."""
        return self.start.target

    @property
    def trained(self) -> PopulationPath:
        """The path that the panel is about: empirical, or the population's where there is none."""
        return self.population if self.empirical is None else self.empirical

    @property
    def paths(self) -> dict[str, PopulationPath]:
        """The paths by name, the empirical one first."""
        known = {"population": self.population, "flow": self.flow}
        return known if self.empirical is None else {"empirical": self.empirical, **known}


def train(experiment: Experiment, workers: int = 2) -> tuple[Run, ...]:
    """Train every panel of the experiment, and show meanwhile how many panels are done.

    Panels are shared out to `workers` processes, 1 for none but this one; with one thread of linear
    algebra each, which is faster on products this small and makes the digits the same on one core
    and on many.

    Raises InputError for the first panel that diverges, or whose start is along the target.
    """
    settings = experiment.settings
    run = partial(train_one, data=experiment.data == "empirical")
    if min(workers, len(settings)) == 1:
        return tuple(progress(map(run, settings), len(settings), "panels"))
    # A forked worker is there at once, with everything imported; its linear algebra has one thread.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(workers, context) as pool:
        return tuple(progress(pool.map(run, settings), len(settings), "panels"))


def train_one(setting: Setting, data: bool = True) -> Run:
    """Train one panel, without the descent on data if `data` is false."""
    with threadpool_limits(1):
        start = drawn_start(setting)
        empirical = descent_on_data(setting) if data else None
        with np.errstate(all="ignore"):
            population = _population(setting, start)
        flow = start.flow(setting.rate * np.arange(setting.steps + 1.0))
        return Run(setting, start, empirical, population, flow)


def drawn_start(setting: Setting) -> Start:
    """The start of a panel; InputError where it is along the target."""
    best = setting.target()
    psi, rho = (float(value) for value in coordinates(setting.start(), best))
    if not np.isfinite(psi):
        raise InputError(f"{setting.name}: the start lies along the target; take another seed")
    return Start(psi, rho, setting.m, float(np.sqrt(np.sum(best**2))))


def descent_on_data(setting: Setting) -> PopulationPath:
    """Coordinates of a panel's descent on data at every step; the weights are kept for PIECE steps
    only."""
    X, w, best = setting.data(), setting.start(), setting.target()
    length, target = (float(np.sqrt(np.sum(weights**2))) for weights in (w, best))
    # The target's factors are |w*| each, as balance asks of the network's.
    y = target**setting.m * np.maximum(X @ best, 0.0)
    psi, rho = np.empty(setting.steps + 1), np.empty(setting.steps + 1)
    layers = np.empty((setting.steps + 1, setting.m))
    v = np.full(setting.m, length)
    for done in range(0, setting.steps, PIECE):
        piece = min(PIECE, setting.steps - done)
        path = neuron_descent(X, y, w, setting.rate / setting.n, piece, v)
        if path.status == "diverged":
            raise _diverged(setting)
        here = slice(done, done + piece + 1)
        psi[here], rho[here] = coordinates(path.states, best)
        layers[here] = path.layers
        w, v = path.end, path.layers[-1]
        if _explodes(rho[here], rho[0]):
            raise _diverged(setting)
    return recorded_path(np.arange(setting.steps + 1.0), psi, rho, layers, target, "steps")


def printed_panels(runs: Sequence[Run]) -> tuple[Run, ...]:
    """D.3's panels among the runs, in the figure's order."""
    wanted = experiment(seed=runs[0].setting.seed).settings
    return tuple(run for run in runs if run.setting in wanted)


def _population(setting: Setting, start: Start) -> PopulationPath:
    try:
        path = start.descent(setting.rate, setting.steps)
    except OverflowError:
        raise _diverged(setting) from None
    if _explodes(path.rho, start.rho):
        raise _diverged(setting)
    return path


def _explodes(rho: NDArray, rho0: float) -> bool:
    """Whether |w| passes the larger of |w_0| and |w*| many times over, or stops being a number."""
    return not (rho < max(rho0, 0.0) + EXPLODED).all()


def _diverged(setting: Setting) -> InputError:
    return InputError(
        f"{setting.name} diverges at learning rate {setting.rate:g}: choose a smaller learning_rate"
    )
