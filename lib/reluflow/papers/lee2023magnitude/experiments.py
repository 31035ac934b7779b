"""The page `experiments`: Section 5, the paper's Figures 3 and 4, and Appendix D."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import sympy as sp
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import f as f_law

from reluflow.approx import approx
from reluflow.falsify import survey
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude import deep_network, population, runs, setting
from reluflow.papers.lee2023magnitude.bounds import flows
from reluflow.papers.lee2023magnitude.population import (
    RISING,
    SHAPES,
    TURNING,
    PopulationPath,
    pull,
)
from reluflow.papers.lee2023magnitude.setting import Bounds, Start, gap_bounds
from reluflow.parameters import DEVICE, SECTION
from reluflow.statistics import share_interval, wilson

PARAMETERS = {**SECTION, "scale": deep_network.SHELF.parameter, "device": DEVICE}
PANELS = runs.experiment()
"""D.3's of Figures 1 and 2."""

# --- Section 5.2 over many starts: how often |w| turns while one, two or three layers are trained -
#
# The panels are those of Figures 1 and 2 (`runs`); a seed draws w* and w_0 afresh. For the
# population the shape for all time is known from the start (`phases`); a few starts are followed to
# the last step as well. On data |w| may turn more often, and every step is looked at.
#
# A survey has a row for each start: its "panel", the "shape" of |w(T)|, the step of the "turn"
# where it was followed and turned, else NaN, and whether the shape up to the last step is a
# "stray", other than the one for all time.

USUAL = 0.75
"""What Section 5.2 describes is usual if this share of the random starts shows it, surely."""

HURRY = 50
"""How much faster than at the paper's rate descents on few data go."""


def flow_shapes(
    panels: Sequence[runs.Setting], seed: int, count: int, follow: int = 0, variance: bool = False
) -> pd.DataFrame:
    """The population's flow (6)-(7), (9)-(10) from `count` starts of every panel (their seeds do
    not count) for all time. The first `follow` starts of every panel are followed as well, at 1000
    times up to the panel's last step. The teacher has its typical size. Where k is a `variance`,
    norms have the ratio sqrt(k/k*) in place of k/k*."""

    def moves(at: tuple[runs.Setting, int]) -> dict[str, Any]:
        panel, k = at
        start = runs.drawn_start(replace(panel, seed=seed + k))
        rho = start.rho - 0.5 * math.log(panel.norm) if variance else start.rho
        start = replace(start, rho=rho, target=panel.scale * math.sqrt(panel.d))
        kind = population.phases(start.psi, start.rho, start.m).kind
        if k >= follow:
            return _row(panel, kind)
        steps = np.linspace(0.0, panel.steps, 1001)
        shape, turn = population.shape_of(start.flow(panel.rate * steps).rho, 1e-9)
        return {**_row(panel, shape, steps[turn]), "shape": kind, "stray": shape != kind}

    return survey(product(panels, range(count)), moves)


