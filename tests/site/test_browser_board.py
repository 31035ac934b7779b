"""The scoreboard and the claims that the search page finds, in a reader's browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl

import looks
import pytest
from browser import Opened, opened
from built import ROOT
from playwright.sync_api import Browser, Page, expect
from reluflow.ledger import Row, read
from reluflow.ledger.cards import typeset
from reluflow.ledger.rows import REFUTED, WITH_READING
from reluflow.site import board, book

PAGE = "chapters/scoreboard.html"
FORMULAS = False
ROWS = read(ROOT / "chapters")
UNSET = "() => document.querySelectorAll('#claims span.math:not(:has(mjx-container))').length"

pytestmark = pytest.mark.long


@pytest.fixture
def page(visit: Opened) -> Page:
    """The scoreboard with nothing asked of it."""
    visit.page.get_by_role("button", name="show all").click()
    counts(visit.page, len(ROWS))
    return visit.page


def counts(page: Page, number: int) -> None:
    told = re.compile(rf"^{number} of {len(ROWS)} claims shown")
    expect(page.locator(".dt-info")).to_have_text(told)


def shown(page: Page, column: str) -> list[str]:
    return page.locator(f"#claims td.{column}").all_inner_texts()


def of(**asked: str) -> list[Row]:
    """The rows that filters leave."""
    told = [{"verdict": row.verdict, "kind": row.claim.kind, "known": row.known[0].how,
             "paper": "ours" if ".ours." in row.claim.id else row.claim.paper}
            for row in ROWS]  # fmt: skip
    return [row for row, its in zip(ROWS, told, strict=True) if asked.items() <= its.items()]


def test_a_reader_filters(page: Page) -> None:
    for name, value in (("kind", "figure"), ("how it is known", "computed")):
        page.get_by_role("combobox", name=name, exact=True).select_option(value)
    counts(page, len(of(kind="figure", known="computed")))
    assert page.url.endswith("#kind=figure&known=computed")


def test_each_number_of_the_totals_leads_to_so_many_claims(page: Page) -> None:
    links = page.locator(".totals a")
    told = links.evaluate_all("links => links.map(link => [link.hash.slice(1), link.innerText])")
    assert len(told) > 20
    for k, (asked, number) in enumerate(told):
        assert number == str(len(of(**dict(parse_qsl(asked)))))
        if k % 12 == 0:
            links.nth(k).click()
            counts(page, int(number))


def test_a_reader_sorts_with_the_mouse_and_with_the_keyboard(page: Page, visit: Opened) -> None:
    page.get_by_role("searchbox").fill("Lemma F.")
    head = page.locator("th.place")
    head.click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert page.url.endswith("#search=Lemma+F.&order=place")
    places = [place.split(",")[0] for place in shown(page, "place")]
    assert places.index("Lemma F.9") < places.index("Lemma F.10")
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    places = [place.split(",")[0] for place in shown(page, "place")]
    assert places.index("Lemma F.9") > places.index("Lemma F.10")
    assert page.url.endswith("&order=-place")
    assert visit.complaints == []


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("sv.thm3.6", "sv.thm3.6"),
        ("Example 5.1", "sv.ex5.1.a"),
        ("Irrespective of the width", "os."),
    ],
)
def test_a_reader_searches_an_id_a_place_or_a_statement(page: Page, words: str, first: str) -> None:
    page.get_by_role("searchbox").fill(words)
    expect(page.locator(".dt-info")).not_to_have_text(re.compile(rf"^{len(ROWS)} of"))
    assert 0 < len(shown(page, "claim")) < 10
    assert shown(page, "claim")[0].startswith(first)


def test_a_view_is_linked(page: Page) -> None:
    hash = "paper=min2024early&verdict=refuted&search=leave&order=-claim"
    page.evaluate("hash => (location.hash = hash)", hash)
    for name, value in (("paper", "min2024early"), ("verdict", REFUTED)):
        expect(page.get_by_role("combobox", name=name, exact=True)).to_have_value(value)
    expect(page.get_by_role("searchbox")).to_have_value("leave")
    claims = shown(page, "claim")
    assert set(shown(page, "verdict")) == {REFUTED}
    assert "ea.thm1.trap.2" in claims
    assert claims == sorted(claims, reverse=True)
    assert page.url.endswith(hash)


def test_a_claim_of_a_later_page_is_linked(page: Page) -> None:
    anchor = ROWS[-1].claim.anchor
    page.evaluate("anchor => (location.hash = anchor)", anchor)
    row = page.locator(f"tr#{anchor}")
    expect(row).to_be_focused()
    expect(row).to_be_in_viewport()
    assert page.url.endswith(f"#{anchor}")
    card = f"{ROWS[-1].chapter.replace('.ipynb', '.html')}#{anchor}"
    expect(row.get_by_role("link")).to_have_attribute("href", card)


def test_a_row_says_what_is_true_instead_or_how_it_was_read_and_whose_it_is() -> None:
    told = book.told()
    lines = board.scoreboard(book.board(), told, "_static").split("<tr ")
    of_claim = {line.split('"')[1]: line for line in lines if line.startswith("id=")}
    assert len(of_claim) == len(ROWS)
    for row in ROWS:
        line = of_claim[row.claim.anchor]
        if row.claim.id in told:
            assert f"<p>{typeset(told[row.claim.id].sentence)}</p>" in line, row.claim.id
        elif row.verdict == WITH_READING:
            assert f"<p>Read as: {typeset(row.reading.taken)}</p>" in line, row.claim.id
        assert ("our own, on " in line) == (".ours." in row.claim.id), row.claim.id


def test_every_page_of_the_table_is_set_in_type_and_on_paper_all_of_it(browser, site):
    """What is refuted, of all papers; what the other rows say is set on the cards of chapters."""
    with opened(browser, site / PAGE, anchor=f"verdict={REFUTED}") as visit:
        first = shown(visit.page, "claim")[0]
        visit.page.get_by_role("link", name="Next", exact=True).click()
        expect(visit.page.locator("#claims td.claim").first).not_to_have_text(first)
        visit.page.wait_for_function(f"({UNSET})() === 0")
        before = shown(visit.page, "claim")
        visit.ask("dispatchEvent(new Event('beforeprint'))")
        visit.ask("boxed()")
        assert len(shown(visit.page, "claim")) == len(of(verdict=REFUTED)) > len(before)
        assert visit.ask(UNSET) == 0
        assert looks.typeset(visit) == looks.paper(visit) == []
        visit.ask("dispatchEvent(new Event('afterprint'))")
        assert shown(visit.page, "claim") == before


def test_a_reader_without_scripts_sees_every_claim_and_nothing_that_is_dead(browser, site):
    with opened(browser, site / PAGE, scripts=False) as visit:
        page = visit.page
        expect(page.locator("#claims tbody tr")).to_have_count(len(ROWS))
        expect(page.get_by_role("link", name=ROWS[-1].claim.id, exact=True)).to_be_visible()
        expect(page.locator("#asked")).to_be_hidden()


def test_the_search_page_leads_to_the_card(browser: Browser, site: Path) -> None:
    with opened(browser, site / "chapters" / "errata.html", formulas=False) as visit:
        page = visit.page
        page.get_by_role("button", name="Search").first.click()
        page.get_by_role("searchbox").or_(page.locator("#pst-search-dialog input")).first.fill(
            "Lemma 3"
        )
        page.keyboard.press("Enter")
        page.locator("#claims-found li").first.get_by_role("link").click()
        expect(page.locator("details#claim-ea-lem3")).to_have_attribute("open", "")
        expect(page.locator("details#claim-ea-lem3")).to_be_in_viewport()
        assert "not found" not in "".join(visit.complaints)


@pytest.fixture(scope="module")
def finder(browser: Browser, site: Path) -> Iterator[Opened]:
    """The search page, in a folder, without a network."""
    with opened(browser, site / "search.html") as visit:
        yield visit


AGAIN = """query => {
    history.replaceState(null, "", `?${new URLSearchParams({ q: query })}`);
    document.getElementById("claims-found")?.remove();
    document.getElementById("search-results").replaceChildren();
}"""


def search(visit: Opened, query: str) -> Page:
    """What is found, its formulas set: the page's script reads its address once more."""
    visit.page.evaluate(AGAIN, query)
    visit.page.add_script_tag(path=ROOT / "_static" / "pages" / "search.js")
    visit.ask("MathJax.typesetPromise()")
    assert (visit.complaints, visit.outgoing) == ([], [])
    return visit.page


