"""Shares of random trials and means of samples, with their intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

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

    z = ndtri(0.5 + 0.5 * level)
    centre = (k + 0.5 * z**2) / (n + z**2)
    half = z * np.sqrt(k * (n - k) / n + 0.25 * z**2) / (n + z**2)
    low, high = np.where(k == 0, 0.0, centre - half), np.where(k == n, 1.0, centre + half)
    return low, high


def share_interval(hits: int, trials: int) -> str:
    """Wilson's 95 % interval for the probability behind `hits` of `trials`, as it is written."""
    low, high = wilson(hits, trials)
    return f"{low:.2f} to {high:.2f}"


def student_interval(values: NDArray, level: float = 0.95) -> tuple[float, float]:
    """Student's interval for the mean behind values (m,), m >= 2, at this level of confidence."""
    mean, n = float(values.mean()), len(values)
    half = float(stdtrit(n - 1, 0.5 + 0.5 * level) * values.std(ddof=1)) / n**0.5
    return mean - half, mean + half
