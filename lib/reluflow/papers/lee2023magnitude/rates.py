"""The page `rates`: convergence, Theorems 3.2 and 3.7, phases and times, and Proposition 3.5."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import odeint, solve_ivp

from reluflow.errors import InputError
from reluflow.falsify import (
    Draws,
    Instance,
    Report,
    Statement,
    falsify,
    given,
    planted,
    statement,
    survived,
)
from reluflow.ledger import Counterexample, Evidence, Reading, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude import population
from reluflow.papers.lee2023magnitude.laws import beside_nullcline, resting, starts, upper_tail
from reluflow.papers.lee2023magnitude.population import FALLING, RISING, TURNING, Phases
from reluflow.papers.lee2023magnitude.setting import Start, drawn, one_layer_length

# --- Theorems 3.2 and 3.7: the flow comes to w* from every start off the edge phi_0 = 0 -----------

REACHED = 1e-6
"""A flow has come to w* when |w - w*| is below this share of |w*|."""

PATIENCE = 1e10
"""A flow that waits longer before it moves cannot be integrated in time."""


def converges(layers: Sequence[int]) -> Statement:
    """ma.thm3.2, ma.thm3.7: phi strictly increases to pi, and w goes to w* (Theorems 3.2, one
    layer, and 3.7). The slack is the smaller of 1 - |w - w*| / (REACHED |w*|) at the last time and
    of the smallest rise of psi between the times at which the flow is seen."""

    def slack(item: Instance) -> float:
        start = Start.of(item)
        orbit = population.orbits(start.psi, start.rho, start.m)
        steps = np.floor((orbit.psi[0] - start.psi) / 0.5)  # rises are not measured between nearer
        s = orbit.s[0, np.diff(steps, prepend=-1.0) >= 1.0]
        s = np.concatenate([s, s[-1] + [15.0, 40.0]])  # the error shrinks by e^-20
        field, at = population.BalancedFlow(start.m), [start.psi, start.rho]
        psi, paths = odeint(field.velocity, at, s, rtol=1e-12, atol=1e-13, mxstep=10**6).T
        rho, theta = paths[-1] + math.log(planted(item)), population.angle(-psi[-1])
        left = np.hypot(np.expm1(rho), 2.0 * np.exp(0.5 * rho) * np.sin(0.5 * theta))
        return float(min(np.diff(psi).min(), 1.0 - left / REACHED))

    def arrives(item: Instance) -> bool:
        start = Start.of(item)
        return float(population.orbits(start.psi, start.rho, start.m).s[0, -1]) < PATIENCE

    return Statement(
        says="phi strictly increases to π and w goes to w*",
        draws=starts(layers),
        slack=slack,
        hypotheses={
            "0 < phi0 < pi": lambda item: 0.0 < Start.of(item).phi < math.pi,
            "|w0| > 0": lambda item: Start.of(item).v > 0.0,
            f"the flow arrives by s = {PATIENCE:g}, where floats still tell times apart": arrives,
        },
        strict=True,
    )


# --- Eq. (11): |w(t)| is said to be monotone, and how far depth lets it fall ----------------------

DEPTHS = (1, 2, 3, 5, 10, 20)
"""The numbers m of factors besides w on which eq. (11)'s text is tried."""


def followed(layers: Sequence[int]) -> Draws:
    """Starts whose turn can be followed: not within 0.1 of the teacher's direction."""
    low, high = (-3.5, -2.0), (1.0, 3.0)
    kinds = {
        "moderate": ((-1.0, 1.0), (-1.0, 1.0)),
        "the teacher's norm": ((-1.0, 1.0), (0.0, 0.0)),
        "phi0 near 0": (low, (-1.0, 1.0)),
        "phi0 near pi": (high, (-0.2, 0.5)),
        "tiny norm": ((-1.0, 1.0), (-6.0, -3.0)),
        "huge norm": ((-1.0, 1.0), (3.0, 6.0)),
        "phi0 near pi, huge norm": (high, (3.0, 6.0)),
    }
    return drawn(layers, kinds)


def about_phases(
    says: str,
    draws: Draws,
    slack: Callable[[Phases, Start], float],
    hypotheses: Mapping[str, Callable[[Instance], bool]] | None = None,
    strict: bool = False,
) -> Statement:
    """A statement whose slack is a function of a start and of how |w(t)| moves from it; a witness
    may plant a factor of its least value."""

    def of(item: Instance) -> float:
        start = Start.of(item)
        try:
            found = population.phases(start.psi, start.rho, start.m)
        except InputError:
            return math.nan  # a turn so late that floats do not follow the flow to it
        return slack(replace(found, least=planted(item) * found.least), start)

    return Statement(says, draws, of, hypotheses or {}, strict)


