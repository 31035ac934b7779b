"""Eq. (11), the initialisation's scale, and what is true instead, as evidence for the ledger.

Each function returns the arguments of `Ledger.settle`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from reluflow.approx import on_grain
from reluflow.falsify import Report, falsify
from reluflow.flows.orbit import orbits
from reluflow.flows.population import population_flow, shortfall
from reluflow.ledger import Evidence, Reading, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude.dynamics_evidence import (
    TOLERANCE,
    Settlement,
    upwards,
)
from reluflow.papers.lee2023magnitude.dynamics_statements import (
    dip_bound,
    distance_to_teacher,
    equal_times,
    order_of_times,
    threshold,
    two_phases,
)
from reluflow.papers.lee2023magnitude.phases import dip_from_teacher_norm, phases, threshold_norm
from reluflow.papers.lee2023magnitude.times import (
    best_norm,
    late_error,
    slopes,
    time_to_angle,
    time_to_loss,
)

DEPTHS = (1, 2, 3, 5, 10, 20)
"""The numbers m of factors besides w on which eq. (11)'s text is tried."""

DEEP = 100
"""A depth at which the output's dip is near its limit."""


def _psi(phi: float) -> float:
    return math.log(math.tan(0.5 * phi))


# --- Eq. (11) and the two phases -----------------------------------------------------------------


def phases_of_depth(seed: int, count: int) -> Settlement:
    """For m >= 1: |w| only rises, or falls once and then rises; (11) at t = 0 says which."""
    report = falsify(two_phases((*DEPTHS, 4, 8)), seed, count, 0)
    wrong, checked = 0, [(m, r) for m in (1, 2) for r in (0.5, 1.0, 3.0)]
    for m, r in checked:
        expected = phases(0.3, math.log(r), m)
        t = np.concatenate([np.linspace(0.0, 8.0, 1601), [20.0, 25.0]])
        v = population_flow(0.3, math.log(r), m, t).rho
        signs = np.sign(np.diff(v))
        turns = int(np.sum(signs[1:] != signs[:-1]))
        near = abs(math.exp(v.min()) - expected.least) < 1e-4
        wrong += not (turns == int(expected.kind != "rising") and signs[-1] > 0 and near)
    return {
        "evidence": [
            *report.checks(),
            fact("integrated flows whose turns or least |w| are other than the orbit's", wrong, 0),
            note("flows integrated", len(checked)),
            note("seed", seed),
        ]
    }


def falling_for_ever(seed: int, count: int) -> Settlement:
    """For m = 0 the separatrix: beyond it |w| falls for ever, and from below arctan(pi) only."""
    report = falsify(threshold(), seed, count, 0)
    above = below = 0.0
    angles = (2.0, 2.5, 3.0)
    for phi in angles:
        limit = float(threshold_norm(phi))
        t = np.linspace(0.0, 30.0, 61)
        higher = population_flow(_psi(phi), math.log(1.01 * limit), 0, t)
        lower = population_flow(_psi(phi), math.log(0.99 * limit), 0, t)
        above += bool(np.all(np.diff(higher.rho) < 0.0) and higher.rho[-1] > 0.0)
        below += bool(lower.rho[-1] < 0.0)
    right = [phases(_psi(math.pi / 2), math.log(r), 0).kind for r in (10.0, 1e3, 1e5)]
    return {
        "evidence": [
            *report.checks(),
            fact("integrated flows 1 % above the threshold that fall to the end", int(above),
                 len(angles)),
            fact("integrated flows 1 % below it that end below |w*|", int(below), len(angles)),
            fact("from φ0 = π/2, |w0| = 10, 1e3, 1e5 of |w*|: flows that turn",
                 sum(kind == "falling, then rising" for kind in right), 3),
            note("angle(w0, w*) below which a threshold exists, arctan π",
                 f"{math.degrees(math.atan(math.pi)):.2f} degrees"),
            note("seed", seed),
        ]
    }  # fmt: skip


