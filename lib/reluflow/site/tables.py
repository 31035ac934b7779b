"""The tables that cells show, set in type when the pages are built.

A notebook stores what pandas prints, which is compared when the notebook runs again. A page shows
the same table with its mathematics, numbers and truth values as a reader writes them, as the cards
of claims do.
"""

from __future__ import annotations

import re
from html import unescape

from docutils import nodes
from sphinx.application import Sphinx

from reluflow.ledger.words import typeset

LITERALS = {
    "True": "yes", "False": "no", "None": "–", "nan": "–", "NaN": "–", "inf": "∞", "-inf": "−∞"
}  # fmt: skip
"""What Python prints in a cell of its own, and what a reader sees."""
MANY = 4
"""So many words in a cell make a column of words, which is not pressed to one word a line."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_CELL = re.compile(r"<(t[dh])\b([^>]*)>([^<]*)(?=</t[dh]>)")
_PANDAS = 'class="dataframe"'
_TIMES = re.compile(r"(?<=\d) x (?=\d)")
_PER_CENT = re.compile(r"(?<=\d) ?%")
_INTERVAL = re.compile(r"\([≈−\d.]+(?:\s%)? to [≈−\d.]+(?:\s%)?\)")


def dress(app: Sphinx, document: nodes.document) -> None:
    """Set all tables of a page in type."""
    for shown in document.findall(nodes.raw):
        if _PANDAS in (table := shown.astext()):
            shown.children = [nodes.Text(dressed(table))]


def dressed(table: str) -> str:
    """A table of pandas, as HTML, with the words of its cells and heads set in type."""
    head, end, body = table.partition("</thead>")
    return _CELL.sub(_set, head) + end + _CELL.sub(_cell, body)


def _cell(found: re.Match[str]) -> str:
    """A cell of the body; heads break wherever they may."""
    many = len(_WORD.findall(unescape(found[3]))) >= MANY
    return _set(found, ' class="words"' if many else "")


def _set(found: re.Match[str], kind: str = "") -> str:
    return f"<{found[1]}{found[2]}{kind}>{in_type(unescape(found[3]).strip())}"


def in_type(words: str) -> str:
    """What a cell says, as HTML; an interval is not broken, but may stand below its number."""
    if words in LITERALS:
        return LITERALS[words]
    html = typeset(_PER_CENT.sub("\u00a0%", _TIMES.sub(" × ", words)))
    return _INTERVAL.sub(r'<span class="tie">\g<0></span>', html)
