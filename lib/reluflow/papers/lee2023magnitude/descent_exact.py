"""Second routes for the descent statements: plain vector steps in high precision.

They share no code with `reluflow.flows.population`. `quadrature_step` does not even use Lemma 2.1:
for x ~ N(0, I) the plane of w and w* suffices, and there x = rho e(alpha) with E rho^2 = 2, so

    E F(x) = 1/pi * integral of F(e(alpha)) over one turn

for every F with F(c x) = c^2 F(x), c > 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
from mpmath import mpf

from reluflow.papers.lee2023magnitude.bounds_exact import pull

DIGITS = 30


@dataclass(frozen=True)
class Place:
    """Weights w = (along, across) with the teacher along (1, 0), and the factors v_1, ..., v_m."""

    along: mpf
    across: mpf
    v: tuple[mpf, ...]

    @property
    def theta(self) -> mpf:
        """The angle between w and w*."""
        with mpmath.workdps(DIGITS):
            return abs(mpmath.atan2(self.across, self.along))

    @property
    def length(self) -> mpf:
        """|w|."""
        with mpmath.workdps(DIGITS):
            return mpmath.hypot(self.along, self.across)


def balanced(theta0: Any, v0: Any, m: int) -> Place:
    """The start with angle theta0 to the teacher and v_1 = ... = v_m = |w| = v0; both numbers, or
    texts that mpmath reads."""
    with mpmath.workdps(DIGITS):
        angle, size = mpf(theta0), mpf(v0)
        return Place(size * mpmath.cos(angle), size * mpmath.sin(angle), (size,) * m)


def quadrature_step(place: Place, target: Any, step: Any) -> Place:
    """One step of descent; every expectation is an integral over the arc on which w.x > 0."""
    with mpmath.workdps(DIGITS):
        target, step = mpf(target), mpf(step)
        p = mpmath.fprod(place.v)
        best = target ** (len(place.v) + 1)
        half = mpmath.pi / 2
        middle = mpmath.atan2(place.across, place.along)
        own = [middle - half, middle, middle + half]
        both = sorted([max(own[0], -half), min(own[2], half)])

        def mean(weight: Callable[[Any], Any]) -> mpf:
            """E 1{w.x > 0} (f - f*) weight(x) for a linear weight."""
            mine = mpmath.quad(
                lambda a: p * (place.along * mpmath.cos(a) + place.across * mpmath.sin(a))
                * weight(a), own)  # fmt: skip
            theirs = mpmath.quad(lambda a: best * mpmath.cos(a) * weight(a), both)
            return (mine - theirs) / mpmath.pi

        east, north = mean(mpmath.cos), mean(mpmath.sin)
        radial = place.along * east + place.across * north
        return Place(
            place.along - step * p * east,
            place.across - step * p * north,
            tuple(a - step * (p / a) * radial for a in place.v),
        )


def vector_descent(place: Place, target: Any, step: Any, n_steps: int) -> list[Place]:
    """`n_steps` steps of descent by the vector form of Proposition 3.6, p = v_1...v_m:

    -dL/dw = -p^2 w / 2 + p v*^m (phi w* + sin(phi) |w*| u) / (2 pi),
    -dL/dv_k = (w . -dL/dw) / v_k, since f depends on v_k w alone.
    """
    with mpmath.workdps(DIGITS):
        target, step = mpf(target), mpf(step)
        out = [place]
        for _ in range(n_steps):
            x, y, v = out[-1].along, out[-1].across, out[-1].v
            p, r = mpmath.fprod(v), mpmath.hypot(x, y)
            phi = mpmath.pi - abs(mpmath.atan2(y, x))
            scale = p * target ** (len(v) + 1) / (2 * mpmath.pi)
            gx = -(p**2) * x / 2 + scale * (phi + mpmath.sin(phi) * x / r)
            gy = -(p**2) * y / 2 + scale * mpmath.sin(phi) * y / r
            radial = x * gx + y * gy
            out.append(Place(x + step * gx, y + step * gy, tuple(a + step * radial / a for a in v)))
        return out


def angle_gap_bounds(T: int, theta0: Any, slow: Any, fast: Any, step: Any) -> tuple[mpf, mpf]:
    """Theorems 4.2 and A.2 for pi - phi(T), from the two rates: k = tan(theta0/2),
    2 k (1 - fast eta)^T - 2/3 k^3 (1 - 3 fast eta)^T and 2 k (1 - slow eta)^T."""
    with mpmath.workdps(DIGITS):
        k, slow, fast, step = mpmath.tan(mpf(theta0) / 2), mpf(slow), mpf(fast), mpf(step)
        below = 2 * k * (1 - fast * step) ** T - 2 * k**3 * (1 - 3 * fast * step) ** T / 3
        return below, 2 * k * (1 - slow * step) ** T


def two_layer_bounds(T: int, theta0: Any, v0: Any, target: Any, step: Any) -> tuple[mpf, mpf]:
    """Theorem A.3's two bounds at step T, as they are printed."""
    with mpmath.workdps(DIGITS):
        theta0, v0, target, step = mpf(theta0), mpf(v0), mpf(target), mpf(step)
        found = []
        for a in (pull(mpmath.pi - theta0), mpf(1)):
            left = (1 - a * (target / v0) ** 2) * (1 - a * target**2 * step) ** T
            found.append(target * mpmath.sqrt(a / (1 - left)))
        return found[0], found[1]


def magnitude_bounds_at(T: int, theta0: Any, v0: Any, target: Any, step: Any) -> tuple[mpf, mpf]:
    """Theorem A.1's two bounds at step T, as they are printed."""
    with mpmath.workdps(DIGITS):
        theta0, v0, target, step = mpf(theta0), mpf(v0), mpf(target), mpf(step)
        q = (1 - step / 2) ** T
        return pull(mpmath.pi - theta0) * (1 - q) * target + v0 * q, (1 - q) * target + v0 * q
