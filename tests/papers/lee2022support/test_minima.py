"""Proposition 3.3 and Theorem 3.6: each survey is shown an instance that it must count."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reluflow import datasets, rational
from reluflow.falsify import falsify
from reluflow.geometry import enumerate_cells, local_minima, meets_cell, nested_pairs
from reluflow.instances import Instance, draw_many
from reluflow.ledger import Counterexample, Evidence
from reluflow.networks import loss
from reluflow.papers.lee2022support import minima, theorem_3_6


def instance(X, y) -> Instance:
    return Instance(np.array(X, float), np.array(y, float), "by hand")


# Fewer support vectors and the smaller loss: (2, -1) without datum 2 has 1/2, (4/3, 1/3) has 2/3.
THREE = instance([[1, 0], [0, 1], [1, 1]], [2, 1, 1])
# The virtual minima (1, 1, s) of the cell with data 1 and 2 active have x_3.w = 1 > 0 for every s.
MISSED = instance([[1, 1, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]], [2, 1, 1, 1])
INSIDE = np.array([-1, 2, -1])  # a point of that cell
FIVE = datasets.load("example-5.1")


def holding(evidence: list[Evidence]) -> list[bool]:
    return [e.holds for e in evidence if e.decides]


def value(evidence: list[Evidence], words: str):
    (found,) = (e.value for e in evidence if words in e.what)
    return found


def routes(case: Counterexample) -> tuple[list, list[bool]]:
    """The values by both routes, and whether they hold."""
    assert all(case.assumptions.values())
    pieces = [e for e in (*case.breaks, *case.recheck) if e.decides]
    return [e.value for e in pieces], [e.holds for e in pieces]


# --- Proposition 3.3 ------------------------------------------------------------------------------


def test_a_cell_of_low_rank_without_a_virtual_minimum() -> None:
    """The counterexample to the second half of Proposition 3.3."""
    X, y = MISSED.X, MISSED.y
    active = np.array([True, True, False, False])
    assert any(np.array_equal(active, pattern) for pattern in enumerate_cells(X).patterns)
    assert not meets_cell(X, y, active)
    # By hand: w = (1, 1, s) fits data 1 and 2 exactly, and then x_3.w = 1, never <= 0.
    s = np.linspace(-1e6, 1e6, 101)
    virtual = np.column_stack([np.ones(101), np.ones(101), s])
    assert np.all(X[:2] @ virtual.T == y[:2, None])
    assert np.all(virtual @ X[2] > 0)
    # With the label of x_2 above that of x_1, the virtual minima (-1, 3, s <= 0) are in the cell.
    assert meets_cell(X, [2, 3, 1, 1], active)


def test_survey_of_the_known_counterexample() -> None:
    found = minima.survey_cells([MISSED])
    full, cells = found[~found.deficient], enumerate_cells(MISSED.X).patterns
    ranks = [np.linalg.matrix_rank(MISSED.X[active]) for active in cells]
    assert len(found) == len(cells)
    assert (len(full), full.agree.all()) == (ranks.count(3), True)
    assert full.inside.sum() == sum(m.dimension == 0 for m in local_minima(MISSED.X, MISSED.y))
    # Data 1 and 2 active, with x_4 inactive; data 1, 2 and 4 active span all dimensions but x_4's
    # own: the two cells where x_3 is wanted inactive and the fit has x_3.w = 1.
    low = [on for on, rank in zip(cells, ranks, strict=True) if rank < 3]
    missing = [on for on in low if not meets_cell(MISSED.X, MISSED.y, on)]
    assert (found.deficient & ~found.inside).sum() == len(missing) > 0
    assert missing[0].tolist() == (MISSED.X @ INSIDE > 0).tolist()


def test_survey_of_virtual_minima_counts_over_all_data_sets() -> None:
    drawn = list(draw_many(10, 2, 0, sizes=(2, 5)))
    found = minima.survey_cells(iter(drawn))
    assert len(found) == sum(len(minima.survey_cells([item])) for item in drawn)
    assert found.agree.all()
    full, low = found[~found.deficient], found[found.deficient]
    assert 0 < full.inside.sum() < len(full)
    # In the plane a cell of rank 1 always has its virtual minima.
    assert low.inside.all()
    assert len(low) > 0


@pytest.mark.parametrize("wrong", [0.0, 1.0])
def test_survey_of_virtual_minima_sees_a_violation(
    wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were the minimum of L_P always (never) in the cell, (5) would be wrong where it says else."""
    monkeypatch.setattr(minima, "excess_in_cell", lambda X, y, active: wrong)
    found = minima.survey_cells([THREE, FIVE])
    full = found[~found.deficient]
    violations = (~full.agree).sum()
    assert violations == (full.inside if wrong else ~full.inside).sum() > 0
    evidence = minima.cells_of_full_rank([found])
    assert holding(evidence) == [False]
    assert evidence[0].value == violations


