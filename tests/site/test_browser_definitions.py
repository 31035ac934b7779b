"""A word that is defined shows its definition: to the mouse, a finger, the keyboard, and on no
paper."""

import re
from html import unescape
from pathlib import Path

import looks
import pytest
from browser import PHONE, Opened, opened
from playwright.sync_api import Browser, Locator, expect
from reluflow import pages
from reluflow.places import CHAPTERS

MAIN = [page.stem for page in pages.in_order(CHAPTERS) if pages.sections(page)]
PAGE, FORMULAS = f"chapters/{MAIN[3]}.html", False  # those of definitions are set on every page
LINKS = "a[href*='definitions.html#def-']"
OPEN = ".definition:popover-open"

pytestmark = pytest.mark.long


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


def test_the_mouse_shows_and_leaves(visit: Opened) -> None:
    link, told = visit.page.locator(LINKS).first, visit.page.locator(OPEN)
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


def test_a_click_leads_to_the_page(visit: Opened) -> None:
    word(visit).hover()
    expect(visit.page.locator(OPEN)).to_contain_text("support examples span")
    word(visit).click()
    expect(visit.page.locator("p#def-span")).to_be_in_viewport()
