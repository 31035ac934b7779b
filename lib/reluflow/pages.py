"""Code cells of a notebook, run in this process without figures: all, or those one claim needs."""

from __future__ import annotations

import ast
import contextlib
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import nbformat
from nbformat import NotebookNode

_PICTURES = ("reluflow.figures", ".pictures")


class _Blank:
    """In place of what draws figures: whatever is asked of it or called on it does nothing."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self


def code_cells(notebook: Path) -> list[NotebookNode]:
    """The notebook's code cells, in order."""
    cells = nbformat.read(str(notebook), as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


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


def needed(cells: Sequence[NotebookNode], last: int) -> list[NotebookNode]:
    """The cells that `cells[last]` needs, itself the last: those that define a name it reads, what
    these read in turn, and the parameters.

    Only names are followed. A cell that calls a method of an object is no definition of it.
    """
    wanted: set[str] = set()
    chosen = []
    for k in range(last, -1, -1):
        names = [n for n in ast.walk(ast.parse(cells[k].source)) if isinstance(n, ast.Name)]
        imports = [n for n in ast.walk(ast.parse(cells[k].source)) if isinstance(n, ast.alias)]
        given = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        given |= {(n.asname or n.name).split(".")[0] for n in imports}
        if k == last or given & wanted or _is_parameters(cells[k]):
            wanted |= {n.id for n in names if isinstance(n.ctx, ast.Load)}
            chosen.append(cells[k])
    return chosen[::-1]


def _is_parameters(cell: NotebookNode) -> bool:
    return "parameters" in cell.metadata.get("tags", [])


def _draws(value: Any) -> bool:
    room = value.__name__ if isinstance(value, ModuleType) else ""
    room = value.__module__ if isinstance(value, FunctionType) else room
    return any(part in room for part in _PICTURES)
