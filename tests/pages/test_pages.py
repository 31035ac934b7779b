"""Cells of a notebook run in this process: which ones a cell needs, and what running them gives;
and notebooks run in a kernel, and stored."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from guards import complaints
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from reluflow import pages
from reluflow.places import LIBRARY
from reluflow.refresh import main, refresh

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
    cells.insert(6, new_code_cell("x += 1", id="again"))  # a name bound twice needs both
    chosen = [cell.id for cell in pages.needed(cells, 7)]
    assert chosen == ["parameters", "imports", "x", "y", "again", "last"]


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


# --- Refreshed ------------------------------------------------------------------------------------


def page(folder: Path, *sources: str) -> Path:
    cells = [new_code_cell(source) for source in sources]
    cells[0].metadata["tags"] = ["remove-input"]
    nbformat.write(new_notebook(cells=cells), folder / "page.ipynb")
    return folder / "page.ipynb"


def test_what_is_stored_comes_of_this_library_and_not_of_the_machine(tmp_path, monkeypatch):
    """A relative PYTHONPATH means another folder in the kernel, where another checkout may wait."""
    other = tmp_path / "lib" / "reluflow"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("another = True")
    path = page(tmp_path, "import reluflow", "print('another' in vars(reluflow))\n1 + 1")
    monkeypatch.setenv("PYTHONPATH", "lib")
    refresh(path)
    notebook, first = nbformat.read(path, as_version=4), path.read_bytes()
    assert notebook.cells[1].outputs[0].text == "False\n"
    assert complaints(notebook) == []
    refresh(path)
    assert path.read_bytes() == first


def test_what_is_no_notebook_and_a_full_disk_are_one_sentence(tmp_path, monkeypatch, capsys):
    path, other = page(tmp_path, "1 + 1"), tmp_path / "my.csv"
    before, whole = path.read_bytes(), Path.write_bytes
    other.write_text("x1,y")
    for argument, told in ((other, "is not a notebook."), ("none.ipynb", "cannot be read: No")):
        assert main([str(argument)]) == 1
        assert capsys.readouterr().err.startswith(f"refresh: {argument} {told}")
    other.unlink()

    def half(self: Path, data: bytes) -> int:
        whole(self, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(NotebookClient, "execute", lambda *given, **named: None)
    monkeypatch.setattr(Path, "write_bytes", half)
    assert main([str(path)]) == 1
    told = f"refresh: {path} cannot be written: No space left on device.\n"
    assert capsys.readouterr().err == told
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["page.ipynb"]


def test_a_page_that_fails_is_not_stored(tmp_path: Path) -> None:
    path = page(tmp_path, "1 + 1", "1 / 0")
    before = path.read_bytes()
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        refresh(path)
    assert path.read_bytes() == before


def test_a_run_that_is_stopped_ends_in_one_sentence(tmp_path: Path) -> None:
    """nbclient answers SIGTERM as it does SIGINT."""
    begun = tmp_path / "begun"
    wait = f"import pathlib, time; pathlib.Path({str(begun)!r}).touch(); time.sleep(600)"
    path = page(tmp_path, wait)
    before = path.read_bytes()
    paths = os.pathsep.join([str(LIBRARY.parent), os.environ.get("PYTHONPATH", "")])
    run = subprocess.Popen(
        [sys.executable, "-m", "reluflow.refresh", path.name],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    limit = time.monotonic() + 120
    while not begun.exists() and time.monotonic() < limit:
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=60)
    assert run.returncode == 130
    # Its threads may add lines of their own when the process ends.
    (line,) = (line for line in told.splitlines() if line.startswith("refresh: "))
    assert line == "refresh: page.ipynb is as it was: the run was stopped"
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["begun", "page.ipynb"]