def test_many_claims_are_shown_on_the_scoreboard(finder: Opened) -> None:
    page = search(finder, "gradient flow")
    found = int(page.locator("#claims-found h2").inner_text().split()[0])
    assert page.locator("#claims-found li").count() == 5 < found
    more = page.get_by_role("link", name="on the scoreboard")
    expect(more).to_have_attribute("href", "chapters/scoreboard.html#search=gradient+flow")


@pytest.mark.parametrize(
    ("query", "id"),
    [("Lemma 3", "ea.lem3"), ("sv.lemF.8.2", "sv.lemF.8.2"), ("theor 3.6", "sv.thm3.6")],
)
def test_a_claim_is_found(finder: Opened, query: str, id: str) -> None:
    items = search(finder, query).locator("#claims-found li")
    expect(items.first).to_contain_text(f"({id})")
    words = query.lower().split()
    assert all(word in text.lower() for text in items.all_inner_texts() for word in words)
    expect(items.first.locator("mjx-container").first).to_be_visible()
    expect(finder.page.locator("#claims-found + #search-results")).to_be_attached()
    row = next(row for row in ROWS if row.claim.id == id)
    card = f"chapters/{row.chapter.replace('.ipynb', '.html')}#{row.claim.anchor}"
    expect(items.first.get_by_role("link")).to_have_attribute("href", card)