def dips(phi0: float, depths: Sequence[int]) -> pd.DataFrame:
    """From |w_0| = |w*|: the largest fall of |w|, its bound, and the fall of the output's scale."""
    rows = []
    eps = float(shortfall(math.pi - phi0))
    for m in depths:
        found = dip_from_teacher_norm(phi0, m)
        rows.append({
            "m": m,
            "|w| falls by": f"{on_grain(100 * found.dip, 0.01)} %",
            "at most": f"{on_grain(-100 * math.expm1(math.log1p(-eps) / (m + 1)), 0.01)} %",
            "v_1...v_m|w| falls by": f"{on_grain(100 * (1.0 - found.least ** (m + 1)), 0.01)} %",
            "at φ": f"{on_grain(math.degrees(2.0 * math.atan(math.exp(found.psi))), 0.1)}°",
        })  # fmt: skip
    return pd.DataFrame(rows).set_index("m")


def dip_and_depth(seed: int, count: int) -> Settlement:
    """Depth shrinks the dip of |w| like 1/m, and deepens the dip of the output's scale."""
    report = falsify(dip_bound(DEPTHS), seed, count, 0)
    depths = (0, 1, 2, 4, 8, 16, 32)
    wrong, least_share = [0, 0], 1.0
    angles = np.linspace(0.3, 2.9, 7)
    for phi in angles:
        found = [dip_from_teacher_norm(float(phi), m) for m in depths]
        shallow = np.array([one.dip for one in found])
        outputs = np.array([one.least ** (m + 1) for one, m in zip(found, depths, strict=True)])
        floor = 1.0 - float(shortfall(math.pi - phi))
        wrong[0] += not bool(np.all(np.diff(shallow) < 0.0))
        wrong[1] += not bool(np.all(np.diff(outputs) < 0.0) and outputs[-1] > floor)
        deep = 1.0 - dip_from_teacher_norm(float(phi), DEEP).least ** (DEEP + 1)
        least_share = min(least_share, deep / (1.0 - floor))
    return {
        "evidence": [
            *report.checks(),
            fact("angles at which the dip of |w| does not shrink with m", wrong[0], 0),
            fact("angles at which the dip of v_1...v_m |w| does not grow with m, or passes ε0",
                 wrong[1], 0),
            bound(f"least dip of v_1...v_m |w| at m = {DEEP}", least_share, ">", 0.9, "ε0"),
            note("angles, and m", (len(angles), depths)),
            note("seed", seed),
        ]
    }  # fmt: skip


# --- Rates and times ------------------------------------------------------------------------------


def late_rates(seed: int, count: int) -> Settlement:
    """theta ~ e^(-s/2) for every m; rho ~ theta, s theta^2, theta^2 for m = 0, 1 and m >= 2."""
    rng = np.random.default_rng(seed)
    psi0, rho0 = rng.uniform(-1.0, 1.5, count), rng.uniform(-1.0, 1.0, count)
    angle, constants = [], []
    for m in range(5):
        path = orbits(psi0, rho0, m)
        late = np.argmax(path.psi >= 11.0, axis=1)
        rows = np.arange(count)
        early = np.argmax(path.psi >= 10.0, axis=1)
        (s1, psi1, rho1), (s2, psi2, rho2) = (
            (path.s[rows, k], path.psi[rows, k], path.rho[rows, k]) for k in (early, late)
        )
        theta1, theta2 = (2.0 * np.arctan(np.exp(-psi)) for psi in (psi1, psi2))
        angle.append(float(np.abs(2.0 * (psi2 - psi1) / (s2 - s1) - 1.0).max()))
        if m == 0:
            sine = 1.0 / np.cosh(psi0)
            phi0 = 2.0 * np.arctan(np.exp(psi0))
            C = phi0 / (np.exp(rho0) * sine) - np.pi * np.sinh(psi0)
            constants.append(float(np.abs(rho2 / theta2 * -np.pi / (1.0 + C) - 1.0).max()))
        elif m == 1:
            slope = (rho2 / theta2**2 - rho1 / theta1**2) / (s2 - s1)
            constants.append(float(np.abs(-4.0 * slope - 1.0).max()))
        else:
            constants.append(float(np.abs(-2.0 * (m - 1) * rho2 / theta2**2 - 1.0).max()))
    names = ("-(1 + C) θ / π", "-s θ²/4", "-θ²/2", "-θ²/4", "-θ²/6")
    return {
        "evidence": [
            *(deviation(f"m = {m}: rate of θ against 1/2", gap, "") for m, gap in enumerate(angle)),
            *(deviation(f"m = {m}: log(|w|/|w*|) against {name}", gap, "", digits=1)
              for m, (gap, name) in enumerate(zip(constants, names, strict=True))),
            note("starts for each m", count),
            note("seed", seed),
        ],
        "tolerance": 0.02,
    }  # fmt: skip


