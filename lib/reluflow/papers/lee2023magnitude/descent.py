"""The page `descent`: Theorems 4.1, A.1 and A.2, and the descents that `layers` is tried on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial, wraps
from typing import Any, NamedTuple

import mpmath
import numpy as np
import sympy
from mpmath import mpc, mpf
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from reluflow.errors import InputError
from reluflow.falsify import Draws, Instance, Report, Statement, extended, falsify, given
from reluflow.ledger import Counterexample, Evidence, Reading, bound, deviation, note
from reluflow.papers.lee2023magnitude.population import PopulationPath, nullcline, pull
from reluflow.papers.lee2023magnitude.setting import (
    Range,
    Start,
    gap_bounds,
    magnitude_bounds,
    step_limit,
)

# --- Theorem 4.1: descent beside a flow w(t) = g(e^(-ct)), and its error --------------------------
#
# The flow solves dw/dt = F(w) with F(g(x)) = -c x g'(x). Descent is w(T+1) = w(T) + eta F(w(T)),
# and the theorem compares w(T) with g(y), y = (1 - c eta)^T. Here c = 1: eta is c eta.

Function = Callable[[float], float]


@dataclass(frozen=True)
class Profile:
    """A one-to-one function g in C^2([0, 1]), its derivative and its inverse.

    steepness   (least |g'|, largest |g'|, largest |g''|) on [0, 1], or numbers beyond them
    """

    value: Function
    slope: Function
    inverse: Function
    steepness: tuple[float, float, float] = (0.0, math.inf, math.inf)


def bent(beta: float, power: float) -> Profile:
    """g(x) = ((1 + beta x)^power - 1) / (beta power), g' = (1 + beta x)^(power - 1). Theorem A.3's
    g is power = -1/2 up to a linear map, linear g is power = 1. Raises InputError for beta <= -1 or
    a beta or power of 0."""
    if not (beta > -1.0 and beta != 0.0 and power != 0.0):
        raise InputError("beta must be above -1, and beta and power must not be 0")
    ends = (1.0, 1.0 + beta)
    slopes = [base ** (power - 1.0) for base in ends]
    curvatures = [abs(beta * (power - 1.0)) * base ** (power - 2.0) for base in ends]
    return Profile(
        lambda x: ((1.0 + beta * x) ** power - 1.0) / (beta * power),
        lambda x: (1.0 + beta * x) ** (power - 1.0),
        lambda w: ((1.0 + beta * power * w) ** (1.0 / power) - 1.0) / beta,
        (min(slopes), max(slopes), max(curvatures)),
    )


def flat_inside() -> Profile:
    """g(x) = sign(u) e^(-1/|u|), u = x - 1/2: smooth, one-to-one, with g'(1/2) = 0."""
    return Profile(
        lambda x: math.copysign(math.exp(-1.0 / abs(x - 0.5)), x - 0.5) if x != 0.5 else 0.0,
        lambda x: math.exp(-1.0 / abs(x - 0.5)) / (x - 0.5) ** 2 if x != 0.5 else 0.0,
        lambda w: 0.5 + (math.copysign(1.0 / math.log(1.0 / abs(w)), w) if w else 0.0),
    )


def flat_start() -> Profile:
    """g(x) = (1 - x)^2, with g'(1) = 0: w = 0 at the start, where F(w) = 2 (sqrt w - w) is 0."""
    return Profile(
        lambda x: (1.0 - x) ** 2,
        lambda x: -2.0 * (1.0 - x),
        lambda w: 1.0 - math.sqrt(w),
    )


def descended(profile: Profile, step: float, n_steps: int) -> tuple[NDArray, NDArray]:
    """Descent w(T) and g((1 - eta)^T), T = 0, ..., n_steps; F(g(x)) = -x g'(x), w(0) = g(1)."""
    w = np.full(n_steps + 1, profile.value(1.0))
    for k in range(n_steps):
        x = profile.inverse(w[k])
        w[k + 1] = w[k] - step * x * profile.slope(x)
    return w, np.array([profile.value((1.0 - step) ** k) for k in range(n_steps + 1)])


def approximation_errors(profile: Profile, step: float, n_steps: int) -> NDArray:
    """|w(T) - g((1 - eta)^T)|, T = 0, ..., n_steps (12)."""
    return np.abs(np.subtract(*descended(profile, step, n_steps)))


