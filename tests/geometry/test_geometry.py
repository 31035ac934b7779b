"""Cells and minima, against sampling, linear programmes and descents from many starts."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.errors import InputError
from reluflow.geometry import CELL_LIMIT, cell_bound, enumerate_cells, rank
from reluflow.papers.lee2022support import landscape
from reluflow.papers.lee2022support.landscape import gradient, local_minima, loss

SHAPES = [(1, 3), (5, 2), (60, 2), (25, 3), (7, 4), (6, 6), (9, 7)]


@pytest.mark.parametrize(
    ("n", "d", "apart"), [*((*s, 1.0) for s in SHAPES), *((20, 5, 10.0**-k) for k in (3, 9, 15))]
)
def test_data_in_general_position_have_as_many_cells_as_there_can_be(n, d, apart) -> None:
    rng = np.random.default_rng(n)
    X = (apart < 1.0) * rng.uniform(size=d) + apart * rng.normal(size=(n, d))
    cells = enumerate_cells(X)
    assert len(cells) == len(np.unique(cells.patterns, axis=0)) == cell_bound(n, d)
    if apart == 1.0:  # the others are narrower than the rounding of a point in them
        assert ((cells.witnesses @ X.T > 0) == cells.patterns).all()


@pytest.mark.parametrize(("off", "count"), [(0.0, 6), (2.0**-45, 8), (-(2.0**-300), 8)])
def test_degeneracy_is_decided_exactly(off, count) -> None:
    # Three coplanar normals have 6 cells, three independent ones 8: however close they are.
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, off]])
    assert len(enumerate_cells(X)) == count
    assert rank(X) == (2 if off == 0 else 3)


def test_too_many_cells_are_refused() -> None:
    assert cell_bound(449, 3) > CELL_LIMIT >= cell_bound(447, 3)
    X = np.random.default_rng(0).normal(size=(60, 6))
    words = f"n = 60 data in d = 6 dimensions can have {cell_bound(60, 6)} activation cells"
    with pytest.raises(InputError, match=words):
        enumerate_cells(X)
    with pytest.raises(InputError, match="too many to enumerate"):
        local_minima(X, np.ones(60))
    enumerate_cells(np.vstack([X[:6], np.zeros((54, 6))]))  # zero rows do not count


@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_the_gradient_is_that_of_the_loss(activation) -> None:
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(7, 3)), rng.normal(size=7), rng.normal(size=(5, 2, 3))
    assert loss(X, y, w, activation).shape == (5, 2)
    assert gradient(X, y, w, activation).shape == w.shape
    for k, e in enumerate(np.eye(3)):
        slope = loss(X, y, w + 1e-6 * e, activation) - loss(X, y, w - 1e-6 * e, activation)
        np.testing.assert_allclose(slope / 2e-6, gradient(X, y, w, activation)[..., k], atol=1e-8)
    one = 0.5 * sum((max(x @ w[0, 0], 0.0) - t) ** 2 for x, t in zip(X, y, strict=True))
    assert loss(X, y, w[0, 0]) == pytest.approx(one, rel=1e-14)
    np.testing.assert_array_equal(gradient(X, y, np.zeros(3)), 0.0)  # relu'(0) = 0


def test_ranks_count_distinct_losses() -> None:
    """Orthogonal data with labels 1, 1, 2: the losses are those of the subsets that are not fitted;
    what differs by rounding is one loss."""
    found = local_minima(np.eye(3), [1, 1, 2])
    assert [m.loss for m in found] == [0.0, 0.5, 0.5, 1.0, 2.0, 2.5, 2.5, 3.0]
    assert [m.rank for m in found] == [1, 2, 2, 3, 4, 5, 5, 6]
    assert [m.rank for m in local_minima(np.eye(2), [1.0, 1.0 + 1e-13])] == [1, 2, 2, 3]
    assert [m.rank for m in local_minima(np.eye(2), [1.0, 1.0 + 1e-7])] == [1, 2, 3, 4]


def test_the_quick_look_at_cells_dismisses_most() -> None:
    """That it dismisses no minimum is asked by brute force."""
    rng = np.random.default_rng(2)
    X, y = np.abs(rng.normal(size=(25, 3))), rng.uniform(0.5, 2.0, 25)
    patterns = enumerate_cells(X).patterns
    assert landscape.plausible(X, y, patterns).sum() < len(patterns) / 4
