"""Layered networks: their active units and norms, and descent against torch."""

from __future__ import annotations

import numpy as np
from reluflow.networks.indexed import descend
from reluflow.papers.lee2022support.deep import autograd, side_by_side


def test_descent_side_by_side_is_descent_with_torch() -> None:
    weights, X, Y = side_by_side(2, (2, 3, 2), 3, np.random.default_rng(4))
    together = descend(weights, X, Y, 0.05, 20)
    for k in range(2):
        W = [w[k] for w in weights]
        for _ in range(20):
            W = [w - 0.05 * g for w, g in zip(W, autograd(W, X[k], Y[k])[1], strict=True)]
        for m in range(2):
            np.testing.assert_allclose(together[m][k], W[m], rtol=1e-10, atol=1e-12)
