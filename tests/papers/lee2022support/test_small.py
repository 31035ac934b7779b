"""Small starts in the plane: the radius, the resting point, the survey, and its statements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from reluflow import datasets
from reluflow.flows.affine import affine_flow
from reluflow.geometry import local_minima, virtual_minimum
from reluflow.instances import draw_many
from reluflow.ledger import Evidence
from reluflow.networks import loss
from reluflow.papers.lee2022support import norm, setting, small_flows, starts
from reluflow.papers.lee2022support.planar import virtual_minima

X3 = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
THREE = X3, np.array([2.0, 1.0, 1.0])
# A double zero of x_1.w(t) on the all-active flow from 0.
TANGENT = np.array([[0, 0, 3], [0, 3, 0], [1, 2, 2], [2, 1, 1]]), np.array([179, 1795, 716, 536])
LEAVES, RETURNS = datasets.load("example-5.2"), datasets.load("example-5.3")
FAR = np.array([[1e5, 1.0], [0.0, 1.0]]), np.array([1e5, 1.0]), (1e-8, -9e-5)


def verdicts(evidence: Sequence[Evidence]) -> list[bool]:
    return [item.holds for item in evidence if item.decides]


def batch_of(item) -> small_flows.PlanarData:
    """`planar_data` of one data set beside a padded row of zeros."""
    n = len(item.y) + 1
    X, y = np.zeros((1, n, 2)), np.zeros((1, n))
    X[0, :-1], y[0, :-1] = item.X, item.y
    return small_flows.planar_data(X, y)


def test_resting_points_by_hand() -> None:
    for y, on, w in (
        ((2, 1, 1), (True, True, True), (4 / 3, 1 / 3)),
        ((4, 1, 1), (True, False, True), (4, -3)),  # the steepest is given up
        ((1, 4, 1), (False, True, True), (-3, 4)),  # the flattest
        ((3, 1, 1), (True, True, True), (2, 0)),  # on the boundary of x_2, which no event loses
    ):
        kept, at = small_flows.resting_point(X3, y)
        assert tuple(kept) == on
        assert at == pytest.approx(w)
        assert small_flows.has_settled(X3, y, at)
    # Parallel data are given up together, in either order.
    X, y = np.vstack([X3, [0.0, 2.0]]), np.array([9.0, 1.0, 1.0, 1.0])
    assert small_flows.resting_point(X, y)[0].tolist() == [True, False, True, False]


def test_a_stop_short_of_the_limit_is_told() -> None:
    y = np.array([2.0, 1.0, 1.0])
    assert small_flows.has_settled(X3, y, (2, -1))  # another minimum
    assert not small_flows.has_settled(X3, y, (4 / 3, 0.3))
    assert not small_flows.has_settled(X3, y, (1.5, 0.0))  # least on the boundary of x_2
    assert small_flows.has_settled(X3, y, (-1, -1))  # dead
    assert small_flows.has_settled(X3, y, (2, -9))  # x_1 alone is fitted
    assert not small_flows.has_settled(X3, y, (2.1, -9))


def test_the_data_tell_what_enumeration_and_flows_tell() -> None:
    rng = np.random.default_rng(0)
    for item in draw_many(60, 2, 8):
        told = batch_of(item)
        radius = setting.guaranteed_radius(item.X, item.y)
        assert told.radius[0] == pytest.approx(radius, rel=1e-7)
        on, w = small_flows.resting_point(item.X, item.y)
        assert np.linalg.norm(told.limit[0] - w) <= 1e-6 * np.linalg.norm(w)
        assert told.support[0] == on.sum()
        zero = 0.5 * float(item.y @ item.y)
        assert told.least[0] == pytest.approx(norm.least_planar_loss(item.X, item.y),
                                              abs=1e-9 * zero)  # fmt: skip
        assert told.loss[0] == pytest.approx(float(loss(item.X, item.y, w)), abs=1e-6 * zero)
        if item.kind in ("uniform", "directions", "integers"):
            minima = local_minima(item.X, item.y)
            assert told.least[0] == pytest.approx(minima[0].loss, abs=1e-9 * zero)
            assert told.most[0] == max(len(m.support) for m in minima)
            u = setting.start_direction(item.X, item.y, rng)
            end = affine_flow(item.X, item.y, 0.99 * radius * u).end
            assert np.linalg.norm(end - w) <= 1e-6 * np.linalg.norm(w)


def test_a_minimum_on_a_boundary_is_decided_exactly() -> None:
    X, y = np.zeros((2, 4, 2)), np.zeros((2, 4))
    X[0, :3], y[0, :3] = X3, (3, 1, 1)
    X[1, :3], y[1, :3] = 3.0 * X3, (0.9, 0.3, 0.3)  # 0.3 is not three tenths
    told = small_flows.planar_data(X, y)
    assert told.support.tolist() == [3, small_flows.resting_point(X[1, :3], y[1, :3])[0].sum()]
    assert told.loss[0] == pytest.approx(1.5)
    assert told.least[0] == pytest.approx(0.5)


def test_one_pattern_within_rounding_is_enough_for_doubt() -> None:
    h, last = np.full((1, 6, 3), 0.5), np.array([2])
    h[0, [0, 1, 2], [0, 1, 2]] = 0.7, -0.1, -0.5
    assert small_flows._resting_pattern(h, np.ones_like(h), last) == 0
    h[0, 1, 1] = -small_flows.SURE / 2
    assert np.isnan(small_flows._resting_pattern(h, np.ones_like(h), last))


def test_virtual_minima_of_many_patterns() -> None:
    on = np.array([[True, True, True], [True, False, True], [False, True, False]])
    w, rates = virtual_minima(X3[None], np.array([[2.0, 1.0, 1.0]]), on)
    assert w == pytest.approx(np.array([[4 / 3, 1 / 3], [2, -1], [0, 1]]))
    assert rates[2].tolist() == [1.0, 0.0]
    for row, pattern in zip(w, on, strict=True):
        assert row == pytest.approx(virtual_minimum(X3, [2, 1, 1], pattern)[0])


def test_below_the_gentle_radius_everything_increases() -> None:
    rng = np.random.default_rng(3)
    for item in draw_many(45, 2, 5):
        radius = setting.gentle_radius(item.X, item.y)
        assert radius >= setting.guaranteed_radius(item.X, item.y)
        u = norm.all_active_direction(item.X, rng)
        w = 0.999 * radius * u
        rise = item.X @ (item.y @ item.X - item.X.T @ (item.X @ w)) / np.linalg.norm(item.X, axis=1)
        assert rise.min() > 0
    # For one datum the bound is attained: at the fit itself nothing increases.
    assert setting.gentle_radius([[2.0]], [3.0]) == pytest.approx(1.5)


def test_unit_of_norm_by_hand() -> None:
    assert setting.unit_of_norm([[3, 4], [1, 0]], [10, 3]) == 2.0
    assert setting.unit_of_norm([[3, 4], [1, 0]], [10, 1]) == 1.0


def test_a_datum_within_rounding_of_its_boundary_counts_as_inactive() -> None:
    X, y = np.eye(2), np.ones(2)
    assert setting.forced(X, y, [1.0, 1e-9])
    assert not setting.forced(X, y, [1.0, 1e-14])
    assert not setting.forced(X, y, [1.0, 0.0])


def test_smallest_force_by_hand() -> None:
    # At (1, 1) the residuals are (-1, 0, 1) and -grad L = (0, -1); near 0 it is q = (3, 2).
    assert setting.smallest_force(*THREE, [[1, 1]]) == -1.0
    assert setting.smallest_force(*THREE, [[1e-9, 1e-9]]) == pytest.approx(2.0)
    assert setting.smallest_force(*THREE, [[1e-9, 1e-9], [1, 1], [-1, -1]]) == -1.0
    assert setting.smallest_force(*THREE, [[-1, -1]]) == 0.0


def test_reactivation_margin() -> None:
    assert starts.reactivation_margin(RETURNS.X, RETURNS.y, np.full(3, 3**-0.5)) == -1.0
    # Nothing is deactivated: 1 and the smallest cosine of the limit (4/3, 1/3) with a datum.
    kept = starts.reactivation_margin(*THREE, np.full(2, 2**-0.5))
    assert kept == pytest.approx(1 + 1 / 17**0.5)
    # Example 5.2 drops x_1 = (1, 0, 2) and ends at its fit of the other two nearest to that event.
    path = affine_flow(LEAVES.X, LEAVES.y, 1e-9 * np.ones(3))
    away = -(path.end[0] + 2 * path.end[2]) / (5**0.5 * np.linalg.norm(path.end))
    found = starts.reactivation_margin(LEAVES.X, LEAVES.y, np.full(3, 3**-0.5))
    assert found == pytest.approx(away, rel=1e-3)
    assert 0 < found < 1


def test_evidence_on_small_starts_can_fail() -> None:
    plane = small_flows.survey_plane(0, 30)
    one = np.arange(len(plane)) == 0
    assert verdicts(small_flows.not_global(plane.assign(missed=False), 0, *THREE)[0])[0]
    assert all(verdicts(starts.no_reactivation(plane, 0.01, 90)))
    assert not all(verdicts(starts.no_reactivation(plane, -1.0, 90)))
    assert not all(verdicts(starts.no_reactivation(plane.assign(reactivating=one), 0.01, 90)))
    assert all(verdicts(small_flows.rest_of_plane(plane, *FAR)))
    assert not all(verdicts(small_flows.rest_of_plane(plane, *FAR[:2], (1e-11, -1e-11))))
    for worse in ("elsewhere", "reactivating"):
        found = small_flows.rest_of_plane(plane.assign(**{worse: one}), *FAR)
        assert verdicts(found).count(False) == 1


def test_a_touch_is_outside_the_repair_and_just_missed_it_is_undecided() -> None:
    repair = starts.small_starts_agree(3)
    ways = np.array([[1.0, 1, 1], [1, 3, 3]])
    touching = {"X": TANGENT[0], "y": TANGENT[1], "U": ways}
    assert repair.unmet(touching) is not None
    assert not any(test(touching) for test in list(repair.hypotheses.values())[1:])
    missed = {**touching, "y": TANGENT[1] + [1e-3, 0, 0, 0]}
    assert repair.unmet(missed) is None
    assert np.isnan(repair.slack(missed))


def test_a_path_that_is_recorded_once_more_at_its_end_has_no_cell_more() -> None:
    """With seed 7 a flow of extreme data is followed past its last event before its limit."""
    statement = starts.small_starts_agree(3)
    rng, kinds = np.random.default_rng(7), list(statement.draws)
    items = [statement.draws[kinds[k % len(kinds)]](rng) for k in range(7)]
    (path,) = setting.small_flows(items[6], starts.SHARES[-1:])
    assert len(path.t) == len(path.events) + 2
    assert 0.0 <= starts._least_turn(items[6]["X"], items[6]["y"], path) <= 1.0
