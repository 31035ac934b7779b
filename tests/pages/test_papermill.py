"""The chapters as papermill runs them, on a reader's own input and on bad input."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from papermill import execute_notebook
from papermill.exceptions import PapermillExecutionError
from reluflow import pages

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = ROOT / "chapters" / "01_support_vectors.ipynb"
SECOND = ROOT / "chapters" / "02_magnitude_angle.ipynb"
GOOD = "x1,x2,y\n0.9,0.1,0.6\n0.4,0.9,0.9\n0.7,0.2,1.9\n"

EARLY = 2
"""Code cells: the parameters and the check."""

pytestmark = pytest.mark.long


def own_data(n: int, d: int) -> str:
    """n random samples inside A1 and A2."""
    rng = np.random.default_rng([n, d])
    table = np.hstack([rng.uniform(0, 1, (n, d)), rng.uniform(0.1, 3, (n, 1))])
    header = ",".join([*(f"x{k}" for k in range(1, d + 1)), "y"])
    return "\n".join([header, *(",".join(f"{v:.4f}" for v in row) for row in table)]) + "\n"


@pytest.mark.parametrize(
    ("chapter", "figures", "values"),
    [
        (CHAPTER, {"figure-3a"}, {"dataset": "my.csv", "seed": 5}),
        (SECOND, {"figure-1", "figure-2"},
         {"layers": [4], "norms": [0.5], "n": 500, "d": 5, "steps": 1000}),
    ],
)  # fmt: skip
def test_own_input_is_drawn(chapter, figures, values, tmp_path, monkeypatch, capsys):
    """`tests/papers/test_pages.py` runs these chapters on other input without their figures."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.csv").write_text(own_data(8, 3), encoding="utf-8")
    cells = pages.code_cells(chapter)
    drawn = [k for k, cell in enumerate(cells) if any(f'"{f}"' in cell.source for f in figures)]
    needed = {cell.id for k in drawn for cell in pages.needed(cells, k)}
    names: dict[str, Any] = {}
    for cell in (cell for cell in cells if cell.id in needed):
        exec(cell.source, names)
        names.update(values if cell is cells[0] else {})
    shown = set(re.findall("<Figure (.*)>", capsys.readouterr().out))
    assert figures <= shown


@pytest.mark.parametrize(
    ("text", "values", "sentence"),
    [
        ("x1,x2,y\n1,-2,3\n4,5,6\n", {}, "assumption A1 (x_i >= 0, x_i != 0) fails in data row 1"),
        (GOOD, {"initial_points": [[1, 2, 3]]}, "initial_points: point 1 has 3 coordinates"),
        (own_data(1001, 8), {}, "too many to enumerate"),
    ],
    ids=["A1", "other dimension", "cells"],
)
def test_bad_input_is_refused_before_anything_is_computed(
    text: str, values: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "my.csv").write_text(text, encoding="utf-8")
    values = {"dataset": "my.csv", **values}
    _, failed = pages.run(pages.code_cells(CHAPTER)[:EARLY], tmp_path, values)
    assert " InputError in " in failed[0]
    assert sentence in failed[0]


def test_the_sentence_is_the_last_line_of_the_error(tmp_path: Path) -> None:
    with pytest.raises(PapermillExecutionError) as caught:
        execute_notebook(CHAPTER, tmp_path / "out.ipynb", {"datset": "my.csv"}, progress_bar=False)
    # papermill's own words come first, which are not ours to change.
    told = str(caught.value)
    last = told.rstrip().splitlines()[-1]
    assert last == 'InputError: unknown parameter "datset": did you mean "dataset"?'
    # No stack of the chapter's or the library's calls, neither here nor in the notebook.
    assert "Cell In[" not in told
    assert f"reluflow{os.sep}" not in told
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    shown = [output for cell in cells for output in cell.get("outputs", [])]
    assert [out.traceback for out in shown if out.output_type == "error"] == [[last]]
