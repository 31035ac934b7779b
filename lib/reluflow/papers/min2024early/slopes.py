"""Lemma 2: how far the slope of a loss at an output z is from its slope at 0.

With q = y z, y = +-1: |-dl/dz - y| is |e^-q - 1| for the exponential loss, tanh(|q|/2) for
2 log(1 + e^-q), |q| for (y - z)^2/2, and 1/(1 + e^-q) for log(1 + e^-q), which is 1/2 at 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reluflow.falsify import Draw, Instance, Statement, planted
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, SQUARE, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early.slopes_exact import (
    enclosed_end,
    lambert_end,
    largest_ratio,
)


def exponential_gap(q: float) -> float:
    """|e^-q - 1|."""
    return float(abs(np.expm1(-q)))


def logistic_gap(q: float) -> float:
    """|2/(1 + e^q) - 1| = tanh(|q|/2)."""
    return float(np.tanh(abs(q) / 2.0))


def square_gap(q: float) -> float:
    """|y - z - y| = |z|."""
    return abs(q)


def exponential_slope() -> Statement:
    """ea.lem2.1: |-dl/dz - y| <= 2 |z| for |z| <= 1 and the exponential loss (Lemma 2).

    (e^q - 1)/q grows with q > 0, so its largest value on (0, 1] is e - 1 < 2; for q < 0 it is below
    1. It reaches 2 at 1.2564, where the lemma ends.
    """
    return _near("exponential", exponential_gap, 2.0)


def logistic_slope() -> Statement:
    """ea.lem2.2: the same for 2 log(1 + e^-yz), with 1/2 in place of 2 and for every z."""
    return _near("twice the logistic", logistic_gap, 0.5)


def square_slope() -> Statement:
    """ea.lem2.3: the same for the square loss, with 1 in place of 2 and for every z (Remark 4)."""
    return _near("square", square_gap, 1.0)


def end_of_the_exponential_bound() -> list[Evidence]:
    """Where e^q - 1 = 2 q: enclosed by signs in ball arithmetic, and by Lambert's function."""
    low, high = enclosed_end()
    return [
        fact("e − 1 < 2, in ball arithmetic", largest_ratio() < 2, True),
        bound("the bound 2 |ŷ| holds up to |ŷ| =", float(low), ">=", 1.0, ""),
        fact("Lambert's function agrees to 40 digits", low <= lambert_end() <= high, True),
    ]


def printed_logistic() -> Evidence:
    """The loss log(1 + e^-yz) of Section 2.1, which Lemma 2 does not mean, misses by 1/2 at 0."""
    slope = float(LOGISTIC.pull(np.zeros(1), np.ones(1))[0])
    return note("the left side at ŷ = 0 with log(1 + exp(−yŷ)) of Section 2.1, where the right "
                "side is 0", abs(slope - 1.0), digits=None)  # fmt: skip


def same_slopes(seed: int, count: int) -> Evidence:
    """The largest difference from the slopes of the library's losses, |z| <= 10."""
    z = np.random.default_rng(seed).uniform(-10.0, 10.0, count)
    y = np.where(np.arange(count) % 2, 1.0, -1.0)
    worst = 0.0
    for loss, gap in _PAIRS:
        asked = np.array([gap(q) for q in y * z])
        worst = max(worst, float(np.max(np.abs(np.abs(loss.pull(z, y) - y) - asked) / (1 + asked))))
    return bound("largest relative difference from the library's losses", worst, "<=", 1e-12, "")


_PAIRS: tuple[tuple[Loss, Callable[[float], float]], ...] = (
    (EXPONENTIAL, exponential_gap),
    (TWICE_LOGISTIC, logistic_gap),
    (SQUARE, square_gap),
)


def _near(name: str, gap: Callable[[float], float], factor: float) -> Statement:
    """gap(q) <= factor |q|; relative to |q|. Beyond 1 for the losses where it holds everywhere."""
    most = 1.0 if gap is exponential_gap else 1e6

    def slack(item: Instance) -> float:
        q = float(item["q"])
        return (planted(item) * factor * abs(q) - gap(q)) / abs(q) if q else -gap(q)

    return Statement(
        f"|−ℓ'(ŷ) − y| ≤ {'' if factor == 1.0 else f'{factor:g} '}|ŷ|, {name}",
        {"ordinary": _sizes(0.0, 0.0, most), "tiny": _sizes(-300.0, -1.0, most),
         "large": _sizes(-1.0, 6.0, most)},
        slack,
        {f"|ŷ| ≤ {most:g}": lambda item: abs(float(item["q"])) <= most},
        tolerance=1e-15,
    )  # fmt: skip


def _sizes(low: float, high: float, most: float) -> Draw:
    """q = y z of either sign: uniform up to 1, or of a size between 10^low and 10^high."""

    def one(rng: np.random.Generator) -> dict[str, Any]:
        size = rng.random() if low == high else min(10.0 ** rng.uniform(low, high), most)
        return {"q": np.array(size * rng.choice([-1.0, 1.0]))}

    return one
