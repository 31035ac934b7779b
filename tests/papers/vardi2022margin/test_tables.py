"""Lemmas C.1 to C.5 and Section 2's least |theta|^2; Tables 1 and 2: what fills their entries, and
that a wrong one is seen."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from papers.vardi2022margin.test_constructions import item
from reluflow.falsify import falsify
from reluflow.networks.indexed import Network, fully_connected
from reluflow.papers.vardi2022margin import constructions, setting, tables
from reluflow.papers.vardi2022margin.constructions import End, Judged, ended
from reluflow.papers.vardi2022margin.tables import CIRCULAR, DIAGONAL, FULL


def test_at_a_kink_the_given_slope_counts() -> None:
    """Phi = v [w x]_+ at w = 0, where dw = c v s'(0) x; and each layer has slopes of its own."""
    shallow, deep = fully_connected([1, 1]), fully_connected([1, 1, 1])
    for slope in (0.0, 0.25, 1.0):
        active = setting.slopes(shallow, [0.0, 3.0], [[2.0]], [[slope]])
        assert shallow.gradient([0.0, 3.0], [[2.0]], [5.0], active).tolist() == [30 * slope, 0.0]
    active = setting.slopes(deep, [0.0, 3.0, 5.0], [[2.0]], [[0.5, 0.25]])
    assert deep.gradient([0.0, 3.0, 5.0], [[2.0]], [7.0], active)[0] == 7 * 5 * 3 * 2 / 8


def test_shared_weights_have_the_balance_of_layers_only() -> None:
    """Phi = v u (x_1 + x_2): |w|^2 of w = (u, u) moves twice as fast as v^2, and u^2 as fast."""
    item = {"network": Network((np.array([[1, 1]]), np.array([[1]])), "linear"),
            "theta": np.array([2.0, 3.0]), "X": np.array([[1.0, 4.0]]), "c": np.ones(1),
            "at_zero": np.zeros((1, 1))}  # fmt: skip
    layers, neurons = (tables.change_alike(id).slack(item) for id in ("mm.lemC.2", "mm.lemC.3"))
    assert (layers, neurons) == (0.0, -0.5)


def test_lemma_c_5_takes_the_largest_constant() -> None:
    slack = tables.squares_of_factors().slack
    assert slack({"a": np.array([2.0, -8.0])}) == pytest.approx(1 - 16 / 34)
    assert [slack({"a": np.array(a)}) for a in ([0.0, 3.0], [0.0, 0.0])] == [1.0, 0.0]


@pytest.mark.parametrize("right", [FULL, DIAGONAL, CIRCULAR])
@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_constant_that_is_not_the_least_is_noticed(right: tables.Family, share: float) -> None:
    other = right._replace(cost=lambda b, m: share * right.cost(b, m))
    assert not falsify(tables.least_length(other), 0, 20, 0).survives
    short = right._replace(minimiser=lambda net, b: right.minimiser(net, share * b))
    assert not falsify(tables.least_length(short), 0, 20, 0).survives


# --- Tables 1 and 2 -------------------------------------------------------------------------------


def test_only_layers_above_the_boundaries_are_spoken_of() -> None:
    found = (("printed", ended(item(setting.theorem_4_2()), True)),)
    report = falsify(tables.relu_layers_are_local(found), 0, 1, 0)
    assert (report.tried, report.survives) == (1, True)
    assert tables.relu_layers_are_local(found).slack(found[0][1]) > -1e-9
    assert not falsify(tables.linear_layers_are_global(found), 0, 1, 0).survives


@pytest.mark.parametrize(
    ("verdict", "gap", "slack"),
    [("global", 1e-9, -1e-9), ("local", 1e-9, -2e-6), ("not local", 0.1, -0.1),
     ("undecided", np.nan, np.nan)],
)  # fmt: skip
def test_slacks(verdict: str, gap: float, slack: float) -> None:
    one = ended(item(setting.theorem_4_4()))
    end: End = replace(one["end"], judged=(Judged(None, verdict, gap, "planted"),))
    made = tables.full_linear_is_global((("planted", {**one, "end": end}),))
    assert made.slack({**one, "end": end}) == pytest.approx(slack, nan_ok=True)
    unknown = tables.sparse_linear_is_global((("planted", one),))
    assert np.isnan(unknown.slack({**one, "end": replace(end, weights=None)}))


@pytest.mark.parametrize(
    ("statement", "weights", "inputs"),
    [(tables.sparse_linear_is_global, False, (True,)),
     (tables.sparse_linear_with_inputs_is_global, True, (False, True)),
     (tables.relu_is_local, True, (True, False)),
     (tables.linear_layers_with_inputs_are_global, True, (False, True)),
     (tables.relu_layers_with_inputs_are_local, True, (True, False))],
)  # fmt: skip
def test_limits_that_a_hypothesis_leaves_out_change_no_entry(
    statement: tables.Claimed, weights: bool, inputs: tuple[bool, ...]
) -> None:
    one = ended(item(setting.theorem_4_4()))
    best = replace(one["end"], weights=True, inputs=(True, True),
                   judged=(Judged(1, "global", 0.0, "planted"),))  # fmt: skip
    other = replace(best, weights=weights, inputs=inputs,
                    judged=(Judged(1, "not local", 0.5, "planted"),))  # fmt: skip
    ends = tuple(("planted", {**one, "end": end}) for end in (best, other))
    assert [found.verdict for found in tables.spoken_of(statement, ends)] == ["global"]


def test_entries_follow_from_verdicts() -> None:
    assert tables._weakest(["global", "local", "not local"]) == tables.NOT_LOCAL
    assert tables._weakest(["global", "local"]) == tables.LOCAL
    assert tables._weakest(["global"]) == tables.GLOBAL
    assert tables._weakest([]) == "no limit"


def test_a_positive_example_does_not_fill_a_negative_entry() -> None:
    cell = tables._one("", constructions.flows([setting.lemma_C_6()]), "here")
    assert cell.found == tables.LOCAL
    assert any(one.decides and not one.holds for one in cell.evidence)


@pytest.mark.parametrize(
    ("name", "value", "failing"),
    [("A", 1, tables.edges_lead_out), ("EDGE", Fraction(9, 10), tables.edges_lead_out),
     ("EDGE", Fraction(1), tables.enters_below_one), ("EDGE", Fraction(2), tables.loss_is_large)],
)  # fmt: skip
def test_another_strip_is_refused(name, value, failing, monkeypatch) -> None:
    assert failing()
    monkeypatch.setattr(tables, name, value)
    assert not failing()
