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

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import DOP853

from reluflow.errors import InputError
from reluflow.flows.charts import TIME
from reluflow.flows.fields import Field
from reluflow.flows.half_angles import angle
from reluflow.flows.integrate import integrate
from reluflow.flows.population_path import PopulationPath, recorded_path
from reluflow.flows.segment import check_steps
from reluflow.flows.trajectory import Trajectory

_LINEAR = 1e-12
"""Below it pi - phi and rho follow the flow's linear part, to as many digits."""
_LARGE = 700.0
"""Where exp is about to overflow."""
_TAYLOR = [(-1.0) ** (k + 1) * 2 * k / math.factorial(2 * k + 1) for k in range(1, 12)]


def coordinates(w: ArrayLike, target: ArrayLike) -> tuple[NDArray, NDArray]:
    """psi = log tan(phi/2) and rho = log(|w|/|w*|) of weights w (..., d) under a teacher's (d,).

    By half angles, tan(phi/2) = |u + u*| / |u - u*| for the unit vectors, so that no angle loses
    digits; infinite where w is along the teacher to the last digit. Returns two arrays (...).
    """
    w, target = np.asarray(w, float), np.asarray(target, float)
    length, size = np.linalg.norm(w, axis=-1), np.linalg.norm(target)
    u, best = w / length[..., None], target / size
    with np.errstate(divide="ignore"):
        psi = np.log(np.linalg.norm(u + best, axis=-1)) - np.log(np.linalg.norm(u - best, axis=-1))
    return psi, np.log(length) - np.log(size)


def pull(phi: ArrayLike) -> NDArray:
    """(sin phi - phi cos phi) / pi = 1 - eps of eq. (6), with all digits as phi nears 0.

    Parameters: phi (...) in [0, pi]. Returns values in [0, 1] of the same shape.
    """
    return _sine_less_arc(np.asarray(phi, float)) / np.pi


def shortfall(theta: ArrayLike) -> NDArray:
    """eps = 1 - (sin phi - phi cos phi) / pi of Theorem 3.3 at phi = pi - theta, small ones too.

    Parameters: theta (...) in [0, pi]. Returns values in [0, 1] of the same shape.
    """
    theta = np.asarray(theta, float)
    return 2.0 * np.sin(theta / 2.0) ** 2 - _sine_less_arc(theta) / np.pi


def population_gradient(
    w: ArrayLike, target: ArrayLike, v: ArrayLike = (), target_v: ArrayLike = ()
) -> tuple[NDArray, NDArray]:
    """Gradient of L = 1/2 E ([w.x]_+ prod v - [w*.x]_+ prod v*)^2, x ~ N(0, I) (eqs. 5, 14).

    Parameters: w (d,) not 0, target (d,), v (m,), target_v (any number of factors,). Returns the
    gradient in w (d,) and in v (m,); no balance is supposed.
    """
    w, target = np.asarray(w, float), np.asarray(target, float)
    v, factor = np.asarray(v, float), float(np.prod(v))
    best = float(np.prod(np.asarray(target_v, float)))
    length, size = np.linalg.norm(w), np.linalg.norm(target)
    psi, _ = coordinates(w, target)
    phi = angle(psi)
    toward = (phi * target + np.sin(phi) * size / length * w) / (2.0 * np.pi)
    rests = np.array([np.prod(np.delete(v, k)) for k in range(len(v))])
    common = 0.5 * factor * length**2 - 0.5 * best * length * size * pull(phi)
    return factor * (0.5 * factor * w - best * toward), rests * common


@dataclass(frozen=True)
class BalancedFlow(Field):
    """(9)-(10) of Proposition 3.6, for m = 0 (6)-(7) of Proposition 3.1: d(psi, rho)/ds."""

    m: int
    clock: str = TIME

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
    """The balanced flow (9)-(10) of Proposition 3.6, for m = 0 (6)-(7) of Proposition 3.1.

    Parameters: psi0 and rho0 the start's coordinates, m >= 0 factors besides w, t (k,) times >= 0
    in their order, target = |w*| = v_k*. Returns the path with these times as knots; psi and rho
    are good to ten digits at all of them, however late.

    Raises InputError for a start, time or target that is not finite or out of range.
    """
    _check(psi0, rho0, m, target)
    t = np.atleast_1d(np.asarray(t, float))
    if t.ndim != 1 or not (np.isfinite(t).all() and (np.diff(t, prepend=0.0) >= 0.0).all()):
        raise InputError("t must be a list of finite times from 0 on, in their order")
    pace = target ** (2 * m)
    start, last = np.array([psi0, rho0], float), float(t.max(initial=0.0)) * pace or 1.0
    flow = BalancedFlow(int(m))
    # rho goes to 0 and may pass through it: its digits count, not its decimals.
    first = 1e-3 / max(1.0, float(np.abs(flow.velocity(start)).max()))
    path = integrate(
        flow,
        start,
        last,
        stop=lambda _, z: max(-math.log(_LINEAR) - z[0], abs(z[1]) - _LINEAR),
        rtol=1e-13,
        method=DOP853,
        atol=np.array([1e-13, 1e-40]),
        first_step=min(first, last),
    )
    if path.status not in ("horizon", "stopped"):
        raise ArithmeticError(f"the population flow: {path.detail}")

    interpolant = _Continued(path, m, pace)
    states = interpolant(t)
    return PopulationPath(
        t=t,
        states=states,
        events=(),
        status="converged" if path.status == "stopped" else "horizon",
        clock=TIME,
        end=np.array([np.inf, 0.0]) if path.status == "stopped" else path.end,
        detail="along the teacher to rounding" if path.status == "stopped" else path.detail,
        interpolant=interpolant,
        settled=path.t[-1] / pace if path.status == "stopped" else float(t.max(initial=0.0)),
        layers=np.tile(target * np.exp(states[:, 1:]), (1, m)),
        target=float(target),
    )


