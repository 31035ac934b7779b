"""Figure 3 and Appendix D.1: bounds of the magnitude that start again at later points of a run.

A bound restarted at step T_j takes w(T_j) for its start; Theorems A.1 (one layer) and A.3 (two)
then bound |w(T)| for T > T_j, with eps_j = 1 - (sin phi(T_j) - phi(T_j) cos phi(T_j)) / pi in the
place of eps_0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.approx import approx
from reluflow.flows.population import PopulationPath
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude.compliance import magnitude_curves
from reluflow.papers.lee2023magnitude.runs import descent_on_data, drawn_start
from reluflow.papers.lee2023magnitude.settings import DATA, DIMENSION, NORMS, Setting
from reluflow.statistics import wilson

SCALE = 1.2
"""D.3's k* for Figure 3."""
RATES = {1: 0.0006, 2: 0.0001}
STEPS = {1: 30_000, 2: 2_000}
POINTS = {1: (0, 2500, 5000, 7500), 2: (0, 120, 250, 500)}
"""D.3's learning rates, steps and points of restart by the number of layers."""


@dataclass(frozen=True)
class Restarts:
    """A panel of Figure 3 for one start.

    setting  the panel
    path     its training, at every step
    points   the steps T_j of restart, in order
    bounds   of each restart j the lower and the upper bound at the steps T_j, ..., of length
             k - T_j each
    """

    setting: Setting
    path: PopulationPath
    points: tuple[int, ...]
    bounds: tuple[tuple[NDArray, NDArray], ...]

    @property
    def v(self) -> NDArray:
        """|w| at every step (k,)."""
        return self.path.length

    @property
    def target(self) -> float:
        """|w*|."""
        return self.path.target

    @property
    def gaps(self) -> NDArray:
        """The mean distance of upper and lower bound after the last restart, over |w*|."""
        last = self.points[-1] + 1
        return np.array(
            [
                np.mean((high - low)[last - at :]) / self.target
                for at, (low, high) in zip(self.points, self.bounds, strict=True)
            ]
        )

    @property
    def shrinks(self) -> bool:
        """Whether the gap shrinks at each restart."""
        return bool((np.diff(self.gaps) < 0.0).all())

    @property
    def breaches(self) -> NDArray:
        """Of every restart, how far |w| goes outside of its bounds, over |w*|; 0 if it does not."""
        return np.array(
            [
                max(0.0, float(np.max(np.maximum(low - self.v[at:], self.v[at:] - high)[1:])))
                / self.target
                for at, (low, high) in zip(self.points, self.bounds, strict=True)
            ]
        )

    @property
    def inside(self) -> float:
        """How far a restarted bound is outside of the one before it, at worst, over |w*|; <= 0
        where the bounds lie one inside the other at every step."""
        worst = -np.inf
        for j in range(1, len(self.points)):
            skip = self.points[j] - self.points[j - 1]
            (low, high), (low0, high0) = self.bounds[j], self.bounds[j - 1]
            worst = max(worst, np.max((low0[skip:] - low)[1:]), np.max((high - high0[skip:])[1:]))
        return float(worst) / self.target

    @property
    def falls_and_rises(self) -> bool:
        """Whether |w| falls and then rises by at least a hundredth of |w*| each."""
        least = float(self.v.min())
        way = 0.01 * self.target
        return bool(self.v[0] - least > way and self.v[-1] - least > way)

    @property
    def turn(self) -> int:
        """The step at which |w| is least."""
        return int(np.argmin(self.v))


def restart_setting(
    layers: int, norm: float, seed: int, n: int = DATA, d: int = DIMENSION
) -> Setting:
    """D.3's setting of a panel of Figure 3; it does not say which norm k/k* the start has."""
    return Setting(layers, norm, SCALE, RATES[layers], d, n, STEPS[layers], seed)


def restart_run(setting: Setting) -> Restarts:
    """Train a panel of Figure 3 on data and restart its bounds at D.3's four points."""
    return restarted(setting, descent_on_data(setting), POINTS[setting.layers])


def tightening(layers: int, norm: float, seed: int, count: int) -> list[Restarts]:
    """The population's descent of a panel from `count` starts, restarted at D.3's four points."""
    panels = [restart_setting(layers, norm, seed + k) for k in range(count)]
    paths = [drawn_start(panel).descent(panel.rate, panel.steps) for panel in panels]
    return [restarted(q, path, POINTS[layers]) for q, path in zip(panels, paths, strict=True)]


