"""On which machine a record was measured, how seconds are, and where it is written."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from bench_affine import cpu_name

TURNS = 3
Key = TypeVar("Key")
RECORDS = Path(__file__).resolve().parents[1] / "data" / "records"


def machine() -> str:
    """The processor, the load and the versions, in a line."""
    found = []
    for name in ("numpy", "scipy", "torch", "diffrax", "jax", "torchdiffeq", "numba"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, one thread"
    return "; ".join([cpu_name(), load, f"Python {platform.python_version()}", *found])


def record(name: str, table: pd.DataFrame) -> None:
    """Write the table, with the machine in its first line, as data/records/NAME.csv."""
    path = RECORDS / f"{name}.csv"
    text = table.to_csv(index=False, float_format="%.4g", lineterminator="\n")
    path.write_text(f"# {machine()}\n{text}", encoding="utf-8")
    print(path.relative_to(RECORDS.parents[1]))


def seconds(ways: dict[Key, Callable[[], object]], turns: int = TURNS) -> dict[Key, float]:
    """The least processor seconds of each way, taken in turn."""
    least = dict.fromkeys(ways, np.inf)
    for _ in range(turns):
        for name, way in ways.items():
            begun = time.process_time()
            way()
            least[name] = min(least[name], time.process_time() - begun)
    return least
