"""Population dynamics of a chain of single ReLU neurons under a teacher and Gaussian data.

The state is the angle phi = pi - angle(w, w*) and the magnitude |w| (Lee et al. 2022b). As phi
nears pi or |w| nears 0 or |w*|, numbers phi and |w| would keep no digits of what is left, so the
flow is integrated in

    psi = log tan(phi/2),    rho = log(|w| / |w*|),    s = |w*|^(2m) t,

in which eqs. (9)-(10), and for m = 0 eqs. (6)-(7), have no parameter but m:

    dpsi/ds = e^((m-1) rho) phi / (2 pi),
    drho/ds = -1/2 e^((m-1) rho) (e^((m+1) rho) - 1 + eps(phi)),
    eps     = 1 - (sin phi - phi cos phi) / pi.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import DOP853, solve_ivp
from scipy.optimize import brentq

from reluflow.errors import InputError
from reluflow.flows.charts import TIME
from reluflow.flows.segment import check_steps

# --- psi = log tan(phi/2), in which no angle phi near 0 or pi loses digits ------------------------
#
# sin(phi) = 1 / cosh(psi), cos(phi) = -tanh(psi), and -psi belongs to pi - phi.


def angle(psi: ArrayLike) -> NDArray:
    """phi = 2 arctan(e^psi) in (0, pi), shape (...) of psi."""
    return 2.0 * np.arctan(np.exp(psi))


def log_tan(phi: ArrayLike) -> NDArray:
    """psi = log tan(phi/2), shape (...) of phi in (0, pi)."""
    return np.log(np.tan(0.5 * np.asarray(phi, float)))


# --- Paths of the angle and the magnitude of a neuron under a teacher, by time or steps -----------

_LARGE = 700.0
"""Where exp is about to overflow."""


@dataclass(frozen=True)
class PopulationPath:
    """A path of angle and magnitude.

    t         (k,) times, or steps where `clock` is "steps"
    psi, rho  (k,) log tan(phi/2) and log(|w| / |w*|) there
    v         (k,) the factors v_1 = ... = v_m; in the flow they are |w|
    target    |w*|
    """

    t: NDArray
    psi: NDArray
    rho: NDArray
    v: NDArray
    target: float
    clock: str

    @cached_property
    def phi(self) -> NDArray:
        """The angle pi - angle(w, w*), shape (k,)."""
        return angle(np.minimum(self.psi, _LARGE))

    @cached_property
    def theta(self) -> NDArray:
        """The angle between w and w*, shape (k,), with all its digits where it is small."""
        return angle(np.minimum(-self.psi, _LARGE))

    @cached_property
    def length(self) -> NDArray:
        """The magnitude |w|, shape (k,)."""
        return self.target * np.exp(self.rho)


_LINEAR = 1e-12
"""Below it pi - phi and rho follow the flow's linear part, to as many digits."""
_TAYLOR = [(-1.0) ** (k + 1) * 2 * k / math.factorial(2 * k + 1) for k in range(1, 8)]
"""Of (sin a - a cos a) / a^3 by a^2, to the last digit up to a = 1/2."""


def coordinates(w: ArrayLike, target: ArrayLike) -> tuple[NDArray, NDArray]:
    """psi and rho (...) of weights w (..., d) under teachers (..., d). By half angles, tan(phi/2) =
    |u + u*| / |u - u*| for the unit vectors, so that no angle loses digits; infinite where w is
    along the teacher to the last digit."""
    w, target = np.asarray(w, float), np.asarray(target, float)
    length, size = np.linalg.norm(w, axis=-1), np.linalg.norm(target, axis=-1)
    u, best = w / length[..., None], target / size[..., None]
    with np.errstate(divide="ignore"):
        psi = np.log(np.linalg.norm(u + best, axis=-1)) - np.log(np.linalg.norm(u - best, axis=-1))
    return psi, np.log(length) - np.log(size)


def pull(phi: ArrayLike) -> NDArray:
    """(sin phi - phi cos phi) / pi = 1 - eps of eq. (6), with all digits as phi nears 0."""
    return _sine_less_arc(np.asarray(phi, float)) / np.pi


