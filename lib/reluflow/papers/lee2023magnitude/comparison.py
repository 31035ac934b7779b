"""The page `comparison`: Lemma C.2, and Theorem 3.8 for m >= 2."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import product

import mpmath
import numpy as np
import sympy
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from sympy.calculus.singularities import singularities

from reluflow.falsify import Instance, Report, Statement, given
from reluflow.ledger import Counterexample, Evidence, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude import setting
from reluflow.papers.lee2023magnitude.chains import balanced_chain
from reluflow.papers.lee2023magnitude.population import pull
from reluflow.papers.lee2023magnitude.setting import Start, implicit_printed

# --- Lemma C.2: u' = f(u, t), v' = g(v, t), f <= g and u(t_0) <= v(t_0) are said to give u <= v ---


_TIMES = 20


def overtaken() -> Counterexample:
    """ma.lemC.2: for f = g = sqrt|x| the solution u = (t/2)^2 leaves 0, and v = 0 stays."""
    t, x = sympy.symbols("t", nonnegative=True), sympy.symbols("x", real=True)
    f = g = sympy.sqrt(sympy.Abs(x))
    u, v = t**2 / 4, sympy.Integer(0)
    solves = [sympy.simplify(sympy.diff(w, t) - h.subs(x, w)) == 0 for w, h in ((u, f), (v, g))]
    exactly = _quotients([Fraction(k, 8) for k in range(1, 33)])
    return Counterexample(
        instance={"f": "√|x|", "g": "√|x|", "t₀": 0, "u": "t²/4", "v": "0"},
        assumptions={"u(t₀) ≤ v(t₀)": bool(u.subs(t, 0) <= v), "f ≤ g": (g - f).is_nonnegative,
                     "u solves u' = f(u)": solves[0], "v solves v' = g(v)": solves[1],
                     "f and g are continuous": all(
                         singularities(h, x) == sympy.S.EmptySet for h in (f, g))},
        breaks=(bound("u(2) - v(2), by SymPy", int(u.subs(t, 2) - v), "<=", 0, ""),),
        recheck=(
            fact("times k/8, k = 1..32, at which u' = f(u) and u > v, in rational numbers",
                 exactly, 0),
        ),
        route="difference quotients of t²/4, exact for a square, and squares of t/2, "
        "as fractions",
    )  # fmt: skip


def _quotients(times: Sequence[Fraction]) -> int:
    """Times at which the central quotient of t^2/4, squared, is t^2/4 > 0: u' = sqrt(u), u > v."""
    h, found = Fraction(1, 100), 0
    for t in times:
        slope = ((t + h) ** 2 - (t - h) ** 2) / 4 / (2 * h)
        found += slope >= 0 and slope**2 == t * t / 4 > 0
    return found


def _pair(touching: bool, rng: np.random.Generator) -> dict[str, NDArray]:
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


def compared() -> Statement:
    """ma.ours.comparison: Lemma C.2 for f(x, t) <= g(x, t) of which one, h of `least_lead`, has the
    Lipschitz constant sum_j |a_j b_j|; the other has a square root."""
    return Statement(
        "Lemma C.2 with f or g Lipschitz",
        {"g = f + root": partial(_pair, True), "g = f + root + gap": partial(_pair, False)},
        lambda item: float(least_lead([item])[0]),
        given(
            "ma.ours.comparison",
            pair=lambda item: bool(item["root"] >= 0.0 and np.all(item["gap"] >= 0.0)),
            lipschitz=lambda item: bool(np.isfinite(item["waves"]).all()),
            start=lambda item: bool(item["u0"] <= item["v0"]),
        ),
        batch=least_lead,
    )


