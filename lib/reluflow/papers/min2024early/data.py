"""The data of the paper's figures in the plane, and a reader's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Labelled:
    """n inputs with a label each.

    X (n, d), one a row; y (n,), +1 or -1; printed  whether the paper prints these numbers
    """

    name: str
    X: NDArray
    y: NDArray
    printed: bool


def _two_positive(name: str, angle: float) -> Labelled:
    """(1, 0) and (sin angle, cos angle), both positive: mu = sin angle (Appendices A.2, A.3)."""
    X = np.array([[1.0, 0.0], [np.sin(angle), np.cos(angle)]])
    return Labelled(name, X, np.ones(2), printed=True)


PRINTED: Mapping[str, Labelled] = {
    "figure-6": Labelled(
        "figure-6",
        np.array([[2.0, 0.0], [2.0, 1.0], [-1.0, -1.0], [-1.0, -3.0]]),
        np.array([1.0, 1.0, -1.0, -1.0]),
        printed=False,
    ),
    "figure-7": _two_positive("figure-7", 0.1),
    "figure-8": _two_positive("figure-8", 0.001),
    "figure-9": _two_positive("figure-9", 0.0),
}
"""Data of Figures 6 to 9. Those of Figure 6 are not printed: these are ours, with mu = 1/sqrt 10,
two data of each label, and a cone S_dead that is neither empty nor large."""
