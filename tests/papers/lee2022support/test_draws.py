"""Random data sets: inside A1-A3, repeatable, of the sizes and kinds that they say."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.papers.lee2022support import setting
from reluflow.papers.lee2022support.setting import KINDS, draw


def exact_rank(X: np.ndarray) -> int:
    return sympy.Matrix([[sympy.Rational(float(v)) for v in row] for row in X]).rank()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@given(d=st.integers(1, 4), more=st.integers(0, 4), seed=st.integers(0, 2**32 - 1))
def test_every_draw_satisfies_the_assumptions(kind: str, d: int, more: int, seed: int) -> None:
    item = draw(kind, d + more, d, np.random.default_rng(seed))
    assert (item.X.shape, item.y.shape, item.kind) == ((d + more, d), (d + more,), kind)
    assert item.X.dtype == item.y.dtype == float
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
        monkeypatch.setitem(setting._DRAWS, "uniform", lambda n, d, rng, q=queue: q.pop(0))
        item = draw("uniform", 2, 2, np.random.default_rng(0))
        assert (item.X is good[0], item.y is good[1], queue) == (True, True, [])


def test_fewer_data_than_dimensions_are_refused() -> None:
    """Their rank is never d, so drawing again would not end."""
    with pytest.raises(ValueError, match="n = 1 data cannot span"):
        draw("uniform", 1, 2, np.random.default_rng(0))
