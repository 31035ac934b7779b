"""The page `layers`: Theorems 4.2 and A.3, Corollary 4.3."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Report, Statement, extended, falsify
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude import descent, setting
from reluflow.papers.lee2023magnitude.descent import (
    OPPOSITE,
    SEEN,
    Descent,
    angle_slacks,
    demands,
    draws,
    statement,
    to_the_limit,
    try_all,
)
from reluflow.papers.lee2023magnitude.population import PopulationPath, pull
from reluflow.papers.lee2023magnitude.setting import Start, angle_rates, gap_bounds

# --- Descent of several layers: Theorem 4.2 and Corollary 4.3 on the angle ------------------------

AWAY_4_2 = 0.5
"""A start is away from the teacher if pi - phi0 is at least this."""

AWAY_DRAWS = draws(
    (1, 2, 3),
    psi=(math.log(math.tan(0.5 * OPPOSITE)), -math.log(math.tan(0.5 * AWAY_4_2))),
    rho=(-8.0, 1.5),
)


FAR = f"phi0 >= {OPPOSITE}, pi - phi0 >= {AWAY_4_2}"
CALM = "eta max(|w0|, v*)^(2m) <= 1/10"
AWAY_TESTS = {
    FAR: lambda run: run.start.phi >= OPPOSITE and run.start.theta >= AWAY_4_2,
    CALM: lambda run: run.overshoot() <= 0.1,
    **{name: descent.ON_THE_ANGLE[name] for name in ("r < |w(T)| < R", "step small enough")},
    "r < |w0| < R": lambda run: run.norm_range()[0] < run.start.v < run.norm_range()[1],
}
"""Starts away from phi0 = 0 and pi, with r < |w0| < R, while the printed condition is on T > 0
only, and `CALM`, which is not printed: |w0| far above R, or v*, makes a first step too long."""
WITHIN = f"{FAR}, r < |w0| < R, {CALM}"


@statement(f"4.2: both bounds of phi(T), T >= 1, {WITHIN}", AWAY_DRAWS, AWAY_TESTS)
def angle_away(run: Descent) -> float:
    """ma.thm4.2: both bounds of Theorem 4.2, away from phi0 = 0 and pi. At T = 0 the slack depends
    on phi0 alone, and would be all that a search lowers."""
    return float(np.min([side[1:] for side in angle_slacks(run)]))


@statement(
    f"4.3: phi(T) > pi - eps after T steps, eta <= X/10 of Theorem 4.2, {WITHIN}",
    extended(
        AWAY_DRAWS, lambda item, rng: {"asked": np.array(int(rng.integers(1, 1 + item["steps"])))}
    ),
    AWAY_TESTS,
)
def steps_away(run: Descent) -> float:
    """ma.cor4.3: Corollary 4.3 away from phi0 = 0 and pi, at the steps of Theorem 4.2. The eps is
    the one for which it asks for just less than "asked" steps."""
    path, start, asked = run.path, run.start, run.asked - 1e-6
    slow, _ = angle_rates(start.phi, *run.norm_range(), start.target, start.m)
    log_eps = math.log(2.0) - start.psi + math.log(1.0 - slow * run.step) * asked
    return float(log_eps - np.log(path.theta[path.t > asked]).max())


@statement(
    "corrected factors per step of tan((pi - phi)/2)",
    to_the_limit((0, 1, 2, 3, 10), lambda start: 2.0 / max(start.v, start.target) ** (2 * start.m)),
    {
        "start": lambda run: run.start.phi > 0.0 and run.start.theta > 0.0,
        "range": lambda run: bool(((run.path.v > 0.0) & (run.path.v < np.inf)).all()),
        "step": lambda run: run.step * run.ranges()[2] ** 2 < 2.0,
    },
    "ma.ours.descent.angle",
)
def corrected_angle(run: Descent) -> float:
    """ma.ours.descent.angle: every step multiplies tan((pi - phi)/2) by at least
    1 - h(high) / (1 - eta product^2 / 2) and at most 1 - (phi0/pi) h(low) / (1 + h(low)), with
    h(x) = x v*^(m+1) eta / 2 and (low, high, product) of `Descent.ranges`."""
    start, path = run.start, run.path
    low, high, product = run.ranges()
    unit = 0.5 * start.target ** (start.m + 1) * run.step
    least, h = 1.0 - unit * high / (1.0 - 0.5 * run.step * product**2), unit * low
    most = 1.0 - start.phi / math.pi * h / (1.0 + h)
    with np.errstate(divide="ignore"):  # a factor below 0 asks for nothing
        fast, slow = np.log(np.maximum([least, most], 0.0))
    log_ratio = -np.diff(path.psi[path.theta > SEEN])
    return float(np.minimum(slow - log_ratio, log_ratio - fast).min())


def one_fraction() -> list[Evidence]:
    """Of ma.thm4.2: `demands`; and for m = v* = 1 and eta = X/10 = 1/15, where `CALM` does not
    hold, from phi0 = 5/2 and eta |w0|^2 = 5/2 a step turns w over, and |w| stays bounded and away
    from 0."""
    step, start = 1.0 / 15.0, Start.at(2.5, math.sqrt(37.5), 1)
    path = start.descent(step, 30000)
    _, gap = gap_bounds(1.0, start.psi, 1.0, 1.0, 1.0, 1, step)
    at = "one fraction for all starts, phi0 = 5/2, |w0|^2 = 5/(2 eta), eta = X/10: "
    return [
        *demands(),
        bound(f"{at}phi(1) below the lower bound", float(path.theta[1] - gap), ">", 0.0, ""),
        note("phi(1), and the lower bound", (float(path.phi[1]), math.pi - float(gap))),
        fact("its v_1 is positive again after 30000 steps", path.v[-1] > 0.0, True),
        note("its least and largest |w(T)| up to there, T >= 1",
             (float(path.length[1:].min()), float(path.length[1:].max()))),
    ]  # fmt: skip


def small_steps(report: Report, on: str) -> Reading:
    """How small eta has to be may depend on the start, and on what else; and what is known where
    one fraction of X is to serve all starts."""
    return Reading(
        taken=f"descent is that of eq. (3); how small eta has to be may depend on {on}",
        others="with X the limit of Theorem 4.2, no fraction of X serves all starts: each is too "
        "large for some starts near the teacher, by the order of eta, and from some large |w0| for "
        f"others. For {WITHIN}, X/10 did: "
        f"{sum(report.violations.values())} of {report.tried} descents break it. If descent is "
        "Euler steps of (9)-(10), as in the proof of Theorem A.1, X/10 serves all starts with r < "
        "v(T) < R for T >= 0, if the upper bound has (1 - q eta)^(3T) for (1 - 3 q eta)^T",
    )


# --- Descent of two layers: Theorem A.3, which fails on both sides, and its repair ----------------

STEPS_A_3 = tuple(Fraction(1, k) for k in descent.SMALLNESS)
"""Steps of the counterexample to Theorem A.3: v* = |w0| = v_1 = 1, phi0 = pi/2."""

TWO_LAYERS = {
    "A.3: |w(T)| above the lower bound": (0, "w"),
    "A.3: v_1(T) above the lower bound": (0, "v"),
    "A.3: |w(T)| below the upper bound": (1, "w"),
    "A.3: v_1(T) below the upper bound": (1, "v"),
}


def _prolonged(item: Instance, _: np.random.Generator) -> Instance:
    """Until |w| has settled, 30 / (eta v*^2) steps."""
    pace = float(item["step"] * item["target"] ** 2)
    return {"steps": np.array(min(2000, math.ceil(30.0 / pace)))}


def two_layers(name: str) -> Statement:
    """One half of Theorem A.3, named in `TWO_LAYERS`; slack over |w*|, T >= 1; long: X/10 only."""
    side, which = TWO_LAYERS[name]
    tried = draws((1,), lambda start: 1.0 / max(start.v, start.target) ** 2)
    (first, one), *_ = tried.items()

    @statement(
        name,
        {**tried, **extended({f"{first}, long": one}, _prolonged)},
        {
            "no step overshoots": descent.ON_THE_ANGLE["no step overshoots"],
            "step small against 1/v*^2": lambda run: run.is_below(1 / run.start.target**2),
        },
    )
    def slack(run: Descent) -> float:
        start, path = run.start, run.path
        size = path.length if which == "w" else path.v
        given = (start.phi, start.v, start.target, run.step)
        limit = setting.two_layer_magnitude_bounds(path.t, *given)[side]
        return float((limit - size if side else size - limit)[1:].min()) / start.target

    return slack()


@statement(
    "A.3 corrected: lower bound of |w| and v_1, upper bound of v_1",
    to_the_limit((1,), lambda start: 0.1 / max(start.v, start.target) ** 2),
    {
        "start": lambda run: run.start.phi > 0.0 and run.start.theta > 0.0 and run.start.m == 1,
        "step": lambda run: run.overshoot() <= 0.1,
    },
    "ma.ours.descent.two",
)
def corrected_two_layers(run: Descent) -> float:
    """ma.ours.descent.two: for |w| and v_1 the lower bound holds with a corrected step, for v_1 the
    upper one as printed. With a = (1 - eps_0) v*^2 and x = eta (v0^2 - a) / 2 the step eta becomes
    eta (1 - 3/4 a eta) where x <= 0 (the bound grows), else eta (1 - x/2) / (1 - x)^2."""
    start, path, step, v = run.start, run.path, run.step, run.path.v
    a = float(pull(start.phi)) * start.target**2
    x = 0.5 * step * (start.v**2 - a)
    moved = step * (1.0 - 0.75 * a * step) if x <= 0.0 else step * (1.0 - x / 2) / (1.0 - x) ** 2
    given = (path.t, start.phi, start.v, start.target)
    lower = setting.two_layer_magnitude_bounds(*given, moved)[0]
    upper = setting.two_layer_magnitude_bounds(*given, step)[1]
    slacks = np.minimum(np.minimum(path.length, v) / lower - 1.0, 1.0 - v / upper)
    return float(slacks[1:].min())


def broken(report: Report) -> list[Evidence]:
    """How many draws broke a statement, and at which smallness of the step."""
    kinds = ", ".join(f"{kind}: {count}" for kind, count in report.violations.items())
    return [
        fact(f"{report.says}: instances that break it", sum(report.violations.values()), 0),
        note("of them, by the step", kinds or "none"),
        note("instances tried, and drawn", (report.tried, report.drawn)),
    ]


def run_from_the_middle(step: Fraction) -> tuple[PopulationPath, NDArray, NDArray]:
    """Descent from phi0 = pi/2, |w0| = v_1 = v* = 1 until eta T = 20, and Theorem A.3's bounds."""
    path = Start(0.0, 0.0, 1).descent(float(step), math.ceil(20 / step))
    return path, *setting.two_layer_magnitude_bounds(path.t, math.pi / 2, 1.0, 1.0, float(step))


