"""A neuron beside x_-, enclosed: x_1 = (1, 0) with label 1, x_2 = (-12/13, 5/13) with label -1.

At the angle theta from x_2 towards x_1 a neuron of V_+ is in S_- as long as sin(theta) <= 12/13.
Only x_2 is active there, f(x_2) = v <w, x_2> = f, and for the exponential loss

    d theta/dt = e^f sin(theta),    d log|w|/dt = -e^f cos(theta),

so that 0 <= f <= |w(0)|^2 = eps^2. The exit is at tan(theta/2) = 2/3, and its time t obeys

    e^(-eps^2) L <= t <= L,    L = log((2/3) / tan(theta(0)/2)).

Here n = 2, mu = 12/13, X_min = X_max = h = W_max = 1. In the plane K is the wedge between z_1 and
z_2, and the nearest vectors outside of both cones are at the angle arccos(5/13) from it: so xi =
1 - 25/169; and zeta_1, from the boundaries of the cones at that angle from x_1 and x_2, is as
much.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

MU, XI = Fraction(12, 13), Fraction(144, 169)
EXIT = Fraction(2, 3)
"""tan(theta/2) where sin(theta) = 12/13."""


@dataclass(frozen=True)
class Enclosed:
    """Times with certain error bounds, as balls.

    exit     when the neuron leaves S_-
    t_1      16 log n / (m_2 sqrt(mu) X_min)
    pattern  4 / (m_2 sqrt(mu) X_min n_a), n_a = 1
    small    whether ln eps is certainly within both bounds of (Small)
    """

    exit: arb
    t_1: arb
    pattern: arb
    small: bool


def enclosed(half_tangent: Fraction, log_eps: int) -> Enclosed:
    """The times for tan(theta(0)/2) = `half_tangent` < 2/3 and ln eps = `log_eps`, with the printed
    zeta = max(zeta_1, zeta_2), of which m_2 = min(zeta, xi) = 144/169 knows nothing."""
    longest = _ball(EXIT / half_tangent).log()
    shortest = longest * (-((2 * arb(log_eps)).exp())).exp()
    root = _ball(XI) * _ball(MU).sqrt()
    t_1, pattern = 16 * arb(2).log() / root, 4 / root
    outputs = (_ball(min(MU, XI)) * _ball(MU).sqrt() / 8).log()
    small = bool(log_eps <= outputs) and bool(log_eps <= -8 * t_1)
    return Enclosed(shortest.union(longest), t_1, pattern, small)


def certainly_less(a: arb, b: arb) -> bool:
    """Whether every number of the ball a is below every one of b."""
    return bool(a < b)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
