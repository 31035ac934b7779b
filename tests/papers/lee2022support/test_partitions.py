"""Cells, neighbours and minima: Lemmas 3.2, 4.5, F.1, F.2, Proposition F.3, Theorem 3.4.

Every count has a second, plainer one here, and every statement a false variant that is found.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from itertools import combinations

import numpy as np
import pytest
from reluflow import ledger, rational
from reluflow.falsify import falsify, settle
from reluflow.figures import cut_off
from reluflow.geometry import cell_bound, enumerate_cells, local_minima, parallel_classes
from reluflow.instances import Instance, draw_many
from reluflow.networks import gradient, loss
from reluflow.papers.lee2022support import figures, geometry, minima
from reluflow.papers.lee2022support.setting import best_of_many

THREE = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
ALL_HOLD = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.array([2.0, 1.0, 2.0])
FOUR = np.array([[6.0, 1.0], [3.0, 2.0], [2.0, 3.0], [1.0, 6.0]])


def survives(statement, count: int, evaluations: int = 0, seed: int = 1) -> bool:
    report = falsify(statement, seed, count, evaluations)
    assert report.tried > 0
    assert not report.vacuous
    return report.survives


def holding(evidence) -> list[bool]:
    return [item.holds for item in evidence if item.decides]


# --- Figure 1 -------------------------------------------------------------------------------------


def test_statement_on_the_terms() -> None:
    """Figure 1: two data have a point, two half-lines and a plateau; six have twelve cells."""
    angles = np.deg2rad([4, 20, 38, 55, 70, 86])
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    y = np.array([0.4, 1.2, 0.8, 0.5, 1.4, 0.7])
    three = Instance(THREE, np.array([2.0, 1.0, 1.0]), "by hand")
    pairs = list(draw_many(5, 2, 0, sizes=(2, 2)))
    found = geometry.terminology(X, y, np.array([-0.8, 1.4]), pairs)
    assert holding(found) == [True] * 3
    odd = geometry.terminology(X[:5], y[:5], np.array([2.0, 2.0]), [*pairs, three])
    assert holding(odd)[:2] == [False, False]
    # The virtual minimum of a cell that contains it.
    at_home = geometry.terminology(three.X, three.y, np.array([1.0, 1.0]), pairs)
    assert holding(at_home) == [True, False, False]


# --- Lemma F.1 ------------------------------------------------------------------------------------


def test_lemma_f1_falls_on_the_smallest_parallel_data():
    report = falsify(geometry.one_datum_between_cells(), 0, 30, 0)
    assert report.counterexample["X"].tolist() == [[1.0], [2.0]]
    row = settle(ledger.open("lee2022support"), "sv.lemF.1", report, case=geometry.on_a_line)
    assert row.verdict == "refuted"
    assert [item.value for item in row.counterexample.breaks] == [2]


def test_lemma_f1_survives_where_no_two_data_are_parallel():
    statement = geometry.one_datum_between_cells()
    apart = {"not parallel": lambda item: len(parallel_classes(item["X"])) == len(item["X"])}
    draws = {k: v for k, v in statement.draws.items() if "d = 1" not in k}
    assert survives(replace(statement, draws=draws, hypotheses=apart), 60)


def test_our_adjacency_survives_and_sees_a_wrong_class(monkeypatch):
    statement = geometry.one_class_between_cells()
    assert survives(statement, 60)
    with monkeypatch.context() as m:
        m.setattr(geometry, "parallel_classes", lambda X: [frozenset({i}) for i in range(len(X))])
        assert not survives(statement, 60)
    with monkeypatch.context() as m:  # "only if" alone is not enough
        m.setattr(geometry, "adjacent_pairs", lambda X: [])
        assert not survives(statement, 60)


# --- Lemma F.2 ------------------------------------------------------------------------------------


def test_lemma_f2_survives_and_a_tighter_bound_does_not(monkeypatch):
    assert survives(geometry.few_cells(), 80)
    with monkeypatch.context() as m:
        m.setattr(geometry, "cell_bound", lambda n, d: cell_bound(n, d) - 1)
        assert not survives(geometry.few_cells(), 40)
    with monkeypatch.context() as m:
        m.setattr(geometry, "count_by_ranks", lambda X: len(enumerate_cells(X)) + 1)
        assert not survives(geometry.few_cells(), 10)


# --- Lemma 4.5 ------------------------------------------------------------------------------------


def test_cells_of_a_quadrant_by_hand():
    # On (-a, b) the datum (1, 1) is active where b > a, (0, 1) always, (1, 0) never.
    assert geometry.quadrant_cells(THREE, 2) == {frozenset({1}), frozenset({1, 2})}
    assert geometry.quadrant_cells(THREE, 4) == {frozenset({0}), frozenset({0, 2})}
    assert geometry.quadrant_cells_by_angle(THREE, 2) == {frozenset({1}), frozenset({1, 2})}


@pytest.mark.parametrize("X", [FOUR, [[1, 0]], [[0, 2], [0, 1]], [[1, 1], [2, 2], [1, 3], [1, 0]]])
def test_cells_of_a_quadrant_agree_with_a_walk_through_it(X):
    X = np.array(X, float)
    for quadrant, (u, v) in {2: (-1, 1), 4: (1, -1)}.items():
        t = np.deg2rad(np.arange(0.05, 90.0, 0.1))
        W = np.column_stack([u * np.cos(t), v * np.sin(t)])
        walked = {frozenset(np.flatnonzero(X @ w > 0).tolist()) for w in W}
        assert geometry.quadrant_cells(X, quadrant) == walked
        assert geometry.quadrant_cells_by_angle(X, quadrant) == walked


def test_lemma_45_survives_and_needs_A1_and_one_quadrant(monkeypatch):
    statement = geometry.nested_in_quadrants()
    assert survives(statement, 90)
    both = geometry.quadrant_cells(THREE, 2) | geometry.quadrant_cells(THREE, 4)
    with monkeypatch.context() as m:
        m.setattr(geometry, "quadrant_cells", lambda X, q: both)
        m.setattr(geometry, "quadrant_cells_by_angle", lambda X, q: both)
        assert statement.broken_by({"X": THREE})  # cells of two quadrants are not nested
    with monkeypatch.context() as m:
        m.setattr(geometry, "quadrant_cells_by_angle", lambda X, q: set())
        assert not survives(statement, 10)
    left = {"X": np.array([[-1.0, 0.5], [2.0, 3.0]])}  # without A1 each is active alone
    cells = geometry.quadrant_cells(left["X"], 2)
    assert {frozenset({0}), frozenset({0, 1})} <= cells or len(cells) > 1
    mixed = geometry.quadrant_cells(np.array([[-1.0, -2.0], [1.0, 3.0]]), 2)
    assert any(not (a <= b or b <= a) for a, b in combinations(mixed, 2))


# --- Proposition F.3 ------------------------------------------------------------------------------


def test_minima_on_a_line_are_counted_in_closed_form():
    """d = 1, A1: the half-line w <= 0 holds minima unless it falls into w > 0, which holds one if
    sum x_i y_i > 0."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(1, 5))
        X, y = rng.integers(1, 4, (n, 1)).astype(float), rng.integers(-3, 4, n).astype(float)
        rising = float(X[:, 0] @ y) > 0
        assert geometry.cells_with_minima(X, y) == 1 + rising


