"""The year by which the book cites a paper."""

from __future__ import annotations

import re

from reluflow.places import BIBLIOGRAPHY


def year(key: str) -> str:
    """The year of an entry of the bibliography, with the letter that tells two papers of one year
    apart; empty where there is no such entry."""
    entry = rf"@\w+\{{{re.escape(key)},(?:(?!\n@).)*?\byear\s*=\s*\{{(\w+)\}}"
    found = re.search(entry, BIBLIOGRAPHY.read_text(encoding="utf-8"), flags=re.DOTALL)
    return found[1] if found else ""
