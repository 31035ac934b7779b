"""Whether the bounds of Figures 1 and 2 are respected at every step, and if not, why not.

Every bound is held against three paths from one start: the descent on data, the descent on the
population, and the population's flow with the flow's own version of the bound. A step at which the
flow breaks its bound shows a false statement; one at which only the descents do, the finite step;
one at which the descent on data alone does, the finite sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.approx import approx
from reluflow.flows.population import PopulationPath
from reluflow.papers.lee2023magnitude.bounds import (
    gap_bounds,
    magnitude_bounds,
    two_layer_magnitude_bounds,
)
from reluflow.papers.lee2023magnitude.runs import Run, restarted
from reluflow.papers.lee2023magnitude.settings import constants

ROUNDING = 1e-12
"""A bound passed by less, in radians or in units of |w*|, is not told from one that is met."""
SAMPLE, STEP, STATEMENT, HYPOTHESIS = "finite sample", "finite step", "statement", "r, R"
"""Causes of a breach; the last that |w(T)| leaves the theorem's interval (r, R)."""

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


def angle_curves(run: Run, path: PopulationPath) -> tuple[NDArray, NDArray]:
    """Figure 1's bounds on pi - phi at every step of a path of the run, by its own version."""
    r, R = constants(run.v0, run.target)
    step = run.setting.rate if path.clock == "steps" else None
    return gap_bounds(path.t, run.psi0, r, R, run.target, run.setting.m, step)


def magnitude_curves(run: Run, path: PopulationPath, start: int) -> tuple[NDArray, NDArray]:
    """Figure 2's bounds on |w| at the steps start, start + 1, ... of a path of the run."""
    phi, v = (run.phi0, run.v0) if start == 0 else restarted(run, path, start)
    t, target, m = path.t[start:] - path.t[start], run.target, run.setting.m
    step = run.setting.rate if path.clock == "steps" else None
    return (magnitude_bounds if m == 0 else two_layer_magnitude_bounds)(t, phi, v, target, step)


def compliance_table(checks: Sequence[Check]) -> pd.DataFrame:
    """One row a check: where each path breaks the bound, by how much, and why."""
    rows = []
    for check in checks:
        mine = check.breaches[check.trained]
        word = {"empirical": "data", "population": "population"}[check.trained]
        row: dict[str, object] = {
            "panel": _unbroken(check.panel),
            "theorem": check.bound,
            "side": check.side,
        }
        row[f"{word}: steps"] = mine.count
        row["first"] = int(mine.steps[0]) if mine.count else "–"
        row["last"] = int(mine.steps[-1]) if mine.count else "–"
        row["by at most"] = _unbroken(approx(mine.excess, 2)) if mine.count else "–"
        for name in ("population", "flow"):
            if name != check.trained:
                row[f"{name}: steps"] = check.breaches[name].count
        row["cause"] = ", ".join(f"{cause} {count}" for cause, count in check.causes.items()) or "–"
        row["r < |w| < R"] = "yes" if check.applies[check.trained] else "no"
        rows.append(row)
    if not any(check.bound in ANGLES for check in checks):
        for row in rows:
            del row["r < |w| < R"]
    index = ["panel", "theorem", "side"]
    return pd.DataFrame(rows, columns=list(rows[0]) if rows else index).set_index(index)


def _unbroken(text: str) -> str:
    """The text with hyphens at which no line is broken."""
    return text.replace("-", "\u2011")


def _angle(run: Run) -> list[Check]:
    least, most, applies = {}, {}, {}
    r, R = constants(run.v0, run.target)
    for name, path in run.paths.items():
        theta, (below, above) = path.theta, angle_curves(run, path)
        least[name] = _breach(below - theta, 0)  # theta too small: phi above its upper bound
        most[name] = _breach(theta - above, 0)
        length = path.length[1:]
        applies[name] = bool(((r < length) & (length < R)).all())
    theorem = ANGLES[0] if run.setting.m == 0 else ANGLES[1]
    return [
        Check(run.setting.name, theorem, side, 0, run.setting.steps, breaches, applies)
        for side, breaches in (("lower", most), ("upper", least))
    ]


def _magnitude(run: Run, start: int) -> list[Check]:
    least, most = {}, {}
    for name, path in run.paths.items():
        lower, upper = magnitude_curves(run, path, start)
        length = path.length[start:]
        least[name] = _breach((lower - length) / run.target, start)
        most[name] = _breach((length - upper) / run.target, start)
    theorem = "A.1" if run.setting.m == 0 else "A.3"
    applies = dict.fromkeys(run.paths, True)
    return [
        Check(run.setting.name, theorem, side, start, run.setting.steps, breaches, applies)
        for side, breaches in (("lower", least), ("upper", most))
    ]


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
