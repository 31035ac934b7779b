"""What the page on costs shows: work against precision, growth, and the targets of speed.

    python benchmarks/bench_cost.py precision growth targets [--write]

All seconds are of processor time on one thread, and the least of several turns: in each turn every
method runs once, so that a busy machine disturbs them alike. With --write the tables become
data/records/cost_PART.csv.
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np
import pandas as pd
from bench_affine import STARTS, X, Y
from bench_planar import problems as planar_problems
from bench_real_data import lsoda, real_data
from machine import record
from peers import Problem, solvers
from reference_flow import reference_flow
from reluflow.flows.affine import affine_flow
from reluflow.flows.alignment import align
from reluflow.papers.lee2022support.planar import planar_flows_of
from threadpoolctl import threadpool_limits

TOLERANCES = (1e-3, 1e-6, 1e-9, 1e-12)
TURNS = 3
Key = TypeVar("Key")


def seconds(ways: dict[Key, Callable[[], object]], turns: int = TURNS) -> dict[Key, float]:
    """The least processor seconds of each way, taken in turn."""
    least = dict.fromkeys(ways, np.inf)
    for _ in range(turns):
        for name, way in ways.items():
            begun = time.process_time()
            way()
            least[name] = min(least[name], time.process_time() - begun)
    return least


# --- Work against precision -----------------------------------------------------------------------


def one_neuron() -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Name, data, labels, start: well and ill conditioned, many and few events."""
    yield "Example 5.1, 5 x 2", X, Y, np.array(STARTS[-1])
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(50, 5)), rng.uniform(1.0, 2.0, 50)
    yield "Gaussian, 50 x 5", A, y, rng.normal(size=5)
    yield "ill-conditioned, 50 x 5", A * 10.0 ** -np.arange(5.0)[::-1] * 10, y, rng.normal(size=5)


def precision() -> pd.DataFrame:
    """Error at the last event's time, relative, against seconds and evaluations."""
    rows = []
    for name, A, y, w0 in one_neuron():
        flow = reference_flow(A, y, w0)
        at = 1.5 * float(flow.times[-1] if flow.times else 1.0 / max(flow.segments[0].rates))
        truth = np.array([float(v) for v in flow.at(at)])
        problem = Problem(A, y, w0, at, 1.0)
        ways: dict[tuple[str, float], Callable] = {}
        for rtol in TOLERANCES:
            for solver, run in solvers(rtol).items():
                if not {"descent", "Radau", "Kvaerno5"} & set(solver.replace(",", "").split()):
                    ways[solver, rtol] = partial(run, problem)
        ways["affine_flow", 0.0] = partial(_exact, A, y, w0, at)
        found: dict[tuple[str, float], tuple] = {}
        keep = {key: partial(_kept, found, key, way) for key, way in ways.items()}
        spent = seconds(keep, 2)
        for (solver, rtol), (answer, count) in found.items():
            error = float(np.linalg.norm(answer.end - truth) / np.linalg.norm(truth))
            rows.append((name, solver, rtol, spent[solver, rtol], count, error))
        print(name, f"{len(flow.times)} events", flush=True)
    names = ["problem", "solver", "rtol", "seconds", "evaluations", "error"]
    return pd.DataFrame(rows, columns=names)


def _kept(found: dict, key: tuple[str, float], way: Callable[[], tuple]) -> None:
    found[key] = way()


class _Exact:
    def __init__(self, end: np.ndarray) -> None:
        self.end = end


def _exact(A: np.ndarray, y: np.ndarray, w0: np.ndarray, at: float) -> tuple[_Exact, int]:
    """The exact flow, and how many cells it factorises."""
    flow = affine_flow(A, y, w0)
    return _Exact(flow.at(at)), len(flow.events) + 1


# --- Growth ---------------------------------------------------------------------------------------


def growth() -> pd.DataFrame:
    """Seconds and bytes of the exact engines while one size grows."""
    rng, rows = np.random.default_rng(1), []

    def add(engine: str, size: str, value: int, way: Callable[[], object], count: int) -> None:
        spent = seconds({"": way}, 2)[""]
        tracemalloc.start()
        way()
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append((engine, size, value, spent, memory, count))

    for n in (25, 50, 100, 200, 400):
        A, y, w = rng.normal(size=(n, 10)), rng.uniform(1, 2, n), rng.normal(size=10)
        way = partial(affine_flow, A, y, w)
        add("one neuron", "n", n, way, len(way().events))
    for d in (3, 6, 12, 25):
        A, y, w = rng.normal(size=(100, d)), rng.uniform(1, 2, 100), rng.normal(size=d)
        way = partial(affine_flow, A, y, w)
        add("one neuron", "d", d, way, len(way().events))
    for count in (100, 1000, 10_000):
        items = planar_problems(count)
        add("flows in the plane", "flows", count, partial(planar_flows_of, items), 0)
    for n in (10, 30, 100, 300):
        A, y = rng.normal(size=(n, 5)), np.where(rng.random(n) < 0.5, -1.0, 1.0)
        way = partial(align, A, y, rng.normal(size=5))
        add("alignment", "n", n, way, len(way().events))
    return pd.DataFrame(rows, columns=["engine", "size", "value", "seconds", "bytes", "events"])


# --- Targets --------------------------------------------------------------------------------------


def targets() -> pd.DataFrame:
    """What was aimed at, and what is measured."""
    rows: list[tuple[str, float, float, str]] = []
    for start in STARTS:
        affine_flow(X, Y, start)
    three = seconds({"": lambda: [affine_flow(X, Y, w) for w in STARTS]}, 50)[""]
    rows.append(("Example 5.1, three flows, milliseconds", 4.0, 1e3 * three, "at most"))
    for name in ("iris", "wine", "diabetes"):
        A, y = real_data(name)
        w0 = np.random.default_rng(0).standard_normal(A.shape[1])
        flow = affine_flow(A, y, w0)
        theirs = partial(lsoda, A, y, w0, float(flow.settled))
        spent = seconds({"ours": partial(affine_flow, A, y, w0), "lsoda": theirs})
        ratio = spent["lsoda"] / spent["ours"]
        rows.append((f"{name}, ratio to LSODA at 1e-12", 4.0, ratio, "at least"))
    items = planar_problems(10_000)
    planar_flows_of(items[:100])
    minute = 60.0 * len(items) / seconds({"": partial(planar_flows_of, items)})[""]
    rows.append(("flows in the plane a minute, millions", 5.0, minute / 1e6, "at least"))
    return pd.DataFrame(rows, columns=["target", "aim", "measured", "sense"])


def large() -> pd.DataFrame:
    """10 000 data in 100 dimensions."""
    rng = np.random.default_rng(0)
    A, w0 = rng.normal(size=(10_000, 100)), rng.normal(size=100)
    y = np.maximum(A @ rng.normal(size=100), 0.0) + 0.1
    found = []
    spent = seconds({"": lambda: found.append(len(affine_flow(A, y, w0).events))}, 1)[""]
    print(f"{found[0]} events")
    row = ("10 000 x 100, seconds", 60.0, spent, "at most")
    return pd.DataFrame([row], columns=["target", "aim", "measured", "sense"])


PARTS = {"precision": precision, "growth": growth, "targets": targets, "large": large}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--write", action="store_true", help="write the records")
    given = parser.parse_args()
    with threadpool_limits(1):
        for part in given.parts:
            table = PARTS[part]()
            print(table.to_string())
            if given.write:
                record(f"cost_{part}", table)


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    main()
