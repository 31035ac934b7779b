"""Eq. (11): where the magnitude falls, and how far depth lets it fall.

By (11) v = |w| falls exactly where v > v* (1 - eps)^(1/(m+1)), the nullcline. The text after it
says that |w(t)| is monotone for large m.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from reluflow.approx import on_grain
from reluflow.errors import InputError
from reluflow.falsify import Draw, Instance, Statement, falsify, survey, survived
from reluflow.flows.gaussian import quadrature_gradient
from reluflow.flows.half_angles import angle
from reluflow.flows.phases import TURNING, Phases, dip_from_teacher_norm, nullcline, phases
from reluflow.flows.population import shortfall
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude.convergence import starts
from reluflow.papers.lee2023magnitude.nullcline_exact import euler, rate_at_teacher_norm
from reluflow.papers.lee2023magnitude.starts import Start, drawn

DEPTHS = (1, 2, 3, 5, 10, 20)
"""The numbers m of factors besides w on which eq. (11)'s text is tried."""

DEEPER = (*DEPTHS, 50, 100)


def resting(start: Start) -> float:
    """The norm on the nullcline at a start's angle, |w*| = 1."""
    return float(nullcline(start.phi, start.m))


def beside_nullcline(layers: Sequence[int]) -> Draw:
    """Starts off the nullcline by a relative 1e-6 to 0.1, to either side."""

    def draw(rng: np.random.Generator) -> Instance:
        psi, m = rng.uniform(-2.0, 2.0), int(rng.choice(layers))
        rho = math.log(float(nullcline(angle(psi), m)))
        rho += rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-5.9, -1.0)
        return {"psi": np.array(psi), "rho": np.array(rho), "m": np.array(m)}

    return draw


def followed(layers: Sequence[int]) -> dict[str, Draw]:
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


# --- Statements -----------------------------------------------------------------------------------


def falls_above_nullcline() -> Statement:
    """ma.eq11.1: dv/dt < 0 if and only if v > v* (1 - eps)^(1/(m+1)) (eq. (11), its first line).

    The sign of dv/dt is that of the loss's own gradient by quadrature, in all parameters. Starts on
    the nullcline to within 1e-6 are left out: rounding decides their sign.
    """

    def slack(item: Instance) -> float:
        start = Start.of(item)
        m, v = start.m, start.v
        w = v * np.array([math.sin(start.phi), -math.cos(start.phi)])
        slope, slopes = quadrature_gradient(w, [0.0, 1.0], np.full(m, v), np.ones(m))
        rates = np.array([-float(slope @ w) / v, *(-slopes)])
        return 1.0 if np.all((rates < 0.0) == (v > resting(start))) else -1.0

    def off(item: Instance) -> bool:
        start = Start.of(item)
        return abs(resting(start) / start.v - 1.0) > 1e-6

    return Statement(
        says="|w| and all v_k fall exactly where v > v* (1 - ε)^(1/(m+1))",
        draws={"near the nullcline": beside_nullcline(range(6)), **starts(range(6), edge=3.5)},
        slack=slack,
        hypotheses={"off the nullcline by more than 1e-6": off},
        fixed=("m",),
    )


def about_phases(
    says: str,
    draws: Mapping[str, Draw],
    slack: Callable[[Phases, Start], float],
    hypotheses: Mapping[str, Callable[[Instance], bool]] | None = None,
    strict: bool = False,
) -> Statement:
    """A statement whose slack is a function of a start and of how |w(t)| moves from it."""

    def of(item: Instance) -> float:
        start = Start.of(item)
        try:
            found = phases(start.psi, start.rho, start.m)
        except InputError:
            return math.nan  # a turn so late that floats do not follow the flow to it
        return slack(found, start)

    return Statement(says, draws, of, hypotheses or {}, strict, fixed=("m",))


def monotone(layers: Sequence[int]) -> Statement:
    """ma.eq11.2: |w(t)| is monotone, regardless of the start (eq. (11)'s text)."""
    return about_phases("|w(t)| is monotone", followed(layers), lambda found, *_: -found.dip)


