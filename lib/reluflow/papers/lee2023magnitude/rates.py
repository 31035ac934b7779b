"""The page `rates`: convergence, Theorems 3.2 and 3.7, phases and times, and Proposition 3.5."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import on_grain, upwards
from reluflow.errors import InputError
from reluflow.falsify import Draw, Instance, Report, Statement, falsify, given, survey, survived
from reluflow.ledger import Counterexample, Evidence, Reading, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude.chains import (
    ChainPath,
    chain_flow,
    chain_gradient,
    chain_output,
    chain_population_gradient,
    neuron_descent,
    time_scale,
)
from reluflow.papers.lee2023magnitude.laws import upper_tail
from reluflow.papers.lee2023magnitude.population import (
    FALLING,
    RISING,
    TURNING,
    Phases,
    PopulationPath,
    angle,
    dip_from_teacher_norm,
    log_tan,
    nullcline,
    orbits,
    phases,
    quadrature_gradient,
    shortfall,
    threshold_norm,
    time_to_angle,
    time_to_loss,
)
from reluflow.papers.lee2023magnitude.setting import Start, drawn, one_layer_length

# --- Theorems 3.2 and 3.7: the flow comes to w* from every start off the edge phi_0 = 0, and
# how fast -----------------------------------------------------------------------------------------
#
# Instances are starts, see `Start`; psi = log tan(phi/2) and rho = log(|w|/|w*|).


REACHED = 1e-6
"""A flow has come to w* when |w - w*| is below this share of |w*|."""

PATIENCE = 1e10
"""A flow that waits longer before it moves cannot be integrated in time."""

_AFTER = np.array([12.0, 26.0])
"""Further times s, past the orbit's end, by which the error has shrunk by e^-13."""

_APART = 0.5
"""Rises of psi are measured between points at least this far apart."""


def starts(layers: Sequence[int], edge: float = 12.0) -> dict[str, Draw]:
    """Starts of every kind that might be special: moderate ones, phi_0 near 0 and near pi, tiny and
    huge norms, and both at once. `edge` is the largest |psi_0| and |rho_0|."""
    middle, low, high = (-2.0, 2.0), (-edge, -2.0), (2.0, edge)
    moderate, tiny, huge = (-1.0, 1.0), (-edge, -3.0), (3.0, edge)
    kinds = {
        "moderate": (middle, moderate),
        "phi0 near 0": (low, moderate),
        "phi0 near pi": (high, moderate),
        "tiny norm": (middle, tiny),
        "huge norm": (middle, huge),
        "phi0 near 0, tiny norm": (low, tiny),
        "phi0 near 0, huge norm": (low, huge),
        "phi0 near pi, huge norm": (high, huge),
    }
    return drawn(layers, kinds)


def distance_to_teacher(path: PopulationPath) -> NDArray:
    """|w - w*| / |w*| along a path, shape (k,)."""
    around = 2.0 * np.exp(0.5 * path.rho) * np.sin(0.5 * path.theta)
    return np.hypot(np.expm1(path.rho), around)


def deviation_from_orbit(start: Start) -> tuple[PopulationPath, float]:
    """The integrated flow at points of the orbit and later, and its largest distance from the
    orbit, in psi and in rho.

    The distance is divided by 1 + s (v/v*)^(m-1): where a flow waits long before it moves, the
    rounding of the time s itself moves its state by that many units in the last place.
    """
    orbit = orbits(start.psi, start.rho, start.m)
    steps = np.floor((orbit.psi[0] - start.psi) / _APART)
    kept = np.concatenate([[True], steps[1:] >= steps[:-1] + 1.0])
    s, psi, rho = orbit.s[0, kept], orbit.psi[0, kept], orbit.rho[0, kept]
    path = start.flow(np.concatenate([s, s[-1] + _AFTER]))
    gap = np.hypot(path.psi[: len(s)] - psi, path.rho[: len(s)] - rho)
    return path, float(np.max(gap / (1.0 + s * np.exp((start.m - 1) * rho))))


def converges(layers: Sequence[int], gaps: list[float] | None = None) -> Statement:
    """ma.thm3.2, ma.thm3.7: phi strictly increases to pi, and w goes to w* (Theorems 3.2, one
    layer, and 3.7).

    The slack is the smaller of 1 - |w - w*| / (REACHED |w*|) at the last time and of the smallest
    rise of psi between the times at which the flow is seen. `gaps` collects the integrated flow's
    distances from the orbits' quadrature.
    """

    def slack(item: Instance) -> float:
        path, gap = deviation_from_orbit(Start.of(item))
        if gaps is not None:
            gaps.append(gap)
        left = distance_to_teacher(path)[-1]
        return float(min(np.diff(path.psi).min(), 1.0 - left / REACHED))

    def arrives(item: Instance) -> bool:
        start = Start.of(item)
        return float(orbits(start.psi, start.rho, start.m).s[0, -1]) < PATIENCE

    return Statement(
        says="phi strictly increases to π and w goes to w*",
        draws=starts(layers),
        slack=slack,
        hypotheses={
            "0 < phi0 < pi": lambda item: 0.0 < Start.of(item).phi < math.pi,
            "|w0| > 0": lambda item: Start.of(item).v > 0.0,
            f"the flow arrives by s = {PATIENCE:g}, where floats still tell times apart": arrives,
        },
        strict=True,
        fixed=("m",),
    )


