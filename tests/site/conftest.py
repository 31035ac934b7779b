"""What the tests of pages in a browser share."""

from __future__ import annotations

import pytest
from browser import LAPTOP, Opened
from playwright.sync_api import Page

BEGIN = """() => {
    history.replaceState(null, "", location.pathname);
    document.activeElement.blur();
    scrollTo({ top: 0, behavior: "instant" });
    dispatchEvent(new Event("hashchange"));
}"""


@pytest.fixture
def page(visit: Opened) -> Page:
    """The page that a module names PAGE, as it opens: an address that asks for nothing begins anew
    what was asked for."""
    visit.page.set_viewport_size(dict(zip(("width", "height"), LAPTOP, strict=True)))
    visit.page.mouse.move(0, 0)
    visit.ask(BEGIN)
    return visit.page
