"""Data, cones, hull and caps, and the constants of Theorem 1: exact values, planted errors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from reluflow.errors import InputError
from reluflow.geometry.separability import separation, serves, signed, silent, violations
from reluflow.losses import EXPONENTIAL, SQUARE, TWICE_LOGISTIC
from reluflow.papers.min2024early import cones, setting
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


@given(SEEDS, st.integers(2, 8), st.integers(2, 12), st.floats(-4, -0.05))
def test_zeta_1_is_at_least_xi(seed: int, n: int, d: int, decade: float) -> None:
    X, y = separable(n, d, 10.0**decade, np.random.default_rng(seed))
    data = setting.data_constants(X, y)
    assert data.xi == data.mu**2
    assert data.zeta_1 >= data.xi * (1 - 1e-9)
    assert data.zeta_1 == pytest.approx(float(cones.cap_exactly(X, y)), rel=1e-9)


@given(SEEDS, st.sampled_from([1e-150, 1e150]))
def test_angles_know_no_units(seed: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = separable(4, 3, 0.3, rng)
    start = rng.standard_normal((3, 3)), rng.choice([-1.0, 1.0], 3)
    plain, scaled = setting.data_constants(X, y), setting.data_constants(unit * X, y)
    for name in ("mu", "zeta_1", "xi"):
        assert getattr(scaled, name) == pytest.approx(getattr(plain, name), rel=1e-12)
    found = setting.clearance(X, y, unit**1.4 * start[0], start[1])
    assert found == pytest.approx(setting.clearance(X, y, *start), rel=1e-12)


def _slow_clearance(X: NDArray, y: NDArray, W: NDArray, signs: NDArray) -> float:
    """The definition, with arccos: the largest zeta with cos <= sqrt(1 - zeta) for each neuron."""
    least = 1.0
    for w, sign in zip(W, signs, strict=True):
        u = sum(x for x, label in zip(X, y, strict=True) if label == -sign)
        angle = math.acos(float(w @ u) / math.sqrt(float(w @ w) * float(u @ u)))
        if angle < math.pi / 2:
            least = min(least, math.sin(angle) ** 2)
    return least


@given(SEEDS, st.integers(2, 6), st.integers(1, 9))
def test_zeta_2_is_its_definition(seed: int, d: int, h: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = separable(5, d, 0.2, rng)
    W, signs = rng.standard_normal((h, d)), rng.choice([-1.0, 1.0], h)
    assert setting.clearance(X, y, W, signs) == pytest.approx(
        _slow_clearance(X, y, W, signs), abs=1e-12
    )


def test_small_angles_keep_their_digits() -> None:
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    for angle in (1e-3, 1e-9, 1e-100):
        found = setting.clearance(X, y, np.array([[-1.0, angle]]), np.array([1.0]))
        assert found == pytest.approx(math.sin(math.atan(angle)) ** 2, rel=1e-12)
    away = setting.clearance(X, y, np.array([[1.0, 1e-9]]), np.array([1.0]))
    assert away == 1.0
    assert setting.clearance(X, y, np.array([[-2.0, 0.0]]), np.array([1.0])) == 0.0


def test_lengths_and_labels_are_told_apart() -> None:
    X, y = np.array([[3.0, 0.0], [4.0, 3.0], [-1.0, -1.0]]), np.array([1.0, 1.0, -1.0])
    data = setting.data_constants(X, y)
    assert (data.n_plus, data.n_minus) == (2, 1)
    assert [data.X_min, data.X_max] == pytest.approx([2**0.5, 5.0])
    assert data.mu == pytest.approx(0.5**0.5)
    mu, start = data.mu, setting.Start(X, y, np.diag([5.0, 1.0]), np.array([1.0, -1.0]), -300.0)
    g = {1.0: 2 * mu**0.5 * 2**0.5, -1.0: mu**0.5 * 2**0.5}
    for sign, rate in g.items():
        growth = math.log(2 / (mu**0.5 * 2**0.5)) + 600 + 4 * 3 * 5 * 7
        assert start.fit_time(7.0, sign) == pytest.approx(7 + 6 / rate + 4 / rate * growth)


@given(SEEDS, st.integers(2, 12), st.integers(2, 30), st.floats(-6, -0.01))
def test_drawn_data_have_the_separation_asked_for(seed: int, n: int, d: int, decade: float) -> None:
    X, y = separable(n, d, 10.0**decade, np.random.default_rng(seed))
    assert separation(X, y) == pytest.approx(10.0**decade, rel=1e-6)
    assert set(y) == {-1.0, 1.0}


def test_a_neuron_at_rest_on_a_boundary_is_silent_up_to_rounding() -> None:
    X, off = np.array([[3.0, 1.0]]), np.array([1e-15, -1e-15, 1e-6])
    W = np.array([-1.0, 3.0]) + off[:, None] * [0.0, 1.0]
    assert silent(X, W).tolist() == [False, True, False]
    assert silent(X, W, 1e-9).tolist() == [True, True, False]
    assert silent(X, W[0], 1e-9)


def test_the_cones_by_hand() -> None:
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    W = np.array([[2.0, 1.0], [-1.0, 5.0], [0.0, 1.0], [0.0, 0.0]])
    assert serves(X, y, W).tolist() == [True, False, False, False]
    assert serves(X, y, W, -1.0).tolist() == [False, True, False, False]
    assert silent(X, W).tolist() == [False, False, True, True]


def test_violations_are_listed_worst_first() -> None:
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, 0.1]]), np.ones(3)
    assert violations(X, y).tolist() == [[0, 2], [0, 1]]


@pytest.mark.parametrize(("X", "y", "told"), [(np.eye(2), [1.0, 3.0], "row 2 has the label 3"),
    (np.diag([0.0, 1.0]), [1.0, 1.0], "row 1 is 0")])  # fmt: skip
def test_bad_rows_are_named(X, y, told) -> None:
    with pytest.raises(InputError, match=told):
        signed(X, np.array(y))
