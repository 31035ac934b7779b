"""Theorems 4.2, A.1-A.3, Corollary 4.3 and what is true instead, as statements for `falsify`.

The instances are those of `descent_runs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Statement
from reluflow.flows.population import pull
from reluflow.papers.lee2023magnitude.descent_bounds import (
    angle_rates,
    gap_bounds_from,
    magnitude_descent_bounds,
    two_layer_descent_bounds,
)
from reluflow.papers.lee2023magnitude.descent_corrected import (
    corrected_factors,
    corrected_two_layer_lower,
    euler_path,
    small_norm,
    step_limit,
)
from reluflow.papers.lee2023magnitude.descent_runs import (
    FIXED,
    ROUNDING,
    Draws,
    Item,
    angle_step,
    draws,
    gap_of,
    gentle,
    is_below,
    is_loose,
    limit_guess,
    norm_range,
    number,
    path_of,
    ranges,
    start_of,
)


def magnitude() -> Statement:
    """Theorem A.1 from the first step on, for steps up to 2/10."""

    def slack(item: Item) -> float:
        phi0, v0, target, step = start_of(item)
        path = path_of(item)
        lower, upper = magnitude_descent_bounds(path.t, phi0, v0, target, step)
        slack = np.minimum(path.length - lower, upper - path.length)[1:]
        return float(slack.min()) / max(v0, target)

    return Statement(
        "A.1: both bounds of |w(T)|, T >= 1",
        draws((0,), lambda *_: 2.0, psi=(-9.0, 12.0), rho=(-9.0, 5.0)),
        slack,
        {"step small against 2": lambda item: is_below(item, 2.0)},
        tolerance=ROUNDING,
        fixed=FIXED,
    )


def small_magnitude() -> Statement:
    """Theorem A.1, the special case: |w0| below `small_norm`."""

    def slack(item: Item) -> float:
        phi0, _, target, step = start_of(item)
        path = path_of(item)
        q = (1.0 - 0.5 * step) ** path.t
        lower = float(pull(phi0)) * (1.0 - q) * target
        upper = (1.0 - q) * target
        return float(np.minimum(path.length - lower, upper - path.length)[1:].min()) / target

    def near(draw: Callable) -> Callable:
        def drawn(rng: np.random.Generator) -> dict[str, NDArray]:
            item = draw(rng)
            phi0, _, target, step = start_of(item)
            share = small_norm(phi0, target, step) / target * rng.uniform(0.0, 1.0)
            return {**item, "rho": np.array([math.log(max(share, 1e-300))])}

        return drawn

    return Statement(
        "A.1, |w0| near 0: both bounds of |w(T)|, T >= 1",
        {name: near(draw) for name, draw in draws((0,), lambda *_: 2.0, psi=(-4.0, 4.0)).items()},
        slack,
        {"step small against 2": lambda item: is_below(item, 2.0),
         "|w0| small enough": lambda item: start_of(item)[1] < small_norm(
             start_of(item)[0], *start_of(item)[2:])},
        tolerance=ROUNDING,
        fixed=FIXED,
    )  # fmt: skip


def angle_slacks(item: Item) -> tuple[NDArray, NDArray]:
    """Slacks of the lower and the upper bound of phi(T), T = 0, 1, ..., as shares of pi - phi."""
    _, _, target, step = start_of(item)
    path, m = path_of(item), int(number(item, "m"))
    below, above = gap_bounds_from(gap_of(item), path.t, *norm_range(item), target, step, m)
    return (above - path.theta) / path.theta, (path.theta - below) / path.theta


def angle(layers: tuple[int, ...], side: int, says: str) -> Statement:
    """Theorem A.2 (layers = (0,)) or 4.2: the lower (side = 0) or the upper bound of phi(T)."""
    return Statement(
        says,
        draws(layers, limit_guess),
        lambda item: float(angle_slacks(item)[side].min()),
        {"no step overshoots": gentle, "r < |w(T)| < R": is_loose, "step small enough": angle_step},
        tolerance=ROUNDING,
        fixed=FIXED,
    )


AWAY = 0.5
"""A start is away from the goal if pi - phi0 is at least this."""

_AWAY = {"psi": (-3.0, -math.log(math.tan(0.5 * AWAY))), "rho": (-8.0, 1.5)}


def _away(statement: Statement, says: str, **other: object) -> Statement:
    """The statement for starts away from phi0 = pi, the norm of which is between r and R as well:
    the printed condition is on T > 0 only, and |w0| far above R makes a first step too long."""

    def within(item: Item) -> bool:
        r, R = norm_range(item)
        return r < start_of(item)[1] < R

    more = {f"pi - phi0 >= {AWAY}": lambda item: gap_of(item) >= AWAY, "r < |w0| < R": within}
    return replace(statement, says=says, hypotheses={**statement.hypotheses, **more}, **other)


def angle_away() -> Statement:
    """Theorem 4.2, both bounds, away from phi0 = pi."""
    return _away(
        angle((1, 2, 3), 0, ""),
        f"4.2: both bounds of phi(T), T >= 1, pi - phi0 >= {AWAY}, r < |w0| < R",
        draws=draws((1, 2, 3), limit_guess, **_AWAY),
        # At T = 0 the slack depends on phi0 alone, and would be all that a search lowers.
        slack=lambda item: float(min(side[1:].min() for side in angle_slacks(item))),
    )


def steps_away() -> Statement:
    """Corollary 4.3 away from phi0 = pi."""
    return _away(
        steps(corrected=False),
        f"4.3: phi(T) > pi - eps after T steps, pi - phi0 >= {AWAY}, r < |w0|",
        draws=_eps_draws((1, 2, 3), **_AWAY),
    )


def small_angle() -> Statement:
    """Theorem A.2, the special case, for all |w0| <= |w*|."""

    def slack(item: Item) -> float:
        path, target = path_of(item), number(item, "target")
        # The special case is the bound with R = |w*|; r is not in its lower half.
        _, above = gap_bounds_from(
            gap_of(item), path.t, target, target, target, number(item, "step"), 0
        )
        return float(((above - path.theta) / path.theta).min()) if path.theta.min() > 0.0 else -1.0

    return Statement(
        "A.2, |w0| <= |w*|: lower bound of phi(T), and phi(T) < pi",
        draws((0,), lambda phi0, *_: 2.0 * math.pi / phi0, rho=(-9.0, 0.0)),
        slack,
        {"|w0| <= |w*|": lambda item: number(item, "rho") <= 0.0,
         "step small against 2": lambda item: is_below(item, 2.0)},
        tolerance=ROUNDING,
        fixed=FIXED,
    )  # fmt: skip


def _eps_draws(layers: tuple[int, ...], **start: tuple[float, float]) -> Draws:
    def with_eps(draw: Callable) -> Callable:
        def drawn(rng: np.random.Generator) -> dict[str, NDArray]:
            item = draw(rng)
            # A step number T and the eps for which the corollary asks for just less than it.
            return {**item, "asked": np.array([float(rng.integers(1, 1 + item["steps"][0]))])}

        return drawn

    return {name: with_eps(draw) for name, draw in draws(layers, limit_guess, **start).items()}


def steps(corrected: bool) -> Statement:
    """Corollary 4.3 as printed, or with `corrected_steps`: the eps is the one for which it asks for
    just less than "asked" steps."""

    def log_factor(item: Item) -> float:
        phi0, _, target, step = start_of(item)
        m = int(number(item, "m"))
        if corrected:
            return math.log(corrected_factors(phi0, ranges(item), target, step, m)[1])
        return math.log1p(-step * angle_rates(phi0, norm_range(item)[0], 1.0, target, m)[0])

    def slack(item: Item) -> float:
        # log(eps/2 tan(phi0/2)) / log q = asked, from psi, which has all digits of tan(phi0/2).
        path, asked = path_of(item), number(item, "asked") - 1e-6
        log_eps = math.log(2.0) - number(item, "psi") + log_factor(item) * asked
        return float(log_eps - np.log(path.theta[path.t > asked]).max())

    return Statement(
        "4.3 corrected: phi(T) > pi - eps after T steps" if corrected else
        "4.3: phi(T) > pi - eps after T steps",
        _eps_draws((1, 2, 3)),
        slack,
        {"no step overshoots": gentle, "r < |w(T)|": is_loose, "step small enough": angle_step},
        tolerance=ROUNDING,
        fixed=(*FIXED, "asked"),
    )  # fmt: skip


def corrected_angle() -> Statement:
    """tan((pi - phi)/2) shrinks a step by a factor between q_1 and q_2 of `corrected_factors`."""

    def slack(item: Item) -> float:
        phi0, _, target, step = start_of(item)
        path, m = path_of(item), int(number(item, "m"))
        fast, slow = np.log(corrected_factors(phi0, ranges(item), target, step, m))
        log_tan = path.psi[0] - path.psi[1:]
        T = path.t[1:]
        return float(np.minimum(slow * T - log_tan, log_tan - fast * T).min())

    def steep(item: Item) -> bool:
        _, _, target, step = start_of(item)
        known = ranges(item)
        keep = 1.0 - 0.5 * step * known.product**2
        fast = 0.5 * target ** (number(item, "m") + 1) * step * known.high
        return keep > 0.0 and fast < keep

    return Statement(
        "both corrected bounds of phi(T)",
        draws((0, 1, 2, 3), lambda *given: 10.0 * limit_guess(*given)),
        slack,
        {"no step overshoots": gentle, "q_1 > 0": steep},
        tolerance=ROUNDING,
        fixed=FIXED,
    )


def euler_angle() -> Statement:
    """Theorem 4.2 for explicit Euler steps of (9)-(10), with r < v(T) < R for T = 0 too."""

    def sizes(item: Item) -> tuple[NDArray, float, float]:
        _, v0, target, step = start_of(item)
        m = int(number(item, "m"))
        theta, v = euler_path(gap_of(item), v0, m, target, step, int(number(item, "steps")))
        low, high = item["loose"]
        return theta, min(v.min(), target) / float(low), max(v.max(), target) * float(high)

    def slack(item: Item) -> float:
        _, _, target, step = start_of(item)
        theta, r, R = sizes(item)
        T, m = np.arange(len(theta)), int(number(item, "m"))
        below, above = gap_bounds_from(gap_of(item), T, r, R, target, step, m)
        return float((np.minimum(above - theta, theta - below) / theta).min())

    def small_step(item: Item) -> bool:
        phi0, _, target, _ = start_of(item)
        _, r, R = sizes(item)
        return is_below(item, step_limit(phi0, r, R, target, int(number(item, "m"))))

    return Statement(
        "4.2 for Euler steps of (9)-(10)",
        draws((1, 2, 3), limit_guess),
        slack,
        {"no step overshoots": gentle, "r < v(T) < R": is_loose, "step small enough": small_step},
        tolerance=ROUNDING,
        fixed=FIXED,
    )


TWO_LAYERS = {
    "A.3: |w(T)| above the lower bound": (0, "w"),
    "A.3: v_1(T) above the lower bound": (0, "v"),
    "A.3: |w(T)| below the upper bound": (1, "w"),
    "A.3: v_1(T) below the upper bound": (1, "v"),
}


def two_layer_draws(long: bool) -> Draws:
    """Two layers; `long` runs last until |w| has settled, 30 / (eta v*^2) steps, at X/10 only."""
    found = draws((1,), lambda phi0, v0, target, m: 1.0 / max(v0, target) ** 2)
    if not long:
        return found

    def prolonged(draw: Callable) -> Callable:
        def drawn(rng: np.random.Generator) -> dict[str, NDArray]:
            item = draw(rng)
            pace = number(item, "step") * number(item, "target") ** 2
            return {**item, "steps": np.array([min(2000, math.ceil(30.0 / pace))])}

        return drawn

    name = next(iter(found))
    return {f"{name}, long": prolonged(found[name])}


def two_layers(name: str) -> Statement:
    """One half of Theorem A.3, by its name in `TWO_LAYERS`; slack as a share of |w*|, T >= 1."""
    side, which = TWO_LAYERS[name]

    def slack(item: Item) -> float:
        phi0, v0, target, step = start_of(item)
        path = path_of(item)
        size = path.length if which == "w" else path.layers[:, 0]
        limit = two_layer_descent_bounds(path.t, phi0, v0, target, step)[side]
        return float((size - limit if side == 0 else limit - size)[1:].min()) / target

    return Statement(
        name,
        {**two_layer_draws(False), **two_layer_draws(True)},
        slack,
        {"no step overshoots": gentle,
         "step small against 1/v*^2": lambda item: is_below(item, 1 / number(item, "target") ** 2)},
        tolerance=ROUNDING,
        fixed=FIXED,
    )  # fmt: skip


def corrected_two_layers() -> Statement:
    """The corrected lower bound holds for |w| and v_1, the printed upper bound for v_1."""

    def slack(item: Item) -> float:
        phi0, v0, target, step = start_of(item)
        path = path_of(item)
        lower = corrected_two_layer_lower(path.t, phi0, v0, target, step)
        upper = two_layer_descent_bounds(path.t, phi0, v0, target, step)[1]
        v = path.layers[:, 0]
        slacks = np.minimum(np.minimum(path.length, v) - lower, upper - v)
        return float(slacks[1:].min()) / target

    return Statement(
        "A.3 corrected: lower bound of |w| and v_1, upper bound of v_1",
        {**two_layer_draws(False), **two_layer_draws(True)},
        slack,
        {"eta max(v0, v*)^2 <= 1/10": lambda item: number(item, "step")
         * max(start_of(item)[1:3]) ** 2 <= 0.1},
        tolerance=ROUNDING,
        fixed=FIXED,
    )  # fmt: skip


def imbalance() -> Statement:
    """v_1 = ... = v_m and 0 <= |w|^2 - v_1^2 <= eta (R v*)^(m+1) / 2 for R = max |w(T)|, |w*|."""

    def slack(item: Item) -> float:
        _, _, target, step = start_of(item)
        path, m = path_of(item), int(number(item, "m"))
        lost = path.length**2 - path.layers[:, 0] ** 2
        most = 0.5 * step * (max(path.length.max(), target) * target) ** (m + 1)
        equal = np.ptp(path.layers, axis=1).max() <= ROUNDING * target
        spare = np.minimum(lost, most - lost).min() / path.length.max() ** 2
        return float(spare) if equal else -1.0

    return Statement(
        "0 <= |w|^2 - v_k^2 <= eta (R v*)^(m+1) / 2",
        draws((1, 2, 3), limit_guess, psi=(-3.0, 3.0)),
        slack,
        {"eta max(v0, v*)^(2m) <= 1/10": lambda item: number(item, "step")
         * max(start_of(item)[1:3]) ** (2 * number(item, "m")) <= 0.1},
        tolerance=ROUNDING,
        fixed=FIXED,
    )  # fmt: skip
