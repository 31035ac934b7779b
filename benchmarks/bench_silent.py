"""Who is wrong in silence: sixty hard flows, each by every solver.

    python benchmarks/bench_silent.py [--write] [--only WORD]

Every case of `hard_cases` goes to every solver of `peers` and to `affine_flow`; each is told how
long to run. `judged` says whether the answer is right, wrong and said so by the solver itself, or
wrong in silence. With --write the table becomes data/records/cost_silent.csv.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter

import pandas as pd
from hard_cases import CASES, Case, by_affine_flow, judged
from machine import record
from peers import Problem, solvers
from threadpoolctl import threadpool_limits


def problem(case: Case) -> Problem:
    """What a solver is told of the case."""
    return Problem(case.X, case.y, case.w0, case.truth[1], case.unit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the record")
    parser.add_argument("--only", default="", help="only solvers whose name has this word")
    given = parser.parse_args()
    ways = {"affine_flow": lambda p, case: by_affine_flow(case)}
    ways |= {name: lambda p, case, run=run: run(p)[0] for name, run in solvers().items()}
    rows = []
    with threadpool_limits(1):
        for name, way in ways.items():
            if given.only not in name:
                continue
            begun, found = time.process_time(), []
            for case in CASES:
                answer = way(problem(case), case)
                said = answer.said.split("\n")[0][:80]
                found.append(judged(case, answer))
                rows.append((name, case.kind, case.name, found[-1], said))
            spent = time.process_time() - begun
            print(f"{name:26}{dict(Counter(found))}  {spent:.1f} s", flush=True)
    table = pd.DataFrame(rows, columns=["solver", "kind", "case", "verdict", "said"])
    if given.write:
        record("cost_silent", table)


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    main()
