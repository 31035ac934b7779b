"""`python -m reluflow.refresh [NOTEBOOK ...]`: run notebooks and store their outputs in place.

What is stored depends on the sources alone: no times of execution, no versions of the machine's
Python, so that a new run of an unchanged chapter changes no byte but those of its pictures.

A notebook is written beside itself and put in its place when it is whole: whatever stops a run, the
file is the old one or the new one.

A digest of every cell, sources and outputs, is stored with them. It proves nothing, for anybody can
compute it. It tells the tests of a change by hand after the run, of a word or a picture.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from reluflow import pages
from reluflow.errors import InputError
from reluflow.parameters import Parser
from reluflow.places import CHAPTERS, LIBRARY
from reluflow.records import write

README_PICTURE = CHAPTERS / "images" / "readme.svg"
README_SHOWS = ("01_support_vectors.ipynb", "<Figure figure-3a>")
# The kernel that comes with the Python that runs this, under the name that every Jupyter knows.
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}


def refresh(path: Path) -> None:
    """Run one notebook from top to bottom in a new kernel, in its own folder, and store it.

    Raises nbclient's CellExecutionError when a cell fails, KeyboardInterrupt when a run is
    stopped by SIGINT or SIGTERM, InputError where the file is no notebook or cannot be written; it
    then stays as it was.
    """
    notebook = pages.read(path)
    client = NotebookClient(
        notebook,
        kernel_name=KERNEL["name"],
        timeout=None,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    # A relative PYTHONPATH would mean another folder there, and another checkout's library.
    outer = os.environ.get("PYTHONPATH")
    paths = os.pathsep.join(part for part in (str(LIBRARY.parent), outer) if part)
    try:
        client.execute(env={**os.environ, "PYTHONPATH": paths})
    except Exception:
        # The client answers Ctrl-C by ending the kernel, and then fails for want of one.
        if getattr(client, "_async_cleanup_kernel_future", None) is not None:
            raise KeyboardInterrupt from None
        raise
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    digest = NotebookNode(cells=cells_digest(notebook))
    notebook.metadata = NotebookNode(kernelspec=KERNEL, language_info=LANGUAGE, reluflow=digest)
    write(path, (nbformat.writes(notebook) + "\n").encode())
    if path.resolve() == CHAPTERS / README_SHOWS[0]:
        README_PICTURE.write_text(picture(notebook, README_SHOWS[1]), "utf-8")


def cells_digest(notebook: NotebookNode) -> str:
    """The SHA-256 of all cells as JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(notebook.cells, sort_keys=True).encode()).hexdigest()


def picture(notebook: NotebookNode, name: str) -> str:
    """The SVG of the output that shows itself in text as `name`; KeyError where there is none."""
    for output in (o for cell in notebook.cells for o in cell.get("outputs", [])):
        if output.get("data", {}).get("text/plain") == name:
            return str(output.data["image/svg+xml"])
    raise KeyError(f"the notebook shows no {name}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Refresh the notebooks named, or all: a chapter after its sections. Return the exit status."""
    parser = Parser(prog="refresh", description="Run notebooks and store their outputs in place.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="all of the book's, if none")
    path = Path()
    try:
        for path in parser.parse_args(arguments).notebooks or pages.in_order(CHAPTERS):
            print(pages.name(path), flush=True)
            refresh(path)
    except KeyboardInterrupt:
        print(f"refresh: {path} is as it was: the run was stopped", file=sys.stderr)
        return 130
    except (InputError, OSError) as error:
        print(f"refresh: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
