"""Theorem 4.1 of Lee, Sim & Ye 2022b: descent beside a flow w(t) = g(e^(-ct)), and its error.

The flow solves dw/dt = F(w) with F(g(x)) = -c x g'(x). Descent is w(T+1) = w(T) + eta F(w(T)), and
the theorem compares w(T) with g(y), y = (1 - c eta)^T.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError

Function = Callable[[float], float]


@dataclass(frozen=True)
class Profile:
    """A one-to-one function g in C^2([0, 1]), its derivative and its inverse.

    steepness   (least |g'|, largest |g'|, largest |g''|) on [0, 1]
    """

    name: str
    value: Function
    slope: Function
    inverse: Function
    steepness: tuple[float, float, float]

    @property
    def regular(self) -> bool:
        """Whether g' has no zero, hence the inverse a bounded derivative."""
        return self.steepness[0] > 0.0


def bent(beta: float, power: float) -> Profile:
    """g(x) = ((1 + beta x)^power - 1) / (beta power), g' = (1 + beta x)^(power - 1).

    Theorem A.3's g is power = -1/2 up to a linear map, linear g is power = 1. Raises InputError for
    beta <= -1 or a beta or power of 0.
    """
    if not (beta > -1.0 and beta != 0.0 and power != 0.0):
        raise InputError("beta must be above -1, and beta and power must not be 0")
    ends = (1.0, 1.0 + beta)
    slopes = [base ** (power - 1.0) for base in ends]
    curvatures = [abs(beta * (power - 1.0)) * base ** (power - 2.0) for base in ends]
    return Profile(
        f"((1 + {beta:.3g} x)^{power:.3g} - 1) / {beta * power:.3g}",
        lambda x: ((1.0 + beta * x) ** power - 1.0) / (beta * power),
        lambda x: (1.0 + beta * x) ** (power - 1.0),
        lambda w: ((1.0 + beta * power * w) ** (1.0 / power) - 1.0) / beta,
        (min(slopes), max(slopes), max(curvatures)),
    )


def flat_inside() -> Profile:
    """g(x) = sign(u) e^(-1/|u|), u = x - 1/2: smooth, one-to-one, with g'(1/2) = 0."""

    def value(x: float) -> float:
        u = x - 0.5
        return math.copysign(math.exp(-1.0 / abs(u)), u) if u else 0.0

    def slope(x: float) -> float:
        u = x - 0.5
        return math.exp(-1.0 / abs(u)) / u**2 if u else 0.0

    def inverse(w: float) -> float:
        return 0.5 + (math.copysign(1.0 / math.log(1.0 / abs(w)), w) if w else 0.0)

    # g'' = e^(-1/|u|) (1 - 2|u|) / u^4 is largest at |u| = (3 - sqrt 3) / 6.
    u = (3.0 - math.sqrt(3.0)) / 6.0
    most = math.exp(-1.0 / u) * (1.0 - 2.0 * u) / u**4
    return Profile("flat at x = 1/2", value, slope, inverse, (0.0, 4.0 * math.exp(-2.0), most))


def flat_start() -> Profile:
    """g(x) = (1 - x)^2, with g'(1) = 0: w = 0 at the start, where F(w) = 2c (sqrt w - w) is 0."""
    return Profile(
        "(1 - x)^2",
        lambda x: (1.0 - x) ** 2,
        lambda x: -2.0 * (1.0 - x),
        lambda w: 1.0 - math.sqrt(w),
        (0.0, 2.0, 2.0),
    )


def descent_path(profile: Profile, c: float, step: float, n_steps: int) -> NDArray:
    """Descent w(0), ..., w(n_steps) of F(g(x)) = -c x g'(x) from w(0) = g(1)."""
    w = profile.value(1.0)
    out = np.empty(n_steps + 1)
    for k in range(n_steps + 1):
        out[k] = w
        x = profile.inverse(w)
        w = w - c * step * x * profile.slope(x)
    return out


def approximation_errors(profile: Profile, c: float, step: float, n_steps: int) -> NDArray:
    """|w(T) - g((1 - c eta)^T)| at T = 0, ..., n_steps (12)."""
    guess = [profile.value((1.0 - c * step) ** k) for k in range(n_steps + 1)]
    return np.abs(descent_path(profile, c, step, n_steps) - np.array(guess))


def largest_errors(profile: Profile, c: float, steps: Sequence[float], span: float) -> NDArray:
    """The largest error up to c eta T = span, one for each step, shape (k,)."""
    return np.array(
        [approximation_errors(profile, c, s, math.ceil(span / (c * s))).max() for s in steps]
    )


def errors_at(profile: Profile, c: float, steps: Sequence[float], T: int) -> NDArray:
    """The error at one step number T, one for each step, shape (k,)."""
    return np.array([approximation_errors(profile, c, s, T)[T] for s in steps])


def order(steps: ArrayLike, errors: ArrayLike) -> float:
    """The exponent p of errors ~ steps^p: the slope of the least-squares line in logarithms."""
    return float(np.polyfit(np.log(np.asarray(steps)), np.log(np.asarray(errors)), 1)[0])


def regular_bound(profile: Profile, c: float, step: float, T: ArrayLike) -> NDArray:
    """Our version of Theorem 4.1: if g' has no zero, mu = max |g''| / min |g'|, c eta <= 1/4 and
    c eta mu <= 1, then at every T

        |w(T) - g(y)| <= max |g'| (e^(2 c eta mu) - 1) y,   y = (1 - c eta)^T.

    With x = g^(-1)(w), h = c eta, a step is x <- (1 - h) x (1 + e), |e| <= h^2 mu x / (2 (1 - h)),
    and x shrinks by 1 - h/2 at least; so log(1 + e) sums up to less than 2 h mu. Returns an array
    (k,). Raises InputError where the conditions fail.
    """
    least, most, curvature = profile.steepness
    rate = c * step
    if not (least > 0.0 and rate <= 0.25 and rate * curvature <= least):
        raise InputError("step must meet c eta <= 1/4 and c eta max|g''| <= min|g'|, with g' != 0")
    y = (1.0 - rate) ** np.asarray(T, float)
    return most * math.expm1(2.0 * rate * curvature / least) * y


def proof_constant(profile: Profile, c: float, step: float) -> float:
    """The bound at which the proof of Theorem 4.1 arrives, c eta max|g''| / (2 (2 - c eta))."""
    return c * step * profile.steepness[2] / (2.0 * (2.0 - c * step))