def falls_from_teacher_norm() -> Counterexample:
    """From |w_0| = |w*| at a right angle |w| falls first, at every depth."""
    m, right, size = 10, 0.5 * math.pi, 1
    any_m, v = sp.symbols("m v", positive=True)
    share = (sp.sin(sp.pi / 2) - sp.pi / 2 * sp.cos(sp.pi / 2)) / sp.pi
    rate = -(v**any_m) * (v ** (any_m + 1) - v ** (any_m + 1) * share) / 2  # (9) at v = v*
    return Counterexample(
        instance={"m": m, "φ0": "π/2", "|w0| = v_1 = ... = v_m": size, "|w*| = v_k*": 1},
        assumptions={"0 < φ0 < π": 0.0 < right < math.pi, "w0 not 0": size > 0.0,
                     "balanced": "|w0| is each v_k, too",
                     "m is large (the recheck is for every m)": m >= 10},
        breaks=(
            bound("depth to which |w| falls below |w0| = |w*|, its limit",
                  population.dip_from_teacher_norm(right, m).dip, "<=", 0, "|w*|"),
        ),
        recheck=(
            fact("dv/dt < 0 though v is not above v*: v = v*, φ = π/2, every m (SymPy)",
                 bool(sp.factor(rate).is_negative), False),
        ),
        route="the sign of dv/dt by SymPy, for all m; |w| ends at |w*| again, by Theorem 3.7",
    )  # fmt: skip


def monotone_tried(seed: int, count: int) -> list[Evidence]:
    """ma.eq11.2: |w(t)| is monotone, regardless of the start (eq. (11)'s text). And which kinds of
    starts break it; the slack is minus the dip."""
    monotone = about_phases("|w(t)| is monotone", followed(DEPTHS), lambda found, _: -found.dip)
    report = falsify(monotone, seed, count, 0)
    kinds = note("kinds of starts that break it", ", ".join(report.violations))
    return [*survived(report), note("m", DEPTHS), kinds]


def tendency(seed: int, count: int) -> list[Evidence]:
    """ma.eq11.3: of its fall and its rise, |w(t)| makes one by less than
    |w*| (1 - (1 - eps_0)^(1/(m+1))), which tends to 0 as m grows; m >= 1 (the text after eq. (11),
    as it can be meant)."""
    deeper = (*DEPTHS, 50, 100)

    def slack(found: Phases, start: Start) -> float:
        part = min(start.v, 1.0) - found.least if found.kind == TURNING else -math.inf
        return 1.0 - resting(start) - part

    says = "|w| is monotone but for less than 1 - (1 - ε0)^(1/(m+1)) of |w*|"
    report = falsify(about_phases(says, followed(deeper), slack, strict=True), seed, count, 0)
    return [*survived(report), note("m", deeper)]


TENDENCY = Reading(
    taken="the shorter one of the two parts of its way, the falling and the rising one, tends "
    "to 0 as m grows",
    others="as an exact statement it is false for every m; and from |w_0| = |w*| the fall of the "
    "network's output scale v_1...v_m |w| grows with m",
)


# --- The scale of the start (Section 3.2): how long the flow takes to an angle and to a loss ------


def _of_times(
    says: str, layers: Sequence[int], slack: Callable[[NDArray, NDArray], NDArray], **more: Any
) -> Statement:
    """A statement on the times (k,) that a smaller and a larger start take to one angle."""

    def slacks(items: Sequence[Instance]) -> NDArray:
        psi0, small, further, grow = np.transpose([item["passage"] for item in items])
        m, rho0 = np.array([int(item["m"]) for item in items]), [small, small + grow]
        times = population.time_to_angle(
            *map(np.ravel, np.broadcast_arrays(psi0, rho0, m, psi0 + further))
        )
        return slack(*times.reshape(2, -1))

    norms = {"small": (-6.0, -3.0), "moderate": (-1.0, 1.0), "large": (0.5, 1.5)}
    return Statement(
        says=says,
        draws={name: partial(_passage, layers, rho) for name, rho in norms.items()},
        slack=lambda item: float(slacks([item])[0]),
        batch=slacks,
        hypotheses={
            "the second start is larger, the angle is later": lambda item: bool(
                (item["passage"][2:] > 0.01).all()
            )
        },
        **more,
    )


