"""The scale of the start (Section 3.2): how long the flow takes to an angle and to a loss.

Times are s = |w*|^(2m) t; psi = log tan(phi/2), rho = log(|w|/|w*|), and losses are in units of
|w*|^(2(m+1)). A larger start is slower for m = 0, as fast for m = 1 and faster for m >= 2, to every
angle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import upwards
from reluflow.falsify import Draw, Instance, Report, Statement, falsify
from reluflow.flows.half_angles import log_tan
from reluflow.flows.passage_times import time_to_angle, time_to_loss
from reluflow.ledger import Evidence, Reading, deviation, note

RIGHT, NEAR = 0.0, float(log_tan(0.75 * math.pi))
"""psi_0 at a right angle to w*, and at 45 degrees from it."""


def late_error(phi0: ArrayLike, r: ArrayLike) -> NDArray:
    """lim e^(t/2) |w(t) - w*| / |w*| of a one-layer neuron; L = 1/4 |w - w*|^2 there.

    With a = r sin(phi_0)/phi_0 the closed form of (6)-(7) gives

        K^2 = (pi a)^2 + (1 + a (1 + pi cot phi_0))^2.

    Parameters: phi0 (...) in (0, pi), r = |w_0|/|w*| >= 0 (...).
    """
    phi0 = np.asarray(phi0, float)
    a = np.asarray(r, float) * np.sin(phi0) / phi0
    return np.hypot(np.pi * a, 1.0 + a * (1.0 + np.pi / np.tan(phi0)))


def best_norm(phi0: ArrayLike) -> NDArray:
    """|w_0|/|w*| of least `late_error`: 0 unless angle(w_0, w*) = pi - phi_0 < arctan(pi).

    Parameters: phi0 (...) in (0, pi).
    """
    phi0 = np.asarray(phi0, float)
    b = 1.0 + np.pi / np.tan(phi0)
    return np.maximum(-b, 0.0) / (np.pi**2 + b**2) * phi0 / np.sin(phi0)


# --- The order of the times -----------------------------------------------------------------------


def order_of_times(layers: Sequence[int], sign: float) -> Statement:
    """The larger of two starts at one angle reaches every later angle first (sign = 1) or last
    (sign = -1). The slack is the relative difference of the two times."""

    def ratios(small: NDArray, large: NDArray) -> NDArray:
        return sign * (small - large) / np.maximum(small, large)

    says = "to every angle, the larger start is " + ("faster" if sign > 0 else "slower")
    return _of_times(says, layers, ratios, strict=True)


def equal_times() -> Statement:
    """For m = 1 the time to every angle is the same for all norms; to 1e-9 of it."""
    says = "to every angle, all norms take the same time"
    return _of_times(says, [1], lambda a, b: -np.abs(b / a - 1.0), tolerance=1e-9)


def _of_times(
    says: str, layers: Sequence[int], slack: Callable[[NDArray, NDArray], NDArray], **more: Any
) -> Statement:
    """A statement on the times (k,) that a smaller and a larger start take to one angle."""

    def slacks(items: Sequence[Instance]) -> NDArray:
        psi0, small, psi1, grow = np.transpose([item["passage"] for item in items])
        m = np.array([int(item["m"]) for item in items])
        return slack(*(time_to_angle(psi0, rho0, m, psi0 + psi1) for rho0 in (small, small + grow)))

    return Statement(
        says=says,
        draws=_passages(layers),
        slack=lambda item: float(slacks([item])[0]),
        batch=slacks,
        hypotheses=_ORDERED,
        fixed=("m",),
        **more,
    )


_ORDERED: Mapping[str, Callable[[Instance], bool]] = {
    "the second start is larger, the angle is later": lambda item: bool(
        item["passage"][2] > 0.01 and item["passage"][3] > 0.01
    ),
    "angles and norms at which rounding does not hide the order": lambda item: bool(
        abs(item["passage"][0]) < 4.0
        and item["passage"][2] < 8.0
        and -8.0 < item["passage"][1] < 3.0 - item["passage"][3]
    ),
}


def _passages(layers: Sequence[int]) -> Mapping[str, Draw]:
    """Passages "passage" (4,): psi_0, the smaller rho_0, how far psi goes, how much rho_0 grows."""

    def drawn(rho: tuple[float, float]) -> Draw:
        def draw(rng: np.random.Generator) -> Instance:
            passage = [rng.uniform(-3.0, 3.0), rng.uniform(*rho)]
            passage += [rng.uniform(0.05, 5.0), 10.0 ** rng.uniform(-1.5, 0.1)]
            return {"passage": np.array(passage), "m": np.array(rng.choice(layers))}

        return draw

    return {
        "small": drawn((-6.0, -3.0)),
        "moderate": drawn((-1.0, 1.0)),
        "large": drawn((0.5, 1.5)),
    }


def try_orders(seed: int, count: int) -> Mapping[str, Report]:
    """Whether the larger of two starts at an angle is slower, as fast or faster to later ones."""
    statements = {
        "m = 0": order_of_times([0], -1.0),
        "m = 1": equal_times(),
        "m = 2, 3, 4": order_of_times([2, 3, 4], 1.0),
    }
    return {name: falsify(one, seed, count, count) for name, one in statements.items()}


# --- Powers of the norm ---------------------------------------------------------------------------

SMALL = np.array([1e-4, 1e-3])
"""Sizes |w_0|/|w*| between which powers are measured."""


def slopes(sizes: ArrayLike, times: ArrayLike) -> NDArray:
    """d log(time) / d log(size) between neighbours. Parameters: two (k,). Returns (k - 1,)."""
    return np.diff(np.log(times)) / np.diff(np.log(sizes))


def _angle_exponents(m: int) -> NDArray:
    """d log(time to an angle) / d log|w_0| for three passages; the last one ends at 0.95 pi."""
    passages = np.pi * np.array([[0.25, 0.5], [0.5, 0.75], [0.75, 0.95]])
    return np.array([slopes(SMALL, time_to_angle(log_tan(a), np.log(SMALL), m, log_tan(b)))
                     for a, b in passages])  # fmt: skip


def _loss_exponents(layers: Sequence[int], loss: str) -> list[Evidence]:
    """d log(time to `loss`, a loss of 1e-4) / d log|w_0| from a right angle, against 1 - m."""
    found = {m: slopes(SMALL, time_to_loss(RIGHT, np.log(SMALL), m, 1e-4))[0] for m in layers}
    return [
        deviation(f"m = {m}: exponent of |w0| in the time to {loss}, against {1 - m}",
                  upwards(abs(power - (1 - m))), "", digits=2)
        for m, power in found.items()
    ]  # fmt: skip


def initial_scale(orders: Mapping[str, Report], layers: Sequence[int]) -> list[Evidence]:
    """ma.text.scale.1, ma.text.scale.2, ma.text.scale.3: small starts turn faster (layers m = 0),
    slower (m >= 2), which for m >= 2 is said of the loss as well, or as fast (1) (Section 3.2)."""
    report = orders[name := "m = " + ", ".join(map(str, layers))]
    return [
        *(deviation(f"m = {m}: exponent of |w0| in the time to an angle, against {1 - m}",
                    upwards(float(np.abs(_angle_exponents(m) - (1 - m)).max())), "", digits=2)
          for m in layers),
        *_loss_exponents([m for m in layers if m in (2, 3)], "a small loss"),
        *report.checks(f"{name}: {report.says}"),
        note("sizes |w0|, in |w*|, of the exponents", "0.0001 and 0.001"),
        note("seed", report.seed),
    ]  # fmt: skip


def speed() -> Reading:
    """What "faster" means, and what small starts gain in the other meaning."""
    gain = float(-np.diff(time_to_loss(RIGHT, np.log([1.0, 1e-4]), 0, 1e-6))[0])
    return Reading(
        taken="speed is the time to a fixed angle, as the argument from dφ/dt says; small "
        "means |w0|/|w*| = 1e-4 to 1e-3 for the exponents, and any size for the order",
        others="if speed is the time to a small loss, one layer gains a constant, no power "
        f"of |w0|: from φ0 = π/2 a start at 1e-4 |w*| is {gain:.2f} units of time ahead of one "
        "at |w*|, and from angle(w0, w*) below arctan π = 72.3 degrees a moderate norm is best",
    )


# --- Times to a loss ------------------------------------------------------------------------------