def largest_errors(profile: Profile, steps: Sequence[float], span: float) -> NDArray:
    """The largest error up to eta T = span, one for each step, shape (k,)."""
    return np.array([approximation_errors(profile, s, math.ceil(span / s)).max() for s in steps])


# --- Theorem 4.1, where it holds: descent beside g(e^(-ct)) uniformly in time, and the converse ---

STEPS = (1e-2, 1e-3)
"""eta of the orders that are measured: the decimal logarithm of the quotient of two errors."""

SHOWN = (
    ("regular", bent(-0.6, 2.0)),
    ("regular, of Theorem A.3", bent(3.0, -0.5)),
    ("g' = 0 inside", flat_inside()),
    ("g' = 0 at the start", flat_start()),
)
"""One-to-one functions in C^2([0, 1]) and what to call them."""


def _random_bent(rng: np.random.Generator) -> Profile:
    return bent(10.0 ** rng.uniform(-1.0, 1.0) if rng.random() < 0.5 else -rng.uniform(0.05, 0.8),
                rng.choice([-1.0, -0.5, 0.5, 2.0, 3.0]))  # fmt: skip


def uniform_in_time(seed: int, count: int) -> list[Evidence]:
    """ma.thm4.1.2: uniformly in T where g' has no zero. Beside it what the proof arrives at,
    c eta max|g''| / (2 (2 - c eta))."""
    rng = np.random.default_rng(seed)
    drawn, gentle = [_random_bent(rng) for _ in range(count)], bent(-0.9, 2.0)
    over_proof = largest_errors(gentle, (0.1,), 10.0)[0] / (0.1 * gentle.steepness[2] / 3.8)
    return [
        bound("least order in the step of the largest error, all T",
              min(-np.diff(np.log10(largest_errors(g, STEPS, 10.0)))[0] for g in drawn), ">=",
              0.9, ""),
        note("g = x - 0.45 x^2, c eta = 1/10: largest error over the proof's "
             "c eta max|g''|/(2 (2 - c eta))", over_proof, digits=3),
        note("functions g", count),
        note("seed", seed),
    ]  # fmt: skip


def converse(seed: int, count: int) -> list[Evidence]:
    """ma.thm4.1.3: the converse, for `count` equations that no g was made for. Twice the g of half
    a step less that of the step is free of an error of order eta, and of no other one."""
    rng, apart = np.random.default_rng(seed), []
    exact = {"rtol": 1e-11, "atol": 1e-14}
    for _ in range(count):
        bend, w0, t = rng.uniform(-0.9, 0.9), rng.uniform(0.3, 3.0), np.array([0.5, 1.0, 2.0, 4.0])

        def rate(w: ArrayLike, bend: float = bend) -> NDArray:
            return -np.asarray(w) * (1.0 + bend * np.sin(w))

        path = solve_ivp(lambda _, w, f=rate: f(w), (0, 4), [w0], "DOP853", t, **exact).y[0]
        whole, half = (_read_off(rate, w0, step, np.exp(-t)) for step in (2e-3, 1e-3))
        apart.append(np.abs(2.0 * half - whole - path).max())
    return [
        deviation("dw/dt = -w (1 + b sin w): 2 g(e^(-t)) for eta = 1/1000 less that for 1/500, g "
                  "of descent at (1 - eta)^T, from the integrated flow", float(np.max(apart)), ""),
        note("numbers b", count),
        note("seed", seed),
    ]  # fmt: skip


def _read_off(rate: Callable[..., NDArray], w0: float, step: float, y: NDArray) -> NDArray:
    """g(y) for the g with w(T) = g((1 - step)^T) along descent from w0, linear between steps."""
    T = np.log(y) / math.log1p(-step)
    path = [w0]
    for _ in range(math.ceil(T.max())):
        path.append(path[-1] + step * float(rate(path[-1])))
    return np.interp(T, np.arange(len(path)), path)


A_NUMBER = Reading(
    taken="w is a number: the paper sets it like one, not bold as its vectors, and its proof uses "
    "the derivative of g^-1",
    others="for w in the plane it is false: at L = -cos(theta) - (|w| - 1)^2/2 the flow from "
    "theta = pi/2 stays on the unit circle, g(x) = (cos 2 arctan x, sin 2 arctan x) is smooth and "
    "one-to-one with a smooth inverse, and descent leaves the circle and escapes at every step",
)


