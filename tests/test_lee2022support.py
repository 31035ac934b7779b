"""The support-vector paper's statements as functions: each check here can fail, and each survey is
shown an instance that it must count."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reluflow import datasets, rational
from reluflow.falsify import falsify
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Event, Trajectory
from reluflow.geometry import local_minima
from reluflow.instances import Instance, draw_many
from reluflow.networks import loss
from reluflow.papers.lee2022support import (
    activity,
    norms_evidence,
    small_limits,
    small_plane,
    small_starts,
    statements,
)
from reluflow.papers.lee2022support.assumptions import assumptions


def instance(X, y) -> Instance:
    return Instance(np.array(X, float), np.array(y, float), "by hand")


# Fewer support vectors and the smaller loss: (2, -1) without datum 2 has 1/2, (4/3, 1/3) has 2/3.
THREE = instance([[1, 0], [0, 1], [1, 1]], [2, 1, 1])
# A double zero of x_1.w(t) on the all-active flow from 0.
TANGENT = instance([[0, 0, 3], [0, 3, 0], [1, 2, 2], [2, 1, 1]], [179, 1795, 716, 536])
FIVE, LEAVES, RETURNS = (datasets.load(name) for name in datasets.PAPER)


def given_events(*events: tuple[str, int]) -> SimpleNamespace:
    return SimpleNamespace(
        events=tuple(Event(float(t), datum, kind) for t, (kind, datum) in enumerate(events))
    )


# --- Small starts ---------------------------------------------------------------------------------


def test_unit_of_norm_by_hand() -> None:
    assert small_starts.unit_of_norm([[3, 4], [1, 0]], [10, 3]) == 2.0
    assert small_starts.unit_of_norm([[3, 4], [1, 0]], [10, 1]) == 1.0


def test_a_direction_has_a_positive_force() -> None:
    rng = np.random.default_rng(0)
    near = 0
    for item in draw_many(45, 3, 0):
        for draw_one in (small_starts.random_direction, small_starts.start_direction):
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
    u = small_starts.random_direction(X, y, np.random.default_rng(8))
    assert np.all(u > 0)
    known = small_starts.random_direction(X, y, np.random.default_rng(8), tries=expected - 1)
    assert known == pytest.approx([0.6, 0.8])


def test_a_datum_within_rounding_of_its_boundary_counts_as_inactive() -> None:
    X, y = np.eye(2), np.ones(2)
    assert small_starts.forced(X, y, [1.0, 1e-9])
    assert not small_starts.forced(X, y, [1.0, 1e-14])
    assert not small_starts.forced(X, y, [1.0, 0.0])


def test_smallest_force_by_hand() -> None:
    # At (1, 1) the residuals are (-1, 0, 1) and -grad L = (0, -1); near 0 it is q = (3, 2).
    assert small_starts.smallest_force(THREE.X, THREE.y, [[1, 1]]) == -1.0
    assert small_starts.smallest_force(THREE.X, THREE.y, [[1e-9, 1e-9]]) == pytest.approx(2.0)
    assert small_starts.smallest_force(THREE.X, THREE.y, [[1e-9, 1e-9], [1, 1], [-1, -1]]) == -1.0
    assert small_starts.smallest_force(THREE.X, THREE.y, [[-1, -1]]) == 0.0


def test_reactivations_of_given_events() -> None:
    on, off = "activate", "deactivate"
    assert small_starts.reactivations(given_events()) == 0
    assert small_starts.reactivations(given_events((on, 0), (off, 0))) == 0
    assert small_starts.reactivations(given_events((off, 0), (on, 1))) == 0
    assert small_starts.reactivations(given_events((off, 0), (on, 0))) == 1
    assert (
        small_starts.reactivations(given_events((off, 0), (off, 2), (on, 0), (off, 0), (on, 0)))
        == 2
    )


def test_reactivations_of_the_papers_flows() -> None:
    start = np.full(3, 1e-4)
    assert small_starts.reactivations(affine_flow(RETURNS.X, RETURNS.y, start)) == 1
    assert small_starts.reactivations(affine_flow(LEAVES.X, LEAVES.y, start)) == 0
    linear = affine_flow(LEAVES.X, LEAVES.y, start, activation="linear")
    assert small_starts.reactivations(linear) == 1


def test_the_largest_drop_of_the_norm() -> None:
    """From 10 down to 1 along w = 1 + 9 e^(-t), measured against |w(inf)| = 1."""
    shrinking = affine_flow([[1]], [1], [10])
    norms = 1 + 9 * np.exp(-shrinking.grid(60))
    assert small_starts.largest_norm_drop(shrinking) == pytest.approx(
        (norms[:-1] - norms[1:]).max()
    )
    assert small_starts.largest_norm_drop(shrinking) > 0.5
    # Relative to the limit: the same flow in other units.
    scaled = affine_flow([[0.1]], [1], [100])
    assert small_starts.largest_norm_drop(scaled) == pytest.approx(
        small_starts.largest_norm_drop(shrinking)
    )
    assert small_starts.largest_norm_drop(affine_flow([[1]], [1], [1e-4])) == 0.0
    assert small_starts.largest_norm_drop(affine_flow([[1]], [1], [-2])) == 0.0
    # A large start in the plane: the flow first loses norm.
    assert small_starts.largest_norm_drop(affine_flow(FIVE.X, FIVE.y, [0, 45])) > 0.1


def test_full_rank_along_a_path() -> None:
    start = np.full(3, 1e-4)
    # Example 5.2 keeps two data in three dimensions, Example 5.3 never fewer than three.
    assert not small_starts.full_rank_along(LEAVES.X, affine_flow(LEAVES.X, LEAVES.y, start))
    path = affine_flow(RETURNS.X, RETURNS.y, start)
    assert len(path.events) == 2
    assert small_starts.full_rank_along(RETURNS.X, path)
    # One datum at first, and both at the end.
    path = affine_flow([[1, 0], [1, 1]], [1, 2], [0.1, -0.2])
    assert [(e.datum, e.kind) for e in path.events] == [(1, "activate")]
    assert not small_starts.full_rank_along([[1, 0], [1, 1]], path)


def test_reactivation_margin() -> None:
    assert small_starts.reactivation_margin(RETURNS.X, RETURNS.y, np.full(3, 3**-0.5)) == -1.0
    # Nothing is deactivated: 1 and the smallest cosine of the limit (4/3, 1/3) with a datum.
    kept = small_starts.reactivation_margin(THREE.X, THREE.y, np.full(2, 2**-0.5))
    assert kept == pytest.approx(1 + 1 / 17**0.5)
    # Example 5.2 drops x_1 = (1, 0, 2) and ends at its fit of the other two nearest to that event.
    path = affine_flow(LEAVES.X, LEAVES.y, 1e-9 * np.ones(3))
    away = -(path.end[0] + 2 * path.end[2]) / (5**0.5 * np.linalg.norm(path.end))
    found = small_starts.reactivation_margin(LEAVES.X, LEAVES.y, np.full(3, 3**-0.5))
    assert found == pytest.approx(away, rel=1e-3)
    assert 0 < found < 1


def test_search_for_a_reactivation(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def margin(X: NDArray, y: NDArray, u: NDArray) -> float:
        asked.append((X, y, u))
        return float(np.sum((X - 1.0) ** 2) + np.sum((y - 2.0) ** 2))

    monkeypatch.setattr(small_starts, "reactivation_margin", margin)
    least, used = small_starts.search_reactivation(0, 400, n=3)
    again, _ = small_starts.search_reactivation(0, 400, n=3)
    assert used == len(asked) // 2 <= 400
    assert least == again == min(margin(*a) for a in asked[:used])
    early = min(margin(*a) for a in asked[:45])
    assert least < early  # it searches
    for X, y, u in asked[:used]:
        assert X.shape == (3, 2)
        assert all(assumptions(X, y)[name] for name in ("A1", "A2"))
        assert np.linalg.norm(u) == pytest.approx(1.0)


def test_a_short_search_finds_no_reactivation_in_the_plane() -> None:
    least, used = small_starts.search_reactivation(0, 90, n=3)
    assert used == 90
    assert 0 < least < 1  # it found data that are deactivated, and stay away


# --- The exact polynomial -------------------------------------------------------------------------


def polynomial(v: tuple[int, ...]):
    return small_starts.preactivation_polynomial(
        TANGENT.X.astype(int).tolist(), TANGENT.y.astype(int).tolist(), 0, [F(c) for c in v]
    )


def test_the_polynomial_of_the_tangent_data() -> None:
    """H has the eigenvalues 3, 9 and 21; from 0, x_1.w touches zero at u = e^(-3t) = 1/4."""
    found = polynomial((1, 1, 1))
    assert found.rate == 3
    assert found.limit == {0: 25, 1: F(-451, 3), 3: 808, 7: F(-2048, 3)}
    assert found.value(F(1, 4)) == 0
    assert found.slope(F(1, 4)) == 0
    assert found.value(F(1)) == 0  # t = 0, at the origin
    assert found.value(F(0)) == 25  # t = inf
    assert found.value(F(1, 2)) == 25 - F(451, 6) + 101 - F(16, 3)
    assert found.slope(F(1, 2)) == F(-451, 3) + 606 - F(7 * 2048, 3 * 64)
    # x_1.v = 3 at the start, and it dies out.
    assert found.shift(F(1)) == 3
    assert found.shift(F(0)) == 0


@pytest.mark.parametrize(("v", "zeros"), [((1, 1, 1), 2), ((1, 3, 3), 0)])
def test_starts_on_either_side_of_the_tangent(v: tuple[int, ...], zeros: int) -> None:
    """However small, a start on one side crosses the boundary twice and one on the other never."""
    found = polynomial(v)
    for eps in (F(1), F(1, 1000), F(1, 10**6)):
        assert found.zeros(eps) == zeros
        linear = affine_flow(TANGENT.X, TANGENT.y, float(eps) * np.array(v), activation="linear")
        assert sum(e.datum == 0 for e in linear.events) == zeros
    assert (found.shift(F(1, 4)) < 0) == (zeros == 2)
    # From the origin itself the double zero counts once, and t = 0 does not count.
    assert found.zeros(F(0)) == 1


def test_a_zero_at_either_end_is_none() -> None:
    # y_1 = 0 and a start off it: x_1.w = eps u, which vanishes at u = 0, for t = inf, alone.
    fades = small_starts.preactivation_polynomial([[1, 0], [0, 2]], [0, 1], 0, [F(1), F(1)])
    assert fades.zeros(F(1)) == 0
    # Along the axes x_2.w = 1 - (1 - eps) u^4 has its root at u > 1, or at u = 1 for eps = 0.
    rises = small_starts.preactivation_polynomial([[1, 0], [0, 2]], [1, 1], 1, [F(1), F(1, 2)])
    assert rises.limit == {0: 1, 1: 0, 4: -1}
    assert rises.start == {1: 0, 4: 1}
    assert (rises.zeros(F(0)), rises.zeros(F(1, 10)), rises.zeros(F(-1, 10))) == (0, 0, 1)


@settings(max_examples=25)
@given(t=st.floats(0, 3), eps=st.sampled_from([0, 1, -1, 1e-3, 1e-6]), other=st.booleans())
def test_the_polynomial_is_the_flow(t: float, eps: float, other: bool) -> None:
    v = (1, 3, 3) if other else (1, 1, 1)
    found = polynomial(v)
    linear = affine_flow(TANGENT.X, TANGENT.y, eps * np.array(v), activation="linear")
    u = F(float(np.exp(-3 * t)))
    exact = float(found.value(u) + F(str(eps)) * found.shift(u))
    assert float(TANGENT.X[0] @ linear.at(t)) == pytest.approx(exact, rel=1e-8, abs=1e-9)
    relu = affine_flow(TANGENT.X, TANGENT.y, abs(eps) * np.array(v) + 1e-9)
    if t < min((e.t for e in relu.events), default=np.inf):
        exact = float(found.value(u) + F(str(abs(eps))) * found.shift(u))
        assert float(TANGENT.X[0] @ relu.at(t)) == pytest.approx(exact, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("X", "y", "rate"),
    [
        ([[1, 0, 0], [0, 1, 0], [0, 0, 2]], [1, 3, 2], F(1)),  # a repeated eigenvalue
        ([[1, 0], [0, 2], [1, 0]], [3, 2, 5], F(2)),  # 2 and 4
        ([[0.5, 0], [0, 0.1]], [1, 6], F(1, 100)),  # 1/4 and 1/100
        ([[3, 0], [0, 2]], [1, 1], F(1)),  # 9 and 4
        ([[0.5, 0], [0, 1.5]], [1, 6], F(1, 4)),  # 1/4 and 9/4
    ],
)
def test_polynomials_of_other_spectra(X: list, y: list, rate: F) -> None:
    v = [F(1, 2)] * len(X[0])
    for j, x in enumerate(X):
        found = small_starts.preactivation_polynomial(X, y, j, v)
        assert found.rate == rate
        linear = affine_flow(X, y, [0.5] * len(v), activation="linear")
        for t in (0.0, 0.3, 2.0):
            u = F(float(np.exp(-float(rate) * t)))
            exact = float(found.value(u) + found.shift(u))
            assert float(np.array(x) @ linear.at(t)) == pytest.approx(exact, rel=1e-9)


def test_one_eigenvalue_alone() -> None:
    found = small_starts.preactivation_polynomial([[1, 0], [0, 1]], [1, 6], 1, [F(1), F(1)])
    assert (found.rate, found.limit, found.start) == (1, {0: 6, 1: -6}, {1: 1})


@pytest.mark.parametrize(
    "X",
    [
        [[1, 1], [0, 1]],  # (3 +- sqrt 5) / 2
        [[1, 1], [2, 2]],  # 10 and 0
    ],
)
def test_spectra_that_are_refused(X: list) -> None:
    with pytest.raises(ValueError, match="eigenvalues of H are not all rational and positive"):
        small_starts.preactivation_polynomial(X, [1, 2], 0, [F(1), F(1)])


def test_an_irreducible_cubic_spectrum_is_refused() -> None:
    X = [[1, 0, 0], [0, 1, 0], [0, 1, 1], [1, 1, 1], [3, 2, 1]]
    with pytest.raises(ValueError, match="eigenvalues of H are not all rational and positive"):
        small_starts.preactivation_polynomial(X, [1, 6, 1, 1, 1], 0, [F(1)] * 3)


# --- Theorem 4.2 and the norm of the start --------------------------------------------------------


def test_protected_by_hand() -> None:
    # Radii y_j / |x_j| of 1 and 7/5 around w_GM = (1, 1).
    X, y, w_gm = [[1, 0], [3, 4]], [1, 7], [1, 1]
    assert activity.protected(X, y, [1, 1.5], w_gm).tolist() == [True, True]
    assert activity.protected(X, y, [1, 2.2], w_gm).tolist() == [False, True]
    assert activity.protected(X, y, [1, 2.5], w_gm).tolist() == [False, False]
    assert activity.protected(X, y, [1, 2], w_gm).tolist() == [
        False,
        True,
    ]  # the inequality is strict


def test_an_inactive_datum_is_not_protected() -> None:
    """Its own hypothesis, x_j.w0 > 0; with X w_GM = y it follows from (6), so here it does not."""
    assert activity.protected([[1, 0], [0, 1]], [9, 9], [-1, 1], [1, 1]).tolist() == [False, True]


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0, 1.5))
def test_inside_the_radius_a_datum_is_active(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    X, w_gm = rng.uniform(0.1, 1, (4, 3)), rng.uniform(0.1, 1, 3)
    radii = X @ w_gm / np.linalg.norm(X, axis=1)
    step = rng.normal(size=3)
    w0 = w_gm + share * radii.min() * step / np.linalg.norm(step)
    safe = activity.protected(X, X @ w_gm, w0, w_gm)
    assert safe.all() or share >= 1 - 1e-9
    assert np.all(X[safe] @ w0 > 0)
    off = [e.datum for e in affine_flow(X, X @ w_gm, w0).events if e.kind == "deactivate"]
    assert not safe[off].any()


def outside(angle: float, share: float) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """(X, y, w0, w_GM): a datum along an axis, and a long one that turns the flow against it.

    The long datum lies at `angle` from the second axis. From w0 = w_GM - r (cos 2a, -sin 2a), r of
    `share` between the two ends of the range that does it, x_1 is active; the fast fall of the long
    residual then leaves x_1.w = 1 - r cos^2 a < 0.
    """
    c, s = np.cos(angle), np.sin(angle)
    X = np.array([[1.0, 0.0], np.array([s, c]) * 200 / angle])
    low, high = 1 / c**2, 1 / np.cos(2 * angle)
    r = low + share * (high - low)
    w_gm = np.ones(2)
    return X, X @ w_gm, w_gm - r * np.array([np.cos(2 * angle), -np.sin(2 * angle)]), w_gm


@pytest.mark.parametrize("angle", [0.3, 0.1, 0.02])
def test_the_radius_of_protection_is_sharp(angle: float) -> None:
    """Just outside (6), by less than 4 a^2 / 2, a datum is deactivated: no larger radius holds."""
    X, y, w0, w_gm = outside(angle, 0.5)
    ratio = np.linalg.norm(w0 - w_gm) * np.linalg.norm(X[0]) / y[0]
    assert 1 < ratio < 1 + 2 * angle**2
    assert X[0] @ w0 > 0
    assert activity.protected(X, y, w0, w_gm).tolist() == [False, True]
    off = [e.datum for e in affine_flow(X, y, w0).events if e.kind == "deactivate"]
    assert off == [0]
    # A radius larger by that ratio would have promised it.
    assert activity.protected(X * [[1 / ratio**1.01], [1]], y, w0, w_gm)[0]
    # From just inside, along the same direction, it stays.
    near = w_gm + (w0 - w_gm) / ratio * 0.999
    assert activity.protected(X, y, near, w_gm).all()
    assert not affine_flow(X, y, near).events


def test_survey_of_protection() -> None:
    found = activity.survey_protection(30, 0)
    assert found.flows == 30
    assert 0 < found.with_protected <= 30
    assert found.protected > found.with_protected
    assert 0 < found.all_active < found.with_protected
    assert found.deactivated == 0
    assert -1e-12 <= found.smallest < 0.1
    assert found.gap < 1e-9
    assert found.final_loss < 1e-9
    assert found == activity.survey_protection(30, 0)
    assert found != activity.survey_protection(30, 1)


def test_survey_of_protection_sees_a_broken_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every flow is given a deactivation of x_1: it counts where x_1 is protected."""
    safe_first = []

    def remembered(X, y, w0, w_gm) -> NDArray:
        safe_first.append(bool(protected(X, y, w0, w_gm)[0]))
        return protected(X, y, w0, w_gm)

    def with_an_event(X, y, w0, activation="relu") -> Trajectory:
        path = affine_flow(X, y, w0, activation=activation)
        more = (Event(1.0, 0, "activate"), Event(1.0, 0, "deactivate"))
        return replace(path, events=(*path.events, *more))

    protected = activity.protected
    monkeypatch.setattr(activity, "protected", remembered)
    monkeypatch.setattr(activity, "affine_flow", with_an_event)
    found = activity.survey_protection(12, 0)
    assert found.deactivated == sum(safe_first)
    assert 0 < found.deactivated < 12


