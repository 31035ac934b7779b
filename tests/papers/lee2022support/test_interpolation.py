"""Theorems 4.2 and 4.3: the ball around w_GM, its sharpness, and the surveys of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reluflow.falsify import falsify
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Event, Trajectory
from reluflow.ledger import Evidence
from reluflow.papers.lee2022support import starts
from reluflow.papers.lee2022support.setting import deactivated
from reluflow.papers.lee2022support.starts import protected


def verdicts(evidence: Sequence[Evidence]) -> list[bool]:
    return [item.holds for item in evidence if item.decides]


def test_protected_by_hand() -> None:
    # Radii y_j / |x_j| of 1 and 7/5 around w_GM = (1, 1).
    X, y, w_gm = [[1, 0], [3, 4]], [1, 7], [1, 1]
    assert protected(X, y, [1, 1.5], w_gm).tolist() == [True, True]
    assert protected(X, y, [1, 2.2], w_gm).tolist() == [False, True]
    assert protected(X, y, [1, 2.5], w_gm).tolist() == [False, False]
    assert protected(X, y, [1, 2], w_gm).tolist() == [False, True]  # it is strict


def test_an_inactive_datum_is_not_protected() -> None:
    """Its own hypothesis, x_j.w0 > 0; with X w_GM = y it follows from (6), so here it does not."""
    assert protected([[1, 0], [0, 1]], [9, 9], [-1, 1], [1, 1]).tolist() == [False, True]


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0, 1.5))
def test_inside_the_radius_a_datum_is_active(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    X, w_gm = rng.uniform(0.1, 1, (4, 3)), rng.uniform(0.1, 1, 3)
    radii = X @ w_gm / np.linalg.norm(X, axis=1)
    step = rng.normal(size=3)
    w0 = w_gm + share * radii.min() * step / np.linalg.norm(step)
    safe = protected(X, X @ w_gm, w0, w_gm)
    assert safe.all() or share >= 1 - 1e-9
    assert np.all(X[safe] @ w0 > 0)
    assert not safe[deactivated(affine_flow(X, X @ w_gm, w0))].any()


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
    assert protected(X, y, w0, w_gm).tolist() == [False, True]
    assert deactivated(affine_flow(X, y, w0)) == [0]
    # A radius larger by that ratio would have promised it.
    assert protected(X * [[1 / ratio**1.01], [1]], y, w0, w_gm)[0]
    # From just inside, along the same direction, it stays.
    near = w_gm + (w0 - w_gm) / ratio * 0.999
    assert protected(X, y, near, w_gm).all()
    assert not affine_flow(X, y, near).events


def test_survey_of_protection() -> None:
    found = starts.survey_protection(30, 0)
    some = found["protected"] > 0
    assert len(found) == 30
    assert found["protected"].sum() > some.sum() > 0
    assert 0 < found["gap"].count() < some.sum()
    assert found["gap"].count() == found["final_loss"].count()
    assert found["deactivated"].sum() == 0
    assert -1e-12 <= found["room"].min() < 0.1
    assert found["gap"].max() < 1e-9
    assert found["final_loss"].max() < 1e-9
    pd.testing.assert_frame_equal(found, starts.survey_protection(30, 0))
    assert not found.equals(starts.survey_protection(30, 1))


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

    monkeypatch.setattr(starts, "protected", remembered)
    monkeypatch.setattr(starts, "affine_flow", with_an_event)
    lost = starts.survey_protection(12, 0)["deactivated"].sum()
    assert lost == sum(safe_first)
    assert 0 < lost < 12


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

    monkeypatch.setattr(starts, "affine_flow", from_elsewhere)
    monkeypatch.setattr(starts, "protected", lambda X, y, w0, w_gm: np.arange(len(y)) == 0)
    found = starts.survey_protection(12, 0)
    assert len(rooms) == len(found) == found["protected"].sum() == 12
    assert found["room"].tolist() == pytest.approx([room[0] for room in rooms])
    assert min(room.min() for room in rooms) < found["room"].min() < -0.01


def test_survey_of_protection_sees_what_all_data_would_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Told that every datum is protected, it meets flows that leave the linear one."""
    everything = lambda X, y, w0, w_gm: np.ones(len(y), bool)  # noqa: E731
    monkeypatch.setattr(starts, "protected", everything)
    found = starts.survey_protection(15, 2)
    assert found["gap"].count() == len(found) == 15
    assert found["gap"].max() > 0.1
    assert found["final_loss"].max() > 0.1
    nothing = lambda X, y, w0, w_gm: np.zeros(len(y), bool)  # noqa: E731
    monkeypatch.setattr(starts, "protected", nothing)
    none = starts.survey_protection(5, 2)
    assert none["protected"].tolist() == [0] * 5
    assert none.drop(columns="protected").isna().all(axis=None)
    lost = starts.survey_lost_data(5, 0)
    assert starts.protection(none, lost, 0)[1].value == np.inf  # no slack is no slack


