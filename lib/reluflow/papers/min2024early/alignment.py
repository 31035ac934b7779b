"""Theorem 1, part 1: by the time t_1 every neuron is home, in the cone of its label or dead.

As eps -> 0 by the limit flow, and at the eps that (Small) allows by (GF) itself. The statements are
given zeta: the maximum of zeta_1 and zeta_2 is printed, the minimum is what the proof uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reluflow.falsify import Draw, Statement, survey
from reluflow.ledger import Evidence, Reading, bound, fact, note
from reluflow.losses import EXPONENTIAL, TWICE_LOGISTIC
from reluflow.papers.min2024early.constants import (
    DataConstants,
    StartConstants,
    alignment_time,
    data_constants,
    log_eps_allowed,
    needed_zeta,
    printed_zeta,
    start_constants,
)
from reluflow.papers.min2024early.flows import alignment_times, flow, patterns
from reluflow.papers.min2024early.limit_time import (
    both_labels,
    everywhere,
    home_by,
    least_constant,
    path,
    separated,
    shortest,
    slowest,
    starts,
    uniform_time,
)
from reluflow.separable import separable, separable_draws

Zeta = Callable[[DataConstants, StartConstants], float]

RATE = Reading(
    "the hidden constant may depend on the lengths of the data and on the angles of the start, but "
    "not on n and μ",
    "the constant of the proof is 16 / (min(ζ, ξ) Xₘᵢₙ), where ξ = μ² by itself: its bound is of "
    "order log n / √(μ⁵)",
)
"""How the order log n / sqrt(mu) is read."""


def started(item: Mapping[str, Any]) -> StartConstants:
    """The constants of the start of an instance, zeta_2 from its angle where that is given."""
    w, sign = np.asarray(item["w"])[None], np.array([float(item["sign"])])
    found = start_constants(item["X"], item["y"], w, sign)
    if "log_angle" not in item:
        return found
    squared = float(np.sin(np.exp(item["log_angle"])) ** 2)
    return StartConstants(found.h, found.W_min, found.W_max, squared)


def home_at_t_1(zeta: Zeta, says: str, draws: Mapping[str, Draw]) -> Statement:
    """As eps -> 0 the neuron is home at t_1, computed with this zeta; slack in units of 1/X_min."""

    def slack(item: Mapping[str, Any]) -> float:
        found, data = path(item), data_constants(item["X"], item["y"])
        t_1 = alignment_time(data, zeta(data, started(item)))
        home = found.status in ("serves", "dead")
        return (t_1 - found.time) * shortest(item["X"]) if home else -np.inf

    return Statement(says, draws, slack, {"(A1)": separated}, fixed=("y", "sign", "log_angle"))


def printed_time() -> Statement:
    """ea.thm1.align.1: every neuron is home at the printed t_1, with max(zeta_1, zeta_2)."""
    return home_at_t_1(printed_zeta, "home at t₁ with ζ = max(ζ₁, ζ₂)", everywhere())


def needed_time() -> Statement:
    """Every neuron is home at t_1 with min(zeta_1, zeta_2)."""
    return home_at_t_1(needed_zeta, "home at t₁ with ζ = min(ζ₁, ζ₂)", everywhere())


def on_its_own_label(item: Mapping[str, Any]) -> bool:
    """Whether the neuron starts active on a datum of its own label."""
    X, y, w = item["X"], item["y"], item["w"]
    return bool(np.any(X[y == float(item["sign"])] @ w > 0.0))


def hardly_active() -> dict[str, Draw]:
    """Starts active on one datum of the right label, at an angle of 1e-12 to 0.1 to its boundary,
    and otherwise as near as can be to the centre of the other label."""

    def of(data: Draw) -> Draw:
        def one(rng: np.random.Generator) -> dict[str, Any]:
            item = data(rng)
            X, y, sign = item["X"], item["y"], float(rng.choice([-1.0, 1.0]))
            own = X[y == sign][rng.integers(int(np.sum(y == sign)))]
            own = own / np.linalg.norm(own)
            w = X[y == -sign].sum(axis=0)
            w = w - (w @ own) * own
            size = 10.0 ** -float(rng.uniform(1.0, 12.0)) * max(np.linalg.norm(w), 1e-6)
            return {**item, "w": w + size * own, "sign": sign}

        return one

    return {f"{name}, hardly active": of(draw) for name, draw in separable_draws().items()}


def own_label_serves() -> Statement:
    """ea.thm1.align.2: a neuron that starts active on a datum of its label serves it at t_1.

    With the printed zeta: such a neuron is not in the cone of the other label, so that zeta_2 does
    not matter to it.
    """

    def slack(item: Mapping[str, Any]) -> float:
        found, data = path(item), data_constants(item["X"], item["y"])
        t_1 = alignment_time(data, printed_zeta(data, started(item)))
        return (t_1 - found.time) * shortest(item["X"]) if found.status == "serves" else -np.inf

    return Statement(
        "active on its own label: serves at t₁",
        {**starts(), **hardly_active()},
        slack,
        {"(A1)": separated, "starts active on its own label": on_its_own_label},
        fixed=("y", "sign"),
    )


def at_the_allowed_scale(seed: int, count: int) -> pd.DataFrame:
    """(GF) at the largest eps of (Small), with min(zeta_1, zeta_2): when the last neuron is home.

    n from 2 to 5, d from 2 to 6, mu from 0.05 to 0.8, 1 to 5 neurons, both losses. Columns:
    log_eps, t_1, needed, served (whether all neurons that started active on their own label serve).
    """
    rng = np.random.default_rng(seed)

    def one(k: int) -> Mapping[str, Any]:
        n, d, h = (int(rng.integers(low, high)) for low, high in ((2, 6), (2, 7), (1, 6)))
        X, y = separable(n, d, float(np.exp(rng.uniform(np.log(0.05), np.log(0.8)))), rng)
        W, signs = rng.standard_normal((h, d)), rng.choice([-1.0, 1.0], h)
        data, begin = data_constants(X, y), start_constants(X, y, W, signs)
        zeta = needed_zeta(data, begin)
        t_1, log_eps = alignment_time(data, zeta), log_eps_allowed(data, begin, zeta)
        loss = (EXPONENTIAL, TWICE_LOGISTIC)[k % 2]
        found = flow(X, y, W, signs, log_eps, t_1, loss, rtol=1e-7)
        last = [active for _, active in patterns(found)][-1]
        own = y[:, None] == signs
        began = np.any((X @ W.T > 0.0) & own, axis=0)
        return {
            "log_eps": log_eps,
            "t_1": t_1,
            "needed": float(alignment_times(found).max()),
            "served": bool(np.all(np.all(last == own, axis=0)[began])),
        }

    return survey(range(count), one)


def flows_are_home(found: pd.DataFrame) -> list[Evidence]:
    """What `at_the_allowed_scale` shows: all home at t_1, and what is needed of it."""
    late = int((~(found.needed <= found.t_1)).sum())
    return [
        fact("flows at the ε of (Small) with ζ = min(ζ₁, ζ₂): not home at t₁", late, 0,
             tried=len(found)),
        fact("of these with a neuron that began on its own label and does not serve",
             int((~found.served).sum()), 0, tried=len(found)),
        note("largest share of t₁ that was needed", float((found.needed / found.t_1).max()),
             digits=2),
        note("ln ε of these flows, from and to",
             (float(found.log_eps.min()), float(found.log_eps.max())), digits=3),
    ]  # fmt: skip


def home_within_the_order() -> Statement:
    """ea.thm1.align.order: as eps -> 0 a neuron is home by 3 log n / (sqrt(mu) X_min), and the stay
    that its angle from the direction excluded allows it; the slack is in units of 1/X_min."""

    def order(data: DataConstants) -> float:
        return 3.0 * float(np.log(data.n)) / (np.sqrt(data.mu) * data.X_min)

    return Statement(
        "home by 3 log n / (√μ Xₘᵢₙ), and log(cot(θ/2)) / |x₋| in the cone of the other label",
        everywhere(),
        lambda item: home_by(order, item),
        {"(A1), data of both labels": both_labels},
        fixed=("y", "sign", "log_angle"),
    )


def growth_of_the_time() -> list[Evidence]:
    """ea.thm1.t1.scaling: t_* X_min <= 3 log n / sqrt(mu) for all n >= 2 and mu, and data whose
    time grows as mu -> 0.

    Outside the cone of the other label t_* is enough (`limit_time`); inside it, a term is added
    that only the start's angle and |x_-| >= X_min decide. In the time's order n is not needed, and
    instead of 1 / sqrt(mu) there is log(1 / mu).
    """
    mus = 10.0 ** -np.arange(1.0, 9.0)
    times = np.array([path(slowest(mu, 1e-3)).time for mu in mus])
    return [
        bound("least c with t_* Xₘᵢₙ ≤ c log n / √μ for all n ≥ 2 and μ", least_constant(), "<=",
              3.0, ""),
        bound("least growth of the slowest data's time as μ falls by 10, in log 10",
              float(np.diff(times).min() / np.log(10.0)), ">", 1.0, "", digits=3),
        note("its times, for μ = 1e-1, ..., 1e-8", tuple(times.tolist()), digits=3),
        note("t_* there", tuple(uniform_time(mu) for mu in mus), digits=3),
    ]  # fmt: skip
