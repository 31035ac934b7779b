"""`python -m reluflow.papers.min2024early.record [NAME ...]`: the MNIST figures at full scale.

Every plain step of descent on all training images of the two digits, seed 0; a few minutes of one
core each. Needs MNIST's files (`reluflow.images.mnist_folder`). The products with the images are in
single precision, weights and sums in double; the record says how far the same steps in double
precision lead elsewhere.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from reluflow import images
from reluflow.errors import InputError
from reluflow.flows.shallow_descent import State, descent
from reluflow.networks.dense import one_thread
from reluflow.networks.grouped import GroupedLoss
from reluflow.networks.shallow import Neurons
from reluflow.packed import packed, unpacked
from reluflow.papers.min2024early import correlations, readings, two_phases
from reluflow.papers.min2024early.image_runs import flow_states
from reluflow.papers.min2024early.mnist import (
    Curves,
    Seen,
    Setting,
    Side,
    Task,
    likeness,
    visible,
)
from reluflow.progress import progress

FOLDER = Path(__file__).resolve().parents[4] / "data" / "records"
FIGURES = {"figure-5": Setting(1, 0), "figure-10": Setting(3, 8), "figure-11": Setting(1, 7)}
PHASES = {"figure-12": two_phases.both_layers, "figure-13": two_phases.first_layer}
EPOCHS = 1000
FIRST, STARTS = 1000, 20
"""Images of each digit on which readings are tried, and starts of the reading taken."""
EVERY = 50
"""Steps between two that are recorded."""
SLICE = 20
"""Steps at the start, and from the weights kept, of which every loss is recorded."""
FLOW = 61
"""Times at which the gradient flow is recorded."""
KEPT = 0.5
"""The weights are kept, in half precision, where the loss first is at most this share of its start.
"""


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
    return Phases(*np.array(facts.pop("rates"), float).T, facts)


def again(record: Record, task: Task, n_steps: int, late: bool) -> float:
    """Take recorded steps again: the largest difference of a loss from the record's, over the
    loss's own change or, where that is less, over a thousandth of it."""
    with one_thread():
        states = descent(task.loss, record.start(task, late), *[record.setting.step] * 2)
        losses = np.array([s.loss for s in islice(states, n_steps + 1)])
    kept = np.array(record.facts["kept" if late else "first"]["losses"][: n_steps + 1])
    unit = max(float(np.ptp(kept)), 1e-3 * float(kept[0]))
    return float(np.abs(losses - kept).max()) / unit


@cache
def all_images() -> images.Images:
    """MNIST's training part. Raises InputError where this machine has none."""
    folder = images.mnist_folder()
    if folder is None:
        raise InputError(f"no MNIST here: name its folder by the variable {images.VARIABLE}.")
    return images.mnist(folder)


def record_of(name: str, setting: Setting, seed: int) -> dict[str, Any]:
    """Take every step of a figure; returns the record, made of what JSON knows."""
    clock, cpu = time.perf_counter(), time.process_time()
    with one_thread():
        task, exact = Task(setting, all_images(), torch.float32), Task(setting, all_images())
        start, still = task.start(seed)
        seen: list[Seen] = []
        late: State | None = None
        last: State | None = None
        path = descent(GroupedLoss(task.loss), start, setting.step, setting.step)
        steps = progress(islice(path, setting.n_steps + 1), setting.n_steps + 1, "states")
        for state in steps:
            if state.step % EVERY == 0:
                seen.append(task.seen(state, still))
            if late is None and state.loss <= KEPT * seen[0].loss:
                late = state
            last = state
        assert last is not None
        assert late is not None
        kept = halved(late.neurons)
        branch = late.neurons.like(torch.tensor(unpacked(kept["weights"], "<f2") * kept["unit"]))
        slices = {
            "first": {"losses": losses_from(task, start)},
            "kept": {**kept, "step": late.step, "losses": losses_from(task, branch)},
        }
        flow, gradients = flow_states(task, seed, FLOW)
        gaps = [precision_gap(exact, task, at) for at in (start, branch)]
    pictures = visible(task, last.neurons)
    near = {w: likeness(task, all_images(), pictures[w]) for w in ("w_plus", "w_minus")}
    return {
        **about(name, setting, seed, task),
        "cpu_s": round(time.process_time() - cpu),
        "wall_s": round(time.perf_counter() - clock),
        "float32_against_float64": [float(f"{gap:.3g}") for gap in gaps],
        "data": correlations.record(task.pair),
        "shape": list(task.pair.shape),
        "pictures": {key: packed(task.pair.picture(x), "<f2") for key, x in pictures.items()},
        "flow": {"gradients": gradients, "seen": [row_of(one) for one in flow]},
        "cosines": {w: [_short(c) for c in cosines] for w, cosines in near.items()},
        **slices,
        "seen": [row_of(one) for one in seen],
    }


