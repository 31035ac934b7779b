"""The deep network of the paper's Figure 4, Appendix D.2."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from reluflow.approx import approx
from reluflow.falsify import survey
from reluflow.ledger import Evidence, Reading, bound, computed, fact, note
from reluflow.networks.torch_threads import one_thread
from reluflow.progress import progress
from reluflow.records import Pieces, Shelf
from reluflow.statistics import share_interval

# --- Figure 4: how large the weights of a deep ReLU network are in training -----------------------
#
# The network is f(x) = W_5 [W_4 [... [W_1 x]_+ ...]_+]_+, fully connected, without bias, 50 units
# in every hidden layer; the teacher is another one. L = 1/(2n) sum_i (f(x_i) - y_i)^2, weights from
# N(0, k I). All 100000 steps take half an hour (a record has them). Where the step eta is above
# 2 / lambda, lambda the largest curvature, descent does not follow the gradient flow.

_LARGE = 1e6
"""Norm of a layer from which on descent counts as diverged."""


@dataclass(frozen=True)
class DeepSetting:
    """A panel of Figure 4: the start's and the teacher's weights are `start` and `teacher` times
    standard normal numbers; `step` eta and `n_steps` of descent."""

    start: float
    teacher: float
    step: float
    n_steps: int
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
LARGE = DeepSetting(start=0.44, teacher=TEACHER, step=0.0001, n_steps=30000)


_BLOCK = 500


class DeepProblem:
    """The loss L = 1/(2n) sum_i (f(x_i) - y_i)^2 of a setting's network on its data, and the start.

    The seed fixes the data, the teacher's directions and the start's; two settings with one seed, n
    and architecture share them, up to their scales. The p weights are one vector, W_1 first, row by
    row. The gradient is by hand, on pieces of the data whose hidden layers fit into a processor's
    cache; the network's arithmetic has the precision `dtype`, weights and sums over the data are
    in double.

    start  (p,) the weights w_0
    zero   the loss of the zero function, the mean of y^2 / 2
    """

    def __init__(
        self,
        setting: DeepSetting,
        seed: int,
        dtype: torch.dtype = torch.float64,
        device: str = "cpu",
    ) -> None:
        rng, size = np.random.default_rng(seed), sum(a * b for a, b in setting.shapes)
        teacher, start = (torch.tensor(rng.standard_normal(size), device=device) for _ in range(2))
        self.X = torch.tensor(rng.standard_normal((setting.n, setting.d)), device=device)
        self.y = forward(matrices(setting.teacher * teacher, setting.shapes), self.X.T)[1]
        self.setting = setting
        self.start = setting.start * start
        self.zero = 0.5 * float(self.y.square().mean())
        block = _BLOCK if self.X.device.type == "cpu" else setting.n
        pieces = zip(*(v.to(dtype).split(block) for v in (self.X, self.y)), strict=True)
        self._pieces = [(x.T.contiguous(), labels) for x, labels in pieces]

    def layers(self, w: Tensor) -> list[Tensor]:
        """W_1, ..., W_l of the weights (p,)."""
        return matrices(w, self.setting.shapes)

    def norms(self, w: Tensor) -> NDArray:
        """The Frobenius norms |W_1|, ..., |W_l|, shape (l,)."""
        return np.array([float(W.norm()) for W in self.layers(w)])

    def loss_and_direction(self, w: Tensor) -> tuple[float, Tensor]:
        """L and - grad L at the weights (p,); the derivative of the ReLU at 0 is 0."""
        W = self.layers(w.to(self._pieces[0][1].dtype))
        squares, total = w.new_zeros(()), torch.zeros_like(w)
        for X, y in self._pieces:
            inputs, f = forward(W, X)
            missing = y - f
            squares += missing.to(w.dtype).square().sum()
            delta = missing[None]
            found = [torch.mm(delta, inputs[-1].T)]
            for k in range(len(W) - 1, 0, -1):
                delta = torch.mm(W[k].T, delta).mul_(inputs[k] > 0.0)
                found.append(torch.mm(delta, inputs[k - 1].T))
            total += torch.cat([G.reshape(-1) for G in reversed(found)])
        n = self.setting.n
        return 0.5 * float(squares) / n, total / n

    def descent_direction(self, w: Tensor) -> Tensor:
        """- grad L at the weights (p,)."""
        return self.loss_and_direction(w)[1]

    def curvature(self, w: Tensor) -> float:
        """The Hessian's eigenvalue of largest size, within a few per cent, by the power method."""
        slope = self.descent_direction(w)
        size, lead, radius = 1e-6 * w.norm(), slope / slope.norm(), 0.0
        for _ in range(12):
            image = (self.descent_direction(w + size * lead) - slope) / size
            before, radius = radius, float(image.norm())
            if abs(radius - before) <= 0.05 * radius:
                break
            lead = image / radius
        return radius


