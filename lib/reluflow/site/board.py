"""`{scoreboard}`: how many claims of each paper have which verdict, and one table of all claims."""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from html import escape
from urllib.parse import urlencode

from docutils import nodes
from docutils.parsers.rst import Directive

from reluflow.ledger.display import OPEN, badge, mathematics
from reluflow.ledger.instead import Instead, in_short
from reluflow.ledger.inventory import KINDS, Inventory
from reluflow.ledger.known import WAYS
from reluflow.ledger.listing import why
from reluflow.ledger.rows import Row
from reluflow.ledger.scoreboard import Scoreboard, link
from reluflow.ledger.verdict import NOT_REPRODUCED, REFUTED, VERDICTS
from reluflow.ledger.words import typeset
from reluflow.site import book
from reluflow.site.index import CSV

_OURS = "ours"
_LONG = 180
"""So many letters of evidence are shown; the card has all of it."""
COLUMNS = {
    "claim": "claim",
    "place": "place",
    "paper": "paper",
    "kind": "kind",
    "verdict": "verdict",
    "known": "how it is known",
    "says": "what it says",
    "why": "what is true instead, or why",
}
"""Name in the page's address -> head."""


class Board(Directive):
    """The scoreboard as it is on the day of the build."""

    def run(self) -> list[nodes.Node]:
        """Totals, and the table with the scripts that filter, sort and search it."""
        page = self.state.document.settings.env.docname
        static = posixpath.relpath("_static", posixpath.dirname(page))
        board = book.board()
        # The scripts stand behind the table, so that MathJax finds the first rows only.
        scripts = "".join(
            f'<script src="{static}/{name}.js"></script>'
            for name in ("vendor/datatables/dataTables.min", "pages/board")
        )
        html = (
            f'<link rel="stylesheet" href="{static}/pages/board.css">{totals(board)}'
            f'<p>The same as a file: <a href="{static}/{CSV}" download>{CSV}</a>, or '
            f"<code>python -m reluflow.ledger --csv</code>.</p>"
            f"{filters(board)}{table(board, book.told())}{scripts}"
        )
        return [nodes.raw(text=html, format="html")]


def totals(board: Scoreboard) -> str:
    """The verdicts on the claims of each paper, then those on our own, which are counted apart;
    each number is linked to its claims in the table. Below them the causes of what is false."""
    counts = defaultdict[str, Counter[str]](Counter)
    for inventory, found in board.counts:
        counts[_source(inventory)] += found
    sources = _sources(board)
    papers = {source: label for source, label in sources.items() if source != _OURS}
    counts[""] = sum((counts[source] for source in papers), Counter())
    theirs = _totals(counts, papers | {"": "all papers"}, "Claims by paper and verdict")
    ours = _totals(counts, {_OURS: sources[_OURS]}, "Our own claims by verdict")
    return f"{theirs}<p>{in_short(board, book.told())}</p>{ours if counts[_OURS] else ''}"


