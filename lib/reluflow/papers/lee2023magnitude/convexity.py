"""D.1's remark on the convexity of the magnitude's bounds, read as functions of time."""

from __future__ import annotations

import math

import numpy as np
import sympy as sp
from scipy.optimize import brentq

from reluflow.flows.population import pull
from reluflow.ledger import Counterexample, Evidence, Reading, bound, note
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
        assumptions={"0 < φ0 < π": True, "|w0| > 0": _SMALL > 0.0},
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