@dataclass(frozen=True)
class _Continued:
    """The path in s = pace t, and behind it the flow's linear part."""

    path: Trajectory
    m: int
    pace: float

    def __call__(self, t: NDArray) -> NDArray:
        s, last = t * self.pace, self.path.t[-1]
        out, late = self.path.at(np.minimum(s, last)), s > last
        if late.any():
            out[late] = _linear_part(self.path.end, s[late] - last, self.m)
        return out


def population_descent(
    psi0: float,
    rho0: float,
    m: int,
    step: float,
    n_steps: int,
    target: float = 1.0,
    v0: ArrayLike | None = None,
) -> PopulationPath:
    """Gradient descent (3) on the population loss (1), every step of it.

    Parameters: psi0 and rho0 the start's coordinates, m >= 0, step > 0, n_steps >= 0, target =
    |w*| = v_k*, v0 (m,) the factors at the start, |w| each where it is None. Steps keep the plane
    of w and w*, and the part of w across w* is multiplied by a number, so small angles keep their
    digits.

    Returns the path at the steps 0, ..., n_steps. Raises InputError as `population_flow` does.
    """
    _check(psi0, rho0, m, target)
    check_steps(step, n_steps)
    length = target * math.exp(rho0)
    v = [length] * m if v0 is None else [float(a) for a in np.asarray(v0, float)]
    if len(v) != m:
        raise InputError(f"v0 must have {m} factors, not {len(v)}")
    small = math.exp(-2.0 * abs(psi0))
    across = length * 2.0 * math.exp(-abs(psi0)) / (1.0 + small)  # |w| sin(phi)
    along = length * math.tanh(psi0)  # -|w| cos(phi)
    best = target ** (m + 1)
    places, layers = np.empty((n_steps + 1, 2)), np.empty((n_steps + 1, m))
    for k in range(n_steps + 1):
        places[k], layers[k] = (along, across), v
        length, factor = math.hypot(along, across), math.prod(v)
        phi = math.atan2(across, -along)
        common = 0.5 * factor * length**2 - 0.5 * best * length * _scalar_pull(phi)
        shrink = 0.5 * factor - best * (across / length) / (2.0 * math.pi * length)
        keep = 1.0 - step * factor * shrink
        along = keep * along + step * factor * best * phi / (2.0 * math.pi)
        across = abs(keep * across)
        v = [a - step * common * math.prod(v[:i]) * math.prod(v[i + 1 :]) for i, a in enumerate(v)]
    psi, rho = _polar(places[:, 0], places[:, 1], target)
    return recorded_path(np.arange(n_steps + 1.0), psi, rho, layers, target, "steps")


def _check(psi0: float, rho0: float, m: int, target: float) -> None:
    if not (np.isfinite(psi0) and np.isfinite(rho0)):
        raise InputError(f"psi0 and rho0 must be finite, not {psi0!r} and {rho0!r}")
    if int(m) != m or m < 0:
        raise InputError(f"m must be a whole number from 0 on, not {m!r}")
    if not (np.isfinite(target) and target > 0):
        raise InputError(f"target must be a positive number, not {target!r}")


def _sine_less_arc(a: NDArray) -> NDArray:
    """sin a - a cos a, whose leading terms cancel for small a: there by its Taylor series."""
    small = np.minimum(a, 1.0)
    series = np.polynomial.polynomial.polyval(small**2, _TAYLOR) * small**3
    return np.where(a < 1.0, series, np.sin(a) - a * np.cos(a))


def _scalar_pull(phi: float) -> float:
    if phi >= 1.0:
        return (math.sin(phi) - phi * math.cos(phi)) / math.pi
    total = 0.0
    for c in reversed(_TAYLOR):
        total = total * phi * phi + c
    return total * phi**3 / math.pi


def _linear_part(state: NDArray, s: NDArray, m: int) -> NDArray:
    """psi and rho (k, 2) a time s (k,) after a state near the teacher, where dpsi = 1/2.

    There eps = theta^2 / 2 = eps_0 e^-s and drho = -((m + 1) rho + eps) / 2.
    """
    psi0, rho0 = state
    eps0 = 2.0 * math.exp(-2.0 * psi0)
    if m == 1:
        rho = (rho0 - 0.5 * eps0 * s) * np.exp(-s)
    else:
        forced = -eps0 / (m - 1)
        rho = (rho0 - forced) * np.exp(-0.5 * (m + 1) * s) + forced * np.exp(-s)
    return np.column_stack([psi0 + 0.5 * s, rho])


def _polar(along: NDArray, across: NDArray, target: float) -> tuple[NDArray, NDArray]:
    """psi and rho of places (k,) along and across w*."""
    length = np.hypot(along, across)
    # tan(phi/2) = across / (length - along) = (length + along) / across, where nothing cancels.
    with np.errstate(divide="ignore"):
        half = np.where(
            along > 0.0,
            np.log(length + np.abs(along)) - np.log(across),
            np.log(across) - np.log(length + np.abs(along)),
        )
        return half, np.log(length / target)
