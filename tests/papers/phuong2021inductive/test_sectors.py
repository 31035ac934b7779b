"""Extremal directions, sectors and dead starts: parity, planted errors, certificates."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow import ledger
from reluflow.falsify import falsify
from reluflow.flows.charts import TIME, Neurons
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.losses import LOGISTIC
from reluflow.papers.phuong2021inductive import figures, sectors, setting

SEEDS = st.integers(0, 2**32 - 1)
STATEMENTS = [
    sectors.in_opposite_orthants,
    sectors.separates_all,
    sectors.one_each,
    sectors.in_the_sectors,
    sectors.is_critical,
    sectors.off_boundaries,
    sectors.one_way,
    sectors.stays_in_the_sector,
]


@pytest.mark.parametrize("make", STATEMENTS, ids=lambda make: make.__name__)
def test_every_statement_survives_and_is_not_vacuous(make: Any) -> None:
    report = falsify(make(), 5, 48, 0)
    assert report.survives
    assert report.tried >= 30
    assert all(report.met.values()), report.met


def test_a_pair_that_breaks_os_breaks_what_rests_on_it() -> None:
    """Labels drawn afresh: more extremal directions, other sectors, rates of both signs."""

    def astray(draw: Any) -> Any:
        def one(rng: np.random.Generator) -> Any:
            item = draw(rng)
            return {**item, "y": rng.permutation(item["y"])}

        return one

    for make in (sectors.one_each, sectors.one_way):
        held = make()
        draws = {kind: astray(draw) for kind, draw in held.draws.items()}
        assert not falsify(replace(held, draws=draws), 5, 48, 0).survives, make.__name__


@given(SEEDS)
@settings(max_examples=25)
def test_enumeration_agrees_with_a_grid_in_the_plane(seed: int) -> None:
    found, *_ = sectors.grid_agrees(seed, 1)
    assert found.holds


@given(SEEDS)
@settings(max_examples=10)
def test_enumerated_directions_in_space_are_strict_maxima(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((5, 3)), rng.choice([-1.0, 1.0], 5)
    for sign in (1.0, -1.0):
        for w in setting.extremal_directions(X, y, sign):
            steps = rng.standard_normal((300, 3)) * 1e-4
            steps -= np.outer(steps @ w, w)
            around = w + steps
            around /= np.linalg.norm(around, axis=1)[:, None]
            heights = sign * setting.height(X, y, around)
            assert np.all(heights < sign * setting.height(X, y, w))


def test_a_line_has_four_extremal_directions() -> None:
    assert sectors.on_a_line()[0].holds


def test_horns_matrix_is_copositive_as_its_two_forms_say() -> None:
    rng = np.random.default_rng(0)
    for v in rng.integers(-9, 10, (50, 5)).tolist():
        a, b, c, d, e = v
        assert sectors.value(v) == (a - b + c + d - e) ** 2 + 4 * b * d + 4 * c * (e - d)
        assert sectors.value(v) == (a - b + c - d + e) ** 2 + 4 * b * e + 4 * a * (d - e)


@given(SEEDS)
def test_points_of_an_orthant_have_no_certificate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert sectors.certificate(rng.integers(0, 9, (5, 4)).tolist()) >= 0


def test_five_points_leave_every_orthant_and_fewer_do_not() -> None:
    sectors.in_no_orthant().check()
    assert sectors.spread_of_a_basis(sectors.FIVE[:4]) <= 1.0
    assert sectors.spread_of_a_basis(np.eye(3, dtype=int) + 1) <= 1.0


@pytest.mark.parametrize("d", [1, 2, 4])
def test_local_formula_fails_beyond_the_first_boundary(d: int) -> None:
    X, w, v = [[1] * d], [1] * d, [-1] * d
    largest = sectors.eps_max(X, w, v)
    assert largest == Fraction(1, 2)
    assert sectors.formula_holds(X, [1], w, v, largest)
    assert not sectors.formula_holds(X, [1], w, v, 3 * largest)


def test_sliding_follows_the_projection_and_not_the_plain_sum() -> None:
    rng = np.random.default_rng(1)
    for repeated in (False, True):
        item = sectors.sliding_start(rng, repeated)
        coarse, way = sectors.slides(item, 1e-3)
        fine, _ = sectors.slides(item, 2.5e-4)
        assert fine < 0.01 * way
        assert fine < 0.6 * coarse
        moved = {**item, "W": item["W"] + 1e-3 * item["X"][1]}
        off = sectors.velocity(item["X"], item["y"], moved["W"], item["a"])[0]
        on = sectors.velocity(item["X"], item["y"], item["W"], item["a"])[0]
        assert np.linalg.norm(off - on) > 0.01


def test_heron_knows_points_of_a_line() -> None:
    assert sectors.squared_area(0, 1, -1) == 0
    assert sectors.flat(np.array([[0.0], [1.0], [-1.0]])) == 1
    assert sectors.flat(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])) == 2


def test_event_logs_keep_their_own_data() -> None:
    found = sectors.flows(2, 3)
    lost, gained, left, reach = sectors.log_of(found)
    assert (lost, gained, left) == (0, 0, 0)
    assert reach == pytest.approx(sectors.DEEP, rel=1e-3)
    wrong = [replace(late, given=replace(late.given, signs=-late.given.signs)) for late in found]
    assert sum(sectors.log_of(wrong)[:2]) > 0


@given(st.floats(90.0, 170.0), st.floats(0.5, 4.0))
@settings(max_examples=8)
def test_arcs_by_hand_are_the_fates_of_the_limit_flow(gap: float, width: float) -> None:
    X, y = sectors.plane(gap, width)
    shares = sectors.chances(X, y)
    around = 360
    grid = 2.0 * np.pi * (np.arange(around) + 0.5) / around
    U = np.stack([np.cos(grid), np.sin(grid)], axis=1)
    for k, sign in enumerate((1.0, -1.0)):
        dead = [sectors.align(X, y, u, sign).status == "dead" for u in U]
        assert abs(sum(dead) / around - shares[k]) <= 2.0 / around


def test_signs_chosen_afterwards_beat_the_bound() -> None:
    around, angles = (item.value for item in sectors.chosen_signs())
    assert abs(around - angles) <= 2.0 / 360.0
    assert min(around, angles) > 0.7
    angle = sectors.arc_of_either([(1, 0)], [(0, 1)])
    assert angle == pytest.approx(0.75)
    assert sectors.chances(*sectors.plane(179.0, 4.0)) == (0.0, 0.0, 0.0)


def test_the_neuron_of_the_counterexample_dies_at_a_finite_scale() -> None:
    """The chosen signs, by the full flow from norm e^-8: silent from 101.3 degrees to 360."""
    X, y = sectors.INTEGERS / 33.0, sectors.LABELS
    for degrees, dies in ((90.0, False), (106.0, True), (180.0, True), (229.0, True)):
        assert _dies(X, y, degrees, 1.0) == dies, degrees
    for degrees, dies in ((231.0, True), (275.0, True), (350.0, True), (5.0, False)):
        assert _dies(X, y, degrees, -1.0) == dies, degrees


def _dies(X: Any, y: Any, degrees: float, sign: float) -> bool:
    turn = np.radians(degrees)
    signs = np.array([sign])
    given = sectors.Directions(X, y, np.array([[np.cos(turn), np.sin(turn)]]), signs)
    field = GradientFlow(Neurons(signs, 2), LOGISTIC, X, y, TIME)
    path = integrate(field, field.chart.coordinates(np.append(given.W0[0], sign), -8.0), 40.0,
                     at_zero=0.0, rtol=1e-7)  # fmt: skip
    return path.status == "converged"


def test_networks_are_dead_where_all_their_neurons_are() -> None:
    dead = np.array([True, True, False, True, True, True, True])
    assert sectors.networks_dead(dead, 2) == (2, 3)
    assert sectors.networks_dead(dead, 3) == (1, 2)


def test_one_neuron_serves_one_label() -> None:
    late = sectors.positive_only(1)
    assert late.alive == (1.0,)
    assert sectors.loss_of_negatives(late) == pytest.approx(2.0 * np.log(2.0))
    chance = sectors.both_groups(0.5, 0.5, np.array([1.0, 2.0, 3.0]))
    assert chance == pytest.approx([0.0, 0.5, 0.75])
    assert sectors.both_groups(0.3, 0.4, np.array([1.0, 2.0])) == pytest.approx([0.0, 0.24])


def test_one_classifier_is_a_combination_of_two_and_another_limit_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Theorem 1 allows a weight 0, so the abstract is read with it, and not refuted."""
    claims = ledger.open("phuong2021inductive", seed=0)
    evidence = sectors.one_or_two(0, 100)
    row = claims.settle("os.thm1.nonempty", evidence, reading=sectors.ONE_IS_ENOUGH)
    assert row.verdict == "reproduced-with-reading"
    late = sectors.positive_only(1)
    turned = replace(late, U=late.U[..., ::-1])
    monkeypatch.setattr(sectors, "positive_only", lambda p: turned)
    assert [item.holds for item in sectors.one_or_two(0, 100) if item.decides].count(False) == 1


