"""The constants of data, and of a start ever nearer to what (A2) forbids, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.papers.min2024early.constants import (
    StartConstants,
    alignment_time,
    cap,
    centres,
    clearance,
    data_constants,
    log_eps_allowed,
    needed_zeta,
    printed_zeta,
)


def of_data(named: Mapping[str, tuple[NDArray, NDArray]]) -> pd.DataFrame:
    """mu, xi = mu^2 and the largest zeta of either cone, for each named (X, y)."""
    rows = []
    for name, (X, y) in named.items():
        data = data_constants(X, y)
        own = [cap(X, y, sign) for sign in (1.0, -1.0)]
        values = [data.mu, data.xi, *own, data.zeta_1]
        rows.append([name, *(f"{v:.4f}" for v in values)])
    names = ["data", "μ", "ξ = μ²", "ζ for S₊", "ζ for S₋", "ζ₁"]
    return pd.DataFrame(rows, columns=names).set_index("data")


def of_starts(X: NDArray, y: NDArray, angles: Sequence[float]) -> pd.DataFrame:
    """t_1 and log10 of the allowed eps with either zeta, for one neuron of V_+ in the plane at
    these angles from x_-."""
    data, rows = data_constants(X, y), []
    for angle, start in zip(angles, _beside(X, y, angles), strict=True):
        zetas = [printed_zeta(data, start), needed_zeta(data, start)]
        values = [alignment_time(data, zeta) for zeta in zetas]
        values += [log_eps_allowed(data, start, zeta) / np.log(10.0) for zeta in zetas]
        rows.append([f"{angle:g}", f"{start.zeta_2:.3g}", *(f"{v:.4g}" for v in values)])
    names = [
        "angle to x₋",
        "ζ₂",
        "t₁, maximum",
        "t₁, minimum",
        "log₁₀ ε, maximum",
        "log₁₀ ε, minimum",
    ]
    return pd.DataFrame(rows, columns=names).set_index("angle to x₋")


def _beside(X: NDArray, y: NDArray, angles: Sequence[float]) -> Iterable[StartConstants]:
    u = -centres(X, y)[-1.0]
    u = u / np.linalg.norm(u)
    for angle in angles:
        w = np.cos(angle) * u + np.sin(angle) * np.array([-u[1], u[0]])
        yield StartConstants(1, 1.0, 1.0, clearance(X, y, w[None], np.ones(1)))
