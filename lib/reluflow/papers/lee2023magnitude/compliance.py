"""Figures 1 and 2: whether their bounds are respected at every step, and if not, why not.

Every bound is held against three paths from one start: the descent on data, the descent on the
population, and the population's flow with the flow's own version of the bound. A step at which the
flow breaks its bound shows a false statement; one at which only the descents do, the finite step;
one at which the descent on data alone does, the finite sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.approx import approx
from reluflow.flows.population import PopulationPath
from reluflow.ledger import Evidence, Reading, deviation, fact, note
from reluflow.papers.lee2023magnitude.bounds import (
    Bounds,
    gap_bounds,
    layered_magnitude_bounds,
    magnitude_bounds,
    two_layer_magnitude_bounds,
)
from reluflow.papers.lee2023magnitude.runs import Run, printed_panels
from reluflow.papers.lee2023magnitude.settings import NORMS, RATES, STEPS, Setting, constants

PRINTED = magnitude_bounds, two_layer_magnitude_bounds
"""The bounds of the magnitude by m."""
ROUNDING = 1e-12
"""A bound passed by less, in radians or in units of |w*|, is not told from one that is met."""
SAMPLE, STEP, STATEMENT, HYPOTHESIS = "finite sample", "finite step", "statement", "r, R"
"""Causes of a breach; the last that |w(T)| leaves the theorem's interval (r, R)."""
NO_BREAK = "\u2011"  # a hyphen at which no line is broken
ANGLES = ("A.2", "4.2")
"""The theorems on the angle, which suppose that r < |w(T)| < R."""


@dataclass(frozen=True)
class Breach:
    """Where a path passes a bound: at which steps, and by how much at most.

    excess is in radians for angles and in units of |w*| for magnitudes, 0 without a breach; `at` is
    the step at which it is largest.
    """

    steps: NDArray
    excess: float
    at: int

    @property
    def count(self) -> int:
        """The number of steps that pass the bound."""
        return len(self.steps)


@dataclass(frozen=True)
class Check:
    """One side of one bound in one panel.

    panel, bound   as "2L-SN" and "A.3"; side "lower" or "upper"; start, the step it starts from
    first, last    the steps at which it was checked
    breaches       by path: "empirical" (absent if there was no such run), "population", "flow"
    applies        by path, whether r < |w(T)| < R at all those steps, where the theorem asks it
    """

    panel: str
    bound: str
    side: str
    start: int
    last: int
    breaches: dict[str, Breach]
    applies: dict[str, bool]

    @property
    def steps(self) -> int:
        """The number of steps checked."""
        return self.last - self.start

    @property
    def trained(self) -> str:
        """The path that the panel is about."""
        return "empirical" if "empirical" in self.breaches else "population"

    @property
    def causes(self) -> dict[str, int]:
        """The trained path's breaches by cause: numbers of steps, without zeros."""
        broken = self.breaches[self.trained].steps
        if not self.applies[self.trained]:
            return {HYPOTHESIS: len(broken)} if len(broken) else {}
        flow = np.isin(broken, self.breaches["flow"].steps)
        descent = np.isin(broken, self.breaches["population"].steps) & ~flow
        counts = {
            STATEMENT: int(flow.sum()),
            STEP: int(descent.sum()),
            SAMPLE: int((~flow & ~descent).sum()),
        }
        return {cause: count for cause, count in counts.items() if count}


def angle_checks(runs: Iterable[Run]) -> tuple[Check, ...]:
    """Figure 1: Theorem A.2 (one layer) or 4.2 on phi(T), both sides, for T = 1, 2, ..."""
    return tuple(check for run in runs for check in _angle(run))


def magnitude_checks(runs: Iterable[Run], restarted: bool = False) -> tuple[Check, ...]:
    """Figure 2: Theorem A.1 (one layer) or A.3 (two) on |w(T)|, both sides, for T = 1, 2, ...

    With `restarted` for the bounds that start at a fifth of the steps, w(20000), and later T.
    Runs of more layers are left out: their bounds have no closed form.
    """
    return tuple(
        check
        for run in runs
        if run.setting.layers <= 2
        for check in _magnitude(run, run.setting.restart if restarted else 0)
    )


def angle_curves(run: Run, path: PopulationPath) -> Bounds:
    """Figure 1's bounds on pi - phi at every step of a path of the run, by its own version."""
    r, R = constants(run.start.v, run.target)
    step = run.setting.rate if path.clock == "steps" else None
    return gap_bounds(path.t, run.start.psi, r, R, run.target, run.setting.m, step)