def matrices(w: Tensor, shapes: Sequence[tuple[int, int]]) -> list[Tensor]:
    """The matrices of these shapes in the vector w (p,), row by row."""
    pieces = torch.split(w, [a * b for a, b in shapes])
    return [piece.view(shape) for piece, shape in zip(pieces, shapes, strict=True)]


def forward(W: Sequence[Tensor], X: Tensor) -> tuple[list[Tensor], Tensor]:
    """What goes into each layer for the data X (d, b), a column each, and f (b,)."""
    inputs = [X]
    for layer in W[:-1]:
        inputs.append(torch.mm(layer, inputs[-1]).clamp_(min=0.0))
    return inputs, torch.mv(inputs[-1].T, W[-1][0])


@dataclass(frozen=True)
class DeepRun:
    """How a panel's training went.

    steps   (k,) step numbers of descent
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
        return {
            FIRST: self.norms[:, 0],
            "all weights": np.sqrt((self.norms**2).sum(axis=1)),
            "product of all |W_k|": self.norms.prod(axis=1),
        }

    @property
    def diverged(self) -> bool:
        """Whether the weights left every bound."""
        return not bool(np.isfinite(self.losses).all() and self.norms.max() < _LARGE)

    @property
    def arrived(self) -> float:
        """The step from which on |W_1| is within a tenth of its whole way from its end."""
        left = np.abs(self.norms[:, 0] - self.norms[-1, 0])
        return self.settled(left > (1.0 - 0.9) * left[0])

    def settled(self, away: NDArray) -> float:
        """The step after the last that is `away` (k,); the first of all, 0, if none is."""
        where = np.nonzero(away)[0]
        return float(self.steps[where[-1] + 1]) if where.size else 0.0


FIRST = "first layer |W_1|"
"""The analogue of |w|."""


def descend(
    problem: DeepProblem, w: Tensor, step: float, counted: Iterable[int]
) -> tuple[NDArray, NDArray, Tensor]:
    """Plain descent from w (p,), a step for every item of `counted`, until the weights overflow.
    Returns the norms of the layers (k + 1, depth) and the losses (k + 1,) after 0, ..., k steps,
    and the last weights."""
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


def deep_descent(problem: DeepProblem, n_steps: int) -> DeepRun:
    """The first `n_steps` plain steps of a panel's descent, fewer where they diverge."""
    setting = problem.setting
    norms, losses, _ = descend(problem, problem.start, setting.step, range(n_steps))
    return DeepRun(setting, np.arange(float(len(losses))), losses, norms, problem.zero)


# --- The record of Figure 4 at full scale ---------------------------------------------------------
#
# Every plain step of descent on all 10000 data, 100000 of them in (a) and 30000 in (b), with the
# chapter's default seed: half an hour on one core. D.3 does not give the teacher's scale; the panel
# a-teacher-0.4 begins (a) with another. The network's arithmetic is in single precision;
# weights, steps and the sums over the data are in double. The page takes some steps again in double
# precision.

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
CHUNK = 250
"""Steps that a run which was killed may have to take again."""
_PIECES = 30


