"""Figure 4 of Lee, Sim & Ye 2023: how large the weights of a deep ReLU network are in training.

The network is f(x) = W_5 [W_4 [... [W_1 x]_+ ...]_+]_+, fully connected, without bias, 50 units in
every hidden layer; the teacher is another one. L = 1/(2n) sum_i (f(x_i) - y_i)^2, weights from
N(0, k I). All 100000 steps take half an hour (`record.py` has them). A page takes fewer
data and, where the step eta is small against 2 / lambda (lambda the largest curvature), follows the
gradient flow to t = eta * steps in their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from reluflow.approx import approx
from reluflow.flows.stabilised import spectral_radius, stabilised_flow

TOLERANCE = 1e-3
"""Error of a step of the flow, relative to the size of all weights."""
SHOWN = 0.01
"""A way back of a curve by less than this share of all its ways is not seen in Figure 4."""


_BLOCK = 500
_LARGE = 1e6
"""Weights from which on descent counts as diverged."""


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


TEACHER = 0.22
"""The teacher's k*, not given by D.3 for Figure 4: half of the large start's k, as in Figure 1."""
SMALL = DeepSetting(start=0.04, teacher=TEACHER, step=0.0008, n_steps=100000)
LARGE = DeepSetting(start=0.44, teacher=TEACHER, step=0.0001, n_steps=30000, plain=20)


class DeepProblem:
    """The loss of a setting's network on its data, and its gradient by hand.

    Parameters: the setting and the seed, which fixes the data, the teacher's directions and the
    start's; two settings with one seed, n and architecture share them, up to their scales. `dtype`
    is the precision of the network's arithmetic: weights, sums over the data and steps are in
    double precision with either.

    size   number of weights p; the weights are one vector (p,), W_1 first, row by row
    start  (p,) the weights w_0
    """

    def __init__(self, setting: DeepSetting, seed: int, dtype: torch.dtype = torch.float64) -> None:
        rng = np.random.default_rng(seed)
        self.shapes = setting.shapes
        self._sizes = [a * b for a, b in self.shapes]
        self.size = sum(self._sizes)
        teacher, start = (torch.tensor(rng.standard_normal(self.size)) for _ in range(2))
        self.X = torch.tensor(rng.standard_normal((setting.n, setting.d)))
        self.y = self._forward(self.layers(setting.teacher * teacher), self.X.T)[1]
        self.start = setting.start * start
        pieces = zip(self.X.to(dtype).split(_BLOCK), self.y.to(dtype).split(_BLOCK), strict=True)
        self._pieces = [(X.T.contiguous(), y) for X, y in pieces]
        """The data in pieces (d, b) whose hidden layers fit into a processor's cache."""

    def layers(self, w: Tensor) -> list[Tensor]:
        """W_1, ..., W_depth of the weights (p,)."""
        pieces = torch.split(w, self._sizes)
        return [piece.view(shape) for piece, shape in zip(pieces, self.shapes, strict=True)]

    def _forward(self, W: Sequence[Tensor], X: Tensor) -> tuple[list[Tensor], Tensor]:
        """What goes into each layer for the data X (d, b), a column each, and f (b,)."""
        outputs = [X]
        for layer in W[:-1]:
            outputs.append(torch.mm(layer, outputs[-1]).clamp_(min=0.0))
        return outputs, torch.mv(outputs[-1].T, W[-1][0])

    def loss(self, w: Tensor) -> float:
        """L = 1/(2n) sum_i (f(x_i) - y_i)^2."""
        return self.loss_and_direction(w)[0]

    def descent_direction(self, w: Tensor) -> Tensor:
        """- grad L at the weights (p,); the derivative of the ReLU at 0 is 0."""
        return self.loss_and_direction(w)[1]

    def loss_and_direction(self, w: Tensor) -> tuple[float, Tensor]:
        """L and - grad L at the weights (p,)."""
        W = self.layers(w.to(self._pieces[0][1].dtype))
        squares, total = torch.zeros((), dtype=w.dtype), torch.zeros_like(w)
        for X, y in self._pieces:
            outputs, f = self._forward(W, X)
            missing = y - f
            squares += missing.to(w.dtype).square().sum()
            delta = missing[None]
            found = [torch.mm(delta, outputs[-1].T)]
            for k in range(len(W) - 1, 0, -1):
                delta = torch.mm(W[k].T, delta).mul_(outputs[k] > 0.0)
                found.append(torch.mm(delta, outputs[k - 1].T))
            total += torch.cat([G.reshape(-1) for G in reversed(found)])
        n = len(self.y)
        return 0.5 * float(squares) / n, total / n

    def norms(self, w: Tensor) -> NDArray:
        """The Frobenius norms |W_1|, ..., |W_depth|, shape (depth,)."""
        return np.array([float(W.norm()) for W in self.layers(w)])

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
    labels  mean of y^2 / 2, the loss of the zero function
    states  the first state and the last
    gradients  how many gradients it took
    """

    setting: DeepSetting
    steps: NDArray
    losses: NDArray
    norms: NDArray
    labels: float
    states: tuple[Tensor, ...]
    gradients: int

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


def magnitudes(norms: NDArray) -> dict[str, NDArray]:
    """The magnitudes (k,) that Figure 4 may show, of the norms of the layers (k, depth)."""
    return {
        "first layer |W_1|": norms[:, 0],
        "all weights": np.sqrt((norms**2).sum(axis=1)),
        "product of all |W_k|": norms.prod(axis=1),
    }


def deep_descent(setting: DeepSetting, seed: int, n_steps: int) -> DeepRun:
    """The first `n_steps` plain steps of descent of a setting; it ends early where they diverge."""
    with one_thread():
        problem = DeepProblem(setting, seed)
        return _run(setting, problem, *_descend(problem, problem.start, setting.step, n_steps), 0)


def deep_run(setting: DeepSetting, seed: int, tolerance: float = TOLERANCE) -> DeepRun:
    """A panel: `setting.plain` steps of descent, and the gradient flow for the rest of the time.

    Where the steps diverge the run ends with them. Parameters: the setting, the seed, the error of
    a step of the flow relative to all weights.
    """
    with one_thread():
        problem = DeepProblem(setting, seed)
        steps, states = _descend(problem, problem.start, setting.step, setting.plain)
        if len(states) <= setting.plain or not float(states[-1].abs().max()) < _LARGE:
            return _run(setting, problem, steps, states, 0)
        rest = (setting.n_steps - setting.plain) * setting.step
        flow = stabilised_flow(
            problem.descent_direction, states[-1], rest, tolerance, first=setting.step
        )
        steps += [setting.plain + t / setting.step for t in flow.t[1:]]
        states += map(torch.from_numpy, flow.states[1:])
        return _run(setting, problem, steps, states, flow.evaluations)


def curvature_against_step(run: DeepRun, seed: int, at: Sequence[int]) -> list[float]:
    """eta lambda at some of the run's two states; plain descent is stable below 2."""
    with one_thread():
        problem = DeepProblem(run.setting, seed)
        return [run.setting.step * problem.curvature(run.states[k]) for k in at]


