"""`python -m reluflow.papers.lee2023magnitude.record [PANEL ...]`: Figure 4 at full scale."""

from __future__ import annotations

import base64
import json
import platform
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reluflow import parameters
from reluflow.flows.stabilised import spectral_radius, stabilised_flow
from reluflow.networks.dense import DenseLoss, forward, matrices, one_thread
from reluflow.places import RECORDS as FOLDER
from reluflow.progress import progress

# --- Figure 4 of Lee, Sim & Ye 2022b: how large the weights of a deep ReLU network are in
# training -----------------------------------------------------------------------------------------
#
# The network is f(x) = W_5 [W_4 [... [W_1 x]_+ ...]_+]_+, fully connected, without bias, 50 units
# in every hidden layer; the teacher is another one. L = 1/(2n) sum_i (f(x_i) - y_i)^2, weights from
# N(0, k I). All 100000 steps take half an hour (`record.py` has them). A page takes fewer data and,
# where the step eta is small against 2 / lambda (lambda the largest curvature), follows the
# gradient flow to t = eta * steps in their place.


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


# --- `python -m reluflow.papers.lee2023magnitude.record [PANEL ...]`: Figure 4 at full scale ------
#
# Every plain step of descent on all 10000 data, 100000 of them in (a) and 30000 in (b), with the
# chapter's default seed: half an hour on one core. D.3 does not give the teacher's scale; the panel
# a-teacher-0.4 begins (a) with another. The network's arithmetic is in single precision;
# weights, steps and the sums over the data are in double. The record says how far the same steps in
# double precision lead elsewhere.


PANELS = {
    "a": SMALL,
    "b": LARGE,
    # The beginning of (a) where 0.04 = 0.1 k*, which D.3 calls small.
    "a-teacher-0.4": replace(SMALL, teacher=0.4, n_steps=12000),
}
EVERY = 100
"""Steps between two that are recorded."""
SLICE = 50
"""Steps at the start, and from the checkpoint half-way, of which every one is recorded."""
_PIECES = 30


@dataclass(frozen=True)
class Record:
    """A panel as it was recorded: the curves at the recorded steps, and the file's other facts."""

    run: DeepRun
    facts: dict[str, Any]

    @property
    def seed(self) -> int:
        """The seed of data, teacher and start."""
        return self.facts["seed"]

    @property
    def n_steps(self) -> int:
        """How many steps were taken."""
        return self.run.setting.n_steps

    @property
    def growth(self) -> float:
        """|W_1| at the end over that at the start."""
        return float(self.run.norms[-1, 0] / self.run.norms[0, 0])

    @property
    def loss_left(self) -> float:
        """The loss at the end over the zero function's."""
        return float(self.run.losses[-1] / self.run.zero)

    def start(self, half: bool) -> tuple[int, Tensor]:
        """The step and the weights (p,) from which SLICE steps are all recorded: step 0, or the
        checkpoint half-way."""
        if not half:
            return 0, DeepProblem(self.run.setting, self.seed).start
        raw = np.frombuffer(base64.b64decode(self.facts["weights_half"]), "<f4")
        return self.facts["half"], torch.tensor(raw, dtype=torch.float64)

    def share_of_way(self, since: float) -> float:
        """How much of its whole way |W_1| goes after the share `since` of the steps."""
        values = self.run.norms[:, 0]
        at = np.interp(since * self.n_steps, self.run.steps, values)
        return float((values[-1] - at) / (values[-1] - values[0]))

    def back(self, magnitude: str, sign: int) -> float:
        """How much of all its ways, over all steps, a magnitude goes against `sign`."""
        ways = self.facts["monotone"][magnitude]
        return ways["way_down" if sign > 0 else "way_up"] / (ways["way_up"] + ways["way_down"])

    def first_below(self, level: float) -> float:
        """The first recorded step from which on the loss is at most `level`."""
        above = np.nonzero(self.run.losses > level)[0]
        return float(self.run.steps[above[-1] + 1]) if above.size else 0.0


def load(panel: str) -> Record:
    """Read the record of a panel, "a" or "b"."""
    facts = json.loads(file_of(panel).read_text(encoding="utf-8"))
    run = DeepRun(
        setting=DeepSetting(**facts["setting"]),
        steps=np.array(facts.pop("steps"), float),
        losses=np.array(facts.pop("losses")),
        norms=np.array(facts.pop("norms")),
        zero=facts["labels"],
    )
    return Record(run, facts)


def again(record: Record, n_steps: int, half: bool) -> float:
    """Take recorded steps again, in double precision: the largest difference of a layer's norm from
    the record's, over the longest way of a norm."""
    with one_thread():
        at, w = record.start(half)
        problem = DeepProblem(record.run.setting, record.seed)
        norms = descend(problem, w, record.run.setting.step, range(n_steps))[0]
    first = int(np.searchsorted(record.run.steps, at))
    kept = record.run.norms[first : first + n_steps + 1]
    return float(np.abs(norms - kept).max() / np.abs(kept - kept[0]).max())


