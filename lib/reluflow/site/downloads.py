"""What a page offers to save: its notebook, whose first cell says what it needs, and the library.

The wheel lies in the folder of the built pages. The notebook, without outputs, lies in the address
of its link: read from a folder, a browser would open a notebook's file as text and not save it.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from reluflow import pages
from reluflow.ledger.cards import CHECKS
from reluflow.ledger.rows import RECORD
from reluflow.places import BIBLIOGRAPHY, BOOK, CARRIED, CHAPTERS, LIBRARY

# --- The library as a wheel that needs no repository: it carries data, and the rows of notebooks --

_BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def build(output: Path) -> None:
    """Build the wheel of the library into a folder; an ExtensionError where that fails."""
    for earlier in output.glob("reluflow-*.whl"):
        earlier.unlink()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as stage:
        library = Path(stage) / LIBRARY.name
        shutil.copytree(LIBRARY, library, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(LIBRARY.parent / "pyproject.toml", stage)
        shutil.copytree(BOOK / "data", library / CARRIED / "data")
        (library / CARRIED / "chapters").mkdir()
        shutil.copy(BIBLIOGRAPHY, library / CARRIED / "chapters")
        for file in pages.in_order(CHAPTERS):
            bare = library / CARRIED / file.relative_to(BOOK)
            bare.parent.mkdir(exist_ok=True)
            bare.write_text(json.dumps(_rows_only(file)), encoding="utf-8")
        command = [sys.executable, "-c", _BUILD, str(output.resolve())]
        run = subprocess.run(command, cwd=stage, capture_output=True, text=True, check=False)
    if run.returncode:
        said = (run.stdout + run.stderr)[-2000:]
        raise ExtensionError(f"the library's wheel could not be built: {said}")


def _rows_only(file: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if "outputs" in cell:
            cell["outputs"] = [o for o in cell["outputs"] if RECORD in o.get("data", {})]
    return notebook


NEEDS = (
    "This notebook needs Python 3.11 or newer and the library that the book's pages offer beside "
    'it: save both in one folder and run `pip install "./{wheel}[notebook]"` there.'
)


def begin(app: Sphinx) -> None:
    """Build the wheel, and lay the errata's checks beside their pages."""
    if app.builder.format == "html":
        build(Path(app.outdir))
        shutil.copytree(CHECKS, Path(app.outdir) / "chapters/errata/checks", dirs_exist_ok=True)


def offer(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Tell the template what a page has to offer: names, addresses, words and icons."""
    source = Path(app.srcdir) / f"{page}.ipynb"
    context["downloads"] = []
    if not source.is_file():
        return
    notebook = nbformat.read(source, as_version=4)
    if not any("parameters" in cell.metadata.get("tags", []) for cell in notebook.cells):
        return  # it shows what the others found, and has nothing of its own to run again
    name = f"{page.removeprefix('chapters/').replace('/', '-')}.ipynb"
    (wheel,) = (file.name for file in Path(app.outdir).glob("reluflow-*.whl"))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    needs = nbformat.v4.new_markdown_cell(NEEDS.format(wheel=wheel), id="needs")
    notebook.cells.insert(0, needs)
    encoded = base64.b64encode(nbformat.writes(notebook).encode()).decode()
    address = f"data:application/x-ipynb+json;base64,{encoded}"
    context["downloads"] = [
        (name, address, "Notebook (.ipynb)", "fas fa-code"),
        (wheel, context["pathto"](wheel, 1), "Library (.whl)", "fas fa-cube"),
    ]


def repository_buttons(app: Sphinx, config: Any) -> None:
    """Show the buttons that lead to the repository where `_config.yml` has its address."""
    if config.html_theme_options.get("repository_url"):
        kinds = ("repository", "source", "edit_page", "issues")
        config.html_theme_options |= {f"use_{kind}_button": True for kind in kinds}
