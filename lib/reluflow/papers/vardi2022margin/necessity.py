"""Local optima of Problem (2) are KKT points (Section 2), with Clarke's subdifferential.

That needs a constraint qualification, which the paper leaves out, and homogeneity supplies it. By
Clarke's multiplier rule a local optimum has lambda_0, lambda >= 0, not all 0, with lambda_0 theta =
sum_i lambda_i y_i g_i for subgradients g_i, and lambda_i = 0 where the margin is not 1. Each g_i is
a mean of gradients of polynomials that are homogeneous of degree m, so <theta, y_i g_i> = m y_i
f(theta; x_i) = m. Were lambda_0 = 0, the product with theta would be 0 = m sum_i lambda_i > 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reluflow.errors import InputError
from reluflow.falsify import Draw, Instance, Statement, planted
from reluflow.ledger import Evidence, fact, note
from reluflow.margin.check import check
from reluflow.margin.kkt import cells, kkt
from reluflow.margin.optimum import global_optimum
from reluflow.margin.problem import quotient
from reluflow.networks.indexed import Network, fully_connected
from reluflow.papers.vardi2022margin import trained_networks

RESIDUAL = 1e-4
"""An optimum whose value is known to 1e-8 is known to the root of that, and so is its residual."""
NEAR_KINK = 1e-5
"""An input of a neuron that is so small, as a cosine, is 0 in the optimum itself."""
RESOLVED = 1e-8
"""The share by which a point may cost more or less once its inputs near 0 are made 0."""
NODES = 300
"""Convex programs for one optimum, at most."""


def optima_are_kkt_points() -> Statement:
    """mm.kkt.necessary: the KKT residual of a global optimum of Problem (2), found by enumeration
    of activation patterns and proved by its certificate, is 0.

    Depth 2 without shared weights, linear and ReLU. The slack is RESIDUAL less the residual, NaN
    where the enumeration was cut off.
    """

    def draw(kind: Draw) -> Draw:
        def one(rng: np.random.Generator) -> dict[str, Any]:
            item = kind(rng)
            return {**{name: item[name] for name in ("network", "X", "y")}, **_optimum(item)}

        return one

    linear, relu = trained_networks.sparse_linear(), trained_networks.sparse_relu()
    kinds = {f"linear, {kind}": each for kind, each in linear.items()}
    for number, (kind, each) in enumerate(relu.items()):
        kinds[f"ReLU, {kind}"] = each
        kinds[f"ReLU, alternating labels, {number}"] = alternating
    return Statement(
        "a global optimum of Problem (2) is a KKT point",
        {kind: draw(each) for kind, each in kinds.items()},
        lambda item: RESIDUAL - item["residual"],
    )


def alternating(rng: np.random.Generator) -> dict[str, Any]:
    """Data in a half plane whose labels alternate with the angle, as many neurons as data: what
    serves one datum must be silent on its neighbours, so that many an optimum has inputs 0."""
    n = int(rng.integers(2, 4))
    angles = np.sort(rng.uniform(0.0, np.pi, n))
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * rng.uniform(0.5, 2.0, (n, 1))
    y = np.where(np.arange(n) % 2, -1.0, 1.0)
    return {"network": fully_connected([2, n], "relu"), "X": X, "y": y}


def _optimum(item: Mapping[str, Any]) -> dict[str, Any]:
    """The optimum "theta" of an instance, its KKT "residual" (NaN if it was not found), and whether
    it is on a "boundary", with some input 0."""
    network, X, y = item["network"], item["X"], item["y"]
    unknown = {"theta": np.zeros(network.size), "residual": np.nan, "boundary": False}
    try:
        best = global_optimum(network, X, y, nodes=NODES)
    except (InputError, ArithmeticError):
        return unknown
    proof = best.certificate
    if proof is None or check(network, best.theta, X, y, proof).verdict != "global":
        return unknown
    theta = on_kinks(network, best.theta, X)
    value = quotient(network, best.theta, X, y)
    if abs(quotient(network, theta, X, y) - value) > RESOLVED * value:
        return unknown  # the kinks of data so nearly parallel are not told by the program's digits
    living = np.linalg.norm(network.weights(theta)[0], axis=1) > 0.0
    on = [np.abs(h[:, living]).min(initial=1.0) <= 1e-9 for h in network.cosines(theta, X)]
    return {"theta": theta, "residual": kkt(network, theta, X, y).residual, "boundary": any(on)}


def on_kinks(network: Network, theta: NDArray, X: NDArray) -> NDArray:
    """theta (p,) of a network of depth 2 with inputs that are nearly 0 made so, by the nearest
    weights, and neurons that are nearly 0 made 0."""
    W, v = network.weights(theta)
    W, v = W.copy(), v.copy()
    size = np.linalg.norm(theta)
    small = np.linalg.norm(W, axis=1) <= NEAR_KINK * size
    W[small], v[:, small] = 0.0, 0.0
    for h in network.cosines(theta, X):
        for j in np.flatnonzero(~small):
            there = network.maps[0][j] > 0
            rows = X[np.abs(h[:, j]) <= NEAR_KINK][:, there]
            rows = rows[rows.any(axis=1)]
            if len(rows):
                W[j, there] -= np.linalg.pinv(rows) @ (rows @ W[j, there])
    return network.parameters([W, v])


def qualification() -> Statement:
    """At a feasible point the product of theta with every gradient around it, y_i grad f, is m
    times the margin, so that theta itself is a direction as Mangasarian and Fromovitz ask for.

    Networks of any depth, with shared weights; small integers put neurons on kinks. The slack is
    minus the largest deviation over |theta| times the gradient's length.
    """

    def draw(activation: str, whole: bool) -> Draw:
        kinds = list(trained_networks.shared(activation).values())

        def one(rng: np.random.Generator) -> dict[str, Any]:
            item = kinds[1 if whole else 0](rng)
            theta = (
                np.round(2.0 * rng.normal(size=item["network"].size)) if whole else item["start"]
            )
            return {"network": item["network"], "X": item["X"], "theta": theta}

        return one

    def slack(item: Instance) -> float:
        network, X, theta = item["network"], item["X"], item["theta"]
        f, worst = network.output(theta, X), 0.0
        for i, x in enumerate(X):
            for pattern in cells(network, theta, x):
                lifted = [side[None] for side in pattern]
                g = network.gradient(theta, x[None], np.ones(1), lifted or None)
                scale = float(np.linalg.norm(theta) * np.linalg.norm(g))
                off = abs(planted(item) * float(theta @ g) - network.degree * f[i])
                worst = max(worst, off / scale if scale > 0.0 else 0.0)
        return -worst

    return Statement(
        "⟨θ, ∇Φ⟩ = m Φ in every cell around θ",
        {"linear": draw("linear", False), "ReLU": draw("relu", False),
         "ReLU, on kinks": draw("relu", True)},
        slack,
        tolerance=1e-12,
    )  # fmt: skip


def boundaries(seed: int, count: int) -> list[Evidence]:
    """How many of `count` optima for alternating labels have an input 0: these are KKT points."""
    rng = np.random.default_rng(seed)
    found = [_optimum(alternating(rng)) for _ in range(count)]
    told = [item for item in found if item["boundary"] and np.isfinite(item["residual"])]
    right = sum(item["residual"] <= RESIDUAL for item in told)
    return [fact("optima on an activation boundary that are KKT points", right, len(told),
                 tried=len(told)),
            note("optima for alternating labels", count)]  # fmt: skip