def global_convergence(seed: int, count: int, layers: Sequence[int]) -> list[Evidence]:
    """`converges` on `count` starts, and the integrated flows beside the orbits."""
    gaps: list[float] = []
    report = falsify(converges(layers, gaps), seed, count, 0)
    return [
        *report.checks(),
        deviation("integrated flow against the orbit by quadrature, in psi and rho",
                  max(gaps), "(1 + s (v/v*)^(m-1))"),
        note("kinds of starts", "; ".join(starts(layers))),
        note("w* counts as reached when |w - w*| is below", REACHED, "|w*|", None),
        note("m", tuple(layers)),
        note("seed", seed),
    ]  # fmt: skip


# --- Second route: eq. (11)'s text once more, from (9)-(10) as they are printed: plain Euler
# steps, and SymPy ---------------------------------------------------------------------------------


def euler(
    phi: float, v: float, m: int, times: Sequence[float], step: float = 1e-3
) -> list[tuple[float, float]]:
    """phi and v at each of `times`, by plain Euler steps of (9)-(10) with v* = 1."""
    found: list[tuple[float, float]] = []
    steps = 0
    for t in times:
        while steps < round(t / step):
            pull = (math.sin(phi) - phi * math.cos(phi)) / math.pi
            dv = -0.5 * v**m * (v ** (m + 1) - pull)
            dphi = v ** (m - 1) * phi * math.sin(phi) / (2.0 * math.pi)
            phi, v, steps = phi + step * dphi, v + step * dv, steps + 1
        found.append((phi, v))
    return found


def rate_at_teacher_norm() -> sp.Expr:
    """dv/dt of (9) at v = v* and phi = pi/2, for every m."""
    m, v = sp.symbols("m v", positive=True)
    phi = sp.pi / 2
    share = (sp.sin(phi) - phi * sp.cos(phi)) / sp.pi
    return sp.simplify(-(v**m) * (v ** (m + 1) - v ** (m + 1) * share) / 2)


# --- Eq. (11): where the magnitude falls, and how far depth lets it fall --------------------------
#
# By (11) v = |w| falls exactly where v > v* (1 - eps)^(1/(m+1)), the nullcline. The text after it
# says that |w(t)| is monotone for large m.


DEPTHS = (1, 2, 3, 5, 10, 20)
"""The numbers m of factors besides w on which eq. (11)'s text is tried."""

DEEPER = (*DEPTHS, 50, 100)


def resting(start: Start) -> float:
    """The norm on the nullcline at a start's angle, |w*| = 1."""
    return float(nullcline(start.phi, start.m))


def beside_nullcline(layers: Sequence[int]) -> Draw:
    """Starts off the nullcline by a relative 1e-6 to 0.1, to either side."""

    def draw(rng: np.random.Generator) -> Instance:
        psi, m = rng.uniform(-2.0, 2.0), int(rng.choice(layers))
        rho = math.log(float(nullcline(angle(psi), m)))
        rho += rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-5.9, -1.0)
        return {"psi": np.array(psi), "rho": np.array(rho), "m": np.array(m)}

    return draw


def followed(layers: Sequence[int]) -> dict[str, Draw]:
    """Starts whose turn can be followed: not within 0.1 of the teacher's direction."""
    low, high = (-3.5, -2.0), (1.0, 3.0)
    kinds = {
        "moderate": ((-1.0, 1.0), (-1.0, 1.0)),
        "the teacher's norm": ((-1.0, 1.0), (0.0, 0.0)),
        "phi0 near 0": (low, (-1.0, 1.0)),
        "phi0 near pi": (high, (-0.2, 0.5)),
        "tiny norm": ((-1.0, 1.0), (-6.0, -3.0)),
        "huge norm": ((-1.0, 1.0), (3.0, 6.0)),
        "phi0 near pi, huge norm": (high, (3.0, 6.0)),
    }
    return drawn(layers, kinds)


# --- Statements -----------------------------------------------------------------------------------


def falls_above_nullcline() -> Statement:
    """ma.eq11.1: dv/dt < 0 if and only if v > v* (1 - eps)^(1/(m+1)) (eq. (11), its first line).

    The sign of dv/dt is that of the loss's own gradient by quadrature, in all parameters. Starts on
    the nullcline to within 1e-6 are left out: rounding decides their sign.
    """

    def slack(item: Instance) -> float:
        start = Start.of(item)
        m, v = start.m, start.v
        w = v * np.array([math.sin(start.phi), -math.cos(start.phi)])
        slope, slopes = quadrature_gradient(w, [0.0, 1.0], np.full(m, v), np.ones(m))
        rates = np.array([-float(slope @ w) / v, *(-slopes)])
        return 1.0 if np.all((rates < 0.0) == (v > resting(start))) else -1.0

    def off(item: Instance) -> bool:
        start = Start.of(item)
        return abs(resting(start) / start.v - 1.0) > 1e-6

    return Statement(
        says="|w| and all v_k fall exactly where v > v* (1 - ε)^(1/(m+1))",
        draws={"near the nullcline": beside_nullcline(range(6)), **starts(range(6), edge=3.5)},
        slack=slack,
        hypotheses={"off the nullcline by more than 1e-6": off},
        fixed=("m",),
    )


