"""The flow of a chain of single ReLU neurons f(x) = v_1 s(v_2 s(... v_m s(w.x))), s(h) = max(h, 0).

It is integrated in log v_k for k >= 2, so that a slow decay and a zero reached in finite time
cannot be confused: only the second stops the clock. Nothing is supposed about balance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import RK45

from reluflow.errors import InputError
from reluflow.flows.population import population_gradient

Gradient = Callable[[NDArray, NDArray], tuple[NDArray, NDArray]]
"""Of w (d,) and v (m,): the gradients of the loss in w and in v."""

_SMALL, _HALF_WAY, _GONE, _TINY = (math.log(size) for size in (1e-9, 1e-15, 1e-30, 1e-250))
_MOST_STEPS = 2_000


def chain_gradient(X: ArrayLike, y: ArrayLike, at_zero: float = 0.0) -> Gradient:
    """The gradient of 1/(2n) sum_i (f(x_i) - y_i)^2 by back-propagation through the ReLU chain.

    Parameters: X (n, d), y (n,), at_zero = s'(0), 0 in the paper. With a_(m+1) = s(w.x) and
    a_k = s(v_k a_(k+1)) for k = m, ..., 2, f = v_1 a_2.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)

    def slope(h: NDArray) -> NDArray:
        return (h > 0.0) + at_zero * (h == 0.0) if at_zero else h > 0.0

    def gradient(w: NDArray, v: NDArray) -> tuple[NDArray, NDArray]:
        h = X @ w
        inputs, slopes = [np.maximum(h, 0.0)], [slope(h)]
        for factor in v[:0:-1]:
            inner = factor * inputs[-1]
            inputs.append(np.maximum(inner, 0.0))
            slopes.append(slope(inner))
        back = (v[0] * inputs[-1] - y) / len(y)
        in_v = np.empty(len(v))
        in_v[0] = back @ inputs[-1]
        back = v[0] * back
        for k in range(1, len(v)):
            back = back * slopes[len(v) - k]
            in_v[k] = back @ inputs[len(v) - 1 - k]
            back = v[k] * back
        return X.T @ (back * slopes[0]), in_v

    return gradient


def chain_output(X: ArrayLike, w: ArrayLike, v: ArrayLike) -> NDArray:
    """f(x_i) = v_1 s(v_2 s(... v_m s(w.x_i))), shape (n,)."""
    out = np.maximum(np.asarray(X, float) @ np.asarray(w, float), 0.0)
    for factor in np.asarray(v, float)[:0:-1]:
        out = np.maximum(factor * out, 0.0)
    return float(np.asarray(v, float)[0]) * out


def chain_population_gradient(target: ArrayLike, factor: float) -> Gradient:
    """The gradient of (1) for x ~ N(0, I) and the target factor * s(w*.x), factor of either sign.

    Where some v_k <= 0, k >= 2, the chain is silent and its gradient is 0 (s'(0) = 0).
    """
    target = np.asarray(target, float)

    def gradient(w: NDArray, v: NDArray) -> tuple[NDArray, NDArray]:
        if np.any(v[1:] <= 0.0) or not w.any():
            return np.zeros(len(w)), np.zeros(len(v))
        return population_gradient(w, target, v, (factor,))

    return gradient


@dataclass(frozen=True)
class ChainPath:
    """A flow of a chain.

    t       (k,) times, from 0
    w       (k, d) weights
    v       (k, m) factors
    zero    when a factor v_k, k >= 2, that was positive reaches 0; infinite if none does
    factor  its k, counted from 1 as in the paper; 0 if none does
    """

    t: NDArray
    w: NDArray
    v: NDArray
    zero: float
    factor: int

    @property
    def keeps_signs(self) -> bool:
        """Whether v_2, ..., v_m have the signs at the end that they have at the start."""
        return self.factor == 0

    @property
    def smallest_share(self) -> float:
        """The least v_k(t) / v_k(0) over the positive factors with k >= 2; 1 if there is none."""
        positive = self.v[0, 1:] > 0.0
        return float(np.min(self.v[:, 1:][:, positive] / self.v[0, 1:][positive], initial=1.0))


