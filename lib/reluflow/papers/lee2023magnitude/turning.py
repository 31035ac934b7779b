"""Section 5.2 over many starts: how often |w| turns while one, two or three layers are trained.

The panels are those of Figures 1 and 2 (`settings.py`); a seed draws w* and w_0 afresh. For the
population the shape for all time is known from the start (`phases.py`); a few starts are followed
to the last step as well, to see that it shows by then. On data |w| may turn more often, and every
step is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.flows.layered_descent import neuron_descent
from reluflow.flows.population import coordinates, population_flow
from reluflow.papers.lee2023magnitude.phases import FALLING, RISING, TURNING, phases
from reluflow.papers.lee2023magnitude.runs import Run
from reluflow.papers.lee2023magnitude.settings import Setting
from reluflow.statistics import wilson

OTHER = "other"
SHAPES = (RISING, TURNING, FALLING, OTHER)
VISIBLE = 1e-3
"""A fall or rise of the magnitude by less than this share of |w*| is not seen in Figure 2."""


@dataclass(frozen=True)
class ShapeSurvey:
    """Shapes of |w(T)| over many seeds.

    panels    the panels' settings, with one seed of many
    counts    (panels, shapes) how many seeds gave each of `SHAPES`
    turns     (panels,) mean step of the turn over the seeds followed that turn; NaN without one
    followed  seeds of a panel that were followed to its last step, step by step or along the flow
    strays    of those, in all panels, the ones whose shape up to the last step is not the one that
              was found for all time
    """

    panels: tuple[Setting, ...]
    counts: NDArray
    turns: NDArray
    followed: int
    strays: int

    @property
    def trials(self) -> int:
        """Seeds per panel."""
        return int(self.counts[0].sum())

    def count(self, layers: int, norm: float, shape: str) -> int:
        """Seeds of a panel that gave a shape."""
        at = [(s.layers, s.norm) for s in self.panels].index((layers, norm))
        return int(self.counts[at, SHAPES.index(shape)])

    def least_share(self, norm: float, shape: str) -> float:
        """Over the panels of one norm, the least lower end of Wilson's 95 % interval."""
        hits = [self.count(s.layers, s.norm, shape) for s in self.panels if s.norm == norm]
        return float(wilson(hits, [self.trials] * len(hits))[0].min())

    def table(self) -> pd.DataFrame:
        """Counts by panel, and of the panel's shape in the paper the share and its interval."""
        rows = []
        for setting, counts in zip(self.panels, self.counts, strict=True):
            said = SHAPES.index(said_of(setting))
            low, high = wilson([counts[said]], [self.trials])
            share = f"{counts[said] / self.trials:.1%} ({low[0]:.1%} to {high[0]:.1%})"
            cells = dict(zip(SHAPES, map(int, counts), strict=True))
            rows.append({"panel": setting.name, **cells, "as Section 5.2 says": share})
        return pd.DataFrame(rows).set_index("panel")


def said_of(setting: Setting) -> str:
    """The shape that Section 5.2 gives a panel: rising for small norm, else falling and rising."""
    return RISING if setting.norm < 0.5 else TURNING


def start_of(setting: Setting, variance: bool = False) -> tuple[float, float]:
    """psi = log tan(phi_0/2) and rho = log(|w_0|/|w*|) of a panel's start, whose k is a standard
    deviation; a variance if so, and then the norms have the ratio sqrt(k/k*) in place of k/k*."""
    w0 = setting.start()
    return tuple(map(float, coordinates(w0 / math.sqrt(setting.norm) if variance else w0,
                                        setting.target())))  # fmt: skip


def flow_shapes(
    panels: Sequence[Setting], seed: int, count: int, follow: int = 0, variance: bool = False
) -> ShapeSurvey:
    """The population's flow (6)-(7), (9)-(10) from `count` starts of every panel, for all time.

    The first `follow` starts of every panel are followed by `population_flow` as well, at 1000
    times up to the panel's last step. Parameters: the panels (their own seeds do not count), the
    first seed, the numbers of seeds, whether k is a variance in place of a standard deviation.
    """
    counts, turns = np.zeros((len(panels), len(SHAPES)), int), np.full(len(panels), np.nan)
    strays = 0
    for row, panel in enumerate(panels):
        late = []
        for k in range(count):
            start = start_of(replace(panel, seed=seed + k), variance)
            found = phases(*start, panel.m).kind
            counts[row, SHAPES.index(found)] += 1
            if k < follow:
                shape, turn = _followed(panel, start)
                strays += shape != found
                late += [turn] if shape == TURNING else []
        turns[row] = np.mean(late) if late else math.nan
    return ShapeSurvey(tuple(panels), counts, turns, follow, strays)