def about_phases(
    says: str,
    draws: Mapping[str, Draw],
    slack: Callable[[Phases, Start], float],
    hypotheses: Mapping[str, Callable[[Instance], bool]] | None = None,
    strict: bool = False,
) -> Statement:
    """A statement whose slack is a function of a start and of how |w(t)| moves from it."""

    def of(item: Instance) -> float:
        start = Start.of(item)
        try:
            found = phases(start.psi, start.rho, start.m)
        except InputError:
            return math.nan  # a turn so late that floats do not follow the flow to it
        return slack(found, start)

    return Statement(says, draws, of, hypotheses or {}, strict, fixed=("m",))


def monotone(layers: Sequence[int]) -> Statement:
    """ma.eq11.2: |w(t)| is monotone, regardless of the start (eq. (11)'s text)."""
    return about_phases("|w(t)| is monotone", followed(layers), lambda found, *_: -found.dip)


def nearly_monotone(layers: Sequence[int]) -> Statement:
    """ma.eq11.3: of its fall and its rise, |w(t)| makes one by less than
    |w*| (1 - (1 - eps_0)^(1/(m+1))), which tends to 0 as m grows; m >= 1 (the text after eq. (11),
    as it can be meant)."""

    def slack(found: Phases, start: Start) -> float:
        part = min(start.v, 1.0) - found.least if found.kind == TURNING else -math.inf
        return 1.0 - resting(start) - part

    says = "|w| is monotone but for less than 1 - (1 - ε0)^(1/(m+1)) of |w*|"
    return about_phases(says, followed(layers), slack, strict=True)


# --- Cases ----------------------------------------------------------------------------------------


def falls_from_teacher_norm() -> Counterexample:
    """From |w_0| = |w*| at a right angle |w| falls first, at every depth."""
    m, right, size = 10, 0.5 * math.pi, 1
    (_, early), (_, late) = euler(right, size, m, (0.25, 20.0))
    return Counterexample(
        instance={"m": m, "φ0": "π/2", "|w0| = v_1 = ... = v_m": size, "|w*| = v_k*": 1},
        assumptions={"0 < φ0 < π": 0.0 < right < math.pi, "w0 not 0": size > 0.0,
                     "balanced": "|w0| is each v_k, too",
                     "m is large (the recheck is for every m)": m >= 10},
        breaks=(
            bound("depth to which |w| falls below |w0| = |w*|, its limit",
                  dip_from_teacher_norm(right, m).dip, "<=", 0, "|w*|"),
        ),
        recheck=(
            fact("a plain Euler loop sees |w| fall until t = 1/4 and rise later",
                 early < 1.0 and late > early, False),
            fact("dv/dt < 0 though v is not above v*: v = v*, φ = π/2, every m (SymPy)",
                 bool(rate_at_teacher_norm().is_negative), False),
        ),
        route="plain Euler steps of (9)-(10), and the sign of dv/dt for all m by SymPy",
    )  # fmt: skip


def monotone_tried(seed: int, count: int) -> list[Evidence]:
    """What becomes of `monotone`, and which kinds of starts break it."""
    report = falsify(monotone(DEPTHS), seed, count, 0)
    return [
        *survived(report),
        note("m", DEPTHS),
        note("kinds of starts that break it", ", ".join(report.violations)),
    ]


def tendency(seed: int, count: int) -> list[Evidence]:
    """What becomes of `nearly_monotone`, and how a dip shrinks with depth."""
    dips = [dip_from_teacher_norm(0.5 * math.pi, m).dip for m in (10, 100)]
    return [
        *survived(falsify(nearly_monotone(DEEPER), seed, count, 0)),
        bound("dip from |w0| = |w*|, φ0 = π/2: that of m = 100 over that of m = 10",
              dips[1] / dips[0], "<", 0.2, ""),
        note("m", DEEPER),
    ]  # fmt: skip


TENDENCY = Reading(
    taken="the shorter one of the two parts of its way, the falling and the rising one, tends "
    "to 0 as m grows",
    others="as an exact statement it is false for every m; and from |w_0| = |w*| the fall of the "
    "network's output scale v_1...v_m |w| grows with m",
)


# --- Depth ----------------------------------------------------------------------------------------


def dips(phi0: float, depths: Sequence[int]) -> pd.DataFrame:
    """From |w_0| = |w*|: the largest fall of |w|, its bound, and the fall of the output's scale."""
    eps = float(shortfall(math.pi - phi0))

    def at(m: int) -> dict[str, object]:
        found = dip_from_teacher_norm(phi0, m)
        return {
            "m": m,
            "|w| falls by": f"{on_grain(100 * found.dip, 0.01)} %",
            "at most": f"{on_grain(-100 * math.expm1(math.log1p(-eps) / (m + 1)), 0.01)} %",
            "v_1...v_m|w| falls by": f"{on_grain(100 * (1.0 - found.least ** (m + 1)), 0.01)} %",
            "at φ": f"{on_grain(math.degrees(angle(found.psi)), 0.1)}°",
        }

    return survey(depths, at).set_index("m")


