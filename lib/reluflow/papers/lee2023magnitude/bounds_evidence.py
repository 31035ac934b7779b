"""Theorems 3.3, 3.4 and 3.9 and the closed form of the flow, as evidence for the ledger.

Each function returns the arguments of `Ledger.settle`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import sympy
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import brentq

from reluflow.approx import on_grain
from reluflow.falsify import Report, falsify, survived
from reluflow.flows.orbit import one_layer, orbits
from reluflow.flows.population import PopulationPath, population_flow
from reluflow.ledger import Counterexample, Reading, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude import bounds
from reluflow.papers.lee2023magnitude import bounds_statements as statements

Settlement = dict[str, Any]
Reports = Mapping[str, Report]

THRESHOLD = float(np.pi - np.arctan(np.pi))
"""phi_0 at which small starts begin to break eq. (8)."""


def try_bounds(seed: int, count: int) -> dict[str, Report]:
    """Try the bounds of Section 3, as printed where they can be, with `count` draws each and a
    search of half as many evaluations."""
    tried = {
        "magnitude": statements.magnitude(),
        "small magnitude": statements.small_magnitude_lower(),
        "angle": statements.one_layer_angle(),
        "small angle": statements.small_angle(),
        "printed lower": statements.printed("lower"),
        "printed upper": statements.printed("upper"),
        "layered": statements.layered(),
        "two layers": statements.two_layers(),
        "layered angle": statements.layered_angle(),
    }
    return {name: falsify(one, seed, count, count // 2) for name, one in tried.items()}


def magnitude_theorem(reports: Reports) -> Settlement:
    """Theorem 3.3."""
    return {
        "evidence": survived(reports["magnitude"]),
        "reading": Reading(
            taken="t > 0 and 0 < φ₀ < π, as in Theorem 3.2",
            others="at t = 0 or φ₀ = 0 the magnitude equals its lower bound",
        ),
    }


def small_lower(reports: Reports) -> Settlement:
    """Eq. (8), its lower half."""
    return {
        "evidence": survived(reports["small magnitude"]),
        "reading": Reading(
            taken="t > 0 and 0 < φ₀ < π, as in Theorem 3.2; then it holds for every |w₀| > 0",
            others="at t = 0 it holds too, and at φ₀ = 0, where it is 0",
        ),
    }


def small_printed(phi0: float, t: float, sizes: Sequence[float]) -> Settlement:
    """Eq. (8), its upper half, for positive norms: broken at one start phi0 > THRESHOLD and one
    time, at all the sizes |w_0| / |w*|; as a limit it is right."""
    late = np.array([0.1, 1.0, 10.0])
    limit = bounds.small_magnitude_bounds(late, 1.0, 1.0)[1]
    apart = max(
        float(np.abs(population_flow(at, np.log(1e-6), 0, late).length - limit).max())
        for at in (-1.0, 0.0, 1.0)
    )
    upper = float(bounds.small_magnitude_bounds(t, phi0, 1.0)[1])
    psi0 = np.log(np.tan(0.5 * phi0))
    passed = [float(population_flow(psi0, np.log(v), 0, [t]).length[0]) - upper for v in sizes]
    exact = [_passed_exactly(phi0, t, v) for v in sizes]
    names = [f"{v:g}" for v in sizes]
    return {
        "evidence": [
            fact("norms |w_0| / |w*| at which |w(t)| passes the upper bound of (8)",
                 sum(p > 1e-9 for p in passed), 0),
            note("norms tried", tuple(sizes), "", None),
            note("|w(t)| from the bound, |w_0| = 1e-6 |w*|, t = 0.1, 1, 10, at most",
                 apart, "of |w*|", digits=2),
        ],
        "reading": Reading(
            taken="strict inequalities for positive norms, as printed, at any fixed t > 0",
            others="as a limit for |w₀| → 0, as the proof takes it, the inequality need not be "
            "strict, and is right; and it is right for small norms where "
            f"φ₀ < π − arctan π = {THRESHOLD:.4f}, the typical φ₀ = π/2 among them",
        ),
        "counterexample": Counterexample(
            instance={"φ₀": "3π/4: w₀ = |w₀| (1, 1)/√2, w* = (0, 1)", "t": t,
                      "|w₀| / |w*|": tuple(sizes)},
            assumptions={"0 < φ₀ < π": 0.0 < phi0 < np.pi, "t > 0": t > 0.0,
                         "φ₀ > π − arctan π": phi0 > THRESHOLD},
            breaks=tuple(
                bound(f"(|w(t)| - upper bound) / |w_0|, integrated flow, |w_0| = {name} |w*|",
                      p / v, "<", 0, "")
                for name, p, v in zip(names, passed, sizes, strict=True)
            ),
            recheck=tuple(
                bound(f"the same by the closed form with 40 digits, |w_0| = {name} |w*|",
                      float(p / v), "<", 0, "")
                for name, p, v in zip(names, exact, sizes, strict=True)
            ),
            route="cot φ(t) and |w(t)| in closed form, evaluated with mpmath at 40 digits",
        ),
    }  # fmt: skip


def _passed_exactly(phi0: float, t: float, v0: float) -> mpmath.mpf:
    """|w(t)| less the upper bound of (8) for |w*| = 1, by the closed form of `orbit`."""
    with mpmath.workdps(40):
        start = mpmath.mpf(phi0) / mpmath.sin(phi0)
        cot = mpmath.cot(phi0) - start / (mpmath.pi * v0) * (mpmath.exp(mpmath.mpf(t) / 2) - 1)
        phi = mpmath.acot(cot)
        phi = phi + mpmath.pi if phi < 0 else phi
        v = v0 * mpmath.exp(-mpmath.mpf(t) / 2) * phi / mpmath.sin(phi) / start
        return v - (1 - mpmath.exp(-mpmath.mpf(t) / 2))


def excess(phi0: float, t: float, v0: float) -> float:
    """((1 - e^(-t/2)) |w*| - |w(t)|) / (|w_0| e^(-t/2)) on the integrated flow, |w*| = 1."""
    psi0 = np.log(np.tan(0.5 * phi0))
    v = float(population_flow(psi0, np.log(v0), 0, [t]).length[0])
    return (-np.expm1(-0.5 * t) - v) / (v0 * np.exp(-0.5 * t))


def small_limit(angles: Sequence[float], t: float) -> Settlement:
    """Eq. (8), repaired: the first order of |w(t)| in |w_0|."""
    first = {phi0: (np.sin(phi0) + np.pi * np.cos(phi0)) / phi0 for phi0 in angles}
    errors = np.array(
        [[abs(excess(phi0, t, v0) - c) for v0 in (1e-3, 1e-5)] for phi0, c in first.items()]
    )
    change = brentq(lambda x: np.sin(x) + np.pi * np.cos(x), 0.1, 3.0)
    wrong = sum((phi0 > THRESHOLD) != (excess(phi0, t, 1e-5) < 0.0) for phi0 in angles)
    return {
        "evidence": [
            deviation("coefficient of |w_0| e^(-t/2) at |w_0| = 1e-5 |w*| from "
                      "(sin φ₀ + π cos φ₀)/φ₀", float(errors[:, 1].max()), "",
                      digits=2),
            bound("smallest factor by which that distance falls from |w_0| = 1e-3 to 1e-5",
                  float((errors[:, 0] / errors[:, 1]).min()), ">", 10, "", digits=2),
            deviation("root of sin φ + π cos φ from π - arctan π", abs(change - THRESHOLD), ""),
            fact("angles on which the sign of (8)'s error is other than said", int(wrong), 0),
            note("angles φ₀, in degrees", tuple(round(float(np.degrees(a))) for a in angles)),
        ],
        "tolerance": 0.01,
    }  # fmt: skip


def closed_form(seed: int, count: int) -> Settlement:
    """The flow in closed form: by SymPy, and against the integrated flow at `count` starts."""
    rng = np.random.default_rng(seed)
    layers = (0, 1, 2, 3, 5)
    draws = list(statements.starts(layers).values())
    apart = curve = single = 0.0
    for k in range(count):
        item = draws[k % 3](rng)
        psi0, rho0, m = float(item["psi0"]), float(item["rho0"]), layers[k % len(layers)]
        path = orbits(psi0, rho0, m)
        soon = np.searchsorted(path.psi[0], max(psi0, 0.0) + 5.0)
        chosen = np.arange(1, soon, 4)
        s, psi, rho = (column[0, chosen] for column in (path.s, path.psi, path.rho))
        flow = population_flow(psi0, rho0, m, s)
        # Late changes are known in proportion to the time waited for them.
        pace = np.exp((m - 1) * flow.rho)
        waited = 1.0 + s * pace * (1.0 + np.exp((m + 1) * flow.rho))
        apart = max(apart, _apart(flow, psi, rho, waited))
        if k < 4:  # mpmath is slow
            curve = max(curve, _off_curve(flow, psi0, rho0, m, len(s) // 2))
        if m == 0:
            single = max(single, _apart(flow, *one_layer(s, psi0, rho0), waited))
    return {
        "evidence": [
            fact("d/dt log(v sin φ / φ) + v^(2m)/2 vanishes along (9)-(10), by SymPy",
                 _bernoulli(), True),
            fact("cot φ and v as given solve (6)-(7), by SymPy", _explicit(), True),
            deviation("phase curve with mpmath's integral, at a point of the integrated flow",
                      curve, "relative"),
            deviation("angle and magnitude by quadrature, from the integrated flow", apart, ""),
            deviation("one layer, explicit in t: from the integrated flow", single, ""),
            note("starts", count),
            note("seed", seed),
        ],
        "tolerance": 1e-9,
    }  # fmt: skip


def _apart(flow: PopulationPath, psi: NDArray, rho: NDArray, waited: NDArray) -> float:
    return float((np.abs(np.stack([flow.psi - psi, flow.rho - rho])) / waited).max())


def _off_curve(flow: PopulationPath, psi0: float, rho0: float, m: int, k: int) -> float:
    """Relative distance of the two sides of the phase curve of `orbit`, at point k of a flow."""
    first, last = (2 * mpmath.atan(mpmath.exp(x)) for x in (psi0, float(flow.psi[k])))
    area = mpmath.quad(lambda x: x**m / mpmath.sin(x) ** (m + 2), mpmath.linspace(first, last, 9))
    left, right = (
        (mpmath.exp(-rho) * phi / mpmath.sin(phi)) ** (m + 1)
        for rho, phi in ((float(flow.rho[k]), last), (rho0, first))
    )
    return float(abs(1 - (right + (m + 1) * mpmath.pi * area) / left))


def _bernoulli() -> bool:
    """That v sin(phi)/phi decays at the rate v^(2m)/2 along (9)-(10)."""
    v, phi, size, m = sympy.symbols("v phi V m", positive=True)
    pull = (sympy.sin(phi) - phi * sympy.cos(phi)) / sympy.pi
    dv = -(v**m) * (v ** (m + 1) - size ** (m + 1) * pull) / 2
    dphi = v ** (m - 1) * size ** (m + 1) * phi * sympy.sin(phi) / (2 * sympy.pi)
    rate = dv / v + dphi * (sympy.cot(phi) - 1 / phi)
    rest = sympy.expand(sympy.expand(rate.rewrite(sympy.cos)) + v ** (2 * m) / 2)
    return sympy.simplify(rest) == 0


def _explicit() -> bool:
    """That the one-layer closed form solves (6)-(7): with phi(t) from cot phi, v follows."""
    t, v0, phi, g0, size = sympy.symbols("t v_0 phi g_0 V", positive=True)
    # cot phi = c0 - g0 V / (pi v0) (e^(t/2) - 1), so dphi = -sin^2 phi dcot.
    dphi = sympy.sin(phi) ** 2 * g0 * size / (2 * sympy.pi * v0) * sympy.exp(t / 2)
    v = v0 * sympy.exp(-t / 2) * phi / sympy.sin(phi) / g0
    dv = -v / 2 + sympy.diff(v, phi) * dphi
    pull = (sympy.sin(phi) - phi * sympy.cos(phi)) / sympy.pi
    angle = dphi - size / v * phi * sympy.sin(phi) / (2 * sympy.pi)
    return sympy.simplify(angle) == 0 and sympy.simplify(dv + v / 2 - size * pull / 2) == 0


def angle_theorem(reports: Reports) -> Settlement:
    """Theorem 3.4."""
    return {
        "evidence": survived(reports["angle"]),
        "reading": Reading(
            taken="0 < φ₀ < π, as in Theorem 3.2",
            others="at φ₀ = π all three terms are π, at φ₀ = 0 the cotangent has no value",
        ),
    }


def small_angle_theorem(reports: Reports) -> Settlement:
    """Theorem 3.4, its special case."""
    large, t = 3.0, np.linspace(0.0, 10.0, 101)
    theta = population_flow(0.0, np.log(large), 0, t).theta
    room = np.log((np.pi - bounds.small_angle_bounds(t, 0.5 * np.pi)[0]) / theta)
    return {
        "evidence": [
            *survived(reports["small angle"]),
            note("the special case from |w_0| = 3 |w*|, φ_0 = π/2: least logarithm of "
                 "(π - its lower bound) / (π - φ), which fails where negative", float(room.min())),
        ],
        "reading": Reading(
            taken="0 < φ₀ < π, and |w₀| ≤ |w*| is small enough: R = |w*| is then allowed by "
            "Theorem 3.3 and cancels the |w*| of the exponent",
            others="for |w₀| > |w*| the radius R = |w*| is not allowed, and the special case fails "
            "from |w₀| = 3 |w*|, φ₀ = π/2",
        ),
    }  # fmt: skip


def layered_angle_theorem(reports: Reports) -> Settlement:
    """Theorem 3.9."""
    return {
        "evidence": survived(reports["layered angle"]),
        "reading": Reading(
            taken="0 < φ₀ < π, as in Theorem 3.7",
            others="at φ₀ = π all three terms are π, at φ₀ = 0 the cotangent has no value",
        ),
    }


def silent_until(phi0: float, slow: float, fast: float) -> tuple[float, float]:
    """Times until which the bounds of Theorems 3.4 and 3.9 say no more than phi_0 < phi < pi.

    With theta_0 = pi - phi_0 and the rates p, q of the theorem they are
    log(2 tan(theta_0/2) / theta_0) / p and log(cot(phi_0/2) / sqrt(3)) / q, 0 for phi_0 >= pi/3.
    """
    theta0 = np.pi - phi0
    lower = np.log(2.0 * np.tan(0.5 * theta0) / theta0) / slow
    return float(lower), max(float(-np.log(np.sqrt(3.0) * np.tan(0.5 * phi0)) / fast), 0.0)


def silence(degrees: Sequence[int], layers: Sequence[int], norm: float) -> pd.DataFrame:
    """Shares of the time in which each bound on phi says nothing new, from |w_0| = norm |w*|.

    The time is counted until the flow has come to a hundredth of its first distance from pi; r and
    R are the closest that there are.
    """
    rows: dict[str, list[str]] = {}
    for m in layers:
        items = [
            {"psi0": np.log(np.tan(np.radians(a) / 2)), "rho0": np.log(norm), "target": 1.0, "m": m}
            for a in degrees
        ]
        shares = [_silent_shares(f) for f in statements.flows(items)]
        rows[f"m = {m}, lower"] = [f"{on_grain(100 * share[0], 1.0)} %" for share in shares]
        rows[f"m = {m}, upper"] = [f"{on_grain(100 * share[1], 1.0)} %" for share in shares]
    return pd.DataFrame(rows, index=pd.Index([f"{a}°" for a in degrees], name="φ₀"))


def _silent_shares(f: statements.Flow) -> tuple[float, float]:
    slope = 2.0 * np.pi / (f.v ** (f.m - 1) * f.phi)
    theta0 = np.pi - f.phi0
    end = float(CubicHermiteSpline(f.psi, f.t, slope)(-np.log(np.tan(0.5 * theta0 / 100.0))))
    rates = bounds.angle_rates(f.phi0, f.smallest, f.largest, f.target, f.m)
    lower, upper = silent_until(f.phi0, *rates)
    return min(lower / end, 1.0), min(upper / end, 1.0)


def silent_bounds(seed: int, count: int) -> Settlement:
    """When the bounds on the angle begin to speak, against roots of the bounds themselves."""
    rng, apart, early, late = np.random.default_rng(seed), 0.0, 0, 0
    for _ in range(count):
        phi0, m = rng.uniform(0.02, 3.1), int(rng.integers(0, 4))
        r, R, size = 10.0 ** np.sort(rng.uniform(-1.0, 1.0, 2)), 0.0, 10.0 ** rng.uniform(-1, 1)
        r, R = float(r[0]), float(r[1])
        rates = bounds.angle_rates(phi0, r, R, size, m)

        def least(t: float, at: tuple = (phi0, r, R, size, m)) -> float:
            return float(bounds.angle_bounds(t, *at)[0]) - at[0]

        def most(t: float, at: tuple = (phi0, r, R, size, m)) -> float:
            return float(bounds.gap_bounds(t, *at)[0])

        lower, upper = silent_until(phi0, *rates)
        apart = max(apart, abs(brentq(least, 0.0, 1e3 / rates[0], xtol=1e-14) - lower) * rates[0])
        if upper > 0.0:
            found = brentq(most, 0.0, upper + 1.0 / rates[1], xtol=1e-14)
            apart = max(apart, abs(found - upper) * rates[1])
        early += (most(0.0) > 0.0) != (phi0 > np.pi / 3.0)
        late += lower <= 0.0
    return {
        "evidence": [
            deviation("times from roots of the bounds, in units of 1/p and 1/q", apart, ""),
            fact("starts whose upper bound speaks from t = 0 on although φ₀ < π/3, or does not "
                 "although φ₀ > π/3", int(early), 0),
            fact("starts whose lower bound speaks from t = 0 on", int(late), 0),
            note("bounds tried", count),
            note("seed", seed),
        ],
        "tolerance": 1e-9,
    }  # fmt: skip
