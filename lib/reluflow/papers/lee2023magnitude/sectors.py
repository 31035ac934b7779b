"""Lemma 2.1 and Proposition B.1: second moments of a law on a half-space and on a sector.

The sector of unit vectors u, v is {x : u.x > 0, v.x > 0}. Its matrix E[1{u.x > 0} 1{v.x > 0} xx^T]
is computed in four ways: as printed, in a form without 0/0, by quadrature, and from samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.ledger import Evidence, Reading, bound, deviation, fact, note
from reluflow.papers.lee2023magnitude.sectors_exact import (
    gaussian_sector,
    sphere_sector,
    unit_vector,
)

ANGLES = (1e-6, 1e-3, 0.3, 1.0, math.pi / 2, 2.0, 3.0, math.pi - 1e-3, math.pi - 1e-6)
"""Angles between u and v: the two ends, where the printed formula cancels, and between."""

STANDARD_ERRORS = 7.0
"""A sampled mean may be this far off: of 1000 entries that are right none is, whatever the seed."""


def angle(u: ArrayLike, v: ArrayLike) -> float:
    """The angle between two unit vectors (d,), with all its digits near 0 and near pi."""
    u, v = unit_vector(u, "u"), unit_vector(v, "v")
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
    u, v = unit_vector(u, "u"), unit_vector(v, "v")
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


def sampled_gap(
    law: RadialLaw, u: ArrayLike, v: ArrayLike, n: int, rng: np.random.Generator
) -> float:
    """How far n samples are from E[1{u.x>0} 1{v.x>0} xx^T] = E|x|^2 / d times `sector_moment`.

    Returns the largest distance of an entry of the mean from it, in standard errors; an entry that
    is the same in every sample counts only if it is wrong.
    """
    u, v = unit_vector(u, "u"), unit_vector(v, "v")
    d = len(u)
    x = law.sample(rng, n, d)
    x = x * ((x @ u > 0.0) & (x @ v > 0.0))[:, None]
    i, j = np.triu_indices(d)
    entries = x[:, i] * x[:, j]
    mean, error = entries.mean(axis=0), entries.std(axis=0) / math.sqrt(n)
    gap = np.abs(mean - law.square(d) / d * sector_moment(u, v)[i, j])
    return float(np.max(gap / np.maximum(error, 1e-15)))


def _pairs(rng: np.random.Generator, count: int) -> Iterator[tuple[NDArray, NDArray]]:
    """Unit vectors u, v in random planes, d = 2, 3, 5, 10, at ANGLES and `count` random angles."""
    for theta in (*ANGLES, *rng.uniform(0.0, math.pi, count)):
        for d in (2, 3, 5, 10):
            u, e = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
            v = math.cos(theta) * u + math.sin(theta) * e
            yield u / np.linalg.norm(u), v / np.linalg.norm(v)


def sector_moments(seed: int, count: int) -> list[Evidence]:
    """ma.lem2.1: the printed matrices against quadrature and against samples of N(0, I)."""
    rng = np.random.default_rng(seed)
    worst = half = product = 0.0
    pairs = list(_pairs(rng, count // 10))
    for u, v in pairs:
        theta, eye = angle(u, v), np.eye(len(u))
        measured = gaussian_sector(theta).matrix(u, v)
        worst = max(worst, float(np.abs(measured - printed_sector_moment(u, v)).max()))
        other = gaussian_sector(math.pi - theta).matrix(u, -v)
        half = max(half, float(np.abs(measured + other - 0.5 * eye).max()))
        product = max(product, abs(float(u @ measured @ v) - float(relu_correlation(theta))))
    sampled = max(sampled_gap(GAUSSIAN, u, v, 100 * count, rng) for u, v in pairs[8:24])
    limit = max(float(np.abs(sector_moment(u, -u)).max()) for u, _ in pairs)
    return [
        deviation("largest error of an entry for the sector, against quadrature", worst, ""),
        deviation("the sectors of v and of -v together, against I/2", half, ""),
        deviation("largest error of E[s(u.x) s(v.x)], against quadrature", product, ""),
        bound("largest distance of an entry from its sampled mean", sampled, "<=",
              STANDARD_ERRORS, "standard errors"),
        deviation("the sector's matrix continued to v = -u, against 0", limit, ""),
        note("pairs u, v in d = 2, 3, 5, 10", len(pairs)),
        note("seed", seed),
    ]  # fmt: skip


def at_opposite() -> Reading:
    """What Lemma 2.1 can mean at v = -u."""
    alone = np.isnan(printed_sector_moment([1.0], [-1.0])).all()
    return Reading(
        taken="at v = -u, which is distinct from u, the formula is read as its limit, 0: the "
        "sector is empty there",
        others="letter by letter it is 0/0 at v = -u"
        + ("; for d = 1 that is the only pair of distinct unit vectors" if alone else ""),
    )


def sphere_moments(seed: int, count: int) -> list[Evidence]:
    """ma.propB.1: the matrices of the unit sphere are 1/d times those of N(0, I)."""
    rng = np.random.default_rng(seed)
    worst = half = 0.0
    pairs = list(_pairs(rng, count // 10))
    for u, v in pairs:
        d, theta = len(u), angle(u, v)
        on_sphere = sphere_sector(theta, d).matrix(u, v)
        gaussian = gaussian_sector(theta).matrix(u, v)
        worst = max(worst, float(np.abs(d * on_sphere - gaussian).max()))
        other = sphere_sector(math.pi - theta, d).matrix(u, -v)
        half = max(half, float(np.abs(d * (on_sphere + other) - 0.5 * np.eye(d)).max()))
    sampled = max(sampled_gap(SPHERE, u, v, 100 * count, rng) for u, v in pairs[8:24])
    # d = 1: x is 1 or -1, and u = 1, v = -1 is the only pair.
    line = [sum(x * x for x in (-1, 1) if x > 0) / 2, sum(x * x for x in (-1, 1) if x > 0 > x) / 2]
    return [
        deviation("largest |d M_sphere - M_Gauss|, both by quadrature", worst, ""),
        deviation("the half-space, d M_sphere against I/2", half, ""),
        fact("d = 1: the two matrices are 1/2 and 0", line == [0.5, 0], True),
        bound("largest distance of an entry from its sampled mean", sampled, "<=",
              STANDARD_ERRORS, "standard errors"),
        note("pairs u, v in d = 2, 3, 5, 10", len(pairs)),
        note("seed", seed),
    ]  # fmt: skip