# --- The scale of the start (Section 3.2): how long the flow takes to an angle and to a loss ------
#
# Times are s = |w*|^(2m) t; psi = log tan(phi/2), rho = log(|w|/|w*|), and losses are in units of
# |w*|^(2(m+1)). A larger start is slower for m = 0, as fast for m = 1 and faster for m >= 2, to
# every angle.


RIGHT, NEAR = 0.0, float(log_tan(0.75 * math.pi))
"""psi_0 at a right angle to w*, and at 45 degrees from it."""


def late_error(phi0: ArrayLike, r: ArrayLike) -> NDArray:
    """lim e^(t/2) |w(t) - w*| / |w*| of a one-layer neuron; L = 1/4 |w - w*|^2 there.

    With a = r sin(phi_0)/phi_0 the closed form of (6)-(7) gives

        K^2 = (pi a)^2 + (1 + a (1 + pi cot phi_0))^2.

    Parameters: phi0 (...) in (0, pi), r = |w_0|/|w*| >= 0 (...).
    """
    phi0 = np.asarray(phi0, float)
    a = np.asarray(r, float) * np.sin(phi0) / phi0
    return np.hypot(np.pi * a, 1.0 + a * (1.0 + np.pi / np.tan(phi0)))


def best_norm(phi0: ArrayLike) -> NDArray:
    """|w_0|/|w*| of least `late_error`: 0 unless angle(w_0, w*) = pi - phi_0 < arctan(pi).

    Parameters: phi0 (...) in (0, pi).
    """
    phi0 = np.asarray(phi0, float)
    b = 1.0 + np.pi / np.tan(phi0)
    return np.maximum(-b, 0.0) / (np.pi**2 + b**2) * phi0 / np.sin(phi0)


# --- The order of the times -----------------------------------------------------------------------


def order_of_times(layers: Sequence[int], sign: float) -> Statement:
    """The larger of two starts at one angle reaches every later angle first (sign = 1) or last
    (sign = -1). The slack is the relative difference of the two times."""

    def ratios(small: NDArray, large: NDArray) -> NDArray:
        return sign * (small - large) / np.maximum(small, large)

    says = "to every angle, the larger start is " + ("faster" if sign > 0 else "slower")
    return _of_times(says, layers, ratios, strict=True)


def equal_times() -> Statement:
    """For m = 1 the time to every angle is the same for all norms; to 1e-9 of it."""
    says = "to every angle, all norms take the same time"
    return _of_times(says, [1], lambda a, b: -np.abs(b / a - 1.0), tolerance=1e-9)


def _of_times(
    says: str, layers: Sequence[int], slack: Callable[[NDArray, NDArray], NDArray], **more: Any
) -> Statement:
    """A statement on the times (k,) that a smaller and a larger start take to one angle."""

    def slacks(items: Sequence[Instance]) -> NDArray:
        psi0, small, psi1, grow = np.transpose([item["passage"] for item in items])
        m = np.array([int(item["m"]) for item in items])
        return slack(*(time_to_angle(psi0, rho0, m, psi0 + psi1) for rho0 in (small, small + grow)))

    return Statement(
        says=says,
        draws=_passages(layers),
        slack=lambda item: float(slacks([item])[0]),
        batch=slacks,
        hypotheses=_ORDERED,
        fixed=("m",),
        **more,
    )


_ORDERED: Mapping[str, Callable[[Instance], bool]] = {
    "the second start is larger, the angle is later": lambda item: bool(
        item["passage"][2] > 0.01 and item["passage"][3] > 0.01
    ),
    "angles and norms at which rounding does not hide the order": lambda item: bool(
        abs(item["passage"][0]) < 4.0
        and item["passage"][2] < 8.0
        and -8.0 < item["passage"][1] < 3.0 - item["passage"][3]
    ),
}


def _passages(layers: Sequence[int]) -> Mapping[str, Draw]:
    """Passages "passage" (4,): psi_0, the smaller rho_0, how far psi goes, how much rho_0 grows."""

    def drawn(rho: tuple[float, float]) -> Draw:
        def draw(rng: np.random.Generator) -> Instance:
            passage = [rng.uniform(-3.0, 3.0), rng.uniform(*rho)]
            passage += [rng.uniform(0.05, 5.0), 10.0 ** rng.uniform(-1.5, 0.1)]
            return {"passage": np.array(passage), "m": np.array(rng.choice(layers))}

        return draw

    return {
        "small": drawn((-6.0, -3.0)),
        "moderate": drawn((-1.0, 1.0)),
        "large": drawn((0.5, 1.5)),
    }


def try_orders(seed: int, count: int) -> Mapping[str, Report]:
    """Whether the larger of two starts at an angle is slower, as fast or faster to later ones."""
    statements = {
        "m = 0": order_of_times([0], -1.0),
        "m = 1": equal_times(),
        "m = 2, 3, 4": order_of_times([2, 3, 4], 1.0),
    }
    return {name: falsify(one, seed, count, count) for name, one in statements.items()}


# --- Powers of the norm ---------------------------------------------------------------------------