ANGLES = (0.25 * math.pi, 0.5 * math.pi, 0.75 * math.pi)
"""phi at three starts; each goes a quarter of pi, the last one to 0.95 pi."""


def angle_slopes(sizes: NDArray, layers: Sequence[int]) -> NDArray:
    """d log(time to an angle) / d log|w_0|, shape (layers, passages, sizes - 1)."""
    ends = (0.5 * math.pi, 0.75 * math.pi, 0.95 * math.pi)
    return np.array([
        [slopes(sizes, time_to_angle(_psi(a), np.log(sizes), m, _psi(b)))
         for a, b in zip(ANGLES, ends, strict=True)]
        for m in layers
    ])  # fmt: skip


def try_orders(seed: int, count: int) -> Mapping[str, Report]:
    """Whether the larger of two starts at an angle is slower, as fast or faster to later ones."""
    statements = {
        "m = 0": order_of_times([0], -1.0),
        "m = 1": equal_times(),
        "m = 2, 3, 4": order_of_times([2, 3, 4], 1.0),
    }
    return {name: falsify(one, seed, count, count) for name, one in statements.items()}


def _orders(orders: Mapping[str, Report]) -> list[Evidence]:
    return [
        item for name, report in orders.items() for item in report.checks(f"{name}: {report.says}")
    ]


def initial_scale(orders: Mapping[str, Report], layers: Sequence[int]) -> Settlement:
    """Section 3.2: small starts turn faster (layers m = 0), as fast (1), or slower (m >= 2), which
    for m >= 2 is said of the loss as well."""
    sizes, right = np.array([1e-4, 1e-3]), _psi(0.5 * math.pi)
    found = angle_slopes(sizes, layers)
    name = "m = " + ", ".join(map(str, layers))
    evidence = [
        *(deviation(f"m = {m}: exponent of |w0| in the time to an angle, against {1 - m}",
                    upwards(float(np.abs(found[k] - (1 - m)).max())), "", digits=2)
          for k, m in enumerate(layers)),
        *(deviation(f"m = {m}: exponent of |w0| in the time to a small loss, against {1 - m}",
                    upwards(abs(_loss_exponent(sizes, m) - (1 - m))), "", digits=2)
          for m in layers if m in (2, 3)),
        *orders[name].checks(f"{name}: {orders[name].says}"),
        note("sizes |w0|, in |w*|, of the exponents", "0.0001 and 0.001"),
        note("seed", orders[name].seed),
    ]  # fmt: skip
    settled: Settlement = {"evidence": evidence, "tolerance": 0.01}
    if 0 in layers:
        gain = float(-np.diff(time_to_loss(right, np.log([1.0, 1e-4]), 0, 1e-6))[0])
        settled["reading"] = Reading(
            taken="speed is the time to a fixed angle, as the argument from dφ/dt says; small "
            "means |w0|/|w*| = 1e-4 to 1e-3 for the exponents, and any size for the order",
            others="if speed is the time to a small loss, one layer gains a constant, no power "
            f"of |w0|: from φ0 = π/2 a start at 1e-4 |w*| is {gain:.2f} units of time ahead of one "
            "at |w*|, and from angle(w0, w*) below arctan π = 72.3 degrees a moderate norm is best",
        )
    return settled


