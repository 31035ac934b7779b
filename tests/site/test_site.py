"""What the built book makes from the ledger, one piece at a time and without a build."""

import doctest
import inspect
import json
import re
from collections import Counter
from html import unescape
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from built import ROOT
from docutils import nodes
from docutils.utils import new_document
from hypothesis import example, given
from hypothesis import strategies as st
from looks import TYPED
from reluflow.approx import approx, counted, written
from reluflow.ledger import read
from reluflow.ledger.__main__ import main
from reluflow.ledger.rows import COLOURS, NOT_APPLICABLE, OPEN, RECORD, REFUTED, VERDICTS, badge
from reluflow.site import board, downloads, front

ROWS = read(ROOT / "chapters")
SHOWN = [verdict for verdict in (*VERDICTS, OPEN) if verdict != NOT_APPLICABLE]


# --- Verdicts -------------------------------------------------------------------------------------


def test_each_verdict_has_a_colour_of_its_own() -> None:
    """That white can be read on it, axe asks on the scoreboard."""
    assert len({COLOURS[verdict] for verdict in SHOWN}) == len(SHOWN)
    style = (ROOT / "_static" / "book.css").read_text(encoding="utf-8")
    assert set(re.findall(r"border-left: 0\.3em solid (#\w+)", style)) == {COLOURS[REFUTED]}


@pytest.mark.parametrize("paper", front.tally())
def test_a_part_of_a_bar_has_the_colour_of_its_verdict_and_its_width(paper: str) -> None:
    ((node,), _), ((legend,), _) = (
        front.verdicts(role, "", paper, 0, None) for role in ("bar", "legend")
    )
    words = re.search(r'aria-label="([^"]+)"', node.astext())[1].split(", ")
    parts = re.findall(r"flex-grow:(\d+);background:(#\w+)\">(\d+)<", node.astext())
    given = front.tally()[paper]
    for word, (width, colour, number) in zip(words, parts, strict=True):
        verdict = word.split()[1]
        assert int(width) == int(number) == given[verdict]
        assert word == f"{number} {verdict}"
        assert colour == COLOURS[verdict]
        assert f"{number} {badge(verdict)}" in legend.astext()
    assert sum(int(width) for width, _, _ in parts) == given.total()


# --- Files beside the pages -----------------------------------------------------------------------


def built(folder: Path) -> SimpleNamespace:
    """What is needed of Sphinx, for pages in a folder."""
    html, env = SimpleNamespace(format="html"), SimpleNamespace(found_docs={"a", "b"})
    return SimpleNamespace(outdir=folder, srcdir=ROOT, builder=html, env=env)


def test_an_earlier_wheel_does_not_outlive_a_build(tmp_path, monkeypatch):
    old, new = (f"reluflow-{version}-py3-none-any.whl" for version in ("0.0.9", "0.1.0"))

    def run(*command: Any, **how: Any) -> SimpleNamespace:
        (tmp_path / new).touch()
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(downloads.subprocess, "run", run)
    (tmp_path / old).touch()
    downloads.build(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [new]


def test_the_wheel_carries_rows_and_no_pictures() -> None:
    file = ROOT / "chapters" / "01_support_vectors.ipynb"
    bare = json.dumps(downloads._rows_only(file))
    settled = [row for row in ROWS if row.chapter == file.name]
    assert bare.count(f'"{RECORD}"') == len(settled) > 0
    assert "image/svg" not in bare


def test_what_is_searched_has_every_settled_claim(tmp_path, capsys):
    """And the file of claims is what the command prints."""
    (tmp_path / "_static").mkdir()
    board.Searched().write(built(tmp_path), None)
    assert main(["--csv"]) == 0
    assert (tmp_path / "_static" / board.CSV).read_text("utf-8") == capsys.readouterr().out
    ids = [row.claim.id for row in ROWS]
    script = (tmp_path / "_static" / "searched.js").read_text(encoding="utf-8")
    claims = json.loads(script.splitlines()[0].removeprefix("const CLAIMS = ").removesuffix(";"))
    assert [claim["id"] for claim in claims] == ids
    for claim, row in zip(claims, ROWS, strict=True):
        assert claim["says"] == row.claim.says
        assert claim["page"] == row.chapter.replace(".ipynb", f".html#{row.claim.anchor}")
        assert claim["by"].split()[0].rstrip(",").lower() in row.claim.paper


def test_a_page_that_is_not_written_again_is_still_found(tmp_path: Path) -> None:
    """And none that is gone: a build without `--all` writes only the pages that changed, and one
    that fails writes nothing."""
    board.Searched().write(built(tmp_path), RuntimeError())
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "_static").mkdir()
    for pages in ({"a": "old", "b": "old", "c": "gone"}, {"b": "new"}):
        searched = board.Searched()
        searched.parts = [{"id": f"{page}.html#x", "text": text} for page, text in pages.items()]
        searched.write(built(tmp_path), None)
    script = (tmp_path / "_static" / "searched.js").read_text(encoding="utf-8")
    assert re.findall(r'"(\w)\.html#x", "text": "(\w+)"', script) == [("a", "old"), ("b", "new")]