def test_survey_of_protection_measures_the_room_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """On flows from elsewhere the proof's inequality fails; the worst of the protected is kept."""
    rooms = []

    def from_elsewhere(X, y, w0, activation="relu") -> Trajectory:
        path = affine_flow(X, y, 0.5 * w0, activation=activation)
        if activation == "relu":
            w_gm = np.linalg.lstsq(X, y, rcond=None)[0]
            ball = np.linalg.norm(X, axis=1) * np.linalg.norm(w0 - w_gm)
            rooms.append(((path.at(path.grid(60)) @ X.T - (y - ball)) / y).min(axis=0))
        return path

    monkeypatch.setattr(activity, "affine_flow", from_elsewhere)
    monkeypatch.setattr(activity, "protected", lambda X, y, w0, w_gm: np.arange(len(y)) == 0)
    found = activity.survey_protection(12, 0)
    assert len(rooms) == found.with_protected == found.protected == 12
    assert found.smallest == pytest.approx(min(room[0] for room in rooms))
    assert min(room.min() for room in rooms) < found.smallest < -0.01


def test_survey_of_protection_sees_what_all_data_would_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Told that every datum is protected, it meets flows that leave the linear one."""
    monkeypatch.setattr(activity, "protected", lambda X, y, w0, w_gm: np.ones(len(y), bool))
    found = activity.survey_protection(15, 2)
    assert found.all_active == found.with_protected == found.flows == 15
    assert found.gap > 0.1
    assert found.final_loss > 0.1
    monkeypatch.setattr(activity, "protected", lambda X, y, w0, w_gm: np.zeros(len(y), bool))
    none = activity.survey_protection(5, 2)
    assert (none.flows, none.with_protected, none.protected, none.all_active) == (5, 0, 0, 0)
    assert none.smallest == np.inf


def test_survey_of_norms() -> None:
    norms = (1e-3, 1, 100)
    found = activity.survey_norms(6, 3, 4, 2, norms)
    assert found.norms.tolist() == [1e-3, 1, 100]
    assert found.start.shape == found.share.shape == found.excess.shape == (3, 6)
    # One direction for all norms: the columns are paired.
    assert np.all(found.start == found.start[0])
    assert np.all(found.start > 0)
    for share in (found.start, found.share):
        assert set((share * 4).ravel()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert np.all(found.excess >= -1e-12)
    assert np.all(found.excess <= 1 + 1e-12)
    assert np.all(found.share[0] >= found.share[2])
    assert found.share[2].mean() < found.share[0].mean()
    again, other = (
        activity.survey_norms(6, 3, 4, 2, norms),
        activity.survey_norms(6, 4, 4, 2, norms),
    )
    assert np.array_equal(found.share, again.share)
    assert np.array_equal(found.excess, again.excess)
    assert not np.array_equal(found.excess, other.excess)


def test_a_longer_survey_of_norms_begins_alike() -> None:
    """What a data set's flows give does not depend on the norms tried or on how many follow."""
    short, long = (
        activity.survey_norms(3, 3, 4, 2, (1,)),
        activity.survey_norms(5, 3, 4, 2, (0.1, 1)),
    )
    assert np.array_equal(short.excess[0], long.excess[1, :3])
    assert np.array_equal(short.share[0], long.share[1, :3])