def _passage(layers: Sequence[int], rho: tuple[float, float], rng: np.random.Generator) -> Instance:
    """A "passage" (4,): psi_0, the smaller rho_0, how far psi goes, how much rho_0 grows."""
    passage = [rng.uniform(*ends) for ends in ((-3.0, 3.0), rho, (0.05, 5.0), (-1.5, 0.1))]
    passage[3] = 10.0 ** passage[3]
    return {"passage": np.array(passage), "m": np.array(rng.choice(layers))}


def try_orders(seed: int, count: int) -> Mapping[str, Report]:
    """Whether the larger of two starts at an angle is slower, as fast or faster to later ones; the
    slack is the relative difference of the two times."""

    def gained(small: NDArray, large: NDArray) -> NDArray:
        return (small - large) / np.maximum(small, large)

    larger = "to every angle, the larger start is"
    statements = {
        "m = 0": _of_times(f"{larger} slower", [0], lambda a, b: -gained(a, b), strict=True),
        "m = 1": _of_times("to every angle, all norms take the same time", [1],
                           lambda a, b: -np.abs(b / a - 1.0), tolerance=1e-9),
        "m = 2, 3, 4": _of_times(f"{larger} faster", [2, 3, 4], gained, strict=True),
    }  # fmt: skip
    return {name: falsify(one, seed, count, 0) for name, one in statements.items()}


def initial_scale(orders: Mapping[str, Report], layers: Sequence[int]) -> list[Evidence]:
    """ma.text.scale.1, ma.text.scale.2, ma.text.scale.3: small starts turn faster (layers m = 0),
    slower (m >= 2), which for m >= 2 is said of the loss as well, or as fast (1) (Section 3.2).
    That time's exponent is d log(time) / d log|w_0|, |w_0| = 1e-4 to 1e-3 of |w*|, from a right
    angle to a loss of 1e-4; its deviation is told up to a multiple of 1e-6, for rounding."""
    report, sizes = orders[name := "m = " + ", ".join(map(str, layers))], np.log([1e-4, 1e-3])
    powers = {
        m: np.diff(np.log(population.time_to_loss(0.0, sizes, m, 1e-4)))[0] / np.diff(sizes)[0]
        for m in layers
        if m in (2, 3)
    }
    return [
        *(deviation(f"m = {m}: exponent of |w0| in the time to a small loss, against {1 - m}",
                    math.ceil(abs(power - (1 - m)) / 1e-6) * 1e-6, "", digits=2)
          for m, power in powers.items()),
        *report.checks(f"{name}: {report.says}"),
        note("seed", report.seed),
    ]  # fmt: skip


def speed() -> Reading:
    """What "faster" means, and what small starts gain in the other meaning."""
    gain = float(-np.diff(population.time_to_loss(0.0, np.log([1.0, 1e-4]), 0, 1e-6))[0])
    return Reading(
        taken="speed is the time to a fixed angle, as the argument from dφ/dt says, of any two "
        "norms",
        others="if speed is the time to a small loss, one layer gains a constant, no power "
        f"of |w0|: from φ0 = π/2 a start at 1e-4 |w*| is {gain:.2f} units of time ahead of one "
        "at |w*|, and from angle(w0, w*) below arctan π = 72.3 degrees a moderate norm is best",
    )


# --- The two phases of |w(t)|: from where it falls before it rises, from where it falls for ever --

FAR = {"anywhere": ((-12.0, 10.0), (-12.0, 12.0))}
"""Starts near both ends of the angle, with tiny and huge norms."""


def _is_inside(item: Instance) -> bool:
    """Whether the start is neither along the teacher nor against it."""
    return Start.of(item).phi > 0.0 and Start.of(item).theta > 0.0


def two_phases(layers: Sequence[int]) -> Statement:
    """ma.ours.phases: v only rises if v_0 <= v* (1 - eps_0)^(1/(m+1)), else falls, then rises."""

    def slack(found: Phases, start: Start) -> float:
        expected = RISING if start.v <= resting(start) else TURNING
        return 1.0 if found.flips <= 1 and found.kind == expected else -1.0

    near = {"near the nullcline": partial(beside_nullcline, layers)}
    return about_phases(
        "|w| only rises, or falls once and then rises",
        {**near, **followed(layers), **drawn(layers, FAR)},
        slack,
        given("ma.ours.phases", flow=lambda item: int(item["m"]) >= 1, start=_is_inside),
    )


def _near_threshold(side: float, rng: np.random.Generator) -> Instance:
    phi = rng.uniform(math.pi - math.atan(math.pi) + 0.01, 3.0)
    rho = math.log(float(population.threshold_norm(phi)))
    rho += side * 10.0 ** rng.uniform(-5.0, -1.0)
    return {"psi": population.log_tan(phi), "rho": np.array(rho), "m": np.array(0)}


