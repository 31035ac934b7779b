"""A reader's browser: Debian's Chromium opens the built pages from their folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
LAPTOP, PHONE = (1280, 800), (390, 844)
SET = "async () => { await (window.MathJax?.startup?.promise ?? Promise.resolve()); }"


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
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
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


@contextmanager
def opened(
    browser: Browser,
    path: Path,
    size: tuple[int, int] = LAPTOP,
    theme: str = "light",
    anchor: str = "",
    scripts: bool = True,
) -> Iterator[Opened]:
    """Open a page of the built book from its file, without a network, and set its formulas."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=theme,
        offline=True,
        has_touch=size == PHONE,
        accept_downloads=True,
        java_script_enabled=scripts,
    )
    page = context.new_page()
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
    page.evaluate(SET)
    try:
        yield visit
    finally:
        with suppress(Error):  # the browser is gone, and says so itself
            context.close()
