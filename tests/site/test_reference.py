"""The examples of the reference page: each is run, and what it prints is what the page shows."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "chapters" / "reference.md"
TEXT = PAGE.read_text(encoding="utf-8")
# What the page is for, and the section in which each stands.
SHOWN = ("affine_flow", "local_minima", "integrate", "classify_optimum", "falsify", "ledger")


def failed(text: str) -> int:
    """How many of the examples of a page fail; each one sees the names of those before it."""
    names: dict[str, Any] = {}
    runner = doctest.DocTestRunner(verbose=False)
    for block in re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        example = doctest.DocTestParser().get_doctest(block, names, PAGE.name, str(PAGE), 0)
        runner.run(example, clear_globs=False)
        names = example.globs
    assert runner.tries > 0
    return runner.failures


def test_every_example_prints_what_the_page_shows() -> None:
    assert failed(TEXT) == 0


def test_each_section_documents_its_function_and_uses_it() -> None:
    sections = TEXT.split("\n## ")[1:]
    assert len(sections) == len(SHOWN)
    for name, section in zip(SHOWN, sections, strict=True):
        assert re.search(rf"auto\w+:: reluflow\.[\w.]*{name}\b", section), name
        assert re.search(rf"^>>> .*\b{name}[(.]", section, flags=re.MULTILINE), name