@pytest.mark.parametrize(
    ("query", "page", "claim"),
    [
        ("Phuong Theorem 1", "04_orthogonal_separability.html#the-theorem", "os.thm1."),
        ("early alignment time", "03_early_alignment.html#", ""),
        ("Example 5.1", "01_support_vectors.html#example-5-1", "sv.ex5.1."),
        ("Vardi Theorem 3.2", "05_margin_maximization.html#", "mm.thm3.2"),
        ("max margin", "05_margin_maximization.html", ""),
    ],
)
def test_the_right_page_is_among_the_first_three(finder, site, query, page, claim):
    """And a piece of each page is a sentence of it that has the words, marked, and neither menus
    nor code nor formulas as they are typed."""
    found = search(finder, query)
    links = "each => each.slice(0, 3).map(e => e.getAttribute('href'))"
    led = found.locator("#search-results li > a").evaluate_all(links)
    assert any(address.startswith(f"chapters/{page}") for address in led), led
    if claim:
        assert f"({claim}" in " ".join(found.locator("#claims-found li").all_inner_texts()[:3])
    file, _, part = led[0].partition("#")
    assert f'id="{part}"' in (site / file).read_text(encoding="utf-8")
    assert found.locator("#search-results mjx-merror").count() == 0
    expect(found.locator("#search-results h2")).to_be_visible()
    told = "each => each.map(e => (e.querySelectorAll('mjx-container').forEach("
    told += "m => m.replaceWith('formula')), e.innerText))"
    pieces = found.locator("#search-results li > p").evaluate_all(told)
    assert len(pieces) > 5
    typed = r"[\\${}]|settle\(|import |== |Contents|Print \(|Show the code"
    assert [text for text in pieces if re.search(typed, text) or len(text) >= 500] == []
    assert found.locator("#search-results mark").count() >= len(pieces)


@pytest.mark.parametrize(
    ("query", "says"),
    [("constructor", "No page has"), ("<img>", "No page has"), ("emulated", "How we know")],
)
def test_what_no_claim_says_is_found_on_its_page_alone(finder: Opened, query: str, says: str):
    found = search(finder, query)
    expect(found.locator("#search-results")).to_contain_text(says)
    expect(found.locator("#claims-found")).to_have_count(0)