def shortfall(theta: ArrayLike) -> NDArray:
    """eps = 1 - (sin phi - phi cos phi) / pi at phi = pi - theta, with all digits as it nears 0."""
    theta = np.asarray(theta, float)
    return 2.0 * np.sin(theta / 2.0) ** 2 - _sine_less_arc(theta) / np.pi


@dataclass(frozen=True)
class BalancedFlow:
    """(9)-(10) of Proposition 3.6, for m = 0 (6)-(7) of Proposition 3.1: d(psi, rho)/ds."""

    m: int

    def velocity(self, z: NDArray, active: NDArray | None = None) -> NDArray:
        m, psi, rho = self.m, float(z[0]), float(z[1])
        if psi > 0.0:
            theta = 2.0 * math.atan(math.exp(-psi))
            phi = math.pi - theta
            eps = 2.0 * math.sin(theta / 2.0) ** 2 - _scalar_pull(theta)
            excess = math.expm1(min((m + 1) * rho, _LARGE)) + eps
        else:
            phi = 2.0 * math.atan(math.exp(psi))
            excess = math.exp(min((m + 1) * rho, _LARGE)) - _scalar_pull(phi)
        pace = math.exp(min((m - 1) * rho, _LARGE))
        return np.array([pace * phi / (2.0 * math.pi), -0.5 * pace * excess])


def population_flow(
    psi0: float, rho0: float, m: int, t: ArrayLike, target: float = 1.0
) -> PopulationPath:
    """The balanced flow at times t (k,) >= 0 that rise; psi and rho are good to ten digits at all
    of them, however late. Raises InputError for a start, time or target that is not finite or out
    of range."""
    _check(psi0, rho0, m, target)
    t = np.atleast_1d(np.asarray(t, float))
    if t.ndim != 1 or not (np.isfinite(t).all() and (np.diff(t) > 0.0).all() and t[0] >= 0.0):
        raise InputError("t must be a list of finite times from 0 on, in their order")
    s, start, flow = t * target ** (2 * m), np.array([psi0, rho0], float), BalancedFlow(int(m))

    def ahead(_: float, z: NDArray) -> float:
        """What is left until both coordinates follow the linear part."""
        return max(-math.log(_LINEAR) - z[0], abs(z[1]) - _LINEAR)

    ahead.terminal = True  # type: ignore[attr-defined]
    found, s1, end = np.empty((2, 0)), 0.0, start
    if ahead(0.0, start) > 0.0:
        last = s[-1] or 1.0
        first = 1e-3 / max(1.0, float(np.abs(flow.velocity(start)).max()))
        # rho goes to 0 and may pass through it: its digits count, not its decimals.
        how = {"rtol": 1e-13, "atol": [1e-13, 1e-40], "first_step": min(first, last)}
        path = solve_ivp(
            lambda _, z: flow.velocity(z), (0.0, last), start, DOP853, s, events=ahead, **how
        )
        if path.status < 0:
            raise ArithmeticError(f"the population flow: {path.message}")
        found = np.reshape(path.y, (2, -1))  # SciPy: [] for none
        if path.status:
            s1, end = float(path.t_events[0][0]), path.y_events[0][0]
    # The linear part: dpsi = 1/2, eps = eps_1 e^-s, drho = -((m + 1) rho + eps) / 2.
    late, eps = s[found.shape[1] :] - s1, 2.0 * math.exp(-2.0 * max(end[0], 0.0))
    if m == 1:
        rho = (end[1] - 0.5 * eps * late) * np.exp(-late)
    else:
        forced = -eps / (m - 1)
        rho = (end[1] - forced) * np.exp(-0.5 * (m + 1) * late) + forced * np.exp(-late)
    psi, rho = np.hstack([found, [end[0] + 0.5 * late, rho]])
    return PopulationPath(t, psi, rho, target * np.exp(rho), float(target), TIME)