def least_lead(items: Sequence[Instance]) -> NDArray:
    """The least v - u (k,) of k pairs of equations, over times up to 2 at which its sign is known.

    With h(x, t) = sum_j a_j sin(b_j x + c_j (1 + t)) and k(x) = root sqrt|x - at| + gap_0 + gap_1
    sin(x)^2 they are f = h, g = h + k, or, where "below" is 1, f = h - k, g = h.

    Each equation is solved by itself, with steps of its own, so that nothing in the arithmetic
    keeps u below v; and twice, with steps and half steps. Where v - u is smaller than twice what
    that changes in u and v, its sign is not known; NaN if that is so at all times.
    """
    u, u_off = _solved(items, "u0", 5)
    v, v_off = _solved(items, "v0", 8)
    lead = np.where(np.abs(v - u) > 2.0 * (u_off + v_off), v - u, np.nan)
    known = ~np.isnan(lead).all(axis=0)
    return np.where(known, np.min(lead, axis=0, initial=np.inf, where=~np.isnan(lead)), np.nan)


def _solved(items: Sequence[Instance], start: str, steps: int) -> tuple[NDArray, NDArray]:
    """The solution (times, k) of f from "u0", or of g from "v0", with twice so many of Runge and
    Kutta's steps between two times, and how far it is from that with so many."""
    names = ("waves", "gap", "root", "at", "below", start)
    waves, gap, root, at, below, x0 = (
        np.array([item[name] for item in items], float) for name in names
    )
    size, pace, turn = waves.transpose(1, 2, 0)
    share = 1.0 - below if start == "v0" else -below  # of k

    def rate(x: NDArray, t: float) -> NDArray:
        smooth = (size * np.sin(x * pace + turn * (1.0 + t))).sum(axis=0)
        more = root * np.sqrt(np.abs(x - at)) + gap[:, 0] + gap[:, 1] * np.sin(x) ** 2
        return smooth + share * more

    def path(number: int) -> NDArray:
        h, x, found = 2.0 / _TIMES / number, x0, []
        for k in range(_TIMES * number):
            t = k * h
            k1 = rate(x, t)
            k2 = rate(x + 0.5 * h * k1, t + 0.5 * h)
            k3 = rate(x + 0.5 * h * k2, t + 0.5 * h)
            k4 = rate(x + h * k3, t + h)
            x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            if (k + 1) % number == 0:
                found.append(x)
        return np.array(found)

    fine = path(2 * steps)
    return fine, np.abs(fine - path(steps))


# --- Theorem 3.8 for m >= 2: the implicit formula as printed, and on both sides of its branch -----


def upper_bound_passed(v0: float, m: int, t: float) -> Counterexample:
    """The upper bound of ma.thm3.8.2 as printed fails at phi_0 = pi/2, |w*| = 1, one norm and one
    time. With the constant F(v_0; 0) it holds (`repaired`)."""
    phi0 = 0.5 * np.pi
    u = implicit_printed([t], phi0, v0, 1.0, m, 1.0)[0]
    v = float(Start.at(phi0, v0, m).flow([t]).length[0])
    with mpmath.workdps(20):
        exactly = setting.layered_length(phi0, v0, m, t) - setting.printed_upper(phi0, v0, m, t)
    return Counterexample(
        instance={"m": m, "w₀": "(1/2, 0)", "w*": "(0, 1)", "φ₀": "π/2", "v*": 1,
                  "v₀ = v₁ = … = v_m": v0, "t": t},
        assumptions={
            "balanced": "v₀ is the norm of w₀ and each v_k",
            "ε₀ > 0": bool(pull(phi0) < 1.0),
            "u(t; 0) as printed is real: v₀^(m+1) < (1 − ε₀) v*^(m+1)":
                v0 ** (m + 1) < float(pull(phi0)),
        },
        breaks=(bound("v(t) - u(t; 0), integrated flow and the printed formula", v - u,
                      "<", 0, ""),),
        recheck=(bound("the same with 20 digits", float(exactly), "<", 0, ""),),
        route="(9)-(10) by mpmath's Taylor series, the printed formula by mpmath's "
        "hypergeometric function and root finder",
    )  # fmt: skip


