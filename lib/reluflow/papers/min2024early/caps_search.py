"""The constants of Lemmas 8 and 9 by constrained optimisation: a second method.

It knows no closed form: SLSQP, from many starts, seeks the point outside a cone that is nearest to
a direction, or the nearest pair of a point of the hull and a point outside both cones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

_SIZE = 1e-9


def search_cap(X: NDArray, y: NDArray, seed: int, starts: int = 4) -> float:
    """1 - (the largest cosine between x_+ and what is not in S_+, or x_- and not in S_-)^2.

    A point is not in S_+ where <x_i, w> <= 0 for a positive datum or > 0 for a negative one.
    """
    rng, largest = np.random.default_rng(seed), -1.0
    for label in (1.0, -1.0):
        u = X[y == label].sum(axis=0)
        for i, x in enumerate(X):
            away = x if y[i] == label else -x  # w leaves the cone where <away, w> <= 0
            for _ in range(starts):
                w = _nearest(u / np.linalg.norm(u), away, rng.standard_normal(len(u)))
                largest = max(largest, float(w @ u / np.linalg.norm(u)))
    return 1.0 - largest**2


def search_gap(X: NDArray, y: NDArray, seed: int, starts: int = 3) -> float:
    """1 - (the largest |cos(z, w)| of z in the hull of the y_i x_i and w in neither cone)^2.

    w is kept out of S_+ by one datum and out of S_- by one, each in turn; both cosines' signs.
    """
    rng, largest = np.random.default_rng(seed), 0.0
    n, d = X.shape
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            # Out of S_+ by datum i, <y_i x_i, w> <= 0; out of S_- by datum j, <y_j x_j, w> >= 0.
            keep = np.array([-y[i] * X[i], y[j] * X[j]])
            for _ in range(starts):
                start = np.concatenate([rng.random(n), rng.standard_normal(d)])
                for sign in (1.0, -1.0):
                    largest = max(largest, _pair(X * y[:, None], keep, sign, start))
    return 1.0 - largest**2


def _nearest(u: NDArray, away: NDArray, start: NDArray) -> NDArray:
    """The unit w with <away, w> <= 0 of the largest <u, w>."""
    away = away / np.linalg.norm(away)
    found = minimize(
        lambda w: -(u @ w), start / np.linalg.norm(start), jac=lambda w: -u, method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda w: w @ w - 1.0, "jac": lambda w: 2.0 * w},
            {"type": "ineq", "fun": lambda w: -(away @ w), "jac": lambda w: -away},
        ],
        options={"ftol": 1e-14, "maxiter": 300},
    )  # fmt: skip
    w = np.asarray(found.x)
    good = found.success and away @ w <= _SIZE and abs(w @ w - 1.0) <= _SIZE
    return w if good else -u


def _pair(Z: NDArray, keep: NDArray, sign: float, start: NDArray) -> float:
    """The largest sign cos(sum_i a_i z_i, w) with a >= 0 and <keep, w> >= 0; 0 where it fails."""
    n = len(Z)
    Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    keep = keep / np.linalg.norm(keep, axis=1, keepdims=True)

    def cosine(p: NDArray) -> float:
        z, w = p[:n] @ Z, p[n:]
        return float(-sign * (z @ w) / np.sqrt((z @ z) * (w @ w) + 1e-300))

    found = minimize(
        cosine, start, method="SLSQP", bounds=[(0.0, 1.0)] * n + [(-2.0, 2.0)] * Z.shape[1],
        constraints=[
            {"type": "eq", "fun": lambda p: p[n:] @ p[n:] - 1.0},
            {"type": "eq", "fun": lambda p: p[:n].sum() - 1.0},
            {"type": "ineq", "fun": lambda p: keep @ p[n:]},
        ],
        options={"ftol": 1e-13, "maxiter": 300},
    )  # fmt: skip
    p = np.asarray(found.x)
    good = np.all(keep @ p[n:] >= -_SIZE) and np.all(p[:n] >= -_SIZE)
    return -float(found.fun) if good else 0.0


def data_in_space(seed: int, number: int) -> Sequence[tuple[NDArray, NDArray]]:
    """Data (n, d), n = 2 or 3, d = 2 to 4, of both labels: y_i x_i about a random axis."""
    rng = np.random.default_rng(seed)
    found: list[tuple[NDArray, NDArray]] = []
    while len(found) < number:
        n, d = int(rng.integers(2, 4)), int(rng.integers(2, 5))
        axis = rng.standard_normal(d)
        Z = axis / np.linalg.norm(axis) + rng.uniform(0.1, 0.6) * rng.standard_normal((n, d))
        y = np.where(rng.permutation(n) < rng.integers(1, n), 1.0, -1.0)
        if (Z @ Z.T).min() > 1e-3:
            found.append((y[:, None] * Z * rng.uniform(0.2, 5.0, (n, 1)), y))
    return found