def _loss_exponent(sizes: NDArray, m: int) -> float:
    """d log(time to a loss of 1e-4) / d log|w_0| from phi_0 = pi/2."""
    return float(slopes(sizes, time_to_loss(_psi(0.5 * math.pi), np.log(sizes), m, 1e-4))[0])


def angle_times(orders: Mapping[str, Report], seed: int, count: int) -> Settlement:
    """The order of times for starts of any size, and the closed time of one layer."""
    rng = np.random.default_rng(seed)
    psi0, rho0 = rng.uniform(-2.0, 1.0, count), rng.uniform(-3.0, 3.0, count)
    psi1 = psi0 + rng.uniform(0.1, 3.0, count)
    phi0 = 2.0 * np.arctan(np.exp(psi0))
    a = np.exp(rho0) / (phi0 * np.cosh(psi0))
    closed = 2.0 * np.log1p(np.pi * a * (np.sinh(psi1) - np.sinh(psi0)))
    gap = float(np.abs(time_to_angle(psi0, rho0, 0, psi1) / closed - 1.0).max())
    return {
        "evidence": [
            *_orders(orders),
            deviation("m = 0: time by quadrature against the closed form", gap, "of it"),
            note("seed", seed),
        ],
        "tolerance": TOLERANCE,
    }  # fmt: skip


def loss_times(seed: int, count: int) -> Settlement:
    """What the initial norm does to the loss: a constant, a logarithm, or a power of the time."""
    rng = np.random.default_rng(seed)
    gaps, least = [], []
    for _ in range(max(count // 8, 2)):
        phi, r = rng.uniform(0.5, 2.8), math.exp(rng.uniform(-2.0, 1.0))
        path = population_flow(_psi(phi), math.log(r), 0, [32.0])
        error = float(distance_to_teacher(path)[0]) * math.exp(16.0)
        gaps.append(abs(error / float(late_error(phi, r)) - 1.0))
    for phi in np.linspace(0.4, 2.9, 11):
        found = minimize_scalar(lambda r, at=phi: float(late_error(at, r)), bounds=(0.0, 3.0),
                                method="bounded", options={"xatol": 1e-9}).x  # fmt: skip
        least.append(abs(float(found) - float(best_norm(phi))))
    small = np.array([1e-4, 1e-3])
    right, near = _psi(0.5 * math.pi), _psi(0.75 * math.pi)
    lead = float(np.diff(time_to_loss(right, np.log([1e-6, 1.0]), 0, 1e-8))[0])
    moderate = float(best_norm(0.75 * math.pi))
    late = time_to_loss(near, np.log([1e-4, moderate]), 0, 1e-6)
    single = np.diff(time_to_loss(right, np.log(small), 1, 1e-4))[0] / np.diff(np.log(small))[0]
    powers = [_loss_exponent(small, m) for m in (2, 3)]
    return {
        "evidence": [
            deviation("m = 0: e^(t/2) |w - w*| at t = 32 against K(φ0, |w0|)", upwards(max(gaps)),
                      "of K"),
            deviation("m = 0: norm of least K, found by minimising it, against its formula",
                      upwards(max(least)), "|w*|", digits=2),
            deviation("m = 0, φ0 = π/2: lead of |w0| -> 0 over |w0| = |w*| against 2 log K",
                      upwards(abs(lead - 2.0 * math.log(float(late_error(0.5 * math.pi, 1.0))))),
                      ""),
            bound("m = 0, angle(w0, w*) = π/4: lead of the best norm over |w0| -> 0",
                  float(late[0] - late[1]), ">", 0.1, ""),
            deviation("m = 1: time gained per unit of log|w0|, against 2",
                      upwards(abs(single + 2.0)), "", digits=2),
            *(deviation(f"m = {m}: exponent of |w0| in the time to a loss, against {1 - m}",
                        upwards(abs(power - (1 - m))), "", digits=2)
              for m, power in zip((2, 3), powers, strict=True)),
            note("m = 0, φ0 = π/2: that lead, 2 log K", lead),
            note("best norm at angle(w0, w*) = π/4", moderate, "|w*|"),
            note("seed", seed),
        ],
        "tolerance": 0.01,
    }  # fmt: skip