def _printed_exactly(T: int, eta: Any, share: Any) -> Any:
    """Theorem A.3's lower bound (share = 1 - eps_0 = 1/pi) or upper one (1) at step T."""
    return mpmath.sqrt(share / (1 - (1 - share) * (1 - share * eta) ** T))


def lower_bound_missed() -> Counterexample:
    """ma.thmA.3.1: the lower bound fails at T = 1, for |w| and for v_1, at every step size."""
    runs = [run_from_the_middle(step) for step in STEPS_A_3]
    low = [sum(bool(size(path)[1] <= lower[1]) for path, lower, _ in runs)
           for size in (lambda path: path.length, lambda path: path.v)]  # fmt: skip
    recheck = []
    with mpmath.workdps(descent.DIGITS):
        start = descent.balanced(mpmath.pi / 2, 1, 1)
        for step in STEPS_A_3:
            eta = mpmath.mpf(1) / step.denominator
            after = descent.vector_descent(start, eta, 1)
            lower = _printed_exactly(1, eta, 1 / mpmath.pi)
            recheck += [
                bound(f"{name}(1) below the lower bound, step {step}, by a 30-digit vector step",
                      float((lower - value) / eta**2), "<", 0.0, "of the step squared")
                for name, value in (("|w|", abs(after.w)), ("v_1", after.v[0]))
            ]  # fmt: skip
    return _from_the_middle(
        breaks=(
            fact("of the three steps, how many have |w(1)| below the lower bound", low[0], 0),
            fact("of the three steps, how many have v_1(1) below the lower bound", low[1], 0),
        ),
        recheck=tuple(recheck),
        route="a step of the vector w and of v_1 in 30 digits",
    )


