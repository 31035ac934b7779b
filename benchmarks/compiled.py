"""What compiled kernels could save: what the flows of a page take, and what a compiler takes.

    python benchmarks/compiled.py PAGE      seconds of a page, of its flows, and their number
    python benchmarks/compiled.py numba     seconds to load Numba and to compile a root finder

Each is a process of its own: a kernel that runs a page loads for itself, and compiles unless that
is kept on disk for its kind of CPU.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from reluflow import pages
from reluflow.flows import affine
from reluflow.places import CHAPTERS

CHAPTER = "01_support_vectors"
"""The chapter that follows most flows of one neuron."""


def compiled() -> pd.DataFrame:
    """Processor seconds of each page of the chapter, of its flows and of their compiler."""
    names = [n for n in map(pages.name, pages.in_order(CHAPTERS)) if n.startswith(CHAPTER)]
    rows = [(name.removesuffix(".ipynb"), *_told(name)) for name in names]
    load, compile_ = _told("numba")
    rows += [("loading Numba", load, np.nan, np.nan), ("compiling", compile_, np.nan, np.nan)]
    return pd.DataFrame(rows, columns=["what", "seconds", "flows", "count"])


def _told(what: str) -> list[float]:
    text = subprocess.check_output([sys.executable, __file__, what], text=True)
    return [float(word) for word in text.splitlines()[-1].split()]


def page(name: str) -> tuple[float, float, int]:
    """Seconds of a page, its figures left out, and of the flows of one neuron in it."""
    begun, spent = time.process_time(), []

    def timed(flow: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            start = time.process_time()
            found = flow(*given, **named)
            spent.append(time.process_time() - start)
            return found

        return run

    affine.affine_flow = timed(affine.affine_flow)  # before a module of a paper takes its name
    path = CHAPTERS / name
    _, failed = pages.run(pages.code_cells(path), path.parent, {})
    assert failed == []
    return time.process_time() - begun, sum(spent), len(spent)


def numba() -> tuple[float, float]:
    """Seconds to load Numba, and to compile `exponential_sums.solve` for one sum."""
    begun = time.process_time()
    from numba import njit

    loaded = time.process_time()
    rates, b = np.array([1.0, 2.0, 3.0]), np.array([-2.0, 1.0, -1.0])
    njit(_root)(1.0, b, rates, 0.0, 9.0)
    return loaded - begun, time.process_time() - loaded


def _root(a, b, rates, lo, hi):  # type: ignore[no-untyped-def]
    """A zero in (lo, hi) of a + sum b (1 - exp(-rates t)), positive at lo, by a safe Newton."""
    root, last = 0.5 * (lo + hi), hi - lo
    for _ in range(200):
        value, slope = a, 0.0
        for k in range(len(b)):
            left = np.exp(-rates[k] * root)
            value -= b[k] * np.expm1(-rates[k] * root)
            slope += b[k] * rates[k] * left
        if value > 0.0:
            lo = root
        else:
            hi = root
        if last <= 4e-16 * root:
            break
        new = root - value / slope if slope != 0.0 else lo
        if not lo < new < hi or abs(new - root) > 0.5 * last:
            new = 0.5 * (lo + hi)
        last, root = abs(new - root), new
    return root


if __name__ == "__main__":
    print(*(numba() if sys.argv[1] == "numba" else page(sys.argv[1])))
