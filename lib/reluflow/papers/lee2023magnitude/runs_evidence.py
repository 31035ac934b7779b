"""Figures 1 and 2, D.3's readings and what data and steps do to the bounds, for the ledger.

Each function returns the arguments of `Ledger.settle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from reluflow.ledger import Reading, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude.compliance import (
    Check,
    angle_checks,
    magnitude_checks,
    magnitude_curves,
)
from reluflow.papers.lee2023magnitude.gaps import (
    FarSteps,
    FirstSteps,
    GapLaw,
    Imbalance,
    distance,
    step_orders,
    tangency,
)
from reluflow.papers.lee2023magnitude.runs import Run
from reluflow.papers.lee2023magnitude.scale import (
    DEVIATION,
    VARIANCE,
    LossReading,
    exceeds,
    progress,
    ratios,
)
from reluflow.papers.lee2023magnitude.settings import NORMS, RATES, STEPS, experiment
from reluflow.statistics import wilson

Settlement = dict[str, Any]

LINE = 0.02
"""Width of a drawn line in Figure 2, in units of |w*|: 1.8 of 94 points, the axis being |w*|."""
SLOPE = 0.1
"""How near to -1/2 the interval of a fitted power has to stay."""
SURE = 5
"""Standard deviations of an interval that luck does not leave: once in a million seeds."""
SURE_LEVEL = 1.0 - 2.0 * norm.sf(SURE)
SETTINGS = "k is a standard deviation, the loss half the mean of squares, as argued above"


def or_instead(settlement: Settlement) -> Settlement:
    """The settlement of something drawn with a seed; where part of it does not hold, what appeared
    instead is that part, so that no seed ends in an error."""
    limit = settlement.get("tolerance")
    failed = [
        item.what
        for item in settlement["evidence"]
        if item.decides and not (item.value <= limit if item.form == "deviation" else item.holds)
    ]
    said = "with this seed it is otherwise: " + "; ".join(failed)
    return settlement | ({"instead": said} if failed else {})


def printed_panels(runs: Sequence[Run]) -> tuple[Run, ...]:
    """D.3's panels among the runs, in the figure's order."""
    wanted = experiment(seed=runs[0].setting.seed).settings
    return tuple(run for run in runs if run.setting in wanted)


def _broken(checks: Sequence[Check], path: str) -> int:
    return sum(check.breaches[path].count > 0 for check in checks)


def _halving(run: Run) -> int:
    """Steps after which pi - phi of the descent on data is half of what it was; one too many if
    it never is."""
    theta = run.trained.theta
    half = theta < 0.5 * theta[0]
    return int(np.argmax(half)) if half.any() else len(theta)


def figure_1(runs: Sequence[Run]) -> Settlement:
    """Figure 1: both bounds of the angle in nine panels, at every step of every path; small norm
    is first with one layer and last with three."""
    panels = printed_panels(runs)
    checks = angle_checks(panels)
    times = {(run.setting.layers, run.setting.norm): _halving(run) for run in panels}
    small, *others = NORMS
    outside = [c.panel for c in checks if c.side == "lower" and not c.applies["empirical"]]
    return or_instead(
        {
            "evidence": [
                fact("panels", len(panels), len(RATES) * len(NORMS)),
                fact("steps checked in each", {c.steps for c in checks} == {STEPS}, True),
                fact(
                    "of 18 bounds, passed at some step by the run on data",
                    _broken(checks, "empirical"),
                    0,
                ),
                fact(
                    "of 18 bounds, passed by descent on the population",
                    _broken(checks, "population"),
                    0,
                ),
                fact("of 18 bounds, passed by the population's flow", _broken(checks, "flow"), 0),
                fact(
                    "one layer: small norm halves its angle first",
                    all(times[1, small] < times[1, norm] for norm in others),
                    True,
                ),
                fact(
                    "three layers: small norm halves its angle last",
                    all(times[3, small] > times[3, norm] for norm in others),
                    True,
                ),
                note(
                    "panels in which |w(T)| leaves (r, R), so that the theorem is silent",
                    ", ".join(outside) or "none",
                ),
                note("seed", panels[0].setting.seed),
            ],
            "reading": Reading(
                SETTINGS,
                "With a mean in place of half the mean the two-layer angle overtakes the upper "
                "bound drawn; with a sum descent at D.3's rates jumps about or diverges.",
            ),
        }
    )


def figure_2(runs: Sequence[Run]) -> Settlement:
    """Figure 2: the magnitude stays between its bounds to the width of a line; the lower one
    follows at first, the upper one at last; restarted bounds are tighter."""
    panels = tuple(run for run in printed_panels(runs) if run.setting.layers <= 2)
    first, again = magnitude_checks(panels), magnitude_checks(panels, restarted=True)
    checks = (*first, *again)
    excess = max(check.breaches["empirical"].excess for check in checks)
    early, late, tighter = 0, 0, 0
    for run in panels:
        start = run.setting.restart
        lower, upper = magnitude_curves(run, run.trained, 0)
        new_lower, new_upper = magnitude_curves(run, run.trained, start)
        length = run.trained.length
        down, up = np.abs(length - lower), np.abs(upper - length)
        soon = run.setting.steps // 100
        early += bool(down[soon] < up[soon])
        late += bool(up[-1] < down[-1])
        tighter += bool((new_upper - new_lower < (upper - lower)[start:]).all())
    count = len(panels)
    causes = sorted({cause for check in checks for cause in check.causes})
    return or_instead(
        {
            "evidence": [
                fact("panels", count, 2 * len(NORMS)),
                deviation("largest excess over a bound, restarted ones included", excess, "|w*|"),
                fact("of 24 bounds, passed by the population's flow", _broken(checks, "flow"), 0),
                fact(
                    "panels whose lower bound is the nearer one after 1 % of the steps",
                    early,
                    count,
                ),
                fact("panels in which the upper bound is the nearer one at the end", late, count),
                fact(
                    "panels whose restarted bounds are closer together from then on", tighter, count
                ),
                note(
                    "of 24 bounds, passed at some step by the run on data",
                    _broken(checks, "empirical"),
                ),
                note(
                    "of 24 bounds, passed by descent on the population",
                    _broken(checks, "population"),
                ),
                note("causes, on data", ", ".join(causes) or "none"),
                note("seed", panels[0].setting.seed),
            ],
            "tolerance": LINE,
            "reading": Reading(
                "A bound is respected if no curve leaves it by more than the width of the drawn "
                f"line, {LINE:g}|w*|; {SETTINGS}.",
                "At every step and to the last digit neither the run on data nor descent on the "
                "population respects all bounds; the table says which, when and why.",
            ),
        }
    )


def norm_scale(seed: int, draws: int) -> Settlement:
    """D.3: k = 0.1 k*, k*, 2 k* as standard deviations give small, middle and large norm."""
    drawn = ratios(seed, draws, DEVIATION)
    ordered = int(((drawn[:, 0] < drawn[:, 1]) & (drawn[:, 1] < drawn[:, 2])).sum())
    large = max(NORMS)
    likelier = exceeds(DEVIATION, large, 2.0) / exceeds(VARIANCE, large, 2.0)
    paces = {r: [progress(r, "half the mean", k) for k in RATES] for r in (DEVIATION, VARIANCE)}
    spread = {r: max(values) / min(values) for r, values in paces.items()}
    middle = np.exp(np.abs(np.log(drawn[:, 1])).max())
    return or_instead({
        "evidence": [
            fact(f"draws with small < middle < large, of {draws}", ordered, draws),
            bound("small norm: largest |w₀|/|w*| drawn", float(drawn[:, 0].max()), "<", 0.2, ""),
            bound("middle norm: largest of |w₀|/|w*| and its inverse drawn", float(middle), "<",
                  2.0, ""),
            bound("|w₀| > 2|w*| for large norm: how much likelier than under a variance",
                  likelier, ">", 20.0, ""),
            bound("ηT|w*|²ᵐ of the three depths: largest over smallest", spread[DEVIATION], "<",
                  spread[VARIANCE], ""),
            note("seed", seed),
        ],
        "reading": Reading(
            "k is a standard deviation: |w₀|/|w*| is about 0.1, 1 and 2",
            "k a variance: |w₀|/|w*| is about 0.32, 1 and 1.41. The bounds of Figure 1 hold all "
            "the same.",
        ),
    })  # fmt: skip


def large_norm(seed: int, draws: int) -> Settlement:
    """Section 5.1: a large norm exceeds 2 |w*|."""
    large = max(NORMS)
    above = int((ratios(seed, draws, DEVIATION)[:, 2] > 2.0).sum())
    low, high = (float(v) for v in wilson(above, draws))
    return {
        "evidence": [
            fact(f"draws of a large norm with |w₀| > 2|w*|, of {draws}", above, draws),
            note("seed", seed),
        ],
        "instead": [
            note("share of the draws, its 95 % interval", f"{low:.2f} to {high:.2f}"),
            note("probability, if k is a standard deviation",
                 float(exceeds(DEVIATION, large, 2.0)), digits=3),
            note("probability, if k is a variance",
                 float(exceeds(VARIANCE, large, 2.0)), digits=1),
        ],
    }  # fmt: skip


def loss_scale(readings: Sequence[LossReading]) -> Settlement:
    """D.3's rates belong to half the mean of squares, whatever k is."""
    half = [item for item in readings if item.loss == "half the mean"]
    means = [item for item in readings if item.loss == "mean"]
    sums = [item for item in readings if item.loss in ("half the sum", "sum")]
    nine = len(RATES) * len(NORMS)
    return {
        "evidence": [
            fact(
                "half the mean: all nine panels arrive and respect both bounds",
                all(item.fits for item in half),
                True,
            ),
            bound(
                "mean: most panels that respect the upper bound, of 9",
                max(item.upper for item in means),
                "<",
                nine,
                "",
            ),
            bound(
                "sums: most panels in which descent arrives, of 9",
                max(item.arrive for item in sums),
                "<",
                nine,
                "",
            ),
            fact("sums: panels that respect the upper bound", sum(item.upper for item in sums), 0),
        ]
    }