SMALL = np.array([1e-4, 1e-3])
"""Sizes |w_0|/|w*| between which powers are measured."""


def slopes(sizes: ArrayLike, times: ArrayLike) -> NDArray:
    """d log(time) / d log(size) between neighbours. Parameters: two (k,). Returns (k - 1,)."""
    return np.diff(np.log(times)) / np.diff(np.log(sizes))


def _angle_exponents(m: int) -> NDArray:
    """d log(time to an angle) / d log|w_0| for three passages; the last one ends at 0.95 pi."""
    passages = np.pi * np.array([[0.25, 0.5], [0.5, 0.75], [0.75, 0.95]])
    return np.array([slopes(SMALL, time_to_angle(log_tan(a), np.log(SMALL), m, log_tan(b)))
                     for a, b in passages])  # fmt: skip


def _loss_exponents(layers: Sequence[int], loss: str) -> list[Evidence]:
    """d log(time to `loss`, a loss of 1e-4) / d log|w_0| from a right angle, against 1 - m."""
    found = {m: slopes(SMALL, time_to_loss(RIGHT, np.log(SMALL), m, 1e-4))[0] for m in layers}
    return [
        deviation(f"m = {m}: exponent of |w0| in the time to {loss}, against {1 - m}",
                  upwards(abs(power - (1 - m))), "", digits=2)
        for m, power in found.items()
    ]  # fmt: skip


def initial_scale(orders: Mapping[str, Report], layers: Sequence[int]) -> list[Evidence]:
    """ma.text.scale.1, ma.text.scale.2, ma.text.scale.3: small starts turn faster (layers m = 0),
    slower (m >= 2), which for m >= 2 is said of the loss as well, or as fast (1) (Section 3.2)."""
    report = orders[name := "m = " + ", ".join(map(str, layers))]
    return [
        *(deviation(f"m = {m}: exponent of |w0| in the time to an angle, against {1 - m}",
                    upwards(float(np.abs(_angle_exponents(m) - (1 - m)).max())), "", digits=2)
          for m in layers),
        *_loss_exponents([m for m in layers if m in (2, 3)], "a small loss"),
        *report.checks(f"{name}: {report.says}"),
        note("sizes |w0|, in |w*|, of the exponents", "0.0001 and 0.001"),
        note("seed", report.seed),
    ]  # fmt: skip


def speed() -> Reading:
    """What "faster" means, and what small starts gain in the other meaning."""
    gain = float(-np.diff(time_to_loss(RIGHT, np.log([1.0, 1e-4]), 0, 1e-6))[0])
    return Reading(
        taken="speed is the time to a fixed angle, as the argument from dφ/dt says; small "
        "means |w0|/|w*| = 1e-4 to 1e-3 for the exponents, and any size for the order",
        others="if speed is the time to a small loss, one layer gains a constant, no power "
        f"of |w0|: from φ0 = π/2 a start at 1e-4 |w*| is {gain:.2f} units of time ahead of one "
        "at |w*|, and from angle(w0, w*) below arctan π = 72.3 degrees a moderate norm is best",
    )


# --- The two phases of |w(t)|: from where it falls before it rises, and from where it falls
# for ever -----------------------------------------------------------------------------------------
#
# Instances are starts, see `Start`.


# --- Statements -----------------------------------------------------------------------------------


def far(layers: Sequence[int]) -> dict[str, Draw]:
    """Starts near both ends of the angle, with tiny and huge norms."""
    return drawn(layers, {"anywhere": ((-12.0, 10.0), (-12.0, 12.0))})


def two_phases(layers: Sequence[int]) -> Statement:
    """ma.ours.phases: for m >= 1, v only rises if v_0 <= v* (1 - eps_0)^(1/(m+1)), else it falls
    once and rises."""

    def slack(found: Phases, start: Start) -> float:
        expected = RISING if start.v <= resting(start) else TURNING
        return 1.0 if found.flips <= 1 and found.kind == expected else -1.0

    return about_phases(
        "|w| only rises, or falls once and then rises",
        {"near the nullcline": beside_nullcline(layers), **followed(layers), **far(layers)},
        slack,
        given(
            "ma.ours.phases",
            flow=lambda item: int(item["m"]) >= 1,
            start=lambda item: Start.of(item).phi > 0.0 and Start.of(item).theta > 0.0,
        ),
    )


def threshold() -> Statement:
    """ma.ours.threshold: for m = 0, |w| falls for ever if and only if |w_0| / |w*| is at least
    `threshold_norm`."""

    def slack(found: Phases, start: Start) -> float:
        if abs(start.v / float(threshold_norm(start.phi)) - 1.0) <= 1e-6:
            return math.nan  # rounding would decide
        expected = FALLING if start.v >= float(threshold_norm(start.phi)) else TURNING
        if start.v <= resting(start):
            expected = RISING
        return 1.0 if found.flips <= 1 and found.kind == expected else -1.0

    def near(side: float) -> Draw:
        def draw(rng: np.random.Generator) -> Instance:
            phi = rng.uniform(math.pi - math.atan(math.pi) + 0.01, 3.0)
            rho = math.log(float(threshold_norm(phi)))
            rho += side * 10.0 ** rng.uniform(-5.0, -1.0)
            return {"psi": log_tan(phi), "rho": np.array(rho), "m": np.array(0)}

        return draw

    return about_phases(
        "one layer: |w| falls for ever exactly beyond the threshold norm",
        {"just below": near(-1.0), "just above": near(1.0), **followed([0]), **far([0])},
        slack,
        given(
            "ma.ours.threshold",
            flow=lambda item: int(item["m"]) == 0,
            start=lambda item: Start.of(item).phi > 0.0 and Start.of(item).theta > 0.0,
        ),
    )


