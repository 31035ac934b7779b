"""A chapter's main page: the picture within two screens, then the theorem, then what we found."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import LAPTOP, opened
from playwright.sync_api import Browser
from reluflow import pages
from reluflow.places import CHAPTERS

MAIN = [page.stem for page in pages.in_order(CHAPTERS) if pages.sections(page)]
SCREENS = {"01_support_vectors": 21, "03_early_alignment": 24}
"""Pages that are longer than 20 screens; they only shrink."""
SEEN = """() => {
    const top = e => e ? e.getBoundingClientRect().top + scrollY : Infinity;
    const code = [...document.querySelectorAll(".cell_input")].filter(e => e.checkVisibility());
    return {
        height: document.querySelector("main").scrollHeight,
        picture: top(document.querySelector(".cell_output img")),
        heads: [...document.querySelectorAll("article h2")].map(e => [e.innerText.trim(), top(e)]),
        code: code.map(e => e.innerText),
    };
}"""


@pytest.mark.parametrize("name", MAIN)
def test_a_main_page_begins_with_its_picture(browser: Browser, site: Path, name: str) -> None:
    with opened(browser, site / "chapters" / f"{name}.html", LAPTOP) as visit:
        seen = visit.page.evaluate(SEEN)
    assert seen["picture"] <= 2 * LAPTOP[1]
    heads = dict(seen["heads"])
    (found,) = (top for words, top in heads.items() if words.startswith("What we found"))
    theorem = min(top for words, top in heads.items() if "theorem" in words or "setting" in words)
    assert seen["picture"] < theorem < found
    assert seen["height"] <= SCREENS.get(name, 20) * LAPTOP[1]
    shown = "\n".join(seen["code"])
    assert not any(word in shown for word in ("settle(", "alt=", "import ", "glue("))