@dataclass(frozen=True)
class Record(DeepRun):
    """A panel as it was recorded, of `setting.n_steps` steps, and the file's other facts."""

    facts: dict[str, Any]

    @property
    def growth(self) -> float:
        """|W_1| at the end over that at the start."""
        return float(self.norms[-1, 0] / self.norms[0, 0])

    @property
    def loss_left(self) -> float:
        """The loss at the end over the zero function's."""
        return float(self.losses[-1] / self.zero)

    @property
    def halfway(self) -> tuple[int, Tensor]:
        """The step half-way and its weights (p,); SLICE steps from there are recorded, too."""
        raw = np.frombuffer(base64.b64decode(self.facts["weights_half"]), "<f4")
        return self.facts["half"], torch.tensor(raw, dtype=torch.float64)

    def share_of_way(self, since: float) -> float:
        """How much of its whole way |W_1| goes after the share `since` of the steps."""
        values = self.norms[:, 0]
        at = np.interp(since * self.setting.n_steps, self.steps, values)
        return float((values[-1] - at) / (values[-1] - values[0]))

    def back(self, magnitude: str, sign: int) -> float:
        """How much of all its ways, over all steps, a magnitude goes against `sign`."""
        ways = self.facts["monotone"][magnitude]
        return ways["way_down" if sign > 0 else "way_up"] / (ways["way_up"] + ways["way_down"])


def load(panel: str, shelf: Shelf | None = None) -> Record:
    """Read the record of a panel, "a" or "b"."""
    facts = (shelf or SHELF).read(panel)
    facts["setting"].pop("plain", None)  # of steps before a flow, which a setting has no more
    setting = DeepSetting(**facts["setting"])
    steps, losses, norms = (np.array(facts.pop(it), float) for it in ("steps", "losses", "norms"))
    return Record(setting, steps, losses, norms, facts["labels"], facts)


def again(record: Record, n_steps: int) -> float:
    """Take recorded steps again, in double precision, from the start and from half-way: the largest
    difference of a layer's norm from the record's, over the longest way of a norm."""
    with one_thread():
        gaps, problem = [], DeepProblem(record.setting, record.facts["seed"])
        for at, w in ((0, problem.start), record.halfway):
            norms = descend(problem, w, record.setting.step, range(n_steps))[0]
            kept = record.norms[record.steps >= at][: n_steps + 1]
            gaps.append(float(np.abs(norms - kept).max() / np.abs(kept - kept[0]).max()))
    return max(gaps)


def record_of(panel: str, made: Pieces, seed: int, device: str = "cpu") -> dict[str, Any]:
    """Take every step of a panel; returns the record, made of what JSON knows."""
    setting = PANELS[panel]
    half, step = setting.n_steps // 2, setting.step
    ends = [*range(0, half, CHUNK), *range(half, setting.n_steps, CHUNK), setting.n_steps]
    with one_thread():
        exact, fast = (
            DeepProblem(setting, seed, dtype, device) for dtype in (torch.float64, torch.float32)
        )
        w, found = exact.start, []
        for k, end in progress(pairwise(ends), len(ends) - 1, f"pieces of ({panel})"):
            if k == half:  # The run goes on from the weights that the record keeps.
                kept = w.float().cpu()
                w = kept.to(w)
            found.append(made(str(end), partial(descend, fast, w, step, range(end - k))))
            w = found[-1][2]
        norms, losses = (
            np.concatenate([*(each[i][:-1] for each in found), found[-1][i][-1:]]) for i in (0, 1)
        )
        unstable = [step * exact.curvature(at) for at in (exact.start, kept.to(w), w)]
    last = setting.n_steps
    every = {*range(SLICE + 1), *range(half, half + SLICE + 1), *range(0, last, EVERY), last}
    shown = sorted(k for k in every if k <= last)
    run = DeepRun(setting, np.arange(last + 1.0), losses, norms, exact.zero)
    return {
        "what": f"Lee, Sim & Ye 2023, Figure 4 ({panel}): every plain step of descent",
        "setting": asdict(setting),
        "arithmetic": "network in float32; weights, steps and sums over the data in float64",
        "labels": exact.zero,
        "eta_lambda": {
            at: float(f"{value:.3g}")
            for at, value in zip(("start", "half", "end"), unstable, strict=True)
        },
        "monotone": {name: pieces(values) for name, values in run.magnitudes.items()}
        | {"loss": pieces(losses)},
        "steps": shown,
        "norms": [[float(f"{v:.10g}") for v in norms[k]] for k in shown],
        "losses": [float(f"{losses[k]:.8g}") for k in shown],
        "half": half,
        "weights_half": base64.b64encode(kept.numpy().astype("<f4").tobytes()).decode(),
    }


