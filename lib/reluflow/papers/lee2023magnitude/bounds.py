"""The page `bounds`: Theorems 3.3, 3.4, 3.8 and 3.9, and Lemma C.2."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial, wraps
from itertools import product

import mpmath
import numpy as np
import sympy
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline
from sympy.calculus.singularities import singularities

from reluflow.falsify import Draws, Instance, Report, Statement, extended, falsify, given, planted
from reluflow.flows.charts import TIME
from reluflow.ledger import Counterexample, Evidence, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude import setting
from reluflow.papers.lee2023magnitude.chains import balanced_chain
from reluflow.papers.lee2023magnitude.population import PopulationPath, nullcline, orbits, pull
from reluflow.papers.lee2023magnitude.setting import Start, drawn

# --- The bounds of Theorems 3.3, 3.4, 3.8 and 3.9 tried on flows ----------------------------------
#
# An instance is a start of `setting`, with "target". A bound is tried at all points of the orbit in
# closed form, which resolve the first moments and the last.

NOISE = 1e-11
"""Relative rounding error of a magnitude or an angle; a slack below it is not told."""


RANGES = {
    "generic": ((-2.0, 2.0), (-2.0, 2.0)),
    "phi_0 near 0": ((-12.0, -2.0), (-4.0, 4.0)),
    "phi_0 near pi": ((2.0, 10.0), (-4.0, 4.0)),
    "|w_0| tiny": ((-2.0, 4.0), (-15.0, -4.0)),
    "|w_0| huge": ((-2.0, 4.0), (4.0, 12.0)),
    "|w_0| = |w*|": ((-4.0, 8.0), (0.0, 0.0)),
}
"""Ranges of psi_0 and rho_0 by kind of start."""

Tests = Mapping[str, Callable[[Instance], bool]]
Slack = Callable[[Start, PopulationPath], float]


def flows(starts: Sequence[Start]) -> list[PopulationPath]:
    """The flow of every start at times t > 0 that resolve it, by its closed form."""
    found, columns = [], [(start.psi, start.rho, start.m) for start in starts]
    paths = orbits(*np.transpose(columns))
    for start, s, psi, rho in zip(starts, paths.s, paths.psi, paths.rho, strict=True):
        t = s[1:] / start.target ** (2 * start.m)
        v = start.target * np.exp(rho[1:])
        found.append(PopulationPath(t, psi[1:], rho[1:], v, start.target, TIME))
    return found


def norm_range(start: Start, path: PopulationPath) -> tuple[float, float]:
    """Infimum and supremum of |w(t)|, the infimum less a part in 500 at a dip. The magnitude never
    turns from growth to decay, so the supremum is at an end. It dips where v^(m+1) falls below (1 -
    eps) v*^(m+1), which grows; between points rho is taken as a cubic in psi, with drho/dpsi =
    -pi/phi (e^((m+1) rho) - 1 + eps)."""
    low, high = sorted([start.v, start.target])
    psi, rho = np.append(start.psi, path.psi), np.append(start.rho, path.rho)
    phi = np.append(start.phi, path.phi)
    excess = np.exp((start.m + 1) * rho) - pull(phi)
    turn = np.flatnonzero((excess[:-1] > 0.0) & (excess[1:] <= 0.0))
    if not turn.size:
        return low, high
    ends = slice(turn[0], turn[0] + 2)
    dip = CubicHermiteSpline(psi[ends], rho[ends], -np.pi / phi[ends] * excess[ends])
    least = float(dip(np.linspace(psi[turn[0]], psi[turn[0] + 1], 65)).min())
    return min(low, 0.998 * start.target * math.exp(least)), high


def _on_flows(
    says: str,
    layers: Sequence[int],
    hypotheses: Tests | None = None,
    draws: Draws | None = None,
) -> Callable[[Slack], Callable[[], Statement]]:
    """Makes a Statement of the slack below it, of a start and its flow, m in `layers`; a witness
    may plant a factor of |w| and of tan(phi/2)."""

    def of(slack: Slack) -> Callable[[], Statement]:
        def slacks(items: Sequence[Instance]) -> NDArray:
            values, starts = np.empty(len(items)), [Start.of(item) for item in items]
            for k, path in enumerate(flows(starts)):
                by = math.log(planted(items[k]))
                values[k] = slack(starts[k], replace(path, psi=path.psi + by, rho=path.rho + by))
            return values

        return wraps(slack)(
            lambda: Statement(
                says,
                draws or drawn(layers, RANGES, (-1.0, 1.0)),
                lambda item: float(slacks([item])[0]),
                hypotheses or {},
                batch=slacks,
            )
        )

    return of


def enclosed(v: NDArray, lower: NDArray, upper: NDArray) -> float:
    """The least distance of v (n,) to a bound, as a share of their gap. Moments at which rounding
    hides the sign do not count; NaN if none is left."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = np.minimum(v - lower, upper - v) / (upper - lower)
        told = np.abs(share) > NOISE * v / np.abs(upper - lower)
    return float(share[told].min()) if told.any() else np.nan


