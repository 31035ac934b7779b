"""What was aimed at, and what is measured; beside it what the floor of the same work would give."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from bench_affine import STARTS, X, Y
from bench_images import side_by_side
from bench_real_data import lsoda, real_data
from growth import one_neuron
from machine import seconds
from reluflow import images
from reluflow.flows.affine import affine_flow
from reluflow.losses import EXPONENTIAL
from reluflow.margin.limits import limit
from reluflow.networks.indexed import fully_connected
from reluflow.papers.min2024early.mnist import Setting
from scipy.linalg import lu_factor

Row = tuple[str, float, float, float | None, str]
"""What, the aim, what is measured, the floor's, and "at most" or "at least"."""


def _example() -> Iterator[Row]:
    works = [one_neuron(X, Y, np.array(w)) for w in STARTS]
    ways = {"run": [work.run for work in works], "floor": [work.floor for work in works]}
    spent = seconds({name: partial(_all, parts) for name, parts in ways.items()}, 200)
    run, floor = 1e3 * spent["run"], 1e3 * spent["floor"]
    yield "Example 5.1, three flows, milliseconds", 4.0, run, floor, "at most"


def _all(parts: list[Callable[[], object]]) -> None:
    for part in parts:
        part()


def _real() -> Iterator[Row]:
    for name in ("iris", "wine", "diabetes"):
        A, y = real_data(name)
        w0 = np.random.default_rng(0).standard_normal(A.shape[1])
        work, settled = one_neuron(A, y, w0), float(affine_flow(A, y, w0).settled)
        theirs = partial(lsoda, A, y, w0, settled)
        spent = seconds({"run": work.run, "floor": work.floor, "lsoda": theirs}, 25)
        ratios = spent["lsoda"] / spent["run"], spent["lsoda"] / spent["floor"]
        yield f"{name}, LSODA's time at 1e-12 over ours", 4.0, *ratios, "at least"


def _limits() -> Iterator[Row]:
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    for h in (4, 33):
        rng, network = np.random.default_rng(0), fully_connected([5, h])
        A = y[:, None] * np.abs(rng.normal(size=(20, 5)))
        start = rng.normal(size=network.size) / (5 * h) ** 0.25
        run = partial(limit, network, EXPONENTIAL, A, y, start)
        path = run().path
        steps = sum(len(leg.interpolant.pieces) for leg in path.legs or (path,))
        matrix = np.eye(len(path.end)) + 0.01 * rng.normal(size=(len(path.end),) * 2)
        floor = partial(_factorised, matrix, steps)
        spent = seconds({"run": run, "floor": floor}, 5 if h < 10 else 1)
        name = f"limit at 1e-100000, {network.size} parameters, seconds"
        yield name, 0.5, spent["run"], spent["floor"], "at most"


def _factorised(matrix: np.ndarray, times: int) -> None:
    for _ in range(times):
        lu_factor(matrix)


def _descent() -> Iterator[Row]:
    setting, found = Setting(1, 0, n_steps=15_000), images.mnist(images.mnist_folder())
    torch.set_num_threads(1)
    each = {name: spent[1] for name, spent, _ in side_by_side(setting, found, 0)}
    ratio = each["PyTorch autograd, all pixels"] / each["ours, grouped data, float32"]
    yield "MNIST, a PyTorch loop's time over ours", 6.0, ratio, None, "at least"


def _build() -> Iterator[Row]:
    book = Path(__file__).resolve().parents[1]
    quiet: dict[str, Any] = {"cwd": book, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["bash", "book", "test", "--version"], **quiet)  # makes .venv at first
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["bash", "book", "build"], **quiet)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    yield "bash book build, processor seconds", 45.0, spent, None, "at most"


def _large() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    A, w0 = rng.normal(size=(10_000, 100)), rng.normal(size=100)
    work = one_neuron(A, np.maximum(A @ rng.normal(size=100), 0.0) + 0.1, w0)
    spent = seconds({"run": work.run, "floor": work.floor}, 1)
    yield "10 000 × 100, seconds", 60.0, spent["run"], spent["floor"], "at most"


def targets() -> pd.DataFrame:
    """All rows; the book has to be installed, and the whole takes a quarter of an hour."""
    rows: list[Row] = []
    for part in (_example, _real, _limits, _descent, _large, _build):
        for row in part():
            print(*row, flush=True)
            rows.append(row)
    return pd.DataFrame(rows, columns=["target", "aim", "measured", "floor", "sense"])