def test_what_a_survey_of_norms_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    flows = []

    def recorded(X, y, w0) -> Trajectory:
        flows.append((X, y, np.array(w0), affine_flow(X, y, w0)))
        return flows[-1][-1]

    monkeypatch.setattr(activity, "affine_flow", recorded)
    found = activity.survey_norms(4, 9, 5, 3, (0.1, 2, 50))
    assert len(flows) == 12
    for k in range(4):
        for row, norm in enumerate((0.1, 2, 50)):
            X, y, w0, path = flows[3 * k + row]
            assert X.shape == (5, 3)
            fit = np.linalg.solve(X.T @ X, X.T @ y)
            assert np.linalg.norm(w0) == pytest.approx(norm * np.linalg.norm(fit))
            first = flows[3 * k]
            assert X is first[0]
            assert w0 / norm == pytest.approx(first[2] / 0.1)
            assert found.start[row, k] == np.mean(X @ w0 > 0)
            assert found.share[row, k] == np.mean(X @ path.end > 0)
            least = min(float(loss(X, y, m.w)) for m in local_minima(X, y))
            above = (float(loss(X, y, path.end)) - least) / float(loss(X, y, np.zeros(3)))
            assert found.excess[row, k] == pytest.approx(above, abs=1e-12)
    assert found.excess.max() > 0.01