def _totals(counts: Mapping[str, Counter[str]], sources: Mapping[str, str], what: str) -> str:
    """A table with a row for each source and a column for each verdict that occurs there."""
    given = [v for v in (*VERDICTS, OPEN) if any(counts[source][v] for source in sources)]
    lines = []
    for source, label in sources.items():
        cells = []
        for verdict in (*given, ""):
            n = counts[source][verdict] if verdict else counts[source].total()
            asked = {"paper": source, "verdict": verdict}
            query = urlencode({name: value for name, value in asked.items() if value})
            cells.append(f'<td><a href="#{query}">{n}</a></td>' if n and query else f"<td>{n}</td>")
        lines.append(f'<tr><th scope="row">{escape(label)}</th>{"".join(cells)}</tr>')
    head = "".join(f'<th scope="col">{badge(verdict)}</th>' for verdict in given)
    return (
        f'<div class="totals" role="region" aria-label="{what}">'
        f'<table><thead><tr><td></td>{head}<th scope="col">all</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def filters(board: Scoreboard) -> str:
    """What a reader may choose of the table; hidden until its script is there to listen."""
    claims = [claim for inventory in board.inventories for claim in inventory.claims]
    verdicts = {row.verdict for row in board.rows}
    verdicts |= {OPEN} if len(board.rows) < len(claims) else set()
    choices = {
        "paper": _sources(board),
        "verdict": _found((*VERDICTS, OPEN), verdicts),
        "kind": _found(KINDS, {claim.kind for claim in claims}),
        "known": _found(WAYS, {way.how for row in board.rows for way in row.known[:1]}),
    }
    shown = []
    for name, values in choices.items():
        options = "".join(
            f'<option value="{escape(value)}">{escape(label)}</option>'
            for value, label in values.items()
        )
        shown.append(
            f'<label>{COLUMNS[name]} <select name="{name}"><option value="">all</option>'
            f"{options}</select></label>"
        )
    return f'<form id="asked" hidden>{"".join(shown)}<button type="reset">show all</button></form>'


def table(board: Scoreboard, told: Mapping[str, Instead]) -> str:
    """A row for every claim; a settled one is linked to its card."""
    settled = {row.claim.id: row for row in board.rows}
    sources = _sources(board)
    lines = []
    for inventory in board.inventories:
        label = sources[inventory.paper]
        label = f"our own, on {label}" if inventory.ours else label
        source = f' data-search="{_source(inventory)} {escape(label)}"'
        for claim in inventory.claims:
            row = settled.get(claim.id)
            # Theorem 4.10 stands behind Theorem 4.7.
            order = re.sub(r"\d+", lambda number: number[0].zfill(4), claim.at)
            cells = {
                "claim": ("", link(row) if row else claim.id),
                "place": (f' data-order="{escape(order)}"', escape(claim.at)),
                "paper": (source, escape(label)),
                "kind": ("", claim.kind),
                "verdict": ("", badge(row.verdict if row else OPEN)),
                "known": ("", row.known[0].how if row and row.known else ""),
                "says": ("", mathematics(claim.full)),
                "why": ("", _why(row, told.get(claim.id)) if row else ""),
            }
            line = "".join(
                f'<td class="{name}"{more}>{html}</td>' for name, (more, html) in cells.items()
            )
            lines.append(f'<tr id="{claim.anchor}">{line}</tr>')
    heads = "".join(f'<th class="{name}">{head}</th>' for name, head in COLUMNS.items())
    return (
        f'<table id="claims"><thead><tr>{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    )


def _why(row: Row, told: Instead | None) -> str:
    """What is true instead and how much falls, or how the claim was read; below it the beginning
    of the evidence."""
    instead = told.sentence if told else ""
    if not instead and row.reading:
        instead = f"Read as: {row.reading.taken}"
    first = f"<p>{typeset(instead)}</p>" if instead else ""
    if told and row.verdict in (REFUTED, NOT_REPRODUCED):
        first += f'<p class="cause">{typeset(f"{told.weight}: {told.cause}")}</p>'
    lines = why(row)
    shown = [line for k, line in enumerate(lines) if sum(map(len, lines[: k + 1])) <= _LONG]
    shown = shown or lines[:1]
    more = " …" if len(shown) < len(lines) else ""
    return f'{first}<p class="evidence">{typeset("; ".join(shown))}{more}</p>'


def _source(inventory: Inventory) -> str:
    return _OURS if inventory.ours else inventory.paper


def _sources(board: Scoreboard) -> dict[str, str]:
    """Where claims come from: the papers with their labels, and ourselves."""
    papers = {each.paper: each.label for each in board.inventories if not each.ours}
    return papers | {_OURS: "our own claims"}


def _found(order: Sequence[str], found: Collection[str]) -> dict[str, str]:
    return {value: value for value in order if value in found}