def _followed(panel: Setting, start: tuple[float, float]) -> tuple[str, float]:
    """The shape of the flow up to the panel's last step, and the step of its turn."""
    steps = np.linspace(0.0, panel.steps, 1001)
    size = panel.scale * math.sqrt(panel.d)
    rho = population_flow(*start, panel.m, panel.rate * steps, size).rho
    shape, turn = shape_of(rho, 1e-9)
    return shape, float(steps[turn])


def descent_shapes(
    panels: Sequence[Setting], seed: int, count: int, n: int, hurry: int = 50
) -> ShapeSurvey:
    """Descent on n data at `hurry` times the paper's rate, for as much less steps, from `count`
    starts of every panel; falls and rises below `VISIBLE` |w*| are not told from standing still."""
    counts, turns = np.zeros((len(panels), len(SHAPES)), int), np.full(len(panels), np.nan)
    for row, panel in enumerate(panels):
        late = []
        for k in range(count):
            length, size = _lengths(replace(panel, seed=seed + k, n=n), hurry)
            shape, turn = shape_of(length, VISIBLE * size)
            counts[row, SHAPES.index(shape)] += 1
            late += [float(turn * hurry)] if shape == TURNING else []
        turns[row] = np.mean(late) if late else math.nan
    fewer = tuple(replace(panel, n=n) for panel in panels)
    return ShapeSurvey(fewer, counts, turns, count, 0)


def run_shapes(runs: Sequence[Run]) -> ShapeSurvey:
    """The shapes of finished trainings, every step of them, one a panel."""
    counts, turns = np.zeros((len(runs), len(SHAPES)), int), np.full(len(runs), np.nan)
    for row, run in enumerate(runs):
        shape, turn = shape_of(run.trained.length, VISIBLE * run.target)
        counts[row, SHAPES.index(shape)] = 1
        turns[row] = turn if shape == TURNING else math.nan
    return ShapeSurvey(tuple(run.setting for run in runs), counts, turns, 1, 0)


def _lengths(setting: Setting, hurry: int) -> tuple[NDArray, float]:
    """|w(T)| at every step of the hurried descent, and |w*|."""
    X, target, w0 = setting.data(), setting.target(), setting.start()
    size, length = float(np.linalg.norm(target)), float(np.linalg.norm(w0))
    y = size**setting.m * np.maximum(X @ target, 0.0)
    path = neuron_descent(
        X, y, w0, hurry * setting.rate / setting.n, setting.steps // hurry, [length] * setting.m
    )
    return np.linalg.norm(path.states, axis=1), size


def shape_of(values: NDArray, least: float) -> tuple[str, int]:
    """The shape of a curve (k,), and where it turns (0 without a turn).

    A curve is cut into falls and rises at its extremes; excursions below `least` do not count. One
    that stays within `least` of its start rises or falls as its end lies above the start or not.
    """
    ways, turn, high, low, at = [], 0, values[0], values[0], 0
    for k, value in enumerate(values.tolist()):
        direction = ways[-1] if ways else 0
        if direction >= 0 and value > high:
            high, at = value, (k if direction > 0 else at)
        if direction <= 0 and value < low:
            low, at = value, (k if direction < 0 else at)
        if direction <= 0 and value > low + least:
            ways, turn = [*ways, 1], (at if direction else turn)
            high, at = value, k
        elif direction >= 0 and value < high - least:
            ways = [*ways, -1]
            low, at = value, k
    if len(ways) > 1 and ways != [-1, 1]:
        return OTHER, 0
    if ways == [-1, 1]:
        return TURNING, turn
    up = ways == [1] or (not ways and values[-1] > values[0])
    return (RISING if up else FALLING), 0
