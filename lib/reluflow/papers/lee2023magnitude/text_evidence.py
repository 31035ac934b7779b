"""What the paper says in passing of the magnitude: after eq. (11), in Section 5.2 and in D.1.

Each function returns the arguments of `Ledger.settle`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from scipy.optimize import brentq

from reluflow.falsify import falsify, survived
from reluflow.flows.population import population_flow, pull
from reluflow.ledger import Counterexample, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude import bounds
from reluflow.papers.lee2023magnitude.angles import upper_tail
from reluflow.papers.lee2023magnitude.dynamics import angle_rate, magnitude_rate
from reluflow.papers.lee2023magnitude.dynamics_statements import (
    always_turns,
    falls_above_nullcline,
    monotone,
    nearly_monotone,
)
from reluflow.papers.lee2023magnitude.phases import dip_from_teacher_norm
from reluflow.papers.lee2023magnitude.phases_evidence import DEPTHS

Settlement = dict[str, Any]

DEEPER = (*DEPTHS, 50, 100)


def falling_region(seed: int, count: int) -> Settlement:
    """Eq. (11): where the magnitude falls."""
    return {"evidence": survived(falsify(falls_above_nullcline(), seed, count, 0))}


def monotone_conclusion(seed: int, count: int) -> Settlement:
    """The text after eq. (11): |w| is monotone for large m, whatever the start."""
    flat = falsify(monotone(DEPTHS), seed, count, 0)
    m, right = 10, 0.5 * math.pi
    dip = dip_from_teacher_norm(right, m)
    seen = _euler(right, 1.0, m, (0.25, 20.0))
    k, v = sp.symbols("m v", positive=True)
    phi = sp.pi / 2
    share = (sp.sin(phi) - phi * sp.cos(phi)) / sp.pi
    rate = sp.simplify(-(v**k) * (v ** (k + 1) - v ** (k + 1) * share) / 2)
    return {
        "evidence": [
            *flat.checks(),
            note("m", DEPTHS),
            note("kinds of starts that break it", ", ".join(flat.violations)),
            note("seed", seed),
        ],
        "counterexample": Counterexample(
            instance={"m": m, "φ0": "π/2", "|w0| = v_1 = ... = v_m": 1, "|w*| = v_k*": 1},
            assumptions={"0 < φ0 < π": 0.0 < right < math.pi, "w0 not 0": True,
                         "balanced": True, "m is large (the recheck is for every m)": m >= 10},
            breaks=(
                bound("depth to which |w| falls below |w0| = |w*|, its limit", dip.dip, "<=", 0,
                      "|w*|"),
            ),
            recheck=(
                fact("a plain Euler loop sees |w| fall until t = 1/4 and rise later",
                     seen[0] < 1.0 and seen[1] > seen[0], False),
                fact("dv/dt < 0 though v is not above v*: v = v*, φ = π/2, every m (SymPy)",
                     bool(rate.is_negative), False),
            ),
            route="plain Euler steps of (9)-(10), and the sign of dv/dt for all m by SymPy",
        ),
    }  # fmt: skip


def _euler(phi: float, v: float, m: int, times: Sequence[float], step: float = 1e-3) -> list[float]:
    """v at `times`, by plain Euler steps of (9)-(10) with v* = 1."""
    found, steps = [], 0
    for t in times:
        while steps < round(t / step):
            dv, dphi = magnitude_rate(v, phi, 1.0, m), angle_rate(v, phi, 1.0, m)
            v, phi, steps = float(v + step * dv), float(phi + step * dphi), steps + 1
        found.append(v)
    return found


def monotone_tendency(seed: int, count: int) -> Settlement:
    """The text after eq. (11): the magnitude of deep networks *tends to* be monotone."""
    dips = [dip_from_teacher_norm(0.5 * math.pi, m).dip for m in (10, 100)]
    return {
        "evidence": [
            *survived(falsify(nearly_monotone(DEEPER), seed, count, 0)),
            bound("dip from |w0| = |w*|, φ0 = π/2: that of m = 100 over that of m = 10",
                  dips[1] / dips[0], "<", 0.2, ""),
            note("m", DEEPER),
        ],
        "reading": Reading(
            taken="the smaller of the two parts of its way, the falling and the rising one, tends "
            "to 0 as m grows",
            others="as an exact statement it is false for every m; and of the network's output "
            "scale v_1...v_m |w| the fall grows with m",
        ),
    }  # fmt: skip


def conjecture(seed: int, count: int) -> Settlement:
    """Section 5.2's conjecture on large norms: broken by one layer, near the teacher."""
    shallow = falsify(always_turns((0,)), seed, count, 0)
    deep = falsify(always_turns(DEPTHS), seed, count, 0)
    phi0, large = 0.75 * math.pi, 3.0
    t = np.linspace(0.0, 20.0, 201)
    path = population_flow(math.log(math.tan(0.5 * phi0)), math.log(large), 0, t)
    with mpmath.workdps(30):
        exact = min(_length_exactly(phi0, large, k) for k in range(1, 21)) - 1
    near = upper_tail(math.cos(math.atan(math.pi)), 100)
    return {
        "evidence": [
            *shallow.checks(f"one layer: {shallow.says}"),
            *deep.checks(f"m >= 1: {deep.says}"),
            note("m, of the second", DEPTHS),
            note("probability that a random direction in d = 100 is so near to w* that one layer "
                 "has a threshold norm at all", near, digits=2),
            note("seed", seed),
        ],
        "reading": Reading(
            taken="in general means from every start with 0 < φ0 < π and |w0| > 2 |w*|",
            others="for two layers and more it is true of all of these; for one layer it is true "
            "from angle(w0, w*) >= arctan π = 72.3 degrees on, and so of nearly all random "
            "directions in high dimension",
        ),
        "counterexample": Counterexample(
            instance={"m": 0, "φ0": "3π/4", "|w0|": large, "|w*|": 1},
            assumptions={"0 < φ0 < π": True, "|w0| > 2 |w*|": large > 2.0},
            breaks=(
                bound("least |w(t)|/|w*| - 1, 0 <= t <= 20, of the integrated flow, which would "
                      "have to go below 0 to rise to its limit 0", float(np.expm1(path.rho).min()),
                      "<", 0, ""),
                fact("it rises between two of 200 times", int((np.diff(path.rho) >= 0).sum())
                     > 0, True),
            ),
            recheck=(bound("least |w(t)|/|w*| - 1 at t = 1, ..., 20, by the closed form, 30 digits",
                           float(exact), "<", 0, ""),),
            route="cot φ(t) and |w(t)| of one layer in closed form, with mpmath",
        ),
    }  # fmt: skip


