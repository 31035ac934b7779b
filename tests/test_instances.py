"""Random data sets: inside A1-A3, repeatable, of the sizes and kinds that they say."""

from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow import instances
from reluflow.instances import KINDS, Instance, draw, draw_many


def exact_rank(X: np.ndarray) -> int:
    return sympy.Matrix([[sympy.Rational(float(v)) for v in row] for row in X]).rank()


def many(kind: str, n: int = 6, d: int = 3, count: int = 100, seed: int = 5) -> list[Instance]:
    rng = np.random.default_rng(seed)
    return [draw(kind, n, d, rng) for _ in range(count)]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@given(d=st.integers(1, 4), more=st.integers(0, 4), seed=st.integers(0, 2**32 - 1))
def test_every_draw_satisfies_the_assumptions(kind: str, d: int, more: int, seed: int) -> None:
    item = draw(kind, d + more, d, np.random.default_rng(seed))
    assert item.X.shape == (d + more, d)
    assert item.y.shape == (d + more,)
    assert item.X.dtype == item.y.dtype == float
    assert item.kind == kind
    assert np.all(item.X >= 0)  # A1
    assert np.all(item.X.sum(axis=1) > 0)
    assert np.all(item.y > 0)  # A2
    assert exact_rank(item.X) == d  # A3


def test_a_draw_outside_the_assumptions_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    good = (np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 2.0]))
    bad = [
        (np.array([[1.0, 1.0], [0.0, 0.0]]), good[1]),  # a datum is zero
        (np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.ones(3)),  # and at full rank
        (good[0], np.array([1.0, 0.0])),  # a label is not positive
        (np.array([[1.0, 2.0], [2.0, 4.0]]), good[1]),  # the rank is too small
        (np.array([[0.1, 0.3], [0.2, 0.6]]), good[1]),  # exactly, though the entries round
    ]
    for wrong in bad:
        queue = [wrong, good]
        monkeypatch.setitem(instances._DRAWS, "uniform", lambda n, d, rng, q=queue: q.pop(0))
        item = draw("uniform", 2, 2, np.random.default_rng(0))
        assert item.X is good[0]
        assert item.y is good[1]
        assert queue == []


def test_fewer_data_than_dimensions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their rank is never d, so drawing again would not end."""
    tries = iter(range(50))

    def counted(n: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        if next(tries, None) is None:
            raise RuntimeError("drawn 50 times")
        return rng.uniform(size=(n, d)), rng.uniform(size=n)

    monkeypatch.setitem(instances._DRAWS, "uniform", counted)
    with pytest.raises(ValueError, match="n"):
        draw("uniform", 1, 2, np.random.default_rng(0))


def test_the_seed_decides() -> None:
    first, again, other = (list(draw_many(12, 2, seed)) for seed in (3, 3, 4))
    for a, b in zip(first, again, strict=True):
        assert a.kind == b.kind
        assert np.array_equal(a.X, b.X)
        assert np.array_equal(a.y, b.y)
    # No two data sets of a run, or of two runs, are the same.
    assert len({item.X.tobytes() for item in (*first, *other)}) == 24


@pytest.mark.parametrize(
    ("d", "sizes", "met"),
    [(2, (2, 8), range(2, 9)), (3, (2, 5), range(3, 6)), (1, (4, 4), [4]), (4, (1, 4), [4])],
)
def test_sizes_of_many(d: int, sizes: tuple[int, int], met) -> None:
    drawn = list(draw_many(90, d, 1, sizes=sizes))
    assert len(drawn) == 90
    assert {len(item.y) for item in drawn} == set(met)
    assert {item.X.shape[1] for item in drawn} == {d}


def test_the_kinds_come_in_turn() -> None:
    assert [item.kind for item in draw_many(7, 2, 0)] == [*KINDS, *KINDS[:2]]
    some = draw_many(5, 2, 0, kinds=("integers", "extreme"))
    assert Counter(item.kind for item in some) == {"integers": 3, "extreme": 2}
    assert len(set(KINDS)) == 5


def test_uniform() -> None:
    drawn = many("uniform")
    values = np.concatenate([np.append(item.X, item.y) for item in drawn])
    assert values.min() > 0
    assert values.max() < 1
    assert values.mean() == pytest.approx(0.5, abs=0.05)
    assert values.std() == pytest.approx(12**-0.5, abs=0.03)


def test_directions() -> None:
    drawn = many("directions")
    lengths = np.concatenate([np.linalg.norm(item.X, axis=1) for item in drawn])
    assert lengths.min() >= 0.1 - 1e-12
    assert lengths.max() <= 10 + 1e-12
    # The logarithm of the length is uniform, so half of the data are shorter than 1.
    assert np.mean(lengths < 1) == pytest.approx(0.5, abs=0.1)
    labels = np.concatenate([item.y for item in drawn])
    assert labels.min() > 0.1
    assert labels.max() < 10


def test_integers_hold_ties_and_axes() -> None:
    drawn = many("integers", d=2)
    X = np.concatenate([item.X for item in drawn])
    y = np.concatenate([item.y for item in drawn])
    assert set(X.ravel()) == {0.0, 1.0, 2.0, 3.0, 4.0}
    assert set(y) == {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}
    assert any(len(np.unique(item.X, axis=0)) < 6 for item in drawn)  # equal data
    assert any((item.X == 0).any() for item in drawn)  # along an axis


def test_near_parallel() -> None:
    spread = [
        np.linalg.norm(item.X - item.X.mean(axis=0), axis=1) for item in many("near-parallel")
    ]
    assert np.max(spread) < 0.01
    # A few thousandths, and not zero: the data differ.
    assert 5e-4 < np.mean(spread) < 5e-3
    middles = [np.linalg.norm(item.X.mean(axis=0)) for item in many("near-parallel")]
    assert np.min(middles) > 0.2
    assert np.std(middles) > 0.1  # not the same direction and length each time


def test_extreme() -> None:
    drawn = many("extreme")
    longest = np.concatenate([item.X.max(axis=1) for item in drawn])
    labels = np.concatenate([item.y for item in drawn])
    for values in (longest, labels):
        assert np.log10(values.max() / values.min()) > 5
        assert values.max() < 1001
    assert labels.min() > 0.999e-3


def test_an_instance_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        many("uniform", count=1)[0].kind = "mine"
