"""Cells of a notebook run in this process: which ones a cell needs, and what running them gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from reluflow import pages

SOURCES = {
    "parameters": "seed = 1",
    "imports": "import math\nfrom reluflow.figures import show",
    "other": "unused = 1 / 0",
    "x": "x = math.sqrt(seed)",
    "picture": "show(x, 'a name', alt='')",
    "y": "def y():\n    return x + 1",
    "last": "found = y()",
    "after": "found = None",
}


def test_sections_come_before_their_chapter(tmp_path: Path) -> None:
    """Only the folder named after a chapter holds sections: no copies, no checkpoints."""
    inside = ("02_two/b.ipynb", "02_two/a.ipynb", ".ipynb_checkpoints/x.ipynb", "old/02_two.ipynb")
    for name in ("scoreboard.ipynb", "02_two.ipynb", "01_one.ipynb", "02_two/a.csv", *inside):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = pages.in_order(tmp_path)
    names = ["01_one.ipynb", "02_two/a.ipynb", "02_two/b.ipynb", "02_two.ipynb", "scoreboard.ipynb"]
    assert found == [tmp_path / name for name in names]
    assert [pages.name(path) for path in found] == names
    assert pages.sections(tmp_path / "02_two.ipynb") == found[1:3]
    assert pages.name(tmp_path / "old" / "02_two.ipynb") == "02_two.ipynb"


@pytest.fixture
def cells() -> list[NotebookNode]:
    made = [new_code_cell(source, id=name) for name, source in SOURCES.items()]
    made[0].metadata["tags"] = ["parameters"]
    return made


def test_a_cell_needs_what_defines_its_names(cells: list[NotebookNode]) -> None:
    chosen = [cell.id for cell in pages.needed(cells, 6)]
    assert chosen == ["parameters", "imports", "x", "y", "last"]


def test_a_name_bound_twice_needs_both(cells: list[NotebookNode]) -> None:
    cells.insert(6, new_code_cell("x += 1", id="again"))
    assert "again" in [cell.id for cell in pages.needed(cells, 7)]
    assert "x" in [cell.id for cell in pages.needed(cells, 7)]


@pytest.mark.parametrize(
    ("source", "needs"),
    [("x = 2\nx + 1", False), ("x += 1", True), ("x = x + 1", True), ("if y:\n    x = 2\nx", True)],
)
def test_a_name_that_a_cell_binds_first_is_none_it_needs(cells, source, needs):
    chosen = pages.needed([*cells, new_code_cell(source, id="own")], len(cells))
    assert ("x" in [cell.id for cell in chosen]) is needs


def test_figures_are_left_out_and_failures_told_once(cells, tmp_path):
    cells.append(new_code_cell("unused + 1", id="follows"))
    names, (line,) = pages.run(cells, tmp_path, {})
    assert "cell other: ZeroDivisionError" in line
    assert names["found"] is None