def population_descent(
    psi0: float, rho0: float, m: int, step: float, n_steps: int, target: float = 1.0
) -> PopulationPath:
    """Gradient descent (3) on the population loss (1) from a balanced start, at the steps 0, ...,
    n_steps. Steps keep the plane of w and w*, and the part of w across w* is multiplied by a
    number, so small angles keep their digits; and v_1, ..., v_m stay equal. NaN where they
    overflow. Raises InputError as `population_flow` does."""
    _check(psi0, rho0, m, target)
    check_steps(step, n_steps)
    v = length = target * math.exp(rho0)
    small = math.exp(-2.0 * abs(psi0))
    across = length * 2.0 * math.exp(-abs(psi0)) / (1.0 + small)  # |w| sin(phi)
    along = length * math.tanh(psi0)  # -|w| cos(phi)
    best, states = target ** (m + 1), [(along, across, v)]
    try:
        for _ in range(n_steps):
            length, factor, phi = math.hypot(along, across), v**m, math.atan2(across, -along)
            turn = step * best * factor / (2.0 * math.pi)
            keep = 1.0 - 0.5 * step * factor * factor + turn * across / length**2
            along, across = keep * along + turn * phi, abs(keep * across)
            if m:
                pulled = factor * length - best * _scalar_pull(phi)
                v -= 0.5 * step * v ** (m - 1) * length * pulled
            states.append((along, across, v))
    except OverflowError:
        states += [(math.nan,) * 3] * (n_steps + 1 - len(states))
    w_along, w_across, factors = np.array(states).T
    lengths = np.hypot(w_along, w_across)
    # tan(phi/2) = across / (length - along) = (length + along) / across, where nothing cancels.
    with np.errstate(divide="ignore"):
        psi = np.log(lengths + np.abs(w_along)) - np.log(w_across)
        psi, rho = np.where(w_along > 0.0, psi, -psi), np.log(lengths / target)
    return PopulationPath(np.arange(n_steps + 1.0), psi, rho, factors, float(target), "steps")


def _check(psi0: float, rho0: float, m: int, target: float) -> None:
    if not (np.isfinite(psi0) and np.isfinite(rho0)):
        raise InputError(f"psi0 and rho0 must be finite, not {psi0!r} and {rho0!r}")
    if int(m) != m or m < 0:
        raise InputError(f"m must be a whole number from 0 on, not {m!r}")
    if not (np.isfinite(target) and target > 0):
        raise InputError(f"target must be a positive number, not {target!r}")


def _sine_less_arc(a: NDArray) -> NDArray:
    """sin a - a cos a, whose leading terms cancel for small a: there by its Taylor series."""
    small = np.minimum(a, 0.5)
    series = np.polynomial.polynomial.polyval(small**2, _TAYLOR) * small**3
    return np.where(a < 0.5, series, np.sin(a) - a * np.cos(a))


def _scalar_pull(phi: float) -> float:
    if phi >= 0.5:
        return (math.sin(phi) - phi * math.cos(phi)) / math.pi
    total = 0.0
    for c in reversed(_TAYLOR):
        total = total * phi * phi + c
    return total * phi**3 / math.pi


# --- The balanced flow (9)-(10) in closed form: the magnitude as a function of the angle ----------
#
# With g(phi) = phi / sin(phi) = phi cosh(psi), by dphi = sin(phi) dpsi,
#
#     (v*/v)^(m+1) g(phi)^(m+1) = (v*/v_0)^(m+1) g(phi_0)^(m+1)
#                                 + (m+1) pi int_(phi_0)^(phi) x^m / sin(x)^(m+2) dx,
#
# and the time is the integral of 2 pi / (v^(m-1) v*^(m+1) x sin x).

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_BEYOND = 14.0
"""An orbit ends where psi is this much above its start and above 0, if not asked for more."""


@dataclass(frozen=True)
class Orbit:
    """Points of k orbits, n each, from the start on.

    s    (k, n) times v*^(2m) t, from 0
    psi  (k, n) log tan(phi/2)
    rho  (k, n) log(v / v*), to an absolute error near 1e-14
    m    (k,) factors besides w
    """

    s: NDArray
    psi: NDArray
    rho: NDArray
    m: NDArray

    def at(self, psi: NDArray) -> tuple[NDArray, NDArray]:
        """s and rho (k,) where each orbit passes psi (k,), between its ends."""
        last = np.sum(self.psi <= psi[:, None], axis=1) - 1
        s, start, rho = (row[np.arange(len(psi)), last] for row in (self.s, self.psi, self.rho))
        odd = np.exp(-(self.m + 1.0) * rho)
        s, odd = _along(s, odd, start[:, None], (psi - start)[:, None], self.m)
        return s[:, 1], -np.log(odd[:, 1]) / (self.m + 1.0)


