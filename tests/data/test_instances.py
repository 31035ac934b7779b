"""Random data sets: inside A1-A3, repeatable, of the sizes and kinds that they say."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow import instances
from reluflow.geometry import cell_bound, enumerate_cells
from reluflow.instances import (
    KINDS,
    ORDINARY,
    data_draws,
    degenerate_draws,
    draw,
    draw_many,
    extended,
    interpolated,
    near_boundary_start,
    realisable,
    small_start,
)


def exact_rank(X: np.ndarray) -> int:
    return sympy.Matrix([[sympy.Rational(float(v)) for v in row] for row in X]).rank()


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


def test_the_default_kinds_draw_what_they_drew() -> None:
    """Printed numbers depend on it: a new kind must not move the old ones."""
    drawn = list(draw_many(5, 2, 0))
    assert [item.kind for item in drawn] == list(ORDINARY)
    sums = [(len(item.y), round(float(item.X.sum() + item.y.sum()), 6)) for item in drawn]
    assert sums == [(7, 9.762679), (6, 31.175592), (3, 21.0), (4, 8.108323), (3, 968.151273)]


def started(start, kinds=KINDS, d: int = 2):
    draws, rng = extended(data_draws(d, kinds=kinds), start), np.random.default_rng(3)
    return [draws[kinds[k % len(kinds)]](rng) for k in range(120)]


def test_small_starts_are_small_in_the_unit_of_the_data() -> None:
    for item in started(small_start):
        unit = np.min(item["y"] / np.linalg.norm(item["X"], axis=1))
        assert np.linalg.norm(item["w0"]) == pytest.approx(1e-6 * unit)
    rng = np.random.default_rng(0)
    for y, length in ((np.zeros(2), 0.1), (np.array([-3.0, 4.0]), 0.3)):  # no label, no unit
        start = small_start({"X": np.eye(2), "y": y}, rng, 0.1)["w0"]
        assert np.linalg.norm(start) == pytest.approx(length)


@pytest.mark.parametrize("d", [2, 3])
def test_starts_near_a_boundary_lie_there_and_a_third_exactly_on_it(d: int) -> None:
    for kinds in (("integers", "degenerate"), KINDS):
        items = started(near_boundary_start, kinds, d)
        h = [np.abs(i["X"] @ i["w0"]) / np.linalg.norm(i["X"], axis=1) for i in items]
        nearest = [np.min(v) / np.linalg.norm(i["w0"]) for v, i in zip(h, items, strict=True)]
        assert max(nearest) < 1.1e-3
        assert kinds == KINDS or 25 < np.sum(np.equal(nearest, 0)) < 80


def test_realisable_labels() -> None:
    for item in started(realisable):
        assert np.all(item["y"] > 0)
        assert np.array_equal(item["y"], item["X"] @ item["w_gm"])
    signed = [item for item in started(realisable) if np.any(item["w_gm"] < 0)]
    assert 5 < len(signed) < 70
    for item in started(realisable, ("integers", "degenerate")):
        assert np.array_equal(item["w_gm"], np.round(item["w_gm"]))
    again = interpolated({**item, "X": 2.0 * item["X"], "other": 1})
    assert np.array_equal(again["y"], 2.0 * item["y"])
    assert again["other"] == 1


def test_degenerate_draws_meet_A1_and_are_of_every_sort():
    rng = np.random.default_rng(0)
    draws = degenerate_draws()
    for kind, one in draws.items():
        items = [one(rng)["X"] for _ in range(60)]
        assert all(np.all(X >= 0) and np.all(X.any(axis=1)) for X in items)
        assert {X.shape[1] for X in items} == {1, 2, 3, 4}
        assert any(len(X) < X.shape[1] for X in items)
        flat = [len(enumerate_cells(X)) < cell_bound(*X.shape) for X in items]
        assert any(flat) == (kind != "uniform")
