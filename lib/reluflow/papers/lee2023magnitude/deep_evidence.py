"""Section 5.2, Figure 3 and the start of Figure 4 (b) of Lee et al. 2023, as evidence.

Each function returns the arguments of `Ledger.settle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from reluflow.ledger import Reading, bound, fact, note
from reluflow.papers.lee2023magnitude.deep_networks import Overshoots
from reluflow.papers.lee2023magnitude.record_evidence import interval
from reluflow.papers.lee2023magnitude.restarts import BoundSurvey, Restarts
from reluflow.papers.lee2023magnitude.runs_evidence import or_instead
from reluflow.papers.lee2023magnitude.turning import RISING, TURNING, ShapeSurvey, said_of
from reluflow.statistics import wilson

Settlement = dict[str, Any]

USUAL = 0.75
"""What Section 5.2 describes is usual if this share of the random starts shows it, surely."""


def two_phases(
    trained: ShapeSurvey, flows: ShapeSurvey, data: ShapeSurvey, variance: ShapeSurvey
) -> Settlement:
    """Section 5.2 by panels: the runs of Figures 1 and 2, population flows, descents on few data;
    `variance` is the one-layer panel of small norm where k is a variance."""
    first = int(variance.counts[0].sum() - variance.count(1, 0.1, RISING))
    low, high = (float(end[0]) for end in wilson([first], [variance.trials]))
    shares = [flows.least_share(s.norm, said_of(s)) for s in flows.panels]
    runs = [_trials(data, s) for s in data.panels]
    hits = [data.count(s.layers, s.norm, said_of(s)) for s in data.panels]
    seen = float(wilson([sum(hits)], [sum(runs)])[0][0])
    return or_instead({
        "evidence": [
            bound("population: least lower end, over the panels, of the 95 % interval of the share "
                  "that Section 5.2 describes", round(min(shares), 3), ">=", USUAL, ""),
            bound("data: the lower end, over all panels", round(seen, 3), ">=", USUAL, ""),
            *(fact(f"Figure 2: starts of another shape than Section 5.2 says, of {kind} norm",
                   _strays(trained, small), 0)
              for small, kind in ((True, "small"), (False, "middle and large"))),
            fact("population flows whose shape up to the last step is another", flows.strays, 0),
            bound("latest mean step of a turn, population", float(np.nanmax(flows.turns)), "<",
                  flows.panels[0].steps, "steps"),
            note("starts per panel: population, data", (flows.trials, data.trials)),
            note("starts of another shape: population, data",
                 tuple(_strays(survey, True) + _strays(survey, False) for survey in (flows, data))),
            note("if k is a variance, one layer, small norm: starts that fall first", first),
            note("their share's 95 % interval", f"{low:.2f} to {high:.2f}"),
            note("data of a descent on few data", data.panels[0].n),
        ],
        "reading": Reading(
            taken="k of N(0, k I) is a standard deviation, so that small, middle and large norm "
            "are 0.1, 1 and 2 times |w*|; on data a fall or rise by less than 0.001 |w*|, which "
            f"Figure 2 cannot show, is none; random starts do so with a share of {USUAL} or more",
            others="if k is a variance, the small norm is 0.32 |w*|, about the value below which "
            "|w| rises at the start for one layer, and many starts fall first; Section 5.2 is then "
            "false of panel 1L-SN",
        ),
    })  # fmt: skip


def _strays(survey: ShapeSurvey, small: bool) -> int:
    """Starts of small norm (or of the others) that have another shape than the paper says."""
    shape = RISING if small else TURNING
    panels = [s for s in survey.panels if (said_of(s) == RISING) == small]
    return sum(_trials(survey, s) - survey.count(s.layers, s.norm, shape) for s in panels)


def _trials(survey: ShapeSurvey, setting: Any) -> int:
    at = survey.panels.index(setting)
    return int(survey.counts[at].sum())


def bounds_restarted(
    drawn: Sequence[Restarts], population: Sequence[Restarts], small: Sequence[Restarts]
) -> Settlement:
    """Figure 3: `drawn` are its two panels, on data; `population` many starts of middle and large
    norm, and `small` two of small norm, on the population."""
    falling = [bool((np.diff(panel.gaps) < 0.0).all()) for panel in population]
    turned = [panel.falls_and_rises for panel in population]
    evidence = []
    for panel in drawn:
        name, gaps = f"{panel.setting.layers}L", panel.gaps
        early, late = sides(panel)
        evidence += [
            fact(f"{name}: |w| falls, then rises", panel.falls_and_rises, True),
            fact(
                f"{name}: the gap of the bounds shrinks at each restart",
                bool((np.diff(gaps) < 0.0).all()),
                True,
            ),
            note(f"{name}: last gap over the first", gaps[-1] / gaps[0], digits=2),
            bound(
                f"{name}: a restarted bound outside of the one before, at most",
                panel.inside,
                "<=",
                1e-9,
                "|w*|",
            ),
            fact(
                f"{name}: restarts after which the lower bound is the nearer one at first",
                early,
                len(panel.points),
            ),
            fact(
                f"{name}: restarts after which the upper bound is the nearer one at the end",
                late,
                len(panel.points),
            ),
            bound(
                f"{name}: |w| outside of its bounds, at most",
                float(panel.breaches.max()),
                "<=",
                0.01,
                "|w*|",
            ),
        ]
    return or_instead({
        "evidence": [
            *evidence,
            fact("population: starts whose gaps do not shrink", falling.count(False), 0),
            fact("population: starts that do not fall and rise", turned.count(False), 0),
            bound("population: a restarted bound outside of the one before, at most",
                  max(panel.inside for panel in population), "<=", 1e-9, "|w*|"),
            note("population: starts", len(population)),
            note("small norm: starts that fall and rise, of two",
                 sum(panel.falls_and_rises for panel in small)),
        ],
        "reading": Reading(
            taken="the starts, whose norm D.3 does not give here, are of middle norm, k = k*: |w| "
            "falls and rises, and turns between the restarts, as Appendix D.1 describes it",
            others="large norm, k = 2 k*, has the same features (table); small norm is excluded, "
            "for |w| never falls",
        ),
    })  # fmt: skip


def sides(panel: Restarts) -> tuple[int, int]:
    """Restarts after which |w| is nearer to its lower bound over the next hundredth of the steps,
    and restarts after which it is nearer to the upper one at the last step."""
    early = late = 0
    near = max(2, len(panel.T) // 100)
    for at, (low, high) in zip(panel.points, panel.bounds, strict=True):
        below, above = panel.v[at:] - low, high - panel.v[at:]
        early += bool(np.abs(below[1:near]).mean() < np.abs(above[1:near]).mean())
        late += bool(abs(below[-1]) >= abs(above[-1]))
    return early, late


def nested_bounds(survey: BoundSurvey) -> Settlement:
    """Ours: for the flow every restarted bound lies inside the ones before it."""
    low, high = survey.nested.max(axis=0)
    return {
        "evidence": [
            bound("largest distance of a restarted lower bound below the first", float(low), "<=",
                  1e-9, "|w*|"),
            bound("largest distance of a restarted upper bound above the first", float(high), "<=",
                  1e-9, "|w*|"),
            note("random starts, one restart each, one to four layers", len(survey.nested)),
        ]
    }  # fmt: skip


def bent_bounds(survey: BoundSurvey) -> Settlement:
    """Ours: where the bounds of the flow are convex and where they are concave."""
    return {
        "evidence": [
            fact("second differences of another sign", survey.bent, 0),
            bound("second differences looked at", survey.looked, ">", 0, ""),
            bound("lower bounds that start below their end, where D.1's 'convex' fails",
                  survey.convex, ">", 0, ""),
            note("of them with v_0 > (1 - eps_0) v*, where D.1 says that convexity holds",
                 survey.between),
        ]
    }  # fmt: skip


def unstable_start(starts: Overshoots, readings: pd.DataFrame) -> Settlement:
    """Ours: the first steps of Figure 4 (b) are beyond the stability of descent."""
    outcome, many = dict(readings["descent"]), len(starts.fell)
    beyond = int((starts.unstable > 2.0).sum())
    return {
        "evidence": [
            bound("share of starts with eta lambda above 2", beyond / many, ">", 0.5, ""),
            bound("share of starts whose |W_1| falls at each of ten steps",
                  float(starts.fell.mean()), ">", 0.5, ""),
            fact("k a variance", outcome["(b) k a variance"], "diverges"),
            fact("loss a sum over the data", outcome["(b) loss a sum over the data"], "diverges"),
            bound("share of starts that do not diverge as taken", float(starts.survived.mean()),
                  ">", 0.5, ""),
            note("starts with eta lambda above 2, and all", (beyond, many)),
            note("95 % interval of their share", interval(starts.unstable > 2.0)),
            note("starts that do not diverge", int(starts.survived.sum())),
            note("median of eta lambda", float(np.median(starts.unstable)), digits=2),
            note("starts whose loss rises at step 1 or 2", int(starts.jumped.sum())),
            note("starts whose norm of all weights is larger after ten steps",
                 int(starts.rose.sum())),
        ]
    }  # fmt: skip
