"""The committed notebooks: what they must not contain, and that a new run gives the same."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from guards import GUARDS, SCREEN, complaints, machine_paths
from machines import OUTER, machines, nbval, nearness, numpy_levels, why_not
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from reluflow import pages, refresh
from reluflow.ledger import scoreboard
from reluflow.ledger.rows import RECORD
from reluflow.places import CHAPTERS

from tests.papers.test_pages import ran

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = pages.in_order(ROOT / "chapters")
NAMES = [pages.name(path).removesuffix(".ipynb") for path in NOTEBOOKS]


MACHINES = machines(numpy_levels())
# The machine itself and the one that is farthest from it, on every run; the others on demand.
ALWAYS = ("native", "far")


def test_no_notebook_is_left_out() -> None:
    """One in a folder that no chapter's page is named after would be neither run nor compared."""
    on_disk = set((ROOT / "chapters").rglob("*.ipynb"))
    assert {path for path in on_disk if ".ipynb_checkpoints" not in path.parts} == set(NOTEBOOKS)
    assert "01_support_vectors" in NAMES


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[pytest.mark.matrix, *([pytest.mark.long] if name in ALWAYS else [])]
        )
        for name in MACHINES
    ],
)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_gives_its_outputs_again(path, name, record_property):
    """On this machine and on others; `bash book test -m matrix` takes all the others."""
    if reason := why_not(name):
        pytest.skip(reason)
    run = nbval(path, MACHINES[name])
    record_property("nearness", f"{pages.name(path)}, {name}: {nearness(run)}")
    assert run.returncode == 0, run.stdout + run.stderr


def found_by(machine: dict[str, str]) -> tuple[set[str], set[str]]:
    """The kernels that a Python on this machine loads: OpenBLAS's, and NumPy's levels."""
    code = (
        "import numpy, scipy.linalg, machines, threadpoolctl as t; print({d['architecture'] for d "
        "in t.threadpool_info() if 'architecture' in d}, set(machines.numpy_levels()), sep='|')"
    )
    outer = {k: v for k, v in os.environ.items() if not k.startswith(OUTER)}
    command = [sys.executable, "-c", code]
    told = subprocess.check_output(command, env=outer | machine, cwd=ROOT / "tests", text=True)
    return tuple(ast.literal_eval(part.replace("set()", "()")) for part in told.split("|"))


def test_the_far_machine_is_another_one() -> None:
    if reason := why_not("far"):
        pytest.skip(reason)
    (blas, levels), (far_blas, far_levels) = (found_by(MACHINES[name]) for name in ALWAYS)
    assert list(levels) == [] or sorted(levels) == sorted(numpy_levels())
    assert not far_levels
    assert far_blas.isdisjoint(blas) or not levels


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_passes_every_guard(path: Path) -> None:
    assert complaints(nbformat.read(path, as_version=4)) == []


def code(
    source: str, count: int, *outputs: NotebookNode, tags: tuple[str, ...] = ()
) -> NotebookNode:
    metadata = {"tags": list(tags)} if tags else {}
    return new_code_cell(source, execution_count=count, outputs=list(outputs), metadata=metadata)


def machine(*parts: str) -> str:
    """A path from the root of a machine; spelt so that this file holds none."""
    return "/" + "/".join(parts)


GLUED = "application/papermill.record/"
FOLDED = ("hide-input",)


def figure(name: str = "<Figure fig-1>") -> NotebookNode:
    return new_output("display_data", {"image/svg+xml": "<svg/>", "text/plain": name})


def sealed(notebook: NotebookNode) -> NotebookNode:
    """With the metadata that a run would store."""
    notebook.metadata.update(
        kernelspec=refresh.KERNEL,
        language_info=refresh.LANGUAGE,
        reluflow={"cells": refresh.cells_digest(notebook)},
    )
    return notebook


def good() -> NotebookNode:
    """A notebook with nothing wrong: parameters, text, a picture, a row."""
    named = {"scrapbook": {"name": "half", "mime_prefix": GLUED}}
    glued = new_output("display_data", {f"{GLUED}text/plain": "0.5"}, metadata=named)
    said = new_markdown_cell("See [the data](../data/my.csv) of `a/b`: {glue:text}`half:.1f`.")
    cells = [
        said,
        code("seed = 0", 1, tags=("parameters",)),
        code("%matplotlib inline\nprint(2)", 2, stream("stdout", "2\n")),
        code('show(fig, "fig-1", alt="")', 3, figure(), tags=FOLDED),
        code("row", 4, shown("reproduced")),
        code("glue('half', 0.5)", 5, glued, tags=("remove-input",)),
    ]
    return sealed(new_notebook(cells=cells))


def replaced(cell: NotebookNode, position: int = 2) -> NotebookNode:
    notebook = good()
    notebook.cells[position] = cell
    return sealed(notebook)


def wrong(source: str, *outputs: NotebookNode, tags: tuple[str, ...] = ()) -> NotebookNode:
    return replaced(code(source, 2, *outputs, tags=tags))


def with_metadata(**metadata: object) -> NotebookNode:
    notebook = good()
    notebook.metadata.update(metadata)
    return notebook


def edited(position: int, *cells: NotebookNode) -> NotebookNode:
    """The good notebook after a change by hand: its digest is that of the run."""
    notebook = good()
    notebook.cells[position : position + 1] = cells
    return notebook


