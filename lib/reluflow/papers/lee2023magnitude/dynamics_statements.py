"""Theorems 3.2 and 3.7, eq. (11) and what we add to them, as statements for `falsify`.

An instance is a start "start" (2,) = (psi_0, rho_0), where psi = log tan(phi/2) and
rho = log(|w|/|w*|), the depth "m" () (factors besides w), and what else a statement names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance, Statement
from reluflow.flows.orbit import orbits
from reluflow.flows.population import PopulationPath, population_flow, pull
from reluflow.papers.lee2023magnitude.dynamics import quadrature_gradient
from reluflow.papers.lee2023magnitude.phases import (
    FALLING,
    RISING,
    TURNING,
    nullcline,
    phases,
    threshold_norm,
)
from reluflow.papers.lee2023magnitude.times import time_to_angle

REACHED = 1e-6
"""A flow has come to w* when |w - w*| is below this share of |w*|."""

PATIENCE = 1e10
"""A flow that waits longer before it moves cannot be integrated in time."""

_AFTER = np.array([12.0, 26.0])
"""Further times s, past the orbit's end, by which the error has shrunk by e^-13."""

_APART = 0.5
"""Rises of psi are measured between points at least this far apart."""


def starts(
    layers: Sequence[int], psi: tuple[float, float] = (-2.0, 2.0), edge: float = 12.0
) -> Mapping[str, Draw]:
    """Starts of every kind that might be special: moderate ones, phi_0 near 0 and near pi, tiny and
    huge norms, and both at once. `edge` is the largest |psi_0| and |rho_0|."""
    low, high = (-edge, psi[0]), (psi[1], edge)
    kinds = {
        "moderate": (psi, (-1.0, 1.0)),
        "phi0 near 0": (low, (-1.0, 1.0)),
        "phi0 near pi": (high, (-1.0, 1.0)),
        "tiny norm": (psi, (-edge, -3.0)),
        "huge norm": (psi, (3.0, edge)),
        "phi0 near 0, tiny norm": (low, (-edge, -3.0)),
        "phi0 near 0, huge norm": (low, (3.0, edge)),
        "phi0 near pi, huge norm": (high, (3.0, edge)),
    }
    return {name: _drawn(layers, *ranges) for name, ranges in kinds.items()}


def _drawn(layers: Sequence[int], psi: tuple[float, float], rho: tuple[float, float]) -> Draw:
    def draw(rng: np.random.Generator) -> Instance:
        start = np.array([rng.uniform(*psi), rng.uniform(*rho)])
        return {"start": start, "m": np.array(rng.choice(layers))}

    return draw


def angle_of(item: Instance) -> float:
    """phi_0 of an instance."""
    return 2.0 * math.atan(math.exp(float(item["start"][0])))


def distance_to_teacher(path: PopulationPath) -> NDArray:
    """|w - w*| / |w*| along a path, shape (k,)."""
    around = 2.0 * np.exp(0.5 * path.rho) * np.sin(0.5 * path.theta)
    return np.hypot(np.expm1(path.rho), around)


def deviation_from_orbit(item: Instance) -> tuple[PopulationPath, float]:
    """The integrated flow at points of the orbit and later, and its largest distance from the
    orbit, in psi and in rho.

    The distance is divided by 1 + s (v/v*)^(m-1): where a flow waits long before it moves, the
    rounding of the time s itself moves its state by that many units in the last place.
    """
    (psi0, rho0), m = item["start"], int(item["m"])
    orbit = orbits(psi0, rho0, m)
    steps = np.floor((orbit.psi[0] - psi0) / _APART)
    kept = np.concatenate([[True], steps[1:] >= steps[:-1] + 1.0])
    s, psi, rho = orbit.s[0, kept], orbit.psi[0, kept], orbit.rho[0, kept]
    path = population_flow(psi0, rho0, m, np.concatenate([s, s[-1] + _AFTER]))
    gap = np.hypot(path.psi[: len(s)] - psi, path.rho[: len(s)] - rho)
    return path, float(np.max(gap / (1.0 + s * np.exp((m - 1) * rho))))