def orbits(psi0: ArrayLike, rho0: ArrayLike, m: ArrayLike, beyond: float = _BEYOND) -> Orbit:
    """Orbits from starts that broadcast to (k,), at points that resolve the start, however fast it
    is, and the approach to w*: Gauss-Legendre panels in psi, doubling in width from a small part of
    the start's own scale. There are as many as the longest orbit needs; the others go on."""
    psi, rho, m = _columns(psi0, rho0, m)
    p, cap = m[:, None] + 1.0, np.minimum(0.5, 2.0 / (m[:, None] + 1.0))
    psi, odd = psi[:, None], np.exp(-p * rho[:, None])
    first = 1e-3 * np.minimum(cap, angle(psi) * odd / (np.pi * p))
    doublings = int(np.log2(cap / first).max()) + 1
    rest = math.ceil(((np.maximum(psi, 0.0) + beyond - psi) / cap).max())
    width = np.minimum(first * 2.0 ** np.arange(doublings + rest), cap)
    psi = np.cumsum(np.hstack([psi, width]), axis=1)
    n = int(np.argmax((psi >= np.maximum(psi[:, :1], 0.0) + beyond).all(axis=0)))
    s, odd = _along(np.zeros(len(m)), odd[:, 0], psi[:, :n], width[:, :n], m)
    return Orbit(s, psi[:, : n + 1], -np.log(odd) / p, m)


def _along(
    s: NDArray, odd: NDArray, psi: NDArray, width: NDArray, m: NDArray
) -> tuple[NDArray, NDArray]:
    """s and Z = (v*/v)^(m+1) (k, n + 1) of orbits from s and Z (k,) on, along n panels in a row
    that begin at psi (k, n) and are `width` (k, n) long."""
    nodes, weights, inner = _legendre()
    p, h = m[:, None, None] + 1.0, width[..., None]
    at = psi[..., None] + h * nodes
    arc, end, start = angle(at), psi + width, angle(psi) * np.cosh(psi)
    grown = (arc * np.cosh(at) / start[..., None]) ** p
    rate = p * np.pi * grown / arc
    last = (angle(end) * np.cosh(end) / start) ** p[..., 0]
    Z = [odd]
    for gained, by in zip((width * (rate @ weights)).T, last.T, strict=True):
        Z.append((Z[-1] + gained) / by)
    odd = np.stack(Z, axis=1)
    inside = (odd[:, :-1, None] + h * (rate @ inner.T)) / grown
    steps = width * ((2.0 * np.pi * inside ** (1.0 - 2.0 / p) / arc) @ weights)
    return np.cumsum(np.hstack([s[:, None], steps]), axis=1), odd


@cache
def _legendre() -> tuple[NDArray, NDArray, NDArray]:
    """Nodes and weights on (0, 1), and the matrix of the integrals from 0 to each node."""
    n, degrees = len(_NODES), np.arange(len(_NODES))
    values = np.polynomial.legendre.legvander(_NODES, n)
    # int_(-1)^x P_n = (P_(n+1) - P_(n-1)) / (2n + 1), and x + 1 for n = 0.
    before = np.pad(values, ((0, 0), (1, 0)))[:, :n]
    primitives = (values[:, 1:] - before) / (2 * degrees + 1)
    primitives[:, 0] = _NODES + 1.0
    coefficients = (values[:, :n] * _WEIGHTS[:, None]).T * (degrees[:, None] + 0.5)
    return 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS, 0.5 * primitives @ coefficients


# --- How long a balanced chain takes to an angle or a loss under a Gaussian teacher ---------------
#
# Times are s = |w*|^(2m) t, and losses are in units of |w*|^(2(m+1)).

_HALVINGS = 50
_LATE = 56.0
"""How far psi is followed to a loss: a tiny start's magnitude may come later than its angle."""


def relative_loss(psi: ArrayLike, rho: ArrayLike, m: ArrayLike) -> NDArray:
    """The loss over |w*|^(2(m+1)): 1/4 ((e^((m+1) rho) - 1 + eps)^2 + eps (2 - eps))."""
    eps = shortfall(angle(-np.asarray(psi, float)))
    excess = np.expm1((np.asarray(m) + 1.0) * np.asarray(rho, float)) + eps
    return 0.25 * (excess**2 + eps * (2.0 - eps))


