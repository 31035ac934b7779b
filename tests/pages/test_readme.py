"""The README's examples: what it shows is run, and what it says of the result is compared."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from reluflow import datasets, parameters
from reluflow.papers.lee2022support.setting import PARAMETERS as SUPPORT_VECTORS
from reluflow.papers.lee2022support.setting import check_assumptions
from reluflow.papers.lee2023magnitude.setting import PARAMETERS as MAGNITUDE_ANGLE
from reluflow.papers.min2024early.mnist import PARAMETERS as MNIST
from reluflow.papers.min2024early.setting import PARAMETERS as EARLY
from reluflow.papers.min2024early.setting import SECTION
from reluflow.papers.phuong2021inductive.networks import PARAMETERS as NETWORKS
from reluflow.papers.phuong2021inductive.setting import PARAMETERS as SEPARABLE
from reluflow.papers.vardi2022margin.setting import PARAMETERS as MARGIN
from reluflow.run.__main__ import OWN, defaults, found
from reluflow.your_data.study import PARAMETERS as YOUR_DATA

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
PROGRAM = [block for language, block in BLOCKS if language == "python"]
LINES = [line for language, block in BLOCKS if not language for line in block.splitlines()]
RUNS = [line for line in LINES if line.startswith("bash book run ") and "--list" not in line]
SPECS = {
    "01_support_vectors": SUPPORT_VECTORS,
    "02_magnitude_angle": MAGNITUDE_ANGLE,
    "03_early_alignment": EARLY,
    "04_orthogonal_separability": SEPARABLE,
    "05_margin_maximization": MARGIN,
    "convergence": SECTION,
    "mnist": MNIST,
    "networks": NETWORKS,
    "06_your_data": YOUR_DATA,
}


@cache
def program() -> tuple[dict[str, Any], str]:
    """The names that the one Python example leaves, and what it prints."""
    (source,) = PROGRAM
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        exec(compile(source, "README.md", "exec"), names)
    return names, shown.getvalue()


def test_the_example_is_falsified_as_the_text_says() -> None:
    names, shown = program()
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
    assert 0 < sum(names["report"].violations.values()) < names["report"].tried == 200
    assert "the flow ends nearer to the fit" in shown


def given(line: str) -> tuple[Path, dict[str, Any]]:
    """The notebook and the parameters of a command, read as `book run` reads them."""
    words = shlex.split(line)[3:]
    options = {"dataset": words[0]} if not words[0].startswith("-") else {}
    page = found(words[words.index("--chapter") + 1] if "--chapter" in words else OWN)
    for k, word in enumerate(words):
        if word == "-p":
            options[words[k + 1]] = yaml.safe_load(words[k + 2])
    return page, options


@pytest.mark.parametrize("line", RUNS)
def test_the_pages_take_the_parameters_of_the_commands(line: str, own: datasets.Dataset) -> None:
    path, options = given(line)
    known = defaults(path)
    assert options
    assert options.keys() <= known.keys()
    checked = parameters.check(known | options, SPECS[path.stem])
    points = getattr(checked, "initial_points", None)
    if points is not None:
        datasets.initial_points(own, points)


@pytest.fixture
def own(tmp_path: Path) -> datasets.Dataset:
    """The README's `my.csv`."""
    (table,) = [block for language, block in BLOCKS if not language and block.startswith("x1,")]
    (tmp_path / "my.csv").write_text(table, encoding="utf-8")
    return datasets.load(str(tmp_path / "my.csv"))


def test_the_table_of_own_data_is_inside_the_assumptions(own: datasets.Dataset) -> None:
    check_assumptions(own.X, own.y)


def test_the_modules_that_are_run_are_there() -> None:
    modules = re.findall(r"python -m (reluflow[\w.]*)", README)
    assert modules
    for name in modules:
        assert importlib.util.find_spec(name), name
