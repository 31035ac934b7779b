"""The vector flows of Propositions 3.1 and 3.6, and the population gradient by quadrature.

m is the number of factors v_1, ..., v_m besides w, phi = pi - angle(w, w*) and v = |w|. The teacher
is balanced: v_1* = ... = v_m* = |w*| = v*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from reluflow.errors import InputError

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
"""Exact to rounding for the squares of sines that are integrated, over arcs of at most pi."""


def quadrature_gradient(
    w: ArrayLike, target: ArrayLike, v: ArrayLike = (), target_v: ArrayLike = ()
) -> tuple[NDArray, NDArray]:
    """Gradient of (1), 1/2 E (v_1 ... v_m [w.x]_+ - v_1* ... v_m* [w*.x]_+)^2, by quadrature.

    A Gaussian vector's part in the plane of w and w* has an independent direction a and a square
    of mean 2, so E f = (1/pi) int f(cos a, sin a) da for the f that occur; the arcs on which one
    and both neurons are active are integrated apart. No closed form of Lemma 2.1 is used.

    Parameters: w (d,) not 0, target (d,) not 0, v (m,), target_v (any number of factors,). Returns
    the gradient in w (d,) and in v (m,).
    """
    w, target, v = (np.asarray(a, float) for a in (w, target, v))
    size, length = float(np.linalg.norm(target)), float(np.linalg.norm(w))
    first = target / size
    across = w - (w @ first) * first
    away = float(np.linalg.norm(across))
    second = across / away if away > 0.0 else np.zeros_like(first)
    theta = math.atan2(away, float(w @ first))
    angles, weights = _arcs((theta - 0.5 * np.pi, 0.5 * np.pi, theta + 0.5 * np.pi))
    factor, best = float(np.prod(v)), float(np.prod(target_v))
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


def supplementary_angle(w: ArrayLike, target: ArrayLike) -> float:
    """phi = pi - angle(w, w*), by half angles. Parameters: w and target (d,), not 0."""
    w, target = np.asarray(w, float), np.asarray(target, float)
    u, best = w / np.linalg.norm(w), target / np.linalg.norm(target)
    return 2.0 * math.atan2(float(np.linalg.norm(u + best)), float(np.linalg.norm(u - best)))


def vector_rate(w: ArrayLike, target: ArrayLike, m: int = 0) -> NDArray:
    """dw/dt of eq. (5), for m >= 1 of Proposition 3.6 (balanced, v = |w|):

        -1/2 v^(2m) w + 1/2 v^m v*^m (phi/pi w* + v*/v sin(phi)/pi w).

    Parameters: w and target (d,), not 0. Returns (d,).
    """
    w, target = np.asarray(w, float), np.asarray(target, float)
    v, best = float(np.linalg.norm(w)), float(np.linalg.norm(target))
    phi = supplementary_angle(w, target)
    toward = (phi * target + best / v * math.sin(phi) * w) / np.pi
    return -0.5 * v ** (2 * m) * w + 0.5 * (v * best) ** m * toward


def magnitude_rate(v: ArrayLike, phi: ArrayLike, target: float, m: int = 0) -> NDArray:
    """dv/dt of (6), for m >= 1 of (9): -1/2 v^m (v^(m+1) - v*^(m+1) (sin phi - phi cos phi)/pi).

    Parameters: v and phi of one shape, target = v*. Returns that shape.
    """
    v, phi = np.asarray(v, float), np.asarray(phi, float)
    pull = (np.sin(phi) - phi * np.cos(phi)) / np.pi
    return -0.5 * v**m * (v ** (m + 1) - target ** (m + 1) * pull)


def angle_rate(v: ArrayLike, phi: ArrayLike, target: float, m: int = 0) -> NDArray:
    """dphi/dt of (7), for m >= 1 of (10): v^(m-1) v*^(m+1) phi sin(phi) / (2 pi).

    Parameters: v and phi of one shape, target = v*. Returns that shape.
    """
    v, phi = np.asarray(v, float), np.asarray(phi, float)
    return v ** (m - 1.0) * target ** (m + 1) * phi * np.sin(phi) / (2.0 * np.pi)


@dataclass(frozen=True)
class ParameterPath:
    """Weights w (k, d) and factors v (k, m) at times t (k,)."""

    t: NDArray
    w: NDArray
    v: NDArray

    def imbalance(self) -> float:
        """Largest change of v_k^2 - |w|^2 along the path, over all k; 0 for m = 0."""
        if self.v.shape[1] == 0:
            return 0.0
        gap = self.v**2 - np.sum(self.w**2, axis=1)[:, None]
        return float(np.abs(gap - gap[0]).max())


def parameter_flow(
    w0: ArrayLike, target: ArrayLike, v0: ArrayLike, target_v: ArrayLike, t: ArrayLike
) -> ParameterPath:
    """Gradient flow (2) in all parameters, from `quadrature_gradient`, balanced or not.

    Parameters: w0 and target (d,), not 0; v0 and target_v (m,), positive; t (k,) increasing times
    from 0 on. Returns the path, to about ten digits. Raises InputError for factors <= 0.
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
    return ParameterPath(t, found.y[:d].T, found.y[d:].T)