CONVERSE = Reading(
    taken="w is a number and F locally Lipschitz; one g serves all small eta, and descent is "
    "g((1 - c eta)^T) up to O(eta)",
    others="equality for all small eta leaves affine g only, since at T = 0 it says "
    "g(1 - c eta) = g(1) + eta F(w(0)); for a single eta nothing follows, as every "
    "sequence is some function of (1 - c eta)^T",
)


def _profile(item: Instance) -> Profile:
    return bent(float(item["beta"][0]), float(item["power"][0]))


def _bent(negative: bool, rng: np.random.Generator) -> Instance:
    beta = -rng.uniform(0.05, 0.9) if negative else 10.0 ** rng.uniform(-1.5, 1.0)
    power = rng.choice([-2.0, -1.0, -0.5, 0.5, 1.5, 2.0, 3.0])
    least, _, curvature = bent(beta, power).steepness
    share = rng.uniform(0.95, 1.0) if rng.random() < 0.5 else 10.0 ** rng.uniform(-1.0, 0.0)
    rate = min(0.25, least / curvature) * share
    return {"beta": np.array([beta]), "power": np.array([power]), "rate": np.array([rate])}


def regular_approximation() -> Statement:
    """ma.ours.descent.approx: if g' has no zero, mu = max |g''| / min |g'|, c eta <= 1/4 and
    c eta mu <= 1, then w(T) stays in the range of g, and with y = (1 - c eta)^T |w(T) - g(y)| <=
    max |g'| (e^(2 c eta mu) - 1) y; tried up to c eta T = 12. While w > 0 = g(0) it only falls."""

    def slack(item: Instance) -> float:
        profile, rate, beta = _profile(item), float(item["rate"][0]), float(item["beta"][0])
        if rate < 1e-3 or beta < -0.95 or abs(beta) < 0.03:
            return math.nan  # rounding would decide
        least, most, curvature = profile.steepness
        T = np.arange(math.ceil(12.0 / rate) + 1)
        limit = most * math.expm1(2.0 * rate * curvature / least) * (1.0 - rate) ** T
        w, near = descended(profile, rate, int(T[-1]))
        left = np.minimum(1.0 - np.abs(w - near) / limit, w / near)[1:]
        return float(np.where(np.isfinite(left), left, -1.0).min())  # NaN: far out of the range

    def small(item: Instance) -> bool:
        (rate,), (least, _, curvature) = item["rate"], _profile(item).steepness
        return bool(0.0 < rate <= 0.25 and rate * curvature <= least)

    return Statement(
        "|w(T) - g(y)| <= max|g'| (e^(2 c eta mu) - 1) y",
        {"beta < 0": partial(_bent, True), "beta > 0": partial(_bent, False)},
        slack,
        given(
            "ma.ours.descent.approx",
            function=lambda item: (
                -1.0 < float(item["beta"][0]) != 0.0 and _profile(item).steepness[0] > 0.0
            ),
            step=small,
        ),
        tolerance=1e-12,
    )


# --- Second route: the counterexample to Theorem 4.1 in 40 digits ----------------


def escape_exactly(step: Fraction) -> mpmath.mpf:
    """The quotient of `escape` by a plain loop over L = log(1/w) in 40 digits, as long as w > 0."""
    with mpmath.workdps(40):
        eta, level, T = mpmath.mpf(step.numerator) / step.denominator, mpmath.mpf(1), 0
        worst = mpmath.mpf(0)
        while eta * level < 1:
            level, T = level - mpmath.log(1 - eta * level), T + 1
            gap = abs(mpmath.exp(-level) - mpmath.exp(-((1 - eta) ** -T)))
            worst = max(worst, gap / (T * eta**2))
        root = mpmath.sqrt(mpmath.exp(-level) * (eta * level - 1))  # of -w, one step on
        T += 1
        while True:
            error = root**2 + mpmath.exp(-((1 - eta) ** -T))
            worst = max(worst, error / (T * eta**2))
            if error > 1:
                return worst
            root, T = mpmath.sqrt(root**2 + eta * root), T + 1


# --- Theorem 4.1, where it fails: functions g whose g' has a zero, and descent that escapes -------

ESCAPES = tuple(Fraction(1, k) for k in (10, 20, 50, 100))
"""Steps eta of the descent that escapes from a unique flow; c = 1."""