def always_turns(layers: Sequence[int]) -> Statement:
    """ma.text.twophase.2: from |w_0| > 2 |w*| the magnitude falls, and then rises (the conjecture
    of Section 5.2)."""
    return about_phases(
        "from |w0| > 2 |w*| the magnitude falls and then rises",
        drawn(layers, {"any angle": ((-3.5, 3.0), (math.log(2.0) + 1e-9, 6.0))}),
        lambda found, *_: 1.0 if found.kind == TURNING else -1.0,
        {"|w0| > 2 |w*|": lambda item: bool(item["rho"] > math.log(2.0))},
    )


# --- Cases ----------------------------------------------------------------------------------------


def phases_of_depth(seed: int, count: int) -> list[Evidence]:
    """What becomes of `two_phases`, and integrated flows beside the orbit's phases."""
    starts = [Start(0.3, math.log(r), m) for m in (1, 2) for r in (0.5, 1.0, 3.0)]
    return [
        *survived(falsify(two_phases((*DEPTHS, 4, 8)), seed, count, 0)),
        fact("integrated flows whose turns or least |w| are other than the orbit's",
             sum(not _moves_as_told(start) for start in starts), 0),
        note("flows integrated", len(starts)),
    ]  # fmt: skip


def _moves_as_told(start: Start) -> bool:
    """Whether the integrated flow turns as often as `phases` tells, with the same least |w|."""
    told = phases(start.psi, start.rho, start.m)
    t = np.concatenate([np.linspace(0.0, 8.0, 1601), [20.0, 25.0]])
    rho = start.flow(t).rho
    signs = np.sign(np.diff(rho))
    turns = int(np.sum(signs[1:] != signs[:-1]))
    near = abs(math.exp(rho.min()) - told.least) < 1e-4
    return turns == int(told.kind != RISING) and signs[-1] > 0 and near


def falling_for_ever(seed: int, count: int) -> list[Evidence]:
    """What becomes of `threshold`, and integrated flows just beyond it and just below."""
    angles, t = (2.0, 2.5, 3.0), np.linspace(0.0, 30.0, 61)
    higher, lower = (
        [Start.at(phi, k * float(threshold_norm(phi)), 0).flow(t).rho for phi in angles]
        for k in (1.01, 0.99)
    )  # fmt: skip
    right = [phases(0.0, math.log(r), 0).kind for r in (10.0, 1e3, 1e5)]
    return [
        *survived(falsify(threshold(), seed, count, 0)),
        fact("integrated flows 1 % above the threshold that fall to the end",
             sum(bool((np.diff(rho) < 0.0).all() and rho[-1] > 0.0) for rho in higher),
             len(angles)),
        fact("integrated flows 1 % below it that end below |w*|",
             sum(bool(rho[-1] < 0.0) for rho in lower), len(angles)),
        fact("from φ0 = π/2, |w0| = 10, 1e3, 1e5 of |w*|: flows that turn",
             sum(kind == TURNING for kind in right), 3),
        note("angle(w0, w*) below which a threshold exists, arctan π",
             f"{math.degrees(math.atan(math.pi)):.2f} degrees"),
    ]  # fmt: skip


def conjecture(seed: int, count: int) -> list[Evidence]:
    """What becomes of `always_turns`, for one layer and for more."""
    shallow, deep = (falsify(always_turns(m), seed, count, 0) for m in ((0,), DEPTHS))
    near = upper_tail(math.cos(math.atan(math.pi)), 100)
    return [
        *shallow.checks(f"one layer: {shallow.says}"),
        *deep.checks(f"m >= 1: {deep.says}"),
        note("m, of the second", DEPTHS),
        note("probability that a random direction in d = 100 is so near to w* that one layer "
             "has a threshold norm at all", near, digits=2),
        note("seed", seed),
    ]  # fmt: skip


CONJECTURE = Reading(
    taken="in general means from every start with 0 < φ0 < π and |w0| > 2 |w*|",
    others="for two layers and more it is true of all of these; for one layer it is true "
    "from angle(w0, w*) >= arctan π = 72.3 degrees on, and so of nearly all random "
    "directions in high dimension",
)


