"""What follows for part 2 where a neuron is late: t_1 as printed does not know the start.

x_1 = (1, 0), positive, x_2 = (-1/2, sqrt(3)/2), negative, mu = 1/2, eps -> 0. A neuron a of V_+
that starts beside x_2 is still in S_- at t_1. There its angle to x_2 grows like e^t and its norm
falls like e^-t, while a neuron b of V_- along x_2 grows like e^t.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reluflow.flows.alignment import Beside, align
from reluflow.ledger import Reading
from reluflow.papers.min2024early import constants

X = np.array([[1.0, 0.0], [-0.5, 0.75**0.5]])
y = np.array([1.0, -1.0])
LOG_ANGLE = -230.0
"""log of the angle between neuron a and x_2 at the start: 1e-100."""
LOG_SIZE = -130.0
"""log of |b| / |a| at the start, W_min / W_max."""


PART_ONE = Reading(
    "t_1 is a time at which part 1 holds: all neurons of V₊ are in S₊ or S_dead, those of V₋ in "
    "S₋ or S_dead. Appendix D supposes it.",
    "With ζ = max(ζ₁, ζ₂) as printed, t_1 does not know the start, and part 1 may fail there. A "
    "late neuron of V₊ in S₋ then breaks this statement too, as the example on the page shows.",
)
"""How the claims of part 2 are read that fall with the printed t_1."""
SUPPOSED = Reading(
    PART_ONE.taken,
    "With ζ = max(ζ₁, ζ₂) as printed part 1 may fail at t_1; that start was not tried here.",
)
"""How the other claims of part 2 are read, which no late neuron is known to break."""


@dataclass(frozen=True)
class LateNeuron:
    """t_1 as printed; when a leaves S_-; log(|a|^2 / |b|^2) at t_1, both being in S_- along x_2:
    where it is positive, f(x_2) > 0, and the sum of squares over S_- falls."""

    t_1: float
    leaves: float
    log_ratio: float


def late_neuron() -> LateNeuron:
    """The example in numbers; at t_1 the angle is below 1e-70, so that cosines with x_2 are 1."""
    data = constants.data_constants(X, y)
    t_1 = constants.alignment_time(data, max(data.zeta_1, np.exp(2.0 * LOG_ANGLE)))
    path = align(X, y, Beside(np.array([1.0, 0.0]), LOG_ANGLE), 1.0)
    return LateNeuron(t_1, float(path.times[1]), -2.0 * LOG_SIZE - 4.0 * t_1)