def record_of_phases(name: str, setting: Setting, seed: int) -> dict[str, Any]:
    """Take every epoch of Figure 12 or 13; returns the record."""
    clock = time.process_time()
    with one_thread():
        task = Task(setting, all_images(), torch.float32)
        epochs = progress(PHASES[name](task, seed, EPOCHS), EPOCHS + 1, "epochs")
        rows = [[r.epoch, *map(_short, (r.loss, r.norms, r.directions, r.squares))] for r in epochs]
    facts = about(name, setting, seed, task)
    return {**facts, "cpu_s": round(time.process_time() - clock), "rates": rows}


def record_of_readings(seed: int) -> dict[str, Any]:
    """Try every reading, and the one taken from other starts."""
    with one_thread():
        tried = readings.candidates(FIRST)
        rows = {
            name: readings.tried(candidate, all_images(), seed)
            for name, candidate in progress(tried.items(), len(tried), "readings")
        }
        starts = [
            readings.tried(tried["taken"], all_images(), seed + 1 + k)
            for k in progress(range(STARTS), STARTS, "starts")
        ]
    return {
        "what": "Min, Mallada & Vidal 2024, Section 4: readings of what the text leaves open",
        "command": "python -m reluflow.papers.min2024early.record readings",
        "seed": seed,
        "rows": {name: _without_infinity(row) for name, row in rows.items()},
        "starts": [
            _without_infinity({name: one[name] for name in ("aligned", "falls")}) for one in starts
        ],
    }


def load_readings() -> dict[str, Any]:
    """The record of the readings: `rows`, and `starts` under the one taken."""
    facts = json.loads(file_of("readings").read_text(encoding="utf-8"))
    for one in [*facts["rows"].values(), *facts["starts"]]:
        one |= {name: np.inf for name, value in one.items() if value is None}
    return facts


def about(name: str, setting: Setting, seed: int, task: Task) -> dict[str, Any]:
    """What a record is of."""
    return {
        "what": f"Min, Mallada & Vidal 2024, {name}: every plain step of descent, MNIST training",
        "command": f"python -m reluflow.papers.min2024early.record {name}",
        "setting": asdict(setting),
        "seed": seed,
        "images": task.loss.n,
        "arithmetic": "products with the images in float32, weights and sums in float64",
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
        },
    }


def losses_from(task: Task, start: Neurons) -> list[float]:
    """The losses of SLICE plain steps, all data looked at in each."""
    states: Iterator[State] = descent(task.loss, start, *[task.setting.step] * 2)
    return [float(f"{s.loss:.10g}") for s in islice(states, SLICE + 1)]


def precision_gap(exact: Task, fast: Task, start: Neurons) -> float:
    """How far SLICE steps in either precision end from another, relative to their way."""
    ends = []
    for task in (exact, fast):
        states = descent(task.loss, start, *[task.setting.step] * 2)
        ends.append(next(islice(states, SLICE, None)).neurons.flat)
    return float((ends[0] - ends[1]).norm() / (ends[0] - start.flat).norm())


def halved(neurons: Neurons) -> dict[str, Any]:
    """All weights in half precision, in units of the largest."""
    flat = neurons.flat.numpy()
    unit = float(np.abs(flat).max())
    return {"unit": unit, "weights": packed(flat / unit, "<f2")}


def row_of(seen: Seen) -> list[float]:
    """One recorded step as numbers."""
    numbers = (seen.loss, seen.spectral, seen.stable_rank)
    sides = [_short(v) for s in (seen.plus, seen.minus) for v in (s.mean, s.least, s.largest)]
    return [seen.step, *map(_short, numbers), seen.positive, *sides]


def seen_in(row: list[float]) -> Seen:
    """The recorded step behind such numbers."""
    return Seen(int(row[0]), *row[1:4], int(row[4]), Side(*row[5:8]), Side(*row[8:]))


def _without_infinity(row: dict[str, Any]) -> dict[str, Any]:
    """A row for JSON, which knows no infinity."""
    return {name: None if value == np.inf else value for name, value in row.items()}


def _short(value: float) -> float:
    return float(f"{value:.7g}")


def file_of(name: str) -> Path:
    """Where a record lies."""
    return FOLDER / f"min2024early-{name}.json"


def main(names: Iterable[str]) -> None:
    """Make the records named, or all, with seed 0."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or [*FIGURES, *PHASES, "readings"]:
        if name in FIGURES:
            facts = record_of(name, FIGURES[name], 0)
        elif name == "readings":
            facts = record_of_readings(0)
        else:
            facts = record_of_phases(name, FIGURES["figure-5"], 0)
        text = json.dumps(facts).replace("], [", "],\n[")
        file_of(name).write_text(text.replace(', "', ',\n"') + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
