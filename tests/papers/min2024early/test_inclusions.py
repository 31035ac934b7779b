"""Eq. (46), and how crossings are counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reluflow.flows.trajectory import Event
from reluflow.geometry.separability import separation
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.papers.min2024early import inclusions, lemmas

from tests.papers.min2024early.test_lemmas import velocities


@pytest.mark.parametrize(
    "loss", [EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC], ids=lambda loss: loss.name
)
def test_eq_46_has_the_sign_of_the_velocity(loss: Loss) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(4, 3)), np.array([1.0, -1.0, 1.0, 1.0])
    W, v = rng.normal(size=(2, 3)), rng.normal(size=2)
    L = float(loss.value(np.maximum(X @ W.T, 0.0) @ v, y))
    found = lemmas.velocity({"X": X, "y": y, "W": W, "v": v}, loss) * L
    expected = np.concatenate([part.ravel() for part in velocities(W, v, X, y, 0.0, loss)])
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)


def test_a_change_counts_once_until_the_other_one() -> None:
    assert separation(*inclusions.TWICE[:2]) < 0.0
    path = inclusions.alone(*inclusions.TWICE, 0.1)
    kinds = ("deactivate", "deactivate", "activate", "slide", "deactivate")
    events = tuple(Event(float(k), 3, kind, 1) for k, kind in enumerate(kinds))
    assert inclusions.crossings(replace(path, events=events)) == {(3, 1): 3}
