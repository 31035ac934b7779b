"""Whether a cell holds its virtual minimum, and which minima are nested, by slower routes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray
from reluflow.geometry import (
    enumerate_cells,
    excess_in_cell,
    meets_cell,
    nested_pairs,
    virtual_minimum,
)
from reluflow.instances import Instance, draw
from scipy.optimize import minimize


def test_conditions_5_close_the_cell_on_its_inactive_side_only() -> None:
    X = [[1, 1], [1, 0], [0, 1]]  # the fit of (2, 2) is (2, 0), with x_3.w = 0
    assert meets_cell(X, [2, 2, 1], [True, True, False])
    assert not meets_cell(X, [2, 2, 0], [True, True, True])
    assert not meets_cell(X, [2, 1.999, 1], [True, True, False])
    assert meets_cell(X, [2, 2.001, 1], [True, True, False])
    # Nothing active: every weight of the cell is a virtual minimum.
    assert meets_cell(X, [2, 2, 1], [False, False, False])


def met_by_hand(item: Instance, active: NDArray) -> bool:
    """Whether the line w + s v of virtual minima meets the cell: the interval of s left over."""
    w, N = virtual_minimum(item.X, item.y, active)
    assert N.shape[1] == 1
    if np.any(item.X[active] @ w <= 1e-9):
        return False
    low, high = -np.inf, np.inf
    for x in item.X[~active]:
        slope, value = float(x @ N[:, 0]), float(x @ w)
        if abs(slope) < 1e-9:
            if value > 1e-9:
                return False
        elif slope > 0:
            high = min(high, -value / slope)
        else:
            low = max(low, -value / slope)
    return low <= high + 1e-9


def test_meeting_a_cell_is_an_interval_left_over() -> None:
    rng = np.random.default_rng(2)
    found = []
    for k in range(24):
        item = draw(("integers", "uniform")[k % 2], int(rng.integers(3, 6)), 3, rng)
        for active in enumerate_cells(item.X).patterns:
            if np.linalg.matrix_rank(item.X[active]) == 2:
                expected = met_by_hand(item, active)
                assert meets_cell(item.X, item.y, active) == expected
                found.append(expected)
    assert 5 < sum(found) < len(found) - 5


def test_excess_by_hand() -> None:
    X, y = [[1, 0], [1, 1], [0, 1]], [1, 3, 1]
    # w* = (1, 2) would activate x_3. On the edge w_2 = 0 of the cell the best point is (2, 0), at
    # the distance |(2 - 1, 2 - 3)|.
    assert excess_in_cell(X, y, [True, True, False]) == pytest.approx(2**0.5)
    assert excess_in_cell(X, [3, 1, 1], [True, True, False]) == pytest.approx(0, abs=1e-12)
    assert excess_in_cell(X, [1, 3, 1], [True, True, True]) == pytest.approx(0, abs=1e-12)
    # In one dimension the closed half-line w <= 0, with no datum that is active there.
    assert excess_in_cell([[2], [1]], [3, 1], [True, True]) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("d", [2, 3])
def test_excess_is_a_constrained_minimum(d: int) -> None:
    rng = np.random.default_rng(d)
    positive = 0
    for k in range(4):
        item = draw(("uniform", "directions")[k % 2], 5, d, rng)
        cells = enumerate_cells(item.X)
        for active, start in zip(cells.patterns, cells.witnesses, strict=True):
            A = item.X[active]
            if len(A) < d or np.linalg.cond(A) > 50:
                continue
            best = np.linalg.lstsq(A, item.y[active], rcond=None)[0]
            sides = np.where(active, 1.0, -1.0)[:, None] * item.X
            solved = minimize(
                lambda w, A=A, best=best: float(np.sum((A @ (w - best)) ** 2)),
                start / np.linalg.norm(start),
                jac=lambda w, A=A, best=best: 2 * A.T @ (A @ (w - best)),
                constraints={"type": "ineq", "fun": lambda w, G=sides: G @ w},
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 300},
            )  # fmt: skip
            found = excess_in_cell(item.X, item.y, active)
            assert found == pytest.approx(np.sqrt(solved.fun), rel=1e-4, abs=2e-5)
            positive += found > 1e-3
    assert positive > 5


def test_nested_pairs() -> None:
    sets = [SimpleNamespace(support=s) for s in ((0, 1, 2), (2, 0), (1,), (), (1,), (0, 3))]
    pairs = nested_pairs(iter(sets))
    assert sorted((a.support, b.support) for a, b in pairs) == [
        ((0, 1, 2), ()), ((0, 1, 2), (1,)), ((0, 1, 2), (1,)), ((0, 1, 2), (2, 0)),
        ((0, 3), ()), ((1,), ()), ((1,), ()), ((2, 0), ()),
    ]  # fmt: skip
