"""The runs of Figures 1 and 2 and their settings (Section 5, Appendix D.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.approx import approx
from reluflow.errors import InputError
from reluflow.flows.segment import one_thread
from reluflow.ledger import Evidence, Reading, deviation, fact, note
from reluflow.papers.lee2023magnitude.chains import lockstep_descent
from reluflow.papers.lee2023magnitude.population import (
    RISING,
    TURNING,
    PopulationPath,
    coordinates,
    shape_of,
)
from reluflow.papers.lee2023magnitude.setting import (
    Bounds,
    Start,
    gap_bounds,
    layered_magnitude_bounds,
    magnitude_bounds,
    two_layer_magnitude_bounds,
)
from reluflow.progress import progress

# --- The settings of Figures 1 and 2 (Section 5, Appendix D.3), and how they carry over to others -

RATES = {1: 0.0003, 2: 0.000008, 3: 0.000002}
"""D.3's learning rate by the number of layers."""
SCALES = {1: 1.0, 2: 0.5, 3: 0.3}
"""D.3's k* by the number of layers: the target is drawn from N(0, k* I)."""
NORMS = {0.1: "SN", 1.0: "MN", 2.0: "LN"}
"""k/k* of small, middle and large norm: the start is drawn from N(0, k I)."""
DIMENSION, DATA, STEPS = 100, 10_000, 100_000
"""D.3's d and n, and the number of steps of Figures 1 and 2."""


@dataclass(frozen=True)
class Setting:
    """One panel's training.

    layers  m + 1: the vector w and m factors v_1, ..., v_m
    norm    k/k*, the ratio of the start's to the target's standard deviation
    scale   k*, the standard deviation of an entry of the target (see `experiments`)
    rate    the learning rate eta
    d, n    entries of a datum, number of data
    steps   number of descent steps
    seed    of the data, the target and the start
    """

    layers: int
    norm: float
    scale: float
    rate: float
    d: int
    n: int
    steps: int
    seed: int

    @property
    def m(self) -> int:
        """The number of factors besides w."""
        return self.layers - 1

    @property
    def name(self) -> str:
        """The panel's short name, "2L-SN" for two layers and small norm."""
        return f"{self.layers}L-{NORMS.get(self.norm, f'{self.norm:g}k*')}"

    @property
    def restart(self) -> int:
        """The step at which the bounds of the magnitude start again: w(20000), after a fifth."""
        return self.steps // 5

    def target(self) -> np.ndarray:
        """The target w* (d,), the same for all norms of one depth."""
        rng = np.random.default_rng([self.seed, 1, self.layers])
        return self.scale * rng.standard_normal(self.d)

    def start(self) -> np.ndarray:
        """The start w_0 (d,)."""
        rng = np.random.default_rng([self.seed, 2, self.layers, round(1e6 * self.norm)])
        return self.norm * self.scale * rng.standard_normal(self.d)

    def data(self) -> np.ndarray:
        """The data x_i (n, d), the same for all panels."""
        return np.random.default_rng([self.seed, 0]).standard_normal((self.n, self.d))


def experiment(
    layers: Sequence[int] = tuple(RATES),
    norms: Sequence[float] = tuple(NORMS),
    d: int = DIMENSION,
    n: int = DATA,
    steps: int = STEPS,
    learning_rate: float | None = None,
    seed: int = 0,
) -> tuple[Setting, ...]:
    """Panels that share their data, of all `layers` and `norms`; D.3's by default. A learning rate
    that is None is D.3's. Where D.3 has none, for more than three layers, k* is that of three, and
    the rate is the one for which eta k*^(2m) d^m, the progress a step makes, is that of three."""
    deepest, panels = max(RATES), []
    pace = RATES[deepest] * (SCALES[deepest] ** 2 * DIMENSION) ** (deepest - 1)
    for k, norm in product(map(int, layers), map(float, norms)):
        scale = SCALES.get(k, SCALES[deepest])
        rate = learning_rate or RATES.get(k) or pace / (scale**2 * d) ** (k - 1)
        panels.append(Setting(k, norm, scale, rate, int(d), int(n), int(steps), int(seed)))
    return tuple(panels)


