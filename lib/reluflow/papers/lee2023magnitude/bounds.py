"""The bounds of Sections 3 and 4 and of Appendix A on the magnitude and the angle, as printed.

m is the number of factors besides w, phi = pi - angle(w, w*), v = |w|, target = v* = |w*|, and
eps_0 = 1 - (sin phi_0 - phi_0 cos phi_0) / pi. Every bound is a combination of decays e^(-c t);
with (1 - c eta)^T in place of each it is the paper's bound after T steps of descent (`decay`).
Functions return (lower, upper), each of the times' shape.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.flows.balanced_chain import balanced_chain, clock, log_odds, odds_at, ratio
from reluflow.flows.half_angles import angle
from reluflow.flows.phases import nullcline
from reluflow.flows.population import pull

Bounds = tuple[NDArray, NDArray]


def decay(rate: float, t: ArrayLike, step: float | None = None) -> NDArray:
    """e^(-rate t) at times t (k,) of the flow, (1 - rate step)^t after t steps of descent.

    Where rate step > 2, far from the theorems' small steps, it may overflow.
    """
    t = np.asarray(t, float)
    if step is None:
        return np.exp(-rate * t)
    with np.errstate(over="ignore"):
        return (1.0 - rate * step) ** t


def _decayed(rate: float, t: ArrayLike, step: float | None) -> NDArray:
    """1 - decay, with all digits where that is small."""
    t = np.asarray(t, float)
    if step is None:
        return -np.expm1(-rate * t)
    share = rate * step
    return -np.expm1(t * math.log1p(-share)) if share < 1.0 else 1.0 - decay(rate, t, step)


def magnitude_bounds(
    t: ArrayLike, phi0: float, v0: float, target: float, step: float | None = None
) -> Bounds:
    """Theorem 3.3, and with a step A.1: with q = e^(-t/2),

        (1 - eps_0)(1 - q) v* + q v_0 < |w(t)| < (1 - q) v* + q v_0.

    Eq. (8) and A.1's special case, for |w_0| near 0, are these for v0 = 0. Parameters: t (k,) times
    or step numbers, the start's angle phi0 in [0, pi] and magnitude v0 >= 0, target > 0.
    """
    arrived, left = _decayed(0.5, t, step) * target, decay(0.5, t, step) * v0
    return float(pull(phi0)) * arrived + left, arrived + left


def two_layer_magnitude_bounds(
    t: ArrayLike, phi0: float, v0: float, target: float, step: float | None = None
) -> Bounds:
    """Theorem 3.8 for m = 1, and with a step A.3: with k = 1 - eps_0 below and k = 1 above,

        v* sqrt(k / (1 - (1 - k (v*/v_0)^2) e^(-k v*^2 t))).

    Parameters: t (k,) times or step numbers, phi0 in (0, pi], v0 > 0, target > 0.
    """

    def printed(k: float) -> NDArray:
        # The fraction over k, as (1 - q) / k + (v*/v_0)^2 q: nothing cancels.
        rate = k * target**2
        left = decay(rate, t, step) * (target / v0) ** 2
        return target / np.sqrt(left + _decayed(rate, t, step) / k)

    return printed(float(pull(phi0))), printed(1.0)


def layered_magnitude_bounds(t: ArrayLike, phi0: float, v0: float, target: float, m: int) -> Bounds:
    """Theorem 3.8 in the form that is right: u(t; eps_0) < v(t) < u(t; 0), where

        du/dt = -1/2 u^m (u^(m+1) - (1 - eps) v*^(m+1)),  u(0; eps) = v_0,

    which is (15) with its sign corrected. Parameters: t (k,) times, phi0 in [0, pi], v0 > 0, target
    > 0, m >= 0.
    """
    below = target * float(nullcline(phi0, m))
    return balanced_chain(t, v0, below, m), balanced_chain(t, v0, target, m)


def implicit_printed(
    t: ArrayLike, phi0: float, v0: float, target: float, m: int, kappa: float
) -> NDArray:
    """u(t; eps) of Theorem 3.8 exactly as printed, NaN where its equation has no real solution.

    With F(u; e) = u^(1-m) / ((m-1) v*^(m+1) (1-e)) 2F1(1, (1-m)/(m+1); 2/(m+1); u^(m+1) / ((1-e)
    v*^(m+1))) the theorem says F(u; eps) - F(v0; eps_0) = -t/2, with eps_0 in the constant whatever
    eps is. For arguments beyond 1 the hypergeometric function is on its branch cut. There Im F is
    constant in u, and depends on e: it cancels for eps = eps_0, and for no other eps.

    Parameters: t (k,) times, phi0 in (0, pi), v0 > 0, target > 0, m >= 2, and kappa = 1 - eps in
    (0, 1], whose digits count where it is small. Returns u (k,). Raises InputError for m < 2, where
    the formula divides by m - 1 = 0 or is not meant.
    """
    if m < 2:
        raise InputError(f"the implicit formula needs m of at least 2, not {m}")
    t = np.asarray(t, float)
    a, a0 = target * kappa ** (1.0 / (m + 1)), target * float(nullcline(phi0, m))
    above = v0 > a0
    if v0 == a0 or (above and not math.isclose(a, a0, rel_tol=1e-12)):
        return np.full(t.shape, np.nan)
    # Up to a constant, F(u; e) = -1/2 a^(-2m) clock(u / a) for a = a(e); below, without one.
    started = float(clock(log_odds(v0 / a0, m), m, above)) / a0 ** (2 * m)
    return a * ratio(odds_at(a ** (2 * m) * (started + t), m, above), m, above)


def angle_rates(phi0: float, r: float, R: float, target: float, m: int) -> tuple[float, float]:
    """The rates (p, q) of the bounds on the angle where r < |w| < R, see `gap_bounds`:

    m  = 0:  phi_0 v* / (2 pi R)            and  v* / (2 r),             Theorems 3.4 and A.2,
    m >= 1:  phi_0 r^(m-1) v*^(m+1) / (2 pi)  and  R^(m-1) v*^(m+1) / 2,  Theorems 3.9 and 4.2.
    """
    slow, fast = (R, r) if m == 0 else (r, R)
    pace = 0.5 * target ** (m + 1)
    return phi0 / math.pi * pace * slow ** (m - 1.0), pace * fast ** (m - 1.0)


def gap_bounds(
    t: ArrayLike, psi0: float, r: float, R: float, target: float, m: int, step: float | None = None
) -> Bounds:
    """Theorem 3.4 (m = 0) and 3.9 (m >= 1), with a step A.2 and 4.2: with k = cot(phi_0 / 2),

        2 k e^(-q t) - 2/3 k^3 e^(-3 q t) < pi - phi(t) < 2 k e^(-p t),

    (p, q) the `angle_rates`. With R = |w*|, which cancels in p, the upper one is the special case
    of |w_0| near 0. Parameters: t (k,) times or step numbers, psi0 = log tan(phi_0 / 2), of which
    k = e^(-psi0) has all its digits, 0 < r < |w(t)| < R, target > 0, m >= 0.
    """
    slow, fast = angle_rates(float(angle(psi0)), r, R, target, m)
    k = math.exp(-psi0)
    with np.errstate(over="ignore", invalid="ignore"):  # NaN where both overflow: no bound
        least = 2.0 * k * decay(fast, t, step) - 2.0 / 3.0 * k**3 * decay(3.0 * fast, t, step)
    return least, 2.0 * k * decay(slow, t, step)


def step_limit(phi0: float, r: float, R: float, target: float, m: int) -> float:
    """The number that Theorems A.2 (m = 0) and 4.2 (m >= 1) want far above the step: the smaller
    one of 1/p and 1/(3 q) for the `angle_rates` (p, q)."""
    slow, fast = angle_rates(phi0, r, R, target, m)
    return min(1.0 / slow, 1.0 / (3.0 * fast))


def enough_steps(log_eps: float, psi0: float, factor: float) -> float:
    """Corollary 4.3: log(eps/2 tan(phi_0/2)) / log(factor) steps are said to give phi > pi - eps.

    The printed factor is 1 - p eta, p = phi_0 r^(m-1) v*^(m+1) / (2 pi). Parameters: log eps,
    psi0 = log tan(phi_0/2), the factor in (0, 1). Returns the number, not rounded; negative where
    no step is needed.
    """
    return (log_eps - math.log(2.0) + psi0) / math.log(factor)
