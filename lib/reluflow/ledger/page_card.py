"""A settled claim on a page of the built book: one line when folded, and all of it when open.

Drawn from the stored record when the pages are built, so that its looks can change without running
a notebook; its style is in _static/book.css.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from html import escape

from reluflow.ledger.addresses import Address, Proof
from reluflow.ledger.argument import Counterexample
from reluflow.ledger.decisive import decisive
from reluflow.ledger.display import badge, mathematics
from reluflow.ledger.evidence import Evidence
from reluflow.ledger.explorer import open_in_explorer
from reluflow.ledger.known import CITED, EXACT, EXHAUSTED, PROVED
from reluflow.ledger.rows import Row
from reluflow.ledger.verdict import REFUTED
from reluflow.ledger.words import small_print, told, typeset, vector

SCOREBOARD = "chapters/scoreboard.html"


def page_card(row: Row, checks: Sequence[Address], page: str, proof: Proof | None = None) -> str:
    """The card as HTML; a refuted claim's is open, on its counterexample.

    Parameters: `row`; `checks`, where the claim is stated or settled; `page` on which the card
    stands, such as `chapters/scoreboard`; `proof`, where the book proves the claim.
    """
    head = (
        f'<summary><span class="line">{badge(row.verdict)} '
        f'<span class="where">{typeset(row.claim.at)}</span>{_in_short(row)}</span>'
        f'<div class="says">{mathematics(row.claim.full)}</div></summary>'
    )
    parts = [counterexample(row.counterexample)] if row.counterexample else []
    parts += [_lines(row.evidence)] if row.evidence else []
    parts += [f"<p>{typeset(row.why)}</p>"] if row.why else []
    if row.reading:
        parts.append(f"<p><em>Read as:</em> {typeset(row.reading.taken)}</p>")
        parts.append(f"<p><em>Under other readings:</em> {typeset(row.reading.others)}</p>")
    if row.instead:
        parts.append(f"<p><em>What appeared instead:</em></p>{_lines(row.instead)}")
    ways = "" if row.counterexample else "; ".join(typeset(str(way)) for way in row.known)
    way = f' (<a href="{_to(proof, page)}">to the proof</a>)' if proof and ways else ""
    parts += [f"<p><em>How it is known:</em> {ways}{way}</p>"] if ways else []
    small = small_print(row.all_evidence)
    parts += [f'<p class="small">{typeset(small)}</p>'] if small else []
    parts += [_source(checks, row.claim.id)]
    state = " open" if row.verdict == REFUTED else ""
    return (
        f'<details class="claim" id="{row.claim.anchor}"{state}>{head}'
        f'<div class="told">{open_in_explorer(row, page)}{"".join(parts)}{_foot(row, page)}</div>'
        "</details>"
    )


def counterexample(case: Counterexample) -> str:
    """The instance, the assumptions that it meets, and what fails there by either route."""
    instance = "".join(
        f"<tr><th>{typeset(name)}</th><td>{typeset(vector(value))}</td></tr>"
        for name, value in case.instance.items()
    )
    met = "".join(f'<li><span class="tick">✓</span> {typeset(a)}</li>' for a in case.met())
    return (
        f'<div class="counterexample"><p><em>Counterexample</em></p><table>{instance}</table>'
        f"<p><em>Inside the assumptions:</em></p><ul class='met'>{met}</ul>"
        f"<p><em>The claim fails there:</em></p>{_lines(case.breaks)}"
        f"<p><em>By a second route,</em> {typeset(case.route)}:</p>{_lines(case.recheck)}</div>"
    )


def _in_short(row: Row) -> str:
    """The folded line after the place: the decisive number, what it is of, and how the claim is
    known, where it is by more than what was computed, and the verdict does not say so."""
    number, what = decisive(row)
    how = row.known[0].how if row.known else ""
    told = row.claim.given is not None or how not in (PROVED, CITED, EXHAUSTED, EXACT)
    known = "" if told else how
    shown = {"number": number, "of": what, "how": known}
    return "".join(
        f' <span class="{name}">{typeset(words)}</span>' for name, words in shown.items() if words
    )


def _lines(evidence: Sequence[Evidence]) -> str:
    items = (f'<li><span class="tick">{line.mark}</span> {typeset(line.words)}</li>'
             for line in told(evidence))  # fmt: skip
    return f"<ul>{''.join(items)}</ul>"


def _source(checks: Sequence[Address], id: str) -> str:
    """The functions that state or settle the claim, folded, and the command that runs them."""
    code = "".join(
        f"<p><code>{escape(str(at))}</code></p><pre>{escape(at.source)}</pre>" for at in checks
    )
    command = f"<p><em>Run it alone:</em> <code>python -m reluflow.ledger {id} --rerun</code></p>"
    if not code:
        return command
    return (
        f"<details class='source'><summary>source of the check</summary>{code}</details>{command}"
    )


def _to(proof: Proof, page: str) -> str:
    """The way from a page to a proof; docutils writes the ids of anchors in small letters."""
    there = posixpath.join("chapters", proof.page.removesuffix(".ipynb") + ".html")
    way = posixpath.relpath(there, posixpath.dirname(page) or ".")
    return f"{way}#{proof.label.lower()}"


def _foot(row: Row, page: str) -> str:
    """The claim's name as a permalink, and the way back to the scoreboard."""
    board = posixpath.relpath(SCOREBOARD, posixpath.dirname(page) or ".")
    return (
        f'<p class="small"><a href="#{row.claim.anchor}"><code>{row.claim.id}</code></a> · '
        f'<a href="{board}">scoreboard</a></p>'
    )
