"""The chapters with papermill, as in the README, on a reader's own input and on bad input."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import nbformat
import numpy as np
import pytest
from guards import error_outputs, stderr_outputs
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from papermill.cli import papermill as command_line
from reluflow import pages
from reluflow.ledger.rows import RECORD

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = ROOT / "chapters" / "01_support_vectors.ipynb"
SECOND = ROOT / "chapters" / "02_magnitude_angle.ipynb"
OWN_FIGURES = ("ma.fig1", "ma.fig2")
# What the cells name that compute from a reader's input, and a claim that does not depend on it.
NAMED = ("experiment", "trained_runs", *OWN_FIGURES, "ma.thm4.1.1")
GOOD = "x1,x2,y\n0.9,0.1,0.6\n0.4,0.9,0.9\n0.7,0.2,1.9\n"

pytestmark = pytest.mark.long


def papermill(
    folder: Path, *arguments: str, chapter: Path = CHAPTER
) -> subprocess.CompletedProcess[str]:
    """Run a chapter in `folder`, where the reader's CSV lies, without activating anything."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MPLBACKEND", "VIRTUAL_ENV")}
    command = [str(Path(sys.executable).parent / "papermill"), "--no-progress-bar"]
    return subprocess.run(
        [*command, str(chapter), "out.ipynb", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def result(folder: Path) -> NotebookNode:
    return nbformat.read(folder / "out.ipynb", as_version=4)


def cut(chapter: Path, chosen: Collection[str], folder: Path) -> Path:
    """Write a copy of a chapter with these of its code cells alone, by their ids; none has run."""
    notebook = nbformat.read(chapter, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.id in chosen]
    for cell in notebook.cells:
        cell.update(outputs=[], execution_count=None)
    nbformat.write(notebook, folder / chapter.name)
    return folder / chapter.name


def of_the_input(chapter: Path) -> list[str]:
    """The ids of the code cells that compute from the reader's input, and of what these need."""
    return [
        cell.id
        for cell in pages.code_cells(chapter)
        if cell.id.startswith(("parameters", "imports"))
        or any(name in cell.source for name in NAMED)
    ]


def outputs(notebook: NotebookNode) -> list[NotebookNode]:
    return [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]


def own_data(n: int, d: int) -> str:
    """n random samples inside A1 and A2."""
    rng = np.random.default_rng([n, d])
    table = np.hstack([rng.uniform(0, 1, (n, d)), rng.uniform(0.1, 3, (n, 1))])
    header = ",".join([*(f"x{k}" for k in range(1, d + 1)), "y"])
    return "\n".join([header, *(",".join(f"{v:.4f}" for v in row) for row in table)]) + "\n"


def test_own_data(tmp_path: Path) -> None:
    """The whole chapter with another seed; `tests/papers/test_pages.py` has more data."""
    (tmp_path / "my.csv").write_text(own_data(20, 3), encoding="utf-8")
    run = papermill(
        tmp_path, *["-p", "dataset", "my.csv", "-p", "effort", "0.1", "-p", "seed", "5"]
    )
    assert run.returncode == 0, run.stderr
    notebook = result(tmp_path)
    assert error_outputs(notebook) == []
    assert stderr_outputs(notebook) == []
    shown = outputs(notebook)
    assert any("image/svg+xml" in out.get("data", {}) for out in shown)
    rows = [out.data[RECORD] for out in shown if RECORD in out.get("data", {})]
    verdicts = {row["id"]: row["verdict"] for row in rows}
    assert verdicts["sv.ex5.1.a"] == "not-applicable"


EARLY = 3  # code cells: the parameters, what papermill injects, and the check


@pytest.mark.parametrize(
    ("text", "arguments", "sentence"),
    [
        (GOOD, ["-p", "datset", "my.csv"], 'unknown parameter "datset": did you mean "dataset"?'),
        (None, ["-p", "dataset", "my.csv"], 'dataset: there is no file "my.csv".'),
        ("x1,x2,y\n1,2,3\n4,nan,6\n", [], "my.csv, data row 2 (counted from 1 below the header)"),
        ("x1,x2,y\n1,-2,3\n4,5,6\n", [], "assumption A1 (x_i >= 0, x_i != 0) fails in data row 1"),
        (GOOD, ["-y", "initial_points: [[1, 2, 3]]"], "initial_points: point 1 has 3 coordinates"),
        (own_data(1001, 8), [], "too many to enumerate"),
    ],
    ids=["misspelt name", "missing file", "nan", "A1", "starts of another dimension", "cells"],
)
def test_bad_input(
    text: str | None, arguments: list[str], sentence: str, tmp_path: Path, kernel: NotebookClient
) -> None:
    if text is not None:
        (tmp_path / "my.csv").write_text(text, encoding="utf-8")
    assert_refused(
        refused(kernel, tmp_path, CHAPTER, "-p", "dataset", "my.csv", *arguments), sentence
    )


@pytest.fixture(scope="module")
def kernel() -> Iterator[NotebookClient]:
    """The kernel that all bad input goes to: its start and its imports are most of such a run."""
    client = NotebookClient(new_notebook(), kernel_name="python3")
    with client.setup_kernel():
        yield client


def refused(kernel: NotebookClient, folder: Path, chapter: Path, *arguments: str) -> NotebookNode:
    """Run what papermill makes of a chapter in `folder`, until a cell raises an error."""
    first = [cell.id for cell in pages.code_cells(chapter)[: EARLY + 1]]
    short, out = cut(chapter, first, folder), folder / "out.ipynb"
    given = ["--prepare-only", "--no-progress-bar", *arguments]
    command_line.main([str(short), str(out), *given], standalone_mode=False)
    kernel.nb = result(folder)
    kernel.nb.cells.insert(0, new_code_cell(f"%reset -f\n%cd -q {folder}"))
    with pytest.raises(CellExecutionError):
        run_cells(kernel)
    del kernel.nb.cells[0]
    return kernel.nb


def run_cells(kernel: NotebookClient) -> None:
    """Run the cells of its notebook in a kernel that runs already."""
    for position, cell in enumerate(kernel.nb.cells):
        kernel.execute_cell(cell, position)


def assert_refused(notebook: NotebookNode, sentence: str) -> None:
    """The run failed early, with one sentence and no stack of ours."""
    errors = [out for out in outputs(notebook) if out.output_type == "error"]
    ((told,),) = [out.traceback for out in errors]
    assert told.startswith("InputError: ")
    assert sentence in told
    ran = [c for c in notebook.cells if c.cell_type == "code" and c.execution_count is not None]
    assert 0 < len(ran) <= EARLY


def test_the_sentence_is_the_last_line_of_the_command(tmp_path: Path) -> None:
    run = papermill(tmp_path, "-y", "{datset: my.csv}")
    assert run.returncode != 0
    # papermill puts its own stack first, which is not ours to change; the sentence comes last.
    last = run.stderr.rstrip().splitlines()[-1]
    assert last.startswith("InputError: ")
    # No stack of the chapter's or the library's calls, neither here nor in the notebook.
    assert "Cell In[" not in run.stderr
    assert f"reluflow{os.sep}" not in run.stderr.replace(str(ROOT), "")
    notebook = result(tmp_path)
    assert_refused(notebook, 'unknown parameter "datset": did you mean "dataset"?')
    assert [out.traceback for out in outputs(notebook) if out.output_type == "error"] == [[last]]


SHORT = "{layers: [4], norms: [0.5], n: 500, d: 5, steps: 1000, effort: 0.1}"
POPULATION = "{layers: [1, 3], norms: [1], steps: 500, data: population, seed: 3, effort: 0.1}"


@pytest.mark.parametrize(("values", "whole"), [(SHORT, False), (POPULATION, True)])
def test_own_network(values: str, whole: bool, tmp_path: Path) -> None:
    """The chapter once with another seed, else the part of it that trains the networks."""
    chapter = SECOND if whole else cut(SECOND, of_the_input(SECOND), tmp_path)
    run = papermill(tmp_path, "-y", values, chapter=chapter)
    assert run.returncode == 0, run.stderr
    notebook = result(tmp_path)
    assert error_outputs(notebook) == []
    assert stderr_outputs(notebook) == []
    rows = [out.data[RECORD] for out in outputs(notebook) if RECORD in out.get("data", {})]
    verdicts = {row["id"]: row["verdict"] for row in rows}
    assert {id: verdicts.get(id) for id in OWN_FIGURES} == dict.fromkeys(
        OWN_FIGURES, "not-applicable"
    )
    assert verdicts["ma.thm4.1.1"] == "refuted"


def test_bad_network(tmp_path: Path, kernel: NotebookClient) -> None:
    notebook = refused(kernel, tmp_path, SECOND, "-y", "{data: mnist}")
    assert_refused(notebook, 'parameter "data" must be "empirical" or "population", not')
