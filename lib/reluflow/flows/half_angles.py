"""The coordinate psi = log tan(phi/2) of an angle phi, in which no angle near 0 or pi loses digits.

sin(phi) = 1 / cosh(psi), cos(phi) = -tanh(psi), and -psi belongs to pi - phi.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def angle(psi: ArrayLike) -> NDArray:
    """phi = 2 arctan(e^psi) in (0, pi), shape (...) of psi."""
    return 2.0 * np.arctan(np.exp(psi))


def log_tan(phi: ArrayLike) -> NDArray:
    """psi = log tan(phi/2), shape (...) of phi in (0, pi)."""
    return np.log(np.tan(0.5 * np.asarray(phi, float)))