def upper_bound_tried(right: Report, v0: float, m: int) -> list[Evidence]:
    """Beside the upper bound as printed: the bounds with the right constant, u(0; 0), and why no
    real u(t; 0) solves its equation for v_0 beyond the branch point of F."""
    start = implicit_printed([0.0], 0.5 * np.pi, v0, 1.0, m, 1.0)[0]
    with mpmath.workdps(30):
        given, below, above = (
            abs(float(mpmath.im(setting.printed_left(u, m, share))))
            for u, share in ((2.0, setting.bounds_exact_pull(mpmath.pi / 2)), (0.9, 1), (1.1, 1))
        )
    return [
        note("with the constant F(v₀; 0): starts that break either bound, and tried",
             (sum(right.violations.values()), right.tried)),
        note("u(0; 0) as printed for the counterexample's start, v_0 = 1/2", float(start)),
        note("from v₀ = 2 v*: |Im F(v₀; ε₀)|, and |Im F(u; 0)| at every u < v* and every u > v*",
             (given, below, above)),
    ]  # fmt: skip


def defined(layers: Sequence[int]) -> list[Evidence]:
    """The printed equation with the constant mended, F(v_0; eps), a difference of two values of F,
    solved on the principal branch from starts on both sides of the branch point, against the
    integrated comparison equation; for eps = eps_0 at phi_0 = pi/2, where nothing has to be mended,
    and for eps = 0. |w*| = 1."""
    times, shares = (0.1, 1.0, 5.0), (float(pull(0.5 * np.pi)), 1.0)
    residuals, apart = [], []
    for m, share, y0 in product(layers, shares, (0.5, 1.2, 2.0)):
        rest = share ** (1 / (m + 1))
        ode = _integrated(times, y0 * rest, rest, m)
        with mpmath.workdps(30):
            for t, u in zip(times, ode, strict=True):
                found = setting.printed_solution(y0 * rest, m, share, t)
                left = setting.printed_residual(found, y0 * rest, m, share, t)
                residuals.append(float(abs(left)))
                apart.append(abs(u / float(found) - 1.0))
    return [
        deviation("modulus of F(u; ε) − F(v₀; ε) + t/2, a complex number, at a real u from 0",
                  max(residuals), ""),
        deviation("u from the integrated comparison equation", float(max(apart)), "relative"),
        note("m; starts v₀ / ℓ; times", (tuple(layers), (0.5, 1.2, 2.0), times), "", None),
    ]  # fmt: skip


def _integrated(times: Sequence[float], v0: float, rest: float, m: int) -> NDArray:
    """The comparison equation from v0, (15) with its sign corrected, integrated: u at the times."""
    path = solve_ivp(
        lambda _, x: -0.5 * x**m * (x ** (m + 1) - rest ** (m + 1)),
        (0.0, times[-1]), [v0], "DOP853", times, rtol=1e-12, atol=1e-14,
    )  # fmt: skip
    return path.y[0]


def repaired(layers: Sequence[int]) -> list[Evidence]:
    """ma.ours.implicit: Theorem 3.8 on both sides of the branch, by ODE; along
    flows it is tried by `bounds.layered`."""
    times, starts, a = (0.05, 0.5, 5.0), (0.2, 0.8, 1.3, 4.0), 0.9
    by_ode = [
        np.abs(balanced_chain(times, a * y0, a, m) / _integrated(times, a * y0, a, m) - 1.0).max()
        for m, y0 in product(layers, starts)
    ]
    right, wrong = ([abs(setting.printed_pace(m, sign) + 0.5) for m in layers] for sign in (-1, 1))
    return [
        deviation("u(t) from the integrated (15), sign corrected", float(max(by_ode)), "relative"),
        deviation("d/dt of the implicit formula's left side from -1/2, sign of (15) corrected",
                  max(right), ""),
        bound("the same along (15) as printed", max(wrong), ">", 0.1, ""),
        note("m, and v_0 as a multiple of the rest point", (tuple(layers), starts), "", None),
    ]  # fmt: skip
