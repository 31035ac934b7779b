"""A sweep on a real scheduler and two workers, each a process of its own, and what is killed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from reluflow.places import LIBRARY

pytestmark = pytest.mark.long
FEW = range(3)
# Each run says which process it is, and waits until it may go on.
CELLS = (
    "seed = 0\nwait = True",
    "import os, pathlib, time\npathlib.Path(f'pid-{seed}').write_text(str(os.getpid()))",
    "while wait and not pathlib.Path('go').exists():\n    time.sleep(0.05)",
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    page = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    page.cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(page, tmp_path / "page.ipynb")
    return tmp_path


@contextlib.contextmanager
def started(place: Path, module: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process in a session of its own, as from another terminal; killed at the end."""
    paths = [str(LIBRARY.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=place,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if module == "reluflow.sweep" else subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        # What runs the tests in the background may have told its children to ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        yield process
    finally:
        kill(process)
        process.wait(60)
        if process.stderr:
            process.stderr.close()


def kill(process: subprocess.Popen[str]) -> None:
    """End a process and its children at once, as a machine that loses its power."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def sweep(place: Path, *arguments: str) -> contextlib.AbstractContextManager:
    return started(place, "reluflow.sweep", *arguments)


@pytest.fixture
def cluster(place: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """A scheduler and two workers on this machine; the scheduler first."""
    file = str(place / "scheduler.json")
    own = ["--host", "127.0.0.1", "--no-dashboard"]
    with contextlib.ExitStack() as stack:
        scheduler = started(place, "distributed.cli.dask_scheduler", *own, "--port", "0",
                            "--scheduler-file", file)  # fmt: skip
        processes = [stack.enter_context(scheduler)]
        until(lambda: Path(file).exists() and Path(file).stat().st_size > 0)
        for _ in range(2):
            worker = started(place, "distributed.cli.dask_worker", *own, "--nthreads", "1",
                             "--scheduler-file", file)  # fmt: skip
            processes.append(stack.enter_context(worker))
        yield processes


def address(place: Path) -> list[str]:
    return ["--scheduler", json.loads((place / "scheduler.json").read_text())["address"]]


NEW = ("page.ipynb", "--grid", f"seed=0:{len(FEW)}", "--out", "out")
ALONE = ("--workers", "2")


def until(met: Callable[[], object], seconds: float = 90.0) -> None:
    limit = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < limit, "it never came to that"
        time.sleep(0.1)


def kernels(place: Path) -> list[int]:
    """The kernels of this test that live."""
    living = []
    for file in place.glob("pid-*"):
        with contextlib.suppress(ValueError, psutil.NoSuchProcess):  # not written yet, or gone
            kernel = psutil.Process(int(file.read_text()))
            living += [] if kernel.status() == psutil.STATUS_ZOMBIE else [kernel.pid]
    return living


def said(told: str) -> list[str]:
    """The sentences of the sweep; ZeroMQ adds some of its own when many processes end at once."""
    return [line for line in told.splitlines() if line.startswith("sweep:")]


def rows(place: Path) -> list[dict]:
    return [json.loads(file.read_text()) for file in (place / "out" / "runs").glob("*.json")]


def test_a_sweep_that_is_killed_leaves_no_kernel_and_goes_on(place: Path) -> None:
    """By Ctrl-C, which goes to its group, and then at once. Meanwhile the folder is held against
    other sweeps, and a kernel that is killed is a row that is tried again."""
    with sweep(place, *NEW, *ALONE) as process:
        until(lambda: len(kernels(place)) == 2)
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "sweep: stopped; `bash book sweep " in told
    until(lambda: kernels(place) == [], 20)
    assert rows(place) == []
    with sweep(place, "out", *ALONE) as process:
        until(lambda: len(kernels(place)) == 2)
        folder = os.open(place / "out", os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(folder)
        os.kill(kernels(place)[0], signal.SIGKILL)
        until(lambda: len(rows(place)) == 1)
        process.kill()
    until(lambda: kernels(place) == [], 20)
    (row,) = rows(place)
    assert row["status"] == "died"
    (place / "go").touch()
    with sweep(place, "out", *ALONE) as process:
        _, told = process.communicate(timeout=120)
    assert (process.returncode, said(told)) == (0, []), told
    assert [row["status"] for row in rows(place)] == ["done"] * len(FEW)
    assert list(place.rglob("*.part")) == []  # nothing unfinished lies about
    assert (place / "out" / "index.html").exists()
    assert kernels(place) == []


def test_on_a_cluster_that_loses_its_parts_nothing_that_ended_is_lost(place, cluster):
    """What runs when the sweep is ended is stored in the end. What runs on a worker that is killed
    is run by the other one. A lost scheduler ends the sweep and what runs."""
    with sweep(place, *NEW, *address(place)) as process:
        until(lambda: len(kernels(place)) == 2)
        process.terminate()
        process.communicate(timeout=60)
    assert (process.returncode, len(kernels(place))) == (130, 2)
    (place / "go").touch()
    until(lambda: len(rows(place)) == 2)
    (place / "go").unlink()
    with sweep(place, "out", *address(place)) as process:
        until(lambda: len(kernels(place)) == 1)
        (kernel,) = kernels(place)
        os.killpg(os.getpgid(psutil.Process(kernel).ppid()), signal.SIGKILL)
        until(lambda: kernels(place) not in ([], [kernel]))
        kill(cluster[0])
        _, told = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "sweep: the scheduler was lost; `bash book sweep " in told
    until(lambda: kernels(place) == [], 60)
    assert [row["status"] for row in rows(place)] == ["done"] * 2
