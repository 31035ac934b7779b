"""What a sweep runs, refuses, stores and shows, on a page that runs in a second; and what is left
where it, its workers or their scheduler, processes of their own, are killed."""

import contextlib
import errno
import json
import multiprocessing
import os
import re
import runpy
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from reluflow.sweep import report
from reluflow.sweep.__main__ import main
from reluflow.sweep.plan import Plan, code_digest, plan
from reluflow.sweep.runs import Store

CELLS = (
    "seed = 0\nn = 2\nrate = 0.5\nname = 'a'\nloud = False\nstart = None",
    "from reluflow import ledger\nfrom reluflow.errors import InputError\n"
    "if 7 in (n, start):  # as parameters.check() does\n"
    "    raise InputError('seven is not allowed.')\n"
    "claims = ledger.open('lee2022support')",
    "if seed == 0 and n == 2:\n    raise ValueError('two')",
    "held = ledger.Reading('a', 'b') if seed == 1 and n == 2 else None\n"
    "evidence = [ledger.fact('it holds', True, True), ledger.note('two', (seed + n, 0.5))]\n"
    "evidence.append(ledger.note('seed', seed))\n"
    "claims.settle('sv.lem4.5', evidence, reading=held)",
    # As glue('size', 10.0 * n + seed) does, which takes a second to import.
    "from IPython.display import display\nmark = 'application/papermill.record/'\n"
    "display({f'{mark}text/plain': repr(10.0 * n + seed)}, raw=True,\n"
    "        metadata={'scrapbook': {'name': 'size', 'mime_prefix': mark}})",
)


