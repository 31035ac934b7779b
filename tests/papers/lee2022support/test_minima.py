"""Proposition 3.3 and Theorem 3.6: each survey is shown what it must count, or not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reluflow import rational
from reluflow.geometry import local_minima, nested_pairs
from reluflow.instances import Instance, draw_many
from reluflow.ledger import Evidence
from reluflow.networks import loss
from reluflow.papers.lee2022support import minima, theorem_3_6


def instance(X, y) -> Instance:
    return Instance(np.array(X, float), np.array(y, float), "by hand")


# Fewer support vectors and the smaller loss: (2, -1) without datum 2 has 1/2, (4/3, 1/3) has 2/3.
THREE = instance([[1, 0], [0, 1], [1, 1]], [2, 1, 1])
# The virtual minima (1, 1, s) of the cell with data 1 and 2 active have x_3.w = 1 > 0 for every s.
MISSED = instance([[1, 1, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]], [2, 1, 1, 1])
INSIDE = np.array([-1, 2, -1])  # a point of that cell


def holding(evidence: list[Evidence]) -> list[bool]:
    return [e.holds for e in evidence if e.decides]


def test_cells_within_rounding_of_equality_are_left_out() -> None:
    at_edge = instance([[1, 1], [1, 0], [0, 1]], [2, 2, 1])
    off_edge = instance([[1, 1], [1, 0], [0, 1]], [2, 2.1, 1])
    found = [(~minima.survey_cells([k]).deficient).sum() for k in (off_edge, at_edge)]
    assert found[0] - found[1] == 1


def test_the_flattest_cells_do_not_look_like_violations() -> None:
    # Lengths over twelve orders of magnitude: L_P hardly feels where the short data lie.
    found = minima.survey_cells(list(draw_many(30, 2, 6))[26:27]).query("not deficient")
    assert (found.agree.all(), len(found)) == (True, 8)


def test_evidence_on_cells_of_low_rank_would_hold_on_other_data() -> None:
    found = minima.survey_cells([MISSED])
    none = minima.deficient_cells([found[found.inside]], MISSED.X, MISSED.y, INSIDE)
    assert holding(none) == [True, False]
    # With y_1 < y_2 the virtual minima are in the cell, by both routes.
    y = np.array([2, 3, 1, 1])
    other = minima.two_data_and_their_difference(MISSED.X, y, INSIDE)
    assert [e.holds for e in (*other.breaks, *other.recheck) if e.decides] == [True, True]
    assert holding(minima.deficient_cells([found], MISSED.X, y, INSIDE)) == [False, True]


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


def test_evidence_on_theorem_3_6_would_hold_on_other_data() -> None:
    """With y_2 = 2 the pair obeys: 2 for the smaller support, 3/2 for the larger."""
    found = theorem_3_6.survey_pairs([THREE])
    none, y = found[~found.breaks], np.array([2, 2, 1])
    assert holding(theorem_3_6.fewer_vectors_larger_loss(none, THREE.X, THREE.y)) == [True, False]
    assert holding(theorem_3_6.fewer_vectors_larger_loss(none, THREE.X, y)) == [True, True]
    case = theorem_3_6.second_datum_dropped(THREE.X, y)
    pieces = [e for e in (*case.breaks, *case.recheck) if e.decides]
    assert [e.value for e in pieces] == pytest.approx([0.5, 0.5])
    assert [e.holds for e in pieces] == [True, True]


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
