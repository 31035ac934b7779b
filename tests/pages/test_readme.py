"""The README's examples: what it shows is run, and what it says of the result is compared."""

import contextlib
import importlib.util
import io
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from reluflow.run.__main__ import OWN, check, found

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
LINES = [line for language, block in BLOCKS if not language for line in block.splitlines()]
RUNS = [line for line in LINES if line.startswith("bash book run ") and "--list" not in line]


def test_the_example_is_falsified_as_the_text_says() -> None:
    (source,) = (block for language, block in BLOCKS if language == "python")
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        exec(compile(source, "README.md", "exec"), names)
    said = re.search(
        r"the smallest instance found has the data (.*), the labels (\d) and the start (\(.*?\))",
        " ".join(README.split()),
    )
    assert said, "the README does not say what the example finds"
    X = np.array([[int(v) for v in row] for row in re.findall(r"\((\d), (\d)\)", said[1])])
    start = np.array([int(v) for v in re.findall(r"\d", said[3])])
    found = names["report"].counterexample
    assert np.array_equal(found["X"], X)
    assert np.array_equal(found["y"], np.full(len(X), int(said[2])))
    assert np.array_equal(found["w0"], start)
    assert names["slack"]({"X": X, "y": np.ones(len(X)), "w0": start}) < 0
    # "some of the draws break it"
    assert 0 < sum(names["report"].violations.values()) < names["report"].tried == 100
    assert "the flow ends nearer to the fit" in shown.getvalue()


@pytest.mark.parametrize("line", RUNS)
def test_the_pages_take_the_parameters_of_the_commands(line, tmp_path, monkeypatch):
    """The README's own `my.csv` meets the first paper's assumptions; the third takes signs."""
    (table,) = [block for language, block in BLOCKS if not language and block.startswith("x1,")]
    signs = "x1,x2,y\n3,1,1\n-5,2,-1\n"
    Path(tmp_path, "my.csv").write_text(signs if "--chapter 3" in line else table, "utf-8")
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line)[3:]
    options = {"dataset": words[0]} if not words[0].startswith("-") else {}
    for k in (k for k, word in enumerate(words) if word == "-p"):
        options[words[k + 1]] = yaml.safe_load(words[k + 2])
    assert options
    check(found(words[words.index("--chapter") + 1] if "--chapter" in words else OWN), options)


def test_the_readme_has_the_two_commands_and_ci_calls_the_second() -> None:
    assert {("", "bash book build\n"), ("", "bash book test\n")} <= set(BLOCKS)
    script = ROOT / ".ci" / "run"
    assert script.read_text(encoding="utf-8").splitlines()[-1] == "exec bash book test"
    assert os.access(script, os.X_OK)


def test_what_the_readme_names_is_there() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / link).is_file(), link
    for line in (line for line in LINES if line.startswith(".venv/bin/")):
        program, *words = line.split()
        assert (Path(sys.executable).parent / Path(program).name).is_file(), program
        for word in words:
            assert not word.startswith("chapters/") or (ROOT / word).is_file(), word
    modules = re.findall(r"python -m (reluflow[\w.]*)", README)
    assert all([len(modules), *map(importlib.util.find_spec, modules)]), modules
