"""What a sweep runs: a page at the points of a grid, each with a key.

The key of a run is a digest of its parameters and of the code: the page's code cells, the whole
library, the claims, data and records of the book, and the versions of the packages. Another key is
another run, so changed code leaves old rows behind.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib import metadata
from itertools import product
from pathlib import Path
from platform import python_version
from typing import Any

import nbformat
import yaml
from papermill import inspect_notebook

from reluflow import pages, parameters
from reluflow.errors import InputError, meant
from reluflow.places import CLAIMS, DATASETS, LIBRARY, RECORDS
from reluflow.refresh import KERNEL

MOST_RUNS = 100_000
_RANGE = re.compile(r"(-?\d+):(-?\d+)(?::(-?\d+))?")
_CHECK = "parameters.check("


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
    name that it does not have, for a value of another type and for one that the page refuses.
    """
    source, known = _page(notebook)
    axes: dict[str, Sequence[Any]] = {}
    for name, values in map(_axis, grid):
        if name in axes:
            raise InputError(f'"{name}" is given twice.')
        if len(values) == 0:
            raise InputError(f'the grid is empty: "{name}" has no values.')
        axes[name] = values
    size = math.prod(map(len, axes.values()))
    if not 0 < size <= MOST_RUNS:
        raise InputError(f"a grid of {size} runs cannot be run: take 1 to {MOST_RUNS} of them.")
    chosen = (dict(zip(axes, values, strict=True)) for values in product(*axes.values()))
    points = [_checked(values, known) for values in chosen]
    asked(notebook, folder, points)
    code = code_digest(source)
    return Plan(source, code, {key(point, code): point for point in points})


def key(point: Mapping[str, Any], code: str) -> str:
    """The key of a run with these parameters and this code: 16 hexadecimal digits."""
    return _digest([json.dumps([point, code], sort_keys=True)])[:16]


def code_digest(source: str) -> str:
    """The digest of what a run of this page depends on, besides its parameters; of the library and
    the packages of the Python that asks."""
    cells = [c.source for c in nbformat.reads(source, as_version=4).cells if c.cell_type == "code"]
    folders = (LIBRARY, "**/*.py"), (CLAIMS, "*.yml"), (DATASETS, "*"), (RECORDS, "*.json")
    files = [file for folder, pattern in folders for file in sorted(folder.glob(pattern))]
    texts = (text for file in files for text in (file.name, file.read_text("utf-8")))
    return _digest([*cells, *texts, *_packages()])[:16]


@cache
def _packages() -> list[str]:
    """The Python and the packages that the library asks for, with their versions."""
    told = [python_version()]
    asked = {re.split(r"[^\w.-]", each)[0] for each in metadata.requires("reluflow") or ()}
    for name in sorted(asked):
        with suppress(metadata.PackageNotFoundError):
            told.append(f"{name}=={metadata.version(name)}")
    return told


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


# --- The page and its parameters ------------------------------------------------------------------


def _page(notebook: Path) -> tuple[str, dict[str, Any]]:
    """A page without its outputs, and its parameters with the sources of their defaults."""
    try:
        page = nbformat.read(notebook, as_version=4)
        page.metadata.setdefault("kernelspec", KERNEL)  # papermill wants a language
        known = {name: each["default"] for name, each in inspect_notebook(page).items()}
    except OSError as error:
        raise InputError(f"{notebook} cannot be read: {error.strerror}.") from None
    except (ValueError, nbformat.ValidationError):  # of JSON, of a notebook's form, of a name
        raise InputError(f"{notebook} is not a notebook.") from None
    if not known:
        raise InputError(f'{notebook} has no parameters: tag a cell of it "parameters".')
    for cell in page.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    return nbformat.writes(page), known


def _axis(text: str) -> tuple[str, Sequence[Any]]:
    """A parameter's name and its values: a range of whole numbers, or a list as in YAML."""
    name, sign, told = text.partition("=")
    if not (name and sign):
        raise InputError(f'"{text}" is not NAME=VALUES, such as seed=0:40 or n=5,10,20.')
    try:
        if numbers := _RANGE.fullmatch(told):
            return name, range(*(int(each or 1) for each in numbers.groups()))
        return name, yaml.safe_load(f"[{told}]")
    except ValueError:
        raise InputError(f'"{text}": a step of 0 goes nowhere.') from None
    except yaml.YAMLError:
        raise InputError(f'"{text}": the values are not YAML, such as 5,10 or [1, 4].') from None


def _checked(given: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    """All parameters of a run, of the types that the defaults have; one whose default is None or
    computed may have any."""
    for name in given:
        if name not in known:
            raise InputError(f'unknown parameter "{name}": {meant(name, known)}')
    defaults: dict[str, Any] = {}
    for name, told in known.items():
        with suppress(ValueError, SyntaxError):
            defaults[name] = ast.literal_eval(told)
    values = defaults | dict(given)
    for name, default in defaults.items():
        if isinstance(default, bool) and not isinstance(values[name], bool):
            raise InputError(f'parameter "{name}" must be true or false, not {values[name]!r}.')
    kinds = {name: type(v) for name, v in defaults.items() if not isinstance(v, bool | None)}
    spec = {name: parameters.Parameter(kind, "") for name, kind in kinds.items()}
    return values | asdict(parameters.check({name: values[name] for name in kinds}, spec))


def asked(page: Path, folder: Path, points: Iterable[Mapping[str, Any]]) -> None:
    """Ask the cell of a page that checks its parameters, where it has one, before anything is run;
    InputError for the first point that it refuses."""
    cells = pages.code_cells(page)
    last = next((k for k, cell in enumerate(cells) if _CHECK in cell.source), -1)
    for point in points if last >= 0 else ():
        _, failed = pages.run(cells[: last + 1], folder, point)
        if failed and f" {InputError.__name__} in " in failed[0]:
            raise InputError(failed[0].split(": ", 2)[-1])
