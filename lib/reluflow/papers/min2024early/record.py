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
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import torch

from reluflow import images, parameters
from reluflow.errors import InputError
from reluflow.networks.dense import one_thread
from reluflow.papers.min2024early import mnist
from reluflow.papers.min2024early.mnist import (
    GroupedLoss,
    Neurons,
    Seen,
    Setting,
    State,
    Task,
    descent,
    file_of,
    flow_states,
    likeness,
    packed,
    row_of,
    short,
    unpacked,
    visible,
)
from reluflow.progress import progress

FIGURES = {"figure-5": Setting(1, 0), "figure-10": Setting(3, 8), "figure-11": Setting(1, 7)}
PHASES = {"figure-12": mnist.both_layers, "figure-13": mnist.first_layer}
EPOCHS = 1000
FIRST, STARTS = 1000, 20
"""Images of each digit on which readings are tried, and starts of the reading taken."""
PATIENCE = 10_000
"""Steps after which a start of Figures 10 and 11 is given up: all is later there."""
EVERY = 50
"""Steps between two that are recorded."""
SLICE = 20
"""Steps at the start, and from the weights kept, of which every loss is recorded."""
FLOW = 61
"""Times at which the gradient flow is recorded."""
KEPT = 0.5
"""The weights are kept, in half precision, where the loss first is at most this share of its start.
"""


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
        "data": mnist.record(task.pair),
        "shape": list(task.pair.shape),
        "pictures": {key: packed(task.pair.picture(x), "<f2") for key, x in pictures.items()},
        "flow": {"gradients": gradients, "seen": [row_of(one) for one in flow]},
        "cosines": {w: [short(c) for c in cosines] for w, cosines in near.items()},
        **slices,
        "seen": [row_of(one) for one in seen],
    }


def record_of_phases(name: str, setting: Setting, seed: int) -> dict[str, Any]:
    """Take every epoch of Figure 12 or 13; returns the record."""
    clock = time.process_time()
    with one_thread():
        task = Task(setting, all_images(), torch.float32)
        epochs = progress(PHASES[name](task, seed, EPOCHS), EPOCHS + 1, "epochs")
        rows = [[r.epoch, *map(short, (r.loss, r.norms, r.directions, r.squares))] for r in epochs]
    facts = about(name, setting, seed, task)
    return {**facts, "cpu_s": round(time.process_time() - clock), "rates": rows}


def record_of_readings(seed: int) -> dict[str, Any]:
    """Try every reading, and the one taken from other starts."""
    with one_thread():
        tried = mnist.candidates(FIRST)
        rows = {
            name: mnist.tried(candidate, all_images(), seed)
            for name, candidate in progress(tried.items(), len(tried), "readings")
        }
        starts = {name: starts_of(name, seed) for name in FIGURES}
    return {
        "what": "Min, Mallada & Vidal 2024, Section 4: readings of what the text leaves open",
        "command": "python -m reluflow.papers.min2024early.record readings",
        "seed": seed,
        "rows": {name: _without_infinity(row) for name, row in rows.items()},
        "starts": starts,
    }


def starts_of(name: str, seed: int) -> list[dict[str, Any]]:
    """When all neurons are aligned, and when the loss falls, from other starts of a figure."""
    taken = mnist.Candidate(name, FIGURES[name], FIRST)
    last = mnist.LAST if name == "figure-5" else PATIENCE
    found = (
        mnist.tried(taken, all_images(), seed + 1 + k, last)
        for k in progress(range(STARTS), STARTS, f"starts of {name}")
    )
    return [_without_infinity({key: one[key] for key in ("aligned", "falls")}) for one in found]


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


def _without_infinity(row: dict[str, Any]) -> dict[str, Any]:
    """A row for JSON, which knows no infinity."""
    return {name: None if value == np.inf else value for name, value in row.items()}


def main(names: Sequence[str]) -> None:
    """Make the records named, or all, with seed 0."""
    mnist.FOLDER.mkdir(exist_ok=True)
    for name in parameters.asked(names, [*FIGURES, *PHASES, "readings"]):
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
