"""Flows a minute in the plane: `planar_flows` against `affine_flow` and SciPy's event detection.

    python benchmarks/bench_planar.py [--flows 20000]

One run prints one table. The slower methods take a sample of the same flows. The ratio is of CPU
time, which a busy machine disturbs less; the last column compares limits with those of
`planar_flows`, relative. Data are of the kind "uniform", starts of 1/10000 of labels over inputs.
"""

from __future__ import annotations

import argparse
import platform
import time

import numpy as np
import scipy
from reluflow.flows.affine import affine_flow
from reluflow.instances import draw_many
from reluflow.papers.lee2022support.planar import planar_flows_of
from scipy.integrate import solve_ivp

Problem = dict[str, np.ndarray]


def problems(count: int, seed: int = 0) -> list[Problem]:
    """`count` data sets of 2 to 8 inputs, each with a small start of random direction."""
    rng = np.random.default_rng(seed)
    drawn = draw_many(count, 2, seed, kinds=("uniform",))
    unit = [(item, item.y.max() / np.linalg.norm(item.X, axis=1).max()) for item in drawn]
    return [{"X": i.X, "y": i.y, "w0": 1e-4 * u * rng.normal(size=2)} for i, u in unit]


def by_solve_ivp(problem: Problem) -> np.ndarray:
    """The end (2,) by SciPy's DOP853, started afresh at every change of activation."""
    X, y, w = problem["X"], problem["y"], problem["w0"]
    on, t = X @ w > 0.0, 0.0
    crossings = [lambda _, w, x=x: x @ w for x in X]
    for crossing in crossings:
        crossing.terminal = True
    while on.any():
        rates = np.linalg.eigvalsh(X[on].T @ X[on])
        horizon = t + 30.0 / min(rate for rate in rates if rate > 1e-12 * rates[-1])
        for j, crossing in enumerate(crossings):
            crossing.direction = -1.0 if on[j] else 1.0
        active, target = X[on], y[on]
        run = solve_ivp(
            lambda _, w, A=active, b=target: (b - A @ w) @ A,
            (t, horizon), w, method="DOP853", rtol=1e-8, atol=1e-12, events=crossings,
        )  # fmt: skip
        t, w = run.t[-1], run.y[:, -1]
        if run.status != 1:
            break
        hits = [j for j, times in enumerate(run.t_events) if len(times)]
        on[hits] ^= True
    return w


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flows", type=int, default=20_000, help="flows of the batch")
    count = parser.parse_args().flows
    items = problems(count)
    planar_flows_of(items[:100])
    rows = []
    clock = time.perf_counter, time.process_time
    for name, sample in (("planar_flows", count), ("affine_flow", 1000), ("solve_ivp", 100)):
        some = items[:sample]
        begin = [tick() for tick in clock]
        if name == "planar_flows":
            flows = planar_flows_of(some)
            ends = flows.ends
        else:
            run = by_solve_ivp if name == "solve_ivp" else lambda item: affine_flow(**item).end
            ends = np.array([run(item) for item in some])
        seconds = [tick() - start for tick, start in zip(clock, begin, strict=True)]
        apart = np.linalg.norm(ends - flows.ends[: len(some)], axis=1)
        apart = np.nanmax(apart / np.linalg.norm(flows.ends[: len(some)], axis=1))
        rows.append((name, len(some), *(60.0 * len(some) / s for s in seconds), apart))
    print(f"{platform.machine()}, Python {platform.python_version()}, ", end="")
    print(f"numpy {np.__version__}, scipy {scipy.__version__}")
    print(f"decided: {flows.decided.sum()} of {count}, {flows.count.sum()} events")
    print("method         flows   a minute  a CPU minute   slower by  ends differ by")
    for name, size, wall, processor, apart in rows:
        ratio = rows[0][3] / processor
        print(f"{name:<13}{size:>7}{wall:>11.3g}{processor:>14.3g}{ratio:>12.3g}{apart:>16.0e}")


if __name__ == "__main__":
    main()