def escape(step: Fraction) -> tuple[int, float]:
    """The flow w(t) = g(e^(-t)), g(x) = e^(-1/x), of dw/dt = -w log(1/w) for w > 0 and -sqrt|w| for
    w <= 0, from w = 1/e: the first T at which descent is off g((1 - eta)^T) by more than 1, and the
    largest error/(T eta^2) up to it. In floats."""
    eta, w, y, T, worst = float(step), math.exp(-1.0), 1.0, 0, 0.0
    while True:
        w -= eta * (w * math.log(1.0 / w) if w > 0.0 else math.sqrt(-w))
        y, T = y * (1.0 - eta), T + 1
        error = abs(w - math.exp(-1.0 / y))
        worst = max(worst, error / (T * eta**2))
        if error > 1.0:
            return T, worst


AS_STATED = Reading(
    taken="as stated: g is one-to-one and in C^2([0, 1]), and nothing is asked of g'; "
    "O(T eta^2) is with one constant for all T and all small eta",
    others="if g' has no zero on [0, 1], as the second part asks, (12) is true at every T",
)


def unbounded_quotients(case: Counterexample) -> list[Evidence]:
    """Error/(T eta^2), which (12) says is bounded, of a case, and when its descent has escaped."""
    late = tuple(escape(step)[0] * float(step) ** 2 for step in ESCAPES)
    return [
        *case.breaks,
        note("T eta^2 at the first error above 1, eta = 1/10, 1/20, 1/50, 1/100", late, digits=2),
    ]


def escaping_descent() -> Counterexample:
    """ma.thm4.1.1: the error is of order T eta^2, against a unique flow with g'(0) = 0. By SymPy
    w(t) = exp(-e^t) solves w' = -w log(1/w), w(0) = 1/e; g = e^(-1/x) is one-to-one and C^2 on
    [0, 1]; the right side has a derivative wherever w > 0."""
    t, x, w = sympy.symbols("t x w", positive=True)
    flow, g, right = sympy.exp(-sympy.exp(t)), sympy.exp(-1 / x), w * sympy.log(w)
    rate = flow * sympy.exp(t)
    at_zero = [sympy.limit(sympy.diff(g, x, k), x, 0, "+") for k in range(3)]
    escaped = [escape(step)[1] for step in ESCAPES]
    exactly = [escape_exactly(step) for step in ESCAPES]
    return Counterexample(
        instance={"dw/dt": "-w log(1/w) for w > 0, -sqrt|w| for w <= 0; w(0) = 1/e",
                  "flow": "exp(-e^t)", "g(x)": "e^(-1/x), g(0) = 0", "c": 1,
                  "eta": list(ESCAPES)},
        assumptions={
            "the flow solves the equation": bool(
                sympy.simplify(sympy.diff(flow, t) + rate) == 0
                and sympy.simplify(sympy.expand_log(right.subs(w, flow), force=True) + rate) == 0
            ),
            "it is the only one: dw/dt is differentiable in w > 0, where the flow stays": bool(
                sympy.diff(right, w).subs(w, sympy.Rational(1, 7)).is_finite and flow.is_positive
            ),
            "g is one-to-one and C^2 on [0, 1], with g = g' = g'' = 0 at 0": bool(
                at_zero == [0, 0, 0] and sympy.diff(g, x).is_positive
            ),
            "eta at most 1/(10 c)": max(ESCAPES) <= Fraction(1, 10),
        },
        breaks=(bound("growth of the largest error/(T eta^2) up to the first error above 1, "
                      "from eta = 1/10 to 1/100, in floats", escaped[-1] / escaped[0], "<=",
                      1.5, ""),),
        recheck=(bound("the same in 40 digits, from log(1/w) and sqrt(-w)",
                       float(exactly[-1] / exactly[0]), "<=", 1.5, ""),),
        route="another recursion, for log(1/w) while w > 0 and for sqrt(-w) after, 40 digits",
        )  # fmt: skip


# --- Population descents that the statements of Section 4 and Appendix A are tried on -------------
#
# An instance is a start of `setting`, with "target", and a descent: "step" (), "steps" () how many
# are taken, and "loose" (2,) > 1: the r and R that a theorem asks for are taken that much outside
# the norms of the run. A step is called small against a number X if it is at most X over
# "smallness" (), which is 10, 100 or 1000, by the kind of draw, or 1, where a statement needs no
# small step. "asked" () is the number of steps for which the eps of Corollary 4.3 is taken, where
# an instance has it.

SMALLNESS = (10, 100, 1000)
"""A step is tried at these fractions of what it is to be small against."""

