"""What the sections of chapter 2 share: balanced starts, and the printed bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.falsify import Draws, Instance
from reluflow.papers.lee2023magnitude import population
from reluflow.papers.lee2023magnitude.chains import balanced_chain, clock, log_odds, odds_at, ratio
from reluflow.papers.lee2023magnitude.population import PopulationPath, angle, log_tan, pull
from reluflow.parameters import SECTION, Parameter, between

# --- What the parameters cells of chapter 2 may hold: that of its page, and those of its sections -


def whole(value: Any) -> bool:
    """Whether a value is a whole number; True is none."""
    return isinstance(value, int) and not isinstance(value, bool)


def number(value: Any) -> bool:
    """Whether a value is a finite number; True is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def few(values: list, fits: Callable[[Any], bool]) -> bool:
    """Whether one to six values fit, all different: a figure has a row or a column for each."""
    return 1 <= len(values) <= 6 and all(map(fits, values)) and len(set(values)) == len(values)


PARAMETERS: Mapping[str, Parameter] = {
    "layers": Parameter(
        list,
        "numbers of layers m + 1 of the networks of Figures 1 and 2",
        lambda value: few(value, lambda v: whole(v) and 1 <= v <= 12),
        "a list of one to six different whole numbers from 1 to 12",
    ),
    "norms": Parameter(
        list,
        "scale of the start over scale of the target, k / k*, one column of the figures each",
        lambda value: few(value, lambda v: number(v) and 1e-6 <= v <= 1000),
        "a list of one to six different numbers from 1e-6 to 1000",
    ),
    "d": Parameter(int, "dimension of the data", *between(2, 1000)),
    "n": Parameter(int, "number of data", *between(1, 100_000)),
    "steps": Parameter(int, "steps of descent", *between(10, 1_000_000)),
    "learning_rate": Parameter(
        float,
        "learning rate of every panel; None for the paper's",
        *between(1e-12, 1000),
        optional=True,
    ),
    "data": Parameter(
        str,
        '"empirical" for n drawn data, "population" for the Gaussian law itself',
        lambda value: value in ("empirical", "population"),
        '"empirical" or "population"',
    ),
    **SECTION,
}


# --- Starts of a balanced chain, v_1 = ... = v_m = |w_0|, in the coordinates of `population` ------
#
# An instance of a statement on a start holds "psi", "rho" and "m", arrays (), and "target" where it
# is not 1; `Start.of` reads it.

Range = tuple[float, float]


@dataclass(frozen=True)
class Start:
    """A start and its teacher.

    psi, rho  log tan(phi_0/2) and log(|w_0|/|w*|)
    m         factors v_1, ..., v_m besides w
    target    |w*| = v_k*
    """

    psi: float
    rho: float
    m: int
    target: float = 1.0

    @classmethod
    def at(cls, phi: float, v: float, m: int, target: float = 1.0) -> Start:
        """The start with phi_0 = phi in (0, pi) and |w_0| = v > 0."""
        return cls(float(log_tan(phi)), math.log(v / target), m, target)

    @classmethod
    def near(cls, theta: float, v: float, m: int, target: float = 1.0) -> Start:
        """The start with pi - phi_0 = theta, however small, in (0, pi), and |w_0| = v > 0."""
        return cls(-float(log_tan(theta)), math.log(v / target), m, target)

    @classmethod
    def of(cls, item: Instance) -> Start:
        """The start of an instance."""
        psi, rho, target = (float(item.get(name, 1.0)) for name in ("psi", "rho", "target"))
        return cls(psi, rho, int(item["m"]), target)

    @property
    def phi(self) -> float:
        """phi_0 = pi - angle(w_0, w*)."""
        return float(angle(self.psi))

    @property
    def theta(self) -> float:
        """angle(w_0, w*), with all its digits where it is small."""
        return float(angle(-self.psi))

    @property
    def v(self) -> float:
        """|w_0|."""
        return self.target * math.exp(self.rho)

    def flow(self, t: ArrayLike) -> PopulationPath:
        """The flow from here at times t (k,)."""
        return population.population_flow(self.psi, self.rho, self.m, t, self.target)

    def descent(self, step: float, n_steps: int) -> PopulationPath:
        """Descent from here, every step of it."""
        return population.population_descent(self.psi, self.rho, self.m, step, n_steps, self.target)


def _drawn(
    layers: Sequence[int], psi: Range, rho: Range, sizes: Range | None, rng: np.random.Generator
) -> Instance:
    item = {"psi": np.array(rng.uniform(*psi)), "rho": np.array(rng.uniform(*rho))}
    if sizes is not None:
        item["target"] = np.array(10.0 ** rng.uniform(*sizes))
    return {**item, "m": np.array(int(rng.choice(layers)))}


def drawn(
    layers: Sequence[int], ranges: Mapping[str, tuple[Range, Range]], sizes: Range | None = None
) -> Draws:
    """Draws of starts with m in `layers`, by kind, given the ranges of psi and rho; with `sizes`
    also of "target", whose decimal logarithm is in that range."""
    return {name: partial(_drawn, layers, *pair, sizes) for name, pair in ranges.items()}


# --- The bounds of Sections 3 and 4 and of Appendix A on the magnitude and the angle, as printed --
#
# m is the number of factors besides w, phi0 the start's angle in (0, pi), v0 > 0 its |w|, target =
# v* = |w*|, and eps_0 = 1 - (sin phi_0 - phi_0 cos phi_0) / pi. t (k,) are times or step numbers:
# every bound is a combination of decays e^(-c t), and with (1 - c eta)^T in place of each it is the
# paper's bound after T steps of descent (`decay`). Functions return (lower, upper), each (k,).

Bounds = tuple[NDArray, NDArray]


