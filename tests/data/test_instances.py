"""Random data sets: inside A1-A3, repeatable, of the sizes and kinds that they say."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import find, given, settings
from hypothesis import strategies as st
from reluflow import instances
from reluflow.geometry import cell_bound, enumerate_cells
from reluflow.instances import (
    KINDS,
    ORDINARY,
    Instance,
    data_draws,
    degenerate_draws,
    draw,
    draw_many,
    extended,
    interpolated,
    near_boundary_start,
    readable_data,
    realisable,
    small_start,
)


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


def test_the_default_kinds_draw_what_they_drew() -> None:
    """Printed numbers depend on it: a new kind must not move the old ones."""
    drawn = list(draw_many(5, 2, 0))
    assert [item.kind for item in drawn] == list(ORDINARY)
    sums = [(len(item.y), round(float(item.X.sum() + item.y.sum()), 6)) for item in drawn]
    assert sums == [(7, 9.762679), (6, 31.175592), (3, 21.0), (4, 8.108323), (3, 968.151273)]


def test_degenerate_data_are_in_special_position() -> None:
    drawn = many("degenerate", n=5, d=3, count=200)
    for item in drawn:
        assert np.array_equal(item.X, np.round(item.X))
        assert np.array_equal(item.y, np.round(item.y))
        assert np.all(item.X >= 0)
        assert exact_rank(item.X) == 3
    unit = [item.X / np.linalg.norm(item.X, axis=1, keepdims=True) for item in drawn]
    # Five data in three directions: some are always parallel, some never equal.
    assert all(np.triu(u @ u.T, 1).max() > 1 - 1e-12 for u in unit)
    equal = sum(len(np.unique(item.X, axis=0)) < 5 for item in drawn)
    assert 20 < equal < 200
    axes = sum(bool(np.all((item.X > 0).sum(axis=1) == 1)) for item in drawn)
    assert 20 < axes < 180
    fits = [np.linalg.lstsq(item.X, item.y, rcond=None)[0] for item in drawn]
    exact = sum(np.allclose(i.X @ w, i.y) for i, w in zip(drawn, fits, strict=True))
    assert 20 < exact < 180
    clash = sum(
        any(np.array_equal(a, b) and s != t for a, s in zip(i.X, i.y, strict=True)
            for b, t in zip(i.X, i.y, strict=True))
        for i in drawn
    )  # fmt: skip
    assert clash > 10  # equal data with different labels
    # The directions do not come in a fixed order.
    assert len({tuple(item.X[:3].argmax(axis=1)) for item in drawn}) > 6


def test_parallel_to_a_billionth() -> None:
    gaps = []
    for item in many("parallel", n=6, d=2):
        unit = item.X / np.linalg.norm(item.X, axis=1, keepdims=True)
        cross = np.abs(unit[:, None, 0] * unit[:, 1] - unit[:, None, 1] * unit[:, 0])
        gaps.append(cross[np.triu_indices(6, 1)].min())
        assert np.sum(cross[np.triu_indices(6, 1)] < 0.02) >= 4  # two directions, six data
    assert min(gaps) < 1e-8
    assert max(gaps) < 1e-2


def started(start, kinds=KINDS, d: int = 2, count: int = 120, seed: int = 3, base=None):
    draws = extended(base or data_draws(d, kinds=kinds), start)
    rng = np.random.default_rng(seed)
    return [draws[kinds[k % len(kinds)]](rng) for k in range(count)]


def test_draws_for_statements() -> None:
    draws = data_draws(3, (2, 5))
    assert list(draws) == list(KINDS)
    rng = np.random.default_rng(0)
    sizes = set()
    for _ in range(40):
        item = draws["integers"](rng)
        assert set(item) == {"X", "y"}
        sizes.add(item["X"].shape)
        assert item["X"].shape[0] == item["y"].shape[0]
    assert sizes == {(3, 3), (4, 3), (5, 3)}
    assert list(data_draws(2)) == list(KINDS)
    first, again = (data_draws(2)["uniform"](np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(first["X"], again["X"])


def test_small_starts() -> None:
    angles = []
    for item in started(small_start):
        unit = np.min(item["y"] / np.linalg.norm(item["X"], axis=1))
        assert np.linalg.norm(item["w0"]) == pytest.approx(1e-6 * unit)
        angles.append(np.arctan2(*item["w0"]))
    assert np.mean(np.array(angles) > 0) == pytest.approx(0.5, abs=0.15)
    assert np.min(angles) < -2.5
    assert np.max(angles) > 2.5
    item = {"X": np.eye(2), "y": np.zeros(2)}  # no label, no unit
    rng = np.random.default_rng(0)
    assert np.linalg.norm(small_start(item, rng, 0.1)["w0"]) == pytest.approx(0.1)
    item = {"X": np.eye(2), "y": np.array([-3.0, 4.0])}
    assert np.linalg.norm(small_start(item, rng, 0.1)["w0"]) == pytest.approx(0.3)


@pytest.mark.parametrize("d", [2, 3])
def test_starts_near_a_boundary(d: int) -> None:
    exact = sides = 0
    scales = []
    for item in started(near_boundary_start, ("integers", "degenerate"), d):
        h = item["X"] @ item["w0"]
        size = np.linalg.norm(item["X"], axis=1) * np.linalg.norm(item["w0"])
        assert np.min(np.abs(h) / size) < 1.1e-3
        exact += np.any(h == 0)
        nearest = np.argmin(np.abs(h) / size)
        sides += np.sign(h[nearest])
        scales.append(np.log10(np.linalg.norm(item["w0"])))
    # A third lies on a boundary exactly; of the others some touch that of a second datum.
    assert 25 < exact < 80
    assert abs(sides) < 40
    assert np.ptp(scales) > 5
    for item in started(near_boundary_start, KINDS, d):
        h = np.abs(item["X"] @ item["w0"])
        assert np.any(w := item["w0"])
        assert np.min(h / np.linalg.norm(item["X"], axis=1) / np.linalg.norm(w)) < 1.1e-3


def test_realisable_labels() -> None:
    negative = 0
    for item in started(realisable):
        assert np.all(item["y"] > 0)
        assert np.array_equal(item["y"], item["X"] @ item["w_gm"])
        negative += np.any(item["w_gm"] < 0)
    assert 5 < negative < 70
    for item in started(realisable, ("integers", "degenerate")):
        assert np.array_equal(item["w_gm"], np.round(item["w_gm"]))
        assert np.array_equal(item["y"], np.round(item["y"]))
    moved = {**item, "X": 2.0 * item["X"], "other": 1}
    again = interpolated(moved)
    assert np.array_equal(again["y"], 2.0 * item["y"])
    assert again["other"] == 1
    assert again["w_gm"] is item["w_gm"]


def test_readable_data_shrink_to_the_simplest() -> None:
    quiet = settings(database=None, derandomize=False)
    item = find(readable_data(2, (1, 4)), lambda i: i["X"].sum() >= 3, settings=quiet)
    assert len(item["y"]) == 1
    assert item["X"].sum() == 3
    assert item["y"].tolist() == [1.0]


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
