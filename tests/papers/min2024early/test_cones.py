"""The cones, the hull and the caps: exact memberships, planted errors, and the claims."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reluflow.geometry.separability import serves, silent
from reluflow.losses import EXPONENTIAL, SQUARE, TWICE_LOGISTIC
from reluflow.papers.min2024early import cones
from reluflow.papers.min2024early.setting import separable
from scipy.integrate import quad

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(2, 6))
def test_exact_cosines_and_memberships_agree_with_floats(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = separable(4, d, 0.2, rng)
    assert cones.separable_exactly(X, y)
    W = np.vstack([rng.standard_normal((5, d)), X, -X, X.sum(axis=0)[None]])
    for w in W:
        for sign in (1.0, -1.0):
            exact = cones.serves_exactly(X, y, cones.whole(w), sign)
            assert exact == serves(X, y, w, sign)
        assert cones.serves_exactly(X, y, cones.whole(w), 0.0) == silent(X, w)


@given(st.integers(0, 2**32 - 1))
def test_a_datum_along_the_centre_is_no_way_from_it(seed: int) -> None:
    """One datum of either label: the centre is the datum, and rounding must not choose w."""
    rng = np.random.default_rng(seed)
    X, y = separable(2, 5, 0.5, rng)
    item = {"X": X, "y": y}
    assert cones._is_in_cap(**{**item, **cones._in_cap(item, rng)})


def test_hypotheses_end_where_they_say() -> None:
    near = {"X": np.array([[1.0, 0.0], [1.0, 1.0]]), "y": np.ones(2), "a": np.array([1.0, 0.0])}
    assert cones._is_near(**{**near, "e": np.array([0.0, -0.7071])})
    assert not cones._is_near(**{**near, "e": np.array([0.0, -0.7072])})
    X, y = np.array([[1.0, 1.0], [0.0, -1.0], [-3.0, -1.0]]), np.array([1.0, -1.0, -1.0])
    for square, inside in ((0.3076, True), (0.3078, False)):
        across, along = np.sqrt(square), np.sqrt(1.0 - square)
        w = along * np.array([1.0, 1.0]) + across * np.array([1.0, -1.0])
        assert cones._is_in_cap(X, y, w, np.array(1.0)) is inside
    assert not cones._is_in_cap(X, y, -X[0], np.array(1.0))
    turned = cones.WITHOUT[0] @ [[1.0, 2.0], [0.0, 1.0]]
    other = turned * [[1.0], [1.0], [-1.0]]
    for rows, empty in ((turned, True), (turned[:2], False), (other, False),
                        (np.array([[1.0, 0.0], [-1.0, 0.0]]), False),  # w = (0, 1) is on both
                        (np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), False)):  # fmt: skip
        assert cones.only_zero(rows) is empty


def test_signs_of_cosines_are_kept() -> None:
    rows = cones.whole([[1.0, 0.0], [-3.0, 3.0]])
    found = cones.squared_cosines(rows[:1], rows)
    assert found.tolist() == [[1, Fraction(-1, 2)]]
    assert cones.separable_exactly(rows.astype(float), np.ones(2)) is False
    right = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert not cones.separable_exactly(right, np.ones(2))


@pytest.mark.parametrize(
    ("loss", "name"),
    [(EXPONENTIAL, "exponential"), (TWICE_LOGISTIC, "twice the logistic"), (SQUARE, "square")],
)
def test_the_gaps_are_those_of_the_losses_slopes(loss, name) -> None:
    """|-dl/dq - y| in closed form, |q| <= 10 (Lemma 2)."""
    z, y = np.linspace(-10.0, 10.0, 42), np.tile([1.0, -1.0], 21)
    found = [cones.GAPS[name][0](q) for q in y * z]
    np.testing.assert_allclose(found, np.abs(np.abs(loss.pull(z, y) - y)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("D", [2, 3, 5])
def test_the_chance_of_a_near_start_is_the_area_of_a_cap(D: int) -> None:
    parts = [quad(lambda a: np.sin(a) ** (D - 2), 0.0, end)[0] for end in (0.02, 0.7, 1.5, np.pi)]
    found = cones.chance_of_clearance(np.sin([0.02, 0.7, 1.5]) ** 2, 1, D)
    np.testing.assert_allclose(found, np.array(parts[:3]) / parts[3], atol=1e-12)