def threshold() -> Statement:
    """ma.ours.threshold: m = 0: |w| falls for ever just where |w_0|/|w*| >= `threshold_norm`."""

    def slack(found: Phases, start: Start) -> float:
        beyond = start.v / float(population.threshold_norm(start.phi))
        if abs(beyond - 1.0) <= 1e-6:
            return math.nan  # rounding would decide
        rises, falls = start.v <= resting(start), beyond >= 1.0
        expected = RISING if rises else FALLING if falls else TURNING
        return 1.0 if found.flips <= 1 and found.kind == expected else -1.0

    sides = {"just below": -1.0, "just above": 1.0}
    near = {name: partial(_near_threshold, side) for name, side in sides.items()}
    return about_phases(
        "one layer: |w| falls for ever exactly beyond the threshold norm",
        {**near, **followed([0]), **drawn([0], FAR)},
        slack,
        given("ma.ours.threshold", flow=lambda item: int(item["m"]) == 0, start=_is_inside),
    )


def conjecture(seed: int, count: int) -> list[Evidence]:
    """ma.text.twophase.2: from |w_0| > 2 |w*| the magnitude falls, and then rises (the conjecture
    of Section 5.2), for one layer and for more."""

    def tried(layers: Sequence[int]) -> Report:
        turns = about_phases(
            "from |w0| > 2 |w*| the magnitude falls and then rises",
            drawn(layers, {"any angle": ((-3.5, 3.0), (math.log(2.0) + 1e-9, 6.0))}),
            lambda found, _: 1.0 if found.kind == TURNING else -1.0,
            {"|w0| > 2 |w*|": lambda item: bool(item["rho"] > math.log(2.0))},
        )
        return falsify(turns, seed, count, 0)

    shallow, deep = tried((0,)), tried(DEPTHS)
    near = upper_tail(math.cos(math.atan(math.pi)), 100)
    return [
        *shallow.checks(f"one layer: {shallow.says}"),
        *deep.checks(f"m >= 1: {deep.says}"),
        note("m, of the second", DEPTHS),
        note("probability that a random direction in d = 100 is so near to w* that one layer "
             "has a threshold norm at all", near, digits=2),
        note("seed", seed),
    ]  # fmt: skip


CONJECTURE = Reading(
    taken="in general means from every start with 0 < φ0 < π and |w0| > 2 |w*|",
    others="for two layers and more it is true of all of these; for one layer it is true "
    "from angle(w0, w*) >= arctan π = 72.3 degrees on, and so of nearly all random "
    "directions in high dimension",
)


def near_the_teacher() -> Counterexample:
    """From 3 |w*| at 45 degrees from w* the magnitude of one layer falls for ever."""
    phi0, large = 0.75 * math.pi, 3.0
    rho = Start.at(phi0, large, 0).flow(np.linspace(0.0, 20.0, 201)).rho
    with mpmath.workdps(30):
        exact = min(one_layer_length(phi0, large, k) for k in range(1, 21)) - 1
    return Counterexample(
        instance={"m": 0, "φ0": "3π/4", "|w0|": large, "|w*|": 1},
        assumptions={"0 < φ0 < π": 0.0 < phi0 < math.pi, "|w0| > 2 |w*|": large > 2.0},
        breaks=(
            bound("least |w(t)|/|w*| - 1, 0 <= t <= 20, of the integrated flow, which would "
                  "have to go below 0 to rise to its limit 0", float(np.expm1(rho).min()),
                  "<", 0, ""),
            fact("it rises between two of 200 times", bool(np.any(np.diff(rho) >= 0.0)), True),
        ),
        recheck=(bound("least |w(t)|/|w*| - 1 at t = 1, ..., 20, by the closed form, 30 digits",
                       float(exact), "<", 0, ""),),
        route="cot φ(t) and |w(t)| of one layer in closed form, with mpmath",
    )  # fmt: skip


# --- Proposition 3.5: do the factors v_2, ..., v_m of a chain of ReLU neurons keep their signs? ---
#
# While they are positive the chain is f(x) = v_1 ... v_m [w.x]_+, and its flow is that of this
# product up to the first zero of a factor, which the product's flow passes. Nothing is supposed
# about balance, or the sign of what is to be learnt. With one v_k <= 0, k >= 2, nothing moves.

_BEYOND = 1e-6
"""A factor has changed its sign where it is below minus this share of its start."""


