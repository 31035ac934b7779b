"""The records of the MNIST figures as they are read: curves, images and facts (`record.py` makes
them)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from reluflow.flows.shallow_descent import descent
from reluflow.networks.dense import one_thread
from reluflow.networks.shallow import Neurons
from reluflow.packed import unpacked
from reluflow.papers.min2024early.mnist import Curves, Seen, Setting, Side, Task
from reluflow.places import RECORDS as FOLDER


@dataclass(frozen=True)
class Record:
    """A figure as it was recorded: the curves of descent and of the gradient flow, and the file's
    other facts."""

    setting: Setting
    curves: Curves
    flow: Curves
    facts: dict[str, Any]

    @property
    def seed(self) -> int:
        """The seed of the start."""
        return self.facts["seed"]

    def start(self, task: Task, late: bool) -> Neurons:
        """The weights from which SLICE steps are recorded: the start, or those kept."""
        if not late:
            return task.start(self.seed)[0]
        kept = self.facts["kept"]
        flat = unpacked(kept["weights"], "<f2") * kept["unit"]
        h, k = self.setting.width, int(task.pair.moves.sum())
        return Neurons(torch.zeros(h, k), torch.zeros(h)).like(torch.tensor(flat))

    def picture(self, name: str) -> NDArray:
        """One of the images of `mnist.visible`, to three digits."""
        return unpacked(self.facts["pictures"][name], "<f2").reshape(self.facts["shape"])


@dataclass(frozen=True)
class Phases:
    """Figure 12 or 13 as it was recorded: arrays over the epochs, and the file's other facts."""

    epoch: NDArray
    loss: NDArray
    norms: NDArray
    directions: NDArray
    squares: NDArray
    facts: dict[str, Any]


def load(name: str) -> Record:
    """The record of "figure-5", "figure-10" or "figure-11"."""
    facts = json.loads(file_of(name).read_text(encoding="utf-8"))
    flow = facts.pop("flow")
    curves = [Curves.of(map(seen_in, rows)) for rows in (facts.pop("seen"), flow["seen"])]
    facts["gradients"] = flow["gradients"]
    return Record(Setting(**facts["setting"]), curves[0], curves[1], facts)


def load_phases(name: str) -> Phases:
    """The record of "figure-12" or "figure-13"."""
    facts = json.loads(file_of(name).read_text(encoding="utf-8"))
    epoch, loss, norms, directions, squares = np.array(facts.pop("rates"), float).T
    return Phases(epoch, loss, norms, directions, squares, facts)


def again(record: Record, task: Task, n_steps: int, late: bool) -> float:
    """Take recorded steps again: the largest difference of a loss from the record's, over the
    loss's own change or, where that is less, over a thousandth of it."""
    with one_thread():
        states = descent(task.loss, record.start(task, late), *[record.setting.step] * 2)
        losses = np.array([s.loss for s in islice(states, n_steps + 1)])
    kept = np.array(record.facts["kept" if late else "first"]["losses"][: n_steps + 1])
    unit = max(float(np.ptp(kept)), 1e-3 * float(kept[0]))
    return float(np.abs(losses - kept).max()) / unit


def load_readings() -> dict[str, Any]:
    """The record of the readings: `rows`, and `starts` of each figure under the one taken."""
    facts = json.loads(file_of("readings").read_text(encoding="utf-8"))
    starts = (one for each in facts["starts"].values() for one in each)
    for one in [*facts["rows"].values(), *starts]:
        one |= {name: np.inf for name, value in one.items() if value is None}
    return facts


def row_of(seen: Seen) -> list[float]:
    """One recorded step as numbers."""
    numbers = (seen.loss, seen.spectral, seen.stable_rank)
    sides = [short(v) for s in (seen.plus, seen.minus) for v in (s.mean, s.least, s.largest)]
    return [seen.step, *map(short, numbers), seen.positive, *sides]


def seen_in(row: list[float]) -> Seen:
    """The recorded step behind such numbers."""
    step, loss, spectral, rank, positive = row[:5]
    sides = Side(*row[5:8]), Side(*row[8:])
    return Seen(int(step), loss, spectral, rank, int(positive), *sides)


def file_of(name: str) -> Path:
    """Where a record lies."""
    return FOLDER / f"min2024early-{name}.json"


def short(value: float) -> float:
    """A number as records keep it, with seven digits."""
    return float(f"{value:.7g}")
