"""How much there is to read: figures of the library and the tests that may only fall."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from reluflow import pages
from reluflow.ledger import scoreboard
from reluflow.places import CHAPTERS, LIBRARY

PAPERS = LIBRARY / "papers"
TESTS = CHAPTERS.parent / "tests"
SLACK = 0.02  # a bar that is wider than this above its figure is to be lowered


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def lines(folder: Path) -> int:
    return sum(file.read_text("utf-8").count("\n") for file in modules(folder))


def code(folder: Path) -> int:
    """Lines that are not blank, comment, docstring or import."""
    return sum(_code(file) for file in modules(folder))


@cache
def _code(file: Path) -> int:
    return sum(1 for _ in _coded(file.read_text("utf-8")))


def _coded(text: str) -> Iterator[str]:
    left_out = set[int]()
    for node in ast.walk(ast.parse(text)):
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
        ("modules", 134),
        ("modules of papers", 64),
        ("lines", 41996),
        ("lines outside papers", 13214),
        ("code", 25761),
        ("code of papers a claim", 54),
        ("lines of tests", 20471),
        ("pages", 34),
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
        "lines of tests": lambda: lines(TESTS),
        "pages": lambda: len(pages.in_order(CHAPTERS)),
    }[what]()
    assert found <= bar, f"{found} {what}: the bar is {bar}"
    assert found >= (1.0 - SLACK) * bar, f"{found} {what}: lower the bar, {bar}"


def rooms_of(notebook: Path) -> set[str]:
    """The modules of its paper that a page imports."""
    found = set[str]()
    for cell in pages.code_cells(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            module = (isinstance(node, ast.ImportFrom) and node.module) or ""
            if module.startswith("reluflow.papers."):
                inner = module.split(".")[3:]
                found |= {inner[0]} if inner else {name.name for name in node.names}
    return found


MORE = {
    "01_support_vectors.ipynb": 7, "01_support_vectors/examples.ipynb": 4,
    "01_support_vectors/geometry.ipynb": 4,
    "01_support_vectors/norm.ipynb": 4,
    "02_magnitude_angle/descent.ipynb": 5, "02_magnitude_angle/experiments.ipynb": 5,
    "02_magnitude_angle/laws.ipynb": 4, "02_magnitude_angle/layers.ipynb": 4,
    "03_early_alignment/alignment.ipynb": 4,
    "04_orthogonal_separability/cnn.ipynb": 4, "04_orthogonal_separability/limit.ipynb": 4,
    "04_orthogonal_separability.ipynb": 7,
    "05_margin_maximization/counterexamples.ipynb": 5,
    "05_margin_maximization/suboptimality.ipynb": 5,
    "05_margin_maximization/tables.ipynb": 4,
    "01_support_vectors/starts.ipynb": 5,
}  # fmt: skip
"""Pages that stand on more modules than they should; an entry that is too large is lowered."""


@pytest.mark.parametrize("page", pages.in_order(CHAPTERS), ids=pages.name)
def test_a_page_stands_on_few_modules(page: Path) -> None:
    """Its own, what its chapter shares, its pictures; the main page of a chapter on more."""
    bar, name = 6 if pages.sections(page) else 3, pages.name(page)
    found = len(rooms_of(page))
    assert found <= MORE.get(name, bar)
    assert name not in MORE or found == MORE[name]
