"""Pictures of directions: arcs of cones, where marks lie, and that nothing is cut off."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.geometry.separability import serves, silent
from reluflow.papers.min2024early import figures
from reluflow.papers.min2024early.setting import separable

DATA = [
    separable(n, 2, mu, np.random.default_rng(k))
    for k, (n, mu) in enumerate([(2, 0.5), (3, 0.1), (5, 0.3), (8, 0.02), (6, 0.9)])
]
DATA.append((np.array([[1.0, 0.0], [np.sin(0.1), np.cos(0.1)]]), np.ones(2)))


@pytest.mark.parametrize(("X", "y"), DATA)
def test_regions_are_where_the_cones_are(X: np.ndarray, y: np.ndarray) -> None:
    found = figures.regions(X, y)
    turn = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 2000)
    U = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    expected = {
        "$S_+$": serves(X, y, U) & ~silent(X, U),
        "$S_-$": serves(X, y, U, -1.0) & ~silent(X, U),
        "$S_{dead}$": silent(X, U),
    }
    for name, truth in expected.items():
        told = np.zeros(len(turn), bool)
        for a, b in found.get(name, []):
            assert b > a
            told |= np.mod(turn - a, 2.0 * np.pi) < b - a
        assert np.array_equal(told, truth), name
        assert (name in found) == (len(found.get(name, [])) > 0)


def test_a_curve_ends_on_the_boundary_whichever_way_its_end_was_rounded() -> None:
    X, y = DATA[-1]
    edge = np.arctan2(X[1, 0], -X[1, 1])  # where <x_2, w> = 0 beside S_dead
    for off in (3e-16, -3e-16, 0.0):
        turn = np.concatenate([np.linspace(edge - 0.5, edge, 20), np.full(10, edge)]) + off
        W = np.stack([np.cos(turn), np.sin(turn)], axis=1)[:, None]
        fig = figures.angles(X, y, np.arange(30.0), W, np.ones((30, 1)), "time")
        (line,) = [line for line in fig.axes[0].lines if len(line.get_xdata()) == 30]
        assert np.isfinite(line.get_ydata()).sum() == 20