def write_page(place: Path, *cells: str) -> Path:
    page = new_notebook(cells=[new_code_cell(source) for source in cells])
    page.cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(page, place / "page.ipynb")
    return place / "page.ipynb"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep with one flipped verdict and one run that fails."""
    place = tmp_path_factory.mktemp("swept")
    page = write_page(place, *CELLS)
    grid = ["--grid", "seed=0:2", "--grid", "n=1,2", "--grid", "rate=1"]
    assert main([str(page), *grid, "--out", str(place / "out"), "--workers", "2"]) == 1
    return place / "out"


# --- What is run ----------------------------------------------------------------------------------


def test_a_grid_is_a_product_in_order_and_the_page_computes_what_is_not_given(tmp_path) -> None:
    page = write_page(tmp_path, *CELLS)
    points = plan(page, tmp_path, ["seed=0:6:3", "name=a,b", "rate=2"]).points.values()
    assert [(p["seed"], p["name"], p["rate"], p["n"]) for p in points] == [
        (0, "a", 2, 2), (0, "b", 2.0, 2), (3, "a", 2.0, 2), (3, "b", 2.0, 2),
    ]  # fmt: skip
    page = write_page(tmp_path, "n = 2\nstart = None\nwidth = 2 * n", "assert width")
    for grid, point in (("n=3", {"n": 3}), ("width=5", {"n": 2, "width": 5})):
        assert [*plan(page, tmp_path, [grid]).points.values()] == [{"start": None} | point]


DEEP = "[" * 1_000


@pytest.mark.parametrize(
    ("before", "arguments", "sentence"),
    [
        ({}, ["--grid", "sed=0:3"], 'has no parameter "sed": did you mean "seed"?'),
        ({}, ["--grid", "seed=3:3"], 'the grid is empty: "seed" has no values.'),
        ({}, ["--grid", "seed=0:1000000"], "take 1 to 100000 of them"),
        ({}, ["--grid", "seed"], "is not NAME=VALUES"),
        ({}, ["--grid", "seed=1:2:0"], "a step of 0 goes nowhere"),
        *(({}, ["--grid", f"seed={text}"], "the values are not YAML") for text in ("[", DEEP)),
        ({}, ["--grid", "seed=0,1", "--grid", "n=7"], "given twice"),
        ({}, ["--grid", "seed=5", "--grid", "name=b", "--grid", "rate=1", "--workers", "0"],
         "at least 1"),
        ({}, ["--grid", "start=7"], "seven is not allowed."),
        ({}, ["--out", "memory://a"], "take a folder that all of"),
        ({}, ["--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler answers at tcp://127.0.0.1:9"),
        *(({"page.ipynb": text}, [], "is not a notebook") for text in ("{}", DEEP)),
        ({"out": ""}, ["--out", "out/in"], "out/in cannot be"),
        ({"out/mine.txt": ""}, [], "sweep: out holds other files"),
        ({"out/sweep.json": '{"notebook": "other.ipynb", "folder": "/", "grid": []}'}, [],
         "has the runs of other.ipynb"),
        *(({"out/sweep.json": text}, [], "out/sweep.json is damaged: sweep into a new folder.")
          for text in ("[1]", "{}", "0", '{"notebook": "page.ipynb", "folder": "/"}', DEEP)),
    ],
)  # fmt: skip
def test_wrong_use_is_one_sentence_before_anything_starts(
    before, arguments, sentence, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("reluflow.sweep.__main__._PATIENCE", 0.2)
    write_page(tmp_path, *CELLS)
    for name, text in before.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    there = sorted(tmp_path.rglob("*"))
    assert main(["page.ipynb", "--grid", "n=1", "--out", "out", *arguments]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("sweep: ")
    assert sentence in told
    assert sorted(tmp_path.rglob("*")) == there


def test_a_run_that_is_damaged_is_named(tmp_path: Path, capsys) -> None:
    page = write_page(tmp_path, CELLS[0])
    about = {"notebook": str(page), "folder": str(tmp_path), "grid": ["n=1"]}
    (tmp_path / "sweep.json").write_text(json.dumps(about))
    (tmp_path / "runs").mkdir()
    sentence = f"sweep: {tmp_path}/runs/a.json is damaged: delete it, and it is run again.\n"
    for text in ("{", DEEP):
        (tmp_path / "runs" / "a.json").write_text(text)
        assert main([str(tmp_path)]) == 2
        assert capsys.readouterr().err == sentence


def test_another_library_is_another_code(monkeypatch: pytest.MonkeyPatch) -> None:
    source, whole = nbformat.writes(new_notebook()), Path.read_text
    before = code_digest(source)

    def changed(self: Path, *how: str, **named: str) -> str:
        return whole(self, *how, **named) + ("\nx = 1\n" if self.name == "segment.py" else "")

    monkeypatch.setattr(Path, "read_text", changed)
    assert code_digest(source) != before
    monkeypatch.undo()
    assert code_digest(source) == before


# --- What comes out -------------------------------------------------------------------------------


def stored(out: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in sorted((out / "runs").glob("*.json"))]


@pytest.mark.long
def test_the_table_has_every_number_and_the_page_shows_flips_first(swept: Path) -> None:
    frame = pd.read_parquet(swept / "table.parquet")
    assert list(frame.n) == [1, 2, 1, 2]
    assert list(frame["run.status"]) == ["done", "failed", "done", "done"]
    verdicts = ["reproduced", "", "reproduced", "reproduced-with-reading"]
    assert frame["sv.lem4.5"].fillna("").tolist() == verdicts
    ended = frame[frame["run.status"] == "done"]
    assert (ended["sv.lem4.5: two (1)"] == ended.seed + ended.n).all()
    assert (ended["sv.lem4.5: two (2)"] == 0.5).all()
    assert (ended["glued: size"] == 10 * ended.n + ended.seed).all()
    (row,) = (each for each in stored(swept) if each["status"] == "failed")
    assert row["error"].endswith("ValueError: two")
    assert '"error"' in (swept / "runs" / f"{row['key']}.ipynb").read_text("utf-8")
    some = ["seed", "n", "glued: size"]
    pd.testing.assert_frame_equal(pd.read_csv(swept / "table.csv")[some], frame[some])
    text = (swept / "index.html").read_text("utf-8")
    places = [text.index(f"<h2>{t}") for t in ("Flipped", "Failed runs: 1", "Verdicts", "Evidence")]
    assert places == sorted(places)
    (flipped,) = re.findall(r"runs/(\w+)\.ipynb", text[places[0] : places[1]])
    assert flipped == frame["run.key"][3]
    assert not re.findall(r'(?:src|href)="(?!data:|runs/|table\.csv)', text)
    pictures = re.findall(r'<img alt="([^"]*)"', text)
    assert "least often at sv.lem4.5, reproduced, 2, 0 of 1" in pictures[0]
    assert "glued: size against n: means from 10.5 to 21" in pictures


def test_a_parameter_without_a_value_is_no_axis_of_a_curve() -> None:
    points = {f"{seed}{start}": {"seed": seed, "start": start}
              for seed in (0, 1) for start in (None, 7)}  # fmt: skip
    rows = [{"key": key, "code": "c", "status": "done", "error": "", "seconds": 1.0,
             "parameters": point, "verdicts": {"sv.a": "reproduced" if k else "refuted"},
             "evidence": {"sv.a: x": float(k)}, "limits": {}}
            for k, (key, point) in enumerate(points.items())]  # fmt: skip
    shown = dict(report.files("", "", report.Swept(rows, Plan("", "c", points))))["index.html"]
    assert b"<h2>Evidence against seed</h2>" in shown
    assert b"null" in shown
    assert b"NaN" not in shown


@pytest.mark.long
def test_what_is_done_is_not_run_again_and_old_code_is_seen(swept, tmp_path, capsys):
    out = shutil.copytree(swept, tmp_path / "out")
    assert main([str(out)]) == 1
    assert "runs: 4, done: 4" in capsys.readouterr().out
    write_page(swept.parent, CELLS[0])  # the same file, another page
    assert main([str(swept.parent / "page.ipynb"), "--grid", "seed=0:1", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "runs: 1, done: 0" in told
    assert "; rows of older code: 4" in told
    assert pd.read_csv(out / "table.csv")["run.stale"].tolist() == [False] + [True] * 4
    assert "older code or data: 4," in (out / "index.html").read_text()


def test_a_full_disk_leaves_what_was_and_stops(tmp_path, monkeypatch):
    """Half of a file is written, and then there is no room."""
    store = Store(str(tmp_path))
    store.write("kept", b"first")
    from fsspec.implementations.local import LocalFileSystem

    def half(self: Any, path: str, value: bytes, **how: Any) -> None:
        Path(path).write_bytes(value[: len(value) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(LocalFileSystem, "pipe_file", half)
    with pytest.raises(OSError, match="No space"):
        store.write("kept", b"second")
    assert os.listdir(tmp_path) == ["kept"]
    assert store.read("kept") == b"first"


def test_other_addresses_than_paths_are_taken() -> None:
    store = Store("memory://sweeps/one")
    store.make()
    store.write("runs/a.json", b"1")
    assert (store.names("runs"), store.read("runs/a.json")) == (["a.json"], b"1")
    assert Store("memory://nothing").names() == []


def test_a_worker_with_another_library_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("reluflow.sweep.runs.code_digest", lambda source: "another")
    page = write_page(tmp_path, *CELLS)
    assert main([str(page), "--grid", "seed=0:1", "--out", str(tmp_path / "out")]) == 1
    assert "a worker has another library" in capsys.readouterr().err
    assert stored(tmp_path / "out") == []


# --- What is killed -------------------------------------------------------------------------------

SWEEP, SCHEDULER, WORKER = (
    "reluflow.sweep", "distributed.cli.dask_scheduler", "distributed.cli.dask_worker"
)  # fmt: skip
# Processes as from another terminal, forked from one that has loaded what they need.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([SCHEDULER, WORKER, "reluflow.sweep.report", __name__])
# Each run says which process it is, and waits until it may go on.
WAITING = (
    "seed = 0",
    "import os, pathlib, time\npathlib.Path(f'pid-{seed}').write_text(str(os.getpid()))",
    "while not pathlib.Path(f'go-{seed}').exists():\n    time.sleep(0.05)",
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_page(tmp_path, *WAITING).parent


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


def until(met: Callable[[], object], seconds: float = 90.0) -> None:
    limit = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < limit, "it never came to that"
        time.sleep(0.02)


def kernels(place: Path) -> list[int]:
    """The kernels of this test that live."""
    living = []
    for file in place.glob("pid-*"):
        with contextlib.suppress(ValueError, psutil.NoSuchProcess):  # not written yet, or gone
            kernel = psutil.Process(int(file.read_text()))
            living += [] if kernel.status() == psutil.STATUS_ZOMBIE else [kernel.pid]
    return living


@pytest.mark.long
def test_a_sweep_that_is_killed_leaves_no_kernel_and_goes_on(place: Path, capsys) -> None:
    """At once, and then by Ctrl-C, which goes to its group. Meanwhile the folder is held against
    other sweeps, and a kernel that is killed is a row that is tried again."""
    with started(place, SWEEP, *NEW, "seed=0:2", "--workers", "2") as process:
        until(lambda: len(kernels(place)) == 2)
        assert main([str(place / "out")]) == 2
        assert "another sweep runs in" in capsys.readouterr().err
        os.kill(int((place / "pid-0").read_text()), signal.SIGKILL)
        until(lambda: len(stored(place / "out")) == 1)
        process.kill()
    until(lambda: kernels(place) == [], 20)
    assert [row["status"] for row in stored(place / "out")] == ["died"]
    (place / "go-0").touch()
    with started(place, SWEEP, "out", "--workers", "2") as process:
        until(lambda: [row["status"] for row in stored(place / "out")] == ["done"])
        until(lambda: len(kernels(place)) == 1)
        os.killpg(process.pid, signal.SIGINT)
        status, told = ended(process, place)
    assert status == 130
    assert told[0].startswith("sweep: stopped; `bash book sweep ")
    until(lambda: kernels(place) == [], 20)
    assert [row["status"] for row in stored(place / "out")] == ["done"]
    assert list(place.rglob("*.part")) == []  # nothing unfinished lies about
    assert (place / "out" / "index.html").exists()


@pytest.mark.long
def test_on_a_cluster_that_loses_its_parts_nothing_that_ended_is_lost(place, cluster):
    """What runs when the sweep is ended is stored in the end. What runs on a worker that is killed
    is run by the other one. A lost scheduler ends the sweep."""
    with started(place, SWEEP, *NEW, "seed=0:3", *address(place)) as process:
        until(lambda: len(kernels(place)) == 2)
        process.terminate()
        status, _ = ended(process, place)
    assert (status, len(kernels(place))) == (130, 2)
    for file in list(place.glob("pid-*")):
        file.with_name(file.name.replace("pid", "go")).touch()
    until(lambda: len(stored(place / "out")) == 2)
    with started(place, SWEEP, "out", *address(place)) as process:
        until(lambda: len(kernels(place)) == 1)
        (kernel,) = kernels(place)
        os.kill(psutil.Process(kernel).ppid(), signal.SIGKILL)
        until(lambda: kernels(place) not in ([], [kernel]))
        kill(cluster[0])
        status, told = ended(process, place)
    assert status == 1
    assert told[0].startswith("sweep: the scheduler was lost; `bash book sweep ")
    assert [row["status"] for row in stored(place / "out")] == ["done"] * 2