ROUNDING = 1e-12
"""A slack below this share of the quantity is rounding."""


@dataclass(frozen=True)
class Descent:
    """An instance, read."""

    start: Start
    step: float
    steps: int
    loose: tuple[float, float]
    smallness: float
    asked: int = 0

    @classmethod
    def of(cls, item: Instance) -> Descent:
        """The descent of an instance."""
        below, above = (float(number) for number in item["loose"])
        step, share = float(item["step"]), float(item.get("smallness", 1.0))
        asked = int(item.get("asked", 0))
        return cls(Start.of(item), step, int(item["steps"]), (below, above), share, asked)

    @property
    def path(self) -> PopulationPath:
        """Every step of it."""
        return _path(self.start, self.step, self.steps)

    def norm_range(self) -> tuple[float, float]:
        """An r and an R with r < |w(T)| < R for all T > 0, those after the run included. After it
        |w| stays above the smaller of its value and v* (1 - eps)^(1/(m+1)), and below the larger of
        its value and v* (1 + eta v*^(2m))."""
        path, m, target = self.path, self.start.m, self.start.target
        length = path.length[1:]
        rest = target * float(nullcline(path.phi[-1], m))
        top = target * (1.0 + self.step * target ** (2 * m)) if m else target
        low, high = float(min(length.min(), rest)), float(max(length.max(), top))
        return low / self.loose[0], high * self.loose[1]

    def ranges(self) -> tuple[float, float, float]:
        """The least and the largest v_1...v_m / |w| over the run, which for balanced weights is
        |w|^(m-1), and the largest v_1...v_m."""
        product = self.path.v**self.start.m
        ratio = product / self.path.length
        return float(ratio.min()), float(ratio.max()), float(product.max())

    def overshoot(self) -> float:
        """eta max(v0, v*)^(2m)."""
        return self.step * max(self.start.v, self.start.target) ** (2 * self.start.m)

    def is_below(self, limit: float) -> bool:
        """Whether the step is at most the limit over 10, 100 or 1000."""
        return self.step * self.smallness <= limit


ON_THE_ANGLE: Mapping[str, Callable[[Descent], bool]] = {
    "no step overshoots": lambda run: run.overshoot() <= 1.0,
    "r < |w(T)| < R": lambda run: min(run.loose) > 1.0,
    "step small enough": lambda run: run.is_below(
        step_limit(run.start.phi, *run.norm_range(), run.start.target, run.start.m)
    ),
}
"""What Theorems 4.2 and A.2 suppose, and that eta max(v0, v*)^(2m) <= 1, for which they do not ask
where they let v0 be large; it leaves out runs that diverge."""


@lru_cache(maxsize=256)  # as many as `falsify` draws before it asks for their slacks
def _path(start: Start, step: float, steps: int) -> PopulationPath:
    with np.errstate(all="ignore"):  # a descent that diverges
        return start.descent(step, steps)


NEAR_ZERO: Range = (-60.0, -3.0)
"""psi of a start near the ray opposite to the teacher: phi0 from 2e-26 to 0.1."""


def limit_guess(start: Start) -> float:
    """About what the step of an angle bound must be small against, before the run is known."""
    R = max(start.v, start.target)
    r = min(start.v, start.target * float(nullcline(start.phi, start.m)))
    limit = step_limit(start.phi, r, R, start.target, start.m)
    return min(limit, 1.0 / R ** (2 * start.m))


def _instance(
    layers: tuple[int, ...],
    psi: Range,
    rho: Range,
    step: Callable[[Start, np.random.Generator], float],
    steps: Mapping[int, float],
    rng: np.random.Generator,
) -> Instance:
    """A start with psi and rho in these ranges and a descent, `steps` with their probabilities."""
    m, target = int(rng.choice(layers)), float(10.0 ** rng.uniform(-0.5, 0.5))
    start = Start(rng.uniform(*psi), rng.uniform(*rho), m, target)
    return {
        "psi": np.array(start.psi),
        "rho": np.array(start.rho),
        "target": np.array(target),
        "step": np.array(step(start, rng)),
        "steps": np.array(int(rng.choice(list(steps), p=list(steps.values())))),
        "m": np.array(m),
        "loose": 1.0 + 10.0 ** rng.uniform(-6.0, 0.0, 2),
    }


