"""Full-batch descent of one neuron: sums over the active set against loops over all the data.

    python benchmarks/bench_layered_descent.py [--quick] [--full 1 2 3]

One run prints one table. The problem is that of Lee et al. 2022b, Section 5 and D.3: Gaussian data,
a teacher's labels, 100 000 steps. `lockstep_descent` takes all of them, for its early steps, on
which data flip, cost more than its late ones; a loop takes the same time for every step, so a few
hundred stand for all, half of them timed before and half after. The ratio is the loop's time per
step over `lockstep_descent`'s, by the wall clock and in processor time (which adds up over
threads).

With --full the NumPy loop takes all steps as well, for the numbers of layers named, and the two
paths are compared on every one. The last line is the largest memory that the run held.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from reluflow.papers.lee2023magnitude.chains import lockstep_descent

STEPS = 100_000
RATES = {0: (3e-4, 1.0), 1: (8e-6, 0.5), 2: (2e-6, 0.3)}
"""Hidden factors m: learning rate and k* of D.3, where the loss is a mean over the data."""


@dataclass(frozen=True)
class Problem:
    """Data X (n, d) and y (n,), a balanced start w0 (d,) and v0 (m,), the step for the sum."""

    X: np.ndarray
    y: np.ndarray
    w0: np.ndarray
    v0: tuple[float, ...]
    step: float


def problem(n: int, d: int, m: int, start: float, seed: int = 0) -> Problem:
    """D.3's problem with w* ~ N(0, k*^2 I) and w0 ~ N(0, (start k*)^2 I)."""
    rng = np.random.default_rng(seed)
    rate, scale = RATES[m]
    X = rng.normal(size=(n, d))
    target, w0 = scale * rng.normal(size=d), start * scale * rng.normal(size=d)
    y = np.linalg.norm(target) ** m * np.maximum(X @ target, 0.0)
    return Problem(X, y, w0, (float(np.linalg.norm(w0)),) * m, rate / n)


# The loops. Each takes a problem and a number of steps, and returns the last w.


def numpy_states(p: Problem, steps: int):
    """Every state (w, v) of a NumPy loop in float64, the start first."""
    w, v = p.w0.copy(), list(p.v0)
    h = p.X @ w
    for _ in range(steps + 1):
        on = h > 0.0
        yield w, v
        factor = float(np.prod(v)) if v else 1.0
        residual = (factor * h - p.y) * on
        if v:
            pull = p.step * float(residual @ h)
            rests = [float(np.prod(v[:k] + v[k + 1 :])) for k in range(len(v))]
            v = [a - pull * rest for a, rest in zip(v, rests, strict=True)]
        w = w - (p.step * factor) * (residual @ p.X)
        h = p.X @ w


def by_numpy(p: Problem, steps: int) -> np.ndarray:
    """Those steps, and the last w."""
    for state in numpy_states(p, steps):
        last = state
    return last[0]


def by_torch(p: Problem, steps: int) -> np.ndarray:
    """A lean PyTorch loop: the gradient by hand, no graph, the weights updated in place."""
    X, y, w = torch.tensor(p.X), torch.tensor(p.y), torch.tensor(p.w0)
    v = torch.tensor(p.v0, dtype=torch.float64)
    with torch.inference_mode():
        for _ in range(steps):
            h = X @ w
            if len(v):
                factor = torch.prod(v)
                residual = (factor * h - y) * (h > 0)
                pull = residual @ h
                rests = torch.stack(
                    [torch.prod(torch.cat([v[:k], v[k + 1 :]])) for k in range(len(v))]
                )
                v = v - p.step * pull * rests
                w = w - (p.step * factor) * (residual @ X)
            else:
                w.sub_(((h - y) * (h > 0)) @ X, alpha=p.step)
    return w.numpy()


