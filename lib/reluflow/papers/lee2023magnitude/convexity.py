"""D.1's remark on the convexity of the magnitude's bounds, read as functions of time, and where
they bend."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import sympy as sp
from scipy.optimize import brentq

from reluflow.falsify import survey
from reluflow.flows.population import pull
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2023magnitude import bounds

READING = Reading(
    taken="convex as functions of time, and the convexity changes where the curve bends",
    others="if the level is that of the start, a bound of one layer is convex from above "
    "it and concave from below, as the remark says; then not all bounds are convex, and "
    "for two layers the levels are (1 - ε0)^(1/2) |w*| and that over 3^(1/2), not "
    "(1 - ε0) |w*|",
)

_RIGHT, _SMALL, _STEP = 0.5 * math.pi, 0.1, 1e-2
"""phi_0, |w_0| for |w*| = 1, and the step of the differences."""


def _second_derivatives() -> tuple[float, float]:
    """Of the lower and of the upper bound of Theorem 3.3 at t = 1, by differences."""
    t = 1.0 + _STEP * np.arange(-1, 2)
    lower, upper = bounds.magnitude_bounds(t, _RIGHT, _SMALL, 1.0)
    return float(np.diff(lower, 2)[0]) / _STEP**2, float(np.diff(upper, 2)[0]) / _STEP**2


def bends() -> list[Evidence]:
    """ma.text.convex: all bounds are convex, and where a lower one's convexity changes (D.1)."""

    def lower(t: np.ndarray) -> np.ndarray:
        return bounds.two_layer_magnitude_bounds(t, _RIGHT, _SMALL, 1.0)[0]

    share = float(pull(_RIGHT))
    where = brentq(lambda t: float(np.diff(lower(t + _STEP * np.arange(-1, 2)), 2)[0]), 0.1, 60.0)
    level = float(lower(np.array([where]))[0])
    second = _second_derivatives()
    return [
        bound("second derivative at t = 1 of the lower bound of Theorem 3.3 from |w0| = 1/10, "
              "by differences", second[0], ">=", 0, "|w*|"),
        bound("the same of the upper bound", second[1], ">=", 0, "|w*|"),
        bound("two layers, |w0| = 1/10: distance of the level at which the lower bound bends "
              "from (1 - ε0) |w*|", round(abs(level - share), 4), "<=", 0.001, "|w*|"),
        note("that level, and its value (1 - ε0)^(1/2) / 3^(1/2) by our formula",
             (level, math.sqrt(share / 3.0))),
    ]  # fmt: skip


def concave_bounds() -> Counterexample:
    """Both bounds of one layer from |w_0| = |w*|/10 at a right angle, at t = 1."""
    t, kappa = sp.symbols("t kappa", positive=True)
    curve = kappa * (1 - sp.exp(-t / 2)) + sp.Rational(1, 10) * sp.exp(-t / 2)
    names, measured, limits = ("lower", "upper"), _second_derivatives(), (1 / sp.pi, 1)
    return Counterexample(
        instance={"φ0": "π/2", "|w0|": "1/10", "|w*|": 1, "t": 1},
        assumptions={"0 < φ0 < π": 0.0 < _RIGHT < math.pi, "|w0| > 0": _SMALL > 0.0},
        breaks=tuple(
            bound(f"second difference of the {name} bound, over h², h = 1/100", value, ">=", 0, "")
            for name, value in zip(names, measured, strict=True)
        ),
        recheck=tuple(
            bound(f"second derivative of the {name} bound by SymPy",
                  float(sp.diff(curve, t, 2).subs({t: 1, kappa: limit})), ">=", 0, "")
            for name, limit in zip(names, limits, strict=True)
        ),
        route="the bound differentiated by SymPy",
    )  # fmt: skip


def inflection(level: float, m: int) -> float:
    """The value at which a solution of u' = -1/2 u^m (u^(m+1) - level^(m+1)) below `level` turns
    from convex to concave: level (m/(2m+1))^(1/(m+1)). Above `level` it is convex.

    Since u'' = f'(u) f(u) with f(u) the right side, and f' = -1/2 u^(m-1) ((2m+1) u^(m+1) - m
    level^(m+1)).
    """
    return level * (m / (2 * m + 1)) ** (1.0 / (m + 1))


def survey_bounds(seed: int, count: int) -> pd.DataFrame:
    """Random starts with phi_0 in (0, pi), |w_0|/|w*| in (0.01, 10), m = 0, ..., 3.

    bent          how often u'' had another sign than `inflection` says, of `looked`
    convex        whether the lower bound starts below its end, where it is said to be convex, and
                  is not; `between`, whether with v_0 > (1 - eps_0) v* all the same
    """
    rng = np.random.default_rng(seed)

    def measure(m: int) -> dict[str, float | bool]:
        phi0 = float(rng.uniform(0.02, np.pi - 0.02))
        v0 = float(10.0 ** rng.uniform(-2, 1))
        level = float(pull(phi0)) ** (1.0 / (m + 1))
        bent, looked = _bends(v0, phi0, level, m)
        return {
            "bent": bent,
            "looked": looked,
            "convex": v0 < level,
            "between": level ** (m + 1) < v0 < level,
        }

    return survey((int(rng.integers(4)) for _ in range(count)), measure)


def _bends(v0: float, phi0: float, level: float, m: int) -> tuple[int, int]:
    """How often second differences of the lower bound have another sign than `inflection` says,
    and how often they were looked at; near the inflection and near the level they are not."""
    h = 1e-3 / max(1.0, v0, level) ** (2 * m)
    t = np.linspace(0.0, 8.0, 40)[:, None] + h * np.arange(3)
    u = bounds.layered_magnitude_bounds(t.ravel(), phi0, v0, 1.0, m)[0].reshape(t.shape)
    bend = u[:, 0] - 2.0 * u[:, 1] + u[:, 2]
    said = np.where(u[:, 1] > level, 1.0, np.sign(inflection(level, m) - u[:, 1]))
    clear = np.abs(bend) > 1e-12 * u[:, 1]
    clear &= np.abs(u[:, 1] / max(inflection(level, m), 1e-300) - 1.0) > 1e-2
    return int(np.sum(clear & (np.sign(bend) != said))), int(clear.sum())


def bent_bounds(found: pd.DataFrame) -> list[Evidence]:
    """ma.ours.restart.bend: where the bounds of the flow are convex and where they are concave."""
    return [
        fact("second differences of another sign", int(found.bent.sum()), 0),
        bound("second differences looked at", int(found.looked.sum()), ">", 0, ""),
        bound("lower bounds that start below their end, where D.1's 'convex' fails",
              int(found.convex.sum()), ">", 0, ""),
        note("of them with v_0 > (1 - eps_0) v*, where D.1 says that convexity holds",
             int(found.between.sum())),
    ]  # fmt: skip
