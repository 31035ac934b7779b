"""How a settled claim looks: a card for a reader, lines for a terminal, a record for a program.

Card and lines are functions of the claim, its verdict and the parts of its argument alone, so that
a row read back from a notebook can be compared with what the notebook shows.
"""

from __future__ import annotations

import re
from html import escape

from reluflow.ledger.inventory import Claim
from reluflow.ledger.verdict import (
    NOT_APPLICABLE,
    NOT_REPRODUCED,
    OUT_OF_REACH,
    PROVED,
    PROVED_WITH_CITATION,
    REFUTED,
    REPRODUCED,
    SURVIVED,
    WITH_READING,
)

Parts = list[tuple[str, list[str]]]
"""Title and lines of each part of a card, in reading order; a part may have no title."""

RECORD = "application/vnd.reluflow.claim+json"
OPEN = "open"
# Themes colour code and links for their own background, which need not be that of a cell's output.
PLAIN = "color:inherit;background:none"
INSTANCE = "counterexample"

# White text on each of these has a contrast of at least 4.5.
COLOURS = {
    REPRODUCED: "#1a7f37",
    WITH_READING: "#0b6e80",
    PROVED: "#1f3f8f",
    PROVED_WITH_CITATION: "#0a62c4",
    SURVIVED: "#8a3ffc",
    REFUTED: "#b42318",
    NOT_REPRODUCED: "#8f5200",
    OUT_OF_REACH: "#57606a",
    NOT_APPLICABLE: "#57606a",
    OPEN: "#6b5b95",
}


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


def text(claim: Claim, verdict: str, parts: Parts) -> str:
    """A settled claim as lines of text."""
    lines = [f"{claim.id} | {claim.at} | {verdict}"]
    lines += [f"  given: {sentence}" for sentence in (claim.given or {}).values()]
    for title, items in parts:
        lines += [f"  {title}:"] if title else []
        lines += [f"  {'  ' if title else ''}{item}" for item in items]
    return "\n".join(lines)


def card(claim: Claim, verdict: str, parts: Parts) -> str:
    """A settled claim as an HTML element with the claim's anchor."""
    shown = []
    for title, items in parts:
        head = f"<div><em>{escape(title)}</em></div>" if title else ""
        font = ";font-family:monospace" if title == INSTANCE else ""
        listed = "".join(f'<li style="margin:0{font}">{escape(item)}</li>' for item in items)
        shown.append(
            f'{head}<ul style="margin:.1em 0 .2em;padding-left:1.2em;list-style:none">{listed}</ul>'
        )
    return (
        f'<div id="{claim.anchor}" style="border:1px solid rgba(128,128,128,.45);'
        f"border-left:.35em solid {COLOURS[verdict]};border-radius:.3em;"
        'padding:.4em .8em;margin:.4em 0;line-height:1.45;scroll-margin-top:5em;overflow-x:auto">'
        f'<div><code style="{PLAIN}">{claim.id}</code> '
        f"{escape(claim.at)} {badge(verdict)}</div>"
        f'<div style="margin:.2em 0">{mathematics(claim.full)}</div>{"".join(shown)}</div>'
    )
