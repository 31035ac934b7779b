"""The printed constructions: curves, rays, shorter points, limits, and what does not pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
from reluflow.falsify import falsify
from reluflow.ledger import Evidence
from reluflow.margin.kkt import margins
from reluflow.networks.indexed import diagonal, fully_connected
from reluflow.papers.vardi2022margin import constructions, setting, tables
from reluflow.papers.vardi2022margin.constructions import (
    S,
    better_is_shorter,
    curve,
    ended,
    judged,
    keeps_its_ray,
    positive,
    shorter_all_the_way,
    zeros,
)
from reluflow.papers.vardi2022margin.setting import EPS, Construction


def failed(evidence: list[Evidence]) -> list[str]:
    return [item.what for item in evidence if item.decides and not item.holds]


def item(c: Construction, **changes: Any) -> dict[str, Any]:
    """A construction as an instance of a survey."""
    given = {"network": c.network, "X": c.X, "y": c.y, "start": c.start, "logistic": np.array(0)}
    return {**given, **changes}


# --- Curves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("c", "size"),
    [(setting.theorem_3_2(), S**2 / 2), (setting.theorem_4_4("relu"), 2 * S**2),
     (constructions.dead_neuron(), S**2 / 2)],
)  # fmt: skip
def test_curves_are_the_network(c: Construction, size: sympy.Expr) -> None:
    along = curve(c, size, sympy.Integer(3))
    assert len(along.pieces) > 1
    for s in np.linspace(0.01, 2.99, 30):
        eps = float(size.subs(S, s))
        piece = next(p for p in along.pieces if p.low < s < p.high)
        found = [float(m.subs(S, s)) for m in piece.margins]
        assert found == pytest.approx(margins(c.network, c.better(eps), c.X, c.y).tolist())


def test_zeros_and_signs_of_polynomials() -> None:
    zero, two = sympy.Integer(0), sympy.sqrt(2)
    assert zeros(two * (S - 1) * (S - 3), zero, sympy.Integer(2)) == [1]
    assert positive((S - 1) ** 2 + 1, zero, sympy.Integer(5))
    assert not positive((S - 1) ** 2, zero, sympy.Integer(5))
    assert not positive(-S, zero, sympy.Integer(5))
    with pytest.raises(ValueError, match="rational ratios"):
        zeros(S**2 - two, zero, sympy.Integer(2))


def test_an_output_may_be_negative() -> None:
    rng = np.random.default_rng(4)
    network = fully_connected((2, 3, 2))
    theta, X = rng.normal(size=(40, network.size)), rng.normal(size=2)
    found = [setting.output(network, t.tolist(), X.tolist(), lambda h: h > 0) for t in theta]
    assert found == pytest.approx(network.output(theta, X[None])[:, 0].tolist())
    assert min(found) < 0.0


def test_points_that_are_not_feasible_or_not_shorter() -> None:
    c = constructions.two_data()
    assert not failed(shorter_all_the_way((c, S)))
    long = tuple(sympy.Rational(101, 100) * value for value in c.exact_better)
    short = tuple((1 - EPS) * value for value in c.exact_limit)
    for wrong in (replace(c, exact_better=long), replace(c, exact_better=short),
                  replace(c, exact_limit=(c.exact_limit[0] + 1, *c.exact_limit[1:]))):  # fmt: skip
        assert failed(shorter_all_the_way((wrong, S)))


def test_better_points_must_be_feasible_and_shorter() -> None:
    c = setting.lemma_C_6()
    assert better_is_shorter(c)
    assert not better_is_shorter(replace(c, exact_better=c.exact_limit))
    half = tuple(value / 2 for value in c.exact_better)
    assert not better_is_shorter(replace(c, exact_better=half))


# --- Rays -----------------------------------------------------------------------------------------


def test_rays_know_the_convention() -> None:
    """Without the fourth datum nothing holds the first neuron's kink in balance."""
    rows = tuple(setting._numbers(x) for x in ("0 1", "1 0", "0 -1"))
    start = tuple(2 * value for row in rows for value in row) + setting._numbers("2 2 2")
    three = replace(setting.theorem_4_2(), network=fully_connected([2, 3]), exact_X=rows,
                    labels=(1, 1, 1), exact_start=start, exact_limit=start)  # fmt: skip
    assert [keeps_its_ray(three, value) for value in (0.0, 0.5, 1.0)] == [True, False, False]


def test_a_ray_needs_equal_margins_and_the_printed_limit() -> None:
    c = setting.theorem_4_1()
    point = setting._numbers("2 1 2 1")
    apart = replace(c, exact_X=(setting._numbers("1 0"), setting._numbers("0 1")),
                    labels=(1, 1), exact_start=point, exact_limit=point)  # fmt: skip
    assert not keeps_its_ray(apart, 0.0)
    assert keeps_its_ray(replace(apart, exact_start=(1,) * 4, exact_limit=(2,) * 4), 0.0)
    assert not keeps_its_ray(replace(c, exact_limit=point), 0.0)


# --- Limits of trained networks -------------------------------------------------------------------


def test_ends_of_printed_examples() -> None:
    two = ended(item(setting.lemma_C_6()), by_layer=True)["end"]
    assert (two.weights, two.inputs) == (True, (True,))
    assert [(one.layer, one.verdict) for one in two.judged] == [(1, "local"), (2, "global")]
    four = ended(item(setting.theorem_4_2()), by_layer=True)["end"]
    assert (four.weights, four.inputs_from(1), four.inputs_from(2)) == (True, False, True)
    silent = ended(item(setting.theorem_4_1()))["end"]
    assert (silent.weights, silent.inputs) == (False, (False,))


def test_a_flow_that_comes_to_rest_does_not_fit() -> None:
    c = setting.theorem_3_2()
    end = ended(item(c, start=np.array([0.1, -1.0, 0.1, -1.0, 1.0, 1.0])))["end"]
    assert not end.fits
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
    assert h[0] == pytest.approx(np.array([[1, -2], [3, 0]]) / np.sqrt([[5.0], [9.0]]))
    assert np.sign(h[1]).tolist() == [[1, -1], [1, 0]]
