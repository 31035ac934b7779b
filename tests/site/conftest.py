"""What the tests of pages in a browser share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import LAPTOP, Opened, chromium, opened
from playwright.sync_api import Browser, Page

BEGIN = """() => {
    history.replaceState(null, "", location.pathname);
    document.activeElement.blur();
    scrollTo({ top: 0, behavior: "instant" });
    dispatchEvent(new Event("hashchange"));
}"""


# Not for the session: while Playwright is open a loop runs in the process, and tests that execute a
# notebook begin one of their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A reader's browser; the tests that ask for it are skipped where there is none."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def visit(request: pytest.FixtureRequest, browser: Browser, site: Path) -> Iterator[Opened]:
    """The page that a module names PAGE, opened once for all its tests; FORMULAS tells whether they
    are set."""
    formulas = getattr(request.module, "FORMULAS", True)
    with opened(browser, site / request.module.PAGE, formulas=formulas) as visit:
        yield visit


@pytest.fixture
def page(visit: Opened) -> Page:
    """The page that a module names PAGE, as it opens: an address that asks for nothing begins anew
    what was asked for."""
    visit.page.set_viewport_size(dict(zip(("width", "height"), LAPTOP, strict=True)))
    visit.page.mouse.move(0, 0)
    visit.ask(BEGIN)
    return visit.page