def converges(layers: Sequence[int], seen: list[float] | None = None) -> Statement:
    """Theorems 3.2 (layers = [0]) and 3.7: phi strictly increases to pi, and w goes to w*.

    The slack is the smaller of 1 - |w - w*| / (REACHED |w*|) at the last time and of the smallest
    rise of psi between the times at which the flow is seen. `seen` collects the integrated flow's
    distances from the orbits' quadrature.
    """

    def slack(item: Instance) -> float:
        path, gap = deviation_from_orbit(item)
        if seen is not None:
            seen.append(gap)
        left = distance_to_teacher(path)[-1]
        return float(min(np.diff(path.psi).min(), 1.0 - left / REACHED))

    return Statement(
        says="phi strictly increases to π and w goes to w*",
        draws=starts(layers),
        slack=slack,
        hypotheses={
            "0 < phi0 < pi": lambda item: 0.0 < angle_of(item) < math.pi,
            "|w0| > 0": lambda item: math.exp(item["start"][1]) > 0.0,
            f"the flow arrives by s = {PATIENCE:g}, where floats still tell times apart": (
                lambda item: float(orbits(*item["start"], int(item["m"])).s[0, -1]) < PATIENCE
            ),
        },
        strict=True,
        fixed=("m",),
    )


def falls_above_nullcline() -> Statement:
    """Eq. (11), its first line: dv/dt < 0 if and only if v > v* (1 - eps)^(1/(m+1)).

    The sign of dv/dt is that of the loss's own gradient by quadrature, in all parameters. Starts on
    the nullcline to within 1e-6 are left out: rounding decides their sign.
    """

    def slack(item: Instance) -> float:
        phi, m = angle_of(item), int(item["m"])
        v = math.exp(float(item["start"][1]))
        w = v * np.array([math.sin(phi), -math.cos(phi)])
        slope, slopes = quadrature_gradient(w, [0.0, 1.0], np.full(m, v), np.ones(m))
        rates = np.array([-float(slope @ w) / v, *(-slopes)])
        above = v > float(nullcline(phi, m))
        return 1.0 if np.all((rates < 0.0) == above) else -1.0

    def off(item: Instance) -> bool:
        ratio = float(nullcline(angle_of(item), int(item["m"]))) * math.exp(-item["start"][1])
        return abs(ratio - 1.0) > 1e-6

    return Statement(
        says="|w| and all v_k fall exactly where v > v* (1 - ε)^(1/(m+1))",
        draws={"near the nullcline": _beside(range(6)), **starts(range(6), edge=3.5)},
        slack=slack,
        hypotheses={"off the nullcline by more than 1e-6": off},
        fixed=("m",),
    )


def _beside(layers: Sequence[int]) -> Draw:
    """Starts off the nullcline by a relative 1e-6 to 0.1, to either side."""

    def draw(rng: np.random.Generator) -> Instance:
        psi, m = rng.uniform(-2.0, 2.0), int(rng.choice(layers))
        rho = math.log(float(nullcline(2.0 * math.atan(math.exp(psi)), m)))
        rho += rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-5.9, -1.0)
        return {"start": np.array([psi, rho]), "m": np.array(m)}

    return draw


def nearly_monotone(layers: Sequence[int]) -> Statement:
    """The text after eq. (11), as it can be meant: of its fall and its rise, |w(t)| makes one by
    less than |w*| (1 - (1 - eps_0)^(1/(m+1))), which tends to 0 as m grows; m >= 1."""

    def slack(item: Instance) -> float:
        m, found = int(item["m"]), phases(*item["start"], int(item["m"]))
        if found.kind != TURNING:
            return math.inf
        part = min(math.exp(item["start"][1]), 1.0) - found.least
        return 1.0 - float(nullcline(angle_of(item), m)) - part

    return Statement(
        says="|w| is monotone but for less than 1 - (1 - ε0)^(1/(m+1)) of |w*|",
        draws=_followed(layers),
        slack=slack,
        strict=True,
        fixed=("m",),
    )


def monotone(layers: Sequence[int]) -> Statement:
    """Eq. (11)'s text: |w(t)| is monotone, regardless of the start."""

    def slack(item: Instance) -> float:
        return -phases(*item["start"], int(item["m"])).dip

    return Statement(
        says="|w(t)| is monotone",
        draws=_followed(layers),
        slack=slack,
        fixed=("m",),
    )


def two_phases(layers: Sequence[int]) -> Statement:
    """For m >= 1: v only rises if v_0 <= v* (1 - eps_0)^(1/(m+1)), else it falls once and rises."""

    def slack(item: Instance) -> float:
        m = int(item["m"])
        found = phases(*item["start"], m)
        rising = math.exp(item["start"][1]) <= float(nullcline(angle_of(item), m))
        right = found.flips <= 1 and found.kind == (RISING if rising else TURNING)
        return 1.0 if right else -1.0

    return Statement(
        says="|w| only rises, or falls once and then rises",
        draws={"near the nullcline": _beside(layers), **_followed(layers)},
        slack=slack,
        fixed=("m",),
    )


