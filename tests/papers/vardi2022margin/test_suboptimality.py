"""Theorem 3.2, the remarks and the starts: closed forms against slow searches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reluflow.margin.max_margin import least_length
from reluflow.papers.vardi2022margin import dead_neuron, suboptimality

SEEDS = st.integers(0, 10**6)


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


def test_what_the_start_is_asked_for_is_each_condition() -> None:
    W, v = np.array([[0.1, 1.0], [0.1, -1.0]]), np.array([1.0, -5.0])
    assert suboptimality.asked_for(W, v)
    far = ([[0.3, 1.0], [0.1, -1.0]], [[0.1, 1.0], [-0.3, -1.0]])
    for V, u in ((W, -v), (-W, v), *((np.array(one), v) for one in far)):
        assert not suboptimality.asked_for(V, u)


def test_an_untied_start_is_not_taken_for_a_tie() -> None:
    x = (Fraction(3), Fraction(2))
    assert suboptimality.race(x, x) == (0, 1)
    assert suboptimality.race(x, (x[0], x[1] + Fraction(1, 10**30))) == (0,)
