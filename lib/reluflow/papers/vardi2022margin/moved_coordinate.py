"""Remark 3.2 on Theorem 4.1: its datum moved, from the printed start and from others.

From w_1 = w_2 = (1, 0) the second coordinate has no gradient, whatever x: the limit is (x_1^(-1/2),
0) twice, with |theta~|^2 = 2/x_1, and |theta*|^2 = 2 / max |x_j|. So it is no local optimum if and
only if |x_2| > x_1 > 0, and (1, 2) is 1/sqrt(2) away from x_1 = x_2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement
from reluflow.ledger import Evidence, fact, note
from reluflow.margin.check import check
from reluflow.margin.limits import UNDECIDED, Limit
from reluflow.margin.optimum import classify_optimum
from reluflow.networks.indexed import Network, diagonal
from reluflow.papers.vardi2022margin.settled import settled_limit

PRINTED = np.array([1.0, 2.0])
RADIUS = 0.5**0.5
CLOSE = 1e-7


def silent_nearby() -> Statement:
    """mm.rem3.2.2: for every datum nearer to (1, 2) than 1/sqrt(2) the flow from the printed start
    goes to (x_1^(-1/2), 0) twice, no local optimum; linear and ReLU, both losses. A distance of
    1/sqrt(2) is too much: see `edge_of_the_radius`."""

    def kind(activation: str, loss: str) -> Callable[[np.random.Generator], Instance]:
        def draw(rng: np.random.Generator) -> Instance:
            angle = rng.uniform(0.0, 2.0 * np.pi)
            size = RADIUS * (1.0 - 1e-3) * 10.0 ** (-9.0 * rng.random() ** 3)
            x = PRINTED + size * np.array([np.cos(angle), np.sin(angle)])
            return {"x": x, "activation": activation, "loss": loss}

        return draw

    return Statement(
        "the limit for the moved datum is (x₁^(-1/2), 0) twice, and no local optimum",
        {f"{activation}, {loss}": kind(activation, loss) for activation in ("linear", "relu")
         for loss in ("exponential", "logistic")},
        _slack,
        {"nearer than 1/√2": lambda item: bool(np.linalg.norm(item["x"] - PRINTED) < RADIUS)},
    )  # fmt: skip


def _slack(item: Instance) -> float:
    network, x = diagonal(2, 2, str(item["activation"])), np.asarray(item["x"], float)
    found = _followed(network, str(item["loss"]), x, np.array([1.0, 0.0, 1.0, 0.0]))
    if not found.converged:
        return float("nan")
    exact = x[0] ** -0.5 * np.array([1.0, 0.0, 1.0, 0.0])
    off = float(np.linalg.norm(found.theta - exact) / np.linalg.norm(exact))
    return CLOSE - off if _verdict(network, found.theta, x) == "not local" else -1.0


def _followed(network: Network, loss: str, x: NDArray, start: NDArray) -> Limit:
    return settled_limit(network, loss, x[None], np.ones(1), start)


def _verdict(network: Network, theta: NDArray, x: NDArray) -> str:
    """The verdict on theta, "undecided" unless the exact checker accepts its certificate."""
    X, y = x[None], np.ones(1)
    found = classify_optimum(network, theta, X, y)
    proof = found.certificate
    right = proof is not None and check(network, found.theta, X, y, proof).verdict == found.verdict
    return found.verdict if right else "undecided"


def edge_of_the_radius() -> list[Evidence]:
    """The nearest datum with x_1 = x_2 is (3/2, 3/2), at 1/sqrt(2) exactly, and there the limit is
    a global optimum."""
    edge = (Fraction(3, 2), Fraction(3, 2))
    square = (edge[0] - 1) ** 2 + (edge[1] - 2) ** 2
    x = np.array([1.5, 1.5])
    theta = 1.5**-0.5 * np.array([1.0, 0.0, 1.0, 0.0])
    verdicts = tuple(_verdict(diagonal(2, 2, a), theta, x) for a in ("linear", "relu"))
    return [
        fact("squared distance of (1, 2) to (3/2, 3/2)", square, Fraction(1, 2)),
        fact("the limit for x = (3/2, 3/2), linear and ReLU", verdicts, ("global", "global")),
    ]


def other_starts(seed: int, tried: int) -> list[Evidence]:
    """Other starts, which the remark does not ask for: all four weights of the printed one moved.
    The second coordinate grows in the linear network, and with ReLU where 0 < w_1[2], -w_2[2] <
    w_1[2]; where w_1[2] < 0 it rests. Starts between, 0 < w_1[2] < -w_2[2], run into the kink and
    rest there; they are not drawn."""
    rng = np.random.default_rng(seed)
    right, silent, decided = ({"linear": 0, "relu": 0} for _ in range(3))
    for k in range(tried):
        start = np.array([1.0, 0.0, 1.0, 0.0]) + 0.1 * rng.normal(size=4)
        if start[1] > 0.0 > start[1] + start[3]:
            start[3] = -start[3]
        x = PRINTED + 0.1 * rng.normal(size=2)
        for activation in right:
            network = diagonal(2, 2, activation)
            found = _followed(network, ("exponential", "logistic")[k % 2], x, start)
            grows = activation == "linear" or start[1] > 0.0
            verdict = _verdict(network, found.theta, x) if found.converged else found.status
            decided[activation] += found.status != UNDECIDED
            right[activation] += verdict == ("global" if grows else "not local")
            silent[activation] += verdict == "not local"
    return [
        fact("random starts near the printed one, linear: the limit is a global optimum",
             right["linear"], decided["linear"], tried=decided["linear"]),
        fact("the same with ReLU: a global optimum if w₁[2] > 0, no local optimum if w₁[2] < 0",
             right["relu"], decided["relu"], tried=decided["relu"]),
        note("of these no local optimum, linear and ReLU", (silent["linear"], silent["relu"])),
    ]  # fmt: skip
