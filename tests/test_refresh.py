from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from reluflow.places import LIBRARY
from reluflow.refresh import refresh


def test_a_notebook_is_run_by_the_library_that_refreshes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative PYTHONPATH means another folder in the kernel, where another checkout may wait."""
    other = tmp_path / "lib" / "reluflow"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    path = tmp_path / "page.ipynb"
    nbformat.write(
        new_notebook(cells=[new_code_cell("import reluflow; print(reluflow.__path__[0])")]), path
    )
    monkeypatch.setenv("PYTHONPATH", "lib")
    refresh(path)
    (cell,) = nbformat.read(path, as_version=4).cells
    assert cell.outputs[0].text.strip() == str(LIBRARY)