def by_autograd(p: Problem, steps: int) -> np.ndarray:
    """The paper's way: autograd and torch.optim.SGD."""
    X, y = torch.tensor(p.X), torch.tensor(p.y)
    w = torch.tensor(p.w0, requires_grad=True)
    v = torch.tensor(p.v0, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD([w, v] if p.v0 else [w], lr=p.step)
    for _ in range(steps):
        optimiser.zero_grad()
        out = torch.relu(X @ w)
        loss = 0.5 * torch.sum(((torch.prod(v) * out if p.v0 else out) - y) ** 2)
        loss.backward()
        optimiser.step()
    return w.detach().numpy()


def in_lockstep(p: Problem, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Every w (steps + 1, d) and v_1 (steps + 1,) of `lockstep_descent`, of one run."""
    y, w0, step, m = (np.array([part]) for part in (p.y, p.w0, p.step, len(p.v0)))
    w, v = zip(*lockstep_descent(p.X, y, w0, step, steps, m), strict=True)
    return np.concatenate(w)[:, 0], np.concatenate(v)[:, 0]


# Measuring.

Seconds = np.ndarray
"""Wall and processor time, shape (2,)."""


def stopwatch(run: Callable[[], object]) -> tuple[Seconds, object]:
    """The time that `run` takes, and what it returns."""
    wall, processor = time.perf_counter(), time.process_time()
    result = run()
    return np.array([time.perf_counter() - wall, time.process_time() - processor]), result


def threaded(threads: int, run: Callable[[Problem, int], np.ndarray]):
    """The loop with so many PyTorch threads."""

    def limited(p: Problem, steps: int) -> np.ndarray:
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            return run(p, steps)
        finally:
            torch.set_num_threads(before)

    return limited


def loops() -> dict[str, Callable[[Problem, int], np.ndarray]]:
    """The loops by name, PyTorch's on one thread and on the default number."""
    found = {"NumPy": by_numpy}
    for threads in dict.fromkeys((1, torch.get_num_threads())):
        found[f"PyTorch, threads: {threads}"] = threaded(threads, by_torch)
        found[f"PyTorch autograd, threads: {threads}"] = threaded(threads, by_autograd)
    return found


def measure(label: str, p: Problem, steps: int, chunk: int) -> list[tuple[str, ...]]:
    """The lines of the table for one problem."""
    methods = loops()
    for run in methods.values():
        run(p, 5)
    times = {name: stopwatch(lambda run=run: run(p, chunk))[0] for name, run in methods.items()}
    ours, (states, _) = stopwatch(lambda: in_lockstep(p, steps))
    ends = {}
    for name, run in methods.items():
        seconds, ends[name] = stopwatch(lambda run=run: run(p, chunk))
        times[name] = (times[name] + seconds) / (2 * chunk)
    ours = ours / steps
    lines = [(label, "lockstep_descent", *(f"{1e6 * s:.1f}" for s in ours), "", "", "")]
    there = states[chunk]
    for name, seconds in times.items():
        gap = np.linalg.norm(ends[name] - there) / np.linalg.norm(there)
        cells = (f"{1e6 * s:.0f}" for s in seconds)
        lines.append(("", name, *cells, *(f"{r:.1f}" for r in seconds / ours), f"{gap:.0e}"))
    return lines


def full_comparison(p: Problem, steps: int) -> str:
    """Both paths on every step: the largest relative difference."""
    ours, (states, factors) = stopwatch(lambda: in_lockstep(p, steps))
    gap_w = gap_v = 0.0
    start = time.process_time()
    for k, (w, v) in enumerate(numpy_states(p, steps)):
        length = np.linalg.norm(w)
        gap_w = max(gap_w, float(np.linalg.norm(states[k] - w) / length))
        if v:
            gap_v = max(gap_v, abs(float(factors[k] / v[0]) - 1.0))
    plain = time.process_time() - start
    return (
        f"{steps} steps, {ours[1]:.1f} s against {plain:.1f} s of processor time; "
        f"largest relative difference {gap_w:.1e} in w, {gap_v:.1e} in v"
    )


def table(lines: list[tuple[str, ...]]) -> str:
    """The lines as aligned text."""
    head = ("problem", "method", "us/step", "CPU us", "ratio", "CPU ratio", "difference")
    cells = [head, *lines]
    widths = [max(len(line[k]) for line in cells) for k in range(len(head))]
    text = [
        "  ".join(
            c.rjust(w) if k >= 2 else c.ljust(w)
            for k, (c, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    return "\n".join([text[0], "-" * max(map(len, text)), *text[1:]])


def cpu_name() -> str:
    """The processor's model name where Linux tells it, else what Python knows."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the loops' steps")
    parser.add_argument(
        "--full",
        type=int,
        nargs="+",
        default=[],
        choices=[m + 1 for m in RATES],
        metavar="LAYERS",
        help="compare with the NumPy loop on all steps",
    )
    options = parser.parse_args()
    chunk = 20 if options.quick else 200
    print(f"{cpu_name()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    print(f"numpy {np.__version__}, torch {torch.__version__}, BLAS threads: {threads}")
    cases = [(10_000, 100, m, start) for m in RATES for start in (0.1, 1.0, 2.0)]
    cases += [(n, 100, 0, 1.0) for n in (1_000, 3_000, 30_000)]
    cases += [(10_000, d, 0, 1.0) for d in (10, 30, 300)]
    if options.quick:
        cases = [case for case in cases if case[3] == 1.0]
    lines = []
    for n, d, m, start in cases:
        label = f"n = {n}, d = {d}, layers {m + 1}, start {start:g}"
        lines += measure(label, problem(n, d, m, start), STEPS, chunk)
        print("  ".join(lines[-1 - len(loops())]), file=sys.stderr, flush=True)
    print(table(lines), flush=True)
    for layers in options.full:
        text = full_comparison(problem(10_000, 100, layers - 1, 1.0), STEPS)
        print(f"layers {layers}, {text}", flush=True)
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