def _length_exactly(phi0: float, v0: float, t: float) -> mpmath.mpf:
    """|w(t)| of one layer, |w*| = 1: phi / (C sin(phi) - pi cos(phi)), C from the start."""
    start = mpmath.mpf(phi0) / mpmath.sin(phi0)
    cot = mpmath.cot(phi0) - start / (mpmath.pi * v0) * (mpmath.exp(mpmath.mpf(t) / 2) - 1)
    phi = mpmath.acot(cot)
    phi = phi + mpmath.pi if phi < 0 else phi
    constant = start / v0 + mpmath.pi * mpmath.cot(phi0)
    return phi / (constant * mpmath.sin(phi) - mpmath.pi * mpmath.cos(phi))


def convexity() -> Settlement:
    """D.1's remark: all bounds are convex, and where the convexity of a lower one changes."""
    phi0, v0 = 0.5 * math.pi, 0.1
    share, h = float(pull(phi0)), 1e-2
    t = 1.0 + h * np.arange(-1, 2)
    lower, upper = (
        float(np.diff(curve, 2)[0]) / h**2 for curve in bounds.magnitude_bounds(t, phi0, v0, 1.0)
    )

    def bend(time: float) -> float:
        around = time + h * np.arange(-1, 2)
        return float(np.diff(bounds.two_layer_magnitude_bounds(around, phi0, v0, 1.0)[0], 2)[0])

    where = brentq(bend, 0.1, 60.0)
    level = float(bounds.two_layer_magnitude_bounds([where], phi0, v0, 1.0)[0][0])
    x, kappa = sp.symbols("t kappa", positive=True)
    start = sp.Rational(1, 10)
    curve = kappa * (1 - sp.exp(-x / 2)) + start * sp.exp(-x / 2)
    second = [sp.diff(curve, x, 2).subs({x: 1, kappa: k}) for k in (1 / sp.pi, 1)]
    return {
        "evidence": [
            bound("second derivative at t = 1 of the lower bound of Theorem 3.3 from |w0| = 1/10, "
                  "by differences", lower, ">=", 0, "|w*|"),
            bound("the same of the upper bound", upper, ">=", 0, "|w*|"),
            bound("two layers, |w0| = 1/10: distance of the level at which the lower bound bends "
                  "from (1 - ε0) |w*|", round(abs(level - share), 4), "<=", 0.001, "|w*|"),
            note("that level, and its value (1 - ε0)^(1/2) / 3^(1/2) by our formula",
                 (level, math.sqrt(share / 3.0))),
        ],
        "reading": Reading(
            taken="convex as functions of time, and the convexity changes where the curve bends",
            others="if the level is that of the start, a bound of one layer is convex from above "
            "it and concave from below, as the remark says; then not all bounds are convex, and "
            "for two layers the levels are (1 - ε0)^(1/2) |w*| and that over 3^(1/2), not "
            "(1 - ε0) |w*|",
        ),
        "counterexample": Counterexample(
            instance={"φ0": "π/2", "|w0|": "1/10", "|w*|": 1, "t": 1},
            assumptions={"0 < φ0 < π": True, "|w0| > 0": v0 > 0.0},
            breaks=(
                bound("second difference of the lower bound, over h², h = 1/100", lower,
                      ">=", 0, ""),
                bound("second difference of the upper bound, over h², h = 1/100", upper,
                      ">=", 0, ""),
            ),
            recheck=tuple(
                bound(f"second derivative of the {name} bound by SymPy", float(value), ">=", 0, "")
                for name, value in zip(("lower", "upper"), second, strict=True)
            ),
            route="the bound differentiated by SymPy",
        ),
    }  # fmt: skip