def restarted(setting: Setting, path: PopulationPath, points: Sequence[int]) -> Restarts:
    """The bounds of a trained path, restarted at the steps `points`."""
    bounds = tuple(magnitude_curves(setting, path, at) for at in points)
    return Restarts(setting, path, tuple(points), bounds)


def restart_table(panels: Sequence[Restarts]) -> pd.DataFrame:
    """Per panel: where |w| turns, mean gap of the four bounds, how far |w| leaves them."""
    rows = []
    for panel in panels:
        gaps = ", ".join(f"{approx(100 * g, 3)} %" for g in panel.gaps)
        rows.append(
            {
                "panel": f"{panel.setting.layers}L-{NORMS.get(panel.setting.norm, '?')}",
                "|w0|/|w*|": approx(panel.v[0] / panel.target, 3),
                "least |w|/|w*|": approx(panel.v.min() / panel.target, 3),
                "at step": panel.turn,
                "mean gap of the bounds, over |w*|": gaps,
                "|w| outside, at most": f"{approx(100 * panel.breaches.max(), 2)} %",
            }
        )
    return pd.DataFrame(rows).set_index("panel")


READING = Reading(
    taken="the starts, whose norm D.3 does not give here, are of middle norm, k = k*: |w| "
    "falls and rises, and turns between the restarts, as Appendix D.1 describes it",
    others="large norm, k = 2 k*, has the same features (table); small norm is excluded, "
    "for |w| never falls",
)


def bounds_restarted(
    drawn: Sequence[Restarts], population: Sequence[Restarts], small: Sequence[Restarts]
) -> list[Evidence]:
    """ma.fig3: bounds that start again are tighter, and the lower one tends to follow at first, the
    upper one at last. `drawn` are the figure's two panels, on data; `population` many starts of
    middle and large norm, and `small` two of small norm, on the population."""
    early = [sides(panel)[0] / len(panel.points) for panel in population]
    low = float(wilson(sum(share > 0.5 for share in early), len(early))[0])
    return [
        *(item for panel in drawn for item in _panel(panel)),
        fact("population: starts whose gaps do not shrink",
             sum(not panel.shrinks for panel in population), 0),
        fact("population: starts that do not fall and rise",
             sum(not panel.falls_and_rises for panel in population), 0),
        bound("population: a restarted bound outside of the one before, at most",
              max(panel.inside for panel in population), "<=", 1e-9, "|w*|"),
        bound("population: share of the starts after most of whose restarts the lower bound is the "
              "nearer one at first, lower end of the interval", low, ">", 0.5, "", digits=2,
              after="the share, once starts had shown one such restart of the other kind"),
        note("population: starts, and those of which it is so after every restart",
             (len(population), sum(share == 1.0 for share in early))),
        note("small norm: starts that fall and rise, of two",
             sum(panel.falls_and_rises for panel in small)),
    ]  # fmt: skip


def _panel(panel: Restarts) -> list[Evidence]:
    name, (early, late), count = f"{panel.setting.layers}L", sides(panel), len(panel.points)
    return [
        fact(f"{name}: |w| falls, then rises", panel.falls_and_rises, True),
        fact(f"{name}: the gap of the bounds shrinks at each restart", panel.shrinks, True),
        note(f"{name}: last gap over the first", panel.gaps[-1] / panel.gaps[0], digits=2),
        bound(f"{name}: a restarted bound outside of the one before, at most",
              panel.inside, "<=", 1e-9, "|w*|"),
        note(f"{name}: restarts after which the lower bound is the nearer one at first, of all",
             (early, count)),
        fact(f"{name}: restarts after which the upper bound is the nearer one at the end",
             late, count),
        bound(f"{name}: |w| outside of its bounds, at most",
              float(panel.breaches.max()), "<=", 0.01, "|w*|"),
    ]  # fmt: skip


def sides(panel: Restarts) -> tuple[int, int]:
    """Restarts after which |w| is nearer to its lower bound over the next hundredth of the steps,
    and restarts after which it is nearer to the upper one at the last step."""
    early = late = 0
    near = max(2, len(panel.v) // 100)
    for at, (low, high) in zip(panel.points, panel.bounds, strict=True):
        below, above = panel.v[at:] - low, high - panel.v[at:]
        early += bool(np.abs(below[1:near]).mean() < np.abs(above[1:near]).mean())
        late += bool(abs(below[-1]) >= abs(above[-1]))
    return early, late
