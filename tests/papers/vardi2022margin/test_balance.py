"""Lemmas C.1 to C.4: rates in rational arithmetic, lengths in the limit."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, pairwise

import numpy as np
import pytest
from flint import fmpq
from reluflow.networks.indexed import Network
from reluflow.papers.vardi2022margin import balance
from reluflow.papers.vardi2022margin.setting import (
    ascent,
    class_n_draws,
    full,
    network_draws_shared,
    rationals,
    size,
    small_maps,
    unshared,
)


def real(values: list) -> np.ndarray:
    return np.array([int(v.p) / int(v.q) for v in values])


@pytest.mark.parametrize("maps", [full, unshared, network_draws_shared])
def test_exact_velocities_are_the_librarys_gradients(maps) -> None:
    rng = np.random.default_rng(0)
    for kind, draw in class_n_draws([maps]).items():
        if kind.startswith(("integers", "parallel", "first")):
            continue  # on kinks the library takes s'(0) = 0
        for _ in range(5):
            item = draw(rng)
            layers = balance.exact_layers(item)
            found = np.concatenate([real(layer.du) for layer in layers])
            expected = item["network"].gradient(item["theta"], item["X"], item["c"])
            np.testing.assert_allclose(
                found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max(initial=0)
            )


def test_at_a_kink_the_given_slope_counts() -> None:
    """Phi = v [w x]_+ at w = 0: dw = c v s'(0) x, and both rates are 0."""
    maps = (np.array([[1]]), np.array([[1]]))
    for slope in (0.0, 0.25, 1.0):
        first, last = ascent(maps, [0.0, 3.0], [[2.0]], [5.0], [[slope]])
        assert first.du == [fmpq(30) * rationals([slope])[0]]
        assert last.du == [0]
        assert first.parameters == last.parameters == 0
    chain = (np.array([[1]]), np.array([[1]]), np.array([[1]]))
    first, *_ = ascent(chain, [0.0, 3.0, 5.0], [[2.0]], [7.0], [[0.5, 0.25]])
    assert first.du == [fmpq(7 * 5 * 3 * 2, 8)]  # each layer with a slope of its own


def test_rates_are_those_of_squared_norms_after_a_short_step() -> None:
    rng = np.random.default_rng(1)
    maps = network_draws_shared(rng, [3, 3, 2, 1])
    network = Network(maps, "linear")
    theta, X, c = rng.normal(size=network.size), rng.normal(size=(2, 3)), rng.normal(size=2)
    layers, h = ascent(maps, theta, X, c, None), 1e-6
    step = h * np.concatenate([real(layer.du) for layer in layers])
    ends = [network.weights(theta + s * step) for s in (-1.0, 1.0)]
    for layer, a, b in zip(layers, *ends, strict=True):
        rate = (b**2 - a**2) / (4.0 * h)
        np.testing.assert_allclose(real(layer.incoming), rate.sum(axis=1), atol=1e-7)
        np.testing.assert_allclose(real(layer.outgoing), rate.sum(axis=0), atol=1e-7)
        np.testing.assert_allclose(real([layer.matrix]), rate.sum(), atol=1e-7)


def test_gaps_are_those_of_neighbours() -> None:
    one, two = ascent((np.array([[1]]), np.array([[1]])), [2.0, 3.0], [[1.0]], [1.0], None)
    other = replace(two, du=[fmpq(1)])
    assert balance._between_layers([one, two]) == [0]
    assert balance._between_layers([one, other, two]) == [6 - 3, 3 - 6]


def test_every_small_sharing_is_listed_once() -> None:
    """Bell numbers: 1 of (1, 1), 2 of (2, 1), 2 x 2 of (1, 2) and 15 x 2 of (2, 2)."""
    found = [tuple(g.tobytes() for g in maps) + maps[0].shape for maps in small_maps(2)]
    assert len(found) == len(set(found)) == 37


def test_sharing_breaks_the_law_of_one_neuron() -> None:
    """Phi = v u (x_1 + x_2): |w|^2 = 2 u^2 changes twice as fast as v^2."""
    broken, first, second = (item.value for item in balance.sharing())
    assert sum(broken) == 37 - 4
    assert first == "[[1, 1]] and [[1]]"
    assert second == "[[1], [1]] and [[1, 2]]"
    layers = ascent((np.array([[1, 1]]), np.array([[1]])), [2.0, 3.0], [[1.0, 4.0]], [1.0], None)
    assert layers[0].incoming == [60]
    assert layers[1].outgoing == [30]
    assert size(layers) == 60


def test_one_point_breaks_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four points in turn one does: all networks with shared weights count as broken."""
    gaps = cycle([[0], [1], [0], [0]])
    monkeypatch.setattr(balance, "neuron_gaps", lambda _: next(gaps))
    assert balance.sharing()[0].value[1] == 0


def test_squared_differences_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(2)
    network = Network(network_draws_shared(rng, [3, 2, 3, 1]), "relu")
    thetas = rng.normal(size=(2, network.size))
    layers, neurons = balance.squared_differences(network, thetas)
    for k, theta in enumerate(thetas):
        parts = np.split(theta, np.cumsum(network.sizes)[:-1])
        W = network.weights(theta)
        np.testing.assert_allclose(layers[k], [a @ a - b @ b for a, b in pairwise(parts)])
        slow = [A[i] @ A[i] - B[:, i] @ B[:, i] for A, B in pairwise(W) for i in range(len(A))]
        np.testing.assert_allclose(neurons[k], slow)