def decay(rate: float, t: ArrayLike, step: float | None = None) -> NDArray:
    """e^(-rate t) at times t (k,) of the flow, (1 - rate step)^t after t steps of descent. Where
    rate step > 2, far from the theorems' small steps, it may overflow."""
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

    Eq. (8) and A.1's special case, for |w_0| near 0, are these for v0 = 0.
    """
    arrived, left = _decayed(0.5, t, step) * target, decay(0.5, t, step) * v0
    return float(pull(phi0)) * arrived + left, arrived + left


def two_layer_magnitude_bounds(
    t: ArrayLike, phi0: float, v0: float, target: float, step: float | None = None
) -> Bounds:
    """Theorem 3.8 for m = 1, and with a step A.3: with k = 1 - eps_0 below and k = 1 above,

    v* sqrt(k / (1 - (1 - k (v*/v_0)^2) e^(-k v*^2 t))).
    """

    def printed(k: float) -> NDArray:
        # The fraction over k, as (1 - q) / k + (v*/v_0)^2 q: nothing cancels.
        rate = k * target**2
        left = decay(rate, t, step) * (target / v0) ** 2
        return target / np.sqrt(left + _decayed(rate, t, step) / k)

    return printed(float(pull(phi0))), printed(1.0)


def layered_magnitude_bounds(t: ArrayLike, phi0: float, v0: float, target: float, m: int) -> Bounds:
    """Theorem 3.8, for m >= 2 in the form that is right: u(t; eps_0) < v(t) < u(t; 0), where

        du/dt = -1/2 u^m (u^(m+1) - (1 - eps) v*^(m+1)),  u(0; eps) = v_0,

    which is (15) with its sign corrected; explicit for m = 0 (Theorem 3.3) and m = 1.
    """
    if m < 2:
        return (magnitude_bounds, two_layer_magnitude_bounds)[m](t, phi0, v0, target)
    below = target * float(population.nullcline(phi0, m))
    return balanced_chain(t, v0, below, m), balanced_chain(t, v0, target, m)


def implicit_printed(
    t: ArrayLike, phi0: float, v0: float, target: float, m: int, kappa: float
) -> NDArray:
    """u(t; eps) of Theorem 3.8 exactly as printed, NaN where its equation has no real solution.

    With F(u; e) = u^(1-m) / ((m-1) v*^(m+1) (1-e)) 2F1(1, (1-m)/(m+1); 2/(m+1); u^(m+1) / ((1-e)
    v*^(m+1))) the theorem says F(u; eps) - F(v0; eps_0) = -t/2, with eps_0 in the constant whatever
    eps is. For arguments beyond 1 the hypergeometric function is on its branch cut. There Im F is
    constant in u, and depends on e: it cancels for eps = eps_0, and for no other eps.

    kappa = 1 - eps, whose digits count where it is small. Raises InputError for m < 2, where the
    formula divides by m - 1 = 0 or is not meant.
    """
    if m < 2:
        raise InputError(f"the implicit formula needs m of at least 2, not {m}")
    t = np.asarray(t, float)
    a, a0 = target * kappa ** (1.0 / (m + 1)), target * float(population.nullcline(phi0, m))
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
    of |w_0| near 0. Of psi0 = log tan(phi_0 / 2) k = e^(-psi0) has all its digits.
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


# --- Second routes for the bounds on flows, with |w*| = 1, by mpmath ------------------------------


def bounds_exact_pull(phi: Any) -> mpmath.mpf:
    """1 - eps = (sin phi - phi cos phi) / pi."""
    return (mpmath.sin(phi) - phi * mpmath.cos(phi)) / mpmath.pi


def one_layer_length(phi0: float, v0: float, t: float) -> mpmath.mpf:
    """|w(t)| of one layer by its closed form."""
    start, left = mpmath.mpf(phi0) / mpmath.sin(phi0), mpmath.exp(mpmath.mpf(t) / 2)
    cot = mpmath.cot(phi0) - start / (mpmath.pi * v0) * (left - 1)
    phi = mpmath.acot(cot)
    phi = phi + mpmath.pi if phi < 0 else phi
    return v0 / left * phi / mpmath.sin(phi) / start


def layered_length(phi0: float, v0: float, m: int, t: float) -> mpmath.mpf:
    """v(t) of (9)-(10) by a Taylor series."""

    def rates(_: Any, state: Sequence[Any]) -> list[Any]:
        v, phi = state
        turn = v ** (m - 1) * phi * mpmath.sin(phi) / (2 * mpmath.pi)
        return [-(v**m) * (v ** (m + 1) - bounds_exact_pull(phi)) / 2, turn]

    return mpmath.odefun(rates, 0, [mpmath.mpf(v0), mpmath.mpf(phi0)])(t)[0]


def printed_left(u: Any, m: int, share: Any) -> mpmath.mpf:
    """F(u; eps) of Theorem 3.8 with share = 1 - eps:

    u^(1-m) / ((m-1)(1-eps)) 2F1(1, (1-m)/(m+1); 2/(m+1); u^(m+1)/(1-eps)).
    """
    b = mpmath.mpf(1 - m) / (m + 1)
    value = mpmath.hyp2f1(1, b, 1 + b, mpmath.mpf(u) ** (m + 1) / share)
    return mpmath.mpf(u) ** (1 - m) / ((m - 1) * share) * value


def printed_upper(phi0: float, v0: float, m: int, t: float) -> mpmath.mpf:
    """u(t; 0) of Theorem 3.8 as printed, for a value in (0, 1)."""
    constant = printed_left(v0, m, bounds_exact_pull(phi0)) - mpmath.mpf(t) / 2
    return mpmath.findroot(
        lambda u: printed_left(u, m, mpmath.mpf(1)) - constant, (0.01, 0.99), solver="anderson"
    )
