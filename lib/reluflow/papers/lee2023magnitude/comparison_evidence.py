"""Theorem 3.8 and Lemma C.2, and what is true instead, as evidence for the ledger.

Each function returns the arguments of `Ledger.settle`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import sympy
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.special import hyp2f1

from reluflow.approx import approx
from reluflow.falsify import Draw, Report, Statement, falsify, survived
from reluflow.flows.population import population_flow, pull
from reluflow.ledger import Counterexample, Reading, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude.bounds_statements import BELOW_BRANCH
from reluflow.papers.lee2023magnitude.comparison import (
    comparison,
    implicit_printed,
    unit_hypergeometric,
)

Settlement = dict[str, Any]
Reports = Mapping[str, Report]
Item = Mapping[str, NDArray]


def two_layer_theorem(reports: Reports) -> Settlement:
    """Theorem 3.8, m = 1."""
    return {
        "evidence": survived(reports["two layers"]),
        "reading": Reading(
            taken="t > 0 and 0 < φ₀ < π, as in Theorem 3.7",
            others="at t = 0 the three terms are equal; at φ₀ = 0 the lower bound is 0/0, and its "
            "limit is |w(t)| itself",
        ),
    }


def implicit_lower(reports: Reports) -> Settlement:
    """Theorem 3.8, its lower bound as printed, where the formula has a real value."""
    return {
        "evidence": survived(reports["printed lower"]),
        "reading": Reading(
            taken="t > 0 and 0 < φ₀ < π, as in Theorem 3.7",
            others="at t = 0 both sides are v₀; at φ₀ = 0 the formula divides by 1 − ε₀ = 0",
        ),
    }


def implicit_upper(reports: Reports, phi0: float, v0: float, m: int, t: float) -> Settlement:
    """Theorem 3.8, its upper bound as printed: broken at one start (phi0, v0), |w*| = 1, one
    time. With the constant F(v_0; 0) it holds (`implicit_repaired`)."""
    upper, right = reports["printed upper"], reports["layered"]
    u = implicit_printed([0.0, t], phi0, v0, 1.0, m, 1.0)
    v = float(population_flow(np.log(np.tan(0.5 * phi0)), np.log(v0), m, [t]).length[0])
    exact_u, exact_v = _printed_exactly(phi0, v0, m, t), _flow_exactly(phi0, v0, m, t)
    return {
        "evidence": [
            *upper.checks(),
            note("with the constant F(v₀; 0): starts that break either bound, and tried",
                 (sum(right.violations.values()), right.tried)),
            note("u(0; 0) as printed for the start below, where v_0 = 1/2", float(u[0])),
            note("seed", upper.seed),
        ],
        "reading": Reading(
            taken="as printed: the constant holds ε₀ whatever ε is",
            others="with ε in the constant, F(v₀; ε), surely what was meant, u(0; 0) = v₀ and the "
            "bound is right; the plus sign in the proof's equation (15) is another slip, as the "
            "formula solves the equation with a minus",
        ),
        "counterexample": Counterexample(
            instance={"m": m, "w₀": "(1/2, 0)", "w*": "(0, 1)", "φ₀": "π/2", "v*": 1,
                      "v₀ = v₁ = … = v_m": v0, "t": t},
            assumptions={
                "balanced": True,
                "ε₀ > 0": bool(pull(phi0) < 1.0),
                "the formula has a real value: v₀^(m+1) < (1 − ε₀) v*^(m+1)":
                    v0 ** (m + 1) < float(pull(phi0)),
            },
            breaks=(bound("v(t) - u(t; 0), integrated flow and the printed formula", v - u[1],
                          "<", 0, ""),),
            recheck=(bound("the same with 20 digits", float(exact_v - exact_u), "<", 0, ""),),
            route="(9)-(10) by mpmath's Taylor series, the printed formula by mpmath's "
            "hypergeometric function and root finder",
        ),
    }  # fmt: skip


def implicit_defined(reports: Reports, phi0: float, v0: float) -> Settlement:
    """Theorem 3.8: from v_0^(m+1) >= (1 - eps_0) v*^(m+1) on the formula has no real value at v_0;
    shown for m = 3, where 2F1(1, -1/2; 1/2; z) = 1 - sqrt(z) artanh(sqrt(z))."""
    m, share = 3, float(pull(phi0))
    z = v0 ** (m + 1) / share
    with mpmath.workdps(20):
        by_series = abs(float(mpmath.im(_printed_left(v0, m, _share(phi0)))))
    root = complex(z) ** 0.5
    elementary = (1.0 - root * np.arctanh(root)) * v0 ** (1 - m) / ((m - 1) * share)
    near = [abs(_printed_left(share**0.25 * (1 - gap), m, share)) for gap in (1e-3, 1e-6, 1e-9)]
    upper = reports["printed upper"]
    return {
        "evidence": [
            fact("of the draws, starts at which F(v₀; ε₀) has no real value",
                 upper.rejected.get(BELOW_BRANCH, 0), 0),
            note("starts drawn", upper.drawn),
            note("F at v₀ = (1 − 1e-3, 1 − 1e-6, 1 − 1e-9) ℓ, ℓ = (1 − ε₀)^(1/4) v*",
                 tuple(map(float, near)), digits=3),
            note("seed", upper.seed),
        ],
        "reading": Reading(
            taken="2F1 as a function of a real argument, or continued: beyond z = 1 not real",
            others="if F is continued along one side of its cut, its imaginary part is the same at "
            "v₀ and at u, and F(u; ε₀) − F(v₀; ε₀) = −t/2 is real again and gives the right lower "
            "bound; but at v₀ = (1 − ε₀)^(1/(m+1)) v* itself F is infinite, and no reading gives "
            "u, and the upper bound needs its constant mended besides",
        ),
        "counterexample": Counterexample(
            instance={"m": m, "φ₀": "π/2", "v*": 1, "v₀ = v₁ = … = v_m": v0},
            assumptions={
                "balanced, 0 < φ₀ < π, w₀ ≠ 0": 0.0 < phi0 < np.pi and v0 > 0.0,
                "v₀ > (1 − ε₀)^(1/(m+1)) v*": z > 1.0,
            },
            breaks=(bound("imaginary part of F(v₀; ε₀), mpmath's hypergeometric function",
                          by_series, "<=", 1e-9, ""),),
            recheck=(bound("the same from 1 − √z artanh √z, in complex floats",
                           abs(float(elementary.imag)), "<=", 1e-9, ""),),
            route="for m = 3 the hypergeometric function is elementary",
        ),
    }  # fmt: skip


def _printed_left(u: Any, m: int, share: Any) -> mpmath.mpf:
    """u^(1-m) / ((m-1)(1-eps)) 2F1(1, (1-m)/(m+1); 2/(m+1); u^(m+1)/(1-eps)) for v* = 1."""
    b = mpmath.mpf(1 - m) / (m + 1)
    value = mpmath.hyp2f1(1, b, 1 + b, mpmath.mpf(u) ** (m + 1) / share)
    return mpmath.mpf(u) ** (1 - m) / ((m - 1) * share) * value


def _share(phi0: float) -> mpmath.mpf:
    return (mpmath.sin(phi0) - phi0 * mpmath.cos(phi0)) / mpmath.pi


def _printed_exactly(phi0: float, v0: float, m: int, t: float) -> mpmath.mpf:
    with mpmath.workdps(20):
        constant = _printed_left(v0, m, _share(phi0)) - mpmath.mpf(t) / 2
        return mpmath.findroot(
            lambda u: _printed_left(u, m, mpmath.mpf(1)) - constant, (0.01, 0.99), solver="anderson"
        )


def _flow_exactly(phi0: float, v0: float, m: int, t: float) -> mpmath.mpf:
    def rates(_: Any, state: Sequence[Any]) -> list[Any]:
        v, phi = state
        pulled = (mpmath.sin(phi) - phi * mpmath.cos(phi)) / mpmath.pi
        turn = v ** (m - 1) * phi * mpmath.sin(phi) / (2 * mpmath.pi)
        return [-(v**m) * (v ** (m + 1) - pulled) / 2, turn]

    with mpmath.workdps(20):
        return mpmath.odefun(rates, 0, [mpmath.mpf(v0), mpmath.mpf(phi0)])(t)[0]


def implicit_repaired(reports: Reports, layers: Sequence[int]) -> Settlement:
    """Theorem 3.8, repaired: both sides of the branch, by quadrature, by ODE and along flows."""
    times, starts = np.array([0.05, 0.5, 5.0]), (0.2, 0.8, 1.3, 4.0)
    by_ode = by_integral = sign = wrong_sign = special = 0.0
    a = 0.9
    for m in layers:
        for y0 in starts:
            u = comparison(times, a * y0, a, m)
            path = solve_ivp(
                lambda _, x, m=m: -0.5 * x**m * (x ** (m + 1) - a ** (m + 1)),
                (0.0, times[-1]), [a * y0], "DOP853", times, rtol=1e-12, atol=1e-14,
            )  # fmt: skip
            by_ode = max(by_ode, float(np.abs(u / path.y[0] - 1.0).max()))
            by_integral = max(by_integral, _time_error(a * y0, float(u[1]), a, m, 0.5))
        sign = max(sign, abs(_pace(m, -1) + 0.5))
        wrong_sign = max(wrong_sign, abs(_pace(m, +1) + 0.5))
        for b in ((1 - m) / (m + 1), 2 * m / (m + 1)):
            special = max(special, max(_error(b, z)[1] for z in (0.3, 0.6, 0.99, 1 - 1e-9)))
    return {
        "evidence": [
            *reports["layered"].checks(),
            deviation("u(t) from the integrated (15), sign corrected", by_ode, "relative"),
            deviation("time to u(t) from the integral of 2 du / (u^m (u^(m+1) - ℓ^(m+1))), mpmath",
                      by_integral, "relative"),
            deviation("d/dt of the implicit formula's left side from -1/2, sign of (15) corrected",
                      sign, ""),
            bound("the same along (15) as printed", wrong_sign, ">", 0.1, ""),
            deviation("F(1, b; 1 + b; z) as used, from mpmath", special, "relative"),
            note("m, and v_0 as a multiple of the rest point", (tuple(layers), starts), "", None),
            note("seed", reports["layered"].seed),
        ],
        "tolerance": 1e-9,
    }  # fmt: skip


def _time_error(v0: float, u: float, a: float, m: int, t: float) -> float:
    """Relative error of t as the integral of du / (du/dt) from v0 to u."""
    found = mpmath.quad(lambda x: -2 / (x**m * (x ** (m + 1) - mpmath.mpf(a) ** (m + 1))), [v0, u])
    return abs(float(found) / t - 1.0)


def _pace(m: int, sign: int) -> float:
    """d/dt of the printed left side where du/dt = -1/2 u^m (u^(m+1) + sign (1-eps) v*^(m+1))."""
    u, share = mpmath.mpf("0.6"), mpmath.mpf("0.7")
    slope = mpmath.diff(lambda x: _printed_left(x, m, share), u)
    return float(-slope * u**m * (u ** (m + 1) + sign * share) / 2)


def _error(b: float, z: float) -> tuple[float, float]:
    """Relative errors of SciPy's F(1, b; 1+b; z) and of ours."""
    true = mpmath.hyp2f1(1, mpmath.mpf(b), 1 + mpmath.mpf(b), mpmath.mpf(z))
    theirs, ours = hyp2f1(1.0, b, 1.0 + b, z), unit_hypergeometric(b, z, np.log1p(-z))
    return tuple(float(abs(x - true) / max(abs(true), 1)) for x in (float(theirs), float(ours)))


