"""Descent of one layer: Theorem A.1 on the magnitude, which holds, and Theorem A.2 on the angle,
the upper bound of which needs another cubic term if one fraction is to serve all starts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.falsify import Statement
from reluflow.flows.phases import nullcline
from reluflow.instances import Arrays, extended
from reluflow.ledger import Evidence, fact, note
from reluflow.papers.lee2023magnitude import descent_exact as exact
from reluflow.papers.lee2023magnitude.bounds import (
    angle_rates,
    gap_bounds,
    magnitude_bounds,
    step_limit,
)
from reluflow.papers.lee2023magnitude.descents import (
    NEAR_ZERO,
    ON_THE_ANGLE,
    SMALLNESS,
    Descent,
    draws,
    everywhere,
    statement,
    to_the_limit,
)
from reluflow.papers.lee2023magnitude.starts import Start

SEEN = 1e-280
"""Where pi - phi is smaller it is about to underflow, as it falls from step to step."""

OPPOSITE = 0.1
"""A start is away from phi0 = 0 if phi0 is at least this."""

ANY_STEP = (1, *SMALLNESS)
"""Shares of X = 2: the theorems hold for every step below it."""


def below_two(run: Descent) -> bool:
    """Whether the step is below 2, and as small as the instance says."""
    return run.is_below(2.0)


def small_norm(phi0: float, target: float, step: float) -> float:
    """The norm below which Theorem A.1's special case holds from T = 1 on:

    |w0| < eta / (2 - eta) |w*| (1 - |phi0 u* + sin(phi0) u| / pi).
    """
    reach = math.sqrt(phi0**2 + math.sin(phi0) ** 2 - 2.0 * phi0 * math.sin(phi0) * math.cos(phi0))
    return step / (2.0 - step) * target * (1.0 - reach / math.pi)


def _magnitude_slack(run: Descent, v0: float) -> float:
    """The least distance of |w(T)|, T >= 1, to Theorem A.1's bounds for this v0."""
    start, path = run.start, run.path
    lower, upper = magnitude_bounds(path.t, start.phi, v0, start.target, run.step)
    slack = np.minimum(path.length - lower, upper - path.length)[1:]
    return float(slack.min()) / max(start.v, start.target)


def magnitude() -> Statement:
    """ma.thmA.1.1: Theorem A.1 from the first step on, for all steps below 2."""
    return statement(
        "A.1: both bounds of |w(T)|, T >= 1",
        draws((0,), lambda _: 2.0, psi=(-9.0, 12.0), rho=(-9.0, 5.0), shares=ANY_STEP),
        lambda run: _magnitude_slack(run, run.start.v),
        {"step below 2": below_two},
    )


def small_magnitude() -> Statement:
    """ma.thmA.1.2: Theorem A.1, the special case: |w0| below `small_norm`."""

    def limit(run: Descent) -> float:
        return small_norm(run.start.phi, run.start.target, run.step)

    def near(item: Arrays, rng: np.random.Generator) -> Arrays:
        run = Descent.of(item)
        share = limit(run) / run.start.target * rng.uniform(0.0, 1.0)
        return {"rho": np.array(math.log(max(share, 1e-300)))}

    return statement(
        "A.1, |w0| near 0: both bounds of |w(T)|, T >= 1",
        extended(draws((0,), lambda _: 2.0, psi=(-4.0, 4.0), shares=ANY_STEP), near),
        lambda run: _magnitude_slack(run, 0.0),
        {
            "step below 2": below_two,
            "|w0| small enough": lambda run: run.start.v < limit(run),
        },
    )


def angle_slacks(run: Descent) -> tuple[NDArray, NDArray]:
    """Slacks of the lower and the upper bound of phi(T), T = 0, 1, ..., as shares of pi - phi."""
    start, path = run.start, run.path
    given = (*run.norm_range(), start.target, start.m, run.step)
    below, above = gap_bounds(path.t, start.psi, *given)
    return (above - path.theta) / path.theta, (path.theta - below) / path.theta


def angle(layers: tuple[int, ...], side: int, says: str) -> Statement:
    """ma.thmA.2.1: Theorem A.2 (layers = (0,)) or 4.2, its lower (side = 0) or its upper bound of
    phi(T)."""
    return statement(
        says,
        everywhere(layers),
        lambda run: float(angle_slacks(run)[side].min()),
        ON_THE_ANGLE,
    )


def angle_away() -> Statement:
    """ma.thmA.2.2: Theorem A.2, its upper bound of phi(T), away from phi0 = 0."""
    found = angle((0,), 1, f"A.2: upper bound of phi(T), T >= 0, phi0 >= {OPPOSITE}")
    far = {f"phi0 >= {OPPOSITE}": lambda item: Descent.of(item).start.phi >= OPPOSITE}
    return replace(found, draws=draws((0,)), hypotheses={**found.hypotheses, **far})


