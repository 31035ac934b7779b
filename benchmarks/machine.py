"""On which machine a record was measured, and where it is written."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd
from bench_affine import cpu_name

RECORDS = Path(__file__).resolve().parents[1] / "data" / "records"


def machine() -> str:
    """The processor, the load and the versions, in a line."""
    found = []
    for name in ("numpy", "scipy", "torch", "diffrax", "jax", "torchdiffeq"):
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
