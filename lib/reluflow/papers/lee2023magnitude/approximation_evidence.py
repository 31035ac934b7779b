"""Theorem 4.1, descent beside a flow g(e^(-ct)), as evidence for the ledger."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import sympy
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from reluflow.approx import approx, on_grain
from reluflow.falsify import Statement, falsify
from reluflow.flows.population import pull
from reluflow.ledger import Counterexample, bound, note
from reluflow.papers.lee2023magnitude.approximation import (
    Profile,
    approximation_errors,
    bent,
    errors_at,
    flat_inside,
    flat_start,
    largest_errors,
    order,
    proof_constant,
    regular_bound,
)
from reluflow.papers.lee2023magnitude.bounds import magnitude_bounds
from reluflow.papers.lee2023magnitude.descent_bounds import magnitude_descent_bounds

Settlement = dict[str, Any]
Item = Mapping[str, NDArray]

STEPS = (1e-2, 1e-3, 1e-4)
"""c eta of the orders that are measured; c = 1."""

SPAN = 1.5
"""Flat profiles are followed up to c eta T of this: past x = 1/2 at log 2, before w underflows."""

SHOWN = (
    ("regular", bent(-0.6, 2.0)),
    ("regular, of Theorem A.3", bent(3.0, -0.5)),
    ("g' = 0 inside", flat_inside()),
    ("g' = 0 at the start", flat_start()),
)
"""One-to-one functions in C^2([0, 1]) and what to call them."""


def _over_claim(profile: Profile, step: float) -> float:
    """The largest |w(T) - g((1 - c eta)^T)| / (T eta^2), which (12) says is bounded; c = 1."""
    errors = approximation_errors(profile, 1.0, step, math.ceil(SPAN / step))
    return float((errors[1:] / np.arange(1, len(errors)) / step**2).max())


def growth(profile: Profile) -> float:
    """How much that largest quotient grows from c eta = 1/100 to 1/10000."""
    return _over_claim(profile, STEPS[-1]) / _over_claim(profile, STEPS[0])


def order_table() -> pd.DataFrame:
    """The error's order in the step at T = 3 and uniformly in T, and growth over T eta^2."""
    rows = []
    for name, profile in SHOWN:
        largest = largest_errors(profile, 1.0, STEPS, SPAN)
        rows.append({
            "g": f"{name}: {profile.name}",
            "order at T = 3": on_grain(order(STEPS, errors_at(profile, 1.0, STEPS, 3)), 0.1),
            "order, all T": on_grain(abs(order(STEPS, largest)), 0.01),
            "growth over T eta^2": approx(growth(profile), 3),
            "largest error, c eta = 1e-4": approx(largest[-1], 2),
        })  # fmt: skip
    return pd.DataFrame(rows).set_index("g")


def _random_bent(rng: np.random.Generator) -> Profile:
    return bent(10.0 ** rng.uniform(-1.0, 1.0) if rng.random() < 0.5 else -rng.uniform(0.05, 0.8),
                rng.choice([-1.0, -0.5, 0.5, 2.0, 3.0]))  # fmt: skip


def _stuck_start() -> tuple[sympy.Expr, bool, bool]:
    """The flow (1 - e^(-ct))^2, whether it solves w' = 2c (sqrt w - w), w(0) = 0, and whether g is
    one-to-one and C^2 on [0, 1]."""
    t, c = sympy.symbols("t c", positive=True)
    root = 1 - sympy.exp(-c * t)  # sqrt(w), since it is not negative
    w = root**2
    solves = sympy.simplify(sympy.diff(w, t) - 2 * c * (root - w)) == 0 and w.subs(t, 0) == 0
    x = sympy.symbols("x", real=True)
    g = (1 - x) ** 2
    only_end = sympy.solveset(sympy.diff(g, x), x, sympy.Interval(0, 1)) == sympy.FiniteSet(1)
    return w, bool(solves), bool(only_end and sympy.diff(g, x, 2).is_constant())


