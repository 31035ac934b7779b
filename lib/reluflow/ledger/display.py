"""How a settled claim looks: a card for a reader, lines for a terminal, a record for a program.

Card and lines are functions of the row alone, so that a row read back from a notebook can be
compared with what the notebook shows.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from reluflow.ledger.evidence import Evidence, sentence
from reluflow.ledger.verdict import (
    NOT_APPLICABLE,
    NOT_REPRODUCED,
    OUT_OF_REACH,
    REFUTED,
    REPRODUCED,
    WITH_READING,
)

if TYPE_CHECKING:
    from reluflow.ledger.rows import Row

RECORD = "application/vnd.reluflow.claim+json"
OPEN = "open"
# Themes colour code and links for their own background, which need not be that of a cell's output.
PLAIN = "color:inherit;background:none"
_INSTANCE = "counterexample"

# White text on each of these has a contrast of at least 4.5.
COLOURS = {
    REPRODUCED: "#1a7f37",
    WITH_READING: "#0b6e80",
    REFUTED: "#b42318",
    NOT_REPRODUCED: "#8f5200",
    OUT_OF_REACH: "#57606a",
    NOT_APPLICABLE: "#57606a",
    OPEN: "#6b5b95",
}


def bundle(row: Row) -> dict[str, Any]:
    """The three forms in which a notebook stores a row."""
    return {"text/plain": text(row), "text/html": card(row), RECORD: row.record()}


def badge(verdict: str) -> str:
    """The verdict as a coloured word."""
    return (
        f'<span style="background:{COLOURS[verdict]};color:#fff;border-radius:.6em;'
        f'padding:.05em .55em;display:inline-block">{escape(verdict)}</span>'
    )


def mathematics(words: str) -> str:
    """Words as HTML, with what stands between dollars set as a formula by the page's MathJax."""
    formula = r'<span class="math notranslate nohighlight">\(\1\)</span>'
    return re.sub(r"\$([^$]+)\$", formula, escape(words, quote=False))


def text(row: Row) -> str:
    """The row as lines of text."""
    lines = [f"{row.claim.id} | {row.claim.at} | {row.verdict}"]
    for title, items in _parts(row):
        lines += [f"  {title}:"] if title else []
        lines += [f"  {'  ' if title else ''}{item}" for item in items]
    return "\n".join(lines)


def card(row: Row) -> str:
    """The row as an HTML element with the claim's anchor."""
    parts = []
    for title, items in _parts(row):
        head = f"<div><em>{escape(title)}</em></div>" if title else ""
        font = ";font-family:monospace" if title == _INSTANCE else ""
        listed = "".join(f'<li style="margin:0{font}">{escape(item)}</li>' for item in items)
        parts.append(
            f'{head}<ul style="margin:.1em 0 .2em;padding-left:1.2em;list-style:none">{listed}</ul>'
        )
    claim = row.claim
    return (
        f'<div id="{claim.anchor}" style="border:1px solid rgba(128,128,128,.45);'
        f"border-left:.35em solid {COLOURS[row.verdict]};border-radius:.3em;"
        'padding:.4em .8em;margin:.4em 0;line-height:1.45;scroll-margin-top:5em;overflow-x:auto">'
        f'<div><code style="{PLAIN}">{claim.id}</code> '
        f"{escape(claim.at)} {badge(row.verdict)}</div>"
        f'<div style="margin:.2em 0">{mathematics(claim.says)}</div>{"".join(parts)}</div>'
    )


def _parts(row: Row) -> list[tuple[str, list[str]]]:
    """Title and lines of each part of the row, in reading order; the first has no title."""
    parts = [("", [_marked(item) for item in row.evidence])] if row.evidence else []
    if row.known:
        parts.append(("how it is known", [str(way) for way in row.known]))
    if row.why:
        parts.append(("why", [row.why]))
    if row.reading:
        parts.append(("reading", [row.reading.taken]))
        parts.append(("under other readings", [row.reading.others]))
    if row.instead:
        parts.append(("what appeared instead", [_instead(item) for item in row.instead]))
    if case := row.counterexample:
        parts.append((_INSTANCE, case.lines()))
        parts.append(("inside the assumptions", [f"✓ {name}" for name in case.assumptions]))
        parts.append(("the claim fails there", [_marked(item) for item in case.breaks]))
        parts.append((f"second route: {case.route}", [_marked(item) for item in case.recheck]))
    return parts


def _marked(item: Evidence) -> str:
    if not item.decides:
        return f"· {sentence(item)}"
    return f"{'✓' if item.holds else '✗'} {sentence(item)}"


def _instead(item: Evidence) -> str:
    told = item.form == "note" and item.what == "appeared instead"
    return str(item.value) if told else _marked(item)
