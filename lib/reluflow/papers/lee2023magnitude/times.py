"""How long the balanced flow takes to a given angle or loss, by quadrature.

Times are s = |w*|^(2m) t; psi = log tan(phi/2), rho = log(|w|/|w*|), and losses are in units of
|w*|^(2(m+1)). In dtau = (|w|/|w*|)^(m-1) ds the angle's equation (10) is free of the magnitude,

    dphi/dtau = phi sin(phi) / (2 pi),    s = int (|w|/|w*|)^(1-m) dtau.

So a larger start is slower for m = 0, as fast for m = 1 and faster for m >= 2, to every angle.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.flows.orbit import Orbit, orbits
from reluflow.flows.population import shortfall

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS
_HALVINGS = 50
_STAGES = 4
"""Orbits end when the angle is small; a tiny start's magnitude may come later, some orbits on."""


def relative_loss(psi: ArrayLike, rho: ArrayLike, m: ArrayLike) -> NDArray:
    """L of (1) over |w*|^(2(m+1)): 1/4 ((e^((m+1) rho) - 1 + eps)^2 + eps (2 - eps)).

    Parameters: psi, rho and m of shapes that broadcast. Returns their shape.
    """
    eps = shortfall(2.0 * np.arctan(np.exp(-np.asarray(psi, float))))
    excess = np.expm1((np.asarray(m) + 1.0) * np.asarray(rho, float)) + eps
    return 0.25 * (excess**2 + eps * (2.0 - eps))


def time_to_angle(psi0: ArrayLike, rho0: ArrayLike, m: ArrayLike, psi1: ArrayLike) -> NDArray:
    """Time s at which psi = psi1, from starts (psi0, rho0).

    Parameters: arrays that broadcast to (k,), psi0 <= psi1. Returns (k,). Raises InputError for an
    angle before the start's, or more than 14 beyond it and 0 in psi.
    """
    psi0, rho0, m, psi1 = _columns(psi0, rho0, m, psi1)
    path = orbits(psi0, rho0, m)
    if np.any(psi1 < psi0) or np.any(psi1 > path.psi[:, -1]):
        raise InputError("psi1 must lie between the start's psi0 and the orbit's end")
    return _within(path, m, np.sum(path.psi <= psi1[:, None], axis=1) - 1)(psi1)[0]


def time_to_loss(psi0: ArrayLike, rho0: ArrayLike, m: ArrayLike, level: ArrayLike) -> NDArray:
    """Time s at which the loss, which falls along the flow, has come down to `level`.

    Parameters: arrays that broadcast to (k,); level in units of |w*|^(2(m+1)). Returns (k,), 0
    where the start is no higher. Raises InputError for a level that is not reached.
    """
    psi0, rho0, m, level = _columns(psi0, rho0, m, level)
    path = orbits(psi0, rho0, m)
    for _ in range(_STAGES):
        losses = relative_loss(path.psi, path.rho, m[:, None])
        if np.all(losses[:, -1] <= level):
            break
        path = _continued(path, m)
    else:
        raise InputError(f"level must be a loss that the flow reaches, not {level.min():g}")
    k = np.maximum(np.argmax(losses <= level[:, None], axis=1) - 1, 0)
    at = _within(path, m, k)
    rows = np.arange(len(k))
    low, high = path.psi[rows, k], path.psi[rows, k + 1]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = relative_loss(middle, at(middle)[1], m) > level
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(losses[:, 0] <= level, 0.0, at(0.5 * (low + high))[0])


def slopes(sizes: ArrayLike, times: ArrayLike) -> NDArray:
    """d log(time) / d log(size) between neighbours. Parameters: two (k,). Returns (k - 1,)."""
    return np.diff(np.log(times)) / np.diff(np.log(sizes))


def late_error(phi0: ArrayLike, r: ArrayLike) -> NDArray:
    """lim e^(t/2) |w(t) - w*| / |w*| of a one-layer neuron; L = 1/4 |w - w*|^2 there.

    With a = r sin(phi_0)/phi_0 the closed form of (6)-(7) gives

        K^2 = (pi a)^2 + (1 + a (1 + pi cot phi_0))^2.

    Parameters: phi0 (...) in (0, pi), r = |w_0|/|w*| >= 0 (...).
    """
    phi0 = np.asarray(phi0, float)
    a = np.asarray(r, float) * np.sin(phi0) / phi0
    return np.hypot(np.pi * a, 1.0 + a * (1.0 + np.pi / np.tan(phi0)))


def best_norm(phi0: ArrayLike) -> NDArray:
    """|w_0|/|w*| of least `late_error`: 0 unless angle(w_0, w*) = pi - phi_0 < arctan(pi).

    Parameters: phi0 (...) in (0, pi).
    """
    phi0 = np.asarray(phi0, float)
    b = 1.0 + np.pi / np.tan(phi0)
    return np.maximum(-b, 0.0) / (np.pi**2 + b**2) * phi0 / np.sin(phi0)


def _columns(*given: ArrayLike) -> list[NDArray]:
    return [np.atleast_1d(a).astype(float) for a in np.broadcast_arrays(*given)]


def _continued(path: Orbit, m: NDArray) -> Orbit:
    """The orbits, and those that start at their ends."""
    more = orbits(path.psi[:, -1], path.rho[:, -1], m)
    s = path.s[:, -1:] + more.s[:, 1:]
    return Orbit(
        np.hstack([path.s, s]),
        np.hstack([path.psi, more.psi[:, 1:]]),
        np.hstack([path.rho, more.rho[:, 1:]]),
    )


def _within(path: Orbit, m: NDArray, k: NDArray) -> Callable[[NDArray], tuple[NDArray, NDArray]]:
    """Time and rho as functions of psi (rows,) in panel k (rows,) of every orbit.

    From the panel's first point Z = (v*/v)^(m+1) solves the orbit's equation,
    Z = (Z_0 + (m + 1) pi int grown / phi dpsi) / grown with grown = (g(phi)/g(phi_0))^(m+1).
    """
    rows, p = np.arange(len(k)), m + 1.0
    s, psi0, Z0 = path.s[rows, k], path.psi[rows, k], np.exp(-p * path.rho[rows, k])
    start = _phi(psi0) * np.cosh(psi0)

    def grown(psi: NDArray, axes: tuple[int, ...]) -> NDArray:
        base, power = np.expand_dims(start, axes), np.expand_dims(p, axes)
        return (_phi(psi) * np.cosh(psi) / base) ** power

    def odd(psi: NDArray) -> NDArray:
        """Z at psi (rows, j), by Gauss-Legendre from the panel's start to each."""
        width = psi - psi0[:, None]
        inner = psi0[:, None, None] + width[:, :, None] * _NODES
        gain = (grown(inner, (1, 2)) / _phi(inner)) @ _WEIGHTS
        return (Z0[:, None] + np.pi * p[:, None] * width * gain) / grown(psi, (1,))

    def at(psi: NDArray) -> tuple[NDArray, NDArray]:
        width = (psi - psi0)[:, None]
        nodes = psi0[:, None] + width * _NODES
        pace = 2.0 * np.pi * odd(nodes) ** (1.0 - 2.0 / p[:, None]) / _phi(nodes)
        return s + width[:, 0] * (pace @ _WEIGHTS), -np.log(odd(psi[:, None])[:, 0]) / p

    return at


def _phi(psi: NDArray) -> NDArray:
    return 2.0 * np.arctan(np.exp(psi))
