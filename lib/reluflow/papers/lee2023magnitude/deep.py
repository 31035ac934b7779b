"""Figure 4 of Lee, Sim & Ye 2022b: how large the weights of a deep ReLU network are in training.

The network is f(x) = W_5 [W_4 [... [W_1 x]_+ ...]_+]_+, fully connected, without bias, 50 units in
every hidden layer; the teacher is another one. L = 1/(2n) sum_i (f(x_i) - y_i)^2, weights from
N(0, k I). All 100000 steps take half an hour (`record.py` has them). A page takes fewer
data and, where the step eta is small against 2 / lambda (lambda the largest curvature), follows the
gradient flow to t = eta * steps in their place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reluflow.flows.stabilised import spectral_radius, stabilised_flow
from reluflow.networks.dense import DenseLoss, forward, matrices, one_thread

TOLERANCE = 1e-3
"""Error of a step of the flow, relative to the size of all weights."""
_LARGE = 1e6
"""Norm of a layer from which on descent counts as diverged."""


@dataclass(frozen=True)
class DeepSetting:
    """A panel of Figure 4: the start's and the teacher's weights are `start` and `teacher` times
    standard normal numbers; `step` eta and `n_steps` of descent; `plain` steps of it are taken one
    by one before the flow takes over."""

    start: float
    teacher: float
    step: float
    n_steps: int
    plain: int = 0
    n: int = 10000
    d: int = 100
    width: int = 50
    depth: int = 5

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """The shapes of W_1, ..., W_depth."""
        sizes = [self.d, *[self.width] * (self.depth - 1), 1]
        return [(b, a) for a, b in pairwise(sizes)]

    def with_data(self, n: int) -> DeepSetting:
        """The setting with n data, or with its own number where that is less."""
        return replace(self, n=min(n, self.n))


TEACHER = 0.22
"""The teacher's k*, not given by D.3 for Figure 4: half of the large start's k, as in Figure 1."""
SMALL = DeepSetting(start=0.04, teacher=TEACHER, step=0.0008, n_steps=100000)
LARGE = DeepSetting(start=0.44, teacher=TEACHER, step=0.0001, n_steps=30000, plain=20)


class DeepProblem(DenseLoss):
    """The loss of a setting's network on its data, and the start.

    The seed fixes the data, the teacher's directions and the start's; two settings with one seed, n
    and architecture share them, up to their scales. `dtype` as for `DenseLoss`.

    start  (p,) the weights w_0
    zero   the loss of the zero function, the mean of y^2 / 2
    """

    def __init__(self, setting: DeepSetting, seed: int, dtype: torch.dtype = torch.float64) -> None:
        rng, size = np.random.default_rng(seed), sum(a * b for a, b in setting.shapes)
        teacher, start = (torch.tensor(rng.standard_normal(size)) for _ in range(2))
        X = torch.tensor(rng.standard_normal((setting.n, setting.d)))
        y = forward(matrices(setting.teacher * teacher, setting.shapes), X.T)[1]
        super().__init__(setting.shapes, X, y, dtype)
        self.setting = setting
        self.start = setting.start * start
        self.zero = 0.5 * float(y.square().mean())

    def curvature(self, w: Tensor) -> float:
        """The largest eigenvalue of the Hessian in size, within a few per cent."""
        slope = self.descent_direction(w)
        return spectral_radius(self.descent_direction, w, slope, slope)[0] / 1.2


@dataclass(frozen=True)
class DeepRun:
    """How a panel's training went.

    steps   (k,) step numbers of descent, t / eta on the flow's part
    losses  (k,) the loss there
    norms   (k, depth) |W_1|, ..., |W_depth| there
    zero    the loss of the zero function
    """

    setting: DeepSetting
    steps: NDArray
    losses: NDArray
    norms: NDArray
    zero: float

    @property
    def magnitudes(self) -> dict[str, NDArray]:
        """The magnitudes that Figure 4 may show, each (k,)."""
        return magnitudes(self.norms)

    @property
    def diverged(self) -> bool:
        """Whether the weights left every bound."""
        return not bool(np.isfinite(self.losses).all() and self.norms.max() < _LARGE)

    def arrived(self, share: float) -> float:
        """The step from which on |W_1| is within 1 - `share` of its whole way from its end."""
        left = np.abs(self.norms[:, 0] - self.norms[-1, 0])
        away = np.nonzero(left > (1.0 - share) * abs(self.norms[-1, 0] - self.norms[0, 0]))[0]
        return float(self.steps[away[-1] + 1]) if away.size else 0.0


FIRST = "first layer |W_1|"
"""The analogue of |w|."""


def magnitudes(norms: NDArray) -> dict[str, NDArray]:
    """The magnitudes (k,) that Figure 4 may show, of the norms of the layers (k, depth)."""
    return {
        FIRST: norms[:, 0],
        "all weights": np.sqrt((norms**2).sum(axis=1)),
        "product of all |W_k|": norms.prod(axis=1),
    }


def descend(
    problem: DenseLoss, w: Tensor, step: float, counted: Iterable[int]
) -> tuple[NDArray, NDArray, Tensor]:
    """Plain descent from w (p,), a step for every item of `counted`, until the weights overflow.

    Returns the norms of the layers (k + 1, depth) and the losses (k + 1,) after 0, ..., k steps,
    and the last weights.
    """
    loss, direction = problem.loss_and_direction(w)
    norms, losses = [problem.norms(w)], [loss]
    for _ in counted:
        w = w + step * direction
        loss, direction = problem.loss_and_direction(w)
        norms.append(problem.norms(w))
        losses.append(loss)
        if not norms[-1].max() < _LARGE:
            break
    return np.array(norms), np.array(losses), w


def deep_descent(problem: DeepProblem, n_steps: int) -> tuple[DeepRun, Tensor]:
    """The first `n_steps` plain steps of a panel's descent, fewer where they diverge, and the last
    weights."""
    setting = problem.setting
    norms, losses, w = descend(problem, problem.start, setting.step, range(n_steps))
    return DeepRun(setting, np.arange(float(len(losses))), losses, norms, problem.zero), w


def deep_run(setting: DeepSetting, seed: int, tolerance: float = TOLERANCE) -> DeepRun:
    """A panel: `setting.plain` steps of descent, and the gradient flow for the rest of the time.

    Where the steps diverge the run ends with them. Parameters: the setting, the seed, the error of
    a step of the flow relative to all weights.
    """
    with one_thread():
        problem = DeepProblem(setting, seed)
        plain, w = deep_descent(problem, setting.plain)
        if plain.diverged:
            return plain
        rest = (setting.n_steps - setting.plain) * setting.step
        f = problem.descent_direction
        flow = stabilised_flow(f, w, rest, tolerance, first=setting.step)
        states = [torch.as_tensor(state) for state in flow.states[1:]]
        return replace(
            plain,
            steps=np.append(plain.steps, setting.plain + np.array(flow.t[1:]) / setting.step),
            losses=np.append(plain.losses, [problem.loss(state) for state in states]),
            norms=np.vstack([plain.norms, *(problem.norms(state) for state in states)]),
        )