def test_the_interval_of_a_mean() -> None:
    found = activity.survey_norms(1, 0, 1, 1, (1,))
    half = 1.96 / 3**0.5  # standard deviation 1 of (1, 2, 3), over the root of their number
    assert found.interval(np.array([1.0, 2.0, 3.0])) == pytest.approx((2, 2 - half, 2 + half))


# --- Statements -----------------------------------------------------------------------------------


def verdicts(settlement: dict) -> dict[str, bool]:
    """Which deciding pieces hold, under the settlement's own tolerance."""
    tolerance = settlement.get("tolerance")
    pieces = [e for e in settlement["evidence"] if e.decides]
    return {
        e.what: (replace(e, limit=tolerance) if e.form == "deviation" else e).holds for e in pieces
    }


def holds(settlement: dict, words: str) -> bool:
    """Whether the one deciding piece that these words name holds."""
    (found,) = (held for what, held in verdicts(settlement).items() if words in what)
    return found


def value(settlement: dict, words: str):
    (found,) = (e.value for e in (*settlement["evidence"], *settlement.get("instead", ()))
                if words in e.what)  # fmt: skip
    return found


def refuted_by(settlement: dict) -> tuple[list, list]:
    """Values of the counterexample by both routes, after checking that none of them holds."""
    found = settlement["counterexample"]
    assert all(found.assumptions.values())
    deciding = [[e for e in route if e.decides] for route in (found.breaks, found.recheck)]
    assert not any(e.holds for route in deciding for e in route)
    return tuple([e.value for e in route] for route in deciding)


