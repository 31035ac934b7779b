"""Theorem 3.2, Figure 1 and the remarks: closed forms against slow searches, and planted faults."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reluflow.margin.max_margin import least_length
from reluflow.papers.vardi2022margin import dead_neuron, suboptimality
from reluflow.papers.vardi2022margin.suboptimality import least_l1
from scipy.optimize import minimize

# --- Theorem 3.2 and its data moved ---------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_the_shortest_predictor_is_that_of_the_program(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(2, 2))
    assume(abs(np.linalg.det(X)) > 1e-2)
    u, mu = dead_neuron.shortest_predictor(X)
    found = least_length(X, np.ones(2))
    assert u == pytest.approx(found.blocks[0], rel=1e-6, abs=1e-8)
    assert mu @ X == pytest.approx(u, rel=1e-9)
    assert mu.min() >= 0.0


def test_no_data_nearer_lose_one() -> None:
    nearest = dead_neuron.nearest_losing()

    def keeps_both(X: NDArray) -> float:
        return float((X @ X.sum(axis=0)).min())

    assert abs(keeps_both(nearest)) < 1e-14
    rng, best = np.random.default_rng(0), np.inf
    for _ in range(20):
        run = minimize(
            lambda z: np.sum((z - dead_neuron.PRINTED.ravel()) ** 2),
            dead_neuron.PRINTED.ravel() + 0.2 * rng.normal(size=4),
            constraints={"type": "ineq", "fun": lambda z: -keeps_both(z.reshape(2, 2))},
            method="SLSQP",
        )
        if run.success:
            best = min(best, run.fun**0.5)
    assert best == pytest.approx(suboptimality.LOSING, rel=1e-4)


def test_starts_are_of_the_stated_kind() -> None:
    rng = np.random.default_rng(0)
    starts = [dead_neuron.draw_start(dead_neuron.PRINTED, rng, (-12.0, 6.0)) for _ in range(500)]
    assert all(suboptimality.as_asked(theta, dead_neuron.PRINTED) for theta in starts)
    assert {np.sign(theta[5]) for theta in starts} == {-1.0, 1.0}
    for wrong in ([0, 1, -1, 0, 1, 1], [1, 0, 0, -1, 1, 1], [0, 1, 0, -1, -1, 1]):
        assert not suboptimality.as_asked(np.array(wrong, float), dead_neuron.PRINTED)
    lengths = np.array([np.linalg.norm(theta[:2]) for theta in starts])
    assert lengths.min() < 1e-9 < 1e4 < lengths.max()


# --- The other data moved -------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "inside"), [(0.7071, True), (0.7072, False)])
def test_the_radius_ends_where_it_says(size: float, inside: bool) -> None:
    item = {"x": suboptimality.PRINTED_DATUM + np.array([0.0, size]), "activation": "relu"}
    assert (suboptimality.silent_nearby().unmet(item) is None) == inside


# --- Remark 4.1 -----------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_the_programme_has_the_exact_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (2, 3)).astype(float)
    assume(np.linalg.matrix_rank(X) == 2)
    y = rng.choice([-1.0, 1.0], 2)
    beta, _ = least_l1(X.astype(int), y.astype(int))
    exact = float(sum(map(abs, beta)))
    assert suboptimality.least_l1_norm(X, y) == pytest.approx(exact, rel=1e-9)
    units = 10.0 ** rng.integers(-12, 13)
    assert suboptimality.least_l1_norm(units * X, y) == pytest.approx(exact / units, rel=1e-9)