def test_cells_within_rounding_of_equality_are_left_out() -> None:
    at_edge = instance([[1, 1], [1, 0], [0, 1]], [2, 2, 1])
    off_edge = instance([[1, 1], [1, 0], [0, 1]], [2, 2.1, 1])
    found = [(~minima.survey_cells([k]).deficient).sum() for k in (off_edge, at_edge)]
    assert found[0] - found[1] == 1


def test_the_flattest_cells_do_not_look_like_violations() -> None:
    # Lengths over twelve orders of magnitude: L_P hardly feels where the short data lie.
    found = minima.survey_cells(list(draw_many(30, 2, 6))[26:27]).query("not deficient")
    assert (found.agree.all(), len(found)) == (True, 8)


def test_statements_of_proposition_3_3() -> None:
    found = minima.survey_cells([MISSED])
    full = minima.cells_of_full_rank([found, found])
    assert holding(full) == [True]
    assert value(full, "rank d tried") == full[0].tried == 2 * (~found.deficient).sum()
    low = minima.deficient_cells([found], MISSED.X, MISSED.y, INSIDE)
    assert holding(low) == [False, False]
    case = minima.two_data_and_their_difference(MISSED.X, MISSED.y, INSIDE)
    assert routes(case) == ([False, 1], [False, False])
    none = minima.deficient_cells([found[found.inside]], MISSED.X, MISSED.y, INSIDE)
    assert holding(none) == [True, False]
    # With y_1 < y_2 the virtual minima are in the cell, by both routes.
    y = np.array([2, 3, 1, 1])
    other = minima.two_data_and_their_difference(MISSED.X, y, INSIDE)
    assert routes(other)[1] == [True, True]
    assert holding(minima.deficient_cells([found], MISSED.X, y, INSIDE)) == [False, True]


# --- Theorem 3.6 ----------------------------------------------------------------------------------


def test_survey_finds_the_planted_violation() -> None:
    found = theorem_3_6.survey_pairs([THREE])
    # Minima have the supports {1,2,3}, {1,3}, {1}, {2} and none: 4 + 2 + 1 + 1 nested pairs.
    assert (len(found), found.breaks.sum()) == (8, 1)
    assert found.excess[found.breaks].tolist() == pytest.approx([F(2, 3) / F(1, 2) - 1])


def test_survey_counts_pairs_and_data_sets_apart() -> None:
    """Example 5.1 breaks the theorem by three pairs: its three isolated minima are all nested."""
    isolated = [m for m in local_minima(FIVE.X, FIVE.y) if m.dimension == 0]
    assert [m.support for m in isolated] == [(3, 4), (1, 3, 4), (0, 1, 2, 3, 4)]
    assert isolated[0].loss < isolated[1].loss < isolated[2].loss
    found = theorem_3_6.survey_pairs([THREE, FIVE, THREE])
    assert found[found.breaks].number.tolist() == [0, 1, 1, 1, 2]
    evidence = theorem_3_6.fewer_vectors_larger_loss(found, THREE.X, THREE.y)
    assert (value(evidence, "L(w2) < L(w1)"), value(evidence, "with such a pair")) == (5, 3)
    assert value(evidence, "largest") == pytest.approx(1 / 3, abs=1e-4)
    alone = theorem_3_6.survey_pairs([FIVE])
    worst = alone.excess[alone.breaks].max()
    assert worst == pytest.approx(isolated[2].loss / isolated[0].loss - 1)


def test_two_data_never_break_the_theorem() -> None:
    found = theorem_3_6.survey_pairs(draw_many(15, 2, 7, sizes=(2, 2)))
    # Two independent data: all four patterns are cells, each with its minimum, all fitted exactly.
    assert (len(found), found.breaks.sum()) == (15 * 5, 0)
    evidence = theorem_3_6.fewer_vectors_larger_loss(found, THREE.X, THREE.y)
    assert [value(evidence, w) for w in ("data sets with", "largest")] == [0, 0.0]


def test_independent_data_are_all_fitted_exactly() -> None:
    # Three independent data: 3^3 - 2^3 nested pairs of subsets.
    leaves = instance([[1, 0, 2], [1, 2, 0], [2, 0, 0]], [1, 6, 1])
    found = theorem_3_6.survey_pairs([leaves])
    assert (len(found), found.breaks.sum()) == (19, 0)


