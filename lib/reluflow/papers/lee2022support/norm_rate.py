"""The norm along the flow: g(w) = -1/2 d|w|^2/dt (Definition D.3 and Lemma F.7)."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from reluflow.falsify import Instance, Statement
from reluflow.flows.activity import visited_cells
from reluflow.flows.segment import Segment, segment
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import local_minima
from reluflow.instances import Arrays, data_draws, extended
from reluflow.ledger import Evidence, Reading, bound, note
from reluflow.networks import gradient
from reluflow.papers.lee2022support.small_ends import nontrivial_draws
from reluflow.papers.lee2022support.small_starts import small_flows


def norm_rate(X: ArrayLike, y: ArrayLike, w: ArrayLike) -> NDArray:
    """g(w) = w.(H(w) w - q(w)) = -1/2 d|w|^2/dt (Definition D.3, Lemma F.7).

    Parameters: X (n, d), y (n,), w (..., d). Returns shape (...).
    """
    w = np.asarray(w, float)
    return (w * gradient(X, y, w)).sum(axis=-1)


def norm_lost(X: ArrayLike, y: ArrayLike, path: Trajectory) -> float:
    """The largest |w(s)|^2 - |w(t)|^2 over s < t of a flow that slides along no boundary.

    Where all of |w|^2's maxima and minima are is told by the zeros of its derivative, a sum of
    exponentials on each piece of the path; no grid is involved.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    states, last = [path.states[:1]], np.inf if path.has_limit else path.t[-1]
    for on, w, t0, t1 in zip(
        visited_cells(X, path), path.states, path.t, np.append(path.t[1:], last), strict=True
    ):
        piece = segment(X, y, w, on, np.zeros((0, len(w))), 0.0)
        s = _turns(piece)
        states += [
            piece.after(s[s < t1 - t0]),
            path.at([t1]) if np.isfinite(t1) else path.end[None],
        ]
    squares = (np.vstack(states) ** 2).sum(axis=1)
    return float(np.max(np.maximum.accumulate(squares) - squares))


def _turns(piece: Segment) -> NDArray:
    """The zeros in s > 0 of d|w|^2/ds = sum_k 2 l_k b_k (v_k.limit e^(-l_k s) - b_k e^(-2 l_k s)),
    v_k the columns of V, in order."""
    slopes = piece.rates * piece.b
    rates, which = np.unique([piece.rates, 2.0 * piece.rates], return_inverse=True)
    c = np.bincount(which.ravel(), np.ravel([slopes * (piece.limit @ piece.V), -slopes * piece.b]))
    return np.array(sign_changes(c[c != 0.0], rates[c != 0.0]))


def sign_changes(c: NDArray, rates: NDArray) -> list[float]:
    """Where sum_k c_k e^(-rates_k s), rates ascending, changes its sign in s > 0, in order. Times
    e^(rates_0 s) it has a derivative of one term less, and one zero at most between two of that.

    `exponential_sums` has the form for early times: what is left late would be rounding in it."""
    if len(c) < 2:
        return []
    rates = rates - rates[0]
    # From `far` on the first term, now a constant, outweighs the others.
    far = max(0.0, *np.log(len(c) * np.abs(c[1:] / c[0])) / rates[1:])
    inner = [s for s in sign_changes(-c[1:] * rates[1:], rates[1:]) if s < far]

    def value(s: float) -> float:
        return float(c @ np.exp(-rates * s))

    return [
        float(brentq(value, lo, hi, xtol=1e-12 / rates[-1]))
        for lo, hi in pairwise([0.0, *inner, far])
        if np.sign(value(lo)) * np.sign(value(hi)) < 0.0
    ]


def rate_is_continuous() -> Statement:
    """Lemma F.7, part 2: |g(w + v) - g(w)| <= sum |x_i.v| (2 |x_i.w| + |x_i.v| + y_i), with w on
    the boundary of the first datum and v of any size."""

    def more(item: Arrays, rng: np.random.Generator) -> Arrays:
        p, q = item["X"][0]
        w = np.array([-q, p]) * rng.choice([-1.0, 1.0])
        v = rng.normal(size=2) * 10.0 ** rng.uniform(-9.0, 0.0) * np.linalg.norm(w)
        return {"w": w, "v": v}

    def slack(item: Instance) -> float:
        X, y, w, v = item["X"], item["y"], item["w"], item["v"]
        moved, h = np.abs(X @ v), np.abs(X @ w)
        allowed = float(moved @ (2.0 * h + moved + y))
        jump = abs(float(norm_rate(X, y, w + v) - norm_rate(X, y, w)))
        terms = np.abs(X) @ (np.abs(w) + np.abs(v))  # of h: rounding sees them one by one
        noise = 1e-13 * float(terms @ (terms + y))
        return (allowed - jump + noise) / (allowed + noise)

    return Statement("g is continuous across boundaries", extended(data_draws(2), more), slack,
                     fixed=("X", "y"))  # fmt: skip


