"""One run of a sweep, on a worker: the page by papermill in a kernel of its own, and its row.

A run is stored whole or not at all, its notebook first and its row last: what has a row is done.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec
import nbformat
from jupyter_core.utils import ensure_event_loop
from papermill import execute_notebook
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from reluflow import ledger, pages
from reluflow.errors import InputError
from reluflow.ledger.evidence import Evidence
from reluflow.places import LIBRARY
from reluflow.sweep.plan import code_digest

DONE, FAILED, DIED = "done", "failed", "died"
"""A run that ended, one in which a cell raised an error, one whose kernel was killed."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Store:
    """The folder of a sweep, at any address that fsspec takes."""

    url: str

    def write(self, name: str, data: bytes) -> None:
        """Store a file, whole or not at all: under another name first."""
        system, path = self._at(name)
        beside = f"{path}.{uuid4().hex}.part"
        try:
            system.pipe_file(beside, data)
            system.mv(beside, path)
        except BaseException:
            with suppress(OSError):
                system.rm_file(beside)
            raise

    def read(self, name: str) -> bytes:
        """The bytes of a file; FileNotFoundError where there is none."""
        system, path = self._at(name)
        return bytes(system.cat_file(path))

    def names(self, folder: str = "") -> list[str]:
        """The names of what lies in a folder, sorted; none where there is no folder."""
        system, path = self._at(folder)
        system.invalidate_cache()
        try:
            return sorted(Path(each).name for each in system.ls(path, detail=False))
        except FileNotFoundError:
            return []

    def make(self) -> None:
        """Make the folder, and remove what a killed run left unfinished."""
        system, path = self._at("runs")
        system.makedirs(path, exist_ok=True)
        for name in self.names("runs"):
            if name.endswith(".part"):
                system.rm_file(f"{path}/{name}")

    def _at(self, name: str) -> tuple[Any, str]:
        system, root = fsspec.core.url_to_fs(self.url)
        return system, f"{root.rstrip('/')}/{name}".rstrip("/")


def run(
    store: Store, name: str, key: str, code: str, point: Mapping[str, Any], folder: str
) -> dict[str, Any]:
    """Run a page with one set of parameters and store its notebook and its row; return the row.

    Parameters: `name` of the page in `store`; `key` of the run; the digest of its `code`; `point`,
    its parameters; `folder` in which it runs.
    A page that fails has a row, too. Raises InputError where this worker has another library than
    the sweep, OSError where the run cannot be stored; then it is not done.
    """
    source = store.read(name).decode()
    _same_code(source, code)
    with tempfile.TemporaryDirectory() as place:
        page = Path(place, "page.ipynb")
        page.write_text(source, "utf-8")
        began = time.perf_counter()
        status, told = _executed(page, point, folder)
        spent = time.perf_counter() - began
        notebook = nbformat.read(page, as_version=4)
        names = {"input_path": name, "output_path": f"{key}.ipynb"}
        notebook.metadata["papermill"] = notebook.metadata.get("papermill", {}) | names
        try:
            verdicts, evidence, limits = settled(page)
        except ledger.LedgerError as error:
            status, told, verdicts, evidence, limits = FAILED, str(error), {}, {}, {}
    _same_code(source, code)
    row = {
        "key": key,
        "code": code,
        "status": status,
        "error": told,
        "seconds": round(spent, 2),
        "parameters": dict(point),
        "verdicts": verdicts,
        "evidence": evidence,
        "limits": limits,
    }
    store.write(f"runs/{key}.ipynb", nbformat.writes(notebook).encode())
    store.write(f"runs/{key}.json", json.dumps(row, ensure_ascii=False).encode())
    return row


def settled(notebook: Path) -> tuple[dict[str, str], dict[str, float], dict[str, float]]:
    """The verdicts of an executed notebook by claim; every number measured, by claim and what was
    measured, and every one that it glues, by its name; and the limits that some have."""
    verdicts: dict[str, str] = {}
    numbers: dict[str, float] = {}
    limits: dict[str, float] = {}
    for row in ledger.read(notebook):
        verdicts[row.claim.id] = row.verdict
        for item in (each for each in row.all_evidence if each.what != "seed"):
            for name, value in _numbers(row.claim.id, item):
                while name in numbers:
                    name += "'"
                numbers[name] = value
                with suppress(TypeError, ValueError):
                    limits[name] = float(item.limit)
    for name, data in pages.glued(pages.code_cells(notebook)).items():
        with suppress(ValueError):  # words, or a picture
            numbers[f"glued: {name}"] = float(data.get("text/plain", ""))
    return verdicts, numbers, limits


def _numbers(id: str, item: Evidence) -> Iterator[tuple[str, float]]:
    """The numbers of one piece of evidence; of one that has none, whether it holds."""
    name = f"{id}: {item.what}{f' [{item.unit}]' if item.unit else ''}"
    listed = isinstance(item.value, tuple)
    values = item.value if listed else (item.value,)
    try:
        told = [float(value) for value in values]
    except (TypeError, ValueError):  # words, or lists in lists
        told, listed = ([float(item.holds)] if item.decides else []), False
    for k, value in enumerate(told, 1):
        yield (f"{name} ({k})" if listed else name), value


def _same_code(source: str, code: str) -> None:
    if code_digest(source) != code:
        raise InputError(
            "a worker has another library, other packages or other data than the sweep began with: "
            "let no file of the book change while it runs, and give every worker the same one."
        )


def _executed(page: Path, point: Mapping[str, Any], folder: str) -> tuple[str, str]:
    """Execute a page in its place, in a kernel with one thread of BLAS and with this library. It is
    reached by files, for of kernels that start at once two may be given the same port; it ends with
    this process, which it watches."""
    paths = [str(LIBRARY.parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, dict.fromkeys(paths)))
    os.environ.update(pages.ONE_THREAD)
    try:
        execute_notebook(
            page,
            page,
            dict(point),
            kernel_name="python3",
            progress_bar=False,
            request_save_on_cell_execute=False,  # a second for each run of many cells
            # The kernel's folder; papermill's own `cwd` is that of the process, of all threads.
            resources={"metadata": {"path": folder}},
            config=Config(KernelManager={"transport": "ipc", "ip": str(page.with_name("kernel"))}),
            extra_arguments=["--log-level=50"],  # its stderr is the worker's
        )
    except PapermillExecutionError as error:
        return FAILED, _COLOUR.sub("", "\n".join(error.traceback))
    except RuntimeError as error:  # nbclient's DeadKernelError, or it died as it started
        return DIED, str(error)
    finally:
        ensure_event_loop().close()  # nbclient's, one a thread
    return DONE, ""
