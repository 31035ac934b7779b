"""Lemma C.2: u' = f(u, t), v' = g(v, t), f <= g and u(t_0) <= v(t_0) are said to give u <= v.

It fails where solutions are not unique, and holds where f or g is Lipschitz in x, uniformly in t.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.calculus.singularities import singularities

from reluflow.falsify import Draw, Instance, Statement, given
from reluflow.ledger import Counterexample, bound, fact

_TIMES, _HORIZON = 20, 2.0


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


def compared() -> Statement:
    """ma.ours.comparison: Lemma C.2 for f(x, t) <= g(x, t) of which one, h of `least_lead`, has the
    Lipschitz constant sum_j |a_j b_j|; the other has a square root."""

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
        h, x, found = _HORIZON / _TIMES / number, x0, []
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
