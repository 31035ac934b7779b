"""Lemma 2.1 and Proposition B.1: second moments of a law on a half-space and on a sector.

The sector of unit vectors u, v is {x : u.x > 0, v.x > 0}. Its matrix E[1{u.x > 0} 1{v.x > 0} xx^T]
is computed in four ways: as printed, in a form without 0/0, by quadrature, and from samples. The
quadrature of the Gaussian law works in Cartesian coordinates, unlike the proof's polar ones.
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


def angle(u: ArrayLike, v: ArrayLike) -> float:
    """The angle between two unit vectors (d,), with all its digits near 0 and near pi."""
    u, v = _unit(u, "u"), _unit(v, "v")
    return float(2.0 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v)))


def printed_sector_moment(u: ArrayLike, v: ArrayLike) -> NDArray:
    """E[1{u.x>0} 1{v.x>0} xx^T] for x ~ N(0, I), letter by letter as Lemma 2.1 prints it:

        1/2 (1 - theta/pi) I + 1/(2 pi sin theta) [-cos theta (uu^T + vv^T) + vu^T + uv^T].

    Parameters: unit vectors u, v (d,). Returns (d, d); all NaN where v = u or v = -u, for there the
    formula is 0/0. Raises InputError for vectors that are not of length 1.
    """
    theta = angle(u, v)
    u, v = np.asarray(u, float), np.asarray(v, float)
    if np.array_equal(u, v) or np.array_equal(u, -v):
        return np.full((len(u), len(u)), np.nan)
    both = np.outer(u, u) + np.outer(v, v)
    mixed = np.outer(v, u) + np.outer(u, v)
    bracket = (-np.cos(theta) * both + mixed) / (2.0 * np.pi * np.sin(theta))
    return 0.5 * (1.0 - theta / np.pi) * np.eye(len(u)) + bracket


def sector_moment(u: ArrayLike, v: ArrayLike) -> NDArray:
    """The matrix of Lemma 2.1 in its proof's eigenbasis, where nothing is 0/0:

        (pi - theta)/(2 pi) I + sin(theta)/(2 pi) (rr^T - ss^T),    r ~ u + v,  s ~ u - v.

    Parameters: unit vectors u, v (d,), v = u and v = -u allowed. Returns (d, d). Raises InputError
    for vectors that are not of length 1.
    """
    u, v = _unit(u, "u"), _unit(v, "v")
    theta = angle(u, v)
    r, s = u + v, u - v
    long, short = np.linalg.norm(r), np.linalg.norm(s)
    sine = 0.5 * long * short
    matrix = (np.pi - theta) / (2.0 * np.pi) * np.eye(len(u))
    if sine > 0.0:
        spread = np.outer(r / long, r / long) - np.outer(s / short, s / short)
        matrix = matrix + sine / (2.0 * np.pi) * spread
    return matrix


def relu_correlation(theta: ArrayLike) -> NDArray:
    """E[s(u.x) s(v.x)] = 1/2 (1 - theta/pi) cos theta + sin theta / (2 pi) of Lemma 2.1, s the
    ReLU, for angles theta (...) in [0, pi]."""
    theta = np.asarray(theta, float)
    return 0.5 * (1.0 - theta / np.pi) * np.cos(theta) + np.sin(theta) / (2.0 * np.pi)


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
        u, v = _unit(u, "u"), _unit(v, "v")
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


@dataclass(frozen=True)
class RadialLaw:
    """A law x = R e with e uniform on the sphere and R >= 0 independent of it.

    name      what it is called
    radius    radius(rng, n, d): n samples of R, shape (n,)
    square    square(d): E R^2 = E |x|^2
    """

    name: str
    radius: Callable[[np.random.Generator, int, int], NDArray]
    square: Callable[[int], float]

    def sample(self, rng: np.random.Generator, n: int, d: int) -> NDArray:
        """n samples of x, shape (n, d)."""
        z = rng.normal(size=(n, d))
        return self.radius(rng, n, d)[:, None] * z / np.linalg.norm(z, axis=1, keepdims=True)


GAUSSIAN = RadialLaw("N(0, I)", lambda rng, n, d: np.sqrt(rng.chisquare(d, n)), float)
SPHERE = RadialLaw("unit sphere", lambda rng, n, d: np.ones(n), lambda d: 1.0)
BALL = RadialLaw("unit ball", lambda rng, n, d: rng.random(n) ** (1.0 / d), lambda d: d / (d + 2.0))
STUDENT = RadialLaw(
    "Student's, 9 degrees of freedom",
    lambda rng, n, d: np.sqrt(rng.chisquare(d, n) * 9.0 / rng.chisquare(9, n)),
    lambda d: 9.0 * d / 7.0,
)
SHELLS = RadialLaw(
    "0 or radius 3, evenly",
    lambda rng, n, d: 3.0 * rng.integers(0, 2, n),
    lambda d: 4.5,
)


def sampled_gap(
    law: RadialLaw, u: ArrayLike, v: ArrayLike, n: int, rng: np.random.Generator
) -> float:
    """How far n samples are from E[1{u.x>0} 1{v.x>0} xx^T] = E|x|^2 / d times `sector_moment`.

    Returns the largest distance of an entry of the mean from it, in standard errors; an entry that
    is the same in every sample counts only if it is wrong.
    """
    u, v = _unit(u, "u"), _unit(v, "v")
    d = len(u)
    x = law.sample(rng, n, d)
    x = x * ((x @ u > 0.0) & (x @ v > 0.0))[:, None]
    i, j = np.triu_indices(d)
    entries = x[:, i] * x[:, j]
    mean, error = entries.mean(axis=0), entries.std(axis=0) / math.sqrt(n)
    gap = np.abs(mean - law.square(d) / d * sector_moment(u, v)[i, j])
    return float(np.max(gap / np.maximum(error, 1e-15)))


def _unit(u: ArrayLike, name: str) -> NDArray:
    u = np.asarray(u, float)
    if u.ndim != 1 or abs(float(u @ u) - 1.0) > 1e-12:
        raise InputError(f"{name} must be a vector of length 1")
    return u
