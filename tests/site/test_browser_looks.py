"""Every page of the book opens clean: on a laptop, in the dark theme, on a phone and on paper."""

import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import looks
import pytest
import yaml
from browser import LAPTOP, PHONE, Opened, opened
from built import ROOT
from playwright.sync_api import Browser
from reluflow import pages
from reluflow.places import CHAPTERS

from tests.site.test_book import files

pytestmark = pytest.mark.long

CONTENTS = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
PAGES = [CONTENTS["root"], *files(CONTENTS["chapters"]), "search", "genindex"]
# Both have contents, formulas, figures, code and cards; cards are folded in the first.
SAMPLE = "chapters/05_margin_maximization/counterexamples.html"
MAIN = [page.stem for page in pages.in_order(CHAPTERS) if pages.sections(page)]
SHORT = "chapters/02_magnitude_angle/experiments.html"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_clean(site: Path, browser: Browser, name: str) -> None:
    section = (ROOT / f"{name}.ipynb").is_file() and name.count("/") == 2
    with opened(browser, site / f"{name}.html") as visit:
        assert (begins(visit) if name.removeprefix("chapters/") in MAIN else []) == []
        if name.startswith("chapters/errata/"):
            printed = re.findall(rb"/Type */Page\b", visit.page.pdf(format="A4"))
            assert len(printed) == 1 + ("/lee" in name)
            visit.page.emulate_media(media="print")
            size = visit.ask("getComputedStyle(document.querySelector('.errata td')).fontSize")
            assert float(size.removesuffix("px")) * 0.75 > 7.0  # points
            visit.page.emulate_media(media="screen")
        visit.ask("document.querySelectorAll('#explorer details').forEach(e => e.open = true)")
        assert looks.faults(visit, 12 if section else 20) == [], name


def begins(visit: Opened) -> list[str]:
    """A main page has its picture within two screens, then the theorem, then what we found."""
    seen = visit.ask("""() => {
        const top = e => e ? e.getBoundingClientRect().top + scrollY : 1e9;
        const code = [...document.querySelectorAll(".cell_input")].filter(e => e.checkVisibility());
        const heads = [...document.querySelectorAll("article h2")];
        const below = test => top(heads.find(e => test.test(e.innerText.trim())));
        return { picture: top(document.querySelector(".cell_output img")),
                 theorem: below(/theorem|setting/), found: below(/^What we found/),
                 code: code.map(e => e.innerText).join() };
    }""")
    ordered = seen["picture"] < seen["theorem"] < seen["found"] < 1e9
    found = [] if ordered and seen["picture"] <= 2 * LAPTOP[1] else [f"not in order: {seen}"]
    words = ("settle(", "alt=", "import ", "glue(")
    return found + [f"code is shown: {word}" for word in words if word in seen["code"]]


@pytest.mark.parametrize(
    ("name", "address"), [("scoreboard", "%"), ("errata", "%zz"), ("explorer", "X")]
)
def test_a_broken_end_of_an_address_is_no_error(site, browser, name, address):
    with opened(browser, site / f"chapters/{name}.html", anchor=address, formulas=False) as visit:
        visit.ask(f"() => {looks.FRAMES}")
        assert looks.quiet(visit) == []


def add(html: str) -> str:
    """What puts something at the end of an article."""
    return f"document.querySelector('article section').insertAdjacentHTML('beforeend', `{html}`)"


TYPED = ("T eta", "w_j", "|w|^2", "True", "nan", "1e-09", "≈2.50e3", "≈-0.5", "a >= b", "at_zero",
         "0.3333333333333333", "94.0%")  # fmt: skip