def test_descents_end_in_the_cells_that_hold_minima():
    rng, met = np.random.default_rng(4), set()
    for _ in range(10):
        X = rng.uniform(0.1, 1.0, (4, 2))
        y = rng.choice([-1.0, 0.0, 1.0, 2.0], 4)
        kinds = {m.support for m in local_minima(X, y)}
        ends = set()
        W = rng.normal(size=(12, 2)) * 3
        for _ in range(2500):
            W -= 0.2 * (np.where(W @ X.T > 0.0, W @ X.T - y, 0.0) @ X)
        for w in W:
            # A descent at a kink of a label below zero goes to and fro; one in a valley is slow.
            if np.abs(X @ w).min() > 1e-6 and np.linalg.norm(gradient(X, y, w)) < 1e-7:
                ends.add(tuple(np.flatnonzero(X @ w > 0).tolist()))
        assert ends <= kinds
        met |= ends
        m = int((y > 0).sum())
        assert len(kinds) <= (cell_bound(m, 2) if m else 1)
    assert len(met) >= 4


def test_proposition_f3_survives_and_plus_one_is_for_no_positive_label():
    assert survives(geometry.few_minima(), 28)
    assert survives(geometry.minima_in_positive_cells(), 28)
    without = geometry.few_minima(extra=0)
    report = falsify(without, 1, 28, 0)
    assert report.violations
    assert (report.worst["y"] <= 0).all()
    positive = {"a positive label": lambda item: bool((item["y"] > 0).any())}
    assert survives(replace(without, hypotheses=positive), 28)
    assert not survives(geometry.few_minima(extra=-1), 28)