def _descend(
    problem: DeepProblem, w: Tensor, step: float, n_steps: int
) -> tuple[list[float], list[Tensor]]:
    """Steps and states of plain descent, the start among them, until the weights overflow."""
    states = [w]
    for _ in range(n_steps):
        w = w + step * problem.descent_direction(w)
        states.append(w)
        if not float(w.abs().max()) < _LARGE:
            break
    return [float(k) for k in range(len(states))], states


def _run(
    setting: DeepSetting,
    problem: DeepProblem,
    steps: Sequence[float],
    states: Sequence[Tensor],
    evaluations: int,
) -> DeepRun:
    losses = np.array([problem.loss(w) for w in states])
    labels = 0.5 * float(problem.y.square().mean())
    return DeepRun(
        setting=setting,
        steps=np.array(steps),
        losses=losses,
        norms=np.array([problem.norms(w) for w in states]),
        labels=labels,
        states=(states[0], states[-1]),
        gradients=evaluations + min(setting.plain, len(states) - 1),
    )


@dataclass(frozen=True)
class Overshoots:
    """The first steps of panel (b) from many starts; arrays (starts,).

    unstable  eta lambda at the start
    jumped    whether the loss at step 1 or 2 is above the start's
    rose      whether the norm of all weights is above its start's after 10 steps
    fell      whether |W_1| falls at each of the 10 steps
    survived  whether the weights stay bounded
    """

    unstable: NDArray
    jumped: NDArray
    rose: NDArray
    fell: NDArray
    survived: NDArray


