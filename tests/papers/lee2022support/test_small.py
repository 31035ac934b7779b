"""Small starts in the plane: the radius, the resting point, the survey, and its statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from reluflow import datasets, rational
from reluflow.approx import on_grain
from reluflow.falsify import falsify
from reluflow.flows.affine import affine_flow
from reluflow.geometry import local_minima, virtual_minimum
from reluflow.instances import KINDS, ORDINARY, draw_many
from reluflow.ledger import Counterexample, Evidence
from reluflow.networks import loss
from reluflow.papers.lee2022support import norm, setting, small_flows, starts
from reluflow.papers.lee2022support.norm import sharp_share
from reluflow.papers.lee2022support.planar import virtual_minima
from reluflow.papers.lee2022support.setting import assumptions
from scipy.integrate import solve_ivp

X3 = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
THREE = X3, np.array([2.0, 1.0, 1.0])
# A double zero of x_1.w(t) on the all-active flow from 0.
TANGENT = np.array([[0, 0, 3], [0, 3, 0], [1, 2, 2], [2, 1, 1]]), np.array([179, 1795, 716, 536])
LEAVES, RETURNS = datasets.load("example-5.2"), datasets.load("example-5.3")
FAR = np.array([[1e5, 1.0], [0.0, 1.0]]), np.array([1e5, 1.0]), (1e-8, -9e-5)


def verdicts(evidence: Sequence[Evidence]) -> list[bool]:
    return [item.holds for item in evidence if item.decides]


def refuted_by(case: Counterexample) -> list[list]:
    """Values of the counterexample by both routes, after checking that none of them holds."""
    assert all(case.assumptions.values())
    deciding = [[e for e in route if e.decides] for route in (case.breaks, case.recheck)]
    assert not any(e.holds for route in deciding for e in route)
    return [[e.value for e in route] for route in deciding]


def batch_of(item) -> small_flows.PlanarData:
    """`planar_data` of one data set beside a padded row of zeros."""
    n = len(item.y) + 1
    X, y = np.zeros((1, n, 2)), np.zeros((1, n))
    X[0, :-1], y[0, :-1] = item.X, item.y
    return small_flows.planar_data(X, y)


def test_a_multiple_of_the_smallest_label_is_no_radius() -> None:
    """From this start, within 1e-4 of min y_i/|x_i|, x_2 never becomes active."""
    X, y, w0 = FAR
    assert np.linalg.norm(w0) < 1e-4 * setting.unit_of_norm(X, y)
    # While x_1 alone is active, w = w0 + s x_1 with s rising to its fit: in fractions.
    a, b = Fraction(1, 10**8), Fraction(-9, 10**5)
    x1 = (Fraction(10**5), Fraction(1))
    s = (10**5 - (x1[0] * a + x1[1] * b)) / (x1[0] ** 2 + 1)
    assert s > 0
    assert b + s < 0  # x_2.w at its largest

    # SciPy's integrator, in the time of the fast mode.
    def velocity(t, w):
        on = X @ w > 0
        return (y - X @ w)[on] @ X[on]

    late = solve_ivp(velocity, (0.0, 1e-8), w0, "Radau", rtol=1e-10, atol=1e-16).y[:, -1]
    assert late == pytest.approx([1.0, -8e-5], rel=1e-3)
    assert X[1] @ late < 0
    near = affine_flow(X, y, 1e-3 * np.array(w0))
    assert float(loss(X, y, near.end)) < 1e-9
    radius = setting.guaranteed_radius(X, y)
    assert radius < np.linalg.norm(w0) * 1e-3


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


def test_a_survey_by_kind() -> None:
    survey = small_flows.survey_plane(3, 120)
    by_kind = survey.groupby("kind", sort=False).sum()
    assert by_kind.index.tolist() == list(KINDS)
    assert set(survey.kind.value_counts()) == {120}
    assert survey.elsewhere.sum() == survey.reactivating.sum() == 0
    # Doubles follow about half of the flows near the axes, and no fewer of any other kind.
    assert (by_kind.followed > 40).all()
    assert (by_kind.followed[list(ORDINARY[:4])] > 115).all()
    assert by_kind.missed["degenerate"] < by_kind.missed["near-parallel"] + 6
    assert by_kind.missed["extreme"] > 15
    assert not survey.missed[survey["data"] == 2].any()  # two data are fitted
    share, low, high = small_flows.share_missed(survey)
    assert low < 0.17 < high
    assert share == by_kind.missed[list(ORDINARY)].sum() / 600
    table = small_flows.table_of_kinds(survey)
    assert table.loc["the first five together", "data sets"] == 600
    part = 100 * by_kind.missed["uniform"] / 120
    assert table.loc["uniform", "miss the global minimum"].startswith(f"{on_grain(part, 0.1)} % (")


def test_a_survey_sees_flows_that_end_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    larger = setting.root_radius
    monkeypatch.setattr(small_flows, "root_radius", lambda *args: 1e6 * larger(*args))
    assert small_flows.survey_plane(0, 60).elsewhere.sum() > 3


def test_small_starts_end_where_the_data_say() -> None:
    statement = small_flows.ends_at_rest()
    report = falsify(statement, 4, 90, evaluations=20)
    assert report.survives
    assert report.tried > 80
    # Not so with a radius in units of min y_i / |x_i|, nor to the global minimum.
    for item in (statement.draws[kind](np.random.default_rng(k)) for k, kind in enumerate(KINDS)):
        assert statement.slack(item) > 0 or np.isnan(statement.slack(item))
    far = {"X": FAR[0], "y": FAR[1], "u": np.array(FAR[2])}
    assert statement.slack(far) > 0
    loose = replace(small_flows.keeps_all_data(),
                    hypotheses={"q(w0) > 0": setting.nontrivial})  # fmt: skip
    assert not falsify(loose, 0, 60, evaluations=0).survives


@pytest.mark.parametrize(("m", "u"), [(3, Fraction(9, 10)), (20, Fraction(99, 100))])
def test_the_sharp_family_against_its_flow(m: int, u: Fraction) -> None:
    eps = Fraction(1, 100)
    X, y, w0 = norm.sharp_instance(m, eps)
    start = np.array([float(v) for v in w0])
    assert np.all(X @ start > 0)
    path = affine_flow(X, y, start)
    (w,) = path.at(np.array([-np.log(float(u))]))
    share = (w @ w - 2.0) / (start @ start)
    assert float(sharp_share(m, eps, u)) == pytest.approx(share, rel=1e-6)


def test_unit_of_norm_by_hand() -> None:
    assert setting.unit_of_norm([[3, 4], [1, 0]], [10, 3]) == 2.0
    assert setting.unit_of_norm([[3, 4], [1, 0]], [10, 1]) == 1.0


def test_a_direction_has_a_positive_force() -> None:
    rng = np.random.default_rng(0)
    near = 0
    for item in draw_many(45, 3, 0):
        for draw_one in (setting.random_direction, setting.start_direction):
            u = draw_one(item.X, item.y, rng)
            assert np.linalg.norm(u) == pytest.approx(1.0)
            active = item.X @ u > 0
            assert np.all((item.y[active, None] * item.X[active]).sum(axis=0) > 0)
        near += np.min(np.abs(item.X @ u) / np.linalg.norm(item.X, axis=1)) < 1e-3
    assert near > 10


def test_directions_are_rejected_until_one_satisfies_the_hypothesis() -> None:
    """Along the axes q > 0 needs both data active, so a direction of the first quadrant."""
    X, y = np.eye(2), np.array([3.0, 4.0])
    draws = np.random.default_rng(8)
    expected = next(k for k in range(1, 100) if np.all(draws.normal(size=2) > 0))
    assert expected > 1
    u = setting.random_direction(X, y, np.random.default_rng(8))
    assert np.all(u > 0)
    known = setting.random_direction(X, y, np.random.default_rng(8), tries=expected - 1)
    assert known == pytest.approx([0.6, 0.8])


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


def test_full_rank_along_a_path() -> None:
    start = np.full(3, 1e-4)
    # Example 5.2 keeps two data in three dimensions, Example 5.3 never fewer than three.
    assert not starts.full_rank_along(LEAVES.X, affine_flow(LEAVES.X, LEAVES.y, start))
    path = affine_flow(RETURNS.X, RETURNS.y, start)
    assert len(path.events) == 2
    assert starts.full_rank_along(RETURNS.X, path)
    # One datum at first, and both at the end.
    path = affine_flow([[1, 0], [1, 1]], [1, 2], [0.1, -0.2])
    assert [(e.datum, e.kind) for e in path.events] == [(1, "activate")]
    assert not starts.full_rank_along([[1, 0], [1, 1]], path)


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


def test_search_for_a_reactivation(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def margin(X: NDArray, y: NDArray, u: NDArray) -> float:
        asked.append((X, y, u))
        return float(np.sum((X - 1.0) ** 2) + np.sum((y - 2.0) ** 2))

    monkeypatch.setattr(starts, "reactivation_margin", margin)
    least, used = starts.search_reactivation(0, 400, n=3)
    again, _ = starts.search_reactivation(0, 400, n=3)
    assert used == len(asked) // 2 <= 400
    assert least == again == min(margin(*a) for a in asked[:used])
    early = min(margin(*a) for a in asked[:45])
    assert least < early  # it searches
    for X, y, u in asked[:used]:
        assert X.shape == (3, 2)
        assert all(assumptions(X, y)[name] for name in ("A1", "A2"))
        assert np.linalg.norm(u) == pytest.approx(1.0)


def test_a_short_search_finds_no_reactivation_in_the_plane() -> None:
    least, used = starts.search_reactivation(0, 90, n=3)
    assert used == 90
    assert 0 < least < 1  # it found data that are deactivated, and stay away


def test_what_the_survey_says_of_small_starts() -> None:
    plane = small_flows.survey_plane(0, 30)
    found, case = small_flows.not_global(plane, 0, *THREE)
    assert verdicts(found) == [False, False]
    (by_flow,), (by_loop,) = refuted_by(case)
    assert (by_flow, by_loop) == pytest.approx((1 / 6, 1 / 6))
    assert verdicts(small_flows.not_global(plane.assign(missed=False), 0, *THREE)[0])[0]

    assert falsify(starts.never_reactivates(), 0, 10, 0).survives
    assert all(verdicts(starts.no_reactivation(plane, 0.01, 90)))
    assert not all(verdicts(starts.no_reactivation(plane, -1.0, 90)))
    again = plane.assign(reactivating=np.arange(len(plane)) == 0)
    assert not all(verdicts(starts.no_reactivation(again, 0.01, 90)))

    assert all(verdicts(small_flows.rest_of_plane(plane, *FAR)))
    assert not all(verdicts(small_flows.rest_of_plane(plane, *FAR[:2], (1e-11, -1e-11))))
    for worse in ("elsewhere", "reactivating"):
        one = plane.assign(**{worse: np.arange(len(plane)) == 0})
        assert verdicts(small_flows.rest_of_plane(one, *FAR)).count(False) == 1


def test_starts_on_either_side_of_a_touch_part() -> None:
    X, y = TANGENT
    found, case = starts.parting_starts(X, y, (1, 1, 1), (1, 3, 3))
    assert verdicts(found) == [False]
    (apart,), (same_fate, by_solver) = refuted_by(case)
    # The limits are the exact fits without and with x_1.
    lost, kept = (rational.fit(X, y, support).w for support in ((1, 2, 3), (0, 1, 2, 3)))
    exact = sum((a - b) ** 2 for a, b in zip(lost, kept, strict=True))
    assert apart == pytest.approx(float(exact) ** 0.5)
    assert same_fate is False
    assert by_solver > 1
    assert [e.value for e in case.recheck if not e.decides] == [(2, 0)]


def test_small_starts_with_one_fate_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts, "integrate", lambda X, y, w0, t: affine_flow(X, y, w0).at(t))
    found, case = starts.parting_starts(*TANGENT, (1, 3, 3), (1, 3, 3))
    assert verdicts([*found, *case.breaks, *case.recheck]) == [True] * 4


def test_small_limits_see_what_they_ask() -> None:
    """The touch of Proposition 4.4 is outside the repair's hypotheses, and undecided where it is
    just missed; a flow that re-activates a datum breaks Lemma 4.6's statement."""
    repair = starts.small_starts_agree(3)
    ways = np.array([[1.0, 1, 1], [1, 3, 3]])
    touching = {"X": TANGENT[0], "y": TANGENT[1], "U": ways}
    assert repair.unmet(touching) is not None
    assert not any(test(touching) for test in list(repair.hypotheses.values())[1:])
    missed = {**touching, "y": TANGENT[1] + [1e-3, 0, 0, 0]}
    assert repair.unmet(missed) is None
    assert np.isnan(repair.slack(missed))
    crossing = {"X": RETURNS.X, "y": RETURNS.y, "U": ways}
    assert repair.unmet(crossing) is None
    assert not repair.fails(repair.slack(crossing))
    # In space a datum comes back: Example 5.3.
    again = {"X": RETURNS.X, "y": RETURNS.y, "u": np.ones(3)}
    assert starts.never_reactivates().broken_by(again)
    assert not starts.never_reactivates().broken_by({"X": THREE[0], "y": THREE[1], "u": np.ones(2)})


def test_a_path_that_is_recorded_once_more_at_its_end_has_no_cell_more() -> None:
    """With seed 7 a flow of extreme data is followed past its last event before its limit."""
    statement = starts.small_starts_agree(3)
    rng, kinds = np.random.default_rng(7), list(statement.draws)
    items = [statement.draws[kinds[k % len(kinds)]](rng) for k in range(7)]
    (path,) = setting.small_flows(items[6], starts.SHARES[-1:])
    assert len(path.t) == len(path.events) + 2
    assert 0.0 <= starts._least_turn(items[6]["X"], items[6]["y"], path) <= 1.0
