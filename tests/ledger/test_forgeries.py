"""What nbval by itself passes over, changed by hand, fails the comparison with a new run."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import nbformat
import numpy as np
import pytest
from machines import NATIVE, nbval
from matplotlib.image import imsave
from nbformat.v4 import new_code_cell, new_notebook
from pictures import BLOCK, alike
from reluflow import refresh

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
    "glue('low', 0.1, display=False)\nglue('high', 0.2, display=False)",
)


def test_pictures_descriptions_and_names_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "small.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(text) for text in CELLS]), path)
    refresh.main([str(path)])
    notebook = nbformat.read(path, as_version=4)
    _, replaced, other, described, glued = notebook.cells
    replaced.outputs[0].data["image/png"] = other.outputs[0].data["image/png"]
    described.outputs[0].metadata["image/png"]["alt"] = "A line that falls"
    low, high = (output.metadata["scrapbook"] for output in glued.outputs)
    low["name"], high["name"] = high["name"], low["name"]
    nbformat.write(notebook, path)
    run = nbval(path, NATIVE)
    assert run.returncode == 1
    assert "3 failed, 2 passed" in run.stdout, run.stdout


def encoded(pixels: np.ndarray) -> str:
    file = io.BytesIO()
    imsave(file, pixels.astype(np.uint8), cmap="gray", vmin=0, vmax=255, format="png")
    return base64.b64encode(file.getvalue()).decode()


@pytest.fixture
def page() -> np.ndarray:
    """A white page whose last blocks are cut, with a line of three pixels."""
    pixels = np.full((100, 150), 255.0)
    pixels[40:43] = 0.0
    return pixels


def test_a_vanished_sign_is_seen(page: np.ndarray) -> None:
    """The minus of an index, eight pixels by two of a grey, anywhere."""
    for top, left in ((60, 20), (61, 23), (62, 90), (97, 141)):
        signed = page.copy()
        signed[top : top + 2, left : left + 8] = 120.0
        assert not alike(encoded(page), encoded(signed))


def test_rounding_of_a_picture_is_let_pass(page: np.ndarray) -> None:
    noise = np.random.default_rng(0).integers(0, 4, page.shape)
    assert alike(encoded(page), encoded(np.abs(page - noise)))


@pytest.mark.parametrize(
    "change",
    [
        lambda p: np.roll(p, BLOCK, axis=0),  # the line is elsewhere
        lambda p: np.where(np.arange(150) > 148, 255.0, p)[:, :149],  # another size
        lambda p: np.where(np.arange(150) >= 128, 255.0, p),  # the line ends sooner
        lambda p: np.full_like(p, 255.0),
        lambda p: 0.9 * p,
    ],
    ids=["moved", "cut", "shorter", "empty", "darker"],
)
def test_another_picture_is_not(page: np.ndarray, change) -> None:
    assert not alike(encoded(page), encoded(change(page)))
    assert not alike(encoded(page), "aGk=")