@_on_flows("Theorem 3.3", (0,))
def magnitude(start: Start, path: PopulationPath) -> float:
    """ma.thm3.3.1: Theorem 3.3, for t > 0 and 0 < phi_0 < pi."""
    limits = setting.magnitude_bounds(path.t, start.phi, start.v, start.target)
    return enclosed(path.length, *limits)


@_on_flows("eq. (8), lower bound, any |w_0|", (0,))
def small_magnitude_lower(start: Start, path: PopulationPath) -> float:
    """ma.thm3.3.2: the lower half of eq. (8), for any |w_0| > 0."""
    lower, _ = setting.magnitude_bounds(path.t, start.phi, 0.0, start.target)
    return enclosed(path.length, lower, 2.0 * path.length)


@_on_flows("Theorem 3.8, m = 1", (1,))
def two_layers(start: Start, path: PopulationPath) -> float:
    """ma.thm3.8.m1: Theorem 3.8 for m = 1, its explicit bounds."""
    limits = setting.two_layer_magnitude_bounds(path.t, start.phi, start.v, start.target)
    return enclosed(path.length, *limits)


@_on_flows(
    "Theorem 3.8 repaired",
    (2, 3, 4, 6),
    given(
        "ma.ours.implicit",
        flow=lambda item: int(item["m"]) >= 2,
        start=lambda item: Start.of(item).phi > 0.0 and Start.of(item).theta > 0.0,
    ),
)
def layered(start: Start, path: PopulationPath) -> float:
    """Theorem 3.8 with the solutions of the comparison equation, on both sides of the branch."""
    at = (start.phi, start.v, start.target, start.m)
    return enclosed(path.length, *setting.layered_magnitude_bounds(path.t, *at))


def _past_branch(item: Instance) -> float:
    start = Start.of(item)
    return math.exp(start.rho) - float(nullcline(start.phi, start.m))


def _printed(start: Start, path: PopulationPath, kappa: float) -> NDArray:
    at = (start.phi, start.v, start.target, start.m, kappa)
    return setting.implicit_printed(path.t, *at)


@_on_flows(
    "Theorem 3.8 as printed, lower bound",
    (2, 3, 4, 6),
    {"the formula's argument at v_0 is not 1": lambda item: _past_branch(item) != 0.0},
)
def printed_lower(start: Start, path: PopulationPath) -> float:
    """ma.thm3.8.1: Theorem 3.8's lower bound as printed, where its equation has a real solution:
    everywhere but at the branch point, where F is infinite."""
    lower = _printed(start, path, float(pull(start.phi)))
    return enclosed(path.length, lower, 2.0 * path.length)


@_on_flows(
    "Theorem 3.8 as printed, upper bound",
    (2, 3, 4, 6),
    {"the formula's argument at v_0 is below 1": lambda item: _past_branch(item) < 0.0},
)
def printed_upper(start: Start, path: PopulationPath) -> float:
    """ma.thm3.8.2: Theorem 3.8's upper bound as printed, where its equation has a real solution."""
    upper = _printed(start, path, 1.0)
    return enclosed(path.length, 0.0 * upper, upper)