@pytest.fixture(scope="module")
def started() -> small_plane.PlanarSurvey:
    return small_plane.survey_plane(0, 30)


def test_statements_on_small_starts(started: small_plane.PlanarSurvey) -> None:
    found = statements.small_start_is_global(started, 0, THREE.X, THREE.y)
    assert not holds(found, "not a global minimum")
    assert not holds(found, "data below")
    (by_flow,), (by_loop,) = refuted_by(found)
    assert (by_flow, by_loop) == pytest.approx((1 / 6, 1 / 6))
    good = replace(started, missed={"uniform": 0})
    assert holds(
        statements.small_start_is_global(good, 0, THREE.X, THREE.y), "not a global minimum"
    )

    kept = falsify(small_limits.never_reactivates(), 0, 10, 0)
    assert all(verdicts(statements.no_reactivation(started, kept, 0.01, 90)).values())
    assert not all(verdicts(statements.no_reactivation(started, kept, -1.0, 90)).values())
    again = replace(started, reactivating={"uniform": 1})
    assert not all(verdicts(statements.no_reactivation(again, kept, 0.01, 90)).values())
    broken = replace(kept, violations={"planted": 1})
    assert not all(verdicts(statements.no_reactivation(started, broken, 0.01, 90)).values())

    far = np.array([[1e5, 1.0], [0.0, 1.0]]), np.array([1e5, 1.0])
    assert all(verdicts(norms_evidence.at_rest(kept, started, *far, (1e-8, -9e-5))).values())
    assert not all(verdicts(norms_evidence.at_rest(kept, started, *far, (1e-11, -1e-11))).values())
    for worse in ("elsewhere", "reactivating"):
        broken = replace(started, **{worse: {"units": 1}})
        found = norms_evidence.at_rest(kept, broken, *far, (1e-8, -9e-5))
        assert list(verdicts(found).values()).count(False) == 1