def record_of(panel: str, setting: DeepSetting, seed: int) -> dict[str, Any]:
    """Take every step of a panel; returns the record, made of what JSON knows."""
    clock, cpu = time.perf_counter(), time.process_time()
    with one_thread():
        exact = DeepProblem(setting, seed)
        fast = DeepProblem(setting, seed, torch.float32)
        half, step = setting.n_steps // 2, setting.step
        steps = progress(range(setting.n_steps), setting.n_steps, "steps")
        norms, losses, w = descend(fast, exact.start, step, islice(steps, half))
        kept = w.float()
        # The run goes on from the weights that the record keeps.
        late, after, w = descend(fast, kept.double(), step, steps)
        norms, losses = np.concatenate([norms[:-1], late]), np.concatenate([losses[:-1], after])
        gaps = [precision_gap(exact, fast, at, step) for at in (exact.start, kept.double())]
        unstable = [step * exact.curvature(at) for at in (exact.start, kept.double(), w)]
    shown = recorded_steps(setting.n_steps)
    return {
        "what": f"Lee, Sim & Ye 2023, Figure 4 ({panel}): every plain step of descent",
        "command": f"python -m reluflow.papers.lee2023magnitude.record {panel}",
        "setting": asdict(setting),
        "seed": seed,
        "arithmetic": "network in float32; weights, steps and sums over the data in float64",
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
        },
        "wall_s": round(time.perf_counter() - clock),
        "cpu_s": round(time.process_time() - cpu),
        "checksums": checksums(exact),
        "labels": exact.zero,
        "float32_against_float64": {"start": _short(gaps[0]), "half": _short(gaps[1])},
        "eta_lambda": dict(zip(("start", "half", "end"), map(_short, unstable), strict=True)),
        "monotone": {name: pieces(values) for name, values in magnitudes(norms).items()}
        | {"loss": pieces(losses)},
        "least_move_of_W_1": float(np.abs(np.diff(norms[:, 0])).min()),
        "steps": shown,
        "norms": [[float(f"{v:.10g}") for v in norms[k]] for k in shown],
        "losses": [float(f"{losses[k]:.8g}") for k in shown],
        "half": half,
        "weights_half": base64.b64encode(kept.numpy().astype("<f4").tobytes()).decode(),
    }


def precision_gap(exact: DenseLoss, fast: DenseLoss, w: Tensor, step: float) -> float:
    """How far SLICE steps in either precision end from another, relative to their way."""
    double, single = (descend(problem, w, step, range(SLICE))[2] for problem in (exact, fast))
    return float((double - single).norm() / (double - w).norm())


def recorded_steps(n_steps: int) -> list[int]:
    """The steps of which a record has norms and loss."""
    half = n_steps // 2
    every = {*range(SLICE + 1), *range(half, half + SLICE + 1), *range(0, n_steps + 1, EVERY)}
    return sorted(k for k in {*every, n_steps} if k <= n_steps)


def pieces(values: NDArray) -> dict[str, Any]:
    """Where values (k,) rise and where they fall, over all their steps.

    Returns the numbers of steps that rise and that fall, the number of monotone pieces, and the
    first of them, each with its first and last step and the values there.
    """
    signs = np.sign(np.diff(values))
    starts = [0, *(np.nonzero(np.diff(signs))[0] + 1).tolist()]
    ends = [*starts[1:], len(signs)]
    listed = [[a, b, float(values[a]), float(values[b])] for a, b in zip(starts, ends, strict=True)]
    return {
        "rises": int((signs > 0).sum()),
        "falls": int((signs < 0).sum()),
        "pieces": len(listed),
        "first": listed[:_PIECES],
        "way_up": float(np.diff(values).clip(min=0.0).sum()),
        "way_down": float((-np.diff(values)).clip(min=0.0).sum()),
    }


def checksums(problem: DeepProblem) -> dict[str, float]:
    """Sums that tell whether data, labels and start were drawn as for the record."""
    ramp = torch.linspace(-1.0, 1.0, problem.X.numel(), dtype=torch.float64).view_as(problem.X)
    return {
        "data": float((problem.X * ramp).sum()),
        "labels": float((problem.y * ramp[:, 0]).sum()),
        "start": float((problem.start * ramp.reshape(-1)[: len(problem.start)]).sum()),
    }


def _short(value: float) -> float:
    return float(f"{value:.3g}")


def file_of(panel: str) -> Path:
    """Where the record of a panel lies."""
    return FOLDER / f"lee2023magnitude-figure-4{panel}.json"


def main(names: list[str]) -> None:
    """Make the records of the panels named, or of both, with seed 0."""
    FOLDER.mkdir(exist_ok=True)
    for panel in parameters.asked(names, PANELS):
        text = json.dumps(record_of(panel, PANELS[panel], 0))
        file_of(panel).write_text(
            text.replace(', "', ',\n"').replace("], [", "],\n[") + "\n", "utf-8"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