def magnitude_curves(setting: Setting, path: PopulationPath, start: int = 0) -> Bounds:
    """Figures 2's and 3's bounds on |w| of a path, from its own w(start) on, at every later step.

    Theorem A.1 or A.3, for the flow 3.3 or 3.8; for more layers 3.8 in its right form, at the times
    eta T.
    """
    t, step = path.t[start:] - path.t[start], setting.rate if path.clock == "steps" else None
    given = float(path.phi[start]), float(path.length[start]), path.target
    if setting.layers > 2:
        return layered_magnitude_bounds(t * (step or 1.0), *given, setting.m)
    return PRINTED[setting.m](t, *given, step)


def passed(checks: Iterable[Check]) -> list[Check]:
    """The checks of bounds that some path passes at some step."""
    return [check for check in checks if any(found.count for found in check.breaches.values())]


def compliance_table(checks: Sequence[Check]) -> pd.DataFrame:
    """One row a check: where each path breaks the bound, by how much, and why."""
    rows = []
    for check in checks:
        mine = check.breaches[check.trained]
        word = {"empirical": "data", "population": "population"}[check.trained]
        others = [name for name in ("population", "flow") if name != check.trained]
        rows.append({
            "panel": check.panel.replace("-", NO_BREAK),
            "theorem": check.bound,
            "side": check.side,
            f"{word}: steps": mine.count,
            "first": int(mine.steps[0]) if mine.count else "–",
            "last": int(mine.steps[-1]) if mine.count else "–",
            "by at most": approx(mine.excess, 2).replace("-", NO_BREAK) if mine.count else "–",
            **{f"{name}: steps": check.breaches[name].count for name in others},
            "cause": ", ".join(f"{cause} {k}" for cause, k in check.causes.items()) or "–",
            "r < |w| < R": "yes" if check.applies[check.trained] else "no",
        })  # fmt: skip
    index = ["panel", "theorem", "side"]
    table = pd.DataFrame(rows, columns=None if rows else index).set_index(index)
    if any(check.bound in ANGLES for check in checks):
        return table
    return table.drop(columns="r < |w| < R", errors="ignore")


def _angle(run: Run) -> list[Check]:
    r, R = constants(run.start.v, run.target)
    excess, applies = {}, {}
    for name, path in run.paths.items():
        below, above = angle_curves(run, path)  # an upper bound of pi - phi is a lower one of phi
        excess[name] = path.theta - above, below - path.theta
        applies[name] = bool(((r < path.length[1:]) & (path.length[1:] < R)).all())
    return _sides(run, ANGLES[min(run.setting.m, 1)], 0, excess, applies)


def _magnitude(run: Run, start: int) -> list[Check]:
    excess = {}
    for name, path in run.paths.items():
        lower, upper = magnitude_curves(run.setting, path, start)
        length = path.length[start:]
        excess[name] = (lower - length) / run.target, (length - upper) / run.target
    everywhere = dict.fromkeys(run.paths, True)
    return _sides(run, ("A.1", "A.3")[run.setting.m], start, excess, everywhere)


def _sides(
    run: Run,
    theorem: str,
    start: int,
    excess: Mapping[str, tuple[NDArray, NDArray]],
    applies: dict[str, bool],
) -> list[Check]:
    """The checks of the lower and of the upper bound, by each path's excess over either."""
    name, last = run.setting.name, run.setting.steps
    breaches = [{key: _breach(pair[k], start) for key, pair in excess.items()} for k in range(2)]
    sides = zip(("lower", "upper"), breaches, strict=True)
    return [Check(name, theorem, side, start, last, found, applies) for side, found in sides]


def _breach(excess: NDArray, start: int) -> Breach:
    """The steps at which the excess (k,), from `start` on, is positive beyond rounding.

    `start` itself is none: there the angle is inside its bounds and the magnitude on them.
    """
    excess = np.where(np.isnan(excess), np.inf, excess)
    broken = np.nonzero(excess > ROUNDING)[0]
    if not len(broken):
        return Breach(broken, 0.0, start)
    at = int(broken[np.argmax(excess[broken])])
    return Breach(broken + start, float(excess[at]), at + start)


