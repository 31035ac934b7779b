"""The balanced flow (9)-(10) in closed form: the magnitude as a function of the angle.

Along the flow of m + 1 layers

    d/dt log(v sin(phi) / phi) = -1/2 v^(2m),

which makes v sin(phi) / phi a Bernoulli equation in phi. With g(phi) = phi / sin(phi),

    (v*/v)^(m+1) g(phi)^(m+1) = (v*/v_0)^(m+1) g(phi_0)^(m+1)
                                + (m+1) pi int_(phi_0)^(phi) x^m / sin(x)^(m+2) dx,

and the time is one more integral, of 2 pi / (v^(m-1) v*^(m+1) x sin x). For m = 0 all is explicit:

    cot phi(t) = cot phi_0 - (g(phi_0) v* / (pi v_0)) (e^(t/2) - 1),
    v(t)       = v_0 e^(-t/2) g(phi(t)) / g(phi_0).

In psi = log tan(phi/2) one has sin(phi) = 1/cosh(psi), cot(phi) = -sinh(psi), dphi = sin(phi) dpsi.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.flows.half_angles import angle
from reluflow.flows.population_path import PopulationPath, recorded_path

_NODES = 12
_SPAN = 14.0
"""An orbit ends where psi is this much above its start and above 0."""


@dataclass(frozen=True)
class Orbit:
    """Points of k orbits, n each, from the start on.

    s    (k, n) times v*^(2m) t, from 0
    psi  (k, n) log tan(phi/2)
    rho  (k, n) log(v / v*), to an absolute error near 1e-14
    m    (k,) factors besides w
    """

    s: NDArray
    psi: NDArray
    rho: NDArray
    m: NDArray

    def at(self, psi: NDArray) -> tuple[NDArray, NDArray]:
        """s and rho (k,) where each orbit passes psi (k,), between its ends."""
        last = np.sum(self.psi <= psi[:, None], axis=1) - 1
        s, start, rho = (row[np.arange(len(psi)), last] for row in (self.s, self.psi, self.rho))
        s, _, odd = _panel(s, start, np.exp(-(self.m + 1.0) * rho), psi - start, self.m)
        return s, -np.log(odd) / (self.m + 1.0)

    def __getitem__(self, k: int) -> PopulationPath:
        """Orbit k as a path of the flow with v* = 1, known at its points; without its factors."""
        none = np.zeros((self.s.shape[1], 0))
        return recorded_path(self.s[k], self.psi[k], self.rho[k], none, 1.0, "time")


def orbits(psi0: ArrayLike, rho0: ArrayLike, m: ArrayLike) -> Orbit:
    """k orbits at points that resolve the start, however fast it is, and the approach to w*.

    Gauss-Legendre panels in psi, doubling in width from a small part of the start's own scale.
    Parameters: psi0, rho0 and the whole numbers m >= 0, arrays that broadcast to (k,). The number
    of points is the longest orbit's; the others go on further.
    """
    psi, rho, m = (np.atleast_1d(a).astype(float) for a in np.broadcast_arrays(psi0, rho0, m))
    p, cap = m + 1.0, np.minimum(0.5, 2.0 / (m + 1.0))
    s, odd = np.zeros(len(psi)), np.exp(-p * rho)
    width = 1e-3 * np.minimum(cap, angle(psi) * odd / (np.pi * p))
    path = [(s, psi, odd)]
    finish = np.maximum(psi, 0.0) + _SPAN
    while np.any(psi < finish):
        s, psi, odd = _panel(s, psi, odd, width, m)
        path.append((s, psi, odd))
        width = np.minimum(2.0 * width, cap)
    s, psi, odd = (np.stack(column, axis=1) for column in zip(*path, strict=True))
    return Orbit(s, psi, -np.log(odd) / p[:, None], m)


def _panel(
    s: NDArray, psi: NDArray, odd: NDArray, width: NDArray, m: NDArray
) -> tuple[NDArray, NDArray, NDArray]:
    """s, psi and Z = (v*/v)^(m+1) of orbits (k,) that have gone on by `width` (k,) in psi."""
    nodes, weights, inner = _legendre()
    p = m[:, None] + 1.0
    at = psi[:, None] + width[:, None] * nodes
    arc, end = angle(at), psi + width
    grown = (arc * np.cosh(at) / (angle(psi) * np.cosh(psi))[:, None]) ** p
    rate = p * np.pi * grown / arc
    Z = (odd[:, None] + width[:, None] * (rate @ inner.T)) / grown
    s = s + width * ((2.0 * np.pi * Z ** (1.0 - 2.0 / p) / arc) @ weights)
    last = (angle(end) * np.cosh(end) / (angle(psi) * np.cosh(psi))) ** p[:, 0]
    return s, end, (odd + width * (rate @ weights)) / last


@cache
def _legendre() -> tuple[NDArray, NDArray, NDArray]:
    """Nodes and weights on (0, 1), and the matrix of the integrals from 0 to each node."""
    x, weights = np.polynomial.legendre.leggauss(_NODES)
    degrees = np.arange(_NODES)
    values = np.polynomial.legendre.legvander(x, _NODES)
    # int_(-1)^x P_n = (P_(n+1) - P_(n-1)) / (2n + 1), and x + 1 for n = 0.
    primitives = (values[:, 1:] - np.pad(values, ((0, 0), (1, 0)))[:, :_NODES]) / (2 * degrees + 1)
    primitives[:, 0] = x + 1.0
    coefficients = (values[:, :_NODES] * weights[:, None]).T * (degrees[:, None] + 0.5)
    return 0.5 * (x + 1.0), 0.5 * weights, 0.5 * primitives @ coefficients
