"""Eq. (8), the magnitude of one layer for |w_0| near 0: its upper bound, and what is true instead.

For |w_0| -> 0, with |w*| = 1,

    |w(t)| = (1 - e^(-t/2)) - |w_0| e^(-t/2) (sin phi_0 + pi cos phi_0) / phi_0 + o(|w_0|),

and the upper bound of (8) is the limit itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import mpmath
import numpy as np
from scipy.optimize import brentq

from reluflow.ledger import Counterexample, Evidence, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude import bounds_exact as exact
from reluflow.papers.lee2023magnitude.bounds import magnitude_bounds
from reluflow.papers.lee2023magnitude.starts import Start

THRESHOLD = float(np.pi - np.arctan(np.pi))
"""phi_0 at which small starts begin to break eq. (8)."""


def room(phi0: float, t: float, v0: float) -> float:
    """((1 - e^(-t/2)) |w*| - |w(t)|) / (|w_0| e^(-t/2)) on the integrated flow, |w*| = 1."""
    v = float(Start.at(phi0, v0, 0).flow([t]).length[0])
    return (-np.expm1(-0.5 * t) - v) / (v0 * np.exp(-0.5 * t))


def upper_bound_passed(phi0: float, t: float, sizes: Sequence[float]) -> Counterexample:
    """ma.thm3.3.3: for positive norms the upper half of eq. (8) fails, at one start phi0 >
    THRESHOLD and one time, at all the sizes |w_0| / |w*|."""
    with mpmath.workdps(40):
        upper = 1 - mpmath.exp(-mpmath.mpf(t) / 2)
        exactly = [float((exact.one_layer_length(phi0, v, t) - upper) / v) for v in sizes]
    flow = "(|w(t)| - upper bound) / |w_0|, integrated flow, |w_0| = {:g} |w*|"
    closed = "the same by the closed form with 40 digits, |w_0| = {:g} |w*|"
    return Counterexample(
        instance={"φ₀": "3π/4: w₀ = |w₀| (1, 1)/√2, w* = (0, 1)", "t": t,
                  "|w₀| / |w*|": tuple(sizes)},
        assumptions={"0 < φ₀ < π": 0.0 < phi0 < np.pi, "t > 0": t > 0.0,
                     "φ₀ > π − arctan π": phi0 > THRESHOLD},
        breaks=tuple(
            bound(flow.format(v), -room(phi0, t, v) * np.exp(-0.5 * t), "<", 0, "") for v in sizes
        ),
        recheck=tuple(
            bound(closed.format(v), by, "<", 0, "") for v, by in zip(sizes, exactly, strict=True)
        ),
        route="cot φ(t) and |w(t)| in closed form, evaluated with mpmath at 40 digits",
    )  # fmt: skip


def upper_bound_tried(case: Counterexample) -> list[Evidence]:
    """At how many norms of a case the bound fails, and that as a limit it is right."""
    late = np.array([0.1, 1.0, 10.0])
    _, limit = magnitude_bounds(late, 1.0, 0.0, 1.0)
    apart = [np.abs(Start(psi, np.log(1e-6), 0).flow(late).length - limit) for psi in (-1, 0, 1)]
    return [
        fact("norms |w_0| / |w*| at which |w(t)| passes the upper bound of (8)",
             sum(not item.holds for item in case.breaks), 0),
        note("norms tried", case.instance["|w₀| / |w*|"], "", None),
        note("|w(t)| from the bound, |w_0| = 1e-6 |w*|, t = 0.1, 1, 10, at most",
             float(np.max(apart)), "of |w*|", digits=2),
    ]  # fmt: skip


def first_order(angles: Sequence[float], t: float) -> list[Evidence]:
    """ma.ours.small.first: the first order of |w(t)| in |w_0|, and where it changes sign."""
    first = {phi0: (np.sin(phi0) + np.pi * np.cos(phi0)) / phi0 for phi0 in angles}
    errors = np.array(
        [[abs(room(phi0, t, v0) - c) for v0 in (1e-3, 1e-5)] for phi0, c in first.items()]
    )
    change = brentq(lambda x: np.sin(x) + np.pi * np.cos(x), 0.1, 3.0)
    wrong = sum((phi0 > THRESHOLD) != (room(phi0, t, 1e-5) < 0.0) for phi0 in angles)
    return [
        deviation("coefficient of |w_0| e^(-t/2) at |w_0| = 1e-5 |w*| from "
                  "(sin φ₀ + π cos φ₀)/φ₀", float(errors[:, 1].max()), "", digits=2),
        bound("smallest factor by which that distance falls from |w_0| = 1e-3 to 1e-5",
              float((errors[:, 0] / errors[:, 1]).min()), ">", 10, "", digits=2),
        deviation("root of sin φ + π cos φ from π - arctan π", abs(change - THRESHOLD), ""),
        fact("angles on which the sign of (8)'s error is other than said", int(wrong), 0),
        note("angles φ₀, in degrees", tuple(round(float(np.degrees(a))) for a in angles)),
    ]  # fmt: skip
