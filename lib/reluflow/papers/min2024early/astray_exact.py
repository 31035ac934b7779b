"""How many neurons have not reached S_+ after a while: a law in closed form, without any flow.

Two positive unit data at the cosine sin(angle), a neuron with standard normal w and v. While it is
active on x_1 alone, p = w.x_1 and v obey p' = c v, v' = c p with the pull c of that datum, so after
the work tau = integral of c they are

    p(tau) = C p + S v,   v(tau) = S p + C v,   C = cosh tau,  S = sinh tau,

and w has moved by (p(tau) - p) x_1. So w.x_2 = p(tau) sin(angle) + w_2 cos(angle) with w_2 the part
of w orthogonal to x_1, and the neuron is astray while p(tau) > 0, v(tau) > 0 and w.x_2 <= 0.
"""

from __future__ import annotations

import math


def chance_astray(tau: float, angle: float) -> float:
    """The probability that a neuron is live, with v > 0, and outside S_+ after the work tau.

    About e^-tau / (sqrt 2 pi tan(angle)) where that is small. A neuron that starts with v < 0 and
    turns is counted too. Parameters: tau > 0, angle in [0, pi/2).
    """
    return _both_sides(math.cosh(tau), math.sinh(tau), angle)


def chance_astray_after(steps: int, rate: float, angle: float) -> float:
    """The same for descent: p and v after `steps` steps of p <- p + rate v, v <- v + rate p."""
    up, down = (1.0 + rate) ** steps, (1.0 - rate) ** steps
    return _both_sides(0.5 * (up + down), 0.5 * (up - down), angle)


def _both_sides(C: float, S: float, angle: float) -> float:
    """Twice the probability of p(tau) > 0, v(tau) > 0, w.x_2 <= 0: x_1 and x_2 may change places.

    With (p, v) = r (cos t, sin t) and a = tan(angle) (C cos t + S sin t) it is the integral over t
    from -phi to pi/2, phi = arctan(S/C), of E Phi(-a r) / 2 pi = (1 - a / sqrt(1 + a^2)) / 4 pi,
    since r has the law r e^(-r^2/2); and a = A cos(t - phi), whose integral is an arcsine.
    """
    A, phi = math.tan(angle) * math.hypot(C, S), math.atan2(S, C)
    k = A / math.hypot(1.0, A)
    turned = math.asin(k * math.cos(phi)) + math.asin(k * math.sin(2.0 * phi))
    return (0.5 * math.pi + phi - turned) / (2.0 * math.pi)
