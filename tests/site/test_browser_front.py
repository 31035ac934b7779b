"""The front page in one screen, what can be saved from a page, and what shows a definition: to the
mouse, a finger, the keyboard, and on no paper."""

import base64
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from zipfile import ZipFile

import looks
import nbformat
import numpy as np
import pytest
from browser import LAPTOP, PHONE, Opened, opened
from built import ROOT
from playwright.sync_api import Browser, Locator, expect
from reluflow import datasets, pages
from reluflow.flows.affine import affine_flow
from reluflow.ledger.inventory import load_inventories
from reluflow.ledger.rows import REFUTED
from reluflow.ledger.scoreboard import causes, read, true_instead
from reluflow.papers.lee2022support.landscape import local_minima

FRONT = "chapters/index.html"
CHAPTERS = ROOT / "chapters"
CHAPTER, SECTION = "05_margin_maximization", "04_orthogonal_separability/sectors"
SENTENCE = (
    r"Of (\d+) claims in (\w+) papers, (\d+) are false as stated, from (\d+) causes, "
    r"(\d+) of which make a numbered statement false"
)
MAIN = [page.stem for page in pages.in_order(CHAPTERS) if pages.sections(page)]
PAGE, FORMULAS = f"chapters/{MAIN[3]}.html", False  # those of definitions are set on every page
LINKS = "a[href*='definitions.html#def-']"
OPEN = ".definition:popover-open"
BOXES = """(wanted) => [...document.querySelectorAll(wanted)].map(
    (each) => [each.getBoundingClientRect().bottom, each.getBoundingClientRect().width])"""

pytestmark = pytest.mark.long