def threshold() -> Statement:
    """For m = 0: |w| falls for ever if and only if |w_0| / |w*| >= `threshold_norm`."""

    def slack(item: Instance) -> float:
        found = phases(*item["start"], 0)
        r, limit = math.exp(item["start"][1]), float(threshold_norm(angle_of(item)))
        expected = FALLING if r >= limit else TURNING
        if r <= float(nullcline(angle_of(item), 0)):
            expected = RISING
        return 1.0 if found.flips <= 1 and found.kind == expected else -1.0

    def near(side: float) -> Draw:
        def draw(rng: np.random.Generator) -> Instance:
            phi = rng.uniform(math.pi - math.atan(math.pi) + 0.01, 3.0)
            rho = math.log(float(threshold_norm(phi)))
            rho += side * 10.0 ** rng.uniform(-5.0, -1.0)
            psi = math.log(math.tan(0.5 * phi))
            return {"start": np.array([psi, rho]), "m": np.array(0)}

        return draw

    def told(item: Instance) -> bool:
        ratio = math.exp(item["start"][1]) / float(threshold_norm(angle_of(item)))
        return abs(ratio - 1.0) > 1e-6

    return Statement(
        says="one layer: |w| falls for ever exactly beyond the threshold norm",
        draws={"just below": near(-1.0), "just above": near(1.0), **_followed([0])},
        slack=slack,
        hypotheses={"off the threshold by more than 1e-6": told},
        fixed=("m",),
    )


def always_turns(layers: Sequence[int]) -> Statement:
    """Section 5.2's conjecture: from |w_0| > 2 |w*| the magnitude falls, and then rises."""
    psi, rho = (-3.5, 3.0), (math.log(2.0) + 1e-9, 6.0)
    return Statement(
        says="from |w0| > 2 |w*| the magnitude falls and then rises",
        draws={"any angle": _drawn(layers, psi, rho)},
        slack=lambda item: 1.0 if phases(*item["start"], int(item["m"])).kind == TURNING else -1.0,
        hypotheses={"|w0| > 2 |w*|": lambda item: item["start"][1] > math.log(2.0)},
        fixed=("m",),
    )


def dip_bound(layers: Sequence[int]) -> Statement:
    """From |w_0| >= |w*|, m >= 1: v falls below v*, but not below v* (1 - eps_0)^(1/(m+1))."""

    def slack(item: Instance) -> float:
        m, phi = int(item["m"]), angle_of(item)
        found = phases(*item["start"], m)
        if found.kind != TURNING:
            return -1.0
        below = float(pull(2.0 * math.atan(math.exp(-found.psi))))  # 0 only at the teacher
        return min(below, found.least - float(nullcline(phi, m)))

    return Statement(
        says="from |w0| >= |w*| the magnitude dips below |w*|, by no more than (11) allows",
        draws=_followed(layers),
        slack=slack,
        hypotheses={
            "|w0| >= |w*|": lambda item: item["start"][1] >= 0.0,
            "phi0 at least 0.1 from pi": lambda item: item["start"][0] <= 3.0,
        },
        strict=True,
        fixed=("m",),
    )


def _followed(layers: Sequence[int]) -> Mapping[str, Draw]:
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
    return {name: _drawn(layers, *ranges) for name, ranges in kinds.items()}


def order_of_times(layers: Sequence[int], sign: float) -> Statement:
    """The larger of two starts at one angle reaches every later angle first (sign = 1) or last
    (sign = -1). The slack is the relative difference of the two times."""

    def ratios(items: Sequence[Instance]) -> NDArray:
        psi0, small, psi1, grow = np.transpose([item["passage"] for item in items])
        m = np.array([int(item["m"]) for item in items])
        slow = time_to_angle(psi0, small, m, psi0 + psi1)
        fast = time_to_angle(psi0, small + grow, m, psi0 + psi1)
        return sign * (slow - fast) / np.maximum(slow, fast)

    return Statement(
        says="to every angle, the larger start is " + ("faster" if sign > 0 else "slower"),
        draws=_passages(layers),
        slack=lambda item: float(ratios([item])[0]),
        batch=ratios,
        strict=True,
        hypotheses=_ORDERED,
        fixed=("m",),
    )


def equal_times() -> Statement:
    """For m = 1 the time to every angle is the same for all norms; to 1e-9 of it."""

    def gap(items: Sequence[Instance]) -> NDArray:
        psi0, small, psi1, grow = np.transpose([item["passage"] for item in items])
        first = time_to_angle(psi0, small, 1, psi0 + psi1)
        return -np.abs(time_to_angle(psi0, small + grow, 1, psi0 + psi1) / first - 1.0)

    return Statement(
        says="to every angle, all norms take the same time",
        draws=_passages([1]),
        slack=lambda item: float(gap([item])[0]),
        batch=gap,
        tolerance=1e-9,
        hypotheses=_ORDERED,
        fixed=("m",),
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