def near_the_teacher() -> Counterexample:
    """From 3 |w*| at 45 degrees from w* the magnitude of one layer falls for ever."""
    phi0, large = 0.75 * math.pi, 3.0
    rho = Start.at(phi0, large, 0).flow(np.linspace(0.0, 20.0, 201)).rho
    with mpmath.workdps(30):
        exact = min(one_layer_length(phi0, large, k) for k in range(1, 21)) - 1
    return Counterexample(
        instance={"m": 0, "φ0": "3π/4", "|w0|": large, "|w*|": 1},
        assumptions={"0 < φ0 < π": 0.0 < phi0 < math.pi, "|w0| > 2 |w*|": large > 2.0},
        breaks=(
            bound("least |w(t)|/|w*| - 1, 0 <= t <= 20, of the integrated flow, which would "
                  "have to go below 0 to rise to its limit 0", float(np.expm1(rho).min()),
                  "<", 0, ""),
            fact("it rises between two of 200 times", bool(np.any(np.diff(rho) >= 0.0)), True),
        ),
        recheck=(bound("least |w(t)|/|w*| - 1 at t = 1, ..., 20, by the closed form, 30 digits",
                       float(exact), "<", 0, ""),),
        route="cot φ(t) and |w(t)| of one layer in closed form, with mpmath",
    )  # fmt: skip


# --- Second route: when the smallest factor of a chain in dimension 1 reaches 0, by mpmath's
# quadrature ---------------------------------------------------------------------------------------


def reached_zero_at(v: ArrayLike, w: float, target: float, second_moment: float) -> float:
    """When the smallest factor reaches 0 in dimension 1, by mpmath's quadrature; w, target > 0.

    The chain's loss is s/2 (w prod v + c)^2 with the target -c x for x > 0 and s = E[1{x>0} x^2].
    Then w^2 - v_k^2 and v_j^2 - v_k^2 stay what they are, so that all sizes are functions of the
    smallest one, a, and

        T = int_0^a0 da / (s (w prod v + c) w prod_(j != k) v_j).

    Parameters: v (m,) and w positive, `target` = c > 0, `second_moment` = s.
    """
    sizes = sorted([mpmath.mpf(float(a)) for a in [*np.asarray(v, float), w]])
    if sizes[0] == sizes[1]:
        return math.inf
    gaps = [a**2 - sizes[0] ** 2 for a in sizes[1:]]

    def pace(a: mpmath.mpf) -> mpmath.mpf:
        rest = mpmath.fprod(mpmath.sqrt(a**2 + gap) for gap in gaps)
        return 1 / (second_moment * (a * rest + target) * rest)

    return float(mpmath.quad(pace, [0, sizes[0] / 2, sizes[0]]))


# --- Proposition 3.5: do the factors v_2, ..., v_m of a chain of single ReLU neurons keep
# their signs? -------------------------------------------------------------------------------------
#
# s'(0) = 0 as the paper has it; nothing is supposed about the sign of what the chain is to learn.


Item = Mapping[str, NDArray]
ChainDraw = Callable[[np.random.Generator], dict[str, NDArray]]

HORIZON = 1000.0
"""Flows on data run for so many units of time of `signs.time_scale`."""

SMALLEST = ((2.0, 1.0), 3.0)
"""Factors (v_1, v_2) and w > 0 in dimension 1, taught -[x]_+: v_2 falls silent."""