def draws(
    layers: tuple[int, ...],
    limit: Callable[[Start], float] = limit_guess,
    psi: Range = (-3.0, 9.0),
    rho: Range = (-3.0, 1.5),
    shares: tuple[int, ...] = SMALLNESS,
) -> Draws:
    """Starts with psi and rho in these ranges; the step is limit(start) over one to two shares."""

    def one(k: int, rng: np.random.Generator) -> Instance:
        def step(start: Start, rng: np.random.Generator) -> float:
            return limit(start) / k * rng.uniform(0.5, 1.0)

        steps = {20: 0.3, 100: 0.4, 400: 0.3}
        return {**_instance(layers, psi, rho, step, steps, rng), "smallness": np.array(k)}

    return {f"step below X{f'/{k}' * (k > 1)}": partial(one, k) for k in shares}


def everywhere(layers: tuple[int, ...]) -> Draws:
    """`draws`, and starts with psi in `NEAR_ZERO` that are followed for up to 2000 steps."""

    near = extended(
        draws(layers, psi=NEAR_ZERO, shares=SMALLNESS[:1]),
        lambda _, rng: {"steps": np.array(int(rng.choice([100, 400, 2000])))},
    )
    near = {f"{name}, phi0 below 0.1": draw for name, draw in near.items()}
    return {**draws(layers), **near}


FAR: Mapping[str, tuple[Range, Range]] = {
    "moderate": ((-3.0, 3.0), (-2.0, 2.0)),
    "phi0 near 0": (NEAR_ZERO, (-3.0, 3.0)),
    "phi0 near pi": ((3.0, 30.0), (-3.0, 3.0)),
    "|w0| tiny": ((-3.0, 9.0), (-12.0, -3.0)),
    "|w0| huge": ((-3.0, 9.0), (3.0, 9.0)),
}
"""Ranges of psi and rho by kind of start, out to where nothing is tame."""


def to_the_limit(layers: tuple[int, ...], limit: Callable[[Start], float]) -> Draws:
    """Starts of every kind of `FAR`; every second step is within a tenth of limit(start), the
    others are down to a thousandth of it."""

    def step(start: Start, rng: np.random.Generator) -> float:
        share = rng.uniform(0.9, 1.0) if rng.random() < 0.5 else 10.0 ** rng.uniform(-3.0, 0.0)
        return share * limit(start)

    steps = {20: 0.3, 100: 0.4, 400: 0.2, 2000: 0.1}
    return {name: partial(_instance, layers, *at, step, steps) for name, at in FAR.items()}


def statement(
    says: str, draws: Draws, hypotheses: Mapping[str, Callable[[Descent], bool]], ours: str = ""
) -> Callable[[Callable[[Descent], float]], Callable[[], Statement]]:
    """Makes a Statement of the slack of a descent below it; if it is that of the claim `ours` of
    our own, the hypotheses are named as in its `given`."""

    def read(function: Callable[[Descent], Any]) -> Callable[[Instance], Any]:
        return lambda item: function(Descent.of(item))

    def of(slack: Callable[[Descent], float]) -> Callable[[], Statement]:
        def made() -> Statement:
            tests = {name: read(test) for name, test in hypotheses.items()}
            tests = given(ours, **tests) if ours else tests
            return Statement(says, draws, read(slack), tests, tolerance=ROUNDING)

        return wraps(slack)(made)

    return of


# --- Second routes for the descent statements, |w*| = 1: plain vector steps in high precision -----

DIGITS = 30


class Place(NamedTuple):
    """Weights w, a complex number with the teacher along 1, and the factors v_1, ..., v_m."""

    w: mpc
    v: tuple[mpf, ...]


@mpmath.workdps(DIGITS)
def balanced(theta0: Any, v0: Any, m: int) -> Place:
    """The start with angle theta0 to the teacher and v_1 = ... = v_m = |w| = v0."""
    size = mpf(v0)
    return Place(size * mpmath.expj(mpf(theta0)), (size,) * m)


@mpmath.workdps(DIGITS)
def vector_descent(place: Place, step: Any, n_steps: int) -> Place:
    """`n_steps` steps of descent by the vector form of Proposition 3.6, p = v_1...v_m:

    -dL/dw = -p^2 w / 2 + p (phi w* + sin(phi) u) / (2 pi),

    and -dL/dv_k = -(w . dL/dw) / v_k, since f depends on v_k w alone.
    """
    (w, v), step = place, mpf(step)
    for _ in range(n_steps):
        p, phi = mpmath.fprod(v), mpmath.pi - abs(mpmath.arg(w))
        turning = phi + mpmath.sin(phi) * w / abs(w)
        pull = -(p**2) * w / 2 + p * turning / (2 * mpmath.pi)
        radial = (mpmath.conj(w) * pull).real
        w, v = w + step * pull, tuple(a + step * radial / a for a in v)
    return Place(w, v)