def _data(kind: str, rng: np.random.Generator) -> dict[str, NDArray]:
    """Data X, a start w0, v0 > 0, m = 2, 3, 4, unbalanced; labels of a network, factors > 0."""
    n, d, m = int(rng.integers(1, 8)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    spread = 2.0 if kind == "far from balanced" else 0.7
    X = rng.normal(size=(n, d))
    if kind == "whole numbers":
        X = rng.integers(-2, 3, (n, d)).astype(float)
        X[0, 0] = 1.0
    v0 = np.exp(spread * rng.normal(size=m))
    w0 = rng.normal(size=d) * math.exp(spread * rng.normal())
    target, factors = rng.normal(size=d), np.exp(0.7 * rng.normal(size=m))
    if kind == "all active":
        X, w0, target = np.abs(X[:, :1]), np.abs(w0[:1]), np.abs(target[:1])
    if kind == "opposite to the target":
        w0 = -target * np.exp(rng.normal()) + 1e-3 * rng.normal(size=d)
    return {"X": X, "w0": w0, "v0": v0, "target": target, "factors": factors}


KINDS = (
    "plain",
    "far from balanced",
    "whole numbers",
    "all active",
    "opposite to the target",
)


@statement(
    "sample-based flows, positive target: v_2, ..., v_m keep their signs",
    {kind: partial(_data, kind) for kind in KINDS},
    {
        "v_1 > 0": lambda v0: v0[0] > 0.0,
        "v_1*, ..., v_m* > 0": lambda factors: np.all(factors > 0.0),
    },
    strict=True,
)
def positive_target(
    X: NDArray, w0: NDArray, v0: NDArray, target: NDArray, factors: NDArray
) -> float:
    """ma.prop3.5: where a network with positive factors gives the labels, the signs are kept, from
    v_2, ..., v_m > 0: the least v_k(t) / v_k(0), k >= 2, plus `_BEYOND`, or -1 where it fell
    below; NaN where the flow could not be followed for 1000 of its natural units of time."""
    size = float(np.mean(np.sum(X * X, axis=1)))
    y = np.prod(factors) * np.maximum(X @ target, 0.0)
    # An upper estimate of the fastest rate: the Hessian's blocks at the larger of the start and
    # what the labels call for, every factor at its largest.
    layers = len(v0) + 1
    most = max(*v0, np.linalg.norm(w0), (np.mean(y * y) / size) ** (0.5 / layers))
    rate = (layers * size + np.sqrt(size * np.mean(y * y))) * most ** (2 * layers - 2)
    path = product_flow(X, y, w0, v0, 1000.0 / rate)
    if path.status:
        return -1.0 if path.status > 0 else math.nan
    return float((path.y[len(w0) + 1 :] / v0[1:, None]).min()) + _BEYOND


def product_flow(X: ArrayLike, y: ArrayLike, w0: ArrayLike, v0: ArrayLike, horizon: float) -> Any:
    """The flow of 1/(2n) sum_i (v_1 ... v_m [w.x_i]_+ - y_i)^2 in w and all v_k, a row each of what
    SciPy returns, until the horizon or until some v_k, k >= 2, has changed its sign."""
    X, y, w0, v0 = (np.asarray(given, float) for given in (X, y, w0, v0))
    d, start = len(w0), np.concatenate([w0, v0])

    def velocity(_: float, state: NDArray) -> NDArray:
        w, v = state[:d], state[d:]
        h, p = np.maximum(X @ w, 0.0), np.prod(v)
        residual = (y - p * h) / len(y)
        rests = [np.prod(np.delete(v, k)) for k in range(len(v))]
        return np.concatenate([p * ((residual * (h > 0.0)) @ X), (residual @ h) * np.array(rests)])

    def left(_: float, state: NDArray) -> float:
        return float((state[d + 1 :] / v0[1:]).min()) + _BEYOND

    left.terminal = True  # type: ignore[attr-defined]
    with np.errstate(over="ignore", invalid="ignore"):  # a trial step may end anywhere
        path = solve_ivp(
            velocity, (0.0, horizon), start, events=left, rtol=1e-8, atol=1e-9 * np.abs(start).min()
        )
    return path


def positive() -> Reading:
    """Section 3.2's assumption of a positive target, and what becomes of others."""
    v, w = (2.0, 1.0), 3.0
    negative = product_flow([[1.0]], [-1.0], [w], v, 1.0)
    fallen = 1 + int(np.argmin(negative.y[1:, -1]))
    return Reading(
        taken="the target's factors are positive: the sentence that assumes it throughout "
        "Section 3.2 stands after the proposition",
        others="Section 2 admits a target of negative output, v_1* < 0, and for it the "
        f"proposition is false: with x = 1 and y = -1 the flow from w = {w:g}, "
        f"v = ({v[0]:g}, {v[1]:g}) has v_{fallen} = 0 at t = {negative.t[-1]:.4g}, where it stops",
    )
