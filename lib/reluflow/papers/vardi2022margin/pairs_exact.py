"""The flow of Theorem 3.2 in two coordinates, for starts of any size: a second method.

The second neuron rests. With w_1 = (s, p), v = v_1 and the clock of the summed slopes, the first
one moves as

    s' = -v T,    p' = v/4,    v' = p/4 - s T,
    T = (g_2 - g_1)/(g_1 + g_2) = tanh(v s) / (1 + c / cosh(v s)),

with c = 0 for the exponential loss and c = e^(-v p/4) for the logistic one. In each step s is moved
implicitly, for its rate grows without bound, and then p and v in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEP, STEPS = 1.0, 400
"""Steps on the clock: p and v grow by a factor e^(1/4) in each, by 1e43 in all."""
_HALVINGS = 45


@dataclass(frozen=True)
class PairEnds:
    """The ends of k flows.

    theta   (k, 6) the last parameters
    active  (k,) whether both inputs of the first neuron were positive all the time
    shrank  (k,) whether |w_1[1]| never grew
    """

    theta: NDArray
    active: NDArray
    shrank: NDArray


def pair_flow(theta: NDArray, logistic: bool) -> PairEnds:
    """The flow from starts theta (k, 6) of Theorem 3.2 with the printed data."""
    sign = np.where(theta[:, 0] < 0.0, -1.0, 1.0)
    s, p, v = np.abs(theta[:, 0]), theta[:, 1].copy(), theta[:, 4].copy()
    active, shrank = p > 4.0 * s, np.ones(len(s), bool)
    grow, turn = np.cosh(STEP / 4.0), np.sinh(STEP / 4.0)
    for _ in range(STEPS):
        before, s = s, _implicit(s, p, v, logistic)
        pulled = 4.0 * s * _turning(s, p, v, logistic)
        p, v = pulled + (p - pulled) * grow + v * turn, v * grow + (p - pulled) * turn
        active &= (p > 4.0 * s) & (v > 0.0)
        shrank &= s <= before
    ends = theta.copy()
    ends[:, 0], ends[:, 1], ends[:, 4] = sign * s, p, v
    return PairEnds(ends, active, shrank)


def _turning(s: NDArray, p: NDArray, v: NDArray, logistic: bool) -> NDArray:
    """T at s, p, v >= 0."""
    z = v * s
    if not logistic:
        return np.tanh(z)
    log_cosh = z + np.log1p(np.exp(-2.0 * z)) - np.log(2.0)
    return np.tanh(z) / (1.0 + np.exp(-0.25 * v * p - log_cosh))


def _implicit(s: NDArray, p: NDArray, v: NDArray, logistic: bool) -> NDArray:
    """The r of r + STEP v T(r) = s, by halving; its left side grows with r."""
    low, high = np.zeros_like(s), s
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        more = middle + STEP * v * _turning(middle, p, v, logistic) > s
        low, high = np.where(more, low, middle), np.where(more, middle, high)
    return high
