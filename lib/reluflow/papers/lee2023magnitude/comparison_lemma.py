"""Lemma C.2: u' = f(u, t), v' = g(v, t), f <= g and u(t_0) <= v(t_0) are said to give u <= v.

It fails where solutions are not unique, and holds where f or g is Lipschitz in x.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance, Statement
from reluflow.ledger import Counterexample, bound, fact

_STEPS, _HORIZON = 200, 2.0


def overtaken() -> Counterexample:
    """ma.lemC.2: for f = g = sqrt|x| the solution u = (t/2)^2 leaves 0, and v = 0 stays."""
    t = sympy.symbols("t", nonnegative=True)
    u, v = t**2 / 4, sympy.Integer(0)
    solves = [sympy.simplify(sympy.diff(x, t) - sympy.sqrt(x)) == 0 for x in (u, v)]
    exactly = _quotients([Fraction(k, 8) for k in range(1, 33)])
    return Counterexample(
        instance={"f": "√|x|", "g": "√|x|", "t₀": 0, "u": "t²/4", "v": "0"},
        assumptions={"u(t₀) ≤ v(t₀)": bool(u.subs(t, 0) <= v), "f ≤ g": True,
                     "u solves u' = f(u)": solves[0], "v solves v' = g(v)": solves[1],
                     "f and g are continuous": True},
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
    """ma.ours.comparison: Lemma C.2 for f(x, t) <= g(x, t) of which one is Lipschitz in x; the
    other has a square root."""

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
        batch=least_lead,
    )


def least_lead(items: Sequence[Instance]) -> NDArray:
    """The least v - u (k,) on 0 < t <= 2, by Runge and Kutta's method, of k pairs of equations.

    With h(x, t) = sum_j a_j sin(b_j x + c_j (1 + t)) and k(x) = root sqrt|x - at| + gap_0 + gap_1
    sin(x)^2 they are f = h, g = h + k, or, where "below" is 1, f = h - k, g = h.

    Let L = sum_j |a_j b_j|, a Lipschitz constant of h, s the step and q = sL. A step makes of v - u
    a sum of v - u and the stages' four values of s k. The factors are multilinear in the difference
    quotients of h, so least where these are L or -L, and there at least

        1 - q - q^2/2 - q^3/6 - q^4/24 of v - u, and of the values of s k
        (1 - q - q^2/2 - q^3/4) / 6, (2 - q - q^2/2) / 6, (2 - q) / 6 and 1/6.

    All are positive for q <= 1/2: there the steps keep the order, as the solutions do. Beyond, they
    may lose it, and the lead is NaN. So is a lead that is negative by no more than rounding, whose
    error at a step grows at most by e^(Lt).
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
    lipschitz = np.abs(size * pace).sum(axis=(1, 2))
    largest = np.abs(x).max(axis=1)
    for t in h * np.arange(_STEPS):
        k1 = rates(x, t)
        k2 = rates(x + 0.5 * h * k1, t + 0.5 * h)
        k3 = rates(x + 0.5 * h * k2, t + 0.5 * h)
        k4 = rates(x + h * k3, t + h)
        x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        least = np.minimum(least, x[:, 1] - x[:, 0])
        largest = np.maximum(largest, np.abs(x).max(axis=1))
    # Fewer than 64 roundings a step, of x and of h times the waves and their arguments.
    rounded = largest + h * np.abs(size * (1.0 + (1.0 + _HORIZON) * np.abs(turn))).sum(axis=(1, 2))
    resolved = h * lipschitz <= 0.5
    growth = np.exp(_HORIZON * np.where(resolved, lipschitz, 0.0))
    rounding = _STEPS * 64.0 * 2.0**-53 * rounded * growth
    return np.where(resolved & ((least >= 0.0) | (least < -rounding)), least, np.nan)