def hypergeometric_table(m: int, arguments: Sequence[float]) -> pd.DataFrame:
    """F(1, c; 1+c; z), c = 2m/(m+1), near z = 1: mpmath, and who agrees to ten digits."""
    c, rows = 2 * m / (m + 1), []
    for z in arguments:
        scipy_error, ours = _error(c, z)
        true = mpmath.hyp2f1(1, mpmath.mpf(c), 1 + mpmath.mpf(c), mpmath.mpf(z))
        rows.append({"1 - z": f"{1.0 - z:.0e}", "mpmath": approx(true),
                     "SciPy": "agrees" if scipy_error < 1e-10 else "wrong",
                     "as used here": "agrees" if ours < 1e-10 else "wrong"})  # fmt: skip
    return pd.DataFrame(rows).set_index("1 - z")


def comparison_lemma() -> Settlement:
    """Lemma C.2 as printed: f = g = sqrt|x|, u = (t/2)^2 leaves 0, v = 0 stays."""
    t = sympy.symbols("t", nonnegative=True)
    u, v = t**2 / 4, sympy.Integer(0)
    solves = [sympy.simplify(sympy.diff(x, t) - sympy.sqrt(x)) == 0 for x in (u, v)]
    ahead = u.subs(t, 2) - v
    exact = _quotients([Fraction(k, 8) for k in range(1, 33)])
    return {
        "evidence": [bound("u(2) - v(2) for f = g = sqrt|x|", int(ahead), "<=", 0, "")],
        "counterexample": Counterexample(
            instance={"f": "√|x|", "g": "√|x|", "t₀": 0, "u": "t²/4", "v": "0"},
            assumptions={"u(t₀) ≤ v(t₀)": bool(u.subs(t, 0) <= v), "f ≤ g": True,
                         "u solves u' = f(u)": solves[0], "v solves v' = g(v)": solves[1],
                         "f and g are continuous": True},
            breaks=(bound("u(2) - v(2), by SymPy", int(ahead), "<=", 0, ""),),
            recheck=(
                fact("times k/8, k = 1..32, at which u' = f(u) and u > v, in rational numbers",
                     exact, 0),
            ),
            route="difference quotients of t²/4, exact for a square, and squares of t/2, "
            "as fractions",
        ),
    }  # fmt: skip


