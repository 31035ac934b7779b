"""`python -m reluflow.papers.lee2023magnitude.record [PANEL ...]`: Figure 4 at full scale.

Every plain step of descent on all 10000 data, 100000 of them in (a) and 30000 in (b), with the
chapter's default seed: half an hour on one core. D.3 does not give the teacher's scale; the panel
a-teacher-0.4 begins (a) with another. The network's arithmetic is in single precision;
weights, steps and the sums over the data are in double. The record says how far the same steps in
double precision lead elsewhere.
"""

from __future__ import annotations

import base64
import json
import platform
import sys
import time
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reluflow.networks.dense import DenseLoss, one_thread
from reluflow.papers.lee2023magnitude.deep import (
    LARGE,
    SMALL,
    DeepProblem,
    DeepRun,
    DeepSetting,
    descend,
    magnitudes,
)
from reluflow.places import RECORDS as FOLDER
from reluflow.progress import progress

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
    for panel in names or PANELS:
        text = json.dumps(record_of(panel, PANELS[panel], 0))
        file_of(panel).write_text(
            text.replace(', "', ',\n"').replace("], [", "],\n[") + "\n", "utf-8"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
