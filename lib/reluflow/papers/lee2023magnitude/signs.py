"""Proposition 3.5: do the factors v_2, ..., v_m of a chain of single ReLU neurons keep their signs?

The chain is f(x) = v_1 s(v_2 s(... v_m s(w.x))), s(h) = max(h, 0), and s'(0) = 0 as the paper has
it. Nothing is supposed about balance or about the sign of what the chain is to learn.

The flow is integrated in log v_k for k >= 2, so that a slow decay and a zero reached in finite time
cannot be confused: only the second stops the clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import RK45, solve_ivp

from reluflow.errors import InputError
from reluflow.flows.population import population_gradient, pull

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


def reached_zero_at(v: ArrayLike, w: float, target: float, second_moment: float) -> float:
    """When the smallest factor reaches 0 in dimension 1, by mpmath's quadrature; w, target > 0.

    The chain's loss is s/2 (w prod v + c)^2 with the target -c x for x > 0 and s = E[1{x>0} x^2].
    Then w^2 - v_k^2 and v_j^2 - v_k^2 stay what they are, so that all sizes are functions of the
    smallest one, a, and

        T = int_0^a0 da / (s (w prod v + c) w prod_(j != k) v_j).

    Parameters: v (m,) and w positive, `target` = c > 0, `second_moment` = s.
    """
    sizes = sorted([mpmath.mpf(float(a)) for a in [*np.asarray(v, float), w]])
    if sizes[0] == sizes[1]:
        return math.inf
    gaps = [a**2 - sizes[0] ** 2 for a in sizes[1:]]

    def pace(a: mpmath.mpf) -> mpmath.mpf:
        rest = mpmath.fprod(mpmath.sqrt(a**2 + gap) for gap in gaps)
        return 1 / (second_moment * (a * rest + target) * rest)

    return float(mpmath.quad(pace, [0, sizes[0] / 2, sizes[0]]))


@dataclass(frozen=True)
class Silence:
    """What the conserved differences of squares say of chains under a negative target.

    time   (k,) when v_j, j >= 2, reaches 0; infinite where none can
    phi    (k,) the angle pi - angle(w, w*) then; NaN where none can
    """

    time: NDArray
    phi: NDArray


def silence(w: ArrayLike, v: ArrayLike, phi: ArrayLike, strength: ArrayLike) -> Silence:
    """When and at what angle chains fall silent, from an integral over a = the smallest size.

    All squares |w|^2, v_j^2 keep their differences, so that a stays the smallest of the sizes and
    every other one is sqrt(a^2 + gap) > 0. If a is a factor, R the product of the others, p = aR
    and P = `strength` = |v_1* ... v_m*| |w*|, then eq. (14) and Lemma 2.1 give, with
    psi = log tan(phi/2),

        dt/da   = -2 / (R |w| (p |w| + P pull(phi))),
        dpsi/da = a P phi / (pi |w|^2 (p |w| + P pull(phi))).

    Parameters: |w| (k,), v (k, m) positive, phi (k,) in (0, pi), strength (k,) positive. All are
    integrated at once, in s = 1 - a / a(0).
    """
    sizes = np.column_stack([np.asarray(v, float), np.asarray(w, float)])
    psi, strength = np.log(np.tan(np.asarray(phi, float) / 2.0)), np.asarray(strength, float)
    first = np.argmin(sizes, axis=1)
    a0 = sizes.min(axis=1)
    gaps = sizes**2 - a0[:, None] ** 2
    alone = np.sum(gaps <= 0.0, axis=1) == 1
    silenced = alone & (first >= 1) & (first < sizes.shape[1] - 1)
    a0, gaps, psi, strength = (x[silenced] for x in (a0, gaps, psi, strength))
    others = np.arange(sizes.shape[1]) != first[silenced, None]

    def rates(s: float, state: NDArray) -> NDArray:
        a, phi = (1.0 - s) * a0, 2.0 * np.arctan(np.exp(state[: len(a0)]))
        now = np.sqrt(a[:, None] ** 2 + gaps)
        length = now[:, -1]
        rest = np.prod(np.where(others, now, 1.0), axis=1) / length
        common = a * rest * length + strength * pull(phi)
        turn = a * strength * phi / (np.pi * length**2 * common)
        return np.concatenate([-a0 * turn, 2.0 * a0 / (rest * length * common)])

    start = np.concatenate([psi, np.zeros(len(a0))])
    psi, time = (
        solve_ivp(rates, (0.0, 1.0), start, "DOP853", rtol=1e-9, atol=1e-12).y[:, -1].reshape(2, -1)
    )
    times, angles = np.full(len(first), np.inf), np.full(len(first), np.nan)
    times[silenced], angles[silenced] = time, 2.0 * np.arctan(np.exp(psi))
    return Silence(times, angles)