def constants(v0: float, target: float) -> tuple[float, float]:
    """D.3's (r, R) of Theorems 4.2 and A.2: r = min(|w_0|, |w*|/2), R = max(|w_0|, |w*|). D.3 lists
    three cases, (|w_0|, |w*|) for small, (|w*|/2, max(|w_0|, |w*|)) for middle and (|w*|/2, |w_0|)
    for large norm; this is all three in one."""
    return min(v0, 0.5 * target), max(v0, target)


# --- The runs of Figures 1 and 2: descent on data, on the population, and the population's flow ---
#
# All three begin at one (phi_0, |w_0|) and are kept at every step, in the coordinates
# psi = log tan(phi/2) and rho = log(|w|/|w*|). The loss is half the mean of the squares; why, the
# module `experiments` says.

EXPLODED = np.log(1e3)
"""A descent whose |w| grows by more diverges: one that converges hardly passes its bounds."""


@dataclass(frozen=True, eq=False)
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
    def trained(self) -> PopulationPath:
        """The path that the panel is about: empirical, or the population's where there is none."""
        return self.population if self.empirical is None else self.empirical

    @property
    def paths(self) -> dict[str, PopulationPath]:
        """The paths by name, the empirical one first."""
        known = {"population": self.population, "flow": self.flow}
        return known if self.empirical is None else {"empirical": self.empirical, **known}


def train(settings: Sequence[Setting], data: bool = True) -> tuple[Run, ...]:
    """Train every panel, without descent on data if `data` is false. Panels share their data and
    their number of steps. Raises InputError for a panel that diverges, or whose start is along the
    target."""
    with one_thread():  # the same digits on one core and on many
        starts = list(map(drawn_start, settings))
        empirical = descents_on_data(settings) if data else (None,) * len(settings)
        panels = progress(zip(settings, starts, empirical, strict=True), len(settings), "panels")
        return tuple(Run(*panel, *_on_the_population(*panel[:2])) for panel in panels)


def _on_the_population(setting: Setting, start: Start) -> tuple[PopulationPath, PopulationPath]:
    with np.errstate(all="ignore"):
        descent = start.descent(setting.rate, setting.steps)
    if _explodes(descent.rho, start.rho):
        raise _diverged(setting)
    return descent, start.flow(setting.rate * np.arange(setting.steps + 1.0))


def drawn_start(setting: Setting) -> Start:
    """The start of a panel; InputError where it is along the target."""
    best = setting.target()
    psi, rho = (float(value) for value in coordinates(setting.start(), best))
    if not np.isfinite(psi):
        raise InputError(f"{setting.name}: the start lies along the target; take another seed")
    return Start(psi, rho, setting.m, float(np.sqrt(np.sum(best**2))))


def descents_on_data(settings: Sequence[Setting]) -> tuple[PopulationPath, ...]:
    """Coordinates of the panels' descents at every step, data and steps those of the first."""
    first, m = settings[0], np.array([setting.m for setting in settings])
    X, w = first.data(), np.array([setting.start() for setting in settings])
    best = np.array([setting.target() for setting in settings])
    target, step = np.linalg.norm(best, axis=1), np.array([s.rate / s.n for s in settings])
    # The target's factors are |w*| each, as balance asks of the network's.
    y = target[:, None] ** m[:, None] * np.maximum(best @ X.T, 0.0)
    parts = []
    with one_thread(), np.errstate(all="ignore"):
        for states, v in lockstep_descent(X, y, w, step, first.steps, m):
            psi, rho = coordinates(states, best)
            parts.append((psi, rho, v))
            for k, setting in enumerate(settings):
                if _explodes(rho[:, k], parts[0][1][0, k]):
                    raise _diverged(setting)
    psi, rho, v = (np.concatenate(part).T.copy() for part in zip(*parts, strict=True))
    T, sizes = np.arange(first.steps + 1.0), target.tolist()
    columns = zip(psi, rho, v, sizes, strict=True)
    return tuple(PopulationPath(T, *column, clock="steps") for column in columns)