LINE = 0.02
"""Width of a drawn line in Figure 2, in units of |w*|: 1.8 of 94 points, the axis being |w*|."""
_SETTINGS = "k is a standard deviation, the loss half the mean of squares, as argued above"
ANGLE_READING = Reading(
    _SETTINGS,
    "With a mean in place of half the mean the two-layer angle overtakes the upper "
    "bound drawn; with a sum descent at D.3's rates jumps about or diverges.",
)
MAGNITUDE_READING = Reading(
    "A bound is respected if no curve leaves it by more than the width of the drawn "
    f"line, {LINE:g}|w*|; {_SETTINGS}.",
    "At every step and to the last digit neither the run on data nor descent on the "
    "population respects all bounds; the table says which, when and why.",
)


def figure_1(runs: Sequence[Run]) -> list[Evidence]:
    """ma.fig1: both bounds of the angle hold in nine panels, at every step of every path; small
    norm is first with one layer and last with three."""
    panels = printed_panels(runs)
    checks = angle_checks(panels)
    times = {(run.setting.layers, run.setting.norm): _halving(run) for run in panels}
    small, *others = NORMS
    outside = [c.panel for c in checks if c.side == "lower" and not c.applies["empirical"]]
    return [
        fact("panels", len(panels), len(RATES) * len(NORMS)),
        fact("steps checked in each", {c.steps for c in checks} == {STEPS}, True),
        fact("of 18 bounds, passed at some step by the run on data",
             _broken(checks, "empirical"), 0),
        fact("of 18 bounds, passed by descent on the population",
             _broken(checks, "population"), 0),
        fact("of 18 bounds, passed by the population's flow", _broken(checks, "flow"), 0),
        fact("one layer: small norm halves its angle first",
             all(times[1, small] < times[1, norm] for norm in others), True),
        fact("three layers: small norm halves its angle last",
             all(times[3, small] > times[3, norm] for norm in others), True),
        note("panels in which |w(T)| leaves (r, R), so that the theorem is silent",
             ", ".join(outside) or "none"),
        note("seed", panels[0].setting.seed),
    ]  # fmt: skip


def figure_2(runs: Sequence[Run]) -> list[Evidence]:
    """ma.fig2: the magnitude stays between its bounds to the width of a line; the lower one follows
    at first, the upper one at last; restarted bounds are tighter."""
    panels = tuple(run for run in printed_panels(runs) if run.setting.layers <= 2)
    checks = (*magnitude_checks(panels), *magnitude_checks(panels, restarted=True))
    early, late, tighter = (sum(column) for column in zip(*map(_nearer, panels), strict=True))
    count, causes = len(panels), sorted({cause for check in checks for cause in check.causes})
    return [
        fact("panels", count, 2 * len(NORMS)),
        deviation("largest excess over a bound, restarted ones included",
                  max(check.breaches["empirical"].excess for check in checks), "|w*|"),
        fact("of 24 bounds, passed by the population's flow", _broken(checks, "flow"), 0),
        fact("panels whose lower bound is the nearer one after 1 % of the steps", early, count),
        fact("panels in which the upper bound is the nearer one at the end", late, count),
        fact("panels whose restarted bounds are closer together from then on", tighter, count),
        note("of 24 bounds, passed at some step by the run on data", _broken(checks, "empirical")),
        note("of 24 bounds, passed by descent on the population", _broken(checks, "population")),
        note("causes, on data", ", ".join(causes) or "none"),
        note("seed", panels[0].setting.seed),
    ]  # fmt: skip


def _broken(checks: Sequence[Check], path: str) -> int:
    return sum(check.breaches[path].count > 0 for check in checks)


def _halving(run: Run) -> int:
    """Steps after which pi - phi of the descent on data is half of what it was; one too many if
    it never is."""
    theta = run.trained.theta
    half = theta < 0.5 * theta[0]
    return int(np.argmax(half)) if half.any() else len(theta)


def _nearer(run: Run) -> tuple[bool, bool, bool]:
    """Whether the lower bound is the nearer one after 1 % of the steps, the upper one at the end,
    and restarted bounds are closer together at every step."""
    start, soon, length = run.setting.restart, run.setting.steps // 100, run.trained.length
    lower, upper = magnitude_curves(run.setting, run.trained)
    new_lower, new_upper = magnitude_curves(run.setting, run.trained, start)
    down, up = np.abs(length - lower), np.abs(upper - length)
    closer = bool((new_upper - new_lower < (upper - lower)[start:]).all())
    return bool(down[soon] < up[soon]), bool(up[-1] < down[-1]), closer