def nearly_monotone(layers: Sequence[int]) -> Statement:
    """ma.eq11.3: of its fall and its rise, |w(t)| makes one by less than
    |w*| (1 - (1 - eps_0)^(1/(m+1))), which tends to 0 as m grows; m >= 1 (the text after eq. (11),
    as it can be meant)."""

    def slack(found: Phases, start: Start) -> float:
        part = min(start.v, 1.0) - found.least if found.kind == TURNING else -math.inf
        return 1.0 - resting(start) - part

    says = "|w| is monotone but for less than 1 - (1 - ε0)^(1/(m+1)) of |w*|"
    return about_phases(says, followed(layers), slack, strict=True)


# --- Cases ----------------------------------------------------------------------------------------


def falls_from_teacher_norm() -> Counterexample:
    """From |w_0| = |w*| at a right angle |w| falls first, at every depth."""
    m, right, size = 10, 0.5 * math.pi, 1
    (_, early), (_, late) = euler(right, size, m, (0.25, 20.0))
    return Counterexample(
        instance={"m": m, "φ0": "π/2", "|w0| = v_1 = ... = v_m": size, "|w*| = v_k*": 1},
        assumptions={"0 < φ0 < π": 0.0 < right < math.pi, "w0 not 0": size > 0.0,
                     "balanced": "|w0| is each v_k, too",
                     "m is large (the recheck is for every m)": m >= 10},
        breaks=(
            bound("depth to which |w| falls below |w0| = |w*|, its limit",
                  dip_from_teacher_norm(right, m).dip, "<=", 0, "|w*|"),
        ),
        recheck=(
            fact("a plain Euler loop sees |w| fall until t = 1/4 and rise later",
                 early < 1.0 and late > early, False),
            fact("dv/dt < 0 though v is not above v*: v = v*, φ = π/2, every m (SymPy)",
                 bool(rate_at_teacher_norm().is_negative), False),
        ),
        route="plain Euler steps of (9)-(10), and the sign of dv/dt for all m by SymPy",
    )  # fmt: skip


def monotone_tried(seed: int, count: int) -> list[Evidence]:
    """What becomes of `monotone`, and which kinds of starts break it."""
    report = falsify(monotone(DEPTHS), seed, count, 0)
    return [
        *survived(report),
        note("m", DEPTHS),
        note("kinds of starts that break it", ", ".join(report.violations)),
    ]


def tendency(seed: int, count: int) -> list[Evidence]:
    """What becomes of `nearly_monotone`, and how a dip shrinks with depth."""
    dips = [dip_from_teacher_norm(0.5 * math.pi, m).dip for m in (10, 100)]
    return [
        *survived(falsify(nearly_monotone(DEEPER), seed, count, 0)),
        bound("dip from |w0| = |w*|, φ0 = π/2: that of m = 100 over that of m = 10",
              dips[1] / dips[0], "<", 0.2, ""),
        note("m", DEEPER),
    ]  # fmt: skip


TENDENCY = Reading(
    taken="the shorter one of the two parts of its way, the falling and the rising one, tends "
    "to 0 as m grows",
    others="as an exact statement it is false for every m; and from |w_0| = |w*| the fall of the "
    "network's output scale v_1...v_m |w| grows with m",
)


# --- Depth ----------------------------------------------------------------------------------------


def dips(phi0: float, depths: Sequence[int]) -> pd.DataFrame:
    """From |w_0| = |w*|: the largest fall of |w|, its bound, and the fall of the output's scale."""
    eps = float(shortfall(math.pi - phi0))

    def at(m: int) -> dict[str, object]:
        found = dip_from_teacher_norm(phi0, m)
        return {
            "m": m,
            "|w| falls by": f"{on_grain(100 * found.dip, 0.01)} %",
            "at most": f"{on_grain(-100 * math.expm1(math.log1p(-eps) / (m + 1)), 0.01)} %",
            "v_1...v_m|w| falls by": f"{on_grain(100 * (1.0 - found.least ** (m + 1)), 0.01)} %",
            "at φ": f"{on_grain(math.degrees(angle(found.psi)), 0.1)}°",
        }

    return survey(depths, at).set_index("m")
