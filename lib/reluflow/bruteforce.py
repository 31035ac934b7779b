"""A second method in the plainest arithmetic: descent as a loop, and a general ODE solver.

It shares no code with the exact flow and descent, and is slow on purpose.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp


def plain_descent(
    X: ArrayLike, y: ArrayLike, w0: ArrayLike, step: float, n_steps: int, activation: str = "relu"
) -> NDArray:
    """All weights (n_steps + 1, d) of w <- w - step * gradient, for X (n, d), y (n,), w0 (d,)."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    path = np.empty((n_steps + 1, X.shape[1]))
    path[0] = w0
    for k in range(n_steps):
        h = X @ path[k]
        residual = h - y
        if activation == "relu":
            residual[h <= 0.0] = 0.0
        path[k + 1] = path[k] - step * (residual @ X)
    return path


def best_of_many(
    X: ArrayLike, y: ArrayLike, starts: ArrayLike, step: float, n_steps: int
) -> tuple[NDArray, float]:
    """The best end point (d,) and loss of plain descents from all starts (k, d) side by side."""
    X, y, W = np.asarray(X, float), np.asarray(y, float), np.array(starts, float)
    for _ in range(n_steps):
        H = W @ X.T
        W -= step * (np.where(H > 0.0, H - y, 0.0) @ X)
    losses = 0.5 * ((np.maximum(W @ X.T, 0.0) - y) ** 2).sum(axis=1)
    best = int(np.argmin(losses))
    return W[best], float(losses[best])


def integrate(X: ArrayLike, y: ArrayLike, w0: ArrayLike, horizon: float) -> NDArray:
    """The flow's state (d,) at t = horizon by SciPy's DOP853, which knows nothing of events.

    Steps are at most 1/1000, so that a short visit to another cell is not stepped over.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)

    def velocity(_: float, w: NDArray) -> NDArray:
        h = X @ w
        return np.where(h > 0.0, y - h, 0.0) @ X

    solution = solve_ivp(
        velocity,
        (0.0, horizon),
        np.asarray(w0, float),
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
        max_step=1e-3,
    )
    return solution.y[:, -1]


def data_on(X: NDArray, w: NDArray) -> NDArray:
    """The data (n,) on whose boundary the point w (d,) is, up to a cosine of 1e-9."""
    return np.abs(X @ w) <= 1e-9 * np.linalg.norm(X, axis=1) * np.linalg.norm(w)


def first_continuations(
    X: ArrayLike, y: ArrayLike, w: ArrayLike, sure: float = 1e-9
) -> list[tuple[NDArray, NDArray]]:
    """The flows that leave w (d,), to first order: the data (n,) active after it, and the velocity.

    A flow that leaves w with velocity v activates exactly those data of J, the data on whose
    boundary w lies, for which x_j.v > 0; so v = v_0 + sum_{j in J, x_j.v > 0} y_j x_j, where v_0 is
    -grad L(w), ReLU's derivative at 0 taken as 0. All 2^|J| subsets of J are tried. Left out are
    those with a rate x_j.v that is zero to rounding: below `sure` of |x_j| times all forces. With
    sure = -1e-9 those are in that may be a flow, as far as rounding lets one tell.
    """
    X, y, w = (np.asarray(v, float) for v in (X, y, w))
    h, length, on = X @ w, np.linalg.norm(X, axis=1), data_on(X, w)
    before = ~on & (h > 0.0)
    v0 = (y - h)[before] @ X[before]
    unit = length * (np.linalg.norm(v0) + length[on] @ np.abs(y[on]))
    found = []
    for chosen in product((False, True), repeat=int(on.sum())):
        active = before.copy()
        active[on] = chosen
        v = v0 + y[on & active] @ X[on & active]
        rates = np.where(active, 1.0, -1.0)[on] * (X[on] @ v)
        if np.all(rates > sure * unit[on]):
            found.append((active, v))
    return found