def tangent_bounds(printed: FirstSteps, far: FarSteps) -> Settlement:
    """The lower bounds start along the flow's tangent, so data decide by chance at once where eta
    sqrt(n) is small: with D.3's step and sample as `printed`. Where it is not, with `far`, the
    curvature of the path decides."""
    starts = [
        (m, psi0, np.log(norm)) for m in (0, 1) for psi0 in (-1.0, 0.0, 1.0) for norm in NORMS
    ]
    powers = [tangency(*start) for start in starts]
    hits = sum(printed.broken.values())
    low, high = (float(v) for v in wilson(hits, printed.total, SURE_LEVEL))
    says = "D.3's step and sample: share of first steps below the bound"
    evidence = [
        bound("power of t in |w(t)| − lower: largest distance from 2",
              max(abs(power - 2.0) for power in powers), "<", 0.05, ""),
        bound(f"{says}, lower end of an interval of {SURE} standard deviations", low, "<", 0.5, ""),
        bound(f"{says}, upper end", high, ">", 0.5, ""),
        note(f"{says}, of {printed.total}", hits / printed.total, digits=2),
    ]  # fmt: skip
    for size, below, expected in zip(far.n, far.below, far.expected, strict=True):
        low, high = (float(v) for v in wilson(int(below), far.draws, SURE_LEVEL))
        says = f"η = 1/10, n = {size}: the share"
        evidence += [
            bound(f"{says}, lower end", low, "<", float(expected), ""),
            bound(f"{says}, upper end", high, ">", float(expected), ""),
            note(f"{says}, and as expected", (below / far.draws, float(expected)), digits=2),
        ]
    evidence += [
        bound("η = 1/10, largest n: the share, upper end", high, "<", 0.5, ""),
        note("samples for each n", far.draws),
    ]
    return {"evidence": evidence}


