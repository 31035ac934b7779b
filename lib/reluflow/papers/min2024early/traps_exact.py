"""The flow beside S_dead: from (delta, 1) with x_1 active, as delta tends to 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

DELTAS = (1e-3, 1e-6, 1e-9)


def followed(t: float) -> float:
    """w_1(t) of the flow of exp(-v [w_1]_+) from w = (delta, 1), v = |w|, for the least delta."""

    def rate(_: float, z: NDArray) -> list[float]:
        w, v = z
        slope = np.exp(-v * w) if w > 0.0 else 0.0
        return [v * slope, w * slope]

    ends = [
        solve_ivp(rate, (0.0, t), [delta, np.hypot(delta, 1.0)], rtol=1e-11, atol=1e-13).y[0, -1]
        for delta in DELTAS
    ]
    return float(ends[-1]) if abs(ends[-1] - ends[-2]) < 1e-5 else float("nan")