def _gap_slack(path: PopulationPath, least: NDArray, most: NDArray, fastest: float) -> float:
    """Smallest distance of log(pi - phi) to the logarithms of its bounds; an upper bound of phi
    that is no less than pi says nothing. Moments hidden by rounding do not count."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        above = np.where(least > 0.0, path.theta / least, np.inf)
        apart = np.log(np.stack([most / path.theta, above]))
    told = np.abs(apart) > NOISE * (1.0 + fastest * path.t)
    return float(apart[told].min()) if told.any() else np.nan


def angle(says: str, layers: Sequence[int]) -> Statement:
    """ma.thm3.4.1, ma.thm3.9: Theorem 3.4 (m = 0) or 3.9 (m >= 1), with the closest r and R."""

    @_on_flows(says, layers)
    def slack(start: Start, path: PopulationPath) -> float:
        within = (*norm_range(start, path), start.target, start.m)
        fastest = setting.angle_rates(start.phi, *within)[1]
        return _gap_slack(path, *setting.gap_bounds(path.t, start.psi, *within), fastest)

    return slack()


@_on_flows(
    "Theorem 3.4, its case |w_0| near 0, for all |w_0| <= |w*|",
    (0,),
    {"|w_0| <= |w*|": lambda item: bool(item["rho"] <= 0.0)},
    extended(
        drawn((0,), RANGES, (-1.0, 1.0)), lambda item, _: {"rho": np.minimum(item["rho"], 0.0)}
    ),
)
def small_angle(start: Start, path: PopulationPath) -> float:
    """ma.thm3.4.2: Theorem 3.4, its special case |w_0| near 0, for |w_0| <= |w*|."""
    v = start.target
    _, most = setting.gap_bounds(path.t, start.psi, v, v, v, 0)
    return _gap_slack(path, np.zeros(len(most)), most, 1.0)


def try_bounds(seed: int, count: int) -> dict[str, Report]:
    """Try each bound with `count` draws."""
    statements: Mapping[str, Callable[[], Statement]] = {
        "magnitude": magnitude,
        "small magnitude": small_magnitude_lower,
        "angle": partial(angle, "Theorem 3.4", (0,)),
        "small angle": small_angle,
        "layered angle": partial(angle, "Theorem 3.9", (1, 2, 3, 4, 6)),
        "two layers": two_layers,
        "printed lower": printed_lower,
        "printed upper": printed_upper,
        "layered": layered,
    }
    return {name: falsify(made(), seed, count, 0) for name, made in statements.items()}


# --- Eq. (8), one layer for |w_0| near 0: its upper bound, and what is true instead ---------------

THRESHOLD = float(np.pi - np.arctan(np.pi))
"""phi_0 at which small starts begin to break eq. (8)."""


def room(phi0: float, t: float, v0: float) -> float:
    """((1 - e^(-t/2)) |w*| - |w(t)|) / (|w_0| e^(-t/2)) on the integrated flow, |w*| = 1."""
    v = float(Start.at(phi0, v0, 0).flow([t]).length[0])
    return (-np.expm1(-0.5 * t) - v) / (v0 * np.exp(-0.5 * t))


def upper_bound_passed(t: float, sizes: Sequence[float]) -> Counterexample:
    """ma.thm3.3.3: for positive norms the upper half of eq. (8) fails, at one start, phi0 = 3 pi/4
    > THRESHOLD, and one time, at all the sizes |w_0| / |w*|."""
    phi0 = 0.75 * np.pi
    with mpmath.workdps(40):
        upper = 1 - mpmath.exp(-mpmath.mpf(t) / 2)
        exactly = [float((setting.one_layer_length(phi0, v, t) - upper) / v) for v in sizes]
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


def first_order(angles: Sequence[float], t: float) -> list[Evidence]:
    """ma.ours.small.first: the first order of |w(t)| in |w_0|, and where it changes sign."""
    rooms = {phi0: room(phi0, t, 1e-5) for phi0 in angles}
    errors = [abs(v - (np.sin(x) + np.pi * np.cos(x)) / x) for x, v in rooms.items()]
    wrong = sum((phi0 > THRESHOLD) != (found < 0.0) for phi0, found in rooms.items())
    return [
        deviation("coefficient of |w_0| e^(-t/2) at |w_0| = 1e-5 |w*| from "
                  "(sin φ₀ + π cos φ₀)/φ₀", float(max(errors)), "", digits=2),
        fact("angles on which the sign of (8)'s error is other than said", int(wrong), 0),
        note("angles φ₀, in degrees", tuple(round(float(np.degrees(a))) for a in angles)),
    ]  # fmt: skip


# --- Theorem 3.8 for m >= 2: the implicit formula as printed, and on both sides of its branch -----


def printed_upper_passed(v0: float, m: int, t: float) -> Counterexample:
    """The upper bound of ma.thm3.8.2 as printed fails at phi_0 = pi/2, |w*| = 1, one norm and one
    time. With the constant F(v_0; 0) it holds (`repaired`)."""
    phi0 = 0.5 * np.pi
    u = setting.implicit_printed([t], phi0, v0, 1.0, m, 1.0)[0]
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


def printed_upper_tried(right: Report, v0: float, m: int) -> list[Evidence]:
    """Beside the upper bound as printed: the bounds with the right constant, and u(0; 0)."""
    start = setting.implicit_printed([0.0], 0.5 * np.pi, v0, 1.0, m, 1.0)[0]
    return [
        note("with the constant F(v₀; 0): starts that break either bound, and tried",
             (sum(right.violations.values()), right.tried)),
        note("u(0; 0) as printed for the counterexample's start, v_0 = 1/2", float(start)),
    ]  # fmt: skip


def repaired(layers: Sequence[int]) -> list[Evidence]:
    """ma.ours.implicit: Theorem 3.8 on both sides of the branch, by ODE; `layered` has flows."""
    times, starts, a, by_ode = (0.05, 0.5, 5.0), (0.2, 0.8, 1.3, 4.0), 0.9, []

    def rate(_: float, x: NDArray, m: int) -> NDArray:
        return -0.5 * x**m * (x ** (m + 1) - a ** (m + 1))

    for m, y0 in product(layers, starts):
        path = solve_ivp(rate, (0.0, times[-1]), [a * y0], "DOP853", times, args=(m,), rtol=1e-12,
                         atol=1e-14).y[0]  # fmt: skip
        by_ode.append(np.abs(balanced_chain(times, a * y0, a, m) / path - 1.0).max())
    return [
        deviation("u(t) from the integrated (15), sign corrected", float(max(by_ode)), "relative"),
        note("m, and v_0 as a multiple of the rest point", (tuple(layers), starts), "", None),
    ]  # fmt: skip


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
