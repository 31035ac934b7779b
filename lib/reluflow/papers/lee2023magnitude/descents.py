"""Population descents that the statements of Section 4 and Appendix A are tried on.

An instance is a start of `starts`, with "target", and a descent: "step" (), "steps" () how many are
taken, and "loose" (2,) > 1: the r and R that a theorem asks for are taken that much outside the
norms of the run. A step is called small against a number X if it is at most X over "smallness" (),
which is 10, 100 or 1000, by the kind of draw, or 1, where a statement needs no small step. "asked"
() is the number of steps for which the eps of Corollary 4.3 is taken, where an instance has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from reluflow.falsify import Instance, Report, Statement, given
from reluflow.flows.phases import nullcline
from reluflow.flows.population import PopulationPath
from reluflow.instances import Arrays, Draws, extended
from reluflow.ledger import Evidence, fact, note
from reluflow.papers.lee2023magnitude.bounds import step_limit
from reluflow.papers.lee2023magnitude.starts import Range, Start

SMALLNESS = (10, 100, 1000)
"""A step is tried at these fractions of what it is to be small against."""

ROUNDING = 1e-12
"""A slack below this share of the quantity is rounding."""


@dataclass(frozen=True)
class Ranges:
    """What is known of a descent in advance: low <= v_1...v_m / |w| <= high, v_1...v_m <= product.

    For balanced weights v_1...v_m / |w| is |w|^(m-1).
    """

    low: float
    high: float
    product: float


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
        """An r and an R with r < |w(T)| < R for all T > 0, those after the run included.

        After it |w| stays above the smaller of its value and v* (1 - eps)^(1/(m+1)), and below the
        larger of its value and v* (1 + eta v*^(2m)).
        """
        path, m, target = self.path, self.start.m, self.start.target
        length = path.length[1:]
        rest = target * float(nullcline(path.phi[-1], m))
        top = target * (1.0 + self.step * target ** (2 * m)) if m else target
        low, high = float(min(length.min(), rest)), float(max(length.max(), top))
        return low / self.loose[0], high * self.loose[1]

    def ranges(self) -> Ranges:
        """The ranges of v_1...v_m / |w| and v_1...v_m over the run."""
        product = self.path.layers.prod(axis=1)
        ratio = product / self.path.length
        return Ranges(float(ratio.min()), float(ratio.max()), float(product.max()))

    def stays_positive(self) -> bool:
        """Whether all v_k stay positive, and do not overflow."""
        try:
            layers = self.path.layers
        except OverflowError:
            return False
        return bool((layers > 0.0).all() and np.isfinite(layers).all())

    def overshoot(self) -> float:
        """eta max(v0, v*)^(2m)."""
        return self.step * max(self.start.v, self.start.target) ** (2 * self.start.m)

    def is_below(self, limit: float) -> bool:
        """Whether the step is at most the limit over 10, 100 or 1000."""
        return self.step * self.smallness <= limit

    def is_loose(self) -> bool:
        """Whether r and R are strictly outside the norms of the run."""
        return min(self.loose) > 1.0

    def is_gentle(self) -> bool:
        """No step overshoots: eta max(v0, v*)^(2m) <= 1. The theorems do not ask for it where they
        let v0 be large; it leaves out runs that diverge."""
        return self.overshoot() <= 1.0

    def is_fine(self) -> bool:
        """Whether the step is small against the limit of Theorems 4.2 and A.2."""
        start = self.start
        return self.is_below(step_limit(start.phi, *self.norm_range(), start.target, start.m))


ON_THE_ANGLE = {
    "no step overshoots": Descent.is_gentle,
    "r < |w(T)| < R": Descent.is_loose,
    "step small enough": Descent.is_fine,
}
"""What Theorems 4.2 and A.2 suppose."""


@lru_cache(maxsize=4)
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


def draws(
    layers: tuple[int, ...],
    limit: Callable[[Start], float] = limit_guess,
    psi: Range = (-3.0, 9.0),
    rho: Range = (-3.0, 1.5),
    shares: tuple[int, ...] = SMALLNESS,
) -> Draws:
    """Starts with psi and rho in these ranges; the step is limit(start) over one of the shares, or
    up to two times smaller."""

    def kind(share: int) -> Callable[[np.random.Generator], Arrays]:
        def draw(rng: np.random.Generator) -> Arrays:
            m, target = int(rng.choice(layers)), float(10.0 ** rng.uniform(-0.5, 0.5))
            start = Start(rng.uniform(*psi), rng.uniform(*rho), m, target)
            return {
                "psi": np.array(start.psi),
                "rho": np.array(start.rho),
                "target": np.array(target),
                "step": np.array(limit(start) / share * rng.uniform(0.5, 1.0)),
                "steps": np.array(int(rng.choice([20, 100, 400], p=[0.3, 0.4, 0.3]))),
                "m": np.array(m),
                "loose": 1.0 + 10.0 ** rng.uniform(-6.0, 0.0, 2),
                "smallness": np.array(share),
            }

        return draw

    return {f"step below X{f'/{share}' * (share > 1)}": kind(share) for share in shares}


def everywhere(
    layers: tuple[int, ...], limit: Callable[[Start], float] = limit_guess, psi: Range = (-3.0, 9.0)
) -> Draws:
    """`draws`, and starts with psi in `NEAR_ZERO` that are followed for up to 2000 steps."""

    def prolonged(_: Arrays, rng: np.random.Generator) -> Arrays:
        return {"steps": np.array(int(rng.choice([100, 400, 2000])))}

    near = extended(draws(layers, limit, NEAR_ZERO, shares=SMALLNESS[:1]), prolonged)
    near = {f"{name}, phi0 below 0.1": draw for name, draw in near.items()}
    return {**draws(layers, limit, psi), **near}


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

    def kind(psi: Range, rho: Range) -> Callable[[np.random.Generator], Arrays]:
        def draw(rng: np.random.Generator) -> Arrays:
            m, target = int(rng.choice(layers)), float(10.0 ** rng.uniform(-0.5, 0.5))
            start = Start(rng.uniform(*psi), rng.uniform(*rho), m, target)
            share = rng.uniform(0.9, 1.0) if rng.random() < 0.5 else 10.0 ** rng.uniform(-3.0, 0.0)
            return {
                "psi": np.array(start.psi),
                "rho": np.array(start.rho),
                "target": np.array(target),
                "step": np.array(share * limit(start)),
                "steps": np.array(int(rng.choice([20, 100, 400, 2000], p=[0.3, 0.4, 0.2, 0.1]))),
                "m": np.array(m),
                "loose": 1.0 + 10.0 ** rng.uniform(-6.0, 0.0, 2),
            }

        return draw

    return {name: kind(*ranges) for name, ranges in FAR.items()}


def statement(
    says: str,
    draws: Draws,
    slack: Callable[[Descent], float],
    hypotheses: Mapping[str, Callable[[Descent], bool]],
    ours: str = "",
) -> Statement:
    """A statement on descents; if it is that of the claim `ours` of our own, the hypotheses are
    named as in its `given`."""

    def tested(test: Callable[[Descent], bool]) -> Callable[[Instance], bool]:
        return lambda item: test(Descent.of(item))

    tests = {name: tested(test) for name, test in hypotheses.items()}
    return Statement(
        says,
        draws,
        lambda item: slack(Descent.of(item)),
        given(ours, **tests) if ours else tests,
        tolerance=ROUNDING,
    )


def broken(report: Report) -> list[Evidence]:
    """How many draws broke a statement, and at which smallness of the step."""
    kinds = ", ".join(f"{kind}: {count}" for kind, count in report.violations.items())
    return [
        fact(f"{report.says}: instances that break it", sum(report.violations.values()), 0),
        note("of them, by the step", kinds or "none"),
        note("instances tried, and drawn", (report.tried, report.drawn)),
    ]