def descent_shapes(panels: Sequence[runs.Setting], seed: int, count: int, n: int) -> pd.DataFrame:
    """Descent on n data at 50 times the paper's rate, for as much less steps, from `count` starts
    of every panel; falls and rises below `VISIBLE` |w*| are not told from standing still."""

    fast = [
        replace(panel, rate=HURRY * panel.rate, steps=panel.steps // HURRY, n=n) for panel in panels
    ]
    paths = [runs.descents_on_data([replace(q, seed=seed + k) for q in fast]) for k in range(count)]

    def moves(at: tuple[runs.Setting, PopulationPath]) -> dict[str, Any]:
        panel, path = at
        shape, turn = population.shape_of(path.length, runs.VISIBLE * path.target)
        return _row(replace(panel, n=n), shape, turn * HURRY)

    drawn = zip(panels, zip(*paths, strict=True), strict=True)
    return survey(((panel, path) for panel, of in drawn for path in of), moves)


def _row(panel: runs.Setting, shape: str, turn: float = math.nan) -> dict[str, Any]:
    turn = float(turn) if shape == TURNING else math.nan
    return {"panel": panel, "shape": shape, "turn": turn, "stray": False}


def as_said(found: pd.DataFrame) -> pd.Series:
    """Of every start, whether Section 5.2 says so of its panel."""
    return found["shape"] == found["panel"].map(runs.said_of)


def shape_table(found: pd.DataFrame) -> pd.DataFrame:
    """Counts by panel, and of the panel's shape in the paper the share and its interval."""

    def of(group: tuple[runs.Setting, pd.DataFrame]) -> dict[str, Any]:
        panel, part = group
        hits, trials = int(as_said(part).sum()), len(part)
        low, high = (float(end) for end in wilson(hits, trials))
        cells = {shape: int((part["shape"] == shape).sum()) for shape in SHAPES}
        share = f"{hits / trials:.1%} ({low:.1%} to {high:.1%})"
        return {"panel": panel.name, **cells, "as Section 5.2 says": share}

    return survey(found.groupby("panel", sort=False), of).set_index("panel")


def two_phases(flows: pd.DataFrame, data: pd.DataFrame, variance: pd.DataFrame) -> list[Evidence]:
    """ma.text.twophase.1: |w| rises from a small norm, and else falls and then rises (Section 5.2).
    Surveys of population flows and of descents on few data; `variance` is the one-layer panel of
    small norm where k is a variance."""
    said = as_said(flows).groupby(flows["panel"], sort=False)
    shares = wilson(said.sum(), said.count())[0]
    seen = float(wilson(int(as_said(data).sum()), len(data))[0])
    first = variance["shape"] != RISING
    return [
        bound("population: least lower end, over the panels, of the 95 % interval of the share "
              "that Section 5.2 describes", round(float(shares.min()), 3), ">=", USUAL, "",
              after="the bar, after first runs"),
        bound("data: the lower end, over all panels", round(seen, 3), ">=", USUAL, "",
              after="the bar, after first runs"),
        fact("population flows whose shape up to the last step is another",
             int(flows["stray"].sum()), 0),
        bound("latest mean step of a turn, population",
              float(flows["turn"].groupby(flows["panel"], sort=False).mean().max()), "<",
              flows["panel"][0].steps, "steps"),
        note("starts per panel: population, data",
             tuple(len(found) // found["panel"].nunique() for found in (flows, data))),
        note("starts of another shape: population, data",
             tuple(int((~as_said(found)).sum()) for found in (flows, data))),
        note("if k is a variance, one layer, small norm: starts that fall first", int(first.sum())),
        note("their share's 95 % interval", share_interval(int(first.sum()), len(first))),
        note("data of a descent on few data", data["panel"][0].n),
    ]  # fmt: skip


READING = Reading(
    taken="k of N(0, k I) is a standard deviation, so that small, middle and large norm "
    "are 0.1, 1 and 2 times |w*|; on data a fall or rise by less than 0.001 |w*|, which "
    f"Figure 2 cannot show, is none; random starts do so with a share of {USUAL} or more",
    others="if k is a variance, the small norm is 0.32 |w*|, about the value below which "
    "|w| rises at the start for one layer, and many starts fall first; Section 5.2 is then "
    "false of panel 1L-SN",
)


# --- Two things that D.3 leaves open: what k in N(0, k I) is, and how the loss is normalised ------
#
# Both are decided from the paper's own numbers, at typical starts of its nine panels: |w*| and
# |w_0| at their typical size and phi_0 = pi/2.

DEVIATION, VARIANCE = "standard deviation", "variance"
"""What k in N(0, k I) may be."""
LOSSES: Mapping[str, float] = {
    "half the mean": 1.0,
    "mean": 2.0,
    "half the sum": float(runs.DATA),
    "sum": 2.0 * runs.DATA,
}
"""How often the usual half mean each loss holds, at D.3's n: a step is as many times larger."""
PROBE = 150
"""Steps in which a descent on a sum must have arrived: each makes the progress of thousands."""


def sizes(reading: str, layers: int, norm: float) -> tuple[float, float]:
    """Typical |w*| and |w_0|: sqrt(d) times the standard deviation of an entry."""
    root = (lambda k: k) if reading == DEVIATION else math.sqrt
    unit = math.sqrt(runs.DIMENSION)
    return unit * root(runs.SCALES[layers]), unit * root(runs.SCALES[layers] * norm)


def exceeds(reading: str, norm: float, factor: float) -> float:
    """The probability that |w_0| > factor |w*|, where |w_0|^2/|w*|^2 is a multiple of F(d, d)."""
    ratio = norm if reading == DEVIATION else math.sqrt(norm)
    return float(f_law.sf((factor / ratio) ** 2, runs.DIMENSION, runs.DIMENSION))


def ratios(seed: int, draws: int) -> NDArray:
    """Drawn |w_0|/|w*| of D.3's norms, k a standard deviation, (draws, 3), small norm first."""
    rng = np.random.default_rng(seed)
    lengths = np.linalg.norm(
        rng.standard_normal((2, draws, len(runs.NORMS), runs.DIMENSION)), axis=-1
    )
    return lengths[0] / lengths[1] * np.array(list(runs.NORMS))


def norm_table() -> pd.DataFrame:
    """By reading of k: the typical |w_0|/|w*| of the three norms, how often it is above 2, and the
    progress eta T |w*|^(2m) that D.3's three depths make."""

    def of(reading: str) -> dict[str, str]:
        typical = {name: sizes(reading, 1, norm) for norm, name in runs.NORMS.items()}
        paces = {layers: progress(reading, "half the mean", layers) for layers in runs.RATES}
        return {
            "k is the": reading,
            **{name: approx(length / target, 3) for name, (target, length) in typical.items()},
            "LN above 2: probability": approx(exceeds(reading, max(runs.NORMS), 2.0), 1),
            **{f"ηT|w*|²ᵐ, {layers} layers": approx(pace, 3) for layers, pace in paces.items()},
        }

    return survey((DEVIATION, VARIANCE), of).set_index("k is the")


def progress(reading: str, loss: str, layers: int) -> float:
    """eta T |w*|^(2m), the population's own time that the paper's steps take."""
    target, _ = sizes(reading, layers, 1.0)
    return LOSSES[loss] * runs.RATES[layers] * runs.STEPS * target ** (2 * layers - 2)


def loss_readings() -> pd.DataFrame:
    """All readings of k and of the loss, tried with D.3's printed rates: the panels, of nine, in
    which the population's descent comes to the target or follows the flow, and in which Figure 1's
    lower and upper bound are respected."""

    def panel(at: tuple[str, str, int, float]) -> dict[str, object]:
        kept = zip(("arrives", "lower bound holds", "upper bound holds"), fate(*at), strict=True)
        return {"k is the": at[0], "loss": at[1], **dict(kept)}

    found = survey(product((DEVIATION, VARIANCE), LOSSES, runs.RATES, runs.NORMS), panel)
    return found.groupby(["k is the", "loss"], sort=False).sum()


def fate(reading: str, loss: str, layers: int, norm: float) -> tuple[bool, bool, bool]:
    """Whether the population's descent at D.3's rate comes to the target, from the typical start of
    a panel, at a right angle to w*, and whether the angle respects the lower and the upper bound
    drawn in Figure 1, those of Theorems A.2 and 4.2 at that rate. A mean takes steps far below what
    the chain's largest curvature allows, and follows the flow; of a sum PROBE steps are taken."""
    (target, length), rate, more = sizes(reading, layers, norm), runs.RATES[layers], LOSSES[loss]
    start = Start.at(0.5 * math.pi, length, layers - 1, target)
    if more <= 2.0:
        (path,), pace = flows([start]), more * rate
        kept = (path.t >= pace) & (path.t <= pace * runs.STEPS)
        curvature = 0.5 * layers * max(target, length) ** (2 * start.m)
        T, theta, came = path.t[kept] / pace, path.theta[kept], pace * curvature < 0.1
    else:
        T = np.arange(1.0, PROBE + 1.0)
        with np.errstate(all="ignore"):
            path = start.descent(more * rate, PROBE)
        came, theta = bool(abs(path.rho[-1]) < 1e-3 and path.theta[-1] < 1e-3), path.theta[1:]
    ranges = (*runs.constants(start.v, start.target), start.target)
    below, above = gap_bounds(T, start.psi, *ranges, start.m, rate)
    return came, bool((theta < above).all()), bool((theta > below).all())


def norm_scale(seed: int, draws: int) -> list[Evidence]:
    """ma.text.scaleconv.1: standard deviations 0.1 k*, k*, 2 k* give small to large norms (D.3)."""
    drawn = ratios(seed, draws)
    ordered = int((np.diff(drawn) > 0.0).all(axis=1).sum())
    likelier = exceeds(DEVIATION, max(runs.NORMS), 2.0) / exceeds(VARIANCE, max(runs.NORMS), 2.0)
    paces = {
        r: [progress(r, "half the mean", k) for k in runs.RATES] for r in (DEVIATION, VARIANCE)
    }
    spread = {r: max(values) / min(values) for r, values in paces.items()}
    middle = np.exp(np.abs(np.log(drawn[:, 1])).max())
    return [
        fact(f"draws with small < middle < large, of {draws}", ordered, draws),
        bound("small norm: largest |w₀|/|w*| drawn", float(drawn[:, 0].max()), "<", 0.2, ""),
        bound("middle norm: largest of |w₀|/|w*| and its inverse drawn", float(middle), "<",
              2.0, ""),
        bound("|w₀| > 2|w*| for large norm: how much likelier than under a variance",
              likelier, ">", 20.0, ""),
        bound("ηT|w*|²ᵐ of the three depths: largest over smallest", spread[DEVIATION], "<",
              spread[VARIANCE], ""),
        note("seed", seed),
    ]  # fmt: skip


DEVIATION_READING = Reading(
    "k is a standard deviation: |w₀|/|w*| is about 0.1, 1 and 2",
    "k a variance: |w₀|/|w*| is about 0.32, 1 and 1.41. The bounds of Figure 1 hold all the same.",
)


def large_norm(seed: int, draws: int) -> tuple[list[Evidence], list[Evidence]]:
    """ma.text.scaleconv.2: a large norm exceeds 2 |w*| (Section 5.1). And how often it does."""
    above = int((ratios(seed, draws)[:, 2] > 2.0).sum())
    measured = [
        fact(f"draws of a large norm with |w₀| > 2|w*|, of {draws}", above, draws),
        note("seed", seed),
    ]
    return measured, [
        note("share of the draws, its 95 % interval", share_interval(above, draws)),
        *(note(f"probability, if k is a {reading}", exceeds(reading, max(runs.NORMS), 2.0),
               digits=digits)
          for reading, digits in ((DEVIATION, 3), (VARIANCE, 1))),
    ]  # fmt: skip


# --- D.1's remark on the convexity of the magnitude's bounds, as functions of time ----------------

CONVEXITY_READING = Reading(
    taken="convex as functions of time, and the convexity changes where the curve bends",
    others="if the level is that of the start, a bound of one layer is convex from above "
    "it and concave from below, as the remark says; then not all bounds are convex, and "
    "for two layers the levels are (1 - ε0)^(1/2) |w*| and that over 3^(1/2), not "
    "(1 - ε0) |w*|",
)

_RIGHT, _SMALL, _STEP = 0.5 * math.pi, 0.1, 1e-2
"""phi_0, |w_0| for |w*| = 1, and the step of the differences."""


def bends(case: Counterexample) -> list[Evidence]:
    """ma.text.convex: all bounds are convex, and where a lower one's convexity changes (D.1)."""

    def lower(t: np.ndarray) -> np.ndarray:
        return setting.two_layer_magnitude_bounds(t, _RIGHT, _SMALL, 1.0)[0]

    share = float(pull(_RIGHT))
    where = brentq(lambda t: float(np.diff(lower(t + _STEP * np.arange(-1, 2)), 2)[0]), 0.1, 60.0)
    level = float(lower(np.array([where]))[0])
    return [
        *case.breaks,
        bound("two layers, |w0| = 1/10: distance of the level at which the lower bound bends "
              "from (1 - ε0) |w*|", round(abs(level - share), 4), "<=", 0.001, "|w*|"),
        note("that level, and its value (1 - ε0)^(1/2) / 3^(1/2) by our formula",
             (level, math.sqrt(share / 3.0))),
    ]  # fmt: skip


def concave_bounds() -> Counterexample:
    """Both bounds of one layer from |w_0| = |w*|/10 at a right angle, at t = 1."""
    t, kappa = sp.symbols("t kappa", positive=True)
    curve = kappa * (1 - sp.exp(-t / 2)) + sp.Rational(1, 10) * sp.exp(-t / 2)
    names, limits = ("lower", "upper"), (1 / sp.pi, 1)
    drawn = setting.magnitude_bounds(1.0 + _STEP * np.arange(-1, 2), _RIGHT, _SMALL, 1.0)
    return Counterexample(
        instance={"φ0": "π/2", "|w0|": "1/10", "|w*|": 1, "t": 1},
        assumptions={"0 < φ0 < π": 0.0 < _RIGHT < math.pi, "|w0| > 0": _SMALL > 0.0},
        breaks=tuple(
            bound(f"second difference of the {name} bound, over h², h = 1/100",
                  float(np.diff(values, 2)[0]) / _STEP**2, ">=", 0, "")
            for name, values in zip(names, drawn, strict=True)
        ),
        recheck=tuple(
            bound(f"second derivative of the {name} bound by SymPy",
                  float(sp.diff(curve, t, 2).subs({t: 1, kappa: limit})), ">=", 0, "")
            for name, limit in zip(names, limits, strict=True)
        ),
        route="the bound differentiated by SymPy",
    )  # fmt: skip


def inflection(m: sp.Expr) -> sp.Expr:
    """u^(m+1) over level^(m+1) where a solution of u' = -1/2 u^m (u^(m+1) - level^(m+1)) below the
    level turns from convex to concave, m/(2m+1). Above the level it is convex."""
    return m / (2 * m + 1)


def bent_bounds() -> list[Evidence]:
    """ma.ours.restart.bend: where the bounds of the flow are convex and where they are concave, by
    u'' = f'(u) f(u) for u' = f(u), for all m at once."""
    m, (u, level) = sp.symbols("m", nonnegative=True), sp.symbols("u l", positive=True)
    z, end = u ** (m + 1), level ** (m + 1)
    f = -(u**m) * (z - end) / 2
    said = (2 * m + 1) * (z - inflection(m) * end) * (z - end) / 4
    apart = sp.expand(sp.diff(f, u) * f / u ** (2 * m - 1) - said)
    return [
        fact("u'' is a positive multiple of (z - m/(2m+1) ℓ^(m+1)) (z - ℓ^(m+1)), z = u^(m+1), "
             "for every m (SymPy)", sp.simplify(sp.powsimp(apart, force=True)) == 0, True),
    ]  # fmt: skip


# --- Figure 3 and Appendix D.1: bounds of the magnitude that start again at later points of a run -
#
# A bound restarted at step T_j takes w(T_j) for its start; Theorems A.1 (one layer) and A.3 (two)
# then bound |w(T)| for T > T_j, with eps_j = 1 - (sin phi(T_j) - phi(T_j) cos phi(T_j)) / pi in the
# place of eps_0.

SCALE = 1.2
"""D.3's k* for Figure 3."""
RATES = {1: 0.0006, 2: 0.0001}
STEPS = {1: 30_000, 2: 2_000}
POINTS = {1: (0, 2500, 5000, 7500), 2: (0, 120, 250, 500)}
"""D.3's learning rates, steps and points of restart by the number of layers."""


@dataclass(frozen=True)
class Restarts:
    """A panel of Figure 3 for one start: its training at every step; and of each restart, at the
    steps T_j of `points` in order, the lower and the upper bound at the steps T_j, T_j + 1, ..."""

    setting: runs.Setting
    path: PopulationPath
    points: tuple[int, ...]
    bounds: tuple[Bounds, ...]


def restart_setting(layers: int, norm: float, seed: int) -> runs.Setting:
    """D.3's setting of a panel of Figure 3; it does not say which norm k/k* the start has."""
    return runs.Setting(
        layers, norm, SCALE, RATES[layers], runs.DIMENSION, runs.DATA, STEPS[layers], seed
    )


def restart_run(setting: runs.Setting) -> Restarts:
    """Train a panel of Figure 3 on data and restart its bounds at D.3's four points."""
    return _restarted(setting, *runs.descents_on_data([setting]))


def tightening(layers: int, norm: float, seed: int, count: int) -> list[Restarts]:
    """The population's descent of a panel from `count` starts, restarted at D.3's four points."""
    panels = [restart_setting(layers, norm, seed + k) for k in range(count)]
    return [_restarted(q, runs.drawn_start(q).descent(q.rate, q.steps)) for q in panels]


def _restarted(setting: runs.Setting, path: PopulationPath) -> Restarts:
    points = POINTS[setting.layers]
    bounds = tuple(runs.magnitude_curves(setting, path, at) for at in points)
    return Restarts(setting, path, points, bounds)


def measured(panel: Restarts) -> dict[str, Any]:
    """What is asked of a panel's restarts; lengths over |w*|.

    falls    whether |w| falls and then rises by at least a hundredth of |w*| each
    shrinks  whether the mean distance of the bounds after the last restart shrinks at each restart
    left     the last of these distances over the first
    nested   how far a restarted bound is outside of the one before it, at worst; <= 0 where the
             bounds lie one inside the other at every step
    breach   how far |w| goes outside of its bounds, at worst
    early    restarts after which |w| is nearer to its lower bound over a hundredth of the steps
    late     restarts after which it is nearer to the upper one at the last step
    """
    v, target = panel.path.length, panel.path.target
    near, after = max(2, len(v) // 100), len(v) - panel.points[-1] - 1
    gaps = np.array([np.mean((high - low)[-after:]) for low, high in panel.bounds])
    outside = [
        max(np.max((low0[-len(low) :] - low)[1:]), np.max((high - high0[-len(low) :])[1:]))
        for (low0, high0), (low, high) in pairwise(panel.bounds)
    ]
    starts = zip(panel.points, panel.bounds, strict=True)
    rooms = [(v[at:] - low, high - v[at:]) for at, (low, high) in starts]  # below and above |w|
    least = [np.minimum(below, above)[1:].min() for below, above in rooms]
    return {
        "falls": bool(min(v[0], v[-1]) - v.min() > 0.01 * target),
        "shrinks": bool((np.diff(gaps) < 0.0).all()),
        "left": gaps[-1] / gaps[0],
        "nested": float(max(outside)) / target,
        "breach": max(0.0, -float(min(least))) / target,
        "early": sum(
            np.abs(below[1:near]).mean() < np.abs(above[1:near]).mean() for below, above in rooms
        ),
        "late": sum(abs(below[-1]) >= abs(above[-1]) for below, above in rooms),
    }


RESTARTS_READING = Reading(
    taken="the starts, whose norm D.3 does not give here, are of middle norm, k = k*: |w| "
    "falls and rises, and turns between the restarts, as Appendix D.1 describes it",
    others="large norm, k = 2 k*, has the same features; small norm is excluded, "
    "for |w| never falls",
)


def bounds_restarted(drawn: Sequence[Restarts], population: Sequence[Restarts]) -> list[Evidence]:
    """ma.fig3: bounds that start again are tighter, and the lower one tends to follow at first, the
    upper one at last. `drawn` are the figure's two panels, on data; `population` many starts of
    middle and large norm, on the population."""
    found, count = survey(population, measured), len(population[0].points)
    low = float(wilson(sum(found.early > count / 2), len(found))[0])
    return [
        *(item for panel in drawn for item in _panel(panel)),
        fact("population: starts whose gaps do not shrink", int((~found.shrinks).sum()), 0),
        fact("population: starts that do not fall and rise", int((~found.falls).sum()), 0),
        bound("population: a restarted bound outside of the one before, at most",
              found.nested.max(), "<=", 1e-9, "|w*|"),
        bound("population: share of the starts after most of whose restarts the lower bound is the "
              "nearer one at first, lower end of the interval", low, ">", 0.5, "", digits=2,
              after="the share, once starts had shown one such restart of the other kind"),
        note("population: starts, and those of which it is so after every restart",
             (len(found), int((found.early == count).sum()))),
    ]  # fmt: skip


def _panel(panel: Restarts) -> list[Evidence]:
    name, found, count = f"{panel.setting.layers}L", measured(panel), len(panel.points)
    return [
        fact(f"{name}: |w| falls, then rises", found["falls"], True),
        fact(f"{name}: the gap of the bounds shrinks at each restart", found["shrinks"], True),
        note(f"{name}: last gap over the first", found["left"], digits=2),
        bound(f"{name}: a restarted bound outside of the one before, at most",
              found["nested"], "<=", 1e-9, "|w*|"),
        note(f"{name}: restarts after which the lower bound is the nearer one at first, of all",
             (int(found["early"]), count)),
        fact(f"{name}: restarts after which the upper bound is the nearer one at the end",
             int(found["late"]), count),
        bound(f"{name}: |w| outside of its bounds, at most", found["breach"], "<=", 0.01, "|w*|"),
    ]  # fmt: skip
