"""A sweep on a real scheduler and two workers, each a process of its own, and what is killed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import multiprocessing
import os
import runpy
import signal
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = pytest.mark.long
SWEEP, SCHEDULER, WORKER = (
    "reluflow.sweep", "distributed.cli.dask_scheduler", "distributed.cli.dask_worker"
)  # fmt: skip
# Processes as from another terminal, forked from one that has loaded what they need.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([SCHEDULER, WORKER, "reluflow.sweep.report", __name__])
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


def become(place: Path, module: str, arguments: tuple[str, ...]) -> None:
    """Be `python -m module` in a session of its own, which writes what it says into a file."""
    os.setsid()
    os.chdir(place)
    told = os.open(f"told-{os.getpid()}", os.O_WRONLY | os.O_CREAT)
    os.dup2(told, 1), os.dup2(told, 2)
    # What runs the tests in the background may have told its children to ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


@contextlib.contextmanager
def started(place: Path, module: str, *arguments: str) -> Iterator[ForkServerProcess]:
    """Such a process, killed at the end."""
    process = FORKS.Process(target=become, args=(place, module, arguments))
    process.start()
    try:
        yield process
    finally:
        kill(process)
        process.join(60)
        process.close()


def kill(process: ForkServerProcess) -> None:
    """End a process and its children at once, as a machine that loses its power."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def ended(process: ForkServerProcess, place: Path) -> tuple[int | None, list[str]]:
    """The exit status and the sentences of a sweep when it has ended."""
    process.join(120)
    lines = (place / f"told-{process.pid}").read_text().splitlines()
    return process.exitcode, [line for line in lines if line.startswith("sweep:")]


@pytest.fixture
def cluster(place: Path) -> Iterator[list[ForkServerProcess]]:
    """A scheduler and two workers on this machine; the scheduler first."""
    file = place / "scheduler.json"
    own = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file)]
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(started(place, SCHEDULER, *own, "--port", "0"))]
        until(lambda: file.exists() and file.stat().st_size > 0)
        for _ in range(2):
            worker = started(place, WORKER, *own, "--nthreads", "1", "--no-nanny")
            processes.append(stack.enter_context(worker))
        yield processes


def address(place: Path) -> list[str]:
    return ["--scheduler", json.loads((place / "scheduler.json").read_text())["address"]]


NEW = ("page.ipynb", "--out", "out", "--grid")
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


def rows(place: Path) -> list[dict]:
    return [json.loads(file.read_text()) for file in (place / "out" / "runs").glob("*.json")]


def test_a_sweep_that_is_killed_leaves_no_kernel_and_goes_on(place: Path) -> None:
    """By Ctrl-C, which goes to its group, and then at once. Meanwhile the folder is held against
    other sweeps, and a kernel that is killed is a row that is tried again."""
    with started(place, SWEEP, *NEW, "seed=0:2", "--workers", "1") as process:
        until(lambda: len(kernels(place)) == 1)  # the other run waits for it
        os.killpg(process.pid, signal.SIGINT)
        status, told = ended(process, place)
    assert status == 130
    assert told[0].startswith("sweep: stopped; `bash book sweep ")
    until(lambda: kernels(place) == [], 20)
    assert rows(place) == []
    with started(place, SWEEP, "out", *ALONE) as process:
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
    with started(place, SWEEP, "out", *ALONE) as process:
        assert ended(process, place) == (0, [])
    assert [row["status"] for row in rows(place)] == ["done"] * 2
    assert list(place.rglob("*.part")) == []  # nothing unfinished lies about
    assert (place / "out" / "index.html").exists()
    assert kernels(place) == []


def test_on_a_cluster_that_loses_its_parts_nothing_that_ended_is_lost(place, cluster):
    """What runs when the sweep is ended is stored in the end. What runs on a worker that is killed
    is run by the other one. A lost scheduler ends the sweep."""
    with started(place, SWEEP, *NEW, "seed=0:3", *address(place)) as process:
        until(lambda: len(kernels(place)) == 2)
        process.terminate()
        status, _ = ended(process, place)
    assert (status, len(kernels(place))) == (130, 2)
    (place / "go").touch()
    until(lambda: len(rows(place)) == 2)
    (place / "go").unlink()
    with started(place, SWEEP, "out", *address(place)) as process:
        until(lambda: len(kernels(place)) == 1)
        (kernel,) = kernels(place)
        os.kill(psutil.Process(kernel).ppid(), signal.SIGKILL)
        until(lambda: kernels(place) not in ([], [kernel]))
        kill(cluster[0])
        status, told = ended(process, place)
    assert status == 1
    assert told[0].startswith("sweep: the scheduler was lost; `bash book sweep ")
    assert [row["status"] for row in rows(place)] == ["done"] * 2
