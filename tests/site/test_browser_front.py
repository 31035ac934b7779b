"""The front page in one screen, what can be saved from a page, and the buttons of a repository."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import looks
import nbformat
import numpy as np
import pytest
import yaml
from browser import LAPTOP, PHONE, Opened, opened
from built import ROOT, build
from guards import error_outputs
from nbclient import NotebookClient
from playwright.sync_api import Browser
from reluflow import datasets, pages
from reluflow.flows.affine import affine_flow
from reluflow.geometry import local_minima
from reluflow.ledger.inventory import load_inventories
from reluflow.ledger.rows import REFUTED
from reluflow.ledger.scoreboard import causes, read, true_instead

CHAPTERS = ROOT / "chapters"
CHAPTER, SECTION = "05_margin_maximization", "04_orthogonal_separability/sectors"
SENTENCE = (
    r"Of (\d+) claims in (\w+) papers, (\d+) are false as stated, from (\d+) causes, "
    r"(\d+) of which make a numbered statement false"
)
BOXES = """(wanted) => [...document.querySelectorAll(wanted)].map(
    (each) => [each.getBoundingClientRect().bottom, each.getBoundingClientRect().width])"""
BARS = """() => [...document.querySelectorAll('.verdicts')].map((bar) => [
    bar.getAttribute('aria-label'),
    [...bar.children].map((part) => [+part.textContent, part.getBoundingClientRect().width])])"""

pytestmark = pytest.mark.long


class Saved(HTMLParser):
    """The links of a page that save what they lead to: {file name: address}."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.files: dict[str, str] = {}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "download" in given and "dropdown-item" in given.get("class", ""):
            self.files[given["download"]] = given["href"]


@pytest.fixture(scope="module")
def front(site: Path) -> Path:
    return site / "chapters" / "index.html"


@pytest.fixture(scope="module")
def wheel(site: Path) -> Path:
    (found,) = site.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def verdicts() -> dict[str, list[str]]:
    """The verdicts on the claims of each paper, without our own."""
    given = {row.claim.id: row.verdict for row in read(CHAPTERS)}
    return {i.paper: [given[c.id] for c in i.claims] for i in load_inventories() if not i.ours}


@pytest.fixture(scope="module")
def visit(browser: Browser, front: Path) -> Iterator[Opened]:
    """The front page, with its formulas unset."""
    with opened(browser, front, formulas=False) as visit:
        yield visit


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_finding_the_sentence_and_the_bars_are_on_the_first_screen(
    visit: Opened, verdicts: dict[str, list[str]], theme: str
) -> None:
    visit.page.emulate_media(color_scheme=theme)
    looks.with_size(visit, LAPTOP)
    assert visit.ask("document.documentElement.dataset.theme") == theme
    for wanted, many in (
        (".front-surprise img", 1),
        ("p strong", 2),
        (".verdicts", len(verdicts)),
        (".legend", 1),
    ):
        boxes = visit.page.evaluate(BOXES, wanted)
        assert len(boxes) >= many, wanted
        assert max(bottom for bottom, _ in boxes[:many]) <= LAPTOP[1], wanted
    ((_, width),) = visit.page.evaluate(BOXES, ".front-surprise img")
    assert width >= 380
    drawn = visit.ask("document.querySelector('.front-surprise img').src")
    assert drawn.startswith("data:image/svg+xml")  # sharp on every screen
    assert visit.ask("document.documentElement.scrollHeight") <= 4 * LAPTOP[1]


def test_on_a_phone_the_bars_are_whole(visit: Opened) -> None:
    looks.with_size(visit, PHONE)
    assert visit.ask("document.documentElement.scrollWidth") == PHONE[0]
    assert all(200 <= width <= PHONE[0] for _, width in visit.page.evaluate(BOXES, ".verdicts"))
    looks.with_size(visit, LAPTOP)


def test_the_sentence_counts_what_the_ledger_has(
    front: Path, verdicts: dict[str, list[str]]
) -> None:
    text = re.sub(r"<[^>]+>|\s+", " ", front.read_text(encoding="utf-8"))
    every, papers, false, slips, theorems = re.search(SENTENCE, " ".join(text.split())).groups()
    assert int(every) == sum(map(len, verdicts.values()))
    assert int(false) == sum(given.count(REFUTED) for given in verdicts.values())
    fallen = [row.claim for row in read(CHAPTERS) if row.verdict == REFUTED]
    told = true_instead(claim.paper for claim in fallen)
    found = causes(told, (claim.id for claim in fallen if ".ours." not in claim.id))
    assert int(slips) == len(found)
    assert int(theorems) == sum(weight == "theorem" for weight in found.values())
    assert papers == ("zero", "one", "two", "three", "four", "five", "six")[len(verdicts)]


def test_the_numbers_of_a_bar_are_a_papers_and_its_parts_as_wide(
    visit: Opened, verdicts: dict[str, list[str]]
) -> None:
    bars = visit.page.evaluate(BARS)
    (legend,) = visit.ask("[...document.querySelectorAll('.legend')].map(e => e.innerText)")
    for (told, parts), given in zip(bars, verdicts.values(), strict=True):
        assert sum(number for number, _ in parts) == len(given)
        words = dict(reversed(part.split(" ")) for part in told.split(", "))
        assert words == {verdict: str(given.count(verdict)) for verdict in words}
        assert [int(number) for number in words.values()] == [number for number, _ in parts]
        assert np.all(np.diff([width for _, width in sorted(parts)]) >= 0)
    everything = [verdict for given in verdicts.values() for verdict in given]
    said = {verdict: int(number) for number, verdict in re.findall(r"(\d+) ([\w-]+)", legend)}
    assert said == {verdict: everything.count(verdict) for verdict in set(everything)}