def _exact_quotient(step: Fraction) -> Fraction:
    """At T = 1/step: |w(T) - g((1 - step)^T)| / (T step^2) for w' = 2 (sqrt w - w) from w = 0, in
    rational arithmetic; sqrt(0) = 0, so that no step leaves 0."""
    w, T = Fraction(0), int(1 / step)
    for _ in range(T):
        root = Fraction(math.isqrt(w.numerator), math.isqrt(w.denominator))
        if root * root != w:
            raise ArithmeticError("w has left the squares")
        w += step * 2 * (root - w)
    return abs(w - (1 - (1 - step) ** T) ** 2) / (T * step**2)


def _flat_error(step: str, T: int) -> mpmath.mpf:
    """The error for `flat_inside` at step number T, by a plain loop in 30 digits."""
    with mpmath.workdps(30):
        eta = mpmath.mpf(step)

        def g(u):
            return mpmath.sign(u) * mpmath.exp(-1 / abs(u))

        w = g(mpmath.mpf(1) / 2)
        for _ in range(T):
            u = -mpmath.sign(w) / mpmath.log(abs(w))
            w -= eta * (u + mpmath.mpf(1) / 2) * mpmath.exp(-1 / abs(u)) / u**2
        return abs(w - g((1 - eta) ** T - mpmath.mpf(1) / 2))


def approximation_theorem(seed: int, count: int) -> Settlement:
    """Theorem 4.1: true where g' has no zero, false for one-to-one g in C^2([0, 1]) as such."""
    rng = np.random.default_rng(seed)
    fixed, uniform, grown = [], [], []
    for _ in range(count):
        profile = _random_bent(rng)
        fixed.append(order(STEPS[:2], errors_at(profile, 1.0, STEPS[:2], 3)))
        errors = largest_errors(profile, 1.0, STEPS[:2], 10.0)
        uniform.append(order(STEPS[:2], errors))
        grown.append(_over_claim(profile, STEPS[1]) / _over_claim(profile, STEPS[0]))
    flow, solves, allowed = _stuck_start()
    quotients = [_exact_quotient(Fraction(1, k)) for k in (10, 100, 1000)]
    late = [_flat_error("0.01", 120), _flat_error("0.001", 1200)]
    return {
        "evidence": [
            bound("g' without a zero: least order in the step at T = 3", min(fixed), ">=", 1.7, ""),
            bound("g' without a zero: least order in the step, all T", min(uniform), ">=", 0.9, ""),
            bound("g' without a zero: largest growth of error/(T eta^2), eta to eta/10", max(grown),
                  "<=", 1.5, ""),
            bound("linear g, converse: largest |descent - g((1 - c eta)^T)|",
                  _converse(rng, count), "<=", 1e-9, "of |w*|"),
            bound("g' = 0 at x = 1/2: growth of error/(T eta^2), eta to eta/100",
                  growth(flat_inside()), "<=", 1.5, ""),
            bound("g = (1 - x)^2: growth of error/(T eta^2), eta to eta/100",
                  growth(flat_start()), "<=", 1.5, ""),
            note("g' = 0 at x = 1/2: order of the largest error",
                 f"{order(STEPS, largest_errors(flat_inside(), 1.0, STEPS, SPAN)):.2f}"),
            note("g = x - 0.45 x^2, c eta = 1/10: largest error over the proof's "
                 "c eta max|g''|/(2 (2 - c eta))", _over_proof(), digits=3),
            note("seed", seed),
        ],
        "counterexample": Counterexample(
            instance={"dw/dt": "2c (sqrt(w) - w), w(0) = 0", "flow": str(flow),
                      "g(x)": "(1 - x)^2", "descent": "w(T) = 0 for every T and every eta",
                      "c": 1, "eta": [Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000)]},
            assumptions={"the flow solves the equation": solves,
                         "g is one-to-one and C^2 on [0, 1]": allowed,
                         "eta at most 1/(10 c)": True},
            breaks=(bound("growth of error/(T eta^2) from eta = 1/100 to 1/10000",
                          growth(flat_start()), "<=", 1.5, ""),),
            recheck=(
                bound("growth of error/(T eta^2) at T = 1/eta from eta = 1/10 to 1/1000, rational",
                      float(quotients[-1] / quotients[0]), "<=", 1.5, ""),
                bound("another g, flat at x = 1/2: growth of error/(T eta^2) at c eta T = 1.2 from "
                      "eta = 1/100 to 1/1000, 30 digits",
                      float(late[1] / late[0] * 10), "<=", 1.5, ""),
            ),
            route="rational arithmetic; for the second function a plain loop in 30 digits",
        ),
    }  # fmt: skip