def test_only_positive_labels_make_room_for_minima():
    item = {"X": np.eye(2), "y": np.array([1.0, 0.0])}  # minima in the cells {1} and {} alone
    assert geometry.minima_in_positive_cells().slack(item) == 0
    assert geometry.few_minima().slack(item) == 1


def test_a_minimum_on_a_boundary_lies_in_one_partition():
    """All w <= 0 are minima of data x = 1, 1, y = 1, -2; the boundary counts as inactive."""
    X, y = np.ones((2, 1)), np.array([1.0, -2.0])
    assert geometry.cells_with_minima(X, y) == 1


def test_cones_survive_and_a_wrong_half_space_does_not(monkeypatch):
    statement = geometry.cells_are_cones()
    assert survives(statement, 90)
    shifted = {**statement.draws[next(iter(statement.draws))](np.random.default_rng(0))}
    shifted.update(w=np.ones_like(shifted["w"]), v=-np.ones_like(shifted["v"]))
    shifted["share"] = np.array(0.5)
    assert statement.broken_by(shifted)  # two weights of different cells: the middle is in neither
    assert statement.broken_by({**shifted, "v": shifted["w"], "factor": np.array(-1.0)})


def test_a_label_above_zero_is_not_convex():
    statement = geometry.labels_convex()
    assert survives(statement, 200, 50)
    flipped = replace(statement, hypotheses={})
    assert flipped.broken_by({"t": np.array([-1.0, 1.0]), "y": np.array([1.0]),
                              "share": np.array([0.5])})  # fmt: skip


def test_all_six_cells_hold_a_minimum():
    X, y = ALL_HOLD
    report = falsify(geometry.minima_in_positive_cells(), 0, 12, 0)
    claims, more = ledger.open("lee2022support"), geometry.all_cells_hold_minima(X, y)
    assert settle(claims, "sv.ours.minima.count", report, more=more).verdict == "survived"
    assert [e.value for e in more if "data below" in e.what] == [6, 6]
    few = geometry.all_cells_hold_minima(X, np.array([1.0, 3.0, 1.0]))
    assert [e.value < 6 for e in few if "data below" in e.what] == [True, True]


# --- Lemma 3.2 ------------------------------------------------------------------------------------


def test_the_fall_is_the_difference_of_losses():
    rng = np.random.default_rng(5)
    for _ in range(40):
        X, y = rng.uniform(0, 1, (4, 2)), rng.uniform(0.1, 2, 4)
        w = rng.normal() * np.array([-X[0, 1], X[0, 0]])
        eps = rng.uniform(0.01, 1.0)
        fall, promise, size = minima.fall_from_boundary(X, y, w, 0, eps)
        plain = loss(X, y, w) - min(loss(X, y, w + eps * X[0]), loss(X, y, w - eps * X[0]))
        assert fall == pytest.approx(plain, abs=1e-12)
        kappa = sum(float(x @ X[0]) ** 2 for x in X)
        assert promise == pytest.approx(0.5 * eps * (y[0] * X[0] @ X[0] - eps * kappa))
        assert fall >= promise - 1e-12
        assert size > 0


