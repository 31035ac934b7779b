"""The race of a diagonal network's coordinates, by integrating the flow of all its weights.

With one datum the loss only sets the pace: gradient flow goes along theta' = grad f, here with the
clock log |theta|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from reluflow.margin.check import check
from reluflow.margin.optimum import classify_optimum
from reluflow.networks.indexed import diagonal

SMALL = 1e-7
"""A coordinate this small beside another one, and falling as 1/|theta|, is 0 in the limit."""
_STEP, _LONGEST = 5.0, 60.0


@dataclass(frozen=True)
class Followed:
    """The end of an integrated race.

    leader   the coordinate that grows, -1 where no one has won
    ratio    the largest other weight beside it
    verdict  on the limit as a point of Problem (2), "undecided" unless its certificate is right
    """

    leader: int
    ratio: float
    verdict: str


def followed_race(x: NDArray, depth: int, start: NDArray | None = None) -> Followed:
    """Who wins from a start (m, d) of positive weights, all 1 where none is given, for a datum x
    (d,), x > 0, and what the limit is."""
    d = len(x)
    network, X, y = diagonal(d, depth, "linear"), x[None], np.ones(1)

    def rate(s: float, theta: NDArray) -> NDArray:
        along = network.gradient(theta, X, np.ones(1))
        return along * (float(theta @ theta) / float(theta @ along))

    theta, s = np.ones(depth * d) if start is None else start.ravel(), 0.0
    while s < _LONGEST:
        theta = solve_ivp(rate, (0.0, _STEP), theta, "DOP853", rtol=1e-10, atol=1e-11).y[:, -1]
        # f is homogeneous: the direction is all that the next leg needs.
        theta, s = theta / np.linalg.norm(theta), s + _STEP
        sizes = theta.reshape(depth, d)
        leader = int(sizes[0].argmax())
        ratio = float(np.delete(sizes, leader, axis=1).max() / sizes[:, leader].min())
        if ratio < SMALL:
            break
    else:
        return Followed(-1, ratio, "undecided")
    limit = np.zeros((depth, d))
    limit[:, leader] = sizes[:, leader].mean()
    found = classify_optimum(network, limit.ravel(), X, y)
    proof = found.certificate
    right = proof is not None and check(network, found.theta, X, y, proof).verdict == found.verdict
    return Followed(leader, ratio, found.verdict if right else "undecided")
