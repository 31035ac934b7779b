"""Whether a point of depth 2 is an optimum, with all cells in one sparse program.

    python benchmarks/bench_optimum.py [--quick]

One run prints one table: seconds and peak memory of `classify_optimum` on orthogonally separable
data, at the network of two neurons that is known to be optimal there, beside others that are 0; and
the entries that the program of all cells would have as a dense matrix. Each line is measured in a
process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import resource
import time

import numpy as np
from reluflow.margin.max_margin import least_length
from reluflow.networks.indexed import Network, fully_connected
from reluflow.papers.vardi2022margin import two_layers
from reluflow.papers.vardi2022margin.setting import classify_optimum

SIZES = ((12, 3), (30, 3), (20, 4), (20, 5), (40, 4))
WIDTH = 10


def problem(n: int, d: int) -> tuple[Network, np.ndarray, np.ndarray, np.ndarray]:
    """A network, X (n, d), y (n,) and the parameters (p,) that serve each class by one neuron."""
    rng = np.random.default_rng(n + d)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = np.column_stack([np.zeros(n), rng.normal(size=(n, d - 1))])
    X *= 0.6 / np.linalg.norm(X, axis=1)[:, None]
    X[:, 0] = y
    W, v = np.zeros((WIDTH, d)), np.zeros((1, WIDTH))
    for j, sign in enumerate((1.0, -1.0)):
        u = least_length(X[y == sign], np.ones(int((y == sign).sum()))).blocks[0]
        W[j], v[0, j] = u / np.linalg.norm(u) ** 0.5, sign * np.linalg.norm(u) ** 0.5
    network = fully_connected([d, WIDTH])
    return network, X, y, network.parameters([W, v])


def row(size: tuple[int, int]) -> str:
    """One line of the table."""
    first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    network, X, y, theta = problem(*size)
    columns = len(two_layers.neurons(network, X).columns[0])
    n, d = size
    dense = (columns * n + n) * columns * d
    begun = time.perf_counter()
    found = classify_optimum(network, theta, X, y)
    spent = time.perf_counter() - begun
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - first) / 1024
    return f"{n:4d} {d:3d} {columns:8d} {dense:12.1e} {spent:8.2f} {peak:8.0f}  {found.verdict}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two sizes")
    given = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    print("   n   d  columns  dense size  seconds   MB more  verdict")
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for line in pool.imap(row, SIZES[: 2 if given.quick else None], chunksize=1):
            print(line, flush=True)


if __name__ == "__main__":
    main()
