"""The book's score: claims by paper and verdict, and links to their cards."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from reluflow.ledger.display import OPEN, PLAIN, badge
from reluflow.ledger.errors import LedgerError
from reluflow.ledger.evidence import sentence
from reluflow.ledger.inventory import Inventory, load_inventories
from reluflow.ledger.notebooks import read
from reluflow.ledger.rows import Ledger, Row
from reluflow.ledger.verdict import VERDICTS
from reluflow.places import CHAPTERS

_CELL = "padding:.2em .45em;border-bottom:1px solid rgba(128,128,128,.45);vertical-align:top;"
_TABLE = "border-collapse:collapse;margin:.4em 0;line-height:1.35;font-size:.9em"


@dataclass(frozen=True)
class View:
    """Something that a notebook shows, as HTML and as text."""

    html: str
    text: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html}


@dataclass(frozen=True)
class Scoreboard:
    """The inventories against the rows that settle their claims.

    `folder` is that of the page which shows the board, below the chapters': empty for a chapter's
    page, the chapter's name for a section. Links start there.
    """

    inventories: tuple[Inventory, ...]
    rows: tuple[Row, ...]
    folder: str = ""

    @property
    def counts(self) -> list[tuple[Inventory, Counter[str]]]:
        """How many claims of each inventory have which verdict, claims without a row `OPEN`."""
        verdicts = {row.claim.id: row.verdict for row in self.rows}
        return [
            (inventory, Counter(verdicts.get(claim.id, OPEN) for claim in inventory.claims))
            for inventory in self.inventories
        ]

    @property
    def totals(self) -> View:
        """How many claims of each paper have which verdict; a verdict that none has is left out."""
        columns = [(inventory, given) for inventory, given in self.counts if given]
        heads = ["", *(inventory.label for inventory, _ in columns), "all"]
        table = []
        for verdict in (*VERDICTS, OPEN):
            counts = [given[verdict] for _, given in columns]
            if verdict == OPEN or any(counts):
                table.append([verdict, *map(str, counts), str(sum(counts))])
        sizes = [given.total() for _, given in columns]
        last = ["all", *map(str, sizes), str(sum(sizes))]
        cells = [[badge(verdict), *counts] for verdict, *counts in table]
        html = html_table([list(map(escape, heads)), *cells, last], numbers=True)
        return View(html, aligned([heads, *table, last]))


def scoreboard(places: str | Path | Sequence[str | Path] = ".", folder: str = "") -> Scoreboard:
    """Read the rows of executed notebooks and set them against the inventory.

    Parameters: `places`, as for `read`, by default the folder of the notebook that asks; `folder`
    of the page that shows the board, as `Scoreboard` has it. Raises `LedgerError` as `read` does.
    """
    return Scoreboard(load_inventories(), read(places), folder)


def summary(claims: Ledger, sections: str = "") -> Scoreboard:
    """The score of one paper, for the chapter's page that has just settled the claims of a ledger.

    `sections` is the chapter's name where it has sections: the rows of the book's executed ones
    count, too. A claim that two of the pages settle is a `LedgerError`, as all that `read` refuses.
    """
    rows = list(claims.settled.values())
    for row in read(CHAPTERS / sections) if sections else ():
        if row.claim.id in claims.settled:
            raise LedgerError(f"claim {row.claim.id} is settled in {row.chapter}, too")
        rows += [row] if row.claim.paper == claims.paper else []
    of_paper = tuple(i for i in load_inventories() if i.paper == claims.paper)
    order = {claim.id: k for k, claim in enumerate(c for i in of_paper for c in i.claims)}
    return Scoreboard(of_paper, tuple(sorted(rows, key=lambda row: order[row.claim.id])))


def page(row: Row, folder: str = "") -> str:
    """The built book's page of the row, relative to `folder` below the chapters'; empty for a row
    of the page that asks."""
    if not row.chapter:
        return ""
    return posixpath.relpath(posixpath.splitext(row.chapter)[0] + ".html", folder or ".")


def link(row: Row, folder: str = "") -> str:
    """The claim's name, linked to its card, for a page in `folder`."""
    target = f"{escape(page(row, folder))}#{row.claim.anchor}"
    return f'<a href="{target}" style="{PLAIN}">{row.claim.id}</a>'


def one_line(row: Row) -> str:
    """The evidence of a row on one line."""
    return row.why or "; ".join(map(sentence, row.evidence))


def aligned(rows: list[list[str]]) -> str:
    """Lines of text with the cells of each column under each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def html_table(rows: list[list[str]], numbers: bool = False) -> str:
    """A table of cells that are HTML already; the first row is its head, a lone cell spans all."""

    def cells(tag: str, row: list[str]) -> str:
        if len(row) == 1:
            span = f'colspan="{len(rows[0])}" style="{_CELL}padding-bottom:.6em"'
            return f"<{tag} {span}>{row[0]}</{tag}>"
        line = "" if numbers else "border-bottom:0;"
        aligns = ["left"] + ["right" if numbers else "left"] * (len(row) - 1)
        styled = zip(aligns, row, strict=True)
        return "".join(f'<{tag} style="{_CELL}{line}text-align:{a}">{c}</{tag}>' for a, c in styled)

    head, *body = rows
    lines = "".join(f"<tr>{cells('td', row)}</tr>" for row in body)
    return (
        f'<div style="overflow-x:auto"><table style="{_TABLE}">'
        f"<thead><tr>{cells('th', head)}</tr></thead><tbody>{lines}</tbody></table></div>"
    )
