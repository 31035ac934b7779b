"""Section 2: the least |theta|^2 for a predictor, in closed form and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow.papers.vardi2022margin import balance
from reluflow.papers.vardi2022margin.balance import CIRCULAR, DIAGONAL, FULL, circular

FAMILIES = {"full": FULL, "diagonal": DIAGONAL, "circular": CIRCULAR}


@pytest.mark.parametrize(("d", "depth"), [(1, 2), (2, 3), (3, 2), (5, 4), (6, 3)])
def test_circular_networks_convolve(d: int, depth: int) -> None:
    """The predictor is the circular convolution of all filters and the row, by a double loop."""
    rng = np.random.default_rng(d)
    network = circular(d, depth)
    theta = rng.normal(size=network.size)
    beta = np.eye(d)[0]
    for w in theta.reshape(depth, d):
        beta = np.array([sum(beta[i] * w[(j - i) % d] for i in range(d)) for j in range(d)])
    np.testing.assert_allclose(balance.predictor(network, theta), beta, atol=1e-12)
    X = rng.normal(size=(4, d))
    np.testing.assert_allclose(network.output(theta, X), X @ beta, atol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 7), depth=st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_minimisers_have_the_predictor_and_the_closed_forms_length(
    name: str, seed: int, d: int, depth: int
) -> None:
    family, rng = FAMILIES[name], np.random.default_rng(seed)
    beta = np.round(rng.normal(size=d), int(rng.integers(0, 3))) * 10.0 ** rng.uniform(-6, 6)
    network = family.network(d, depth, rng)
    theta = family.minimiser(network, beta)
    size = np.abs(beta).max()
    np.testing.assert_allclose(balance.predictor(network, theta), beta, atol=1e-11 * size)
    assert theta @ theta == pytest.approx(family.cost(beta, depth), rel=1e-11)
    assert np.isreal(theta).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_a_constant_that_is_not_reached_is_noticed(name: str) -> None:
    right = FAMILIES[name]
    less = right._replace(cost=lambda b, m: 0.99 * right.cost(b, m))
    assert not balance.reached(less, 0, 20)[0].holds


def test_closed_forms_of_known_predictors() -> None:
    assert FULL.cost(np.array([3.0, 4.0]), 2) == pytest.approx(10.0)
    assert DIAGONAL.cost(np.array([1.0, -8.0]), 3) == pytest.approx(3 * (1 + 4))
    assert CIRCULAR.cost(np.array([1.0, 0.0, 0.0, 0.0]), 3) == pytest.approx(3.0)
    # fft(-1, -1) = (-2, 0): a negative coefficient at frequency 0 and even depth
    assert CIRCULAR.cost(np.array([-1.0, -1.0]), 2) == pytest.approx(2.0)
    beta = np.random.default_rng(0).normal(size=5)
    full = 4 / 5 * np.sum(np.abs(np.fft.fft(beta)) ** 0.5)
    assert CIRCULAR.cost(beta, 4) == pytest.approx(full)