def test_statement_of_proposition_4_4() -> None:
    X, y = TANGENT.X.astype(int), TANGENT.y.astype(int)
    found = statements.agreement_of_small_starts(X, y, (1, 1, 1), (1, 3, 3))
    assert not any(verdicts(found).values())
    (apart,), (same_fate, by_solver) = refuted_by(found)
    # The limits are the exact fits without and with x_1.
    lost, kept = (rational.fit(X, y, support).w for support in ((1, 2, 3), (0, 1, 2, 3)))
    exact = sum((a - b) ** 2 for a, b in zip(lost, kept, strict=True))
    assert apart == pytest.approx(float(exact) ** 0.5)
    assert same_fate is False
    assert by_solver > 1
    notes = [e.value for e in found["counterexample"].recheck if not e.decides]
    assert notes == [(2, 0)]


def test_small_starts_with_one_fate_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "integrate", lambda X, y, w0, t: affine_flow(X, y, w0).at(t))
    X, y = TANGENT.X.astype(int), TANGENT.y.astype(int)
    found = statements.agreement_of_small_starts(X, y, (1, 3, 3), (1, 3, 3))
    assert all(verdicts(found).values())
    broken = found["counterexample"]
    assert all(e.holds for e in (*broken.breaks, *broken.recheck) if e.decides)


