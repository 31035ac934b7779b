"""`{scoreboard}`: how many claims of each paper have which verdict, and one table of all claims."""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from markupsafe import Markup
from sphinx.application import Sphinx

from reluflow.ledger.cards import as_csv, template, typeset, why
from reluflow.ledger.inventory import KINDS, Inventory
from reluflow.ledger.rows import NOT_REPRODUCED, REFUTED, WAYS, Row
from reluflow.ledger.scoreboard import Instead, Scoreboard, in_order, in_short
from reluflow.site import book

# --- The tables that cells show, set in type when the pages are built -----------------------------
#
# A notebook stores what pandas prints, which is compared when the notebook runs again. A page shows
# the same table with its mathematics, numbers and truth values as a reader writes them, as the
# cards of claims do.

LITERALS = {
    "True": "yes", "False": "no", "None": "–", "nan": "–", "NaN": "–", "inf": "∞", "-inf": "−∞"
}  # fmt: skip
"""What Python prints in a cell of its own, and what a reader sees."""
MANY = 4
"""So many words in a cell make a column of words, which is not pressed to one word a line."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_CELL = re.compile(r"<(t[dh])\b([^>]*)>([^<]*)(?=</t[dh]>)")
_EMPTY = re.compile(r"<th\b([^>]*)>\s*</th>")
_PANDAS = 'class="dataframe'
_TIMES = re.compile(r"(?<=\d) x (?=\d)")
_PER_CENT = re.compile(r"(?<=\d) ?%")
_INTERVAL = re.compile(r"\([≈−\d.]+(?:\s%)? to [≈−\d.]+(?:\s%)?\)")


def dress(app: Sphinx, document: nodes.document) -> None:
    """Set all tables of a page in type; a head that is empty is no head."""
    for shown in document.findall(nodes.raw):
        html = _EMPTY.sub(r"<td\1></td>", shown.astext())
        shown.children = [nodes.Text(dressed(html) if _PANDAS in html else html)]


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


# --- Beside the pages: the settled claims as a file, and what the search page searches ------------

CSV = "claims.csv"
_SCRIPT = "searched.js"
_PARTS = re.compile(r"^const PARTS = (.*);$", re.MULTILINE)
_SEARCHED = ("id", "at", "says", "verdict", "page")
_SILENT = (nodes.raw, nodes.literal_block, nodes.Invisible)
"""What no one searches: cards, which are claims, and code."""


class Searched:
    """What the pages of one build say, part by part."""

    def __init__(self) -> None:
        self.parts: list[dict[str, str]] = []

    def read(
        self, app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any
    ) -> None:
        """Keep the parts of a page: address (id), heading, page, authors of the paper, words."""
        if not isinstance(tree, nodes.document):
            return
        paper = {row.chapter.removesuffix(".ipynb"): row.claim.paper for row in book.board().rows}
        name = paper.get(page.removeprefix("chapters/"), posixpath.basename(page))
        for part in tree.findall(nodes.section):
            title, *inside = part
            told = (words(node) for node in inside if not isinstance(node, nodes.section))
            here = {
                "id": f"{page}.html#{part['ids'][0]}",
                "title": words(title),
                "page": words(app.env.titles[page]),
                "by": _sources(book.board()).get(name, ""),
                "text": " ".join(" ".join(told).split()),
            }
            self.parts.append(here)

    def write(self, app: Sphinx, failed: Exception | None) -> None:
        """Write both files below `_static` of the built pages."""
        if failed or app.builder.format != "html":
            return
        static = Path(app.outdir) / "_static"
        (static / CSV).write_text(as_csv(book.records()), encoding="utf-8", newline="")
        authors = _sources(book.board())
        claims = [
            {name: each[name] for name in _SEARCHED} | {"by": authors[each["paper"]]}
            for each in book.records()
        ]
        file, now = static / _SCRIPT, {_page(part) for part in self.parts}
        earlier = _PARTS.search(file.read_text(encoding="utf-8")) if file.exists() else None
        kept = [  # of pages that did not change, and are not written again
            part
            for part in json.loads(earlier[1] if earlier else "[]")
            if _page(part) in app.env.found_docs - now
        ]
        # A script, for a page that is opened from a folder may not read other files.
        script = "".join(
            f"const {name} = {json.dumps(told, ensure_ascii=False)};\n"
            for name, told in (("CLAIMS", claims), ("PARTS", sorted(kept + self.parts, key=_page)))
        )
        file.write_text(script, encoding="utf-8")


def _page(part: dict[str, str]) -> str:
    return part["id"].partition(".html#")[0]


def words(node: nodes.Node) -> str:
    """What a reader sees of a node without its code, cells and cards: a formula between dollars,
    three dots for one on a line of its own."""
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.math):
        return f"${node.astext()}$"
    if isinstance(node, nodes.math_block):
        return "…"
    if isinstance(node, _SILENT) or "cell" in getattr(node, "attributes", {}).get("classes", ()):
        return ""
    return ("" if isinstance(node, nodes.TextElement) else " ").join(map(words, node.children))


def add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Give the search page the claims and what searches them."""
    if page == "search":
        own = (_SCRIPT, "vendor/minisearch/minisearch.js", "pages/search.js")
        # MathJax comes last, for what is found has formulas.
        for name in (*own, app.config.mathjax_path):
            app.add_js_file(name, loading_method="defer")
        app.add_css_file("pages/board.css")


