"""Eq. (46): under (A1) the flow moves every active neuron the same way across all boundaries.

It moves w_j by v_j sum_k c_k z_k over the active k, with c_k = |l'_k| > 0 and z_k = y_k x_k. Under
(A1) <z_i, sum_k c_k z_k> >= mu |z_i| sum_k c_k |z_k| > 0 for all i, so that y_i sign(v_j) <x_i,
w_j> grows. Appendix E writes the velocity of the flow as a gradient, and so does eq. (46).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Statement
from reluflow.geometry.separability import separation
from reluflow.ledger import Reading
from reluflow.losses import EXPONENTIAL, LOGISTIC, TWICE_LOGISTIC, Loss
from reluflow.networks.indexed import fully_connected
from reluflow.separable import separable_draws

VELOCITY = Reading(
    "the gradient in (46) is the velocity of the flow: Appendix E.2 writes the flow as θ' = F(θ) "
    "with F = ∇L, and (46) as a product with F",
    "with the gradient of L itself, which is the opposite of the velocity of (2), every active "
    "neuron breaks the inequality: x = 1, y = 1 and w = v = 1 have -1/e for the exponential loss",
)
"""Which sign of the gradient is meant."""
LOSSES = (EXPONENTIAL, TWICE_LOGISTIC, LOGISTIC)
Item = Mapping[str, Any]
_DIMS, _SIZES = (2, 12), (2, 7)
_A1 = {"(A1)": lambda item: separation(item["X"], item["y"]) > 0.0}


def gradient_in_weights(item: Item, loss: Loss) -> NDArray:
    """grad_(w_j) L over L, shape (h, d), at W (h, d), v (h,), with s'(0) = 0."""
    X, y, W, v = item["X"], item["y"], item["W"], item["v"]
    network, theta = fully_connected([X.shape[1], len(v)]), np.concatenate([W.ravel(), v])
    pull = loss.pull(network.output(theta, X), y, relative=True)
    return -network.gradient(theta, X, pull)[: W.size].reshape(W.shape)


def _cosines(item: Item, velocity: NDArray) -> NDArray:
    """y_i sign(v_j) <x_i, velocity_j> over |x_i| |velocity_j| for the neurons that are active on
    some datum, shape (n, active neurons)."""
    X, y = item["X"], item["y"]
    awake = np.any(item["W"] @ X.T > 0.0, axis=1)
    Z = y[:, None] * X / np.linalg.norm(X, axis=1)[:, None]
    moving = velocity[awake] * np.sign(item["v"][awake])[:, None]
    return Z @ (moving / np.linalg.norm(moving, axis=1)[:, None]).T


def _parameters() -> dict[str, Any]:
    """Draws of orthogonally separable data, a fifth of them of one label, with weights of any size,
    some whole numbers."""

    def with_weights(draw):
        def one(rng: np.random.Generator) -> dict[str, Any]:
            item = draw(rng)
            if rng.random() < 0.2:  # one label only
                item = {"X": item["y"][:, None] * item["X"], "y": np.ones(len(item["y"]))}
            h, d = int(rng.integers(1, 5)), item["X"].shape[1]
            W, v = rng.standard_normal((h, d)), rng.standard_normal(h)
            if np.all(item["X"] == np.round(item["X"])):
                W = np.round(2.0 * W)
            size = 10.0 ** rng.uniform(-6.0, 0.0) / np.linalg.norm(item["X"], axis=1).max()
            return {**item, "W": W * size, "v": v}

        return one

    return {kind: with_weights(draw) for kind, draw in separable_draws(_DIMS, _SIZES).items()}


def velocity_points_inward(loss: Loss) -> Statement:
    """ea.eq46.1: y_i sign(v_j) <x_i, F_j> > 0 for all i and every active neuron, F_j the velocity
    -grad_(w_j) L of the flow."""
    return Statement(
        f"{loss.name} loss: yᵢ sign(vⱼ) ⟨xᵢ, −∇L⟩ > 0 for active neurons",
        _parameters(),
        lambda item: float(_cosines(item, -gradient_in_weights(item, loss)).min()),
        {**_A1,
         "a neuron is active": lambda item: bool(np.any(item["W"] @ item["X"].T > 0.0)),
         "no vⱼ is 0": lambda item: bool(item["v"].all())},
        strict=True,
        fixed=("y",),
    )  # fmt: skip
