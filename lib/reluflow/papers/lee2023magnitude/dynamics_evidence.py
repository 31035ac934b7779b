"""Propositions 3.1 and 3.6, Theorems 3.2 and 3.7 and their edge, as evidence for the ledger.

Each function returns the arguments of `Ledger.settle`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Report, falsify
from reluflow.flows.population import coordinates, population_flow, population_gradient
from reluflow.ledger import deviation, fact, note
from reluflow.papers.lee2023magnitude.derivation import identities, turning_of_field
from reluflow.papers.lee2023magnitude.dynamics import (
    angle_rate,
    magnitude_rate,
    parameter_flow,
    quadrature_gradient,
    supplementary_angle,
    vector_rate,
)
from reluflow.papers.lee2023magnitude.dynamics_statements import REACHED, converges, starts
from reluflow.papers.lee2023magnitude.times import slopes, time_to_angle

Settlement = dict[str, Any]

TOLERANCE = 1e-8
"""Two ways to one number agree to this; both are good to ten digits."""


def upwards(value: float, unit: float = 1e-6) -> float:
    """A deviation, rounded up to a multiple of `unit`: what is below it is rounding of the way it
    was computed."""
    return math.ceil(value / unit) * unit


def _relative(found: NDArray, expected: NDArray) -> float:
    """Largest difference, in units of the larger of 1 and the largest entry expected."""
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


@dataclass(frozen=True)
class FieldErrors:
    """Largest relative distance of the quadrature's gradient from each formula.

    vector     the vector equation (5), for m >= 1 of Proposition 3.6
    magnitude  (6) or (9), for |w| and for every v_k
    angle      (7) or (10), from the part of the gradient across w
    general    the library's gradient in all parameters, where nothing is balanced
    """

    vector: float
    magnitude: float
    angle: float
    general: float


def field_errors(seed: int, count: int, m: int) -> FieldErrors:
    """Compare at `count` random weights of 2 to 6 dimensions, every fourth along +-w*."""
    rng = np.random.default_rng(seed)
    worst = np.zeros(4)
    for k in range(count):
        d = int(rng.integers(2, 7))
        w, target = rng.normal(size=(2, d)) * np.exp(rng.uniform(-1.0, 1.0, (2, 1)))
        if k % 4 == 0:
            w = rng.choice([-1.0, 1.0]) * np.exp(rng.uniform(-1.0, 1.0)) * target
        v, best = float(np.linalg.norm(w)), float(np.linalg.norm(target))
        phi = supplementary_angle(w, target)
        slope, slopes_v = quadrature_gradient(w, target, np.full(m, v), np.full(m, best))
        outward = -float(slope @ w) / v
        around = float(np.linalg.norm(slope @ w / v**2 * w - slope))
        speeds = np.array([outward, *(-slopes_v)])
        free = np.exp(rng.uniform(-1.0, 1.0, (2, m)))
        worst = np.maximum(worst, [
            _relative(-slope, vector_rate(w, target, m)),
            _relative(speeds, np.full(m + 1, magnitude_rate(v, phi, best, m))),
            abs(around - v * float(angle_rate(v, phi, best, m)))
            / max(1.0, float(np.linalg.norm(slope))),
            max(_relative(a, b) for a, b in zip(quadrature_gradient(w, target, *free),
                population_gradient(w, target, *free), strict=True) if len(a)),
        ])  # fmt: skip
    return FieldErrors(*map(float, worst))


@dataclass(frozen=True)
class FlowErrors:
    """Largest distances over some starts: of the flow in all parameters from the system of angle
    and magnitude, in psi and rho; of v_k^2 - |w|^2 from its start, balanced and not."""

    system: float
    balance: float
    imbalance: float


def flow_errors(seed: int, count: int, m: int) -> FlowErrors:
    """Integrate the quadrature's gradient to t = 6 from `count` random starts of 2 to 6 dimensions,
    |w*| = 1, and for m >= 1 once more from factors out of balance."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 6.0, 7)
    system = balance = imbalance = 0.0
    for _ in range(count):
        d = int(rng.integers(2, 7))
        w0, target = rng.normal(size=(2, d))
        target /= np.linalg.norm(target)
        w0 *= np.exp(rng.uniform(-1.0, 0.5)) / np.linalg.norm(w0)
        path = parameter_flow(w0, target, np.full(m, np.linalg.norm(w0)), np.ones(m), t)
        psi, rho = coordinates(path.w, target)
        planar = population_flow(psi[0], rho[0], m, t)
        system = max(system, float(np.abs([psi - planar.psi, rho - planar.rho]).max()))
        balance = max(balance, path.imbalance())
        if m:
            v0, target_v = np.exp(rng.uniform(-0.5, 0.5, (2, m)))
            imbalance = max(imbalance, parameter_flow(w0, target, v0, target_v, t).imbalance())
    return FlowErrors(system, balance, imbalance)


