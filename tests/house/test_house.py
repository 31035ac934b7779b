"""How much there is to read: figures of the library and the tests that may only fall; and what the
library imports: no circle, no arrow up, light formulas."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from reluflow import pages
from reluflow.ledger import scoreboard
from reluflow.places import CHAPTERS, LIBRARY

PAPERS = LIBRARY / "papers"
SLACK = 0.02  # a bar that is wider than this above its figure is to be lowered


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


@cache
def walked(text: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(text)))


def lines(folder: Path) -> int:
    return sum(file.read_text("utf-8").count("\n") for file in modules(folder))


def code(folder: Path) -> int:
    """Lines that are not blank, comment, docstring or import."""
    return sum(1 for file in modules(folder) for _ in _coded(file.read_text("utf-8")))


def _coded(text: str) -> Iterator[str]:
    left_out = set[int]()
    for node in walked(text):
        said = node.value if isinstance(node, ast.Expr) else None
        is_doc = isinstance(said, ast.Constant) and isinstance(said.value, str)
        if is_doc or isinstance(node, (ast.Import, ast.ImportFrom)):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for k, line in enumerate(text.splitlines(), 1):
        if k not in left_out and line.strip() and not line.lstrip().startswith("#"):
            yield line


def test_comments_docstrings_and_imports_are_no_code() -> None:
    said = ['"""Doc', "", 'string."""', "import os", "", "# why"]
    coded = ['x = """', 'a"""', "def f():", "    return 1"]
    text = "\n".join([*said, *coded[:3], '    "one"', coded[3], ""])
    assert list(_coded(text)) == coded


@pytest.mark.parametrize(
    ("what", "bar"),
    [
        ("modules", 130),
        ("modules of papers", 60),
        ("lines", 41659),
        ("lines outside papers", 12922),
        ("code", 25560),
        ("code of papers a claim", 54),
        ("lines of tests", 18000),
        ("pages", 34),
        ("modules beyond 3 a section, 6 a chapter", 0),
    ],
)
def test_the_house_does_not_grow(what: str, bar: int) -> None:
    found = {
        "modules": lambda: len(modules(LIBRARY)),
        "modules of papers": lambda: len(modules(PAPERS)),
        "lines": lambda: lines(LIBRARY),
        "lines outside papers": lambda: lines(LIBRARY) - lines(PAPERS),
        "code": lambda: code(LIBRARY),
        "code of papers a claim": lambda: round(code(PAPERS) / len(scoreboard([CHAPTERS]).rows)),
        "lines of tests": lambda: lines(CHAPTERS.parent / "tests"),
        "pages": lambda: len(pages.in_order(CHAPTERS)),
        "modules beyond 3 a section, 6 a chapter": lambda: sum(
            max(0, rooms_of(page) - (6 if pages.sections(page) else 3))
            for page in pages.in_order(CHAPTERS)
        ),
    }[what]()
    assert found <= bar, f"{found} {what}: the bar is {bar}"
    assert found >= (1.0 - SLACK) * bar, f"{found} {what}: lower the bar, {bar}"


# --- What imports what ----------------------------------------------------------------------------

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


def named(file: Path) -> str:
    return ".".join(file.relative_to(LIBRARY.parent).with_suffix("").parts)


FILES = {named(file).removesuffix(".__init__"): file for file in modules(LIBRARY)}


def imported(text: str) -> set[str]:
    """The modules of the library that a text imports anywhere, also within functions."""
    found = set[str]()
    for node in walked(text):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {name if name in FILES else node.module for name in inner}
    return found & FILES.keys()


@cache
def graph() -> dict[str, set[str]]:
    return {name: imported(file.read_text("utf-8")) - {name} for name, file in FILES.items()}


def floor(name: str) -> int:
    (found,) = (k for k, floor in enumerate(FLOORS) if name.split(".")[1] in floor)
    return found


def test_no_module_imports_itself_by_way_of_others() -> None:
    TopologicalSorter(graph()).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize("name", [name for name in FILES if "." in name])
def test_no_arrow_runs_up(name: str) -> None:
    package = name.split(".")[1]
    others = (other for other in graph()[name] if other.split(".")[1] != package)
    assert not [other for other in others if floor(other) >= floor(name)]


def test_papers_do_not_know_each_other() -> None:
    rooms = {name: name.split(".")[2] for name in graph() if name.startswith("reluflow.papers.")}
    assert [
        (name, other) for name in rooms for other in graph()[name] if rooms.get(other, "") not in
        ("", rooms[name])
    ] == []  # fmt: skip


def test_formulas_load_no_pictures() -> None:
    """Whoever imports one topic of a paper does not wait for Matplotlib or for torch."""
    topics = [n for n in graph() if ".papers." in n and not n.endswith("figures")]
    heavy = {n for n in topics for other in graph()[n] if other.startswith("reluflow.figures")}
    assert heavy == set()
    code = (
        "import sys, reluflow.papers.lee2022support.geometry\n"
        "assert not {'matplotlib', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_benchmarks_import_what_the_library_has() -> None:
    """They are run by hand alone, and tell nobody else that a name is gone."""
    for file in sorted((CHAPTERS.parent / "benchmarks").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reluflow"):
                exec(ast.unparse(node), {})


def rooms_of(notebook: Path) -> int:
    """How many modules of its paper a page imports: its own, what its chapter shares, pictures."""
    parts = (n.split(".") for cell in pages.code_cells(notebook) for n in imported(cell.source))
    return len({part[3] for part in parts if part[1:2] == ["papers"] and part[3:]})
