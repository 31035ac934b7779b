"""Section 5.2 over many starts: how often |w| turns while one, two or three layers are trained.

The panels are those of Figures 1 and 2 (`settings.py`); a seed draws w* and w_0 afresh. For the
population the shape for all time is known from the start (`flows.phases`); a few starts are
followed to the last step as well, to see that it shows by then. On data |w| may turn more often,
and every step is looked at.

A survey has a row for each start: its "panel", the "shape" of |w(T)|, the step of the "turn" where
it was followed and turned, else NaN, and whether the shape up to the last step is a "stray", other
than the one for all time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from reluflow.falsify import survey
from reluflow.flows.phases import RISING, SHAPES, TURNING, phases, shape_of
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude.runs import Run, descent_on_data, drawn_start
from reluflow.papers.lee2023magnitude.settings import Setting
from reluflow.papers.lee2023magnitude.starts import Start
from reluflow.statistics import share_interval, wilson

VISIBLE = 1e-3
"""A fall or rise of the magnitude by less than this share of |w*| is not seen in Figure 2."""

USUAL = 0.75
"""What Section 5.2 describes is usual if this share of the random starts shows it, surely."""


def said_of(setting: Setting) -> str:
    """The shape that Section 5.2 gives a panel: rising for small norm, else falling and rising."""
    return RISING if setting.norm < 0.5 else TURNING


def start_of(setting: Setting, variance: bool = False) -> Start:
    """A panel's start under a teacher of the typical size; k is a standard deviation, or a variance
    if so, and then the norms have the ratio sqrt(k/k*) in place of k/k*."""
    start = drawn_start(setting)
    rho = start.rho - 0.5 * math.log(setting.norm) if variance else start.rho
    return replace(start, rho=rho, target=setting.scale * math.sqrt(setting.d))


# --- Surveys --------------------------------------------------------------------------------------


def flow_shapes(
    panels: Sequence[Setting], seed: int, count: int, follow: int = 0, variance: bool = False
) -> pd.DataFrame:
    """The population's flow (6)-(7), (9)-(10) from `count` starts of every panel, for all time.

    The first `follow` starts of every panel are followed as well, at 1000 times up to the panel's
    last step. Parameters: the panels (their own seeds do not count), the first seed, the numbers of
    seeds, whether k is a variance in place of a standard deviation.
    """

    def moves(at: tuple[Setting, int]) -> dict[str, Any]:
        panel, k = at
        start = start_of(replace(panel, seed=seed + k), variance)
        kind = phases(start.psi, start.rho, start.m).kind
        if k >= follow:
            return _row(panel, kind)
        steps = np.linspace(0.0, panel.steps, 1001)
        shape, turn = shape_of(start.flow(panel.rate * steps).rho, 1e-9)
        return {**_row(panel, shape, steps[turn]), "shape": kind, "stray": shape != kind}

    return survey(product(panels, range(count)), moves)


def descent_shapes(
    panels: Sequence[Setting], seed: int, count: int, n: int, hurry: int = 50
) -> pd.DataFrame:
    """Descent on n data at `hurry` times the paper's rate, for as much less steps, from `count`
    starts of every panel; falls and rises below `VISIBLE` |w*| are not told from standing still."""

    def moves(at: tuple[Setting, int]) -> dict[str, Any]:
        panel, k = at
        rate, steps = hurry * panel.rate, panel.steps // hurry
        path = descent_on_data(replace(panel, seed=seed + k, n=n, rate=rate, steps=steps))
        shape, turn = shape_of(path.length, VISIBLE * path.target)
        return _row(replace(panel, n=n), shape, turn * hurry)

    return survey(product(panels, range(count)), moves)


def run_shapes(runs: Sequence[Run]) -> pd.DataFrame:
    """The shapes of finished trainings, every step of them, one a panel."""

    def moves(run: Run) -> dict[str, Any]:
        return _row(run.setting, *shape_of(run.trained.length, VISIBLE * run.target))

    return survey(runs, moves)


def _row(panel: Setting, shape: str, turn: float = math.nan) -> dict[str, Any]:
    turn = float(turn) if shape == TURNING else math.nan
    return {"panel": panel, "shape": shape, "turn": turn, "stray": False}


def as_said(found: pd.DataFrame) -> pd.Series:
    """Of every start, whether Section 5.2 says so of its panel."""
    return found["shape"] == found["panel"].map(said_of)


def shape_table(found: pd.DataFrame) -> pd.DataFrame:
    """Counts by panel, and of the panel's shape in the paper the share and its interval."""

    def of(group: tuple[Setting, pd.DataFrame]) -> dict[str, Any]:
        panel, part = group
        hits, trials = int(as_said(part).sum()), len(part)
        low, high = (float(end) for end in wilson(hits, trials))
        cells = {shape: int((part["shape"] == shape).sum()) for shape in SHAPES}
        share = f"{hits / trials:.1%} ({low:.1%} to {high:.1%})"
        return {"panel": panel.name, **cells, "as Section 5.2 says": share}

    return survey(found.groupby("panel", sort=False), of).set_index("panel")


