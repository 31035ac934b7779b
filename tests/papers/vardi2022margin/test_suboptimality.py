"""Theorem 3.2, the remarks and the starts: closed forms against slow searches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reluflow.margin.max_margin import least_length
from reluflow.papers.vardi2022margin import dead_neuron, suboptimality
from scipy.integrate import solve_ivp

SEEDS = st.integers(0, 10**6)


@pytest.mark.parametrize("activation", ["linear", "relu"])
@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_a_shared_filter_has_the_optimum_of_a_fine_grid(activation: str, seed: int) -> None:
    patches = np.random.default_rng(seed).normal(size=(3, 2))
    phi = np.linspace(0.0, 2.0 * np.pi, 20001)
    inputs = np.stack([np.cos(phi), np.sin(phi)], axis=1) @ patches.T
    found = inputs if activation == "linear" else np.maximum(inputs, 0.0)
    slow = 2.0 / np.linalg.norm(found, axis=1).max()
    assert suboptimality.shared_filter_optimum(patches, activation) == pytest.approx(slow, rel=1e-6)


# --- Theorem 3.2, its start, and its data moved ---------------------------------------------------


def test_starts_have_the_variances_of_their_schemes() -> None:
    """2 / (in + out) is Xavier's, 2 / in He's and 1 / (3 in) torch's, of 2 units and of 1 on 2."""
    asked = {"Xavier": (1 / 2, 2 / 3), "He": (1, 1), "PyTorch": (1 / 6, 1 / 6)}
    for scheme in suboptimality.SCHEMES:
        W, v = suboptimality.starts(scheme, 0, 20_000)
        (single,) = (both for name, both in asked.items() if scheme.startswith(name))
        assert (W.var(), v.var()) == pytest.approx(single, rel=0.05)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_the_limit_of_a_pair_is_that_of_the_program(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(2, 2))
    assume(abs(np.linalg.det(X)) > 1e-2)
    theta = dead_neuron.pair_limit(X)
    least = least_length(X, np.ones(2)).blocks[0]
    assert theta[4] * theta[:2] == pytest.approx(least, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_the_first_neuron_keeps_both_up_to_there_and_no_farther(factor: float) -> None:
    """Plain integration of the first neuron from w.x_1 = w.x_2 = 1e-6."""
    X = dead_neuron.PRINTED + factor * (dead_neuron.nearest_losing() - dead_neuron.PRINTED)

    def rate(t: float, z: NDArray) -> NDArray:
        h = X @ z[:2]
        g = np.exp(-z[2] * h) * (h > 0.0)
        return np.append(z[2] * (g @ X), g @ h)

    path = solve_ivp(rate, (0.0, 5.0), [*np.linalg.solve(X, [1e-6, 1e-6]), 1.0], max_step=1e-2)
    assert ((X @ path.y[:2]).min() > 0.0) == (factor < 1.0)


def test_what_the_start_is_asked_for_is_each_condition() -> None:
    W, v = np.array([[0.1, 1.0], [0.1, -1.0]]), np.array([1.0, -5.0])
    assert suboptimality.asked_for(W, v)
    far = ([[0.3, 1.0], [0.1, -1.0]], [[0.1, 1.0], [-0.3, -1.0]])
    for V, u in ((W, -v), (-W, v), *((np.array(one), v) for one in far)):
        assert not suboptimality.asked_for(V, u)


@pytest.mark.parametrize(("size", "inside"), [(0.7071, True), (0.7072, False)])
def test_the_radius_ends_where_it_says(size: float, inside: bool) -> None:
    moved = {"x": suboptimality.PRINTED_DATUM + np.array([0.0, size]), "activation": "relu"}
    assert (suboptimality.silent_nearby().unmet(moved) is None) == inside


def test_an_untied_start_is_not_taken_for_a_tie() -> None:
    x = (Fraction(3), Fraction(2))
    assert suboptimality.race(x, x) == (0, 1)
    assert suboptimality.race(x, (x[0], x[1] + Fraction(1, 10**30))) == (0,)
