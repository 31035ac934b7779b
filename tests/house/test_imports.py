"""The library's imports: no circle, no arrow up, light formulas."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from reluflow.ledger.cards import PAPERS

LIBRARY = PAPERS.parent

# From the ground floor up; what shares a floor is independent.
FLOORS = (
    {"errors", "approx", "places", "exact", "losses", "progress"},
    {"statistics", "geometry", "networks", "pages"},
    {"datasets", "images", "parameters", "flows"},
    {"margin", "figures", "ledger", "records"},
    {"falsify", "refresh", "cost"},
    {"papers", "sweep"},
    {"your_data"},
    {"site"},
    {"run"},
)


def imports() -> dict[str, set[str]]:
    """Each module of the library, and those that it imports anywhere, also within functions."""
    files = {_name(file): file for file in sorted(LIBRARY.rglob("*.py"))}
    return {name: set(_imported(file, files)) - {name} for name, file in files.items()}


def _name(file: Path) -> str:
    parts = file.relative_to(LIBRARY.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(file: Path, files: dict[str, Path]) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [name if name in files else node.module for name in inner]
    return [name for name in found if name in files]


GRAPH = imports()


def floor(name: str) -> int:
    (found,) = (k for k, floor in enumerate(FLOORS) if name.split(".")[1] in floor)
    return found


def test_no_module_imports_itself_by_way_of_others() -> None:
    TopologicalSorter(GRAPH).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize("name", [name for name in GRAPH if "." in name])
def test_no_arrow_runs_up(name: str) -> None:
    package = name.split(".")[1]
    above = {
        other
        for other in GRAPH[name]
        if other.split(".")[1] != package and floor(other) >= floor(name)
    }
    assert not above


def test_papers_do_not_know_each_other() -> None:
    rooms = {name: name.split(".")[2] for name in GRAPH if name.startswith("reluflow.papers.")}
    assert [
        (name, other) for name in rooms for other in GRAPH[name] if rooms.get(other, "") not in
        ("", rooms[name])
    ] == []  # fmt: skip


def test_formulas_load_no_pictures() -> None:
    """Whoever imports one topic of a paper does not wait for Matplotlib or for torch."""
    topics = [n for n in GRAPH if ".papers." in n and not n.endswith("figures")]
    heavy = {n for n in topics for other in GRAPH[n] if other.startswith("reluflow.figures")}
    assert heavy == set()
    code = (
        "import sys, reluflow.papers.lee2022support.geometry\n"
        "assert not {'matplotlib', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_benchmarks_import_what_the_library_has() -> None:
    """They are run by hand alone, and tell nobody else that a name is gone."""
    gone = [
        f"{file.name}: {node.module}.{alias.name}"
        for file in sorted((LIBRARY.parents[1] / "benchmarks").glob("*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reluflow")
        for alias in node.names
        if not _has(str(node.module), alias.name)
    ]
    assert gone == []


def _has(module: str, name: str) -> bool:
    found = import_module(module)
    inside = hasattr(found, "__path__") and find_spec(f"{module}.{name}") is not None
    return hasattr(found, name) or inside
