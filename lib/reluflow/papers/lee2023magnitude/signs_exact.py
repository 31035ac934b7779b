"""When the smallest factor of a chain in dimension 1 reaches 0, by mpmath's quadrature."""

from __future__ import annotations

import math

import mpmath
import numpy as np
from numpy.typing import ArrayLike


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
