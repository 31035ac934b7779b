"""Gaussian starts: laws of the nearest neuron, chances to be active, and signs that look."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reluflow.papers.min2024early import cones
from reluflow.papers.min2024early.cones import cap_share, plane_share, sign_patterns, space_share


def test_the_law_in_the_plane_and_in_space_by_hand() -> None:
    for angle in (0.01, 0.5, 1.5):
        z = math.sin(angle) ** 2
        assert cones.chance_of_clearance(z, 1, 2) == pytest.approx(angle / math.pi)
        space = 0.5 * (1 - math.cos(angle))
        assert cones.chance_of_clearance(z, 1, 3) == pytest.approx(space)
        several = 1 - (1 - space) ** 5
        assert cones.chance_of_clearance(z, 5, 3) == pytest.approx(several)
    assert cap_share(np.array([0.3]), 2)[0] == pytest.approx(0.3 / math.pi)
    assert cones.chance_of_clearance(0.2, 3, 1) == pytest.approx(1 - 2.0**-3)


def test_signs_in_one_dimension() -> None:
    assert [sign_patterns(h) for h in (1, 2, 4)] == [(1, 2), (1, 4), (1, 16)]


def test_chances_to_be_active_by_hand() -> None:
    assert plane_share(np.array([[1.0, 0.0]])) == 0.5
    assert plane_share(np.array([[1.0, 0.0], [0.0, 2.0]])) == pytest.approx(0.75)
    turned = np.array([[-1.0, 0.1], [-1.0, -0.1], [-1.0, 0.0]])
    assert plane_share(turned) == pytest.approx(0.5 + math.atan(0.1) / math.pi)
    assert space_share(np.eye(3)) == pytest.approx(7 / 8)
    assert space_share(np.ones((3, 3))) == pytest.approx(0.5)


def test_the_share_counts_one_label_only() -> None:
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    W = np.array([[1.0, 5.0], [-1.0, 0.0], [0.0, 1.0], [2.0, -1.0]])
    assert cones.active_share(X, y, W) == 0.5
    assert cones.active_share(X, y, W, -1.0) == 0.25
