"""`python -m reluflow.refresh [NOTEBOOK ...]`: run notebooks and store their outputs in place.

What is stored depends on the sources alone: no times of execution, no versions of the machine's
Python, so that a new run of an unchanged chapter changes no byte but those of its pictures.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
# The kernel that comes with the Python that runs this, under the name that every Jupyter knows.
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}


def refresh(path: Path) -> None:
    """Run one notebook from top to bottom in a new kernel, in its own folder, and store it.

    Raises nbclient's CellExecutionError when a cell fails; the file then stays as it was.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name=KERNEL["name"],
        timeout=None,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    notebook.metadata = nbformat.NotebookNode(kernelspec=KERNEL, language_info=LANGUAGE)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    nbformat.write(notebook, path)


def main(arguments: Sequence[str]) -> None:
    """Refresh the notebooks named, or all chapters in order and the scoreboard after them."""
    paths = [Path(name) for name in arguments] or sorted(CHAPTERS.glob("*.ipynb"))
    for path in paths:
        print(path.name, flush=True)
        refresh(path)


if __name__ == "__main__":
    main(sys.argv[1:])
