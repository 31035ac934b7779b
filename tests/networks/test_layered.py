"""Layered networks: descent against torch, the flow up to the first change of an activation."""

from __future__ import annotations

import numpy as np
from reluflow.networks.indexed import descend
from reluflow.papers.lee2022support.deep import autograd, flow_to_flip, side_by_side


def test_descent_side_by_side_is_descent_with_torch() -> None:
    weights, X, Y = side_by_side(2, (2, 3, 2), 3, np.random.default_rng(4))
    together = descend(weights, X, Y, 0.05, 20)
    for k in range(2):
        W = [w[k] for w in weights]
        for _ in range(20):
            W = [w - 0.05 * g for w, g in zip(W, autograd(W, X[k], Y[k])[1], strict=True)]
        for m in range(2):
            np.testing.assert_allclose(together[m][k], W[m], rtol=1e-10, atol=1e-12)


def test_the_flow_up_to_a_flip_is_the_limit_of_descent_and_stops_at_the_flip() -> None:
    weights, X, Y = side_by_side(12, (2, 3, 2), 3, np.random.default_rng(7))
    stopped, fine = [], descend(weights, X, Y, 0.05 / 2000, 2000)
    for k in range(12):
        W = [w[k] for w in weights]
        end, reached = flow_to_flip(W, X[k], Y[k], 0.05)
        stopped.append(reached)
        if reached:
            h = X[k] @ end[0].T
            assert np.abs(h).min() < 1e-7
        else:
            for a, b in zip(end, fine, strict=True):
                np.testing.assert_allclose(a, b[k], atol=4e-4)
    assert {True, False} == set(stopped)


def test_a_flow_that_comes_to_slide_is_stopped_there() -> None:
    """The second network of seed 39 slides along the boundary of a unit from t = 0.1189 on."""
    weights, X, Y = side_by_side(30, (3, 5, 4, 2), 4, np.random.default_rng(39))
    layers = [W[1] for W in weights]
    end, stopped = flow_to_flip(layers, X[1], Y[1], 0.2)
    first = X[1] @ end[0].T
    second = np.maximum(first, 0.0) @ end[1].T
    assert stopped
    assert min(np.abs(first).min(), np.abs(second).min()) < 1e-7
