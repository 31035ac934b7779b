"""Data and their assumptions, the plain second methods, and what is active along a path."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.errors import InputError
from reluflow.papers.lee2022support import dynamics, norm, setting
from reluflow.papers.lee2022support.landscape import gradient
from reluflow.papers.lee2022support.setting import KINDS, draw, draw_many, plain_descent

X2, Y2 = np.array([[1, 1], [1, 0]]), np.array([1, 1])
GOOD = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("X", "y", "broken"),
    [
        ([[1, 0], [1, 1]], [1, 2], set()),
        ([[1, 0], [1, -1]], [1, 2], {"A1"}),
        ([[1, 0], [0, 1], [0, 0]], [1, 2, 1], {"A1"}),
        ([[1, 0], [1, 1]], [1, 0], {"A2"}),
        ([[1, 2], [2, 4]], [1, 2], {"A3"}),
        ([[0.1, 0.3], [0.2, 0.6]], [1, 2], {"A3"}),
        ([[1, 1 + 1e-15], [1, 1]], [1, 2], set()),
        ([[0, 1], [0, 0]], [0, 1], {"A1", "A2", "A3"}),
    ],
)
def test_assumptions(X: list, y: list, broken: set[str], monkeypatch) -> None:
    """A3 is a choice of coordinates (Corollary E.2): data that break it alone are let pass. A draw
    with a datum or label of zero, or of too small a rank, is drawn again."""
    X, y = np.array(X), np.array(y)
    assert {name for name, holds in setting.assumptions(X, y).items() if not holds} == broken
    if broken <= {"A3"}:
        setting.check_assumptions(X, y)
    else:
        with pytest.raises(InputError, match=f"{max(broken - {'A3'})} .* data row"):
            setting.check_assumptions(X, y)
    queue = [(X, y), GOOD]
    monkeypatch.setitem(setting._DRAWS, "uniform", lambda *_: queue.pop(0))
    item = draw("uniform", *X.shape, np.random.default_rng(0))
    assert item.X is (GOOD[0] if broken and X.min() >= 0 else X)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@given(d=st.integers(1, 4), more=st.integers(0, 4), seed=st.integers(0, 2**32 - 1))
def test_every_draw_satisfies_the_assumptions(kind: str, d: int, more: int, seed: int) -> None:
    item = draw(kind, d + more, d, np.random.default_rng(seed))
    assert (item.X.shape, item.y.shape, item.kind) == ((d + more, d), (d + more,), kind)
    assert item.X.dtype == item.y.dtype == float
    assert all(setting.assumptions(item.X, item.y).values())


def test_fewer_data_than_dimensions_are_refused() -> None:
    """Their rank is never d, so drawing again would not end."""
    with pytest.raises(ValueError, match="n = 1 data cannot span"):
        draw("uniform", 1, 2, np.random.default_rng(0))


def test_on_its_boundary_a_datum_does_not_pull() -> None:
    """The derivative of ReLU at 0 is taken as 0."""
    assert np.all(plain_descent([[2]], [3], [0.0], 0.1, 5) == 0.0)


def test_where_the_active_side_only_touches_it_is_left_out():
    """At s = y|x|^2 a path of the active side turns back at the boundary: not to first order."""
    assert dynamics.normal_rates(X2, Y2, (3, -3), 0) == (2.0, 2.0)
    assert setting.continuation_sides(X2, Y2, (3, -3), 0) == (-1,)
    assert setting.continuation_sides(X2, Y2, (2, -2), 0) == (-1, 1)


@pytest.mark.parametrize("factor", [F(9, 10), F(11, 10)])
def test_a_label_that_pulls_by_a_tenth_more_or_less_is_found(factor, monkeypatch) -> None:
    """The repaired Proposition 3.1: its ranges change at y |x|^2, and are tried near that."""

    def other(X, y, *rest):
        return plain_descent(X, np.append(factor * y[0], y[1:]), *rest)

    monkeypatch.setattr(dynamics, "plain_descent", other)
    repaired, rng = dynamics.deactivation_repaired(), np.random.default_rng(0)
    assert any(repaired.broken_by(draw(rng)) for draw in repaired.draws.values())


def test_first_continuations_at_zero_and_where_a_flow_would_slide():
    found = setting.first_continuations(np.array([[1, 0], [0, 1], [1, 1]]), [4, 1, 1], np.zeros(2))
    assert [active.tolist() for active, _ in found] == [[True] * 3]
    slide = {"X": np.array([[1.0, 0.0], [1.0, 1.0]]), "y": np.array([-2.0, 2.0]),
             "some": np.array([0]), "z": np.array([0.0, 1.0])}  # fmt: skip
    assert setting.first_continuations(slide["X"], slide["y"], [0, 1]) == []
    assert dynamics.some_flow_leaves().broken_by(slide)


def test_rounding_off_a_boundary_puts_no_datum_before_the_point() -> None:
    """x_1.w is 1e-12 there: on its boundary, so what it adds is counted once, or not at all."""
    X, y = [[0, 1], [1, 1]], [1, 3]
    (exact,), (near,) = (setting.first_continuations(X, y, [1, h]) for h in (0, 1e-12))
    assert exact[0].tolist() == near[0].tolist() == [True, True]
    np.testing.assert_allclose([exact[1], near[1]], [[2, 3]] * 2, rtol=1e-9)


def test_radii_of_small_starts() -> None:
    """Only one cell pulls into it: a = 3, Q = 5 and Lambda = 1. Below rho every x_j.w increases."""
    found = setting.guaranteed_radius(np.eye(2), np.array([3.0, 4.0]))
    assert found == pytest.approx(8 - np.sqrt(55), rel=1e-14, abs=0)
    assert setting.gentle_radius([[2.0]], [3.0]) == pytest.approx(1.5)  # the fit itself
    for item in draw_many(20, 2, 5):
        radius = setting.gentle_radius(item.X, item.y)
        assert radius >= setting.guaranteed_radius(item.X, item.y)
        w = 0.999 * radius * norm.all_active_direction(item.X, np.random.default_rng(3))
        assert (item.X @ -gradient(item.X, item.y, w)).min() > 0


def test_a_datum_within_rounding_of_its_boundary_counts_as_inactive() -> None:
    assert [setting.forced(np.eye(2), np.ones(2), [1.0, h]) for h in (1e-9, 1e-14, 0.0)] == [
        True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 2), (5, 3), (2, 5)])
def test_a_virtual_minimum_is_the_least_squares_fit(n, d) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n + 2, d)), rng.normal(size=n + 2)
    X[n - 1] = X[0] * 2  # rank n - 1 or less, if there is room
    for active in (np.arange(n + 2) < n, np.zeros(n + 2, bool)):
        w, N = setting.virtual_minimum(X, y, active)
        expected, _, r, _ = np.linalg.lstsq(X[active], y[active], rcond=1e-10)
        np.testing.assert_allclose(w, expected, atol=1e-12)
        np.testing.assert_allclose(X[active] @ N, 0.0, atol=1e-13)
        np.testing.assert_allclose(N.T @ N, np.eye(d - r), atol=1e-13)


OPEN = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, -1.0, -1.0]]


@pytest.mark.parametrize(
    ("X", "y", "meets"),
    [  # The fit (2, 0) of the first two data lies on the boundary of the third, or just beside it.
        *(([[1.0, 1.0], [1.0, 0.0], [tilt, 0.3]], [2, 2, 1], tilt <= 0.0)
          for tilt in (0.0, 2.0**-50, -(2.0**-50))),
        # Their fits are (1, 1, s), the others want s < -1 and s > -1: a touch, or not even that.
        (OPEN, [1, 1, 1, 1], True),
        (OPEN, [1, 0.99, 1, 1], False),
    ],
)  # fmt: skip
def test_whether_a_cell_meets_a_virtual_minimum_is_exact(X, y, meets) -> None:
    assert setting.meets_cell(X, y, np.arange(len(y)) < 2) == meets