def time_to_angle(psi0: ArrayLike, rho0: ArrayLike, m: ArrayLike, psi1: ArrayLike) -> NDArray:
    """Times s (k,) at which psi = psi1, from starts that broadcast to (k,). Raises InputError for
    an angle before the start's, or more than 14 beyond it and 0 in psi."""
    psi0, rho0, m, psi1 = _columns(psi0, rho0, m, psi1)
    path = orbits(psi0, rho0, m)
    if np.any(psi1 < psi0) or np.any(psi1 > path.psi[:, -1]):
        raise InputError("psi1 must lie between the start's psi0 and the orbit's end")
    return path.at(psi1)[0]


def time_to_loss(psi0: ArrayLike, rho0: ArrayLike, m: ArrayLike, level: ArrayLike) -> NDArray:
    """Times s (k,) at which the loss, which falls along the flow, has come down to `level`, in
    units of |w*|^(2(m+1)); 0 where the start is no higher. Raises InputError for a level that is
    not reached."""
    psi0, rho0, m, level = _columns(psi0, rho0, m, level)
    path = orbits(psi0, rho0, m, _LATE)
    losses = relative_loss(path.psi, path.rho, m[:, None])
    if np.any(losses[:, -1] > level):
        raise InputError(f"level must be a loss that the flow reaches, not {level.min():g}")
    k = np.maximum(np.argmax(losses <= level[:, None], axis=1) - 1, 0)
    low, high = (path.psi[np.arange(len(k)), at] for at in (k, k + 1))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = relative_loss(middle, path.at(middle)[1], m) > level
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(losses[:, 0] <= level, 0.0, path.at(0.5 * (low + high))[0])


def _columns(*given: ArrayLike) -> list[NDArray]:
    return [np.atleast_1d(a).astype(float) for a in np.broadcast_arrays(*given)]


# --- Where the magnitude of a balanced chain turns under a Gaussian teacher: its phases, its dip --
#
# v = |w| falls exactly where v > v* (1 - eps)^(1/(m+1)), the nullcline. Whether and where it turns
# is told by delta = (v*/v)^(m+1) - 1. With g = phi / sin(phi) the equations are
#
#     d/dpsi [g^(m+1) delta] = (m + 1) pi eps g^(m+1) / phi,
#
# and v rises exactly where (1 - eps) delta > eps. Nothing cancels in delta, however near v is to
# v*.

RISING, TURNING, FALLING = "rising", "falling, then rising", "falling"
OTHER = "other"
SHAPES = (RISING, TURNING, FALLING, OTHER)

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
    """v/v* = (1 - eps)^(1/(m+1)), where dv/dt = 0, of angles phi (...)."""
    return pull(phi) ** (1.0 / (m + 1))


def threshold_norm(phi: ArrayLike) -> NDArray:
    """|w|/|w*| from which on a one-layer neuron's |w(t)| falls for ever: the separatrix phi /
    -(sin(phi) + pi cos(phi)), infinite unless angle(w, w*) = pi - phi < arctan(pi)."""
    phi = np.asarray(phi, float)
    below = -(np.sin(phi) + np.pi * np.cos(phi))
    # The root of `below` is known only to rounding: a norm above 1e15 |w*| counts as none.
    return np.where(below > 1e-15, phi / np.maximum(below, 1e-15), np.inf)


def phases(psi0: float, rho0: float, m: int) -> Phases:
    """How |w(t)| moves from a start. The integral is followed panel by panel until a turn must have
    come; for m = 0 a turn with |w| within 1e-8 of |w*| is not told from none. Raises InputError for
    a start with m >= 1 so near the teacher that its turn is too late to be followed."""
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
    """The shape of a curve (k,), and where it turns (0 without a turn). A curve falls, or rises,
    where it comes by more than `least` below, or above, an earlier value. One that stays within
    `least` of its start rises or falls as its end lies above the start or not."""
    rises = values - np.minimum.accumulate(values) > least
    falls = np.maximum.accumulate(values) - values > least
    if not (rises.any() and falls.any()):
        up = rises.any() or (not falls.any() and values[-1] > values[0])
        return (RISING if up else FALLING), 0
    risen = values[np.argmax(rises) :]
    if not falls[: -len(risen)].any() or (np.maximum.accumulate(risen) - risen > least).any():
        return OTHER, 0
    return TURNING, int(np.argmin(values[: -len(risen)]))