def _quotients(times: Sequence[Fraction]) -> int:
    """Times at which the central quotient of t^2/4, squared, is t^2/4 > 0: u' = sqrt(u), u > v."""
    h, found = Fraction(1, 100), 0
    for t in times:
        slope = ((t + h) ** 2 - (t - h) ** 2) / 4 / (2 * h)
        found += slope >= 0 and slope**2 == t * t / 4 > 0
    return found


_STEPS, _HORIZON = 200, 2.0


def compared() -> Statement:
    """Lemma C.2 for f(x, t) <= g(x, t) of which one is Lipschitz in x; the other has a square
    root."""

    def draw(touching: bool) -> Draw:
        def one(rng: np.random.Generator) -> dict[str, NDArray]:
            start = rng.normal()
            return {
                "waves": rng.normal(size=(3, 3)),
                "gap": np.abs(rng.normal(size=2)) * (0.0 if touching else 1.0),
                "root": np.array(10.0 ** rng.uniform(-2.0, 0.5)),
                "at": np.array(start if rng.random() < 0.5 else rng.normal()),
                "u0": np.array(start),
                "v0": np.array(start + (0.0 if rng.random() < 0.7 else abs(rng.normal()))),
                "below": np.array(int(rng.integers(0, 2))),
            }

        return one

    return Statement(
        "Lemma C.2 with f or g Lipschitz",
        {"g = f + root": draw(True), "g = f + root + gap": draw(False)},
        lambda item: float(least_lead([item])[0]),
        {"u0 <= v0": lambda item: bool(item["u0"] <= item["v0"])},
        tolerance=1e-6,
        batch=least_lead,
    )