def test_the_size_that_is_needed_falls_with_the_angle() -> None:
    first, second = (sectors.needed(sectors.beside(each), 2) for each in (-2.0, -5.0))
    assert 2.0 < first - second < 4.0
    given = sectors.beside(-2.0)
    assert sectors.at_home(given, first - 1.0).all()


def test_a_size_fixed_first_is_too_large_and_chosen_last_is_not() -> None:
    """By the neurons' sectors; the waiting one comes home in time if the angle is not too small."""
    assert sectors.fixed_size_size_comes_last()[0].holds
    for size in (1e-2, 1e-4):
        home = sectors.together(size, size**1.5)
        assert not home.all(axis=1).any()
        assert home[:, :2].any(axis=0).all()
        assert not home[:, 2].any()
    assert sectors.together(1e-4, 1e-2).all(axis=1).any()


def test_the_instance_of_a_fixed_size_breaks_os_and_has_one_extremum_of_each_sign() -> None:
    pairs = (
        sectors.FIXED_SIZE_X
        @ sectors.FIXED_SIZE_X.T
        * np.outer(sectors.FIXED_SIZE_Y, sectors.FIXED_SIZE_Y)
    )
    assert pairs[0, 1] < 0.0 < pairs[0, 2]
    goals = [
        setting.extremal_directions(sectors.FIXED_SIZE_X, sectors.FIXED_SIZE_Y, s)
        for s in (1.0, -1.0)
    ]
    assert [len(each) for each in goals] == [1, 1]
    degrees = [np.degrees(np.arctan2(u[0, 1], u[0, 0])) for u in goals]
    np.testing.assert_allclose(degrees, [-13.0, 84.13], atol=0.01)


def test_pictures_are_drawn() -> None:
    X, y = sectors.plane(100.0, 20.0)
    assert len(figures.hills([("one", X, y), ("two", X, y)]).axes) == 4


def test_one_neuron_that_leaves_its_sector_is_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    own = np.array([[True, False], [False, True]])  # active on the data of its own sign
    left = own.copy()
    left[0, 0] = False
    given = SimpleNamespace(y=np.array([1.0, -1.0]), signs=np.array([1.0, -1.0]))
    late = SimpleNamespace(given=given, tau=np.array([1.0, 2.0]))
    monkeypatch.setattr(sectors, "patterns", lambda _: [(0.0, own), (1.0, own), (2.0, left)])
    lost, gained, gone, _ = sectors.log_of([late])
    assert (lost, gained, gone) == (1, 0, 1)
