"""Small starts in the plane: the radius, the resting point, the survey, and its statements."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from reluflow.approx import on_grain
from reluflow.falsify import falsify
from reluflow.flows.affine import affine_flow
from reluflow.flows.planar import virtual_minima
from reluflow.geometry import local_minima, virtual_minimum
from reluflow.instances import KINDS, ORDINARY, draw_many
from reluflow.networks import loss
from reluflow.papers.lee2022support import norms, small_plane, small_starts, small_statements
from scipy.integrate import solve_ivp

X3 = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
FAR = np.array([[1e5, 1.0], [0.0, 1.0]]), np.array([1e5, 1.0]), (1e-8, -9e-5)


def batch_of(item) -> small_plane.PlanarData:
    """`planar_data` of one data set beside a padded row of zeros."""
    n = len(item.y) + 1
    X, y = np.zeros((1, n, 2)), np.zeros((1, n))
    X[0, :-1], y[0, :-1] = item.X, item.y
    return small_plane.planar_data(X, y)


def test_a_multiple_of_the_smallest_label_is_no_radius() -> None:
    """From this start, within 1e-4 of min y_i/|x_i|, x_2 never becomes active."""
    X, y, w0 = FAR
    assert np.linalg.norm(w0) < 1e-4 * small_starts.unit_of_norm(X, y)
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
    radius = small_starts.guaranteed_radius(X, y)
    assert radius < np.linalg.norm(w0) * 1e-3


def test_resting_points_by_hand() -> None:
    for y, on, w in (
        ((2, 1, 1), (True, True, True), (4 / 3, 1 / 3)),
        ((4, 1, 1), (True, False, True), (4, -3)),  # the steepest is given up
        ((1, 4, 1), (False, True, True), (-3, 4)),  # the flattest
        ((3, 1, 1), (True, True, True), (2, 0)),  # on the boundary of x_2, which no event loses
    ):
        kept, at = small_plane.resting_point(X3, y)
        assert tuple(kept) == on
        assert at == pytest.approx(w)
        assert small_plane.has_settled(X3, y, at)
    # Parallel data are given up together, in either order.
    X, y = np.vstack([X3, [0.0, 2.0]]), np.array([9.0, 1.0, 1.0, 1.0])
    assert small_plane.resting_point(X, y)[0].tolist() == [True, False, True, False]


def test_a_stop_short_of_the_limit_is_told() -> None:
    y = np.array([2.0, 1.0, 1.0])
    assert small_plane.has_settled(X3, y, (2, -1))  # another minimum
    assert not small_plane.has_settled(X3, y, (4 / 3, 0.3))
    assert not small_plane.has_settled(X3, y, (1.5, 0.0))  # least on the boundary of x_2
    assert small_plane.has_settled(X3, y, (-1, -1))  # dead
    assert small_plane.has_settled(X3, y, (2, -9))  # x_1 alone is fitted
    assert not small_plane.has_settled(X3, y, (2.1, -9))


def test_the_data_tell_what_enumeration_and_flows_tell() -> None:
    rng = np.random.default_rng(0)
    for item in draw_many(60, 2, 8):
        told = batch_of(item)
        radius = small_starts.guaranteed_radius(item.X, item.y)
        assert told.radius[0] == pytest.approx(radius, rel=1e-7)
        on, w = small_plane.resting_point(item.X, item.y)
        assert np.linalg.norm(told.limit[0] - w) <= 1e-6 * np.linalg.norm(w)
        assert told.support[0] == on.sum()
        zero = 0.5 * float(item.y @ item.y)
        assert told.least[0] == pytest.approx(norms.least_planar_loss(item.X, item.y),
                                              abs=1e-9 * zero)  # fmt: skip
        assert told.loss[0] == pytest.approx(float(loss(item.X, item.y, w)), abs=1e-6 * zero)
        if item.kind in ("uniform", "directions", "integers"):
            minima = local_minima(item.X, item.y)
            assert told.least[0] == pytest.approx(minima[0].loss, abs=1e-9 * zero)
            assert told.most[0] == max(len(m.support) for m in minima)
            u = small_starts.start_direction(item.X, item.y, rng)
            end = affine_flow(item.X, item.y, 0.99 * radius * u).end
            assert np.linalg.norm(end - w) <= 1e-6 * np.linalg.norm(w)


def test_a_minimum_on_a_boundary_is_decided_exactly() -> None:
    X, y = np.zeros((2, 4, 2)), np.zeros((2, 4))
    X[0, :3], y[0, :3] = X3, (3, 1, 1)
    X[1, :3], y[1, :3] = 3.0 * X3, (0.9, 0.3, 0.3)  # 0.3 is not three tenths
    told = small_plane.planar_data(X, y)
    assert told.support.tolist() == [3, small_plane.resting_point(X[1, :3], y[1, :3])[0].sum()]
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
        radius = small_starts.gentle_radius(item.X, item.y)
        assert radius >= small_starts.guaranteed_radius(item.X, item.y)
        u = norms.all_active_direction(item.X, rng)
        w = 0.999 * radius * u
        rise = item.X @ (item.y @ item.X - item.X.T @ (item.X @ w)) / np.linalg.norm(item.X, axis=1)
        assert rise.min() > 0
    # For one datum the bound is attained: at the fit itself nothing increases.
    assert small_starts.gentle_radius([[2.0]], [3.0]) == pytest.approx(1.5)


@pytest.fixture(scope="module")
def survey() -> small_plane.PlanarSurvey:
    return small_plane.survey_plane(3, 120)


def test_a_survey_by_kind(survey: small_plane.PlanarSurvey) -> None:
    assert list(survey.sets) == list(KINDS)
    assert set(survey.sets.values()) == {120}
    assert sum(survey.elsewhere.values()) == sum(survey.reactivating.values()) == 0
    # Doubles follow about half of the flows near the axes, and no fewer of any other kind.
    assert all(survey.flows[kind] > 40 for kind in KINDS)
    assert all(survey.flows[kind] > 115 for kind in ORDINARY[:4])
    assert survey.missed["degenerate"] < survey.missed["near-parallel"] + 6
    assert survey.missed["extreme"] > 15
    assert sum(n for n, _ in survey.by_size.values()) == 5 * 120
    assert sum(bad for _, bad in survey.by_size.values()) == sum(survey.missed[k] for k in ORDINARY)
    assert survey.by_size[2][1] == 0  # two data are fitted
    share, low, high = survey.share()
    assert low < 0.17 < high
    assert share == sum(survey.missed[k] for k in ORDINARY) / 600
    table = survey.table()
    assert table.loc["the first five together", "data sets"] == 600
    part = 100 * survey.missed["uniform"] / 120
    assert table.loc["uniform", "miss the global minimum"].startswith(f"{on_grain(part, 0.1)} % (")


def test_a_survey_sees_flows_that_end_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    larger = small_plane.root_radius
    monkeypatch.setattr(small_plane, "root_radius", lambda *args: 1e6 * larger(*args))
    assert sum(small_plane.survey_plane(0, 60).elsewhere.values()) > 3


def test_small_starts_end_where_the_data_say() -> None:
    statement = small_statements.ends_at_rest()
    report = falsify(statement, 4, 90, evaluations=20)
    assert report.survives
    assert report.tried > 80
    # Not so with a radius in units of min y_i / |x_i|, nor to the global minimum.
    for item in (statement.draws[kind](np.random.default_rng(k)) for k, kind in enumerate(KINDS)):
        assert statement.slack(item) > 0 or np.isnan(statement.slack(item))
    far = {"X": FAR[0], "y": FAR[1], "u": np.array(FAR[2])}
    assert statement.slack(far) > 0
    loose = replace(small_statements.keeps_all_data(),
                    hypotheses={"q(w0) > 0": small_statements.nontrivial})  # fmt: skip
    assert not falsify(loose, 0, 60, evaluations=0).survives


@pytest.mark.parametrize(("m", "u"), [(3, Fraction(9, 10)), (20, Fraction(99, 100))])
def test_the_sharp_family_against_its_flow(m: int, u: Fraction) -> None:
    eps = Fraction(1, 100)
    X, y, w0 = norms.sharp_instance(m, eps)
    start = np.array([float(v) for v in w0])
    assert np.all(X @ start > 0)
    path = affine_flow(X, y, start)
    (w,) = path.at(np.array([-np.log(float(u))]))
    share = (w @ w - 2.0) / (start @ start)
    assert float(norms.sharp_share(m, eps, u)) == pytest.approx(share, rel=1e-6)
