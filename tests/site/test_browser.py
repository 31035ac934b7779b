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