def pieces(values: NDArray) -> dict[str, Any]:
    """Where values (k,) rise and where they fall, over all their steps. Returns the numbers of
    steps that rise and that fall, the number of monotone pieces, and the first of them, each with
    its first and last step and the values there."""
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


SHELF = Shelf(
    "02_magnitude_angle/experiments", "lee2023magnitude-figure-4", record_of, tuple(PANELS)
)


# --- The first steps of Figure 4, from many starts and under other readings -----------------------

READINGS: dict[str, tuple[DeepSetting, int]] = {
    "(a) as taken": (SMALL, 100),
    "(a) k a variance": (replace(SMALL, start=0.04**0.5, teacher=TEACHER**0.5), 10),
    "(b) as taken": (LARGE, 10),
    "(b) k a variance": (replace(LARGE, start=0.44**0.5, teacher=TEACHER**0.5), 10),
    "(b) loss without the 1/2": (replace(LARGE, step=2 * LARGE.step), 10),
    "(b) loss a sum over the data": (replace(LARGE, step=LARGE.n * LARGE.step), 10),
}
"""What D.3 leaves open for Figure 4: a setting, and after how many steps to look."""


def fates(seed: int, n: int) -> pd.DataFrame:
    """The first plain steps of every reading, on n data; a loss that rises at some step rises."""

    def measure(name: str) -> dict[str, Any]:
        reading, n_steps = READINGS[name]
        run, unstable = _begun(replace(reading, n=n), seed, n_steps)
        way, rises = run.norms[-1, 0] - run.norms[0, 0], (np.diff(run.losses) > 0.0).any()
        return {
            "reading": name,
            "eta lambda": approx(unstable, 2),
            "descent": "diverges" if run.diverged else f"loss {'rises' if rises else 'falls'}",
            "steps": len(run.steps) - 1,
            "|W_1| moves": "" if run.diverged else approx(way, 2),
        }

    return survey(READINGS, measure).set_index("reading")


def _begun(
    setting: DeepSetting, seed: int, n_steps: int, dtype: torch.dtype = torch.float64
) -> tuple[DeepRun, float]:
    """The first plain steps, and eta lambda at the start, below 2 where descent is stable."""
    with one_thread():
        problem = DeepProblem(setting, seed, dtype)
        run = deep_descent(problem, n_steps)
        return run, setting.step * problem.curvature(problem.start)


def overshoots(setting: DeepSetting, seed: int, count: int, n: int = 1000) -> pd.DataFrame:
    """Ten plain steps of descent from `count` starts, each with its own teacher and n data, in the
    record's arithmetic: eta lambda at the start, and whether |W_1| falls at each of them."""

    def measure(seed: int) -> dict[str, float | bool]:
        run, unstable = _begun(replace(setting, n=n), seed, 10, torch.float32)
        return {"unstable": unstable, "fell": bool((np.diff(run.norms[:, 0]) < 0.0).all())}

    return survey(range(seed, seed + count), measure)


def falls_first(setting: DeepSetting, seed: int, count: int, n: int = 1000) -> np.ndarray:
    """Whether the flow's |W_1| falls at first, from `count` starts on n data each; (count,). Its
    slope has the sign of <W_1, - dL/dW_1> = 1/n sum_i (y_i - f(x_i)) f(x_i)."""

    def falls(seed: int) -> bool:
        problem = DeepProblem(replace(setting, n=n), seed)
        f = forward(problem.layers(problem.start), problem.X.T)[1]
        return float((problem.y - f) @ f) < 0.0

    with one_thread():
        return np.array([falls(seed + k) for k in range(count)])


# --- Figure 4 of Lee et al. 2022b, judged on the record of its run at full scale ------------------
#
# The bars were set before the run: a curve is monotone as far as a figure shows where it goes back
# by at most SHOWN of its ways, and has converged where the last tenth of the steps moves it by at
# most SHOWN of its whole way.

