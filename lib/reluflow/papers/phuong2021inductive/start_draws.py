"""Starts of flows: orthogonally separable data of every kind, neurons of every size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reluflow.falsify import Draw, Instance
from reluflow.geometry.separability import cosines
from reluflow.ledger import Evidence, fact, note
from reluflow.losses import LOGISTIC, Loss
from reluflow.papers.phuong2021inductive.long_flow import (
    REACH,
    Late,
    Lost,
    Start,
    Waiting,
    follow,
)
from reluflow.supports import support_draws

DRAWN_ANEW = note(
    "data drawn anew, which the argument covers and the integrator does not",
    "on the line; with data opposite to one of the other label, or at right angles to all of them",
)
NEAR_ZERO = -20.0
"""ln of the norms at the start that count as near zero, 2e-9."""
SIZES = (1e-3, 1.0, 10.0)
"""Norms of starts of every size; data have norms of about 1."""
_NEURONS = 4


@dataclass(frozen=True)
class Survey:
    """The flows `found`, the number of flows `lost`, and of starts drawn anew because a datum that
    no neuron sees keeps the flow `waiting`, or a neuron slides."""

    found: list[Late]
    lost: int
    waiting: int = 0

    @property
    def followed(self) -> list[Evidence]:
        """That no flow was lost: a part of every claim's evidence."""
        lost, *rest = self.kept
        return [replace(lost, tried=len(self.found) + self.lost), *rest]

    @property
    def kept(self) -> list[Evidence]:
        """The same where the flows are counted elsewhere."""
        return [
            fact("flows that could not be followed to the end", self.lost, 0),
            *([note("starts left out, from which a datum waits without end for a neuron that sees "
                    "it, or a neuron slides along a boundary", self.waiting)]
              if self.waiting else []),
        ]  # fmt: skip


def start(X: NDArray, y: NDArray, log_norm: float, rng: np.random.Generator, p: int = _NEURONS,
          loss: Loss = LOGISTIC) -> Start:  # fmt: skip
    """p Gaussian directions of lengths e^log_norm times 1/2 to 1, a_j > 0 for every second one; the
    first two are active on a datum of their label, so that no group is empty."""
    W0 = rng.standard_normal((p, X.shape[1]))
    signs = np.where(np.arange(p) % 2 == 0, 1.0, -1.0)
    for j, sign in enumerate(signs[:2]):
        W0[j] *= np.sign(W0[j] @ X[rng.choice(np.flatnonzero(y == sign))])
    return Start(X, y, W0, log_norm + np.log(rng.uniform(0.5, 1.0, p)), signs, loss)


def flows(
    seed: int, count: int, kinds: Sequence[str], sizes: Sequence[float], reach: float = REACH
) -> Survey:
    """`count` flows of every one of the `kinds` of `support_draws`, from ln sizes in turn."""
    rng = np.random.default_rng(seed)
    draws = support_draws(3)
    found, lost, waiting, k = list[Late](), 0, 0, 0
    while k < count * len(kinds):
        item = drawn(draws[kinds[k % len(kinds)]], rng)
        log_norm = (
            sizes[(k + k // len(kinds)) % len(sizes)] if len(kinds) > 1 else sizes[k % len(sizes)]
        )
        try:
            late = follow(start(item["X"], item["y"], log_norm, rng), reach)
        except Waiting:
            waiting += 1
            continue
        except Lost:
            late, lost = None, lost + 1
        k += 1
        if late is not None:
            found.append(late)
    return Survey(found, lost, waiting)


def drawn(draw: Draw, rng: np.random.Generator) -> Instance:
    """A draw in two dimensions or more, without opposite data and without a datum at right angles
    to all those of the other label.

    On the line a neuron never leaves the wrong label. On the boundary of a datum of those kinds it
    slides, which the integrator does not follow.
    """
    while True:
        item = draw(rng)
        C = np.outer(item["y"], item["y"]) * cosines(item["X"])
        other = np.not_equal.outer(item["y"], item["y"])
        repelled = np.any(other & (C > 1e-12), axis=1)
        if item["X"].shape[1] > 1 and repelled.all() and not np.any(other & (C > 1.0 - 1e-12)):
            return item


def near_zero(seed: int, count: int) -> Survey:
    """Flows in the setting of Theorem 1: spanning support examples, starts near zero."""
    return flows(seed, count, ["spanning"], [NEAR_ZERO])


def not_spanning(seed: int, count: int) -> Survey:
    """The same with too few support examples, and with right angles between the labels."""
    return flows(seed, count, ["few", "right angles"], [NEAR_ZERO])


def spanning_of_sizes(seed: int, count: int) -> Survey:
    """Flows from norms 0.1, 1 and 10 on data whose support examples span."""
    return flows(seed, 3 * count, ["spanning"], np.log([0.1, 1.0, 10.0]).tolist())


def of_every_size(seed: int, count: int) -> Survey:
    """Flows from starts of the norms `SIZES` on data of every kind."""
    return flows(seed, count, ["spanning", "few", "right angles"], np.log(SIZES).tolist())
