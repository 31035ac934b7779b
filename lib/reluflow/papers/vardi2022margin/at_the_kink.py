"""Section 2: the value of sigma'(0) in [0, 1] has no effect on the results that the paper proves.

It can have one only where a unit's input is 0: at the starts of Theorems 4.1, 4.2 (2) and 5.3. The
flows compared here have one constant for all units and times; that the start of 4.2 (2) has others
tells `second_flow`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reluflow.ledger import Evidence, Reading, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC
from reluflow.margin.limits import Limit, limit
from reluflow.papers.vardi2022margin.balance_exact import ascent
from reluflow.papers.vardi2022margin.instances import (
    Construction,
    lemma_C_6,
    theorem_3_2,
    theorem_4_1,
    theorem_4_2,
    theorem_4_4,
    theorem_5_1,
)

VALUES = (0.0, 0.5, 1.0)
"""Values of sigma'(0)."""
SAME = 1e-9
"""Limits nearer than this, over |theta|, are one."""
REACH = 1e3

PROVED_THERE = Reading(
    "'our results' are what the paper states and proves in Sections 3 to 5 and Appendix C",
    "of Theorem 2.1, which it quotes and uses throughout, it is false: with weights shared and "
    "σ'(0) = 0 a flow of the exponential loss converges to the direction of no KKT point",
)


def printed() -> tuple[Construction, ...]:
    """The printed ReLU instances."""
    deep = (theorem_5_1(m, "relu") for m in (3, 4))
    return (theorem_3_2(), theorem_4_1("relu"), theorem_4_2(), theorem_4_4("relu"), *deep,
            lemma_C_6())  # fmt: skip


def no_effect() -> list[Evidence]:
    """mm.sigma0: every printed ReLU instance with sigma'(0) in {0, 1/2, 1}: the same limit, and the
    velocity at the start, in rational numbers, the same too.

    The velocity is compared in the limit as well. Both losses are followed from starts at a kink,
    the exponential one from the others, which never meet one.
    """
    moved, wrong, unsettled, starts, runs = 0, 0, 0, 0, 0
    given = printed()
    for c in given:
        on = [np.abs(h) <= 0.0 for h in c.network.preactivations(c.start, c.X)]
        kink = any(h.any() for h in on)
        starts += kink
        for point in (c.start, c.limit):
            rates = [_velocity(c, point, value) for value in VALUES]
            moved += any(rate != rates[0] for rate in rates)
        for loss in (EXPONENTIAL, LOGISTIC) if kink else (EXPONENTIAL,):
            ends = [limit(c.network, loss, c.X, c.y, c.start, REACH, value) for value in VALUES]
            unsettled += sum(not end.converged for end in ends)
            wrong += sum(_apart(end, c.limit) for end in ends)
            runs += len(ends)
    return [
        fact("printed instances whose velocity at the start or in the limit depends on σ'(0)",
             moved, 0, tried=len(given)),
        fact("flows with σ'(0) in {0, 1/2, 1} whose limit is not confirmed", unsettled, 0,
             tried=runs),
        fact("flows whose limit is not the printed one", wrong, 0, tried=runs),
        note("instances that start with a unit at 0", starts),
    ]  # fmt: skip


def _velocity(c: Construction, theta: NDArray, value: float) -> list:
    """d theta/dt with equal pulls of all data, sigma'(0) = value, in rational numbers."""
    units = sum(c.network.widths)
    at_zero = np.full((len(c.y), units), value)
    layers = ascent(c.network.maps, theta, c.X, c.y, at_zero)
    return [rate for layer in layers for rate in layer.du]


def _apart(found: Limit, claimed: NDArray) -> bool:
    gap = np.linalg.norm(found.theta - claimed)
    return not bool(gap <= SAME * np.linalg.norm(claimed))
