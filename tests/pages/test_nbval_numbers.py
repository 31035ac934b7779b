"""The comparison of outputs: it takes measured numbers as numbers, and lets nothing else pass."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import machines, nbval, nearness
from nbclient import NotebookClient
from nbval_numbers import SVG, reconciled_text
from pictures import alike
from reluflow.approx import MARK, approx, on_grain, written
from reluflow.figures import panels
from reluflow.figures.vector import svg

# --- numbers as written -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "value", "digits", "text"),
    [
        (approx, 0.0021144, 4, "≈0.002114"),
        (approx, -1, 2, "≈-1.0"),
        (approx, 99999.9, 4, "≈1.000e5"),
        (approx, 0.00099996, 4, "≈0.001000"),
        (approx, 2e-5, 1, "≈2e-5"),
        (approx, -0.0, 4, "0"),
        (approx, float("nan"), 4, "nan"),
        (approx, float("-inf"), 4, "-inf"),
        # A position: by its grain.
        (on_grain, -1e-17, 1e-3, "≈0.000"),
        (on_grain, -0.0006, 1e-3, "≈-0.001"),
        (on_grain, 3.0, 10.0, "≈0e1"),
        (on_grain, -9999.0, 10.0, "≈-1.000e4"),
    ],
)
def test_a_measured_number_shows_all_its_digits(shown, value, digits, text):
    assert shown(value, digits) == text
    room = {"abs": 0.6 * digits} if shown is on_grain else {"rel": 0.6 * 10.0 ** (1 - digits)}
    assert written(text) == pytest.approx(value, **room, nan_ok=True)


@given(st.floats(1e-9, 1e9), st.integers(1, 4), st.sampled_from([-1, 1]))
def test_no_rounding_edge_goes_beyond_the_tolerance(value: float, digits: int, sign: int) -> None:
    noise = sign * 10.0 ** (-digits) * value / 10  # below a unit of the last digit
    for shown in (lambda v: approx(v, digits), lambda v: on_grain(v, value / 3e3)):
        grain_noise = min(noise, value / 4e4) if noise > 0 else max(noise, -value / 4e4)
        ref, test = shown(value), shown(value + grain_noise)
        assert reconciled_text(test, ref, [].append) == ref


# --- pictures -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page() -> str:
    """A line, and an axis whose ticks have a sign."""
    fig, (ax,) = panels(height=2.0)
    ax.plot([-1, 1], [-1, 1], label="line")
    return svg(fig)


def moved(by: float, page: str) -> str:
    """Every number of every path, moved."""
    shift = re.compile(r"(?<=[LM] )-?[\d.]+")
    return shift.sub(lambda x: f"{float(x[0]) + by:.2f}", page)


@pytest.mark.parametrize(
    "change",
    [
        lambda p: moved(2.0, p),
        lambda p: p.replace("<!-- −1.0 -->", "<!-- 1.0 -->", 1),
        lambda p: re.sub(r'<use xlink:href="#DejaVuSans-c9c"[^>]*/>', "", p, count=1),
        lambda p: p.replace('#DejaVuSans-14"', '#DejaVuSans-15"', 1),
        lambda p: p.replace('viewBox="0 0 504', 'viewBox="0 0 500'),
        lambda p: p.replace("#1f77b4", "#1f77b5"),
        lambda p: re.sub(r'L [\d. ]+(?=" clip-path)', "", p),
        lambda p: p.replace("stroke-linecap: square", "stroke-dasharray: 5"),
        lambda p: "aGk=",
    ],
    ids=["moved", "word", "sign", "letter", "size", "colour", "shorter", "line", "none"],
)
def test_rounding_of_a_picture_is_let_pass_and_another_picture_is_not(page, change):
    assert alike(page, moved(0.01, page))
    assert alike(page, re.sub(r"(?<=#)m[0-9a-f]{10}|(?<=\")m[0-9a-f]{10}", "m0123456789", page))
    assert change(page) != page
    assert not alike(page, change(page))


# --- nbval itself -------------------------------------------------------------------------------

SETUP = f"""\
from dataclasses import replace
import numpy as np, pandas as pd
from IPython.display import display
from reluflow import figures, ledger
from reluflow.approx import approx
X, mark = [[1, 0]], "{MARK}"

def row(value=0.0021144, digits=4, limit=0.05, what="gap", reading=None, context=(0.5, 3)):
    evidence = [ledger.bound(what, value, "<=", limit, "", digits), ledger.note("shares", context)]
    return opened().settle("sv.thm3.6", evidence, reading=reading)

def opened():
    claims = ledger.open("lee2022support")
    free = replace(claims.claims["sv.thm3.6"], limits=None)
    return replace(claims, claims={{"sv.thm3.6": free}})

