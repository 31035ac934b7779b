"""`python -m reluflow.papers.phuong2021inductive.convolutional_record NAME ...`: Appendix D.

Trains Table 1's network on all MNIST images of 0 and 1 and records what Figures 3 and 4 show. A
name is that of a reading, with the number of epochs and the seed where they are not 50 and 0:
"taken", "taken-50-1", "rate 1e-4-10-0". An epoch takes about 20 s of one core. MNIST's folder is
what the environment variable RELUFLOW_MNIST names, or shared/mnist beside the checkout. The name
"digits-descent" trains on scikit-learn's digits without Adam, in half a minute.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from reluflow.geometry.pair_products import (
    ACROSS,
    MINUS,
    PLUS,
    PairProducts,
    left_out,
    pair_products,
)
from reluflow.images import digits, mnist, mnist_folder
from reluflow.networks.dense import one_thread
from reluflow.papers.phuong2021inductive.convolutional import (
    AFTER,
    BEFORE,
    DESCENT,
    FIRST,
    READINGS,
    Look,
    Run,
    Setting,
    Task,
    layer_features,
    steps_of,
    task,
    top_plane,
    train,
    training,
)
from reluflow.places import RECORDS as FOLDER
from reluflow.progress import progress

KEEP = "RELUFLOW_KEEP"
"""The environment variable that may name a folder for the weights after each epoch."""
EARLY = (0, 5, 10, 20, 30, 50, 70)
"""Steps in the first epoch at which there is a look."""
LOOKED, SAMPLE = 500, 1000
"""Images of each digit in a look, and in the last one at layers 1 to 6."""
BINS = 80
_COMMAND = "python -m reluflow.papers.phuong2021inductive.convolutional_record"
DIGITS = "digits-descent"
"""The record of a run on `digits` without Adam."""


def file_of(name: str) -> Path:
    """Where a record lies."""
    return FOLDER / f"phuong2021inductive-cnn-{name.replace(' ', '-')}.json"


def looked(setting: Setting, n: int) -> list[int]:
    """The steps at which there is a look: some in the first epoch, and the end of each."""
    each = steps_of(setting, n)
    return [s for s in EARLY if s < each] + [each * k for k in range(1, setting.epochs + 1)]


def record(name: str, setting: Setting, seed: int) -> dict[str, Any]:
    """Train, and write the record anew after every look, in case that it is cut off."""
    clock, cpu = time.perf_counter(), time.process_time()
    images, other = (mnist(mnist_folder(), part) for part in ("train", "test"))
    data, test = task(images, setting), task(other, setting)
    sample, steps = data.some(LOOKED), looked(setting, len(data.y))
    facts: dict[str, Any] = {}
    for run in progress(training(data, setting, seed, steps, sample), len(steps), "looks"):
        _keep(name, run)
        facts = {
            "what": "Phuong & Lampert 2021, Appendix D: Table 1's network on MNIST's 0 and 1",
            "command": f"{_COMMAND} {name}",
            "versions": {
                "python": platform.python_version(),
                "numpy": np.__version__,
                "torch": torch.__version__,
            },
            "wall_s": round(time.perf_counter() - clock),
            "cpu_s": round(time.process_time() - cpu),
            **on_the_way(run, data, seed),
        }
        _write(name, facts)
    facts |= at_end(run, data, {"train": data, "test": test})
    facts |= {"cpu_s": round(time.process_time() - cpu)}
    _write(name, facts)
    return facts


def record_descent() -> dict[str, Any]:
    """Train on `digits` by descent with momentum, and write the record."""
    data = task(digits(), DESCENT)
    steps = [steps_of(DESCENT, len(data.y)) * k for k in range(0, DESCENT.epochs + 1, 20)]
    facts = summary(train(data, DESCENT, 0, steps, data.some(LOOKED)), data, 0)
    facts["command"] = (
        f"python -m reluflow.papers.phuong2021inductive.convolutional_record {DIGITS}"
    )
    _write(DIGITS, facts)
    return facts


def summary(run: Run, data: Task, seed: int) -> dict[str, Any]:
    """What a record keeps of a run on this data, without the facts about a file."""
    return on_the_way(run, data, seed) | at_end(run, data, {"train": data})


def on_the_way(run: Run, data: Task, seed: int) -> dict[str, Any]:
    """What a record keeps of a run that need not be over: its looks, and Figure 4."""
    return {
        "setting": asdict(run.setting),
        "seed": seed,
        "images": len(data.y),
        "looks": [_look(each) for each in run.looks],
        "neurons": neurons(run),
    }


def at_end(run: Run, data: Task, parts: dict[str, Task]) -> dict[str, Any]:
    """The inner products of the pixels and of every layer's features on a sample of the data; those
    of layer 7 on all images of the parts, how many of these the network gets wrong, and how many
    have to be left out for the features of the others to be orthogonally separable."""
    some = data.some(SAMPLE)
    pixels = some.images.flatten(1).cpu().numpy()
    layers = [{BEFORE: _pairs(pair_products(pixels, some.y))}]
    for X in layer_features(run.network, run.weights, some, range(1, FIRST + 1)):
        layers.append(_both(X, some.y))
    whole = {}
    for part, each in parts.items():
        X, outputs = layer_features(run.network, run.weights, each, [FIRST, FIRST + 1])
        whole[part] = _both(X, each.y) | {
            "errors": int((outputs[:, 0] * each.y <= 0.0).sum()),
            "left_out": left_out(X, each.y),
        }
    return {"layers": layers, "whole": whole}


def neurons(run: Run) -> dict[str, Any]:
    """What Figure 4 shows: all singular values of W_7, its rows in its top two singular directions
    (signs fixed), and W_8."""
    W = run.first
    return {
        "singular": _short(np.linalg.svd(W, compute_uv=False)),
        "plane": [_short(row) for row in top_plane(W)],
        "norms": _short(np.linalg.norm(W, axis=1)),
        "second": _short(run.second),
        "bias": _short(run.weights[2 * FIRST - 1].double().cpu().numpy()),
    }


def _both(X: NDArray, y: NDArray) -> dict[str, Any]:
    return {
        BEFORE: _pairs(pair_products(X, y)),
        AFTER: _pairs(pair_products(np.maximum(X, 0.0), y)),
    }


def _pairs(found: PairProducts) -> dict[str, Any]:
    """What a record keeps of inner products; histograms are in units of the mean of |x_i|^2."""
    ends = [
        found.quantiles(kind, np.array([0.001, 0.999])) for kind in found.products if found.pairs
    ]
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    edges = np.linspace(low, high, BINS + 1)
    return {
        "pairs": {kind: len(values) for kind, values in found.products.items()},
        "violations": {kind: found.violations(kind) for kind in found.products},
        "zeros": found.zeros,
        "square": _short([found.square])[0],
        "right": {kind: _short([found.right_of_across(kind)])[0] for kind in (PLUS, MINUS)},
        "means": {kind: _short([found.mean(kind)])[0] for kind in found.products},
        "extremes": {
            kind: _short(np.array([v[0], v[-1]]) / found.square)
            for kind, v in found.products.items()
        },
        "edges": _short([low, high]),
        "counts": {
            kind: np.histogram(values / found.square, edges)[0].tolist()
            for kind, values in found.products.items()
        },
    }


def _look(found: Look) -> dict[str, Any]:
    kept: dict[str, Any] = {"step": found.step, "singular": _short(found.singular[:12])}
    if found.step:
        kept["loss"] = _short([found.loss])[0]
    for side, pairs in {BEFORE: found.before, AFTER: found.after}.items():
        kept[side] = {
            "violations": [pairs.violations(kind) for kind in (PLUS, MINUS, ACROSS)],
            "right": _short([pairs.right_of_across(kind) for kind in (PLUS, MINUS)]),
            "means": _short([pairs.mean(kind) for kind in (PLUS, MINUS, ACROSS)]),
            "zeros": pairs.zeros,
        }
    return kept


def _short(values: Any) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def _keep(name: str, run: Run) -> None:
    if os.environ.get(KEEP):
        path = Path(os.environ[KEEP]) / f"{name.replace(' ', '-')}-{run.looks[-1].step}.pt"
        torch.save([w.clone() for w in run.weights], path)


def _write(name: str, facts: dict[str, Any]) -> None:
    text = json.dumps(facts).replace(', "', ',\n"').replace("], [", "],\n[")
    file_of(name).write_text(text + "\n", "utf-8")


def parsed(name: str) -> tuple[Setting, int]:
    """The setting and the seed that a name stands for."""
    reading = next(r for r in sorted(READINGS, key=len, reverse=True) if name.startswith(r))
    rest = [int(part) for part in name.removeprefix(reading).split("-") if part]
    epochs, seed = rest if rest else (READINGS[reading].epochs, 0)
    return replace(READINGS[reading], epochs=epochs), seed


def main(names: list[str]) -> None:
    """Make the records with these names, or that of the paper's run."""
    FOLDER.mkdir(exist_ok=True)
    with one_thread():
        for name in names or ["taken"]:
            if name == DIGITS:
                record_descent()
            else:
                record(name, *parsed(name))


if __name__ == "__main__":
    main(sys.argv[1:])
