"""A reader's browser: Debian's Chromium opens the built pages from their folder."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
LAPTOP, PHONE = (1280, 800), (390, 844)
expect.set_options(timeout=30_000)  # a machine may be busy
# To set formulas takes most of the time that it takes to open a page, and to lay out what is in
# them most of what it takes to look at it. That is MathJax's affair: a formula that is seen becomes
# a box of its size, in units of its letters, when it is set, and where a page before had the same
# formula it is that box before MathJax begins. `set`: whether any is; `known`: boxes by tag, text.
FORMULAS = """([set, known]) => {
    const names = new Map();
    window.fresh = {};
    window.boxed = () => {
        const found = [...MathJax.startup.document.math].filter(
            each => each.root && each.typesetRoot.matches(":has(> mjx-math)"))
            .map(each => each.typesetRoot.firstElementChild);
        const lines = found.map(e => e.appendChild(document.createElement("span")));
        lines.forEach(line => (line.style.display = "inline-block"));
        const sizes = found.map((e, k) => {
            const { width, height, bottom } = e.getBoundingClientRect();
            const below = lines[k].getBoundingClientRect().bottom - bottom;
            return [width, height, below].map(v => v / parseFloat(getComputedStyle(e).fontSize));
        });
        found.forEach((e, k) => {
            lines[k].remove();
            if (!sizes[k][0] || e.querySelector("mjx-merror, mjx-labels")) return;
            e.parentElement.dataset.nodes = e.querySelectorAll("*").length;
            e.replaceChildren();
            e.nextSibling?.remove();  // what is read aloud
            Object.assign(e, { role: "img", ariaLabel: "formula" });
            const [width, height, verticalAlign] = sizes[k].map(v => `${v.toFixed(4)}em`);
            Object.assign(e.style, { display: "inline-block", width, height, verticalAlign });
        });
        for (const [e, name] of names)
            if (e.firstElementChild && !e.querySelector("mjx-math > *")) fresh[name] = e.innerHTML;
    };
    const pageReady = async () => {
        for (const e of document.querySelectorAll(".math")) {
            const name = e.tagName + e.textContent;
            if (name in known) e.innerHTML = known[name];
            else names.set(e, name);
        }
        await MathJax.startup.defaultPageReady();
        document.body.style.display = "none";
        await Promise.all([...document.fonts].map(face => face.load().catch(() => face)));
        document.body.style.display = "";
        boxed();
    };
    const startup = set ? { pageReady } : { typeset: false };
    const silent = { menuOptions: { settings: { assistiveMml: false } } };
    const given = other => Object.defineProperty(window, "MathJax", { writable: true, value:
        { ...other, startup, options: { ...other.options, ...silent } } });
    Object.defineProperty(window, "MathJax", { set: given, configurable: true });
}"""
SET = """async () => {
    await (window.MathJax?.startup?.promise ?? Promise.resolve());
    return window.fresh ?? {};
}"""
BOXES: dict[str, str] = {}
"""The formulas that were set on any page so far."""


@cache
def why_no_browser() -> str:
    """Why no page can be opened here; empty where one can."""
    return "" if any(map(shutil.which, NAMES)) else "no Chromium here: apt-get install chromium"


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser; the test is skipped, with the reason, where there is none."""
    if why_no_browser():
        pytest.skip(why_no_browser())
    path = next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--process-per-site"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@dataclass(frozen=True)
class Opened:
    """A page that is open, and what the browser had to say about it so far."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    outgoing: list[str] = field(default_factory=list)

    def ask(self, script: str) -> Any:
        """The value of a script in the page."""
        return self.page.evaluate(script)


@cache
def unused(browser, size, theme, scripts) -> list[BrowserContext]:
    """The readers who have closed their page: a next one like them finds nothing of theirs, but the
    scripts are compiled already, which is a third of what it takes to open a page."""
    return []


def reader(browser: Browser, size: tuple[int, int], theme: str, scripts: bool) -> BrowserContext:
    """A reader with no page of the book open, and without a network."""
    if free := unused(browser, size, theme, scripts):
        return free.pop()
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=theme,
        offline=True,
        has_touch=size == PHONE,
        accept_downloads=True,
        java_script_enabled=scripts,
    )
    context.new_page().goto(Path(__file__).as_uri())  # keeps the process when pages are closed
    return context


@contextmanager
def opened(browser, path, size=LAPTOP, theme="light", anchor="", scripts=True, formulas=True):
    """Open a page of the built book from its file, without a network, and set its formulas if they
    are looked at."""
    context = reader(browser, size, theme, scripts)
    page = context.new_page()
    page.add_init_script(f"({FORMULAS})({json.dumps([formulas, BOXES if formulas else {}])})")
    visit = Opened(page)
    page.on("console", lambda m: m.type in ("error", "warning") and visit.complaints.append(m.text))
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    page.on(
        "requestfailed",
        lambda request: (
            request.failure == "net::ERR_ABORTED"  # the page was left while it came
            or visit.complaints.append(f"not found: {request.url}")
        ),
    )
    page.on(
        "request",
        lambda request: (
            request.url.startswith(("file:", "data:", "blob:"))
            or visit.outgoing.append(request.url)
        ),
    )
    page.goto(path.as_uri() + (f"#{anchor}" if anchor else ""))
    BOXES.update(page.evaluate(SET))
    try:
        yield visit
    finally:
        with suppress(Error):  # the browser is gone, and says so itself
            page.evaluate("localStorage.clear(), sessionStorage.clear()")
            page.close()
            unused(browser, size, theme, scripts).append(context)
