"""When the bounds of Theorems 3.4 and 3.9 on the angle begin to say more than phi_0 < phi < pi."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.interpolate import CubicHermiteSpline

from reluflow.approx import on_grain
from reluflow.flows.half_angles import log_tan
from reluflow.flows.population import PopulationPath
from reluflow.papers.lee2023magnitude.bounds import angle_rates
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
