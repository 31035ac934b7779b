"""How long all cells, and all local minima, of easy and of hard data take.

    python benchmarks/bench_geometry.py [--quick]

One run prints one table, one row a data set, by the wall clock and in processor seconds, which a
busy machine disturbs less. "near" data have directions that differ by the given share only, so that
hardly a sign is decided by doubles; "ratio" is that to the first row of the same n and d, the
price of exactness. Memory is the largest that the process has held so far.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from reluflow.geometry import enumerate_cells
from reluflow.papers.lee2022support.landscape import local_minima


def general(n: int, d: int, rng: np.random.Generator) -> NDArray:
    return rng.uniform(size=(n, d))


def near(share: float) -> Callable:
    return lambda n, d, rng: rng.uniform(0.2, 1.0, d) * (1.0 + share * rng.normal(size=(n, d)))


def decimals(n: int, d: int, rng: np.random.Generator) -> NDArray:
    return np.round(rng.uniform(0.05, 1.0, (n, d)), 1)


def units(n: int, d: int, rng: np.random.Generator) -> NDArray:
    return rng.uniform(size=(n, d)) * 1e12 ** np.linspace(0.0, 1.0, d)


SMALL = [
    (6, 3, "general", general),
    (6, 3, "decimals", decimals),
    (6, 3, "units to 1e12", units),
    (30, 3, "general", general),
    (30, 3, "decimals", decimals),
    (30, 3, "near, 1e-12", near(1e-12)),
    (20, 5, "general", general),
    (20, 5, "near, 1e-3", near(1e-3)),
    (20, 5, "near, 1e-15", near(1e-15)),
]
LARGE = [
    (447, 3, "general", general),
    (447, 3, "decimals", decimals),
    (7000, 2, "general", general),
]


def processor_seconds(work: Callable) -> tuple[object, float, float]:
    """What work() returns, and its time by the wall clock and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only the small data sets")
    rng, first = np.random.default_rng(0), {}
    print(f"{'n':>5} {'d':>2}  {'data':14} {'cells':>7} {'wall s':>8} {'cpu s':>8}"
          f" {'minima':>7} {'wall s':>8} {'cpu s':>8} {'ratio':>6} {'MiB':>5}")  # fmt: skip
    for n, d, name, draw in SMALL + ([] if parser.parse_args().quick else LARGE):
        X, y = draw(n, d, rng), rng.uniform(0.5, 2.0, n)
        cells, *cell_time = processor_seconds(lambda X=X: enumerate_cells(X))
        minima, *time_taken = processor_seconds(lambda X=X, y=y: local_minima(X, y))
        ratio = time_taken[1] / first.setdefault((n, d), time_taken[1])
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{n:5} {d:2}  {name:14} {len(cells):7} {cell_time[0]:8.3f} {cell_time[1]:8.3f}"
              f" {len(minima):7} {time_taken[0]:8.3f} {time_taken[1]:8.3f} {ratio:6.2f}"
              f" {memory:5.0f}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
