"""The two phases of |w(t)|: from where it falls before it rises, and from where it falls for ever.

Instances are starts, see `Start`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mpmath
import numpy as np

from reluflow.falsify import Draw, Instance, Statement, falsify, given, survived
from reluflow.flows.half_angles import log_tan
from reluflow.flows.phases import (
    FALLING,
    RISING,
    TURNING,
    Phases,
    phases,
    threshold_norm,
)
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude.angles import upper_tail
from reluflow.papers.lee2023magnitude.bounds_exact import one_layer_length
from reluflow.papers.lee2023magnitude.nullcline import (
    DEPTHS,
    about_phases,
    beside_nullcline,
    followed,
    resting,
)
from reluflow.papers.lee2023magnitude.starts import Start, drawn

# --- Statements -----------------------------------------------------------------------------------


def far(layers: Sequence[int]) -> dict[str, Draw]:
    """Starts near both ends of the angle, with tiny and huge norms."""
    return drawn(layers, {"anywhere": ((-12.0, 10.0), (-12.0, 12.0))})


def two_phases(layers: Sequence[int]) -> Statement:
    """ma.ours.phases: for m >= 1, v only rises if v_0 <= v* (1 - eps_0)^(1/(m+1)), else it falls
    once and rises."""

    def slack(found: Phases, start: Start) -> float:
        expected = RISING if start.v <= resting(start) else TURNING
        return 1.0 if found.flips <= 1 and found.kind == expected else -1.0

    return about_phases(
        "|w| only rises, or falls once and then rises",
        {"near the nullcline": beside_nullcline(layers), **followed(layers), **far(layers)},
        slack,
        given(
            "ma.ours.phases",
            flow=lambda item: int(item["m"]) >= 1,
            start=lambda item: Start.of(item).phi > 0.0 and Start.of(item).theta > 0.0,
        ),
    )


def threshold() -> Statement:
    """ma.ours.threshold: for m = 0, |w| falls for ever if and only if |w_0| / |w*| is at least
    `threshold_norm`."""

    def slack(found: Phases, start: Start) -> float:
        if abs(start.v / float(threshold_norm(start.phi)) - 1.0) <= 1e-6:
            return math.nan  # rounding would decide
        expected = FALLING if start.v >= float(threshold_norm(start.phi)) else TURNING
        if start.v <= resting(start):
            expected = RISING
        return 1.0 if found.flips <= 1 and found.kind == expected else -1.0

    def near(side: float) -> Draw:
        def draw(rng: np.random.Generator) -> Instance:
            phi = rng.uniform(math.pi - math.atan(math.pi) + 0.01, 3.0)
            rho = math.log(float(threshold_norm(phi)))
            rho += side * 10.0 ** rng.uniform(-5.0, -1.0)
            return {"psi": log_tan(phi), "rho": np.array(rho), "m": np.array(0)}

        return draw

    return about_phases(
        "one layer: |w| falls for ever exactly beyond the threshold norm",
        {"just below": near(-1.0), "just above": near(1.0), **followed([0]), **far([0])},
        slack,
        given(
            "ma.ours.threshold",
            flow=lambda item: int(item["m"]) == 0,
            start=lambda item: Start.of(item).phi > 0.0 and Start.of(item).theta > 0.0,
        ),
    )


def always_turns(layers: Sequence[int]) -> Statement:
    """ma.text.twophase.2: from |w_0| > 2 |w*| the magnitude falls, and then rises (the conjecture
    of Section 5.2)."""
    return about_phases(
        "from |w0| > 2 |w*| the magnitude falls and then rises",
        drawn(layers, {"any angle": ((-3.5, 3.0), (math.log(2.0) + 1e-9, 6.0))}),
        lambda found, *_: 1.0 if found.kind == TURNING else -1.0,
        {"|w0| > 2 |w*|": lambda item: bool(item["rho"] > math.log(2.0))},
    )


# --- Cases ----------------------------------------------------------------------------------------


def phases_of_depth(seed: int, count: int) -> list[Evidence]:
    """What becomes of `two_phases`, and integrated flows beside the orbit's phases."""
    starts = [Start(0.3, math.log(r), m) for m in (1, 2) for r in (0.5, 1.0, 3.0)]
    return [
        *survived(falsify(two_phases((*DEPTHS, 4, 8)), seed, count, 0)),
        fact("integrated flows whose turns or least |w| are other than the orbit's",
             sum(not _moves_as_told(start) for start in starts), 0),
        note("flows integrated", len(starts)),
    ]  # fmt: skip


def _moves_as_told(start: Start) -> bool:
    """Whether the integrated flow turns as often as `phases` tells, with the same least |w|."""
    told = phases(start.psi, start.rho, start.m)
    t = np.concatenate([np.linspace(0.0, 8.0, 1601), [20.0, 25.0]])
    rho = start.flow(t).rho
    signs = np.sign(np.diff(rho))
    turns = int(np.sum(signs[1:] != signs[:-1]))
    near = abs(math.exp(rho.min()) - told.least) < 1e-4
    return turns == int(told.kind != RISING) and signs[-1] > 0 and near


def falling_for_ever(seed: int, count: int) -> list[Evidence]:
    """What becomes of `threshold`, and integrated flows just beyond it and just below."""
    angles, t = (2.0, 2.5, 3.0), np.linspace(0.0, 30.0, 61)
    higher, lower = (
        [Start.at(phi, k * float(threshold_norm(phi)), 0).flow(t).rho for phi in angles]
        for k in (1.01, 0.99)
    )  # fmt: skip
    right = [phases(0.0, math.log(r), 0).kind for r in (10.0, 1e3, 1e5)]
    return [
        *survived(falsify(threshold(), seed, count, 0)),
        fact("integrated flows 1 % above the threshold that fall to the end",
             sum(bool((np.diff(rho) < 0.0).all() and rho[-1] > 0.0) for rho in higher),
             len(angles)),
        fact("integrated flows 1 % below it that end below |w*|",
             sum(bool(rho[-1] < 0.0) for rho in lower), len(angles)),
        fact("from φ0 = π/2, |w0| = 10, 1e3, 1e5 of |w*|: flows that turn",
             sum(kind == TURNING for kind in right), 3),
        note("angle(w0, w*) below which a threshold exists, arctan π",
             f"{math.degrees(math.atan(math.pi)):.2f} degrees"),
    ]  # fmt: skip


def conjecture(seed: int, count: int) -> list[Evidence]:
    """What becomes of `always_turns`, for one layer and for more."""
    shallow, deep = (falsify(always_turns(m), seed, count, 0) for m in ((0,), DEPTHS))
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
