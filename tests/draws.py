"""Starts and labels that tests add to drawn data, by `instances.extended`."""

from __future__ import annotations

import numpy as np
from reluflow.instances import Arrays


def any_start(item: Arrays, rng: np.random.Generator) -> Arrays:
    """For `extended`: {"w0": (d,)} of any direction, its norm 1e-12 to 1e6 of the linear fit's."""
    fit = float(np.linalg.norm(np.linalg.lstsq(item["X"], item["y"], rcond=None)[0])) or 1.0
    size, direction = fit * 10.0 ** rng.uniform(-12.0, 6.0), rng.normal(size=item["X"].shape[1])
    return {"w0": size * (direction / np.linalg.norm(direction))}


def realisable(item: Arrays, rng: np.random.Generator) -> Arrays:
    """For `extended`: labels {"y": X w_gm > 0, "w_gm": (d,)}, whole numbers where X has them.

    The data X must be nonnegative, and not zero. Half of the w_gm have a negative entry where the
    data allow one. `interpolated` is the matching `derive` of a `Statement`.
    """
    X = item["X"]
    d = X.shape[1]
    whole = np.array_equal(X, np.round(X))
    w = rng.integers(1, 5, d).astype(float) if whole else np.abs(rng.normal(size=d)) + 1e-3
    if rng.integers(2):
        k = int(rng.integers(d))
        other = w.copy()
        other[k] = -rng.integers(1, 5) if whole else -np.abs(rng.normal())
        w = other if np.all(X @ other > 0) else w
    return {"y": X @ w, "w_gm": w}


def interpolated(item: Arrays) -> Arrays:
    """The instance with the labels y = X w_gm of its w_gm."""
    return {**item, "y": item["X"] @ item["w_gm"]}