def falls(x=1.25, loss=0.31234):
    case = ledger.Counterexample(
        dict(X=[[x]]), dict(A1=True), (ledger.bound("loss", loss, "<=", 0, ""),),
        (ledger.bound("loss by a loop", loss, "<=", 0, ""),), "a loop")
    found = ledger.bound("worst", loss, "<=", 0, "")
    return ledger.open("lee2022support").settle("sv.thm3.6", [found], counterexample=case)

def table(loss=0.56249, count=3):
    return pd.DataFrame(dict(loss=[approx(loss)], count=[count]))

def drawn(bump=0.0, count=200, shift=0.0):
    fig, (ax,) = figures.panels(height=2)
    t = np.linspace(0, 6, count)
    ax.plot(t, np.sin(t) + shift + bump * (t > 3) * (t < 3.1))
    figures.show(fig, "sine", alt="A sine.")

def glued():
    for name, value in dict(low="0.1", high="0.2").items():
        kind = "application/papermill.record/text/plain"
        display({{kind: value}}, raw=True, metadata=dict(scrapbook=dict(name=name)))
"""
# What a cell shows in the stored notebook, what it shows now, and whether it passes.
CELLS = {
    "nothing": ("row()", "row()", True),
    "two units": ("row()", "row(0.0021164)", True),
    "three units": ("row()", "row(0.0021174)", False),
    "a limit": ("row()", "row(limit=0.05001)", False),
    "a verdict": ("row()", "row(reading=ledger.Reading('so', 'or so'))", False),
    "a note": ("row()", "row(context=(0.50004, 3))", True),
    "an instance's loss": ("falls()", "falls(loss=0.31236)", True),
    "an instance": ("falls()", "falls(x=1.2501)", False),
    "a table": ("table()", "table(0.56251)", True),
    "a table's number": ("table()", "table(0.5629)", False),
    "what is printed": ("print(f'{mark}0.56')", "print(f'{mark}0.57')", True),
    "a power of ten": ("print(f'{mark}0.001000')", "print(f'{mark}0.0009999')", True),
    "a digit less": ("print(f'{mark}0.560')", "print(f'{mark}0.56')", False),
    "a number too many": ("print(0.56)", "print(0.56); display(0.56)", False),
    "samples": ("drawn()", "drawn(count=201)", True),
    "a curve": ("drawn()", "drawn(bump=0.02)", False),
    "a little curve": ("drawn()", "drawn(shift=0.01)", False),
    "a word": ("print(3)", "print(4)", False),
    "a value": ("1 + 1", "1 + 2", False),
    "a warning": ("1 + 1", "import sys; print('careful', file=sys.stderr); 1 + 1", False),
    # What is the same now, and is changed by hand where it is stored.
    "a picture": ("drawn()", "drawn()", False),
    "a phone's picture": ("drawn()", "drawn()", False),
    "words for a picture": ("drawn()", "drawn()", False),
    "glued names": ("glued()", "glued()", False),
}


@pytest.mark.long
def test_nbval_fails_exactly_where_something_changed(tmp_path: Path, monkeypatch: Any) -> None:
    """A notebook with its outputs, of which some are others now."""
    cells = [nbformat.v4.new_code_cell(s) for s in (SETUP, *(old for old, *_ in CELLS.values()))]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for cell, (_, new, _) in zip(notebook.cells[1:], CELLS.values(), strict=True):
        cell.source = new
    # What nbval by itself passes over.
    (picture,), (phone,), (words,), names = (cell.outputs for cell in notebook.cells[-4:])
    for drawn, form in ((picture.data, SVG), (phone.metadata[SVG], "narrow")):
        assert "#1f77b4" in drawn[form]
        drawn[form] = drawn[form].replace("#1f77b4", "#d62728")
    words.metadata[SVG]["alt"] = "A cosine."
    low, high = (output.metadata["scrapbook"] for output in names)
    low["name"], high["name"] = high["name"], low["name"]
    nbformat.write(notebook, tmp_path / "changed.ipynb")
    report = tmp_path / "report.xml"
    monkeypatch.setenv("PYTEST_ADDOPTS", "")
    run = nbval(tmp_path / "changed.ipynb", machines([])["native"], f"--junitxml={report}")
    passed = [case.find("failure") is None for case in ET.parse(report).iter("testcase")]
    names = ["set-up", *CELLS]
    expected = {"set-up": True} | {name: passes for name, (_, _, passes) in CELLS.items()}
    assert dict(zip(names, passed, strict=True)) == expected, run.stdout
    assert " 100 %" in nearness(run)


@pytest.mark.long
def test_a_kernel_that_dies_ends_its_page_at_once(tmp_path: Path) -> None:
    cell = nbformat.v4.new_code_cell("import os\nos.kill(os.getpid(), 9)")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "page.ipynb")
    run = nbval(tmp_path / "page.ipynb", machines([])["native"])
    assert run.returncode == 1
    assert run.stdout.endswith("the kernel died\n")