def rate_is_the_slope() -> Statement:
    """sv.lemF.7: the norm increases where g < 0; here -g(w(t)) is the derivative of |w|^2 / 2 at
    every t, events included (part 1)."""

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        path = small_flows(item, [float(item["norm"])])[0]
        times = np.append(path.grid(8)[1:-1], [e.t for e in path.events])
        W, stiff = path.at(times), np.linalg.norm(X, 2)
        size = np.linalg.norm(W, axis=1)
        fastest = stiff * (stiff * size + np.linalg.norm(y))  # at least |dw/dt| nearby
        step = np.minimum(1e-6 * size / fastest, times)
        late, early = times + step, times - step  # as rounded: late times are coarse
        ahead, behind = path.at(late), path.at(early)
        # Neither late times nor the first moments leave digits for a difference.
        seen = (step > 1e-11 * times) & (step > 1e-9 * size / fastest)
        gap = np.where(seen, late - early, np.inf)
        slope = ((ahead - behind) * (ahead + behind)).sum(axis=1) / (2.0 * gap)
        apart = np.abs(slope + norm_rate(X, y, W)) / (1e-4 * size * fastest)
        return 1.0 - float(np.max(apart, initial=0.0, where=seen))

    draws = extended(
        nontrivial_draws(2), lambda item, rng: {"norm": np.array(10.0 ** rng.uniform(-4, 3))}
    )
    return Statement("-g is half the derivative of |w|^2", draws, slack, fixed=("u",))


def rate_at_minima(seed: int, count: int) -> list[Evidence]:
    """Lemma F.7, part 3: g = 0 at the local minima of `count` planar data sets."""
    rng = np.random.default_rng(seed)
    draws = list(nontrivial_draws(2, (2, 5)).values())
    worst, flat = 0.0, 0
    for k in range(count):
        item = draws[k % len(draws)](rng)
        X, y = item["X"], item["y"]
        for minimum in local_minima(X, y):
            h = np.abs(X @ minimum.w)
            worst = max(worst, abs(float(norm_rate(X, y, minimum.w))) / float(h @ h + y @ y))
            flat += not minimum.support
    return [
        bound("largest |g| at an enumerated local minimum", worst, "<=", 1e-9,
              "of |Xw|^2 + |y|^2"),
        note("data sets whose minima were enumerated", count),
        note("of them with a dead plateau, g = 0 all around its points", flat),
    ]  # fmt: skip


def standstill() -> tuple[dict[str, tuple], sympy.Poly]:
    """A flow whose norm strictly increases through a moment at which g is zero.

    x_1 = (1, 2), x_2 = (2, 1), so that H has eigenvalue 9 on (1, 1) and 1 on (1, -1), and
    w(t) = (a - u^9) (1, 1) + (b - u) (1, -1) with u = exp(-t). Then -g = 2 f(u) u with
    f = b - u + 9 a u^8 - 9 u^17, and a, b are such that f and its slope vanish at u = 1/2.
    Returns the instance, in fractions, and f.
    """
    u = sympy.Symbol("u")
    half = sympy.Rational(1, 2)
    a = (1 + 153 * half**16) / (72 * half**7)
    b = half - 9 * a * half**8 + 9 * half**17
    f = sympy.Poly(b - u + 9 * a * u**8 - 9 * u**17, u)
    instance = {
        "X": ((1, 2), (2, 1)),
        "y": (Fraction(3 * a - b), Fraction(3 * a + b)),
        "w0": (Fraction(a + b - 2), Fraction(a - b)),
    }
    return instance, f


def rate_at_a_standstill() -> list[Evidence]:
    """`standstill` in numbers."""
    instance, f = standstill()
    half = sympy.Rational(1, 2)
    return [
        note("g and its slope at t = log 2 on a flow whose norm strictly increases",
             (Fraction(f.eval(half)), Fraction(f.diff().eval(half)))),
        note("labels of that flow, x = (1, 2), (2, 1)", instance["y"]),
        note("its start", instance["w0"]),
    ]  # fmt: skip


INCREASING = Reading(
    taken="the norm increases at a moment if its square has a positive derivative then; a "
    "local minimum is on the boundary of the norm-increasing subset if g = 0 there, as the "
    "statement explains it",
    others="if to increase means to be strictly increasing near the moment, part 1 fails: "
    "a norm can strictly increase through a moment with g = 0, and the flow above does. "
    "If the boundary is the topological one, part 3 fails on dead plateaus: for n = d = 1, "
    "x = y = 1 the minimum w = -1 has g = 0 in a whole neighbourhood.",
)