def one_layer_system(seed: int, count: int) -> Settlement:
    """Proposition 3.1: (5)-(7) from the loss, by SymPy, by quadrature and along trajectories."""
    proved = identities(0)
    field, flow = field_errors(seed, count, 0), flow_errors(seed, max(count // 10, 1), 0)
    return {
        "evidence": [
            fact("identities of (5)-(7) that follow from the loss (SymPy)", sum(proved.values()),
                 len(proved)),
            fact("(5) is Lipschitz away from 0: its bent part turns by sin(φ)/π (SymPy)",
                 turning_of_field() == 0, True),
            deviation("gradient by quadrature against (5)", field.vector, ""),
            deviation("its part along w against (6)", field.magnitude, ""),
            deviation("its part across w against (7)", field.angle, ""),
            deviation("vector flow against the flow of (6)-(7), in psi and rho", flow.system, ""),
            note("weights compared; every fourth along w* or -w*", count),
            note("seed", seed),
        ],
        "tolerance": TOLERANCE,
    }  # fmt: skip


def layered_system(seed: int, count: int, layers: Sequence[int] = (1, 2, 3, 4)) -> Settlement:
    """Proposition 3.6: (9)-(10) from the loss in all parameters, and balancedness."""
    proved = [holds for m in layers for holds in identities(m).values()]
    fields = [field_errors(seed + m, count, m) for m in layers]
    flows = [flow_errors(seed + m, max(count // 40, 1), m) for m in layers]
    return {
        "evidence": [
            fact("identities that follow from the loss, m = 1..4 (SymPy)", sum(proved),
                 len(proved)),
            deviation("gradient by quadrature against the vector equation",
                      max(f.vector for f in fields), ""),
            deviation("rates of |w| and of every v_k against (9)",
                      max(f.magnitude for f in fields), ""),
            deviation("rate of φ against (10)", max(f.angle for f in fields), ""),
            deviation("flow in all parameters against (9)-(10), in psi and rho",
                      max(f.system for f in flows), ""),
            deviation("|v_k² - |w|²| along balanced flows", max(f.balance for f in flows), ""),
            deviation("change of v_k² - |w|² along flows out of balance",
                      max(f.imbalance for f in flows), ""),
            deviation("gradient by quadrature against the closed form out of balance",
                      max(f.general for f in fields), ""),
            note("weights compared for each m", count),
            note("m", tuple(layers)),
            note("seed", seed),
        ],
        "tolerance": TOLERANCE,
    }  # fmt: skip


@dataclass(frozen=True)
class Convergence:
    """A try of Theorem 3.2 or 3.7, and the largest distance of the integrated flows from the orbits
    by quadrature, see `deviation_from_orbit`."""

    report: Report
    gap: float


def try_convergence(seed: int, count: int, layers: Sequence[int]) -> Convergence:
    """Integrate flows from `count` starts of every kind, m drawn from `layers`."""
    seen: list[float] = []
    report = falsify(converges(layers, seen), seed, count, 0)
    return Convergence(report, max(seen))


def global_convergence(seed: int, count: int, layers: Sequence[int]) -> Settlement:
    """Theorem 3.2, layers = (0,), and Theorem 3.7, layers of m >= 1."""
    found = try_convergence(seed, count, layers)
    return {
        "evidence": [
            *found.report.checks(),
            deviation("integrated flow against the orbit by quadrature, in psi and rho",
                      found.gap, "(1 + s (v/v*)^(m-1))"),
            note("kinds of starts", "; ".join(starts(layers))),
            note("w* counts as reached when |w - w*| is below", REACHED, "|w*|", None),
            note("m", tuple(layers)),
            note("seed", seed),
        ],
        "tolerance": TOLERANCE,
    }  # fmt: skip


def dead_direction(seed: int, layers: Sequence[int] = (0, 1, 2, 3, 4)) -> Settlement:
    """The excluded edge phi_0 = 0, and the time from starts near it.

    On the edge |w| is |w_0| e^(-t/2) for m = 0 and (|w_0|^(-2m) + m t)^(-1/(2m)) for m >= 1. From
    |w_0| = |w*| the time to phi = pi/2 is -2 log(phi_0) + O(1) for m = 0, and else of the order of
    phi_0^(-2m/(m+1)).
    """
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 20.0, 9)
    off_ray = off_length = 0.0
    for m in layers:
        target = rng.normal(size=3)
        target /= np.linalg.norm(target)
        r = float(np.exp(rng.uniform(-0.5, 1.0)))
        path = parameter_flow(-r * target, target, np.full(m, r), np.ones(m), t)
        expected = r * np.exp(-0.5 * t) if m == 0 else (r ** (-2.0 * m) + m * t) ** (-0.5 / m)
        length = np.linalg.norm(path.w, axis=1)
        off_ray = max(off_ray, float(np.abs(path.w + length[:, None] * target).max()))
        off_length = max(off_length, float(np.abs(length - expected).max()))
    near = np.array([1e-8, 1e-7])
    measured = []
    for m in layers:
        times = time_to_angle(np.log(np.tan(0.5 * near)), 0.0, m, 0.0)
        per_log = float(np.diff(times)[0] / np.diff(np.log(near))[0])
        measured.append(per_log if m == 0 else float(slopes(near, times)[0]))
    expected_slopes = [-2.0 if m == 0 else -2.0 * m / (m + 1) for m in layers]
    return {
        "evidence": [
            deviation("distance from the ray of -w*, φ0 = 0, m = 0..4", off_ray, "|w*|"),
            deviation("|w(t)| against its formula, φ0 = 0", off_length, "|w*|"),
            *(deviation(f"m = {m}: {'exponent' if m else 'rise per unit of log φ0'} of the time to "
                        f"φ = π/2, against {known:.4g}",
                        upwards(abs(found - known)), "", digits=2)
              for m, found, known in zip(layers, measured, expected_slopes, strict=True)),
            note("seed", seed),
        ],
        "tolerance": 1e-4,
    }  # fmt: skip
