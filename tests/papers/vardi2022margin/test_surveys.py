"""Limits of trained networks and what they are; the positive statements, and that they can fail."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reluflow.falsify import falsify
from reluflow.margin.kkt import quotient
from reluflow.networks.indexed import Network, diagonal, fully_connected
from reluflow.papers.vardi2022margin import certificates, constructions, setting, tables
from reluflow.papers.vardi2022margin.constructions import (
    End,
    Judged,
    ended,
    judged,
    replayed,
    trained,
)
from reluflow.papers.vardi2022margin.setting import Construction
from scipy.optimize import minimize

FAMILIES = {
    "full": setting.full_linear((2, 4)),
    "sparse": setting.sparse_linear(),
    "relu": setting.sparse_relu(),
    "shared": setting.trained_networks_shared("linear"),
    "shared relu": setting.trained_networks_shared("relu"),
}


def item(c: Construction, **changes: Any) -> dict[str, Any]:
    """A construction as an instance of a survey."""
    given = {"network": c.network, "X": c.X, "y": c.y, "start": c.start, "logistic": np.array(0)}
    return {**given, **changes}


# --- draws ----------------------------------------------------------------------------------------


@given(st.sampled_from(list(FAMILIES)), st.integers(0, 10**6))
@settings(max_examples=150, deadline=None)
def test_the_labels_are_those_of_the_start(family: str, seed: int) -> None:
    kinds = FAMILIES[family]
    rng = np.random.default_rng(seed)
    one = kinds[list(kinds)[seed % len(kinds)]](rng)
    net, X, y = one["network"], one["X"], one["y"]
    margins = y * net.output(one["start"], X)
    assert len(X) > 0
    assert np.all(margins > 0.0) or not margins.any()
    lengths = margins / np.linalg.norm(X, axis=1)
    assert lengths.min() >= setting.CLEAR * lengths.max() * (1.0 - 1e-9)
    if margins.any():
        clear = np.log1p(np.exp(-margins)).sum() < np.log(2.0)
        assert clear or margins.max() == pytest.approx(0.3)
    counts = [np.bincount(g[g > 0].ravel()) for g in net.maps]
    if not family.startswith("shared"):
        assert all(c.max(initial=0) <= 1 for c in counts)
    assert net.activation == ("relu" if "relu" in family else "linear")


# --- ends -----------------------------------------------------------------------------------------


def test_ends_of_printed_examples() -> None:
    silent = ended(item(setting.theorem_4_1()))["end"]
    assert silent.weights is False
    assert silent.inputs == (False,)
    assert [one.verdict for one in silent.judged] == ["not local"]
    two = ended(item(setting.lemma_C_6()), by_layer=True)["end"]
    assert two.weights is True
    assert two.inputs == (True,)
    assert [(one.layer, one.verdict) for one in two.judged] == [(1, "local"), (2, "global")]
    four = ended(item(setting.theorem_4_2()), by_layer=True)["end"]
    assert (four.weights, four.inputs_from(1), four.inputs_from(2)) == (True, False, True)
    assert [one.verdict for one in four.judged] == ["not local", "global"]


def test_a_flow_that_comes_to_rest_does_not_fit() -> None:
    c = setting.theorem_3_2()
    dead = np.array([0.1, -1.0, 0.1, -1.0, 1.0, 1.0])
    end = ended(item(c, start=dead))["end"]
    assert not end.fits
    assert end.judged == ()
    report = falsify(tables.relu_is_local((("dead", {**item(c), "end": end}),)), 0, 1, 0)
    assert report.rejected == {"the flow does not come to rest": 1}


def test_a_refused_certificate_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    c = setting.theorem_4_1()
    assert judged(c.network, c.limit, c.X, c.y).verdict == "not local"

    class Refused:
        verdict, slack = "refused", np.inf

    monkeypatch.setattr(constructions, "check", lambda *given: Refused)
    assert judged(c.network, c.limit, c.X, c.y).verdict == "undecided"


@pytest.mark.parametrize(
    ("values", "error", "told"),
    [([0.5, -1e-10], 0.0, False), ([0.5, -1e-8], 0.0, None), ([0.5, 1e-4], 1e-9, True),
     ([0.5, 1e-4], 1e-4, None), ([0.5, 0.0], 1.0, False)],
)  # fmt: skip
def test_what_is_not_zero_must_be_so_for_all_that_is_within_the_error(
    values: list, error: float, told: bool | None
) -> None:
    assert constructions._apart(np.array(values), error) is told


def test_inputs_of_linear_networks() -> None:
    net, X = diagonal(2, 3, "linear"), np.array([[1.0, 2.0], [3.0, 0.0]])
    h = constructions._cosines(net, np.array([1.0, -1, 2, 3, 1, 1]), X)
    assert len(h) == 2
    assert h[0] == pytest.approx(np.array([[1, -2], [3, 0]]) / np.sqrt([[5.0], [9.0]]))
    assert np.sign(h[1]).tolist() == [[1, -1], [1, 0]]


def test_a_survey_is_replayed_in_its_order() -> None:
    found = trained({"a": lambda rng: item(setting.theorem_4_1()),
                     "b": lambda rng: item(setting.theorem_4_1("relu"))}, 0, 3)  # fmt: skip
    assert [kind for kind, _ in found] == ["a", "b", "a", "b"]
    again = replayed(found)
    rng = np.random.default_rng(0)
    assert [again[kind](rng) for kind, _ in found] == [one for _, one in found]


# --- the statements -------------------------------------------------------------------------------


def test_only_layers_above_the_boundaries_are_spoken_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ended", lambda item, by_layer: item)
    found = (("printed", ended(item(setting.theorem_4_2()), True)),)
    report = falsify(tables.relu_layers_are_local(found), 0, 1, 0)
    assert (report.tried, report.survives) == (1, True)
    assert tables.relu_layers_are_local(found).slack(found[0][1]) > -1e-9
    everything = falsify(tables.linear_layers_are_global(found), 0, 1, 0)
    assert not everything.survives


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


def test_no_descent_ends_below_a_limit_that_is_global() -> None:
    """SciPy's SLSQP from random starts, on the linear networks of depth 2."""
    rng = np.random.default_rng(0)
    for _, one in trained(setting.sparse_linear(), 5, 6):
        if [j.verdict for j in one["end"].judged] != ["global"]:
            continue
        net, y = one["network"], one["y"]
        X = one["X"] / np.abs(one["X"]).max()
        value = quotient(net, one["end"].limit.theta, X, y)
        for _ in range(4):
            least = descent(net, X, y, rng)
            assert least is None or least >= value * (1.0 - 1e-6)


def descent(net: Network, X: NDArray, y: NDArray, rng: np.random.Generator) -> float | None:
    run = minimize(
        lambda t: 0.5 * t @ t,
        2.0 * rng.normal(size=net.size),
        jac=lambda t: t,
        constraints={"type": "ineq", "fun": lambda t: y * net.output(t, X) - 1.0},
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-13},
    )
    return None if (y * net.output(run.x, X)).min() <= 0.0 else quotient(net, run.x, X, y)


# --- the KKT conditions are necessary -------------------------------------------------------------


def test_weights_are_put_on_kinks() -> None:
    net, X = fully_connected([2, 2]), np.array([[1.0, 0.0], [0.0, 1.0]])
    theta = certificates.on_kinks(net, np.array([1e-7, 1.0, 1e-7, 1e-7, 1.0, 1.0]), X)
    assert theta.tolist() == [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    far = np.array([1e-2, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert certificates.on_kinks(net, far, X).tolist() == far.tolist()
