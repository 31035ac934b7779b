"""Shares of random trials and means of samples, with their intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest, sem
from scipy.stats import t as student

from reluflow.errors import InputError

SURE = 1.0 - 1e-6
"""The confidence of an interval that decides: of a million runs one misses what is right."""


def wilson(hits: ArrayLike, trials: ArrayLike, level: float = 0.95) -> tuple[NDArray, NDArray]:
    """Wilson's interval for the probability behind `hits` of `trials`, counts of equal shape.

    Returns its lower and upper ends at this level of confidence. Raises InputError for hits outside
    [0, trials] or trials below 1.
    """
    k, n = np.broadcast_arrays(np.asarray(hits, int), np.asarray(trials, int))
    if np.any(n < 1) or np.any(k < 0) or np.any(k > n):
        raise InputError("hits must lie between 0 and trials, and trials must be at least 1")

    def ends(k: int, n: int) -> tuple[float, float]:
        interval = binomtest(int(k), int(n)).proportion_ci(level, method="wilson")
        return float(interval.low), float(interval.high)

    low, high = np.vectorize(ends, otypes=[float, float])(k, n)
    return low, high


def normal_interval(values: NDArray) -> tuple[float, float, float]:
    """The mean of values (m,), m >= 2, and the ends of its 95 % interval, by the normal law."""
    mean = float(values.mean())
    half = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5
    return mean, mean - half, mean + half


def share_interval(hits: int, trials: int) -> str:
    """Wilson's 95 % interval for the probability behind `hits` of `trials`, as it is written."""
    low, high = wilson(hits, trials)
    return f"{low:.2f} to {high:.2f}"


def student_interval(values: NDArray, level: float = 0.95) -> tuple[float, float]:
    """Student's interval for the mean behind values (m,), m >= 2, at this level of confidence."""
    mean, deviation = float(values.mean()), float(sem(values))
    if deviation == 0.0:
        return mean, mean
    low, high = student.interval(level, len(values) - 1, mean, deviation)
    return float(low), float(high)
