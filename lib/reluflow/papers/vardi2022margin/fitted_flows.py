"""Flows from a loss below that of one datum with output 0: all data are right from there on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from reluflow.flows.charts import Polar
from reluflow.flows.fields import GradientFlow
from reluflow.losses import EXPONENTIAL, LOGISTIC, Loss
from reluflow.margin.limits import Limit, limit
from reluflow.networks.indexed import Network
from reluflow.papers.vardi2022margin.network_draws import full, shared, unshared

LOG_2 = float(np.log(2.0))
THRESHOLD = {EXPONENTIAL.name: 1.0, LOGISTIC.name: LOG_2}
"""A loss below this means that every datum is classified correctly."""
REACH = 1e4
"""log10(1/L) to which flows are followed."""
CHECKS = (1e1, REACH)
"""log10(1/L) at which the angle between theta and the gradient is compared."""


@dataclass(frozen=True)
class Fitted:
    """A flow from a start of L just below the threshold of its loss.

    kind    of the network
    limit   where the flow goes, of this network and loss
    angles  sines of the angle between theta and -grad L, (2,), where L is 10^-CHECKS
    """

    kind: str
    network: Network
    loss: Loss
    limit: Limit
    angles: NDArray

    @property
    def starts_below(self) -> bool:
        """Whether L is below the threshold of its loss at the start."""
        path = self.limit.path
        return bool(path.field.log_loss(path.states[0]) < np.log(THRESHOLD[self.loss.name]))


def flows(seed: int, count: int) -> list[Fitted]:
    """`count` flows: fully connected, sparse and shared networks, linear and ReLU, depth 2 to 4, in
    turn with both losses.

    The labels are those of the start, whose size is such that L is 0.99 or 0.5 of the threshold, or
    1e-3 of it. Every third start is unbalanced by a factor of up to 30 between layers.
    """
    rng = np.random.default_rng(seed)
    found = []
    for kind, loss, network, X, y, theta in _cases(rng, count):
        end = limit(network, loss, X, y, theta, reach=REACH)
        found.append(Fitted(kind, network, loss, end, _angles(end)))
    return found


def _cases(rng: np.random.Generator, count: int) -> Iterator[tuple]:
    maps = {"fully connected": full, "sparse": unshared, "shared": shared}
    made = 0
    while made < count:
        name = list(maps)[made % 3]
        activation = ("linear", "relu")[made // 3 % 2]
        loss = (EXPONENTIAL, LOGISTIC)[made // 6 % 2]
        depth = int(rng.integers(2, 5 if activation == "linear" else 4))
        widths = [int(rng.integers(1, 4)), *rng.integers(2, 4, depth - 1).tolist(), 1]
        network = Network(maps[name](rng, widths), activation)
        X = rng.standard_normal((int(rng.integers(1, 4)), widths[0]))
        theta = rng.standard_normal(network.size)
        if made % 3 == 0:
            theta *= np.repeat(10.0 ** rng.uniform(-0.75, 0.75, depth), network.sizes)
        z = network.output(theta, X)
        if not np.all(np.abs(z) > 1e-2 * np.abs(z).max(initial=0.0)) or not z.any():
            continue
        goal = np.log(THRESHOLD[loss.name] * rng.choice([0.99, 0.5, 1e-3]))
        theta = theta * np.exp(_stretch(loss, np.abs(z), goal) / network.degree)
        made += 1
        yield f"{name}, {activation}", loss, network, X, np.sign(z), theta


def _stretch(loss: Loss, q: NDArray, goal: float) -> float:
    """The log of the factor before the margins q (n,) > 0 that makes log L = goal."""
    ones = np.ones(len(q))
    return float(brentq(lambda s: loss.log_value(np.exp(s) * q, ones) - goal,
                        -40.0 - np.log(q.min()), 10.0 - np.log(q.min())))  # fmt: skip


def _angles(found: Limit) -> NDArray:
    """Sines of the angle between theta and -grad L at CHECKS, NaN where a flow does not get."""
    field = found.path.field
    assert isinstance(field, GradientFlow)
    assert isinstance(field.chart, Polar)
    sines = []
    for decades in CHECKS:
        if not found.reached >= 0.999 * decades:
            sines.append(np.nan)
            continue
        z = found.state(decades)
        pulls = field.loss.pull(field.chart.outputs(z, field.X), field.y, relative=True)
        G = field.chart.network.gradient(z[:-1], field.X, pulls)
        G = G / np.linalg.norm(G)
        sines.append(float(np.linalg.norm(G - (G @ z[:-1]) * z[:-1])))
    return np.array(sines)
