"""Theorem 3.2, Figure 1 and the remarks: closed forms against slow searches, and planted faults."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reluflow.margin.kkt import margins, quotient
from reluflow.margin.max_margin import least_length
from reluflow.margin.optimum import classify_optimum
from reluflow.margin.second_order import span
from reluflow.networks.indexed import diagonal
from reluflow.papers.vardi2022margin import dead_neuron, suboptimality
from reluflow.papers.vardi2022margin.suboptimality import (
    Family,
    flat_patches,
    least_l1,
    longer_coordinate,
    opening_angle,
    paired_data,
    paired_layer,
)
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

FAMILIES = [opening_angle(), longer_coordinate("linear"), longer_coordinate("relu"), paired_data(),
            paired_layer(), flat_patches("linear"), flat_patches("relu")]  # fmt: skip


def named(family: Family) -> str:
    return f"{family.name}, {family.network.activation}"


# --- Remark 3.1 -----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES, ids=named)
def test_the_ratio_is_what_a_search_finds(family: Family) -> None:
    h, rng = 0.2, np.random.default_rng(3)
    X, y, theta = family.data(h), family.labels(h), family.limit(h)
    assert margins(family.network, theta, X, y) == pytest.approx(1.0, rel=1e-14)
    where = span(family.network, family.layer)
    bound = theta[where] @ theta[where] / family.ratio(h) ** 2

    def completed(part: NDArray) -> NDArray:
        whole = theta.copy()
        whole[where] = part
        return whole

    best = np.inf
    for _ in range(60):
        run = minimize(
            lambda t: t @ t,
            2.0 * rng.normal(size=len(theta[where])),
            jac=lambda t: 2.0 * t,
            constraints={"type": "ineq", "fun": lambda t: family.network.output(
                completed(t), X) - 1.0},
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-12},
        )  # fmt: skip
        if run.success and family.network.output(completed(run.x), X).min() > 1.0 - 1e-8:
            best = min(best, run.fun)
    assert best == pytest.approx(bound, rel=1e-5)


@pytest.mark.parametrize("family", FAMILIES, ids=named)
def test_the_start_is_feasible_and_the_family_is_the_printed_one(family: Family) -> None:
    for h in (0.25, 1e-3):
        assert margins(family.network, family.start(h), family.data(h), family.labels(h)).min() > 0
    assert np.all(np.diff([family.ratio(h) for h in (0.2, 0.1, 0.01, 1e-4)]) > 0.0)


@pytest.mark.parametrize("activation", ["linear", "relu"])
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_a_shared_filter_has_the_optimum_of_a_fine_grid(activation: str, seed: int) -> None:
    patches = np.random.default_rng(seed).normal(size=(3, 2))
    phi = np.linspace(0.0, 2.0 * np.pi, 20001)
    inputs = np.stack([np.cos(phi), np.sin(phi)], axis=1) @ patches.T
    values = inputs if activation == "linear" else np.maximum(inputs, 0.0)
    slow = 2.0 / np.linalg.norm(values, axis=1).max()
    assert suboptimality.shared_filter_optimum(patches, activation) == pytest.approx(slow, rel=1e-6)


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


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_the_first_neuron_keeps_both_up_to_there_and_no_farther(factor: float) -> None:
    # Plain integration of the first neuron from w.x_1 = w.x_2 = 1e-6.
    X = dead_neuron.PRINTED + factor * (dead_neuron.nearest_losing() - dead_neuron.PRINTED)

    def rate(t: float, z: NDArray) -> NDArray:
        h = X @ z[:2]
        g = np.exp(-z[2] * h) * (h > 0.0)
        return np.append(z[2] * (g @ X), g @ h)

    path = solve_ivp(rate, (0.0, 5.0), [*np.linalg.solve(X, [1e-6, 1e-6]), 1.0], max_step=1e-3)
    assert ((X @ path.y[:2]).min() > 0.0) == (factor < 1.0)


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


# --- The race -------------------------------------------------------------------------------------


def test_near_the_printed_datum_a_start_of_its_own_ends_at_no_local_optimum() -> None:
    """Theorem 5.1 lets the start be chosen: by the integrated flow, from alpha = 1/x and m = 3."""
    x, depth = np.array([1.001, 0.999]), 3
    path = solve_ivp(lambda G, a: x * a**2, (0.0, 1.0 - 1e-6), 1.0 / x, rtol=1e-12)
    ratio = path.y[1, -1] / path.y[0, -1]
    assert ratio == pytest.approx(x[0] / x[1], rel=1e-6)
    alpha = np.array([1.0, ratio])
    network = diagonal(2, depth, "linear")
    values = [quotient(network, np.tile(alpha * [1.0, s], depth), x[None], np.ones(1))
              for s in (0.99, 1.0, 1.01)]  # fmt: skip
    assert values[1] > max(values[0], values[2])


def test_an_untied_start_is_not_taken_for_a_tie() -> None:
    x = (Fraction(3), Fraction(2))
    assert suboptimality.race(x, (Fraction(3), Fraction(2))) == (0, 1)
    assert suboptimality.race(x, (Fraction(3), Fraction(2) + Fraction(1, 10**30))) == (0,)
    theta = suboptimality.limit_of(np.array([3.0, 2.0]), 3, (0, 1), np.array([3.0, 2.0]) ** -1.0)
    value = classify_optimum(diagonal(2, 3, "linear"), theta, np.array([[3.0, 2.0]]), np.ones(1))
    assert value.verdict == "not local"  # and a KKT point:
    gradient = diagonal(2, 3, "linear").gradient(theta, np.array([[3.0, 2.0]]), np.ones(1))
    assert gradient / gradient[0] == pytest.approx(theta / theta[0], rel=1e-12)


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