def test_what_is_searched_of_a_page_are_its_words() -> None:
    said = nodes.paragraph("", "", nodes.Text("A start "), nodes.math(text="w_0"), nodes.Text("."))
    drawn = nodes.paragraph("", "", nodes.Text("printed"))
    cell = nodes.container("", drawn, classes=["cell"])
    silent = [nodes.literal_block(text="x = 1"), nodes.raw(text="<b>card</b>"), cell]
    part = nodes.section("", said, nodes.math_block(text="w"), *silent, nodes.comment(text="no"))
    assert board.words(part).split() == ["A", "start", "$w_0$.", "…"]


# --- The pages ------------------------------------------------------------------------------------


REFERENCE = (ROOT / "chapters" / "reference.md").read_text(encoding="utf-8")
# What the page is for, and the section in which each stands.
USED = ("affine_flow", "local_minima", "integrate", "classify_optimum", "falsify", "ledger")


def test_every_example_of_the_reference_prints_what_the_page_shows() -> None:
    """Each one sees the names of those before it."""
    names: dict[str, Any] = {}
    runner = doctest.DocTestRunner(verbose=False)
    for block in re.findall(r"^```python\n(.*?)^```", REFERENCE, flags=re.MULTILINE | re.DOTALL):
        shown = doctest.DocTestParser().get_doctest(block, names, "reference.md", None, 0)
        runner.run(shown, clear_globs=False)
        names = shown.globs
    assert (runner.tries > 0, runner.failures) == (True, 0)


def test_each_section_of_the_reference_documents_its_function_and_uses_it() -> None:
    for name, section in zip(USED, REFERENCE.split("\n## ")[1:], strict=True):
        assert re.search(rf"auto\w+:: reluflow\.[\w.]*{name}\b", section), name
        assert re.search(rf"^>>> .*\b{name}[(.]", section, flags=re.MULTILINE), name


def words(lines: list[str]) -> list[str]:
    """The words of lines, without what sets them in type."""
    return re.sub(r"[\\*`]", "", " ".join(lines)).split()


@pytest.mark.parametrize("name", re.findall(r"auto\w+:: (reluflow\.[\w.]+)", REFERENCE))
def test_the_reference_has_every_word_of_a_docstring_in_its_place(name: str) -> None:
    module, _, thing = name.rpartition(".")
    try:
        found = getattr(import_module(module), thing)
    except ModuleNotFoundError:
        outer, _, cls = module.rpartition(".")
        found = getattr(getattr(import_module(outer), cls), thing)
    lines = (inspect.getdoc(found) or "").splitlines()
    shown = list(lines)
    front.plain(None, "", name, found, None, shown)
    assert words(shown) == words(lines)


def test_a_column_of_names_is_a_list_whose_lines_go_on() -> None:
    lines = [
        "Parameters",
        "w     (d,) the weight,",
        "      at its start",
        "Returns a_b, `x*y` * 2.",
    ]
    front.plain(None, "", "", None, None, lines)
    assert lines == [
        "", "**Parameters**", "w", "    (d,) the weight,", "    at its start", "",
        "**Returns** a_b, ``x*y`` \\* 2.",
    ]  # fmt: skip


def test_a_formula_stays_with_the_stop_behind_it() -> None:
    formula = '<span class="math notranslate">\\(x\\)</span>'
    for touched in (f"({formula}),", f"({formula}", f"{formula},"):
        tied = f'<span class="tie">{touched}</span> {formula} or'
        assert front._TOUCHED.sub(front._tied, f"{touched} {formula} or") == tied


@pytest.mark.parametrize(("sizes", "shown"), [((100, 79), 2), ((100, 81), 1), ((200, 1), 1)])
def test_the_board_tells_the_beginning_of_the_evidence(monkeypatch, sizes, shown):
    lines = [letter * size for letter, size in zip("ab", sizes, strict=True)]
    monkeypatch.setattr(board, "why", lambda row: lines)
    told = board._why(SimpleNamespace(reading=None, verdict=REFUTED), None)
    assert [line in told for line in lines] == [True, shown == 2]
    assert ("…" in told) == (shown == 1)