def test_a_break_of_the_repaired_bound_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the losses of the larger supports raised beyond it, the bound is broken."""
    # At (2, -1) the dropped datum has h = -1 and y = 1, so the room is (1 + 2) / 2.
    for raised, broken in ((0.5 + 1.5 - 1e-6, False), (0.5 + 1.5 + 1e-6, True)):
        doctored = tuple(
            replace(m, loss=raised if m.support == (0, 1, 2) else m.loss)
            for m in local_minima(THREE.X, THREE.y)
            if m.dimension == 0
        )
        monkeypatch.setattr(theorem_3_6, "local_minima", lambda X, y, found=doctored: found)
        found = theorem_3_6.survey_pairs([THREE])
        assert (len(found), found.breaks.sum()) == (1, 1)
        assert found.excess[0] == pytest.approx(raised / 0.5 - 1)
        assert theorem_3_6.within_bound().broken_by({"X": THREE.X, "y": THREE.y}) == broken


def test_survey_sees_a_break_with_zero_residual(monkeypatch: pytest.MonkeyPatch) -> None:
    minima = local_minima(THREE.X, THREE.y)
    lowered = tuple(replace(m, loss=0.1 if m.support == () else m.loss) for m in minima)
    monkeypatch.setattr(theorem_3_6, "local_minima", lambda X, y: lowered)
    # All four minima above the empty one; three of them interpolate their support.
    assert theorem_3_6.survey_pairs([THREE]).breaks.sum() == 4 + 1
    assert theorem_3_6.larger_where_fitted().broken_by({"X": THREE.X, "y": THREE.y})


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(any), min_size=3, max_size=5),
    st.data(),
)
def test_the_repaired_bound_in_rational_arithmetic(X: list, data: st.DataObject) -> None:
    """L(w1) <= L(w2) + 1/2 sum_c (h_c^2 + 2 y_c |h_c|) over the data c that w2 drops."""
    y = data.draw(st.lists(st.integers(1, 6), min_size=len(X), max_size=len(X)))
    assume(np.linalg.matrix_rank(np.array(X)) == 2)
    minima = [m for m in local_minima(X, y) if m.dimension == 0]
    for more, fewer in nested_pairs(minima):
        first, second = (rational.fit(X, y, m.support) for m in (more, fewer))
        lost = set(more.support) - set(fewer.support)
        room = sum(
            second.preactivations[c] ** 2 - 2 * y[c] * second.preactivations[c] for c in lost
        )
        assert all(second.preactivations[c] < 0 for c in lost)
        assert first.loss <= second.loss + room / 2


def test_survey_of_random_data_agrees_with_direct_comparison() -> None:
    drawn = list(draw_many(15, 2, 11, kinds=("integers", "uniform"), sizes=(3, 6)))
    pairs = broken = 0
    for item in drawn:
        found = local_minima(item.X, item.y)
        for a in found:
            for b in found:
                if set(b.support) < set(a.support):
                    pairs += 1
                    broken += loss(item.X, item.y, a.w) > loss(item.X, item.y, b.w) * (1 + 1e-7)
    survey = theorem_3_6.survey_pairs(drawn)
    assert (len(survey), survey.breaks.sum()) == (pairs, broken)
    assert broken > 0


def test_statements_of_theorem_3_6() -> None:
    found = theorem_3_6.survey_pairs([THREE])
    assert holding(theorem_3_6.fewer_vectors_larger_loss(found, THREE.X, THREE.y)) == [False] * 2
    values, held = routes(theorem_3_6.second_datum_dropped(THREE.X, THREE.y))
    assert values == [pytest.approx(-1 / 6), F(-1, 6)]
    assert held == [False, False]
    for statement in (theorem_3_6.larger_where_fitted(), theorem_3_6.within_bound()):
        assert falsify(statement, 1, 60, 0).survives
    # With y_2 = 2 the pair obeys: 2 for the smaller support, 3/2 for the larger.
    none, y = found[~found.breaks], np.array([2, 2, 1])
    assert holding(theorem_3_6.fewer_vectors_larger_loss(none, THREE.X, THREE.y)) == [True, False]
    assert holding(theorem_3_6.fewer_vectors_larger_loss(none, THREE.X, y)) == [True, True]
    values, held = routes(theorem_3_6.second_datum_dropped(THREE.X, y))
    assert values == pytest.approx([0.5, 0.5])
    assert held == [True, True]
