"""The solution that leaves S_dead, by a plain integrator from its own start."""

from __future__ import annotations

import math

from numpy.typing import NDArray
from scipy.integrate import solve_ivp


def followed(t: float) -> float:
    """w_1(t) from w = (0, 1), v = 1 by the velocity of the side on which x_1 is active, eq (47).

    w_1 > 0 for t > 0, so that this is the velocity of (GF) at every t > 0.
    """

    def rate(_: float, z: NDArray) -> list[float]:
        w, v = z
        slope = math.exp(-v * w)
        return [v * slope, w * slope]

    return float(solve_ivp(rate, (0.0, t), [0.0, 1.0], rtol=1e-11, atol=1e-13).y[0, -1])