# --- What a cell's table says on a page is what pandas stored, set in type ------------------------


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("phi(T) > pi - eps, alpha^+", "φ(T) &gt; π − ε, α<sup>+</sup>"),
        ("|w0|/|w*|, w_j", "|w<sub>0</sub>|/|w*|, w<sub>j</sub>"),
        ("((1 + -0.6 x)^-0.5 - 1) / -1.5", "((1 − 0.6 x)<sup>−0.5</sup> − 1) / −1.5"),
        ("e^-1000000", "e<sup>−1\u202f000\u202f000</sup>"),
        ("a^12m", "a<sup>12m</sup>"),
        ("≈1.2e‑5", "≈1.2·10<sup>−5</sup>"),
        ("5e-01", "0.5"),
        ("1e-09", "10<sup>−9</sup>"),
        ("32 x 28", "32 × 28"),
        ("94.0% to 97 %", "94.0\u00a0% to 97\u00a0%"),
        ("9 % (8 % to 10 %)", '9\u00a0% <span class="tie">(8\u00a0% to 10\u00a0%)</span>'),
        ("True", "yes"),
        ("nan", "–"),
        ("True if a < b", "True if a &lt; b"),
        ("near-parallel, 1L-SN", "near-parallel, 1L-SN"),
    ],
)
def test_a_cell_is_set_in_type(stored: str, shown: str) -> None:
    assert board.in_type(stored) == shown
    assert not TYPED(unescape(re.sub(r"<[^>]*>", "", board.in_type(stored))))


def grid(table: str) -> list[list[str]]:
    """The words of a table, row by row."""
    rows = BeautifulSoup(table, "html.parser").select("tr")
    return [[cell.get_text().strip() for cell in row.select("th, td")] for row in rows]


def test_ways_are_counted_by_paper_with_our_own_claims_apart_and_add_up() -> None:
    (_, *ways), *papers, ours, both = grid(front._ways())
    own = Counter(row.known[0].how for row in ROWS if ".ours." in row.claim.id)
    every = Counter(row.known[0].how for row in ROWS)
    assert ours == ["our own claims", *(str(own[way]) for way in ways[:-1]), str(own.total())]
    assert both == ["all", *(str(every[way]) for way in ways[:-1]), str(len(ROWS))]
    assert [sum(map(int, column)) for column in zip(*(p[1:] for p in [*papers, ours]), strict=True)
            ] == list(map(int, both[1:]))  # fmt: skip


PLAIN = st.text("abc <>&'\"", max_size=20).map(lambda words: " ".join(words.split()))


@given(st.lists(st.lists(PLAIN, min_size=2, max_size=2), min_size=1, max_size=3))
def test_plain_words_stay_in_their_cells(rows: list[list[str]]) -> None:
    stored = pd.DataFrame(rows, columns=["a_1", "b"]).to_html()
    words = grid(board.dressed(stored))
    assert words[0] == ["", "a1", "b"]
    assert words[1:] == grid(stored)[1:]


@example(1e-4, 4)  # ≈0.0001000: as many decimals as a rounded number has
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 4))
def test_no_number_is_changed(value: float, digits: int) -> None:
    stored = approx(value, digits)
    factor, _, power = board.in_type(stored).partition("10<sup>")
    assert not TYPED(factor)
    factor = re.sub(r"\s", "", factor).replace("−", "-")
    exponent = power.removesuffix("</sup>").replace("−", "-")
    shown = factor.replace("·", "").removeprefix("≈")
    shown += "1" if shown in ("", "-") else ""
    assert written(f"{shown}e{exponent or 0}") == written(stored)


@given(st.integers(0, 10**7))
def test_a_count_is_a_whole_number(number: int) -> None:
    assert float(written(counted(number))).is_integer()
    assert abs(written(counted(number)) - number) <= 0.51 * 10 ** max(0, len(str(number)) - 3)


def test_only_tables_of_cells_are_dressed_and_words_get_room() -> None:
    page = new_document("page")
    frame = pd.DataFrame({"w_j": ["1e-09"], "many words make a head": ["many words make a cell"]})
    table = frame.to_html(classes="sentences")
    card = "<table><td>w_j</td></table>"
    page += [nodes.raw(text=text, format="html") for text in (table, card)]
    board.dress(None, page)  # type: ignore[arg-type]
    assert "<th>w<sub>j</sub></th>" in page[0].astext()
    assert "<td>10<sup>−9</sup></td>" in page[0].astext()
    assert page[0].astext().count('<td class="words">many words make a cell</td>') == 1
    assert page[0].astext().count('class="words"') == 1
    assert page[1].astext() == card