SHOWN = 0.01
"""A way back of a curve by less than this share of all its ways is not seen in Figure 4."""
KNOWN = computed("recorded runs, every step at the paper's scale")
_AGAIN = 5
_TAKEN = (
    "k is a standard deviation; the magnitude is |W_1|, the analogue of |w|; the teacher, whose "
    "scale D.3 does not give here, has k* = 0.22, so that 0.44 = 2 k* as in Figure 1"
)
SMALL_READING = Reading(
    taken=f"{_TAKEN}; strictly, up to what a figure can show: a hundredth of the way",
    others="at every single step it is false from this start and from about every second "
    "one: |W_1| moves at first as the start's outputs correlate with the labels, by chance "
    "with either sign. With k* = 0.4, of which 0.04 is a tenth (D.3's small norm), descent "
    "at the printed rate reaches the edge of stability, and |W_1| falls at every second or "
    "third step",
)
LARGE_READING = Reading(
    taken=_TAKEN,
    others="k a variance: descent diverges at once. The product of the layers' norms rises "
    "before it falls. Not from every start: the first steps may throw |W_1| up, or diverge",
)
SLOWER_READING = Reading(
    taken=f"{_TAKEN}; the speed is that of the magnitude, which alone Figure 4 shows",
    others="by the loss the last two notes decide; in steps the small start is the faster one",
)


def small_start(record: Record, wide: Record, falls_first: NDArray) -> list[Evidence]:
    """ma.fig4.a: from the small start |W_1| increases. `wide` is the same with a larger teacher;
    `falls_first` (starts,) tells of many starts whether their |W_1| falls at first."""
    ways = record.facts["monotone"][FIRST]
    first = ways["first"][0]
    at_first = int(first[1]) if first[3] < first[2] else 0
    return [
        *_run(record),
        bound("share of the ways of |W_1| that goes down, over all steps",
              record.back(FIRST, 1), "<=", SHOWN, ""),
        bound("|W_1| at the end over its start", record.growth, ">", 1.0, "times"),
        note("steps at which |W_1| falls, and all", (ways["falls"], record.setting.n_steps)),
        note("of them at the start, one after another", at_first),
        note("other starts whose |W_1| falls at first, and all tried",
             (int(falls_first.sum()), len(falls_first))),
        note("95 % interval of their share", share_interval(falls_first.sum(), len(falls_first))),
        note("with k* = 0.4: share of the ways of |W_1| that goes down, as far as recorded",
             _digits(wide.back(FIRST, 1))),
        note("with k* = 0.4: eta lambda half-way", wide.facts["eta_lambda"]["half"]),
        *_others(record, 1),
    ]  # fmt: skip


def large_start(record: Record, starts: pd.DataFrame) -> list[Evidence]:
    """ma.fig4.b: from the large start |W_1| decreases; `starts` are the `overshoots` of others."""
    ways = record.facts["monotone"][FIRST]
    return [
        *_run(record),
        fact("steps at which |W_1| does not fall", record.setting.n_steps - ways["falls"], 0),
        bound("|W_1| at the end over its start", record.growth, "<", 1.0, "times"),
        note("other starts whose |W_1| falls at each of the first ten steps, and all tried",
             (int(starts.fell.sum()), len(starts))),
        note("95 % interval of their share", share_interval(starts.fell.sum(), len(starts))),
        note("steps at which the loss rises", record.facts["monotone"]["loss"]["rises"]),
        *_others(record, -1),
    ]  # fmt: skip


def converges(small: Record, wide: Record, large: Record) -> list[Evidence]:
    """ma.fig4.converges: the magnitudes of both panels converge within the printed numbers of
    steps; `wide` is the beginning of (a) with a larger teacher."""
    evidence: list[Evidence] = []
    for name, record in {"(a)": small, "(b)": large}.items():
        left = round(abs(record.share_of_way(0.9)), 4)
        evidence += [
            bound(f"{name} way of |W_1| in the last tenth of the steps, of its whole way",
                  left, "<=", SHOWN, ""),
            note(f"{name} steps", record.setting.n_steps),
            note(f"{name} loss at the end over the zero function's", f"{record.loss_left:.2g}"),
        ]  # fmt: skip
    return [
        *evidence,
        note("(a) with k* = 0.4: steps recorded", wide.setting.n_steps),
        note("(a) with k* = 0.4: way of |W_1| in the last tenth of them, of its whole way",
             f"{abs(wide.share_of_way(0.9)):.1g}"),
    ]  # fmt: skip


