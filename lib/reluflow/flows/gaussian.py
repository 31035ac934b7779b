"""A chain of ReLU neurons under a teacher and Gaussian data, by quadrature: no closed forms.

The student is v_1 ... v_m [w.x]_+, the teacher v_1* ... v_k* [w*.x]_+, x ~ N(0, I), and the loss
half the mean of squares. It is the second, slower route beside `reluflow.flows.population`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from reluflow.errors import InputError

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
"""Exact to rounding for the squares of sines that are integrated, over arcs of at most pi."""


def quadrature_gradient(
    w: ArrayLike, target: ArrayLike, v: ArrayLike = (), target_v: ArrayLike = ()
) -> tuple[NDArray, NDArray]:
    """Gradient of 1/2 E (v_1 ... v_m [w.x]_+ - v_1* ... v_k* [w*.x]_+)^2, by quadrature.

    A Gaussian vector's part in the plane of w and w* has an independent direction a and a square
    of mean 2, so E f = (1/pi) int f(cos a, sin a) da for the f that occur; the arcs on which one
    and both neurons are active are integrated apart.

    Parameters: w (d,) not 0, target (d,) not 0, v (m,), target_v (any number of factors,). Returns
    the gradient in w (d,) and in v (m,).
    """
    w, target, v = np.asarray(w, float), np.asarray(target, float), np.asarray(v, float)
    size, length = float(np.linalg.norm(target)), float(np.linalg.norm(w))
    first = target / size
    across = w - (w @ first) * first
    away = float(np.linalg.norm(across))
    second = across / away if away > 0.0 else np.zeros_like(first)
    theta = math.atan2(away, float(w @ first))
    angles, weights = _arcs((theta - 0.5 * np.pi, 0.5 * np.pi, theta + 0.5 * np.pi))
    factor, best = float(np.prod(v)), float(np.prod(np.asarray(target_v, float)))
    student = length * np.cos(angles - theta)
    residual = factor * student - best * size * np.maximum(np.cos(angles), 0.0)
    share = weights * residual / np.pi
    in_plane = factor * np.array([share @ np.cos(angles), share @ np.sin(angles)])
    rests = np.array([np.prod(np.delete(v, k)) for k in range(len(v))])
    return in_plane[0] * first + in_plane[1] * second, rests * float(share @ student)


def _arcs(ends: tuple[float, ...]) -> tuple[NDArray, NDArray]:
    """Gauss-Legendre nodes and weights on the arcs between consecutive ends."""
    low, high = np.array(ends[:-1])[:, None], np.array(ends[1:])[:, None]
    half = 0.5 * (high - low)
    return (low + half * (_NODES + 1.0)).ravel(), (half * _WEIGHTS).ravel()


def parameter_flow(
    w0: ArrayLike, target: ArrayLike, v0: ArrayLike, target_v: ArrayLike, t: ArrayLike
) -> tuple[NDArray, NDArray]:
    """The gradient flow in all parameters, from `quadrature_gradient`, balanced or not.

    Parameters: w0 and target (d,), not 0; v0 and target_v (m,), positive; t (k,) increasing times
    from 0 on. Returns w (k, d) and v (k, m) at those times, to about ten digits. Raises InputError
    for factors <= 0.
    """
    w0, v0, t = (np.asarray(a, float) for a in (w0, v0, t))
    if np.any(v0 <= 0.0) or np.any(np.asarray(target_v, float) <= 0.0):
        raise InputError("v0 and target_v must be positive: other neurons are constant zero")
    d = len(w0)

    def rate(_: float, state: NDArray) -> NDArray:
        return -np.concatenate(quadrature_gradient(state[:d], target, state[d:], target_v))

    found = solve_ivp(rate, (0.0, float(t[-1])), np.concatenate([w0, v0]), method="DOP853",
                      t_eval=t, rtol=1e-11, atol=1e-13)  # fmt: skip
    if not found.success:
        raise ArithmeticError(f"the parameter flow stopped at t = {found.t[-1]:g}")
    return found.y[:d].T, found.y[d:].T


def imbalance(w: NDArray, v: NDArray) -> float:
    """Largest change of v_k^2 - |w|^2 along a path w (n, d), v (n, m), over all k; 0 for m = 0."""
    gap = v**2 - np.sum(w**2, axis=1)[:, None]
    return float(np.abs(gap - gap[0]).max(initial=0.0))
