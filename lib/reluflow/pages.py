"""The book's notebooks in order, and their code cells run in this process without figures: all, or
those that one claim needs.

A chapter is a page `NAME.ipynb` and, where it has sections, the notebooks of the folder `NAME`."""

from __future__ import annotations

import ast
import contextlib
import re
import traceback
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import nbformat
from nbformat import NotebookNode

from reluflow.errors import InputError, meant

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Of the environment of a kernel: on problems of this size a second thread of BLAS only waits."""

_GLUED = "application/papermill.record/"  # before the kind of what glue() holds
_CHECK = "parameters.check("
_PICTURES = re.compile(r"figures(?:\.|$)")  # the end of a part of every drawing module's name


class _Blank:
    """In place of what draws figures: whatever is asked of it or called on it does nothing."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self


def in_order(folder: Path) -> list[Path]:
    """The chapters of a folder, the sections of each before its page, which sums them up."""
    chapters = sorted(folder.glob("*.ipynb"))
    return [page for last in chapters for page in (*sections(last), last)]


def sections(chapter: Path) -> list[Path]:
    """The sections of a chapter's page."""
    return sorted(chapter.with_suffix("").glob("*.ipynb"))


def name(notebook: Path) -> str:
    """The file's name; before it, for a section, the folder, which has the name of its chapter."""
    folder = notebook.resolve().parent
    is_section = folder.with_name(f"{folder.name}.ipynb").is_file()
    return f"{folder.name}/{notebook.name}" if is_section else notebook.name


def read(notebook: Path) -> NotebookNode:
    """The notebook in a file. Raises InputError for a file that is none or cannot be read."""
    try:
        return nbformat.read(notebook, as_version=4)
    except OSError as error:
        raise InputError(f"{notebook} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError, AttributeError, nbformat.ValidationError):
        raise InputError(f"{notebook} is not a notebook.") from None


def code_cells(notebook: Path) -> list[NotebookNode]:
    """The notebook's code cells, in order."""
    return [cell for cell in read(notebook).cells if cell.cell_type == "code"]


def glued(cells: Iterable[NotebookNode]) -> dict[str, dict[str, str]]:
    """What executed cells hand to the text: by its name, what it is in each kind of output."""
    found = {}
    for output in (output for cell in cells for output in cell.get("outputs", [])):
        if name := output.get("metadata", {}).get("scrapbook", {}).get("name"):
            kinds = output["data"].items()
            found[name] = {kind.removeprefix(_GLUED): "".join(told) for kind, told in kinds}
    return found


def run(
    cells: Sequence[NotebookNode], folder: Path, values: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Run cells in `folder` with `values` injected behind the parameters, figures left out.

    Returns the names that they define and one line for every cell that raised an exception; names
    that a failed cell did not define are not reported again.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    failed: list[str] = []
    with contextlib.chdir(folder):
        for cell in cells:
            try:
                exec(compile(cell.source, f"cell {cell.id}", "exec"), names)
            except Exception as error:
                if not (failed and isinstance(error, NameError)):
                    last = traceback.extract_tb(error.__traceback__)[-1]
                    where = f"{Path(last.filename).name}, line {last.lineno}"
                    failed.append(f"cell {cell.id}: {type(error).__name__} in {where}: {error}")
            if _is_parameters(cell):
                names.update(values)
            names.update({name: _Blank() for name, value in names.items() if _draws(value)})
    return names, failed


def parameters(notebook: Path) -> dict[str, Any]:
    """The parameters of a page with the values that its cell sets, `...` for a computed one."""
    found: dict[str, Any] = {}
    for cell in filter(_is_parameters, code_cells(notebook)):
        for node in (n for n in ast.parse(cell.source).body if isinstance(n, ast.Assign)):
            found[ast.unparse(node.targets[0])] = ...
            with contextlib.suppress(ValueError):
                found[ast.unparse(node.targets[0])] = ast.literal_eval(node.value)
    return found


def ask(notebook: Path, folder: Path, points: Iterable[Mapping[str, Any]]) -> None:
    """Ask a page, before anything is run in `folder`, whether it takes these parameters: its names,
    and the cell that checks them, where it has one. InputError for the first that it refuses."""
    cells, known = code_cells(notebook), parameters(notebook)
    last = next((k for k, cell in enumerate(cells) if _CHECK in cell.source), -1)
    for point in points:
        for each in point.keys() - known:
            hint = meant(each, known)
            raise InputError(f'{name(notebook)} has no parameter "{each}": {hint}')
        _, failed = run(cells[: last + 1], folder, point)
        if failed and f" {InputError.__name__} in " in failed[0]:
            raise InputError(failed[0].split(": ", 2)[-1])


def needed(cells: Sequence[NotebookNode], last: int) -> list[NotebookNode]:
    """The cells that `cells[last]` needs, itself the last: those that define a name it reads, what
    these read in turn, and the parameters.

    Only names are followed. A cell that calls a method of an object is no definition of it.
    """
    read, given = zip(*(_names(cell.source) for cell in cells[: last + 1]), strict=True)
    chosen = {last, *(k for k in range(last) if _is_parameters(cells[k]))}
    while True:
        wanted = set().union(*(read[k] for k in chosen))
        more = {k for k in range(last) if given[k] & wanted} - chosen
        if not more:
            return [cells[k] for k in sorted(chosen)]
        chosen |= more


def _names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell reads before it has bound them itself, and those that it binds."""
    read, given, bound = set[str](), set[str](), set[str]()
    for statement in ast.parse(source).body:
        nodes = list(ast.walk(statement))
        names = [n for n in nodes if isinstance(n, ast.Name)]
        stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        stored |= {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        stored |= {(n.asname or n.name).split(".")[0] for n in nodes if isinstance(n, ast.alias)}
        again = [n.target for n in nodes if isinstance(n, ast.AugAssign)]
        read |= {n.id for n in names if isinstance(n.ctx, ast.Load) or n in again} - bound
        given |= stored
        if not isinstance(statement, (ast.If, ast.For, ast.While, ast.Try)):
            bound |= stored
    return read, given


def _is_parameters(cell: NotebookNode) -> bool:
    return "parameters" in cell.metadata.get("tags", [])


def _draws(value: Any) -> bool:
    room = value.__name__ if isinstance(value, ModuleType) else ""
    room = value.__module__ if isinstance(value, FunctionType) else room
    return bool(_PICTURES.search(room))
