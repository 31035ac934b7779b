"""Whether a point of the margin problem is an optimum: against direct minimisation, and printed
constructions whose answers are known."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reluflow.errors import InputError
from reluflow.margin.max_margin import least_length
from reluflow.networks.indexed import Network, convolutional, diagonal, fully_connected
from reluflow.papers.vardi2022margin import local_optima, two_layers
from reluflow.papers.vardi2022margin.certificates import quotient
from reluflow.papers.vardi2022margin.checker import check
from reluflow.papers.vardi2022margin.counterexamples import values
from reluflow.papers.vardi2022margin.local_optima import fitted, local_proof
from reluflow.papers.vardi2022margin.optimum import classify_optimum, global_optimum
from reluflow.papers.vardi2022margin.proofs import Aligned, Cellwise, Layer, Shorter
from reluflow.papers.vardi2022margin.two_layers import least_sum
from scipy.optimize import minimize

WIDE = np.array([[1.0, 0.25], [-1.0, 0.25]])
DEAD = np.array([0.0, 2.0, 0.0, 0.0, 2.0, 0.0])
HALF = 2.0**-0.5


def descended(
    network: Network, X: NDArray, y: NDArray, rng: np.random.Generator, starts: int
) -> list[NDArray]:
    """Feasible parameters that SciPy's SLSQP finds from random starts."""
    found = []
    for _ in range(starts):
        run = minimize(
            lambda t: 0.5 * t @ t,
            2.0 * rng.normal(size=network.size),
            jac=lambda t: t,
            constraints={
                "type": "ineq",
                "fun": lambda t: y * network.output(t, X) - 1.0,
                "jac": lambda t: y[:, None] * network.rates(t, X, np.eye(network.size))[1].T,
            },
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-14},
        )
        point = fitted(network, run.x, X, y, None)
        if point is not None:
            found.append(point)
    return found


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_multipliers_bound_the_programs_from_below(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r, sizes = int(rng.integers(1, 6)), rng.integers(1, 4, int(rng.integers(1, 4)))
    blocks = [rng.normal(size=(r, p)) for p in sizes]
    h = rng.integers(0, 2, r).astype(float)
    assume(h.any())
    G = np.hstack(blocks)
    free = [np.zeros((0, p)) for p in sizes]
    for found, quadratic in [(least_sum(blocks, h, free), False), (least_length(G, h), True)]:
        z, u = found.multipliers, np.concatenate(found.blocks)
        assert np.all(z >= 0.0)
        size = max(float(np.linalg.norm(B.T @ z)) for B in ([G] if quadratic else blocks))
        if np.isfinite(found.value):
            assert np.all(G @ u >= h - 1e-7)
            assert quadratic or size <= 1.0 + 1e-7
            bound = z @ h - 0.5 * size**2 * quadratic
            assert bound == pytest.approx(found.value, rel=1e-6, abs=1e-9)
        else:
            assert z @ h > 1e5 * size


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_data_in_any_unit(unit: float) -> None:
    """A power of two in the data changes nothing, exactly; Problem (2) scales by its root."""
    X, theta, net = (
        np.array([*WIDE, [0, -1]]),
        np.array([0, 2.0, 0, -1, 2, 1]),
        fully_connected([2, 2]),
    )
    here, there = (classify_optimum(net, theta, c * X, np.ones(3)) for c in (1.0, unit))
    assert here.verdict == there.verdict == "local"
    best, same = (global_optimum(net, c * X, np.ones(3)).theta for c in (1.0, unit))
    assert np.array_equal(best, same * unit**0.5)
    u, v = (least_length(c * X[:2], np.ones(2)) for c in (1.0, unit))
    assert u.value == v.value * unit**2
    assert np.array_equal(u.multipliers, v.multipliers * unit**2)


def test_points_that_are_refused() -> None:
    net = fully_connected([2, 2])
    with pytest.raises(InputError, match="classify every datum"):
        classify_optimum(net, -np.ones(6), WIDE, [1, 1])
    with pytest.raises(InputError, match="layer must be from 1 to 2, not 3"):
        classify_optimum(net, DEAD, WIDE, [1, 1], layer=3)
    with pytest.raises(InputError, match="without shared weights"):
        global_optimum(convolutional(2, 2), [[4, HALF, -4, HALF]], [1])
    for none in (np.zeros((0, 2)), [[1e160, 0.0]], [[1e-160, 0.0]], [[np.nan, 0.0]]):
        with pytest.raises(InputError, match=r"no data|another unit"):
            global_optimum(net, none, np.ones(len(none)))
        with pytest.raises(InputError, match=r"no data|another unit"):
            classify_optimum(net, DEAD, none, np.ones(len(none)))
    with pytest.raises(InputError, match="no parameters"):
        global_optimum(net, [[1, 0], [1, 0]], [1, -1])


def problem(seed: int) -> tuple[Network, NDArray, NDArray, np.random.Generator]:
    """A small network of depth 2, full or sparse, and data that it can classify or not."""
    rng = np.random.default_rng(seed)
    d, k, n = (int(rng.integers(1, high)) for high in (4, 4, 5))
    there = (rng.random((k, d)) < 0.7) | (np.arange(d) == 0)
    maps = np.zeros((k, d), int)
    maps[there] = np.arange(1, there.sum() + 1)
    network = Network((maps, np.arange(1, k + 1)[None]), rng.choice(["relu", "linear"]))
    X = rng.normal(size=(n, d)) if rng.random() < 0.5 else rng.integers(-3, 4, (n, d)).astype(float)
    return network, X, rng.choice([-1.0, 1.0], n), rng


@pytest.mark.long
@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_no_descent_ends_below_what_is_an_optimum(seed: int) -> None:
    """Below the global one nowhere, and below a local one not nearby."""
    network, X, y, rng = problem(seed)
    ends = descended(network, X, y, rng, 3)
    assume(ends)
    with suppress(InputError):  # too few neurons
        best = global_optimum(network, X, y)
        value = quotient(network, best.theta, X, y)
        assert min(float(t @ t) for t in ends) >= value * (1.0 - 1e-6)
        assert classify_optimum(network, best.theta, X, y).verdict in ("global", "local")
    for theta in ends:
        found = classify_optimum(network, theta, X, y)
        if found.verdict in ("global", "local"):
            for size in (1e-2, 1e-3):
                shifts = size * rng.normal(size=(100, network.size))
                costs = values(network, theta + shifts, X, y)
                least = float(found.theta @ found.theta) * (1.0 - 2e-6)
                assert not (costs < least).any()  # NaN where a datum is on the wrong side
        if isinstance(found.certificate, Shorter):
            value = quotient(network, found.theta, X, y)
            for point in found.certificate.points:
                assert quotient(network, point, X, y) < value


@pytest.mark.parametrize("n", [6, 7])
def test_as_many_columns_as_data_are_enough(n: int) -> None:
    """Labels that alternate: the program splits a vector between the cells that it bounds."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 2)), np.where(np.arange(n) % 2, -1.0, 1.0)
    best = global_optimum(fully_connected([2, n]), X, y)
    assert best.verdict == "global"
    assert check(fully_connected([2, n]), best.theta, X, y, best.certificate).verdict == "global"
    with pytest.raises(InputError, match="too few"):
        global_optimum(fully_connected([2, 3]), X, y)
    with pytest.raises(InputError, match="too few"):  # One serves both data; two could do better.
        global_optimum(fully_connected([2, 1]), WIDE, [1, 1])


def orthogonal_pair(n: int, d: int) -> tuple[NDArray, NDArray, list[NDArray]]:
    """Orthogonally separable data, and the max-margin vectors of their two classes."""
    X = 0.5 * np.random.default_rng(n).normal(size=(n, d))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X[:, 0] = 0.0
    X *= 0.6 / np.linalg.norm(X, axis=1)[:, None]
    X[:, 0] = y
    return X, y, [least_length(X[y == s], np.ones(int((y == s).sum()))).blocks[0] for s in (1, -1)]


def with_idle(X: NDArray, ends: list[NDArray], width: int) -> tuple[Network, NDArray]:
    """A network in which one neuron serves each class and the others are 0."""
    net = fully_connected([X.shape[1], width])
    W, v = np.zeros((width, X.shape[1])), np.zeros((1, width))
    for j, (u, sign) in enumerate(zip(ends, (1.0, -1.0), strict=True)):
        size = np.sqrt(np.linalg.norm(u))
        W[j], v[0, j] = u / size, sign * size
    return net, net.parameters([W, v])


def test_the_checker_takes_the_columns_of_one_large_program() -> None:
    """Dense, it has 4e6 entries, and that of 20 data in R^4 had 13.8 GB."""
    X, y, ends = orthogonal_pair(14, 3)
    net, theta = with_idle(X, ends, 5)
    found = classify_optimum(net, theta, X, y)
    assert check(net, theta, X, y, found.certificate).verdict == "global"


def test_too_many_cells_are_undecided_in_one_sentence() -> None:
    X, y, ends = orthogonal_pair(60, 8)
    net, theta = with_idle(X, ends, 3)
    found = classify_optimum(net, theta, X, y)
    assert (found.verdict, found.certificate) == ("undecided", None)
    assert "cells, and 10000 are the limit" in found.detail
    # Without idle neurons few cells meet the point, and that it is a local optimum is seen.
    net, theta = with_idle(X, ends, 2)
    found = classify_optimum(net, theta, X, y)
    assert found.verdict == "local"
    assert "whether it is a global one was not asked" in found.detail


def test_a_point_that_is_not_balanced_is_no_optimum() -> None:
    for theta in ([0, 4, 1.0], [0, 1.01, 1.0], [0, 1, 4.0]):
        found = classify_optimum(fully_connected([2, 1]), theta, [[0, 1.0]], [1])
        assert found.verdict == "not local"


def test_neurons_that_reach_no_output_shrink() -> None:
    net = Network((np.array([[1], [2]]), np.array([[1, 0]])), "linear")
    assert classify_optimum(net, [1, 0.5, 1], [[1.0]], [1]).verdict == "not local"
    assert classify_optimum(net, [1, 0.0, 1], [[1.0]], [1]).verdict == "global"


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_aligned_layers_are_global(depth: int) -> None:
    """W_l = C a_l a_(l-1)' with a_0 the max-margin direction (Theorem 3.1)."""
    rng = np.random.default_rng(depth)
    X = rng.normal(size=(5, 3)) + np.array([3.0, 0.0, 0.0])
    y, net = np.ones(5), fully_connected([3] * depth, "linear")
    u = least_length(X, np.ones(5)).blocks[0]
    a = [u / np.linalg.norm(u), *(rng.normal(size=(depth - 1, 3))), np.ones(1)]
    a = [v / np.linalg.norm(v) for v in a]
    matrices = [np.outer(b, c) for c, b in pairwise(a)]
    theta = net.parameters(matrices)
    found = classify_optimum(net, theta, X, y)
    assert found.verdict == "global"
    assert isinstance(found.certificate, Aligned if depth > 2 else Cellwise)
    matrices[0] = matrices[0] + 0.03 * np.outer(rng.normal(size=3), rng.normal(size=3))
    assert classify_optimum(net, net.parameters(matrices), X, y).verdict == "not local"


def test_few_cells_of_many_data_are_too_many() -> None:
    """400 data in the plane: 800 cells, and one program of all would take over 0.6 GB."""
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="up to 800 cells are too many for 400 data"):
        two_layers.neurons(fully_connected([2, 3]), rng.normal(size=(400, 2)))


