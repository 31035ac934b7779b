"""The pages on a reader's input, good and bad, on named data and with other seeds."""

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from numpy.typing import NDArray
from papermill import execute_notebook
from papermill.exceptions import PapermillExecutionError
from reluflow import pages
from reluflow.errors import InputError
from reluflow.ledger import Ledger
from reluflow.papers.min2024early.setting import separable
from reluflow.papers.phuong2021inductive.setting import supported
from reluflow.places import CHAPTERS
from reluflow.refresh import KERNEL

PRINTED = {
    "01_support_vectors": {"sv.ex5.1.a"},
    "01_support_vectors/examples": {
        *("sv.ex5.1.b", "sv.ex5.1.gd", "sv.ex5.2", "sv.ex5.3"),
        *("sv.fig12.iteration", "sv.fig13.iteration", "sv.fig13.asymptotes"),
    },
    "02_magnitude_angle": {"ma.fig1", "ma.fig2"},
}
"""The claims on the paper's own data or runs, by the page that settles them."""
DEAR = (
    *("alignment", "certificates", "cnn", "convergence", "counterexamples", "examples"),
    *("experiments", "geometry", "lemmas", "limit", "networks", "norm"),
    *("sectors", "starts", "suboptimality", "tables", "toys"),
)
"""Sections that take longer than a second or two. `-m matrix` runs all pages, with three seeds and
all draws."""
SECTIONS = [p for p in pages.in_order(CHAPTERS) if p.parent != CHAPTERS and p.stem not in DEAR]

pytestmark = pytest.mark.long


