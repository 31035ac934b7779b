"""The gradient flow of one layered ReLU network up to the first change of an activation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from reluflow.networks.layered import Weights, backpropagate


def flow_to_flip(
    weights: Weights, X: NDArray, Y: NDArray, until: float
) -> tuple[list[NDArray], bool]:
    """The gradient flow of one network by DOP853, up to the first change of an activation.

    Returns the weights there, or at t = `until`, and whether a change came first. A change comes
    where a pre-activation is down to 1e-8 of the largest: a flow can also come to slide along the
    boundary, and there the solver would go on in ever smaller steps.
    """
    ends = np.cumsum([W.size for W in weights])[:-1]

    def layers(flat: NDArray) -> list[NDArray]:
        return [v.reshape(W.shape) for v, W in zip(np.split(flat, ends), weights, strict=True)]

    def hidden(flat: NDArray) -> NDArray:
        *before, _ = layers(flat)
        x, found = X, []
        for W in before:
            found.append(x @ W.T)
            x = np.maximum(found[-1], 0.0)
        return np.concatenate(found, axis=1)

    start = np.concatenate([W.ravel() for W in weights])
    sides, size = np.sign(hidden(start)), float(np.abs(hidden(start)).max())

    def margin(_: float, flat: NDArray) -> float:
        # A unit behind a dead layer is at zero until a unit of that layer changes.
        off = np.min(sides * hidden(flat), initial=size, where=sides != 0.0)
        return float(off) - 1e-8 * size

    margin.terminal = True  # type: ignore[attr-defined]
    if margin(0.0, start) < 0.0:
        return list(weights), True

    def velocity(_: float, flat: NDArray) -> NDArray:
        found = backpropagate(layers(flat), X, Y).gradients
        return -np.concatenate([G.ravel() for G in found])

    found = solve_ivp(
        velocity, (0.0, until), start, method="DOP853", rtol=1e-11, atol=1e-13, events=margin
    )
    return layers(found.y[:, -1]), found.status == 1
