"""The matrices of Lemma 2.1 and Proposition B.1 by quadrature, as integrals over the sector.

The Gaussian law's are taken in Cartesian coordinates, unlike the proof's polar ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.special import ndtr

from reluflow.errors import InputError


@dataclass(frozen=True)
class SectorIntegrals:
    """Integrals over the sector in coordinates a = u.x and b, orthogonal to it in the plane.

    aa, ab, bb   E[1 a^2], E[1 a b], E[1 b^2]
    rest         E[1 c^2] for a coordinate c orthogonal to the plane
    """

    aa: float
    ab: float
    bb: float
    rest: float

    def matrix(self, u: ArrayLike, v: ArrayLike) -> NDArray:
        """E[1{u.x>0} 1{v.x>0} xx^T] (d, d) for unit vectors u, v (d,) at that angle."""
        u, v = unit_vector(u, "u"), unit_vector(v, "v")
        across = v - (u @ v) * u
        length = np.linalg.norm(across)
        if length == 0.0:
            raise InputError("u and v must span a plane")
        e = across / length
        plane = np.outer(u, u) + np.outer(e, e)
        inner = self.aa * np.outer(u, u) + self.bb * np.outer(e, e)
        return (
            inner
            + self.ab * (np.outer(u, e) + np.outer(e, u))
            + self.rest * (np.eye(len(u)) - plane)
        )


def gaussian_sector(theta: float) -> SectorIntegrals:
    """The integrals for x ~ N(0, I) by quadrature over a = u.x > 0.

    On the sector b > c(a) = -a cot(theta), and the truncated normal law gives P(b > c) = Q(c),
    E[1 b] = f(c), E[1 b^2] = Q(c) + c f(c), f the normal density. Here 0 < theta < pi.
    """
    cot = 1.0 / math.tan(theta)
    # Where cot is large everything happens below 1 / |cot|.
    near = [k / max(1.0, abs(cot)) for k in (0.3, 1.0, 3.0, 10.0, 40.0)]
    ends = sorted({0.0, *near, 3.0, 10.0, 40.0})

    def over(term: Callable[[float, float], float]) -> float:
        pieces = pairwise(ends)
        return sum(
            quad(lambda a: _density(a) * term(a, -a * cot), low, high, epsrel=1e-12)[0]
            for low, high in pieces
        )

    return SectorIntegrals(
        aa=over(lambda a, c: a * a * ndtr(-c)),
        ab=over(lambda a, c: a * _density(c)),
        bb=over(lambda a, c: ndtr(-c) + c * _density(c)),
        rest=over(lambda a, c: ndtr(-c)),
    )


def sphere_sector(theta: float, d: int) -> SectorIntegrals:
    """The integrals for the uniform law on the unit sphere, d >= 2, by quadrature.

    With x = sin(t) (cos alpha, sin alpha) in the plane, t has density (d - 2) sin t cos^(d-3) t on
    (0, pi/2), alpha is uniform, and an orthogonal coordinate has E[c^2 | t] = cos^2 t / (d - 2).
    In the plane itself, d = 2, t = pi/2. Raises InputError for d < 2.
    """
    if d < 2:
        raise InputError(f"two vectors span a plane only if d >= 2, not {d}")
    if d == 2:
        inner, outer = 1.0, 0.0
    else:
        inner = quad(lambda t: (d - 2) * math.sin(t) ** 3 * math.cos(t) ** (d - 3), 0, math.pi / 2)
        outer = quad(lambda t: math.sin(t) * math.cos(t) ** (d - 1), 0, math.pi / 2)
        inner, outer = inner[0], outer[0]

    def over(term: Callable[[float], float]) -> float:
        return quad(term, theta - math.pi / 2, math.pi / 2, epsabs=1e-12)[0] / (2.0 * math.pi)

    return SectorIntegrals(
        aa=inner * over(lambda alpha: math.cos(alpha) ** 2),
        ab=inner * over(lambda alpha: math.cos(alpha) * math.sin(alpha)),
        bb=inner * over(lambda alpha: math.sin(alpha) ** 2),
        rest=outer * over(lambda alpha: 1.0),
    )


def _density(a: float) -> float:
    return math.exp(-0.5 * a * a) / math.sqrt(2.0 * math.pi)


def unit_vector(u: ArrayLike, name: str) -> NDArray:
    u = np.asarray(u, float)
    if u.ndim != 1 or abs(float(u @ u) - 1.0) > 1e-12:
        raise InputError(f"{name} must be a vector of length 1")
    return u