def overshoots(setting: DeepSetting, seed: int, count: int, n: int = 1000) -> Overshoots:
    """Ten plain steps of descent from `count` starts, each with its own teacher and n data."""
    found = []
    for k in range(count):
        run = deep_descent(replace(setting, n=n), seed + k, 10)
        every = run.magnitudes["all weights"]
        found.append(
            (
                curvature_against_step(run, seed + k, [0])[0],
                bool((run.losses[1:3] > run.losses[0]).any()),
                bool(every[-1] > every[0]),
                bool((np.diff(run.norms[:, 0]) < 0.0).all()),
                not run.diverged,
            )
        )
    return Overshoots(*(np.array(column) for column in zip(*found, strict=True)))


def falls_first(setting: DeepSetting, seed: int, count: int, n: int = 1000) -> NDArray:
    """Whether the flow's |W_1| falls at first, from `count` starts on n data each; (count,).

    Its slope has the sign of <W_1, - dL/dW_1> = 1/n sum_i (y_i - f(x_i)) f(x_i).
    """
    found = []
    with one_thread():
        for k in range(count):
            problem = DeepProblem(replace(setting, n=n), seed + k)
            slope = problem.descent_direction(problem.start)
            first, down = problem.layers(problem.start)[0], problem.layers(slope)[0]
            found.append(float((first * down).sum()) < 0.0)
    return np.array(found)


READINGS: dict[str, tuple[DeepSetting, int]] = {
    "(a) as taken": (SMALL, 100),
    "(a) k a variance": (replace(SMALL, start=0.04**0.5, teacher=TEACHER**0.5), 10),
    "(b) as taken": (LARGE, 10),
    "(b) k a variance": (replace(LARGE, start=0.44**0.5, teacher=TEACHER**0.5), 10),
    "(b) loss without the 1/2": (replace(LARGE, step=2 * LARGE.step), 10),
    "(b) loss a sum over the data": (replace(LARGE, step=LARGE.n * LARGE.step), 10),
}
"""What D.3 leaves open for Figure 4: a setting, and after how many steps to look."""


def fate(run: DeepRun) -> str:
    """How descent goes: "diverges", "loss rises" (at some step) or "loss falls"."""
    if run.diverged:
        return "diverges"
    return "loss rises" if bool((np.diff(run.losses) > 0.0).any()) else "loss falls"


def fates(seed: int, n: int = 500) -> pd.DataFrame:
    """The first plain steps of every reading, on n data."""
    rows = []
    for name, (setting, n_steps) in READINGS.items():
        run = deep_descent(replace(setting, n=n), seed, n_steps)
        unstable = curvature_against_step(run, seed, [0])[0]
        way = run.norms[-1, 0] - run.norms[0, 0]
        rows.append(
            {
                "reading": name,
                "eta lambda": approx(unstable, 2),
                "descent": fate(run),
                "steps": len(run.steps) - 1,
                "|W_1| moves": "" if run.diverged else approx(way, 2),
            }
        )
    return pd.DataFrame(rows).set_index("reading")


def with_data(setting: DeepSetting, n: int) -> DeepSetting:
    """The setting with n data, or with its own number where that is less."""
    return replace(setting, n=min(n, setting.n))


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch on one thread: sums are then the same on any number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
