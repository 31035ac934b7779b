"""The library's docstrings, which are plain text, as reStructuredText for the reference page."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_ENTRY = re.compile(r"(\{?[\w.]+\}?) {2,}(\S.*)")
_LITERAL = re.compile(r"(`[^`]+`)")
_PARTS = re.compile(r"^(Parameters|Returns|Raises)\b")


def plain(app: Sphinx, what: str, name: str, object: Any, options: Any, lines: list[str]) -> None:
    """Turn columns of names and what they mean into a list, and backticks into code; what else
    would be markup stands for itself."""
    shown: list[str] = []
    within = False  # a list of names, whose lines go on where they are indented
    for line in lines:
        if entry := _ENTRY.fullmatch(line):
            shown += [_typed(entry[1]), f"    {_typed(entry[2])}"]
            within = True
        elif within and line.startswith(" "):
            shown.append(f"    {_typed(line.strip())}")
        else:
            within = False
            shown += (
                ["", f"**{part[1]}**{_typed(line[part.end() :])}"]
                if (part := _PARTS.match(line))
                else [_typed(line)]
            )
    lines[:] = shown


def _typed(words: str) -> str:
    pieces = _LITERAL.split(words)
    return "".join(f"`{p}`" if p.startswith("`") else _escaped(p) for p in pieces)


def _escaped(words: str) -> str:
    return re.sub(r"([*|\\])|(?<=\w)(_)(?!\w)", r"\\\1\2", words)