def _eps(psi: NDArray) -> NDArray:
    return shortfall(angle(-psi))


def _growth(psi: NDArray, psi0: float, m: int) -> NDArray:
    """(g(phi) / g(phi_0))^(m+1), where g(phi) = phi cosh(psi)."""
    log_g, log_g0 = (np.log(angle(a)) + np.logaddexp(a, np.negative(a)) for a in (psi, psi0))
    return np.exp((m + 1) * (log_g - log_g0))


def _gains(low: NDArray, high: NDArray, psi0: float, m: int) -> NDArray:
    """int (m + 1) pi eps growth / phi dpsi over the panels (low, high), each (k,)."""
    half = 0.5 * (high - low)[:, None]
    psi = low[:, None] + half * (_NODES + 1.0)
    values = (m + 1) * np.pi * _eps(psi) * _growth(psi, psi0, m) / angle(psi)
    return (half * values) @ _WEIGHTS


def _rise(scaled: NDArray, psi: NDArray, psi0: float, m: int) -> NDArray:
    """(1 - eps) delta - eps, times the growth, by which `scaled` delta is multiplied: the sign of
    dv/dt. Near phi = 0, where eps is 1 to rounding, 1 - eps is not."""
    return pull(angle(psi)) * scaled - _eps(psi) * _growth(psi, psi0, m)


def _panels(psi0: float, m: int) -> int:
    """Panels within which the turn lies: for m = 1 and phi_0 near pi it is 1/eps_0 away."""
    span = 20.0 + 2.0 * max(psi0, 0.0)
    if m == 1:
        span += 2.0 / float(_eps(np.array(psi0)))
    # g grows as e^psi once phi is near pi.
    span = min(span, _LARGEST / (m + 1) - min(psi0, 0.0))
    return math.ceil(span / _WIDTH)


# --- A chain of ReLU neurons under a teacher and Gaussian data, by quadrature: no closed forms ----

_GAUSSIAN_NODES, _GAUSSIAN_WEIGHTS = np.polynomial.legendre.leggauss(16)
"""Exact to rounding for the squares of sines that are integrated, over arcs of at most pi."""


def quadrature_gradient(
    w: ArrayLike, target: ArrayLike, v: ArrayLike = (), target_v: ArrayLike = ()
) -> tuple[NDArray, NDArray]:
    """Gradient of 1/2 E (v_1 ... v_m [w.x]_+ - v_1* ... v_k* [w*.x]_+)^2, by quadrature.

    A Gaussian vector's part in the plane of w and w* has an independent direction a and a square
    of mean 2, so E f = (1/pi) int f(cos a, sin a) da for the f that occur; the arcs on which one
    and both neurons are active are integrated apart. Returns the gradient in w (d,) and v (m,).
    """
    w, target, v = np.asarray(w, float), np.asarray(target, float), np.asarray(v, float)
    size, length = float(np.linalg.norm(target)), float(np.linalg.norm(w))
    first = target / size
    across = w - (w @ first) * first
    away = float(np.linalg.norm(across))
    second = across / away if away > 0.0 else np.zeros_like(first)
    theta = math.atan2(away, float(w @ first))
    low, high = np.array([theta - 0.5 * np.pi, 0.5 * np.pi, theta + 0.5 * np.pi])[[[0, 1], [1, 2]]]
    half = 0.5 * (high - low)[:, None]
    angles = (low[:, None] + half * (_GAUSSIAN_NODES + 1.0)).ravel()
    weights = (half * _GAUSSIAN_WEIGHTS).ravel()
    factor, best = float(np.prod(v)), float(np.prod(np.asarray(target_v, float)))
    student = length * np.cos(angles - theta)
    residual = factor * student - best * size * np.maximum(np.cos(angles), 0.0)
    share = weights * residual / np.pi
    in_plane = factor * np.array([share @ np.cos(angles), share @ np.sin(angles)])
    rests = np.array([np.prod(np.delete(v, k)) for k in range(len(v))])
    return in_plane[0] * first + in_plane[1] * second, rests * float(share @ student)