_OURS = "ours"
_LONG = 180
"""So many letters of evidence are shown; the card has all of it."""


class Board(Directive):
    """The scoreboard as it is on the day of the build."""

    def run(self) -> list[nodes.Node]:
        """Totals, and the table with the scripts that filter, sort and search it."""
        page = self.state.document.settings.env.docname
        static = posixpath.relpath("_static", posixpath.dirname(page))
        return [nodes.raw(text=scoreboard(book.board(), book.told(), static), format="html")]


def scoreboard(board: Scoreboard, told: Mapping[str, Instead], static: str) -> str:
    """`_templates/scoreboard.html`: the verdicts on the claims of each paper, then those on our
    own, which are counted apart, each number linked to its claims in the table; the causes of what
    is false; what a reader may choose; a row for every claim, a settled one linked to its card."""
    counts = defaultdict[str, Counter[str]](Counter)
    for inventory, found in board.counts:
        counts[_source(inventory)] += found
    sources = _sources(board)
    papers = {source: label for source, label in sources.items() if source != _OURS}
    counts[""] = sum((counts[source] for source in papers), Counter())
    claims = [claim for inventory in board.inventories for claim in inventory.claims]
    kinds, ways = {claim.kind for claim in claims}, {r.known[0].how for r in board.rows if r.known}
    return template("scoreboard.html").render(
        board=board,
        counts=counts,
        sources=sources,
        tables=[(what, named, in_order(sum((counts[source] for source in named), Counter())))
                for what, named in (("Claims by paper and verdict", papers | {"": "all papers"}),
                                    ("Our own claims by verdict", {_OURS: sources[_OURS]}))],
        short=in_short(board, told),
        choices={
            "paper": list(sources),
            "verdict": [verdict for verdict, _ in in_order(counts[""] + counts[_OURS])],
            "kind": [kind for kind in KINDS if kind in kinds],
            "known": [way for way in WAYS if way in ways],
        },
        settled={row.claim.id: row for row in board.rows},
        source=_source,
        # Theorem 4.10 stands behind Theorem 4.7.
        order=lambda claim: re.sub(r"\d+", lambda number: number[0].zfill(4), claim.at),
        why=lambda row: Markup(_why(row, told.get(row.claim.id))),
        file=CSV,
        static=static,
    )  # fmt: skip


def _why(row: Row, told: Instead | None) -> str:
    """What is true instead and what falls, or how the claim was read; then the first evidence."""
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
