"""What nbval by itself passes over, changed by hand, fails the comparison with a new run."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from machines import NATIVE, nbval
from nbformat.v4 import new_code_cell, new_notebook
from pictures import alike
from reluflow import refresh
from reluflow.figures import panels
from reluflow.figures.vector import SVG, svg

HEAD = """
from matplotlib import pyplot as plt
from myst_nb import glue
from reluflow.figures import show
def drawn(slope):
    fig, ax = plt.subplots(figsize=(3, 2))
    ax.plot([0, 1], [0, slope])
    ax.set_ylim(0, 2)
    return fig
"""
CELLS = (
    HEAD,
    'show(drawn(1.0), "replaced", alt="A line")',
    'show(drawn(1.5), "other", alt="A line")',
    'show(drawn(1.0), "described", alt="A line that rises")',
    'show(drawn(1.0), "stacked", alt="A line")',
    "glue('low', 0.1, display=False)\nglue('high', 0.2, display=False)",
)


@pytest.mark.long
def test_pictures_descriptions_and_names_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "small.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(text) for text in CELLS]), path)
    refresh.main([str(path)])
    notebook = nbformat.read(path, as_version=4)
    _, replaced, other, described, stacked, glued = notebook.cells
    replaced.outputs[0].data[SVG] = other.outputs[0].data[SVG]
    stacked.outputs[0].metadata[SVG]["narrow"] = other.outputs[0].metadata[SVG]["narrow"]
    described.outputs[0].metadata[SVG]["alt"] = "A line that falls"
    low, high = (output.metadata["scrapbook"] for output in glued.outputs)
    low["name"], high["name"] = high["name"], low["name"]
    nbformat.write(notebook, path)
    run = nbval(path, NATIVE)
    assert run.returncode == 1
    assert "4 failed, 2 passed" in run.stdout, run.stdout


@pytest.fixture(scope="module")
def page() -> str:
    """A line, and an axis whose ticks have a sign."""
    fig, (ax,) = panels(height=2.0)
    ax.plot([-1, 1], [-1, 1], label="line")
    return svg(fig)


def moved(by: float, page: str) -> str:
    """Every number of every path, moved."""
    shift = re.compile(r"(?<=[LM] )-?[\d.]+")
    return shift.sub(lambda x: f"{float(x[0]) + by:.2f}", page)


def test_rounding_of_a_picture_is_let_pass(page: str) -> None:
    assert alike(page, moved(0.01, page))
    assert alike(page, re.sub(r"(?<=#)m[0-9a-f]{10}|(?<=\")m[0-9a-f]{10}", "m0123456789", page))


@pytest.mark.parametrize(
    "change",
    [
        lambda p: moved(2.0, p),
        lambda p: p.replace("<!-- −1.0 -->", "<!-- 1.0 -->", 1),
        lambda p: re.sub(r'<use xlink:href="#DejaVuSans-c9c"[^>]*/>', "", p, count=1),
        lambda p: p.replace('#DejaVuSans-14"', '#DejaVuSans-15"', 1),
        lambda p: p.replace('viewBox="0 0 504', 'viewBox="0 0 500'),
        lambda p: p.replace("#1f77b4", "#1f77b5"),
        lambda p: re.sub(r'L [\d. ]+(?=" clip-path)', "", p),
        lambda p: p.replace("stroke-linecap: square", "stroke-dasharray: 5"),
        lambda p: "aGk=",
    ],
    ids=["moved", "word", "sign", "letter", "size", "colour", "shorter", "line", "none"],
)
def test_another_picture_is_not(page: str, change) -> None:
    assert change(page) != page
    assert not alike(page, change(page))
