"""Full-batch descent on two of MNIST's digits: our loss with grouped data beside PyTorch loops.

    python benchmarks/bench_images.py [--steps 15000] [--pair 1 0] [--folder FOLDER] [--digits]

The run is that of Min et al. 2024, Figure 5: h = 50, weights of standard deviation 1e-6, step 2e-3,
the mean exponential loss on all training images. `descent` on a `GroupedLoss` takes every step. At
twenty places on its way it stops, and each of the loops takes a few steps from the same weights: a
busy machine slows all of them down alike, and what they compute can be compared. The loops cost the
same at every step. The plain one is autograd and torch.optim.SGD in float32 on all pixels, as a
reader would write it. The difference is that of the weights after the loops' steps, relative to the
weights. All on one thread.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from bench_layered_descent import cpu_name
from reluflow import images
from reluflow.papers.min2024early.mnist import (
    GroupedLoss,
    Neurons,
    Setting,
    ShallowLoss,
    Task,
    descent,
)

PLACES, FEW = 20, 5
Loop = Callable[[Neurons, int], Neurons]


def autograd(task: Task, pixels: bool) -> Loop:
    """The plain loop; with `pixels` on all of them, else without those that are always the same."""
    pair, setting = task.pair, task.setting
    if pixels:
        full = np.zeros((len(pair.y), len(pair.moves)))
        full[:, pair.moves] = pair.X
    X = torch.tensor(full if pixels else pair.X, dtype=torch.float32)
    y = torch.tensor(pair.y, dtype=torch.float32)

    def run(neurons: Neurons, steps: int) -> Neurons:
        at = pair.moves if pixels else np.ones(X.shape[1], bool)
        first = np.zeros((setting.width, X.shape[1]))
        first[:, at] = neurons.W
        W = torch.tensor(first, dtype=torch.float32, requires_grad=True)
        v = torch.tensor(neurons.v, dtype=torch.float32, requires_grad=True)
        optimiser = torch.optim.SGD([W, v], lr=setting.step)
        for _ in range(steps):
            optimiser.zero_grad()
            torch.exp(-y * (torch.relu(X @ W.T) @ v)).mean().backward()
            optimiser.step()
        return Neurons(W.detach().numpy()[:, at].astype(float), v.detach().numpy().astype(float))

    return run


def by_hand(problem: ShallowLoss, step: float) -> Loop:
    """Our gradient that looks at all data."""

    def run(neurons: Neurons, steps: int) -> Neurons:
        return next(islice(descent(problem, neurons, step), steps, None)).neurons

    return run


def seconds(run: Callable[[], object]) -> np.ndarray:
    """Wall and processor seconds of one run, (2,)."""
    wall, processor = time.perf_counter(), time.process_time()
    run()
    return np.array([time.perf_counter() - wall, time.process_time() - processor])


def side_by_side(
    setting: Setting, found: images.Images, seed: int
) -> Iterator[tuple[str, np.ndarray, float]]:
    """Name, seconds a step (wall, processor) and largest difference of each method, ours first."""
    task = Task(setting, found, np.float32)
    loops = {
        "PyTorch autograd, all pixels": autograd(task, True),
        "PyTorch autograd, moving pixels": autograd(task, False),
        "ours, all data, float32": by_hand(task.loss, setting.step),
        "ours, all data, float64": by_hand(Task(setting, found).loss, setting.step),
    }
    path = descent(GroupedLoss(task.loss), task.start(seed)[0], setting.step)
    ours, at = np.zeros(2), next(path)
    times = {name: np.zeros(2) for name in loops}
    gaps = dict.fromkeys(loops, 0.0)
    for loop in loops.values():
        loop(at.neurons, 1)
    chunk = setting.n_steps // PLACES
    for _ in range(PLACES):
        begun = at.neurons
        few: list[Neurons] = []
        ours += seconds(lambda few=few: few.append(next(islice(path, FEW - 1, None)).neurons))
        for name, loop in loops.items():
            ends: list[Neurons] = []
            times[name] += seconds(
                lambda ends=ends, loop=loop, begun=begun: ends.append(loop(begun, FEW))
            )
            size = np.linalg.norm(few[0].flat)
            gap = float(np.linalg.norm(ends[0].flat - few[0].flat) / size)
            gaps[name] = max(gaps[name], gap)
        rest: list = []
        ours += seconds(lambda rest=rest: rest.append(next(islice(path, chunk - FEW - 1, None))))
        at = rest[0]
    yield "ours, grouped data, float32", ours / (PLACES * chunk), 0.0
    for name in loops:
        yield name, times[name] / (PLACES * FEW), gaps[name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=15000)
    parser.add_argument("--pair", type=int, nargs=2, default=[1, 0])
    parser.add_argument("--folder", type=Path, default=images.mnist_folder())
    parser.add_argument("--digits", action="store_true", help="scikit-learn's digits in place")
    given = parser.parse_args()
    torch.set_num_threads(1)
    found = images.digits() if given.digits else images.mnist(given.folder)
    setting = Setting(*given.pair, n_steps=given.steps)
    print(f"{cpu_name()}, torch {torch.__version__}, numpy {np.__version__}, "
          f"Python {platform.python_version()}")  # fmt: skip
    print(f"{found.name}, digits {given.pair}, {given.steps} steps")
    print(f"{'method':34} {'ms/step':>8} {'CPU ms':>8} {'ratio':>6} {'CPU':>6}  difference")
    first = None
    for name, each, gap in side_by_side(setting, found, 0):
        first = each if first is None else first
        ratio = each / first
        print(f"{name:34} {1e3 * each[0]:8.2f} {1e3 * each[1]:8.2f} {ratio[0]:6.1f} "
              f"{ratio[1]:6.1f}  {gap:.0e}")  # fmt: skip


if __name__ == "__main__":
    main()