def distance(one: PopulationPath, other: PopulationPath) -> tuple[float, float]:
    """The largest difference over all steps: of the angle, in radians, and of |w|, in |w*|."""
    angle = np.abs(one.theta - other.theta).max()
    return float(angle), float(np.abs(one.length - other.length).max() / one.target)


def printed_panels(runs: Sequence[Run]) -> tuple[Run, ...] | None:
    """D.3's nine panels among the runs, trained on data, of any seed; None if one is missing."""
    wanted = experiment(seed=runs[0].setting.seed)
    found = tuple(run for run in runs if run.setting in wanted and run.empirical is not None)
    return found if len(found) == len(wanted) else None


def _explodes(rho: NDArray, rho0: float) -> bool:
    """Whether |w| passes the larger of |w_0| and |w*| many times over, or stops being a number."""
    return not (rho < max(rho0, 0.0) + EXPLODED).all()


def _diverged(setting: Setting) -> InputError:
    return InputError(
        f"{setting.name} diverges at learning rate {setting.rate:g}: choose a smaller learning_rate"
    )


# --- Figures 1 and 2: whether their bounds are respected at every step, and if not, why not -------
#
# Every bound is held against three paths from one start: the descent on data, the descent on the
# population, and the population's flow with the flow's own version of the bound. A step at which
# the flow breaks its bound shows a false statement; one at which only the descents do, the finite
# step; one at which the descent on data alone does, the finite sample.

ROUNDING = 1e-12
"""A bound passed by less, in radians or in units of |w*|, is not told from one that is met."""
NO_BREAK = "\u2011"  # a hyphen at which no line is broken
ANGLES = ("A.2", "4.2")
"""The theorems on the angle, which suppose that r < |w(T)| < R."""


@dataclass(frozen=True)
class Check:
    """One side of one bound in one panel.

    panel, bound   as "2L-SN" and "A.3"; side "lower" or "upper"; start, the step it starts from
    excess         by path, "empirical" (absent if there was no such run), "population" and "flow":
                   by how much it is beyond the bound at the steps from `start` on, in radians for
                   angles and in units of |w*| for magnitudes
    applies        by path, whether r < |w(T)| < R at all those steps, where the theorem asks it
    """

    panel: str
    bound: str
    side: str
    start: int
    excess: dict[str, NDArray]
    applies: dict[str, bool]

    @property
    def trained(self) -> str:
        """The path that the panel is about."""
        return "empirical" if "empirical" in self.excess else "population"

    def broken(self, path: str) -> NDArray:
        """At which of the steps from `start` on this path passes the bound, beyond rounding or as
        it is no number; at `start` itself the angle is inside and the magnitude on the bound."""
        return ~(self.excess[path] <= ROUNDING)

    def passed(self, path: str) -> bool:
        """Whether this path passes the bound at some step."""
        return bool(self.broken(path).any())

    def most(self, path: str) -> float:
        """By how much this path passes the bound at most; 0 if it does not, inf if it is lost."""
        excess = np.where(np.isnan(self.excess[path]), np.inf, self.excess[path])
        return float(np.max(excess, where=self.broken(path), initial=0.0))

    @property
    def causes(self) -> dict[str, int]:
        """The trained path's breaches by cause: numbers of steps, without zeros. It is "r, R" where
        |w(T)| leaves the theorem's interval (r, R)."""
        broken, flow, descent = map(self.broken, (self.trained, "flow", "population"))
        counts = {"statement": broken & flow, "finite step": broken & descent & ~flow}
        counts["finite sample"] = broken & ~flow & ~descent
        if not self.applies[self.trained]:
            counts = {"r, R": broken}
        return {cause: int(steps.sum()) for cause, steps in counts.items() if steps.any()}


