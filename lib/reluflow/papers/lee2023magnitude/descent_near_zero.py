"""At one fraction of X the upper bounds of phi(T) in Theorems A.2 and 4.2 become negative near
phi_0 = 0.

Both say pi - phi(T) > 2 y - 2/3 y^3 rho^T with y = chi (1 - h)^T, rho = (1 - 3h) / (1 - h)^3 and
h = c eta. The limit X that eta is to be small against is 1/(3c), so at eta = X/k, for every start,
h = 1/(3k). As rho < 1 the cubic term dies, and 2 y > pi is left where chi is so large that y still
exceeds pi/2 when it has died: chi = 10^(4k/5) is large enough.
"""

from __future__ import annotations

import math

from reluflow.ledger import Evidence, Reading, note
from reluflow.papers.lee2023magnitude.descents import SMALLNESS

LEVEL = 2.5
"""T is the last step with y at least this: 2 y = 5 is well above pi."""


def digits(k: int) -> int:
    """4k/5, the decimal logarithm of chi = cot(phi_0/2) for the step X/k."""
    return 4 * k // 5


def last_step(k: int) -> int:
    """T for the step X/k."""
    decay = -math.log1p(-1.0 / (3 * k))
    return math.floor((digits(k) * math.log(10.0) - math.log(LEVEL)) / decay)


def demanded(k: int) -> float:
    """What the theorems ask pi - phi(T) to exceed at T = `last_step`, by logarithms."""
    h, T = 1.0 / (3 * k), last_step(k)
    y = math.exp(digits(k) * math.log(10.0) + T * math.log1p(-h))
    cubic = math.exp(T * (math.log1p(-3.0 * h) - 3.0 * math.log1p(-h)))
    return 2.0 * y - 2.0 / 3.0 * y**3 * cubic


def demands() -> list[Evidence]:
    """What Theorems 4.2 (any m) and A.2 ask pi - phi(T) to exceed, at three steps."""
    return [
        note(f"one fraction for all starts, cot(phi0/2) = 10^{digits(k)}: what pi - phi(T) is to "
             f"exceed at eta = X/{k}, T = {last_step(k)}", demanded(k))
        for k in SMALLNESS
    ]  # fmt: skip


SMALL_STEPS = Reading(
    taken="how small eta has to be may depend on the start, r and R",
    others="no fraction of X serves all starts: each is too large for some start near phi0 = 0, "
    "where the bound becomes negative; with (1 - c eta)^(3T) in place of (1 - 3c eta)^T every "
    "eta < 2 with c eta < 1 serves all",
)