def test_restricted_minima_are_all_of_them():
    """Against a fine walk along each boundary line of three data in the plane, and the origin."""
    X, y = THREE, np.array([2.0, 1.0, 1.0])
    found = list(minima.restricted_minima(X, y))
    assert sum(on.all() for _, on in found) == 1
    for j in range(3):
        along = np.array([-X[j, 1], X[j, 0]]) / np.linalg.norm(X[j])
        s = np.linspace(-4, 4, 80001)
        values = loss(X, y, s[:, None] * along)
        walked = s[1:-1][(values[1:-1] < values[:-2]) & (values[1:-1] < values[2:])]
        points = sorted(float(w @ along) for w, on in found if on[j] and not on.all())
        isolated = [p for p in points if any(abs(p - v) < 2e-4 for v in walked)]
        assert len(isolated) == len(walked)
    mine = [w for w, on in found if on[1] and not on.all()]
    assert any(np.allclose(w, [1.5, 0.0]) for w in mine)


def test_the_figures_boundary_minimum_is_left_exactly():
    X, y = THREE.astype(int), [2, 1, 1]
    here = rational.neuron_loss(X, y, (F(3, 2), F(0)))
    assert here == F(3, 4)
    for s in (F(1, 4), F(1, 400), F(1, 10**6)):
        assert rational.neuron_loss(X, y, (F(3, 2), -s)) < here
        assert rational.neuron_loss(X, y, (F(3, 2), s)) < here


def test_lemma_32_survives_and_false_variants_do_not(monkeypatch):
    assert survives(minima.no_minimum_on_boundaries(), 14)
    statement = minima.lower_beside_boundaries()
    assert survives(statement, 150, 50)
    fall = minima.fall_from_boundary
    for factor in (1.01, -1.0):  # a promise one per cent larger; a loss that rises

        def wrong(*item, factor=factor):
            drop, promise, size = fall(*item)
            return (drop, promise * factor, size) if factor > 0 else (-drop, promise, size)

        with monkeypatch.context() as m:
            m.setattr(minima, "fall_from_boundary", wrong)
            assert not survives(statement, 150)
            if factor < 0:
                assert not survives(minima.no_minimum_on_boundaries(), 7)


def test_without_A2_a_boundary_holds_minima():
    X, y = np.ones((1, 1)), np.array([-1.0])
    assert minima.fall_from_boundary(X, y, [0.0], 0, 0.1)[0] <= 0.0


def test_exact_steps_leave_every_boundary_point(monkeypatch):
    tried, wrong = minima.exact_falls(0, 4)
    assert tried >= 40
    assert wrong == 0
    monkeypatch.setattr(rational, "neuron_loss", lambda X, y, w: F(1))
    assert minima.exact_falls(0, 4) == (tried, tried)


# --- Theorem 3.4 ----------------------------------------------------------------------------------


def test_theorem_34_falls_on_one_datum():
    report = falsify(minima.relu_below_linear(), 0, 20, 0)
    assert report.counterexample["X"].tolist() == [[1.0]]
    assert report.counterexample["y"].tolist() == [1.0]
    claims = ledger.open("lee2022support")
    row = settle(claims, "sv.thm3.4.1", report, case=minima.zero_linear_loss)
    assert row.verdict == "refuted"


def test_the_repairs_of_theorem_34_survive_and_their_converses_do_not():
    assert survives(minima.relu_not_above_linear(), 32, 8)
    unfit = minima.relu_below_linear_where_unfit()
    assert survives(unfit, 32, 8)
    larger = replace(unfit, slack=lambda item: -minima.gain_of_relu(item))
    assert not survives(larger, 32)
    *_, not_positive = unfit.hypotheses.values()
    positive = {"fit positive": lambda item: not not_positive(item)}
    assert not survives(replace(unfit, hypotheses=positive), 16)


def test_a_positive_linear_fit_can_lose_too():
    y = np.array([2.0, 1.0, 1.0])
    h, linear = minima.linear_fit(THREE, y)
    assert h == pytest.approx([4 / 3, 1 / 3, 5 / 3])
    assert linear == pytest.approx(2 / 3)
    assert minima.least_relu_loss(THREE, y) == pytest.approx(0.5)
    item = {"X": THREE, "y": y}
    assert minima.gain_of_relu(item) == pytest.approx((2 / 3 - 1 / 2) / 3)