def test_data_are_lost_from_just_outside_the_ball() -> None:
    lost = starts.survey_lost_data(60, 1)
    assert len(lost) == 60
    assert lost["lost"].sum() > 30
    assert 1.0 <= lost["nearest"].min() < 1.2
    assert np.array_equal(np.isinf(lost["nearest"]), lost["lost"] == 0)


def test_statement_of_theorem_4_2() -> None:
    kept, lost = starts.survey_protection(10, 0), starts.survey_lost_data(40, 0)
    assert verdicts(starts.protection(kept, lost, 0)) == [True] * 6
    # Without a lost datum the second half of the evidence is empty, and does not pass.
    for none in ({"lost": 0, "nearest": np.inf}, {"lost": 0, "nearest": 1.5}):
        empty = verdicts(starts.protection(kept, lost.assign(**none), 0))
        assert empty.count(False) == 2
    near = lost.assign(lost=1, nearest=0.99)
    assert verdicts(starts.protection(kept, near, 0)).count(False) == 1
    for worse in ({"deactivated": 1}, {"room": -0.01}, {"gap": 0.1}, {"final_loss": 0.1}):
        broken = verdicts(starts.protection(kept.assign(**worse), lost, 0))
        assert broken.count(False) == 1


def test_limits_lie_outside_the_ball():
    assert falsify(starts.limits_outside(), 3, 45, 9).survives
    assert starts.starts_at_equality(15, 0) == (15, 0)
    pairs = starts.survey_exclusion(30, 0)
    assert len(pairs) == 30
    assert pairs.reached.any()
    assert not (pairs.holds & pairs.reached).any()
    whole = [item.holds for item in starts.exclusion((15, 0), pairs) if item.decides]
    assert whole == [True, True]
    planted = pairs.assign(holds=True)
    broken = [item.holds for item in starts.exclusion((15, 1), planted) if item.decides]
    assert broken == [False, False]


def test_a_larger_ball_is_contradicted():
    """The limit's data off must not be promised twice the distance."""
    right = starts.limits_outside()
    wrong = replace(right, slack=lambda i: (1.0 + right.slack(i)) / 2.0 - 1.0)
    assert falsify(wrong, 3, 45, 0).violations


def test_equality_survey_sees_a_lost_datum(monkeypatch):
    behind = {"X": np.eye(2), "w_gm": np.ones(2), "w0": np.array([-1e-3, 1.0])}
    monkeypatch.setattr(starts, "_at_equality", lambda rng: behind)
    assert starts.starts_at_equality(2, 0) == (2, 2)


def test_starts_lie_as_far_from_the_fit_as_theorem_4_3_asks() -> None:
    """Anywhere: past the largest y_j/|x_j|; at equality: as far as one of them; past a boundary:
    just beyond that of one datum, which is off there."""
    rng = np.random.default_rng(5)
    draws = starts.limits_outside().draws
    for name, draw in draws.items():
        for item in (draw(rng) for _ in range(40)):
            X, w, w0 = item["X"], item["w_gm"], item["w0"]
            radii = X @ w / np.linalg.norm(X, axis=1)
            shares = np.linalg.norm(w0 - w) / radii
            if name == "anywhere":
                assert 1.0 - 1e-12 <= shares.min() <= 10.0**1.5 + 1e-9
            elif name == "at equality":
                assert np.isclose(shares, 1.0, rtol=1e-12, atol=0.0).any()
            else:
                assert (X @ w0 < 0).any()
                assert shares[X @ w0 < 0].max() > 1.0
