"""Lemmas C.1 to C.5 and Section 2's least |theta|^2, with rational arithmetic and loops as oracles;
Tables 1 and 2: what fills their entries, and that a wrong one is seen."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from papers.vardi2022margin.test_constructions import item
from reluflow.falsify import falsify
from reluflow.papers.vardi2022margin import constructions, setting, tables
from reluflow.papers.vardi2022margin.constructions import End, Judged, ended
from reluflow.papers.vardi2022margin.setting import ascent, class_n_draws, numbers
from reluflow.papers.vardi2022margin.tables import CIRCULAR, DIAGONAL, FULL


def real(values: list) -> np.ndarray:
    return np.array([int(v.p) / int(v.q) for v in values])


@pytest.mark.parametrize("maps", [setting.full, setting.unshared, setting.network_draws_shared])
def test_exact_velocities_are_the_librarys_gradients(maps) -> None:
    """And the rates of squared norms are those after a short step."""
    rng = np.random.default_rng(0)
    for kind, draw in class_n_draws([maps]).items():
        if kind.startswith(("integers", "parallel", "first")):
            continue  # on kinks the library takes s'(0) = 0
        item = draw(rng)
        layers, network = tables.exact_layers(item), item["network"]
        found = np.concatenate([real(layer.du) for layer in layers])
        expected = network.gradient(item["theta"], item["X"], item["c"])
        size = np.abs(expected).max(initial=0)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * size)
        for layer, W, moved in zip(layers, network.weights(item["theta"]),
                                   network.weights(expected), strict=True):  # fmt: skip
            rate, near = W * moved, 1e-9 * np.abs(W * moved).sum()
            np.testing.assert_allclose(real(layer.incoming), rate.sum(axis=1), atol=near)
            np.testing.assert_allclose(real(layer.outgoing), rate.sum(axis=0), atol=near)


def test_at_a_kink_the_given_slope_counts() -> None:
    """Phi = v [w x]_+ at w = 0: dw = c v s'(0) x, and both rates are 0."""
    one = np.array([[1]])
    for slope in (0.0, 0.25, 1.0):
        first, last = ascent((one, one), [0.0, 3.0], [[2.0]], [5.0], [[slope]])
        assert first.du == [fmpq(30) * numbers([slope])[0]]
        assert last.du == [0]
    first, *_ = ascent((one, one, one), [0.0, 3.0, 5.0], [[2.0]], [7.0], [[0.5, 0.25]])
    assert first.du == [fmpq(7 * 5 * 3 * 2, 8)]  # each layer with a slope of its own


def test_lemma_c_5_takes_the_largest_constant() -> None:
    slack = tables.squares_of_factors().slack
    assert slack({"a": np.array([2.0, -8.0])}) == pytest.approx(1 - 16 / 34)
    assert [slack({"a": np.array(a)}) for a in ([0.0, 3.0], [0.0, 0.0])] == [1.0, 0.0]


@pytest.mark.parametrize("right", [FULL, DIAGONAL, CIRCULAR])
def test_a_constant_that_is_not_reached_is_noticed(right: tables.Family) -> None:
    less = right._replace(cost=lambda b, m: 0.99 * right.cost(b, m))
    assert not tables.reached(less, 0, 20)[0].holds


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