# --- At one fraction of X the upper bounds of phi(T) become negative near phi_0 = 0 ---------------
#
# Both say pi - phi(T) > 2 chi (1 - h)^T - 2/3 chi^3 (1 - 3h)^T, h = c eta = 1/(3k) at eta = X/k;
# chi = 10^(4k/5) is large enough.


def demanded(k: int) -> tuple[int, float]:
    """At eta = X/k: the last T with 2 chi (1 - h)^T >= 5, and what pi - phi(T) must exceed."""
    log_chi, h = 0.8 * k * math.log(10.0), 1.0 / (3.0 * k)
    T = math.floor((log_chi - math.log(2.5)) / -math.log1p(-h))
    return T, float(gap_bounds(T, -log_chi, 1.0, 1.0, 1.0, 1, 2.0 * h)[0])


def demands() -> list[Evidence]:
    """What Theorems 4.2 (any m) and A.2 ask pi - phi(T) to exceed, at two steps."""
    return [
        note(f"one fraction for all starts, cot(phi0/2) = 10^{4 * k // 5}: what pi - phi(T) is to "
             f"exceed at eta = X/{k}, T = {T}", value)
        for k in SMALLNESS[:2]
        for T, value in [demanded(k)]
    ]  # fmt: skip


SMALL_STEPS = Reading(
    taken="how small eta has to be may depend on the start, r and R",
    others="no fraction of X serves all starts: each is too large for some start near phi0 = 0, "
    "where the bound becomes negative; with (1 - c eta)^(3T) in place of (1 - 3c eta)^T every "
    "eta < 2 with c eta < 1 serves all",
)


# --- Descent of one layer: Theorem A.1 on the magnitude, and Theorem A.2 on the angle -------------

SEEN = 1e-280
"""Where pi - phi is smaller it is about to underflow, as it falls from step to step."""

OPPOSITE = 0.1
"""A start is away from phi0 = 0 if phi0 is at least this."""

ANY_STEP = (1, *SMALLNESS)
"""Shares of X = 2: the theorems hold for every step below it."""


def small_norm(run: Descent) -> float:
    """The norm below which Theorem A.1's special case holds from T = 1 on:

    |w0| < eta / (2 - eta) |w*| (1 - |phi0 u* + sin(phi0) u| / pi).
    """
    phi0 = run.start.phi
    reach = math.sqrt(phi0**2 + math.sin(phi0) ** 2 - 2.0 * phi0 * math.sin(phi0) * math.cos(phi0))
    return run.step / (2.0 - run.step) * run.start.target * (1.0 - reach / math.pi)


def _magnitude_slack(run: Descent, v0: float) -> float:
    """The least distance of |w(T)|, T >= 1, to Theorem A.1's bounds for this v0."""
    start, path = run.start, run.path
    lower, upper = magnitude_bounds(path.t, start.phi, v0, start.target, run.step)
    slack = np.minimum(path.length - lower, upper - path.length)[1:]
    return float(slack.min()) / max(start.v, start.target)


@statement(
    "A.1: both bounds of |w(T)|, T >= 1",
    draws((0,), lambda _: 2.0, psi=(-9.0, 12.0), rho=(-9.0, 5.0), shares=ANY_STEP),
    {"step below 2": lambda run: run.is_below(2.0)},
)
def magnitude(run: Descent) -> float:
    """ma.thmA.1.1: Theorem A.1 from the first step on, for all steps below 2."""
    return _magnitude_slack(run, run.start.v)


def _near_zero(item: Instance, rng: np.random.Generator) -> Instance:
    run = Descent.of(item)
    share = small_norm(run) / run.start.target * rng.uniform(0.0, 1.0)
    return {"rho": np.array(math.log(max(share, 1e-300)))}


