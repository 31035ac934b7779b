"""Propositions 3.1, 4.1 and F.4, Lemma F.5 and Example 3.5."""

from fractions import Fraction

import numpy as np
import pytest
from reluflow import datasets
from reluflow.falsify import falsify
from reluflow.flows.affine import affine_flow
from reluflow.instances import draw_many
from reluflow.networks import gradient
from reluflow.papers.lee2022support import dynamics, setting, starts
from reluflow.papers.lee2022support.setting import first_continuations, plain_descent

X2, Y2 = np.array([[1, 1], [1, 0]]), np.array([1, 1])
X3, Y3 = np.array([[1, 0], [0, 1], [1, 1]]), np.array([4, 1, 1])


@pytest.mark.parametrize(
    ("h", "sides"),
    [(0.5, (1,)), (2.0, (-1, 0, 1)), (4.0, (-1,))],
)
def test_three_cases_on_a_boundary(h, sides):
    w = (h, -h)
    assert dynamics.normal_rates(X2, Y2, w, 0) == (h - 1, 2)
    assert setting.continuation_sides(X2, Y2, w, 0) == sides
    below, above = dynamics.displaced_sides(X2, Y2, w, 0)
    assert (below > 0) == (h < 1)
    assert (above > 0) == (h < 3)


def test_where_the_active_side_only_touches_all_three_continue():
    """At s = y|x|^2 a path of the active side turns back at the boundary."""
    assert dynamics.normal_rates(X2, Y2, (3, -3), 0) == (2.0, 2.0)
    assert setting.continuation_sides(X2, Y2, (3, -3), 0) == (-1, 0, 1)


def test_rates_are_those_of_the_gradient_beside_the_boundary():
    for item in draw_many(20, 3, 0):
        w = setting.on_boundary({"X": item.X, "y": item.y}, np.random.default_rng(1))["w"]
        x = item.X[0]
        s, top = dynamics.normal_rates(item.X, item.y, w, 0)
        step = 1e-7 * np.linalg.norm(w) * x / np.linalg.norm(x)
        scale = np.abs(item.X @ x) @ (np.abs(item.X @ w) + item.y)
        for point, rate in ((w - step, s), (w + step, s - top)):
            if np.all((item.X[1:] @ point > 0) == (item.X[1:] @ w > 0)):
                assert abs(gradient(item.X, item.y, point) @ x - rate) < 1e-5 * scale


def test_first_continuations_are_the_exact_ones():
    """On one boundary they leave to the sides of `continuation_sides`; at 0 into cells whose q
    agrees; and with a negative label nothing may leave."""
    for h, sides in ((0.5, {1}), (2.0, {-1, 1}), (4.0, {-1})):
        found = first_continuations(X2, Y2, (h, -h))
        assert {1 if active[0] else -1 for active, _ in found} == sides
        for active, v in found:
            residual = np.where(active, Y2 - X2 @ (h, -h), 0.0)
            assert v == pytest.approx(residual @ X2)
    found = first_continuations(X3, Y3, np.zeros(2))
    assert [active.tolist() for active, _ in found] == [[True] * 3]
    assert first_continuations([[1, 0], [1, 1]], [-2, 2], [0, 1]) == []


def test_where_a_flow_would_slide_none_leaves():
    slide = {"X": np.array([[1.0, 0.0], [1.0, 1.0]]), "y": np.array([-2.0, 2.0]),
             "some": np.array([0]), "z": np.array([0.0, 1.0])}  # fmt: skip
    assert dynamics.some_flow_leaves().broken_by(slide)


@pytest.mark.parametrize("seed", [13, 20])
def test_draws_for_the_only_if_make_flows_deactivate(seed):
    """As few as a low effort makes; with points of any length these seeds drew no such flow."""
    report = falsify(dynamics.deactivates_only_if(), seed, 30, 0)
    assert report.tried >= 5
    assert not report.vacuous
    assert report.survives


def test_alpha_star_by_hand():
    X, y, w0 = [[1], [-1]], [1, 1], [1]
    assert dynamics.alpha_star(X, y, w0, 1) == 1
    assert dynamics.slope_along(X, y, w0, 1, Fraction(2)) == -1
    assert dynamics.alpha_star(np.eye(2), [1, 1], [1, -1], 1) is None
    item = next(iter(draw_many(1, 3, 2)))
    w0 = np.array([0.3, -0.2, 0.5])
    slope = dynamics.slope_along(item.X, item.y, w0, 0, Fraction(3, 2))
    assert np.isclose(float(slope), gradient(item.X, item.y, 1.5 * w0) @ item.X[0])
    star = dynamics.alpha_star(item.X, item.y, w0, 0)
    assert dynamics.slope_along(item.X, item.y, w0, 0, star) == 0


def test_entered_agrees_with_a_plain_loop():
    five = datasets.load("example-5.1")
    for w0 in ([-0.2, 0.02], [-0.4, 0.02], [-0.3, 0.3], [0.1, 0.1], [0.2, -0.1], [0.5, -0.1]):
        path = plain_descent(five.X, five.y, w0, 0.01, 3000)
        loop = bool(np.any((path @ five.X.T > 0).all(axis=1)))
        assert starts.entered(five.X, affine_flow(five.X, five.y, w0)) == loop


def test_guaranteed_radius_takes_the_worst_cell_and_datum():
    X, y = np.array([[1.0, 0.1], [0.1, 1.0]]), np.array([1.0, 2.0])
    a = min(X[j] @ q / np.linalg.norm(X[j]) for q in (X[0], 2 * X[1], y @ X) for j in (0, 1))
    Q, top = np.linalg.norm(y @ X), np.linalg.norm(X, 2) ** 2
    expected = (a + Q - np.sqrt(Q**2 + 2 * a * Q)) / top
    assert np.isclose(setting.guaranteed_radius(X, y), expected)


def test_entry_radius_against_a_scan():
    """Two data in the plane: directions and norms on a plain grid, each flow by a plain loop."""
    X, y = np.array([[1.0, 0.3], [0.3, 1.0]]), np.array([1.0, 0.5])
    miss = starts.nearest_miss(X, y, inside=3, halvings=8)
    radius = np.linalg.norm(miss)
    assert setting.guaranteed_radius(X, y) < radius
    inside, outside = (
        np.any((plain_descent(X, y, k * miss, 0.01, 3000) @ X.T > 0)
               .all(axis=1)) for k in (0.98, 1.02)
    )  # fmt: skip
    assert inside
    assert not outside
    for factor, holds in ((1.0, True), (1.1, False)):
        found = starts.entry_radius(factor * miss, X, y)
        assert all(item.holds for item in found if item.decides) == holds
    angles = np.linspace(0, 2 * np.pi, 49)
    for u in np.column_stack([np.cos(angles), np.sin(angles)]):
        if np.all(np.where(X @ u > 0, y, 0.0) @ X > 0):
            path = plain_descent(X, y, 0.95 * radius * u, 0.02, 1000)
            assert np.any((path @ X.T > 0).all(axis=1))
