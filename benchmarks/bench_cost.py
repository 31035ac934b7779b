"""What the page on costs shows: work against precision, growth, and the targets of speed.

    python benchmarks/bench_cost.py precision flows growth targets compiled [--write]

All seconds are of processor time on one thread, and the least of several turns: in each turn every
method runs once, so that a busy machine disturbs them alike. With --write the tables become
data/records/cost_PART.csv.
"""

from __future__ import annotations

import argparse
import os
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from bench_affine import STARTS, X, Y
from compiled import compiled
from growth import REPEATS, SIZES, works
from hard_cases import Answer
from machine import TURNS, record, seconds
from other_flows import problems
from peers import Problem, solvers
from reference_flow import reference_flow
from reluflow.flows.affine import affine_flow
from targets import targets
from threadpoolctl import threadpool_limits

TOLERANCES = (1e-3, 1e-6, 1e-9, 1e-12)
COLUMNS = ["problem", "solver", "rtol", "seconds", "evaluations", "error"]


# --- Work against precision -----------------------------------------------------------------------


def one_neuron() -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Name, data, labels, start: well and ill conditioned, many and few events."""
    yield "Example 5.1, 5 × 2", X, Y, np.array(STARTS[-1])
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(50, 5)), rng.uniform(1.0, 2.0, 50)
    yield "Gaussian, 50 × 5", A, y, rng.normal(size=5)
    yield "ill-conditioned, 50 × 5", A * 10.0 ** -np.arange(5.0)[::-1] * 10, y, rng.normal(size=5)


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
    return pd.DataFrame(rows, columns=COLUMNS)


def _kept(found: dict, key: tuple[str, float], way: Callable[[], tuple]) -> None:
    found[key] = way()


def _exact(A: np.ndarray, y: np.ndarray, w0: np.ndarray, at: float) -> tuple[Answer, int]:
    """The exact flow, and how many cells it factorises."""
    flow = affine_flow(A, y, w0)
    return Answer(flow.at(at)), len(flow.events) + 1


def flows(depths: tuple[float, ...] = (10, 1e2, 1e5)) -> pd.DataFrame:
    """The same for an alignment, and two layers; directions' errors for these."""
    rows = []
    for name, truth, ways in problems(depths):
        found: dict[tuple[str, float], tuple] = {}
        spent = seconds({key: partial(_kept, found, key, way) for key, way in ways.items()}, 2)
        for key, (end, count) in found.items():
            size = np.linalg.norm(truth)
            end = end * (size / np.linalg.norm(end)) if "layers" in name else end
            rows.append((name, *key, spent[key], count, np.linalg.norm(end - truth) / size))
        print(name, flush=True)
    return pd.DataFrame(rows, columns=COLUMNS)


# --- Growth ---------------------------------------------------------------------------------------


def growth() -> pd.DataFrame:
    """Seconds, those of the floor, bytes and events of the engines while one size grows: means over
    a few problems."""
    rows, names = [], ["size", "value", "seconds", "floor", "bytes", "events"]
    for size, values in SIZES.items():
        rng = np.random.default_rng(1)
        for value in values:
            found = []
            for _ in range(REPEATS):
                work = works(size, value, rng)
                turns = int(np.clip(2.0 / seconds({"": work.run}, 1)[""], TURNS, 25))
                spent = seconds({"run": work.run, "floor": work.floor}, turns)
                tracemalloc.start()
                work.run()
                memory = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                found.append((spent["run"], spent["floor"], memory, work.events))
            rows.append((size, value, *np.mean(found, axis=0)))
            print(*rows[-1], flush=True)
    return pd.DataFrame(rows, columns=names)


PARTS = {
    "precision": precision, "flows": flows, "growth": growth, "targets": targets,
    "compiled": compiled,
}  # fmt: skip


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
