"""Label back-propagation (Appendix C of Lee et al. 2022a): every layer of a network is trained as
single neurons are, on the outputs of the layer before and on labels that come from behind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reluflow.approx import on_grain
from reluflow.falsify import Instance, Statement, planted
from reluflow.ledger import Evidence, bound
from reluflow.networks import gradient
from reluflow.networks.draws import network_draws, side_by_side, weights_of
from reluflow.networks.layered import Passes, backpropagate, descend
from reluflow.networks.layered_autograd import autograd
from reluflow.statistics import normal_interval

ROUNDING = 1e-12
"""Gaps of this size, relative to the sum of the sizes of all terms, are rounding."""


def labels_of(found: Passes, Y: ArrayLike) -> tuple[NDArray, ...]:
    """The labels y^(m) (..., n, h_m): o^(m) - delta^(m), and y itself for the last layer
    (Appendix C). `found` are the passes on the labels Y (..., n, h_l)."""
    pairs = list(zip(found.outputs, found.deltas, strict=True))
    last = np.broadcast_to(np.asarray(Y, float), found.outputs[-1].shape)
    return (*(o - delta for o, delta in pairs[:-1]), last)


def gradient_sizes(item: Instance) -> tuple[NDArray, ...]:
    """Gradients of the network of absolute values: sums of the sizes of all terms of the true."""
    W = [np.abs(w) for w in weights_of(item)]
    return backpropagate(W, np.abs(item["X"]), -np.abs(item["Y"])).gradients


def label_backpropagation() -> Statement:
    """sv.propC.1: dL/dW^(m) is the gradient of the single-neuron networks, one for every row of
    W^(m), on the data x^(m) with the back-propagated labels y^(m); linear for m = l."""

    def slack(item: Instance) -> float:
        W, X, Y = weights_of(item), item["X"], item["Y"]
        found = backpropagate(W, X, Y)
        labels = labels_of(found, Y)
        gradients, sizes = autograd(W, X, Y)[1], gradient_sizes(item)
        gap = 0.0
        for m, (w, x, y, G, size) in enumerate(
            zip(W, found.inputs, labels, gradients, sizes, strict=True)
        ):
            last = m == len(W) - 1
            network = "linear" if last else "relu"
            rows = [gradient(x, y[:, j], w[j], network) for j in range(len(w))]
            # The single-neuron formula takes y^(m) from o^(m) again: both are among its terms.
            terms = size if last else (found.outputs[m] + np.abs(y)).T @ np.abs(x)
            apart = float(np.abs(planted(item) * G - rows).max())
            gap = max(gap, apart / max(size.max(), terms.max(), 1e-300))
        return -gap

    return Statement("each layer's gradient is that of its single-neuron problems",
                     network_draws(), slack, tolerance=ROUNDING)  # fmt: skip


def on_whole_numbers(weights: Sequence[NDArray], x: NDArray, y: NDArray) -> list[Evidence]:
    """Eqs. (9) and (10), dL/dW^(m) = delta^(m) x^(m)T, on Figure 5's network, whose numbers are
    whole: weights W^(m), one datum x (d,), y (h_l,)."""
    found = backpropagate(weights, x[None], y[None])
    pairs = zip(autograd(weights, x[None], y[None])[1], found.gradients, strict=True)
    apart = max(float(np.abs(torch - ours).max()) for torch, ours in pairs)
    says = "the figure's network: distance of torch's gradients from eqs. (9) and (10)"
    return [bound(says, apart, "<=", 0, "")]


def labels_in_training(
    count: int, seed: int, steps: tuple[int, ...] = (0, 10, 30, 100, 300), step: float = 0.03
) -> pd.DataFrame:
    """Train `count` networks with two hidden layers of 6 units on 8 data in three dimensions.

    One row for each of the `steps` of descent after which the labels are looked at, and network:

    active     share of the pairs of a hidden unit and a datum that are active
    positive   share of these pairs whose label is positive
    negative   share of the active pairs whose label is not positive
    suited     share of the hidden units whose labels are all positive, as A2 asks
    """
    weights, X, Y = side_by_side(count, (3, 6, 6, 1), 8, np.random.default_rng(seed))
    looks: dict[int, pd.DataFrame] = {}
    taken = 0
    for at in steps:
        weights, taken = descend(weights, X, Y, step, at - taken), at
        found = backpropagate(weights, X, Y)
        on = found.active
        labels = np.concatenate(labels_of(found, Y)[:-1], axis=-1)  # (networks, data, units)
        looks[at] = pd.DataFrame(
            {
                "active": on.mean(axis=(1, 2)),
                "positive": (labels > 0.0).mean(axis=(1, 2)),
                "negative": (on & (labels <= 0.0)).sum(axis=(1, 2))
                / np.maximum(on.sum(axis=(1, 2)), 1),
                "suited": (labels > 0.0).all(axis=1).mean(axis=1),
            }
        )
    return pd.concat(looks, names=["after steps", "network"])


def label_table(found: pd.DataFrame) -> pd.DataFrame:
    """The shares in per cent, mean over the networks and 95 % interval, at every look."""
    columns = {
        "active": "pairs active",
        "positive": "pairs with y > 0",
        "negative": "active pairs with y <= 0",
        "suited": "units that meet A2",
    }

    def shown(shares: pd.Series) -> str:
        grains = (on_grain(100 * v, 0.1) for v in normal_interval(shares.to_numpy()))
        return "{} % ({} to {})".format(*grains)

    looks = found[list(columns)].groupby(level="after steps")
    return looks.agg(shown).rename(columns=columns)
