"""A1 to A3 of the support-vector paper: which hold, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reluflow.errors import InputError
from reluflow.papers.lee2022support.setting import assumptions, check_assumptions


@pytest.mark.parametrize(
    ("X", "y", "broken"),
    [
        ([[1, 0], [1, 1]], [1, 2], set()),
        ([[1, 0], [1, -1]], [1, 2], {"A1"}),
        ([[1, 0], [0, 1], [0, 0]], [1, 2, 1], {"A1"}),
        ([[1, 0], [1, 1]], [1, 0], {"A2"}),
        ([[1, 0], [1, 1]], [1, -2], {"A2"}),
        ([[1, 2], [2, 4]], [1, 2], {"A3"}),
        ([[0.1, 0.3], [0.2, 0.6]], [1, 2], {"A3"}),
        ([[1, 1 + 1e-15], [1, 1]], [1, 2], set()),
        ([[0, 1], [0, 0]], [0, 1], {"A1", "A2", "A3"}),
    ],
)
def test_assumptions(X: list, y: list, broken: set[str]) -> None:
    found = assumptions(X, y)
    assert set(found) == {"A1", "A2", "A3"}
    assert {name for name, holds in found.items() if not holds} == broken
    assert all(isinstance(holds, bool) for holds in found.values())


@given(
    X=arrays(float, (6, 3), elements=st.floats(0.1, 10)), row=st.integers(0, 5), k=st.integers(0, 2)
)
def test_each_assumption_is_named_with_its_row(X: np.ndarray, row: int, k: int) -> None:
    check_assumptions(X, np.ones(6))
    for part, value, label, message in (
        (k, -0.5, 1.0, rf"A1 .* data row {row + 1} .*feature {k + 1} is -0\.5"),
        (slice(None), 0.0, 1.0, rf"A1 .* data row {row + 1} .*every feature is zero"),
        ([], 0.0, 0.0, rf"A2 .* data row {row + 1} .*label is 0"),
        ([], 0.0, -2.0, rf"A2 .* data row {row + 1} .*label is -2"),
    ):
        changed, y = X.copy(), np.ones(6)
        changed[row, part], y[row] = value, label
        with pytest.raises(InputError, match=message):
            check_assumptions(changed, y)


def test_data_that_do_not_span_the_space_are_let_pass() -> None:
    """A3, rank X = d, is a choice of coordinates (Corollary E.2): the chapter follows such data."""
    check_assumptions(np.array([[1.0, 2.0], [2.0, 4.0]]), np.ones(2))
