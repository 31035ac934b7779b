"""Lemmas C.1 to C.5, and Section 2's least |theta|^2: rational arithmetic and loops as oracles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from reluflow.papers.vardi2022margin import tables
from reluflow.papers.vardi2022margin.setting import (
    ascent,
    class_n_draws,
    full,
    network_draws_shared,
    rationals,
    unshared,
)
from reluflow.papers.vardi2022margin.tables import CIRCULAR, DIAGONAL, FULL, circular


def real(values: list) -> np.ndarray:
    return np.array([int(v.p) / int(v.q) for v in values])


@pytest.mark.parametrize("maps", [full, unshared, network_draws_shared])
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
        assert first.du == [fmpq(30) * rationals([slope])[0]]
        assert last.du == [0]
    first, *_ = ascent((one, one, one), [0.0, 3.0, 5.0], [[2.0]], [7.0], [[0.5, 0.25]])
    assert first.du == [fmpq(7 * 5 * 3 * 2, 8)]  # each layer with a slope of its own


def test_lemma_c_5_needs_its_hypotheses() -> None:
    assert tables.excess({"a": np.array([3.0, -4.0]), "C": np.array(2.0)}) == 17 / 25
    # An odd number of negative factors and C < 0: 0 >= (-1)^3, and 0 < 3.
    item = {"a": np.zeros(3), "C": np.array(-1.0)}
    assert tables.excess(item) < 0.0
    assert tables.squares_of_factors().unmet(item) == "C >= 0"


@pytest.mark.parametrize("a", [[2.0, 8.0], [-2.0, -8.0], [3.0], [1e-12, 1e6, 5.0], [-1.0, 2.0]])
def test_the_largest_root(a: list[float]) -> None:
    C, exact = tables.root_below(np.array(a)), max(np.prod([Fraction(v) for v in a]), 0)
    assert Fraction(C) ** len(a) <= exact <= Fraction(C * (1 + 1e-12)) ** len(a)


@pytest.mark.parametrize(("d", "depth"), [(1, 2), (3, 2), (6, 3)])
def test_circular_networks_convolve(d: int, depth: int) -> None:
    """The predictor is the circular convolution of all filters and the row, by a double loop."""
    rng = np.random.default_rng(d)
    network = circular(d, depth)
    theta, beta = rng.normal(size=network.size), np.eye(d)[0]
    for w in theta.reshape(depth, d):
        beta = np.array([sum(beta[i] * w[(j - i) % d] for i in range(d)) for j in range(d)])
    np.testing.assert_allclose(tables.predictor(network, theta), beta, atol=1e-12)
    np.testing.assert_allclose(network.output(theta, np.eye(d)), beta, atol=1e-12)


@pytest.mark.parametrize("right", [FULL, DIAGONAL, CIRCULAR])
def test_a_constant_that_is_not_reached_is_noticed(right: tables.Family) -> None:
    less = right._replace(cost=lambda b, m: 0.99 * right.cost(b, m))
    assert not tables.reached(less, 0, 20)[0].holds


def test_closed_forms_of_known_predictors() -> None:
    assert FULL.cost(np.array([3.0, 4.0]), 2) == pytest.approx(10.0)
    assert DIAGONAL.cost(np.array([1.0, -8.0]), 3) == pytest.approx(3 * (1 + 4))
    assert CIRCULAR.cost(np.array([1.0, 0.0, 0.0, 0.0]), 3) == pytest.approx(3.0)
    # fft(-1, -1) = (-2, 0): a negative coefficient at frequency 0 and even depth
    assert CIRCULAR.cost(np.array([-1.0, -1.0]), 2) == pytest.approx(2.0)
