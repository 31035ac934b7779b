"""What the tests of pages in a browser share."""

from __future__ import annotations

import pytest
from browser import Opened
from playwright.sync_api import Page


@pytest.fixture
def page(visit: Opened) -> Page:
    """The page that a module names PAGE, as it opens."""
    visit.ask("history.replaceState(null, '', location.pathname)")
    visit.page.reload()
    return visit.page
