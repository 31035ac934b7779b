"""Where the magnitude of a balanced chain turns under a Gaussian teacher: its phases and its dip.

v = |w| of `reluflow.flows.population` falls exactly where v > v* (1 - eps)^(1/(m+1)), the
nullcline. As eps only falls, a flow that reaches the nullcline is overtaken by it: v turns at most
once, from falling to rising. Whether and where is told by delta = (v*/v)^(m+1) - 1. With
g = phi / sin(phi) and psi = log tan(phi/2), for which dphi = sin(phi) dpsi, the equations are

    d/dpsi [g^(m+1) delta] = (m + 1) pi eps g^(m+1) / phi,

and v rises exactly where (1 - eps) delta > eps. Nothing cancels in delta, however near v is to v*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from reluflow.errors import InputError
from reluflow.flows.half_angles import angle, log_tan
from reluflow.flows.population import pull, shortfall

RISING, TURNING, FALLING = "rising", "falling, then rising", "falling"
OTHER = "other"
SHAPES = (RISING, TURNING, FALLING, OTHER)

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_WIDTH = 0.25
_LARGEST = 500.0
"""Logarithm up to which g^(m+1) is followed; panels may end a little later."""


@dataclass(frozen=True)
class Phases:
    """How |w(t)| moves.

    kind   RISING, TURNING or FALLING, from the start to the end
    flips  how often the sign of dv/dt was seen to change
    psi    log tan(phi/2) at the turn; NaN without one
    least  min |w(t)| / |w*| over all t >= 0, at the turn or at an end
    """

    kind: str
    flips: int
    psi: float
    least: float

    @property
    def dip(self) -> float:
        """How far |w(t)| falls below |w*| at the turn, as a share of |w*|; 0 without a turn."""
        return 1.0 - self.least if self.kind == TURNING else 0.0


def nullcline(phi: ArrayLike, m: int) -> NDArray:
    """v/v* = (1 - eps)^(1/(m+1)), where dv/dt = 0. Parameters: phi (...) in [0, pi]."""
    return pull(phi) ** (1.0 / (m + 1))


def threshold_norm(phi: ArrayLike) -> NDArray:
    """|w|/|w*| from which on a one-layer neuron's |w(t)| falls for ever: the separatrix

        phi / -(sin(phi) + pi cos(phi)),  infinite unless angle(w, w*) = pi - phi < arctan(pi).

    The flow's closed form is |w|/|w*| = phi / (C sin(phi) - pi cos(phi)) with a constant C, and
    near phi = pi it is 1 - (1 + C)(pi - phi)/pi + ...: from above for C <= -1.

    Parameters: phi (...) in (0, pi). Returns values of the same shape.
    """
    phi = np.asarray(phi, float)
    below = -(np.sin(phi) + np.pi * np.cos(phi))
    # The root of `below` is known only to rounding: a norm above 1e15 |w*| counts as none.
    return np.where(below > 1e-15, phi / np.maximum(below, 1e-15), np.inf)


def phases(psi0: float, rho0: float, m: int) -> Phases:
    """How |w(t)| moves from a start psi0 = log tan(phi_0/2), rho0 = log(|w_0|/|w*|).

    The integral is followed panel by panel until a turn must have come; for m = 0 a turn with
    |w| within 1e-8 of |w*| is not told from none. Raises InputError for a start with m >= 1 so
    near the teacher that its turn is too late to be followed.
    """
    edges = psi0 + _WIDTH * np.arange(_panels(psi0, m) + 1)
    delta0 = math.expm1(-(m + 1) * rho0)
    scaled = delta0 + np.concatenate([[0.0], np.cumsum(_gains(edges[:-1], edges[1:], psi0, m))])
    rises = _rise(scaled, edges, psi0, m)
    signs = np.sign(rises[rises != 0.0])
    flips = int(np.sum(signs[1:] != signs[:-1]))
    if rises[0] >= 0.0:
        return Phases(RISING, flips, math.nan, math.exp(rho0))
    if rises[-1] <= 0.0 and m == 0:
        # Its integral converges: at the last edge the rest is below 1e-8 of the whole.
        return Phases(FALLING, flips, math.nan, 1.0)
    if rises[-1] <= 0.0:
        raise InputError(f"the turn from psi0 = {psi0:g}, m = {m} is too late to be followed")
    k = int(np.argmax(rises > 0.0)) - 1

    def rise(psi: float) -> float:
        gain = _gains(edges[k : k + 1], np.array([psi]), psi0, m)
        return float(_rise(scaled[k] + gain, np.array([psi]), psi0, m)[0])

    psi = float(brentq(rise, edges[k], edges[k + 1], xtol=1e-13))
    return Phases(TURNING, flips, psi, float(nullcline(angle(psi), m)))


def dip_from_teacher_norm(phi0: float, m: int) -> Phases:
    """The phases of the start with |w_0| = |w*| at the angle phi0 in (0, pi)."""
    return phases(float(log_tan(phi0)), 0.0, m)


def shape_of(values: NDArray, least: float) -> tuple[str, int]:
    """The shape of a curve (k,), and where it turns (0 without a turn).

    A curve is cut into falls and rises at its extremes; excursions below `least` do not count. One
    that stays within `least` of its start rises or falls as its end lies above the start or not.
    """
    ways: list[int] = []
    turn, high, low, at = 0, values[0], values[0], 0
    for k, value in enumerate(values.tolist()):
        direction = ways[-1] if ways else 0
        if direction >= 0 and value > high:
            high, at = value, (k if direction > 0 else at)
        if direction <= 0 and value < low:
            low, at = value, (k if direction < 0 else at)
        if direction <= 0 and value > low + least:
            ways, turn = [*ways, 1], (at if direction else turn)
            high, at = value, k
        elif direction >= 0 and value < high - least:
            ways = [*ways, -1]
            low, at = value, k
    if len(ways) > 1 and ways != [-1, 1]:
        return OTHER, 0
    if ways == [-1, 1]:
        return TURNING, turn
    up = ways == [1] or (not ways and values[-1] > values[0])
    return (RISING if up else FALLING), 0


def _eps(psi: NDArray) -> NDArray:
    return shortfall(angle(-psi))


def _log_g(psi: ArrayLike) -> NDArray:
    """log(phi / sin(phi)), sin(phi) = 1 / cosh(psi)."""
    psi = np.asarray(psi, float)
    return np.log(angle(psi)) + np.logaddexp(psi, -psi) - math.log(2.0)


def _growth(psi: NDArray, psi0: float, m: int) -> NDArray:
    """(g(phi) / g(phi_0))^(m+1)."""
    return np.exp((m + 1) * (_log_g(psi) - _log_g(psi0)))


def _gains(low: NDArray, high: NDArray, psi0: float, m: int) -> NDArray:
    """int (m + 1) pi eps growth / phi dpsi over the panels (low, high), each (k,)."""
    half = 0.5 * (high - low)[:, None]
    psi = low[:, None] + half * (_NODES + 1.0)
    values = (m + 1) * np.pi * _eps(psi) * _growth(psi, psi0, m) / angle(psi)
    return (half * values) @ _WEIGHTS


def _rise(scaled: NDArray, psi: NDArray, psi0: float, m: int) -> NDArray:
    """(1 - eps) delta - eps, times the growth, by which `scaled` delta is multiplied: the sign of
    dv/dt."""
    eps = _eps(psi)
    return (1.0 - eps) * scaled - eps * _growth(psi, psi0, m)


def _panels(psi0: float, m: int) -> int:
    """Panels within which the turn lies: for m = 1 and phi_0 near pi it is 1/eps_0 away."""
    span = 20.0 + 2.0 * max(psi0, 0.0)
    if m == 1:
        span += 2.0 / float(_eps(np.array(psi0)))
    # g grows as e^psi once phi is near pi.
    span = min(span, _LARGEST / (m + 1) - min(psi0, 0.0))
    return math.ceil(span / _WIDTH)
