"""The harness itself: a page that is wrong is told apart from one that is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import opened
from playwright.sync_api import Browser

pytestmark = pytest.mark.long


def test_what_a_browser_complains_of_is_heard(browser: Browser, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.html", tmp_path / "bad.html"
    good.write_text("<!doctype html><title>t</title><p>right", encoding="utf-8")
    bad.write_text(
        "<!doctype html><title>t</title><img src='none.png'><img src='http://127.0.0.1:9/x.png'>"
        "<script>console.error('loud'); throw new Error('thrown')</script>",
        encoding="utf-8",
    )
    with opened(browser, good) as visit:
        assert (visit.complaints, visit.outgoing) == ([], [])
    with opened(browser, bad) as visit:
        heard = "\n".join(visit.complaints)
        assert [word for word in ("none.png", "loud", "thrown") if word not in heard] == []
        assert visit.outgoing == ["http://127.0.0.1:9/x.png"]


def test_a_reader_finds_nothing_of_the_one_before(browser: Browser, tmp_path: Path) -> None:
    page, here = tmp_path / "page.html", "[localStorage.length, sessionStorage.length, innerWidth]"
    page.write_text("<!doctype html><title>t</title><p>right", encoding="utf-8")
    with opened(browser, page) as visit:
        visit.page.set_viewport_size({"width": 400, "height": 400})
        visit.page.emulate_media(media="print")
        visit.ask("localStorage.x = sessionStorage.x = 1")
    with opened(browser, page) as visit, opened(browser, page) as beside:
        assert visit.ask(f"[...{here}, matchMedia('print').matches]") == [0, 0, 1280, False]
        visit.ask("localStorage.x = 1")
        assert beside.ask(here) == [0, 0, 1280]