FAULTS: dict[Callable[[Opened], list[str]], list[tuple[str, str]]] = {
    begins: [
        (add("<div class='cell_input'>import numpy"), "code is shown: import"),
        ("document.querySelector('.cell_output').style.marginTop = '2000px'", "order"),
    ],
    looks.quiet: [
        ("console.error('loud')", "loud"),
        ("queueMicrotask(() => { throw Error('thrown') })", "thrown"),
        ("let i = new Image(); i.src = 'no.png'; return i.decode().catch(Error)", "no.png"),
        ("fetch('http://127.0.0.1:9/x').catch(() => 0)", "127.0.0.1"),
    ],
    looks.short: [
        ("document.body.style.height = '40000px'", "screens"),
        (add("${'<i></i>'.repeat(13000)}"), "nodes"),
    ],
    looks.described: [
        ("document.title = 'X — X'", "X — X"),
        ("document.documentElement.lang = ''", "language"),
        ("document.querySelector('[name=description]').content = 'x'", "sentence"),
        ("document.querySelector('[rel=icon]').remove()", "icon"),
    ],
    looks.headings: [
        (add("<h1>Second</h1>"), "titles"),
        (add("<h2>A</h2><h4>Deep</h4>"), "Deep"),
    ],
    looks.typeset: [
        (add("<span class='math'>raw</span>"), "raw"),
        ("let e = document.querySelector('article div.math'); e.id = 'hurt';"
         "e.querySelector('mjx-math').innerHTML = '<mjx-merror>'", "hurt"),
        ("let e = document.querySelector('article p span.math'); e.id = 'torn';"  # cannot be drawn
         "e.querySelector('mjx-container').className = 'MathJax mjx-output-error'", "torn"),
    ],
    looks.pictures: [
        (add("<img alt='image' src='none.png'>"), "only image"),
        (add("<img alt='image' src='none.png'>"), "no picture"),
    ],
    looks.tables: [
        (add("<table><td style='min-width:90em'>wide"), "wider than"),
        *((add(f"<table><td>{typed}</table>"), f"typed: {typed}") for typed in TYPED),
    ],
    looks.accessible: [
        (add("<p style='color:#ccc;background:#fff'>faint"), "contrast"),
        (add("<button></button>"), "button-name"),
        (add("<table><th></th><th>head<tr><td>1<td>2"), "empty-table-header"),
        (add("<button aria-label='fold'>unfold</button>"), "name-mismatch"),
        ("document.body.insertAdjacentHTML('beforeend', '<p>outside')", "region"),
    ],
    looks.followed: [
        ("document.documentElement.style.scrollPaddingTop = 0", "lands at"),
        ("addEventListener('scroll', e => e.stopImmediatePropagation(), true)", "mark"),
    ],
    looks.dark: [
        (add("<p style='background:#eee'>pale"), "pale"),
        (add("<style>html[data-theme=dark] h2 { color: #333 !important }"), "contrast"),
    ],
    looks.phone: [
        (add("<div style='width:50em'>wide</div>"), "cut"),
        (add("<p style='margin-left:-30px'>left"), "left of"),
        (add("<p style='font-size:5px'>small"), "letters"),
        (add("<style>@media (width < 400px) { h2 { color: #ccc !important }"), "contrast"),
        (add("<a href='#'><img class='wide' alt='a figure'></a>"), "link-name"),
        (add("<style>@media (width < 400px) { .theme-switch-button { display: none !important "
             "}"), "theme-switch"),
        (add("<style>@media (width < 400px) { .primary-toggle { display: none !important "
             "}"), "primary sidebar"),
        (add("<p style='overflow:auto'><b style='padding:20em'>b"), "a cue"),
        (add("<div class='cell_output'><img style='zoom:.2'>"), "figure"),
        (add("<table><td style='max-width:4em'>one two three four"), "column"),
        ("document.querySelector('.prev-next-title').style.whiteSpace = 'pre'", "way"),
    ],
    looks.paper: [
        (add("<pre style='width:90em'>wide</pre>"), "cut on paper"),
        ("[...document.querySelectorAll('div.math mjx-math')].find(e => "
         "e.checkVisibility()).style.width = '120em'", "mjx-container"),
        (add("<p class='copybtn'>copy"), "printed"),
        ("document.documentElement.style.printColorAdjust = 'economy'", "colour"),
        (add("<style>@media print { summary span { display: none }"), "badge"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "checks"),
    [
        (SHORT, {looks.quiet, looks.short}),
        (SHORT, {looks.described, looks.headings, looks.typeset, looks.pictures, looks.tables,
                 looks.dark, looks.phone}),
        (SHORT, {looks.followed}),
        (SAMPLE, {looks.paper}),
        (f"chapters/{MAIN[0]}.html", {begins}),
        (SHORT, {looks.accessible}),
    ],
)  # fmt: skip
def test_every_fault_is_seen(site, browser, name, checks):
    """Those that leave each other alone are planted in one page."""
    formulas = bool({looks.typeset, looks.paper} & checks)
    with opened(browser, site / name, formulas=formulas) as visit:
        planted = {check: faults for check, faults in FAULTS.items() if check in checks}
        for fault, _ in chain(*planted.values()):
            visit.ask(f"() => {{ {fault} }}")
        for check, faults in planted.items():
            said = check(visit)
            for _, word in faults:
                assert any(word in each for each in said), word


def test_axe_is_asked_of_what_is_new_where_the_rest_is_known(site: Path, browser: Browser) -> None:
    with opened(browser, site / "chapters/how.html", formulas=False) as visit:
        visit.ask("() => { " + add("<a href='#'><img alt='drawn' src='data:,'></a>") + "}")
        assert looks.accessible(visit) == []
        for fault, word in (
            ("document.querySelector('a > img').style.display = 'none'", "link-name"),
            ("document.body.insertAdjacentHTML('beforeend', '<p>outside')", "region"),
            (add("<ul><div>x</div></ul>"), "list"),
            ("document.getElementById('main-content').id = ''", "skip-link,"),
            ("document.querySelector('[name=viewport]').content += ', user-scalable=no'", "meta-"),
        ):
            assert not any(f"axe: {word}" in each for each in looks.accessible(visit))
            visit.ask(f"() => {{ {fault} }}")
            assert any(f"axe: {word}" in each for each in looks.accessible(visit)), word


def test_on_paper_cards_and_solutions_are_open(site: Path, browser: Browser) -> None:
    folded = "document.querySelectorAll('details:is(.claim, .sd-dropdown):not([open])').length"
    with opened(browser, site / SAMPLE, formulas=False) as visit:
        before = visit.ask(folded)
        assert before >= 3
        visit.ask("dispatchEvent(new Event('beforeprint'))")
        assert visit.ask(folded) == 0
        visit.ask("dispatchEvent(new Event('afterprint'))")
        assert visit.ask(folded) == before


REST = """async () => {
    let count = 0;
    const rule = { attributes: true, subtree: true, attributeFilter: ["style"] };
    new MutationObserver(found => (count += found.length)).observe(document.body, rule);
    for (let round = 0; round < 100; round++) {  // a busy machine tells of a size late
        count = 0;
        for (let k = 0; k < 10; k++) await new Promise(requestAnimationFrame);
        if (!count) return true;
    }
    return false;
}"""


def test_formulas_that_are_set_smaller_come_to_rest(site: Path, browser: Browser) -> None:
    """To set one changes its size, of which the page is told; it went on so in each frame."""
    name = "chapters/05_margin_maximization.html"
    with opened(browser, site / name, PHONE) as visit:
        visit.page.wait_for_function(
            "[...document.querySelectorAll('.math')].some(e => e.style.fontSize)"
        )
        assert visit.ask(REST)