@lru_cache(maxsize=2)  # the page asks for them, and its claim again
def angle_checks(runs: tuple[Run, ...]) -> tuple[Check, ...]:
    """Figure 1: Theorem A.2 (one layer) or 4.2 on phi(T), both sides, for T = 1, 2, ..."""
    found: list[Check] = []
    for run in runs:
        r, R = constants(run.start.v, run.start.target)
        excess, applies = {}, {}
        for name, path in run.paths.items():
            below, above = angle_curves(run, path)  # an upper bound of pi - phi is phi's lower one
            excess[name] = path.theta - above, below - path.theta
            applies[name] = bool(((r < path.length[1:]) & (path.length[1:] < R)).all())
        found += _sides(run, ANGLES[min(run.setting.m, 1)], 0, excess, applies)
    return tuple(found)


@lru_cache(maxsize=4)
def magnitude_checks(runs: tuple[Run, ...], restarted: bool = False) -> tuple[Check, ...]:
    """Figure 2: Theorem A.1 (one layer) or A.3 (two) on |w(T)|, both sides, for T = 1, 2, ... With
    `restarted` for the bounds that start at a fifth of the steps, w(20000), and later T. Runs of
    more layers are left out: their bounds have no closed form."""
    found: list[Check] = []
    for run in (run for run in runs if run.setting.layers <= 2):
        start, excess = run.setting.restart if restarted else 0, {}
        for name, path in run.paths.items():
            lower, upper = magnitude_curves(run.setting, path, start)
            length = path.length[start:]
            excess[name] = (lower - length) / run.start.target, (length - upper) / run.start.target
        everywhere = dict.fromkeys(run.paths, True)
        found += _sides(run, ("A.1", "A.3")[run.setting.m], start, excess, everywhere)
    return tuple(found)


def angle_curves(run: Run, path: PopulationPath) -> Bounds:
    """Figure 1's bounds on pi - phi at every step of a path of the run, by its own version."""
    r, R = constants(run.start.v, run.start.target)
    step = run.setting.rate if path.clock == "steps" else None
    return gap_bounds(path.t, run.start.psi, r, R, run.start.target, run.setting.m, step)


def magnitude_curves(
    setting: Setting, path: PopulationPath, start: int = 0, at: NDArray | None = None
) -> Bounds:
    """Figures 2's and 3's bounds on |w| of a path, from its own w(start) on, at every later step or
    at some. Theorem A.1 or A.3, for the flow 3.3 or 3.8; for more layers 3.8 in its right form, at
    the times eta T."""
    t = path.t[slice(start, None) if at is None else at] - path.t[start]
    step = setting.rate if path.clock == "steps" else None
    given = float(path.phi[start]), float(path.length[start]), path.target
    if setting.layers > 2:
        return layered_magnitude_bounds(t * (step or 1.0), *given, setting.m)
    return (magnitude_bounds, two_layer_magnitude_bounds)[setting.m](t, *given, step)


def compliance_table(checks: Iterable[Check]) -> pd.DataFrame:
    """One row for each check of a bound that some path passes: where, by how much, and why."""
    checks, rows = [check for check in checks if any(map(check.passed, check.excess))], []
    for check in checks:
        broken = check.start + np.flatnonzero(check.broken(check.trained))
        most, some = approx(check.most(check.trained), 2).replace("-", NO_BREAK), len(broken) > 0
        rows.append({
            "panel": check.panel.replace("-", NO_BREAK),
            "theorem": check.bound + (f" from w({check.start})" if check.start else ""),
            "side": check.side,
            f"{check.trained.replace('empirical', 'data')}: steps": len(broken),
            "first": int(broken[0]) if some else "–",
            "last": int(broken[-1]) if some else "–",
            "by at most": most if some else "–",
            **{f"{name}: steps": int(check.broken(name).sum()) for name in check.excess
               if name != check.trained},
            "cause": ", ".join(f"{cause} {k}" for cause, k in check.causes.items()) or "–",
            "r < |w| < R": "yes" if check.applies[check.trained] else "no",
        })  # fmt: skip
    index = ["panel", "theorem", "side"]
    table = pd.DataFrame(rows, columns=None if rows else index).set_index(index)
    if any(check.bound in ANGLES for check in checks):
        return table
    return table.drop(columns="r < |w| < R", errors="ignore")