def test_small_limits_see_what_they_ask() -> None:
    """The touch of Proposition 4.4 is outside the repair's hypothesis; a flow that re-activates a
    datum breaks Lemma 4.6's statement."""
    repair = small_limits.small_starts_agree(3)
    ways = np.array([[1.0, 1, 1], [1, 3, 3]])
    touching = {"X": TANGENT.X, "y": TANGENT.y, "U": ways}
    assert repair.unmet(touching) == "the flow from 0 crosses at speed"
    assert repair.fails(repair.slack(touching))
    crossing = {"X": RETURNS.X, "y": RETURNS.y, "U": ways}
    assert repair.unmet(crossing) is None
    assert not repair.fails(repair.slack(crossing))
    # In space a datum comes back: Example 5.3.
    again = {"X": RETURNS.X, "y": RETURNS.y, "u": np.ones(3)}
    assert small_limits.never_reactivates().broken_by(again)
    assert not small_limits.never_reactivates().broken_by(
        {"X": THREE.X, "y": THREE.y, "u": np.ones(2)}
    )


def test_data_are_lost_from_just_outside_the_ball() -> None:
    losses = activity.survey_lost_data(60, 1)
    assert losses.flows == 60
    assert losses.lost > 30
    assert 1.0 <= losses.smallest < 1.2