def saved_from(path: Path) -> dict[str, str]:
    """The links of a page that save what they lead to: {file name: address}."""
    link = r'<a class="[^"]*dropdown-item" href="([^"]+)" download="([^"]+)"'
    return {name: address for address, name in re.findall(link, path.read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def front(site: Path) -> str:
    """The words of the front page."""
    return " ".join(re.sub("<[^>]+>", " ", (site / FRONT).read_text(encoding="utf-8")).split())


@pytest.fixture(scope="module")
def wheel(site: Path) -> Path:
    (found,) = site.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def verdicts() -> dict[str, list[str]]:
    """The verdicts on the claims of each paper, without our own."""
    given = {row.claim.id: row.verdict for row in read(CHAPTERS)}
    return {i.paper: [given[c.id] for c in i.claims] for i in load_inventories() if not i.ours}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_finding_the_sentence_and_the_bars_are_on_the_first_screen(
    browser, site, verdicts, theme
):
    with opened(browser, site / FRONT, LAPTOP, theme, formulas=False) as visit:
        assert visit.ask("document.documentElement.dataset.theme") == theme
        wanted = {".front-surprise img": 1, "p strong": 2, ".verdicts": len(verdicts), ".legend": 1}
        for what, many in wanted.items():
            boxes = visit.page.evaluate(BOXES, what)
            assert len(boxes) >= many, what
            assert max(bottom for bottom, _ in boxes[:many]) <= LAPTOP[1], what
        ((_, width),) = visit.page.evaluate(BOXES, ".front-surprise img")
        assert width >= 380
        drawn = visit.ask("document.querySelector('.front-surprise img').src")
        assert drawn.startswith("data:image/svg+xml")  # sharp on every screen
        assert visit.ask("document.documentElement.scrollHeight") <= 4 * LAPTOP[1]
        looks.with_size(visit, PHONE)  # on which the bars are whole
        assert all(200 <= w <= PHONE[0] for _, w in visit.page.evaluate(BOXES, ".verdicts"))


def test_the_sentence_counts_what_the_ledger_has(front, verdicts):
    every, papers, false, slips, theorems = re.search(SENTENCE, front).groups()
    assert int(every) == sum(map(len, verdicts.values()))
    assert int(false) == sum(given.count(REFUTED) for given in verdicts.values())
    fallen = [row.claim for row in read(CHAPTERS) if row.verdict == REFUTED]
    told = true_instead(claim.paper for claim in fallen)
    found = causes(told, (claim.id for claim in fallen if ".ours." not in claim.id))
    assert int(slips) == len(found)
    assert int(theorems) == sum(weight == "theorem" for weight in found.values())
    assert papers == ("zero", "one", "two", "three", "four", "five", "six")[len(verdicts)]


def test_the_finding_is_what_the_flows_do(front: str) -> None:
    """The words beside the picture are typed; that they are true is computed."""
    five = datasets.load("example-5.1")
    points = [m for m in local_minima(five.X, five.y) if m.dimension == 0]
    starts = ((1e-4, 1e-4), (0.0, 8.0), (0.0, 45.0))
    ends = [affine_flow(five.X, five.y, start).end for start in starts]
    ranks = [next(m.rank for m in points if np.allclose(m.w, end, atol=1e-6)) for end in ends]
    assert (ranks, len(points)) == ([3, 2, 1], 3)
    said = (
        r"small start ends at the third best minimum, .{,30}at the second best, .{,30}at the best"
    )
    assert re.search(said, front)
    assert "the errata say which" in front


def test_every_page_that_can_be_run_again_offers_its_notebook_and_the_library(site, wheel):
    """What is saved says what it needs, and is otherwise the page's notebook without outputs."""
    for source in pages.in_order(CHAPTERS):
        page = (site / source.relative_to(ROOT)).with_suffix(".html")
        saved = saved_from(page)
        runs = any("parameters" in c.metadata.get("tags", []) for c in pages.code_cells(source))
        assert bool(saved) == runs, source
        if runs:
            name = source.relative_to(CHAPTERS).as_posix().replace("/", "-")
            assert sorted(saved) == [name, wheel.name]
            assert (page.parent / saved[wheel.name]).resolve() == wheel.resolve()
            text = base64.b64decode(saved[name].partition(",")[2]).decode()
            told, own = nbformat.reads(text, as_version=4), nbformat.read(source, as_version=4)
            nbformat.validate(told)
            first, *others = told.cells
            assert first.cell_type == "markdown"
            assert f'pip install "./{wheel.name}[notebook]"' in first.source
            assert first.source.count(". ") == 0
            assert [cell.source for cell in others] == [cell.source for cell in own.cells]
            assert not any(c.get("outputs") or c.get("execution_count") for c in others)


def test_a_tap_saves(browser: Browser, site: Path, wheel: Path) -> None:
    page = site / "chapters" / f"{SECTION}.html"
    with opened(browser, page, PHONE, formulas=False) as visit:
        for words, name in ((".ipynb", f"{SECTION.replace('/', '-')}.ipynb"), (".whl", wheel.name)):
            if not visit.page.is_visible(f".dropdown-download-buttons a:has-text('{words}')"):
                visit.page.click(".dropdown-download-buttons > button")
            with visit.page.expect_download(timeout=10_000) as saved:
                visit.page.click(f".dropdown-download-buttons a:has-text('{words}')")
            assert saved.value.suggested_filename == name
            link = saved_from(page)[name]
            told = base64.b64decode(link.partition(",")[2]) or wheel.read_bytes()
            assert Path(saved.value.path()).read_bytes() == told
        assert visit.page.url == page.as_uri()  # the page is still there
        assert visit.outgoing == []


def test_the_wheel_is_all_of_the_book_that_a_saved_notebook_needs(
    site: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty folder, with the library from the wheel: what the chapter's page loads, where it
    sums up what its sections found, and the command line."""
    target, empty = tmp_path / "target", tmp_path / "empty"
    empty.mkdir()
    ZipFile(wheel).extractall(target)
    monkeypatch.setenv("PYTHONPATH", str(target))
    run = [sys.executable, "-P", "-m", "reluflow.ledger"]
    told = subprocess.run(run, cwd=empty, capture_output=True, text=True, check=True).stdout
    *_, last = told.splitlines()
    claims = sum(len(inventory.claims) for inventory in load_inventories())
    assert sum(map(int, re.findall(r"(\d+) (?:claims|of our own):", last))) == claims
    assert "open" not in last
    saved = saved_from(site / "chapters" / f"{CHAPTER}.html")[f"{CHAPTER}.ipynb"]
    notebook = nbformat.reads(base64.b64decode(saved.partition(",")[2]), as_version=4)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert "ledger.summary(" in code[-1]
    place = "import reluflow; print(reluflow.__file__)"
    cells = "\n".join([*code[:3], code[-1], place])  # parameters, their check, imports, and the sum
    run = [sys.executable, "-P", "-c", cells]
    told = subprocess.run(run, cwd=empty, capture_output=True, text=True, check=True).stdout
    assert str(target) in told.splitlines()[-1]


# --- Words that are defined -----------------------------------------------------------------------


def word(visit: Opened, id: str = "def-span") -> Locator:
    link = visit.page.locator(f"{LINKS}[href$='#{id}']")
    link.scroll_into_view_if_needed()
    return link


def defined(path: Path) -> tuple[list[str], dict[str, str]]:
    """The words that a page has linked to the definitions, in order, and what it shows of each."""
    text = path.read_text(encoding="utf-8")
    shown = r'<p id="(def-[\w-]+)">(.*?)</p>'
    if path.stem != "definitions":
        shown = r'<div popover class="definition" id="(def-[\w-]+)">(.*?)</div>'
    told = {id: re.sub("<[^>]+>", "", html) for id, html in re.findall(shown, text, re.DOTALL)}
    links = re.findall(r'<a [^>]*href="[^"]*definitions\.html#(def-[\w-]+)"', text)
    return links, {id: " ".join(unescape(words).split()) for id, words in told.items()}


def test_each_page_has_the_definitions_to_which_it_leads(site: Path) -> None:
    """All is there before formulas are set, and without a script."""
    _, told = defined(site / "chapters/definitions.html")
    led = set[str]()
    for source in pages.in_order(CHAPTERS):
        ids, shown = defined((site / "chapters" / pages.name(source)).with_suffix(".html"))
        assert len(ids) == len(set(ids)), source  # once on a page
        assert shown == {id: told[id] for id in ids}, source
        assert source.stem not in MAIN or len(ids) >= 7, source
        led.update(ids)
    assert led <= {*told}
    assert len(led) >= 50


def test_the_keyboard_shows(visit: Opened) -> None:
    told, link = visit.page.locator(OPEN), word(visit)
    link.evaluate("e => { const before = document.createElement('button'); e.before(before);"
                  "before.focus(); }")  # fmt: skip
    visit.page.keyboard.press("Tab")
    expect(link).to_be_focused()
    expect(told).to_have_attribute("id", str(link.get_attribute("aria-describedby")))
    visit.page.keyboard.press("Escape")
    expect(told).to_have_count(0)
    expect(link).to_be_focused()
    visit.page.keyboard.press("Shift+Tab")
    visit.page.keyboard.press("Tab")
    expect(told).to_be_visible()
    visit.page.keyboard.press("Tab")
    expect(told).to_have_count(0)


def test_a_finger_shows_and_closes(browser: Browser, site: Path) -> None:
    with opened(browser, site / PAGE, PHONE, formulas=False) as visit:
        told, page = visit.page.locator(OPEN), visit.page.url
        ids = visit.ask(f"[...document.querySelectorAll(`{LINKS}`)].map(e => e.hash.slice(1))")
        for id in ids[::4]:
            word(visit, id).tap()
            expect(told).to_have_id(id)
            expect(told).to_be_in_viewport(ratio=1)
        word(visit, id).tap()
        expect(told).to_have_count(0)
        word(visit).tap()
        visit.page.locator("article h1").tap()
        expect(told).to_have_count(0)
        assert visit.page.url == page


def test_on_paper_there_is_nothing_of_it(visit: Opened) -> None:
    visit.ask("document.getElementById('def-span').showPopover()")  # no mouse that could leave it
    expect(visit.page.locator(OPEN)).to_be_visible()
    visit.page.emulate_media(media="print")
    expect(visit.page.locator(OPEN)).to_have_count(1)
    expect(visit.page.locator(".definition:visible")).to_have_count(0)
    expect(word(visit)).to_have_css("border-bottom-width", "0px")
    visit.page.emulate_media(media="screen")
    visit.ask("document.getElementById('def-span').hidePopover()")


def test_without_scripts_a_word_is_a_link_and_no_picture_can_be_opened(browser, site):
    with opened(browser, site / f"chapters/{MAIN[4]}.html", scripts=False) as visit:
        expect(visit.page.locator("details.offer:not(:visible)")).to_have_count(1)
        expect(visit.page.locator(".definition:visible")).to_have_count(0)
        link = visit.page.locator(LINKS).first
        id = (link.get_attribute("href") or "").partition("#")[2]
        link.click()
        expect(visit.page.locator(f"p#{id}")).to_be_in_viewport()


def test_the_mouse_shows_and_leaves_and_leads_to_the_page(visit: Opened) -> None:
    link, told = word(visit), visit.page.locator(OPEN)
    link.hover()
    expect(told).to_be_in_viewport(ratio=1)
    told.hover()  # it can be read at leisure
    visit.page.wait_for_timeout(400)
    expect(told).to_be_visible()
    for theme in ("dark", "light"):
        looks.with_theme(visit, theme)
        assert looks.accessible(visit, OPEN) == []
    visit.page.mouse.move(1, 1)
    expect(told).to_have_count(0)
    link.click()
    expect(visit.page.locator("p#def-span")).to_be_in_viewport()
