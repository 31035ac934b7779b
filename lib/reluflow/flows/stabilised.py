"""A stabilised explicit method, for flows dw/dt = f(w) of gradients that cost much.

A gradient flow is stiff: f' has large negative eigenvalues -lambda, which hold a step of descent
below 2 / lambda long after the fast parts have died out. A method of s stages built on the
Chebyshev polynomial T_s takes steps of 0.65 s^2 / lambda for s evaluations, so that an evaluation
covers the time of about s / 3 steps of descent. This is the second-order Runge-Kutta-Chebyshev
method of Sommeijer, Shampine & Verwer (1998), "RKC: an explicit solver for parabolic PDEs".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline
from torch import Tensor

from reluflow.flows.trajectory import Trajectory

_DAMPING = 2.0 / 13.0
_REACH = 0.653  # the stability interval of s stages is 0.653 (s + 1)^2
_MOST_STAGES = 100
_FIRST = 1e-4  # the first step tried
_AFRESH = 15  # steps after which the spectral radius is estimated afresh


@dataclass(frozen=True)
class StabilisedPath(Trajectory):
    """A trajectory with a knot at every step, and what it took: evaluations of f.

    Between knots it is the cubic of the states and slopes at both ends.
    """

    evaluations: int


def stabilised_flow(
    f: Callable[[Tensor], Tensor], start: Tensor, until: float, tolerance: float
) -> StabilisedPath:
    """Integrate dw/dt = f(w) from t = 0 by Runge-Kutta-Chebyshev steps of controlled error.

    Parameters: f of a state (p,), the start (p,), until > 0, the tolerance of a step's error
    relative to |w|. Raises ArithmeticError where no step is small enough.
    """
    count = 0

    def counted(w: Tensor) -> Tensor:
        nonlocal count
        count += 1
        return f(w)

    t, h, w = 0.0, min(_FIRST, until), start
    slope = counted(w)
    radius, lead = spectral_radius(counted, w, slope, slope)
    times, states, slopes, age = [0.0], [w], [slope], 0
    while t < until:
        if age >= _AFRESH:
            radius, lead = spectral_radius(counted, w, slope, lead)
            age = 0
        h = min(h, until - t, _REACH * _MOST_STAGES**2 / radius)
        stages = max(2, math.ceil(math.sqrt(1.0 + h * radius / _REACH)))
        new = chebyshev_step(counted, w, slope, h, stages)
        new_slope = counted(new)
        error = (0.8 * (w - new) + 0.4 * h * (slope + new_slope)).norm() / (tolerance * w.norm())
        error = float(error)
        if error <= 1.0:
            last = until - t <= h
            t, w, slope, age = (until if last else t + h), new, new_slope, age + 1
            times.append(t)
            states.append(w)
            slopes.append(slope)
        elif not error < 100.0:  # the radius has grown, and the step was not stable
            age = _AFRESH
        if not h > 1e-14 * until:
            raise ArithmeticError(f"the flow stopped at t = {t:g}: no step is small enough")
        good = math.isfinite(error) and error > 0.0
        h *= min(4.0, max(0.1, 0.8 * error ** (-1.0 / 3.0))) if good else (0.1 if error else 4.0)
    knots, values = np.array(times), _rows(states)
    return StabilisedPath(
        t=knots,
        states=values,
        events=(),
        status="horizon",
        clock="time",
        end=values[-1],
        detail=f"the clock came to its end, at {until:g}",
        interpolant=CubicHermiteSpline(knots, values, _rows(slopes)),
        settled=until,
        evaluations=count,
    )


def _rows(states: list[Tensor]) -> NDArray:
    return torch.stack(states).cpu().numpy()


def chebyshev_step(
    f: Callable[[Tensor], Tensor], w: Tensor, slope: Tensor, h: float, stages: int
) -> Tensor:
    """One step of length h; on dw/dt = -z w it multiplies w by 1 + b (T_s(w0 - w1 h z) - T_s(w0)).

    Parameters: f, the state w (p,), slope = f(w), h > 0, stages s >= 2. Returns the new state (p,).
    """
    w0, w1, b, at = _coefficients(stages)
    before, now = w, w + b[1] * w1 * h * slope
    for j in range(2, stages + 1):
        mu, nu = 2.0 * b[j] * w0 / b[j - 1], -b[j] / b[j - 2]
        pace = 2.0 * b[j] * w1 / b[j - 1]
        back = -(1.0 - b[j - 1] * at[j - 1]) * pace
        new = (1.0 - mu - nu) * w + mu * now + nu * before + h * (pace * f(now) + back * slope)
        before, now = now, new
    return now


@cache
def _coefficients(stages: int) -> tuple[float, float, tuple[float, ...], tuple[float, ...]]:
    """w0, w1 = T_s'(w0) / T_s''(w0), b_j = T_j''(w0) / T_j'(w0)^2 and T_j(w0) for j = 0, ..., s."""
    w0 = 1.0 + _DAMPING / stages**2
    at, once, twice = [1.0, w0], [0.0, 1.0], [0.0, 0.0]
    for _ in range(2, stages + 1):
        twice.append(4.0 * once[-1] + 2.0 * w0 * twice[-1] - twice[-2])
        once.append(2.0 * at[-1] + 2.0 * w0 * once[-1] - once[-2])
        at.append(2.0 * w0 * at[-1] - at[-2])
    b = [c / d**2 for c, d in zip(twice[2:], once[2:], strict=True)]
    return w0, once[-1] / twice[-1], (b[0], b[0], *b), tuple(at)


def spectral_radius(
    f: Callable[[Tensor], Tensor], w: Tensor, slope: Tensor, lead: Tensor
) -> tuple[float, Tensor]:
    """Estimate the spectral radius of f' at w by the power method, with a margin of a fifth.

    Parameters: f, w (p,), slope = f(w), lead (p,) a first guess of the leading direction.
    Returns the estimate and the direction.
    """
    size = 1e-6 * w.norm()
    lead, radius = lead / lead.norm(), 0.0
    for _ in range(12):
        image = (f(w + size * lead) - slope) / size
        found, before = float(image.norm()), radius
        if found == 0.0:
            return 1e-300, lead
        lead, radius = image / found, found
        if abs(radius - before) < 0.05 * radius:
            break
    return 1.2 * radius, lead
