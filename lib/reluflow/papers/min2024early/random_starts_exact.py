"""The probabilities of Gaussian starts by other routes: integrals, angles, enumeration."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad


def cap_share(angles: NDArray, D: int) -> NDArray:
    """The share of the sphere of R^D, D >= 2, within these angles of a point: of the integral of
    sin^(D-2)."""
    whole = quad(lambda a: math.sin(a) ** (D - 2), 0.0, math.pi)[0]
    parts = [quad(lambda a: math.sin(a) ** (D - 2), 0.0, float(end))[0] for end in angles]
    return np.array(parts) / whole


def sign_patterns(h: int) -> tuple[int, int]:
    """Of the 2^h signs of h weights in R^1, how many (A2) allows, for the data 1 and -1 of labels 1
    and -1 and whatever the signs of the v_j; and 2^h."""
    counts = set()
    for v in product((1, -1), repeat=h):
        # x_- = -1 is forbidden where v_j = 1, and x_+ = 1 where v_j = -1: w_j must have v_j's sign.
        counts.add(sum(all(a == b for a, b in zip(w, v, strict=True))
                       for w in product((1, -1), repeat=h)))  # fmt: skip
    (allowed,) = counts
    return allowed, 2**h


def plane_share(own: NDArray) -> float:
    """1/2 + alpha/(2 pi) for data (n, 2) that span the angle alpha < pi: the chance of a direction
    to be active on one of them."""
    middle = own.sum(axis=0) / np.linalg.norm(own.sum(axis=0))
    turned = own @ np.array([[middle[0], -middle[1]], [middle[1], middle[0]]])
    angles = np.arctan2(turned[:, 1], turned[:, 0])
    return 0.5 + float(angles.max() - angles.min()) / (2.0 * math.pi)


def space_share(own: NDArray) -> float:
    """7/8 - sum of arcsin rho_ij / (4 pi) for three data (3, 3) with the cosines rho_ij: one less
    the chance that all three are silent (Sheppard)."""
    unit = own / np.linalg.norm(own, axis=1, keepdims=True)
    rho = np.clip((unit @ unit.T)[np.triu_indices(3, 1)], -1.0, 1.0)
    return 0.875 - float(np.arcsin(rho).sum()) / (4.0 * math.pi)
