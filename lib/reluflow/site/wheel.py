"""The library as a wheel that needs no repository: it carries the inventory, the printed data, the
records, and the notebooks with the rows that they settle but without what else they show."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from reluflow import pages
from reluflow.ledger.display import RECORD
from reluflow.places import BIBLIOGRAPHY, BOOK, CARRIED, CHAPTERS, LIBRARY

_BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def start(stage: Path, output: Path) -> subprocess.Popen[str]:
    """Lay out the library in the empty folder `stage` and start to build its wheel into `output`,
    beside what else the caller has to do: half of the time would be spent waiting for files."""
    library = stage / LIBRARY.name
    shutil.copytree(LIBRARY, library, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(LIBRARY.parent / "pyproject.toml", stage)
    shutil.copytree(BOOK / "data", library / CARRIED / "data")
    (library / CARRIED / "chapters").mkdir()
    shutil.copy(BIBLIOGRAPHY, library / CARRIED / "chapters")
    for file in pages.in_order(CHAPTERS):
        bare = library / CARRIED / file.relative_to(BOOK)
        bare.parent.mkdir(exist_ok=True)
        bare.write_text(json.dumps(_rows_only(file)), encoding="utf-8")
    output.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-c", _BUILD, str(output.resolve())],
        cwd=stage,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _rows_only(file: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if "outputs" in cell:
            cell["outputs"] = [o for o in cell["outputs"] if RECORD in o.get("data", {})]
    return notebook