def test_a_layer_of_a_linear_network_is_a_quadratic_program() -> None:
    rng = np.random.default_rng(3)
    net, X = diagonal(3, 3, "linear"), rng.random((4, 3)) + 0.1
    theta, y = rng.random(9) + 0.5, np.ones(4)
    at = classify_optimum(net, theta, X, y, layer=2)
    assert at.verdict == "not local"
    first, _, last = at.theta.reshape(3, 3)
    best = least_length(X * first * last, y).blocks[0]
    again = classify_optimum(net, np.concatenate([first, best, last]), X, y, layer=2)
    assert again.verdict == "global"
    assert isinstance(again.certificate, Layer)


def test_a_strict_optimum_of_a_deep_network() -> None:
    """Depth 3 with one path, x v u w = 1: balanced it is the optimum, up to its signs."""
    net = Network((np.ones((1, 1), int),) * 3, "relu")
    found = classify_optimum(net, [1.0, 1, 1], [[1.0]], [1])
    assert (found.verdict, found.certificate) == ("local", None)
    assert classify_optimum(net, [2.0, 1, 0.5], [[1.0]], [1]).verdict == "not local"


def test_a_linear_network_whose_optima_are_a_manifold() -> None:
    """Two hidden units may be turned, and a weight is missing, so that the bound of the predictor
    does not speak of it: a linear network has no idle unit that might be revived."""
    net = Network((np.array([[1, 0]]), np.array([[1], [2]]), np.array([[1, 2]])), "linear")
    found = classify_optimum(net, [1.0, 1, 0, 1, 0], [[1.0, 2.0]], [1])
    assert (found.verdict, found.certificate) == ("undecided", None)