def test_the_finding_is_what_the_flows_do(front: Path) -> None:
    """The words beside the picture are typed; that they are true is computed."""
    five = datasets.load("example-5.1")
    points = [m for m in local_minima(five.X, five.y) if m.dimension == 0]
    starts = ((1e-4, 1e-4), (0.0, 8.0), (0.0, 45.0))
    ends = [affine_flow(five.X, five.y, start).end for start in starts]
    ranks = [next(m.rank for m in points if np.allclose(m.w, end, atol=1e-6)) for end in ends]
    assert (ranks, len(points)) == ([3, 2, 1], 3)
    words = " ".join(re.sub(r"<[^>]+>", " ", front.read_text(encoding="utf-8")).split())
    said = (
        r"small start ends at the third best minimum, .{,30}at the second best, .{,30}at the best"
    )
    assert re.search(said, words)
    assert "the errata say which" in words


def test_every_reference_leads_to_its_paper(front: Path) -> None:
    entries = re.findall(
        r'<div class="citation".*?</div>', front.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    assert len(entries) >= len(list((CHAPTERS / "errata").glob("*.md")))  # and what they rest on
    for entry in entries:
        assert re.search(r'href="https://(doi\.org|arxiv\.org|openreview\.net)/', entry), entry


def test_every_page_that_can_be_run_again_offers_its_notebook_and_the_library(
    site: Path, wheel: Path
) -> None:
    for source in pages.in_order(CHAPTERS):
        page = (site / source.relative_to(ROOT)).with_suffix(".html")
        saved = Saved(page).files
        runs = any("parameters" in c.metadata.get("tags", []) for c in pages.code_cells(source))
        assert bool(saved) == runs, source
        if runs:
            name = source.relative_to(CHAPTERS).as_posix().replace("/", "-")
            assert sorted(saved) == [name, wheel.name]
            assert (page.parent / saved[wheel.name]).resolve() == wheel.resolve()
            check(base64.b64decode(saved[name].partition(",")[2]).decode(), source, wheel)


def check(text: str, source: Path, wheel: Path) -> None:
    """What is saved says what it needs, and is otherwise the page's notebook without outputs."""
    notebook, own = nbformat.reads(text, as_version=4), nbformat.read(source, as_version=4)
    nbformat.validate(notebook)
    first, *others = notebook.cells
    assert first.cell_type == "markdown"
    assert f'pip install "./{wheel.name}[notebook]"' in first.source
    assert first.source.count(". ") == 0
    assert [cell.source for cell in others] == [cell.source for cell in own.cells]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in others)


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_a_click_saves(browser: Browser, site: Path, wheel: Path, size: tuple[int, int]) -> None:
    page = site / "chapters" / f"{SECTION}.html"
    with opened(browser, page, size, formulas=False) as visit:
        for words in (".ipynb", ".whl"):
            if not visit.page.is_visible(f".dropdown-download-buttons a:has-text('{words}')"):
                visit.page.click(".dropdown-download-buttons > button")
            with visit.page.expect_download(timeout=10_000) as saved:
                visit.page.click(f".dropdown-download-buttons a:has-text('{words}')")
            file = Path(saved.value.path())
            if words == ".ipynb":
                check(file.read_text(encoding="utf-8"), CHAPTERS / f"{SECTION}.ipynb", wheel)
                assert saved.value.suggested_filename == f"{SECTION.replace('/', '-')}.ipynb"
            else:
                assert file.read_bytes() == wheel.read_bytes()
                assert saved.value.suggested_filename == wheel.name
        assert visit.page.url == page.as_uri()  # the page is still there
        assert visit.outgoing == []


def test_the_wheel_is_all_of_the_book_that_a_saved_notebook_needs(
    site: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty folder, with the library from the wheel: the chapter's page, which sums up what
    its sections found, and the command line."""
    target, empty = tmp_path / "target", tmp_path / "empty"
    empty.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(wheel)], check=True)
    monkeypatch.setenv("PYTHONPATH", str(target))
    run = [sys.executable, "-P", "-m", "reluflow.ledger"]
    told = subprocess.run(run, cwd=empty, capture_output=True, text=True, check=True).stdout
    claims = sum(len(inventory.claims) for inventory in load_inventories())
    assert f"0 of {claims} claims open" in told
    saved = Saved(site / "chapters" / f"{CHAPTER}.html").files[f"{CHAPTER}.ipynb"]
    notebook = nbformat.reads(base64.b64decode(saved.partition(",")[2]), as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("import reluflow; print(reluflow.__file__)"))
    NotebookClient(notebook, resources={"metadata": {"path": str(empty)}}).execute()
    assert error_outputs(notebook) == []
    assert str(target) in notebook.cells[-1].outputs[0].text


def test_the_buttons_of_the_repository_appear_with_its_address(tmp_path: Path, front: Path) -> None:
    for name in ("_static", "_templates"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "chapters").mkdir()
    shutil.copy(CHAPTERS / "references.bib", tmp_path / "chapters")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert config["repository"]["url"] == ""
    config["repository"]["url"] = "https://github.com/someone/book"
    (tmp_path / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: chapters/index\n", encoding="utf-8")
    (tmp_path / "chapters" / "index.md").write_text("# Book\n", encoding="utf-8")
    run = build(tmp_path, tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    pages = (tmp_path / "_build" / "html" / "chapters" / "index.html", front)
    kinds = [{*re.findall(r"btn-source-(\w+)-button", p.read_text("utf-8"))} for p in pages]
    assert kinds == [{"edit", "file", "issues", "repository"}, set()]