def upper_bound_passed() -> Counterexample:
    """ma.thmA.3.2: for |w| the upper bound fails at late T at every step size."""
    runs = [run_from_the_middle(step) for step in STEPS_A_3]
    above = sum(bool(path.length[-1] >= upper[-1]) for path, _, upper in runs)
    with mpmath.workdps(descent.DIGITS):
        eta = mpmath.mpf(1) / 10
        late = descent.vector_descent(descent.balanced(mpmath.pi / 2, 1, 1), eta, 200)
        excess = (abs(late.w) - _printed_exactly(200, eta, 1)) / eta
    return _from_the_middle(
        breaks=(
            fact("of the three steps, how many have |w(20/step)| above the upper bound", above, 0),
        ),
        recheck=(bound("|w(200)| above the upper bound, step 1/10, by 30-digit vector steps",
                       float(excess), "<", 0, "of the step"),),
        route="descent of the vector w and of v_1 in 30 digits",
    )  # fmt: skip


def _from_the_middle(
    breaks: tuple[Evidence, ...], recheck: tuple[Evidence, ...], route: str
) -> Counterexample:
    start = descent.balanced(mpmath.pi / 2, 1, 1)
    return Counterexample(
        instance={"v*": 1, "|w0| = v_1(0)": 1, "phi0": "pi/2", "step": list(STEPS_A_3)},
        assumptions={
            "balanced start": bool(abs(start.w) == start.v[0]),
            "the steps are a tenth, a hundredth, a thousandth of 1/v*^2 = 1/|w0|^2": all(
                step * k == 1 for step, k in zip(STEPS_A_3, descent.SMALLNESS, strict=True)
            ),
        },
        breaks=breaks,
        recheck=recheck,
        route=route,
    )


# --- Every statement on descent of several layers, tried once -------------------------------------


def try_more_layers(seed: int, count: int) -> dict[str, Report]:
    """Try factors per step that serve all starts, a repair of Theorem A.3, with five times as many
    draws Theorem 4.2 and Corollary 4.3 away from phi0 = 0 and pi, at one fraction for all starts,
    and Theorem A.3 as printed. Of 4.2 and 4.3 there is a proof for small steps alone: a search
    goes on from their worst draws."""
    away = {"4.2 away": angle_away, "4.3 away": steps_away}
    printed = {name: partial(two_layers, name) for name in TWO_LAYERS}
    proved = {"4.2 corrected": corrected_angle, "A.3 corrected": corrected_two_layers}
    return (
        try_all(seed, count, **proved)
        | {name: falsify(made(), seed, 5 * count, 5 * count) for name, made in away.items()}
        | try_all(seed, count, **printed)
    )
