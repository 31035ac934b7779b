"""The paper's constructions and their shorter points: claims, and faults that are noticed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy
from reluflow.errors import InputError
from reluflow.ledger import Evidence
from reluflow.margin.kkt import margins, quotient
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
    constructions,
    output,
    theorem_3_2,
    theorem_4_1,
    theorem_4_2,
    theorem_4_4,
    theorem_5_1,
)
from reluflow.papers.vardi2022margin.suboptimality import least_l1
from scipy.optimize import linprog

ALL = [*constructions(3), *constructions(6)[-2:]]


def named(construction: Construction) -> str:
    return f"{construction.name}, {construction.network.activation}"


def failing(evidence: list[Evidence]) -> list[str]:
    return [item.what for item in evidence if item.decides and not item.holds]


# --- The constructions ----------------------------------------------------------------------------


@pytest.mark.parametrize("c", ALL, ids=named)
def test_a_construction_is_what_the_paper_says(c: Construction) -> None:
    assert len(c.start) == len(c.limit) == c.network.size
    assert np.allclose(margins(c.network, c.limit, c.X, c.y).min(), 1.0, rtol=1e-14)
    assert margins(c.network, c.start, c.X, c.y).min() > 0.0
    eps = 0.5 * float(c.reach)
    better = c.better(eps)
    assert margins(c.network, better, c.X, c.y).min() > 1.0 - 1e-14
    assert quotient(c.network, better, c.X, c.y) < quotient(c.network, c.limit, c.X, c.y)
    if c.name != "Lemma C.6":
        assert np.allclose(c.better(1e-20), c.limit, atol=1e-6)


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


def test_points_that_are_short_and_infeasible_do_not_improve() -> None:
    c = theorem_4_2()
    shrunk = replace(c, exact_better=tuple((1 - EPS) * value for value in c.exact_limit))
    along = curve(shrunk, S, sympy.Rational(1, 2))
    assert positive(along.shorter, sympy.Integer(0), sympy.Rational(1, 2))
    assert not along.feasible
    assert not along.improves


def test_an_output_may_be_negative() -> None:
    rng = np.random.default_rng(4)
    network = fully_connected((2, 3, 2))
    theta, X = rng.normal(size=(40, network.size)), rng.normal(size=2)
    found = [output(network, t.tolist(), X.tolist(), lambda h: h > 0) for t in theta]
    assert found == pytest.approx(network.output(theta, X[None])[:, 0].tolist())
    assert min(found) < 0.0


# --- Faults that are noticed ----------------------------------------------------------------------


def spoiled(monkeypatch: pytest.MonkeyPatch, name: str, c: Construction, module: object) -> None:
    monkeypatch.setattr(module, name, lambda *_: c)


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
    c = theorem_4_1()
    spoiled(
        monkeypatch, "theorem_4_1", replace(c, exact_limit=(sympy.Integer(1),) * 4), counterexamples
    )
    assert any("gradient" in what for what in failing(counterexamples.layers_put_back((3,))))


# --- Lemma C.5 and Remark 4.1 ---------------------------------------------------------------------


def test_the_lemma_needs_its_hypotheses() -> None:
    true = balance.squares_of_factors()
    assert balance.excess({"a": np.array([3.0, -4.0]), "C": np.array(2.0)}) == 17 / 25
    # An odd number of negative factors and C < 0: 0 >= (-1)^3, and 0 < 3.
    item = {"a": np.zeros(3), "C": np.array(-1.0)}
    assert balance.excess(item) < 0.0
    assert true.unmet(item) == "C >= 0"


def test_the_largest_root() -> None:
    for a in ([2.0, 8.0], [-2.0, -8.0], [3.0], [1e-12, 1e6, 5.0]):
        C = balance.root_below(np.array(a))
        exact = np.prod([Fraction(v) for v in a])
        assert Fraction(C) ** len(a) <= exact < Fraction(C * (1 + 1e-12)) ** len(a)
    assert balance.root_below(np.array([-1.0, 2.0])) == 0.0
    assert balance.root_below(np.array([0.0, 2.0])) == 0.0


def test_the_least_l1_predictor_is_the_linear_programmes() -> None:
    rng, feasible = np.random.default_rng(3), 0
    for _ in range(60):
        n, d = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        X = rng.integers(-2, 3, (n, d)).astype(float)
        y = rng.choice([-1.0, 1.0], n)
        A = y[:, None] * X
        found = linprog(np.ones(2 * d), np.hstack([-A, A]), -np.ones(n))
        if found.status != 0:
            with pytest.raises(InputError):
                least_l1(X, y)
            continue
        feasible += 1
        beta, multipliers = least_l1(X, y)
        assert sum(map(abs, beta)) == sum(multipliers)
        assert float(sum(map(abs, beta))) == pytest.approx(found.fun)
    assert feasible > 20


def test_the_true_optimum_is_below_all_vertices() -> None:
    X, y = np.array([[1.0, 2.0], [3.0, -1.0]]), np.ones(2)
    beta, _ = least_l1(X, y)
    grid = [Fraction(k, 8) for k in range(-16, 17)]
    costs = [abs(a) + abs(b) for a, b in product(grid, grid)
             if all(x[0] * a + x[1] * b >= 1 for x in X)]  # fmt: skip
    assert min(costs) >= sum(map(abs, beta))