@statement(
    "A.1, |w0| near 0: both bounds of |w(T)|, T >= 1",
    extended(draws((0,), lambda _: 2.0, psi=(-4.0, 4.0), shares=ANY_STEP), _near_zero),
    {
        "step below 2": lambda run: run.is_below(2.0),
        "|w0| small enough": lambda run: run.start.v < small_norm(run),
    },
)
def small_magnitude(run: Descent) -> float:
    """ma.thmA.1.2: Theorem A.1, the special case: |w0| below `small_norm`."""
    return _magnitude_slack(run, 0.0)


def angle_slacks(run: Descent) -> tuple[NDArray, NDArray]:
    """Slacks of the lower and the upper bound of phi(T), T = 0, 1, ..., as shares of pi - phi."""
    start, path = run.start, run.path
    given = (*run.norm_range(), start.target, start.m, run.step)
    below, above = gap_bounds(path.t, start.psi, *given)
    return (above - path.theta) / path.theta, (path.theta - below) / path.theta


@statement("A.2: lower bound of phi(T), T >= 0", everywhere((0,)), ON_THE_ANGLE)
def angle(run: Descent) -> float:
    """ma.thmA.2.1: Theorem A.2, its lower bound of phi(T)."""
    return float(angle_slacks(run)[0].min())


@statement(
    f"A.2: upper bound of phi(T), T >= 0, phi0 >= {OPPOSITE}",
    draws((0,)),
    {**ON_THE_ANGLE, f"phi0 >= {OPPOSITE}": lambda run: run.start.phi >= OPPOSITE},
)
def angle_away(run: Descent) -> float:
    """ma.thmA.2.2: Theorem A.2, its upper bound of phi(T), away from phi0 = 0."""
    return float(angle_slacks(run)[1].min())


def _share(run: Descent) -> float:
    """c eta."""
    return run.step * run.start.target / (2.0 * run.norm_range()[0])


@statement(
    "A.2 repaired: upper bound of phi(T), T >= 0",
    # r is about the smaller one of |w0| and the norm at which |w| turns.
    to_the_limit(
        (0,), lambda start: 2.0 * min(1.0, start.v / start.target, float(pull(start.phi)))
    ),
    {
        "start": lambda run: run.start.phi > 0.0 and run.start.theta > 0.0 and run.start.m == 0,
        "norm": lambda run: min(run.loose) > 1.0,
        "step": lambda run: run.step < 2.0 and _share(run) < 1.0,
    },
    "ma.ours.descent.one",
)
def repaired_angle(run: Descent) -> float:
    """ma.ours.descent.one: Theorem A.2's upper bound with (1 - c eta)^(3T) for (1 - 3 c eta)^T."""
    theta = run.path.theta[run.path.theta > SEEN]
    y = np.exp(np.arange(len(theta)) * math.log1p(-_share(run)) - run.start.psi)
    below = 2.0 * y - 2.0 / 3.0 * y**3
    return float(((theta - below) / theta).min())


@statement(
    "A.2, |w0| <= |w*|: lower bound of phi(T)",
    draws((0,), lambda _: 2.0, (NEAR_ZERO[0], 9.0), (-9.0, 0.0), ANY_STEP),
    {
        "|w0| <= |w*|": lambda run: run.start.rho <= 0.0,
        "step below 2": lambda run: run.is_below(2.0),
    },
)
def small_angle(run: Descent) -> float:
    """ma.thmA.2.3: Theorem A.2, the special case, for all |w0| <= |w*| and all steps below 2: the
    bound with R = |w*|; r is not in its lower half."""
    theta, v = run.path.theta[run.path.theta > SEEN], run.start.target
    _, above = gap_bounds(np.arange(len(theta)), run.start.psi, v, v, v, 0, run.step)
    return float(((above - theta) / theta).min())


def try_all(seed: int, count: int, **statements: Callable[[], Statement]) -> dict[str, Report]:
    return {name: falsify(made(), seed, count, 0) for name, made in statements.items()}


def try_one_layer(seed: int, count: int) -> dict[str, Report]:
    """Try Theorem A.1 and what is true of Theorem A.2 with `count` draws each. Where the proof of
    A.2 is for small steps alone a search goes on from the worst draws, with three evaluations a
    draw, for the statements have six variables."""
    statements = {
        "A.1": magnitude,
        "A.1 small": small_magnitude,
        "A.2 small": small_angle,
        "A.2 repaired": repaired_angle,
    }
    for_small_steps = {"A.2 lower": angle, "A.2 upper": angle_away}
    return try_all(seed, count, **statements) | {
        name: falsify(made(), seed, count, 3 * count) for name, made in for_small_steps.items()
    }