def _sides(
    run: Run,
    theorem: str,
    start: int,
    excess: Mapping[str, tuple[NDArray, NDArray]],
    applies: dict[str, bool],
) -> list[Check]:
    """The checks of the lower and of the upper bound, by each path's excess over either."""
    sides = [{path: pair[k] for path, pair in excess.items()} for k in range(2)]
    return [Check(run.setting.name, theorem, side, start, by, applies)
            for side, by in zip(("lower", "upper"), sides, strict=True)]  # fmt: skip


VISIBLE = 1e-3
"""A fall or rise of the magnitude by less than this share of |w*| is not seen in Figure 2."""
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


def figure_1(panels: Sequence[Run]) -> list[Evidence]:
    """ma.fig1: both bounds of the angle hold in nine panels, at every step of every path; small
    norm is first with one layer and last with three."""
    checks = angle_checks(tuple(panels))
    times = {(run.setting.layers, run.setting.norm): _halving(run) for run in panels}
    small, *others = NORMS
    outside = [c.panel for c in checks if c.side == "lower" and not c.applies["empirical"]]
    return [
        fact("panels", len(panels), len(RATES) * len(NORMS)),
        fact("steps checked in each", {len(c.excess["flow"]) - 1 for c in checks} == {STEPS}, True),
        *(fact(f"of 18 bounds, passed {by}", sum(check.passed(path) for check in checks), 0)
          for path, by in (("empirical", "at some step by the run on data"),
                           ("population", "by descent on the population"),
                           ("flow", "by the population's flow"))),
        fact("one layer: small norm halves its angle first",
             all(times[1, small] < times[1, norm] for norm in others), True),
        fact("three layers: small norm halves its angle last",
             all(times[3, small] > times[3, norm] for norm in others), True),
        note("panels in which |w(T)| leaves (r, R), so that the theorem is silent",
             ", ".join(outside) or "none"),
        note("seed", panels[0].setting.seed),
    ]  # fmt: skip


def said_of(setting: Setting) -> str:
    """The shape that Section 5.2 gives a panel: rising for small norm, else falling and rising."""
    return RISING if setting.norm < 0.5 else TURNING


def figure_2(runs: Sequence[Run]) -> list[Evidence]:
    """ma.fig2: the magnitude stays between its bounds to the width of a line; the lower one follows
    at first, the upper one at last; restarted bounds are tighter; and the shapes are Section
    5.2's."""
    panels = tuple(run for run in runs if run.setting.layers <= 2)
    every = tuple(runs)
    checks = magnitude_checks(every) + magnitude_checks(every, restarted=True)
    early, late, tighter = (sum(column) for column in zip(*map(_nearer, panels), strict=True))
    count, causes = len(panels), sorted({cause for check in checks for cause in check.causes})
    shapes = [shape_of(run.trained.length, VISIBLE * run.start.target)[0] for run in panels]
    return [
        fact("panels", count, 2 * len(NORMS)),
        deviation("largest excess over a bound, restarted ones included",
                  max(check.most("empirical") for check in checks), "|w*|"),
        fact("of 24 bounds, passed by the population's flow",
             sum(check.passed("flow") for check in checks), 0),
        fact("panels whose lower bound is the nearer one after 1 % of the steps", early, count),
        fact("panels in which the upper bound is the nearer one at the end", late, count),
        fact("panels whose restarted bounds are closer together from then on", tighter, count),
        fact("panels in which |w(T)| moves as Section 5.2 says, as far as can be seen",
             sum(shape == said_of(run.setting) for shape, run in zip(shapes, panels, strict=True)),
             count),
        note("of 24 bounds, passed at some step by the run on data",
             sum(check.passed("empirical") for check in checks)),
        note("of 24 bounds, passed by descent on the population",
             sum(check.passed("population") for check in checks)),
        note("causes, on data", ", ".join(causes) or "none"),
        note("seed", panels[0].setting.seed),
    ]  # fmt: skip


def _halving(run: Run) -> int:
    """Steps that halve pi - phi of the descent on data; one too many where it is never halved."""
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