MANY = np.vstack([c * WIDE * [1.0, 1.0 + s] for c in (1.0, 2.0, 3.0) for s in (0.0, 0.5)])


@pytest.mark.parametrize("X", [WIDE, MANY], ids=["4 cells", "2^12 cells"])
def test_a_dead_neuron_below_a_deeper_layer_is_found(X: NDArray) -> None:
    """Theorem 3.2 with one more layer: the dead neuron shortens the point; few cells are tried."""
    net, c, y = fully_connected([2, 2, 1]), 4.0 ** (1 / 3), np.ones(len(X))
    theta = np.array([0, c, 0, 0, c, 0, c])
    found = classify_optimum(net, theta, X, y)
    assert found.verdict == "not local"
    again = check(net, theta, X, y, found.certificate)
    assert again.verdict == "not local"
    assert again.slack < 1e-4


def test_a_layer_of_idle_units_behind_a_kink() -> None:
    """What is drawn is drawn alike each time."""
    rng = np.random.default_rng(4)
    net, X = fully_connected([3, 3, 3]), np.array([2.0, 0.0, 0.0]) + rng.normal(size=(9, 3))
    theta = np.zeros(net.size)
    theta[0], theta[9], theta[18] = 1.0, 1.0, 1.0
    first, second = (classify_optimum(net, theta, X, np.ones(9)) for _ in range(2))
    assert first.verdict == second.verdict == "not local"
    assert np.array_equal(first.certificate.points, second.certificate.points)


@pytest.mark.parametrize("strict", [[True, True], [False, True], [True, False]])
def test_a_strict_optimum_of_one_of_two_cells_is_none_of_both(strict, monkeypatch) -> None:
    """The certificate speaks of one smooth cell, and around a kink there are more."""
    proofs = iter(strict)
    monkeypatch.setattr(local_optima, "adjacent", lambda *_: [[], []])
    monkeypatch.setattr(local_optima, "_in_cell", lambda *_: next(proofs))
    monkeypatch.setattr(local_optima, "_revived", lambda *_: None)
    theta = np.array([1.0, 0.0, 1.0, 0.0])
    network = diagonal(2, 2, "linear")
    assert not local_proof(network, theta, np.array([[1.0, 2.0]]), np.ones(1))
