"""What a sweep runs, refuses, stores and shows, on a page that runs in a second."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
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
    "from myst_nb import glue\nglue('size', 10.0 * n + seed, display=False)",
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


def test_a_grid_is_a_product_in_order(tmp_path: Path) -> None:
    page = write_page(tmp_path, *CELLS)
    points = plan(page, tmp_path, ["seed=0:6:3", "name=a,b", "rate=2"]).points.values()
    assert [(p["seed"], p["name"], p["rate"], p["n"]) for p in points] == [
        (0, "a", 2, 2), (0, "b", 2.0, 2), (3, "a", 2.0, 2), (3, "b", 2.0, 2),
    ]  # fmt: skip


def test_the_page_computes_what_is_not_given(tmp_path: Path) -> None:
    page = write_page(tmp_path, "n = 2\nstart = None\nwidth = 2 * n", "assert width")
    (point,) = plan(page, tmp_path, ["n=3"]).points.values()
    assert point == {"n": 3, "start": None}
    (point,) = plan(page, tmp_path, ["width=5"]).points.values()
    assert point == {"n": 2, "start": None, "width": 5}


DEEP = "[" * 3_000
GRID = ["page.ipynb", "--grid", "n=1", "--out", "out"]


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
    monkeypatch.setattr("reluflow.sweep.__main__._PATIENCE", 1)
    write_page(tmp_path, *CELLS)
    for name, text in before.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    there = sorted(tmp_path.rglob("*"))
    assert main([*GRID, *arguments]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("sweep: ")
    assert sentence in told
    assert sorted(tmp_path.rglob("*")) == there


def test_a_folder_takes_one_sweep(tmp_path: Path, capsys) -> None:
    page, folder = write_page(tmp_path, CELLS[0]), os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    (tmp_path / "sweep.json").write_text(
        json.dumps({"notebook": str(page), "folder": str(tmp_path), "grid": ["n=1"]})
    )
    assert main([str(tmp_path)]) == 2
    sentence = f"sweep: another sweep runs in {tmp_path}: wait for it, or stop it.\n"
    assert capsys.readouterr().err == sentence
    os.close(folder)
    (tmp_path / "runs").mkdir(exist_ok=True)
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


@pytest.mark.long
def test_the_table_has_parameters_verdicts_and_every_number(swept: Path) -> None:
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


def stored(out: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in sorted((out / "runs").glob("*.json"))]


@pytest.mark.long
def test_the_page_needs_nothing_else_and_shows_flips_first(swept: Path) -> None:
    text = (swept / "index.html").read_text("utf-8")
    places = [text.index(f"<h2>{t}") for t in ("Flipped", "1 failed runs", "Verdicts", "Evidence")]
    assert places == sorted(places)
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
    assert "4 runs, 4 of them done" in capsys.readouterr().out
    write_page(swept.parent, CELLS[0])  # the same file, another page
    assert main([str(swept.parent / "page.ipynb"), "--grid", "seed=0:1", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "1 runs, 0 of them done" in told
    assert "and 4 rows of older code" in told
    assert pd.read_csv(out / "table.csv")["run.stale"].tolist() == [False] + [True] * 4
    assert "4 more rows are of older code" in (out / "index.html").read_text()


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
