"""What a sweep runs: a page at the points of a grid, each with a key.

The key of a run is a digest of its parameters and of the code: the page's code cells, the whole
library, the claims, data and records of the book, and the versions of the packages. Another key is
another run, so changed code leaves old rows behind.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import nbformat
import yaml

from reluflow import pages
from reluflow.errors import InputError
from reluflow.places import CLAIMS, DATASETS, RECORDS
from reluflow.records import code
from reluflow.refresh import KERNEL

MOST_RUNS = 100_000
_RANGE = re.compile(r"(-?\d+):(-?\d+)(?::(-?\d+))?")


@dataclass(frozen=True)
class Plan:
    """The runs of a sweep: `source` is the page as it is run, without outputs, `code` the digest of
    all code, `points` the parameters of each run by its key, in the order of the grid."""

    source: str
    code: str
    points: Mapping[str, Mapping[str, Any]]


def plan(notebook: Path, folder: Path, grid: Sequence[str]) -> Plan:
    """The runs of a page at all points of a grid.

    Parameters: `folder`, where the page is run; `grid`, texts such as "seed=0:40", "n=5,10,20" or
    "effort=0.2", whose product is run.
    Raises InputError, before anything is run, for a file that is not a page with parameters, for a
    name that it does not have and for a value that the page refuses.
    """
    source, known = _page(notebook)
    axes: dict[str, Sequence[Any]] = {}
    for name, values in (_axis(text, known) for text in grid):
        if name in axes:
            raise InputError(f'"{name}" is given twice.')
        if len(values) == 0:
            raise InputError(f'the grid is empty: "{name}" has no values.')
        axes[name] = values
    size = math.prod(map(len, axes.values()))
    if not 0 < size <= MOST_RUNS:
        raise InputError(f"a grid of {size} runs cannot be run: take 1 to {MOST_RUNS} of them.")
    fixed = {name: value for name, value in known.items() if value is not ...}
    points = [fixed | dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    pages.ask(notebook, folder, points)
    digest = code_digest(source)
    return Plan(source, digest, {key(point, digest): point for point in points})


def key(point: Mapping[str, Any], code: str) -> str:
    """The key of a run with these parameters and this code: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps([point, code], sort_keys=True).encode()).hexdigest()[:16]


def code_digest(source: str) -> str:
    """The digest of what a run of this page depends on, besides its parameters; of the library and
    the packages of the Python that asks."""
    cells = [c.source for c in nbformat.reads(source, as_version=4).cells if c.cell_type == "code"]
    folders = (CLAIMS, "*.yml"), (DATASETS, "*"), (RECORDS, "*.json")
    return code(*cells, *(file for where, what in folders for file in sorted(where.glob(what))))


# --- The page and its parameters ------------------------------------------------------------------


def _page(notebook: Path) -> tuple[str, dict[str, Any]]:
    """A page without its outputs, and its parameters with their defaults."""
    page, known = pages.read(notebook), pages.parameters(notebook)
    if not known:
        raise InputError(f'{notebook} has no parameters: tag a cell of it "parameters".')
    page.metadata.setdefault("kernelspec", KERNEL)  # papermill wants a language
    for cell in page.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    return nbformat.writes(page), known


def _axis(text: str, known: Mapping[str, Any]) -> tuple[str, Sequence[Any]]:
    """A parameter's name and its values: a range of whole numbers, or a list as in YAML."""
    name, sign, told = text.partition("=")
    if not (name and sign):
        raise InputError(f'"{text}" is not NAME=VALUES, such as seed=0:40 or n=5,10,20.')
    try:
        if numbers := _RANGE.fullmatch(told):
            return name, range(*(int(each or 1) for each in numbers.groups()))
        values = yaml.safe_load(f"[{told}]")
    except ValueError:
        raise InputError(f'"{text}": a step of 0 goes nowhere.') from None
    except (yaml.YAMLError, RecursionError):
        raise InputError(f'"{text}": the values are not YAML, such as 5,10 or [1, 4].') from None
    with suppress(TypeError, ValueError):  # YAML 1.1 takes 1e-3 for text
        values = [*map(float, values)] if isinstance(known.get(name), float) else values
    return name, values
