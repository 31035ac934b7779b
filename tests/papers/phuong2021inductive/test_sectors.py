"""Extremal directions, sectors and dead starts: parity, planted errors, certificates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.papers.phuong2021inductive import sectors, setting

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
@settings(max_examples=10)
def test_enumerated_directions_in_space_are_strict_maxima(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((5, 3)), rng.choice([-1.0, 1.0], 5)
    for sign in (1.0, -1.0):
        for w in setting.extremal_directions(X, y, sign):
            steps = rng.standard_normal((300, 3)) * 1e-4
            steps -= np.outer(steps @ w, w)
            around = w + steps
            around /= np.linalg.norm(around, axis=1)[:, None]
            heights = sign * setting.height(X, y, around)
            assert np.all(heights < sign * setting.height(X, y, w))


@pytest.mark.parametrize("kind", sectors.ANY_DATA)
def test_the_enumeration_lists_the_summits_of_a_grid(kind: str) -> None:
    """All of them and no others: the grid does not use Lemma A.1, the enumeration does."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        X, y = sectors.ANY_DATA[kind](rng).values()
        for sign in (1.0, -1.0):
            grid, listed = (of(X, y, sign) for of in (sectors.summits, setting.extremal_directions))
            assert len(grid) == len(listed)
            for w in grid:
                assert np.min(np.linalg.norm(listed - w, axis=1)) < 1e-5


def test_horns_matrix_is_copositive_as_its_two_forms_say() -> None:
    rng = np.random.default_rng(0)
    for v in rng.integers(-9, 10, (50, 5)):
        a, b, c, d, e = v.tolist()
        value = v @ sectors.HORN @ v
        assert value == (a - b + c + d - e) ** 2 + 4 * b * d + 4 * c * (e - d)
        assert value == (a - b + c - d + e) ** 2 + 4 * b * e + 4 * a * (d - e)


@given(SEEDS)
@settings(max_examples=20)
def test_points_of_an_orthant_have_no_certificate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert sectors.certificate(rng.integers(0, 9, (5, 4)).tolist()) >= 0


def test_four_points_and_a_basis_fit_into_an_orthant() -> None:
    assert sectors.spread_of_a_basis(sectors.FIVE[:4]) <= 1.0
    assert sectors.spread_of_a_basis(np.eye(3, dtype=int) + 1) <= 1.0


@given(SEEDS)
@settings(max_examples=4)
def test_arcs_by_hand_are_the_fates_of_the_limit_flow(seed: int) -> None:
    """Whichever way the data lie, whatever their unit; and a neuron that sees its label lives."""
    X, y = setting.supported(2, (1, 2), np.random.default_rng(seed)).values()
    around = 180
    U = sectors.unit(2.0 * np.pi * (np.arange(around) + 0.5) / around)
    for share, sign in zip(sectors.chances(1e-3 * X, y), (1.0, -1.0), strict=False):
        dead = [sectors.align(X, y, u, sign).status == "dead" for u in U]
        assert abs(sum(dead) / around - share) <= 2.0 / around
    alone, by_lemma = (sectors.fates(X, y, 40, np.random.default_rng(0), lives)
                       for lives in (False, True))  # fmt: skip
    assert np.array_equal(alone, by_lemma)


def test_neurons_are_at_home_at_one_size_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not each at a size of its own, where at each size another one is astray."""
    monkeypatch.setattr(sectors, "at_home", lambda _, size: np.arange(5) != int(-size) // 12 % 5)
    home, total = sectors.homecomings(0, 1)
    assert (home, total) == (4, 5)