def test_the_least_relu_loss_agrees_with_many_descents():
    rng = np.random.default_rng(6)
    for _ in range(4):
        X, y = rng.uniform(0.2, 1.0, (4, 2)), rng.uniform(0.1, 2.0, 4)
        starts = rng.normal(size=(60, 2)) * 5
        _, least = best_of_many(X, y, starts, 0.3, 4000)
        assert minima.least_relu_loss(X, y) == pytest.approx(least, abs=1e-4)


def test_draws_of_unfit_data_are_unfit_even_where_few():
    """As few as a low effort makes; without labels made for it seed 16 drew none of 30."""
    report = falsify(minima.relu_below_linear_where_unfit(), 16, 30, 0)
    assert report.tried >= 5
    assert report.survives


def test_a_fit_of_exactly_zero_is_strict():
    assert falsify(minima.relu_below_linear_where_unfit(), 0, 60, 0).survives
    evidence = minima.fit_zero_on_second(THREE, np.array([3.0, 1.0, 1.0]))
    assert all(holding(evidence))
    other = minima.fit_zero_on_second(THREE, np.array([1.0, 1.0, 2.0]))
    assert not all(holding(other))


# --- Evidence and figures -------------------------------------------------------------------------


def test_what_is_measured_beside_the_reports_settles():
    def settled(id, statement, count, more):
        return settle(claims, id, (statement, count, 0), more=more).verdict

    claims = ledger.open("lee2022support")
    (alone,) = geometry.without_A1()
    assert alone.value == (3, 2)
    assert settled("sv.lemF.2", geometry.few_cells(), 20, [alone]) == "reproduced"
    order = geometry.nested_in_quadrants(), 20, geometry.cells_of_the_figure(FOUR)
    assert settled("sv.lem4.5", *order) == "reproduced"
    steps = minima.left_downwards(0, 3)
    leave = minima.no_minimum_on_boundaries(), 7, steps
    assert settled("sv.lem3.2", *leave) == "reproduced"
    # Three data have six cells.
    (cells,) = (e for e in geometry.cells_of_the_figure(THREE) if e.decides)
    assert (cells.value, cells.holds) == (6, False)


def test_boundary_angles_run_once_around():
    angles = figures.boundary_angles([[1, 1], [2, 2], [1, 0]])
    assert angles.tolist() == [135.0, 90.0, -45.0, -90.0]
    assert len(figures.boundary_angles(FOUR)) == len(enumerate_cells(FOUR))


def test_the_figures_name_all_cells_and_cut_off_nothing():
    figure = figures.circle_of_cells(FOUR)
    words = [t.get_text() for t in figure.axes[0].texts]
    assert {f"$P_{k}$" for k in range(1, 9)} <= set(words)
    expected = {
        "{" + ", ".join(str(i + 1) for i in np.flatnonzero(p)) + "}" if p.any() else "∅"
        for p in enumerate_cells(FOUR).patterns
    }
    assert expected <= set(words)
    order = [w for w in words if "{" in w or w == "∅"]
    assert order[:4] == ["{4}", "{3, 4}", "{2, 3, 4}", "{1, 2, 3, 4}"]
    assert not cut_off(figure)
    y = np.array([2.0, 1.0, 1.0])
    figure = figures.across_boundary(THREE, y, np.array([1.5, 0.0]), 1, (-0.7, 3, -1.9, 1.9))
    assert not cut_off(figure)
    slopes = [np.diff(line.get_ydata())[0] / np.diff(line.get_xdata())[0]
              for line in figure.axes[1].lines if "slope" in line.get_label()]  # fmt: skip
    # P_+: sum of residuals against x_2 is (0 - 1) + (3/2 - 1); P_-: the first is missing.
    assert slopes == pytest.approx([-0.5, 0.5], abs=1e-5)
