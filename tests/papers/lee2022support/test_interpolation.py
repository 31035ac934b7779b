"""Theorems 4.2 and 4.3: the ball around w_GM, its sharpness, and the surveys of both."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.flows.affine import affine_flow
from reluflow.papers.lee2022support import starts
from reluflow.papers.lee2022support.setting import deactivated
from reluflow.papers.lee2022support.starts import protected


def test_protected_by_hand() -> None:
    # Radii y_j / |x_j| of 1 and 7/5 around w_GM = (1, 1).
    X, y, w_gm = [[1, 0], [3, 4]], [1, 7], [1, 1]
    assert protected(X, y, [1, 1.5], w_gm).tolist() == [True, True]
    assert protected(X, y, [1, 2.2], w_gm).tolist() == [False, True]
    assert protected(X, y, [1, 2.5], w_gm).tolist() == [False, False]
    assert protected(X, y, [1, 2], w_gm).tolist() == [False, True]  # it is strict
    # x_j.w0 > 0 is asked by itself: with X w_GM = y it follows from (6), so here it does not.
    assert protected([[1, 0], [0, 1]], [9, 9], [-1, 1], [1, 1]).tolist() == [False, True]


@pytest.mark.parametrize("angle", [0.3, 0.1, 0.02])
def test_the_radius_of_protection_is_sharp(angle: float) -> None:
    """Just outside (6), by less than 4 a^2 / 2, a datum is deactivated: no larger radius holds.

    From w0 = w_GM - r (cos 2a, -sin 2a) x_1 is active; the fast fall of the residual of a long
    datum, at the angle a from the second axis, then leaves x_1.w = 1 - r cos^2 a < 0.
    """
    X = np.array([[1.0, 0.0], np.array([np.sin(angle), np.cos(angle)]) * 200 / angle])
    r, w_gm = 0.5 / np.cos(angle) ** 2 + 0.5 / np.cos(2 * angle), np.ones(2)
    y, w0 = X @ w_gm, w_gm - r * np.array([np.cos(2 * angle), -np.sin(2 * angle)])
    ratio = np.linalg.norm(w0 - w_gm) * np.linalg.norm(X[0]) / y[0]
    assert 1 < ratio < 1 + 2 * angle**2
    assert X[0] @ w0 > 0
    assert protected(X, y, w0, w_gm).tolist() == [False, True]
    assert deactivated(affine_flow(X, y, w0)) == [0]
    # A radius larger by that ratio would have promised it.
    assert protected(X * [[1 / ratio**1.01], [1]], y, w0, w_gm)[0]
    # From just inside, along the same direction, it stays.
    near = w_gm + (w0 - w_gm) / ratio * 0.999
    assert protected(X, y, near, w_gm).all()
    assert not affine_flow(X, y, near).events


def test_evidence_on_theorem_4_3_can_fail() -> None:
    pairs = starts.survey_exclusion(30, 0).assign(holds=True)
    broken = [item.holds for item in starts.exclusion((15, 1), pairs) if item.decides]
    assert broken == [False, False]


def test_equality_survey_sees_a_lost_datum(monkeypatch):
    behind = {"X": np.eye(2), "w_gm": np.ones(2), "w0": np.array([-1e-3, 1.0])}
    monkeypatch.setattr(starts, "_at_equality", lambda rng: behind)
    assert starts.starts_at_equality(2, 0) == (2, 2)