def _over_proof() -> float:
    profile = bent(-0.9, 2.0)
    return largest_errors(profile, 1.0, (0.1,), 10.0)[0] / proof_constant(profile, 1.0, 0.1)


def _converse(rng: np.random.Generator, count: int) -> float:
    """The converse on u' = (a - u)/2: its descent is Theorem A.1's lower bound, a function of
    (1 - eta/2)^T, and its flow Theorem 3.3's; the largest deviation of the two pairs."""
    worst = 0.0
    for _ in range(count):
        phi0, v0 = rng.uniform(0.3, 3.0), 10.0 ** rng.uniform(-1.0, 1.0)
        step, a = 10.0 ** rng.uniform(-3.0, -1.0), float(pull(phi0))
        u = v0
        for _ in range(50):
            u += 0.5 * step * (a - u)
        flow = solve_ivp(lambda _, u, a=a: 0.5 * (a - u), (0, 5), [v0], rtol=1e-12, atol=1e-12)
        found = (
            magnitude_descent_bounds(50, phi0, v0, 1.0, step)[0] - u,
            magnitude_bounds(np.array([5.0]), phi0, v0, 1.0)[0][0] - flow.y[0, -1],
        )
        worst = max(worst, *(abs(float(x)) for x in found))
    return worst


def _profile_of(item: Item) -> Profile:
    return bent(float(item["beta"][0]), float(item["power"][0]))


def regular_approximation() -> Statement:
    """Our version of Theorem 4.1, `regular_bound`, at every step up to c eta T = 12."""

    def kind(negative: bool) -> Callable[[np.random.Generator], dict[str, NDArray]]:
        def draw(rng: np.random.Generator) -> dict[str, NDArray]:
            beta = -rng.uniform(0.05, 0.9) if negative else 10.0 ** rng.uniform(-1.5, 1.0)
            power = rng.choice([-2.0, -1.0, -0.5, 0.5, 1.5, 2.0, 3.0])
            least, _, curvature = bent(beta, power).steepness
            limit = min(0.25, least / curvature)
            return {"beta": np.array([beta]), "power": np.array([power]),
                    "rate": np.array([limit * 10.0 ** rng.uniform(-1.0, 0.0)])}  # fmt: skip

        return draw

    def met(item: Item) -> bool:
        rate, beta = float(item["rate"][0]), float(item["beta"][0])
        # Nearer to 0 or -1 rounding would decide.
        if not (0.01 <= rate <= 0.25 and beta >= -0.95 and abs(beta) >= 0.03):
            return False
        least, _, curvature = _profile_of(item).steepness
        return rate * curvature <= least

    def slack(item: Item) -> float:
        profile, rate = _profile_of(item), float(item["rate"][0])
        T = np.arange(math.ceil(12.0 / rate) + 1)
        limit = regular_bound(profile, 1.0, rate, T)
        errors = approximation_errors(profile, 1.0, rate, int(T[-1]))
        return float(((limit - errors) / limit)[1:].min())

    return Statement(
        "|w(T) - g(y)| <= max|g'| (e^(2 c eta mu) - 1) y",
        {"beta < 0": kind(True), "beta > 0": kind(False)},
        slack,
        {"1/100 <= c eta <= 1/4, c eta mu <= 1": met},
        tolerance=1e-12,
        fixed=("power",),
    )


def approximation_repaired(seed: int, count: int) -> Settlement:
    """Theorem 4.1 for g' without a zero, with a constant."""
    return {"evidence": falsify(regular_approximation(), seed, count).evidence()}
