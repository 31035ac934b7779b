"""Why Figure 4b of Phuong & Lampert 2021 shows clusters where Figure 1b shows rays: Adam.

The gradient of neuron j is |a_j| times one that it shares with all neurons of its sign that are
active on the same data. Plain descent hands on the factor, so norms grow apart. Adam divides a
gradient by its own size, so that all of them take the same step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from reluflow.falsify import PLANTED, Instance, Statement, given, planted
from reluflow.flows.minibatches import minibatch_steps
from reluflow.ledger import Evidence, note

OPTIMISERS: dict[str, Callable[[list[Tensor]], torch.optim.Optimizer]] = {
    "Adam": lambda moved: torch.optim.Adam(moved, lr=1e-3),
    "plain descent": lambda moved: torch.optim.SGD(moved, lr=0.5),
}
WIDTH, SCALE, TRAINED, LONG = 128, 0.05, 0.01, 1 / 3
TIGHT, WIDE = 0.1, 0.2
"""Deviations of norms over their mean: below the first are clusters, above the second rays."""
FIRST = "both, after four first runs with deviations of 0.02 to 0.04, and of 0.3 to 0.4"
_MOST = 3000


def sign_descent(
    X: NDArray, y: NDArray, W: NDArray, a: NDArray, rate: float, steps: int
) -> NDArray:
    """W (h, d) after steps of W <- W - rate sign(dL/dW) on the mean logistic loss of a two-layer
    network, a (h,) held: Adam without memory."""
    for _ in range(steps):
        active = X @ W.T > 0.0
        outputs = np.maximum(X @ W.T, 0.0) @ a
        pull = -y / (1.0 + np.exp(y * outputs)) / len(y)
        W = W - rate * np.sign(a[:, None] * ((active * pull[:, None]).T @ X))
    return W


@dataclass(frozen=True, eq=False)
class Neurons:
    """A trained two-layer network: W (h, d), a (h,), and the loss that it has."""

    W: NDArray
    a: NDArray
    loss: float

    def long(self, sign: float) -> NDArray:
        """The long neurons (k, d) with a_j of this sign."""
        W = self.W[sign * self.a > 0]
        norms = np.linalg.norm(W, axis=1)
        return W[norms > LONG * norms.max()]

    def spread(self, sign: float) -> float:
        """The deviation of the long neurons' norms, over their mean."""
        norms = np.linalg.norm(self.long(sign), axis=1)
        return float(norms.std() / norms.mean())

    def angle(self, sign: float) -> float:
        """The largest angle of a long neuron to the mean of the long ones, in degrees."""
        W = self.long(sign)
        U = W / np.linalg.norm(W, axis=1, keepdims=True)
        mean = U.mean(axis=0) / np.linalg.norm(U.mean(axis=0))
        return float(np.degrees(np.arccos(np.clip(U @ mean, -1.0, 1.0).min())))


def drawn(d: int, seed: int) -> tuple[NDArray, NDArray]:
    """The start, W (h, d) and a (1, h): uniform as PyTorch draws it, times SCALE."""
    rng = np.random.default_rng(seed)
    W, a = (SCALE * rng.uniform(-1.0, 1.0, shape) / shape[1] ** 0.5
            for shape in ((WIDTH, d), (1, WIDTH)))  # fmt: skip
    return W, a


def trained(X: NDArray, y: NDArray, optimiser: str, seed: int) -> Neurons:
    """Train a two-layer network without biases on all data at once until the logistic loss is at
    most TRAINED, from the start of this seed."""
    W, a = (torch.tensor(part).requires_grad_() for part in drawn(X.shape[1], seed))
    data, targets = torch.tensor(X), torch.tensor(y > 0, dtype=torch.float64)

    def loss(rows: Tensor) -> Tensor:
        outputs = functional.linear(functional.relu(functional.linear(data[rows], W)), a)
        return functional.binary_cross_entropy_with_logits(outputs[:, 0], targets[rows])

    rng = np.random.default_rng(seed)
    steps = minibatch_steps(OPTIMISERS[optimiser]([W, a]), loss, len(y), len(y), rng)
    left = np.inf
    for left in islice(steps, _MOST):
        if left <= TRAINED:
            break
    return Neurons(W.detach().numpy(), a.detach().numpy()[0], left)


def runs_from(
    X: NDArray, y: NDArray, seed: int, starts: int
) -> list[tuple[int, dict[str, Neurons]]]:
    """Seeds of `starts` starts, and from each the network of each optimiser."""
    return [(s, {name: trained(X, y, name, s) for name in OPTIMISERS})
            for s in range(seed, seed + starts)]  # fmt: skip


def _spreads(runs: dict[str, Neurons], name: str) -> list[float]:
    return [runs[name].spread(sign) for sign in (1.0, -1.0)]


def adam_makes_clusters(
    X: NDArray, y: NDArray, found: list[tuple[int, dict[str, Neurons]]]
) -> Statement:
    """os.ours.clusters: Adam makes clusters of the neurons of either sign, plain descent rays.
    The slack is what the bars leave of the largest deviation of norms, and of the smallest."""
    items = iter(found)

    def again(_: np.random.Generator) -> Instance:
        seed, runs = next(items)
        W, a = drawn(X.shape[1], seed)
        return {"X": X, "y": y, "W": W, "a": a, "runs": runs}

    def start(item: Instance) -> bool:
        size = SCALE / np.sqrt([item["W"].shape[1], WIDTH])
        within = np.abs(item["W"]).max() <= size[0] and np.abs(item["a"]).max() <= size[1]
        return bool(within and len(item["W"]) == WIDTH)

    def slack(item: Instance) -> float:
        adam, plain = (_spreads(item["runs"], name) for name in OPTIMISERS)
        return float(min(TIGHT - planted(item) * max(adam), min(plain) - WIDE))

    return Statement(
        "clusters after Adam, rays after descent",
        {"starts": again},
        slack,
        given(
            "os.ours.clusters",
            data=lambda item: item["X"].shape == (360, 64) and np.ptp(item["X"]) == 1.0,
            start=start,
            training=lambda item: max(run.loss for run in item["runs"].values()) <= TRAINED,
        ),
        strict=True,
        witness={"runs": found[0][1], PLANTED: 100.0} if found else None,
    )


def measured(found: list[tuple[int, dict[str, Neurons]]]) -> list[Evidence]:
    """The deviations, the bars, and the angles within a group."""
    runs = [each for _, each in found]
    adam, plain = ([v for each in runs for v in _spreads(each, name)] for name in OPTIMISERS)
    networks = [run for each in runs for run in each.values()]
    fewest = min(len(run.long(sign)) for run in networks for sign in (1.0, -1.0))
    return [
        note("deviation of norms over their mean: Adam, the largest; plain descent, the smallest",
             (max(adam), min(plain)), digits=2),
        note("the bars for these", (TIGHT, WIDE), digits=None, after=FIRST),
        note("groups of neurons behind each number, and the fewest neurons in one",
             (len(adam), fewest)),
        *(note(f"{name}: largest angle of a long neuron to the mean of its group",
               max(each[name].angle(sign) for each in runs for sign in (1.0, -1.0)), "degrees",
               digits=2)
          for name in OPTIMISERS),
    ]  # fmt: skip
