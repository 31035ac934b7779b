"""How long a balanced chain takes to an angle or a loss under a Gaussian teacher, by quadrature.

Times are s = |w*|^(2m) t; psi = log tan(phi/2), rho = log(|w|/|w*|), and losses are in units of
|w*|^(2(m+1)). In dtau = (|w|/|w*|)^(m-1) ds the angle's equation is free of the magnitude,

    dphi/dtau = phi sin(phi) / (2 pi),    s = int (|w|/|w*|)^(1-m) dtau.

So a larger start is slower for m = 0, as fast for m = 1 and faster for m >= 2, to every angle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.flows.half_angles import angle
from reluflow.flows.orbit import Orbit, orbits
from reluflow.flows.population import shortfall

_HALVINGS = 50
_STAGES = 4
"""Orbits end when the angle is small; a tiny start's magnitude may come later, some orbits on."""


def relative_loss(psi: ArrayLike, rho: ArrayLike, m: ArrayLike) -> NDArray:
    """The loss over |w*|^(2(m+1)): 1/4 ((e^((m+1) rho) - 1 + eps)^2 + eps (2 - eps)).

    Parameters: psi, rho and m of shapes that broadcast. Returns their shape.
    """
    eps = shortfall(angle(-np.asarray(psi, float)))
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
    return path.at(psi1)[0]


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
        path = _continued(path)
    else:
        raise InputError(f"level must be a loss that the flow reaches, not {level.min():g}")
    k = np.maximum(np.argmax(losses <= level[:, None], axis=1) - 1, 0)
    low, high = (path.psi[np.arange(len(k)), at] for at in (k, k + 1))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = relative_loss(middle, path.at(middle)[1], m) > level
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(losses[:, 0] <= level, 0.0, path.at(0.5 * (low + high))[0])


def _columns(*given: ArrayLike) -> list[NDArray]:
    return [np.atleast_1d(a).astype(float) for a in np.broadcast_arrays(*given)]


def _continued(path: Orbit) -> Orbit:
    """The orbits, and those that start at their ends."""
    more = orbits(path.psi[:, -1], path.rho[:, -1], path.m)
    pairs = ((path.s, path.s[:, -1:] + more.s), (path.psi, more.psi), (path.rho, more.rho))
    s, psi, rho = (np.hstack([first, then[:, 1:]]) for first, then in pairs)
    return Orbit(s, psi, rho, path.m)
