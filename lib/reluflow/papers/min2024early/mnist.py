"""Two digits told apart by descent from a tiny start (Min et al. 2024, Section 4, Figures 5, 10
and 11): the network, its start, and what the figures show of it at a step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from reluflow.flows.shallow_descent import State
from reluflow.images import Images, Pair, pair
from reluflow.networks.shallow import LOSSES, Neurons, ShallowLoss


@dataclass(frozen=True)
class Setting:
    """What Section 4 prints, and below it what it leaves open.

    positive, negative  the digits with label +1 and -1
    width, sigma        h, and the standard deviation of all weights at the start
    step, n_steps       of gradient descent on both layers
    loss, mean, scale   the loss of a margin, whether L is its mean over the data or its sum, and
                        what a white pixel is
    """

    positive: int
    negative: int
    width: int = 50
    sigma: float = 1e-6
    step: float = 2e-3
    n_steps: int = 15000
    loss: str = "exponential"
    mean: bool = True
    scale: float = 1.0


class Task:
    """A setting on images: the data, their sums x_+ and x_-, and the loss.

    x_plus, x_minus  (k,) sums of the centred images of each label
    """

    def __init__(
        self, setting: Setting, images: Images, dtype: torch.dtype = torch.float64
    ) -> None:
        self.setting = setting
        self.pair: Pair = pair(images, setting.positive, setting.negative, setting.scale)
        X, y = self.pair.X, self.pair.y
        weight = 1.0 / len(y) if setting.mean else 1.0
        self.loss = ShallowLoss(X, y, LOSSES[setting.loss], weight, dtype)
        self.x_plus, self.x_minus = X[y > 0].sum(axis=0), X[y < 0].sum(axis=0)

    def start(self, seed: int) -> tuple[Neurons, NDArray]:
        """Gaussian weights on the pixels that move, and the products (h, h) of those on the others,
        which no step changes."""
        rng, h = np.random.default_rng(seed), self.setting.width
        W = self.setting.sigma * rng.standard_normal((h, len(self.pair.moves)))
        v = self.setting.sigma * rng.standard_normal(h)
        rest = W[:, ~self.pair.moves]
        return Neurons(torch.tensor(W[:, self.pair.moves]), torch.tensor(v)), rest @ rest.T

    def seen(self, state: State, still: NDArray) -> Seen:
        """What the second and third plot show of a state."""
        W, v = state.neurons.W.numpy(), state.neurons.v.numpy()
        products = W @ W.T + still
        values = np.linalg.eigvalsh(products)
        sides = []
        for group, x in ((v > 0, self.x_plus), (v < 0, self.x_minus)):
            sides.append(_side(W[group], products[np.ix_(group, group)], x))
        return Seen(
            state.step,
            state.loss,
            float(values[-1]),
            float(np.trace(products) / values[-1]),
            int((v > 0).sum()),
            *sides,
        )


@dataclass(frozen=True)
class Side:
    """cos of the neurons of one group to the sum of their data: that of the mean neuron, the least
    and the largest; NaN for a group without neurons."""

    mean: float
    least: float
    largest: float


@dataclass(frozen=True)
class Seen:
    """After `step` steps: the loss, |W|_2^2, the stable rank |W|_F^2 / |W|_2^2, how many neurons
    have v_j > 0, and the cosines of w_+ to x_+ and of w_- to x_-."""

    step: int
    loss: float
    spectral: float
    stable_rank: float
    positive: int
    plus: Side
    minus: Side


@dataclass(frozen=True, eq=False)
class Curves:
    """The curves of a run at some steps, all of shape (m,); `plus` and `minus` are (m, 3): the
    cosine of the mean neuron, the least and the largest."""

    step: NDArray
    loss: NDArray
    spectral: NDArray
    stable_rank: NDArray
    positive: NDArray
    plus: NDArray
    minus: NDArray

    @classmethod
    def of(cls, seen: Iterable[Seen]) -> Curves:
        """The curves through what was seen."""
        rows = list(seen)
        columns = [
            np.array([getattr(row, name) for row in rows])
            for name in ("step", "loss", "spectral", "stable_rank", "positive")
        ]
        sides = [
            np.array([[s.mean, s.least, s.largest] for s in (getattr(row, side) for row in rows)])
            for side in ("plus", "minus")
        ]
        return cls(*columns, *sides)

    @property
    def worst(self) -> NDArray:
        """The least cosine of any neuron to the sum of its group's data, (m,)."""
        return np.minimum(self.plus[:, 1], self.minus[:, 1])

    def first(self, condition: NDArray) -> float:
        """The first of the steps at which `condition` (m,) is true; infinite without one."""
        found = np.nonzero(condition)[0]
        return float(self.step[found[0]]) if found.size else np.inf

    def aligned(self, bar: float) -> float:
        """The first step at which every neuron has at least this cosine."""
        return self.first(self.worst >= bar)

    def fallen(self, share: float) -> float:
        """The first step at which this share of the loss at the start is gone."""
        return self.first(self.loss <= (1.0 - share) * self.loss[0])


def visible(task: Task, neurons: Neurons) -> dict[str, NDArray]:
    """What the fourth plot shows: the centred class means x_+ / n_+ and x_- / n_-, and the means
    w_+ and w_- of the w_j with v_j > 0 and of those with v_j < 0; each (k,)."""
    y = task.pair.y
    return {
        "x_plus": task.x_plus / (y > 0).sum(),
        "x_minus": task.x_minus / (y < 0).sum(),
        "w_plus": neurons.W[neurons.v > 0].mean(dim=0).numpy(),
        "w_minus": neurons.W[neurons.v < 0].mean(dim=0).numpy(),
    }


def likeness(task: Task, images: Images, w: NDArray) -> list[float]:
    """cos(w, m_k) for w (k,) and the mean m_k of the images of each of the ten digits, the mean of
    the task taken off."""
    moves, scale = task.pair.moves, task.setting.scale / images.white
    means = (images.levels[images.digit == k].mean(axis=0) * scale for k in range(10))
    return [cosine(w, mean[moves] - task.pair.mean[moves]) for mean in means]


def cosine(a: NDArray, b: NDArray) -> float:
    """cos(a, b) of two vectors."""
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def _side(W: NDArray, products: NDArray, x: NDArray) -> Side:
    """The cosines of a group (m, k) whose products, of all pixels, are (m, m)."""
    if not len(W):
        return Side(np.nan, np.nan, np.nan)
    along, size = W @ x, float(np.linalg.norm(x))
    each = along / (np.sqrt(np.diag(products)) * size)
    mean = along.sum() / (np.sqrt(products.sum()) * size)
    return Side(float(mean), float(each.min()), float(each.max()))