def ran(page: str | Path, **values: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """The names that a page defines, and its verdicts; no cell of it fails."""
    path = CHAPTERS / f"{page}.ipynb" if isinstance(page, str) else page
    names, failed = pages.run(pages.code_cells(path), path.parent, {"effort": 0.05, **values})
    assert failed == []
    (claims,) = {id(v): v for v in names.values() if isinstance(v, Ledger)}.values()
    return names, {id: row.verdict for id, row in claims.settled.items()}


def unjudged(verdicts: dict[str, str]) -> set[str]:
    return {id for id, verdict in verdicts.items() if verdict == "not-applicable"}


def csv(X: NDArray, y: NDArray, path: Path) -> str:
    rows = [",".join(f"{v:.17g}" for v in (*x, label)) for x, label in zip(X, y, strict=True)]
    header = ",".join([*(f"x{k}" for k in range(1, X.shape[1] + 1)), "y"])
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


READ = re.compile("^(parameters|checked|imports)|own")
"""The cells of a page that a reader's data need."""
OWN = ("(A1)", "(OS), with few support examples", "separable", "mixed")


def own(kind: str) -> tuple[NDArray, NDArray]:
    """Data as a reader may have them."""
    rng = np.random.default_rng(5)
    if kind == "(A1)":
        return separable(6, 3, 0.2, rng)
    if kind == "(OS), with few support examples":
        item = supported(3, (3, 2), rng)
        return item["X"], item["y"]
    if kind == "separable":
        X = rng.standard_normal((8, 3))
        return X, np.where(X @ [1.0, -2.0, 0.5] > 0.0, 1.0, -1.0)
    # Breaks (A1) and (OS): some data of one label are opposite to each other.
    y = np.where(np.arange(8) % 3, 1.0, -1.0)
    return np.random.default_rng(6).standard_normal((8, 2)), y


@pytest.mark.parametrize(
    ("page", "d"), [("01_support_vectors", 4), ("01_support_vectors/examples", 2)]
)
def test_a_readers_regression(page: str, d: int, tmp_path: Path) -> None:
    """Claims on the printed data are not judged on others; all others are."""
    rng = np.random.default_rng(d)
    dataset = csv(rng.uniform(size=(5, d)), rng.uniform(0.1, 3.0, 5), tmp_path / "my.csv")
    starts = [[0.1] * d, [1.0] * d]
    names, verdicts = ran(page, dataset=dataset, initial_points=starts, step=0.01)
    assert len(names["study"].main.limits) == 2
    assert names["study"].others == ()
    assert unjudged(verdicts) == PRINTED[page]


@pytest.mark.parametrize(
    ("page", "figures", "values"),
    [
        ("01_support_vectors", {"figure-3a"}, {"seed": 5}),
        ("02_magnitude_angle", {"figure-1", "figure-2"},
         {"layers": [4], "norms": [0.5], "n": 500, "d": 5, "steps": 1000}),
    ],
)  # fmt: skip
def test_own_input_is_drawn(page, figures, values, tmp_path, capsys):
    """The other tests leave figures out."""
    if page == "01_support_vectors":
        rng = np.random.default_rng([8, 3])
        X, y = rng.uniform(0.0, 1.0, (8, 3)), rng.uniform(0.1, 3.0, 8)
        values = values | {"dataset": csv(X, y, tmp_path / "my.csv")}
    cells = pages.code_cells(CHAPTERS / f"{page}.ipynb")
    drawn = [k for k, cell in enumerate(cells) if any(f'"{f}"' in cell.source for f in figures)]
    needed = {cell.id for k in drawn for cell in pages.needed(cells, k)}
    names: dict[str, Any] = {}
    for cell in (cell for cell in cells if cell.id in needed):
        exec(cell.source, names)
        names.update(values if cell is cells[0] else {})
    assert figures <= set(re.findall("<Figure (.*)>", capsys.readouterr().out))


@pytest.mark.parametrize(
    ("X", "values", "sentence"),
    [
        ([[1, -2], [4, 5]], {}, "assumption A1 (x_i >= 0, x_i != 0) fails in data row 1"),
        ([[0.9, 0.1], [0.4, 0.9]], {"initial_points": [[1, 2, 3]]}, "point 1 has 3 coordinates"),
        (np.random.default_rng(0).uniform(size=(1001, 8)), {}, "too many to enumerate"),
    ],
    ids=["A1", "other dimension", "cells"],
)
def test_bad_input_is_refused_before_anything_is_computed(X, values, sentence, tmp_path):
    """By the first cells: the parameters and their check."""
    dataset = csv(np.array(X), np.ones(len(X)), tmp_path / "my.csv")
    page = CHAPTERS / "01_support_vectors.ipynb"
    with pytest.raises(InputError, match=re.escape(sentence)):
        pages.ask(page, tmp_path, [{"dataset": dataset, **values}])


def test_the_sentence_is_the_last_line_of_papermills_error(tmp_path: Path) -> None:
    page, output = tmp_path / "page.ipynb", tmp_path / "out.ipynb"
    first = new_code_cell("dataset = 'paper'", metadata={"tags": ["parameters"]})
    check = "from reluflow import parameters\nparameters.check(globals(), {'dataset': None})"
    about = {"kernelspec": KERNEL}
    nbformat.write(new_notebook(cells=[first, new_code_cell(check)], metadata=about), page)
    with pytest.raises(PapermillExecutionError) as caught:
        execute_notebook(page, output, {"datset": "my.csv"}, progress_bar=False)
    # Its own words come first, which are not ours to change.
    told = str(caught.value)
    last = told.rstrip().splitlines()[-1]
    assert last == 'InputError: unknown parameter "datset": did you mean "dataset"?'
    # No stack of the chapter's or the library's calls, neither here nor in the notebook.
    assert "Cell In[" not in told
    assert f"reluflow{os.sep}" not in told
    shown = [out for cell in pages.code_cells(output) for out in cell.outputs]
    assert [out.traceback for out in shown if out.output_type == "error"] == [[last]]


@pytest.mark.parametrize(
    "values",
    [
        {"layers": [2, 5], "norms": [0.3], "n": 300, "d": 4, "steps": 400, "learning_rate": 0.01},
        {"layers": [1], "norms": [1, 3], "steps": 300, "data": "population", "seed": 5},
    ],
    ids=["data", "population"],
)
def test_a_readers_network(values: dict[str, Any]) -> None:
    names, verdicts = ran("02_magnitude_angle", **values)
    runs = names["trained_runs"]
    assert len(runs) == len(values["layers"]) * len(values["norms"])
    assert all(len(run.trained.t) == values["steps"] + 1 for run in runs)
    assert unjudged(verdicts) == PRINTED["02_magnitude_angle"]


THIRD, FOURTH, FIFTH = (p.stem for p in sorted(CHAPTERS.glob("0[345]_*.ipynb")))


@pytest.mark.parametrize(
    ("page", "data", "values"),
    [
        (THIRD, "(A1)", {"h": 12, "loss": "logistic", "scale": 10.0, "iterations": 500}),
        (THIRD, "mixed", {"h": 7, "log_eps": -50.0, "sigma": 1e-3, "iterations": 500}),
        (THIRD, "figure-9", {"h": 10, "iterations": 300}),
        (THIRD, "digits:3-8", {"h": 10, "iterations": 300}),
        (FOURTH, "(OS), with few support examples", {"width": 6, "scale": 1.0, "epochs": 99}),
        (FOURTH, "mixed", {"width": 3, "optimiser": "sgd", "epochs": 20, "seed": 2}),
        (FOURTH, "digits:3-8", {"width": 30, "optimiser": "sgd", "epochs": 30}),
        (FOURTH, "section-5.1", {"d": 3, "n": 30, "width": 6, "scale": 3.0, "seed": 5}),
        (FIFTH, "separable", {"activation": "linear", "depth": 3, "width": 3, "loss": "logistic"}),
        (FIFTH, "separable",
         {"network": "convolutional", "width": 3, "start": "uniform", "scale": 0.1}),
    ],
)  # fmt: skip
def test_a_readers_classes(page: str, data: str, values: dict[str, Any], tmp_path: Path) -> None:
    """On data that meet a paper's assumption, on data that do not and on named ones: the cells
    about a reader's data run behind the first ones alone, so no claim reads these data."""
    dataset = csv(*own(data), tmp_path / "my.csv") if data in OWN else data
    cells = pages.code_cells(CHAPTERS / f"{page}.ipynb")
    chosen = [cell for cell in cells if READ.search(cell.id)]
    assert sum("own" in cell.id for cell in chosen) >= 3
    names, failed = pages.run(chosen, CHAPTERS, {"dataset": dataset, "effort": 0.05, **values})
    assert failed == []
    assert not names["claims"].settled
    if page == THIRD:
        assert len(names["turned"].paths) == values["h"]
    elif page == FOURTH:
        assert len(names["trained"].own.signs) == values["width"]
    else:
        assert len(names["found"]) == 6
        for one in names["found"]:
            assert (one.optimum is None) == (one.limit is None) == (one.status != "converged")


@pytest.mark.parametrize("page", SECTIONS, ids=pages.name)
def test_a_section_finishes_with_another_seed_and_little_effort(page: Path) -> None:
    assert ran(page, seed=3)[1]
