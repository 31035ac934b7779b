"""A constant sigma'(0) that leads to no KKT point, against descent as a reader would write it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from reluflow.papers.vardi2022margin import certificates


def descended(value: float, steps: int = 40_000, rate: float = 0.02) -> np.ndarray:
    """The direction of plain descent on log L with sigma'(0) = value, each patch by itself."""
    w, out = np.array([0.0, 2.0]), np.array([1.0, -1.0])
    patches = certificates.X.reshape(2, 4, 2)
    for _ in range(steps):
        h = patches @ w
        slope = np.where(h > 0.0, 1.0, np.where(h < 0.0, 0.0, value))
        v = out[[0, 1, 0, 1]]
        margins = certificates.Y * (np.maximum(h, 0.0) @ v)
        pull = np.exp(margins.min() - margins)
        pull = certificates.Y * pull / pull.sum()
        down = np.einsum("i,ij,j,ijk->k", pull, slope, v, patches)
        turn = np.einsum("i,ij->j", pull, np.maximum(h, 0.0))
        w, out = w + rate * down, out + rate * np.array([turn[0] + turn[2], turn[1] + turn[3]])
        size = np.sqrt(w @ w + out @ out)
        if size > 50.0:  # the direction turns slower and slower: go on from a shorter one
            w, out = w / 2, out / 2
    theta = np.concatenate([w, out])
    return theta / np.linalg.norm(theta)


def test_the_limit_is_no_kkt_point_for_one_value_only() -> None:
    stays, leaves = certificates.ended(0.0), certificates.ended(0.5)
    assert stays.theta == pytest.approx(
        2.0**0.25 * np.array([0, 1, 0.5**0.5, -(0.5**0.5)]), abs=1e-4
    )
    assert not stays.converged
    assert leaves.converged
    assert leaves.theta @ leaves.theta < stays.theta @ stays.theta - 0.1


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_descent_goes_there_too(value: float) -> None:
    end = certificates.ended(value).theta
    assert descended(value) == pytest.approx(end / np.linalg.norm(end), abs=0.03)


def test_the_slope_at_the_kink() -> None:
    assert certificates.slopes(Fraction(2), Fraction(1)) == (1, 1, 1, 1)
    assert certificates.slopes(Fraction(5), Fraction(3)) == (3, 3, 3, 3)