def least_lead(items: Sequence[Item]) -> NDArray:
    """The least v - u (k,) on 0 < t <= 2, by Runge and Kutta's method, of k pairs of equations.

    With h(x, t) = sum_j a_j sin(b_j x + c_j (1 + t)) and k(x) = root sqrt|x - at| + gap_0 + gap_1
    sin(x)^2 they are f = h, g = h + k, or, where "below" is 1, f = h - k, g = h.
    """
    names = ("waves", "gap", "root", "at", "below")
    waves, gap, root, at, below = (
        np.array([item[name] for item in items], float) for name in names
    )
    size, pace, turn = np.moveaxis(waves, 1, 0)[:, :, None, :]
    share = np.stack([-below, 1.0 - below], axis=1)  # of k, in f and in g

    def rates(x: NDArray, t: float) -> NDArray:
        smooth = (size * np.sin(x[..., None] * pace + turn * (1.0 + t))).sum(axis=-1)
        more = root[:, None] * np.sqrt(np.abs(x - at[:, None])) + gap[:, :1]
        return smooth + share * (more + gap[:, 1:] * np.sin(x) ** 2)

    x = np.array([[item["u0"], item["v0"]] for item in items], float)
    h, least = _HORIZON / _STEPS, np.full(len(items), np.inf)
    for k in range(_STEPS):
        t = k * h
        k1 = rates(x, t)
        k2 = rates(x + 0.5 * h * k1, t + 0.5 * h)
        k3 = rates(x + 0.5 * h * k2, t + 0.5 * h)
        k4 = rates(x + h * k3, t + h)
        x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        least = np.minimum(least, x[:, 1] - x[:, 0])
    return least


def comparison_repaired(seed: int, count: int) -> Settlement:
    """Lemma C.2 where one of the two is Lipschitz."""
    return {"evidence": survived(falsify(compared(), seed, count, count))}