def test_statement_of_theorem_4_2() -> None:
    survey, losses = activity.survey_protection(10, 0), activity.survey_lost_data(40, 0)
    assert list(verdicts(statements.protection(survey, losses, 0)).values()) == [True] * 6
    # Without a lost datum the second half of the evidence is empty, and does not pass.
    for none in ({"lost": 0, "smallest": np.inf}, {"lost": 0, "smallest": 1.5}):
        empty = verdicts(statements.protection(survey, replace(losses, **none), 0))
        assert list(empty.values()).count(False) == 2
    near = replace(losses, smallest=0.99)
    assert list(verdicts(statements.protection(survey, near, 0)).values()).count(False) == 1
    for worse in ({"deactivated": 1}, {"smallest": -0.01}, {"gap": 0.1}, {"final_loss": 0.1}):
        broken = verdicts(statements.protection(replace(survey, **worse), losses, 0))
        assert list(broken.values()).count(False) == 1


def test_statement_on_the_norm_of_the_start() -> None:
    start = np.tile([0.5, 0.5, 0.25, 0.75], (2, 1))
    end = np.array([[1.0, 1.0, 1.0, 1.0], [0.25, 0.0, 0.25, 0.5]])
    survey = activity.NormSurvey(np.array([0.1, 10]), start, end, np.array([[0.0] * 4, [0.5] * 4]))
    found = statements.norm_of_start(survey, 0)
    assert all(verdicts(found).values())
    # Gains 1/2 and -1/4 in the mean, 3/4 between the norms: the end of each interval that decides.
    half = 1.96 * np.std([0.5, 0.5, 0.75, 0.25], ddof=1) / 2
    values = [e.value for e in found["evidence"] if e.decides]
    assert values == pytest.approx([0.5 - half, -0.25 + half, 0.75 - half])
    assert value(found, "loss gap") == (0.0, 0.5)
    # Were it the other way round, no clause would hold; were the norm without effect, not all.
    other = replace(survey, share=end[::-1])
    assert list(verdicts(statements.norm_of_start(other, 0)).values()) == [False, False, False]
    same = replace(survey, share=np.tile([0.5, 0.6, 0.4, 0.5], (2, 1)))
    assert list(verdicts(statements.norm_of_start(same, 0)).values()) == [False, False, False]
