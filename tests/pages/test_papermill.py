"""The chapters with papermill, as in the README, on a reader's own input and on bad input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from guards import error_outputs, stderr_outputs
from nbformat import NotebookNode
from reluflow import pages
from reluflow.ledger.rows import RECORD

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = ROOT / "chapters" / "01_support_vectors.ipynb"
SECOND = ROOT / "chapters" / "02_magnitude_angle.ipynb"
GOOD = "x1,x2,y\n0.9,0.1,0.6\n0.4,0.9,0.9\n0.7,0.2,1.9\n"

EARLY = 2
"""Code cells: the parameters and the check."""

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


def outputs(folder: Path) -> list[NotebookNode]:
    cells = nbformat.read(folder / "out.ipynb", as_version=4).cells
    return [out for cell in cells if cell.cell_type == "code" for out in cell.outputs]


def own_data(n: int, d: int) -> str:
    """n random samples inside A1 and A2."""
    rng = np.random.default_rng([n, d])
    table = np.hstack([rng.uniform(0, 1, (n, d)), rng.uniform(0.1, 3, (n, 1))])
    header = ",".join([*(f"x{k}" for k in range(1, d + 1)), "y"])
    return "\n".join([header, *(",".join(f"{v:.4f}" for v in row) for row in table)]) + "\n"


@pytest.mark.parametrize(
    ("chapter", "values", "verdicts"),
    [
        (CHAPTER, "{dataset: my.csv, effort: 0.1, seed: 5}", {"sv.ex5.1.a": "not-applicable"}),
        (SECOND, "{layers: [4], norms: [0.5], n: 500, d: 5, steps: 1000, effort: 0.1, seed: 3}",
         {"ma.fig1": "not-applicable", "ma.fig2": "not-applicable", "ma.thm4.1.1": "refuted"}),
    ],
)  # fmt: skip
def test_own_input(chapter: Path, values: str, verdicts: dict[str, str], tmp_path: Path) -> None:
    """A whole chapter with another seed and its figures, which `tests/papers/test_pages.py` leaves
    out."""
    (tmp_path / "my.csv").write_text(own_data(20, 3), encoding="utf-8")
    run = papermill(tmp_path, "-y", values, chapter=chapter)
    assert run.returncode == 0, run.stderr
    notebook = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert error_outputs(notebook) == stderr_outputs(notebook) == []
    shown = [out.get("data", {}) for out in outputs(tmp_path)]
    assert any("image/svg+xml" in data for data in shown)
    found = {data[RECORD]["id"]: data[RECORD]["verdict"] for data in shown if RECORD in data}
    assert {id: found[id] for id in verdicts} == verdicts


@pytest.mark.parametrize(
    ("chapter", "text", "values", "sentence"),
    [
        (CHAPTER, "", {"dataset": "no.csv"}, 'dataset: there is no file "no.csv".'),
        (CHAPTER, "x1,x2,y\n1,2,3\n4,nan,6\n", {"dataset": "my.csv"},
         "my.csv, data row 2 (counted from 1 below the header)"),
        (CHAPTER, "x1,x2,y\n1,-2,3\n4,5,6\n", {"dataset": "my.csv"},
         "assumption A1 (x_i >= 0, x_i != 0) fails in data row 1"),
        (CHAPTER, GOOD, {"dataset": "my.csv", "initial_points": [[1, 2, 3]]},
         "initial_points: point 1 has 3 coordinates"),
        (CHAPTER, own_data(1001, 8), {"dataset": "my.csv"}, "too many to enumerate"),
        (SECOND, "", {"data": "mnist"}, 'parameter "data" must be "empirical" or "population"'),
    ],
    ids=["missing file", "nan", "A1", "other dimension", "cells", "network"],
)  # fmt: skip
def test_bad_input_is_refused_before_anything_is_computed(
    chapter: Path, text: str, values: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "my.csv").write_text(text, encoding="utf-8")
    _, failed = pages.run(pages.code_cells(chapter)[:EARLY], tmp_path, values)
    assert " InputError in " in failed[0]
    assert sentence in failed[0]


def test_the_sentence_is_the_last_line_of_the_command(tmp_path: Path) -> None:
    run = papermill(tmp_path, "-y", "{datset: my.csv}")
    assert run.returncode != 0
    # papermill puts its own stack first, which is not ours to change; the sentence comes last.
    last = run.stderr.rstrip().splitlines()[-1]
    assert last == 'InputError: unknown parameter "datset": did you mean "dataset"?'
    # No stack of the chapter's or the library's calls, neither here nor in the notebook.
    assert "Cell In[" not in run.stderr
    assert f"reluflow{os.sep}" not in run.stderr.replace(str(ROOT), "")
    errors = [out.traceback for out in outputs(tmp_path) if out.output_type == "error"]
    assert errors == [[last]]