def chain_flow(gradient: Gradient, w0: ArrayLike, v0: ArrayLike, horizon: float) -> ChainPath:
    """The flow dw/dt = -dL/dw, dv/dt = -dL/dv until the horizon, or until some v_k is 0, k >= 2.

    In log v_k a zero at a finite time T is a pole: v_k falls from 1e-15 to 1e-30 of its start
    within a tiny share of T, or so fast that the steps fall below the spacing of floats at T.
    A factor that has decayed slowly to 1e-250 of its start has kept its sign, and ends the path.
    Raises InputError for m = 0, and ArithmeticError where 2 000 steps do not reach the end or the
    steps become too small for another reason.
    """
    w0, v0 = np.array(w0, float), np.array(v0, float)
    d, m = len(w0), len(v0)
    if m < 1:
        raise InputError("a chain needs at least one factor v_1")
    if np.any(v0[1:] <= 0.0):  # silent: nothing moves, if the gradient is what it should be
        in_w, in_v = gradient(w0, v0)
        return _euler_path(w0, v0, in_w, in_v, horizon)

    def unpack(state: NDArray) -> tuple[NDArray, NDArray]:
        # A trial step near a pole may end anywhere; its error is large in any case.
        v = np.empty(m)
        v[0], v[1:] = state[d], np.exp(np.minimum(state[d + 1 :], 300.0))
        return state[:d], v

    def velocity(_: float, state: NDArray) -> NDArray:
        w, v = unpack(state)
        in_w, in_v = gradient(w, v)
        out = np.empty(d + m)
        out[:d], out[d], out[d + 1 :] = -in_w, -in_v[0], -in_v[1:] / v[1:]
        return out

    start = np.concatenate([w0, v0[:1], np.log(v0[1:])])
    size = float(np.abs(start[: d + 1]).max())
    atol = np.concatenate([np.full(d + 1, 1e-9 * size), np.full(m - 1, 1e-7)])
    t, states, before = [0.0], [start], 0.0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        solver = RK45(velocity, 0.0, start, horizon, rtol=1e-7, atol=atol)
        for _ in range(_MOST_STEPS):
            if solver.status != "running":
                break
            solver.step()
            t.append(solver.t)
            states.append(solver.y)
            fallen = solver.y[d + 1 :] - start[d + 1 :]
            lowest = float(fallen.min(initial=0.0))
            if lowest >= _HALF_WAY:
                before = solver.t
            gone = lowest < _GONE and solver.t - before < 1e-9 * solver.t
            if gone or lowest < _TINY:
                break
        else:
            raise ArithmeticError(f"{_MOST_STEPS} steps reach t = {solver.t:g} of {horizon:g} only")
    if solver.status == "failed" and lowest > _SMALL:
        raise ArithmeticError(f"the flow cannot be followed beyond t = {solver.t:g}")
    pairs = [unpack(state) for state in states]
    reached = bool(gone or solver.status == "failed")
    return ChainPath(
        np.array(t),
        np.array([w for w, _ in pairs]),
        np.array([v for _, v in pairs]),
        float(solver.t) if reached else math.inf,
        2 + int(np.argmin(fallen)) if reached else 0,
    )


def _euler_path(w: NDArray, v: NDArray, in_w: NDArray, in_v: NDArray, horizon: float) -> ChainPath:
    """One Euler step: it stays put exactly if the gradient is 0."""
    later = v - horizon * in_v
    flipped = np.nonzero(np.sign(later[1:]) != np.sign(v[1:]))[0]
    return ChainPath(
        np.array([0.0, horizon]),
        np.array([w, w - horizon * in_w]),
        np.array([v, later]),
        0.0 if len(flipped) else math.inf,
        2 + int(flipped[0]) if len(flipped) else 0,
    )


def time_scale(X: ArrayLike, y: ArrayLike, w: ArrayLike, v: ArrayLike) -> float:
    """An upper estimate of the flow's fastest rate: its inverse is a natural unit of time.

    Of the Hessian's blocks at the larger of the start and what the labels call for: sizes of
    (prod v)^2 E|x|^2 and (prod v / v_k)^2 E(w.x)^2 with every factor at its largest.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    data = float(np.mean(np.sum(X * X, axis=1)))
    sizes = np.append(np.abs(np.asarray(v, float)), np.linalg.norm(w))
    size = max(float(sizes.max()), float(np.mean(y * y) / data) ** (0.5 / len(sizes)))
    return (len(sizes) * data + np.sqrt(data * np.mean(y * y))) * size ** (2 * len(sizes) - 2)
