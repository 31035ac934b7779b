"""`affine_flow` on real data, beside SciPy's LSODA at 1e-12.

    python benchmarks/bench_real_data.py [--start SIZE] [data ...]

The sets are scikit-learn's: columns scaled to [0, 1], labels shifted to be positive, normal starts.
LSODA gets the same time as the flow: until every transient is below one part in 10^12, and, in the
second block of columns, until the last event. It locates no events. Both run on one thread, in
turn, so that a busy machine slows down both. Seconds are medians, by the wall clock and of
processor time.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import scipy
from bench_affine import cpu_name
from reluflow.flows.affine import affine_flow
from scipy.integrate import solve_ivp
from sklearn import datasets
from threadpoolctl import threadpool_limits

SETS = ("iris", "wine", "diabetes", "breast_cancer", "digits")
TOLERANCE = 1e-12


def real_data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The data X (n, d), columns in [0, 1] (a constant one is 0), and labels y (n,) from 1 on."""
    found = getattr(datasets, f"load_{name}")()
    X = found.data - found.data.min(axis=0)
    return X / np.maximum(
        X.max(axis=0), np.finfo(float).tiny
    ), found.target - found.target.min() + 1.0


def lsoda(X: np.ndarray, y: np.ndarray, w0: np.ndarray, T: float) -> np.ndarray:
    """The state (d,) at time T by SciPy's LSODA, told neither of the Jacobian nor of events."""

    def velocity(_: float, w: np.ndarray) -> np.ndarray:
        h = X @ w
        return ((h > 0) * (y - h)) @ X

    path = solve_ivp(velocity, (0.0, T), w0, "LSODA", rtol=TOLERANCE, atol=TOLERANCE)
    return path.y[:, -1] if path.success else np.full_like(w0, np.nan)


def clocked(run: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds of one run."""
    wall, processor = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - processor


def measured(name: str, start: float, repeats: int) -> str:
    """One line of the table."""
    X, y = real_data(name)
    w0 = start * np.random.default_rng(0).standard_normal(X.shape[1])
    flow = affine_flow(X, y, w0)
    stops = float(flow.settled), float(flow.t[-1])
    far = max(float(np.abs(lsoda(X, y, w0, T) - flow.at(T)).max()) for T in stops)
    runs = (
        lambda: affine_flow(X, y, w0),
        lambda: lsoda(X, y, w0, stops[0]),
        lambda: lsoda(X, y, w0, stops[1]),
    )
    seconds = [[clocked(run) for run in runs] for _ in range(repeats)]
    (own, own_cpu), *others = (
        tuple(median(turn[k][clock] for turn in seconds) for clock in (0, 1)) for k in range(3)
    )
    cells = [f"{name:13}", f"{len(X):5} x {X.shape[1]:2}", f"{len(flow.events):6}"]
    cells += [f"{own:8.3f} {own_cpu:8.3f}"]
    for wall, processor in others:
        cells += [f"{wall:8.3f} {processor:8.3f} {wall / own:6.2f} {processor / own_cpu:6.2f}"]
    return "  ".join([*cells, f"{far:9.0e}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=SETS, help=f"of {', '.join(SETS)}")
    parser.add_argument("--start", type=float, default=1.0, help="size of the start (default 1)")
    parser.add_argument("--repeats", type=int, default=9, help="runs of each (digits: at most 3)")
    given = parser.parse_args()
    print(f"{cpu_name()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, one thread")
    print(f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}")
    print(f"Start: {given.start:g} times a normal vector. LSODA: rtol = atol = {TOLERANCE:g}")
    pair = f"{'seconds':>8} {'CPU s':>8} {'ratio':>6} {'CPU':>6}"
    print(f"{'':38}{'affine_flow':>17}{'LSODA, same end':>33}{'LSODA, last event':>33}")
    print(f"{'':13}  {'n x d':>10}  events  {pair[:17]}  {pair}  {pair}  differ by")
    with threadpool_limits(1):
        for name in given.data:
            repeats = min(given.repeats, 3) if name == "digits" else given.repeats
            print(measured(name, given.start, repeats), flush=True)


if __name__ == "__main__":
    main()
