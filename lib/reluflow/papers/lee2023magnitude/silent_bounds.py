"""When the bounds of Theorems 3.4 and 3.9 on the angle begin to say more than phi_0 < phi < pi."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import brentq

from reluflow.approx import on_grain
from reluflow.falsify import survey
from reluflow.flows.half_angles import log_tan
from reluflow.flows.population import PopulationPath
from reluflow.ledger import Evidence, deviation, fact, note
from reluflow.papers.lee2023magnitude.bounds import angle_rates, gap_bounds
from reluflow.papers.lee2023magnitude.flow_bounds import flows, norm_range
from reluflow.papers.lee2023magnitude.starts import Start


def silent_until(phi0: float, slow: float, fast: float) -> tuple[float, float]:
    """Times until which the bounds of Theorems 3.4 and 3.9 say no more than phi_0 < phi < pi.

    With theta_0 = pi - phi_0 and the rates p, q of the theorem they are
    log(2 tan(theta_0/2) / theta_0) / p and log(cot(phi_0/2) / sqrt(3)) / q, 0 for phi_0 >= pi/3.
    """
    theta0 = np.pi - phi0
    lower = np.log(2.0 * np.tan(0.5 * theta0) / theta0) / slow
    return float(lower), max(float(-np.log(np.sqrt(3.0) * np.tan(0.5 * phi0)) / fast), 0.0)


def silence(degrees: Sequence[int], layers: Sequence[int], norm: float) -> pd.DataFrame:
    """Shares of the time in which each bound on phi says nothing new, from |w_0| = norm |w*|.

    The time is counted until the flow has come to a hundredth of its first distance from pi; r and
    R are the closest that there are.
    """
    rows: dict[str, list[str]] = {}
    for m in layers:
        starts = [Start.at(float(np.radians(a)), norm, m) for a in degrees]
        shares = [_silent_shares(*pair) for pair in zip(starts, flows(starts), strict=True)]
        for side, share in zip(("lower", "upper"), zip(*shares, strict=True), strict=True):
            rows[f"m = {m}, {side}"] = [f"{on_grain(100 * each, 1.0)} %" for each in share]
    return pd.DataFrame(rows, index=pd.Index([f"{a}°" for a in degrees], name="φ₀"))


def _silent_shares(start: Start, path: PopulationPath) -> tuple[float, float]:
    slope = 2.0 * np.pi / (path.length ** (start.m - 1) * path.phi)
    end = float(CubicHermiteSpline(path.psi, path.t, slope)(-log_tan(start.theta / 100.0)))
    rates = angle_rates(start.phi, *norm_range(start, path), start.target, start.m)
    lower, upper = silent_until(start.phi, *rates)
    return min(lower / end, 1.0), min(upper / end, 1.0)


def silent_bounds(seed: int, count: int) -> list[Evidence]:
    """ma.ours.angle.silent: when the bounds on the angle begin to speak, against roots of the
    bounds themselves."""
    rng = np.random.default_rng(seed)

    def measure(_: int) -> Mapping[str, float]:
        phi0, m = rng.uniform(0.02, 3.1), int(rng.integers(0, 4))
        r, R = 10.0 ** np.sort(rng.uniform(-1.0, 1.0, 2))
        within = (float(r), float(R), 10.0 ** rng.uniform(-1.0, 1.0), m)
        slow, fast = angle_rates(phi0, *within)
        theta0, psi0 = np.pi - phi0, float(log_tan(phi0))

        def gap(t: float, side: int) -> float:
            return float(gap_bounds(t, psi0, *within)[side])

        lower, upper = silent_until(phi0, slow, fast)
        found = brentq(lambda t: theta0 - gap(t, 1), 0.0, 1e3 / slow, xtol=1e-14)
        apart = abs(found - lower) * slow
        if upper > 0.0:
            found = brentq(lambda t: gap(t, 0), 0.0, upper + 1.0 / fast, xtol=1e-14)
            apart = max(apart, abs(found - upper) * fast)
        early = (gap(0.0, 0) > 0.0) != (phi0 > np.pi / 3.0)
        return {"apart": apart, "early": early, "late": lower <= 0.0}

    found = survey(range(count), measure)
    return [
        deviation("times from roots of the bounds, in units of 1/p and 1/q",
                  float(found.apart.max()), ""),
        fact("starts whose upper bound speaks from t = 0 on although φ₀ < π/3, or does not "
             "although φ₀ > π/3", int(found.early.sum()), 0),
        fact("starts whose lower bound speaks from t = 0 on", int(found.late.sum()), 0),
        note("bounds tried", count),
        note("seed", seed),
    ]  # fmt: skip