def stream(name: str, text: str) -> NotebookNode:
    return new_output("stream", name=name, text=text)


def shown(verdict: str) -> NotebookNode:
    return new_output("execute_result", {RECORD: {"id": "sv.ex5.2", "verdict": verdict}})


# For every guard, notebooks that it must refuse and that every other guard lets pass.
PLANTED = [
    ("stderr_outputs", wrong("warn()", stream("stderr", "RuntimeWarning"))),
    ("markers", wrong("# NBVAL_IGNORE_OUTPUT\nprint(2)")),
    ("markers", wrong("#NBVAL_SKIP")),
    ("markers", wrong("# PYTEST_VALIDATE_IGNORE_OUTPUT")),
    ("markers", wrong("print(2)", tags=("nbval-skip",))),
    ("markers", wrong("print(2)", tags=("raises-exception",))),
    ("machine_paths", wrong(f"open('{machine('home', 'me')}')")),
    (
        "machine_paths",
        replaced(new_markdown_cell(f"{{glue:text}}`half` {machine('root', 'b')}."), 0),
    ),
    ("machine_paths", wrong("f", new_output("error", traceback=[f">{machine('tmp', 'x')}<"]))),
    ("machine_paths", wrong("f", stream("stdout", machine("usr", "lib", "x.py")))),
    ("long_cells", wrong("\n".join(["print(2)"] * (SCREEN + 1)))),
    ("code_in_sight", wrong("import numpy as np\n\np = 2")),
    ("code_in_sight", wrong("claims.settle('sv.thm3.6', [])")),
    ("code_in_sight", wrong("x = 1\nrow = settle(claims, x)", tags=FOLDED)),
    ("code_in_sight", replaced(code('show(fig, "fig-1", alt="")', 3, figure()), 3)),
    ("definitions", wrong("def f():\n    pass")),
    ("definitions", wrong("%matplotlib inline\nif x:\n    class A:\n        pass")),
    ("claims_left_open", replaced(code("row", 4, shown("not-applicable")), 4)),
    ("pictures_of_others", replaced(code("fig", 3, figure("")), 3)),
    ("pictures_of_others", replaced(code("fig", 3, figure("<Figure fig-1, cut off: 'x'>")), 3)),
    ("hidden_outputs", wrong('%%capture\nshow(fig, "fig-1", alt="")', tags=FOLDED)),
    ("hidden_outputs", wrong('if False:\n    show(fig, "fig-1", alt="")', tags=FOLDED)),
    ("said_twice", sealed(edited(0, good().cells[0], good().cells[0]))),
    ("glued_for_nothing", replaced(new_markdown_cell("It is 0.5."), 0)),
    ("glued_for_nothing", replaced(new_markdown_cell("```{glue:} third\n```"), 0)),
    ("not_as_stored", edited(0, new_markdown_cell("It is not {glue:text}`half`."))),
    ("not_as_stored", edited(5)),
    ("not_as_stored", edited(4, code("( row )", 4))),
    ("not_as_stored", edited(2, code("print(2)", 9, stream("stdout", "2\n")))),
    ("not_as_stored", with_metadata(papermill={"duration": 1})),
    ("not_as_stored", with_metadata(kernelspec={"name": "myvenv", "display_name": "mine"})),
]


def test_a_good_notebook_passes_every_guard() -> None:
    """Also one that glues a table as a block."""
    nbformat.validate(good())
    assert complaints(good()) == []
    assert complaints(replaced(new_markdown_cell("```{glue:} half\n```"), 0)) == []


@pytest.mark.parametrize(("name", "notebook"), PLANTED, ids=[name for name, _ in PLANTED])
def test_a_planted_fault_is_found_by_its_guard_alone(name: str, notebook: NotebookNode) -> None:
    assert {guard.__name__ for guard in GUARDS if any(guard(notebook))} == {name}


def test_every_guard_has_a_planted_fault() -> None:
    assert {name for name, _ in PLANTED} == {guard.__name__ for guard in GUARDS}


def test_the_readme_shows_a_figure_of_the_first_chapter() -> None:
    """`refresh` copies it, so that it is the figure which the tests draw again."""
    page, figure = refresh.README_SHOWS
    shown = refresh.picture(nbformat.read(ROOT / "chapters" / page, as_version=4), figure)
    assert shown == refresh.README_PICTURE.read_text("utf-8")
    link = f"]({refresh.README_PICTURE.relative_to(ROOT)})"
    assert link in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", ["</div>", "/home", "../data", *(s + machine("tmp", "b") for s in ("w", "a.org", ".."))]
)
def test_what_only_looks_like_a_path_is_let_pass(text: str) -> None:
    assert not any(machine_paths(new_notebook(cells=[new_markdown_cell(text)])))


# --- With other seeds -----------------------------------------------------------------------------

SETTLE = [
    page for page in pages.in_order(CHAPTERS) if page.parent != CHAPTERS or pages.sections(page)
]


@pytest.mark.matrix
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("page", SETTLE, ids=pages.name)
def test_another_seed_gives_the_same_verdicts(page: Path, seed: int) -> None:
    """With few draws two pages hid that they stopped at such a seed."""
    _, verdicts = ran(page, seed=seed, effort=1.0)
    stored = {row.claim.id: row.verdict for row in scoreboard([CHAPTERS]).rows}
    assert verdicts == {id: stored[id] for id in verdicts}
