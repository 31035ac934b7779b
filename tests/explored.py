"""The explorer's page under a reader's hand, for the tests that look at it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from built import ROOT
from numpy.typing import NDArray
from playwright.sync_api import CDPSession, Page
from reluflow.ledger import Row

Case = tuple[NDArray, NDArray, NDArray]

PAGE = "chapters/explorer.html"
SCRIPTS = {file.name: file for file in (ROOT / "_static").glob("*/*.js")}
# An example, as an address shows it.
SHOW = """example => {
  history.replaceState(null, "", reluflow.fragment(example));
  dispatchEvent(new Event("hashchange"));
}"""


def link(site: Path, row: Row) -> tuple[Path, str]:
    """Where the card of a counterexample leads: a picture's page, and the end of the address."""
    page = (site / "chapters" / row.chapter).with_suffix(".html")
    card = rf'<details class="claim" id="{row.claim.anchor}".*?</div></details>'
    (found,) = re.findall(card, page.read_text(encoding="utf-8"), re.DOTALL)
    (href,) = re.findall(r'class="explore" href="([^"]+)"', found)
    to, _, end = href.replace("&amp;", "&").partition("#")
    return (page.parent / to if to else page).resolve(), end


def shown(page: Page) -> Case:
    """The data and the start that the page shows."""
    href = page.locator("#explorer-link").get_attribute("href")
    assert href
    parts = dict(part.split("=") for part in href[1:].split("&"))
    rows = [[float(v) for v in row.split(",")] for row in parts["X"].split(";")]
    y, w = (np.array([float(v) for v in parts[key].split(",")]) for key in "yw")
    return np.array(rows), y, w


def told(page: Page, what: str = "told") -> str:
    return page.locator(f"#explorer-{what}").inner_text()


def number(told: str) -> float:
    return float(told.replace("\u2212", "-"))


def open_data(page: Page) -> None:
    page.locator("#explorer details:has(textarea)").evaluate("element => (element.open = true)")


def paste(page: Page, text: str) -> None:
    open_data(page)
    page.locator("#explorer-csv").fill(text)
    page.locator("#explorer-use").click()


def middle(page: Page, what: str = "#explorer-plane") -> tuple[float, float]:
    page.locator(what).scroll_into_view_if_needed()
    box = page.locator(what).bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def points_of(v: dict[str, float], p: Any) -> NDArray:
    """The points of the plane of weights at pixels, where `v` is seen."""
    scale = v["size"] / (2 * v["r"])
    return (np.asarray(p) - v["size"] / 2) * [1 / scale, -1 / scale] + [v["x"], v["y"]]


def touch(hand: CDPSession, kind: str, *at: tuple[float, float]) -> None:
    points = [{"x": a, "y": b, "id": k} for k, (a, b) in enumerate(at)]
    hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


@contextmanager
def planted(page: Page, file: str, right: str, wrong: str) -> Iterator[None]:
    """The page while one of its scripts has a fault."""
    source = SCRIPTS[file].read_text(encoding="utf-8")
    assert source.count(right) == 1
    page.add_script_tag(content=source.replace(right, wrong))
    try:
        yield
    finally:
        if file == "core.js":  # others hold what the first one gave them
            page.reload()
        else:
            page.add_script_tag(content=source)