# --- Section 5.2 ----------------------------------------------------------------------------------


def two_phases(
    trained: pd.DataFrame, flows: pd.DataFrame, data: pd.DataFrame, variance: pd.DataFrame
) -> list[Evidence]:
    """ma.text.twophase.1: |w| rises from a small norm, and else falls and then rises (Section 5.2).

    Surveys of the runs of Figures 1 and 2, of population flows and of descents on few data;
    `variance` is the one-layer panel of small norm where k is a variance.
    """
    said = as_said(flows).groupby(flows["panel"], sort=False)
    shares = wilson(said.sum(), said.count())[0]
    seen = float(wilson(int(as_said(data).sum()), len(data))[0])
    small = trained["panel"].map(said_of) == RISING
    strays = ~as_said(trained)
    first = variance["shape"] != RISING
    return [
        bound("population: least lower end, over the panels, of the 95 % interval of the share "
              "that Section 5.2 describes", round(float(shares.min()), 3), ">=", USUAL, "",
              after="the bar, after first runs"),
        bound("data: the lower end, over all panels", round(seen, 3), ">=", USUAL, "",
              after="the bar, after first runs"),
        fact("Figure 2: starts of another shape than Section 5.2 says, of small norm",
             int((strays & small).sum()), 0),
        fact("Figure 2: starts of another shape than Section 5.2 says, of middle and large norm",
             int((strays & ~small).sum()), 0),
        fact("population flows whose shape up to the last step is another",
             int(flows["stray"].sum()), 0),
        bound("latest mean step of a turn, population",
              float(flows["turn"].groupby(flows["panel"], sort=False).mean().max()), "<",
              flows["panel"][0].steps, "steps"),
        note("starts per panel: population, data", (_trials(flows), _trials(data))),
        note("starts of another shape: population, data",
             tuple(int((~as_said(found)).sum()) for found in (flows, data))),
        note("if k is a variance, one layer, small norm: starts that fall first", int(first.sum())),
        note("their share's 95 % interval", share_interval(int(first.sum()), len(first))),
        note("data of a descent on few data", data["panel"][0].n),
    ]  # fmt: skip


def _trials(found: pd.DataFrame) -> int:
    """Starts of a panel."""
    return len(found) // found["panel"].nunique()


READING = Reading(
    taken="k of N(0, k I) is a standard deviation, so that small, middle and large norm "
    "are 0.1, 1 and 2 times |w*|; on data a fall or rise by less than 0.001 |w*|, which "
    f"Figure 2 cannot show, is none; random starts do so with a share of {USUAL} or more",
    others="if k is a variance, the small norm is 0.32 |w*|, about the value below which "
    "|w| rises at the start for one layer, and many starts fall first; Section 5.2 is then "
    "false of panel 1L-SN",
)
