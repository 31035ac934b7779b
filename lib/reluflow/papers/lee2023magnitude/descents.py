"""Population descents that the statements of Section 4 and Appendix A are tried on.

An instance is a start of `setting`, with "target", and a descent: "step" (), "steps" () how many
are taken, and "loose" (2,) > 1: the r and R that a theorem asks for are taken that much outside the
norms of the run. A step is called small against a number X if it is at most X over "smallness" (),
which is 10, 100 or 1000, by the kind of draw, or 1, where a statement needs no small step. "asked"
() is the number of steps for which the eps of Corollary 4.3 is taken, where an instance has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from typing import Any, NamedTuple

import mpmath
import numpy as np
from mpmath import mpc, mpf

from reluflow.falsify import Draws, Instance, Report, Statement, extended, given
from reluflow.ledger import Evidence, Reading, fact, note
from reluflow.papers.lee2023magnitude.population import PopulationPath, nullcline
from reluflow.papers.lee2023magnitude.setting import Range, Start, gap_bounds, step_limit

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


def broken(report: Report) -> list[Evidence]:
    """How many draws broke a statement, and at which smallness of the step."""
    kinds = ", ".join(f"{kind}: {count}" for kind, count in report.violations.items())
    return [
        fact(f"{report.says}: instances that break it", sum(report.violations.values()), 0),
        note("of them, by the step", kinds or "none"),
        note("instances tried, and drawn", (report.tried, report.drawn)),
    ]


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