def still_moving(failed: Sequence[str]) -> str:
    """What appears in the place of convergence, by the evidence of `converges` that failed."""
    moving = " and ".join(what.split()[0] for what in failed)
    return (
        f"With k* = 0.22 |W_1| of {moving} still moves when the steps are used up. D.3 does not "
        "give k* for this figure; with another teacher it may come out."
    )


def slower(small: Record, large: Record) -> list[Evidence]:
    """ma.fig4.slower: a small norm converges more slowly, in steps and in the magnitude's time."""
    both = small, large
    steps, rates = [record.arrived for record in both], [record.setting.step for record in both]
    level = max(record.losses[-1] for record in both)
    losses = [record.settled(record.losses > level) for record in both]
    return [
        bound("steps until |W_1| has nine tenths of its way behind it: small over large",
              steps[0] / max(steps[1], 1.0), ">", 1.0, ""),
        bound("times eta T of the same: small over large",
              steps[0] * rates[0] / (max(steps[1], 1.0) * rates[1]), ">", 1.0, ""),
        note("these steps, (a) and (b)", tuple(round(k) for k in steps)),
        note("steps until the loss is at most (b)'s at the end, (a) and (b)",
             tuple(round(k) for k in losses)),
        note("times eta T of the same, (a) and (b)",
             tuple(f"{k * rate:.3g}" for k, rate in zip(losses, rates, strict=True))),
    ]  # fmt: skip


def recorded_numbers(small: Record, wide: Record, large: Record) -> dict[str, str]:
    """The numbers of the text on Figure 4, by the name under which it glues them."""
    seconds = sum(record.facts["cpu_s"] for record in (small, large))
    a, b, c = (record.facts["monotone"][FIRST] for record in (small, large, wide))
    return {
        "fig4_minutes": f"{seconds / 60:.0f}",
        "fig4_a_falls": f"{a['first'][0][1]}",
        "fig4_a_growth": f"{small.growth:.3f}",
        "fig4_a_last": f"{small.share_of_way(0.9):.0%}",
        "fig4_a_loss": f"{small.loss_left:.0%}",
        "fig4_a_arrived": f"{small.arrived:.0f}",
        "fig4_a_passes": f"{small.settled(small.losses > large.losses[-1]):.0f}",
        "fig4_wide_falls": f"{c['falls'] / wide.setting.n_steps:.0%}",
        "fig4_wide_steps": f"{wide.setting.n_steps}",
        "fig4_b_falls": f"{b['falls']}",
        "fig4_b_steps": f"{large.setting.n_steps}",
        "fig4_b_loss": f"{large.loss_left:.0%}",
        "fig4_b_arrived": f"{large.arrived:.0f}",
    }


def _digits(value: float) -> str:
    return f"{value:.2g}" if value >= 1e-4 else "below 0.0001"


def _run(record: Record) -> list[Evidence]:
    """What the record is, and that it comes out again from the start and from half-way on."""
    facts, setting = record.facts, record.setting
    return [
        note("plain steps of descent, all taken; data", (setting.n_steps, setting.n)),
        note("minutes of one core", round(facts["cpu_s"] / 60)),
        note("torch, numpy", (facts["versions"]["torch"], facts["versions"]["numpy"])),
        note("seed", facts["seed"]),
        bound(f"{_AGAIN} steps from the start and from half-way again, in double precision: "
              "difference of a norm over its way, at most", again(record, _AGAIN), "<=", 0.01, "",
              digits=2),
    ]  # fmt: skip


def _others(record: Record, sign: int) -> list[Evidence]:
    """The other magnitudes: how much of their ways goes back."""
    names = [name for name in record.facts["monotone"] if name not in (FIRST, "loss")]
    return [note(f"share of the way back, {n}", _digits(record.back(n, sign))) for n in names]