def sample_gap(law: GapLaw) -> Settlement:
    """The finite-sample gap falls like n^(-1/2), to what the draws can tell."""
    evidence = []
    for which, name in enumerate(("angle", "|w|")):
        low, high = law.interval(which)
        power = f"{name}: power of n"
        evidence += [
            bound(f"{power}, lower end of a 99.9 % interval", low, ">", -0.5 - SLOPE, ""),
            bound(f"{power}, upper end", high, "<", -0.5 + SLOPE, ""),
            note(power, float(law.slopes[:, which].mean()), digits=2),
        ]
    evidence.append(note("numbers of data", tuple(int(k) for k in law.n)))
    evidence.append(note("draws for each", law.draws))
    return or_instead({"evidence": evidence})


def step_gap(runs: Sequence[Run]) -> Settlement:
    """Descent is O(eta) from the flow, and in the panels nearer to it than to the run on data."""
    orders = np.array([step_orders(layers) for layers in (1, 2, 3)])
    trained = [run for run in runs if run.empirical is not None]
    shares = [
        np.divide(distance(run.population, run.flow), distance(run.empirical, run.population))
        for run in trained
    ]
    angle, magnitude = (float(max(share[k] for share in shares)) for k in range(2))
    off = float(np.abs(orders - 1.0).max())
    return or_instead(
        {
            "evidence": [
                bound("orders in η: largest distance from 1", off, "<", 0.05, ""),
                bound("angle: step gap over sample gap, worst panel", angle, "<", 0.1, ""),
                bound("|w|: step gap over sample gap, worst panel", magnitude, "<", 1.0, ""),
                note("panels", len(trained)),
            ]
        }
    )


def balance_lost(found: Sequence[Imbalance]) -> Settlement:
    """Descent ends above |w*|: |w|^2 - v_1^2 becomes eta times the integral of |w|^2 phi'^2."""
    coarse = np.array([item.error[0] for item in found])
    fine = np.array([item.error[-1] for item in found])
    above = sum(bool((item.length > 0.0).all()) for item in found)
    predicted = [
        np.abs(item.length / (item.m / (2.0 * (item.m + 1)) * item.final) - 1.0)[-1]
        for item in found
    ]
    return {
        "evidence": [
            fact(f"starts whose descents all end above |w*|, of {len(found)}", above, len(found)),
            bound(
                "|w|² − v₁² over η ∫|w|²φ̇²dt: largest distance from 1, smallest step",
                float(fine.max()),
                "<",
                0.05,
                "",
            ),
            bound(
                "the same, smallest over largest step, largest of the starts",
                float((fine / coarse).max()),
                "<",
                0.5,
                "",
            ),
            bound(
                "|w|/|w*| − 1 over m(|w|² − v₁²)/(2(m + 1)|w*|²): largest distance from 1",
                float(max(predicted)),
                "<",
                0.05,
                "",
            ),
        ]
    }
