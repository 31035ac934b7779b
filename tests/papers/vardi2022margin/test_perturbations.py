"""The paper's constructions and their shorter points: claims, and faults that are noticed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from reluflow.errors import InputError
from reluflow.ledger import Evidence
from reluflow.margin.kkt import margins
from reluflow.networks.indexed import fully_connected
from reluflow.papers.vardi2022margin import balance, counterexamples
from reluflow.papers.vardi2022margin import constructions as constructions_page
from reluflow.papers.vardi2022margin.constructions import (
    S,
    curve,
    margins_up_to_one,
    positive,
    zeros,
)
from reluflow.papers.vardi2022margin.setting import (
    EPS,
    Construction,
    output,
    theorem_3_2,
    theorem_4_1,
    theorem_4_2,
    theorem_4_4,
    theorem_5_1,
)


def failing(evidence: list[Evidence]) -> list[str]:
    return [item.what for item in evidence if item.decides and not item.holds]


def test_theorem_5_1_needs_depth_3() -> None:
    with pytest.raises(InputError):
        theorem_5_1(2)


# --- Curves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("c", "size"),
    [
        (theorem_3_2(), S**2 / 2),
        (theorem_4_2(), S),
        (theorem_4_4("relu"), 2 * S**2),
        (constructions_page.dead_neuron(), S**2 / 2),
    ],
    ids=["3.2", "4.2", "4.4", "3.2 deeper"],
)
def test_curves_are_the_network(c: Construction, size: sympy.Expr) -> None:
    along = curve(c, size, sympy.Integer(3))
    assert len(along.pieces) > 1
    for s in np.linspace(0.01, 2.99, 60):
        eps = float(size.subs(S, s))
        piece = next(p for p in along.pieces if p.low < s < p.high)
        found = [float(m.subs(S, s)) for m in piece.margins]
        assert found == pytest.approx(margins(c.network, c.better(eps), c.X, c.y).tolist())


def test_zeros_and_signs_of_polynomials() -> None:
    two = sympy.sqrt(2)
    assert zeros(two * (S - 1) * (S - 3), sympy.Integer(0), sympy.Integer(2)) == [1]
    assert positive((S - 1) ** 2 + 1, sympy.Integer(0), sympy.Integer(5))
    assert not positive((S - 1) ** 2, sympy.Integer(0), sympy.Integer(5))
    assert not positive(-S, sympy.Integer(0), sympy.Integer(5))
    with pytest.raises(ValueError, match="rational ratios"):
        zeros(S**2 - two, sympy.Integer(0), sympy.Integer(2))


def test_an_output_may_be_negative() -> None:
    rng = np.random.default_rng(4)
    network = fully_connected((2, 3, 2))
    theta, X = rng.normal(size=(40, network.size)), rng.normal(size=2)
    found = [output(network, t.tolist(), X.tolist(), lambda h: h > 0) for t in theta]
    assert found == pytest.approx(network.output(theta, X[None])[:, 0].tolist())
    assert min(found) < 0.0


# --- Faults that are noticed ----------------------------------------------------------------------


def test_depth_2_gains_nothing_by_uneven_coordinates() -> None:
    c = theorem_4_1("linear")
    half = sympy.sqrt(sympy.Rational(1, 2))
    one = (sympy.Integer(1), sympy.Integer(1))
    better = (sympy.sqrt((1 + EPS) / 2), sympy.sqrt((1 - EPS) / 2)) * 2
    flat = replace(c, exact_X=(one,), exact_limit=(half,) * 4, exact_better=better)
    assert margins_up_to_one(flat) == [1]
    assert constructions_page._is_norm(flat, sympy.Integer(2))


def test_a_curve_that_begins_elsewhere_is_noticed() -> None:
    c, size = constructions_page.two_data(), S
    moved = replace(c, exact_limit=(c.exact_limit[0] + 1, *c.exact_limit[1:]))
    assert not failing(constructions_page.shorter_all_the_way((c, size)))
    assert failing(constructions_page.shorter_all_the_way((moved, size)))


def test_a_layer_off_its_gradient_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    c = replace(theorem_4_1(), exact_limit=(sympy.Integer(1),) * 4)
    monkeypatch.setattr(counterexamples, "theorem_4_1", lambda: c)
    assert any("gradient" in what for what in failing(counterexamples.layers_put_back((3,))))


# --- Lemma C.5 ------------------------------------------------------------------------------------


def test_the_largest_root() -> None:
    for a in ([2.0, 8.0], [-2.0, -8.0], [3.0], [1e-12, 1e6, 5.0]):
        C = balance.root_below(np.array(a))
        exact = np.prod([Fraction(v) for v in a])
        assert Fraction(C) ** len(a) <= exact < Fraction(C * (1 + 1e-12)) ** len(a)
    assert balance.root_below(np.array([-1.0, 2.0])) == 0.0
    assert balance.root_below(np.array([0.0, 2.0])) == 0.0
