"""Appendices D and E, Lemma F.10, Theorem F.11: closed forms, exact counts, slow loops."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.flows.affine import affine_flow
from reluflow.papers.lee2022support import linear

RING = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])


def test_linear_neuron_of_data() -> None:
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]]), np.array([3.0, -1.0, 2.0])
    for labels in (y, -y, y[::-1]):
        net = linear.linear_neuron(X, labels)
        assert np.all(net.c >= 0)
        assert np.allclose(net.vertices[[0, 3]], [np.zeros(2), np.linalg.lstsq(X, labels)[0]])
        assert np.allclose(net.g(net.vertices), 0.0, atol=1e-12)
        assert net.g(0.5 * net.minimum) == pytest.approx(-net.height)
    with pytest.raises(ValueError, match="rank d"):
        linear.linear_neuron(X[:1], y[:1])


def test_late_states_agree_with_the_flow_at_any_rank() -> None:
    rng = np.random.default_rng(3)
    for full in (True, False):
        for draw in linear.factored_draws(full).values():
            item = draw(rng)
            X, y = linear.data_of(item)
            assert (np.linalg.matrix_rank(X) == X.shape[1]) == full
            slowest = np.linalg.svd(X, compute_uv=False)[np.linalg.matrix_rank(X) - 1] ** 2
            path = affine_flow(X, y, item["w0"], "linear")
            state = linear.late(X, y, item["w0"], decays=2.0)
            assert np.allclose(path.at(2.0 / slowest), state, atol=1e-8)


def test_the_ring_has_no_nonnegative_coordinates_and_smaller_data_have() -> None:
    assert linear.search_nonnegative(RING, 0, 2000).min() < -0.05
    assert [linear.supports_exist(RING, width) for width in (3, 4)] == [False, True]
    three = np.random.default_rng(0).uniform(0.05, 1.0, (3, 5))
    found = linear.search_nonnegative(three, 0, 2000)
    assert found.min() >= 0.0
    assert np.allclose(found @ found.T, three @ three.T)
    X = np.array([[1.0, 0, 1, 0], [0, 1.0, 0, 1], [1, 2, 1, 2]])
    Z = linear.plane_coordinates(X)
    assert np.allclose(Z @ Z.T, X @ X.T)
    assert Z.min() >= -1e-12


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_a_flow_beside_the_span_is_seen_on_either_side(factor: float) -> None:
    item = {"A": np.eye(1), "B": np.ones((1, 2)), "y": np.ones(1), "w0": np.array([0.1, 0.1])}
    assert linear.flow_stays_along_span("linear", item) > -1e-12
    assert linear.flow_stays_along_span("linear", {**item, "planted": factor}) < -0.1