def _data(kind: str) -> ChainDraw:
    """Data X, a start w0, v0 with v_1 > 0 and m = 2, 3, 4, far from balanced, and labels of a
    network with positive factors."""

    def draw(rng: np.random.Generator) -> dict[str, NDArray]:
        n, d, m = int(rng.integers(1, 8)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
        spread = 2.0 if kind == "far from balanced" else 0.7
        X = rng.normal(size=(n, d))
        if kind == "whole numbers":
            X = rng.integers(-2, 3, (n, d)).astype(float)
            X[0, 0] = 1.0
        v0 = np.exp(spread * rng.normal(size=m))
        if kind == "some v_k <= 0":
            v0[1:] *= rng.integers(-1, 2, m - 1)
        w0 = rng.normal(size=d) * math.exp(spread * rng.normal())
        target, factors = rng.normal(size=d), np.exp(0.7 * rng.normal(size=m))
        if kind == "all active":
            X, w0, target = np.abs(X[:, :1]), np.abs(w0[:1]), np.abs(target[:1])
        if kind == "opposite to the target":
            w0 = -target * np.exp(rng.normal()) + 1e-3 * rng.normal(size=d)
        return {"X": X, "w0": w0, "v0": v0, "target": target, "factors": factors}

    return draw


KINDS = (
    "plain",
    "far from balanced",
    "whole numbers",
    "all active",
    "some v_k <= 0",
    "opposite to the target",
)


def _labels(item: Item) -> NDArray:
    return chain_output(item["X"], item["target"], item["factors"])


def _slack(item: Item, y: NDArray, all_factors: bool = False) -> float:
    """The least v_k(t) / v_k(0) over the positive factors with k >= 2, where the signs are kept; -1
    where they are not; NaN where the flow could not be followed. `all_factors`: v_1 as well."""
    X, w, v = item["X"], item["w0"], item["v0"]
    horizon = HORIZON / time_scale(X, y, w, v)
    try:
        path = chain_flow(chain_gradient(X, y), w, v, horizon)
    except ArithmeticError:
        return math.nan
    share = path.smallest_share
    if all_factors:
        share = min(share, float(np.min(path.v[:, 0]) / path.v[0, 0]))
    return share if path.keeps_signs else -1.0


_STARTS = {"v_1 > 0": lambda item: bool(item["v0"][0] > 0.0)}


def positive_target() -> Statement:
    """ma.prop3.5: where a network with positive factors gives the labels, the signs are kept."""
    return Statement(
        "sample-based flows, positive target: v_2, ..., v_m keep their signs",
        {kind: _data(kind) for kind in KINDS},
        lambda item: _slack(item, _labels(item)),
        {**_STARTS, "v_1*, ..., v_m* > 0": lambda item: bool(np.all(item["factors"] > 0.0))},
        strict=True,
    )


def _planar(length: float, phi: float) -> NDArray:
    """Weights of that length at the angle pi - phi from the target (1, 0)."""
    return length * np.array([-math.cos(phi), math.sin(phi)])


def population_path(
    length: float, v: NDArray, phi: float, factor: float, horizon: float
) -> ChainPath:
    """The flow for x ~ N(0, I) and the target factor * [x_1]_+."""
    gradient = chain_population_gradient([1.0, 0.0], factor)
    return chain_flow(gradient, _planar(length, phi), v, horizon)


def population_horizon(length: float, v: NDArray, factor: float) -> float:
    at = time_scale(np.eye(2), np.full(2, abs(factor)), np.array([length, 0.0]), v)
    return 200.0 / at


def _descents_that_flip(seed: int, count: int) -> tuple[int, int]:
    """Descents of a step of a tenth of `time_scale`'s unit on drawn data: those on which some v_k
    leaves the positive numbers within 500 steps, and the number of descents."""
    rng = np.random.default_rng(seed)
    flips = total = 0
    for k in range(count):
        item = _data(KINDS[k % 3])(rng)
        y = _labels(item)
        step = 0.1 / time_scale(item["X"], y, item["w0"], item["v0"]) / len(y)
        path = neuron_descent(item["X"], y, item["w0"], step, 500, item["v0"], every=500)
        flips += bool((path.layers[:, 1:] <= 0.0).any())
        total += 1
    return flips, total


def _taught_the_opposite(seed: int, count: int) -> int:
    """Of `count` draws with all data active, those on which some v_k, k >= 2, changes its sign if
    the target's sign is turned around: what the check would see if the proposition failed."""
    rng, statement = np.random.default_rng(seed), positive_target()
    items = [_data("all active")(rng) for _ in range(count)]
    turned = [{**item, "factors": np.append(-1.0, item["factors"])} for item in items]
    return sum(statement.fails(statement.slack(item)) for item in turned)


def negative_example() -> tuple[ChainPath, float]:
    """The smallest example, its flow on the datum x = 1, y = -1, and the time by quadrature."""
    v, w = SMALLEST
    path = chain_flow(chain_gradient([[1.0]], [-1.0]), [w], v, 1.0)
    return path, reached_zero_at(v, w, 1.0, 1.0)


def sign_paths() -> tuple[ChainPath, ChainPath]:
    """The smallest example, taught -[x]_+ and [x]_+ by the one datum x = 1."""
    v, w = SMALLEST
    left, right = (chain_flow(chain_gradient([[1.0]], [y]), [w], v, 0.2) for y in (-1.0, 1.0))
    return left, right


def flows_and_descents(seed: int, count: int) -> list[Evidence]:
    """Proposition 3.5 on population flows and on descents, and whether its check can fail."""
    rng = np.random.default_rng(seed)
    lost, tried = 0, max(count // 10, 6)
    for k in range(tried):
        v, length = np.exp(rng.normal(size=2 + k % 2)), math.exp(rng.normal())
        phi = (1e-3, 1.0, 3.0)[k % 3]
        path = population_path(length, v, phi, 1.0, population_horizon(length, v, 1.0))
        lost += not path.keeps_signs
    flips, descents = _descents_that_flip(seed, count // 2)
    return [
        fact("population flows, unbalanced starts: those on which a sign changes", lost, 0),
        fact("descents of small steps on which a factor v_k, k >= 2, loses its sign", flips, 0),
        bound(
            "draws with the target's sign turned around: those noticed, of 30",
            _taught_the_opposite(seed, 30),
            ">",
            0,
            "",
        ),
        note("population flows, and descents", (tried, descents)),
    ]


def positive() -> Reading:
    """Section 3.2's assumption of a positive target, and what becomes of others."""
    negative, time = negative_example()
    (v1, v2), w = SMALLEST
    kinked = chain_gradient([[1.0]], [1.0], at_zero=1.0)(np.ones(1), np.array([1.0, 0.0]))[1]
    return Reading(
        taken="the target's factors are positive: the sentence that assumes it throughout "
        "Section 3.2 stands after the proposition",
        others="Section 2 admits a target of negative output, v_1* < 0, and for it the "
        f"proposition is false: with x = 1 and y = -1 the flow from w = {w:g}, "
        f"v = ({v1:g}, {v2:g}) has v_{negative.factor} = 0 at t = {negative.zero:.4g} "
        f"({time:.4g} by quadrature), where it stops. The convention relu'(0) = 0 matters for "
        f"v_k = 0: with relu'(0) = 1 such a factor moves, x = y = w = v_1 = 1, v_2 = 0 have "
        f"dv_2/dt = {-kinked[1]:g}.",
    )
