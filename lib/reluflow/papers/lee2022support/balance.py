"""The balance of layers (Lemma C.2 of Lee et al. 2022a), at single points and in training."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reluflow.falsify import Instance, Statement, planted, survey
from reluflow.flows.layered_flow import flow_to_flip
from reluflow.ledger import Evidence, bound, note
from reluflow.networks.draws import network_draws, side_by_side, weights_of
from reluflow.networks.layered import Weights, backpropagate, squared_norms
from reluflow.networks.layered_autograd import autograd
from reluflow.papers.lee2022support.backpropagation import ROUNDING, gradient_sizes

UNIT = "of the largest |W_m|^2"


def balance() -> Statement:
    """sv.lemC.2: <W^(m), dL/dW^(m)> = <W^(m+1), dL/dW^(m+1)>, so that the squared norms of adjoined
    layers change alike."""

    def slack(item: Instance) -> float:
        W = weights_of(item)
        G = autograd(W, item["X"], item["Y"])[1]
        size = max(float((np.abs(W[0]) * gradient_sizes(item)[0]).sum()), 1e-300)
        apart = [
            float(np.abs((planted(item) * (w * g).sum(axis=1) - (behind * pull).sum(axis=0)).sum()))
            for (w, g), (behind, pull) in pairwise(zip(W, G, strict=True))
        ]
        return -max(apart, default=0.0) / size

    return Statement("squared norms of adjoined layers change alike", network_draws(), slack,
                     tolerance=ROUNDING)  # fmt: skip


Networks = tuple[Weights, NDArray, NDArray]
"""W^(m) (networks, h_m, h_{m-1}), X (networks, n, d) and Y (networks, n, h_l)."""


def three_layers(count: int, seed: int) -> Networks:
    """`count` networks of three layers on 4 data each."""
    return side_by_side(count, (3, 5, 4, 2), 4, np.random.default_rng(seed))


def descents(
    networks: Networks, steps: tuple[float, ...] = (0.004, 0.002, 0.001), until: float = 0.2
) -> pd.DataFrame:
    """How much |W^(m)|_F^2 - |W^(m+1)|_F^2 drifts in descent up to t = `until`.

    One row a step size and network, lengths relative to the largest |W^(m)|_F^2 at the start:

    drift   largest drift
    off     largest gap between the drift and step^2 sum (|G^(m)|^2 - |G^(m+1)|^2), the drift of a
            descent whose flow has none
    flips   whether the descent changes an activation
    """
    weights, X, Y = networks
    norms, start = squared_norms(weights), backpropagate(weights, X, Y).active
    size = norms.max(axis=0)
    found: dict[float, pd.DataFrame] = {}
    for step in steps:
        W, owed = weights, np.zeros((len(weights) - 1, len(X)))
        for _ in range(round(until / step)):
            G = backpropagate(W, X, Y).gradients
            owed -= step**2 * np.diff(squared_norms(G), axis=0)
            W = [w - step * g for w, g in zip(W, G, strict=True)]
        made = np.diff(norms, axis=0) - np.diff(squared_norms(W), axis=0)
        flips = (backpropagate(W, X, Y).active != start).any(axis=(1, 2))
        drift, off = (np.abs(v).max(axis=0) / size for v in (made, made - owed))
        found[step] = pd.DataFrame({"drift": drift, "off": off, "flips": flips})
    return pd.concat(found, names=["step", "network"])


def flow(network: Networks, until: float = 0.2) -> dict[str, float]:
    """The same of one network's flow by DOP853: its drift up to t = `until` or the first change of
    an activation, and whether such a change came first (`reached`)."""
    weights, X, Y = network
    norms = squared_norms(weights)
    end, reached = flow_to_flip(weights, X, Y, until)
    drift = np.diff((squared_norms(end) - norms) / norms.max())
    return {"drift": float(np.abs(drift).max()), "reached": reached}


def flows(networks: Networks) -> pd.DataFrame:
    """The flows of a tenth of the networks."""
    weights, X, Y = networks
    some = range(max(1, len(X) // 10))
    return survey((([W[k] for W in weights], X[k], Y[k]) for k in some), flow)


def balanced(descent: pd.DataFrame, followed: pd.DataFrame) -> list[Evidence]:
    """The drift under refinement of the step, and along flows."""
    steps = descent.index.unique("step")
    drift = np.array([descent.drift[step] for step in steps])
    # A median: the order shows where steps are short for a network, and a few it makes oscillate.
    trains = drift.all(axis=0)
    factors = [float(np.median(a[trains] / b[trains])) for a, b in pairwise(drift)]
    return [
        bound("drift of descent: largest distance from step^2 sum (|G_m|^2 - |G_m+1|^2)",
              float(descent.off.max()), "<=", 1e-10, UNIT),
        bound("least factor by which half the step lessens the drift, median of the networks",
              min(factors), ">=", 1.8, ""),
        bound("largest such factor", max(factors), "<=", 2.2, ""),
        bound("largest drift of a flow by DOP853", float(followed.drift.max()), "<=", 1e-9, UNIT),
        note("steps", tuple(steps), "", None),
        note("median drift of descent", tuple(np.median(drift, axis=1)), UNIT, digits=2),
        note("networks, and those whose descent changes an activation",
             (drift.shape[1], int(descent.flips[steps[0]].sum()))),
        note("flows, and those stopped by a change of activation",
             (len(followed), int(followed.reached.sum()))),
    ]  # fmt: skip