def repaired_gap(T: ArrayLike, psi0: float, share: float) -> NDArray:
    """What pi - phi(T) exceeds if a step multiplies tan((pi - phi)/2) by 1 - share at least:

    2 y - 2/3 y^3,  y = cot(phi0/2) (1 - share)^T,

    which is Theorem A.2's (4.2's) upper bound of phi with (1 - share)^(3T) for (1 - 3 share)^T.
    """
    y = np.exp(np.asarray(T, float) * math.log1p(-share) - psi0)
    return 2.0 * y - 2.0 / 3.0 * y**3


def repaired_angle() -> Statement:
    """ma.ours.descent.one: Theorem A.2's upper bound with the cubic term repaired."""

    def share(run: Descent) -> float:
        return run.step * run.start.target / (2.0 * run.norm_range()[0])

    def slack(run: Descent) -> float:
        theta = run.path.theta[run.path.theta > SEEN]
        below = repaired_gap(np.arange(len(theta)), run.start.psi, share(run))
        return float(((theta - below) / theta).min())

    def limit(start: Start) -> float:
        # r is about the smaller one of |w0| and the norm at which |w| turns.
        return min(2.0, 2.0 * min(start.v / start.target, float(nullcline(start.phi, 0))))

    return statement(
        "A.2 repaired: upper bound of phi(T), T >= 0",
        to_the_limit((0,), limit),
        slack,
        {
            "start": lambda run: run.start.phi > 0.0 and run.start.theta > 0.0 and run.start.m == 0,
            "norm": Descent.is_loose,
            "step": lambda run: run.step < 2.0 and share(run) < 1.0,
        },
        "ma.ours.descent.one",
    )


def small_angle() -> Statement:
    """ma.thmA.2.3: Theorem A.2, the special case, for all |w0| <= |w*| and all steps below 2."""

    def slack(run: Descent) -> float:
        # The special case is the bound with R = |w*|; r is not in its lower half.
        theta, v = run.path.theta[run.path.theta > SEEN], run.start.target
        T = np.arange(len(theta))
        _, above = gap_bounds(T, run.start.psi, v, v, v, 0, run.step)
        return float(((above - theta) / theta).min())

    return statement(
        "A.2, |w0| <= |w*|: lower bound of phi(T), and phi(T) < pi",
        draws((0,), lambda _: 2.0, (NEAR_ZERO[0], 9.0), (-9.0, 0.0), ANY_STEP),
        slack,
        {"|w0| <= |w*|": lambda run: run.start.rho <= 0.0, "step below 2": below_two},
    )


def strict_magnitudes(seed: int, count: int) -> list[Evidence]:
    """That A.1's bounds are strict, by exact steps of `count` starts."""
    rng, ties = np.random.default_rng(seed), 0
    for _ in range(count):
        theta0, v0, step = 10.0 ** rng.uniform([-4.0, -2.0, -3.0], [0.49, 1.0, -0.7])
        path = exact.vector_descent(exact.balanced(theta0, v0, 0), 1, step, 5)
        for T in range(1, 6):
            lower, upper = exact.magnitude_bounds_at(T, theta0, v0, 1, step)
            ties += not lower < path[T].length < upper
    says = "steps T = 1..5 of exact vector descent outside the strict bounds"
    return [fact(says, ties, 0), note("starts of exact descent", count)]


def strict_angles(seed: int, count: int) -> list[Evidence]:
    """That A.2's lower bound of phi is strict, by exact steps of `count` starts."""
    rng, ties = np.random.default_rng(seed), 0
    for _ in range(count):
        theta0, v0, share = 10.0 ** rng.uniform([-4.0, -0.5, -3.0], [0.2, 0.5, -1.0])
        # |w| stays between cos(theta0) or so and max(v0, 1): r is half of the least it can be.
        r, R = 0.5 * min(v0, 1.0) * math.cos(theta0 / 2.0), 1.01 * max(v0, 1.0)
        step = share * step_limit(math.pi - theta0, r, R, 1.0, 0)
        slow, fast = angle_rates(math.pi - theta0, r, R, 1.0, 0)
        path = exact.vector_descent(exact.balanced(theta0, v0, 0), 1, step, 5)
        inside = all(r < float(place.length) < R for place in path)
        for T in range(6):
            _, above = exact.angle_gap_bounds(T, theta0, slow, fast, step)
            ties += not (inside and path[T].theta < above)
    says = "steps T = 0..5 of exact vector descent outside the strict bound"
    return [fact(says, ties, 0), note("starts of exact descent", count)]
