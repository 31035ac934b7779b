"""Theorems 3.2 and 3.7: the flow comes to w* from every start off the edge phi_0 = 0, and how fast.

Instances are starts, see `Start`; psi = log tan(phi/2) and rho = log(|w|/|w*|).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance, Statement, falsify
from reluflow.flows.orbit import orbits
from reluflow.flows.population import PopulationPath
from reluflow.ledger import Evidence, deviation, note
from reluflow.papers.lee2023magnitude.starts import Start, drawn

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


# --- The edge, and the last approach --------------------------------------------------------------
